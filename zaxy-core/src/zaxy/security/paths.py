"""Checks the folder that holds the log, and those in it: they are real folders, never links to somewhere else."""

from __future__ import annotations

import os
import stat

from zaxy.errors import Forbidden, NotFound, Unavailable, ZaxyError


def own_folder(path: str, create: bool) -> str:
    """The folder, made with mode 0700 if `create` is set. A link in its place is refused."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        if not create:
            raise NotFound(
                f"there is no log in {path}",
                "Append an event first, or name the folder with --eventloom-path.",
            ) from None
        try:
            os.makedirs(path, mode=0o700, exist_ok=True)
        except OSError as error:
            raise unusable_folder(path, error) from None
        return own_folder(path, create=False)
    except (OSError, ValueError) as error:
        raise unusable_folder(path, error) from None
    if stat.S_ISLNK(status.st_mode):
        raise Forbidden(f"{path} is a link", "Name the folder itself: links are not followed.")
    if not stat.S_ISDIR(status.st_mode):
        raise Forbidden(f"{path} is not a folder", "Move it away, or name another place.")
    return path


def make_folder_for(file: str) -> str:
    """Make the folder that a file is to be written into, if only that one is missing, and say so; the file's path. A
    path of which more is missing is taken for mistyped."""
    folder = os.path.dirname(os.path.abspath(file))
    if not os.path.isdir(folder):
        _make_last(folder)
        from zaxy.printing import say

        say(f"notice: made the folder {folder}", err=True)
    return file


def _make_last(folder: str) -> None:
    """Make a folder in one that is there."""
    try:
        os.mkdir(folder)
    except FileNotFoundError:
        around = os.path.dirname(folder)
        raise NotFound(f"there is no folder {around}", "Check the path, or make that folder first.") from None
    except OSError as error:
        message = f"the folder {folder} cannot be made: {error.strerror}"
        raise Unavailable(message, "Check the path, or name another one.") from None


def is_of_this_user(path: str) -> bool:
    """Whether a file or folder belongs to this user, or to the one for whom root works; Windows does not say."""
    if not hasattr(os, "geteuid"):
        return True
    user = os.geteuid()
    for_whom = os.environ.get("SUDO_UID", "") if user == 0 else ""
    return str(os.lstat(path).st_uid) in (str(user), for_whom)


def own_folder_within(root: str, inside: str, create: bool) -> str:
    """A folder in one of ours, such as `followers/locks` in that of the log: none on the way to it may be a link."""
    folder = own_folder(root, create)
    for name in inside.replace("/", os.sep).split(os.sep):
        folder = own_folder(os.path.join(folder, name), create)
    return folder


def is_own_file(path: str) -> bool:
    """Whether the path is an ordinary file with one name, or free."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return True
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def unusable_folder(path: str, error: OSError | ValueError) -> ZaxyError:
    reason = getattr(error, "strerror", None) or str(error)
    return Unavailable(f"{path} cannot be used: {reason}", "Make it writable, or set EVENTLOOM_PATH.")
