"""A generated log with everything in it that is hard to export, and its entries made in the slow plain way."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import rfc8785

from folders import made_folder
from zaxy.api.models import Event
from zaxy.eventloom.admission import SENSITIVITIES, checked_entry
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.record import make_line
from zaxy.extract.rules import extract
from zaxy.memory import Memory
from zaxy.workspace import find_workspace
from zaxy_export.bundle import Signer, Written
from zaxy_export.selector import EVERYTHING, Selector

SESSION = "exported"
START = datetime(2026, 6, 1, tzinfo=UTC)
STEP = timedelta(minutes=47)
WORDS = "harbour lamp oil whale ledger printer scanner cat biscuit river bridge Zürich 東京 naïve 🐋 the of".split()
NUMBERS = (1e16, 0.5, -0.0, 1e-7, 1.0, 1e21, 5e-324, 1.7976931348623157e308, 123456789.125, -2.5, 2**53 - 1, -7, 0)
KEYS = ("é", "\ufb33", "𝒳", "🐋", "€", "a\u0007b", 'quo"te', "payload", "payload_digest", "back\\slash", "\u2028")
ERASED = (3, 41, 77)


def moment(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def write_log(folder: Path, entries: Iterable[Any], session: str = SESSION, step: timedelta = STEP) -> Path:
    """A session's log of entries from `admission`, one a step, without the cost of appending; its file."""
    place = folder / ".eventloom"
    find_workspace(str(made_folder(folder))).claim()
    path, prev = place / f"{session}.jsonl", None
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        for seq, entry in enumerate(entries, 1):
            line = make_line(entry, session, seq=seq, prev=prev, time=moment(START + step * seq))
            prev = line.hash
            file.write(line.data + b"\n")
    return path


def varied_log(folder: Path, events: int = 160, seed: int = 5) -> Path:
    """Unicode, floats, keys beyond the basic plane, deep payloads, back-dated and erased events, sensitivities."""
    random = Random(seed)
    path = write_log(folder, (_entry(random, seq) for seq in range(1, events + 1)))
    loom = Eventloom(str(path.parent))
    for seq in ERASED:
        loom.erase(SESSION, seq, "user", "asked to")
    loom.close()
    return path


def _entry(random: Random, seq: int) -> Any:
    text = " ".join(random.choices(WORDS, k=8))
    odd = {random.choice(KEYS): random.choice(NUMBERS), "numbers": random.sample(NUMBERS, 3)}
    if not seq % 13:
        odd["deep"] = deep(60)
    if not seq % 7:  # it happened before it was recorded, some of it with an offset
        odd["occurred_at"] = random.choice(
            ("2026-05-31", "2026-06-02T12:00:00+05:00", "2026-05-20T10:00:00.5Z", "soon")
        )
    type_, said = random.choice(
        (
            ("decision.made", {"decision": text, "key": f"key-{seq % 5}", "rationale": 'because "it" is\tso'}),
            ("goal.created", {"goal": text, "owner": "Ada"}),
            ("fact.recorded", {"fact": text, "subject": "lamp", "confidence": 0.25}),
            ("task.proposed", {"task": text, "assignee": "grace"}),
            ("transcript.turn", {"role": "user", "content": text, "source": "chat/1", "turn_index": seq}),
            ("command.completed", {"command": "make", "stdout": text, "exit_code": 0}),
            ("gadget.polished", {"anything": text, "tags": ["a", None, True]}),
        )
    )
    actor = random.choice(("ada", "Zoë", 'quo"te,"payload":', "東京"))
    return checked_entry(type_, actor, {**said, **odd}, sensitivity=random.choice(SENSITIVITIES))


def deep(levels: int) -> Any:
    value: Any = 0.5
    for level in range(levels):
        value = {"in": value} if level % 2 else [value]
    return value


# The reference


class Reference(NamedTuple):
    """An entry as a plain object, and what its event says that the entry does not."""

    entry: dict[str, Any]
    type: str
    sensitivity: str

    @property
    def data(self) -> bytes:
        return rfc8785.dumps(self.entry)


def reference(path: Path) -> list[Reference]:
    """All entries of a log's file, in their order."""
    found = []
    for text in path.read_text(encoding="utf-8").split("\n")[:-1]:
        record = json.loads(text, parse_int=_integer)
        found += [Reference(entry, record["type"], record["sensitivity"]) for entry in _entries(record)]
    return found


def _integer(digits: str) -> int | float:
    return int(digits) if abs(int(digits)) < 2**53 else float(digits)


def _entries(record: dict[str, Any]) -> list[dict[str, Any]]:
    fields = ("type", "actor", "time", "payload", "hash", "prev")
    thread, seq = record["thread"], record["seq"]
    event = Event(thread, seq, record["id"], *(record.get(name) for name in fields), record["sensitivity"])  # type: ignore[arg-type]
    content: dict[str, Any] = {"type": event.type, "actor": event.actor, "thread": thread, "payload": event.payload}
    if event.payload is None:
        content["erased"] = True
    if event.sensitivity != "internal":
        content["sensitivity"] = event.sensitivity
    shared = {
        "schema_version": "zaxy.export.v1",
        "citation": f"eventloom://{thread}/events/{seq}#{record['hash']}",
        "seq": seq,
    }
    made = [_entry_of(shared, "event", event.type, "eventloom", record["time"], None, content)]
    rows = extract(event)
    for entity in rows.entities:
        said = {"name": entity.name, "entity_type": entity.entity_type, "summary": entity.summary}
        content = {**said, "properties": json.loads(json.dumps(dict(entity.properties)))}
        since = entity.observed_at or record["time"]
        made.append(_entry_of(shared, "semantic", f"entity:{entity.entity_type}", "extraction", since, None, content))
    for edge in rows.edges:
        content = {
            "source": f"{edge.source.entity_type}:{edge.source.name}",
            "target": f"{edge.target.entity_type}:{edge.target.name}",
            "relation_type": edge.relation_type,
            "confidence": edge.confidence,
            "inferred": edge.inferred,
            "inference_method": edge.inference_method,
            "evidence": edge.evidence,
        }
        kind, since, until = f"edge:{edge.relation_type}", edge.valid_from or record["time"], edge.valid_to or None
        made.append(_entry_of(shared, "semantic", kind, "extraction", since, until, content))
    return made


def _entry_of(
    shared: dict[str, Any], grain: str, kind: str, source: str, since: str, until: str | None, content: dict[str, Any]
) -> dict[str, Any]:
    place = {"grain": grain, "kind": kind, "source": source, "valid_from": since, "valid_to": until}
    return {**shared, **place, "content": content}


def selected(entries: list[Reference], found: set[int] | None = None, **axes: Any) -> list[Reference]:
    """What a selector takes, decided entry by entry over everything; `found`: the events that fit its query."""

    def is_taken(one: Reference) -> bool:
        entry = one.entry
        when = datetime.fromisoformat(entry["valid_from"])
        return (
            entry["grain"] in axes.get("grains", ("event", "semantic"))
            and one.type in axes.get("kinds", (one.type,))
            and entry["seq"] > axes.get("since_seq", 0)
            and entry["seq"] <= axes.get("max_seq", entry["seq"])
            and when >= _time(axes.get("since_time", "0001-01-01"), timedelta(0))
            and when <= _time(axes.get("until_time", "9999-12-30"), timedelta(days=1, microseconds=-1))
            and one.sensitivity not in axes.get("exclude_sensitivities", ())
            and (found is None or entry["seq"] in found)
        )

    taken = [one for one in entries if is_taken(one)]
    latest = sorted({one.entry["seq"] for one in taken})[-axes.get("limit", len(entries)) :]
    return [one for one in taken if one.entry["seq"] in latest]


def _time(given: str, rest_of_day: timedelta) -> datetime:
    when = datetime.fromisoformat(given)
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return when + rest_of_day if len(given) == len("2026-06-15") else when


# The product


def bundle_bytes(
    memory: Memory,
    selector: Selector = EVERYTHING,
    session: str = SESSION,
    signer: Signer | None = None,
    disclosed: Selector | None = None,
) -> bytes:
    file = BytesIO()
    written = memory.export(file, selector, session=session, signer=signer, disclosed=disclosed)
    assert isinstance(written, Written)
    assert written.size == len(file.getvalue())
    return file.getvalue()


def entry_lines(bundle: bytes) -> list[bytes]:
    """The bytes of each entry of an unsigned envelope: there is one in a line."""
    assert bundle.endswith(b"\n]}\n")
    head, *lines = bundle[: -len(b"\n]}\n")].split(b"\n")
    assert head.endswith(b'"entries":[')
    return [line.removesuffix(b",") for line in lines]


def entries_of(memory: Memory, selector: Selector = EVERYTHING, session: str = SESSION) -> list[bytes]:
    return entry_lines(bundle_bytes(memory, selector, session))
