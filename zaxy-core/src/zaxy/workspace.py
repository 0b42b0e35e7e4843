"""The workspace: the folder whose `.eventloom` holds the log, its identity, and the settings it keeps."""

from __future__ import annotations

import json
import os

from zaxy.errors import InvalidRequest, Unavailable, ZaxyError
from zaxy.settings import Settings
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FOLDER = ".eventloom"
IDENTITY_FILE = "workspace.json"
LOCK_FILE = ".workspace.lock"
"""No session has such a name, which would have a lock of its own."""


class Workspace(NamedTuple):
    """`root` is the project's folder, `eventloom` the folder that holds the log."""

    root: str
    eventloom: str
    chosen_by: str

    @property
    def identity_file(self) -> str:
        return os.path.join(self.eventloom, IDENTITY_FILE)

    def identity(self) -> str:
        """The workspace's random id, made on first use; it survives moving the folder."""
        if not os.path.exists(self.identity_file):
            self._write({"id": os.urandom(16).hex()}, os.link)
        identity = self._read().get("id")
        if not isinstance(identity, str):
            raise self._damaged("it has no 'id'")
        return identity

    def stored_settings(self) -> dict[str, object]:
        settings = self._read().get("settings", {})
        if not isinstance(settings, dict):
            raise self._damaged("its 'settings' is not an object")
        return settings

    def store_setting(self, env: str, value: object) -> None:
        """Keep a setting in the workspace; None takes it out again."""
        from zaxy.file_lock import locked

        self.identity()
        with locked(os.path.join(self.eventloom, LOCK_FILE)):  # of two processes, one would undo what the other did
            kept = self._read()
            settings = self.stored_settings()
            settings.pop(env, None)
            if value is not None:
                settings[env] = value
            kept["settings"] = settings
            self._write(kept, os.replace)

    def _read(self) -> dict[str, object]:
        try:
            with open(self.identity_file, encoding="utf-8") as file:
                kept = json.load(file)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise self._damaged(error.strerror or str(error)) from None
        except ValueError as error:
            raise self._damaged(f"it is not JSON: {error}") from None
        if not isinstance(kept, dict):
            raise self._damaged("it is not a JSON object")
        return kept

    def _write(self, kept: dict[str, object], put: Callable[[str, str], None]) -> None:
        """`os.link` puts it there only if nobody was faster: of two processes that make an id, one wins."""
        from zaxy.atomic_write import atomic_write

        try:
            os.makedirs(self.eventloom, mode=0o700, exist_ok=True)
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
    candidates: tuple[tuple[str | None, str], ...] = (
        (_nearest_with(here, FOLDER), f"the nearest {FOLDER}"),
        (environ.get("CLAUDE_PROJECT_DIR"), "CLAUDE_PROJECT_DIR"),
        (_nearest_with(here, ".git"), "the nearest .git"),
        (here, "the current folder"),
    )
    for folder, chosen_by in candidates:
        if folder and not _too_wide(folder):
            return Workspace(folder, os.path.join(folder, FOLDER), chosen_by)
    raise InvalidRequest(
        f"{here} is not taken as a workspace: memory would span everything below it",
        "Change into a project's folder, or name one with --workspace or EVENTLOOM_PATH.",
    )


def _nearest_with(start: str, name: str) -> str | None:
    folder = start
    while not _too_wide(folder):
        if os.path.exists(os.path.join(folder, name)):
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


def stored_settings_here() -> dict[str, object]:
    """What the workspace of the current folder keeps; nothing where there is no workspace to speak of."""
    try:
        workspace = find_workspace()
    except ZaxyError:
        return {}
    return workspace.stored_settings()
