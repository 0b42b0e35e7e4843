"""What memory holds and cost, as a person reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from zaxy.observe.stats import week_of
from zaxy.printing import ROOM_FOR_TWO_COLUMNS
from zaxy.terminal.screen import Terminal, plain, wrapped

BARS = "▁▂▃▄▅▆▇█"
MAX_WEEKS = 26
ACROSS, INDENT = 26, "    "
MAX_SESSIONS = 12
NO_CALL = "memory called no model: none of its own events in the log records a call"


def stats_page(stats: Mapping[str, Any], width: int, colour: bool) -> str:
    """`stats` are those of the command's `--json`, and in `days` on how many days something was recorded."""
    terminal = Terminal(width, colour)
    if not stats["events"]:
        return "nothing is recorded yet"
    days, between = _count(stats["days"], "day"), f"{stats['first']} to {stats['last']}"
    spent = stats["model_tokens"]
    figures = (
        ("events", stats["events"], f"in {_count(stats['sessions'], 'session')}, on {days}, {between}"),
        ("into prompts", stats["injected_tokens"], "tokens of memory"),
        ("model tokens", spent, NO_CALL if not spent else "spent by memory itself"),
    )
    lines = [line for name, value, text in figures for line in _figure(f"{name:<14}{value:>10,}", text, terminal)]
    weeks = _weeks(stats["by_week"])
    for name, field in (("events by week", "events"), ("tokens by week", "injected_tokens")):
        bars = _spark([week.get(field, 0) for week in weeks])
        lines += [f"{name:<24}  {bars}"] if ACROSS + len(bars) <= width else [name, f"{INDENT}{bars}"]
    return "\n".join([*lines, "", *_sessions(stats["by_session"], terminal)])


def _figure(start: str, text: str, terminal: Terminal) -> list[str]:
    narrow = terminal.width < ROOM_FOR_TWO_COLUMNS
    return wrapped(text, terminal.width, f"{start}  ", INDENT if narrow else " " * ACROSS)


def _sessions(rows: Sequence[Mapping[str, Any]], terminal: Terminal) -> list[str]:
    """Those that were written to last."""
    newest = sorted(rows, key=lambda row: (row["last"], row["events"]), reverse=True)[:MAX_SESSIONS]
    left = len(rows) - len(newest)
    lines = list[str]()
    for row in newest:
        said = f"{row['events']:,} events, {row['injected_tokens']:,} tokens, last {row['last'] or '-'}"
        lines += wrapped(f"{plain(row['session_id'])}: {said}", terminal.width, "", INDENT)
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


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
