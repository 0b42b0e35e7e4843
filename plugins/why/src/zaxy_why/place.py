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
    if os.path.exists(target):
        return target, 0
    path, *numbers = target.split(":") if os.name != "nt" else _behind_drive(target)
    while numbers and not numbers[-1]:
        numbers.pop()
    if not numbers:
        return path, 0
    if (
        not path
        or len(numbers) > 2
        or not all(number.isascii() and number.isdecimal() and len(number) < 10 for number in numbers)
    ):
        if os.path.isfile(path):
            wrong = target.removeprefix(f"{path}:")
            raise InvalidRequest(f"{wrong} is no line of {path}", f"Name one line by its number: zaxy why {path}:1")
        return target, 0
    if int(numbers[0]) < 1:
        raise InvalidRequest(f"{path} has no line {numbers[0]}", "Lines are counted from 1.")
    return path, int(numbers[0])


def _behind_drive(target: str) -> list[str]:
    drive, rest = os.path.splitdrive(target)
    path, *numbers = rest.split(":")
    return [drive + path, *numbers]
