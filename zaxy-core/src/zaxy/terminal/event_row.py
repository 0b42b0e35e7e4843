"""One event of the log as a row: its number, when, what it says, and then what it is and who said it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zaxy.terminal.event_sentences import sentence_of_event, who_said
from zaxy.terminal.screen import DIM, Terminal, cells, one_line, plain, wrapped

if TYPE_CHECKING:
    from zaxy.plugins.families import Families

MAX_ACTOR_CHARS = 64
MAX_TYPE_CHARS = 64
MAX_TEXT_CHARS = 160
MIN_TEXT = 24
"""Columns that a text needs beside its place; with fewer it stands below."""
INDENT = "    "


def row_lines(place: str, text: str, whose: str, terminal: Terminal) -> list[str]:
    """The text behind its place, and dimmed behind it what it is and whose; nothing is cut."""
    across = " " * (cells(place) + 2)
    if terminal.width - len(across) < MIN_TEXT:
        across = INDENT
        lines = [place, *wrapped(text, terminal.width, across)]
    else:
        lines = wrapped(text, terminal.width, f"{place}  ", across)
    behind = f"  {whose}"
    if cells(lines[-1]) + cells(behind) <= terminal.width:
        return [*lines[:-1], lines[-1] + terminal.painted(behind, DIM)]
    return [*lines, *(terminal.painted(line, DIM) for line in wrapped(whose, terminal.width, across))]


def whose_row(record: Mapping[str, Any], kind: str) -> str:
    """What an event is, and who said it."""
    return f"({one_line(plain(kind), MAX_TYPE_CHARS)} by {one_line(plain(who_said(record)), MAX_ACTOR_CHARS)})"


def row_page(reply: Mapping[str, Any], width: int, colour: bool) -> str:
    """`reply` has the event, and in `text` what it says."""
    record = reply["event"]
    time = plain(record["time"][:19].replace("T", " "))
    text = plain(reply["text"]) or plain(record["type"])
    return "\n".join(
        row_lines(f"{record['seq']:>6}  {time}", text, whose_row(record, record["type"]), Terminal(width, colour))
    )


def text_of_row(record: Mapping[str, Any], families: Families | None = None) -> str:
    """What an event says, on one line."""
    if "damage" in record:
        return f"(damaged: {record['damage']})"
    if record.get("payload") is None:
        return "(erased)"
    said = sentence_of_event(record["type"], record["payload"]) or _text(record, families)
    return one_line(plain(said), MAX_TEXT_CHARS)


def _text(record: Mapping[str, Any], families: Families | None) -> str:
    """What an event says, in the sentences that a checkout shows of it."""
    from zaxy.eventloom.store import event_of_record
    from zaxy.extract.rules import extract
    from zaxy.extract.sentences import sentence_of
    from zaxy.retrieve.statements import in_sentences
    from zaxy.text.passages import passages

    event = event_of_record(dict(record))
    owner = families.owner(event.type) if families else None
    template = owner.types[event.type].sentence if owner and event.type in owner.types else ""
    sentence = sentence_of(template, record["payload"]) if template else ""
    said = passages(event, extract(event), sentence)
    return in_sentences(said[:1], MAX_TEXT_CHARS)[0] if said else str(record["payload"].get("reason", ""))
