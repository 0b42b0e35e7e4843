"""A log whose lines were exchanged, taken out, repeated, replaced, put back or forged: each edit is found and named."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from faults.sample_logs import (
    SESSION,
    fixed_randomness,
    lines_of,
    log_file,
    note,
    opened,
    planted,
    readable,
    small_log,
    varied_log,
)
from zaxy.errors import ZaxyError
from zaxy.eventloom.bulk import parse_quickly
from zaxy.eventloom.canonical import encode
from zaxy.eventloom.citation import Citation
from zaxy.eventloom.record import UNHASHED, Damaged, Line, make_line, parse_line, payload_digest

BATCHES = [1, 3]
"""A last write of one event, and one of three, whose end might be taken for a batch that was cut short."""


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Path]:
    """A new folder's path each time."""
    return (tmp_path / str(number) for number in itertools.count())


def citation(line: bytes) -> Citation:
    parsed = parse_line(line[:-1])
    return Citation(SESSION, parsed.seq, parsed.hash)


def first_wrong(lines: list[bytes]) -> int:
    """Which line does not continue the one before it, worked out without the code under test."""
    before = None
    for seq, line in enumerate(lines, 1):
        record = json.loads(line)
        if (record["seq"], record["prev"], record["thread"]) != (seq, before, SESSION):
            return seq
        before = record["hash"]
    raise AssertionError("nothing is wrong")


def assert_found(folder: Path, lines: list[bytes], what: str) -> None:
    """Verifying names the place, what stands before it can be read, and nobody writes; not a byte is cut."""
    seq = first_wrong(lines)
    loom = planted(folder, b"".join(lines))
    report = loom.verify(SESSION)
    assert report.damage is not None, f"{what} was not found"
    assert (report.damage.seq, report.events) == (seq, seq - 1), what
    assert readable(loom)[: seq - 1] == lines[: seq - 1], what
    with pytest.raises(ZaxyError) as caught:
        loom.append(SESSION, [note()])
    assert caught.value.code == "unavailable"
    assert log_file(folder).read_bytes() == b"".join(lines), f"{what}: something was cut"
    loom.close()


@pytest.mark.parametrize("batch", BATCHES)
def test_every_exchange_of_two_lines_is_found(folders: Iterator[Path], batch: int) -> None:
    lines = small_log(next(folders), batch)
    for one, two in itertools.combinations(range(len(lines)), 2):
        changed = list(lines)
        changed[one], changed[two] = changed[two], changed[one]
        assert_found(next(folders), changed, f"the exchange of {one + 1} and {two + 1}")


@pytest.mark.parametrize("batch", BATCHES)
def test_every_line_that_is_taken_out_is_found(folders: Iterator[Path], batch: int) -> None:
    lines = small_log(next(folders), batch)
    for gone in range(len(lines) - 1):
        assert_found(next(folders), lines[:gone] + lines[gone + 1 :], f"the loss of {gone + 1}")


@pytest.mark.parametrize("batch", BATCHES)
def test_every_line_that_is_repeated_is_found_wherever_it_stands(folders: Iterator[Path], batch: int) -> None:
    lines = small_log(next(folders), batch)
    for copied, place in itertools.product(range(len(lines)), range(len(lines) + 1)):
        changed = [*lines[:place], lines[copied], *lines[place:]]
        assert_found(next(folders), changed, f"a copy of {copied + 1} before {place + 1}")


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("session", [SESSION, "other"])
def test_every_line_of_another_log_is_found_wherever_it_stands(
    folders: Iterator[Path], session: str, batch: int
) -> None:
    lines = small_log(next(folders), batch)
    others = small_log(next(folders), 3, session=session, seed=2)
    for copied, place in itertools.product(range(len(others)), range(len(lines) + 1)):
        changed = [*lines[:place], others[copied], *lines[place:]]
        assert_found(next(folders), changed, f"line {copied + 1} of another log of {session} before {place + 1}")


@pytest.mark.parametrize("session", [SESSION, "other"])
def test_a_line_in_place_of_another_is_found(folders: Iterator[Path], session: str) -> None:
    lines = small_log(next(folders), 3)
    others = small_log(next(folders), 3, session=session, seed=2)
    for place in range(1, len(lines)):
        changed = [*lines[:place], others[place], *lines[place + 1 :]]
        assert_found(next(folders), changed, f"line {place + 1} of another log of {session} in place of our own")


@pytest.mark.parametrize("session", [SESSION, "other"])
def test_a_line_in_place_of_another_is_never_read_as_part_of_the_log(folders: Iterator[Path], session: str) -> None:
    lines = small_log(next(folders), 3)
    others = small_log(next(folders), 3, session=session, seed=2)
    for place in range(1, len(lines)):
        loom = planted(next(folders), b"".join([*lines[:place], others[place], *lines[place + 1 :]]))
        assert readable(loom) == lines[:place], f"line {place + 1} of another log of {session} was read"
        loom.close()


@pytest.mark.parametrize("kept", [1, 2, 4, 5])
def test_an_older_copy_of_the_log_is_found_by_a_head_that_was_remembered(folders: Iterator[Path], kept: int) -> None:
    lines = small_log(next(folders), 3)
    head = citation(small_log(next(folders), 3)[-1])
    before_the_batch = min(kept, 4)
    loom = planted(next(folders), b"".join(lines[:kept]))
    assert loom.verify(SESSION).ok, "what is left is a log by itself"
    for remembered in (head, head._replace(hash=head.hash[:12])):
        report = loom.verify(SESSION, since=remembered)
        assert report.damage is not None
        assert (report.damage.seq, report.events) == (before_the_batch + 1, before_the_batch)


def test_an_older_copy_with_the_payload_of_an_erased_event_is_found_by_a_head_that_was_remembered(
    folders: Iterator[Path],
) -> None:
    folder = next(folders)
    copy = b"".join(small_log(folder, 1))
    loom = opened(folder)
    recorded = loom.erase(SESSION, 2, "tester", "it was asked for")
    assert loom.verify(SESSION, since=Citation(SESSION, recorded.seq, recorded.hash)).ok
    loom.close()
    log_file(folder).write_bytes(copy)
    loom = opened(folder)
    assert loom.verify(SESSION).ok
    assert not loom.verify(SESSION, since=Citation(SESSION, recorded.seq, recorded.hash)).ok


@pytest.mark.parametrize("kept", [1, 2, 4])
@pytest.mark.parametrize("more", [0, 1, 30], ids=["as-long-as-before", "one-more", "much-longer"])
@pytest.mark.parametrize("at_once", [True, False], ids=["a-batch", "one-by-one"])
def test_a_log_that_was_cut_back_and_has_grown_again_is_found(
    folders: Iterator[Path], kept: int, more: int, at_once: bool
) -> None:
    lines = small_log(next(folders), 2)
    loom = planted(next(folders), b"".join(lines[:kept]))
    grown = [note(f"another history {number}") for number in range(len(lines) - kept + more)]
    for entries in [grown] if at_once else [[entry] for entry in grown]:
        loom.append(SESSION, entries)
    assert loom.verify(SESSION).ok
    for lost in lines[kept:]:
        report = loom.verify(SESSION, since=citation(lost))
        assert report.damage is not None
        assert kept < report.damage.seq <= citation(lost).seq


def test_a_head_that_is_still_there_is_no_damage(folders: Iterator[Path]) -> None:
    lines = varied_log(next(folders))
    loom = planted(next(folders), b"".join(lines))
    for line in lines:
        assert loom.verify(SESSION, since=citation(line)).ok
    loom.append(SESSION, [note()])


def test_a_payload_that_is_missing_without_an_erasure_on_record_is_found(folders: Iterator[Path]) -> None:
    lines = small_log(next(folders), 3)
    for place in range(len(lines)):
        record = {key: value for key, value in json.loads(lines[place]).items() if key not in ("payload", "salt")}
        loom = planted(next(folders), b"".join([*lines[:place], encode(record) + b"\n", *lines[place + 1 :]]))
        report = loom.verify(SESSION)
        assert report.damage is not None
        assert report.damage.seq == place + 1
        with pytest.raises(ZaxyError):
            loom.append(SESSION, [note()])


def sealed(changes: dict[str, Any], gone: tuple[str, ...] = ()) -> bytes:
    """A line whose digest and hash are right for what it says, whatever that is."""
    with fixed_randomness(1):
        line = make_line(note(), SESSION, seq=1, prev=None, time="2026-01-01T00:00:00.000000Z")
    record = {**line.record, **changes}
    if "payload" in changes:
        record["payload_digest"] = payload_digest(bytes.fromhex(record["salt"]), json_bytes(record["payload"]))
    record = {key: value for key, value in record.items() if key not in gone}
    if "hash" in record:
        rest = {key: value for key, value in record.items() if key not in UNHASHED}
        record["hash"] = changes.get("hash", sha256(json_bytes(rest)).hexdigest())
    return json_bytes(record)


def json_bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def nested(levels: int, leaf: object) -> dict[str, Any]:
    payload: dict[str, Any] = {"leaf": leaf}
    for _ in range(levels - 1):
        payload = {"deeper": payload}
    return payload


BATCH = {"id": "00" * 8, "index": 0, "count": 2}
REQUIRED = ("v", "seq", "id", "type", "actor", "thread", "time", "sensitivity", "payload_digest", "prev", "hash")
FORGED = {
    **{f"without {name}": sealed({}, (name,)) for name in REQUIRED},
    "with a field of no meaning": sealed({"zzz": 1}),
    **{f"with v {value!r}": sealed({"v": value}) for value in (0, -1, True, "1", None, [1])},
    **{f"with seq {value!r}": sealed({"seq": value}) for value in (0, -1, True, "1", None, [1], {})},
    **{
        f"with {name} {value!r}": sealed({name: value})
        for name in ("id", "type", "actor", "thread", "time", "sensitivity")
        for value in (1, None, [], {}, True)
    },
    **{f"with prev {value!r}": sealed({"prev": value}) for value in (1, True, [], {}, "", "no hash")},
    **{
        f"with batch {value!r}": sealed({"batch": value})
        for value in (
            *(None, [], "all", 1, {}),
            *({**BATCH, "index": 2}, {**BATCH, "index": -1}, {**BATCH, "index": True}, {**BATCH, "count": "2"}),
            *({**BATCH, "id": 1}, {**BATCH, "more": 1}, {"id": "00", "index": 0}),
        )
    },
    **{f"with a payload that is {value!r}": sealed({"payload": value}) for value in ([], "text", 1, None, True)},
    "with a payload without a salt": sealed({}, ("salt",)),
    "with a salt without a payload": sealed({}, ("payload",)),
    "with a salt in capitals": sealed({"salt": "5A" * 16, "payload": {}}),
    "with a short salt": sealed({"salt": "5a" * 15, "payload": {}}),
    "with a salt that has spaces": sealed({"salt": "5a " * 10 + "5a", "payload": {}}),
    "with a hash in capitals": sealed({"hash": "AB" * 32}),
    "with a payload that is too deep": sealed({"payload": nested(65, "x")}),
    "with a payload that is far too deep": sealed({"payload": nested(200, "x")}),
    "with caused_by 1": sealed({"caused_by": 1}),
    "with an idempotency key 1": sealed({"idempotency_key": 1}),
    "with redacted 1": sealed({"redacted": 1}),
}


def outcome(parse: Callable[[bytes], Line], data: bytes) -> object:
    """The record, or in which way it was refused; any other error counts as an outcome that is not right."""
    try:
        return parse(data).record
    except Exception as error:
        return type(error)


def test_the_forger_of_these_tests_makes_lines_that_are_right_where_nothing_is_wrong() -> None:
    assert outcome(parse_line, sealed({})) == outcome(parse_quickly, sealed({})) == json.loads(sealed({}))


def test_a_line_with_the_right_hash_but_another_shape_is_refused_however_it_is_read() -> None:
    outcomes = {name: (outcome(parse_line, line), outcome(parse_quickly, line)) for name, line in FORGED.items()}
    assert {name: both for name, both in outcomes.items() if both != (Damaged, Damaged)} == {}


def test_a_forged_line_is_reported_and_nothing_breaks(folders: Iterator[Path]) -> None:
    following = b"".join(small_log(next(folders), 1)[1:])
    unnoticed = {}
    for (name, line), rest in itertools.product(FORGED.items(), (b"", following)):
        loom = planted(next(folders), line + b"\n" + rest)
        report = loom.verify(SESSION)
        if report.damage is None or report.damage.seq != 1 or readable(loom):
            unnoticed[name] = report
        for key in ("", "a key"):
            with pytest.raises(ZaxyError):
                loom.append(SESSION, [note(idempotency_key=key)])
        loom.close()
    assert unnoticed == {}


def test_one_entry_given_twice_is_two_events(folders: Iterator[Path]) -> None:
    loom = opened(folder := next(folders))
    entry = note("the same")
    assert [line.seq for line in loom.append(SESSION, [entry, entry])] == [1, 2]
    assert len(lines_of(folder)) == 2
    assert loom.verify(SESSION).ok


def test_one_entry_with_a_key_given_twice_is_one_event(folders: Iterator[Path]) -> None:
    loom = opened(folder := next(folders))
    entry = note("the same", idempotency_key="a key")
    assert [line.seq for line in loom.append(SESSION, [entry, note("between"), entry])] == [1, 2, 1]
    assert len(lines_of(folder)) == 2
    assert loom.verify(SESSION).ok


def test_an_entry_that_was_part_of_a_batch_can_be_appended_again_alone(folders: Iterator[Path]) -> None:
    """A marker left over from the batch would make the next opener cut an event that was acknowledged."""
    loom = opened(folder := next(folders))
    first, second = note("one"), note("two")
    loom.append(SESSION, [first, second])
    loom.append(SESSION, [second])
    loom.append(SESSION, [first])
    loom.close()
    report = opened(folder).verify(SESSION)
    assert (report.ok, report.events, report.torn) == (True, 4, 0)


@pytest.mark.parametrize("leaf", [1, 0.5], ids=["read-quickly", "read-exactly"])
def test_the_deepest_payload_that_is_taken_can_be_read(folders: Iterator[Path], leaf: object) -> None:
    folder = next(folders)
    payload = nested(64, leaf)
    opened(folder).append(SESSION, [note(payload)])
    assert opened(folder).verify(SESSION).ok
    assert opened(folder).end(SESSION).seq == 1
    assert [line.record["payload"] for line in opened(folder).read(SESSION)] == [payload]
