"""The lane `vectors`: events that mean what the question means, in whatever words."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import contextmanager
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

from zaxy.api import Batch, Candidate, Cursor, ProviderContext, Query, Unavailable, passages_of
from zaxy_vectors import commits, windows
from zaxy_vectors.commits import Commit, Folder
from zaxy_vectors.weights import SETTING, find_files, identity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zaxy_vectors.embedding import Embedder, Floats
    from zaxy_vectors.rows import Rows

RULES = f"rows-{commits.FORMAT} windows-{windows.VERSION} words-1"
"""What beside the model decides on the vectors of a text."""
MAX_OPEN = 8
"""Sessions whose files are kept open."""


class VectorLane:
    def __init__(self, context: ProviderContext) -> None:
        self._given = str(context.settings.get(SETTING) or "")
        self._folder = Folder(context.state_dir)
        self._open: OrderedDict[str, tuple[Commit, Rows]] = OrderedDict()
        self._damaged: dict[str, str] = {}
        """The generation in which a row was found to be wrong, by session."""
        self._lock = Lock()
        self._known_model = ""
        self._loaded: Embedder | None = None

    def search(self, query: Query) -> list[Candidate]:
        commit = self._commit(query.session)
        if commit is None or not commit.count or not query.text.strip():
            return []
        question = self._embedder().of_text(query.text)
        from zaxy_vectors.nearest import nearest
        from zaxy_vectors.rows import is_right

        rows = self._rows(query.session, commit)
        found = nearest(rows, question, known_at=query.as_of.known_at, limit=query.limit)
        if not is_right(rows, [near.row for near in found]):
            raise self._found_damaged(query.session, commit)
        return [Candidate(near.seq, near.score) for near in found]

    def similar_words(self, words: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
        return self._embedder().similar_words(words, texts)

    def cursor(self, session: str) -> Cursor | None:
        commit = self._commit(session)
        return commit.cursor if commit else None

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        commit = self._commit(batch.session)
        reached = commit.cursor.seq if commit else 0
        new = [one for one in batch.events if one.event.seq > reached]
        if not new:
            return
        from zaxy_vectors.rows import append, checksum, made

        seqs, vectors = self._embedded([(one.event.seq, passages_of(one)) for one in new])
        rows = made(seqs, vectors)
        with _writing():
            self._folder.prepare()
            count, generation = (commit.count, commit.generation) if commit else (0, os.urandom(12).hex())
            if seqs or not count:
                append(self._folder.paths(batch.session), rows, generation=generation, count=count)
            after = checksum(rows.marks, commit.checksum if commit else 0)
            whole = Commit(cursor, count + len(seqs), after, generation, self._model())
            self._folder.store(batch.session, whole)
        self._damaged.pop(batch.session, None)

    def digest(self, session: str) -> str:
        from zaxy_vectors.rows import digest

        commit = self._commit(session)
        if commit is None:
            return sha256().hexdigest()
        of_rows = digest(self._rows(session, commit))
        return sha256(f"{commit.model} {commit.cursor.seq} {of_rows}".encode()).hexdigest()

    def verify(self, session: str) -> Sequence[str]:
        """What is wrong with the rows of a session, a sentence each."""
        from zaxy_vectors.rows import checksum, first_wrong

        commit = self._commit(session)
        if commit is None:
            return []
        rows = self._rows(session, commit)
        if seq := first_wrong(rows):
            return [f"the vector of event {seq} is not as it was written"]
        if checksum(rows.marks) != commit.checksum:
            return ["the marks of the vectors are not as they were written"]
        return []

    def wipe(self, session: str) -> None:
        with self._lock:
            self._open.pop(session, None)
        with _writing():
            self._folder.wipe(session)

    def close(self) -> None:
        self._open.clear()

    def _model(self) -> str:
        """What decides on the vectors of a text: as long as the lane is there it stays what it was at first."""
        if not self._known_model:
            self._known_model = f"{identity(find_files(self._given))} {RULES}"
        return self._known_model

    def _embedder(self) -> Embedder:
        if self._loaded is None:
            files = find_files(self._given)
            from zaxy_vectors.embedding import embedder_of

            self._loaded = embedder_of(files, identity(files))
        return self._loaded

    def _embedded(self, events: Sequence[tuple[int, Sequence[str]]]) -> tuple[list[int], Floats]:
        """The vectors of all windows of events, with the event of each; what has no known word has none."""
        from numpy import flatnonzero

        seqs, texts = [], []
        for seq, passages in events:
            for window in windows.windows(passages):
                seqs.append(seq)
                texts.append(window)
        vectors = self._embedder().of_windows(texts)
        known = flatnonzero(vectors.any(axis=1))
        return [seqs[at] for at in known], vectors[known]

    def _commit(self, session: str) -> Commit | None:
        """What is committed; None where the session must be followed from the start."""
        commit = self._folder.commit(session)
        if commit is None or commit.model != self._model() or self._damaged.get(session) == commit.generation:
            return None
        return commit if self._folder.are_there(session, commit) else None

    def _rows(self, session: str, commit: Commit) -> Rows:
        from zaxy_vectors.rows import Damaged, open_rows

        with self._lock:
            known = self._open.pop(session, None)
            if known is None or known[0].generation != commit.generation or known[0].count < commit.count:
                try:
                    rows = open_rows(self._folder.paths(session), generation=commit.generation, count=commit.count)
                except Damaged:
                    raise self._found_damaged(session, commit) from None
                known = (commit, rows)
            self._open[session] = known
            while len(self._open) > MAX_OPEN:
                self._open.popitem(last=False)
            return known[1].part(0, commit.count)

    def _found_damaged(self, session: str, commit: Commit) -> Unavailable:
        self._damaged[session] = commit.generation
        return Unavailable(
            f"the vectors of session {session} are damaged", "Ask again: they are made again from the log."
        )


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"the vectors cannot be written: {error.filename or ''} {error.strerror}", "Make room, or make it writable."
        ) from None
