"""Tells which edit wrote a line, in which session, after which prompt and under which decision."""

__version__ = "0.1.0"
