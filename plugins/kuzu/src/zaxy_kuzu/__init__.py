"""Zaxy's graph in Kuzu, an embedded graph database that is asked in Cypher."""

__version__ = "0.1.0"
