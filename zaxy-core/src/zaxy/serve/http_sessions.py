"""Sessions of HTTP clients: when there are as many as may be, the one that is unused longest is ended for a new one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zaxy.serve.protocol import IDENTITY

SESSION = "mcp-session-id"
VERSION = "mcp-protocol-version"
NOT_THERE = Response(status_code=404)


class SessionLimit:
    """An ASGI application around the SDK's, which by itself refuses new sessions while there are too many.

    A session that is ended here ends as if its client had done it: the client's next request is answered with 404.
    The protocol then lets it begin again.
    """

    def __init__(self, inner: ASGIApp, max_sessions: int) -> None:
        self._inner = inner
        self._max_sessions = max_sessions
        self._sessions: dict[str, str] = {}
        """Those that there are, the one that was used last at the end; each with the name of the identity that opened
        it, empty where requests are not authenticated."""
        self._requests = Counter[str]()
        """How many requests of a session are being answered; an open stream is one."""
        self._opening = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        session, owner = headers.get(SESSION, ""), _name_of(scope)
        if session in self._sessions and self._sessions[session] != owner:
            await NOT_THERE(scope, receive, send)  # as for one that has ended: whose it is concerns nobody else
        elif session in self._sessions:
            with self._used(session):
                await self._inner(scope, receive, self._forgetting(session, scope["method"], send))
        elif not session and scope.get("method") == "POST" and _has_sessions(headers):
            with self._one_more():
                await self._make_room(scope)
                await self._inner(scope, receive, self._remembering(owner, send))
        else:
            await self._inner(scope, receive, send)

    @contextmanager
    def _used(self, session: str) -> Iterator[None]:
        self._requests[session] += 1
        try:
            yield
        finally:
            self._requests[session] -= 1
            if not self._requests[session]:
                del self._requests[session]
            if session in self._sessions:
                self._sessions[session] = self._sessions.pop(session)

    @contextmanager
    def _one_more(self) -> Iterator[None]:
        self._opening += 1
        try:
            yield
        finally:
            self._opening -= 1

    def _remembering(self, owner: str, send: Send) -> Send:
        async def remember(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                session = Headers(raw=message["headers"]).get(SESSION)
                if session:
                    self._sessions[session] = owner
            await send(message)

        return remember

    def _forgetting(self, session: str, method: str, send: Send) -> Send:
        """A session that its client ends, or that has ended by itself, is no longer counted."""

        async def forget(message: Message) -> None:
            if message["type"] == "http.response.start" and (method == "DELETE" or message["status"] == 404):
                self._sessions.pop(session, None)
            await send(message)

        return forget

    async def _make_room(self, scope: Scope) -> None:
        while len(self._sessions) + self._opening > self._max_sessions:
            unused = next((session for session in self._sessions if not self._requests[session]), None)
            if unused is None:
                return
            del self._sessions[unused]
            await self._inner({**scope, "method": "DELETE", "headers": _ending(unused)}, _nothing, _unheard)


def _name_of(scope: Scope) -> str:
    identity = scope.get(IDENTITY)
    return identity.name if identity else ""


def _has_sessions(headers: Headers) -> bool:
    """Whether a request is of the revisions of the protocol that have sessions."""
    version = headers.get(VERSION)
    return version is None or version in HANDSHAKE_PROTOCOL_VERSIONS


def _ending(session: str) -> list[tuple[bytes, bytes]]:
    return [(SESSION.encode(), session.encode()), (b"host", b"localhost"), (b"content-length", b"0")]


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(message: Message) -> None:
    """What ending a session answers."""
