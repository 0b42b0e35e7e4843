"""What belongs to the user and not to a workspace: a folder of the user's own, and the key in it.

Followers carry stamps and seals made with this key. A file that came from elsewhere, such as one in a cloned
repository, has none that fit, and is built again from the log before anybody asks it.
"""

from __future__ import annotations

import os
import sys
from os import urandom

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

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
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return None
    with open(fd, "rb") as file:
        key = file.read(KEY_BYTES + 1)
    return key if len(key) == KEY_BYTES else None
