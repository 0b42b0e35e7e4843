"""The text index: a follower that holds every passage of the log, and the lane that finds them word by word.

It needs no graph and no network. Each session has a file of its own, so that a word's weight is that of its session and
nothing of another session can come back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock, local
from typing import TypeVar

from zaxy.api.models import Batch, Candidate, Cursor, Query
from zaxy.api.provider import ProviderContext
from zaxy.eventloom.disposable_database import DisposableDatabase
from zaxy.eventloom.sealed_connection import SealedConnection
from zaxy.text import tokens
from zaxy.text.blocks import BlockSizes
from zaxy.text.ranking import Hit, Weights, rank, weights
from zaxy.text.schema import FORMAT, SCHEMA, Content, Text
from zaxy.text.store import Lookup, TextStore
from zaxy.text.verbatim import Passages, passages
from zaxy.text.verification import problems

T = TypeVar("T")
OPEN_AT_ONCE = 24
"""Files, with up to seven descriptors each: as many as a limit of 256 leaves room for, beside those of the log."""
LAST = 2**62


class TextIndex:
    """The built-in lane `verbatim`, and the words behind the lane `keyword`."""

    sizes = BlockSizes()

    def __init__(self, context: ProviderContext) -> None:
        self._folder = str(context.state_dir)
        self._workspace = context.workspace_id
        self._warn = context.warn
        self._files: dict[str, DisposableDatabase] = {}
        self._held = local()
        """By thread: the stores of the sessions that it holds."""
        self._mutex = RLock()
        self._pid = os.getpid()

    def cursor(self, session: str) -> Cursor | None:
        return self._use(session, lambda file: file.peek(lambda db: TextStore(db, self.sizes).cursor()))

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        self._use(
            batch.session, lambda file: file.write(lambda db: TextStore(db, self.sizes).apply(batch.events, cursor))
        )

    def digest(self, session: str) -> str:
        return self._read(session, lambda store: store.digest())

    def verify(self, session: str) -> list[str]:
        """What somebody else has changed in a session's index, a sentence each."""
        return self._use(session, lambda file: file.examine(lambda db: list(problems(db, self.sizes))))

    def wipe(self, session: str) -> None:
        def wipe(file: DisposableDatabase) -> None:
            file.write(lambda db: TextStore(db, self.sizes).wipe())
            file.scrub()

        self._use(session, wipe)

    def try_scrub(self, session: str) -> bool:
        """Whether no byte of what was wiped is left."""
        return self._use(session, lambda file: file.try_scrub())

    def search(self, query: Query) -> Sequence[Candidate]:
        """The passages that fit, as candidates: one for each event, with its best passage."""
        best: dict[int, Hit] = {}
        for hit in self.hits(query):
            best.setdefault(hit.text.seq, hit)
        chosen = list(best.values())[: query.limit]
        contents = self.contents(query.session, [hit.text.id for hit in chosen])
        return [
            Candidate(
                hit.text.seq,
                hit.score,
                contents[hit.text.id].text,
                {**json.loads(contents[hit.text.id].metadata), "kind": hit.text.kind},
            )
            for hit in chosen
            if hit.text.id in contents  # what was wiped in this very moment is not
        ]

    def hits(self, query: Query) -> list[Hit]:
        """Every passage that fits, with what its score is made of; of those said by the moment asked for."""
        wanted = tokens.wanted(query.text)
        if not (wanted.words or wanted.identifiers or wanted.phrases):
            return []
        known = LAST if query.as_of.known_at is None else query.as_of.known_at
        at = query.as_of.valid_at
        found = self._read(query.session, lambda store: rank(store, wanted, known, at))
        return [hit for hit in found if not at or hit.text.time <= at]

    def passages(self, query: Query) -> Passages:
        """The passages that have what the query asks for themselves, each with its BM25 value."""
        wanted = tokens.wanted(query.text)
        known = LAST if query.as_of.known_at is None else query.as_of.known_at
        return self._read(query.session, lambda store: passages(store, query.text, wanted, known))

    def having(self, session: str, expressions: Sequence[str], *, known: int, limit: int) -> list[list[int]]:
        """The numbers of all passages of the first `known` events that each expression finds, up to a limit."""

        def look_up(store: TextStore) -> list[list[int]]:
            last = store.reach(known).last
            found = store.look_up([Lookup(expression, 0, limit) for expression in expressions], last)
            return [[row >> 8 for row in rows] for rows in found]

        return self._read(session, look_up)

    def numbered(self, session: str, ids: Collection[int]) -> list[Text]:
        """The passages of these numbers."""
        return self._read(session, lambda store: store.texts(ids))

    def contents(self, session: str, ids: Iterable[int]) -> dict[int, Content]:
        return self._read(session, lambda store: store.contents(ids))

    def texts(self, session: str, seqs: Iterable[int]) -> list[Text]:
        """The first passage of each of the events."""
        return self._read(session, lambda store: store.of_events(seqs))

    def latest(self, session: str, count: int, known: int) -> list[int]:
        """The seqs of the last of the first `known` events that say anything; bookkeeping does not."""
        return self._read(session, lambda store: store.latest(count, known))

    def newest(self, session: str, known: int) -> str:
        """The time of the last text among the first `known` events."""
        return self._read(session, lambda store: store.newest(known))

    def weights(self, session: str, asked: Sequence[str], known: int) -> Weights:
        """How much each word says, by how few of the passages of the first `known` events have it."""
        return self._read(session, lambda store: weights(store, asked, known))

    def reinforcement(self, session: str, texts: Iterable[Text], known: int) -> dict[int, float]:
        """How much good was said of events, or of what they tell of, among the first `known` events."""
        return self._read(session, lambda store: store.reinforcement(texts, known))

    @contextmanager
    def hold(self, session: str) -> Iterator[None]:
        """Let all reads of a session by this thread be of one state, so that nothing need be counted twice."""
        outer: dict[str, TextStore] = getattr(self._held, "stores", {})
        with self._use(session, lambda file: file.hold()):
            self._held.stores = {**outer, session: self._read(session, lambda store: store)}
            try:
                yield
            finally:
                self._held.stores = outer

    def close(self) -> None:
        with self._mutex:
            for file in self._files.values():
                file.close()
            self._files = {}

    def _read(self, session: str, ask: Callable[[TextStore], T]) -> T:
        """Ask of one state of a session's file, whatever others write meanwhile."""
        return self._use(session, lambda file: file.read(lambda db: ask(self._store(session, db))))

    def _store(self, session: str, db: SealedConnection) -> TextStore:
        held: TextStore | None = getattr(self._held, "stores", {}).get(session)
        return held if held is not None and held.asks(db) else TextStore(db, self.sizes)

    def _use(self, session: str, use: Callable[[DisposableDatabase], T]) -> T:
        if self._pid != os.getpid():
            self._mutex, self._pid = RLock(), os.getpid()  # a thread of the parent may have held it at the fork
        with self._mutex:
            file = self._file(session)
        return use(file)

    def _file(self, session: str) -> DisposableDatabase:
        if session not in self._files:
            if len(self._files) >= OPEN_AT_ONCE:
                self._files.pop(next(iter(self._files))).close()
            path, what = os.path.join(self._folder, f"{session}.db"), f"the text index of {session}"
            self._files[session] = DisposableDatabase(
                path, what, schema=SCHEMA, version=(FORMAT, *self.sizes), bound_to=self._workspace, warn=self._warn
            )
        return self._files[session]
