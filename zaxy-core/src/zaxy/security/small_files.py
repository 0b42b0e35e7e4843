"""The one reader of small files: whatever stands in such a file's place, a read ends soon and takes little memory.

A pipe is not waited for, a device is not read, and a file is read up to a bound. Errors are those of `open` and
`json.loads`, with a reason that can be shown: OSError (FileNotFoundError where there is nothing), and ValueError for
what is not JSON. Hot commands load this module: it imports nothing that Python has not loaded anyway.
"""

from __future__ import annotations

import os
import stat
from errno import EACCES, EFBIG, EINVAL, ELOOP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 64

_TO_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def read_small_file(path: str, max_bytes: int = MAX_BYTES) -> bytes:
    """The bytes of a file that Zaxy keeps: a regular file of this user or of root, no link, of at most `max_bytes`."""
    if os.path.islink(path):
        raise OSError(ELOOP, "it is a link, and links are not followed", path)
    return _read(path, _TO_READ | _NO_LINK, max_bytes=max_bytes, only_own=True)


def read_named_file(path: str, max_bytes: int = MAX_BYTES) -> bytes:
    """The bytes of a file that the user named or that another program keeps, which may be a link and anybody's: a
    regular file of at most `max_bytes`."""
    return _read(path, _TO_READ, max_bytes=max_bytes, only_own=False)


def open_named_file(path: str) -> BinaryIO:
    """The same, open for reading, of any size: for what is read in parts."""
    fd = os.open(path, _TO_READ)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(EINVAL, "it is not a regular file", path)
    return open(fd, "rb")


def read_small_json(path: str, max_bytes: int = MAX_BYTES) -> Any:
    """The value in a file that Zaxy keeps, nested at most `MAX_DEPTH` deep."""
    return parsed_json(read_small_file(path, max_bytes))


def parsed_json(data: bytes) -> Any:
    """A JSON value in UTF-8, nested at most `MAX_DEPTH` deep."""
    import json

    text = data.decode("utf-8")
    try:
        value = json.loads(text)
    except RecursionError:
        raise _too_deep() from None
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _check_depth(value)
    return value


def _read(path: str, flags: int, *, max_bytes: int, only_own: bool) -> bytes:
    fd = os.open(path, flags)
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(EINVAL, "it is not a regular file", path)
        if only_own and not _is_own(status.st_uid):
            raise OSError(EACCES, "it belongs to another user", path)
        return _all_bytes(fd, path, max_bytes)
    finally:
        os.close(fd)


def _is_own(owner: int) -> bool:
    """Root reads everybody's files: in a container it is the user of folders from outside."""
    user = os.geteuid() if hasattr(os, "geteuid") else owner
    return owner in (user, 0) or user == 0


def _all_bytes(fd: int, path: str, max_bytes: int) -> bytes:
    """Up to the end, which is found by reading: a file may grow, and those in /proc have no size."""
    taken = bytearray()
    while len(taken) <= max_bytes:
        data = os.read(fd, min(max_bytes + 1 - len(taken), 65536))
        if not data:
            return bytes(taken)
        taken += data
    raise OSError(EFBIG, f"it has more than {max_bytes} bytes", path)


def _check_depth(value: object) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for one in level if isinstance(one, dict | list) for inner in _inner(one)]
        if not level:
            return
    raise _too_deep()


def _inner(value: dict[str, Any] | list[Any]) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value


def _too_deep() -> ValueError:
    return ValueError(f"it is nested more than {MAX_DEPTH} deep")
