"""What speaks for a row as the answer to a question, in a few figures that a person can redo."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice, pairwise
from math import log
from operator import mul
from typing import NamedTuple

from zaxy.retrieve import statements
from zaxy.retrieve.matches import ALIKE, Matches
from zaxy.retrieve.meaning import Meaning
from zaxy.retrieve.question import NUMBER, PERSON, PLACE, REASON, TIME, Asked
from zaxy.retrieve.results import Result
from zaxy.retrieve.statements import Statements, derived_stems, statements_of
from zaxy.text import tokens

BESIDE = 0.5
"""How much a word of the turn before or after counts: an answer seldom repeats the question. What an extractor of a
plugin says of an event counts no more."""
MEANT = 0.6
"""How much a word counts that a row does not have, where a lane of a plugin says that the row means the same. With no
more than that a row bears on a question, and does not answer it: docs/decisions/0029."""
TURN = "transcript.turn"
NOTHING: frozenset[str] = frozenset()
MANY = 10
"""Rows of which the newest is clearly newer: of two rows it says little that one of them must be."""
LONG = 300
"""Characters from which on a row counts as long: in a long one any word is found by chance."""

_TIME = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:january|february|march|april|may|june|july|august|september"
    r"|october|november|december|today|tomorrow|yesterday|tonight)\b|[一二三四五六七八九十]",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:none|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|half|hundred|thousand)\b"
    r"|[一二三四五六七八九十百千万]",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,;] )[^\W\d_a-z][\w'’-]+")
_REASON = re.compile(
    r"\b(?:because|since|so that|due to|reason|rationale|root cause|cause|otherwise|weil|denn|grund|parce|car|porque"
    r"|ya que|perché|poiché|omdat|eftersom|fordi|ponieważ|bo|потому|чтобы|çünkü)\b|ので|から|ため|因为|為了|เพราะ|때문",
    re.IGNORECASE,
)
NAMED = 0.65
"""The share of a name, or of a relation, that a question must have."""
RELATIONS = frozenset(tokens.words(" ".join(statements.RELATIONS)))
FIELDS = {
    REASON: frozenset(tokens.words("rationale reason cause why")),
    PERSON: frozenset(tokens.words("owner assignee reviewer author who")),
    TIME: frozenset(tokens.words("due deadline date when until")),
    PLACE: frozenset(tokens.words("path place location where")),
}
"""The fields that usually hold each kind of answer."""
_FITTING = {TIME: _TIME, NUMBER: _NUMBER, PERSON: _NAME, PLACE: _NAME, REASON: _REASON}


class Features(NamedTuple):
    score: float
    """Of recall, as a share of the best row's."""
    coverage: float
    """The share of the question's weight that the row has."""
    window: float
    """The same of its two best neighbouring sentences."""
    pair: float
    """The share of neighbouring words of the question that stand together in two such sentences."""
    fit: float
    """Whether the best sentences have what is asked for: a time, a number, a name, a reason."""
    field: float
    """Whether the question names what the row is about, and a field that the row has."""
    other_speaker: float
    """Whether the question names a speaker, and another one speaks."""
    long: float
    other_name: float
    """The share of the question's names that the row does not have."""
    newer: float
    """How many of the other rows are older, as a share of all or of `MANY`."""
    reader: float = 0.0
    """How likely it answers, as a lane of a plugin says that has read it with the question."""


class Weighed(NamedTuple):
    """A row with what speaks for it."""

    result: Result
    statements: Statements
    features: Features
    worth: tuple[float, ...]
    """Of each sentence: the weight of the question that it has."""
    found: frozenset[int]
    """The words of the question that it has, by their places."""
    best: int
    """Where its best two sentences begin."""
    likeness: tuple[float, ...] = ()
    """How much of each word of the question it has by its meaning; empty where no lane can say."""

    def value_of_same(self, other: Weighed) -> bool:
        """Whether both give a value to the same relation of the same subject, and not the same value."""
        one, two = self.statements.claim, other.statements.claim
        return bool(one and two) and one[:2] == two[:2] and one[2] != two[2]

    @property
    def best_stems(self) -> frozenset[str]:
        return frozenset().union(*self.statements.stems[self.best : self.best + 2])


def weighed(
    asked: Asked, results: Sequence[Result], meaning: Meaning | None = None, *, question: str = ""
) -> list[Weighed]:
    """What speaks for each of the results of one question, in the same order.

    `meaning`: what lanes of plugins can say of words, and of the `question` as it was asked.
    """
    stated = statements_of(results)
    every = [frozenset().union(*row.stems, row.label) for row in stated]
    seen_in = [place for place, result in enumerate(results) if result.derived]
    derived = dict(zip(seen_in, derived_stems([results[place] for place in seen_in]), strict=True)) if seen_in else {}
    hits = Matches(asked.words, frozenset().union(*every, *derived.values()))
    best = max([result.score for result in results], default=1.0) or 1.0
    turns = {result.seq: own for result, own in zip(results, every, strict=True) if result.event_type == TURN}
    spoken = {word.text.casefold() for word in asked.words}
    speakers = {result.actor.casefold() for result in results if result.actor} & spoken
    beside = [
        turns.get(result.seq - 1, NOTHING) | turns.get(result.seq + 1, NOTHING) if result.seq in turns else NOTHING
        for result in results
    ]
    for place, stems in derived.items():
        beside[place] |= stems
    # All in one call: it is of another folder, and there are hundreds of sentences.
    matches = iter(hits.of_each([*every, *beside, *[stems for row in stated for stems in row.stems]]))
    own, others = list(islice(matches, len(every))), list(islice(matches, len(every)))
    likeness = iter(meaning.likeness(asked, [text for row in stated for text in row.sentences]) if meaning else ())
    reading = meaning.read(question, [result.content for result in results]) if meaning else []
    rows = []
    times = sorted([(result.valid_from, result.seq) for result in results])
    for at, (result, row, own_words, near) in enumerate(zip(results, stated, own, others, strict=True)):
        found = [max(one, BESIDE * other) for one, other in zip(own_words, near, strict=True)]
        in_sentences = list(islice(matches, len(row.stems)))
        if alike := list(islice(likeness, len(row.sentences))):
            in_sentences = [list(map(max, one, other)) for one, other in zip(in_sentences, alike, strict=True)]
        by_meaning = tuple(map(max, *alike)) if len(alike) > 1 else tuple(*alike)
        found = list(map(max, found, by_meaning)) if by_meaning else found
        if result.meaning:
            found = [max(one, MEANT * result.meaning) for one in found]
        other = result.event_type == TURN and bool(speakers) and result.actor.casefold() not in speakers
        newer = times.index((result.valid_from, result.seq)) / max(len(times) - 1, MANY)
        scored = (max(result.score / best, result.meaning), found, float(other), newer, reading[at] if reading else 0.0)
        of_row = _weighed(asked, result, row, scored=scored, in_sentences=in_sentences)
        rows.append(of_row._replace(likeness=by_meaning) if by_meaning else of_row)
    return rows


def _weighed(
    asked: Asked,
    result: Result,
    stated: Statements,
    *,
    scored: tuple[float, list[float], float, float, float],
    in_sentences: Sequence[list[float]],
) -> Weighed:
    """`scored`: the share of the best row's score, how far each word is found, whether another one speaks, the share of
    rows that are older, and how likely it answers as a lane has read it."""
    score, matches, other_speaker, newer, reader = scored
    weights = [word.weight for word in asked.words]
    total = sum(weights) or 1.0
    worth = tuple([sum(map(mul, weights, found)) for found in in_sentences])
    window, pair, place = _best_window(weights, in_sentences)
    kind = _FITTING.get(asked.kind)
    fits = kind is not None and kind.search(" ".join(stated.sentences[place : place + 2])) is not None
    features = Features(
        score,
        sum(map(mul, weights, matches)) / total,
        window / total,
        pair,
        float(fits),
        float(bool(stated.fields) and _asks_for_field(asked, stated)),
        other_speaker,
        max(0.0, log(max(len(result.content), 1) / LONG)),
        _names_missing(asked, matches),
        newer,
        reader,
    )
    found = frozenset([number for number, match in enumerate(matches) if match >= ALIKE])
    return Weighed(result, stated, features, worth, found, place)


def _names_missing(asked: Asked, matches: Sequence[float]) -> float:
    missing = [match < ALIKE for word, match in zip(asked.words, matches, strict=True) if word.is_name]
    return sum(missing) / len(missing) if missing else 0.0


def coverages(asked: Asked, rows: Sequence[frozenset[str]]) -> list[float]:
    """The share of the question's weight that each row has, given by its stems."""
    matches = Matches(asked.words, frozenset().union(*rows))
    weights, total = [word.weight for word in asked.words], asked.total or 1.0
    return [sum(map(mul, weights, found)) / total for found in matches.of_each(rows)]


def _asks_for_field(asked: Asked, statements: Statements) -> bool:
    """Whether a row that was recorded in fields is about what is asked, and has the field that is asked for."""
    own = {stem for word in asked.words for stem in word.stems}
    if not [name for name in statements.names if len(name & own) >= NAMED * len(name)]:
        return False
    usual = FIELDS.get(asked.kind, NOTHING)
    for name, value in statements.fields:
        if name & RELATIONS:
            if len(value & own) >= NAMED * len(value) > 0:
                return True
        elif not name.isdisjoint(usual) or name <= own:
            return True
    return False


def _best_window(weights: Sequence[float], matches: Sequence[Sequence[float]]) -> tuple[float, float, int]:
    """Of two neighbouring sentences the most weight, the most neighbouring words, and where the first is."""
    best, pair, place = 0.0, 0.0, 0
    steps = max(len(weights) - 1, 1)
    for number, first in enumerate(matches):
        second = matches[number + 1] if number + 1 < len(matches) else first
        both = list(map(max, first, second))
        weight = sum(map(mul, weights, both))
        if weight > best:
            best, place = weight, number
        together = sum([one >= ALIKE <= other for one, other in pairwise(both)])
        pair = max(pair, together / steps)
    return best, pair, place
