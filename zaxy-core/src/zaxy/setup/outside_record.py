"""What init wrote outside of a project, as the user's own folder knows it.

The record in a project came with the project, which may be a stranger's: what it says of files elsewhere is believed
only as far as this says the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from hashlib import blake2b
from hmac import compare_digest
from pathlib import Path
from typing import Any, NamedTuple

from zaxy.atomic_write import atomic_write
from zaxy.clients.files import read_file
from zaxy.errors import Unavailable, ZaxyError
from zaxy.security.paths import own_folder, unusable_folder
from zaxy.setup.init_record import FORMAT, FileChange, change_as_dict, parsed_change
from zaxy.user_state import state_folder, user_key, why_not_kept
from zaxy.workspace import Workspace

FOLDER = "init"


class OutsideChange(NamedTuple):
    change: FileChange
    folder: str
    """Where the file's folder really was, with no link on the way."""


def outside_change(change: FileChange) -> OutsideChange:
    return OutsideChange(change, _real_folder(change))


def is_outside(path: str, root: str) -> bool:
    """Whether a path, as it is spelled, leads out of the project."""
    return Path(root) not in Path(os.path.abspath(os.path.join(root, path))).parents


def known_outside(workspace: Workspace) -> tuple[OutsideChange, ...]:
    """What this user's init wrote outside of a project that is where it was; nothing of a record that is not sealed."""
    if not os.path.exists(workspace.identity_file):
        return ()
    try:
        kept = json.loads(read_file(Path(_file(workspace))).content or b"{}")
        seal, values = str(kept.pop("seal", "")), kept
        if not compare_digest(seal.encode(), _seal(values).encode()) or values != _values(workspace, values["files"]):
            return ()
        return tuple(OutsideChange(parsed_change(one["change"]), str(one["folder"])) for one in values["files"])
    except (ZaxyError, ValueError, KeyError, TypeError, AttributeError):
        return ()


def keep_outside(workspace: Workspace, known: Sequence[OutsideChange]) -> None:
    """Keep what is known; where nothing is any more, the file is removed."""
    if not known and not known_outside(workspace):
        return
    path = _file(workspace)
    if problem := why_not_kept():
        raise Unavailable(
            f"what is written outside of the project cannot be put on record in {state_folder()}: {problem}",
            "Make that folder yours to write, or set ZAXY_STATE_DIR to one that is.",
        )
    folder = own_folder(os.path.dirname(path), create=True)
    try:
        if not known:
            os.unlink(path)
            return
        files = [{"change": change_as_dict(one.change), "folder": one.folder} for one in known]
        values = _values(workspace, files)
        atomic_write(path, json.dumps({**values, "seal": _seal(values)}, indent=2).encode())
    except OSError as error:
        raise unusable_folder(folder, error) from None


def why_not_ours(change: FileChange, known: Sequence[OutsideChange]) -> str:
    """Why undo leaves a file alone that the project's record names, and what to do by hand; empty if it is ours."""
    same = [one for one in known if one.change == change]
    if not same:
        return f"the record of it was not made by you in this folder, so it is not followed. {_by_hand(change)}"
    if same[0].folder != _real_folder(change):
        return f"a link on the way to it leads elsewhere by now, and is not followed. {_by_hand(change)}"
    return ""


def _by_hand(change: FileChange) -> str:
    """The record may be a stranger's, so a name in it is repeated only if it is a plain one."""
    servers = [part.client for part in change.parts if part.kind == "mcp" and _is_plain(part.client)]
    if servers:
        return f"To take Zaxy's entry out yourself: zaxy ide-config {servers[0]} --remove"
    return "Look at the file, and take out what names Zaxy if it is there and you do not need it."


def _is_plain(name: str) -> bool:
    return name.replace("-", "").isalnum() and name.isascii() and len(name) <= 40


def _real_folder(change: FileChange) -> str:
    return os.path.realpath(os.path.dirname(change.path))


def _file(workspace: Workspace) -> str:
    """One for each workspace and place: a copy of a project elsewhere has its id too."""
    name = blake2b("\n".join(_key(workspace)).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return os.path.join(state_folder(), FOLDER, f"{name}.json")


def _key(workspace: Workspace) -> tuple[str, str]:
    return workspace.identity(), os.path.realpath(workspace.root)


def _values(workspace: Workspace, files: Any) -> dict[str, Any]:
    identity, path = _key(workspace)
    return {"format": FORMAT, "workspace": identity, "path": path, "files": files}


def _seal(values: dict[str, Any]) -> str:
    text = f"init {json.dumps(values, sort_keys=True)}"
    return blake2b(text.encode(), key=user_key(), digest_size=32).hexdigest()
