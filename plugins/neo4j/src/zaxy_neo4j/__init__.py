"""Zaxy's graph on a Neo4j server, which many machines can share and which is asked in Cypher."""

__version__ = "0.1.0"
