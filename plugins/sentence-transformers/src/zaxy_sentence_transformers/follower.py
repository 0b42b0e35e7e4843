"""The lane: it follows the log, keeps a vector for each window of what events say, and finds the nearest ones."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import NamedTuple

from zaxy.api import (
    Batch,
    Candidate,
    Cursor,
    ExtractedEvent,
    ProviderContext,
    Query,
    Unavailable,
    ZaxyError,
    own_folder_within,
    passages_of,
)
from zaxy_sentence_transformers.cache import Keys, VectorCache
from zaxy_sentence_transformers.engines import batch_size
from zaxy_sentence_transformers.loading import RERANKER, SECONDS_FOR_A_READER, InBackground, SentenceModel, reranker_of
from zaxy_sentence_transformers.record import note
from zaxy_sentence_transformers.rows import Place, SessionRows, Window
from zaxy_sentence_transformers.vectors import Floats, Matrix, as_bytes

SCRUB_SECONDS = 5.0
MAX_QUESTION_CHARS = 4096
MAX_QUESTIONS = 64
MAX_SESSIONS = 8
"""Sessions whose vectors are held in memory."""
ENOUGH_TO_MEASURE = 32
"""Texts after which it is worth noting how fast the model is."""


class Held(NamedTuple):
    """The vectors of a session in memory, and the run through its log that they are of."""

    run: bytes
    matrix: Matrix


class SentenceLane:
    def __init__(self, context: ProviderContext) -> None:
        self._context = context
        self._settings = context.settings
        self._lock = RLock()
        """Guards what is remembered. It is not held while the model works."""
        self._following = RLock()
        self._model = SentenceModel(context.settings, context.user_dir)
        self._reranker = InBackground(reranker_of(context.settings))
        self._rows: dict[str, SessionRows] = {}
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._questions: OrderedDict[str, Floats] = OrderedDict()
        self._tidied: set[str] = set()
        self._shared: tuple[Keys, VectorCache] | None = None

    # Finding

    def search(self, query: Query) -> Sequence[Candidate]:
        text = _clean(query.text[:MAX_QUESTION_CHARS]).strip()
        place = self._rows_of(query.session).place()
        if not any(map(str.isalnum, text)) or place is None or place.cursor is None or query.limit < 1:
            return []
        if place.model != self._model_id():
            return []  # it will be read again with this one
        question = self._question(text)
        with self._lock:
            matrix = self._matrix(query.session, place)
            found = matrix.nearest(question, query.as_of.known_at, query.limit)
        return [Candidate(seq, score) for seq, score in found]

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        if not self._settings[RERANKER] or not texts:
            return []
        model = self._reranker.get(SECONDS_FOR_A_READER)
        logits = model.logits(_clean(question), [_clean(text) for text in texts])
        return [1 / (1 + math.exp(-max(min(logit, 60.0), -60.0))) for logit in logits]

    def _question(self, text: str) -> Floats:
        with self._lock:
            if text in self._questions:
                self._questions.move_to_end(text)
                return self._questions[text]
        vector = self._model.embed_question(text)
        with self._lock:
            self._questions[text] = vector
            while len(self._questions) > MAX_QUESTIONS:
                self._questions.popitem(last=False)
        return vector

    def _matrix(self, session: str, place: Place) -> Matrix:
        held = self._held.get(session)
        if held is None or held.run != place.run:
            held = self._held[session] = Held(place.run, Matrix())
        new = self._rows_of(session).after(held.matrix.last_seq, held.run)
        if new is None:  # another process has just begun again
            return Matrix()
        held.matrix.append(new)
        self._held.move_to_end(session)
        while len(self._held) > MAX_SESSIONS:
            self._held.popitem(last=False)
        return held.matrix

    # Following

    def cursor(self, session: str) -> Cursor | None:
        place = self._rows_of(session).place()
        if not self._model.is_there() or place is None or place.model != self._model_id():
            return None
        if place.cursor and session not in self._tidied:
            self._tidied.add(session)
            self._cache.reached(self._owner(session), place.cursor.seq)  # what a process that ended has left to do
        return place.cursor

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        with self._following:
            self._model.fetch()
            rows, owner = self._rows_of(batch.session), self._owner(batch.session)
            seq = self._begun(rows, owner)
            if cursor.seq <= seq:
                return
            windows, texts = self._windows(event for event in batch.events if event.event.seq > seq)
            self._embed(rows, owner, texts)
            rows.commit(windows, cursor)
            if not self._cache.reached(owner, cursor.seq):
                self._context.warn("bytes of erased vectors are still on disk while a process reads the shared cache")

    def _begun(self, rows: SessionRows, owner: bytes) -> int:
        """The last event that is there; what another model or another secret made is forgotten first."""
        place, model = rows.place(), self._model_id()
        if place is not None and place.model == model:
            return place.cursor.seq if place.cursor else 0
        self._cache.begin(owner, place.cursor.seq if place and place.cursor else 0)
        rows.begin(model)
        return 0

    def _windows(self, events: Iterable[ExtractedEvent]) -> tuple[list[Window], dict[bytes, str]]:
        windows, texts, model = [], {}, self._model_id()
        for extracted in events:
            said = [text for passage in passages_of(extracted) for text in self._model.windows(_clean(passage))]
            for number, text in enumerate(said):
                key = self._keys.of_text(model, text)
                windows.append(Window(extracted.event.seq, number, key))
                texts[key] = text
        return windows, texts

    def _embed(self, rows: SessionRows, owner: bytes, texts: Mapping[bytes, str]) -> None:
        """Let each text have its vector, and keep what is done after each step."""
        day = self._context.clock().toordinal()
        missing = rows.missing(texts)
        self._cache.use(owner, texts.keys() - missing)
        cached = self._cache.get(owner, missing, day)
        rows.add_vectors(cached)
        # Texts of about one length together: none is filled up with nothing.
        left = sorted(missing - cached.keys(), key=lambda key: (len(texts[key]), key))
        step, begun = batch_size(self._settings), time.monotonic()
        for first in range(0, len(left), step):
            keys = left[first : first + step]
            vectors = as_bytes(self._model.embed([texts[key] for key in keys]))
            made = {key: vector.tobytes() for key, vector in zip(keys, vectors, strict=True)}
            rows.add_vectors(made)
            self._cache.put(owner, made, day)
        if len(left) >= ENOUGH_TO_MEASURE:
            rate = len(left) / max(time.monotonic() - begun, 0.001)
            note(self._context.user_dir, texts_per_second=round(rate, 1))

    def digest(self, session: str) -> str:
        return self._rows_of(session).digest()

    def wipe(self, session: str) -> None:
        rows, failure = self._rows_of(session), None
        place = rows.place()
        try:
            self._cache.begin(self._owner(session), place.cursor.seq if place and place.cursor else 0)
        except ZaxyError as error:
            failure = error  # the session is forgotten here all the same
        rows.wipe()
        with self._lock:
            self._held.pop(session, None)
            self._tidied.discard(session)
        if not rows.scrub(SCRUB_SECONDS):
            raise Unavailable(
                "the session was forgotten, but a process that is reading its vectors keeps their bytes on disk",
                "It is tried again; end that process if it hangs.",
            )
        if failure:
            raise failure

    def try_scrub(self, session: str) -> bool:
        """Let no byte of what was forgotten be on disk, without waiting for anybody who reads."""
        return self._rows_of(session).scrub(0) and self._cache.scrub(0)

    def close(self) -> None:
        with self._lock:
            for rows in self._rows.values():
                rows.close()
            self._rows.clear()
            self._held.clear()
            if self._shared:
                self._shared[1].close()
                self._shared = None

    # What belongs to the user

    @property
    def _keys(self) -> Keys:
        return self._of_user()[0]

    @property
    def _cache(self) -> VectorCache:
        return self._of_user()[1]

    def _of_user(self) -> tuple[Keys, VectorCache]:
        with self._lock:
            if self._shared is None:
                folder = private_folder(self._context.user_dir)
                keys = Keys(folder)
                size = max(int(str(self._settings["ZAXY_SENTENCE_CACHE_MB"])), 0) << 20
                self._shared = keys, VectorCache(folder, keys, max_bytes=size, warn=self._context.warn)
            return self._shared

    def _owner(self, session: str) -> bytes:
        return self._keys.of_session(self._context.workspace_id, session)

    def _model_id(self) -> str:
        """Another model makes other vectors, and another secret other keys."""
        return f"{self._model.identity} {self._keys.mark}"

    def _rows_of(self, session: str) -> SessionRows:
        with self._lock:
            if session not in self._rows:
                self._rows[session] = SessionRows(self._context.state_dir, session, self._context.warn)
            return self._rows[session]


def private_folder(folder: Path) -> Path:
    """A folder that only this user can look into."""
    return Path(own_folder_within(str(folder.parent), folder.name, create=True))


def _clean(text: str) -> str:
    """Without halves of characters, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode("utf-8")
