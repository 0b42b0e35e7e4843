"""Moments as people type them: `yesterday`, `monday`, `3 days ago`, or a date. Nothing is imported for a date.

A day that is named by a word is a day of the computer's own time zone. Asked what held then, its end counts; asked for
what came since, its beginning. A date is in UTC, as it is everywhere in the log.
"""

from __future__ import annotations

from zaxy.errors import InvalidRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SECONDS = {"minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
MAX_COUNT = 100_000


def moment(text: str, *, begin: bool = False, now: datetime | None = None) -> str:
    """The moment in the log's own form; empty where none is given. `begin`: of a day, its beginning."""
    from datetime import UTC, datetime

    words = text.casefold().split()
    if not words:
        return ""
    # astimezone() takes a moment without a zone for one of the computer's own.
    here = (now or datetime.now()).astimezone().replace(tzinfo=None)
    found = _ago(words, here) or _of_day(words, here, begin)
    if found is None:
        return _of_date(text)
    try:
        return found.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    except (OverflowError, OSError, ValueError):
        return _of_date("")


def _ago(words: list[str], here: datetime) -> datetime | None:
    """`3 days ago`, `a week ago`, `now`."""
    from datetime import timedelta

    if words == ["now"]:
        return here
    if len(words) != 3 or words[2] != "ago":
        return None
    count = 1 if words[0] in ("a", "an", "one") else int(words[0]) if words[0].isdecimal() and len(words[0]) < 7 else 0
    seconds = SECONDS.get(words[1].removesuffix("s"), 0)
    if not 0 < count <= MAX_COUNT or not seconds:
        return None
    try:
        return here - timedelta(seconds=count * seconds)
    except OverflowError:
        return None


def _of_day(words: list[str], here: datetime, begin: bool) -> datetime | None:
    """A day by its word, at its beginning or its end; today ends now."""
    from datetime import timedelta

    word = words[-1] if len(words) == 1 or words[:-1] == ["last"] else ""
    if word == "today":
        back = 0
    elif word == "yesterday":
        back = 1
    elif word in WEEKDAYS:  # the last one before today
        back = (here.weekday() - WEEKDAYS.index(word) - 1) % 7 + 1
    else:
        return None
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=back)
    if begin:
        return midnight
    return here if back == 0 else midnight + timedelta(days=1, microseconds=-1)


def _of_date(text: str) -> str:
    from zaxy.extract.times import utc_text

    found = utc_text(text)
    if not found:
        raise InvalidRequest(
            f"{text!r:.60} is not a date or time",
            "Write yesterday, monday, '3 days ago', or ISO-8601, such as 2026-06-15 or 2026-06-15T12:00:00Z.",
        )
    return found
