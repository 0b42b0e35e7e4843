"""What memory holds and cost, as a person reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from zaxy.observe.stats import week_of
from zaxy.terminal.screen import plain

BARS = "▁▂▃▄▅▆▇█"
MAX_WEEKS = 26
MAX_SESSIONS = 12
NO_CALL = "memory called no model: none of its own events in the log records a call"


def stats_page(stats: Mapping[str, Any], days: int) -> str:
    """`days`: on how many days something was recorded."""
    if not stats["events"]:
        return "nothing is recorded yet"
    spent = stats["model_tokens"]
    figures = (
        ("events", stats["events"], f"in {_count(stats['sessions'], 'session')}, on {_count(days, 'day')}"),
        ("", "", f"{stats['first']} to {stats['last']}"),
        ("into prompts", stats["injected_tokens"], "tokens of memory"),
        ("model tokens", spent, NO_CALL if not spent else "spent by memory itself"),
    )
    lines = [f"{name:<14}{_number(value):>10}  {text}".rstrip() for name, value, text in figures]
    weeks = _weeks(stats["by_week"])
    for name, field in (("events by week", "events"), ("tokens by week", "injected_tokens")):
        lines.append(f"{name:<24}  {_spark([week.get(field, 0) for week in weeks])}")
    return "\n".join([*lines, "", *_sessions(stats["by_session"])])


def _sessions(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Those that were written to last."""
    newest = sorted(rows, key=lambda row: (row["last"], row["events"]), reverse=True)[:MAX_SESSIONS]
    left = len(rows) - len(newest)
    lines = [
        f"{row['events']:>10,} events {row['injected_tokens']:>10,} tokens  last {row['last'] or '-'}  "
        f"{plain(row['session_id'])}"
        for row in newest
    ]
    return [*lines, *([f"and {_count(left, 'session')} more"] if left else [])]


def _weeks(by_week: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The last weeks up to the last one with events, those without any too."""
    known = {week["week"]: week for week in by_week}
    if not known:
        return []
    last = _monday(max(known))
    count = min(MAX_WEEKS, (last - _monday(min(known))).days // 7 + 1)
    mondays = [last - timedelta(weeks=back) for back in range(count)]
    return [known.get(week_of(monday.isoformat()), {}) for monday in reversed(mondays)]


def _monday(week: str) -> date:
    year, number = week.split("-W")
    return date.fromisocalendar(int(year), int(number), 1)


def _spark(values: Sequence[int]) -> str:
    """A bar for each value, as high as its share of the greatest; a space for none."""
    highest = max(values, default=0)
    return "".join(BARS[(value * len(BARS) - 1) // highest] if value > 0 else " " for value in values)


def _number(value: int | str) -> str:
    return f"{value:,}" if isinstance(value, int) else value


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
