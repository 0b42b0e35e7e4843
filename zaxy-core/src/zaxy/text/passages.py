"""What the text index holds of an event: its words in passages of readable length, with who, when and where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from typing import NamedTuple

from zaxy.api.models import Event, ExtractedEvent, Extraction, JsonObject
from zaxy.eventloom.admission import IMPORTED_FROM
from zaxy.extract.own_use import is_own_use
from zaxy.extract.rules import ERASED, RULES, UNKNOWN
from zaxy.extract.sentences import unsaid
from zaxy.extract.texts import readable_text
from zaxy.extract.times import utc_text
from zaxy.text.statements import marked_questions, questions, within, without

MAX_CHARS = 1200
"""Characters of a passage. Longer texts are cut where a line or a sentence ends."""
MIN_CUT = 600
OBSERVED = frozenset(("command.completed", "file.edit.applied", "tool.call.completed"))
NOT_SAID = frozenset(("occurred_at", "sensitivity", "source", "supersedes", "turn_index", IMPORTED_FROM))
"""Fields that say when, where and how, beside what was said."""

PLACE = ("source", "turn_index", "path", "title", "start_line", "end_line")
HEADING = ("title", "path", "source")
ORIGIN = "origin_citation"
"""What an imported event was cited by where it came from."""
KINDS = {"transcript.turn": "transcript", "document.indexed": "document"}
SPOKEN = frozenset(("transcript.turn", *(kind for kind in RULES if kind.startswith("hook."))))
"""What somebody said to somebody; types that have no rule are taken for it too. What other events and documents hold
was written down to be kept: there only a question mark shows a question."""
_FIELD = re.compile(r"[\w.-]{1,64}: \S+(?: \S+){0,2}")


class Passage(NamedTuple):
    text: str
    kind: str
    """`transcript`, `document` or `event`."""
    speaker: str
    """Who said it: the speaker of a turn, else the event's actor."""
    source: str
    """Where it was said: what is of one source and close in time belongs together."""
    time: str
    """When it happened, as far as is known."""
    heading: str
    """What it stands under: the title and path of a document, the name of a channel."""
    metadata: JsonObject


class Parts(NamedTuple):
    """What a passage tells, and what in it asks."""

    stated: str
    asked: str


NOTHING_SAID = Parts("", "")


def parts_of(event: Event, text: str, entity_type: str = "") -> Parts:
    """The parts of a passage of an event; a record of memory's own use has none."""
    return NOTHING_SAID if is_own_use(event) else parts_of_text(text, event.type, entity_type)


def parts_of_text(text: str, event_type: str, entity_type: str = "") -> Parts:
    """What a text of an event tells, and what in it asks. What a command or a tool printed is never a question.

    Beside a question, fields of a few words say where and how it was asked. `entity_type`: of what the event is about.
    """
    if event_type in OBSERVED:
        return Parts(text, "")
    is_spoken = _is_spoken(event_type, entity_type)
    spans = questions(text) if is_spoken else marked_questions(text)
    if not spans:
        return Parts(text, "")
    stated = without(text, spans)
    if is_spoken and all(_FIELD.fullmatch(line.strip()) for line in stated.splitlines()):
        return Parts("", text)
    return Parts(stated, within(text, spans))


@lru_cache(1024)
def _is_spoken(event_type: str, entity_type: str) -> bool:
    has_rule = event_type in RULES or event_type in KINDS or entity_type not in ("", UNKNOWN.entity_type)
    return event_type in SPOKEN or not has_rule


def stated_of_each(texts: Iterable[tuple[str, str, str]]) -> list[str]:
    """What each text tells, given with the type of its event and of what that is about."""
    return [parts_of_text(*text).stated for text in texts]


def passages(event: Event, rows: Extraction, sentence: str = "") -> list[Passage]:
    """The passages of an event, in order; an erased one has none, nor has the record of its erasure.

    `sentence`: what it says first, where the owner of its type has one for it.
    """
    payload = event.payload
    if payload is None or event.type == ERASED:
        return []
    kind = KINDS.get(event.type, "event")
    text = _text(payload, ("content", "text")) if kind != "event" else ""
    if event.type in OBSERVED and rows.entities:
        text = rows.entities[0].summary  # without what a file or an argument holds
    if not text:
        said = {key: value for key, value in payload.items() if key not in NOT_SAID}
        text = f"{sentence}\n{readable_text(unsaid(said, sentence))}" if sentence else readable_text(said)
    speaker = (_text(payload, ("speaker", "role")) if kind == "transcript" else "") or event.actor
    place = _place(payload)
    source = _text(payload, ("source", "path") if kind != "event" else ("source",))
    heading = " ".join([str(place[key]) for key in HEADING if key in place]) if place else ""
    time = ("occurred_at" in payload and utc_text(payload["occurred_at"])) or event.time
    if kind == "document":
        return list(_of_document(text, payload, Passage(text, kind, speaker, source, time, heading, place)))
    return [
        _as_passage((part.strip("\n"), kind, speaker, source, time, heading, place))
        for part in (_cut(text) if len(text) > MAX_CHARS else (text,))
        if part.strip()
    ]


_as_passage = partial(tuple.__new__, Passage)
"""What `Passage._make` does, without a call for each."""


def _place(payload: JsonObject) -> dict[str, object]:
    """Where it was said, as far as the payload tells."""
    place = {key: payload[key] for key in PLACE if key in payload and isinstance(payload[key], (str, int))}
    origin = payload.get(IMPORTED_FROM)
    if isinstance(origin, dict) and isinstance(origin.get("citation"), str):
        place[ORIGIN] = origin["citation"]
    return place


def _of_document(text: str, payload: JsonObject, whole: Passage) -> Iterator[Passage]:
    """The parts of a document, each with the lines that it has."""
    first_line = payload.get("start_line")
    line = first_line if type(first_line) is int else 1
    for part in _cut(text) if len(text) > MAX_CHARS else (text,):
        first, last = line + len(part) - len(part.lstrip("\n")), line + part.rstrip("\n").count("\n")
        line += part.count("\n")
        if part.strip():
            metadata = {"path": whole.source, **whole.metadata, "start_line": first, "end_line": last}
            yield whole._replace(text=part.strip("\n"), metadata=metadata)


def passages_of_each(events: Iterable[tuple[Event, Extraction, str]]) -> list[list[Passage]]:
    """The passages of each event, which is given with its rows and its sentence."""
    return [passages(*event) for event in events]


def passages_of(extracted: ExtractedEvent) -> list[str]:
    """What an event tells, in passages of at most 1,200 characters, for a lane that has an index of its own.

    What asks is left out; an erased event and bookkeeping tell nothing.
    """
    if extracted.housekeeping:
        return []
    event, first = extracted.event, next(iter(extracted.rows.entities), None)
    kind = first.entity_type if first else ""
    found = passages(event, extracted.rows, extracted.sentence)
    said = [parts_of(event, passage.text, kind).stated.strip() for passage in found]
    return [text for text in said if text]


def _text(payload: JsonObject, keys: tuple[str, ...]) -> str:
    for key in keys:
        if key in payload:
            value = payload[key]
            if isinstance(value, str) and value.strip():
                return value
    return ""


def _cut(text: str) -> Iterator[str]:
    """The text in pieces that end with a line, a sentence or a word, in this order of preference."""
    while len(text) > MAX_CHARS:
        ends = (text.rfind(mark, MIN_CUT, MAX_CHARS) + len(mark) for mark in ("\n", ". ", "。", " "))
        end = next((end for end in ends if end > MIN_CUT), MAX_CHARS)
        yield text[:end]
        text = text[end:]
    if text.strip():
        yield text
