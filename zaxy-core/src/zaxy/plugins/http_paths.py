"""Paths of the HTTP server that plugins may have: how they are written, and which are not theirs."""

from __future__ import annotations

PATH_RULE = (
    "a path such as /acme or /.well-known/acme: 1 to 4 parts of a-z, 0-9, '.', '_' and '-', at most 128 characters"
)
WELL_KNOWN = ".well-known"
RESERVED = ("/mcp", "/sse", "/messages", "/health", "/metrics")
"""What the core has, or keeps for itself."""
MAX_PATH_CHARS = 128
MAX_PARTS = 4
_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")


def is_path(text: str) -> bool:
    """Whether a plugin may ask for it. /.well-known belongs to nobody alone."""
    first, *parts = text.split("/")
    if first or not 1 <= len(parts) <= MAX_PARTS or len(text) > MAX_PATH_CHARS:
        return False
    if parts[0] == WELL_KNOWN and len(parts) > 1:
        parts = parts[1:]
    return all(part and part[0] not in "._-" and _CHARACTERS.issuperset(part) for part in parts)


def is_within(path: str, route: str) -> bool:
    """Whether a request's path is a route's, or lies below it."""
    return path == route or path.startswith(route + "/")


def overlap(one: str, other: str) -> bool:
    """Whether two routes would compete for requests."""
    return is_within(one, other) or is_within(other, one)
