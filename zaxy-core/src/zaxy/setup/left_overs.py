"""Files that a write which was killed left beside the file that it was to become, and nothing else."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from zaxy.file_lock import try_lock
from zaxy.setup.outside_record import FOLDER as RECORDS, is_outside
from zaxy.user_state import state_folder
from zaxy.workspace import Workspace

PARTIAL = re.compile(r"\.(?P<of>.+)\.[0-9a-f]{8}\.partial", re.DOTALL)
OLD = 3600.0
"""Seconds after which one counts as left behind where the file system cannot say whether somebody holds it."""
OWN_FOLDERS = ("", "runtime", os.path.join("runtime", "capture"))
_PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def left_overs(workspace: Workspace, written: Iterable[Path]) -> list[str]:
    """What is left in the folders of our own, and beside the files in other folders that init writes."""
    return sorted({path for path in _candidates(workspace, written) if _if_left(path, _nothing)})


def clear_left_overs(workspace: Workspace, written: Iterable[Path]) -> list[str]:
    """Remove them; what was removed. One that somebody is writing stays."""
    return sorted({path for path in _candidates(workspace, written) if _if_left(path, os.unlink)})


def _candidates(workspace: Workspace, written: Iterable[Path]) -> Iterator[str]:
    state, log = Path(state_folder()), Path(workspace.eventloom)
    own = [] if log.is_symlink() else [log / folder for folder in OWN_FOLDERS if not _has_link(log / folder, log)]
    for folder in (*own, state, state / RECORDS):
        yield from _partials(folder, lambda _: True)
    for path in written:
        if is_outside(str(path), workspace.root) or not _has_link(path.parent, Path(workspace.root)):
            yield from _partials(path.parent, path.name.__eq__)


def _partials(folder: Path, wanted: Callable[[str], bool]) -> Iterator[str]:
    """The files in a folder that have the form of name which only ours have."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        form = PARTIAL.fullmatch(name)
        if form and wanted(form["of"]):
            yield str(folder / name)


def _has_link(folder: Path, around: Path) -> bool:
    """Whether a link stands between a folder and the one that it lies in."""
    return folder.resolve() != around.resolve() / folder.relative_to(around)


def _if_left(path: str, do: Callable[[str], object]) -> bool:
    """Do something with a file while it is certain that nobody writes it; whether that was so."""
    try:
        fd = os.open(path, os.O_RDONLY | _PLAIN)
    except OSError:
        return False
    try:
        if not _is_ours(os.fstat(fd)) or not _is_free(fd) or not os.path.samestat(os.fstat(fd), os.lstat(path)):
            return False
        if os.name == "posix":
            do(path)
    except OSError:
        return False
    finally:
        os.close(fd)
    if os.name != "posix":
        with suppress(OSError):  # somebody has it open, and so it stays
            do(path)
    return True


def _is_ours(status: os.stat_result) -> bool:
    """A plain file of this user. One that was to take nobody's place may have its second name already."""
    mine = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    return stat.S_ISREG(status.st_mode) and status.st_nlink <= 2 and mine


def _is_free(fd: int) -> bool:
    """Whether nobody holds the lock that its writer holds until it is done."""
    old = time.time() - os.fstat(fd).st_mtime > OLD
    if os.name != "posix":
        return old
    try:
        return try_lock(fd)
    except OSError:
        return old


def _nothing(path: str) -> None:
    """Only look."""
