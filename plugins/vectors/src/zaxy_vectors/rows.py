"""The rows of a session: three files of rows of one size, to which is only appended.

For each window `<session>.vectors` has 256 bytes, a signed number for each dimension, `<session>.codes` has 32, the
signs of these numbers as bits, and `<session>.marks` has 8, the event and a checksum of its vector. Each file begins
with the name of its generation.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from zaxy_vectors.commits import HEADER, WIDTHS
from zaxy_vectors.weights import DIMENSIONS

BLOCK = 4096
"""Rows that are read at once when all of them are gone through."""
SCALE = 254.0
"""By which a number of a vector of length 1 is stored in a byte; hardly any is above a half."""
MARK = np.dtype([("seq", "<u4"), ("check", "<u4")])
CODE_WORDS = 4
_PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class Damaged(Exception):
    """The files are not what was committed."""


class Rows(NamedTuple):
    """The committed rows of a session, mapped: they take no memory of the process's own."""

    vectors: NDArray[np.int8]
    codes: NDArray[np.uint64]
    marks: NDArray[np.void]

    def part(self, begin: int, end: int) -> Rows:
        return Rows(self.vectors[begin:end], self.codes[begin:end], self.marks[begin:end])

    def blocks(self) -> Iterator[Rows]:
        for begin in range(0, len(self.marks), BLOCK):
            yield self.part(begin, begin + BLOCK)


def made(seqs: Sequence[int], vectors: NDArray[np.float32]) -> Rows:
    """Vectors of length 1 as they are stored."""
    rounded = np.clip(np.rint(vectors * SCALE), -127, 127).astype(np.int8)
    marks = np.zeros(len(seqs), MARK)
    marks["seq"] = seqs
    marks["check"] = _checks(marks["seq"], rounded)
    return Rows(rounded, codes_of(rounded), marks)


def codes_of(vectors: NDArray[np.int8] | NDArray[np.float32]) -> NDArray[np.uint64]:
    """Which numbers of a vector are above 0, as bits."""
    return np.packbits(vectors > 0, axis=-1).view(np.dtype("<u8"))


def append(paths: Sequence[Path], rows: Rows, *, generation: str, count: int) -> None:
    """Write rows behind the first `count`, over what was never committed, and sync them."""
    parts = [part.tobytes() for part in (rows.vectors, rows.codes, rows.marks)]
    for path, part, width in zip(paths, parts, WIDTHS.values(), strict=True):
        if not count:
            path.unlink(missing_ok=True)  # others may have it open, and must not see it change
        fd = os.open(path, os.O_RDWR | os.O_CREAT | _PLAIN, 0o600)
        with open(fd, "r+b") as file:
            if not count:
                file.write(_header(generation))
            file.seek(HEADER + count * width)
            file.write(part)
            file.flush()
            getattr(os, "fdatasync", os.fsync)(fd)


def open_rows(paths: Sequence[Path], *, generation: str, count: int) -> Rows:
    """The committed rows, mapped. Raises `Damaged` where a file is another one, or is cut off."""
    files = zip(paths, WIDTHS.values(), strict=True)
    vectors, codes, marks = [_mapped(path, width, count, generation) for path, width in files]
    return Rows(
        vectors.view(np.int8).reshape(count, DIMENSIONS),
        codes.view(np.dtype("<u8")).reshape(count, CODE_WORDS),
        marks.view(MARK),
    )


def is_right(rows: Rows, at: Sequence[int] | NDArray[np.intp]) -> bool:
    """Whether these rows are as they were written."""
    marks, vectors = rows.marks[at], rows.vectors[at]
    return bool((_checks(marks["seq"], vectors) == marks["check"]).all())


def first_wrong(rows: Rows) -> int:
    """The event of the first row that is not as it was written; 0 if all are."""
    for block in rows.blocks():
        of_vectors = _checks(block.marks["seq"], block.vectors) != block.marks["check"]
        wrong = np.flatnonzero(of_vectors | (codes_of(block.vectors) != block.codes).any(axis=1))
        if len(wrong):
            return int(block.marks["seq"][wrong[0]]) or 1
    return 0


def checksum(marks: NDArray[np.void], before: int = 0) -> int:
    """Of marks that come behind others, given the checksum of these."""
    for begin in range(0, len(marks), BLOCK):
        before = crc32(marks[begin : begin + BLOCK].tobytes(), before)
    return before


def digest(rows: Rows) -> str:
    found = sha256()
    for block in rows.blocks():
        found.update(block.marks["seq"].tobytes())
        found.update(block.vectors.tobytes())
    return found.hexdigest()


def _mapped(path: Path, width: int, count: int, generation: str) -> NDArray[np.uint8]:
    try:
        with path.open("rb") as file:
            if file.read(HEADER) != _header(generation):
                raise Damaged(f"{path} is of another build")
            if os.fstat(file.fileno()).st_size < HEADER + count * width:
                raise Damaged(f"{path} is cut off")
            if not count:
                return np.zeros(0, np.uint8)
            return np.memmap(file, np.uint8, mode="r", offset=HEADER, shape=(count * width,)).view(np.ndarray)
    except OSError as error:
        raise Damaged(f"{path}: {error.strerror}") from None


def _checks(seqs: NDArray[np.uint32], vectors: NDArray[np.int8]) -> NDArray[np.uint32]:
    return np.fromiter(
        (crc32(vector, int(seq)) for seq, vector in zip(seqs, np.ascontiguousarray(vectors), strict=True)),
        np.uint32,
        len(seqs),
    )


def _header(generation: str) -> bytes:
    return f"zaxy-vectors 1 {generation}\n".encode().ljust(HEADER, b"\0")
