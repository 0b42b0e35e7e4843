"""Canonical JSON (RFC 8785, JCS): the form that is hashed and stored.

The standard library's C encoder writes ordinary JSON. Its output is JCS as long as there are no floats and no keys
beyond U+D7FF; the code here writes the rest. Tests compare both with the RFC's vectors and with a reference
implementation.
"""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_DEPTH = 64
MAX_INTEGER = 2**53 - 1

_encoder = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)
_LONG = re.compile(rb"\d{16}")


class NotCanonical(ValueError):
    """The value has no canonical form. The message says where and why."""


def encode(value: object, levels: int = MAX_DEPTH) -> bytes:
    """The canonical bytes of a JSON value. A value that JSON or the log cannot hold raises `NotCanonical`.

    `levels`: how deep objects and lists may be nested.
    """
    plain = _check(value, levels, "")
    text = _encoder.encode(value) if plain else "".join(_write(value))
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise NotCanonical(f"a text has half of a surrogate pair at character {error.start}") from None


def encode_plain(value: object) -> bytes:
    """The same for a value that surely holds only texts, small integers and ASCII keys."""
    return _encoder.encode(value).encode()


def decode(data: bytes) -> object:
    """The value of a JSON text. An integer that a double cannot hold exactly becomes a float.

    A payload's 1e16 is stored as 10000000000000000, and must be read as a float again.
    """
    if _LONG.search(data):
        return json.loads(data, parse_int=_integer)
    return json.loads(data)


def _integer(digits: str) -> int | float:
    exact = int(digits)
    return exact if -MAX_INTEGER <= exact <= MAX_INTEGER else float(digits)


def _check(value: object, levels: int, where: str) -> bool:
    """Refuse a value without a canonical form. True if the C encoder's output is canonical for it."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if kind is int:
        if not -MAX_INTEGER <= value <= MAX_INTEGER:  # type: ignore[operator]
            raise NotCanonical(f"{_place(where)} is beyond ±(2^53−1): send it as a string")
        return True
    if kind is float:
        if value - value != 0:  # type: ignore[operator]
            raise NotCanonical(f"{_place(where)} is not a finite number")
        return False
    if levels <= 0:
        raise NotCanonical(f"it is nested more than {MAX_DEPTH} deep")
    plain = True
    if kind is dict:
        for key, item in value.items():  # type: ignore[attr-defined]
            if type(key) is not str:
                raise NotCanonical(f"{_place(where)} has a key that is a {type(key).__name__} and not a text")
            if not key.isascii() and max(key) > "\ud7ff":
                plain = False
            if not _check(item, levels - 1, f"{where}/{key}" if levels > MAX_DEPTH - 3 else where):
                plain = False
        return plain
    if kind is list or kind is tuple:
        for item in value:  # type: ignore[attr-defined]
            if not _check(item, levels - 1, where):
                plain = False
        return plain
    raise NotCanonical(f"{_place(where)} is a {kind.__name__}, which JSON does not have")


def _place(where: str) -> str:
    return f"{where!r:.80}" if where else "it"


def _write(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield encode_basestring(value)
    elif value is None or isinstance(value, bool):
        yield "null" if value is None else "true" if value else "false"
    elif isinstance(value, int):
        yield str(value)
    elif isinstance(value, float):
        yield number(value)
    elif isinstance(value, dict):
        yield from _write_object(value)
    else:
        yield "["
        for index, item in enumerate(value):  # type: ignore[arg-type, var-annotated]
            if index:
                yield ","
            yield from _write(item)
        yield "]"


def _write_object(value: Mapping[str, object]) -> Iterator[str]:
    yield "{"
    for index, key in enumerate(sorted(value, key=_utf16)):
        yield f"{',' if index else ''}{encode_basestring(key)}:"
        yield from _write(value[key])
    yield "}"


def _utf16(key: str) -> bytes:
    """Keys sort by UTF-16 code units, an order that differs from code points beyond the basic plane."""
    return key.encode("utf-16-be", "surrogatepass")


def number(value: float) -> str:
    """A finite double as ECMAScript prints it: the fewest digits that read back as the same value."""
    if value == 0:
        return "0"
    sign, magnitude = ("-", -value) if value < 0 else ("", value)
    digits, _, exponent = repr(magnitude).partition("e")
    whole, _, fraction = digits.partition(".")
    # `point`: the place of the decimal point, counted from the first significant digit.
    point = len(whole) + int(exponent or 0)
    significant = whole + (fraction if fraction != "0" else "")
    point -= len(significant) - len(significant.lstrip("0"))
    significant = significant.lstrip("0")
    significant = significant.rstrip("0") or "0"
    count = len(significant)
    if count <= point <= 21:
        return sign + significant + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{significant[:point]}.{significant[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{significant}"
    mantissa = significant if count == 1 else f"{significant[0]}.{significant[1:]}"
    return f"{sign}{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"
