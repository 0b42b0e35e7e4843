"""The complete lines of a session file from an offset on, be the file plain or compressed."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from zaxy.api import Unavailable, ZaxyError

COMPRESSED = ".zst"
MAX_LINE_CHARS = 32 << 20
"""Bytes of a line that is looked at: pictures are in the lines too, and memory is not theirs to fill."""
READ_AT_ONCE = 1 << 20


class Line(NamedTuple):
    offset: int
    """Where it begins, in the bytes of the plain file."""
    end: int
    data: bytes
    """Empty for a line that is too long to be looked at."""


def lines_from(path: Path, offset: int) -> Iterator[Line]:
    """The lines that have their end: the last one may still be written. Closing the iterator closes the file."""
    with _opened(path) as file:
        try:
            file.seek(offset)
            while data := file.readline(MAX_LINE_CHARS):
                start, offset = offset, offset + len(data)
                if not data.endswith(b"\n") and len(data) == MAX_LINE_CHARS:
                    data = b""
                    while (rest := file.readline(READ_AT_ONCE)) and not rest.endswith(b"\n"):
                        offset += len(rest)
                    offset += len(rest)
                    if not rest:
                        return
                elif not data.endswith(b"\n"):
                    return
                yield Line(start, offset, data)
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from error


def line_at(path: Path, offset: int) -> bytes:
    """The line that begins there; empty if there is none."""
    lines = lines_from(path, offset)
    try:
        return next((line.data for line in lines), b"")
    finally:
        cast(Any, lines).close()


def begins_a_line(path: Path, offset: int) -> bool:
    """Whether a line can begin there: a file that was written again has other lines."""
    if not offset:
        return True
    with _opened(path) as file:
        try:
            file.seek(offset - 1)
            return file.read(1) == b"\n"
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from error


def parsed(data: bytes) -> dict[str, Any]:
    """The JSON object of a line; empty for anything else."""
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _opened(path: Path) -> BinaryIO:
    try:
        file = path.open("rb")
    except OSError as error:
        raise _unreadable(path, error) from error
    return _decompressed(file) if path.name.endswith(COMPRESSED) else file


def _decompressed(file: BinaryIO) -> BinaryIO:
    import zstandard

    class Decompressed(io.RawIOBase):
        """Zstandard's own reader, with its errors as those of files."""

        def __init__(self) -> None:
            self._reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            try:
                return int(self._reader.readinto(buffer))
            except zstandard.ZstdError as error:
                raise OSError(f"it is not compressed as Codex does it: {error}") from None

        def seekable(self) -> bool:
            return True

        def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
            """Forward only, from the start: what is before is decompressed and let go of."""
            try:
                return int(self._reader.seek(offset, whence))
            except zstandard.ZstdError as error:
                raise OSError(f"it is not compressed as Codex does it: {error}") from None

        def tell(self) -> int:
            return int(self._reader.tell())

        def close(self) -> None:
            file.close()
            super().close()

    return io.BufferedReader(Decompressed(), READ_AT_ONCE)


def _unreadable(path: Path, error: Exception) -> ZaxyError:
    reason = getattr(error, "strerror", None) or str(error)
    return Unavailable(f"{path.name} cannot be read: {reason}", "Check that it exists and can be read.")
