"""All rows that bear on a composed question: read from the graph by kind, and from the text index by words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from zaxy.api.models import AsOf, EntityRef, Event
from zaxy.assemble.standing import closed_by, is_closed, last_of_each
from zaxy.assemble.synthesis.lexicon import MONEY, TIME, dimension_of, words_of
from zaxy.assemble.synthesis.question import ComposedQuestion
from zaxy.assemble.synthesis.states import is_in_other_state, is_in_state
from zaxy.assemble.synthesis.values import stems_of_fields
from zaxy.assemble.synthesis.words import MEASURED, WORKED
from zaxy.errors import ZaxyError
from zaxy.extract.names import entity_keys
from zaxy.retrieve.matches import ALIKE, Matches
from zaxy.retrieve.question import AskedWord
from zaxy.retrieve.snapshot import Snapshot
from zaxy.text.schema import Text
from zaxy.text.tokens import folded, words as stemmed
from zaxy.text.word_weights import common

MAX_ROWS = 2000
"""Rows that are looked at. Where more have the words, the candidate says that it does not rest on all."""
MAX_NEAR = 20
"""Rows that lack one word, and are listed as near misses."""
LEAST_KEPT = 0.4
"""The share of what the topic says in its language that must be left when words are left out that no row has."""
WEAK = 0.25
"""What a word of a language says at most that need not stand in a row where a unit says which rows are meant: `work`,
`use`."""
OWN = ("memory.", "hook.", "session.", "skill.")
"""What Zaxy's own records are called: none of them is a row of a sum."""
EXCLUDED = "synthesis_evidence"


class FoundRow(NamedTuple):
    text: Text
    event: Event
    held: bool
    """Whether what it tells of still holds as it tells it."""
    side: int = -1
    """Which of the things it belongs to that are compared; -1 where there are none."""
    lacks: str = ""
    """The word of the question that it does not have: then it is a near miss."""
    left_out: bool = False
    """Whether it has all words of what the question leaves out."""


class FoundRows(NamedTuple):
    rows: tuple[FoundRow, ...]
    missing: tuple[str, ...]
    """Why these may not be all."""
    dropped: tuple[str, ...]
    """Words of the question that no row has."""
    excluded: Mapping[int, str]
    """Events that feedback took out of questions like this one, with the citation of the feedback."""


class _Wanted(NamedTuple):
    topic: tuple[AskedWord, ...]
    own: tuple[AskedWord, ...] = ()
    """The words of one side: none of them may be missing."""
    side: int = -1

    @property
    def words(self) -> tuple[AskedWord, ...]:
        return (*self.topic, *self.own)


def find_rows(snapshot: Snapshot, question: ComposedQuestion, as_of: AsOf) -> FoundRows:
    missing = [f"the index is behind the log: {gap}" for gap in snapshot.gaps[:2]]
    if snapshot.graph is None or snapshot.followed < snapshot.head:
        missing.append("the graph does not say of all rows whether they still hold")
    if question.standing is not None:
        texts, side_of, lacks, dropped = _of_kind(snapshot, question, as_of)
    else:
        texts, side_of, lacks, dropped = _of_words(snapshot, question)
    if len(texts) > MAX_ROWS:
        missing.append(f"more than {MAX_ROWS:,} rows have the words of the question")
        texts = texts[:MAX_ROWS]
    events = {event.seq: event for event in snapshot.events([text.seq for text in texts])}
    held = _held(snapshot, texts, as_of, missing=missing)
    without = _without(snapshot, question)
    rows = tuple(
        FoundRow(
            text,
            events[text.seq],
            text.seq in held,
            side_of.get(text.seq, -1),
            lacks.get(text.seq, ""),
            text.id in without,
        )
        for text in texts
        if text.seq in events and events[text.seq].payload is not None
    )
    rows, dropped = _in_state(rows, dropped)
    return FoundRows(rows, tuple(missing), dropped, _excluded(snapshot, question))


def _in_state(rows: tuple[FoundRow, ...], dropped: Sequence[str]) -> tuple[tuple[FoundRow, ...], tuple[str, ...]]:
    """The words that no passage has, some records may have in their type or their state: `job.completed`. Then the
    others are near misses."""
    left = []
    for word in dropped:
        having = [is_in_state(word, row.event) for row in rows]
        if not any(having):
            left.append(word)
            having = [not is_in_other_state(word, row.event) for row in rows]
        each = zip(rows, having, strict=True)
        rows = tuple(row if has or row.lacks else row._replace(lacks=word) for row, has in each)
    return rows, tuple(left)


def _without(snapshot: Snapshot, question: ComposedQuestion) -> frozenset[int]:
    """The passages that have all words of what the question leaves out, but for words that none has."""
    lists = snapshot.having([[word] for word in question.without], MAX_ROWS + 1) if question.without else []
    return frozenset.intersection(*[frozenset(rows) for rows in lists if rows]) if any(lists) else frozenset()


_Found = tuple[list[Text], dict[int, int], dict[int, str], tuple[str, ...]]


def _of_kind(snapshot: Snapshot, question: ComposedQuestion, as_of: AsOf) -> _Found:
    """The rows of a kind and in a state, as the graph has them."""
    standing = question.standing
    assert standing is not None
    kinds = list(dict.fromkeys(kind for group in standing.groups for kind in group if kind != "event"))
    rows = snapshot.current_of_each([kinds], MAX_ROWS + 1)[0]
    closed = closed_by(snapshot.current(("event",), MAX_ROWS))
    kept = [row for row in last_of_each(rows) if standing.keeps(row.entity) and not is_closed(row, closed)]
    texts = _known(snapshot.first_texts([row.opened_seq for row in kept]))
    found = _matches(question.topic, texts)
    known = [word.is_name or any(row[place] >= ALIKE for row in found) for place, word in enumerate(question.topic)]
    each = [(text.seq, _lacking(question.topic, known, row)) for text, row in zip(texts, found, strict=True)]
    dropped = [word.text for word, is_known in zip(question.topic, known, strict=True) if not is_known]
    return texts, {}, {seq: word for seq, word in each if word}, tuple(dropped)


def _of_words(snapshot: Snapshot, question: ComposedQuestion) -> _Found:
    """The rows that have the words: those of the topic, and of each side its own."""
    sides = [_Wanted(question.topic, side, number) for number, side in enumerate(question.sides)]
    found: dict[int, Text] = {}
    side_of: dict[int, int] = {}
    lacks: dict[int, str] = {}
    dropped: list[str] = []
    for wanted in sides or [_Wanted(question.topic)]:
        chosen, near, left_out = _having(snapshot, wanted, question)
        dropped += left_out
        for text in chosen:
            found[text.seq] = text
            side_of[text.seq] = wanted.side if side_of.get(text.seq, wanted.side) == wanted.side else -2
            lacks.pop(text.seq, None)
        for text, word in near:
            if text.seq not in found:
                found[text.seq], lacks[text.seq] = text, word
    ordered = sorted(found.values(), key=lambda text: (text.seq in lacks, text.seq))
    return ordered, side_of, lacks, tuple(dict.fromkeys(dropped))


def _having(
    snapshot: Snapshot, wanted: _Wanted, question: ComposedQuestion
) -> tuple[list[Text], list[tuple[Text, str]], list[str]]:
    """The passages that have all the words; those that lack one; and the words that had to be left out, since nothing
    that has the others has them. A name is never left out, nor what names a side."""
    words = wanted.words
    if all(MEASURED.fullmatch(folded(word.text)) or WORKED.fullmatch(folded(word.text)) for word in words):
        of_unit = _of_unit(snapshot, question)
        if of_unit and not any(snapshot.having([[word] for word in words], 1) if words else ()):
            weak = [word.text for word in words if WORKED.fullmatch(folded(word.text))]
            return _known(snapshot.numbered(of_unit)), [], weak
    if not words:
        return [], [], []
    lists = snapshot.having([[word] for word in words], MAX_ROWS + 1)
    sets = {word: frozenset(rows) for word, rows in zip(words, lists, strict=True)}
    if question.language == "de":
        sets = {word: rows or _as_participle(snapshot, word) for word, rows in sets.items()}
    needed, left_out = list(words), []
    says = {word: 1.0 if word.is_name else common(word.text, question.language) for word in words}
    if question.unit and max(says.values()) >= WEAK:
        needed = [word for word in words if says[word] >= WEAK or word in wanted.own]
        left_out += [word.text for word in words if word not in needed]
    for word in wanted.own:  # `sold soap or tea`: not all that stands beside a side names it
        if not sets[word] and not word.is_name and any(sets[other] for other in wanted.own):
            needed.remove(word)
            left_out.append(word.text)
    for word in words if len(words) > 1 else ():
        needs_none = not sets[word] or dimension_of(question.unit) == TIME
        if needs_none and WORKED.fullmatch(folded(word.text)) and word in needed and len(needed) > 1:
            needed.remove(word)
            left_out += [] if sets[word] else [word.text]
    joined = [word for word in question.joined if word in needed]
    if (any_of := _having_any(needed, sets, joined)) is not None:
        return _known(snapshot.numbered(sorted(any_of))), [], left_out
    while len(needed) > 1 and not frozenset.intersection(*[sets[word] for word in needed]):
        droppable = [word for word in needed if not word.is_name and word not in wanted.own]
        if not droppable:
            break
        rarest = min(droppable, key=lambda word: (len(sets[word]), word.weight))
        needed.remove(rarest)
        left_out.append(rarest.text)
        if not wanted.own and sum(says[word] for word in needed) < LEAST_KEPT * sum(says.values()):
            texts = _of_one_kind(snapshot, question, needed, frozenset.intersection(*[sets[word] for word in needed]))
            return texts, [], left_out
    ids = frozenset.intersection(*[sets[word] for word in needed])
    if len(needed) > 1 and any(len(sets[word]) > MAX_ROWS for word in needed):  # the lists were cut
        ids = frozenset(snapshot.having([needed], MAX_ROWS + 1)[0])
    texts = _known(snapshot.numbered(sorted(ids)))
    return texts, _near(snapshot, needed, sets, besides=ids), left_out


def _as_participle(snapshot: Snapshot, word: AskedWord) -> frozenset[int]:
    """The passages with `getankt`, of `tanken`, and the other way round. German stems keep them apart."""
    plain = folded(word.text)
    inner = plain.removeprefix("ge")
    forms = [f"{inner[:-1]}en"] if inner != plain and inner.endswith("t") else []
    forms += [f"ge{plain[:-2]}t", f"ge{plain}"] if plain.endswith("en") else []
    each = [[AskedWord(form, tuple(stemmed(form)), word.weight, False, True)] for form in forms]
    return frozenset(chain.from_iterable(snapshot.having(each, MAX_ROWS + 1))) if each else frozenset()


def _of_one_kind(
    snapshot: Snapshot, question: ComposedQuestion, needed: Sequence[AskedWord], ids: frozenset[int]
) -> list[Text]:
    """`bus rides`, of records of one type that have a field `bus` and are called something else than rides."""
    stems = frozenset(stem for word in needed for stem in word.stems)
    texts = _known(snapshot.numbered(sorted(ids)))[: MAX_ROWS + 1] if stems <= question.counted else []
    events = [event for event in snapshot.events([text.seq for text in texts]) if event.payload]
    whole = all(stems in stems_of_fields(event.payload or {}, event.actor) for event in events)
    return texts if whole and len({event.type for event in events}) == 1 else []


def _having_any(
    needed: Sequence[AskedWord], sets: Mapping[AskedWord, frozenset[int]], joined: Sequence[AskedWord]
) -> frozenset[int] | None:
    """The passages that have one of the words that the question joins, and all others; None where some have them all,
    or one of them is in no passage."""
    if not joined or not all(sets[word] for word in joined) or frozenset.intersection(*[sets[word] for word in joined]):
        return None
    any_of = frozenset().union(*[sets[word] for word in joined])
    found = any_of.intersection(*[sets[word] for word in needed if word not in joined])
    return found or None


def _of_unit(snapshot: Snapshot, question: ComposedQuestion) -> list[int]:
    """The passages that name a unit of what is asked for, where the question says nothing else of its rows."""
    unit = question.unit or question.unit_of_bounds
    if not unit:
        return []
    names = words_of(MONEY if question.asks_for_money else dimension_of(unit))
    stems = dict.fromkeys(tuple(stemmed(name)) for name in sorted(names) if name.isalpha())
    each = [[AskedWord(" ".join(one), one, 1.0, False, True)] for one in stems if one]
    return sorted(frozenset(chain.from_iterable(snapshot.having(each, MAX_ROWS + 1))))


def _near(
    snapshot: Snapshot,
    needed: Sequence[AskedWord],
    sets: Mapping[AskedWord, frozenset[int]],
    *,
    besides: frozenset[int],
) -> list[tuple[Text, str]]:
    if len(needed) < 2:
        return []
    counts = Counter(chain.from_iterable(sets[word] for word in needed))
    ids = sorted([one for one, count in counts.items() if count == len(needed) - 1 and one not in besides])[-MAX_NEAR:]
    lacked = {one: next(word.text for word in needed if one not in sets[word]) for one in ids}
    return [(text, lacked[text.id]) for text in _known(snapshot.numbered(ids))]


def _known(texts: Sequence[Text]) -> list[Text]:
    """One passage of each event, without what Zaxy itself records."""
    found: dict[int, Text] = {}
    for text in texts:
        found.setdefault(text.seq, text)
    return list(found.values())


def _matches(words: Sequence[AskedWord], texts: Sequence[Text]) -> list[list[float]]:
    """How far each passage has each of the words."""
    stems = [frozenset(text.words.split()) for text in texts]
    return Matches(words, frozenset().union(*stems)).of_each(stems) if words else [[] for _ in texts]


def _lacking(words: Sequence[AskedWord], known: Sequence[bool], found: Sequence[float]) -> str:
    """The first of the words that a passage does not have, of those that some have; empty if it has all."""
    each = zip(words, known, found, strict=True)
    return next((word.text for word, is_known, share in each if is_known and share < ALIKE), "")


def _held(snapshot: Snapshot, texts: Sequence[Text], as_of: AsOf, *, missing: list[str]) -> set[int]:
    """The events whose own row holds. Of what the graph has not come to nobody says that it ended."""
    seqs = [text.seq for text in texts]
    if snapshot.graph is None or not seqs:
        return set(seqs)
    try:
        rows = snapshot.graph.rows_of_events(snapshot.session, seqs, as_of)
    except ZaxyError as error:
        missing.append(f"the graph does not say which rows still hold: {error.message}")
        return set(seqs)
    keys = entity_keys([EntityRef(row.entity.entity_type, row.entity.name) for row in rows])
    held = {(row.opened_seq, key) for row, key in zip(rows, keys, strict=True)}
    current = [
        text for text in texts if not text.entity or text.seq > snapshot.followed or (text.seq, text.entity) in held
    ]
    return _newest(current, texts)


def _newest(current: Sequence[Text], texts: Sequence[Text]) -> set[int]:
    """Of each thing the event that says last how it is. A graph keeps few fields: where none of those changed, the row
    of the older event holds on, and the newer one has the other fields."""
    kept = {text.entity: text for text in current if text.entity}
    for text in texts:
        held = kept.get(text.entity)
        if held is not None and (text.time, text.seq) > (held.time, held.seq):
            kept[text.entity] = text
    return {text.seq for text in kept.values()} | {text.seq for text in current if not text.entity}


def _excluded(snapshot: Snapshot, question: ComposedQuestion) -> dict[int, str]:
    """What feedback took out of a question on the same topic; later feedback may have let it in again."""
    rows = [row for row in snapshot.current((EXCLUDED,), MAX_ROWS) if row.entity.properties.get("status") == "excluded"]
    events = {event.seq: event for event in snapshot.events([row.opened_seq for row in rows])}
    found = {}
    for event in events.values():
        plan, row = (event.payload or {}).get("slot_plan"), (event.payload or {}).get("row")
        asked = plan.get("query") if isinstance(plan, Mapping) else None
        fact = row.get("fact_id") if isinstance(row, Mapping) else None
        if isinstance(asked, str) and isinstance(fact, str) and _same_topic(snapshot, asked, question):
            number = fact.removeprefix("fact-").partition(".")[0]
            found[int(number) if number.isdigit() else 0] = snapshot.cite_events([event])[0]
    return found


def _same_topic(snapshot: Snapshot, asked: str, question: ComposedQuestion) -> bool:
    own = {stem for word in question.words for stem in word.stems}
    words = {stem for word in snapshot.asked(asked).words for stem in word.stems}
    return bool(own) and own <= words


def thing_of(text: Text) -> tuple[str, str]:
    """The type and the name of what a passage tells of."""
    kind, name = json.loads(text.entity) if text.entity else ("", "")
    return str(kind), str(name)
