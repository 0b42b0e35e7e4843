"""`zaxy init --undo`: what init wrote is taken out, byte for byte; what was changed since stays."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from zaxy.clients.files import ConfigFile, delete_file, read_file, write_file
from zaxy.errors import Conflict, ZaxyError
from zaxy.setup.init_record import (
    FileChange,
    Part,
    Record,
    SettingChange,
    hash_of,
    read_record,
    text_of,
    undone,
    write_record,
)
from zaxy.setup.outside_record import OutsideChange, is_outside, keep_outside, known_outside, why_not_ours
from zaxy.workspace import Workspace

RESTORED, REMOVED, CUT, NOTHING, KEPT = "restored", "removed", "entry taken out", "nothing to do", "left as it is"
TakeOut = Callable[[Part, str], str]
"""A file's text without one of our parts, or a refusal."""
WhyNot = Callable[[Path, Sequence[Part]], str]
"""Why a path is not one that init writes, empty if it is: a record could have been tampered with."""


class Undone(NamedTuple):
    what: str
    outcome: str
    reason: str = ""
    difference: str = ""

    @property
    def ok(self) -> bool:
        return self.outcome != KEPT


def undo(workspace: Workspace, take_out: TakeOut, why_not: WhyNot, dry_run: bool = False) -> list[Undone]:
    """Take out what is on record, the last thing first; what could not be taken out stays on record."""
    kept, known = read_record(workspace), known_outside(workspace)
    outcomes = list[Undone]()
    files, settings = list[FileChange](), list[SettingChange]()
    root = workspace.root
    undo_one = partial(_undone_change, root=root, known=known, take_out=take_out, why_not=why_not, dry=dry_run)
    for change in reversed(kept.files):
        outcome = undo_one(change)
        outcomes.append(outcome)
        files = files if outcome.ok else [change, *files]
    for setting in reversed(kept.settings):
        outcome = _undone_setting(workspace, setting, dry_run)
        outcomes.append(outcome)
        settings = settings if outcome.ok else [setting, *settings]
    if not dry_run:
        write_record(workspace, Record(tuple(files), tuple(settings)))
        taken_out = [change for change in kept.files if change not in files]
        keep_outside(workspace, [one for one in known if one.change not in taken_out])
    return outcomes


def _undone_change(
    change: FileChange,
    *,
    root: str,
    known: Sequence[OutsideChange],
    take_out: TakeOut,
    why_not: WhyNot,
    dry: bool,
) -> Undone:
    """What came of one change. Out of the project only what this user's own folder knows of is touched."""
    placed = _placed(change, root)
    outside = is_outside(change.path, root)
    if reason := why_not(Path(placed.path), placed.parts):
        return Undone(placed.path, KEPT, reason)
    if outside and (reason := why_not_ours(change, known)):
        if _is_as_before(placed):  # init may have been killed between its two records
            return Undone(placed.path, NOTHING, "it is as it was before")
        return Undone(placed.path, KEPT, reason)
    return _undone_file(placed, None if outside else Path(root), take_out=take_out, dry_run=dry)


def _is_as_before(change: FileChange) -> bool:
    try:
        return hash_of(read_file(Path(change.path)).content) == change.before
    except ZaxyError:
        return False


def _placed(change: FileChange, root: str) -> FileChange:
    """The change with whole paths, which within the project are kept relative to it, and with folders of its own."""
    path = os.path.join(root, change.path)
    folders = (os.path.join(root, folder) for folder in change.folders)
    made = tuple(folder for folder in folders if Path(folder) in Path(path).parents and Path(folder) != Path(root))
    return change._replace(path=path, folders=made)


def _undone_file(change: FileChange, inside: Path | None, *, take_out: TakeOut, dry_run: bool) -> Undone:
    path = Path(change.path)
    try:
        now = read_file(path, inside)
        if hash_of(now.content) == change.before:
            if not change.before and not dry_run:
                _drop_folders(change)  # init may have been interrupted after it had made them
            return Undone(change.path, NOTHING, "it is as it was before")
        if now.content is None:
            return Undone(change.path, NOTHING, "it is gone")
        if hash_of(now.content) == change.after:
            before = _before(change, now.content)
        else:
            before = _without_parts(change, now, take_out)
            if before == now.text:
                return Undone(change.path, NOTHING, "it was changed since, and holds nothing of Zaxy any more")
        return _put_back(change, now, before, dry_run)
    except ZaxyError as error:
        return Undone(change.path, KEPT, f"{error.message}. {error.remediation}", _difference(change))


def _before(change: FileChange, now: bytes) -> str:
    """The file as it was; a record whose own hash says otherwise is not followed."""
    before = undone(change, now)
    there_was_none = not change.before and not before
    if hash_of(None if there_was_none else before) != change.before:
        raise Conflict("the record does not say how it was before", "Take out what is Zaxy's by hand.")
    return text_of(before)


def _without_parts(change: FileChange, now: ConfigFile, take_out: TakeOut) -> str:
    """The file as somebody has changed it since, without what is ours in it."""
    text = now.text
    for part in reversed(change.parts):
        text = take_out(part, text)
    return text


def _put_back(change: FileChange, now: ConfigFile, before: str, dry_run: bool) -> Undone:
    created = not change.before
    exact = hash_of(now.content) == change.after
    if created and not before.strip():
        if not dry_run:
            delete_file(now)
            _drop_folders(change)
        return Undone(change.path, REMOVED)
    if not dry_run:
        write_file(now, before, keep_backup=False)
    return Undone(change.path, RESTORED if exact else CUT, "" if exact else "it was changed since, and that is kept")


def _drop_folders(change: FileChange) -> None:
    """Remove the folders that were made for a file, unless something else is in them by now."""
    for folder in reversed(change.folders):
        try:
            os.rmdir(folder)
        except OSError:
            return


def _undone_setting(workspace: Workspace, change: SettingChange, dry_run: bool) -> Undone:
    now = workspace.stored_settings().kept(change.env)
    if now == change.before:
        return Undone(change.env, NOTHING, "it is as it was before")
    if now != change.after:
        return Undone(change.env, NOTHING, f"it was set to {now!s:.40} since, and that is kept")
    if not dry_run:
        workspace.store_setting(change.env, change.before)
    return Undone(change.env, RESTORED)


def _difference(change: FileChange) -> str:
    """How the file differs from what init wrote, or what init put into it where it wrote only a part."""
    if change.before:
        return "\n".join(f"+{line}" for line in change.inserted.splitlines())
    try:
        now = text_of(read_file(Path(change.path)).content or b"")
    except ZaxyError:
        return ""
    lines = difflib.unified_diff(
        change.inserted.splitlines(), now.splitlines(), "as init wrote it", "as it is now", lineterm=""
    )
    return "\n".join(lines)
