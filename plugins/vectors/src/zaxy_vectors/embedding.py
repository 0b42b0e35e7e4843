"""Texts as vectors: the mean of their words, of which common ones count less."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from zaxy_vectors.tokens import tokens_of, weight_of, words_of
from zaxy_vectors.weights import DIMENSIONS, ModelFiles, read_table, read_vocabulary
from zaxy_vectors.windows import WINDOW

Floats = NDArray[np.float32]

MAX_WORDS = 6000
"""Words whose vectors are kept; when there are more, all of them are dropped."""
TOGETHER = MAX_WORDS // WINDOW
"""Texts whose words are looked up at once: never more words than are kept."""
LENGTH_POWER = 0.25
"""Tokens with long vectors are common ones in texts of the model; this evens them out a little."""
FEW = 64
"""Words that are compared at once: for so few no threads are started."""
TINY = 1e-6
MIN_SIMILARITY = 0.35
"""Words that are less alike than this have nothing in common."""


class Embedder:
    """Makes vectors of texts. Threads take turns."""

    def __init__(self, files: ModelFiles) -> None:
        self._table = read_table(files.weights)
        self._vocabulary = read_vocabulary(files.tokenizer)
        self._slots: dict[str, int] = {}
        self._vectors = np.empty((MAX_WORDS, DIMENSIONS), np.float32)
        self._lock = Lock()

    def of_windows(self, windows: Sequence[Sequence[str]]) -> Floats:
        """A vector of length 1 for each window; of length 0 where nothing is known of its words."""
        found = np.zeros((len(windows), DIMENSIONS), np.float32)
        for start in range(0, len(windows), TOGETHER):
            part = windows[start : start + TOGETHER]
            filled = [at for at, words in enumerate(part, start) if words]
            if filled:
                ends = np.cumsum([0, *(len(windows[at]) for at in filled[:-1])])
                words = list(chain.from_iterable(part))
                with self._lock:
                    found[filled] = np.add.reduceat(self._vectors[self._slots_of(words)], ends, axis=0)
        return _of_length_one(found)

    def of_text(self, text: str) -> Floats:
        """The vector of a question; of a long one the beginning counts."""
        found: Floats = self.of_windows([words_of(text)[:WINDOW]])[0]
        return found

    def similar_words(self, words: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
        """For each text how near in meaning its nearest word is to each of `words`, from 0 to 1."""
        wanted = self.of_windows([words_of(word)[:WINDOW] for word in words])
        found: list[list[float]] = []
        for those in _groups([words_of(text) for text in texts]):
            found += self._nearest_words([word.lower() for word in words], wanted, those)
        return found

    def _nearest_words(
        self, words: Sequence[str], wanted: Floats, texts: Sequence[Sequence[str]]
    ) -> Iterator[list[float]]:
        places = {word: place for place, word in enumerate(dict.fromkeys(chain.from_iterable(texts)))}
        near = self._similarities(wanted, list(places))
        for row, word in enumerate(words):
            if word in places:
                near[row, places[word]] = 1.0
        for those in texts:
            if those and len(words):
                yield near[:, [places[word] for word in those]].max(axis=1).tolist()
            else:
                yield [0.0 for _ in words]

    def _similarities(self, wanted: Floats, words: Sequence[str]) -> Floats:
        """A row for each of the wanted vectors: how like each word it is."""
        found = np.zeros((len(wanted), len(words)), np.float32)
        for begin in range(0, len(words), FEW):
            part = words[begin : begin + FEW]
            with self._lock:
                vectors = self._vectors[self._slots_of(part)]
            found[:, begin : begin + FEW] = wanted @ _of_length_one(vectors).T
        found[found < MIN_SIMILARITY] = 0.0
        return np.minimum(found, 1.0)

    def _slots_of(self, words: Sequence[str]) -> NDArray[np.intp]:
        """Where the vector of each word lies. At most `MAX_WORDS` different ones."""
        new = [word for word in dict.fromkeys(words) if word not in self._slots]
        if len(self._slots) + len(new) > MAX_WORDS:
            self._slots.clear()
            new = list(dict.fromkeys(words))
        for word in new:
            slot = len(self._slots)
            self._vectors[slot] = self._of_word(word)
            self._slots[word] = slot
        return np.fromiter(map(self._slots.__getitem__, words), np.intp, len(words))

    def _of_word(self, word: str) -> Floats:
        """The sum of its tokens over the root of their number, times what the word counts."""
        tokens = tokens_of(word, self._vocabulary)
        if not tokens:
            return np.zeros(DIMENSIONS, np.float32)
        vectors = self._table[tokens].astype(np.float32)
        lengths = np.maximum(np.sqrt(np.square(vectors).sum(axis=1, keepdims=True)), TINY)
        found: Floats = (vectors / lengths**LENGTH_POWER).sum(axis=0) * (weight_of(word) / len(tokens) ** 0.5)
        return found


@lru_cache(maxsize=2)
def embedder_of(files: ModelFiles, _identity: str) -> Embedder:
    """One for all lanes of a process that use the same model."""
    return Embedder(files)


def _groups(texts: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    """The texts in groups of so few words that they may be compared with all of them at once."""
    group: list[list[str]] = []
    size = 0
    for words in texts:
        if group and size + len(words) > MAX_WORDS:
            yield group
            group, size = [], 0
        group.append(words)
        size += len(words)
    if group:
        yield group


def _of_length_one(vectors: Floats) -> Floats:
    lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    found: Floats = vectors / np.maximum(lengths, TINY)
    return found
