"""Verifies bundles and disclosed subsets, entry by entry. A refusal says why."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from typing import Any, BinaryIO

from zaxy.api import MAX_INTEGER, InvalidRequest, NotCanonical, ZaxyError
from zaxy_export.bundle import SIGNED, SIGNED_FIELDS, UNSIGNED, signed_message
from zaxy_export.entries import SCHEMA, SOURCES
from zaxy_export.merkle import GrowingTree, leaf_hash, max_steps, root_by_proof
from zaxy_export.reading import (
    DISCLOSED,
    ENTRIES,
    LISTS,
    BundleField,
    BundleItem,
    Part,
    canonical,
    no_canonical_form,
    read_parts,
    refused,
)
from zaxy_export.selector import EVENT
from zaxy_export.signing import is_signature

BUNDLE, SUBSET, ENVELOPE = "signed bundle", "disclosed subset", "unsigned envelope"
SHAPES = {(SIGNED, ENTRIES): BUNDLE, (SIGNED, DISCLOSED): SUBSET, (UNSIGNED, ENTRIES): ENVELOPE}
_SESSION = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_CREATED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|\+00:00)")
_BEFORE_CONTENT = len(b'{"content":')
_AFTER_CONTENT = len(b',"id":""}') + 64

Parts = Callable[[], Iterator[Part]]
"""Gives the parts of a bundle, from the start at every call."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What was verified, or merely read if the bundle is unsigned."""

    shape: str
    session_id: str
    entries: int
    of: int
    """How many entries were signed. A subset holds fewer."""
    algorithm: str = ""
    public_key: str = ""
    created_at: str = ""
    nonce: str = ""
    merkle_root: str = ""
    pinned: bool = False
    """Whether the key is the expected one. If not, anybody may have signed."""


@dataclass(frozen=True, slots=True)
class BundleEntry:
    """An entry that was checked."""

    value: dict[str, Any]
    data: bytes
    leaf: bytes


Take = Callable[[BundleEntry], None]


def verify_export(bundle: Mapping[str, Any], expect_public_key: str | None = None) -> Verified:
    """Verify a signed bundle. A bundle that fails raises a ZaxyError with the reason."""
    return verify(parts_of_object(bundle), expect_public_key, (BUNDLE,))


def verify_memory_export_subset(subset: Mapping[str, Any], expect_public_key: str | None = None) -> Verified:
    """Verify a disclosed subset: each of its entries was signed, at its own place."""
    return verify(parts_of_object(subset), expect_public_key, (SUBSET,))


def parts_of_object(bundle: Mapping[str, Any]) -> Parts:
    """A bundle that a program holds is read as its file would be: numbers, bounds and refusals are the same."""
    try:
        text = json.dumps(dict(bundle))
    except (TypeError, ValueError, RecursionError) as error:
        raise no_canonical_form("a value in it", error) from None
    return parts_of_file(BytesIO(text.encode()))


def parts_of_file(file: BinaryIO) -> Parts:
    def parts() -> Iterator[Part]:
        file.seek(0)
        return read_parts(file)

    return parts


def verify(
    parts: Parts,
    expect_public_key: str | None = None,
    shapes: tuple[str, ...] = (BUNDLE, SUBSET),
    take: Take | None = None,
) -> Verified:
    """Verify a bundle of one of the shapes, holding one entry at a time.

    `take` gets each entry as soon as it was checked, which is before the whole bundle is verified.
    """
    shape = shape_of(parts)
    if shape not in shapes:
        raise _other_shape(shape, shapes)
    pin = _pin(expect_public_key)
    if shape == ENVELOPE:
        if pin:
            raise refused("it is not signed, but a key is expected", "Ask for a signed bundle.")
        return _read_envelope(parts, take)
    header, entries = (_read_bundle if shape == BUNDLE else _read_subset)(parts, take)
    if pin and header["public_key"] != pin:
        raise refused("it is signed by another key than the expected one")
    key, signature = bytes.fromhex(header["public_key"]), bytes.fromhex(header["signature"])
    try:
        message = signed_message(header)
    except (NotCanonical, RecursionError) as error:
        raise no_canonical_form("its header", error) from None
    if not is_signature(header["algorithm"], key, message, signature):
        raise refused("its signature is not that of its key over its header")
    named = {name: header[name] for name in ("session_id", "algorithm", "public_key", "created_at", "nonce")}
    return Verified(
        shape, entries=entries, of=header["entry_count"], merkle_root=header["merkle_root"], pinned=bool(pin), **named
    )


def shape_of(parts: Parts) -> str:
    """The shape of a bundle, by its version and the list in it."""
    version, of = None, ""
    for part in parts():
        if isinstance(part, BundleField):
            version = part.value if part.name == "version" else version
            of = part.name if part.name in LISTS else of
        if version is not None and of:
            break
    if not isinstance(version, str) or not of:
        raise refused("it has no version or no entries, so it is not a bundle")
    if (version, of) not in SHAPES:
        known = ", ".join(sorted({known for known, _ in SHAPES}))
        raise refused(
            f"its version is {version!r:.60} with {of}; this reads {known}",
            "Upgrade zaxy-core, or ask for one of these.",
        )
    return SHAPES[version, of]


def _read_envelope(parts: Parts, take: Take | None) -> Verified:
    order = _Order()
    header: dict[str, Any] = {}
    for part in parts():
        if isinstance(part, BundleItem):
            order.check(part.value)
            if take:
                take(BundleEntry(part.value, part.text, b""))
        else:
            header[part.name] = part.value
    session = header.get("session_id")
    known = header.get("schema_version") == SCHEMA and header.get("signed") is False
    if not known or not isinstance(session, str) or not _SESSION.fullmatch(session):
        raise refused("its header is not that of an unsigned envelope")
    order.check_session(session)
    return Verified(ENVELOPE, session, order.count, order.count)


def _read_bundle(parts: Parts, take: Take | None) -> tuple[dict[str, Any], int]:
    order, tree = _Order(), GrowingTree()
    header: dict[str, Any] = {}
    for part in parts():
        if isinstance(part, BundleField):
            header[part.name] = part.value
            continue
        entry = part.value.get("content")
        if not isinstance(entry, dict):
            raise refused("an entry has no content")
        data = part.text[_BEFORE_CONTENT:-_AFTER_CONTENT] if len(part.value) == 2 else canonical(entry)
        digest = sha256(data)
        if part.value.get("id") != digest.hexdigest():
            raise refused(f"the id of entry {order.count} is not the hash of its content")
        leaf = leaf_hash(digest.digest())
        tree.add(leaf)
        order.check(entry)
        if take:
            take(BundleEntry(entry, data, leaf))
    _check_header(header)
    if header["entry_count"] != tree.count:
        raise refused(f"it was signed with {header['entry_count']} entries and has {tree.count}")
    if header["merkle_root"] != tree.root().hex():
        raise refused("its entries are not those that were signed")
    order.check_session(header["session_id"])
    return header, tree.count


def _read_subset(parts: Parts, take: Take | None) -> tuple[dict[str, Any], int]:
    header = {part.name: part.value for part in parts() if isinstance(part, BundleField)}
    _check_header(header)
    order = _Order()
    count, root, last = header["entry_count"], bytes.fromhex(header["merkle_root"]), -1
    for part in parts():
        if isinstance(part, BundleField):
            continue
        index, entry, proof = (part.value.get(name) for name in ("index", "content", "proof"))
        if not isinstance(entry, dict):
            raise refused("an entry has no content")
        if not isinstance(proof, list) or not _is_proof(proof, count):
            raise refused("the proof of an entry is not a list of hashes with their sides, as long as its tree allows")
        if type(index) is not int or not last < index < count:
            raise refused(f"the indexes of its entries do not ascend within the {count} that were signed")
        data = canonical(entry)
        leaf = leaf_hash(sha256(data).digest())
        if root_by_proof(leaf, index, count, proof) != root:
            raise refused(f"entry {index} is not among those that were signed, or not at that place")
        order.check(entry)
        if take:
            take(BundleEntry(entry, data, leaf))
        last = index
    order.check_session(header["session_id"])
    return header, order.count


class _Order:
    """Checks entries in turn: each by itself, their order, and that all are of one session."""

    def __init__(self) -> None:
        self.count = 0
        self._last = (0, False)
        self._citation = ""
        self._before_seq = ""
        """The beginning of every citation: `eventloom://<session>/events/`."""

    def check(self, entry: dict[str, Any]) -> None:
        if entry.get("schema_version") != SCHEMA:
            raise refused(f"entry {self.count} is not of the schema {SCHEMA}", "Upgrade zaxy-core.")
        grain, seq, citation = entry.get("grain"), entry.get("seq"), entry.get("citation")
        if type(seq) is not int or not 0 < seq <= MAX_INTEGER or type(citation) is not str:
            raise self._malformed("its seq or its citation")
        place, _, hash_ = citation.partition("#")
        self._before_seq = self._before_seq or place.removesuffix(str(seq))
        if not place.startswith(self._before_seq):
            raise refused("its entries are from different sessions")
        if place != f"{self._before_seq}{seq}" or not _is_hex(hash_, 64):
            raise self._malformed("its citation")
        if seq == self._last[0] and citation != self._citation:
            raise self._malformed("it cites another event of the same seq")
        if (
            type(grain) is not str
            or grain not in SOURCES
            or entry.get("source") != SOURCES[grain]
            or type(entry.get("kind")) is not str
        ):
            raise self._malformed("its grain, source or kind")
        if type(entry.get("content")) is not dict:
            raise self._malformed("its content")
        for name in ("valid_from", "valid_to"):
            if name not in entry or type(entry[name]) not in (str, type(None)):
                raise self._malformed(f"its {name}")
        place_in_order = (seq, grain != EVENT)
        if place_in_order < self._last or (place_in_order == self._last and grain == EVENT):
            raise refused(f"entry {self.count} is out of order: entries ascend by seq, each event once")
        self._last, self._citation = place_in_order, citation
        self.count += 1

    def check_session(self, session: str) -> None:
        if self.count and self._before_seq != f"eventloom://{session}/events/":
            raise refused("its entries are from another session than its header says")

    def _malformed(self, what: str) -> ZaxyError:
        return refused(f"entry {self.count} is malformed: {what}")


def _check_header(header: dict[str, Any]) -> None:
    missing = [name for name in (*SIGNED_FIELDS, "signature") if name not in header]
    if missing:
        raise refused(f"it has no {missing[0]}")
    if type(header["algorithm"]) is not str:
        raise refused("its algorithm is not a text")
    for name, pattern, what in (("session_id", _SESSION, "a session's id"), ("created_at", _CREATED, "a time in UTC")):
        if type(header[name]) is not str or not pattern.fullmatch(header[name]):
            raise refused(f"its {name} is not {what}")
    for name in ("public_key", "nonce", "merkle_root", "signature"):
        if not is_lower_hex(header[name]):
            raise refused(f"its {name} is not in hex")
    count = header["entry_count"]
    if type(count) is not int or not 0 <= count <= MAX_INTEGER:
        raise refused("its entry_count is not a number of entries")


def _is_hex(value: object, length: int) -> bool:
    return type(value) is str and len(value) == length and not value.strip("0123456789abcdef")


def is_lower_hex(value: object) -> bool:
    return isinstance(value, str) and len(value) % 2 == 0 and _is_hex(value, len(value))


def _is_proof(proof: list[Any], count: int) -> bool:
    """Whether it is a list of steps, of at most as many as a tree of `count` leaves has levels."""
    return len(proof) <= max_steps(count) and all(
        isinstance(step, list) and len(step) == 2 and _is_hex(step[0], 64) for step in proof
    )


def _pin(expected: str | None) -> str:
    """The expected key as bundles write it. People paste hex in either case, with spaces around it."""
    if expected is None:
        return ""
    pin = expected.strip().lower()
    if not pin or not is_lower_hex(pin):
        raise InvalidRequest("the expected public key is not hex", "'zaxy export-keys show FILE' prints it.")
    return pin


def _other_shape(shape: str, shapes: tuple[str, ...]) -> ZaxyError:
    advice = {
        BUNDLE: "Verify it with 'zaxy verify-export'.",
        SUBSET: "Verify it with 'zaxy verify-export-subset'.",
        ENVELOPE: "Nothing in it proves who made it: ask for a signed bundle.",
    }
    article = {"u": "an"}.get(shape[0], "a")
    return refused(f"it is {article} {shape}, not a {' or a '.join(shapes)}", advice[shape])
