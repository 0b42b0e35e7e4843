"""What stands before the HTTP server: only loopback hosts, and only known origins."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from zaxy.errors import Forbidden, ZaxyError

FORBIDDEN = 403
MAX_PORT = 65535
_HOST = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9.-]{1,253}))(?::(?P<port>[0-9]{1,5}))?")
"""A Host header as RFC 9110 has it, as far as a name or address of this machine can be written."""


class Gate:
    """An ASGI application around another. It keeps web pages and rebound names away from a server on loopback."""

    def __init__(self, inner: ASGIApp, allowed_origins: Iterable[str] = (), *, require_origin: bool = False) -> None:
        self._inner = inner
        self._allowed = {origin.rstrip("/").lower() for origin in allowed_origins}
        self._require_origin = require_origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        refusal = self._refusal(Headers(scope=scope))
        if refusal is not None:
            await JSONResponse(refusal.as_dict(), FORBIDDEN)(scope, receive, send)
            return
        await self._inner(scope, receive, send)

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
