"""The events whose windows are nearest to a question.

Up to `EXACT` rows all of them are compared as they are. Beyond that the signs of the numbers, as bits, show which rows
may be near, and only these are compared.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zaxy_vectors.embedding import Floats
from zaxy_vectors.rows import SCALE, Rows, codes_of

EXACT = 100_000
STEP = 512
"""Rows that are compared at once: they stay in the processor's cache, and no threads are started for so few."""
CODE_STEP = 8192
ADD_BYTES = np.uint32(0x01010101)
"""What is multiplied by it has the sum of its four bytes in the highest one."""
NEAR = 2000
"""Rows that are compared as they are, of those whose signs are most like the question's."""
SAMPLE = 4096
"""Rows from which it is seen how near is usual."""
PRIOR_ROWS, PRIOR_MEAN, PRIOR_DEVIATION = 30, 0.03, 0.08
"""How near rows usually are to any question, as if this number of them had been seen."""
DEVIATIONS = 1.0
"""By how much a row must be nearer than is usual."""
MAX_USUAL = 0.5
"""What is this near counts in any case, as in a session about one thing."""
FLOOR = 0.08
"""What is less near than this says nothing."""
MAX_EVENTS = 30
"""Events that are proposed: what comes behind them says less than it costs to read."""
BY_CHANCE, OF_CHANCE = 0.3, 0.02
"""As near as this comes, among a thousand windows, one that has nothing to do with the question; its score."""


class Near(NamedTuple):
    seq: int
    score: float
    row: int


def nearest(rows: Rows, question: Floats, *, known_at: int | None, limit: int) -> list[Near]:
    """The events that are clearly nearer than is usual, the nearest first; where two are equally near, the earlier."""
    seqs = rows.marks["seq"]
    count = len(seqs) if known_at is None else int(np.searchsorted(seqs, known_at, "right"))
    if not count or not question.any():
        return []
    rows = rows.part(0, count)
    at = np.arange(count) if count <= EXACT else _likely(rows, question)
    scores = _scores(rows, question, at)
    threshold = _threshold(scores if count <= EXACT else _scores(rows, question, _sample(count)))
    of_events = np.flatnonzero(np.diff(seqs[at], prepend=0))
    best = np.maximum.reduceat(scores, of_events)
    passing = np.flatnonzero(best >= threshold)
    order = passing[np.argsort(-best[passing], kind="stable")][: min(limit, MAX_EVENTS)]
    found = []
    for event in order:
        begin = of_events[event]
        end = of_events[event + 1] if event + 1 < len(of_events) else len(at)
        row = int(at[begin + int(np.argmax(scores[begin:end]))])
        found.append(Near(int(seqs[row]), score_of(float(best[event])), row))
    return found


def score_of(cosine: float) -> float:
    """A cosine as a score: nearly nothing up to what comes by chance, and from there up to 1."""
    if cosine <= BY_CHANCE:
        return cosine / BY_CHANCE * OF_CHANCE
    return min(OF_CHANCE + (cosine - BY_CHANCE) / (1 - BY_CHANCE) * (1 - OF_CHANCE), 1.0)


def _scores(rows: Rows, question: Floats, at: NDArray[np.intp]) -> Floats:
    """The cosine of each of these rows."""
    whole = len(at) == len(rows.vectors)
    found = np.empty(len(at), np.float32)
    step = np.empty((STEP, len(question)), np.float32)
    scaled = question / np.float32(SCALE)
    for begin in range(0, len(at), STEP):
        end = min(begin + STEP, len(at))
        taken = step[: end - begin]
        np.copyto(taken, rows.vectors[begin:end] if whole else rows.vectors[at[begin:end]])
        np.dot(taken, scaled, out=found[begin:end])
    return found


def _likely(rows: Rows, question: Floats) -> NDArray[np.intp]:
    """The rows whose signs are most like the question's, in order."""
    code = codes_of(question)
    distances = np.empty(len(rows.codes), np.uint8)
    counts = np.zeros(256, np.intp)
    for begin in range(0, len(distances), CODE_STEP):
        bits = np.bitwise_count(rows.codes[begin : begin + CODE_STEP] ^ code)
        part = distances[begin : begin + len(bits)]
        part[:] = (bits.view(np.uint32)[:, 0] * ADD_BYTES) >> 24
        counts += np.bincount(part, minlength=256)
    farthest = int(np.searchsorted(np.cumsum(counts), NEAR))
    return np.flatnonzero(distances <= farthest)[: 4 * NEAR]


def _sample(count: int) -> NDArray[np.intp]:
    return np.linspace(0, count - 1, min(SAMPLE, count)).astype(np.intp)


def _threshold(scores: Floats) -> float:
    """How near a row must be to say anything."""
    count = len(scores) + PRIOR_ROWS
    mean = (float(scores.sum(dtype=np.float64)) + PRIOR_ROWS * PRIOR_MEAN) / count
    squares = float(np.square(scores - mean).sum(dtype=np.float64))
    deviation = math.sqrt((squares + PRIOR_ROWS * PRIOR_DEVIATION**2) / count)
    return max(min(mean + DEVIATIONS * deviation, MAX_USUAL), FLOOR)
