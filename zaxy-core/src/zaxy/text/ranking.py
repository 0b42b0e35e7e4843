"""How well each passage answers a question, without a model: words, neighbours, episodes and speakers.

BM25 over stems; then a passage gains from those beside it in its episode, from the episode as a whole, and from being
said by somebody whom the question names. Each gain is a fraction of a score between 0 and 1, so that a person can redo
the sum. What each is worth is measured by the recall bench.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from zaxy.api.models import MAX_ANSWERS
from zaxy.text import bm25
from zaxy.text.bm25 import terms_of
from zaxy.text.candidates import Candidates, candidates
from zaxy.text.schema import PLACE_BITS, Text
from zaxy.text.store import EpisodeSize, Reach, TextStore
from zaxy.text.tokens import Wanted, folded, identifiers, stems_of

NEIGHBOUR, NEXT_NEIGHBOUR = 0.4, 0.16
EPISODE = 0.4
SPEAKER = 0.3
MONTH = 0.25
"""For having been said in a month that the question names."""
WIDENED = 10
"""How many of the best have their neighbours looked at too, even if those have none of the words."""
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


_as_hit = partial(tuple.__new__, Hit)
"""What `Hit._make` does, without a call for each."""


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
    chosen = candidates(store, wanted, reach, by=by)
    asides = store.asides(last_seq, by)
    for aside in asides.quoted(wanted.phrases) if wanted.phrases else ():
        if aside.passage:
            chosen.passages.setdefault(aside.passage, range(len(chosen.terms)))
    found = {text.id: text for text in store.texts(chosen.passages)} if chosen.passages else {}
    weights = [term.weight for term in chosen.terms]
    times = times_of(found.values(), chosen)
    answers = asides.answers(_weights_of_words(wanted, chosen, reach), _highest_weight(times, weights))
    if not found and not answers:
        return []
    own = _own(found, times=times, weights=weights, average=reach.words / reach.last)
    named = _named(store, found, wanted, chosen) if wanted.identifiers or wanted.phrases else {}
    at = {text.episode << PLACE_BITS | text.place: own[key] for key, text in found.items()}
    found |= {text.id: text for text in store.at_if_there(answers.keys() - at.keys(), reach.last)} if answers else {}
    sizes = store.episodes({text.episode for text in found.values()}, reach)
    there = {text.episode << PLACE_BITS | text.place for text in found.values()}
    for text in store.at(_places_beside(found, own, sizes=sizes) - there):
        found[text.id] = text
    episodes = _episodes(found.values(), times=times, weights=weights, sizes=sizes)
    return _best(found, wanted, own=own, at=at, named=named, episodes=episodes, answers=answers)


def _weights_of_words(wanted: Wanted, chosen: Candidates, reach: Reach) -> dict[str, float]:
    """The weight of each word that is asked for; one that nothing tells of may have been asked for before."""
    known = {term.term: term.weight for term in chosen.terms}
    unseen = bm25.weight(0, reach.last)
    return {word: known.get(word, unseen) for word in wanted.words}


def weights(store: TextStore, asked: Sequence[str], last_seq: int) -> Weights:
    """The inverse document frequency of words; nothing after the event `last_seq` counts."""
    reach = store.reach(last_seq)
    known = {term.term: term.weight for term in terms_of(asked, store.blocks.counts(asked, reach.last), reach.last)}
    return Weights(known, bm25.weight(0, reach.last))


def _highest_weight(times: Mapping[int, list[tuple[int, int]]], weights: Sequence[float]) -> float:
    """Of the terms that any one text has, together. One loop: a call for each text would take longer than the sums."""
    highest = 0.0
    for of_text in times.values():
        weight = 0.0
        for number, _ in of_text:
            weight += weights[number]
        highest = max(highest, weight)
    return highest


def times_of(texts: Iterable[Text], chosen: Candidates) -> dict[int, list[tuple[int, int]]]:
    """How often each of the terms occurs in each text, where it does."""
    spaced = [term.spaced for term in chosen.terms]
    times: dict[int, list[tuple[int, int]]] = {}
    for text in texts:
        of_text = times[text.id] = []
        words = text.words
        for number in chosen.passages[text.id]:
            if count := words.count(spaced[number]):
                of_text.append((number, count))
    return times


def _own(
    texts: Mapping[int, Text], *, times: Mapping[int, list[tuple[int, int]]], weights: Sequence[float], average: float
) -> dict[int, float]:
    """How well the words of each text fit, 1 for the best."""
    return _shares(texts, bm25.scores([(times[key], text.length / average) for key, text in texts.items()], weights))


def _shares(keys: Iterable[int], scores: Sequence[float]) -> dict[int, float]:
    """Each score as a share of the best."""
    best = max(scores, default=0.0) or 1.0
    return {key: score / best for key, score in zip(keys, scores, strict=True)}


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


def _places_beside(
    texts: Mapping[int, Text], scores: Mapping[int, float], *, sizes: Mapping[int, EpisodeSize]
) -> set[int]:
    """The two places before and the two after each of the best, as far as their episodes have them."""
    best = sorted(zip(scores.values(), scores, strict=True), reverse=True)[:WIDENED]
    places = [(texts[key].episode, texts[key].place) for _, key in best]
    return {
        episode << PLACE_BITS | place + step
        for episode, place in places
        for step in (-2, -1, 1, 2)
        if 0 < place + step <= sizes[episode][0]
    }


def _episodes(
    texts: Iterable[Text],
    *,
    times: Mapping[int, list[tuple[int, int]]],
    weights: Sequence[float],
    sizes: Mapping[int, EpisodeSize],
) -> dict[int, float]:
    """How well each episode as a whole fits, 1 for the best: its found passages taken for one text."""
    together: dict[int, dict[int, int]] = {}
    for text in texts:
        of_episode = together.setdefault(text.episode, {})
        for number, count in times.get(text.id, ()):
            of_episode[number] = of_episode.get(number, 0) + count
    if not sizes:
        return {}
    average = sum([words for _, words in sizes.values()]) / len(sizes)
    whole = [(counts.items(), sizes[episode][1] / average) for episode, counts in together.items()]
    return _shares(together, bm25.scores(whole, weights))


def _best(
    found: Mapping[int, Text],
    wanted: Wanted,
    *,
    own: Mapping[int, float],
    at: Mapping[int, float],
    named: Mapping[int, float],
    episodes: Mapping[int, float],
    answers: Mapping[int, float],
) -> list[Hit]:
    """The sums, the highest first; `at` has the words' score of each place, `answers` what questions add to it."""
    asked = frozenset(wanted.words)
    names = {text.speaker for text in found.values()} | {text.actor for text in found.values()}
    speakers = {name for name in names if not asked.isdisjoint(stems_of(name))}
    near = at.get
    scored = []
    for key, text in found.items():
        words = own.get(key, 0.0)
        place = text.episode << PLACE_BITS | text.place
        nearby = answers.get(place, 0.0) + NEIGHBOUR * (near(place - 1, 0.0) + near(place + 1, 0.0))
        nearby += NEXT_NEIGHBOUR * (near(place - 2, 0.0) + near(place + 2, 0.0))
        episode = EPISODE * episodes[text.episode]
        speaker = SPEAKER if text.speaker in speakers or text.actor in speakers else 0.0
        month = MONTH * any(name in text.time[:7] for name in wanted.months) if wanted.months else 0.0
        name = NAMED * named[key] if key in named else 0.0
        if score := words + (nearby + episode + speaker + month + name):
            scored.append((score, key, words, nearby, episode, speaker, month, name))
    scored.sort(reverse=True)
    return list(map(_as_hit, [(found[row[1]], row[0], *row[2:]) for row in scored[:MAX_ANSWERS]]))
