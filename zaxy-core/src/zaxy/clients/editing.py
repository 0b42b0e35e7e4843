"""Editing a client's file: the client makes another text of its text, and this moves the bytes, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from zaxy.clients.files import (
    ConfigFile,
    delete_file,
    drop_backup,
    drop_empty_folders,
    encoded,
    read_file,
    write_file,
)
from zaxy.errors import InternalError, ZaxyError, error_of

Edit = Callable[[str], str]
"""What a client makes of its file's text."""


@dataclass(frozen=True)
class EditedFile:
    """A file before and after; None stands for no file."""

    path: Path
    before: bytes | None
    after: bytes | None
    backup: Path | None = None

    @property
    def changed(self) -> bool:
        return self.before != self.after


def install_text(path: Path, edit: Edit, inside: Path | None = None) -> EditedFile:
    """Put something into the file, and keep a backup of what was there."""
    read = read_within(path, inside)
    text = edited_text(read, edit)
    data = encoded(path, text)
    if data == read.content:
        return EditedFile(path, read.content, data)
    return EditedFile(path, read.content, data, write_file(read, text))


def remove_text(path: Path, edit: Edit, inside: Path | None = None) -> EditedFile:
    """Take something out of the file; a file that held nothing else goes, and a backup that says no more does too."""
    read = read_within(path, inside)
    if not read.exists:
        return EditedFile(path, None, None)
    text = edited_text(read, edit)
    data = encoded(path, text)
    if data == read.content:
        return EditedFile(path, read.content, data)
    # A file that was there and empty stays; only its backup can tell it from one that was made.
    if not text and read_file(read.backup).content != b"":
        delete_file(read)
        if inside is not None and inside in path.parents:
            drop_empty_folders(path, inside)
        return EditedFile(path, read.content, None)
    write_file(read, text, keep_backup=False)
    drop_backup(read, data)
    return EditedFile(path, read.content, data)


def read_within(path: Path, inside: Path | None) -> ConfigFile:
    """The file; where it lies in a folder that may not be left, no link may stand on the way."""
    return read_file(path, inside if inside is not None and inside in path.parents else None)


def edited_text(read: ConfigFile, edit: Edit) -> str:
    """What an edit makes of a file's text. A refusal names the file: a client sees only text."""
    try:
        text = edit(read.text)
    except ZaxyError as error:
        raise naming(read.path, error) from None
    if not isinstance(text, str):
        raise InternalError(f"{read.path}: the client returned no text", "Nothing was changed. Upgrade its package.")
    return text


def naming(path: Path, error: ZaxyError) -> ZaxyError:
    """The error with the file's path in its message."""
    if str(path) in error.message:
        return error
    return error_of(error.code, f"{path}: {error.message}", error.remediation)
