"""Zaxy: memory for AI agents that can be trusted because it can be checked."""

__version__ = "0.1.0"
