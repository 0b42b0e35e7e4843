"""MCP for all servers of a workspace whose graph only one process can hold: the owner serves them over its socket."""

from __future__ import annotations

import asyncio
import socket
import traceback
from collections.abc import Callable
from threading import Event
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import ByteReceiveStream, ByteSendStream, TaskGroup
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp.server.lowlevel import Server

from zaxy.errors import Unavailable, ZaxyError
from zaxy.owner.handshake import MAX_BYTES, caller_of
from zaxy.owner.owner import Owner, needs_owner, owner_record, try_to_own
from zaxy.printing import say
from zaxy.serve.accepting import accepted
from zaxy.serve.application import Application
from zaxy.serve.connection import serve_streams
from zaxy.serve.protocol import log_to_stderr, make_server
from zaxy.workspace import Workspace

SECONDS_TO_INTRODUCE = 5.0
SECONDS_TO_CLOSE = 1.0
Broken = (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError, anyio.DelimiterNotFound)


Ready = Callable[[], None]


def serve_socket(
    listener: socket.socket,
    stop: Event,
    *,
    ready: Ready,
    workspace: Workspace,
    profile: str,
    withheld: ZaxyError | None = None,
) -> None:
    """Serve all that connect until `stop` is set; then let go of memory. `ready` is called when that begins.

    `withheld`: why the graph is not opened, in a server that stands in for an owner which cannot be asked.
    """
    log_to_stderr()
    _serve_until(stop, Application(workspace, profile, withheld=withheld), listener=listener, ready=ready)


def own_graph(application: Application) -> Owner | None:
    """For a server that is not on stdio: own the graph, and serve others beside; None if the graph needs no owner.

    Closing the owner closes the application too.
    """
    if not needs_owner(application.workspace):
        return None

    def serve(listener: socket.socket, stop: Event, ready: Ready) -> None:
        _serve_until(stop, application, listener=listener, ready=ready, reason="shutdown")

    owner = try_to_own(application.workspace, serve)
    if owner is not None:
        return owner
    record = owner_record(application.workspace)
    raise Unavailable(
        f"process {record.pid if record else 'of another server'} owns the graph of this workspace, and only one can",
        "Serve on stdio, which goes through the owner, or end that server first.",
    )


def _serve_until(
    stop: Event, application: Application, *, listener: socket.socket, ready: Ready, reason: str = ""
) -> None:
    anyio.run(_serve, application, listener, stop, ready)
    application.close(SECONDS_TO_CLOSE, reason)


async def _serve(application: Application, listener: socket.socket, stop: Event, ready: Ready) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_accept, application, listener, tasks)
        ready()
        await anyio.to_thread.run_sync(stop.wait, abandon_on_cancel=True)
        tasks.cancel_scope.cancel()
    listener.close()  # who comes now looks for the next owner


async def _accept(application: Application, listener: socket.socket, tasks: TaskGroup) -> None:
    server = make_server(application)
    async for connection in accepted(listener):
        tasks.start_soon(_welcome, application, server, connection)


async def _welcome(application: Application, server: Server[Any], connection: socket.socket) -> None:
    with connection:
        read, write = BufferedByteReceiveStream(_Receiving(connection)), _Sending(connection)
        try:
            with anyio.fail_after(SECONDS_TO_INTRODUCE):
                caller = caller_of(await read.receive_until(b"\n", MAX_BYTES))
            if caller is None:
                return
            await serve_streams(server, read, write, caller)
            if not caller.is_command:
                application.note_end(caller)
        except (*Broken, TimeoutError):
            pass  # it has gone, or never said who it is
        except Exception:
            say(traceback.format_exc(), err=True, end="")  # one connection must not end the others


class _Receiving(ByteReceiveStream):
    """Who accepted the connection closes it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    async def receive(self, max_bytes: int = 65536) -> bytes:
        try:
            data = await asyncio.get_running_loop().sock_recv(self._connection, max_bytes)
        except OSError as error:
            raise anyio.BrokenResourceError from error
        if not data:
            raise anyio.EndOfStream
        return data

    async def aclose(self) -> None:
        pass


class _Sending(ByteSendStream):
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    async def send(self, item: bytes) -> None:
        try:
            await asyncio.get_running_loop().sock_sendall(self._connection, item)
        except OSError as error:
            raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        pass
