"""Records that nobody should have written, each with a right digest and hash, and logs that hold them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from faults.sample_logs import SESSION, fixed_randomness, note
from zaxy.eventloom.record import UNHASHED, make_line

TREE = Path(__file__).parents[2]
TIME = "2026-01-01T00:00:00.000000Z"
SALT = "5a" * 16
GONE = object()
"""In place of a value: the field is missing."""
DEEP: Any = "deep"
for _ in range(20):
    DEEP = [DEEP]
ODD: dict[str, Any] = {
    "missing": GONE,
    "null": None,
    "true": True,
    "a number": 7,
    "a fraction": 0.5,
    "a huge number": 9007199254740991,
    "a negative number": -1,
    "an empty text": "",
    "blanks": " \t\n\u3000",
    "a huge text": "x" * 300_000,
    "odd unicode": "\u202e\u0000\ud7ff\U0010ffff\u200b\r\n\x1b[2J",
    "an empty list": [],
    "a list": ["a", 1, None],
    "an empty object": {},
    "an object": {"a": {"b": [1]}},
    "something deep": DEEP,
}
HASH = "ab" * 32
TIMES = (
    *("2026-06-15", "2026-06-15T00:00:00Z", "2026-06-15T00:00:00.000000", "2026-06-15T00:00:00.000000+02:00"),
    *("2026-99-01T00:00:00.000000Z", "2026-00-01T00:00:00.000000Z", "2026-02-30T00:00:00.000000Z"),
    *("2023-02-29T00:00:00.000000Z", "2026-04-31T00:00:00.000000Z", "2026-01-00T00:00:00.000000Z"),
    *("0000-01-01T00:00:00.000000Z", "99999-01-01T00:00:00.000000Z", "-001-01-01T00:00:00.000000Z"),
    *("2026-01-01T24:00:00.000000Z", "2026-01-01T00:60:00.000000Z", "2026-01-01T00:00:60.000000Z"),
    *("2026-01-01 00:00:00.000000Z", "2026-01-01T00:00:00,000000Z", "2026-01-01T00:00:00.000000z", f"{TIME}\n"),
    *("٢٠٢٦-01-01T00:00:00.000000Z", "now", "1767225600", "2026-W01-1T00:00:00.000000Z"),
)
TYPES = (
    "X",
    "note",
    "Note.Taken",
    "note..taken",
    ".note",
    "note.",
    "note taken",
    "nöte.taken",
    "note.taken\n",
    "a." * 200,
)
IDS = ("evt_9_00000000", "evt_00000000", "evt_4_0000000", "evt_4_000000000", "evt_4_GGGGGGGG", "4", "evt_04_00000000")
REF = {"name": "refs/heads/main", "session_id": SESSION, "target_seq": 1, "target_hash": HASH}
ERASURE = {"seq": 1, "hash": HASH, "reason": "asked for"}
BATCH = {"id": "00" * 8, "index": 0, "count": 1}


class Nasty(NamedTuple):
    name: str
    changes: dict[str, Any]
    """What takes the place of the fields of an ordinary record."""
    breaks: bool = True
    """Whether it breaks the grammar, so that `verify` must name it."""
    chained: bool = True
    """Whether the chain goes on behind it."""

    def line(self, seq: int, prev: str | None) -> tuple[bytes, str]:
        """The line at a place in the log, and its hash."""
        with fixed_randomness(seq):
            record = dict(make_line(note("ordinary"), SESSION, seq=seq, prev=prev, time=TIME).record)
        record |= {"salt": SALT, **self.changes}
        record = _present(record)
        if "payload" in record and "payload_digest" not in self.changes:
            salt = record.get("salt")
            salted = bytes.fromhex(salt) if isinstance(salt, str) and re.fullmatch("(?:[0-9a-f]{2})*", salt) else b""
            record["payload_digest"] = sha256(salted + json_bytes(record["payload"])).hexdigest()
        rest = {key: value for key, value in record.items() if key not in UNHASHED}
        record["hash"] = sha256(json_bytes(rest)).hexdigest()
        return json_bytes(record) + b"\n", record["hash"]


def json_bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def nasty_records() -> list[Nasty]:
    """Every field of a record with every odd value, and values that nearly are what they should be."""
    return [*_odd_fields(), *_nearly_right(), *_wrong_batches(), *_wrong_refs(), *_wrong_erasures(), *_wrong_payloads()]


def _odd_fields() -> Iterator[Nasty]:
    fine = {
        "actor": {"a huge number", "odd unicode"},
        "caused_by": {"missing", "odd unicode"},
        "idempotency_key": {"missing", "odd unicode"},
        "batch": {"missing"},
        "redacted": {"missing"},
    }
    fields = ("v", "id", "type", "actor", "thread", "time", "sensitivity", *fine)
    for field in dict.fromkeys(fields):
        for name, value in ODD.items():
            right = name in fine.get(field, ()) and (value is GONE or isinstance(value, str))
            newer = field == "v" and type(value) is int and value > 1
            yield Nasty(f"{field}: {name}", {field: value}, not right, not newer)
    for field in ("seq", "prev", "payload_digest", "salt"):
        for name, value in ODD.items():
            yield Nasty(f"{field}: {name}", {field: value}, True, False)
    yield Nasty("a number that is skipped", {"seq": 40}, True, False)
    yield Nasty("another hash before it", {"prev": HASH}, True, False)
    yield Nasty("an unknown field", {"zzz": 1})


def _nearly_right() -> Iterator[Nasty]:
    yield from (Nasty(f"time {time!r}", {"time": time}) for time in TIMES)
    yield from (Nasty(f"type {type_[:20]!r}", {"type": type_}) for type_ in TYPES)
    yield from (Nasty(f"id {id_!r}", {"id": id_}) for id_ in IDS)
    yield Nasty("sensitivity 'Public'", {"sensitivity": "Public"})
    yield Nasty("another session", {"thread": "other"})
    yield Nasty("redacted twice wrong", {"redacted": [{"kind": "x"}, {"kind": 1, "pointer": "/"}]})
    yield Nasty("redacted at a place that is none", {"redacted": [{"kind": "x", "pointer": "text"}]}, False)
    yield Nasty("the last second of a leap day", {"time": "2024-02-29T23:59:59.999999Z"}, False)
    yield Nasty("the first year", {"time": "0001-01-01T00:00:00.000000Z"}, False)
    yield Nasty("the last year", {"time": "9999-12-31T23:59:59.999999Z"}, False)


def _wrong_batches() -> Iterator[Nasty]:
    for key, value in (
        ("id", 1),
        ("id", None),
        ("index", -1),
        ("index", 1),
        ("index", "0"),
        ("count", 0),
        ("count", 1.5),
    ):
        yield Nasty(f"batch with {key} {value!r}", {"batch": {**BATCH, key: value}})
    yield Nasty("batch with more fields", {"batch": {**BATCH, "more": 1}})
    yield Nasty("a batch of one", {"batch": BATCH}, False)


def _wrong_refs() -> Iterator[Nasty]:
    for field in REF:
        for name, value in ODD.items():
            right = field == "target_seq" and name in ("a number", "a huge number")
            yield _of_type("memory.ref.updated", {**REF, field: value}, f"ref, {field}: {name}", breaks=not right)
    for name in ("refs", "refs/", "heads/main", "refs/a b", "refs/../x", "refs/a.", "head", "refs/" + "a/" * 9):
        yield _of_type("memory.ref.updated", {**REF, "name": name}, f"ref named {name!r}")
    yield _of_type("memory.ref.updated", {}, "ref without anything")


def _wrong_erasures() -> Iterator[Nasty]:
    for field in ("seq", "hash", "closings"):
        for name, value in ODD.items():
            numbers = field == "seq" and name in ("a number", "a huge number")
            lists = field == "closings" and (isinstance(value, list) or value is GONE)
            said = {**ERASURE, field: value}
            yield _of_type("event.erased", said, f"erasure, {field}: {name}", breaks=not (numbers or lists))
    closing = {"at": TIME, "entity": ["fact", "x"], "seq": None}
    for field in closing:
        for name, value in ODD.items():
            said = {**ERASURE, "closings": [_present({**closing, field: value})]}
            yield _of_type("event.erased", said, f"erasure, {field} of a closing: {name}", breaks=False)


def _wrong_payloads() -> Iterator[Nasty]:
    for name, value in ODD.items():
        without_salt = value is GONE
        yield Nasty(f"payload: {name}", {"payload": value}, not isinstance(value, dict), not without_salt)
    yield Nasty("payload: too deep", {"payload": json.loads('{"a":' * 65 + "1" + "}" * 65)})
    yield Nasty("payload: far too deep", {"payload": json.loads('{"a":' * 300 + "1" + "}" * 300)})


def _of_type(type_: str, payload: dict[str, Any], name: str, *, breaks: bool = True) -> Nasty:
    return Nasty(name, {"type": type_, "actor": "zaxy", "payload": _present(payload)}, breaks)


def _present(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not GONE}


def payload_fields() -> list[str]:
    """Every name that the rules, the passages and the replies may look for in a payload."""
    folders = ("extract", "text", "assemble", "observe", "follow", "retrieve")
    sources = [path.read_text() for folder in folders for path in (TREE / "zaxy-core/src/zaxy" / folder).glob("*.py")]
    return sorted({name for source in sources for name in re.findall(r'"([a-z][a-z_]{1,30})"', source)})


def event_types() -> list[str]:
    items = json.loads((TREE / "contracts" / "event-types.json").read_bytes())["items"]
    return [name.removeprefix("event ") for name in items if name.startswith("event ")]


def odd_payloads(value: Any) -> list[Nasty]:
    """An event of each type, with that value in every field of its payload that anybody looks for."""
    payload = dict.fromkeys(payload_fields(), value)
    part_of_format = ("memory.ref.updated", "event.erased")
    return [
        Nasty(f"{type_} by {actor}", {"type": type_, "actor": actor, "payload": payload}, type_ in part_of_format)
        for type_ in event_types()
        for actor in ("ada", "zaxy")
    ]


Good = Callable[[int, str | None], tuple[bytes, str]]


def good(text: str) -> Good:
    """An ordinary event that says something."""

    def line(seq: int, prev: str | None) -> tuple[bytes, str]:
        with fixed_randomness(1000 + seq):
            made = make_line(note(text), SESSION, seq=seq, prev=prev, time=TIME)
        return made.data + b"\n", made.hash

    return line


def log_of(*events: Good | Nasty) -> list[bytes]:
    """The lines of a log, each chained to the one before it, whatever it holds."""
    lines, prev = [], None
    for seq, event in enumerate(events, 1):
        line, prev = event.line(seq, prev) if isinstance(event, Nasty) else event(seq, prev)
        lines.append(line)
    return lines
