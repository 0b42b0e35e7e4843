"""The test vectors of the log's format hold for our code and for a second verifier that was written from the page."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import second_verifier as second
from faults.nasty_records import good, log_of, nasty_records
from faults.sample_logs import SESSION
from zaxy.eventloom.admission import checked_entry
from zaxy.eventloom.bulk import parse_quickly
from zaxy.eventloom.canonical import NotCanonical, decode, encode
from zaxy.eventloom.citation import parse_citation
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.record import KNOWN, UNHASHED, Damaged, NewerFormat, check_record, parse_line, payload_digest

VECTORS = json.loads((Path(__file__).parents[1] / "contracts" / "vectors" / "eventloom-v1.json").read_bytes())
REASONS = {
    "not_canonical": (
        "its line has more than",
        "it is not JSON",
        "it is not a JSON object",
        "it is not canonical JSON",
        "its bytes are not",
    ),
    "newer_format": ("it has format ",),
    "wrong_fields": (
        *("it lacks ", "it has an unknown field ", "it has a payload or a salt ", "its payload is not an object"),
        *("its format is not", "its batch marker is", "its list of redactions is malformed"),
        *(f"its {name} is not " for name in ("seq", "prev", "hash", "payload_digest")),
        *(f"its {name} is not a text" for name in sorted(KNOWN)),
    ),
    "digest_mismatch": ("its payload does not match its digest",),
    "hash_mismatch": ("its hash does not match its content",),
    "wrong_seq": ("it has the number ",),
    "broken_chain": ("it does not continue ",),
    "wrong_session": ("it belongs to the session ",),
    "wrong_batch": ("the batch before it is not complete", "it is number "),
    "missing_payload": ("its payload is missing, and no erasure",),
    "malformed": (
        *("its type is not dotted", "its actor is blank", "its time is not a moment", "its sensitivity is none of"),
        *("its id is not evt_", "its payload is not what", "its caused_by is blank", "its idempotency_key is blank"),
        "its list of redactions is empty",
    ),
    "replaced_history": ("it is not the event that the citation names",),
    "cut_back": ("the log was cut back",),
}
"""How our messages begin, by the reasons that the vectors name."""


def of(kind: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("vector", [pytest.param(v, id=v["name"]) for v in VECTORS[kind]])


def content(vector: dict[str, Any], key: str) -> bytes:
    return bytes.fromhex(vector[f"{key}_hex"]) if f"{key}_hex" in vector else vector[key].encode()


def reason_of(message: str) -> str:
    found = [reason for reason, beginnings in REASONS.items() if message.startswith(beginnings)]
    assert len(found) == 1, f"{message!r} is of the reasons {found}"
    return found[0]


def our_reason(read: Any, line: bytes) -> str | None:
    try:
        read(line)
    except (Damaged, NewerFormat) as error:
        return reason_of(str(error))
    return None


def second_reason(line: bytes) -> str | None:
    try:
        second.read_line(line)
    except second.Wrong as wrong:
        return str(wrong)
    return None


def our_report(folder: Path, session: str, since: str | None = None) -> dict[str, Any]:
    report = Eventloom(str(folder)).verify(session, since=parse_citation(since) if since else None)
    damage = report.damage and {**report.damage._asdict(), "reason": reason_of(report.damage.reason)}
    counts = {"events": report.events, "head": report.head, "erased": report.erased, "torn": report.torn}
    return {**counts, "damage": damage}


@of("canonical")
def test_a_value_has_the_canonical_form_that_the_vector_gives(vector: dict[str, Any]) -> None:
    if vector["canonical"] is None:
        with pytest.raises(NotCanonical):
            encode(decode(vector["json"].encode()))
        with pytest.raises(ValueError):
            second.canonical(second.parse(vector["json"]))
        return
    assert encode(decode(vector["json"].encode())) == vector["canonical"].encode()
    assert second.canonical(second.parse(vector["json"])) == vector["canonical"].encode()
    assert hashlib.sha256(vector["canonical"].encode()).hexdigest() == vector["sha256"]


@of("digests")
def test_a_payload_has_the_digest_that_the_vector_gives(vector: dict[str, Any]) -> None:
    salt, payload = vector["salt"], vector["payload"]
    assert payload_digest(bytes.fromhex(salt), encode(payload)) == vector["payload_digest"]
    assert second.payload_digest(salt, payload) == vector["payload_digest"]


@of("hashes")
def test_a_record_has_the_hash_that_the_vector_gives(vector: dict[str, Any]) -> None:
    record = vector["record"]
    check_record({**record, "hash": vector["hash"]})
    with pytest.raises(Damaged, match="hash does not match"):
        check_record({**record, "hash": "0" * 64})
    assert second.record_hash(record) == vector["hash"]
    assert second.record_hash({key: value for key, value in record.items() if key not in UNHASHED}) == vector["hash"]


@of("lines")
@pytest.mark.parametrize("read", [parse_line, parse_quickly])
def test_a_line_is_right_or_wrong_for_the_reason_that_the_vector_gives(vector: dict[str, Any], read: Any) -> None:
    assert our_reason(read, content(vector, "line")) == vector["reason"]


@of("lines")
def test_the_second_verifier_agrees_on_the_line(vector: dict[str, Any]) -> None:
    assert second_reason(content(vector, "line")) == vector["reason"]


@of("logs")
def test_a_log_is_verified_as_the_vector_says(vector: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / f"{vector['session']}.jsonl").write_bytes(content(vector, "file"))
    assert our_report(tmp_path, vector["session"], vector.get("since")) == vector["verify"]


@of("logs")
def test_the_second_verifier_agrees_on_the_log(vector: dict[str, Any]) -> None:
    assert second.verify(content(vector, "file"), vector["session"], vector.get("since")) == vector["verify"]


def test_every_reason_has_a_vector() -> None:
    lines = {vector["reason"] for vector in VECTORS["lines"]}
    logs = {vector["verify"]["damage"]["reason"] for vector in VECTORS["logs"] if vector["verify"]["damage"]}
    assert lines | logs == {None, *REASONS}


def test_the_second_verifier_imports_nothing_of_zaxy() -> None:
    assert "import zaxy" not in (source := Path(second.__file__).read_text(encoding="utf-8"))
    assert "from zaxy" not in source


def write_a_log(folder: Path) -> Eventloom:
    """One event of each kind that the log knows, through the real application object."""
    loom = Eventloom(str(folder))

    def append(*payloads: dict[str, Any], **fields: Any) -> Any:
        return loom.append("real", [checked_entry("note.taken", "Zoë 😀", payload, **fields) for payload in payloads])

    append({"text": "first", "\ufb33": 1, "😀": 2, "floats": [0.1, 1e21, 1e16, 5e-324, -0.0]})
    append({"n": 1}, {"n": 2}, {"n": 3}, sensitivity="restricted")
    append({"text": "secret"}, caused_by="eventloom://real/events/1#000000000000", idempotency_key="a key")
    append({"text": "x"}, redacted=[{"kind": "password", "pointer": "/text"}])
    loom.set_ref("refs/heads/main", loom.last_event("real"))
    loom.erase("real", 5, "user", "asked for")
    append({})
    return loom


def test_the_second_verifier_accepts_a_log_that_was_just_written_and_agrees_with_ours(tmp_path: Path) -> None:
    loom = write_a_log(tmp_path)
    data = (tmp_path / "real.jsonl").read_bytes()
    expected = {"events": 9, "head": loom.end("real").hash, "erased": 1, "torn": 0, "damage": None}
    assert our_report(tmp_path, "real") == second.verify(data, "real") == expected


def test_both_verifiers_agree_on_a_real_log_wherever_it_is_cut_or_changed(tmp_path: Path) -> None:
    write_a_log(tmp_path).close()
    file = tmp_path / "real.jsonl"
    data = file.read_bytes()
    for offset in range(0, len(data), 41):
        for changed in (data[:offset], data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :]):
            file.write_bytes(changed)
            assert our_report(tmp_path, "real") == second.verify(changed, "real"), f"at byte {offset}"


def test_both_verifiers_agree_on_well_hashed_records_that_break_the_format(tmp_path: Path) -> None:
    differing = {}
    for nasty in nasty_records():
        data = b"".join(log_of(good("before"), good("it"), nasty, good("behind")))
        (tmp_path / f"{SESSION}.jsonl").write_bytes(data)
        ours, others = our_report(tmp_path, SESSION), second.verify(data, SESSION)
        if ours != others:
            differing[nasty.name] = (ours, others)
    assert differing == {}
