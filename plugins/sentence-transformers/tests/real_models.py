"""Models in folders for `.ci/run-real sentence-transformers`: an ONNX form, and a cross-encoder of random weights."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModel, BertConfig, BertForSequenceClassification

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class _States(torch.nn.Module):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self._model = model

    def forward(self, *given: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self._model(**dict(zip(INPUTS, given, strict=True)), return_dict=True)[0]
        return states


def with_onnx(model: Path, folder: Path) -> Path:
    """A copy of a model's folder that has an ONNX file besides, and no other weights."""
    shutil.copytree(model, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    (folder / "onnx").mkdir()
    plain = AutoModel.from_pretrained(str(model), local_files_only=True, attn_implementation="eager").eval()
    sample = tuple(torch.ones((2, 9), dtype=torch.int64) for _ in INPUTS)
    axes = {name: {0: "texts", 1: "tokens"} for name in (*INPUTS, "states")}
    torch.onnx.export(
        _States(plain),
        sample,
        str(folder / "onnx" / "model.onnx"),
        input_names=list(INPUTS),
        output_names=["states"],
        dynamic_axes=axes,
        dynamo=False,
    )
    return folder


def random_cross_encoder(model: Path, folder: Path) -> Path:
    """A tiny cross-encoder that knows nothing, with the words of a real model: it shows that the way there works."""
    folder.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        shutil.copy(model / name, folder / name)
    torch.manual_seed(7)
    config = BertConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, num_labels=1)
    BertForSequenceClassification(config).save_pretrained(str(folder))
    return folder
