"""MCP on standard input and output, of which nothing but the protocol ever reaches the client."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket
    from threading import Event

    from zaxy.errors import ZaxyError
    from zaxy.owner.owner import Serve
    from zaxy.workspace import Workspace

SECONDS_TO_CLOSE = 1.0


def take_standard_streams() -> tuple[int, int]:
    """Keep descriptors 0 and 1 for the protocol, and leave others nothing to read and standard error to write to.

    Call it before anything else is imported: what a library, a plugin or a child prints then goes to stderr.
    """
    if sys.stdout is not None:
        sys.stdout.flush()
    read, write = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)  # there is no stderr
    os.close(nothing)
    if sys.stderr is not None:
        sys.stdout = sys.stderr
    return read, write


def serve_stdio(workspace: Workspace, profile: str, read: int, write: int) -> None:
    """Serve until the client closes its end, or until SIGTERM; then end the process, whatever threads still do."""
    import anyio

    from zaxy.serve.application import Application
    from zaxy.serve.protocol import log_to_stderr

    log_to_stderr()
    application = Application(workspace, profile)
    anyio.run(_serve, application, read, write)
    application.close(within=SECONDS_TO_CLOSE)
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(0)  # a plugin's thread that hangs, or the one that reads stdin, would keep an ordinary exit waiting


def serve_through_owner(workspace: Workspace, profile: str, read: int, write: int) -> None:
    """The same where only one process can hold the graph: through the owner's socket, be the owner this one or not."""
    from zaxy.owner.handshake import Caller
    from zaxy.owner.proxy import Pump
    from zaxy.serve.catalog import Catalog
    from zaxy.settings import Settings
    from zaxy.workspace import default_session

    profile = profile or Settings(stored=workspace.stored_settings()).tool_profile
    Catalog(()).listed(profile)  # an unknown one is refused at the start

    def serve(listener: socket, stop: Event, ready: Callable[[], None], *, withheld: ZaxyError | None = None) -> None:
        from zaxy.serve.owner_socket import serve_socket

        serve_socket(listener, stop, ready=ready, workspace=workspace, profile=profile, withheld=withheld)

    def without_graph(why: ZaxyError) -> Serve:
        return lambda listener, stop, ready: serve(listener, stop, ready, withheld=why)

    caller = Caller(os.urandom(8).hex(), default_session(workspace), profile)
    Pump(workspace, caller, client_in=read, client_out=write, serve=serve, without_graph=without_graph).run()
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(0)


async def _serve(application: object, read: int, write: int) -> None:
    import anyio

    from zaxy.serve.application import Application
    from zaxy.serve.connection import serve_streams
    from zaxy.serve.descriptors import ReadDescriptor, WriteDescriptor, ended_by_signals
    from zaxy.serve.protocol import make_server

    assert isinstance(application, Application)
    with anyio.CancelScope() as scope, ended_by_signals(scope.cancel):
        await serve_streams(make_server(application), ReadDescriptor(read), WriteDescriptor(write))
