"""Complete lines of a growing file from an offset on, and whether it is still the file that was read before."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

MAX_LINE_CHARS = 64 << 20
"""Pasted images make lines of some megabytes; what is longer than this is passed over rather than held in memory."""
FINGERPRINT = 512


class Line(NamedTuple):
    offset: int
    end: int
    data: bytes | None
    """None for a line that is too long."""


def complete_lines(file: BinaryIO, offset: int) -> Iterator[Line]:
    """The lines from an offset on that have their end: a torn last one has a writer who is not finished."""
    file.seek(offset)
    while data := file.readline(MAX_LINE_CHARS):
        if data.endswith(b"\n"):
            end = offset + len(data)
            yield Line(offset, end, data)
        elif len(data) < MAX_LINE_CHARS:
            return
        else:
            rest = _length_of_rest(file)
            if rest is None:
                return
            end = offset + len(data) + rest
            yield Line(offset, end, None)
        offset = end
        if file.tell() != offset:  # the reader of the lines may have looked elsewhere meanwhile
            file.seek(offset)


def _length_of_rest(file: BinaryIO) -> int | None:
    length = 0
    while data := file.readline(MAX_LINE_CHARS):
        length += len(data)
        if data.endswith(b"\n"):
            return length
    return None


def fingerprint(file: BinaryIO, offset: int) -> str:
    """What stands at the start and just before an offset, as a hash; empty if the file does not reach so far.

    A file that was cut, rewritten or replaced gives another one. Numbers of the file system would not do: a backup
    that was put back has new ones.
    """
    if file.seek(0, os.SEEK_END) < offset:
        return ""
    file.seek(0)
    start = file.read(min(FINGERPRINT, offset))
    file.seek(max(0, offset - FINGERPRINT))
    before = file.read(min(FINGERPRINT, offset))
    return hashlib.sha256(start + b"\0" + before).hexdigest()[:24]
