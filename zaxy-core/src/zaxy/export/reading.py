"""Reading a bundle or a subset piece by piece, whatever its size and however it is laid out.

A stranger may have written it. So nothing is held but one field or one entry, each within a bound; a field that
comes twice, which programs read differently, is refused like everything else that is not plain JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple, NoReturn

import orjson

from zaxy.errors import Conflict, ZaxyError
from zaxy.eventloom.bulk import CANONICAL, encode_quickly, is_canonical
from zaxy.eventloom.canonical import MAX_INTEGER, NotCanonical
from zaxy.export.entries import DEEPEST

ENTRIES, DISCLOSED = "entries", "disclosed"
LISTS = (ENTRIES, DISCLOSED)
LIST = ()
"""The value of a field whose items follow one by one."""
MAX_FIELD_CHARS = 1 << 16
"""Bytes of a header field. The largest, an ML-DSA-87 signature in hex, has 9,254."""
MAX_ITEM_CHARS = 1 << 24
"""Bytes of an entry: a payload has at most 1 MiB, each byte of which may be written as six."""
MAX_SPACE_CHARS = 1 << 20
"""Bytes of space in one place, so that nothing is read for ever."""
MAX_FIELDS = 256
CHUNK = 1 << 20
NEW_BUNDLE = "Do not use it; ask whoever sent it for a new one."

_SPACE = re.compile(rb"[ \t\n\r]*")
# Possessive, so that a text which never ends is looked through once. Where it ends, the group holds the quote.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+("?)', re.DOTALL)
_BRACKET = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+("?)|[{}\[\]]', re.DOTALL)
_SCALAR_END = re.compile(rb"[,\]} \t\n\r]")


class Field(NamedTuple):
    """A field of the header, and its value."""

    name: str
    value: Any


class Item(NamedTuple):
    """One of the entries, as it stands in the list of that name."""

    of: str
    value: dict[str, Any]
    text: bytes
    """Its canonical bytes."""


Part = Field | Item


def refused(reason: str, remediation: str = NEW_BUNDLE) -> ZaxyError:
    """A bundle that is not what it says; not a mistake in how the command was used."""
    return Conflict(f"the bundle is refused: {reason}", remediation)


def parts_of(bundle: Mapping[str, Any]) -> Iterator[Part]:
    """The parts of a bundle that a program holds."""
    if all(name in bundle for name in LISTS):
        raise refused("it has both entries and disclosed ones")
    for name, value in bundle.items():
        if name not in LISTS:
            yield Field(name, _as_numbers(value))
            continue
        if not isinstance(value, list | tuple):
            raise refused(f"its {name} are not a list")
        yield Field(name, LIST)
        for item in value:
            told = _as_numbers(item)
            yield Item(name, told, canonical(told))


def canonical(value: object) -> bytes:
    """The canonical bytes of an object that somebody else made."""
    if not isinstance(value, dict):
        raise refused("an entry is not an object")
    try:
        return encode_quickly(value, DEEPEST + 1)
    except (NotCanonical, RecursionError) as error:
        raise no_canonical_form("an entry", error) from None


def no_canonical_form(what: str, error: Exception) -> ZaxyError:
    return refused(f"{what} has no canonical form: {error}")


def parse(text: bytes) -> Any:
    """The value of JSON text, strictly: UTF-8, no field twice, no NaN; numbers are what a double holds of them."""
    try:
        return json.loads(
            text.decode(),
            object_pairs_hook=_object,
            parse_int=_number,
            parse_float=_number,
            parse_constant=_not_json,
        )
    except (ValueError, RecursionError):
        raise refused("it is not valid JSON") from None


def read_parts(file: BinaryIO) -> Iterator[Part]:
    """The parts of a bundle in a file, in the order in which they stand there."""
    text = _Text(file)
    text.expect(b"{")
    names: set[str] = set()
    while text.next_byte() != b"}" or names:
        name = parse(text.value(MAX_FIELD_CHARS))
        if not isinstance(name, str):
            raise refused("it is not valid JSON")
        if name in names:
            raise _twice(name)
        if name in LISTS and not names.isdisjoint(LISTS):
            raise refused("it has both entries and disclosed ones")
        names.add(name)
        if len(names) > MAX_FIELDS:
            raise refused(f"it has more than {MAX_FIELDS} fields")
        text.expect(b":")
        if name in LISTS:
            if text.next_byte() != b"[":
                raise refused(f"its {name} are not a list")
            yield Field(name, LIST)
            for item in text.items():
                yield item._replace(of=name)
        else:
            yield Field(name, parse(text.value(MAX_FIELD_CHARS)))
        if text.next_byte() == b"}":
            break
        text.expect(b",")
    text.expect(b"}")
    text.expect_end()


class _Text:
    """JSON text that is read as far as is needed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._data = b""
        self._at = 0
        self._in_lines = True
        """Whether a line end stood behind the last item: in a file without any it is not looked for again."""

    def next_byte(self) -> bytes:
        """The next byte that is not space, which is not taken yet."""
        if not self._skip_space():
            raise refused("it ends in the middle")
        return self._data[self._at : self._at + 1]

    def expect(self, mark: bytes) -> None:
        if self.next_byte() != mark:
            raise refused("it is not valid JSON")
        self._at += 1

    def expect_end(self) -> None:
        if self._skip_space():
            raise refused("something stands behind its end")

    def items(self) -> Iterator[Item]:
        """The items of a list, of whatever name."""
        self.expect(b"[")
        if self.next_byte() == b"]":
            self._at += 1
            return
        while True:
            self.next_byte()
            yield self._line() or self._somehow()
            if self.next_byte() == b"]":
                self._at += 1
                return
            self.expect(b",")

    def _line(self) -> Item | None:
        """The item, if it is all that stands in its line and canonical: the way we write them, and much faster.

        What parses whole is one item however the file goes on.
        """
        end = self._data.find(b"\n", self._at) if self._in_lines else -1
        if end < 0 and self._in_lines and self._more():
            end = self._data.find(b"\n", self._at)
        self._in_lines = end >= 0
        text = self._data[self._at : end].rstrip(b",") if 0 <= end - self._at <= MAX_ITEM_CHARS else b""
        item = _quickly(text)
        self._at += len(text) if item else 0
        return item

    def _somehow(self) -> Item:
        value = parse(self.value(MAX_ITEM_CHARS))
        self._in_lines = b"\n" in self._data[self._at : self._at + 2]
        return Item("", value, canonical(value))

    def value(self, longest: int) -> bytes:
        """The text of the next value, which may be anything."""
        first = self.next_byte()
        while True:
            end = self._end_of(first)
            if end is not None and end - self._at <= longest:
                text = self._data[self._at : end]
                self._at = end
                return text
            if end is not None or len(self._data) - self._at > longest:
                raise refused(f"a value in it has more than {longest:,} bytes")
            if not self._more():
                raise refused("it ends in the middle")

    def _end_of(self, first: bytes) -> int | None:
        if first == b'"':
            text = _STRING.match(self._data, self._at)
            return text.end() if text and text[1] else None
        if first not in b"{[":
            found = _SCALAR_END.search(self._data, self._at)
            return found.start() if found else None
        depth = 0
        for mark in _BRACKET.finditer(self._data, self._at):
            opening = self._data[mark.start()]
            if mark[1] == b"":  # a text that goes on beyond what was read
                return None
            if opening in b"{[":
                depth += 1
                if depth > DEEPEST + 1:
                    raise refused("a value in it has no canonical form: it is nested too deep")
            elif opening in b"}]":
                depth -= 1
                if not depth:
                    return mark.end()
        return None

    def _skip_space(self) -> bool:
        """Whether something comes behind it."""
        skipped = 0
        while True:
            space = _SPACE.match(self._data, self._at)
            end = space.end() if space else self._at
            skipped += end - self._at
            self._at = end
            if end < len(self._data):
                return True
            if skipped > MAX_SPACE_CHARS:
                raise refused(f"it has more than {MAX_SPACE_CHARS:,} bytes of space in one place")
            if not self._more():
                return False

    def _more(self) -> bool:
        """Read on, as much again as is waiting already, so that a long value is not looked through too often."""
        waiting = self._data[self._at :]
        chunk = self._file.read(max(CHUNK, len(waiting)))
        self._data, self._at = waiting + chunk, 0
        return bool(chunk)


def _quickly(text: bytes) -> Item | None:
    """The item, if its text comes back to the byte with its keys sorted: then no field in it comes twice."""
    try:
        value = orjson.loads(text)
        if isinstance(value, dict) and orjson.dumps(value, option=CANONICAL) == text and is_canonical(value, text):
            return Item("", value, text)
    except (ValueError, TypeError, RecursionError):
        pass
    return None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _twice(name)
        found[name] = value
    return found


def _twice(name: str) -> ZaxyError:
    return refused(f"it has {name!r:.40} twice")


def _number(digits: str) -> int | float:
    """The double that was meant, as in the log; one that is whole is an int, however it was written."""
    return _as_number(float(digits))


def _as_number(double: float) -> int | float:
    return int(double) if abs(double) <= MAX_INTEGER and double.is_integer() else double


def _as_numbers(value: Any) -> Any:
    """A value that a program holds, with its numbers as they are read from a file: other parsers make integers of
    1e16, and floats of 1.0."""
    try:
        return _renumbered(value)
    except (OverflowError, RecursionError) as error:
        raise no_canonical_form("a value in it", error) from None


def _renumbered(value: Any) -> Any:
    if type(value) is float or (type(value) is int and abs(value) > MAX_INTEGER):
        return _as_number(float(value))
    if type(value) is dict:
        return {name: _renumbered(item) for name, item in value.items()}
    return [_renumbered(item) for item in value] if type(value) is list else value


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
