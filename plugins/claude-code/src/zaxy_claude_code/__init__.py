"""Reads Claude Code's session files and tells Zaxy what happened in them."""

__version__ = "0.1.0"
