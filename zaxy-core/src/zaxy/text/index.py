"""The text index: a follower that holds every passage of the log, and the lane that finds them word by word.

It needs no graph and no network. Each session has a file of its own, so that a word's weight is that of its session and
nothing of another session can come back.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from threading import RLock
from typing import TypeVar

from zaxy.api.models import Batch, Candidate, Cursor, Query
from zaxy.api.provider import ProviderContext
from zaxy.errors import Unavailable
from zaxy.eventloom.disk import DISK
from zaxy.security.paths import own_folder
from zaxy.text import tokens
from zaxy.text.ranking import Hit, Weights, rank, weights
from zaxy.text.store import FILES, Content, Text, TextStore

T = TypeVar("T")
OPEN_AT_ONCE = 32
LAST = 2**62


class TextIndex:
    """The built-in lane `verbatim`, and the words behind the lane `keyword`."""

    def __init__(self, context: ProviderContext) -> None:
        self._folder = str(context.state_dir)
        self._warn = context.warn
        self._stores: dict[str, TextStore] = {}
        self._mutex = RLock()
        self._pid = os.getpid()

    def cursor(self, session: str) -> Cursor | None:
        return self._use(session, lambda store: store.cursor())

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        self._use(batch.session, lambda store: store.apply(batch.events, cursor))

    def digest(self, session: str) -> str:
        return self._read(session, lambda store: store.digest())

    def wipe(self, session: str) -> None:
        self._use(session, lambda store: store.wipe())
        for ending in FILES:
            with suppress(FileNotFoundError, IsADirectoryError, PermissionError):  # a folder is none of ours
                os.unlink(f"{self._path(session)}.broken{ending}")

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

    def contents(self, session: str, ids: Iterable[int]) -> dict[int, Content]:
        return self._use(session, lambda store: store.contents(ids))

    def texts(self, session: str, seqs: Iterable[int]) -> list[Text]:
        """The first passage of each of the events."""
        return self._use(session, lambda store: store.of_events(seqs))

    def latest(self, session: str, count: int, known: int) -> list[int]:
        """The seqs of the last of the first `known` events that say anything; bookkeeping does not."""
        return self._use(session, lambda store: store.latest(count, known))

    def newest(self, session: str, known: int) -> str:
        """The time of the last text among the first `known` events."""
        return self._read(session, lambda store: store.newest(store.last(known)))

    def weights(self, session: str, asked: Sequence[str], known: int) -> Weights:
        """How much each word says, by how few of the passages of the first `known` events have it."""
        return self._read(session, lambda store: weights(store, asked, known))

    def terms(self, session: str, pairs: Iterable[tuple[str, str]], known: int) -> list[tuple[str, str]]:
        """Those of the pairs of words that stand side by side somewhere: what they name is known."""

        def together(store: TextStore) -> list[tuple[str, str]]:
            last = store.last(known)
            return [pair for pair in pairs if store.together(pair, last)]

        return self._read(session, together)

    def reinforcement(self, session: str, texts: Iterable[Text], known: int) -> dict[int, float]:
        """How much good was said of events, or of what they tell of, among the first `known` events."""
        return self._use(session, lambda store: store.reinforcement(texts, known))

    def close(self) -> None:
        with self._mutex:
            if self._pid == os.getpid():
                for store in self._stores.values():
                    store.close()
            self._stores = {}

    def _read(self, session: str, ask: Callable[[TextStore], T]) -> T:
        def in_one_state(store: TextStore) -> T:
            with store.reading():
                return ask(store)

        return self._use(session, in_one_state)

    def _use(self, session: str, use: Callable[[TextStore], T]) -> T:
        """Use a session's file. One that is broken or of another format is set aside, and an empty one begun."""
        if self._pid != os.getpid():
            # A connection must not be used after a fork, nor be closed there, as it would be if it were let go of.
            self._of_parent, self._stores, self._mutex, self._pid = self._stores, {}, RLock(), os.getpid()
        with self._mutex:
            try:
                return use(self._opened(session))
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.ProgrammingError | sqlite3.IntegrityError):
                    raise  # a mistake of ours: the file is as good as before
                if isinstance(error, sqlite3.OperationalError) and "no such" not in str(error):
                    said = f"the text index of {session} cannot be used: {error}"
                    raise Unavailable(said, ADVICE) from None
                self._set_aside(session, str(error))
                return use(self._opened(session))
            except OSError as error:
                said = f"the text index of {session} cannot be used: {error.strerror}"
                raise Unavailable(said, f"Make {self._folder} readable and writable.") from None

    def _opened(self, session: str) -> TextStore:
        store = self._stores.get(session)
        if store is not None and store.identity != DISK.identity_at(self._path(session)):
            self._stores.pop(session).close()  # somebody has deleted the file, or set it aside
        if session not in self._stores:
            if len(self._stores) >= OPEN_AT_ONCE:
                self._stores.pop(next(iter(self._stores))).close()
            own_folder(self._folder, create=True)
            self._stores[session] = TextStore(self._path(session))
        return self._stores[session]

    def _path(self, session: str) -> str:
        return os.path.join(self._folder, f"{session}.db")

    def _set_aside(self, session: str, reason: str) -> None:
        """Move a file out of the way, or take it away where it holds nothing that is worth a look."""
        store = self._stores.pop(session, None)
        if store is not None:
            store.close()
        path = self._path(session)
        self._warn(f"the text index of {session} was set aside and is built again: {reason}")
        for ending in FILES:
            with suppress(OSError):
                os.replace(path + ending, f"{path}.broken{ending}")


ADVICE = "Try again; 'zaxy followers rebuild' builds it anew."
