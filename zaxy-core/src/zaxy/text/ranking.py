"""How well each passage answers a question, without a model: words, neighbours, episodes and speakers.

BM25 over stems; then a passage gains from those beside it in its episode, from the episode as a whole, and from being
said by somebody whom the question names. Each gain is a fraction of a score between 0 and 1, so that a person can redo
the sum. What each is worth is measured by the recall bench.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import add
from typing import NamedTuple

from zaxy.text import bm25
from zaxy.text.bm25 import Term, terms_of
from zaxy.text.candidates import Candidates, candidates
from zaxy.text.store import Reach, Text, TextStore
from zaxy.text.tokens import Wanted, folded, identifiers, words

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


class Weights(NamedTuple):
    known: dict[str, float]
    """Of the words that occur."""
    unseen: float
    """Of a word that does not: the highest."""


def rank(store: TextStore, wanted: Wanted, last_seq: int, by: str = "") -> list[Hit]:
    """The passages that fit, best first; ties by the newest event.

    Nothing after the event `last_seq` has any part in it. With `by`, only what happened by that moment is looked for.
    """
    reach = store.reach(last_seq)
    if not reach.last:
        return []
    terms = terms_of(wanted.words, store.counts(wanted.words, reach), reach.last)
    chosen = candidates(store, wanted, terms=terms, reach=reach, by=by)
    found = {text.id: text for text in store.texts(chosen.passages)} if chosen.passages else {}
    if not found:
        return []
    counts = _counts(found.values(), terms)
    own = _own(found.values(), counts=counts, terms=terms, average=reach.words / reach.last)
    named = _named(store, found, wanted, chosen) if wanted.identifiers or wanted.phrases else {}
    for text in _beside(store, found, own, reach.last):
        found.setdefault(text.id, text)
    episodes = _episodes(store, found.values(), counts=counts, terms=terms, reach=reach)
    return _best(found, wanted, own=own, named=named, episodes=episodes)


def weights(store: TextStore, asked: Sequence[str], last_seq: int) -> Weights:
    """The inverse document frequency of words; nothing after the event `last_seq` counts."""
    reach = store.reach(last_seq)
    known = {term.term: term.weight for term in terms_of(asked, store.counts(asked, reach), reach.last)}
    return Weights(known, bm25.weight(0, reach.last))


def _counts(texts: Iterable[Text], terms: Iterable[Term]) -> dict[int, list[int]]:
    """How often each of the terms occurs in each text."""
    spaced = [term.spaced for term in terms]
    return {text.id: list(map(text.words.count, spaced)) for text in texts}


def _own(
    texts: Iterable[Text], *, counts: dict[int, list[int]], terms: Iterable[Term], average: float
) -> dict[int, float]:
    """How well the words of each text fit, 1 for the best."""
    weights = [term.weight for term in terms]
    scores = {text.id: bm25.score(counts[text.id], text.length / average, weights) for text in texts}
    best = max(scores.values()) or 1.0
    return {key: score / best for key, score in scores.items()}


def _named(store: TextStore, found: Iterable[int], wanted: Wanted, chosen: Candidates) -> dict[int, float]:
    """The share of the identifiers and phrases asked for that stand in each text as they are."""
    asked = len(wanted.identifiers) + len(wanted.phrases)
    sure = {key: chosen.named.get(key, 0) for key in found}
    if chosen.unsure or wanted.phrases:
        for key, content in store.contents(found).items():
            own = identifiers(content.text) if chosen.unsure else []
            plain = folded(content.text) if wanted.phrases else ""
            sure[key] += sum([phrase in plain for phrase in wanted.phrases])
            sure[key] += sum([name in own for name in chosen.unsure])
    return {key: count / asked for key, count in sure.items()}


def _beside(store: TextStore, texts: dict[int, Text], scores: dict[int, float], last: int) -> list[Text]:
    """The best, and those around them."""
    best = sorted(zip(scores.values(), scores, strict=True), reverse=True)[:WIDENED]
    return store.around([(texts[key].episode, texts[key].place) for _, key in best], last)


def _episodes(
    store: TextStore, texts: Iterable[Text], *, counts: dict[int, list[int]], terms: Sequence[Term], reach: Reach
) -> dict[int, float]:
    """How well each episode as a whole fits, 1 for the best: its found passages taken for one text."""
    together: dict[int, list[int]] = {}
    for text in texts:
        more = counts.get(text.id)
        before = together.get(text.episode)
        if before is None:
            together[text.episode] = more or [0] * len(terms)
        elif more:
            together[text.episode] = list(map(add, before, more))
    totals = store.episodes(together, reach)
    average = sum([total.words for total in totals.values()]) / len(totals)
    weights = [term.weight for term in terms]
    scores = {
        episode: bm25.score(times, totals[episode].words / average, weights) for episode, times in together.items()
    }
    best = max(scores.values()) or 1.0
    return {episode: score / best for episode, score in scores.items()}


def _best(
    found: dict[int, Text],
    wanted: Wanted,
    *,
    own: dict[int, float],
    named: dict[int, float],
    episodes: dict[int, float],
) -> list[Hit]:
    """The sums, the highest first."""
    at = {(found[key].episode, found[key].place): score for key, score in own.items()}
    speakers = _speakers(found.values(), wanted)
    scored = []
    for key, text in found.items():
        words = own.get(key, 0.0)
        nearby = _nearby(at, text.episode, text.place)
        episode = EPISODE * episodes[text.episode]
        speaker = SPEAKER * (speakers[text.speaker] or speakers[text.actor])
        month = MONTH * any([name in text.time[:7] for name in wanted.months]) if wanted.months else 0.0
        name = NAMED * named.get(key, 0.0)
        if score := words + (nearby + episode + speaker + month + name):
            scored.append((score, key, words, nearby, episode, speaker, month, name))
    scored.sort(reverse=True)
    return [Hit(found[key], score, *parts) for score, key, *parts in scored[:MAX_ANSWERS]]


def _nearby(at: dict[tuple[int, int], float], episode: int, place: int) -> float:
    """What a passage gains from those beside it in its episode."""
    score = at.get
    return NEIGHBOUR * (score((episode, place - 1), 0.0) + score((episode, place + 1), 0.0)) + NEXT_NEIGHBOUR * (
        score((episode, place - 2), 0.0) + score((episode, place + 2), 0.0)
    )


def _speakers(texts: Iterable[Text], wanted: Wanted) -> dict[str, bool]:
    """Of each who speaks whether the question names them."""
    asked = set(wanted.words)
    names = {text.speaker for text in texts} | {text.actor for text in texts}
    return {name: not asked.isdisjoint(words(name)) for name in names}
