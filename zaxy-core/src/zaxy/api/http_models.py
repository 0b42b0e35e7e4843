"""What passes between the HTTP server and plugins: a request, who it is from, and what is answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qsl


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a request is from, and what they may do."""

    name: str
    """It stands in the record of tool calls."""
    role: str = "reader"
    """`reader` asks; `writer` records too; `admin` may do everything."""
    sessions: tuple[str, ...] = ()
    """The sessions it may use: whole names, or beginnings with `*` behind them; `*` alone is all of them."""


NOBODY = Identity("")
"""Who sends a request on a public path: it may use no session."""


@dataclass(frozen=True, slots=True)
class HttpRefusal:
    """Why a request is not let in."""

    message: str
    status: int = 401
    """401 if other credentials might help, else 403."""
    challenge: str = ""
    """The header `WWW-Authenticate`, which says what a client should send: `Bearer realm="zaxy"`."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request, after the server's own checks."""

    method: str
    path: str
    """The whole path, decoded, without the query."""
    query: str = ""
    """What stands behind the `?`, as it came."""
    headers: tuple[tuple[str, str], ...] = ()
    """Names in lower case, in the order in which they came."""
    body: bytes = field(default=b"", repr=False)
    """Empty while a request is only authenticated."""
    peer: str = ""
    """The address that the connection comes from."""
    is_secure: bool = False
    """Whether it came over TLS."""
    identity: Identity | None = None
    """Who sent it; None where nobody authenticates, and on a public path."""

    def header(self, name: str) -> str:
        """A header's value; empty if it is missing. What comes twice is joined, so that it fits nothing by mistake."""
        return ", ".join(value for key, value in self.headers if key == name.lower())

    def parameter(self, name: str) -> str:
        """The first value of a parameter in the query; empty if it is missing."""
        return next((value for key, value in parse_qsl(self.query, keep_blank_values=True) if key == name), "")


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What a route answers. The server adds the length, and the headers that keep a page to itself."""

    body: bytes = b""
    status: int = 200
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    """Further ones. A header that the server would add is replaced by one of the same name."""
    chunks: Iterator[bytes] | None = None
    """What follows the body, one by one, for as long as the client reads. An empty one means that there is nothing yet:
    the server asks again a little later. So waiting keeps no thread busy."""


def json_response(value: object, status: int = 200) -> HttpResponse:
    """A response that holds JSON."""
    return HttpResponse(json.dumps(value, ensure_ascii=False, allow_nan=False).encode(), status)


def sse_chunk(data: str, *, event: str = "", event_id: str = "") -> bytes:
    """A server-sent event, for `chunks` of a response whose content type is `text/event-stream`."""
    named = [(name, value) for name, value in (("event", event), ("id", event_id)) if value]
    lines = [f"{name}: {' '.join(value.splitlines())}" for name, value in named]
    lines += [f"data: {line}" for line in data.splitlines() or [""]]
    return ("\n".join(lines) + "\n\n").encode()
