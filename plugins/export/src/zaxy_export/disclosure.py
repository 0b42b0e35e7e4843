"""Discloses a part of a signed bundle: chosen entries, each with its proof up to the signed root."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import orjson

from zaxy.api import NotFound
from zaxy_export.bundle import Output, Written, open_object
from zaxy_export.merkle import Tree
from zaxy_export.reading import BundleField, BundleItem, canonical
from zaxy_export.selector import Selector
from zaxy_export.verification import BUNDLE, BundleEntry, Parts, verify


def disclose(parts: Parts, selector: Selector, file: BinaryIO) -> Written:
    """Verify a bundle, then write the subset that a selector takes.

    Only what an entry itself shows can select it: the query, the limit and the sensitivities are ignored.
    """
    leaves, chosen = bytearray(), bytearray()

    def take(entry: BundleEntry) -> None:
        leaves.extend(entry.leaf)
        chosen.append(_is_taken(entry, selector))

    found = verify(parts, None, (BUNDLE,), take)
    if not any(chosen):
        raise NotFound(
            f"none of the {found.of} entries is selected",
            "Widen the selection: kinds are those of entries, such as decision.made or entity:goal.",
        )
    return write_subset(parts, chosen, leaves=leaves, file=file, merkle_root=found.merkle_root)


def write_subset(parts: Parts, chosen: bytearray, *, leaves: bytearray, file: BinaryIO, merkle_root: str) -> Written:
    """Write the chosen entries of a verified bundle. `leaves` are the hashes of all its entries."""
    out = Output(file)
    header = {part.name: part.value for part in parts() if isinstance(part, BundleField) and part.name != "entries"}
    out.write(open_object(header) + b'"disclosed":')
    out.write_list(_disclosed(parts, chosen, Tree(leaves)))
    out.write(b"}\n")
    return out.done(sum(chosen), {**header, "merkle_root": merkle_root})


def _is_taken(entry: BundleEntry, selector: Selector) -> bool:
    value = entry.value
    return selector.takes(value["grain"], value["kind"], value["seq"], value["valid_from"] or "")


def _disclosed(parts: Parts, chosen: bytearray, tree: Tree) -> Iterator[bytes]:
    index = -1
    for part in parts():
        if not isinstance(part, BundleItem):
            continue
        index += 1
        if index < len(chosen) and chosen[index]:
            proof = orjson.dumps(tree.proof(index))
            yield b'{"content":%b,"index":%d,"proof":%b}' % (canonical(part.value["content"]), index, proof)
