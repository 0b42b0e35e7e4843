"""What routes of plugins answer, with the headers that every answer gets."""

from __future__ import annotations

from zaxy.api.http_models import HttpResponse
from zaxy.api.http_rules import WITHOUT_BODY

DEFAULTS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
"""A page shows recorded text, which may be anybody's: it runs no script of it, and no other page frames it."""


def headers_of(answer: HttpResponse) -> list[tuple[bytes, bytes]]:
    """The headers of an answer that has no problem."""
    given = [(name.lower(), value) for name, value in answer.headers]
    names = {name for name, _ in given}
    sent = [*given, *((name, value) for name, value in DEFAULTS.items() if name not in names)]
    if answer.status not in WITHOUT_BODY:
        sent.append(("content-type", answer.content_type))
        if answer.chunks is None:
            sent.append(("content-length", str(len(answer.body))))
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in sent]
