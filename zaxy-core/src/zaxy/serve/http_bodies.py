"""The bodies of HTTP requests: read whole before anybody works on them, and none that cannot be answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zaxy.errors import TooLarge
from zaxy.serve.frames import MAX_FRAME, Unreadable, read_frame
from zaxy.serve.limits import Unanswered
from zaxy.serve.protocol import REFUSAL

TOO_LARGE = 413


class McpBodies:
    """An ASGI application around the SDK's, which gets no message that it would not answer as a tool does."""

    def __init__(self, inner: ASGIApp, unanswered: Unanswered | None = None) -> None:
        """While there are too many calls in `unanswered`, no more are read."""
        self._inner = inner
        self._unanswered = unanswered or Unanswered()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._inner(scope, receive, send)
            return
        await self._unanswered.room()
        body = await read_body(receive)
        if body is None:
            return  # its client has gone before it was whole
        if len(body) > MAX_FRAME:
            await refuse_large(scope, receive, send)
            return
        headers = Headers(scope=scope)
        frame = read_frame(body)
        call = frame.as_call(_envelope(headers)) if isinstance(frame, Unreadable) else None
        if isinstance(frame, Unreadable) and call is not None:
            if call.params is not None and not call.params["name"]:
                call.params["name"] = headers.get("mcp-name", "")
            scope, body = {**scope, REFUSAL: frame.error}, call.model_dump_json(exclude_unset=True).encode()
        await self._inner(scope, _replay(body, receive), send)


def _envelope(headers: Headers) -> Mapping[str, Any] | None:
    """The envelope of a request in the newer protocol, made from its headers where the body's own is lost."""
    version = headers.get("mcp-protocol-version")
    if version is None or version in HANDSHAKE_PROTOCOL_VERSIONS:
        return None
    client = {"name": "unknown", "version": "0"}
    return {PROTOCOL_VERSION_META_KEY: version, CLIENT_INFO_META_KEY: client, CLIENT_CAPABILITIES_META_KEY: {}}


async def read_body(receive: Receive) -> bytes | None:
    """The whole body, or as much of it as shows that it is too large; None if it breaks off."""
    body = bytearray()
    more = True
    while more and len(body) <= MAX_FRAME:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(body)


async def refuse_large(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request whose body was not read to its end."""
    error = TooLarge(f"the request has more than {MAX_FRAME:,} bytes", "Send it in several calls.")
    await JSONResponse(error.as_dict(), TOO_LARGE, {"connection": "close"})(scope, receive, send)


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
