"""A part of a signed bundle that proves itself: chosen entries, each with its way up to the root that was signed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from zaxy.errors import NotFound
from zaxy.eventloom.canonical import encode_plain
from zaxy.export.bundle import Output, Written, open_object
from zaxy.export.merkle import Tree
from zaxy.export.reading import Field, Item, canonical
from zaxy.export.selector import Selector
from zaxy.export.verification import BUNDLE, Entry, Parts, verify


def disclose(parts: Parts, selector: Selector, file: BinaryIO) -> Written:
    """Write the subset of a bundle that a selector takes. The bundle is proven first.

    Of the selector counts what can be decided from an entry alone: its query, its limit and its sensitivities do not.
    """
    leaves, chosen = bytearray(), bytearray()

    def take(entry: Entry) -> None:
        leaves.extend(entry.leaf)
        chosen.append(_is_taken(entry, selector))

    found = verify(parts, None, (BUNDLE,), take)
    if not any(chosen):
        raise NotFound(
            f"none of the {found.of} entries is selected",
            "Widen the selection: kinds are those of entries, such as decision.made or entity:goal.",
        )
    return write_subset(parts, chosen, leaves, file, found.merkle_root)


def write_subset(parts: Parts, chosen: bytearray, leaves: bytearray, file: BinaryIO, merkle_root: str) -> Written:
    """Write the chosen entries of a bundle, which is not looked at again, and of which all leaves are given."""
    out = Output(file)
    header = {part.name: part.value for part in parts() if isinstance(part, Field) and part.name != "entries"}
    out.write(open_object(header) + b'"disclosed":')
    out.write_list(_disclosed(parts, chosen, Tree(leaves)))
    out.write(b"}\n")
    return out.done(sum(chosen), merkle_root)


def _is_taken(entry: Entry, selector: Selector) -> bool:
    value = entry.value
    return selector.takes(value["grain"], value["kind"], value["seq"], value["valid_from"] or "")


def _disclosed(parts: Parts, chosen: bytearray, tree: Tree) -> Iterator[bytes]:
    index = -1
    for part in parts():
        if not isinstance(part, Item):
            continue
        index += 1
        if index < len(chosen) and chosen[index]:
            proof = encode_plain(tree.proof(index))
            yield b'{"content":%b,"index":%d,"proof":%b}' % (canonical(part.value["content"]), index, proof)
