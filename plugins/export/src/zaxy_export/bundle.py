"""Writes the two kinds of complete export: an unsigned envelope and a signed bundle.

Entries are written as they are read, one to a line. Before them stand the fields that are known at the start, and
behind them those that are only known at the end.
"""

from __future__ import annotations

import os
from binascii import hexlify
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from zaxy.api import Signer as Signer, canonical_json, utc_now
from zaxy_export.entries import SCHEMA
from zaxy_export.merkle import GrowingTree, leaf_hash

UNSIGNED = "zaxy.export.unsigned.v1"
SIGNED = "zaxy.portable.v1"
SIGNED_FIELDS = (
    "version",
    "algorithm",
    "public_key",
    "session_id",
    "created_at",
    "nonce",
    "anchor",
    "entry_count",
    "merkle_root",
)
"""The header of a signed bundle and of a subset. The signature covers all of it."""
NOT_SIGNED = ("entries", "disclosed", "signature")
NONCE_SIZE = 16
BATCH_ENTRIES = 256


class Written(NamedTuple):
    entries: int
    size: int
    sha256: str
    """The hash of the written bytes."""
    merkle_root: str = ""
    """Empty unless the bundle is signed."""
    header: Mapping[str, Any] = {}
    """All of it but its entries."""


def signed_message(header: Mapping[str, Any]) -> bytes:
    """The bytes that are signed: the version, a line end, and every field but the entries and the signature."""
    bound = {name: value for name, value in header.items() if name not in NOT_SIGNED}
    return f"{SIGNED}\n".encode() + canonical_json(bound)


class Output:
    """Writes to a file, and keeps the size and the hash of what it wrote."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._hash = sha256()
        self.size = 0

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)

    def write_list(self, items: Iterable[bytes]) -> None:
        """Write a JSON list, one item to a line."""
        self.write(b"[")
        left, gap = iter(items), b"\n"
        while some := list(islice(left, BATCH_ENTRIES)):
            self.write(gap + b",\n".join(some))
            gap = b",\n"
        self.write(b"\n]")

    def done(self, entries: int, header: Mapping[str, Any]) -> Written:
        root = str(header.get("merkle_root", ""))
        return Written(entries, self.size, self._hash.hexdigest(), root, header)


def write_bundle(entries: Iterable[bytes], session: str, signer: Signer | None, file: BinaryIO) -> Written:
    """Write entries, given as canonical bytes: as a signed bundle, or as an unsigned envelope if there is no signer."""
    out = Output(file)
    if signer is None:
        head = {"version": UNSIGNED, "schema_version": SCHEMA, "session_id": session, "signed": False}
        count = _Counted()
        out.write(open_object(head) + b'"entries":')
        out.write_list(count.each(entries))
        out.write(b"}\n")
        return out.done(count.entries, head)
    head = {
        "version": SIGNED,
        "algorithm": signer.algorithm,
        "public_key": signer.public_key.hex(),
        "session_id": session,
        "created_at": utc_now(),
        "nonce": os.urandom(NONCE_SIZE).hex(),
        "anchor": None,
    }
    tree = GrowingTree()
    out.write(open_object(head) + b'"entries":')
    out.write_list(_signed_entries(entries, tree))
    root = tree.root().hex()
    found = {"entry_count": tree.count, "merkle_root": root}
    signature = signer.sign(signed_message({**head, **found})).hex()
    out.write(b"," + canonical_json({**found, "signature": signature})[1:] + b"\n")
    return out.done(tree.count, {**head, **found, "signature": signature})


def open_object(fields: Mapping[str, Any]) -> bytes:
    """The beginning of a JSON object: these fields in the order given, with more to follow."""
    return b"{" + b"".join(canonical_json(name) + b":" + canonical_json(value) + b"," for name, value in fields.items())


def _signed_entries(entries: Iterable[bytes], tree: GrowingTree) -> Iterator[bytes]:
    """An entry's id is the SHA-256 of its canonical bytes. The leaf of the tree is the hash of the id.

    Working in batches takes three quarters of the time that single entries take.
    """
    left = iter(entries)
    while some := list(islice(left, BATCH_ENTRIES)):
        ids = [sha256(entry).digest() for entry in some]
        tree.add(*map(leaf_hash, ids))
        yield from [b'{"content":%b,"id":"%b"}' % (entry, hexlify(id_)) for entry, id_ in zip(some, ids, strict=True)]


class _Counted:
    def __init__(self) -> None:
        self.entries = 0

    def each(self, entries: Iterable[bytes]) -> Iterable[bytes]:
        for entry in entries:
            self.entries += 1
            yield entry
