"""Models as ONNX files, by onnxruntime and tokenizers: without PyTorch, which is many times as large."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zaxy.api import InvalidRequest, Unavailable
from zaxy_sentence_transformers.engines import threads
from zaxy_sentence_transformers.model_folder import ModelFolder
from zaxy_sentence_transformers.vectors import Floats
from zaxy_sentence_transformers.windows import read_tokenizer

PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider", "mps": "CoreMLExecutionProvider"}
POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls", "pooling_mode_max_tokens": "max"}
PARTS = ("Transformer", "Pooling", "Normalize")
"""The parts of a model that are done here. The rest, such as a layer behind the pooling, is not."""


class OnnxEngine:
    name = "onnx"

    def __init__(self, model: ModelFolder, device: str, batch: int) -> None:
        self._runner = _Runner(model, device)
        self._pooling = _pooling_of(model)
        self._batch = batch
        self._prompts = _prompts_of(model)
        self.device = self._runner.device
        self.dimension = int(self.embed([""]).shape[1])

    def embed(self, texts: Sequence[str], *, question: bool = False) -> Floats:
        prompt = self._prompts["query" if question else "document"]
        # The longest together: what is short is not filled up to their length.
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        found: dict[int, Floats] = {}
        for first in range(0, len(order), self._batch):
            some = order[first : first + self._batch]
            found.update(zip(some, self._embed_together([prompt + texts[at] for at in some]), strict=True))
        return np.stack([found[at] for at in range(len(texts))])

    def _embed_together(self, texts: list[str]) -> Floats:
        states, mask = self._runner.run(texts)
        if states.ndim == 2:  # the file does the pooling itself
            pooled = states
        elif self._pooling == "cls":
            pooled = states[:, 0]
        elif self._pooling == "max":
            pooled = np.where(mask[:, :, None] == 1, states, -np.inf).max(axis=1)
        else:
            weights = mask[:, :, None].astype(np.float32)
            pooled = (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
        lengths = np.linalg.norm(pooled, axis=1, keepdims=True)
        return np.asarray(pooled / np.maximum(lengths, 1e-12), np.float32)


class OnnxCrossEncoder:
    def __init__(self, model: ModelFolder, device: str) -> None:
        self._runner = _Runner(model, device)

    def logits(self, question: str, texts: Sequence[str]) -> list[float]:
        found = [self._runner.run([(question, text)])[0] for text in texts]
        if any(one.size != 1 for one in found):
            raise InvalidRequest(
                f"the model has {found[0].size} outputs, and a re-ranker has one",
                "Set ZAXY_SENTENCE_RERANKER to a cross-encoder for ranking.",
            )
        return [float(one.reshape(-1)[0]) for one in found]


class _Runner:
    """A session of onnxruntime with the tokenizer of its model."""

    def __init__(self, model: ModelFolder, device: str) -> None:
        onnxruntime = import_module("onnxruntime")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = threads()
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        providers = _providers(device, onnxruntime.get_available_providers())
        self._session: Any = onnxruntime.InferenceSession(str(model.onnx_file), options, providers=providers)
        self._inputs = {one.name for one in self._session.get_inputs()}
        self._tokenizer: Any = read_tokenizer(model.path / "tokenizer.json")
        self._tokenizer.enable_truncation(model.max_tokens)
        pad = model.config("config.json").get("pad_token_id")
        self._tokenizer.enable_padding(pad_id=pad if isinstance(pad, int) else 0)
        self._lowers = model.config("sentence_bert_config.json").get("do_lower_case") is True
        used = self._session.get_providers()[0]
        self.device = next((name for name, provider in PROVIDERS.items() if provider == used), used)

    def run(self, texts: Sequence[str | tuple[str, str]]) -> tuple[Floats, NDArray[np.int64]]:
        """The model's first output, and which tokens are no filling."""
        given = [text.lower() if self._lowers and isinstance(text, str) else text for text in texts]
        encoded = self._tokenizer.encode_batch(given)
        mask = np.array([one.attention_mask for one in encoded], np.int64)
        named = {
            "input_ids": np.array([one.ids for one in encoded], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([one.type_ids for one in encoded], np.int64),
        }
        found = self._session.run(None, {name: value for name, value in named.items() if name in self._inputs})
        return np.asarray(found[0], np.float32), mask


def _providers(device: str, there: Sequence[str]) -> list[str]:
    kind = device.partition(":")[0]
    if kind == "auto":
        return [name for name in (PROVIDERS["cuda"], PROVIDERS["cpu"]) if name in there]
    if PROVIDERS.get(kind) not in there:
        raise Unavailable(
            f"onnxruntime has nothing for ZAXY_SENTENCE_DEVICE={device}",
            "Set it to cpu or auto, or install another one.",
        )
    return [PROVIDERS[kind]]


def _pooling_of(model: ModelFolder) -> str:
    for part in model.parts():
        if part not in PARTS:
            raise Unavailable(
                f"{model.name} has a part that is not done with ONNX here: {part}", "Set ZAXY_SENTENCE_ENGINE=torch."
            )
    config = model.config("1_Pooling/config.json")
    wanted = [name for key, name in POOLINGS.items() if config.get(key)] or [str(config.get("pooling_mode", "mean"))]
    if len(wanted) > 1 or wanted[0] not in POOLINGS.values() or config.get("pooling_mode_mean_sqrt_len_tokens"):
        raise Unavailable(f"the pooling of {model.name} is not done with ONNX here", "Set ZAXY_SENTENCE_ENGINE=torch.")
    return wanted[0]


def _prompts_of(model: ModelFolder) -> dict[str, str]:
    """What some models want in front of a question, and of what may answer it."""
    config = model.config("config_sentence_transformers.json")
    prompts = config.get("prompts") or {}
    usual = prompts.get(config.get("default_prompt_name"), "") or ""
    documents = next((prompts[name] for name in ("document", "passage", "corpus") if prompts.get(name)), usual)
    return {"query": prompts.get("query") or usual, "document": documents}
