"""History as a person reads it: a line an event, newest first, under the days."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from zaxy.extract.known_types import label_of
from zaxy.extract.sentences import sentence_of
from zaxy.terminal.screen import BOLD, DIM, Terminal, cells, plain, wrapped

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SENTENCES = {
    "memory.checkout.completed": ("Memory was asked: {answerability}",),
    "memory.bootstrap.shown": ("Memory introduced itself",),
    "memory.reminder.suggested": ("A reminder was shown",),
    "memory.ref.updated": ("{name} names event {target_seq}",),
    "memory.imported": ("Events were imported",),
    "memory.invalidated": (
        "The {entity_type} {entity_name} no longer holds",
        "The {entity_type} of event {cited} no longer holds",
        "Something no longer holds: {reason}",
        "Something no longer holds",
    ),
    **dict.fromkeys(
        ("memory.reinforced", "memory.feedback"),
        ("{feedback}: the {entity_type} {entity_name}", "{feedback}: event {cited}", "{feedback}"),
    ),
    **dict.fromkeys(
        ("event.erased", "imported.erased"),
        ("What an event said was erased: {reason}", "What an event said was erased"),
    ),
    "hook.heartbeat": ("A hook is alive",),
}
"""What is said of types whose payloads are no sentences: the first whose fields are there."""
MIN_TEXT = 24
"""Columns that a text gets before who said it is left out."""
MAX_ACTOR_CHARS = 24


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
        lines.append(_line(record, reply["texts"][record["seq"]], f"{record['seq']:>{across}}  {time}", terminal))
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


def _line(record: Mapping[str, Any], text: str, place: str, terminal: Terminal) -> str:
    """The text first, what it is and who said it behind it."""
    label = label_of(record["type"])
    said = _sentence(record) or plain(text) or f"{label[0].upper()}{label[1:]}"
    actor = _cut(plain(record["actor"]), MAX_ACTOR_CHARS)
    whose = f"  ({plain(label)} by {actor})" if plain(text) or record["type"] in SENTENCES else f"  ({actor})"
    room = terminal.width - cells(place) - 2
    if room - cells(whose) < MIN_TEXT:
        whose = ""
    return f"{place}  {_cut(said, room - cells(whose))}{terminal.painted(whose, DIM)}"


def _sentence(record: Mapping[str, Any]) -> str:
    payload = record.get("payload")
    if not isinstance(payload, Mapping):
        return ""
    cites = [payload.get(field) for field in ("entity_citation", "citation", "target")]
    cited = next((_number(text) for text in cites if isinstance(text, str)), "")
    templates = SENTENCES.get(record["type"], ())
    said = next((text for one in templates if (text := sentence_of(one, {**payload, "cited": cited}))), "")
    return plain(said[:1].upper() + said[1:])


def _number(citation: str) -> str:
    return citation.rpartition("/")[2].partition("#")[0]


def _cut(text: str, room: int) -> str:
    if cells(text) <= room:
        return text
    kept = ""
    for letter in text:
        if cells(kept + letter) >= room:
            break
        kept += letter
    return kept.rstrip() + "…"


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
