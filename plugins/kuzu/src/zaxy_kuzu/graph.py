"""The graph provider `kuzu`: a database per session, so that forgetting a session is deleting its files."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from zaxy.api import (
    AsOf,
    Batch,
    Cursor,
    Edge,
    EdgeRow,
    Entity,
    EntityRef,
    EntityRow,
    GraphStats,
    ProviderContext,
    ZaxyError,
)
from zaxy_kuzu import engine
from zaxy_kuzu.engine import CommitFailed, Database, Unreadable
from zaxy_kuzu.owner import Ownership
from zaxy_kuzu.schema import FORMAT, TABLES, folded, microseconds, thing_key
from zaxy_kuzu.writer import Writer

Values = dict[str, object]
SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
OPEN_AT_ONCE = 4
REMEMBERED = 20_000
FEW_EVENTS = 8
FEW_ROWS, MANY_ROWS = 200, 2_000
AFTER_ALL_EVENTS = 2**62

PLACE = "MATCH (p:Place {id: 1}) RETURN p.seq, p.hash, p.offset, p.fed_by"
NEW_PLACE = (
    "CREATE (:Place {id: 1, format: $format, seq: 0, hash: '', offset: 0, fed_by: '', versions: 0, edges: 0, "
    "open_versions: 0, open_edges: 0})"
)
FORMAT_OF = "MATCH (p:Place {id: 1}) RETURN p.format"
MOVE = "MATCH (p:Place {id: 1}) SET p.seq = $seq, p.hash = $hash, p.offset = $offset, p.fed_by = $fed_by"
STATS = "MATCH (p:Place {id: 1}) RETURN p.versions, p.edges, p.open_versions, p.open_edges"

# What holds at a moment. It is asked for in as few columns as will do: comparing texts is what costs.
HOLDS_NOW = "{0}.closed = 0"
HOLDS_AS_KNOWN = "{0}.opened <= $known AND ({0}.closed = 0 OR {0}.closed > $known)"
HOLDS_THEN = (
    "{0}.opened <= $known AND {0}.valid_from <= $at AND ({0}.closed = 0 OR {0}.closed > $known OR $at < {0}.valid_to)"
)
VERSION = "v.told, v.valid_to, v.closed"
TYPES_OF_NAME = "MATCH (n:Name {name: $key}) RETURN n.name, n.types"
OF_THING = f"MATCH (:Thing {{{{key: $key}}}})-[:HasVersion]->(v:Version) WHERE {{}} RETURN {VERSION}"
OF_EVENT = "MATCH (e:Event {seq: $key}) RETURN e.versions"
BY_ID = f"MATCH (v:Version {{{{id: $key}}}}) WHERE {{}} RETURN {VERSION}"
OF_EVENTS = "MATCH (v:Version) WHERE v.opened IN $seqs RETURN v.number"
TYPE = "MATCH (t:Type {name: $key}) RETURN t.code"
OF_TYPES = "MATCH (v:Version) WHERE v.type_code IN $codes AND {}"
TOLD = "f.told, f.valid_to, f.closed"
FACT = f"MATCH (f:Fact {{id: $key}}) RETURN f.id, {TOLD}"
EDGE_HELD_THEN = "e.opened <= $known AND e.from_us <= $at AND (e.closed = 0 OR e.closed > $known OR $at < e.to_us)"
AROUND = "MATCH (:Thing {{key: $key}})-[e:Edge]-(:Thing) WHERE {}"
SINCE = " AND {}.opened > $since"
OF_RELATIONS = " AND e.relation IN $relations"
ALL_VERSIONS = f"MATCH (v:Version) WHERE v.opened > $since AND v.opened <= $until RETURN {VERSION}"
ALL_EDGES = f"MATCH (f:Fact) WHERE f.opened > $since AND f.opened <= $until RETURN {TOLD}"
EVENTS_AT_ONCE = 5_000


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
        self._open: dict[str, Database] = {}
        self._writers: dict[str, Writer] = {}

    # Following

    def cursor(self, session: str) -> Cursor | None:
        database = self._existing(session)
        found = database.run(PLACE)[0] if database else [0]
        return Cursor(*found) if found[0] else None

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        database = self._database(batch.session)
        taken: int = database.run(PLACE)[0][0]
        news = [extracted for extracted in batch.events if extracted.event.seq > taken]
        if news and news[0].event.seq != taken + 1:
            raise ZaxyError(
                "conflict",
                f"the graph has followed {batch.session} to event {taken}, and the batch begins at {news[0].event.seq}",
                "Ask for its cursor again, and go on from there: it may have been built anew meanwhile.",
            )
        if cursor.seq <= taken:
            return
        writer = self._writers.pop(batch.session, None) or Writer(database)
        try:
            with database.transaction():
                for extracted in news:
                    writer.take(extracted)
                writer.finish()
                database.run(MOVE, seq=cursor.seq, hash=cursor.hash, offset=cursor.offset, fed_by=cursor.fed_by)
        except CommitFailed as error:
            self.wipe(batch.session)  # it is derived, and opening it again has been seen to end the process
            raise error.cause from error
        except BaseException:
            self._shut(batch.session)  # opened again it is what its own log says
            raise
        if writer.size <= REMEMBERED:
            self._writers[batch.session] = writer

    def digest(self, session: str) -> str:
        total = hashlib.sha256()
        database = self._existing(session)
        last: int = database.run(PLACE)[0][0] if database else 0
        for rows in (ALL_VERSIONS, ALL_EDGES):
            for since in range(0, last, EVENTS_AT_ONCE):
                found = database.run(rows, since=since, until=since + EVENTS_AT_ONCE) if database else []
                for line in sorted(json.dumps(row) for row in found):
                    total.update(line.encode() + b"\n")
            total.update(b"\n")
        return total.hexdigest()

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
        database = self._existing(session)
        if database is None:
            return []
        holds, moment = _holds(as_of)
        wanted = list(dict.fromkeys(folded(name) for name in names))
        keys = [thing_key(kind, name) for name, types in database.run_for(TYPES_OF_NAME, wanted) for kind in types]
        query = OF_THING.format(holds.format("v"))
        rows = database.run_for(query, keys, **moment)
        return _entity_rows(rows, as_of)[: max(limit, 0)]

    def rows_of_events(self, session: str, seqs: Sequence[int], as_of: AsOf) -> Sequence[EntityRow]:
        database = self._existing(session)
        wanted = list(dict.fromkeys(seqs))
        if database is None or not wanted:
            return []
        holds, moment = _holds(as_of)
        if len(wanted) > FEW_EVENTS:  # one pass over a column of numbers is then cheaper
            ids = [str(number) for (number,) in database.run(OF_EVENTS, seqs=wanted)]
        else:
            ids = [each for (ids,) in database.run_for(OF_EVENT, [str(seq) for seq in wanted]) for each in ids]
        return _entity_rows(database.run_for(BY_ID.format(holds.format("v")), ids, **moment), as_of)

    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        database = self._existing(session)
        types = list(dict.fromkeys(entity_types))
        if database is None or not types or limit <= 0:
            return []
        codes = [code for (code,) in database.run_for(TYPE, types)]
        if not codes:
            return []
        holds, values = _holds(as_of)
        which = OF_TYPES.format(holds.format("v"))
        which, narrow = self._narrowed(database, which, "v", {**values, "codes": codes}, limit)
        found = database.run(f"{which} RETURN v.number, v.opened", **narrow)
        ids = [str(number) for number in _newest(found, limit)]
        return _entity_rows(database.run_for(BY_ID.format(holds.format("v")), ids, **values), as_of)[:limit]

    def neighbours(
        self, session: str, start: Sequence[EntityRef], relations: Sequence[str], depth: int, as_of: AsOf, limit: int
    ) -> Sequence[EdgeRow]:
        database = self._existing(session)
        if database is None or limit <= 0:
            return []
        outermost = {thing_key(ref.entity_type, folded(ref.name)) for ref in start}
        reached: set[str] = set()
        rows: dict[int, EdgeRow] = {}
        for step in range(1, depth + 1):
            reached |= outermost
            met: dict[int, int] = {}
            for key in sorted(outermost):
                newest = self._newest_around(database, key, relations, as_of, limit)
                met.update((row, opened) for row, opened in newest if row not in rows)
            wanted = limit - len(rows)
            facts = database.run_for(FACT, [str(row) for row in _newest(met.items(), wanted)])
            found = [(int(number), _edge_row(as_of, step, *fact)) for number, *fact in facts]
            found = sorted(found, key=lambda each: _edge_order(each[1]))[:wanted]
            rows.update(found)
            ends = (end for _, row in found for end in (row.edge.source, row.edge.target))
            outermost = {thing_key(end.entity_type, folded(end.name)) for end in ends} - reached
            if len(rows) >= limit:  # what is farther comes later
                break
        return list(rows.values())

    def stats(self, session: str) -> GraphStats:
        database = self._existing(session)
        return GraphStats(*database.run(STATS)[0]) if database else GraphStats(0, 0, 0, 0)

    def _newest_around(
        self, database: Database, key: str, relations: Sequence[str], as_of: AsOf, limit: int
    ) -> list[Any]:
        """A node's edges, id and event; of very many, so many of the newest that the first `limit` are among them."""
        holds, values = _holds(as_of)
        if as_of.valid_at:
            holds, values["at"] = EDGE_HELD_THEN, microseconds(as_of.valid_at)
        which = AROUND.format(holds.format("e")) + (OF_RELATIONS if relations else "")
        values |= {"key": key, **({"relations": list(relations)} if relations else {})}
        rows = database.run(f"{which} RETURN e.id, e.opened LIMIT {FEW_ROWS + 1}", **values)
        if len(rows) <= FEW_ROWS:
            return rows
        # An edge from a node to itself comes twice.
        which, values = self._narrowed(database, which, "e", values, 2 * limit)
        return database.run(f"{which} RETURN e.id, e.opened", **values)

    def _narrowed(self, database: Database, which: str, of: str, values: Values, enough: int) -> tuple[str, Values]:
        """A query for rows made to give, of very many, the newest: enough of them, and whole events.

        The engine sorts slowly and filters fast: so it is asked for those after an event, which is guessed and counted.
        """
        (rows,) = database.run(f"{which} RETURN count(*)", **values)[0]
        if rows <= max(enough, FEW_ROWS):
            return which, values
        which += SINCE.format(of)
        last: int = database.run(PLACE)[0][0]
        too_few, window = 0, min(last, 2 * enough * last // rows)
        while True:
            (found,) = database.run(f"{which} RETURN count(*)", since=last - window, **values)[0]
            if found < enough and window < last:
                too_few, window = window, min(last, window * 4)
            elif found <= MANY_ROWS or window - too_few <= 1:
                return which, {**values, "since": last - window}
            else:
                middle = (too_few + window) // 2
                (there,) = database.run(f"{which} RETURN count(*)", since=last - middle, **values)[0]
                too_few, window = (middle, window) if there < enough else (too_few, middle)

    # Opening

    def _existing(self, session: str) -> Database | None:
        """A session's database; None, and no files, for one that was never followed."""
        return self._database(session) if session in self._open or self._path(session).exists() else None

    def _database(self, session: str) -> Database:
        self._own()
        path = self._path(session)
        database = self._open.pop(session, None)
        if database is not None and not path.exists():  # deleted under it
            self._writers.pop(session, None)
            database.close()
            engine.remove(path)
            database = None
        if database is None:
            while len(self._open) >= OPEN_AT_ONCE:
                self._shut(next(iter(self._open)))
            database = self._opened(path)
        self._open[session] = database  # the one used last stands last
        return database

    def _opened(self, path: Path) -> Database:
        sizes = (self._buffer_pool_mb, self._max_db_gb)
        opening = path.with_name(f"{path.name}.opening")
        try:
            if path.is_symlink():
                raise Unreadable("it is a link")
            if opening.exists():
                raise Unreadable("the process that last opened it ended while it did so")
            if not path.exists():
                return self._prepared(Database(path, self._engine, *sizes))
            opening.touch(mode=0o600)
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
            raise ZaxyError(
                "unavailable",
                "the graph was opened before this process was forked",
                "Make the provider in the process that uses it.",
            )
        if self._owner is None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.chmod(0o700)  # the engine makes files that everybody may read
            self._owner = Ownership(self._folder, self._context.clock())

    def _shut(self, session: str) -> None:
        self._writers.pop(session, None)
        database = self._open.pop(session, None)
        if database is not None:
            database.close()

    def _path(self, session: str) -> Path:
        if not SESSION_ID.fullmatch(session):
            raise ZaxyError("invalid_request", f"{session!r:.80} is no session id", "Use letters, digits, '_.-'.")
        return self._folder / f"{session}{engine.ENDINGS.get(self._engine, '')}"


def _positive(settings: Any, env: str, default: int) -> int:
    value = settings.get(env)
    if value is None:
        return default
    if int(value) > 0:
        return int(value)
    raise ZaxyError("invalid_request", f"{env} is {value}", "Set it to a number above 0.")


def _holds(as_of: AsOf) -> tuple[str, Values]:
    """The condition under which a row holds at a moment, and the values in it."""
    if as_of.valid_at:
        known = AFTER_ALL_EVENTS if as_of.known_at is None else as_of.known_at
        return HOLDS_THEN, {"at": as_of.valid_at, "known": known}
    if as_of.known_at is not None:
        return HOLDS_AS_KNOWN, {"known": as_of.known_at}
    return HOLDS_NOW, {}


def _as_known(valid_to: str, closed: int, as_of: AsOf) -> tuple[str, int | None]:
    """A row's end as it was known then: what was closed later is open."""
    if not closed or (as_of.known_at is not None and closed > as_of.known_at):
        return "", None
    return valid_to, closed


def _newest(rows: Iterable[Sequence[int]], count: int) -> list[int]:
    """The numbers of the newest rows by their events: `count`, and the others of the last one's event."""
    known = list(rows)
    oldest = min(sorted((opened for _, opened in known), reverse=True)[:count], default=0)
    return [number for number, opened in known if opened >= oldest]


def _entity_rows(rows: Iterable[Sequence[Any]], as_of: AsOf) -> list[EntityRow]:
    """Newest first, then by type, then by name in the form in which names match."""
    found = [_entity_row(as_of, *row) for row in rows]
    return sorted(found, key=lambda row: (-row.opened_seq, row.entity.entity_type, folded(row.entity.name)))


def _entity_row(as_of: AsOf, told: str, valid_to: str, closed: int) -> EntityRow:
    name, kind, summary, properties, told_from, valid_from, opened, event_hash = json.loads(told)
    ends, closed_seq = _as_known(valid_to, closed, as_of)
    entity = Entity(name, kind, summary, json.loads(properties), told_from)
    return EntityRow(entity, valid_from, ends, opened, closed_seq, event_hash)


def _edge_row(as_of: AsOf, step: int, told: str, valid_to: str, closed: int) -> EdgeRow:
    source_type, source, target_type, target, *content, valid_from, opened, event_hash = json.loads(told)
    ends, closed_seq = _as_known(valid_to, closed, as_of)
    edge = Edge(EntityRef(source_type, source), EntityRef(target_type, target), *content)
    return EdgeRow(edge, valid_from, ends, opened, closed_seq, event_hash, step)


def _edge_order(row: EdgeRow) -> tuple[object, ...]:
    ends = ((ref.entity_type, folded(ref.name)) for ref in (row.edge.source, row.edge.target))
    return (-row.opened_seq, row.edge.relation_type, *ends)
