"""What others rely on, as data: snapshots of every public surface, their comparison, and pins of parts of them."""
