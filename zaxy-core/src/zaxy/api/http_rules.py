"""What a provider at `http_routes` or `http_auth` may return. The server and the conformance checks hold it to this."""

from __future__ import annotations

import re
from collections.abc import Iterator

from zaxy.api.catalog import ROLES
from zaxy.api.http_models import HttpRefusal, HttpResponse, Identity

MAX_HEADERS = 64
MAX_HEADER_CHARS = 8192
MAX_NAME_CHARS = 256
MAX_SESSIONS = 10_000
MAX_REFUSAL_CHARS = 2048
WITHOUT_BODY = (204, 304)
SERVER_HEADERS = frozenset(
    "connection content-length content-type date keep-alive server te trailer transfer-encoding upgrade "
    "www-authenticate".split()
)
"""Headers that no route sets: they are about the connection, or about who is let in."""
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
_VALUE = re.compile(r"[\x20-\x7e\xa0-\xff]*")
_ASCII = re.compile(r"[\x20-\x7e]*")
_SESSIONS = re.compile(r"[A-Za-z0-9_.-]{0,128}\*?")


def response_problem(answer: object) -> str:
    """Why an answer cannot be sent; empty if it can."""
    if not isinstance(answer, HttpResponse):
        return f"returned {type(answer).__name__}, which is no HttpResponse"
    status = answer.status
    if not isinstance(status, int) or isinstance(status, bool) or not 200 <= status <= 599:
        return "has a status that is none from 200 to 599"
    body: object = answer.body
    chunks: object = answer.chunks
    if not isinstance(body, bytes):
        return "has a body that is not bytes"
    if chunks is not None and not isinstance(chunks, Iterator):
        return "has chunks that are no iterator"
    if status in WITHOUT_BODY and (body or chunks is not None):
        return f"has a body, which status {status} cannot have"
    return _header_problem(answer)


def _header_problem(answer: HttpResponse) -> str:
    if not isinstance(answer.content_type, str) or not _VALUE.fullmatch(answer.content_type):
        return "has a content type that no header can carry"
    headers = answer.headers
    if not isinstance(headers, list | tuple) or len(headers) > MAX_HEADERS:
        return f"has no list of at most {MAX_HEADERS} headers"
    for header in headers:
        if (
            not isinstance(header, list | tuple)
            or len(header) != 2
            or not all(isinstance(part, str) for part in header)
        ):
            return "has a header that is no pair of texts"
        name, value = header
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value) or len(value) > MAX_HEADER_CHARS:
            return "has a header that cannot be sent"
        if name.lower() in SERVER_HEADERS:
            return f"sets {name.lower()}, which is the server's"
    return ""


def verdict_problem(verdict: object) -> str:
    if isinstance(verdict, HttpRefusal):
        return _refusal_problem(verdict)
    if not isinstance(verdict, Identity):
        return "answered with neither an identity nor a refusal"
    name, sessions = verdict.name, verdict.sessions
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME_CHARS or not name.isprintable():
        return "gave an identity without a name"
    if verdict.role not in ROLES:
        return f"gave an identity a role that is none of {', '.join(ROLES)}"
    if not isinstance(sessions, list | tuple) or len(sessions) > MAX_SESSIONS:
        return f"gave an identity no list of at most {MAX_SESSIONS:,} sessions"
    if not all(isinstance(one, str) and one and _SESSIONS.fullmatch(one) for one in sessions):
        return "gave an identity a session that is no name, nor the beginning of one with * behind it"
    return ""


def _refusal_problem(refusal: HttpRefusal) -> str:
    if refusal.status not in (401, 403):
        return "refused with another status than 401 or 403"
    texts = refusal.message, refusal.challenge
    if not all(isinstance(text, str) and len(text) <= MAX_REFUSAL_CHARS for text in texts):
        return f"refused with something that is no text of at most {MAX_REFUSAL_CHARS:,} characters"
    return "" if _ASCII.fullmatch(refusal.challenge) else "refused with a challenge that no header can carry"
