"""Looks rows up by their keys, and remembers those looked up last: to the engine each key is a small query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from zaxy_kuzu.engine import Database

REMEMBERED = 5_000
FEW_ROWS = 20
Rows = list[list[Any]]


class Lookups:
    """What is remembered is what the database says: nobody else can write, and the writer tells which keys it touched.

    A key is forgotten in all tables at once, so that nobody has to say of which it is one.
    """

    def __init__(self, database: Database) -> None:
        self._run_for = database.run_for
        self._known: dict[str, dict[str, Rows]] = {}

    def find(self, statement: str, keys: Iterable[str], **values: object) -> Iterator[tuple[str, Rows]]:
        """Each key with its rows; a statement returns the key in the first column, which is left out.

        With values it is of a moment of its own, and not remembered.
        """
        wanted = list(dict.fromkeys(keys))
        found = {key: self._known[key][statement] for key in wanted if statement in self._known.get(key, ())}
        missing = [key for key in wanted if key not in found]
        found |= {key: [] for key in missing}
        for key, *row in self._run_for(statement, missing, **values):
            found[key].append(row)
        for key in wanted:
            if not values and len(found[key]) <= FEW_ROWS:
                self._remember(statement, key, found[key])
            yield key, found[key]

    def forget(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._known.pop(key, None)

    def _remember(self, statement: str, key: str, rows: Rows) -> None:
        self._known[key] = {**self._known.pop(key, {}), statement: rows}  # the one used last stands last
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]
