"""HTTP requests as plugins see them, and errors as HTTP answers them."""

from __future__ import annotations

from starlette.responses import JSONResponse
from starlette.types import Scope

from zaxy.api.http_models import HttpRequest, Identity
from zaxy.errors import ZaxyError

STATUS_OF = {
    "unknown_tool": 404,
    "invalid_request": 400,
    "not_found": 404,
    "conflict": 409,
    "forbidden": 403,
    "too_large": 413,
    "unavailable": 503,
    "internal_error": 500,
}
CREDENTIALS = ("authorization", "proxy-authorization", "x-zaxy-admin-token")
"""Headers for the one that authenticates, and for nobody else."""


def request_of(scope: Scope) -> HttpRequest:
    """A request without its body."""
    peer = scope.get("client")
    return HttpRequest(
        scope["method"],
        scope["path"],
        query=scope.get("query_string", b"").decode("latin-1"),
        headers=tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]),
        peer=str(peer[0]) if peer else "",
        is_secure=scope.get("scheme") == "https",
    )


def without_credentials(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in headers if name not in CREDENTIALS)


def as_seen_by(identity: Identity | None) -> Identity | None:
    """Who a route is shown as the sender: somebody, or None."""
    return identity if identity is not None and identity.name else None


def error_response(error: ZaxyError, status: int = 0, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse(error.as_dict(), status or STATUS_OF[error.code], headers)
