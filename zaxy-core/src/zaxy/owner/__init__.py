"""One process owns a graph that only one may open; the others talk to it."""
