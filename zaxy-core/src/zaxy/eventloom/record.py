"""One event in the log: a line of canonical JSON with its digest and hash, and the checks of them."""

from __future__ import annotations

import os
from hashlib import sha256

from zaxy.eventloom.canonical import MAX_DEPTH, NotCanonical, decode, encode, encode_plain
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = 1
MAX_LINE_BYTES = 1 << 23
TOO_LONG = f"its line has more than {MAX_LINE_BYTES:,} bytes"
UNHASHED = ("payload", "salt", "hash")
"""The hash does not cover these, so that a payload and its salt can be erased and the chain still verifies."""
REQUIRED = ("v", "seq", "id", "type", "actor", "thread", "time", "sensitivity", "payload_digest", "prev", "hash")
OPTIONAL = ("payload", "salt", "caused_by", "redacted", "idempotency_key", "batch")
KNOWN = frozenset(REQUIRED + OPTIONAL)
MAX_LEVELS = 900
"""How deep a wrong payload may be nested for its digest to be looked at: Python itself goes little deeper."""


class Damaged(Exception):
    """A line is not what the log wrote. The message says what is wrong."""

    def __init__(self, reason: str, record: dict[str, Any] | None = None) -> None:
        """`record`: what the line holds, if its hash is right and only its fields are wrong: the chain goes on."""
        super().__init__(reason)
        self.record = record


class NewerFormat(Exception):
    """A later version of the log's format wrote the line."""


class Line(NamedTuple):
    """A record, and its bytes in the log without the line end."""

    record: dict[str, Any]
    data: bytes

    @property
    def seq(self) -> int:
        return int(self.record["seq"])

    @property
    def hash(self) -> str:
        return str(self.record["hash"])


class Entry(NamedTuple):
    """An event that is ready to be written, without what depends on its place in the log."""

    fields: dict[str, Any]
    """type, actor, sensitivity, and the optional fields that are not empty."""
    payload: dict[str, Any]
    canonical_payload: bytes
    salt: bytes

    @property
    def key(self) -> str:
        return str(self.fields.get("idempotency_key", ""))


def same_content(entry: Entry, line: Line) -> bool:
    """Whether an entry has the content of a line. The payload of an erased line cannot be compared."""
    written = {key: line.record.get(key) for key in ("type", "actor", "sensitivity", "caused_by")}
    given = {key: entry.fields.get(key) for key in written}
    return written == given and (
        "payload" not in line.record or encode(line.record["payload"]) == entry.canonical_payload
    )


def make_line(entry: Entry, thread: str, *, seq: int, prev: str | None, time: str) -> Line:
    """The line of a new event at its place in the log."""
    record = {
        "v": VERSION,
        "seq": seq,
        "id": f"evt_{seq}_{os.urandom(4).hex()}",
        "thread": thread,
        "time": time,
        "payload_digest": payload_digest(entry.salt, entry.canonical_payload),
        "prev": prev,
        **entry.fields,
    }
    hashed = encode_plain(record)
    record["hash"], record["salt"] = sha256(hashed).hexdigest(), entry.salt.hex()
    record["payload"] = entry.payload
    return Line(record, _stored(hashed, record["hash"], record["salt"], entry.canonical_payload))


def _stored(hashed: bytes, hash_: str, salt: str, payload: bytes) -> bytes:
    """The line to store: the hashed bytes, with hash, payload and salt inserted where their names sort.

    This saves a second encoding. Quotes within texts are escaped, so each mark occurs in the line only once.
    """
    before_id, id_mark, rest = hashed.partition(b'"id":"evt_')
    before_digest, digest_mark, rest = rest.partition(b'"payload_digest":"')
    before_tier, tier_mark, rest = rest.partition(b'"sensitivity":"')
    return b'%b"hash":"%b",%b%b"payload":%b,%b%b"salt":"%b",%b%b' % (
        before_id,
        hash_.encode(),
        id_mark,
        before_digest,
        payload,
        digest_mark,
        before_tier,
        salt.encode(),
        tier_mark,
        rest,
    )


def payload_digest(salt: bytes, payload: bytes) -> str:
    return sha256(salt + payload).hexdigest()


def parse_line(data: bytes) -> Line:
    """Read a line and check its canonical bytes, fields, payload digest and hash. The caller checks the chain."""
    if len(data) > MAX_LINE_BYTES:
        raise Damaged(TOO_LONG)
    try:
        record = decode(data)
    except (ValueError, RecursionError):
        raise Damaged("it is not JSON") from None
    if not isinstance(record, dict):
        raise Damaged("it is not a JSON object")
    if type(record.get("v")) is int and record["v"] > VERSION:
        raise NewerFormat(f"it has format {record['v']}, and this version reads up to {VERSION}: upgrade zaxy-core")
    try:
        canonical = encode(record, MAX_DEPTH + 1) == data
    except NotCanonical as error:
        raise Damaged(f"it is not canonical JSON: {error}", record if is_chained(record) else None) from None
    if not canonical:
        raise Damaged("its bytes are not the canonical form of what they say")
    check_record(record)
    return Line(record, data)


def is_chained(record: dict[str, Any]) -> bool:
    """Whether a record of whatever shape has a number and the right digest and hash, and so a place in the chain."""
    seq, prev = record.get("seq"), record.get("prev", "")
    if type(seq) is not int or seq < 1 or not (prev is None or is_hex(prev, 64)):
        return False
    try:
        return _hash_of(record) == record.get("hash") and _digest_of(record) == record.get("payload_digest")
    except (NotCanonical, RecursionError):
        return False


def _hash_of(record: dict[str, Any]) -> str:
    hashed = {key: value for key, value in record.items() if key not in UNHASHED}
    return sha256(encode(hashed, MAX_DEPTH + 1)).hexdigest()


def _digest_of(record: dict[str, Any]) -> object:
    """The digest of the payload, however deep that is; of one that was erased, what the record says."""
    if "payload" not in record and "salt" not in record:
        return record.get("payload_digest")
    if "payload" not in record or not is_hex(record.get("salt"), 32):
        return ""
    return payload_digest(bytes.fromhex(record["salt"]), encode(record["payload"], MAX_LEVELS))


def check_record(record: dict[str, Any]) -> None:
    """Check a record against its own digest and hash."""
    try:
        check_shape(record)
    except Damaged as error:
        raise Damaged(str(error), record if is_chained(record) else None) from None
    if "payload" in record:
        salt = bytes.fromhex(record["salt"])
        if payload_digest(salt, encode(record["payload"])) != record["payload_digest"]:
            raise Damaged("its payload does not match its digest")
    if _hash_of(record) != record["hash"]:
        raise Damaged("its hash does not match its content")


def erased_line(line: Line) -> Line:
    """The same event without payload and salt. Digest and hash stay the same."""
    record = {key: value for key, value in line.record.items() if key not in ("payload", "salt")}
    return Line(record, encode(record))


def check_shape(record: dict[str, Any]) -> None:
    """Refuse a record with missing, unknown or malformed fields."""
    missing = [key for key in REQUIRED if key not in record]
    if missing:
        raise Damaged(f"it lacks {missing[0]}")
    if type(record["v"]) is not int or record["v"] != VERSION:
        raise Damaged(f"its format is not {VERSION}")
    if type(record["seq"]) is not int or record["seq"] < 1:
        raise Damaged("its seq is not a positive integer")
    if ("payload" in record) != ("salt" in record):
        raise Damaged("it has a payload or a salt without the other")
    if "payload" in record and (type(record["payload"]) is not dict or not is_hex(record["salt"], 32)):
        raise Damaged("its payload is not an object or its salt is not 32 hex digits")
    for key in ("payload_digest", "hash", "prev"):
        if not is_hex(record[key], 64) and (key != "prev" or record[key] is not None):
            raise Damaged(f"its {key} is not 64 hex digits")
    for key in ("id", "type", "actor", "thread", "time", "sensitivity"):
        if type(record[key]) is not str:
            raise Damaged(f"its {key} is not a text")
    check_optional(record)


def check_optional(record: dict[str, Any]) -> None:
    """The part of `check_shape` for fields that most events do not have."""
    if not record.keys() <= KNOWN:
        unknown = next(key for key in record if key not in KNOWN)
        raise Damaged(f"it has an unknown field {unknown!r:.40}")
    for key in ("caused_by", "idempotency_key"):
        if type(record.get(key, "")) is not str:
            raise Damaged(f"its {key} is not a text")
    if "batch" in record and not _is_batch(record["batch"]):
        raise Damaged("its batch marker is malformed")
    if "redacted" in record and not _is_redacted(record["redacted"]):
        raise Damaged("its list of redactions is malformed")


def _is_batch(batch: object) -> bool:
    if not isinstance(batch, dict) or set(batch) != {"id", "index", "count"}:
        return False
    index, count = batch["index"], batch["count"]
    return type(batch["id"]) is str and type(index) is int and type(count) is int and 0 <= index < count


def _is_redacted(redacted: object) -> bool:
    return isinstance(redacted, list) and all(
        isinstance(item, dict) and set(item) == {"kind", "pointer"} and all(type(text) is str for text in item.values())
        for item in redacted
    )


def is_hex(value: object, length: int) -> bool:
    return isinstance(value, str) and len(value) == length and not value.strip("0123456789abcdef")
