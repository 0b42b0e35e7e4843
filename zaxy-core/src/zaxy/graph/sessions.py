"""The row that a file keeps of each session: its number there, and how far it has been followed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local
from typing import Any

from zaxy.eventloom.sealed_connection import SealedConnection


class SessionRows:
    """Fetches the row of a session; while a thread holds one state of the file it is fetched once."""

    def __init__(self, query: str) -> None:
        """`query` takes the session's name; the last field of its row is the seal of the others."""
        self._query = query
        self._of_thread = local()

    @contextmanager
    def remembered(self) -> Iterator[None]:
        outer = getattr(self._of_thread, "rows", None)
        self._of_thread.rows = {} if outer is None else outer
        try:
            yield
        finally:
            self._of_thread.rows = outer

    def row(self, db: SealedConnection, session: str) -> Any:
        """The row, None where the session was never followed."""
        rows: dict[str, Any] | None = getattr(self._of_thread, "rows", None)
        if rows is None:
            return self.fetched(db, session)
        if session not in rows:
            rows[session] = self.fetched(db, session)
        return rows[session]

    def fetched(self, db: SealedConnection, session: str) -> Any:
        found = db.execute(self._query, (session,)).fetchone()
        if found is not None:
            db.check(found[:-1], found[-1])
        return found
