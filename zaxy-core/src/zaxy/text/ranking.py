"""How well each passage answers a question, without a model: words, neighbours, episodes and speakers.

BM25 over stems; then a passage gains from those beside it in its episode, from the episode as a whole, and from being
said by somebody whom the question names. Each gain is a fraction of a score between 0 and 1, so that a person can redo
the sum. What each is worth is measured by the recall bench.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zaxy.text.store import Text, TextStore, Totals
from zaxy.text.tokens import Wanted, folded, identifiers, match_any, words

K1, B = 0.9, 0.4
CANDIDATES = 150
COMMON = 0.02
"""A word in more passages than this finds no candidates, as long as rarer ones do; it still counts in their score."""
MANY, FEW = 20_000, 50
NEIGHBOUR, NEXT_NEIGHBOUR = 0.4, 0.16
EPISODE = 0.4
SPEAKER = 0.3
MONTH = 0.25
"""For having been said in a month that the question names."""
WIDENED = 10
"""How many of the best have their neighbours looked at too, even if those have none of the words."""
MAX_ANSWERS = 100
"""To one question, over all pages."""
NAMED = 1.0
"""What a whole identifier or a quoted phrase adds, shared among those that were asked for."""


class Hit(NamedTuple):
    text: Text
    score: float
    words: float
    """The share of BM25 over its own words."""
    nearby: float
    episode: float
    speaker: float
    month: float
    named: float


class _Term(NamedTuple):
    """A word that was asked for, as it stands in a passage, and its inverse document frequency."""

    term: str
    spaced: str
    weight: float


class Weights(NamedTuple):
    known: dict[str, float]
    """Of the words that occur."""
    unseen: float
    """Of a word that does not: the highest."""


def rank(store: TextStore, wanted: Wanted, last_seq: int, by: str = "") -> list[Hit]:
    """The passages that fit, best first; ties by the newest event.

    Nothing after the event `last_seq` has any part in it. With `by`, only what happened by that moment is looked for.
    """
    last = store.last(last_seq)
    totals = store.totals(last)
    if not totals.passages:
        return []
    terms = _terms(store, wanted.words, totals, last)
    candidates = _candidates(store, wanted, terms=terms, totals=totals, last=last, by=by)
    found = {text.id: text for text in candidates}
    if not found:
        return []
    average = totals.words / totals.passages
    counts = {key: [text.words.count(term.spaced) for term in terms] for key, text in found.items()}
    own = {key: _bm25(counts[key], text.length / average, terms) for key, text in found.items()}
    best = max(own.values()) or 1.0
    own = {key: score / best for key, score in own.items()}
    named = _named(store, found, wanted) if wanted.identifiers or wanted.phrases else {}
    for text in _beside(store, found.values(), own, last):
        found[text.id] = text
    at = {(text.episode, text.place): own[key] for key, text in found.items() if key in own}
    episodes = _episodes(store, found.values(), counts=counts, terms=terms, last=last)
    speakers = _speakers(found.values(), wanted)
    scored = []
    for key, text in found.items():
        gains = (
            _nearby(at, text.episode, text.place),
            EPISODE * episodes[text.episode],
            SPEAKER * (speakers[text.speaker] or speakers[text.actor]),
            MONTH * any(month in text.time[:7] for month in wanted.months) if wanted.months else 0.0,
            NAMED * named.get(key, 0.0),
        )
        score = own.get(key, 0.0)
        if score or any(gains):
            scored.append((score + sum(gains), key, score, gains))
    scored.sort(reverse=True)
    return [Hit(found[key], score, words, *gains) for score, key, words, gains in scored[:MAX_ANSWERS]]


def weights(store: TextStore, asked: Sequence[str], last_seq: int) -> Weights:
    """The inverse document frequency of words; nothing after the event `last_seq` counts."""
    last = store.last(last_seq)
    totals = store.totals(last)
    known = {term.term: term.weight for term in _terms(store, asked, totals, last)}
    return Weights(known, math.log(1 + (totals.passages + 0.5) / 0.5))


def _terms(store: TextStore, asked: Sequence[str], totals: Totals, last: int) -> list[_Term]:
    counts = store.counts(asked, last)
    return [
        _Term(term, f" {term} ", math.log(1 + (totals.passages - count + 0.5) / (count + 0.5)))
        for term in asked
        if (count := counts.get(term))
    ]


def _candidates(
    store: TextStore, wanted: Wanted, *, terms: Sequence[_Term], totals: Totals, last: int, by: str
) -> Iterable[Text]:
    common = math.log(1 + (totals.passages * (1 - COMMON) + 0.5) / (totals.passages * COMMON + 0.5))
    every = [term for term, _, _ in terms]
    rare = [term for term, _, weight in terms if weight >= common] if totals.passages > MANY else every
    if wanted.identifiers:
        yield from store.best(match_any(wanted.identifiers, "names"), CANDIDATES, last, by)
    for phrase in wanted.phrases:
        together = " AND ".join(f'words:"{word}"' for word in dict.fromkeys(words(phrase)))
        if together:
            yield from store.best(together, CANDIDATES, last, by)
    found = store.best(match_any(rare, "words"), CANDIDATES, last, by) if rare else []
    if len(found) < FEW and len(rare) < len(every):
        found = store.best(match_any(every, "words"), CANDIDATES, last, by)
    yield from found


def _bm25(counts: Iterable[int], length: float, terms: Iterable[_Term]) -> float:
    """Of a text in which each term occurs so often; `length` is relative to the average one."""
    fullness = K1 * (1 - B + B * length)
    return sum(
        term.weight * times * (K1 + 1) / (times + fullness) for times, term in zip(counts, terms, strict=True) if times
    )


def _named(store: TextStore, found: Iterable[int], wanted: Wanted) -> dict[int, float]:
    """The share of the identifiers and phrases asked for that stand in each text as they are."""
    asked = len(wanted.identifiers) + len(wanted.phrases)
    shares = {}
    for key, text in store.contents(found).items():
        own = set(identifiers(text.text)) if wanted.identifiers else set()
        plain = folded(text.text) if wanted.phrases else ""
        shares[key] = (
            sum(name in own for name in wanted.identifiers) + sum(phrase in plain for phrase in wanted.phrases)
        ) / asked
    return shares


def _beside(store: TextStore, texts: Iterable[Text], scores: dict[int, float], last: int) -> list[Text]:
    """The neighbours of the best that were not found themselves."""
    texts = list(texts)
    here = {(text.episode, text.place) for text in texts}
    best = sorted(texts, key=lambda text: (-scores[text.id], -text.id))[:WIDENED]
    places = {(text.episode, text.place + step) for text in best for step in (-2, -1, 1, 2)}
    return store.at(places - here, last)


def _nearby(at: dict[tuple[int, int], float], episode: int, place: int) -> float:
    """What a passage gains from those beside it in its episode."""
    return NEIGHBOUR * (at.get((episode, place - 1), 0.0) + at.get((episode, place + 1), 0.0)) + NEXT_NEIGHBOUR * (
        at.get((episode, place - 2), 0.0) + at.get((episode, place + 2), 0.0)
    )


def _episodes(
    store: TextStore, texts: Iterable[Text], *, counts: dict[int, list[int]], terms: Sequence[_Term], last: int
) -> dict[int, float]:
    """How well each episode as a whole fits, 1 for the best: its found passages taken for one text."""
    together: dict[int, list[int]] = {}
    for text in texts:
        more = counts.get(text.id)
        before = together.setdefault(text.episode, more or [0] * len(terms))
        if more and before is not more:
            together[text.episode] = [one + other for one, other in zip(before, more, strict=True)]
    totals = store.episodes(together, last)
    average = sum(total.words for total in totals.values()) / len(totals)
    scores = {episode: _bm25(times, totals[episode].words / average, terms) for episode, times in together.items()}
    best = max(scores.values()) or 1.0
    return {episode: score / best for episode, score in scores.items()}


def _speakers(texts: Iterable[Text], wanted: Wanted) -> dict[str, bool]:
    """Of each who speaks whether the question names them."""
    asked = set(wanted.words)
    names = {name for text in texts for name in (text.speaker, text.actor)}
    return {name: not asked.isdisjoint(words(name)) for name in names}
