"""Rows about the same thing: the newer stands directly above the older, which is marked as perhaps replaced.

What holds is not changed by this. Only a key, `supersedes` or an invalidation ends a row.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import combinations

from zaxy.assemble.features import Weighed
from zaxy.assemble.judgement import order_sum
from zaxy.retrieve.question import Asked

SAME_WORDS = 0.7
"""The share of the question's matched weight that two rows must have in common."""
SHARED = 0.5
"""The share of the shorter one's stems, in its best sentences, that the other must have too."""
ON_IT = 0.4
"""The share of the question's weight that both must have."""
NEAR = 2.5
"""How far apart two rows may be in the order."""


def newest_first(
    asked: Asked, rows: Sequence[Weighed], disputed: Container[frozenset[int]]
) -> tuple[list[Weighed], dict[int, int]]:
    """The rows with the newer of two about the same thing directly above the older; and, by the seq of each older row,
    the seq of the newer, if it perhaps replaces it. What is disputed is not replaced."""
    weights, total = [word.weight for word in asked.words], asked.total
    above: dict[int, int] = {}
    replaced: dict[int, int] = {}
    for newer, older in combinations(sorted(rows, key=_when, reverse=True), 2):
        one, two = newer.result, older.result
        if one.actor != two.actor and not (newer.statements.claim and older.statements.claim):
            continue
        if two.seq in above or frozenset((one.seq, two.seq)) in disputed:
            continue
        is_claim = newer.value_of_same(older)
        if is_claim or _same_subject(newer, older, weights=weights, total=total):
            above[two.seq] = one.seq
            if is_claim or _alike(newer, older):
                replaced[two.seq] = one.seq
    return _placed(list(rows), above), replaced


def _when(row: Weighed) -> tuple[str, int]:
    return (row.result.valid_from, row.result.seq)


def _placed(rows: list[Weighed], above: dict[int, int]) -> list[Weighed]:
    """Each group of rows about one thing where its best stands, the newest first."""
    groups: dict[int, list[Weighed]] = {}
    for row in rows:
        seq = row.result.seq
        while seq in above:
            seq = above[seq]
        groups.setdefault(seq, []).append(row)
    return [row for group in groups.values() for row in sorted(group, key=_when, reverse=True)]


def _same_subject(newer: Weighed, older: Weighed, *, weights: Sequence[float], total: float) -> bool:
    """Whether the same person says both, both have the same of what is asked for, and neither fits much better."""
    if newer.result.actor != older.result.actor or newer.statements.sentences == older.statements.sentences:
        return False
    if abs(order_sum(newer) - order_sum(older)) > NEAR:
        return False
    both = sum([weights[place] for place in newer.found & older.found])
    any_ = sum([weights[place] for place in newer.found | older.found])
    return both >= ON_IT * total and both >= SAME_WORDS * any_ > 0


def _alike(newer: Weighed, older: Weighed) -> bool:
    """Whether their best sentences say much the same."""
    one, two = newer.best_stems, older.best_stems
    return len(one & two) >= SHARED * min(len(one), len(two)) > 0
