"""Who else holds the words of an event: what was imported from it, and whatever says one of its sentences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from zaxy.errors import ZaxyError
from zaxy.eventloom.admission import IMPORTED_FROM
from zaxy.eventloom.citation import short_citation
from zaxy.eventloom.store import event_of_record
from zaxy.extract.own_use import COMPOSED, FEEDBACK
from zaxy.extract.references import INVALIDATED
from zaxy.extract.rules import extract
from zaxy.extract.texts import PROSE

if TYPE_CHECKING:
    from zaxy.api.models import Event
    from zaxy.eventloom.event_log import EventLog

LABELS = frozenset(
    (
        "actor citation entity_type feedback hash id key kind occurred_at operation owner path role sensitivity"
        " session_id source speaker status tags time tool_name trigger turn_index type user version workspace"
        f" {IMPORTED_FROM}"
    ).split()
)
"""Fields that say who, where and when: many events have the same there."""
MIN_CHARS, MIN_WORD_CHARS = 8, 4
"""Of a sentence of several words, and of one word that is all that a field of prose says."""
IMPORTED, QUOTES, SAME_WORDS = "imported from it", "written about it, and quotes it", "says the same"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|[\n\r\u2028\u2029。！？]+")
_WORD = re.compile(r"\w+")


class Copy(NamedTuple):
    citation: str
    event_type: str
    why: str

    def as_dict(self) -> dict[str, str]:
        return {"citation": short_citation(self.citation), "type": self.event_type, "why": self.why}


class Search(NamedTuple):
    copies: list[Copy]
    problems: list[str]
    """Why a session could not be searched."""


def find_copies(event: Event, log: EventLog) -> Search:
    """Every other event of the workspace that holds words of an event, oldest first in each session."""
    sentences, origins = sentences_of(event), {event.citation, *_origins(event)}
    marks = [max(_WORD.findall(sentence), key=len, default=sentence) for sentence in sentences]
    found: list[Copy] = []
    problems = []
    for session in log.sessions():
        try:
            for record, line in log.records(session):
                text = line.decode().casefold()
                if IMPORTED_FROM in text or any(mark in text for mark in marks):
                    other = event_of_record(record)
                    if other.citation != event.citation and (why := _why(other, sentences, origins)):
                        found.append(Copy(other.citation, other.type, why))
        except ZaxyError as error:
            problems.append(f"{session} could not be searched for copies to its end: {error.message}")
    return Search(found, problems)


def sentences_of(event: Event) -> list[str]:
    """What an event says, sentence by sentence, in the form in which texts are compared; and the name of its thing."""
    said = [sentence for field, text in _texts(event.payload or {}) for sentence in _sentences(field, text)]
    own = extract(event).entities[:1]
    names = [name for entity in own for name in _sentences("", entity.name)]
    return list(dict.fromkeys((*said, *names)))


def _sentences(field: str, text: str) -> Iterator[str]:
    if field in LABELS:
        return
    for part in _SENTENCE_END.split(text):
        sentence = _folded(part).strip(" .,;:!?\"'")
        words = len(_WORD.findall(sentence))
        if (words > 1 and len(sentence) >= MIN_CHARS) or (field in PROSE and len(sentence) >= MIN_WORD_CHARS):
            yield sentence


def _why(other: Event, sentences: Iterable[str], origins: set[str]) -> str:
    """Why an event counts as a copy; empty if it does not."""
    if other.payload is None:
        return ""
    if origins & {*_origins(other), other.citation}:
        return IMPORTED
    held = "\n".join(_folded(text) for _, text in _texts(other.payload))
    if not any(_holds(held, sentence) for sentence in sentences):
        return ""
    quotes = other.type in (*FEEDBACK, INVALIDATED) or other.type.startswith(COMPOSED)
    return QUOTES if quotes else SAME_WORDS


def _holds(text: str, sentence: str) -> bool:
    if sentence not in text:
        return False
    return not sentence.isascii() or re.search(rf"(?<!\w){re.escape(sentence)}(?!\w)", text) is not None


def _origins(event: Event) -> Iterator[str]:
    """The citations that an imported event has had before."""
    origin = (event.payload or {}).get(IMPORTED_FROM)
    while isinstance(origin, dict):
        if isinstance(origin.get("citation"), str):
            yield origin["citation"]
        origin = origin.get("earlier")


def _texts(payload: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every text of a payload with its field; keys are texts too. Items of a list have the field of the list."""
    waiting: list[tuple[str, Any]] = list(payload.items())
    while waiting:
        field, value = waiting.pop()
        if isinstance(value, str):
            yield field, value
        elif isinstance(value, dict):
            yield from (("", key) for key in value)
            waiting += value.items()
        elif isinstance(value, list):
            waiting += [(field, item) for item in value]


def _folded(text: str) -> str:
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return " ".join(plain.casefold().split())
