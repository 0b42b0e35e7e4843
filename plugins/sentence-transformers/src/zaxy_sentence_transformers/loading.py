"""Loads models in the background, once, so that no reader waits long for one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, TimeoutError as NotInTime
from pathlib import Path
from threading import Lock, Thread
from typing import Generic, TypeVar

import numpy as np

from zaxy.api import Unavailable, ZaxyError
from zaxy_sentence_transformers import engines
from zaxy_sentence_transformers.model_folder import DEFAULT_NAME, ModelFolder, find_model, model_missing
from zaxy_sentence_transformers.record import note
from zaxy_sentence_transformers.vectors import Floats
from zaxy_sentence_transformers.windows import Cutter

T = TypeVar("T")
MODEL, RERANKER = "ZAXY_SENTENCE_MODEL", "ZAXY_SENTENCE_RERANKER"
SECONDS_FOR_A_READER = 1.5
"""How long a question waits for a model that is being loaded: the core gives a lane two seconds."""
TRY_AGAIN_SECONDS = 30.0


class InBackground(Generic[T]):
    """A value that a thread makes when it is first wanted. If that fails, it is tried again after a while."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = Lock()
        self._future: Future[T] | None = None
        self._begun = 0.0

    def get(self, seconds: float | None) -> T:
        """The value, waited for so long; `None`: as long as it takes."""
        with self._lock:
            if self._future is None or self._is_to_be_tried_again(self._future):
                self._future, self._begun = Future(), time.monotonic()
                Thread(target=self._run, args=(self._future,), name="zaxy-sentence-model", daemon=True).start()
            future = self._future
        try:
            return future.result(seconds)
        except NotInTime:
            raise Unavailable(
                "the sentence model is being loaded", "Ask again in some seconds: this answer goes without it."
            ) from None

    def _is_to_be_tried_again(self, future: Future[T]) -> bool:
        failed = future.done() and future.exception() is not None
        return failed and time.monotonic() - self._begun > TRY_AGAIN_SECONDS

    def _run(self, future: Future[T]) -> None:
        try:
            future.set_result(self._make())
        except BaseException as error:
            future.set_exception(error)


class SentenceModel:
    """The model that the settings name. One text or batch of texts is given to it at a time."""

    def __init__(self, settings: Mapping[str, object], user_dir: Path) -> None:
        self._settings = settings
        self._user_dir = user_dir
        self._name = str(settings[MODEL])
        self._found: tuple[ModelFolder, Cutter, str] | None = None
        self._loaded = InBackground(self._load)
        self._turn = Lock()

    def is_there(self) -> bool:
        """Whether it is on this machine. False only if it may be downloaded; else it is an error that it is not."""
        if self._found is None:
            folder = find_model(self._name)
            if folder is None:
                if self._settings["ZAXY_SENTENCE_DOWNLOAD"]:
                    return False
                raise model_missing(self._name, MODEL)
            cutter = Cutter(folder.path, folder.max_tokens)
            self._found = folder, cutter, folder.identity(cutter.rule)
        return True

    def fetch(self) -> None:
        """Let it be on this machine, if the user allows that."""
        if not self.is_there():
            engines.download(self._name or DEFAULT_NAME, str(self._settings["ZAXY_SENTENCE_ENGINE"]))
            if not self.is_there():
                raise model_missing(self._name, MODEL)

    @property
    def identity(self) -> str:
        return self._there[2]

    def windows(self, text: str) -> list[str]:
        return self._there[1].windows(text)

    def embed(self, texts: Sequence[str]) -> Floats:
        engine = self._loaded.get(None)
        with self._turn:
            return engine.embed(texts)

    def embed_question(self, text: str) -> Floats:
        engine = self._loaded.get(SECONDS_FOR_A_READER)
        with self._turn:
            return np.asarray(engine.embed([text], question=True)[0], np.float32)

    @property
    def _there(self) -> tuple[ModelFolder, Cutter, str]:
        if not self.is_there() or self._found is None:
            raise model_missing(self._name, MODEL)
        return self._found

    def _load(self) -> engines.Engine:
        folder = self._there[0]
        begun = time.monotonic()
        try:
            engine = engines.open_engine(folder, self._settings)
        except ZaxyError as error:
            note(self._user_dir, model=folder.name, failure=error.message, remediation=error.remediation)
            raise
        seen = {"engine": engine.name, "device": engine.device, "dimension": engine.dimension}
        note(self._user_dir, model=folder.name, failure="", seconds=round(time.monotonic() - begun, 1), **seen)
        return engine


def reranker_of(settings: Mapping[str, object]) -> Callable[[], engines.CrossEncoder]:
    """Loads the cross-encoder that the settings name."""
    name = str(settings[RERANKER])

    def load() -> engines.CrossEncoder:
        folder = find_model(name)
        if folder is None and settings["ZAXY_SENTENCE_DOWNLOAD"]:
            engines.download(name, str(settings["ZAXY_SENTENCE_ENGINE"]))
            folder = find_model(name)
        if folder is None:
            raise model_missing(name, RERANKER)
        return engines.open_cross_encoder(folder, settings)

    return load
