"""One event of the log as one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zaxy.printing import one_line

if TYPE_CHECKING:
    from zaxy.plugins.families import Families

MAX_ACTOR_CHARS = 100
MAX_TYPE_CHARS = 256
MAX_TEXT_CHARS = 160


def event_row(record: Mapping[str, Any], families: Families | None = None) -> str:
    """Number, time, type, who, and what it says, in the words of a package that owns its type."""
    time = record["time"][:19].replace("T", " ")
    type_, actor = one_line(record["type"], MAX_TYPE_CHARS), one_line(record["actor"], MAX_ACTOR_CHARS)
    return f"{record['seq']:>6}  {one_line(time, len(time))}  {type_}  {actor}  {text_of_row(record, families)}"


def text_of_row(record: Mapping[str, Any], families: Families | None = None) -> str:
    """What an event says, on one line."""
    if "damage" in record:
        return f"(damaged: {record['damage']})"
    return "(erased)" if record.get("payload") is None else one_line(_text(record, families), MAX_TEXT_CHARS)


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
