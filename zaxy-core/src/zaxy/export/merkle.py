"""The tree over a bundle's entries, as RFC 6962 builds it: leaf 0x00, node 0x01, an odd node is promoted.

An inclusion proof names the siblings from the leaf to the root, each with the side on which it stands. Which sides
they must be follows from the index and the number of leaves, so that a proof fits one place in a tree of that many.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

LEFT, RIGHT = "left", "right"
SIZE = 32
FOLDED_TOGETHER = 1024
"""Leaves that are made into one subtree at once: a power of two."""

Step = tuple[str, str]
"""A sibling's hash in hex, and its side."""


def leaf_hash(data: bytes) -> bytes:
    return sha256(b"\0" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()


class GrowingTree:
    """The root over leaves that come one by one; it keeps one hash for each level."""

    def __init__(self) -> None:
        self.count = 0
        self._leaves: list[bytes] = []
        self._subtrees: list[tuple[int, bytes]] = []
        """The size and root of each whole subtree, largest first."""

    def add(self, *leaves: bytes) -> None:
        self.count += len(leaves)
        self._leaves += leaves
        while len(self._leaves) >= FOLDED_TOGETHER:
            self._join(FOLDED_TOGETHER, _folded(self._leaves[:FOLDED_TOGETHER]))
            del self._leaves[:FOLDED_TOGETHER]

    def root(self) -> bytes:
        if not self.count:
            return sha256(b"").digest()
        roots = [root for _, root in self._subtrees]
        if self._leaves:
            roots.append(_folded(self._leaves))
        found = roots.pop()
        while roots:
            found = node_hash(roots.pop(), found)
        return found

    def _join(self, size: int, root: bytes) -> None:
        while self._subtrees and self._subtrees[-1][0] == size:
            root = node_hash(self._subtrees.pop()[1], root)
            size *= 2
        self._subtrees.append((size, root))


def _folded(level: Sequence[bytes]) -> bytes:
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [sha256(b"\1" + left + right).digest() for left, right in pairs] + (
            [level[-1]] if len(level) % 2 else []
        )
    return level[0]


class Tree:
    """All levels of a tree, from which any proof is read; 64 bytes for each leaf."""

    def __init__(self, leaves: bytes | bytearray) -> None:
        """`leaves`: their hashes, one after the other."""
        self._levels = [leaves]
        while len(level := self._levels[-1]) > SIZE:
            whole = len(level) // (2 * SIZE) * 2 * SIZE
            above = b"".join(sha256(b"\1" + level[at : at + 2 * SIZE]).digest() for at in range(0, whole, 2 * SIZE))
            self._levels.append(above + level[whole:])

    def proof(self, index: int) -> list[Step]:
        steps = []
        for level in self._levels[:-1]:
            sibling = index ^ 1
            found = level[sibling * SIZE : (sibling + 1) * SIZE]
            if found:
                steps.append((found.hex(), LEFT if sibling < index else RIGHT))
            index >>= 1
        return steps


def root_by_proof(leaf: bytes, index: int, count: int, proof: Sequence[Step]) -> bytes | None:
    """The root that a leaf at that index of so many leads to; None where the proof is not one for that place."""
    if not 0 <= index < count:
        return None
    steps = iter(proof)
    found, last = leaf, count - 1
    while last > 0:
        if index ^ 1 <= last:
            sibling, side = next(steps, ("", ""))
            if side != (LEFT if index & 1 else RIGHT):
                return None
            other = bytes.fromhex(sibling)
            found = node_hash(other, found) if index & 1 else node_hash(found, other)
        index >>= 1
        last >>= 1
    return None if next(steps, None) else found
