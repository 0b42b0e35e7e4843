"""What serves a server's own client while the graph's owner lives and cannot be asked: all but the graph."""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Event, Thread

from zaxy.owner.owner import private_socket
from zaxy.printing import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

    from zaxy.owner.owner import Serve


class StandIn:
    """It holds no lock and opens no graph, so that any server may own that at any moment."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._stop = Event()
        self._listener, self.connection = _pair()
        self._thread = Thread(target=self._work, name="zaxy-stand-in", daemon=True)
        self._thread.start()

    @property
    def serving(self) -> bool:
        return self._thread.is_alive()

    def close(self, within: float) -> None:
        self._stop.set()
        self._thread.join(within)

    def _work(self) -> None:
        try:
            self._serve(self._listener, self._stop, _nobody_waits)
        except BaseException as error:  # the requests that it has are then refused, as they would be without it
            say(f"zaxy: memory cannot be served without the graph either: {error}", err=True)
        finally:
            self._listener.close()


def _pair() -> tuple[socket.socket, socket.socket]:
    """A socket that listens and the one connection to it, which nobody else can find: its name is gone again."""
    listener = private_socket()
    path = listener.getsockname()
    try:
        import socket

        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(path)
        connection.setblocking(False)
        return listener, connection
    except OSError:
        listener.close()
        raise
    finally:
        with suppress(OSError):
            os.unlink(path)
            os.rmdir(os.path.dirname(path))


def _nobody_waits() -> None:
    """The one connection is there before it serves."""
