"""Paths of the HTTP server that plugins answer, each plugin in its own thread, so that none can hold up the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Thread
from typing import TypeVar

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zaxy.api.http_models import HttpRequest, HttpResponse, Identity
from zaxy.api.http_rules import response_problem
from zaxy.errors import InternalError, Unavailable, ZaxyError
from zaxy.plugins.host import BoundProvider, PluginTimedOut
from zaxy.plugins.http_paths import is_within
from zaxy.plugins.manifest import ROUTES_POINT as POINT
from zaxy.plugins.route_table import PluginRoute
from zaxy.printing import say
from zaxy.serve.application import Application
from zaxy.serve.frames import MAX_FRAME
from zaxy.serve.http_bodies import read_body, refuse_large
from zaxy.serve.http_requests import as_seen_by, error_response, request_of, without_credentials
from zaxy.serve.http_responses import headers_of
from zaxy.serve.protocol import IDENTITY
from zaxy.serve.turns import Turns

Result = TypeVar("Result")
GATEWAY_TIMEOUT = 504
MAX_WAITING = 32
"""Requests that wait for one provider. It answers one after the other, as in its own thread."""
MAX_STREAMS = 16
"""Open streams of one provider: each keeps a connection."""
MAX_CHUNK = 1 << 20
PAUSE = 0.5
"""Seconds until a stream that has nothing yet is asked again."""


class PluginRoutes:
    """An ASGI application around another: requests on a route go to its provider, all others go on."""

    def __init__(
        self, inner: ASGIApp, routes: Sequence[PluginRoute], *, application: Application, stream_seconds: float
    ) -> None:
        """`stream_seconds`: after that a stream ends, and its client has to ask, and to be let in, again."""
        self._inner = inner
        self._routes = routes
        self._served = {route.name: ServedRoutes(route, application, stream_seconds) for route in routes}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" else ""
        route = next((route for route in self._routes if is_within(path, route.path)), None)
        await (self._inner if route is None else self._served[route.name])(scope, receive, send)


class ServedRoutes:
    """The routes of one provider, which is made when the first request comes."""

    def __init__(self, route: PluginRoute, application: Application, stream_seconds: float) -> None:
        self._name = route.name
        self._package = route.package
        self._application = application
        self._stream_seconds = stream_seconds
        self._turns: Turns | None = None
        self._waiting = 0
        self._streams = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await read_body(receive)
        if body is None:
            return  # its client has gone before it was whole
        if len(body) > MAX_FRAME:
            await refuse_large(scope, receive, send)
            return
        identity = scope.get(IDENTITY)
        request = request_of(scope)
        request = replace(
            request, headers=without_credentials(request.headers), body=body, identity=as_seen_by(identity)
        )
        try:
            answer = await self._in_turn(partial(self._answer, request, identity))
            if answer.chunks is not None and self._streams >= MAX_STREAMS:
                raise Unavailable(f"{self._package} has {MAX_STREAMS} open streams", "Close one, or wait.")
        except PluginTimedOut as error:
            await error_response(self._blamed(request, error), GATEWAY_TIMEOUT)(scope, receive, send)
        except ZaxyError as error:
            shown = self._blamed(request, error) if error.code == "internal_error" else error
            await error_response(shown)(scope, receive, send)
        else:
            await self._send(answer, receive, send)

    def _answer(self, request: HttpRequest, identity: Identity | None) -> HttpResponse:
        """In a thread that waits for the plugin's own."""
        from zaxy.access import access_to  # with memory, which the server opens when it is first needed

        self._application.count_call()
        permission = self._application.permission_of(identity)
        memory = access_to(self._application.memory, permission, package=self._package)
        answer = self._provider().call("answer", request, memory)
        problem = response_problem(answer)
        if problem:
            raise InternalError(f"its answer {problem}", self._report())
        assert isinstance(answer, HttpResponse)
        return answer

    def _provider(self) -> BoundProvider:
        """Imported and made when it is first asked for; that it cannot be counts as a call that failed."""
        try:
            return self._application.memory.recall.host.get(POINT, self._name)
        except PluginTimedOut:
            raise
        except ZaxyError as error:
            raise InternalError(error.message, error.remediation) from None

    def _blamed(self, request: HttpRequest, error: ZaxyError) -> ZaxyError:
        """What a plugin's own exception says is for its author, on stderr: it may tell paths and secrets."""
        say(f"zaxy: {request.method} {request.path[:128]}: {error.message}", err=True)
        if isinstance(error, PluginTimedOut):
            return Unavailable(f"{self._name} ({self._package}) did not answer in time", error.remediation)
        return InternalError(f"{self._name} ({self._package}) failed", error.remediation)

    def _report(self) -> str:
        return f"Report it to the authors of {self._package}."

    async def _in_turn(self, work: Callable[[], Result]) -> Result:
        if self._turns is None:
            self._turns = Turns(1)
        if self._waiting >= MAX_WAITING:
            raise Unavailable(f"{MAX_WAITING} requests wait for {self._package}", "Try again in a moment.")
        self._waiting += 1
        try:
            return await self._turns.run(work)
        finally:
            self._waiting -= 1

    # Streams

    async def _send(self, answer: HttpResponse, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": answer.status, "headers": headers_of(answer)})
        more = answer.chunks is not None
        await send({"type": "http.response.body", "body": answer.body, "more_body": more})
        if answer.chunks is not None:
            await self._stream(answer.chunks, receive, send)

    async def _stream(self, chunks: Iterator[bytes], receive: Receive, send: Send) -> None:
        """Send what comes, until it ends, the client goes, or the time is up. What fails is cut off, not finished."""
        self._streams += 1
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_until_gone, receive, tasks.cancel_scope)
                with anyio.move_on_after(self._stream_seconds):
                    while (chunk := await self._in_turn(partial(self._next, chunks))) is not None:
                        await self._pass_on(chunk, send)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                tasks.cancel_scope.cancel()
        except* ZaxyError as failed:
            say(f"zaxy: a stream of {self._package} was cut off: {failed.exceptions[0]}", err=True)
        finally:
            self._streams -= 1
            self._end(chunks)

    async def _pass_on(self, chunk: bytes, send: Send) -> None:
        if chunk:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        else:
            await anyio.sleep(PAUSE)

    def _next(self, chunks: Iterator[bytes]) -> bytes | None:
        chunk = self._provider().guarded("chunks", lambda: next(chunks, None))
        if chunk is not None and not (isinstance(chunk, bytes) and len(chunk) <= MAX_CHUNK):
            raise InternalError(f"a chunk is not bytes, or has more than {MAX_CHUNK:,}", self._report())
        return chunk

    def _end(self, chunks: Iterator[bytes]) -> None:
        """Let a generator that was not read to its end close what it has open, in the plugin's own thread."""

        def end() -> None:
            with suppress(ZaxyError):
                self._provider().guarded("chunks", getattr(chunks, "close", lambda: None))

        Thread(target=end, name="zaxy-stream-end", daemon=True).start()


async def _until_gone(receive: Receive, stream: anyio.CancelScope) -> None:
    """Cancel the stream when its client has gone."""
    message: Message = {"type": ""}
    while message["type"] != "http.disconnect":
        message = await receive()
    stream.cancel()
