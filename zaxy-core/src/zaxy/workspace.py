"""The workspace: the folder whose `.eventloom` holds the log, its identity, and the settings it keeps."""

from __future__ import annotations

import os
from contextlib import suppress

from zaxy.errors import Forbidden, InvalidRequest, NotFound, Unavailable, ZaxyError
from zaxy.projects import AROUND, FIELD, domain_in, folder_of, place_of, places_in, project_in, slug
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
OF_A_PROJECT = ("EVENTLOOM_THREAD", "ZAXY_DOMAIN")
"""Settings that a project has for itself, also where several share a log."""
IGNORED = "# Memory stays on this machine: none of it is committed.\n*\n"


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
        """Mark a workspace that is about to get its first log as this user's own; any other stays what it is. From now
        on the project has the domain that it has now, whatever its folder is called later."""
        if self.has_begun:
            return
        if not os.path.lexists(self.identity_file) and not holds_a_log(self.eventloom):
            self.identity()
        if self.is_own:
            self.identity()
            self._change_project(lambda kept, project: {**project, "domain": self._first_domain(kept)})
            self.note_place()

    # Its project

    @property
    def _place(self) -> str:
        return place_of(self.root, self.eventloom)

    @property
    def has_begun(self) -> bool:
        """Whether the memory of this project has begun: its domain stays as it is."""
        return "domain" in project_in(self._own_file() or {}, self._place)

    @property
    def domain(self) -> str:
        """What the project's memory is named after; empty where its folder's name has no letter and it has no id."""
        return domain_in(self._own_file(), self.root, self.eventloom)

    def _first_domain(self, kept: Mapping[str, Any]) -> str:
        return domain_in(kept, self.root, self.eventloom) or f"ws-{self.identity()[:8]}"

    def projects(self) -> dict[str, str]:
        """The projects whose memory has begun in this log, by folder, with their domains."""
        with suppress(ZaxyError):  # what is wrong with the file is said where more depends on it
            kept = self._own_file() or {}
            begun = {place: project_in(kept, place).get("domain") for place in places_in(kept)}
            return {folder_of(place, self.eventloom): str(domain) for place, domain in begun.items() if domain}
        return {}

    def places(self) -> list[str]:
        """Where the log was, the last place at the end: configurations of clients may still name one of them."""
        places = project_in(self._own_file() or {}, AROUND).get("places")
        return [place for place in places if isinstance(place, str)] if isinstance(places, list) else []

    def note_place(self) -> None:
        """Keep where the log is now, before it is named in configurations."""
        if self._place == AROUND and self.has_begun and self.eventloom not in (places := self.places()):
            self._change_project(lambda _, project: {**project, "places": [*places, self.eventloom]})

    def was_at(self, eventloom: str) -> bool:
        """Whether the log was once where a path leads to."""
        with suppress(ZaxyError):
            return eventloom in self.places()
        return False

    def keep_out_of_git(self) -> None:
        """Write the list of ignored files, if there is none: memory is not committed."""
        from zaxy.atomic_write import atomic_write

        path = os.path.join(self.eventloom, ".gitignore")
        if not os.path.lexists(path):
            with suppress(OSError):  # a folder that cannot be written to is reported where that matters
                atomic_write(path, IGNORED.encode())

    def take_in(self) -> None:
        """Trust a workspace that came from elsewhere: its file and its log count as this user's own from now on."""
        from zaxy.file_lock import locked

        kept = self._read()
        self.make_folder()
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
        if (place := self._place) != AROUND:
            shared = {env: value for env, value in settings.items() if env not in OF_A_PROJECT}
            settings = {**shared, **_object(project_in(kept or {}, place), "settings")}
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
        if value is None and env not in self.stored_settings().workspace:
            return
        if env in OF_A_PROJECT and self._place != AROUND:
            self._change_project(lambda _, project: {**project, "settings": _with(project, env, value)})
        else:
            self._change(lambda kept: {**kept, "settings": _with(kept, env, value)})

    def _change_project(self, change: Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]) -> None:
        """Change what the file says of this project; the change is given the whole file and that part of it."""
        place = self._place
        self._change(lambda kept: {**kept, FIELD: {**places_in(kept), place: change(kept, project_in(kept, place))}})

    def _change(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        from zaxy.file_lock import locked

        self.make_folder()
        with locked(os.path.join(self.eventloom, LOCK_FILE)):  # of two processes, one would undo what the other did
            self._write(change(self._read()), os.replace)

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

        self.make_folder()
        try:
            atomic_write(self.identity_file, (json.dumps(kept, indent=2, sort_keys=True) + "\n").encode(), put=put)
        except FileExistsError:
            pass
        except OSError as error:
            raise Unavailable(
                f"{self.identity_file} cannot be written: {error.strerror}",
                "Make the folder writable, or choose another with --workspace or EVENTLOOM_PATH.",
            ) from None

    def make_folder(self) -> None:
        """Make the folder if there is none, with the list of ignored files; one that a person has made for the log
        and for other things too stays without, unless it has our name."""
        from zaxy.security.paths import own_folder

        is_ours = os.path.basename(self.eventloom) == FOLDER or not os.path.lexists(self.eventloom)
        own_folder(self.eventloom, create=True)
        if is_ours and not os.path.lexists(self.identity_file):
            self.keep_out_of_git()

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


def _with(kept: Mapping[str, Any], env: str, value: object) -> dict[str, Any]:
    """The settings in a part of a file with one of them changed, or without it."""
    settings = {**_object(kept, "settings"), env: value}
    return {env: value for env, value in settings.items() if value is not None}


def _object(kept: Mapping[str, Any], name: object) -> Mapping[str, Any]:
    found = kept.get(str(name))
    return found if isinstance(found, dict) else {}


def find_workspace(
    workspace: str | None = None,
    eventloom_path: str | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> Workspace:
    """The first of: what was passed, EVENTLOOM_PATH, an ancestor's log, the client's project, a git root, here.

    A path to the log says where that is, and not which project uses it: that is found from here.
    """
    environ = os.environ if environ is None else environ
    here = os.path.abspath(cwd or _current_folder())
    if workspace:
        root = _absolute(workspace)
        eventloom = _absolute(eventloom_path) if eventloom_path else os.path.join(root, FOLDER)
        if not os.path.isdir(root):
            return _moved(eventloom, here, environ, missing=root, named_by="--workspace")
        return Workspace(root, eventloom, "--workspace")
    for path, chosen_by in (
        (eventloom_path, "--eventloom-path"),
        (environ.get("EVENTLOOM_PATH"), "EVENTLOOM_PATH"),
    ):
        if path:
            eventloom = _absolute(path)
            if not os.path.isdir(missing := os.path.dirname(eventloom)):
                return _moved(eventloom, here, environ, missing=missing, named_by=chosen_by)
            return Workspace(_project_of(eventloom, here, environ), eventloom, chosen_by)
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


def workspace_at(root: str) -> Workspace:
    """The workspace of a folder that a program names."""
    folder = _absolute(root)
    return Workspace(folder, os.path.join(folder, FOLDER), "its path")


def _current_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise NotFound("the current folder is not there any more", "Change into a folder that is.") from None


def _absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))


def _moved(eventloom: str, here: str, environ: Mapping[str, str], *, missing: str, named_by: str) -> Workspace:
    """The workspace here, if its log was once where a path leads to that is gone: a configuration that was written
    before the project was renamed or moved still means it. Nothing is made for a path that was mistyped."""
    for start in (environ.get("CLAUDE_PROJECT_DIR"), here):
        folder = _nearest_log(_absolute(start))[0] if start else None
        if folder and (found := Workspace(folder, os.path.join(folder, FOLDER), "its place before")).was_at(eventloom):
            return found
    raise NotFound(
        f"there is no folder {missing}, which {named_by} leads to",
        "Check the path, or make the folder first. If the project was moved, run 'zaxy init' where it is now.",
    )


def _project_of(eventloom: str, here: str, environ: Mapping[str, str]) -> str:
    """The folder of the project for which a named log is used: two that share one have sessions of their own.

    It is the nearest that is known as a project: to this log, by a log of its own, or as a repository. Where a client
    names its project, that is where one looks. A folder that is too wide stands for the one around the log.
    """
    around, start = os.path.dirname(eventloom), _absolute(environ.get("CLAUDE_PROJECT_DIR") or here)
    if start == around:
        return around
    known, folder = Workspace(around, eventloom, "").projects(), start
    while not _too_wide(folder):
        log = os.path.join(folder, FOLDER)
        is_repository = os.path.isdir(os.path.join(folder, ".git"))  # a file is a part of one, such as a submodule
        if is_repository or os.path.realpath(folder) in known or (log != eventloom and os.path.isdir(log)):
            return folder
        folder = os.path.dirname(folder)
    nearest = _nearest_with(start, ".git") or start
    return around if _too_wide(nearest) else nearest


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
    """The domain as set, or that of the project; empty where its folder's name has no letter to make one of."""
    named = Settings(environ, workspace.stored_settings()).domain
    return slug(named) if named else workspace.domain


def stored_settings_here() -> Stored:
    """What is kept for the workspace of the current folder; of the user's alone where there is no workspace."""
    try:
        workspace = find_workspace()
    except ZaxyError:
        return Stored(everywhere=_object(read_state(USER_SETTINGS), "everywhere"))
    return workspace.stored_settings()
