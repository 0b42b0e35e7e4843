"""What `zaxy plugins new` writes: a provider per point, small, right, and checked like everything else here."""
