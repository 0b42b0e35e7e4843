"""The two files of the model: where they lie, what they are, and how they are read without the package around them."""

from __future__ import annotations

import hashlib
import json
import os
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from zaxy.api import Unavailable, install_hint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SETTING = "ZAXY_VECTORS_WEIGHTS"
REQUIREMENT = "wordllama>=0.4,<0.5"
WEIGHTS = "l2_supercat_256.safetensors"
TOKENIZER = "l2_supercat_tokenizer_config.json"
DIMENSIONS = 256
MAX_HEADER = 65536
MAX_TOKENIZER = 16 * 1024 * 1024
SAMPLE = 4096
SAMPLES = 64
"""Tokens of the weights that are read to know a model by: reading all of it would take a start too long."""


class ModelFiles(NamedTuple):
    weights: Path
    tokenizer: Path


class Header(NamedTuple):
    tokens: int
    offset: int
    """Where in the file the table begins."""


def find_files(folder: str) -> ModelFiles:
    """The two files, in the folder that the user named or in the installed package, which is not imported."""
    if folder:
        files = ModelFiles(Path(folder, WEIGHTS), Path(folder, TOKENIZER))
        action = f"Put it there, or unset {SETTING}. Both files are in every wheel of wordllama 0.4."
    else:
        root = _package_folder()
        files = ModelFiles(root / "weights" / WEIGHTS, root / "tokenizers" / TOKENIZER)
        action = f"Install it again: {install_hint(REQUIREMENT)}"
    for path in files:
        if not path.is_file():
            raise Unavailable(f"the word vectors lack the file {path}", action)
    return files


def _package_folder() -> Path:
    spec = find_spec("wordllama")
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise Unavailable(
            "the word vectors are not installed: there is no package wordllama",
            f"Install it: {install_hint(REQUIREMENT)}. Where it has no wheel, unpack one of another platform and set "
            f"{SETTING} to a folder with {WEIGHTS} and {TOKENIZER}.",
        )
    return Path(places[0])


def read_header(path: Path) -> Header:
    """Where the table of vectors lies in a file in the format safetensors."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length)) if length <= MAX_HEADER else {}
            size = os.fstat(file.fileno()).st_size
        entry = header["embedding.weight"]
        (tokens, dimensions), (begin, end) = entry["shape"], entry["data_offsets"]
    except OSError as error:
        raise _unreadable(path, str(error.strerror)) from None
    except (ValueError, KeyError, TypeError):
        raise _unreadable(path, "it is not a table of word vectors") from None
    if (entry["dtype"], dimensions, end - begin, size) != ("F16", DIMENSIONS, 512 * tokens, 8 + length + end):
        raise _unreadable(path, "it is cut off, or has another shape")
    return Header(tokens, 8 + length + begin)


def read_table(path: Path) -> NDArray[np.float16]:
    """The vectors, mapped: processes share the memory, and only what is used is read."""
    import numpy as np

    tokens, offset = read_header(path)
    return np.memmap(path, np.float16, mode="r", offset=offset, shape=(tokens, DIMENSIONS))


def read_vocabulary(path: Path) -> dict[str, int]:
    """The number of each token of a word."""
    try:
        text = path.read_text(encoding="utf-8")
        begin = text.index('"vocab"')
        begin = text.index("{", begin)
        end = text.index('"merges"', begin)  # the rest is larger, and follows from the order of the tokens
        vocabulary = json.loads(text[begin : text.rindex("}", begin, end) + 1])
    except OSError as error:
        raise _unreadable(path, str(error.strerror)) from None
    except ValueError:
        raise _unreadable(path, "it is not a list of tokens of words") from None
    return {str(token): int(number) for token, number in vocabulary.items()}


def identity(files: ModelFiles) -> str:
    """What one model has and another has not: a digest of the size and of samples of both files."""
    try:
        stats = tuple(os.stat(path) for path in files)
    except OSError as error:
        raise _unreadable(files.weights, str(error.strerror)) from None
    return _identity(files, tuple((one.st_size, one.st_mtime_ns, one.st_ino) for one in stats))


@lru_cache(maxsize=4)
def _identity(files: ModelFiles, versions: tuple[tuple[int, ...], ...]) -> str:
    found = hashlib.sha256(repr([size for size, *_ in versions]).encode())
    for path in files:
        size = os.stat(path).st_size
        with path.open("rb") as file:
            for place in range(SAMPLES):
                file.seek(place * max(size - SAMPLE, 0) // (SAMPLES - 1))
                found.update(file.read(SAMPLE))
    return found.hexdigest()[:32]


def _unreadable(path: Path, reason: str) -> Unavailable:
    return Unavailable(
        f"the word vectors cannot be read: {path}: {reason}",
        f"Install them again: {install_hint(REQUIREMENT)}, or set {SETTING} to a folder with whole files.",
    )
