"""What an interrupted writer leaves is cut and kept; every other change of a log's bytes is found and named."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from faults.sample_logs import (
    SESSION,
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
from zaxy.eventloom.citation import Citation
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.record import Damaged, Line, NewerFormat, parse_line

SEED = 20260115
FLIPS = 2000
NOTES_BEFORE = 4
"""How many events a small log has before its last write."""


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Path]:
    """A new folder's path each time."""
    return (tmp_path / str(number) for number in itertools.count())


def refused(loom: Eventloom, **fields: Any) -> ZaxyError:
    with pytest.raises(ZaxyError) as caught:
        loom.append(SESSION, [note("must not be taken", **fields)])
    assert caught.value.code == "unavailable"
    assert caught.value.remediation
    return caught.value


def citation(line: bytes) -> Citation:
    parsed = parse_line(line[:-1])
    return Citation(SESSION, parsed.seq, parsed.hash)


def assert_cut(folder: Path, data: bytes, kept: list[bytes], torn: bytes) -> None:
    """The log opens with its intact lines, keeps what was cut beside it, and goes on."""
    with_context = f"seed {SEED}: a log of {len(data)} bytes, {len(torn)} of them torn"
    loom = planted(folder, data)
    report = loom.verify(SESSION)
    assert (report.ok, report.events, report.torn) == (True, len(kept), len(torn)), with_context
    assert readable(loom) == kept, with_context
    assert log_file(folder).read_bytes() == data, "reading changes nothing"
    new = loom.append(SESSION, [note("goes on")])[0]
    assert new.seq == len(kept) + 1, with_context
    assert log_file(folder).read_bytes() == b"".join(kept) + new.data + b"\n", with_context
    quarantine = folder / f"{SESSION}.torn"
    assert quarantine.exists() == bool(torn), with_context
    if torn:
        header, _, rest = quarantine.read_bytes().partition(b"\n")
        assert rest == torn + b"\n", with_context
        assert header.startswith(b"# %d bytes from offset %d" % (len(torn), len(data) - len(torn)))
    after = loom.verify(SESSION)
    assert (after.ok, after.events, after.torn) == (True, len(kept) + 1, 0), with_context
    loom.close()


@pytest.mark.parametrize("batch", [1, 3])
def test_a_last_write_that_was_cut_at_any_byte_is_kept_beside_the_log_and_the_log_goes_on(
    folders: Iterator[Path], batch: int
) -> None:
    lines = small_log(next(folders), batch)
    kept, last = lines[:NOTES_BEFORE], b"".join(lines[NOTES_BEFORE:])
    folder = next(folders)
    for cut in range(len(last)):
        assert_cut(folder, b"".join(kept) + last[:cut], kept, last[:cut])


def test_a_first_write_that_was_cut_at_any_byte_leaves_an_empty_log(folders: Iterator[Path]) -> None:
    first = small_log(next(folders), 1)[0]
    folder = next(folders)
    for cut in range(len(first)):
        assert_cut(folder, first[:cut], [], first[:cut])


@pytest.mark.parametrize("left", [1, 2, 3, 4])
@pytest.mark.parametrize("more", [b"", b"\0" * 100, b'{"actor":"tes'], ids=["clean", "zeros", "half-line"])
def test_an_incomplete_last_batch_is_cut_whole(folders: Iterator[Path], left: int, more: bytes) -> None:
    lines = small_log(next(folders), 5)
    kept, torn = lines[:NOTES_BEFORE], b"".join(lines[NOTES_BEFORE : NOTES_BEFORE + left]) + more
    assert_cut(next(folders), b"".join(kept) + torn, kept, torn)


def unterminated_tails() -> list[bytes]:
    random = Random(SEED)
    sizes = (1, 2, 7, 511, 4095, 4096, 4097, 65535, 65536, 65537, 200_001)
    zeros = [b"\0" * size for size in sizes]
    noise = [random.randbytes(size).replace(b"\n", b"\r") for size in sizes for _ in range(3)]
    plain = [b"\r", b" ", b"{}", b"{", b"null", b"\xff" * 64, "é".encode()[:1], b'{"v":2}', b'{"v":1,"seq":5', b"\x0b"]
    return [*zeros, *noise, *plain]


@pytest.mark.parametrize("batch", [1, 3])
def test_a_tail_of_anything_without_a_line_end_is_cut_and_kept(folders: Iterator[Path], batch: int) -> None:
    lines = small_log(next(folders), batch)
    for tail in unterminated_tails():
        assert_cut(next(folders), b"".join(lines) + tail, lines, tail)


def test_what_was_torn_before_stays_when_more_is_torn(folders: Iterator[Path]) -> None:
    folder = next(folders)
    loom = planted(folder, b"".join(small_log(next(folders), 1)))
    tails = [b"first half line", b"\0" * 10, b"a second half line"]
    for tail in tails:
        with log_file(folder).open("ab") as file:
            file.write(tail)
        loom.append(SESSION, [note()])
    quarantine = (folder / f"{SESSION}.torn").read_bytes()
    assert [tail for tail in tails if tail + b"\n" in quarantine] == tails
    assert quarantine.count(b"# ") == len(tails)
    assert loom.verify(SESSION).ok


@pytest.mark.parametrize(
    "tail",
    [b"\n", b"\r\n", b"\0\n", b"\0" * 4096 + b"\n", b"{}\n", b"garbage\n", b'{"v":1}\n', b"\xff\xfe\n", b"[]\n"],
)
def test_a_terminated_last_line_that_is_not_an_event_is_damage_and_never_cut(
    folders: Iterator[Path], tail: bytes
) -> None:
    lines = small_log(next(folders), 3)
    loom = planted(folder := next(folders), b"".join(lines) + tail)
    refused(loom)
    report = loom.verify(SESSION)
    assert report.damage is not None
    assert (report.damage.seq, report.events) == (len(lines) + 1, len(lines))
    assert readable(loom) == lines
    refused(loom)
    assert log_file(folder).read_bytes() == b"".join(lines) + tail
    assert not (folder / f"{SESSION}.torn").exists()


@pytest.mark.parametrize("batch", [1, 3])
def test_a_line_that_ends_in_carriage_return_and_line_feed_is_damage(folders: Iterator[Path], batch: int) -> None:
    lines = small_log(next(folders), batch)
    crlf = [line[:-1] + b"\r\n" for line in lines]
    for first in range(len(lines)):
        for data in (lines[:first] + crlf[first:], [*lines[:first], crlf[first], *lines[first + 1 :]]):
            loom = planted(folder := next(folders), b"".join(data))
            if data[-1] is crlf[-1]:
                refused(loom)
            report = loom.verify(SESSION)
            assert report.damage is not None
            assert report.damage.seq == first + 1
            assert readable(loom) == lines[:first]
            refused(loom)
            assert log_file(folder).read_bytes() == b"".join(data)


def outcome(parse: Callable[[bytes], Line], data: bytes) -> object:
    try:
        return parse(data).record
    except (Damaged, NewerFormat) as error:
        return type(error)


def put(folder: Path, place: int, byte: int) -> None:
    with log_file(folder).open("r+b") as file:
        file.seek(place)
        file.write(bytes([byte]))


def test_every_flipped_bit_is_found_at_its_event_and_the_session_is_only_read_from_then_on(
    folders: Iterator[Path],
) -> None:
    lines = varied_log(next(folders), SEED)
    data = b"".join(lines)
    starts = list(itertools.accumulate(map(len, lines), initial=0))
    seq_at = [seq for seq, line in enumerate(lines, 1) for _ in line]
    assert len(lines) >= 58
    random = Random(SEED)
    folder = next(folders)
    loom = planted(folder, data)
    assert loom.verify(SESSION).ok
    loom.close()
    for flip in random.sample(range((len(data) - 1) * 8), FLIPS):
        place, bit = divmod(flip, 8)
        context = f"seed {SEED}: bit {bit} of byte {place} ({data[place : place + 1]!r})"
        damaged = bytearray(data)
        damaged[place] ^= 1 << bit
        put(folder, place, damaged[place])
        seq = seq_at[place]
        loom = opened(folder)
        if seq == len(lines):
            refused(loom)
        report = loom.verify(SESSION)
        assert report.damage is not None, f"{context} was not found"
        assert report.damage.seq in ((seq, seq + 1) if data[place] == 0x0A else (seq,)), context
        assert report.events == report.damage.seq - 1, context
        refused(loom)
        assert readable(loom) == lines[: report.events], context
        for line in bytes(damaged[starts[seq - 1] : starts[min(seq + 1, len(lines))]]).split(b"\n"):
            assert outcome(parse_quickly, line) == outcome(parse_line, line), context
        loom.close()
        refused(reopened := opened(folder))
        reopened.close()
        (folder / f"{SESSION}.damaged").unlink()
        put(folder, place, data[place])


def test_the_last_line_end_flipped_is_a_line_without_an_end(folders: Iterator[Path]) -> None:
    lines = small_log(next(folders), 1)
    for bit in range(8):
        last = lines[-1][:-1] + bytes([0x0A ^ 1 << bit])
        assert_cut(next(folders), b"".join(lines[:-1]) + last, lines[:-1], last)


def damaged_at(folder: Path, lines: list[bytes], seq: int) -> Eventloom:
    """A log in which one bit of that event's digest is flipped."""
    wrong = lines[seq - 1].replace(b'"payload_digest":"', b'"payload_digest":!', 1)
    return planted(folder, b"".join([*lines[: seq - 1], wrong, *lines[seq:]]))


def test_damage_stops_appends_also_when_it_is_found_while_reading(folders: Iterator[Path]) -> None:
    lines = varied_log(next(folders), SEED)
    loom = damaged_at(next(folders), lines, 30)
    assert readable(loom) == lines[:29]
    refused(loom)


def test_damage_stops_appends_also_when_it_is_found_while_checking_a_citation(folders: Iterator[Path]) -> None:
    lines = varied_log(next(folders), SEED)
    loom = damaged_at(next(folders), lines, 30)
    report = loom.verify(SESSION, since=citation(lines[-1]))
    assert report.damage is not None
    assert report.damage.seq == 30
    refused(loom)


@pytest.mark.parametrize("seq", [2, 7, 22, 42, 54, 55], ids=lambda seq: f"event-{seq}")
def test_what_stands_before_damage_is_readable_from_any_place_without_an_index(
    folders: Iterator[Path], seq: int
) -> None:
    """Events with idempotency keys, and a ref, are among those damaged: building the index meets them."""
    lines = varied_log(next(folders), SEED)
    for from_seq in sorted({1, 2, 3, seq - 1, seq, seq + 1, 40, 57, len(lines)} & set(range(1, len(lines) + 1))):
        loom = damaged_at(next(folders), lines, seq)
        found = readable(loom, from_seq=from_seq)
        assert found == lines[from_seq - 1 : seq - 1 if from_seq <= seq else from_seq - 1 + len(found)]
        loom.close()


@pytest.mark.parametrize("seq", [2, 7, 54])
def test_a_write_or_a_look_up_that_meets_damage_says_so(folders: Iterator[Path], seq: int) -> None:
    lines = varied_log(next(folders), SEED)
    loom = damaged_at(next(folders), lines, seq)
    for use in (
        lambda: loom.append(SESSION, [note(idempotency_key="a new key")]),
        lambda: loom.refs(SESSION),
        lambda: loom.resolve_ref(SESSION, "refs/heads/main"),
        lambda: loom.erase(SESSION, seq - 1, "tester", "it was asked for"),
    ):
        try:
            use()
        except ZaxyError as error:
            assert error.code == "unavailable"
            assert error.remediation
