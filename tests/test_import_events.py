"""Events of other programs, imported by any package: named by their origin, checked first, and none twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from zaxy import CannotImport, Forbidden, ForeignEvent, InvalidRequest, Memory, ZaxyError
from zaxy.access import access_to
from zaxy.extract.housekeeping import is_housekeeping
from zaxy.importing import BATCH_EVENTS, MAX_ORIGIN_CHARS
from zaxy.rights import READER, WRITER, Permission

SOURCE = {"program": "acme-chat", "version": "7"}
TIME = "2024-03-01T08:00:00.000000Z"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as memory:
        yield memory


def turn(number: int, **changed: object) -> ForeignEvent:
    payload = {"role": "user", "content": f"The lamp number {number} burns oil."}
    fields = {"origin": f"chat:17/turn:{number}", "time": TIME, "type": "transcript.turn", "actor": "ada"}
    return ForeignEvent(**{**fields, "payload": payload, **changed})  # type: ignore[arg-type]


def test_each_keeps_what_named_it_and_when_it_was_said(memory: Memory) -> None:
    done = memory.import_events([turn(1), turn(2)], "chats", source=SOURCE)
    assert (done.new, done.known, done.as_data) == (2, 0, 0)
    first = memory.get(1, "chats")
    assert first.payload == {
        **(turn(1).payload or {}),
        "occurred_at": TIME,
        "imported_from": {"source": "chat:17/turn:1", "time": TIME},
    }
    assert memory.query("What does the lamp number 2 burn?", "chats").results[0].valid_from == TIME


def test_none_comes_twice(memory: Memory) -> None:
    memory.import_events([turn(1)], "chats", source=SOURCE)
    done = memory.import_events([turn(1), turn(2)], "chats", source=SOURCE)
    assert (done.new, done.known) == (1, 1)
    nothing = memory.import_events([turn(2)], "chats", source=SOURCE)
    assert (nothing.new, nothing.known, nothing.citation) == (0, 1, "")


def test_the_import_is_recorded_under_what_its_source_says(memory: Memory) -> None:
    done = memory.import_events([turn(1)], "chats", source={**SOURCE, "events": 99})
    record = memory.resolve(done.citation)
    assert (record.type, record.actor, record.payload) == ("memory.imported", "zaxy", {**SOURCE, "events": 1})
    assert is_housekeeping(record)


def test_the_same_origin_with_other_words_is_a_conflict(memory: Memory) -> None:
    memory.import_events([turn(1)], "chats", source=SOURCE)
    with pytest.raises(ZaxyError) as refused:
        memory.import_events([turn(1, payload={"role": "user", "content": "It burns tar."})], "chats", source=SOURCE)
    assert refused.value.code == "conflict"


@pytest.mark.parametrize(
    ("type_", "actor"),
    [("event.erased", "ada"), ("memory.ref.updated", "zaxy"), ("memory.imported", "zaxy"), ("note.taken", "zaxy")],
)
def test_what_only_zaxy_writes_comes_as_plain_data(memory: Memory, type_: str, actor: str) -> None:
    payload = {"name": "refs/heads/main", "target_seq": 1, "target_hash": "0" * 64, "seq": 1, "hash": "0" * 64}
    done = memory.import_events([turn(1), turn(2, type=type_, actor=actor, payload=payload)], "chats", source=SOURCE)
    assert done.as_data == 1
    event = memory.get(2, "chats")
    assert event.type == f"imported.{type_}"
    assert event.actor != "zaxy"
    assert list(memory.refs("chats")) == ["refs/heads/main"]
    assert memory.resolve_ref("refs/heads/main", "chats").seq == memory.head("chats")
    assert memory.verify("chats").ok


@pytest.mark.parametrize(
    "wrong",
    [
        turn(3, type="No Type"),
        turn(3, actor=""),
        turn(3, payload=None),
        turn(3, sensitivity="cosmic"),
        turn(3, origin=""),
        turn(3, origin="x" * (MAX_ORIGIN_CHARS + 1)),
        turn(3, origin="eventloom://chats/events/0#nothing"),
        turn(3, origin="AKIAIOSFODNN7EXAMPLE"),
    ],
    ids=lambda wrong: f"{wrong.origin[:30]} {wrong.type} {wrong.sensitivity}",
)
def test_one_bad_event_imports_none(memory: Memory, wrong: ForeignEvent) -> None:
    """It stands behind more than are appended together."""
    events = [*(turn(number) for number in range(10, 11 + BATCH_EVENTS)), wrong]
    with pytest.raises(CannotImport, match="cannot be imported"):
        memory.import_events(events, "chats", source=SOURCE)
    assert memory.sessions() == []


def test_events_that_can_be_gone_through_only_once_are_refused(memory: Memory) -> None:
    with pytest.raises(InvalidRequest, match="only once"):
        memory.import_events((turn(number) for number in range(3)), "chats", source=SOURCE)


def test_secrets_are_taken_out_as_of_every_event(memory: Memory) -> None:
    secret = "sk-proj-" + "Ab3dEf6hIj" * 4
    memory.import_events([turn(1, payload={"role": "user", "content": f"key {secret}"})], "chats", source=SOURCE)
    assert secret not in str(memory.get(1, "chats").payload)


@pytest.mark.parametrize("role", [READER, WRITER])
def test_only_an_admin_imports_or_gets_a_sink(memory: Memory, role: str) -> None:
    access = access_to(memory, Permission(role))
    with pytest.raises(Forbidden, match="needs the role admin"):
        access.import_events([turn(1)], "chats", source=SOURCE)
    with pytest.raises(Forbidden, match="needs the role admin"):
        access.export_sink("file")


def test_nobody_imports_into_a_session_out_of_bounds(memory: Memory) -> None:
    access = access_to(memory, Permission(sessions=("work",), session="work"))
    with pytest.raises(Forbidden, match="private"):
        access.import_events([turn(1)], "private", source=SOURCE)
    assert access.import_events([turn(1)], source=SOURCE).new == 1
    assert memory.sessions() == ["work"]
