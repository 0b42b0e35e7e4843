"""Rows with seals: a digest over a row's fields, made with a key that only this user has.

A row that was edited does not hold its seal.
"""

from __future__ import annotations

import sqlite3
from struct import Struct
from typing import TYPE_CHECKING, Any

from orjson import dumps

from zaxy.eventloom.database_errors import CHANGED, Unsealed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SEAL_BYTES = 16
_AS_SEALS = Struct(">qq").unpack
"""A digest as two numbers that SQLite can keep. Most rows have the first for their seal."""
_WITHOUT_END = ("", None, None)


class SealedConnection(sqlite3.Connection):
    """A connection to one file, with the key that fits the seals of its rows."""

    identity: tuple[int, int] | None = None
    keyed: Any
    """A digest that has taken the key, and nothing else yet."""

    def seals(self, fields: Sequence[object]) -> tuple[int, int]:
        """Of a row that may end: the seal of its fields, and the one that says that it has no end yet."""
        digest = self.keyed.copy()
        digest.update(dumps(fields))
        return _AS_SEALS(digest.digest())

    def seal(self, fields: Sequence[object]) -> int:
        """The digest of a row's fields, as the file keeps it."""
        digest = self.keyed.copy()
        digest.update(dumps(fields))
        return _AS_SEALS(digest.digest())[0]  # type: ignore[no-any-return]

    def check(self, fields: Sequence[object], seal: object) -> None:
        """Refuse a row whose fields are not those that were sealed."""
        self.unsealed([(*fields, seal)])

    def unsealed(self, rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """The rows without the seals that they end in; one that does not hold its seal is refused.

        One loop for all of them: a call for each row would take as long as the digests.
        """
        keyed = self.keyed
        found = []
        for row in rows:
            fields = row[:-1]
            digest = keyed.copy()
            try:
                digest.update(dumps(fields))
            except TypeError:  # bytes where only a text or a number can be
                raise Unsealed(CHANGED) from None
            if _AS_SEALS(digest.digest())[0] != row[-1]:
                raise Unsealed(CHANGED)
            found.append(fields)
        return found

    def check_with_ends(self, rows: Iterable[Sequence[Any]], count: int) -> None:
        """Refuse a row that may end and does not hold its seals. The first `count` fields have one; behind it stand the
        row's number, its end, the event that brought that, the ends before it, and the seal of those.

        What has no end has none of its own to seal: one digest gives both seals.
        """
        keyed = self.keyed
        for row in rows:
            digest = keyed.copy()
            try:
                digest.update(dumps(row[:count]))
                seal, end_seal = _AS_SEALS(digest.digest())
                end = row[count + 1 : count + 5]
                if end[1:] != _WITHOUT_END:
                    end_seal = self.seal(end)
            except TypeError:
                raise Unsealed(CHANGED) from None
            if seal != row[count] or end_seal != row[count + 5]:
                raise Unsealed(CHANGED)
