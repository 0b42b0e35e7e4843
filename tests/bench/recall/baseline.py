"""Plain BM25: lower-cased words, nothing stemmed, nothing left out, each event's own text alone."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from bench.recall.histories import Happening

K1 = 1.2
B = 0.75
WORD = re.compile(r"\w+")
ABOUT_THE_EVENT = frozenset(
    ("role", "speaker", "source", "turn_index", "occurred_at", "key", "supersedes", "path", "start_line", "end_line")
)
"""Fields that say where and when something was said, not what."""


def readable(payload: Mapping[str, object]) -> str:
    return " ".join(str(value) for name, value in payload.items() if name not in ABOUT_THE_EVENT)


def words_of(text: str) -> list[str]:
    return WORD.findall(text.lower())


class PlainBm25:
    def __init__(self, texts: Iterable[str]) -> None:
        """The first text has the number 1."""
        counts = [Counter(words_of(text)) for text in texts]
        lengths = [count.total() for count in counts]
        mean = sum(lengths) / max(1, len(lengths))
        self._norms = [K1 * (1 - B + B * length / (mean or 1)) for length in lengths]
        self._postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, count in enumerate(counts):
            for word, times in count.items():
                self._postings[word].append((place, times))

    def search(self, text: str, limit: int) -> list[int]:
        """The numbers of the best texts, best first; the earlier of two equals first."""
        scores: defaultdict[int, float] = defaultdict(float)
        for word in words_of(text):
            postings = self._postings.get(word, ())
            rarity = math.log(1 + (len(self._norms) - len(postings) + 0.5) / (len(postings) + 0.5))
            for place, times in postings:
                scores[place] += rarity * times * (K1 + 1) / (times + self._norms[place])
        best = sorted(scores, key=lambda place: (-round(scores[place], 9), place))
        return [place + 1 for place in best[:limit]]


def plain_bm25(events: Sequence[Happening]) -> PlainBm25:
    return PlainBm25(readable(event.payload) for event in events)
