"""Models on PyTorch, by the package sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from zaxy.api import InvalidRequest
from zaxy_sentence_transformers.engines import threads
from zaxy_sentence_transformers.model_folder import ModelFolder
from zaxy_sentence_transformers.vectors import Floats

AUTO = "auto"
PAIRS_AT_ONCE = 16


class TorchEngine:
    name = "torch"

    def __init__(self, model: ModelFolder, device: str, batch: int) -> None:
        self._model: Any = _loaded("SentenceTransformer", model, device)
        self._batch = batch
        self.device = str(self._model.device)
        self.dimension = int(self.embed([""]).shape[1])

    def embed(self, texts: Sequence[str], *, question: bool = False) -> Floats:
        encode = self._model.encode_query if question else self._model.encode_document
        found = encode(
            list(texts),
            batch_size=self._batch,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(found, np.float32)


class TorchCrossEncoder:
    def __init__(self, model: ModelFolder, device: str) -> None:
        self._model: Any = _loaded("CrossEncoder", model, device)
        if self._model.num_labels != 1:
            raise InvalidRequest(
                f"{model.name} has {self._model.num_labels} outputs, and a re-ranker has one",
                "Set ZAXY_SENTENCE_RERANKER to a cross-encoder for ranking.",
            )
        self._plain = import_module("torch").nn.Identity()

    def logits(self, question: str, texts: Sequence[str]) -> list[float]:
        pairs = [(question, text) for text in texts]
        found = self._model.predict(
            pairs, batch_size=PAIRS_AT_ONCE, activation_fn=self._plain, show_progress_bar=False, convert_to_numpy=True
        )
        return [float(value) for value in np.asarray(found, np.float64).reshape(-1)]


def _loaded(kind: str, model: ModelFolder, device: str) -> Any:
    made = getattr(import_module("sentence_transformers"), kind)
    import_module("transformers").utils.logging.disable_progress_bar()
    import_module("torch").set_num_threads(threads())
    loaded = made(str(model.path), device=None if device == AUTO else device, local_files_only=True)
    loaded.eval()
    return loaded
