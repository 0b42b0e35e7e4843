"""The file that is asked about, and the line of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from zaxy.api import InvalidRequest, NotFound


class Place(NamedTuple):
    file: Path
    name: str
    """The path in the project."""
    line: int
    """0 for the file as a whole."""


def place_of(target: str, root: str) -> Place:
    """The place that was typed: a path from the current folder, else from the project's, and behind a colon a line."""
    path, line = _parts(target)
    folder = Path(root).resolve()
    real = Path(path).resolve()
    if not real.exists() and (folder / path).exists():
        real = (folder / path).resolve()
    if not real.is_relative_to(folder):
        raise InvalidRequest(
            f"{path} is outside of the project {root}",
            "Name a file of the project, or pass the folder of the other one with --workspace.",
        )
    if real.is_dir():
        raise InvalidRequest(f"{path} is a folder", "Name a file in it, such as src/shop.py:12.")
    if line and not real.is_file():
        raise NotFound(
            f"there is no file {path}", f"Correct the path. Of a deleted file the edits are listed by: zaxy why {path}"
        )
    return Place(real, real.relative_to(folder).as_posix(), line)


def _parts(target: str) -> tuple[str, int]:
    """`a.py:12` and, as programs print it, `a.py:12:3`. A file that is called so is meant itself."""
    path, numbers = target, list[str]()
    while len(numbers) < 2 and not os.path.exists(path):
        head, _, last = path.rpartition(":")
        if not head or (last and not _is_number(last)):
            break
        path, numbers = head, [last, *numbers] if last else numbers
    if numbers and int(numbers[0]) < 1:
        raise InvalidRequest(f"{path} has no line {numbers[0]}", "Lines are counted from 1.")
    head, _, last = target.rpartition(":")
    if not numbers and os.path.isfile(head) and not os.path.exists(path):
        raise InvalidRequest(f"{last} is no line of {head}", f"Name one line by its number: zaxy why {head}:1")
    return path, int(numbers[0]) if numbers else 0


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10
