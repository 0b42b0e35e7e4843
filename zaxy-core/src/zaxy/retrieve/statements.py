"""What a row states, in sentences: those that bear on a question first, within the room that it gets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from zaxy.extract.texts import cut
from zaxy.retrieve.log_words import SUMMARY_SEQ
from zaxy.retrieve.results import Result
from zaxy.text.passages import Passage, stated_of_each
from zaxy.text.tokens import MONTHS, stems_of_each

MAX_CHARS = 400
"""A row that is no longer is shown whole, of a longer one its best sentences."""
MAX_PLACE_CHARS = 80
BESIDE = 0.4
"""How much a sentence gains from the one before it and the one after it."""
LABELS = frozenset("subject title name key id topic about component metric".split())
"""Fields that say what a row is about; the others say what is so."""
UNSAID = frozenset(("key", "tags"))
"""Fields for those who keep memory in order; nobody reads them as a statement."""
RELATIONS = ("relation", "attribute", "predicate", "property")
VALUES = ("value", "object")
_END = re.compile(r"(?<=[.!?])[\"”’)]*\s+|(?<=[。！？])|\n+")
_FIELDS = re.compile(r"^([a-z][\w.]{0,63}): (.+)$", re.MULTILINE)
_ENDED = tuple(".!?…。！？:;")


Field = tuple[frozenset[str], frozenset[str]]
"""The stems of what a field is called, and of its value."""


class Statements(NamedTuple):
    sentences: tuple[str, ...]
    """As they are shown."""
    stems: tuple[frozenset[str], ...]
    """Of each sentence, with its identifiers."""
    label: frozenset[str]
    """The stems of what the row is about, who said it, and where it stands."""
    names: tuple[frozenset[str], ...]
    """The stems of each name that the row has: its own, its subject, its title."""
    fields: tuple[Field, ...]
    """What it says of that, if it was recorded in fields."""
    claim: tuple[str, ...] = ()
    """A subject, a relation and a value, without case, where fields say these."""
    place: str = ""
    """What its sentences stand under, if they do not say it."""


class _Texts(NamedTuple):
    """What a row says, before its stems are known."""

    sentences: list[str]
    label: str
    names: list[str]
    fields: dict[str, str]
    place: str


def statements_of(results: Sequence[Result]) -> list[Statements]:
    """What each row tells; what in it asks is none of that."""
    stated = stated_of_each([(result.content, result.event_type, result.entity_type) for result in results])
    rows = [_texts(result, text) for result, text in zip(results, stated, strict=True)]
    texts = [
        text for row in rows for text in (*row.sentences, row.label, *row.names, *row.fields, *row.fields.values())
    ]
    stems = iter(stems_of_each(texts))
    return [_statements(row, stems) for row in rows]


def _statements(row: _Texts, stems: Iterator[frozenset[str]]) -> Statements:
    """`stems`: of all its texts, in their order."""
    sentences = tuple(islice(stems, len(row.sentences)))
    (label,) = islice(stems, 1)
    names = tuple(filter(None, islice(stems, len(row.names))))
    fields = tuple(islice(stems, len(row.fields))), tuple(islice(stems, len(row.fields)))
    claim = tuple([" ".join(row.fields[name].casefold().split()) for name in _claim_fields(row.fields)])
    return Statements(tuple(row.sentences), sentences, label, names, tuple(zip(*fields, strict=True)), claim, row.place)


def _texts(result: Result, stated: str) -> _Texts:
    fields = _fields(result.content, str(result.metadata.get("kind", "")))
    own = result.entity_name if not result.entity_name.startswith(f"{result.event_type}:") else ""
    about = _said_before(result) if SUMMARY_SEQ in result.properties else ""
    names = [own, *([about] if about else ()), *[value for name, value in fields.items() if name in LABELS]]
    kind = f"{result.entity_type} {result.event_type}".replace("_", " ").replace(".", " ")
    place = " ".join([str(result.metadata.get(key, "")) for key in ("title", "path", "source")])
    month = int(result.valid_from[5:7] or 0)
    when = f"{MONTHS[month - 1]} {result.valid_from[:4]}" if month else ""
    label = f"{kind} {result.actor} {place} {when} {' '.join(names)}"
    spoken = {name: value for name, value in fields.items() if "." not in name}
    place = f"{cut(about, MAX_PLACE_CHARS)}: " if about else _place(result.content, result.metadata)
    return _Texts(_sentences(stated, fields), label, names, spoken, place)


def derived_stems(results: Sequence[Result]) -> list[frozenset[str]]:
    """The stems of what extractors of plugins see in each row."""
    names = ("entity_name", "entity_type", "summary")
    return stems_of_each([" ".join([str(row[name]) for row in one.derived for name in names]) for one in results])


def _said_before(result: Result) -> str:
    """What a task, goal or issue is, where an earlier event says it and this one does not repeat it."""
    return result.summary if result.summary not in result.content else ""


def _fields(text: str, kind: str) -> dict[str, str]:
    """The fields in the text of an event, with their values."""
    return dict(_FIELDS.findall(text)) if kind == "event" else {}


def _claim_fields(fields: Mapping[str, str]) -> tuple[str, ...]:
    """The fields that name a subject, a relation and a value; nothing where one is missing."""
    relation = next((name for name in RELATIONS if name in fields), "")
    value = next((name for name in VALUES if name in fields), "")
    return ("subject", relation, value) if "subject" in fields and relation and value else ()


def in_sentences(passages: Iterable[Passage | None], max_chars: int = MAX_CHARS) -> list[str]:
    """Each passage as a reply shows it beside the answer: its first sentences. Empty where there is none."""
    return [_beginning(*passage[:2], passage.metadata, max_chars=max_chars) if passage else "" for passage in passages]


def results_in_sentences(results: Iterable[Result], max_chars: int = MAX_CHARS) -> list[str]:
    return [
        _beginning(result.content, str(result.metadata.get("kind", "")), result.metadata, max_chars=max_chars)
        for result in results
    ]


def _beginning(text: str, kind: str, metadata: Mapping[str, object], *, max_chars: int) -> str:
    place, sentences = _place(text, metadata), _sentences(text, _fields(text, kind))
    return f"{place}{_best(sentences, [0.0] * len(sentences), max_chars - len(place))}"


def _place(text: str, metadata: Mapping[str, object]) -> str:
    """The title or path of what a text stands in or is about, to stand before it; nothing where the text has it."""
    place = str(metadata.get("title") or metadata.get("path") or "")
    return "" if place in text else f"{cut(place, MAX_PLACE_CHARS)}: "


def shown_of_each(rows: Iterable[tuple[Statements, Sequence[float]]]) -> list[str]:
    """Rows in a few sentences, each given with what its sentences are worth."""
    return [shown(statements, worth) for statements, worth in rows]


def shown(statements: Statements, worth: Sequence[float], max_chars: int = MAX_CHARS) -> str:
    """The row in a few sentences, in their own order: all of them, or those that are worth most.

    `worth` has a figure for each sentence.
    """
    return f"{statements.place}{_best(statements.sentences, worth, max_chars)}"


def _best(sentences: Sequence[str], worth: Sequence[float], max_chars: int) -> str:
    if sum(map(len, sentences)) + 2 * len(sentences) <= max_chars:
        return _joined(sentences)
    beside = (0.0, *worth, 0.0)
    near = [own + BESIDE * (beside[place] + beside[place + 2]) for place, own in enumerate(worth)]
    taken: list[int] = []
    room = max_chars
    for place in sorted(range(len(sentences)), key=lambda place: (-near[place], place)):
        if len(sentences[place]) < room:
            taken.append(place)
            room -= len(sentences[place]) + 2
        elif not taken:
            return f"{sentences[place][: max_chars - 1].rstrip()}…"
    return _joined(_with_gaps(sentences, sorted(taken)))


def _with_gaps(sentences: Sequence[str], places: Sequence[int]) -> list[str]:
    """The sentences at the places, with a mark where some are left out."""
    shown = []
    before = -1
    for place in places:
        shown += ["…"] if place != before + 1 else []
        shown.append(sentences[place])
        before = place
    return [*shown, "…"] if before + 1 < len(sentences) else shown


def _sentences(stated: str, fields: Mapping[str, str]) -> list[str]:
    if not fields:
        return [part for part in [part.strip() for part in _END.split(stated)] if part]
    claim = _claim_fields(fields)
    found = [f"{fields[claim[0]]} {fields[claim[1]]}: {fields[claim[2]]}"] if claim else []
    for line in stated.split("\n"):
        name, _, value = line.strip().partition(": ")
        if name not in fields or fields[name] != value:
            found += [part.strip() for part in _END.split(line) if part.strip()]
        elif name not in UNSAID and name not in claim:
            spoken = name.rpartition(".")[2].replace("_", " ")
            found.append(f"{spoken[:1].upper()}{spoken[1:]}: {value}")
    return found


def _joined(sentences: Sequence[str]) -> str:
    """Sentences as one text. One that does not end in a mark gets a stop, unless it is the last."""
    ended = [one if one.endswith(_ENDED) else f"{one}." for one in sentences[:-1]]
    return " ".join((*ended, *sentences[-1:]))
