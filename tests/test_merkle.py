"""The tree over a bundle's entries is that of RFC 6962, by a transcription of the RFC, and so are its proofs."""

from __future__ import annotations

from hashlib import sha256
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from export_vectors import ids, tree_proof, tree_root
from zaxy_export.merkle import SUBTREE_LEAVES, GrowingTree, Step, Tree, leaf_hash, node_hash, root_by_proof

COUNTS = [*range(71), 127, 128, 129, 255, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 3333, 5000]
SIDES = {"left": "right", "right": "left"}
places = st.integers(1, 300).flatmap(lambda count: st.tuples(st.integers(0, count - 1), st.just(count)))


def grown(leaves: list[bytes]) -> GrowingTree:
    tree = GrowingTree()
    for leaf in leaves:
        tree.add(leaf)
    return tree


def proof_of(index: int, count: int) -> list[Step]:
    return Tree(b"".join(ids(count))).proof(index)


def sides(index: int, count: int) -> list[str]:
    """Where the siblings of a place stand, by the RFC."""
    return [side for _, side in tree_proof(index, ids(count))]


def test_a_leaf_and_a_node_have_the_prefixes_of_the_rfc() -> None:
    assert leaf_hash(b"") == bytes.fromhex("6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d")
    assert leaf_hash(b"x") == sha256(b"\x00x").digest()
    assert node_hash(b"l" * 32, b"r" * 32) == sha256(b"\x01" + b"l" * 32 + b"r" * 32).digest()


def test_a_root_is_the_one_that_others_publish_for_the_same_leaves() -> None:
    """The inputs of Certificate Transparency's own tests, and their roots."""
    data = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
    leaves = [leaf_hash(bytes.fromhex(text)) for text in data]
    roots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]
    assert [grown(leaves[:count]).root().hex() for count in range(1, 9)] == roots


def test_the_root_of_nothing_is_the_hash_of_nothing() -> None:
    assert GrowingTree().root() == sha256(b"").digest()


@pytest.mark.parametrize("count", COUNTS)
def test_a_growing_tree_and_a_whole_one_have_the_root_of_the_rfc(count: int) -> None:
    leaves = ids(count)
    tree = grown(leaves)
    assert tree.count == count
    assert tree.root() == tree_root(leaves)
    some = range(count) if count <= 70 else Random(count).sample(range(count), 20)
    whole = Tree(b"".join(leaves))
    for index in some:
        proof = whole.proof(index)
        assert [list(step) for step in proof] == tree_proof(index, leaves)
        assert root_by_proof(leaves[index], index, count, proof) == tree_root(leaves)


def test_asking_for_the_root_on_the_way_changes_nothing() -> None:
    leaves, tree = ids(SUBTREE_LEAVES + 5), GrowingTree()
    for number, leaf in enumerate(leaves, 1):
        tree.add(leaf)
        if number in (1, 2, 3, 700, SUBTREE_LEAVES - 1, SUBTREE_LEAVES, SUBTREE_LEAVES + 1):
            assert tree.root() == tree_root(leaves[:number])
    assert tree.root() == tree_root(leaves)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=200))
def test_any_leaves_have_the_root_of_the_rfc(data: list[bytes]) -> None:
    leaves = [leaf_hash(item) for item in data]
    assert grown(leaves).root() == tree_root(leaves)
    whole = Tree(b"".join(leaves))
    for index, leaf in enumerate(leaves):
        assert root_by_proof(leaf, index, len(leaves), whole.proof(index)) == tree_root(leaves)


@settings(max_examples=60, deadline=None)
@given(places, st.data())
def test_a_proof_fits_no_other_index(place: tuple[int, int], data: st.DataObject) -> None:
    index, count = place
    leaf, proof = ids(count)[index], proof_of(index, count)
    others = range(-2, count + 3) if count < 40 else [data.draw(st.integers(-(2**60), 2**60)) for _ in range(20)]
    for other in others:
        if other != index:
            assert root_by_proof(leaf, other, count, proof) is None


@settings(max_examples=100, deadline=None)
@given(places, st.integers(0, 600))
def test_a_proof_fits_another_count_only_where_the_same_sides_lead_to_that_place(
    place: tuple[int, int], other: int
) -> None:
    """Leaf 4 has the same way up among 7 leaves as among 8; which of them it was is in the header, and signed."""
    index, count = place
    leaf, proof, root = ids(count)[index], proof_of(index, count), tree_root(ids(count))
    fits = index < other and sides(index, other) == sides(index, count)
    assert (root_by_proof(leaf, index, other, proof) == root) is fits


def test_a_count_with_another_way_up_is_refused() -> None:
    fitting = [count for count in range(40) if root_by_proof(ids(7)[4], 4, count, proof_of(4, 7))]
    assert fitting == [7, 8]


@settings(max_examples=60, deadline=None)
@given(places, st.data())
def test_a_proof_that_was_changed_anywhere_does_not_lead_to_the_root(
    place: tuple[int, int], data: st.DataObject
) -> None:
    index, count = place
    leaf, proof, root = ids(count)[index], proof_of(index, count), tree_root(ids(count))
    stranger = leaf_hash(b"stranger").hex()
    changed = [[*proof, (stranger, "left")], [*proof, (stranger, "right")], [(stranger, "right"), *proof]]
    if proof:
        at = data.draw(st.integers(0, len(proof) - 1))
        hash_, side = proof[at]
        bit = bytearray.fromhex(hash_)
        bit[data.draw(st.integers(0, 31))] ^= 1 << data.draw(st.integers(0, 7))
        changed += [[*proof[:at], step, *proof[at + 1 :]] for step in ((hash_, SIDES[side]), (bit.hex(), side))]
        changed += [[*proof[:at], (hash_, "up"), *proof[at + 1 :]], proof[:at] + proof[at + 1 :], []]
    for wrong in changed:
        assert root_by_proof(leaf, index, count, wrong) != root
    assert root_by_proof(leaf_hash(b"stranger"), index, count, proof) != root


def test_a_node_cannot_pass_for_a_leaf() -> None:
    """The prefixes keep them apart: else the top of a tree would prove two made-up entries."""
    leaves = ids(4)
    left, right = node_hash(*leaves[:2]), node_hash(*leaves[2:])
    root = tree_root(leaves)
    assert root_by_proof(left, 0, 2, [(right.hex(), "right")]) == root, "as a hash of a leaf, which nobody hands in"
    assert root_by_proof(leaf_hash(leaves[0] + leaves[1]), 0, 2, [(right.hex(), "right")]) != root
