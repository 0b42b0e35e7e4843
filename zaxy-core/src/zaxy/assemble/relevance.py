"""Whether a result answers the question, or only shares some of its words.

A fact counts if it has enough of what the question says, weighed by how rare each word is in this memory, and all that
the question names: names, identifiers, quoted phrases, and terms of two words that memory knows. The shares were chosen
on histories from which the answers were removed (docs/decisions/0012).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, Protocol

from zaxy.retrieve.results import Result
from zaxy.text import tokens
from zaxy.text.passages import parts_of_text
from zaxy.text.ranking import Weights
from zaxy.text.schema import Text

ENOUGH = 0.5
"""The share of the question's weight that a fact must have."""
ENOUGH_OF_KNOWN = 0.7
"""The same share of the words that occur in memory at all. An answer would use a word that memory knows."""
UNSEEN = 0.6
"""The weight of a word that memory does not know, as a share of the highest: it may be a synonym of a known one."""
NEAR = 0.25
"""The share from which a result is shown as evidence."""
BESIDE = 0.5
"""How much a word of the turn before or after counts: an answer seldom repeats the question."""
FRAME = 0.2
"""How much a word of the asking itself counts."""

ASKING = frozenset(
    tokens.words(
        """tell know remember recall say mention ask question answer explain describe show give find list name call
        mean happen want need please currently current latest recent recently now today still yet ever exactly actually
        anything something everything thing stuff information detail kind sort type way many much long often lot please
        use using work make do go set happen decide decided decision agree choose chose plan note record"""
    )
)
"""Words of asking and of recording. They say how somebody asks, not what the question is about."""
STATUS = frozenset(
    tokens.words(
        """task goal decision blocker blocked action step direction progress status state roadmap priority project work
        session summary context next open pending left remaining continue resume where overview recent current latest
        important update background history memory preference"""
    )
)
"""Words of a question about where things stand. Such a question asks for the working set, not for a fact."""

_STATUS = re.compile(
    r"\bwhere (?:are|were|do) we\b|\bwhat(?:'s|’s| is| was)? (?:left|next|open|missing|going on)\b"
    r"|\bcatch me up\b|\bhow far\b",
    re.IGNORECASE,
)
_WORDS_AND_MARKS = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|[^\w\s]")
_NAME = re.compile(r"(?<![\w.])[A-Z][\w'’-]*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+)[\"“'(]*$")
_POSSESSIVE = re.compile(r"['’]s?$")


Words = dict[str, frozenset[str]]
"""The stems of results, by their citations."""


Place = tuple[object, int]
"""A turn: the source that it is of, and its number there."""


class Known(Protocol):
    """What memory knows about words."""

    def weights_and_terms(
        self, words: Sequence[str], pairs: Iterable[tuple[str, str]]
    ) -> tuple[Weights, Iterable[tuple[str, str]]]: ...


class Asked(NamedTuple):
    """What a question asks for: its words with their weights, names and phrases."""

    weights: dict[str, float]
    unseen: frozenset[str]
    """The words that memory does not know."""
    names: tuple[frozenset[str], ...]
    """The stems of each name and known term. A fact must have all of them."""
    pairs: tuple[tuple[str, str], ...]
    """Words side by side. The first usually says which one of the second is meant."""
    identifiers: tuple[str, ...]
    phrases: tuple[str, ...]
    status: bool
    """Whether it asks where things stand."""


def what_is_asked(text: str, known: Known) -> Asked:
    wanted = tokens.wanted(text)
    about = [word for word in wanted.words if word not in STATUS and word not in ASKING]
    status = not about and not wanted.identifiers
    status = status and (any(word in STATUS for word in wanted.words) or bool(_STATUS.search(text)))
    pairs = tuple([pair for pair in _pairs(text) if ASKING.isdisjoint(pair)])
    found, terms = known.weights_and_terms(wanted.words, pairs)
    weighed = {
        word: found.known.get(word, UNSEEN * found.unseen) * (FRAME if word in ASKING and about else 1.0)
        for word in wanted.words
    }
    named = (*_names(text), *map(frozenset, terms))
    unseen = frozenset(weighed.keys() - found.known.keys())
    return Asked(weighed, unseen, tuple(dict.fromkeys(named)), pairs, wanted.identifiers, wanted.phrases, status)


def _pairs(text: str) -> list[tuple[str, str]]:
    """The stems of words that stand side by side."""
    stems = tokens.first_stems(_WORDS_AND_MARKS.findall(text))
    return [(one, other) for one, other in pairwise(stems) if one and other]


def _names(text: str) -> Iterable[frozenset[str]]:
    """The capitalised words. The first word of a sentence counts only if something else marks it as a name:
    an `'s`, a capital within it, or another name behind it."""
    if text.isupper() or text.istitle():
        return
    for found in _NAME.finditer(text):
        word = _POSSESSIVE.sub("", found.group())
        stems = frozenset(tokens.words(word))
        first = _SENTENCE_START.search(text[: found.start()]) is not None
        marked = word != found.group() or not word[1:].islower() or _NAME.match(text, found.end() + 1)
        if stems and (not first or (marked and not stems <= ASKING)):
            yield stems


def words_of(results: Sequence[Result]) -> Words:
    """What each result states, as stems."""
    stems = tokens.words_of_each([_labelled_with_month(result) for result in results])
    return {result.citation: frozenset(words) for result, words in zip(results, stems, strict=True)}


def relevant(asked: Asked, found: Sequence[Result], words: Words) -> list[Result]:
    """The results that answer the question, in the same order."""
    if not asked.weights or asked.status:
        return []
    places = [_place(result) for result in found]
    said = {place: words[result.citation] for place, result in zip(places, found, strict=True) if place is not None}
    return [
        result
        for place, result in zip(places, found, strict=True)
        if _answers(asked, result, words[result.citation], _beside(place, said))
    ]


def would_answer(asked: Asked, texts: Iterable[Text]) -> list[bool]:
    """Whether each passage, which no longer holds, is on the question, by the words that the index has of it."""
    return [_has_enough(asked, frozenset(text.words.split())) for text in texts]


def near(asked: Asked, words: Iterable[Collection[str]]) -> list[bool]:
    """Whether a result with each of these sets of words shares enough of the question to be shown as evidence."""
    enough = NEAR * sum(asked.weights.values())
    shares = [sum([weight for word, weight in asked.weights.items() if word in own]) for own in words]
    return [share >= enough > 0 for share in shares]


def _beside(place: Place | None, said: Mapping[Place, frozenset[str]]) -> frozenset[str]:
    """The words of the turns before and after."""
    if place is None:
        return frozenset()
    source, turn = place
    return said.get((source, turn - 1), frozenset()) | said.get((source, turn + 1), frozenset())


def _answers(asked: Asked, result: Result, own: frozenset[str], beside: frozenset[str]) -> bool:
    if asked.identifiers and not set(asked.identifiers) <= set(tokens.identifiers(_labelled(result))):
        return False
    if asked.phrases and not all(phrase in tokens.folded(result.content) for phrase in asked.phrases):
        return False
    if not all(name <= own | beside for name in asked.names):
        return False
    if asked.identifiers or asked.phrases:
        return True
    if _is_of_another(asked, result, own, own | beside):
        return False
    return _has_enough(asked, own, beside)


def _has_enough(asked: Asked, own: frozenset[str], beside: frozenset[str] = frozenset()) -> bool:
    words = asked.weights.items()
    have = sum([weight * (1.0 if word in own else BESIDE) for word, weight in words if word in own or word in beside])
    total = sum(asked.weights.values())
    known = sum([weight for word, weight in words if word not in asked.unseen])
    return have >= ENOUGH * total and have >= ENOUGH_OF_KNOWN * known and not own.isdisjoint(asked.weights)


def _is_of_another(asked: Asked, result: Result, own: frozenset[str], said: frozenset[str]) -> bool:
    """Whether it is about the `ledger database` while the question asks for the `billing database`."""
    missing = [second for first, second in asked.pairs if first not in said and second in own]
    if not missing:
        return False
    seconds = {second for _, second in _pairs(_stated(result.content, result.event_type))}
    return not seconds.isdisjoint(missing)


def _labelled_with_month(result: Result) -> str:
    """What a result states, who says it, when, and about what. A question is not a statement."""
    month = int(result.valid_from[5:7]) if result.valid_from[5:7].isdigit() else 0
    when = f"{tokens.MONTHS[month - 1]} {result.valid_from[:4]}" if 1 <= month <= 12 else ""
    return f"{_labelled(result)} {when}"


def _labelled(result: Result) -> str:
    kind = f"{result.entity_type} {result.event_type}".replace("_", " ").replace(".", " ")
    place = " ".join([str(result.metadata.get(key, "")) for key in ("title", "path", "source")])
    name = result.entity_name if not result.entity_name.startswith(f"{result.event_type}:") else ""
    return f"{_stated(result.content, result.event_type)}\n{name}\n{kind} {result.actor} {place}"


@lru_cache(256)
def _stated(text: str, event_type: str) -> str:
    """What a text tells. It is asked for several times in one reply."""
    return parts_of_text(text, event_type).stated


def _place(result: Result) -> Place | None:
    turn = result.metadata.get("turn_index")
    return (result.metadata.get("source"), turn) if type(turn) is int else None
