"""Finds secrets by their own shape, in any place: tokens of providers, private keys, passwords in URLs.

The shapes of tokens are a table, `shapes.txt`. Every pattern begins with a literal or a boundary, and its repetitions
are bounded or possessive, so that the time is linear in the length of the text.
"""

from __future__ import annotations

from binascii import a2b_base64

from zaxy.security import shape_table
from zaxy.security.private_keys import find_private_keys, may_have_private_keys
from zaxy.security.secret_values import is_opaque, is_placeholder, is_random, is_wordy
from zaxy.security.shape_table import Shape, pattern_of, shapes_in
from zaxy.security.spans import Span, compiled, contains_any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MASK_OR_NAME = r"[A-Za-z0-9]{0,12}[-_]?[xX*.0_-]+|[a-z]{1,12}(?:[-_](?:[a-z]{1,12}[0-9]{0,2}|[0-9]{1,4}))+"
_BOUNDARY = r"(?:[^A-Za-z0-9]|\\[nrt]|%[0-9A-Fa-f]{2}|\[[0-9;]{1,8}m)\Z"
_URL_PASSWORD = r":(?:\\?/){2}[^\s:/?#@\"'<>`\\]{0,128}+:([^\s/\"'<>`?]{1,256})@(?=[\w.\[$%{-])"
_URL_TOKEN = r":(?:\\?/){2}([^\s:/?#@\"'<>`\\]{20,256}+)@(?=[\w.\[-])"
_AWS_SECRET = r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"
_URL_HINTS = (":/", ":\\/")


def may_have_shapes(text: str) -> bool:
    """Whether the text may have such shapes. A quick test: only a yes can be wrong."""
    return (
        may_have_private_keys(text)
        or ("@" in text and contains_any(text, _URL_HINTS))
        or shape_table.may_have_shapes(text)
    )


def find_shapes(text: str) -> list[Span]:
    spans = [span for shape in shapes_in(text) for span in _find_shape(text, shape)]
    if any(span.kind == "aws_access_key" for span in spans):
        spans += _find_aws_secrets(text)
    if may_have_private_keys(text):
        spans += find_private_keys(text)
    if "@" in text and contains_any(text, _URL_HINTS):
        spans += _find_url_passwords(text)
    return spans


def _find_shape(text: str, shape: Shape) -> Iterator[Span]:
    for match in pattern_of(shape).finditer(text):
        secret = match[match.re.groups]
        if _begins(text, match.start()) and not _is_masked(secret, shape) and (shape.kind != "jwt" or _is_jwt(secret)):
            yield Span(*match.span(match.re.groups), shape.kind, 2)


def _is_masked(secret: str, shape: Shape) -> bool:
    """Whether only its beginning is that of a token, and the rest is a mask or words."""
    if len(set(secret[-16:])) < 4 or compiled(_MASK_OR_NAME).fullmatch(secret):
        return True
    literal = next((literal for literal in shape.literals if secret.startswith(literal)), "")
    return not is_random(secret[len(literal) :])


def _begins(text: str, start: int) -> bool:
    """Whether a token may begin here: after a boundary, an escape, a percent code or a terminal colour."""
    if not start or not text[start].isalnum():
        return True
    return compiled(_BOUNDARY).search(text[max(0, start - 10) : start]) is not None


def _is_jwt(token: str) -> bool:
    """Whether its first part is a header; the whole may be in base64 once more."""
    header = _from_base64(token.partition(".")[0])
    if token.startswith("ZXlK"):
        inner = compiled("[A-Za-z0-9_-]*").match(header[:400].decode("ascii", "ignore"))
        header = _from_base64(inner[0]) if inner else b""
    return b'"alg"' in header


def _from_base64(text: str) -> bytes:
    whole = len(text) - (len(text) % 4 == 1)
    try:
        return a2b_base64(text[:whole].replace("-", "+").replace("_", "/") + "=" * (-whole % 4))
    except ValueError:
        return b""


def _find_aws_secrets(text: str) -> Iterator[Span]:
    for match in compiled(_AWS_SECRET).finditer(text):
        key = match[0]
        if key != key.lower() and key != key.upper() and compiled("[0-9]").search(key):
            yield Span(*match.span(), "aws_secret_key", 2)


def _find_url_passwords(text: str) -> Iterator[Span]:
    for match in compiled(_URL_PASSWORD).finditer(text):
        if not is_placeholder(match[1]):
            yield Span(*match.span(1), "url_password")
    for match in compiled(_URL_TOKEN).finditer(text):
        if is_opaque(match[1], 20) and not is_wordy(match[1]) and not is_placeholder(match[1]):
            yield Span(*match.span(1), "url_password")
