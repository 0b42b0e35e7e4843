"""What belongs to the user and not to a workspace: a folder of the user's own, the key in it, and small files.

Workspaces are marked with this key, and followers carry stamps and seals made with it. What came from elsewhere, such
as a file in a cloned repository, has none that fit: a follower is built again from the log before anybody asks it, and
a workspace is not believed until its user trusts it.
"""

from __future__ import annotations

import os
import sys
from errno import EFBIG
from os import urandom

from zaxy.security.small_files import read_small_file, read_small_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

ENV = "ZAXY_STATE_DIR"
KEY_FILE = "key"
KEY_BYTES = 32

_keys: dict[str, bytes] = {}


def state_folder(environ: Mapping[str, str] | None = None) -> str:
    """The user's own folder: ZAXY_STATE_DIR, else where this system keeps such things."""
    environ = os.environ if environ is None else environ
    if environ.get(ENV):
        return os.path.abspath(os.path.expanduser(environ[ENV]))
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        return os.path.join(environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local"), "zaxy")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "zaxy")
    return os.path.join(environ.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state"), "zaxy")


def user_key() -> bytes:
    """The user's key, made on first use. Where it can't be kept, each process has its own: nothing of another process
    is believed then, and followers are built again."""
    folder = state_folder()
    if folder not in _keys:
        try:
            _keys[folder] = _kept_key(folder)
        except OSError:
            _keys[folder] = urandom(KEY_BYTES)
    return _keys[folder]


def why_not_kept() -> str:
    """Why the key cannot be kept on this disk; empty where it is."""
    try:
        _kept_key(state_folder())
    except OSError as error:
        return error.strerror or str(error)
    return ""


def read_state(name: str) -> dict[str, Any]:
    """What the user's folder keeps under a name; nothing where there is no such file, or none that can be read."""
    try:
        kept = read_small_json(os.path.join(state_folder(), name))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def change_state(name: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Change what is kept under a name; of several processes each sees the changes of those before it."""
    import json

    from zaxy.atomic_write import atomic_write
    from zaxy.file_lock import locked

    path = os.path.join(state_folder(), name)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with locked(f"{path}.lock"):
        kept = read_state(name)
        change(kept)
        atomic_write(path, (json.dumps(kept, indent=2) + "\n").encode())


def _kept_key(folder: str) -> bytes:
    path = os.path.join(folder, KEY_FILE)
    key = _read(path)
    if key is None:
        from zaxy.atomic_write import atomic_write

        os.makedirs(folder, mode=0o700, exist_ok=True)
        try:
            atomic_write(path, urandom(KEY_BYTES), put=os.link)  # of two processes that make one, one wins
        except FileExistsError:
            if len(_read(path) or b"") != KEY_BYTES:  # it was cut short or replaced: followers are built again
                atomic_write(path, urandom(KEY_BYTES))
        key = _read(path)
    if key is None:
        raise FileNotFoundError(path)
    return key


def _read(path: str) -> bytes | None:
    """The key; None where there is none that could be one."""
    try:
        key = read_small_file(path, KEY_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == EFBIG:
            return None
        raise
    return key if len(key) == KEY_BYTES else None
