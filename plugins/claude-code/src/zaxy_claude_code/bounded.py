"""Texts and names that the log takes: well formed, and no longer than somebody will read."""

from __future__ import annotations

from datetime import UTC, datetime

from zaxy.api import without_private

CUT = " …[cut]… "
WINDOW = 16 << 10
"""Of a long output so much is given on. Zaxy takes the secrets out before it cuts its excerpt: half a secret would not
be recognised."""
MAX_TURN_CHARS = 150_000
"""The log takes payloads of 1 MiB, and one character may need six bytes in it."""
MAX_NAME_CHARS = 64
MAX_NAMES = 64


def text_within(text: str, limit: int) -> str:
    """The text, or its two ends with a mark between them: at most `limit` characters.

    What is private is taken out first: half of it cannot be found.
    """
    text = without_private(text)
    if len(text) > limit:
        head = (limit - len(CUT)) // 2
        text = text[:head] + CUT + text[head + len(CUT) - limit :]
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def names_of(arguments: object) -> list[str]:
    """The names of a tool's arguments, never their values."""
    names = sorted(arguments) if isinstance(arguments, dict) else []
    return [text_within(name, MAX_NAME_CHARS) for name in names[:MAX_NAMES]]


def utc_text(timestamp: object) -> str:
    """A time as the log writes it; empty if the record has none that can be read."""
    if not isinstance(timestamp, str):
        return ""
    try:
        moment = datetime.fromisoformat(timestamp)
        if moment.tzinfo is None:
            return ""
        return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return ""


def whole_number(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 2**53:
        return None
    return int(value)
