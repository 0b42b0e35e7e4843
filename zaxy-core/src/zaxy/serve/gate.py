"""What stands before the HTTP server: only loopback hosts, only known origins, and no body that cannot be answered."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import Any

from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zaxy.errors import Forbidden, TooLarge, ZaxyError
from zaxy.serve.frames import MAX_FRAME, Unreadable, read_frame
from zaxy.serve.limits import Unanswered
from zaxy.serve.protocol import REFUSAL

FORBIDDEN, TOO_LARGE = 403, 413
MAX_PORT = 65535
_HOST = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9.-]{1,253}))(?::(?P<port>[0-9]{1,5}))?")
"""A Host header as RFC 9110 has it, as far as a name or address of this machine can be written."""


class Gate:
    """An ASGI application around another. It keeps web pages and rebound names away from a server on loopback."""

    def __init__(
        self,
        inner: ASGIApp,
        allowed_origins: Iterable[str] = (),
        *,
        require_origin: bool = False,
        unanswered: Unanswered | None = None,
    ) -> None:
        """While there are too many calls in `unanswered`, no more are read."""
        self._inner = inner
        self._unanswered = unanswered or Unanswered()
        self._allowed = {origin.rstrip("/").lower() for origin in allowed_origins}
        self._require_origin = require_origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(headers)
        if refusal is not None:
            await JSONResponse(refusal.as_dict(), FORBIDDEN)(scope, receive, send)
            return
        if scope["method"] != "POST":
            await self._inner(scope, receive, send)
            return
        await self._unanswered.room()
        body = await _body(receive)
        if body is None:
            return  # its client has gone before it was whole
        if len(body) > MAX_FRAME:
            too_large = TooLarge(
                f"the request has more than {MAX_FRAME:,} bytes",
                "Send it in several calls.",
            )
            await JSONResponse(too_large.as_dict(), TOO_LARGE, {"connection": "close"})(scope, receive, send)
            return
        frame = read_frame(body)
        call = frame.as_call(_envelope(headers)) if isinstance(frame, Unreadable) else None
        if isinstance(frame, Unreadable) and call is not None:
            if call.params is not None and not call.params["name"]:
                call.params["name"] = headers.get("mcp-name", "")
            scope, body = {**scope, REFUSAL: frame.error}, call.model_dump_json(exclude_unset=True).encode()
        await self._inner(scope, _replay(body, receive), send)

    def _refusal(self, headers: Headers) -> ZaxyError | None:
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        for name, given in (("Host", hosts), ("Origin", origins)):
            if len(given) > 1:
                return Forbidden(f"the request has {len(given)} {name} headers", f"Send one {name} header.")
        host, origin = "".join(hosts), origins[0] if origins else None
        if not is_loopback(_host_name(host)):
            return Forbidden(f"the host {host!r:.80} is not this machine", "Call the server by its loopback address.")
        if origin is None:
            if not self._require_origin:
                return None
            return Forbidden("the request has no Origin", "Send one, or unset ZAXY_HTTP_REQUIRE_ORIGIN.")
        if origin.lower() in self._allowed or _is_loopback_origin(origin):
            return None
        return Forbidden(
            f"the origin {origin!r:.80} is not allowed", "Add it to ZAXY_HTTP_ALLOWED_ORIGINS if you trust it."
        )


def is_loopback(name: str) -> bool:
    """Whether a host's name or address can only mean this machine."""
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _host_name(host: str) -> str:
    """The name or address in a Host header, without its port; empty if anything in it is malformed."""
    found = _HOST.fullmatch(host)
    if found is None or int(found["port"] or 0) > MAX_PORT:
        return ""
    if found["v6"] is None:
        return str(found["name"])
    return str(found["v6"]) if ":" in found["v6"] else ""


def _is_loopback_origin(origin: str) -> bool:
    scheme, mark, host = origin.partition("://")
    return bool(mark) and scheme.lower() in ("http", "https") and is_loopback(_host_name(host))


def _envelope(headers: Headers) -> Mapping[str, Any] | None:
    """The envelope of a request in the newer protocol, made from its headers where the body's own is lost."""
    version = headers.get("mcp-protocol-version")
    if version is None or version in HANDSHAKE_PROTOCOL_VERSIONS:
        return None
    client = {"name": "unknown", "version": "0"}
    return {PROTOCOL_VERSION_META_KEY: version, CLIENT_INFO_META_KEY: client, CLIENT_CAPABILITIES_META_KEY: {}}


async def _body(receive: Receive) -> bytes | None:
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


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
