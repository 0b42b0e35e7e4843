"""Rows of `zaxy doctor`: what a check finds, and what it is given to look at."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from zaxy.api.access import MemoryAccess

OK, WARNING, ERROR = STATUSES = ("ok", "warning", "error")


class Finding(NamedTuple):
    """One row of the doctor."""

    name: str
    """What was looked at. In front of that of a package's row stands the plugin's name."""
    status: str
    """`ok`, `warning` or `error`. With an error the doctor ends with exit code 1."""
    message: str
    action: str = ""
    """What to do about it, best a command; empty where nothing is to be done."""
    fixed: bool = False
    """Whether `--fix` has put it right. The doctor sets it."""

    def as_dict(self) -> dict[str, object]:
        values = self._asdict()
        fixed = values.pop("fixed")
        return {**values, "mended": fixed}


@dataclass(frozen=True, slots=True)
class Checkup:
    """What a package's check is given. Its settings and its state folder are in its `ProviderContext`."""

    workspace: Path
    """The project's folder."""
    has_memory: bool
    """Whether there is a memory in it yet."""
    open_memory: Callable[[], AbstractContextManager[MemoryAccess]] = field(repr=False)
    """`with checkup.open_memory() as memory`. Where there is none yet, this raises `NotFound` and makes nothing."""
