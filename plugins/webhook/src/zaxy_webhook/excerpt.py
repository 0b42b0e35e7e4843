"""The part of a receiver's text that may be shown."""

from __future__ import annotations

MAX_EXCERPT_CHARS = 200
RUN_CHARS = 8


def excerpt(text: str, token: str) -> str:
    """The beginning in one line and in quotes. A text that repeats a part of the token is not shown at all."""
    # Unprintable characters become a space, so that no two parts grow together.
    line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    if any(run in text or run in line for run in _runs(token)):
        return "(not shown: it repeats the token)"
    return f'"{line[:MAX_EXCERPT_CHARS]}..."' if len(line) > MAX_EXCERPT_CHARS else f'"{line}"'


def _runs(token: str) -> set[str]:
    """All runs of a few characters, so that a token that is cut, escaped or wrapped is found too."""
    if len(token) <= RUN_CHARS:
        return {token} if token else set()
    return {token[start : start + RUN_CHARS] for start in range(len(token) - RUN_CHARS + 1)}
