"""MCP over HTTP on loopback: streamable HTTP at /mcp, or the older SSE transport."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

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
from zaxy.plugins.roster import load_roster
from zaxy.plugins.route_table import PluginRoute, routes_of
from zaxy.printing import say
from zaxy.serve.application import Application
from zaxy.serve.descriptors import ended_by_signals
from zaxy.serve.frames import MAX_FRAME
from zaxy.serve.gate import Gate, is_loopback
from zaxy.serve.http_bodies import McpBodies
from zaxy.serve.http_connections import HttpConnection, HttpServer, connections_within
from zaxy.serve.http_sessions import SessionLimit
from zaxy.serve.limits import Unanswered
from zaxy.serve.owner_socket import own_graph
from zaxy.serve.protocol import log_to_stderr, make_server
from zaxy.settings import Settings, Stored
from zaxy.workspace import Workspace

if TYPE_CHECKING:
    from zaxy.serve.http_auth import ChosenAuth

SECONDS_FOR_OPEN_STREAMS = 1
SECONDS_TO_CLOSE = 0.8
MAX_THREAD_SECONDS = 0.001
"""How long a thread that answers a call keeps the others waiting. Python's own 5 ms come again with every step of a new
client's requests, some dozen times."""
AUTHENTICATION = ("MCP_REMOTE_AUTH_", "MCP_OIDC_")
"""How the names of settings begin that ask for more than a server on loopback can give."""
OPEN = TransportSecuritySettings(enable_dns_rebinding_protection=False)
"""The SDK's own checks are off: the gate has stricter ones."""


def serve_http(workspace: Workspace, profile: str, *, transport: str, host: str, port: int) -> None:
    """Serve until the process is asked to stop; then end it, whatever threads still do."""
    application = Application(workspace, profile)
    settings = Settings(stored=workspace.stored_settings())
    routes = _plugin_routes(settings) if transport == "http" else []
    auth = _chosen_auth(application, settings, transport=transport, routes=routes)
    _refuse_strangers(application, host, auth)
    log_to_stderr()
    sys.setswitchinterval(MAX_THREAD_SECONDS)
    listener = _listener("127.0.0.1" if host.lower() == "localhost" else host, port)
    owner = own_graph(application)
    server = HttpServer(
        _configuration(http_app(application, transport, routes=routes, auth=auth)),
        max_connections=connections_within(settings.http_max_connections),
        request_seconds=settings.http_request_seconds,
    )
    anyio.run(_serve, server, listener, transport)
    (owner or application).close(within=SECONDS_TO_CLOSE)
    sys.stderr.flush()
    os._exit(0)  # as on stdio: threads of plugins must not keep the process


def _plugin_routes(settings: Settings) -> list[PluginRoute]:
    """By their manifests: no plugin is imported before the first request that it answers."""
    return routes_of(load_roster(settings), lambda message: say(f"zaxy: {message}", err=True))


def _chosen_auth(
    application: Application, settings: Settings, *, transport: str, routes: list[PluginRoute]
) -> ChosenAuth | None:
    """The provider that the user chose. One that is missing or broken stops the start: nobody is served without it."""
    if not settings.http_auth:
        return None
    if transport == "sse":
        raise Forbidden(
            "the SSE transport is deprecated, and knows no authentication",
            "Serve with --transport http, or unset ZAXY_HTTP_AUTH.",
        )
    from zaxy.serve.http_auth import ChosenAuth

    return ChosenAuth(application.memory.recall.host, settings.http_auth, routes)


def _refuse_strangers(application: Application, host: str, auth: ChosenAuth | None) -> None:
    checked = auth.settings if auth else ()
    promised = promised_authentication(application.workspace.stored_settings(), checked_elsewhere=checked)
    if promised:
        raise Forbidden(
            f"{promised} asks for authentication over HTTP, which this server cannot check: it would answer without it",
            f"Unset {promised} to serve every program of this machine, serve on stdio, which has no network, or set "
            "ZAXY_HTTP_AUTH to an installed provider that has this setting.",
        )
    if application.production and auth is None:
        raise Forbidden(
            "in production the server does not start on a network without authentication",
            "Set ZAXY_HTTP_AUTH to an installed provider, serve on stdio, or unset ZAXY_ENV.",
        )
    if not is_loopback(host):
        raise Forbidden(
            f"{host!r:.60} is not a loopback address: serving other machines comes later",
            "Leave --host out, or give 127.0.0.1.",
        )


def promised_authentication(
    stored: Stored, environ: Mapping[str, str] = os.environ, *, checked_elsewhere: Collection[str] = ()
) -> str:
    """A setting that promises authentication and that nobody looks after; empty if there is none.

    `checked_elsewhere`: the settings that the chosen provider declares.
    """
    given = {**stored.everywhere, **stored.workspace, **stored.here, **environ}
    promises = (name for name in sorted(given) if name.startswith(AUTHENTICATION) and given[name])
    return next((name for name in promises if name.removesuffix("_FILE") not in checked_elsewhere), "")


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


def http_app(
    application: Application, transport: str, *, routes: list[PluginRoute] | None = None, auth: ChosenAuth | None = None
) -> ASGIApp:
    """The ASGI application of one transport, behind the gate; with routes of plugins, and for those `auth` lets in."""
    unanswered = Unanswered()
    server = make_server(application, unanswered, authenticated=auth is not None)
    settings = Settings(stored=application.workspace.stored_settings())
    app: ASGIApp = McpBodies(_sse_app(server) if transport == "sse" else _streamable_app(server, settings), unanswered)
    if routes:
        from zaxy.serve.http_routes import PluginRoutes

        app = PluginRoutes(app, routes, application=application, stream_seconds=settings.http_session_seconds)
    if auth is not None:
        from zaxy.serve.http_auth import Authentication

        app = Authentication(app, auth)
    return Gate(app, settings.http_allowed_origins, require_origin=settings.http_require_origin)


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
