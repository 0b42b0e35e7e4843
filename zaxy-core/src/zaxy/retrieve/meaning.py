"""What lanes of plugins add to the judgement: how alike words are in meaning, and how likely a text answers.

Both are asked once for each list of rows. Without such a lane nothing is added. One that fails, or answers nonsense, is
left out of the reply with a notice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from zaxy.errors import ZaxyError
from zaxy.retrieve.question import Asked

if TYPE_CHECKING:
    from zaxy.retrieve.outside_lanes import OutsideLane
    from zaxy.retrieve.snapshot import Snapshot

WORD_SIMILARITY, RERANK = "word-similarity", "rerank"
MAX_READ = 30
"""Texts that are read together with the question."""
ALIKE_IN_MEANING = 0.7
"""How much a word counts that a sentence has only in another word of the same meaning."""
LEAST_LIKENESS = 0.35
"""Words that are less alike have nothing in common but their language."""


class Meaning:
    """The lanes that compare words or read texts, for one reply."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def likeness(self, asked: Asked, texts: Sequence[str]) -> list[list[float]]:
        """For each text how much of each word of the question it has by its meaning; nothing if no lane can say.

        A name or a number is like no other.
        """
        places = [place for place, word in enumerate(asked.words) if not word.is_name and word.text.isalpha()]
        words = [asked.words[place].text for place in places]
        likeness: list[list[float]] = []
        for lane in self._lanes(WORD_SIMILARITY) if words and texts else ():
            for at, row in enumerate(self._asked(lane, "similar_words", (words, texts), (len(texts), len(words)))):
                if at == len(likeness):
                    likeness.append([0.0] * len(asked.words))
                for place, value in zip(places, row, strict=True):
                    near = ALIKE_IN_MEANING * value if value >= LEAST_LIKENESS else 0.0
                    likeness[at][place] = max(likeness[at][place], near)
        return likeness

    def read(self, question: str, texts: Sequence[str]) -> list[float]:
        """How likely each of the first texts answers, from 0 to 1; nothing if no lane can say."""
        for lane in self._lanes(RERANK) if texts else ():
            first = list(texts[:MAX_READ])
            if found := self._asked(lane, "rerank", (question, first), (len(first),)):
                return [*found, *[0.0] * (len(texts) - len(first))]
        return []

    def _lanes(self, ability: str) -> Iterator[OutsideLane]:
        for lane in self._snapshot.lanes:
            if ability in lane.bound.provider.capabilities and lane.bound.name not in self._snapshot.failed_lanes:
                yield lane

    def _asked(self, lane: OutsideLane, method: str, arguments: tuple[Any, ...], shape: tuple[int, ...]) -> list[Any]:
        name, snapshot = lane.bound.name, self._snapshot
        try:
            found = lane.bound.call(method, *arguments, budget=lane.seconds)
        except ZaxyError as error:
            snapshot.failed_lanes.add(name)
            snapshot.notices.append(f"the lane {name} does not help to judge: {error.message}")
            return []
        if isinstance(found, list | tuple) and (not found or _are_shares(found, shape)):
            return list(found)
        snapshot.failed_lanes.add(name)
        snapshot.notices.append(f"the lane {name} does not help to judge: {method} returned no list of shares as asked")
        return []


def _are_shares(found: Any, shape: tuple[int, ...]) -> bool:
    """Whether it is a list of that length, of numbers from 0 to 1 or of such lists."""
    if not shape:
        return type(found) in (int, float) and 0.0 <= found <= 1.0
    length, *inner = shape
    return (
        isinstance(found, list | tuple)
        and len(found) == length
        and all(_are_shares(item, tuple(inner)) for item in found)
    )
