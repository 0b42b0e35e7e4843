"""MCP over HTTP on loopback: streamable HTTP at /mcp, or the older SSE transport."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from zaxy.errors import Forbidden, Unavailable
from zaxy.printing import say
from zaxy.serve.application import Application
from zaxy.serve.descriptors import ended_by_signals
from zaxy.serve.frames import MAX_FRAME
from zaxy.serve.gate import Gate, is_loopback
from zaxy.serve.http_connections import HttpConnection, HttpServer, connections_within
from zaxy.serve.http_sessions import SessionLimit
from zaxy.serve.limits import Unanswered
from zaxy.serve.owner_socket import own_graph
from zaxy.serve.protocol import log_to_stderr, make_server
from zaxy.settings import Settings, Stored
from zaxy.workspace import Workspace

SECONDS_FOR_OPEN_STREAMS = 1
SECONDS_TO_CLOSE = 0.8
AUTHENTICATION = ("MCP_REMOTE_AUTH_", "MCP_OIDC_")
"""How the names of settings begin that ask for more than a server on loopback can give."""
OPEN = TransportSecuritySettings(enable_dns_rebinding_protection=False)
"""The SDK's own checks are off: the gate has stricter ones."""


def serve_http(workspace: Workspace, profile: str, *, transport: str, host: str, port: int) -> None:
    """Serve until the process is asked to stop; then end it, whatever threads still do."""
    application = Application(workspace, profile)
    _refuse_strangers(application, host)
    log_to_stderr()
    listener = _listener("127.0.0.1" if host.lower() == "localhost" else host, port)
    owner = own_graph(application)
    settings = Settings(stored=workspace.stored_settings())
    server = HttpServer(
        _configuration(http_app(application, transport)),
        max_connections=connections_within(settings.http_max_connections),
        request_seconds=settings.http_request_seconds,
    )
    anyio.run(_serve, server, listener, transport)
    (owner or application).close(within=SECONDS_TO_CLOSE)
    sys.stderr.flush()
    os._exit(0)  # as on stdio: threads of plugins must not keep the process


def _refuse_strangers(application: Application, host: str) -> None:
    promised = promised_authentication(application.workspace.stored_settings())
    if promised:
        raise Forbidden(
            f"{promised} asks for authentication over HTTP, which this server cannot check: it would answer without it",
            f"Unset {promised} to serve every program of this machine, or serve on stdio, which has no network.",
        )
    if application.production:
        raise Forbidden(
            "in production the server does not start on a network without authentication, which it does not have yet",
            "Serve on stdio, or unset ZAXY_ENV to serve this machine only.",
        )
    if not is_loopback(host):
        raise Forbidden(
            f"{host!r:.60} is not a loopback address: serving other machines needs authentication, which comes later",
            "Leave --host out, or give 127.0.0.1.",
        )


def promised_authentication(stored: Stored, environ: Mapping[str, str] = os.environ) -> str:
    """A setting that promises authentication which no transport has; empty if there is none."""
    given = {**stored.everywhere, **stored.workspace, **stored.here, **environ}
    return next((name for name in sorted(given) if name.startswith(AUTHENTICATION) and given[name]), "")


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    if os.name == "posix":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise Unavailable(
            f"{host}:{port} cannot be listened on: {error.strerror}",
            "Choose another --port; 0 takes a free one.",
        ) from None
    return listener


def http_app(application: Application, transport: str) -> ASGIApp:
    """The ASGI application of one transport, behind the gate."""
    unanswered = Unanswered()
    server = make_server(application, unanswered)
    settings = Settings(stored=application.workspace.stored_settings())
    inner = _sse_app(server) if transport == "sse" else _streamable_app(server, settings)
    return Gate(
        inner,
        settings.http_allowed_origins,
        require_origin=settings.http_require_origin,
        unanswered=unanswered,
    )


def _streamable_app(server: Server[Any], settings: Settings) -> ASGIApp:
    app = server.streamable_http_app(
        max_request_body_size=MAX_FRAME,
        session_idle_timeout=settings.http_session_seconds,
        max_sessions=settings.http_max_sessions,
        transport_security=OPEN,
    )
    return SessionLimit(app, settings.http_max_sessions)


def _sse_app(server: Server[Any]) -> ASGIApp:
    say("zaxy: the SSE transport is deprecated: use --transport http", err=True)
    messages = SseServerTransport("/messages/", OPEN, max_request_body_size=MAX_FRAME)

    async def connect(request: Request) -> Response:
        async with messages.connect_sse(request.scope, request.receive, request._send) as (read, write):
            await server.run(read, write, server.create_initialization_options())
        return Response()

    return Starlette(routes=[Route("/sse", connect), Mount("/messages/", messages.handle_post_message)])


def _configuration(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=HttpConnection,
        ws="none",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=SECONDS_FOR_OPEN_STREAMS,
        server_header=False,
    )


async def _serve(server: HttpServer, listener: socket.socket, transport: str) -> None:
    host, port = listener.getsockname()[:2]
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    path = "/sse" if transport == "sse" else "/mcp"
    say(f"listening on http://{where}{path}", err=True)
    with ended_by_signals(server.stop):
        await server.serve([listener])
