"""The workspace: the folder whose `.eventloom` holds the log, its identity, and the settings it keeps."""

from __future__ import annotations

import os
from contextlib import suppress

from zaxy.errors import Forbidden, InvalidRequest, Unavailable, ZaxyError
from zaxy.security.paths import is_of_this_user
from zaxy.security.small_files import read_small_json
from zaxy.settings import Settings, Stored, may_be_in_workspace
from zaxy.trust import holds_a_log, id_of_place, is_id, is_marked, marked, was_here_before
from zaxy.tuples import NamedTuple
from zaxy.user_state import change_state, read_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

FOLDER = ".eventloom"
IDENTITY_FILE = "workspace.json"
LOCK_FILE = ".workspace.lock"
"""No session has such a name, which would have a lock of its own."""
USER_SETTINGS = "settings.json"
"""In the user's own folder: what a workspace's file may not set, for each workspace and for all."""


class Workspace(NamedTuple):
    """`root` is the project's folder, `eventloom` the folder that holds the log."""

    root: str
    eventloom: str
    chosen_by: str
    passed_over: str = ""
    """An `.eventloom` nearer by that was not taken, because it belongs to another user."""

    @property
    def identity_file(self) -> str:
        return os.path.join(self.eventloom, IDENTITY_FILE)

    @property
    def is_own(self) -> bool:
        """Whether this user made the workspace or trusts it. Of any other, the file is not read: nothing in it is
        known to be the user's wish."""
        return self._own_file() is not None

    def identity(self) -> str:
        """The workspace's random id, made on first use; it survives moving the folder."""
        kept = self._own_file()
        if kept is None:
            return id_of_place(self.eventloom)
        if "id" not in kept:
            self._write(marked({**kept, "id": os.urandom(16).hex()}), os.link)
            kept = self._read()
        if not is_id(kept.get("id")):
            raise self._damaged("it has no 'id' of 32 hexadecimal digits")
        return str(kept["id"])

    def claim(self) -> None:
        """Mark a workspace that is about to get its first log as this user's own; any other stays what it is."""
        if not os.path.lexists(self.identity_file) and not holds_a_log(self.eventloom):
            self.identity()

    def take_in(self) -> None:
        """Trust a workspace that came from elsewhere: its file and its log count as this user's own from now on."""
        from zaxy.file_lock import locked
        from zaxy.security.paths import own_folder

        kept = self._read()
        own_folder(self.eventloom, create=True)
        with locked(os.path.join(self.eventloom, LOCK_FILE)):
            named = kept if is_id(kept.get("id")) else {**kept, "id": os.urandom(16).hex()}
            self._write(marked(named), os.replace)

    # Settings

    def stored_settings(self) -> Stored:
        """What the workspace's file and the user's own say, each for what it may set."""
        kept = self._own_file()
        settings = (kept or {}).get("settings", {})
        if not isinstance(settings, dict):
            raise self._damaged("its 'settings' is not an object")
        identity = id_of_place(self.eventloom) if kept is None else kept.get("id")
        user = read_state(USER_SETTINGS)
        return Stored(settings, _object(_object(user, "workspaces"), identity), _object(user, "everywhere"))

    def store_setting(self, env: str, value: object) -> None:
        """Keep a setting for this workspace, where it may be kept; None takes it out again."""
        in_workspace = value is not None and may_be_in_workspace(env) and self.is_own
        identity = self.identity()
        self._change_settings(env, value if in_workspace else None)
        change_state(USER_SETTINGS, lambda state: _keep(state, identity, env, None if in_workspace else value))

    def unread_settings(self) -> list[str]:
        """What the workspace's own file says and may not say: nobody reads it."""
        settings = (self._own_file() or {}).get("settings", {})
        return [env for env in settings if not may_be_in_workspace(env)] if isinstance(settings, dict) else []

    def _change_settings(self, env: str, value: object) -> None:
        from zaxy.file_lock import locked
        from zaxy.security.paths import own_folder

        if value is None and env not in self.stored_settings().workspace:
            return
        own_folder(self.eventloom, create=True)
        with locked(os.path.join(self.eventloom, LOCK_FILE)):  # of two processes, one would undo what the other did
            kept = self._read()
            settings = {**_object(kept, "settings"), env: value}
            kept["settings"] = {env: value for env, value in settings.items() if value is not None}
            self._write(kept, os.replace)

    # The file

    def _own_file(self) -> dict[str, Any] | None:
        """What the workspace's file says; None for one that this user neither made nor trusts."""
        if not os.path.lexists(self.identity_file):
            is_new = not holds_a_log(self.eventloom)
            return {} if is_new or was_here_before(self.eventloom, self.identity_file) else None
        kept = self._read()
        if is_marked(kept):
            return kept
        if not was_here_before(self.eventloom, self.identity_file):
            return None
        if is_id(kept.get("id")):
            with suppress(ZaxyError):  # a folder that cannot be written to stays as it is
                self._write(marked(kept), os.replace)
        return kept

    def _read(self) -> dict[str, Any]:
        try:
            kept = read_small_json(self.identity_file)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise self._damaged(error.strerror or str(error)) from None
        except ValueError as error:
            raise self._damaged(f"it is not JSON: {error}") from None
        if not isinstance(kept, dict):
            raise self._damaged("it is not a JSON object")
        return kept

    def _write(self, kept: dict[str, Any], put: Callable[[str, str], None]) -> None:
        """`os.link` puts it there only if nobody was faster: of two processes that make an id, one wins."""
        import json

        from zaxy.atomic_write import atomic_write
        from zaxy.security.paths import own_folder

        own_folder(self.eventloom, create=True)
        try:
            atomic_write(self.identity_file, (json.dumps(kept, indent=2, sort_keys=True) + "\n").encode(), put=put)
        except FileExistsError:
            pass
        except OSError as error:
            raise Unavailable(
                f"{self.identity_file} cannot be written: {error.strerror}",
                "Make the folder writable, or choose another with --workspace or EVENTLOOM_PATH.",
            ) from None

    def _damaged(self, reason: str) -> ZaxyError:
        return Unavailable(
            f"{self.identity_file} cannot be read: {reason}",
            "Fix the file, or move it away: Zaxy then makes a new one with a new workspace id.",
        )


def store_for_all(env: str, value: object) -> None:
    """Keep a setting for all workspaces of this user; None takes it out again."""
    change_state(USER_SETTINGS, lambda state: _set(state, "everywhere", env, value))


def _keep(state: dict[str, Any], identity: str, env: str, value: object) -> None:
    workspaces = dict(_object(state, "workspaces"))
    _set(workspaces, identity, env, value)
    state["workspaces"] = {name: kept for name, kept in workspaces.items() if kept}


def _set(state: dict[str, Any], name: str, env: str, value: object) -> None:
    kept = {**_object(state, name), env: value}
    state[name] = {env: value for env, value in kept.items() if value is not None}


def _object(kept: Mapping[str, Any], name: object) -> Mapping[str, Any]:
    found = kept.get(str(name))
    return found if isinstance(found, dict) else {}


def find_workspace(
    workspace: str | None = None,
    eventloom_path: str | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> Workspace:
    """The first of: what was passed, EVENTLOOM_PATH, an ancestor's log, the client's project, a git root, here."""
    environ = os.environ if environ is None else environ
    if workspace:
        root = os.path.abspath(os.path.expanduser(workspace))
        eventloom = (
            os.path.abspath(os.path.expanduser(eventloom_path)) if eventloom_path else os.path.join(root, FOLDER)
        )
        return Workspace(root, eventloom, "--workspace")
    for path, chosen_by in (
        (eventloom_path, "--eventloom-path"),
        (environ.get("EVENTLOOM_PATH"), "EVENTLOOM_PATH"),
    ):
        if path:
            eventloom = os.path.abspath(os.path.expanduser(path))
            return Workspace(os.path.dirname(eventloom), eventloom, chosen_by)
    here = os.path.abspath(cwd or os.getcwd())
    nearest, passed_over = _nearest_log(here)
    candidates: tuple[tuple[str | None, str], ...] = (
        (nearest, f"the nearest {FOLDER}"),
        (environ.get("CLAUDE_PROJECT_DIR"), "CLAUDE_PROJECT_DIR"),
        (_nearest_with(here, ".git"), "the nearest .git"),
        (here, "the current folder"),
    )
    for folder, chosen_by in candidates:
        if folder and not _too_wide(folder) and _may_be_used(os.path.join(folder, FOLDER)):
            return Workspace(folder, os.path.join(folder, FOLDER), chosen_by, passed_over)
    if passed_over:
        raise Forbidden(
            f"{passed_over} belongs to another user",
            f"If you want to use it all the same, name it: --workspace {os.path.dirname(passed_over)}",
        )
    raise InvalidRequest(
        f"{here} is not taken as a workspace: memory would span everything below it",
        "Change into a project's folder, or name one with --workspace or EVENTLOOM_PATH.",
    )


def _nearest_log(start: str) -> tuple[str | None, str]:
    """The nearest folder with a log that nobody else has put there, and the first that somebody has: a stranger who may
    write to a folder above a project could otherwise have everything of that project recorded there."""
    passed_over, folder = "", _nearest_with(start, FOLDER)
    while folder and not _may_be_used(os.path.join(folder, FOLDER)):
        passed_over = passed_over or os.path.join(folder, FOLDER)
        folder = _nearest_with(os.path.dirname(folder), FOLDER)
    return folder, passed_over


def _may_be_used(eventloom: str) -> bool:
    try:
        return is_of_this_user(eventloom)
    except OSError:
        return True  # there is none, or the error comes when it is opened


def _nearest_with(start: str, name: str) -> str | None:
    folder = start
    while not _too_wide(folder):
        if os.path.lexists(os.path.join(folder, name)):
            return folder
        folder = os.path.dirname(folder)
    return None


def _too_wide(folder: str) -> bool:
    """Whether it is a file system's root or the home folder, which are workspaces only when named."""
    real = os.path.realpath(folder)
    return os.path.dirname(real) == real or real == os.path.realpath(os.path.expanduser("~"))


def default_session(workspace: Workspace, environ: Mapping[str, str] | None = None) -> str:
    """The session that every surface uses when none is named."""
    named = Settings(environ, workspace.stored_settings()).eventloom_thread
    return named or f"{domain_of(workspace, environ)}-default"


def domain_of(workspace: Workspace, environ: Mapping[str, str] | None = None) -> str:
    """What keeps one project's default session apart from another's: set, or made from the folder's name."""
    return named_domain(workspace, environ) or f"ws-{workspace.identity()[:8]}"


def named_domain(workspace: Workspace, environ: Mapping[str, str] | None = None) -> str:
    """The domain as set or made from the folder's name; empty where that has no letter to make one of."""
    return _slug(Settings(environ, workspace.stored_settings()).domain or os.path.basename(workspace.root))


def _slug(name: str) -> str:
    """Lower-case ASCII letters and digits, with single hyphens for all else; empty if nothing is left."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in name.lower())
    return "-".join(plain.split())[:100].rstrip("-")


def stored_settings_here() -> Stored:
    """What is kept for the workspace of the current folder; of the user's alone where there is no workspace."""
    try:
        workspace = find_workspace()
    except ZaxyError:
        return Stored(everywhere=_object(read_state(USER_SETTINGS), "everywhere"))
    return workspace.stored_settings()
