"""Reads a bundle or a subset in parts, whatever its size and layout.

A stranger may have written it. So only one field or entry is held at a time, and each has a bound. A field that
occurs twice, which programs read differently, is refused, and so is everything else that is not plain JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple, NoReturn

from zaxy.api import MAX_INTEGER, Conflict, NotCanonical, ZaxyError, canonical_json, canonical_object
from zaxy_export.entries import MAX_ENTRY_DEPTH

ENTRIES, DISCLOSED = "entries", "disclosed"
LISTS = (ENTRIES, DISCLOSED)
LIST = ()
"""Stands for the value of a list. Its items follow one by one."""
MAX_FIELD_BYTES = 1 << 16
"""The largest header field, an ML-DSA-87 signature in hex, has 9,254 bytes."""
MAX_ITEM_BYTES = 1 << 24
"""A payload has at most 1 MiB, and JSON may write each of its bytes as six."""
MAX_SPACE_BYTES = 1 << 20
"""The bound for white space in one place, so that reading always ends."""
MAX_FIELDS = 256
MAX_PROOF_STEPS = 53
"""No bundle has more than 2^53 - 1 entries, so no tree has more levels."""
MAX_PROOF_MARKS = 4 * MAX_PROOF_STEPS + 2
"""The brackets and texts in such a proof: a step is a list of a hash and its side."""
CHUNK_BYTES = 1 << 20
NEW_BUNDLE = "Do not use it; ask the sender for a new one."

_SPACE = re.compile(rb"[ \t\n\r]*")
# Possessive, so that an unfinished string is searched once. The group holds the closing quote, if there is one.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+("?)', re.DOTALL)
_BRACKET = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+("?)|[{}\[\]]', re.DOTALL)
_PROOF = b'"proof"'
_SCALAR_END = re.compile(rb"[,\]} \t\n\r]")


class BundleField(NamedTuple):
    """A field of the header, and its value."""

    name: str
    value: Any


class BundleItem(NamedTuple):
    """One item of the list with that name."""

    of: str
    value: dict[str, Any]
    text: bytes
    """Its canonical bytes."""


Part = BundleField | BundleItem


def refused(reason: str, remediation: str = NEW_BUNDLE) -> ZaxyError:
    """The error for a bundle that is not what it claims to be."""
    return Conflict(f"the bundle is refused: {reason}", remediation)


def canonical(value: object) -> bytes:
    """The canonical bytes of an object from outside."""
    if not isinstance(value, dict):
        raise refused("an entry is not an object")
    try:
        return canonical_json(value, MAX_ENTRY_DEPTH + 1)
    except (NotCanonical, RecursionError) as error:
        raise no_canonical_form("an entry", error) from None


def no_canonical_form(what: str, error: Exception) -> ZaxyError:
    return refused(f"{what} has no canonical form: {error}")


def parse(text: bytes) -> Any:
    """The value of a JSON text, read strictly: UTF-8, no field twice, no NaN, and every number as a double."""
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
    """The parts of a bundle in a file, in their order."""
    text = _TextReader(file)
    text.expect(b"{")
    names: set[str] = set()
    while text.next_byte() != b"}" or names:
        name = parse(text.value(MAX_FIELD_BYTES))
        if not isinstance(name, str):
            raise refused("it is not valid JSON")
        if name in names:
            raise _twice(name)
        if name in LISTS and not names.isdisjoint(LISTS):
            raise refused("it has both entries and disclosed entries")
        names.add(name)
        if len(names) > MAX_FIELDS:
            raise refused(f"it has more than {MAX_FIELDS} fields")
        text.expect(b":")
        if name in LISTS:
            if text.next_byte() != b"[":
                raise refused(f"its {name} are not a list")
            yield BundleField(name, LIST)
            yield from text.items(name)
        else:
            yield BundleField(name, parse(text.value(MAX_FIELD_BYTES)))
        if text.next_byte() == b"}":
            break
        text.expect(b",")
    text.expect(b"}")
    text.expect_end()


class _TextReader:
    """A JSON text that is read only as far as needed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._data = b""
        self._at = 0
        self._in_lines = True
        """Whether a line end followed the last item. If not, it is not searched for again."""

    def next_byte(self) -> bytes:
        """The next byte that is not white space. It is not consumed."""
        if not self._skip_space():
            raise refused("it ends too early")
        return self._data[self._at : self._at + 1]

    def expect(self, mark: bytes) -> None:
        if self.next_byte() != mark:
            raise refused("it is not valid JSON")
        self._at += 1

    def expect_end(self) -> None:
        if self._skip_space():
            raise refused("there is more text behind its end")

    def items(self, of: str) -> Iterator[BundleItem]:
        """The items of the list that comes next, whose name is `of`."""
        self.expect(b"[")
        if self.next_byte() == b"]":
            self._at += 1
            return
        while True:
            self.next_byte()
            yield self._line(of) or self._any_layout(of)
            if self.next_byte() == b"]":
                self._at += 1
                return
            self.expect(b",")

    def _line(self, of: str) -> BundleItem | None:
        """The item, if it is canonical and alone in its line. We write it that way, and this is much faster.

        A line that parses as JSON is one item, whatever follows it.
        """
        end = self._data.find(b"\n", self._at) if self._in_lines else -1
        if end < 0 and self._in_lines and self._more():
            end = self._data.find(b"\n", self._at)
        self._in_lines = end >= 0
        text = self._data[self._at : end].rstrip(b",") if 0 <= end - self._at <= MAX_ITEM_BYTES else b""
        item = _canonical_item(text, of)
        self._at += len(text) if item else 0
        return item

    def _any_layout(self, of: str) -> BundleItem:
        value = parse(self.value(MAX_ITEM_BYTES, has_proof=of == DISCLOSED))
        self._in_lines = b"\n" in self._data[self._at : self._at + 2]
        _refuse_long_proof(value, of)
        return BundleItem(of, value, canonical(value))

    def value(self, max_bytes: int, has_proof: bool = False) -> bytes:
        """The text of the next value of any kind. An object in which a proof is too long is not read to its end."""
        first = self.next_byte()
        while True:
            end = self._end_of(first, has_proof)
            if end is not None and end - self._at <= max_bytes:
                text = self._data[self._at : end]
                self._at = end
                return text
            if end is not None or len(self._data) - self._at > max_bytes:
                raise refused(f"a value in it has more than {max_bytes:,} bytes")
            if not self._more():
                raise refused("it ends too early")

    def _end_of(self, first: bytes, has_proof: bool) -> int | None:
        if first == b'"':
            text = _STRING.match(self._data, self._at)
            return text.end() if text and text[1] else None
        if first not in b"{[":
            found = _SCALAR_END.search(self._data, self._at)
            return found.start() if found else None
        depth, proof_marks = 0, -1
        for mark in _BRACKET.finditer(self._data, self._at):
            opening = self._data[mark.start()]
            if mark[1] == b"":  # a string that goes on beyond what was read
                return None
            if has_proof and depth == 1 and mark[1]:
                proof_marks = 0 if mark[0] == _PROOF else -1
            elif proof_marks >= 0:
                proof_marks += 1
                if proof_marks > MAX_PROOF_MARKS:
                    raise _long_proof()
            if opening in b"{[":
                depth += 1
                if depth > MAX_ENTRY_DEPTH + 1:
                    raise refused("a value in it has no canonical form: it is nested too deep")
            elif opening in b"}]":
                depth -= 1
                if not depth:
                    return mark.end()
        return None

    def _skip_space(self) -> bool:
        """Skip white space. Whether anything follows it."""
        skipped = 0
        while True:
            space = _SPACE.match(self._data, self._at)
            end = space.end() if space else self._at
            skipped += end - self._at
            self._at = end
            if end < len(self._data):
                return True
            if skipped > MAX_SPACE_BYTES:
                raise refused(f"it has more than {MAX_SPACE_BYTES:,} bytes of space in one place")
            if not self._more():
                return False

    def _more(self) -> bool:
        """Read on, at least as much as is waiting already, so that a long value is not searched too often."""
        waiting = self._data[self._at :]
        chunk = self._file.read(max(CHUNK_BYTES, len(waiting)))
        self._data, self._at = waiting + chunk, 0
        return bool(chunk)


def _canonical_item(text: bytes, of: str) -> BundleItem | None:
    """The item, if its text is canonical: then no field in it occurs twice."""
    value = canonical_object(text)
    if value is None:
        return None
    _refuse_long_proof(value, of)
    return BundleItem(of, value, text)


def _refuse_long_proof(item: object, of: str) -> None:
    """Before anything is hashed: a proof of more steps than the largest tree has levels proves nothing."""
    proof = item.get("proof") if isinstance(item, dict) and of == DISCLOSED else None
    if isinstance(proof, list) and len(proof) > MAX_PROOF_STEPS:
        raise _long_proof()


def _long_proof() -> ZaxyError:
    return refused(f"the proof of an entry has more than the {MAX_PROOF_STEPS} steps that any tree allows")


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
    """The double that was written, as in the log. A whole number is an int, however it was written."""
    double = float(digits)
    return int(double) if abs(double) <= MAX_INTEGER and double.is_integer() else double


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
