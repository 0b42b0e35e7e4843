"""Erasure removes a payload and its salt for good. The chain still verifies, and the erasure is on record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from zaxy.errors import Conflict, Forbidden
from zaxy.eventloom.grammar import ERASED as ERASED
from zaxy.eventloom.record import Line, erased_line

if TYPE_CHECKING:
    from zaxy.eventloom.reader import Reader


def without_payload(reader: Reader, offset: int, line: Line) -> Iterator[bytes]:
    """The bytes of the log without the payload of one line. Everything else is copied unchanged."""
    after = offset + len(line.data) + 1
    yield from reader.bytes_between(0, offset)
    yield erased_line(line).data + b"\n"
    yield from reader.bytes_between(after, reader.size)


def erasure_payload(seq: int, hash_: str, reason: str, closings: Sequence[object]) -> dict[str, object]:
    """What the record of an erasure says. `closings`: what the erased event had closed. It stays closed."""
    payload: dict[str, object] = {"seq": seq, "hash": hash_, "reason": reason}
    return {**payload, "closings": list(closings)} if closings else payload


def refuse_unerasable(line: Line) -> None:
    refuse_erasing(line.seq, line.record["type"], "payload" not in line.record)


def refuse_erasing(seq: int, type_: str, erased: bool) -> None:
    if type_.startswith("event."):
        raise Forbidden(
            f"event {seq} is itself the record of an erasure",
            "Such records stay: without them the log would count as damaged.",
        )
    if erased:
        raise Conflict(f"event {seq} is already erased", "There is nothing left to do.")
