"""The Merkle tree over a bundle's entries, built as in RFC 6962: leaf 0x00, node 0x01, an odd node is promoted.

An inclusion proof lists the siblings from the leaf to the root, each with its side. The index and the number of leaves
decide which sides they must be, so that a proof fits one place in one size of tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

LEFT, RIGHT = "left", "right"
SIZE = 32
SUBTREE_LEAVES = 1024
"""How many leaves become one subtree at once. A power of two."""

Step = tuple[str, str]
"""A sibling's hash in hex, and its side."""


def leaf_hash(data: bytes) -> bytes:
    return sha256(b"\0" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()


class GrowingTree:
    """The root of a tree whose leaves come one by one. It keeps one hash for each level."""

    def __init__(self) -> None:
        self.count = 0
        self._leaves: list[bytes] = []
        self._subtrees: list[tuple[int, bytes]] = []
        """The size and root of each complete subtree, largest first."""

    def add(self, *leaves: bytes) -> None:
        self.count += len(leaves)
        self._leaves += leaves
        while len(self._leaves) >= SUBTREE_LEAVES:
            self._join(SUBTREE_LEAVES, _folded(self._leaves[:SUBTREE_LEAVES]))
            del self._leaves[:SUBTREE_LEAVES]

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
    """All levels of a tree, to make proofs from. It takes 64 bytes for each leaf."""

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


def max_steps(count: int) -> int:
    """How many steps a proof in a tree of `count` leaves has at most: one for each level below the root."""
    return max(count - 1, 0).bit_length()


def root_by_proof(leaf: bytes, index: int, count: int, proof: Sequence[Step]) -> bytes | None:
    """The root that the proof leads to, from a leaf at `index` of `count`; None if the proof is not for that place."""
    if not 0 <= index < count or len(proof) > max_steps(count):
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
