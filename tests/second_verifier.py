"""A second verifier of Eventloom logs, written from docs/eventloom.md alone. It imports nothing of Zaxy."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime
from itertools import pairwise
from typing import Any

import rfc8785

ALWAYS = {"v", "seq", "id", "type", "actor", "thread", "time", "sensitivity", "payload_digest", "prev", "hash"}
OPTIONAL = {"payload", "salt", "caused_by", "idempotency_key", "redacted", "batch"}
STRINGS = ("id", "type", "actor", "thread", "time", "sensitivity", "caused_by", "idempotency_key")


class Wrong(Exception):
    """What is wrong, by the name that the test vectors give it."""


def parse(text: str | bytes) -> Any:
    return json.loads(text, parse_int=lambda digits: int(digits) if abs(int(digits)) < 2**53 else float(digits))


def canonical(value: Any, levels: int = 64) -> bytes:
    """RFC 8785, which the package does; that nesting is bounded is the log's own rule."""
    if depth(value) > levels:
        raise ValueError("nested too deep")
    return rfc8785.dumps(value)


def depth(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 0
    return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)


def payload_digest(salt: str, payload: Any) -> str:
    return hashlib.sha256(bytes.fromhex(salt) + canonical(payload)).hexdigest()


def record_hash(record: dict[str, Any]) -> str:
    hashed = {key: value for key, value in record.items() if key not in ("payload", "salt", "hash")}
    return hashlib.sha256(canonical(hashed)).hexdigest()


def read_line(line: bytes) -> dict[str, Any]:
    """Steps 1 to 6: a line by itself."""
    try:
        record = parse(line)
        if isinstance(record, dict) and type(record.get("v")) is int and record["v"] > 1:
            raise Wrong("newer_format")
        if not isinstance(record, dict) or canonical(record, 65) != line:
            raise Wrong("not_canonical")
    except (ValueError, RecursionError):
        raise Wrong("not_canonical") from None
    if not right_fields(record):
        raise Wrong("wrong_fields")
    if "payload" in record and payload_digest(record["salt"], record["payload"]) != record["payload_digest"]:
        raise Wrong("digest_mismatch")
    if record_hash(record) != record["hash"]:
        raise Wrong("hash_mismatch")
    return record


def right_fields(record: dict[str, Any]) -> bool:
    if (
        not record.keys() >= ALWAYS
        or not record.keys() <= ALWAYS | OPTIONAL
        or ("payload" in record) != ("salt" in record)
    ):
        return False
    batch, items = record.get("batch"), record.get("redacted", [])
    return (
        (type(record["v"]), record["v"]) == (int, 1)
        and (type(record["seq"]) is int and record["seq"] >= 1)
        and isinstance(record.get("payload", {}), dict)
        and is_hex(record.get("salt", "0" * 32), 32)
        and is_hex(record["payload_digest"], 64)
        and is_hex(record["hash"], 64)
        and (record["prev"] is None or is_hex(record["prev"], 64))
        and all(isinstance(record.get(key, ""), str) for key in STRINGS)
        and isinstance(items, list)
        and all(isinstance(item, dict) and item.keys() == {"kind", "pointer"} for item in items)
        and all(isinstance(text, str) for item in items for text in item.values())
        and ("batch" not in record or (isinstance(batch, dict) and batch.keys() == {"count", "id", "index"}))
        and (not batch or (isinstance(batch["id"], str) and type(batch["index"]) is type(batch["count"]) is int))
        and (not batch or 0 <= batch["index"] < batch["count"])
    )


TYPE = re.compile(r"(?=.{1,256}\Z)[a-z0-9_-]+(\.[a-z0-9_-]+)+")
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
PART = r"(?!/)[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9_-])?"
REF = re.compile(rf"HEAD|refs(/{PART}){{1,8}}")


def is_well_formed(record: dict[str, Any]) -> bool:
    names = [record[key] for key in ("actor", "caused_by", "idempotency_key") if key in record]
    said = record.get("payload")
    return (
        re.fullmatch(f"evt_{record['seq']}_[0-9a-f]{{8}}", record["id"]) is not None
        and TYPE.fullmatch(record["type"]) is not None
        and all(len(name) <= 256 and name.strip() for name in names)
        and record["sensitivity"] in ("public", "internal", "confidential", "restricted")
        and is_moment(record["time"])
        and record.get("redacted") != []
        and (said is None or record["type"] != "memory.ref.updated" or names_event(said, record["thread"]))
        and (said is None or record["type"] != "event.erased" or records_erasure(said))
    )


def is_moment(text: str) -> bool:
    try:
        return TIME.fullmatch(text) is not None and datetime.fromisoformat(text) is not None
    except ValueError:
        return False


def names_event(said: dict[str, Any], session: str) -> bool:
    name, seq = said.get("name"), said.get("target_seq")
    return (
        isinstance(name, str)
        and REF.fullmatch(name) is not None
        and said.get("session_id") == session
        and (type(seq) is int and seq >= 1)
        and is_hex(said.get("target_hash"), 64)
    )


def records_erasure(said: dict[str, Any]) -> bool:
    seq = said.get("seq")
    listed = isinstance(said.get("closings", []), list)
    return type(seq) is int and seq >= 1 and is_hex(said.get("hash"), 64) and listed


def is_hex(value: Any, length: int) -> bool:
    return isinstance(value, str) and len(value) == length and set(value) <= set("0123456789abcdef")


def find_end(lines: list[bytes]) -> int:
    """How many of the terminated lines stand before the end: an incomplete batch behind them is torn."""
    end = len(lines)
    while end:
        try:
            batch = read_line(lines[end - 1]).get("batch")
            if batch is None or batch["index"] == batch["count"] - 1:
                return end
            first = end - 1 - batch["index"]
            begun = [read_line(line) for line in lines[max(first, 0) : end]]
        except Wrong:
            return end
        right = [{**batch, "index": index} for index in range(len(begun))]
        chained = all(after["prev"] == before["hash"] for before, after in pairwise(begun))
        if first < 0 or not chained or [record.get("batch") for record in begun] != right:
            return end
        end = first
    return end


def verify(data: bytes, session: str, since: str | None = None) -> dict[str, Any]:
    """Steps 7 to 16: a whole log. `since` is a citation."""
    *lines, _ = data.split(b"\n")
    end = find_end(lines)
    size = sum(len(line) + 1 for line in lines[:end])
    sought, _, digits = since.rpartition("/")[2].partition("#") if since else ("0", "", "")
    last: dict[str, Any] = {"seq": 0, "hash": None}
    missing: dict[tuple[int, str], int] = {}
    named: set[tuple[int, str]] = set()
    malformed: list[tuple[int, int]] = []
    offset, damage = 0, None

    def found(reason: str, seq: int, at: int) -> dict[str, Any]:
        return {"seq": seq, "offset": at, "reason": reason}

    for line in lines[:end]:
        try:
            record = read_line(line)
            check_place(record, last, session)
        except Wrong as wrong:
            damage = found(str(wrong), last["seq"] + 1, offset)
            break
        last = record
        if not is_well_formed(record):
            malformed.append((record["seq"], offset))
        if "payload" not in record:
            missing[record["seq"], record["hash"]] = offset
        elif record["type"] == "event.erased":
            erased = (record["payload"].get("seq"), record["payload"].get("hash"))
            named |= {erased} if (type(erased[0]), type(erased[1])) == (int, str) else set()
        if record["seq"] == int(sought) and not record["hash"].startswith(digits):
            damage = found("replaced_history", record["seq"], offset)
            break
        offset += len(line) + 1
    unnamed = [(seq, at) for (seq, hash_), at in missing.items() if (seq, hash_) not in named]
    if not damage and unnamed:
        damage = found("missing_payload", *unnamed[0])
    if not damage and malformed:
        damage = found("malformed", *malformed[0])
    if not damage and last["seq"] < int(sought):
        damage = found("cut_back", last["seq"] + 1, size)
    counts = {"events": last["seq"], "head": last["hash"] or "", "erased": len(missing), "torn": len(data) - size}
    return {**counts, "damage": damage}


def check_place(record: dict[str, Any], last: dict[str, Any], session: str) -> None:
    """Steps 8 to 11: a line after the one before it."""
    if record["seq"] != last["seq"] + 1:
        raise Wrong("wrong_seq")
    if record["prev"] != last["hash"]:
        raise Wrong("broken_chain")
    if record["thread"] != session:
        raise Wrong("wrong_session")
    batch, before = record.get("batch"), last.get("batch")
    if before and before["index"] + 1 < before["count"]:
        if batch != {**before, "index": before["index"] + 1}:
            raise Wrong("wrong_batch")
    elif batch and batch["index"] != 0:
        raise Wrong("wrong_batch")
