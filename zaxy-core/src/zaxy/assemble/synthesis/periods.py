"""Rows taken together by their days, weeks, months and years, and things that are counted once each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from zaxy.api.models import Event
from zaxy.assemble.synthesis.question import ComposedQuestion
from zaxy.assemble.synthesis.values import fields_of, stems_of
from zaxy.text.tokens import words


def of_time(each: str, time: str) -> str:
    """The day, week, month, quarter or year of a time."""
    if each == "week":
        year, week, _ = date.fromisoformat(time[:10]).isocalendar()
        return f"{year}-W{week:02}"
    if each == "quarter":
        return f"{time[:4]}-Q{(int(time[5:7]) + 2) // 3}"
    return time[: {"day": 10, "month": 7, "year": 4}[each]]


def average_of_each(each: str, values: Sequence[tuple[str, float]]) -> tuple[float, bool]:
    """The sum divided by how many days, weeks or months there are from the first to the last, both included; and
    whether each of them has a value."""
    places = [_place(each, date.fromisoformat(time[:10])) for time, _ in values]
    count = max(places) - min(places) + 1
    return sum(value for _, value in values) / count, len(set(places)) == count


def _place(each: str, day: date) -> int:
    months = day.year * 12 + day.month - 1
    places = {"day": day.toordinal(), "week": (day.toordinal() - 1) // 7, "month": months, "quarter": months // 3}
    return places.get(each, day.year)


class Different(NamedTuple):
    """Things that are counted once each."""

    names: tuple[str, ...]
    is_doubted: bool
    """Whether the rows may be counted just as well."""


def distinct_of(question: ComposedQuestion, events: Sequence[Event]) -> Different | None:
    """What different things the rows name, where these are counted and not the rows: of `how many clients` the texts of
    the field `client`. Nothing where each row is one of what is counted, or some of them do not say."""
    if not question.counted or question.operation != "count":
        return None
    found = [_named(question.counted, event) for event in events]
    names = tuple(dict.fromkeys(found))
    if not all(found):
        return None
    of_type = any(not question.counted.isdisjoint(stems_of(event.type.replace(".", " "))) for event in events)
    if of_type and not question.asks_for_different and any(question.counted & stems_of(name) for name in names):
        return None  # `how many high priority tickets` asks for tickets
    return None if of_type and len(names) == len(events) else Different(names, of_type)


def _named(stems: frozenset[str], event: Event) -> str:
    for field, value in fields_of(event.payload or {}).items():
        if not stems.isdisjoint(words(field.replace("_", " "))):
            return value
    return ""
