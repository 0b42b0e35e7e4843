"""Logs to be damaged: many kinds of payload, batches, refs, an erasure; the same bytes for the same seed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from zaxy.errors import ZaxyError
from zaxy.eventloom.admission import checked_entry
from zaxy.eventloom.disk import Disk
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.record import Entry

SESSION = "work"
PAYLOADS: list[dict[str, Any]] = [
    {"text": "plain"},
    {},
    {"text": "naïve 日本語 Ελληνικά עברית 🙂👩‍👩‍👧", "ключ": "значение"},
    {"half": 1.5, "tiny": 5e-324, "huge": 1.7976931348623157e308, "round": 1e16, "third": 1 / 3, "minus": -0.1},
    {"largest": 2**53 - 1, "least": -(2**53 - 1), "zero": 0, "list": [1, 22, 333, 4444]},
    {"nested": {"a": [1, {"b": [None, True, False, {"c": {"d": [[[]]]}}]}]}, "empty": {}, "none": None},
    {"escapes": 'quote " back \\ slash / tab \t newline \n return \r nul \x00 delete \x7f', "lines": "\u2028\u2029"},
    {"\ufb33": "order by UTF-16", "\U0001f600": "comes first", "\u20ac": 1, "é": 2, "z": 3},
    {"payload": {"x": 1}, "payload_digest": "no", "salt": "no", "hash": "no", "id": "evt_no", "thread": "other"},
    {"text": ',"payload":{"fake":1},"payload_digest":"', "long": "lorem ipsum " * 40},
]


class QuickDisk(Disk):
    """The real disk without the waiting: these tests are about bytes, not about a loss of power."""

    def sync(self, fd: int) -> None: ...

    def sync_folder(self, path: str) -> None: ...


@contextmanager
def fixed_randomness(seed: int) -> Iterator[None]:
    """Salts, event ids and batch ids come out the same every time."""
    with mock.patch.object(os, "urandom", Random(seed).randbytes):
        yield


def ticking() -> Any:
    """A clock that is a second later each time it is asked."""
    seconds = count()

    def clock() -> str:
        now = next(seconds)
        return f"2026-01-01T{now // 3600:02d}:{now // 60 % 60:02d}:{now % 60:02d}.000000Z"

    return clock


def opened(folder: Path) -> Eventloom:
    return Eventloom(str(folder), disk=QuickDisk(), clock=ticking())


def note(payload: dict[str, Any] | str = "hello", **fields: Any) -> Entry:
    return checked_entry("note.taken", "tester", {"text": payload} if isinstance(payload, str) else payload, **fields)


def small_log(folder: Path, batch: int, session: str = SESSION, seed: int = 1) -> list[bytes]:
    """Four events, the last two of them a batch, then one more write of `batch` events; the lines."""
    loom = opened(folder)
    with fixed_randomness(seed):
        loom.append(session, [note("the first")])
        loom.append(session, [note(PAYLOADS[2])])
        loom.append(session, [note("both"), note("or neither")])
        loom.append(session, [note(f"last {number} é") for number in range(batch)])
    loom.close()
    return lines_of(folder, session)


def varied_log(folder: Path, seed: int = 1) -> list[bytes]:
    """About sixty events of every kind there is, one of them erased; the lines."""
    loom = opened(folder)
    with fixed_randomness(seed):
        for number in range(42):
            fields: dict[str, Any] = {"sensitivity": ("public", "internal", "confidential")[number % 3]}
            if number % 5 == 1:
                fields["idempotency_key"] = f"key-{number}"
            if number % 7 == 2:
                fields["caused_by"] = f"eventloom://work/events/{number}#0123456789ab"
            if number % 11 == 3:
                fields["redacted"] = [{"kind": "github-token", "pointer": "/text"}]
            loom.append(SESSION, [note(f"note {number} 🙂", **fields)])
        loom.append(SESSION, [note(payload) for payload in PAYLOADS])
        loom.set_ref("refs/heads/main", loom.append(SESSION, [note("a place worth naming")])[0])
        loom.erase(SESSION, 12, "tester", "it was asked for")
        loom.append(SESSION, [note("after the erasure"), note(PAYLOADS[2]), note(PAYLOADS[3])])
        loom.append(SESSION, [note("the end")])
    loom.close()
    return lines_of(folder)


def log_file(folder: Path, session: str = SESSION) -> Path:
    return folder / f"{session}.jsonl"


def lines_of(folder: Path, session: str = SESSION) -> list[bytes]:
    """Each line with its line end."""
    return [line + b"\n" for line in log_file(folder, session).read_bytes().split(b"\n")[:-1]]


def planted(folder: Path, data: bytes, session: str = SESSION) -> Eventloom:
    """A folder that holds nothing but this log."""
    if folder.is_dir():
        for left in (path for path in folder.iterdir() if path.name != f"{session}.lock"):
            left.unlink()
    folder.mkdir(mode=0o700, exist_ok=True)
    log_file(folder, session).write_bytes(data)
    log_file(folder, session).chmod(0o600)
    return opened(folder)


def readable(loom: Eventloom, session: str = SESSION, from_seq: int = 1) -> list[bytes]:
    """The lines that can be read before an error, if there is one, stops the reading."""
    found = []
    try:
        for line in loom.read(session, from_seq):
            found.append(line.data + b"\n")
    except ZaxyError as error:
        assert error.code == "unavailable"
        assert error.remediation
    return found
