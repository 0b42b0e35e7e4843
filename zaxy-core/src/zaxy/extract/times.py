"""Times that others write, in the one form that the log and the graph compare as text."""

from __future__ import annotations

from datetime import UTC, datetime

MAX_TIME_CHARS = 40


def utc_text(value: object) -> str:
    """An ISO-8601 date or time as `2026-06-15T00:00:00.000000Z`; empty if it is none. Without an offset it is UTC."""
    if not isinstance(value, str):
        return ""
    text = value.strip()
    # Pythons differ on hour 24, and on dates by week or without hyphens: one log must give the same rows on all.
    if len(text) > MAX_TIME_CHARS or text[4:5] != "-" or text[7:8] != "-" or text[11:13] == "24":
        return ""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return ""
    return moment.isoformat(timespec="microseconds") + "Z"
