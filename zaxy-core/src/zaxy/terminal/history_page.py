"""History as a person reads it: newest first, under the days."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from zaxy.extract.known_types import label_of
from zaxy.terminal.event_row import row_lines, whose_row
from zaxy.terminal.screen import BOLD, Terminal, plain, wrapped

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def history_page(reply: Mapping[str, Any], width: int, colour: bool) -> str:
    """`reply` has the events, and in `texts` what each says."""
    terminal = Terminal(width, colour)
    across = max(len(str(record["seq"])) for record in reply["events"])
    lines, shown = list[str](), None
    for record in reply["events"]:
        when = _local(record["time"])
        day = when.date() if when else None
        if day != shown or not lines:
            lines += [*([""] if lines else []), terminal.painted(_heading(day), BOLD)]
            shown = day
        time = f"{when:%H:%M}" if when else "--:--"
        lines += _row(record, reply["texts"][record["seq"]], f"{record['seq']:>{across}}  {time}", terminal)
    return "\n".join(lines)


def rows_page(rows: Mapping[str, str], width: int, colour: bool) -> str:
    """Names with a sentence on each, beside them or below where there is little room."""
    terminal = Terminal(width, colour)
    across = max(map(len, rows)) + 2
    lines = list[str]()
    for name, sentence in rows.items():
        if across > terminal.width // 2:
            lines += [name, *wrapped(sentence, terminal.width, "    ")]
        else:
            lines += wrapped(sentence, terminal.width, name.ljust(across), " " * across)
    return "\n".join(lines)


def _row(record: Mapping[str, Any], text: str, place: str, terminal: Terminal) -> list[str]:
    label = label_of(record["type"])
    said = plain(text) or plain(f"{label[0].upper()}{label[1:]}")
    return row_lines(place, said, whose_row(record, label), terminal)


def _local(time: str) -> datetime | None:
    """A time of the log by the computer's own clock."""
    try:
        return datetime.fromisoformat(time).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def _heading(day: date | None) -> str:
    if day is None:
        return "At a time that cannot be read"
    today = datetime.now().astimezone().date()
    near = {today: ", today", today - timedelta(days=1): ", yesterday"}.get(day, "")
    return f"{DAYS[day.weekday()]} {day}{near}"
