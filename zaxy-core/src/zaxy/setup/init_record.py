"""What `zaxy init` wrote, kept so that it can be taken out again: each change of a file as an edit of its text."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from zaxy.atomic_write import atomic_write
from zaxy.errors import Unavailable, ZaxyError
from zaxy.security.paths import own_folder_within, unusable_folder
from zaxy.security.small_files import read_small_json
from zaxy.workspace import Workspace

FILE = os.path.join("runtime", "init.json")
FORMAT = 1
MAX_BYTES = 32 << 20


class Part(NamedTuple):
    """One thing of ours in a file: the entry of the server, the hooks, the capture or the list of ignored files."""

    kind: str
    client: str = ""


class FileChange(NamedTuple):
    """A file before and after, as hashes and as the one place where the texts differ; nothing else of it is kept."""

    path: str
    """Within the project relative to it, so that it may be moved."""
    before: str
    """The hash of the file as it was; empty where there was none."""
    after: str
    at: int
    """The character where the texts begin to differ."""
    removed: str
    inserted: str
    parts: tuple[Part, ...]
    folders: tuple[str, ...] = ()
    """The folders that were made for it, the outermost first."""


class SettingChange(NamedTuple):
    env: str
    before: Any
    after: Any


class Record(NamedTuple):
    """All that init has written in a workspace, in the order in which it was written."""

    files: tuple[FileChange, ...] = ()
    settings: tuple[SettingChange, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.files and not self.settings


def change_of(
    path: str, before: bytes | None, *, after: bytes, parts: tuple[Part, ...], folders: tuple[str, ...]
) -> FileChange:
    """The change from one text to the other, as the shortest piece that was put in place of another."""
    old, new = text_of(before or b""), text_of(after)
    at = _common(old, new)
    ending = _common(old[at:][::-1], new[at:][::-1])
    removed, inserted = old[at : len(old) - ending], new[at : len(new) - ending]
    # An entry begins as what follows it does, with a quote: counted from its line's start, the same change reads well.
    while not removed and inserted[:1] not in ("", "\n") and at and old[at - 1] == inserted[-1]:
        at, inserted = at - 1, old[at - 1] + inserted[:-1]
    return FileChange(path, hash_of(before), hash_of(after), at, removed, inserted, parts, folders)


def undone(change: FileChange, now: bytes) -> bytes:
    """The file as it was before a change that is the last one it saw."""
    text = text_of(now)
    return bytes_of(text[: change.at] + change.removed + text[change.at + len(change.inserted) :])


def _common(one: str, other: str) -> int:
    """How many characters two texts begin alike with."""
    length = min(len(one), len(other))
    return next((at for at in range(length) if one[at] != other[at]), length)


def kept_path(path: Path | str, root: str) -> str:
    """A path as the record keeps it."""
    inside = Path(root) in Path(path).parents
    return str(Path(path).relative_to(root)) if inside else str(path)


def hash_of(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


def text_of(data: bytes) -> str:
    """The bytes as text that can be turned back into the same bytes, whatever they are."""
    return data.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def read_record(workspace: Workspace) -> Record:
    """What is on record; a link or a pipe in its place is refused, since the project may be a stranger's."""
    path = os.path.join(workspace.eventloom, FILE)
    try:
        return _parsed(read_small_json(path, MAX_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        return Record()
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    except (ValueError, KeyError, TypeError) as error:
        raise _unreadable(path, f"it is not a record of this version ({error})") from None


def write_record(workspace: Workspace, record: Record) -> None:
    """Keep the record; one that holds nothing any more is removed."""
    path = os.path.join(workspace.eventloom, FILE)
    if record.empty and not os.path.lexists(path):
        return
    folder = own_folder_within(workspace.eventloom, os.path.dirname(FILE), create=True)
    try:
        if record.empty:
            os.unlink(path)
            return
        atomic_write(path, (json.dumps(_as_dict(record), indent=2) + "\n").encode())
    except OSError as error:
        raise unusable_folder(folder, error) from None


def _as_dict(record: Record) -> dict[str, Any]:
    files = [change_as_dict(change) for change in record.files]
    return {"format": FORMAT, "files": files, "settings": [change._asdict() for change in record.settings]}


def change_as_dict(change: FileChange) -> dict[str, Any]:
    return {**change._asdict(), "parts": [part._asdict() for part in change.parts], "folders": list(change.folders)}


def _parsed(values: Any) -> Record:
    if values["format"] != FORMAT:
        raise ValueError(f"format {values['format']!r:.20}")
    settings = tuple(SettingChange(**change) for change in values["settings"])
    for change in settings:
        _expect(str, change.env)
    return Record(tuple(map(parsed_change, values["files"])), settings)


def parsed_change(values: dict[str, Any]) -> FileChange:
    """A change as it was kept; a value of the wrong kind is refused."""
    parts = tuple(Part(**part) for part in values["parts"])
    change = FileChange(**{**values, "parts": parts, "folders": tuple(values["folders"])})
    _expect(int, change.at)
    _expect(str, change.path, change.before, change.after, change.removed, change.inserted, *change.folders)
    for part in parts:
        _expect(str, *part)
    return change


def _expect(kind: type, *values: object) -> None:
    for value in values:
        if type(value) is not kind:
            raise TypeError(f"{value!r:.40} is not of the kind {kind.__name__}")


def _unreadable(path: str, reason: str) -> ZaxyError:
    return Unavailable(
        f"{path} cannot be read: {reason}",
        "Move it away; what init wrote is then taken out by hand: 'zaxy ide-config CLIENT --remove'.",
    )
