"""Logs of every format that ever was are read as they are; a log of a later format is left alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from faults.sample_logs import note, opened, planted, readable
from golden.make_v1 import make
from zaxy.errors import ZaxyError
from zaxy.eventloom.admission import checked_entry
from zaxy.eventloom.citation import Citation
from zaxy.eventloom.loom import Eventloom

GOLDEN = Path(__file__).parents[1] / "golden" / "v1"
HEADS = {
    "kinds": (18, "765d0b090b72766d1d4d5af1e8ed8f2d38ccc7204894cac6ed0064f2b185b182"),
    "batches": (12, "300ed51b2295e28f6d91b9e444a2191eb214e9d27600000f663868ed584eb329"),
    "erased": (10, "38e763bd2c8438145c0114af5447c9a73719ea92bc8bfa8ef4d5c3eb21141f79"),
    "refs": (6, "5e7c7f96f247681ac6b1d282c673ba2b686f056ff79240c6469cbdc2ccce046b"),
}
"""How many events each log has, and the hash of its last."""


def golden(session: str) -> bytes:
    return (GOLDEN / f"{session}.jsonl").read_bytes()


@pytest.fixture(params=HEADS)
def session(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_there_is_a_head_on_record_for_every_golden_log() -> None:
    assert {path.stem for path in GOLDEN.glob("*.jsonl")} == set(HEADS)


def test_a_golden_log_is_what_the_format_says_by_another_implementation(session: str) -> None:
    """Only the format's description and a reference implementation of RFC 8785 are used here."""
    before = None
    erased, on_record = set(), set()
    lines = golden(session).split(b"\n")
    assert lines.pop() == b""
    for seq, line in enumerate(lines, 1):
        record = json.loads(line, parse_int=lambda digits: n if abs(n := int(digits)) < 2**53 else float(digits))
        assert rfc8785.dumps(record) == line
        assert (record["seq"], record["prev"], record["thread"], record["v"]) == (seq, before, session, 1)
        hashed = {key: value for key, value in record.items() if key not in ("payload", "salt", "hash")}
        assert sha256(rfc8785.dumps(hashed)).hexdigest() == record["hash"]
        if "payload" in record:
            payload = bytes.fromhex(record["salt"]) + rfc8785.dumps(record["payload"])
            assert sha256(payload).hexdigest() == record["payload_digest"]
        else:
            erased.add((seq, record["hash"]))
        if record["type"] == "event.erased":
            on_record.add((record["payload"]["seq"], record["payload"]["hash"]))
        before = record["hash"]
    assert erased == on_record
    assert (len(lines), before) == HEADS[session]


def test_a_golden_log_is_proven_and_read(tmp_path: Path, session: str) -> None:
    loom = planted(tmp_path / ".eventloom", golden(session), session)
    events, head = HEADS[session]
    report = loom.verify(session, since=Citation(session, events, head))
    assert (report.ok, report.events, report.head, report.torn) == (True, events, head, 0)
    assert b"".join(readable(loom, session)) == golden(session)
    for seq in range(1, events + 1):
        line = loom.get(session, seq)
        assert line is not None
        assert loom.resolve(Citation(session, seq, line.hash[:12])) == line


def test_a_golden_log_goes_on(tmp_path: Path, session: str) -> None:
    loom = planted(folder := tmp_path / ".eventloom", golden(session), session)
    loom.append(session, [note("a new one")])
    loom.append(session, [note("and two"), note("at once")])
    assert (folder / f"{session}.jsonl").read_bytes().startswith(golden(session))
    assert loom.verify(session).events == HEADS[session][0] + 3
    assert loom.verify(session).ok


def test_what_a_golden_log_says_is_understood(tmp_path: Path) -> None:
    folder = tmp_path / ".eventloom"
    for name in HEADS:
        planted(folder, golden(name), name) if not folder.exists() else (folder / f"{name}.jsonl").write_bytes(
            golden(name)
        )
    loom = opened(folder)
    kinds = [line.record for line in loom.read("kinds")]
    assert kinds[3]["payload"]["tiny"] == 5e-324
    assert kinds[4]["payload"] == {
        "round": 1e16,
        "rounder": 1e20,
        "exponent": 1e21,
        "small": 1e-6,
        "smaller": 1e-7,
        "whole": 5,
    }
    assert kinds[12]["sensitivity"] == "restricted"
    assert kinds[14]["redacted"] == [{"kind": "github-token", "pointer": "/text"}]
    again = checked_entry("note.taken", "assistant", {"text": "keyed"}, idempotency_key="key 1")
    assert loom.append("kinds", [again])[0].seq == 16
    with pytest.raises(ZaxyError) as caught:
        loom.append("kinds", [note("other content", idempotency_key="key 1")])
    assert caught.value.code == "conflict"
    assert [line.record["batch"]["index"] for line in loom.read("batches") if "batch" in line.record] == [
        *(0, 1),
        *(0, 1, 2, 3, 4),
        *(0, 1, 2),
    ]
    assert [line.seq for line in loom.read("erased") if "payload" not in line.record] == [2, 4, 6]
    assert loom.verify("erased").erased == 3
    assert loom.resolve_ref("refs", "refs/heads/main").seq == 2
    assert loom.resolve_ref("refs", "refs/tags/v1.0").seq == 1
    assert loom.resolve_ref("refs", "HEAD").seq == 2


def test_the_code_still_writes_what_it_wrote(tmp_path: Path) -> None:
    make(tmp_path)
    assert {path.stem: path.read_bytes() for path in tmp_path.glob("*.jsonl")} == {name: golden(name) for name in HEADS}


def later_line(data: bytes, changes: dict[str, Any]) -> bytes:
    """The line that a later version might have written after those given."""
    last = json.loads(data.split(b"\n")[-2])
    record = {**last, "seq": last["seq"] + 1, "prev": last["hash"], "v": 2, **changes}
    hashed = {key: value for key, value in record.items() if key not in ("payload", "salt", "hash")}
    return rfc8785.dumps({**record, "hash": sha256(rfc8785.dumps(hashed)).hexdigest()}) + b"\n"


LATER: dict[str, dict[str, Any]] = {
    "the same fields": {},
    "a new field": {"signature": "00"},
    "another batch marker": {"batch": ["of", 2]},
    "version 10": {"v": 10},
    "another kind of payload": {"payload": "encrypted", "hash": 7},
}
USES: dict[str, Callable[[Eventloom], object]] = {
    "append": lambda loom: loom.append("kinds", [note()]),
    "append a batch": lambda loom: loom.append("kinds", [note(), note()]),
    "append with a key": lambda loom: loom.append("kinds", [note(idempotency_key="new")]),
    "append with a known key": lambda loom: loom.append("kinds", [note({"text": "keyed"}, idempotency_key="key 1")]),
    "read": lambda loom: list(loom.read("kinds")),
    "read the last": lambda loom: loom.get("kinds", 19),
    "end": lambda loom: loom.end("kinds"),
    "set a ref": lambda loom: loom.set_ref("refs/heads/main", next(loom.read("kinds"))),
    "refs": lambda loom: loom.refs("kinds"),
    "resolve": lambda loom: loom.resolve_ref("kinds", "HEAD"),
    "erase": lambda loom: loom.erase("kinds", 1, "tester", "it was asked for"),
    "repair": lambda loom: loom.repair("kinds"),
}


@pytest.mark.parametrize("torn", [b"", b'{"actor":"tes', b"\0" * 100], ids=["whole", "torn", "zeros"])
@pytest.mark.parametrize("later", LATER)
def test_a_log_of_a_later_format_is_refused_with_the_advice_to_upgrade_and_left_as_it_is(
    tmp_path: Path, later: str, torn: bytes
) -> None:
    data = golden("kinds") + later_line(golden("kinds"), LATER[later])
    folder = tmp_path / ".eventloom"
    for name, use in USES.items():
        loom = planted(folder, data + torn, "kinds") if not folder.exists() else opened(folder)
        try:
            said = str(use(loom))
        except ZaxyError as error:
            assert error.code == "unavailable"
            said = f"{error.message} {error.remediation}"
        assert "upgrade" in said.lower(), f"{name}: {said[:300]}"
        loom.close()
        assert (folder / "kinds.jsonl").read_bytes() == data + torn, name
        left = {path.name for path in folder.iterdir() if path.is_file()} - {"kinds.jsonl", "kinds.lock"}
        assert left == set(), f"{name} leaves a mark that would keep the later version from writing"


@pytest.mark.parametrize("later", LATER)
def test_verifying_a_log_of_a_later_format_says_to_upgrade_and_leaves_no_mark(tmp_path: Path, later: str) -> None:
    data = golden("kinds") + later_line(golden("kinds"), LATER[later])
    loom = planted(folder := tmp_path / ".eventloom", data, "kinds")
    report = loom.verify("kinds")
    assert report.damage is not None
    assert (report.damage.seq, report.events) == (19, 18)
    assert "upgrade" in report.damage.reason.lower()
    assert {path.name for path in folder.iterdir() if path.is_file()} == {"kinds.jsonl", "kinds.lock"}
    assert (folder / "kinds.jsonl").read_bytes() == data


def test_what_stands_before_a_line_of_a_later_format_is_readable(tmp_path: Path) -> None:
    data = golden("kinds") + later_line(golden("kinds"), {})
    loom = planted(tmp_path / ".eventloom", data, "kinds")
    assert b"".join(readable(loom, "kinds")) == golden("kinds")
    assert [line.seq for line in loom.read("kinds", 5, 18)] == list(range(5, 19))


def test_a_log_that_is_of_a_later_format_from_its_first_line_on_is_left_alone(tmp_path: Path) -> None:
    data = rfc8785.dumps({"v": 2, "thread": "kinds", "seq": 1, "anything": []}) + b"\n"
    for name in ("append", "append with a key", "read", "end", "refs", "erase", "repair"):
        loom = planted(folder := tmp_path / name, data, "kinds")
        try:
            said = str(USES[name](loom))
        except ZaxyError as error:
            said = f"{error.message} {error.remediation}"
        assert "upgrade" in said.lower(), f"{name}: {said[:300]}"
        assert (folder / "kinds.jsonl").read_bytes() == data
        assert not list(folder.glob("kinds.damaged"))
