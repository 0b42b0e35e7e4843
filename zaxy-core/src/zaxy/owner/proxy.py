"""A server's own client, pumped line by line through the owner's socket; when the owner dies, this may take over.

Nothing heavy is imported here: a server that only pumps is small and starts at once.
"""

from __future__ import annotations

import os
import select
import signal
from time import monotonic

from zaxy.errors import ZaxyError
from zaxy.owner.handshake import PING, Caller
from zaxy.owner.lines import ClientLines, Connection, Lost
from zaxy.owner.owner import SECONDS_TO_START, Owner, connect, is_starting, silent, try_to_own, unreachable
from zaxy.owner.requests import Waiting, params_of, parsed_message, refusal, request_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from zaxy.owner.owner import Serve
    from zaxy.owner.stand_in import StandIn
    from zaxy.workspace import Workspace

READ_AT_ONCE = 64 << 10
MAX_WAITING = 8 << 20
"""Bytes that wait for the owner or for the client before no more are read from the other side."""
BETWEEN_TRIES = 0.03
BETWEEN_LOOKS = 0.25
PATIENCE = 5.0
"""Seconds that a request waits for an owner to be there; a take-over needs about one of them."""
QUIET = 3.0
"""Seconds without a word from the owner, while a request waits, before it is asked whether it lives."""
UNANSWERED = 4.0
"""Seconds that it then has to say so."""
TO_FINISH = 1.0
TO_CLOSE = 1.2
ERA_MARK = "io.modelcontextprotocol/protocolVersion"


class Pump:
    """`client_in` and `client_out` are the client's ends; `serve` is for the case that this process is the owner.

    `without_graph` serves this client alone while the owner cannot be asked: the log needs no graph.
    """

    def __init__(
        self,
        workspace: Workspace,
        caller: Caller,
        *,
        client_in: int,
        client_out: int,
        serve: Serve,
        without_graph: Callable[[ZaxyError], Serve],
    ) -> None:
        self._workspace = workspace
        self._caller = caller
        self._in = client_in
        self._out = client_out
        self._serve = serve
        self._without_graph = without_graph
        self._from_client = ClientLines()
        self._to_client = bytearray()
        self._owner: Owner | None = None
        self._connection: Connection | None = None
        self._stand_in: StandIn | None = None
        self._to_stand_in: Connection | None = None
        """Kept while the owner is asked again: its end would be noted as the client's."""
        self._sought = 0.0
        """When the owner was last looked for while something stood in for it."""
        self._ping: Connection | None = None
        self._pinged = 0.0
        """Since when the owner is being asked whether it lives; 0 while it is not."""
        self._starting = 0.0
        """When the owner, while it was asked, was last seen to be starting."""
        self._heard = monotonic()
        self._waiting: dict[str, Waiting] = {}
        self._sent: set[str] = set()
        """Which of those that wait were sent to the owner that there is now."""
        self._given_up: set[str] = set()
        """Those that were sent and are not waited for any more."""
        self._initialize = b""
        self._initialize_key = ""
        self._initialized = b""
        self._introducing = False
        """Whether the new owner has yet to answer the handshake, which the client knows nothing of."""
        self._leaving = 0.0
        """When the client closed its end, or this process was asked to stop; 0 before."""

    def run(self) -> None:
        """Pump until the client has gone. An error of this process's own as the owner is raised."""
        stop_pipe, tell = os.pipe()
        os.set_blocking(tell, False)
        # Not from a handler of ours: one that comes just before the poll below, or to another thread, would not end it.
        signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        try:
            while not self._has_ended():
                self._turn(stop_pipe)
        except BrokenPipeError:
            pass  # the client reads no more, so there is nobody to serve
        finally:
            for served in (self._stand_in, self._owner):
                if served is not None:
                    served.close(TO_CLOSE)

    def _has_ended(self) -> bool:
        if not self._leaving:
            return False
        return (self._connection is None and not self._to_client) or monotonic() > self._leaving + TO_FINISH

    def _turn(self, stop_pipe: int) -> None:
        if self._connection is None and not self._leaving:
            self._reach_owner()
        ready = self._ready(stop_pipe)
        if stop_pipe in ready:
            os.read(stop_pipe, READ_AT_ONCE)
            self._leave()
        if self._out in ready:
            self._write_to_client(ready[self._out])
        if self._in in ready and not self._leaving:
            self._read_client()
        for connection in (self._connection, self._ping):
            if connection is not None and connection.fileno() in ready:
                self._attend(connection)
        self._look_after(monotonic())

    def _ready(self, stop_pipe: int) -> dict[int, int]:
        """Descriptors that can be read or written, after waiting for one."""
        poll = select.poll()
        poll.register(stop_pipe, select.POLLIN)
        poll.register(self._out, select.POLLOUT if self._to_client else 0)
        if not self._leaving and self._has_room():
            poll.register(self._in, select.POLLIN)
        for connection in (self._connection, self._ping):
            if connection is not None:
                reading = select.POLLIN if len(self._to_client) < MAX_WAITING else 0
                poll.register(connection.fileno(), reading | (select.POLLOUT if connection.unsent else 0))
        wait: float | None = None
        if self._connection is None and not self._leaving:
            wait = BETWEEN_TRIES
        elif self._waiting or self._leaving or self._stands_in:
            wait = BETWEEN_LOOKS
        return dict(poll.poll(None if wait is None else wait * 1000))

    def _has_room(self) -> bool:
        unsent = self._connection.unsent if self._connection else 0
        return max(unsent, sum(len(waiting.line) for waiting in self._waiting.values())) < MAX_WAITING

    # The client

    def _read_client(self) -> None:
        data = os.read(self._in, READ_AT_ONCE)
        if not data:
            self._leave()
            return
        for line, whole in self._from_client.split(data, self._connection):
            if whole:
                self._take(line)
            elif self._connection is not None:
                self._connection.send(line)  # a part of a line that is too long for anybody: the owner says so

    def _leave(self) -> None:
        """What was asked is still answered, for a moment."""
        self._leaving = self._leaving or monotonic()
        if self._connection is not None and not self._introducing:
            self._connection.finish()

    def _take(self, line: bytes) -> None:
        message = parsed_message(line)
        method, key = message.get("method"), request_key(message.get("id"))
        if method == "initialize":
            self._initialize, self._initialize_key, self._initialized = line, key, b""
        elif method == "notifications/initialized":
            self._initialized = line
        elif method == "notifications/cancelled":
            cancelled = request_key(params_of(message).get("requestId"))
            self._waiting.pop(cancelled, None)
            self._sent.discard(cancelled)
        if isinstance(method, str) and message.get("id") is not None:
            is_stateless = ERA_MARK in (params_of(message).get("_meta") or ())
            since, is_call = monotonic(), method == "tools/call"
            self._waiting[key] = Waiting(line, message["id"], since, is_call, is_stateless)
            self._sent.discard(key)
            self._send_waiting()
        elif self._connection is not None and not self._introducing:
            self._connection.send(line)

    def _write_to_client(self, ready: int) -> None:
        if ready & (select.POLLERR | select.POLLNVAL):
            raise BrokenPipeError
        if self._to_client:
            # So much can be written without blocking when the descriptor is ready.
            del self._to_client[: os.write(self._out, self._to_client[: select.PIPE_BUF])]

    # The owner

    def _reach_owner(self) -> None:
        """Connect to the owner, or become it."""
        if self._owner is not None and not self._owner.serving:
            raise self._owner.failure or RuntimeError("the owner's thread has ended")
        connection = connect(self._workspace)
        if connection is None and self._owner is None:
            self._owner = try_to_own(self._workspace, self._serve)
            connection = connect(self._workspace) if self._owner else None
        if connection is None:
            return
        self._connection = Connection(connection, self._caller.line)
        self._heard = monotonic()
        self._given_up.clear()
        self._introducing = bool(self._initialize) and self._initialize_key not in self._waiting
        if self._introducing:
            self._connection.send(self._initialize)
        self._send_waiting()

    def _send_waiting(self) -> None:
        """Send what the owner has not been sent yet, if it can be asked."""
        if self._connection is None or self._introducing or self._is_silent():
            return
        for key, waiting in self._waiting.items():
            if key not in self._sent:
                self._sent.add(key)
                self._connection.send(waiting.line)

    def _attend(self, connection: Connection) -> None:
        try:
            for line in connection.exchange():
                self._heard = monotonic()
                if connection is not self._ping:
                    self._pass_on(line)
                elif self._stands_in and not self._waiting:
                    self._connection = None  # the owner is there again
                self._stop_ping()
                self._send_waiting()
        except Lost:
            if connection is self._ping:
                self._stop_ping()
            else:
                self._lose_owner()

    def _lose_owner(self) -> None:
        assert self._connection is not None
        self._connection.close()
        if self._stands_in:
            self._to_stand_in = None
        self._connection = None
        self._introducing = False
        self._sent.clear()
        self._stop_ping()

    def _pass_on(self, line: bytes) -> None:
        message = parsed_message(line)
        if "id" in message and "method" not in message:
            key = request_key(message["id"])
            if self._introducing and key == self._initialize_key:
                self._introduced()
                return
            if key in self._given_up:
                self._given_up.discard(key)
                return
            self._waiting.pop(key, None)
            self._sent.discard(key)
        self._to_client += line

    def _introduced(self) -> None:
        assert self._connection is not None
        self._introducing = False
        if self._initialized:
            self._connection.send(self._initialized)
        self._send_waiting()
        if self._leaving:
            self._connection.finish()

    # An owner that is not there, or does not answer

    @property
    def _stands_in(self) -> bool:
        """Whether the client is served without the graph at the moment."""
        return self._connection is not None and self._connection is self._to_stand_in

    def _look_after(self, now: float) -> None:
        if self._stands_in:
            self._seek_owner(now)
            return
        if not self._waiting:
            return
        oldest = next(iter(self._waiting.values())).since
        if self._connection is None:
            if now - oldest > PATIENCE:
                self._serve_without_owner(unreachable(self._workspace), now - PATIENCE)
        elif now - max(self._heard, oldest) > QUIET:
            self._ask_for_life(now)
        if self._is_silent():
            self._serve_without_owner(silent(self._workspace), now)

    def _serve_without_owner(self, error: ZaxyError, asked_before: float) -> None:
        """Answer what waits without the graph. What the owner was sent is sent again: its key writes nothing twice."""
        if self._connection is not None:
            self._lose_owner()
        if self._leaving or not self._has_stand_in(error):
            self._give_up(error, asked_before)
            return
        self._connection = self._to_stand_in
        self._send_waiting()

    def _has_stand_in(self, error: ZaxyError) -> bool:
        """Start it the first time. The handshake goes to it then, and its answer is the client's if that waits."""
        if self._stand_in is None:
            from zaxy.owner.stand_in import StandIn

            try:
                self._stand_in = StandIn(self._without_graph(error))
            except (OSError, ZaxyError):
                return False
            self._to_stand_in = Connection(self._stand_in.connection, self._caller.line)
            self._introducing = bool(self._initialize) and self._initialize_key not in self._waiting
            if self._introducing:
                self._to_stand_in.send(self._initialize)
        return self._stand_in.serving and self._to_stand_in is not None

    def _seek_owner(self, now: float) -> None:
        """Go back to the owner as soon as it answers, or can be replaced, and nothing waits for the stand-in."""
        if self._waiting or self._introducing or now - self._sought < BETWEEN_LOOKS:
            return
        self._sought = now
        if self._ping is not None:
            return
        if (connection := connect(self._workspace)) is not None:
            self._ping = Connection(connection, Caller().line + PING)
        elif (owner := try_to_own(self._workspace, self._serve)) is not None:
            self._owner, self._connection = owner, None

    def _is_silent(self) -> bool:
        if not self._pinged:
            return False
        now = monotonic()
        if now - self._pinged < SECONDS_TO_START and is_starting(self._workspace):
            self._starting = now  # its time to answer begins when it serves
        return now - max(self._pinged, self._starting) > UNANSWERED

    def _ask_for_life(self, now: float) -> None:
        self._pinged = self._pinged or now
        if self._ping is None and (connection := connect(self._workspace)) is not None:
            self._ping = Connection(connection, Caller().line + PING)

    def _stop_ping(self) -> None:
        if self._ping is not None:
            self._ping.close()
        self._ping, self._pinged = None, 0.0

    def _give_up(self, error: ZaxyError, asked_before: float) -> None:
        """Answer what has waited too long; should the owner's own answer come after all, it is left out."""
        for key, waiting in list(self._waiting.items()):
            if waiting.since <= asked_before:
                del self._waiting[key]
                if key in self._sent:
                    self._sent.discard(key)
                    self._given_up.add(key)
                self._to_client += refusal(waiting, error)
                if key == self._initialize_key:
                    self._initialize = b""
