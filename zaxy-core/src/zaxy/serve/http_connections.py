"""The connections of the HTTP server: no more than a number of them, and none that keeps it waiting for ever."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, cast

import h11
import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

from zaxy.printing import say
from zaxy.serve.accepting import accepted

KEPT_DESCRIPTORS = 64
"""What memory, its followers and plugins may need at the same time."""
MIN_CONNECTIONS = 4
MAX_WAITING_BYTES = 64 << 10
"""What may have come of later requests while one is answered, before no more is read."""
FULL = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"
LATE = [(b"connection", b"close"), (b"content-length", b"0")]


class HttpConnection(H11Protocol):
    """A connection that is closed if a request takes longer than `request_seconds` to arrive whole, from the moment
    that it is awaited or begins, or if a reply takes longer to be read on."""

    def __init__(self, request_seconds: float, **given: Any) -> None:
        super().__init__(**given)
        self._request_seconds = request_seconds
        self._late: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._dropped = False
        self.idle_since = self.loop.time()

    @property
    def is_idle(self) -> bool:
        """Whether nothing would be lost that is being answered."""
        if self._dropped:
            return False
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def drop(self) -> None:
        self._dropped = True
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = _Reading(transport, lambda: len(self.conn.trailing_data[0]))
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.flow.resume_reading()  # of the next request perhaps only a part has come
        self.idle_since = self.loop.time()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._late = _stop(self._late)
        self._unread = _stop(self._unread)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(self._request_seconds, self.drop)

    def resume_writing(self) -> None:
        self._unread = _stop(self._unread)
        super().resume_writing()

    def _watch(self) -> None:
        """Let the clock run while a request is arriving. Between two requests the keep-alive timer runs instead."""
        arriving = self.conn.their_state in (h11.IDLE, h11.SEND_BODY) and self.timeout_keep_alive_task is None
        if not arriving or self.transport.is_closing():
            self._late = _stop(self._late)
        elif self._late is None:
            self._late = self.loop.call_later(self._request_seconds, self._give_up)

    def _give_up(self) -> None:
        self._late = None
        if self.flow.read_paused:  # it is us who do not read
            self._watch()
            return
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.drop()
            return
        with suppress(h11.LocalProtocolError):
            for event in (h11.Response(status_code=408, headers=LATE), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class _Reading(FlowControl):
    """Reads on only while little has come that is not looked at yet. While a request is answered uvicorn reads on to
    notice that its client leaves, and would keep all that a client sends without waiting for answers."""

    def __init__(self, transport: asyncio.Transport, waiting: Callable[[], int]) -> None:
        super().__init__(transport)
        self._waiting = waiting

    def resume_reading(self) -> None:
        if self.read_paused and self._waiting() <= MAX_WAITING_BYTES:
            super().resume_reading()


class HttpServer(uvicorn.Server):
    """uvicorn with its connections accepted and counted here. Signals are ours too: uvicorn would raise them again
    when it has ended, before memory is closed."""

    def __init__(self, config: uvicorn.Config, *, max_connections: int, request_seconds: float) -> None:
        super().__init__(config)
        self._max_connections = max_connections
        self._request_seconds = request_seconds
        self._accepting: asyncio.Task[None] | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        assert sockets
        await super().startup(sockets=[])
        self._accepting = asyncio.create_task(self._accept(sockets[0]))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._accepting is not None:
            self._accepting.cancel()
        await super().shutdown(sockets)

    async def _accept(self, listener: socket.socket) -> None:
        protocol = partial(
            HttpConnection,
            self._request_seconds,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        async for connection in accepted(listener, self._drop_idle):
            if len(self.server_state.connections) >= self._max_connections and not self._drop_idle():
                _refuse(connection)
                continue
            try:
                await asyncio.get_running_loop().connect_accepted_socket(protocol, connection)
            except OSError:
                connection.close()

    def _drop_idle(self) -> bool:
        """Close the connection that is idle longest; whether there is one."""
        connections = cast("set[HttpConnection]", self.server_state.connections)
        idle = min((one for one in connections if one.is_idle), key=lambda one: one.idle_since, default=None)
        if idle is not None:
            idle.drop()
        return idle is not None


def connections_within(wanted: int) -> int:
    """That many connections, or as many as the process has descriptors for, beside those that it needs itself."""
    if sys.platform == "win32":
        return wanted
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY or limit >= wanted + KEPT_DESCRIPTORS:
        return wanted
    possible = max(limit - KEPT_DESCRIPTORS, MIN_CONNECTIONS)
    say(
        f"zaxy: at most {possible} connections instead of {wanted}, as the process may open {limit} files: raise "
        "'ulimit -n' for more",
        err=True,
    )
    return possible


def _refuse(connection: socket.socket) -> None:
    """All are being answered: say so without waiting for what is asked."""
    with connection, suppress(OSError):
        connection.send(FULL)
        connection.shutdown(socket.SHUT_WR)


def _stop(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """No timer, in the place of the one that is stopped."""
    if timer is not None:
        timer.cancel()
    return None
