"""The graph provider `neo4j`: many sessions of many workspaces in one database, each row under its own keys."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import Any

from neo4j import ManagedTransaction

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
    ZaxyError,
    install_hint,
)
from zaxy_neo4j.connection import SECONDS_FOR_ALL_ROWS, Connection
from zaxy_neo4j.reader import Reader
from zaxy_neo4j.remembered import Remembered
from zaxy_neo4j.schema import BEING_WIPED, FORMAT, space_of
from zaxy_neo4j.server import Server
from zaxy_neo4j.writer import Counts, Owner, Writer

SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
REMEMBERED = 50_000
"""How many names, things and edges are remembered from one batch to the next."""
DELETED_TOGETHER = 5_000

PLACE = "MATCH (p:ZaxyPlace {space: $space}) RETURN p.format, p.seq, p.hash, p.offset, p.fed_by"
STATS = (
    f"MATCH (p:ZaxyPlace {{space: $space}}) WHERE p.format = {FORMAT} "
    "RETURN p.entities, p.edges, p.open_entities, p.open_edges"
)
# Setting a property takes the lock: who comes second reads what the first has left.
LOCK = (
    "MERGE (p:ZaxyPlace {space: $space}) ON CREATE SET p.workspace = $workspace, p.session = $session, p.seq = 0, "
    f"p.format = {FORMAT}, p.stamp = '', p.entities = 0, p.edges = 0, p.open_entities = 0, p.open_edges = 0, "
    "p.latest = '' "
    "SET p.followed_at = $now "
    "RETURN p.format, p.seq, p.stamp, p.entities, p.edges, p.open_entities, p.open_edges, p.latest"
)
MOVE = (
    "MATCH (p:ZaxyPlace {space: $space}) SET p.seq = $seq, p.hash = $hash, p.offset = $offset, p.fed_by = $fed_by, "
    "p.stamp = $stamp, p.entities = $entities, p.edges = $edges, p.open_entities = $open_entities, "
    "p.open_edges = $open_edges, p.latest = $latest"
)
BEGIN_WIPE = (
    "MERGE (p:ZaxyPlace {space: $space}) SET p.workspace = $workspace, p.session = $session, "
    f"p.format = {BEING_WIPED}, p.stamp = $stamp"
)
GO_ON = f"MATCH (p:ZaxyPlace {{space: $space}}) SET p.followed_at = $now WITH p WHERE p.format = {BEING_WIPED} RETURN 1"
DELETE = (
    "MATCH ()-[e:ZAXY_EDGE]->() WHERE e.space = $space AND e.opened_seq IS NOT NULL WITH e LIMIT $count DELETE e "
    "RETURN count(*)",
    "MATCH (v:ZaxyVersion) WHERE v.space = $space AND v.opened_seq IS NOT NULL WITH v LIMIT $count DETACH DELETE v "
    "RETURN count(*)",
    "MATCH (t:ZaxyThing) WHERE t.key STARTS WITH $space WITH t LIMIT $count DETACH DELETE t RETURN count(*)",
)
END_WIPE = "MATCH (p:ZaxyPlace {space: $space}) DELETE p"


class Neo4jGraph:
    """The `projection_backends` provider `neo4j`."""

    def __init__(self, context: ProviderContext) -> None:
        self._context = context
        self._workspace = context.workspace_id
        self._connection = Connection(Server.of(context.settings))
        self._memories: dict[str, Remembered] = {}

    # Following

    def cursor(self, session: str) -> Cursor | None:
        found = self._connection.read(PLACE, space=self._owner(session).space)
        if not found:
            return None
        made_as, *place = found[0]
        if made_as > FORMAT:
            raise _made_by_a_newer()
        if made_as < FORMAT:  # of an older format, or half forgotten
            self.wipe(session)
            return None
        return Cursor(*place) if place[0] else None

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        kept = self._memories.pop(batch.session, None)  # it comes back when the batch is committed
        memory = self._connection.write(lambda tx: self._take(tx, batch, cursor, kept))
        if memory is not None and memory.size <= REMEMBERED:
            self._memories[batch.session] = memory

    def _take(self, tx: ManagedTransaction, batch: Batch, cursor: Cursor, kept: Remembered | None) -> Remembered | None:
        """Take what is new of a batch; what is then known of the session, or None if nothing was new."""

        def run(statement: str, **values: object) -> list[list[Any]]:
            return tx.run(self._connection.adapted(statement), values).values()

        owner = self._owner(batch.session)
        made_as, taken, stamp, *counts = run(LOCK, **owner._asdict(), now=self._now())[0]
        if made_as > FORMAT:
            raise _made_by_a_newer()
        news = [extracted for extracted in batch.events if extracted.event.seq > taken]
        if made_as < FORMAT or (news and news[0].event.seq != taken + 1):
            raise Conflict(
                f"the graph has followed {batch.session} to event {taken}, and the batch begins at "
                f"{news[0].event.seq if news else cursor.seq}",
                "Ask for its cursor again, and go on from there: it may have been rebuilt meanwhile.",
            )
        if cursor.seq <= taken:
            return None
        # A second try begins with nothing: what the first had learnt was rolled back.
        fits = kept is not None and kept.stamp == stamp != ""
        memory = kept if kept is not None and fits else Remembered()
        memory.stamp, new_stamp = "", secrets.token_hex(8)
        now = Writer(owner, memory, Counts(*counts)).take(run, news)
        place = {"seq": cursor.seq, "hash": cursor.hash, "offset": cursor.offset, "fed_by": cursor.fed_by}
        run(MOVE, space=owner.space, stamp=new_stamp, **place, **now._asdict())
        memory.stamp = new_stamp
        return memory

    def digest(self, session: str) -> str:
        return self._reader(session).digest()

    def wipe(self, session: str) -> None:
        """In parts, since one transaction over all of it may need more memory than the server has.

        It begins with a mark, so that the next one who finds it half done goes on with it.
        """
        owner = self._owner(session)
        self._memories.pop(session, None)
        marks = {**owner._asdict(), "stamp": secrets.token_hex(8)}
        self._connection.write(lambda tx: tx.run(BEGIN_WIPE, marks).consume())
        while self._connection.write(lambda tx: self._delete_some(tx, owner.space), SECONDS_FOR_ALL_ROWS):
            pass

    def _delete_some(self, tx: ManagedTransaction, space: str) -> bool:
        """Whether there may be more to delete; under the lock, so that nothing is deleted that was followed since."""
        if not tx.run(GO_ON, space=space, now=self._now()).values():
            return False
        for statement in DELETE:
            if tx.run(statement, space=space, count=DELETED_TOGETHER).values()[0][0]:
                return True
        tx.run(END_WIPE, space=space).consume()
        return False

    def close(self) -> None:
        self._memories.clear()
        self._connection.close()

    # Reading

    def entities(self, session: str, names: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return self._reader(session).entities(names, as_of, limit)

    def rows_of_events(self, session: str, seqs: Sequence[int], as_of: AsOf) -> Sequence[EntityRow]:
        return self._reader(session).rows_of_events(seqs, as_of)

    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return self._reader(session).current(entity_types, as_of, limit)

    def neighbours(
        self, session: str, start: Sequence[EntityRef], *, relations: Sequence[str], depth: int, as_of: AsOf, limit: int
    ) -> Sequence[EdgeRow]:
        return self._reader(session).neighbours(start, relations, depth=depth, as_of=as_of, limit=limit)

    def stats(self, session: str) -> GraphStats:
        found = self._connection.read(STATS, space=self._owner(session).space)
        return GraphStats(*found[0]) if found else GraphStats(0, 0, 0, 0)

    def _reader(self, session: str) -> Reader:
        return Reader(self._connection.read, self._owner(session).space)

    def _owner(self, session: str) -> Owner:
        if not SESSION_ID.fullmatch(session):
            raise InvalidRequest(f"{session!r:.80} is no session id", "Use letters, digits, '_.-'.")
        return Owner(self._workspace, session, space_of(self._workspace, session))

    def _now(self) -> str:
        return self._context.clock().strftime("%Y-%m-%dT%H:%M:%SZ")


def _made_by_a_newer() -> ZaxyError:
    return Conflict(
        "the graph on the Neo4j server was made by a newer zaxy-neo4j",
        f"Upgrade zaxy-neo4j here too: {install_hint('zaxy-neo4j')}",
    )
