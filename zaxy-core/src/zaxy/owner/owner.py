"""The owner: the one process of a workspace that holds a graph which only one can open, and serves the others."""

from __future__ import annotations

import json
import os
import stat
import sys
from contextlib import ExitStack, suppress
from threading import Event, Thread

from zaxy import __version__
from zaxy.atomic_write import atomic_write
from zaxy.errors import Unavailable, ZaxyError
from zaxy.eventloom.disk import DISK
from zaxy.eventloom.lock import SessionLock
from zaxy.plugins.roster import BUILT_IN_GRAPH, chosen_graph, load_roster, owner_of
from zaxy.security.paths import own_folder_within, unusable_folder
from zaxy.security.small_files import read_small_json
from zaxy.settings import Settings
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from zaxy.workspace import Workspace

    Serve = Callable[[socket.socket, Event, Callable[[], None]], None]
    """Serves all that connect to a listening socket until the event is set; calls the function when it begins."""

FOLDER = "runtime"
NAME = "zaxy-embedded-owner"
SHORT_FOLDER = "zaxy-owner-"
SINGLE_PROCESS = "single-process"
MAX_PATH_CHARS = 103
"""Bytes of a socket's path, without its end: macOS has 104 with it, Linux 108."""
WAITING_TO_BE_ACCEPTED = 128


STARTING, SERVING = "starting", "serving"
SECONDS_TO_START = 60.0
"""That an owner may be silent while it imports and opens what it serves: on a busy machine that takes its time."""


class OwnerRecord(NamedTuple):
    """Who owns a workspace's graph, as `zaxy-embedded-owner.json` tells it. Only a held lock makes it true."""

    pid: int
    started: str
    socket: str
    version: str
    state: str = SERVING


def needs_owner(workspace: Workspace) -> bool:
    """Whether the graph that the workspace chose can be opened by one process only. No plugin is imported."""
    settings = Settings(stored=workspace.stored_settings())
    graph = chosen_graph(settings)
    if graph == BUILT_IN_GRAPH and not settings.plugins_prefer:
        return False  # it is the core's own, so the manifests of all other packages need not be read
    provider = owner_of(load_roster(settings), "projection_backends", graph)
    return provider is not None and SINGLE_PROCESS in provider[1].capabilities


def runtime_folder(workspace: Workspace) -> str:
    return os.path.join(workspace.eventloom, FOLDER)


def owner_record(workspace: Workspace) -> OwnerRecord | None:
    """What the record says, true or stale."""
    return _read_record(runtime_folder(workspace))


def is_starting(workspace: Workspace) -> bool:
    """Whether the owner's record says that it has yet to begin to serve."""
    record = owner_record(workspace)
    return record is not None and record.state != SERVING


def _read_record(folder: str) -> OwnerRecord | None:
    try:
        fields = read_small_json(_file(folder, "json"))
        fields = {"state": SERVING, **fields}  # a record of an older version has none
        return OwnerRecord(int(fields["pid"]), *(str(fields[name]) for name in OwnerRecord._fields[1:]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def connect(workspace: Workspace) -> socket.socket | None:
    """A connection to the owner, which never blocks; None if nobody takes it at the moment."""
    record = owner_record(workspace)
    if record is None or not _is_own_socket(record.socket):
        return None
    connection = _unix_socket()
    connection.setblocking(False)  # an owner that hangs leaves callers standing once enough have come
    try:
        connection.connect(record.socket)
    except OSError:
        connection.close()
        return None
    return connection


class Owner:
    """This process as the owner, from `try_to_own` until `close` or until the process ends."""

    def __init__(self, folder: str, lock: ExitStack, listener: socket.socket, serve: Serve) -> None:
        self._folder = folder
        self._lock = lock
        self._listener = listener
        self._serve = serve
        self._stop = Event()
        self.failure: BaseException | None = None
        self._thread = Thread(target=self._work, name="zaxy-owner", daemon=True)
        self._thread.start()

    @property
    def serving(self) -> bool:
        return self._thread.is_alive()

    def close(self, within: float) -> None:
        """Stop serving and let go: others may own it when this returns, or when the process has ended."""
        self._stop.set()
        self._thread.join(within)
        if self.serving:
            return  # it may still hold the graph, so the lock is left to the end of the process
        _clear(self._folder)
        self._lock.close()

    def _work(self) -> None:
        try:
            self._serve(self._listener, self._stop, self._note_serving)
        except BaseException as error:  # the servers that wait for this owner say why, also after an exit
            self.failure = error
        finally:
            self._listener.close()

    def _note_serving(self) -> None:
        _write_record(self._folder, self._listener.getsockname(), SERVING)


def try_to_own(workspace: Workspace, serve: Serve) -> Owner | None:
    """Become the owner and serve in a thread; None if another process is. What a dead owner left is cleared away."""
    folder = own_folder_within(workspace.eventloom, FOLDER, create=True)
    with ExitStack() as held:
        try:
            if not _locked(held, _file(folder, "lock")):
                return None
            _clear(folder)
            listener = _listen(folder)
            held.callback(listener.close)
            _write_record(folder, listener.getsockname(), STARTING)
        except OSError as error:
            raise unusable_folder(folder, error) from None
        return Owner(folder, held.pop_all(), listener, serve)


def is_held(workspace: Workspace) -> bool:
    """Whether a process holds the lock at the moment, whether or not it answers."""
    folder = runtime_folder(workspace)
    if not os.path.exists(_file(folder, "lock")):
        return False
    with ExitStack() as held:
        return not _locked(held, _file(folder, "lock"))


def has_left_over(workspace: Workspace) -> bool:
    """Whether there is a record or a socket of an owner, alive or dead."""
    folder = runtime_folder(workspace)
    return any(os.path.lexists(_file(folder, ending)) for ending in ("sock", "json"))


def clear_left_over(workspace: Workspace) -> bool:
    """Remove what a dead owner left; whether there was something. Nothing is touched while a process holds the lock."""
    if not has_left_over(workspace):
        return False
    folder = own_folder_within(workspace.eventloom, FOLDER, create=False)
    with ExitStack() as held:
        try:
            if not _locked(held, _file(folder, "lock")):
                return False
            _clear(folder)
        except OSError as error:
            raise unusable_folder(folder, error) from None
    return True


def unreachable(workspace: Workspace) -> ZaxyError:
    """Why the owner cannot be asked though the lock is held, which nobody steals."""
    record = owner_record(workspace)
    if record is None or not _is_running(record.pid):
        return Unavailable(
            "another process holds the lock of this workspace's graph, and nobody listens on its socket",
            f"Find it (for example: fuser {_file(runtime_folder(workspace), 'lock')}) and end it, then ask again.",
        )
    return Unavailable(
        f"process {record.pid} holds the lock of this workspace's graph, but does not listen on its socket",
        f"Ask again in a moment; if it stays so, end it (kill {record.pid}), and this server takes over.",
    )


def silent(workspace: Workspace) -> ZaxyError:
    """Why the owner's answer was not waited for."""
    record = owner_record(workspace)
    if record is None:
        return unreachable(workspace)
    pid = record.pid
    return Unavailable(
        f"process {pid}, which owns the graph of this workspace, does not answer",
        f"End it (kill -9 {pid}), and another server takes over within seconds; or let it go on (kill -CONT {pid}). "
        "What was asked may still be done when it goes on.",
    )


def _locked(held: ExitStack, path: str) -> bool:
    lock = SessionLock(path, DISK)
    held.callback(lock.close)
    try:
        held.enter_context(lock.exclusive(timeout=0))
    except ZaxyError as error:
        if error.code != "unavailable":
            raise
        return False
    return True


def _listen(folder: str) -> socket.socket:
    path = _file(folder, "sock")
    return _listening(path if len(os.fsencode(path)) <= MAX_PATH_CHARS else _short_path())


def private_socket() -> socket.socket:
    """A socket that listens in a new folder which only this user can enter."""
    return _listening(_short_path())


def _listening(path: str) -> socket.socket:
    listener = _unix_socket()
    try:
        listener.bind(path)
        os.chmod(path, 0o600)
        listener.listen(WAITING_TO_BE_ACCEPTED)
    except OSError:
        listener.close()
        raise
    return listener


def _short_path() -> str:
    """For a workspace whose own path is too long: in a folder that only this user can enter."""
    from tempfile import mkdtemp

    folder = mkdtemp(prefix=SHORT_FOLDER)
    path = _file(folder, "sock")
    if len(os.fsencode(path)) <= MAX_PATH_CHARS:
        return path
    os.rmdir(folder)
    raise Unavailable(
        f"the paths of the workspace and of the folder for temporary files are both too long for a socket: {folder}",
        "Set TMPDIR to a shorter path.",
    )


def _write_record(folder: str, path: str, state: str) -> None:
    from time import gmtime, strftime

    record = OwnerRecord(os.getpid(), strftime("%Y-%m-%dT%H:%M:%SZ", gmtime()), path, __version__, state)
    atomic_write(_file(folder, "json"), json.dumps(record._asdict()).encode())


def _clear(folder: str) -> None:
    """Remove record and socket of an owner that is no more; called with the lock held."""
    record = _read_record(folder)
    if record is not None:
        home = os.path.dirname(record.socket)
        if os.path.basename(home).startswith(SHORT_FOLDER) and _is_own_socket(record.socket):
            with suppress(OSError):
                os.unlink(record.socket)
                os.rmdir(home)
    for ending in ("sock", "json"):
        with suppress(FileNotFoundError):
            os.unlink(_file(folder, ending))


def _is_own_socket(path: str) -> bool:
    """Whether it is a socket of this user and of ours: a record that somebody planted could name any other."""
    if os.path.basename(path) != f"{NAME}.sock":
        return False
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISSOCK(status.st_mode) and status.st_uid == os.getuid()


def _file(folder: str, ending: str) -> str:
    return os.path.join(folder, f"{NAME}.{ending}")


def _unix_socket() -> socket.socket:
    if sys.platform != "win32":
        import socket

        return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    raise Unavailable(
        "this system has no local sockets, by which several processes share a graph that one process holds",
        "Use the built-in graph, which many processes can open: zaxy config set ZAXY_EMBEDDED_ENGINE sqlite",
    )


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it is somebody else's
    return True
