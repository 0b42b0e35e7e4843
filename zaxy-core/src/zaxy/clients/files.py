"""Reading and replacing configuration files of other programs: whole or not at all, and only where it is allowed.

Text keeps its byte order mark and its line ends, so that what is not edited comes back byte for byte.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from zaxy.atomic_write import atomic_write
from zaxy.errors import Conflict, Forbidden, InvalidRequest, TooLarge, Unavailable, ZaxyError
from zaxy.security.small_files import read_small_file

MAX_BYTES = 16 * 1024 * 1024
BACKUP_ENDING = ".zaxy-backup"
_PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True)
class ConfigFile:
    """A file as it was when it was read."""

    path: Path
    content: bytes | None
    """None if it was not there."""
    mode: int | None = None

    @property
    def exists(self) -> bool:
        return self.content is not None

    @property
    def text(self) -> str:
        """The file's text, empty where there is no file; only UTF-8 is taken."""
        try:
            return (self.content or b"").decode("utf-8")
        except UnicodeDecodeError as error:
            raise Unavailable(
                f"{self.path} is not UTF-8: byte {error.start} cannot be read",
                "Save it as UTF-8 first; it was left as it is.",
            ) from None

    @property
    def backup(self) -> Path:
        return self.path.with_name(self.path.name + BACKUP_ENDING)


def read_file(path: Path, inside: Path | None = None) -> ConfigFile:
    """The file, or that it is not there. Links, folders, devices and files of other users are refused.

    With `inside`, the folders between it and the file may not be links either: a project that somebody else made
    could lead out of itself in this way.
    """
    if inside is not None:
        _expect_no_link_between(inside, path)
    status = _status(path)
    if status is None:
        return ConfigFile(path, None)
    if stat.S_ISLNK(status.st_mode):
        raise _refused(path, "is a link", "Name the file that it leads to, or replace the link with a file.")
    if not stat.S_ISREG(status.st_mode):
        what = "is a folder" if stat.S_ISDIR(status.st_mode) else "is not a regular file"
        raise _refused(path, what, "Move it away; a file belongs there.")
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        raise _refused(path, "belongs to another user", "Run this as the user whose file it is.")
    if status.st_size > MAX_BYTES:
        raise TooLarge(f"{path} has {status.st_size} bytes", f"At most {MAX_BYTES} bytes can be edited.")
    try:
        return ConfigFile(path, read_small_file(str(path), MAX_BYTES), stat.S_IMODE(status.st_mode))
    except OSError as error:
        raise _failed(path, "read", error) from None


def write_file(read: ConfigFile, text: str, keep_backup: bool = True) -> Path | None:
    """Replace the file with new text in one step, if it is still what was read; the path of the backup, if any.

    The backup lies beside the file and holds what was there before the last change.
    """
    data = encoded(read.path, text)
    try:
        read.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _failed(read.path, "written", error) from None
    backup = None
    if keep_backup and read.content is not None:
        backup = read.backup
        _put(read_file(backup), read.content, read.mode)
    _put(read, data, read.mode)
    return backup


def delete_file(read: ConfigFile) -> None:
    """Delete the file, if it is still what was read."""
    _expect_unchanged(read)
    try:
        read.path.unlink(missing_ok=True)
    except OSError as error:
        raise _failed(read.path, "deleted", error) from None


def drop_backup(read: ConfigFile, content: bytes) -> None:
    """Delete the backup once it says nothing that the file itself does not say."""
    kept = read_file(read.backup)
    if kept.content == content:
        delete_file(kept)


def drop_empty_folders(path: Path, inside: Path) -> None:
    """Delete the empty folders between a deleted file and the folder that it lay in."""
    for folder in path.parents:
        if folder == inside or inside not in folder.parents:
            return
        try:
            folder.rmdir()
        except OSError:
            return


def _put(read: ConfigFile, data: bytes, mode: int | None) -> None:
    def put(partial: str, path: str) -> None:
        _expect_unchanged(read)
        os.replace(partial, path)

    try:
        atomic_write(str(read.path), data, mode=mode, put=put)
    except OSError as error:
        raise _failed(read.path, "written", error) from None


def _expect_unchanged(read: ConfigFile) -> None:
    if read_file(read.path).content != read.content:
        raise Conflict(
            f"{read.path} was changed by another program in the meantime",
            "Nothing was written; try again.",
        )


def _expect_no_link_between(inside: Path, path: Path) -> None:
    if inside not in path.parents:
        raise ValueError(f"{path} does not lie in {inside}")
    folder = inside
    for part in path.relative_to(inside).parts[:-1]:
        folder = folder / part
        status = _status(folder)
        if status is None:
            return
        if stat.S_ISLNK(status.st_mode):
            raise _refused(folder, "is a link", "Replace the link with a folder, or edit the file by hand.")
        if not stat.S_ISDIR(status.st_mode):
            raise _refused(folder, "is not a folder", "Move it away; a folder belongs there.")


def _status(path: Path) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise _refused(path.parent, "is not a folder", "Move it away; a folder belongs there.") from None
    except (OSError, ValueError) as error:
        raise _failed(path, "read", error) from None


def encoded(path: Path, text: str) -> bytes:
    """The text as the bytes of a file."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidRequest(
            f"{path} cannot hold a path whose name is not Unicode",
            "Rename the folder, or write the entry by hand.",
        ) from None


def _refused(path: Path, what: str, remediation: str) -> ZaxyError:
    return Forbidden(f"{path} {what}", remediation)


def _failed(path: Path, done: str, error: OSError | ValueError) -> ZaxyError:
    reason = getattr(error, "strerror", None) or str(error)
    return Unavailable(f"{path} cannot be {done}: {reason}", "Nothing was changed. Check who may write there.")
