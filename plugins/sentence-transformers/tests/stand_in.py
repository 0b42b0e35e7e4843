"""A small model for tests where no real one is installed: it hashes words into 64 numbers.

The real one is tested by `.ci/run-real sentence-transformers`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from zaxy_sentence_transformers import engines
from zaxy_sentence_transformers.model_folder import ModelFolder
from zaxy_sentence_transformers.vectors import Floats

DIMENSION = 64
MEANS = {"vehicle": "car", "automobile": "car", "physician": "doctor"}
DEFAULTS: dict[str, object] = {
    "ZAXY_SENTENCE_MODEL": "",
    "ZAXY_SENTENCE_DOWNLOAD": False,
    "ZAXY_SENTENCE_ENGINE": "auto",
    "ZAXY_SENTENCE_DEVICE": "auto",
    "ZAXY_SENTENCE_BATCH": 32,
    "ZAXY_SENTENCE_CACHE_MB": 200,
    "ZAXY_SENTENCE_RERANKER": "",
}


class WordHashes:
    """The mean of the directions of all words, each by how seldom it is in general: shorter ones are more common."""

    name = "stand-in"
    device = "cpu"
    dimension = DIMENSION

    def __init__(self) -> None:
        self.given: list[str] = []

    def embed(self, texts: Sequence[str], *, question: bool = False) -> Floats:
        self.given += texts
        found = np.stack([_sum_of_words(text) for text in texts])
        return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9), np.float32)


def _sum_of_words(text: str) -> Floats:
    total = np.zeros(DIMENSION, np.float32)
    for word in re.findall(r"\w+", text.casefold()):
        seed = blake2b(MEANS.get(word, word).encode(), digest_size=8).digest()
        weight = 2.0 if word.isdigit() or len(word) > 4 else 0.5
        total += weight * np.random.default_rng(int.from_bytes(seed, "big")).standard_normal(DIMENSION).astype(
            np.float32
        )
    return total


def model_folder(folder: Path, kind: str = "words") -> Path:
    """The files of a model, as far as it is found by them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": kind, "hidden_size": DIMENSION}))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 256}))
    (folder / "model.safetensors").write_bytes(kind.encode() * 40)
    return folder


def settings(folder: Path, **changed: object) -> dict[str, object]:
    return {**DEFAULTS, "ZAXY_SENTENCE_MODEL": str(model_folder(folder)), **changed}


def open_stand_in(model: ModelFolder, settings: Mapping[str, object]) -> engines.Engine:
    return WordHashes()
