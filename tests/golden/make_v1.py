"""Write the logs in `v1` anew: `python tests/golden/make_v1.py FOLDER`.

They were made once, when format 1 was new, and stay as they are: every later version has to read them. Salts and ids
come from a counter and times from a clock that ticks, so that this script gives the same bytes as long as the code
writes format 1.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock

from zaxy.eventloom.admission import checked_entry
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.record import Entry


def counted_randomness() -> Callable[[int], bytes]:
    """Bytes that depend only on how many of the same length were asked for before: salts are 16, batch ids 8, ids 4."""
    asked: Counter[int] = Counter()

    def urandom(size: int) -> bytes:
        asked[size] += 1
        return sha256(f"{size} bytes, number {asked[size]}".encode()).digest()[:size]

    return urandom


def ticking() -> Callable[[], str]:
    seconds = count()
    return lambda: f"2026-06-15T00:{(now := next(seconds)) // 60:02d}:{now % 60:02d}.{now * 4649 % 1000000:06d}Z"


def note(payload: dict[str, Any], type_: str = "note.taken", actor: str = "assistant", **fields: Any) -> Entry:
    return checked_entry(type_, actor, payload, **fields)


def make_kinds(loom: Eventloom) -> None:
    """Every kind of payload and every optional field, one event each."""
    session = "kinds"
    first = loom.append(session, [note({"text": "plain"})])[0]
    cause = f"eventloom://{session}/events/1#{first.hash}"
    for entry in (
        note({}),
        note({"text": "naïve 日本語 Ελληνικά עברית 🙂 👩‍👩‍👧", "ключ": "значение"}, actor="Zoë"),
        note(
            {"half": 0.5, "tiny": 5e-324, "huge": 1.7976931348623157e308, "third": 1 / 3, "minus": -0.1, "zero": -0.0}
        ),
        note({"round": 1e16, "rounder": 1e20, "exponent": 1e21, "small": 1e-6, "smaller": 1e-7, "whole": 5.0}),
        note({"largest": 2**53 - 1, "least": -(2**53 - 1), "list": [0, 1, -1, 123456789012345]}),
        note({"nested": {"a": [1, {"b": [None, True, False, {"c": {"d": [[[]], {}]}}]}]}}),
        note({"escapes": '" \\ / \b \f \n \r \t \x00 \x1f \x7f \u2028 \u2029 \ufeff \uffff \U0010ffff'}),
        note({"\ufb33": "by UTF-16 units", "\U0001f600": "comes first", "\u20ac": 1, "é": 2, "a": 3, "A": 4, "": 5}),
        note({"payload": {"x": 1}, "payload_digest": "", "salt": "", "hash": "", "id": "evt_", "thread": "other"}),
        note({"text": ',"payload":{"fake":1},"payload_digest":"'}, actor='a "quoted" \\ actor'),
        note({"decision": "ship it"}, type_="decision.made", sensitivity="confidential"),
        note({"text": "lifted", "sensitivity": "restricted"}),
        note({"text": "caused"}, caused_by=cause),
        note({"text": "[redacted:github-token] is gone"}, redacted=[{"kind": "github-token", "pointer": "/text"}]),
        note({"text": "keyed"}, idempotency_key="key 1"),
        note(
            {"text": "all of them"}, "fact.recorded", "user", sensitivity="public", caused_by=cause, idempotency_key="κ"
        ),
        note({"long": "lorem ipsum dolor sit amet " * 200}),
    ):
        loom.append(session, [entry])


def make_batches(loom: Eventloom) -> None:
    session = "batches"
    loom.append(session, [note({"n": 1})])
    loom.append(session, [note({"n": 2}), note({"n": 3})])
    loom.append(session, [note({"n": n}, idempotency_key=f"key {n}") for n in range(4, 9)])
    loom.append(session, [note({"n": 9})])
    loom.append(session, [note({"n": 10, "half": 0.5}), note({"n": 11, "é": "é"}), note({"n": 12})])


def make_erased(loom: Eventloom) -> None:
    """One event by itself, one within a batch and one with a key are erased."""
    session = "erased"
    loom.append(session, [note({"text": "stays"})])
    loom.append(session, [note({"text": "goes"})])
    loom.append(session, [note({"text": "stays"}), note({"text": "goes"}), note({"text": "stays"})])
    loom.append(session, [note({"text": "goes"}, idempotency_key="a key outlives its payload")])
    loom.erase(session, 2, "user", "it was asked for")
    loom.erase(session, 4, "user", "it was asked for")
    loom.append(session, [note({"text": "stays"})])
    loom.erase(session, 6, "user", "it was asked for", closings=[{"entity": "goes", "valid_to": "2026-06-15"}])


def make_refs(loom: Eventloom) -> None:
    session = "refs"
    first = loom.append(session, [note({"text": "first"})])[0]
    second = loom.append(session, [note({"text": "second"})])[0]
    loom.set_ref("refs/heads/main", first)
    loom.set_ref("refs/heads/main", second)
    loom.set_ref("refs/tags/v1.0", first)
    loom.set_ref("HEAD", second)


def make(folder: Path) -> None:
    with mock.patch.object(os, "urandom", counted_randomness()):
        loom = Eventloom(str(folder), clock=ticking())
        for make_session in (make_kinds, make_batches, make_erased, make_refs):
            make_session(loom)
        loom.close()


if __name__ == "__main__":
    make(Path(sys.argv[1]))
