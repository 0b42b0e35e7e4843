"""The graph provider `kuzu`: a database per session, so that forgetting a session is deleting its files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from zaxy.api import (
    AsOf,
    Batch,
    Conflict,
    Cursor,
    EdgeRow,
    EntityRef,
    EntityRow,
    GraphStats,
    InvalidRequest,
    ProviderContext,
    Unavailable,
    own_folder_within,
)
from zaxy_kuzu import engine
from zaxy_kuzu.engine import CommitFailed, Database, Unreadable
from zaxy_kuzu.owner import Ownership
from zaxy_kuzu.reader import Reader
from zaxy_kuzu.schema import FORMAT, TABLES
from zaxy_kuzu.writer import Writer

SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
OPEN_AT_ONCE = 4
REMEMBERED = 20_000

NEW_PLACE = (
    "CREATE (:Place {id: 1, format: $format, seq: 0, hash: '', offset: 0, fed_by: '', versions: 0, edges: 0, "
    "open_versions: 0, open_edges: 0, moved: 0, latest: 0})"
)
FORMAT_OF = "MATCH (p:Place {id: 1}) RETURN p.format"
MOVE = "MATCH (p:Place {id: 1}) SET p.seq = $seq, p.hash = $hash, p.offset = $offset, p.fed_by = $fed_by"


@dataclass
class Opened:
    """A session's open database, and those who use it."""

    database: Database
    reader: Reader
    writer: Writer | None = None


class KuzuGraph:
    """One process at a time: see `owner`."""

    def __init__(self, context: ProviderContext) -> None:
        self._context = context
        self._folder = context.state_dir
        settings = context.settings
        self._engine = str(settings.get("ZAXY_KUZU_ENGINE") or "kuzu")
        self._buffer_pool_mb = _positive(settings, "ZAXY_KUZU_BUFFER_POOL_MB", 1024)
        self._max_db_gb = _positive(settings, "ZAXY_KUZU_MAX_DB_GB", 16)
        self._owner: Ownership | None = None
        self._pid = os.getpid()
        self._open: dict[str, Opened] = {}

    # Following

    def cursor(self, session: str) -> Cursor | None:
        reader = self._reader(session)
        return reader.cursor if reader else None

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        opened = self._opened(batch.session)
        database, taken = opened.database, opened.reader.last
        news = [extracted for extracted in batch.events if extracted.event.seq > taken]
        if news and news[0].event.seq != taken + 1:
            raise Conflict(
                f"the graph has followed {batch.session} to event {taken}, and the batch begins at {news[0].event.seq}",
                "Ask for its cursor again, and go on from there: it may have been rebuilt meanwhile.",
            )
        if cursor.seq <= taken:
            return
        writer = opened.writer or Writer(database)
        try:
            with database.transaction():
                for extracted in news:
                    writer.take(extracted)
                written = writer.finish()
                database.run(MOVE, seq=cursor.seq, hash=cursor.hash, offset=cursor.offset, fed_by=cursor.fed_by)
        except CommitFailed as error:
            self.wipe(batch.session)  # it is derived, and opening it again has been seen to end the process
            raise error.cause from error
        except BaseException:
            self._shut(batch.session)  # opened again it is what its own log says
            raise
        opened.reader.advance(cursor, written)
        opened.writer = writer if writer.size <= REMEMBERED else None

    def digest(self, session: str) -> str:
        reader = self._reader(session)
        return reader.digest() if reader else sha256(b"\n\n").hexdigest()

    def wipe(self, session: str) -> None:
        self._own()
        self._shut(session)
        path = self._path(session)
        engine.remove(path)
        path.with_name(f"{path.name}.opening").unlink(missing_ok=True)
        for aside in path.parent.glob(f"{path.name}.broken-*"):
            aside.unlink()

    def close(self) -> None:
        if self._pid != os.getpid():
            return  # it is the parent's
        for session in list(self._open):
            self._shut(session)
        if self._owner is not None:
            self._owner.release()
        self._owner = None

    # Reading

    def entities(self, session: str, names: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        reader = self._reader(session)
        return reader.entities(names, as_of, limit) if reader else []

    def rows_of_events(self, session: str, seqs: Sequence[int], as_of: AsOf) -> Sequence[EntityRow]:
        reader = self._reader(session)
        return reader.rows_of_events(seqs, as_of) if reader else []

    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        reader = self._reader(session)
        return reader.current(entity_types, as_of, limit) if reader else []

    def neighbours(
        self, session: str, start: Sequence[EntityRef], *, relations: Sequence[str], depth: int, as_of: AsOf, limit: int
    ) -> Sequence[EdgeRow]:
        reader = self._reader(session)
        return reader.neighbours(start, relations, depth=depth, as_of=as_of, limit=limit) if reader else []

    def stats(self, session: str) -> GraphStats:
        reader = self._reader(session)
        return reader.stats() if reader else GraphStats(0, 0, 0, 0)

    # Opening

    def _reader(self, session: str) -> Reader | None:
        """The reader of a session's database; None, and no files, for one that was never followed."""
        return self._opened(session).reader if session in self._open or self._path(session).exists() else None

    def _opened(self, session: str) -> Opened:
        self._own()
        path = self._path(session)
        opened = self._open.pop(session, None)
        if opened is not None and not path.exists():  # deleted under it
            opened.database.close()
            engine.remove(path)
            opened = None
        if opened is None:
            while len(self._open) >= OPEN_AT_ONCE:
                self._shut(next(iter(self._open)))
            database = self._database(path)
            opened = Opened(database, Reader(database))
        self._open[session] = opened  # the one used last stands last
        return opened

    def _database(self, path: Path) -> Database:
        sizes = (self._buffer_pool_mb, self._max_db_gb)
        opening = path.with_name(f"{path.name}.opening")
        try:
            if path.is_symlink():
                raise Unreadable("it is a link")
            if os.path.lexists(opening):
                raise Unreadable("the process that last opened it ended while it did so")
            if not path.exists():
                return self._prepared(Database(path, self._engine, *sizes))
            opening.touch(mode=0o600, exist_ok=False)
            database = Database(path, self._engine, *sizes)
            opening.unlink()
            try:
                known = database.run(FORMAT_OF)
            except RuntimeError as error:  # no such table
                database.close()
                raise Unreadable(str(error)) from None
            if known == [[FORMAT]]:
                return database
            database.close()
            raise Unreadable("it has another format")
        except Unreadable as error:
            opening.unlink(missing_ok=True)
            aside = engine.set_aside(path)
            self._context.warn(f"a graph was unusable ({error}) and is being built again; the old one is {aside.name}")
            return self._prepared(Database(path, self._engine, *sizes))

    def _prepared(self, database: Database) -> Database:
        with database.transaction():
            database.define(TABLES)
            database.run(NEW_PLACE, format=FORMAT)
        return database

    def _own(self) -> None:
        if self._pid != os.getpid():
            raise Unavailable(
                "the graph was opened before this process was forked",
                "Make the provider in the process that uses it.",
            )
        if self._owner is None:
            own_folder_within(str(self._folder.parent), self._folder.name, create=True)
            self._folder.chmod(0o700)  # the engine makes files that everybody may read
            self._owner = Ownership(self._folder, self._context.clock())

    def _shut(self, session: str) -> None:
        opened = self._open.pop(session, None)
        if opened is not None:
            opened.database.close()

    def _path(self, session: str) -> Path:
        if not SESSION_ID.fullmatch(session):
            raise InvalidRequest(f"{session!r:.80} is no session id", "Use letters, digits, '_.-'.")
        return self._folder / f"{session}{engine.ENDINGS.get(self._engine, '')}"


def _positive(settings: Any, env: str, default: int) -> int:
    value = settings.get(env)
    if value is None:
        return default
    if int(value) > 0:
        return int(value)
    raise InvalidRequest(f"{env} is {value}", "Set it to a number above 0.")
