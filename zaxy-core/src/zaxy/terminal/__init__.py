"""Pages for people on a terminal, and the demonstration."""
