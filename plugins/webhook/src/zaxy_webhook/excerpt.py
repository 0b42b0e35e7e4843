"""What may be shown of a text that came from the receiver."""

from __future__ import annotations

LONGEST = 200
PIECE = 8


def excerpt(text: str, token: str) -> str:
    """The beginning in one line and in quotes; not shown at all where it repeats a piece of the token."""
    # What is not printable becomes a space, never nothing: pieces must not grow together.
    line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    if any(piece in text or piece in line for piece in _pieces(token)):
        return "(not shown: it repeats the token)"
    return f'"{line[:LONGEST]}..."' if len(line) > LONGEST else f'"{line}"'


def _pieces(token: str) -> set[str]:
    """All runs of a few characters, so that a token that is cut, escaped or wrapped is found too."""
    if len(token) <= PIECE:
        return {token} if token else set()
    return {token[start : start + PIECE] for start in range(len(token) - PIECE + 1)}
