"""What runs a model: chosen by what is installed and by what the model's folder has. Nothing else knows which it is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Protocol

from zaxy.api import InvalidRequest, Unavailable, ZaxyError, install_hint
from zaxy_sentence_transformers.model_folder import ModelFolder
from zaxy_sentence_transformers.vectors import Floats

TORCH, ONNX, AUTO = "torch", "onnx", "auto"
NEEDS = {TORCH: ("torch", "sentence_transformers"), ONNX: ("onnxruntime", "tokenizers")}
"""The engines with the packages that each needs; `lane` has them too, so that it can look for them first."""
WHILE_LOADING = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",  # threads that wait would keep others from the processor
}
"""No network, nothing on stderr, and no busy waiting: read from the environment when these packages are imported."""
FILES_TO_DOWNLOAD = {
    TORCH: ["*.json", "*.txt", "*.model", "*.safetensors"],
    ONNX: ["*.json", "*.txt", "onnx/model.onnx"],
}
"""Never code, and no pickled weights, which are code too."""
FILES_TO_LEAVE = {TORCH: ["onnx/*", "openvino/*"], ONNX: ["openvino/*"]}


class Engine(Protocol):
    """A model that is loaded."""

    name: str
    device: str
    dimension: int

    def embed(self, texts: Sequence[str], *, question: bool = False) -> Floats:
        """A row of length 1 for each text. Some models take a question otherwise than what may answer it."""
        ...


class CrossEncoder(Protocol):
    """A model that reads a question and a text together."""

    def logits(self, question: str, texts: Sequence[str]) -> list[float]:
        """The higher, the better a text answers the question."""
        ...


def is_installed(engine: str) -> bool:
    return all(find_spec(name) is not None for name in NEEDS[engine])


def nothing_installed() -> bool:
    return not any(map(is_installed, NEEDS))


def choose(wanted: str, model: ModelFolder) -> str:
    """The engine for a model, or what to do where there is none."""
    if wanted not in (TORCH, ONNX, AUTO):
        raise InvalidRequest(f"ZAXY_SENTENCE_ENGINE is {wanted!r}, no engine", "Set it to auto, torch or onnx.")
    has_onnx = model.onnx_file is not None
    if wanted == ONNX and not has_onnx:
        raise Unavailable(
            f"{model.path} has no ONNX file (onnx/model.onnx)",
            "Take a model that has one, or set ZAXY_SENTENCE_ENGINE=torch.",
        )
    fitting = [ONNX] * (has_onnx and wanted != TORCH) + [TORCH] * (wanted != ONNX)
    for engine in fitting:
        if is_installed(engine):
            return engine
    missing = ", ".join(name for name in NEEDS[fitting[-1]] if find_spec(name) is None)
    extras = " or ".join(install_hint(f"zaxy-sentence-transformers[{engine}]") for engine in fitting)
    raise Unavailable(f"what runs the model is not installed: {missing}", f"Install it: {extras}")


def open_engine(model: ModelFolder, settings: Mapping[str, object]) -> Engine:
    """Load a model. It takes seconds."""
    engine = choose(str(settings["ZAXY_SENTENCE_ENGINE"]), model)
    device, batch = str(settings["ZAXY_SENTENCE_DEVICE"]), batch_size(settings)
    with _loading(model, engine):
        if engine == ONNX:
            from zaxy_sentence_transformers.onnx_engine import OnnxEngine

            return OnnxEngine(model, device, batch)
        from zaxy_sentence_transformers.torch_engine import TorchEngine

        return TorchEngine(model, device, batch)


def open_cross_encoder(model: ModelFolder, settings: Mapping[str, object]) -> CrossEncoder:
    engine = choose(str(settings["ZAXY_SENTENCE_ENGINE"]), model)
    device = str(settings["ZAXY_SENTENCE_DEVICE"])
    with _loading(model, engine):
        if engine == ONNX:
            from zaxy_sentence_transformers.onnx_engine import OnnxCrossEncoder

            return OnnxCrossEncoder(model, device)
        from zaxy_sentence_transformers.torch_engine import TorchCrossEncoder

        return TorchCrossEncoder(model, device)


def download(name: str, wanted: str) -> None:
    """Bring a model of the Hub into the Hub's cache on this machine."""
    engine = wanted if wanted in NEEDS else next(filter(is_installed, (TORCH, ONNX)), TORCH)
    if find_spec("huggingface_hub") is None:
        hint = install_hint("zaxy-sentence-transformers[torch]")
        raise Unavailable("what downloads models is not installed: huggingface_hub", f"Install it: {hint}")
    from importlib import import_module

    try:
        import_module("huggingface_hub").snapshot_download(
            name, allow_patterns=FILES_TO_DOWNLOAD[engine], ignore_patterns=FILES_TO_LEAVE[engine]
        )
    except Exception as error:
        raise Unavailable(
            f"the model {name} cannot be downloaded: {_first_line(error)}",
            "Look at the name and the network, or set ZAXY_SENTENCE_MODEL to a folder with a model.",
        ) from error


def threads() -> int:
    """Half of the processors: reading runs beside other work, and threads that wait for each other are slower."""
    return max((os.cpu_count() or 2) // 2, 1)


def batch_size(settings: Mapping[str, object]) -> int:
    size = settings["ZAXY_SENTENCE_BATCH"]
    if not isinstance(size, int) or not 1 <= size <= 512:
        raise InvalidRequest(f"ZAXY_SENTENCE_BATCH is {size!r}", "Set it to a number from 1 to 512.")
    return size


@contextmanager
def _loading(model: ModelFolder, engine: str) -> Iterator[None]:
    """Without the network: a model's folder is whole, and nothing is asked of the Hub for it."""
    before = {name: os.environ.get(name) for name in WHILE_LOADING}
    os.environ.update(WHILE_LOADING)
    try:
        yield
    except ZaxyError:
        raise
    except Exception as error:
        raise Unavailable(
            f"the model in {model.path} cannot be loaded with {engine}: {type(error).__name__}: {_first_line(error)}",
            "Look at its files and at ZAXY_SENTENCE_DEVICE; 'zaxy doctor' says what was found.",
        ) from error
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")[:300]
