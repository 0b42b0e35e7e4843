"""Whether git tracks a folder, read from the index of the repository: the `git` program is not run.

A repository decides what its `git` runs (hooks, monitors of the file system, configured commands), and a cloned one is
a stranger's.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

MAX_INDEX_BYTES = 128 << 20
"""About a million files; what stands beyond that is not looked at."""
MAX_POINTER_BYTES = 16 << 10
HASH_BYTES = (20, 32)
"""SHA-1 and SHA-256. Which one it is stands in the repository's configuration; a wrong guess reads no entry."""
BEFORE_HASH = 40
EXTENDED, NAME_LENGTH = 0x4000, 0x0FFF
KINDS = {0o100, 0o120, 0o160, 0o040}
"""A file, a link, a submodule, a folder that a sparse checkout leaves out: the upper bits of an entry's mode."""


def tracks(root: str, folder: str) -> bool:
    """Whether git tracks a folder, or anything in it: by its name or, where a link leads to it, by where it really is.

    `folder` may be relative to `root`. Every repository around it counts, so that none within it hides another. Where
    nothing can be read, nothing is tracked.
    """
    try:
        place = os.path.abspath(os.path.join(root, folder))
        places = {os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))}
        return any(_is_tracked(place) for place in places | {os.path.realpath(place)})
    except (OSError, ValueError):  # a name that is no name, such as one with a NUL
        return False


def _is_tracked(place: str) -> bool:
    return any(_names(top, place) for top in _ancestors(place) if os.path.lexists(os.path.join(top, ".git")))


def _ancestors(place: str) -> Iterator[str]:
    """The folder itself and those around it."""
    yield place
    while (above := os.path.dirname(place)) != place:
        yield above
        place = above


def _names(top: str, place: str) -> bool:
    """Whether the index of the repository at `top` names the place, or something in it."""
    wanted = os.fsencode(os.path.relpath(place, top)) if place != top else b""
    wanted = wanted.replace(os.fsencode(os.sep), b"/")
    git = _git_folder(top)
    index = _content(os.path.join(git, "index"), MAX_INDEX_BYTES)
    if _holds_whole_names(index) and b"link" not in index and wanted.lower() not in index.lower():
        return False
    return any(_is_at(name, wanted, top) for size in HASH_BYTES for name in _all_names(git, index, size))


def _is_at(name: bytes, wanted: bytes, top: str) -> bool:
    if not wanted:
        return True
    start, rest = name[: len(wanted)], name[len(wanted) :]
    if rest[:1] not in (b"", b"/") or start.lower() != wanted.lower():
        return False
    return start == wanted or _same(top, start, wanted)


def _same(top: str, one: bytes, other: bytes) -> bool:
    """Whether two names are one folder, as they are where the file system does not tell upper from lower case."""
    try:
        return os.path.samefile(os.path.join(os.fsencode(top), one), os.path.join(os.fsencode(top), other))
    except OSError:
        return False


def _git_folder(top: str) -> str:
    """Where the repository keeps its own files: `.git`, or what a file of that name says, as a worktree's does."""
    path = os.path.join(top, ".git")
    if os.path.isdir(path):
        return path
    word, _, named = _content(path, MAX_POINTER_BYTES).partition(b":")
    return os.path.join(top, os.fsdecode(named.strip())) if word == b"gitdir" else path


def _content(path: str, limit: int) -> bytes:
    """The beginning of an ordinary file; empty where there is none. A pipe in its place is not waited for."""
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(fd, "rb") as file:
            return file.read(limit) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    except (OSError, ValueError):
        return b""


# The format: https://git-scm.com/docs/index-format


def _listed(index: bytes, hash_bytes: int) -> tuple[list[bytes], int]:
    """The names in an index, and where its entries end; an entry that cannot be read ends them."""
    version, count = int.from_bytes(index[4:8], "big"), int.from_bytes(index[8:12], "big")
    names, name, at = list[bytes](), b"", 12
    for _ in range(count if index[:4] == b"DIRC" and version in (2, 3, 4) else 0):
        flags_at = at + BEFORE_HASH + hash_bytes
        if int.from_bytes(index[at + 24 : at + 28], "big") >> 9 not in KINDS:
            return names, len(index)
        flags = int.from_bytes(index[flags_at : flags_at + 2], "big")
        name_at = flags_at + (4 if flags & EXTENDED else 2)
        kept = 0
        if version == 4:  # a name says how much of the end of the one before it is replaced
            dropped, name_at = _varint(index, name_at)
            kept = max(len(name) - dropped, 0)
        end = index.find(b"\0", name_at)
        if end < 0 or not _has_length(kept + end - name_at, flags):
            return names, len(index)
        name = name[:kept] + index[name_at:end]
        names.append(name)
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8
    return names, at


def _holds_whole_names(index: bytes) -> bool:
    """Whether each name stands there as it is; a search over the bytes is then a hundred times faster than reading."""
    return index[4:8] in (b"\0\0\0\2", b"\0\0\0\3")


def _has_length(length: int, flags: int) -> bool:
    return min(length, NAME_LENGTH) == flags & NAME_LENGTH


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number whose bytes hold seven bits each, with one added for every byte that another follows; and its end."""
    value, end = data[at] & 0x7F if at < len(data) else 0, at + 1
    while data[end - 1 : end] >= b"\x80" and end - at < 5:
        value = (value + 1 << 7) | (data[end] & 0x7F if end < len(data) else 0)
        end += 1
    return value, end


# A split index: most entries stand in a second file, and the first one says which of them are gone


def _all_names(git: str, index: bytes, hash_bytes: int) -> Iterator[bytes]:
    names, end = _listed(index, hash_bytes)
    yield from names
    link = _link(index, end)
    if len(link) < hash_bytes:
        return
    path = os.path.join(git, f"sharedindex.{link[:hash_bytes].hex()}")
    shared, _ = _listed(_content(path, MAX_INDEX_BYTES), hash_bytes)
    gone = set(_bits(link[hash_bytes:], len(shared)))
    yield from (name for position, name in enumerate(shared) if position not in gone)


def _link(index: bytes, at: int) -> bytes:
    """Of the extensions behind the entries, the one that names the second file; empty where there is none."""
    while at + 8 <= len(index):
        kind, size = index[at : at + 4], int.from_bytes(index[at + 4 : at + 8], "big")
        if kind == b"link":
            return index[at + 8 : at + 8 + size]
        at += 8 + size
    return b""


def _bits(data: bytes, limit: int) -> Iterator[int]:
    """Which of the first `limit` bits are set in a bitmap of git: runs of one bit, each followed by plain words."""
    words = [int.from_bytes(data[at : at + 8], "big") for at in range(8, len(data) - 7, 8)]
    words = words[: int.from_bytes(data[4:8], "big")]
    at = position = 0
    while at < len(words) and position < limit:
        head = words[at]
        run, plain = head >> 1 & 0xFFFFFFFF, head >> 33
        if head & 1:
            yield from range(position, min(position + run * 64, limit))
        position += run * 64
        for word in words[at + 1 : at + 1 + plain]:
            yield from (position + bit for bit in range(64) if word >> bit & 1)
            position += 64
        at += 1 + plain
