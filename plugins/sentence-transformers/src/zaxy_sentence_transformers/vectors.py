"""Vectors in a byte for each number, and how near they are to a question.

A byte is enough: with 384 numbers, a cosine is off by half a thousandth. What is kept is a direction only, so that no
length need be kept with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Bytes = NDArray[np.int8]

PEAK = 127
BLOCK = 8192
"""Rows that are multiplied at a time: as floats they take four times the memory."""
DIGITS = 5
"""Of a score. Further ones depend on which rows were multiplied together."""


def as_bytes(vectors: Floats) -> Bytes:
    """Each vector scaled so that its largest number is 127."""
    peaks = np.abs(vectors).max(axis=1, keepdims=True)
    peaks[peaks == 0] = 1
    return np.asarray(np.rint(vectors * (PEAK / peaks)), np.int8)


class Scored(NamedTuple):
    seq: int
    score: float


class Matrix:
    """The vectors of a session, in the order of its events."""

    def __init__(self) -> None:
        self._count = 0
        self._seqs = np.zeros(0, np.int64)
        self._rows: Bytes = np.zeros((0, 0), np.int8)
        self._lengths = np.zeros(0, np.float32)

    @property
    def last_seq(self) -> int:
        return int(self._seqs[self._count - 1]) if self._count else 0

    def append(self, windows: Iterable[tuple[int, bytes]]) -> None:
        """Add the vectors of events that come after those that are there. The others, which searches use, stay."""
        new = list(windows)
        if not new:
            return
        rows = np.frombuffer(b"".join(vector for _, vector in new), np.int8).reshape(len(new), -1)
        end = self._count + len(new)
        if end > len(self._rows):
            self._grow(max(end, 2 * len(self._rows), 1024), rows.shape[1])
        lengths = np.sqrt(np.square(rows.astype(np.float32)).sum(axis=1))
        self._rows[self._count : end] = rows
        self._lengths[self._count : end] = np.where(lengths == 0, 1, lengths)
        self._seqs[self._count : end] = [seq for seq, _ in new]
        self._count = end

    def _grow(self, size: int, dimension: int) -> None:
        added = size - self._count
        kept = self._rows[: self._count].reshape(self._count, dimension)
        self._rows = np.concatenate((kept, np.zeros((added, dimension), np.int8)))
        self._lengths = np.concatenate((self._lengths[: self._count], np.ones(added, np.float32)))
        self._seqs = np.concatenate((self._seqs[: self._count], np.zeros(added, np.int64)))

    def nearest(self, question: Floats, known_at: int | None, limit: int) -> list[Scored]:
        """The events that are nearer to a question than is usual in the session, best first."""
        count = self._count
        if known_at is not None:
            count = int(np.searchsorted(self._seqs[:count], known_at, side="right"))
        if not count or question.shape[0] != self._rows.shape[1]:
            return []
        seqs, firsts = np.unique(self._seqs[:count], return_index=True)
        scores = np.maximum.reduceat(self._cosines(question, count), firsts)
        # Of equal ones the later comes first: it is what was said last.
        clear = np.flatnonzero(scores >= _bar(scores))
        order = clear[np.lexsort((-seqs[clear], -scores[clear]))][:limit]
        return [Scored(int(seqs[at]), float(scores[at])) for at in order]

    def _cosines(self, question: Floats, count: int) -> NDArray[np.float64]:
        found = np.empty(count, np.float32)
        for first in range(0, count, BLOCK):
            last = min(first + BLOCK, count)
            found[first:last] = self._rows[first:last].astype(np.float32) @ question
        return np.clip(np.round((found / self._lengths[:count]).astype(np.float64), DIGITS), -1, 1)


def _bar(scores: NDArray[np.float64]) -> float:
    """What a score must have to be proposed: the mean of the session, and something in common at all.

    A higher one costs twice: what it leaves out is not found, and a list that is not full counts less beside words.
    """
    return max(float(scores.mean()) - 1e-9, 10.0**-DIGITS)
