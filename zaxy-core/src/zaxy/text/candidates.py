"""Which passages are looked at closely: a bounded number, however many have some of the words.

All passages of the rare words are taken, and of the common words those that have the most of them. A coarse score
orders them: the weights of the words that each has, by its length. Ranking then counts exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zaxy.text import bm25
from zaxy.text.blocks import BLOCK, MARKED, MAX_TOGETHER, has, together
from zaxy.text.bm25 import Term
from zaxy.text.store import LONGEST, Lookup, Reach, TextStore
from zaxy.text.tokens import Wanted, match_any, match_phrase

CANDIDATES = 150
LISTED = 1000
"""Passages that the words' lists may name. Words are listed from the rarest on, as long as all of a list fits."""
SURE = 20
"""Common words find nothing where this many passages score higher than one that has all of them and no other."""
MAX_LOOKUPS = 64
"""Words, and identifiers, and phrases of a question that are looked up; of the words the rarest."""
MAX_NAMED = 1000
"""Passages that an identifier or a phrase finds, the newest."""


class Candidates(NamedTuple):
    passages: list[int]
    named: dict[int, int]
    """By passage: how many of the identifiers it has."""
    unsure: list[str]
    """Identifiers that were not looked for in all passages, since so many have them or so many were asked for."""


def candidates(store: TextStore, wanted: Wanted, *, terms: Sequence[Term], reach: Reach, by: str) -> Candidates:
    """What may answer; with `by` only what happened by that moment."""
    rarest = sorted(terms, key=lambda term: term.count)[:MAX_LOOKUPS]
    listed = len(rarest) if by else _fitting(rarest)
    names = wanted.identifiers[:MAX_LOOKUPS]
    phrases = [phrase for phrase in map(match_phrase, wanted.phrases[:MAX_LOOKUPS]) if phrase]
    lookups = [
        *(Lookup(match_any([term.term], "words")) for term in rarest[:listed]),
        *(_newest(term, reach) for term in rarest[listed:]),
        *(Lookup(match_any([name], "names"), limit=MAX_NAMED) for name in names),
        *(Lookup(phrase, limit=MAX_NAMED) for phrase in phrases),
    ]
    found = store.look_up(lookups, reach.last, by)
    scores = _coarse(found[: len(rarest)], rarest, reach)
    if not by:
        _add_common(store, scores, common=rarest[listed:][:MAX_TOGETHER], reach=reach)
    of_names = found[len(rarest) : len(rarest) + len(names)]
    named = Counter(row >> 8 for rows in of_names for row in rows)
    of_phrases = [[row >> 8 for row in rows] for rows in found[len(rarest) + len(names) :]]
    chosen = dict.fromkeys(_best(scores, CANDIDATES))
    for passages in (_best(named, CANDIDATES), *of_phrases):
        chosen.update(dict.fromkeys(passages[:CANDIDATES]))
    unsure = [name for name, rows in zip(names, of_names, strict=True) if len(rows) == MAX_NAMED]
    return Candidates(list(chosen), named, [*unsure, *wanted.identifiers[MAX_LOOKUPS:]])


def _fitting(rarest: Iterable[Term]) -> int:
    """How many of the words, from the rarest on, can be listed whole."""
    room, fitting = LISTED, 0
    for term in rarest:
        room -= term.count
        if room < 0:
            break
        fitting += 1
    return fitting


def _newest(term: Term, reach: Reach) -> Lookup:
    """Of a common word: what came after the last full block, where all before is marked; else the newest."""
    expression = match_any([term.term], "words")
    is_marked = term.count * BLOCK >= 2 * MARKED * reach.last
    return Lookup(expression, after=reach.noted) if is_marked else Lookup(expression, limit=LISTED)


def _coarse(found: Sequence[Sequence[int]], terms: Sequence[Term], reach: Reach) -> dict[int, float]:
    sums: dict[int, float] = {}
    for rows, term in zip(found, terms, strict=True):
        weight = term.weight
        for row in rows:
            sums[row] = sums.get(row, 0.0) + weight
    factors = bm25.factors(LONGEST, reach.words / reach.last)
    return {row >> 8: total * factors[row & LONGEST] for row, total in sums.items()}


def _add_common(store: TextStore, scores: dict[int, float], *, common: Sequence[Term], reach: Reach) -> None:
    """Let the common words of full blocks count: for the best so far, and for passages that have the most of them."""
    most = sum([term.weight for term in common])
    if not common or not reach.noted or (len(scores) > SURE and sorted(scores.values())[-SURE] >= most):
        return
    marks = store.marks([term.term for term in common], reach)
    words = [(term.weight, marks[term.term]) for term in common if term.term in marks]
    for passage in _best(scores, 2 * CANDIDATES):
        scores[passage] += sum([weight for weight, bits in words if has(bits, passage)])
    for passage, weight in together(words, CANDIDATES):
        scores.setdefault(passage, weight)


def _best(scores: dict[int, float] | dict[int, int], count: int) -> list[int]:
    """The passages of the highest scores; of equals, the newest."""
    return [passage for _, passage in sorted(zip(scores.values(), scores, strict=True), reverse=True)[:count]]
