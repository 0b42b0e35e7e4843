"""Finding what answers a question: lanes that propose events, and their fusion into one cited list."""
