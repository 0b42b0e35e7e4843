"""The doctor: every part of a working memory is looked at, really tried, and where it fails the cure is named."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from zaxy.errors import ZaxyError
from zaxy.runtime.init_clients import home_of
from zaxy.workspace import Workspace

OK, WARNING, ERROR = "ok", "warning", "error"
MEND = "zaxy doctor --fix"


class Row(NamedTuple):
    name: str
    status: str
    message: str
    action: str = ""
    """The command that mends it; empty where nothing is to be mended."""
    mended: bool = False

    def as_dict(self) -> dict[str, object]:
        return self._asdict()


@dataclass(frozen=True)
class Patient:
    """What is looked at: a workspace, and the user whose clients use it."""

    workspace: Workspace
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @property
    def eventloom(self) -> str:
        return self.workspace.eventloom

    @property
    def has_memory(self) -> bool:
        return os.path.isdir(self.eventloom)

    @property
    def home(self) -> Path | None:
        """The user's folder, if there is one."""
        return home_of(self.environ)

    def command(self, words: str) -> str:
        """A command as it must be typed to mean this workspace from wherever one is."""
        here = os.path.abspath(os.getcwd())
        elsewhere = here != self.workspace.root
        return f"zaxy {words} --workspace {quote(self.workspace.root)}" if elsewhere else f"zaxy {words}"


class Check(NamedTuple):
    name: str
    look: Callable[[Patient], Sequence[Row]]
    mend: Callable[[Patient], None] | None = None
    """Mends all of it that may be mended without asking."""


def examine(patient: Patient, checks: Sequence[Check], fix: bool) -> Iterator[Row]:
    """The rows of every check; with `fix`, what can be mended is mended and looked at again."""
    for check in checks:
        rows = _looked(check, patient)
        if fix and check.mend is not None and any(row.status != OK for row in rows):
            rows = _mended(check, patient, rows)
        yield from rows


def _looked(check: Check, patient: Patient) -> list[Row]:
    try:
        return list(check.look(patient))
    except ZaxyError as error:
        return [Row(check.name, ERROR, error.message, error.remediation)]
    except Exception as error:  # a check that fails is itself a finding, and the others are still looked at
        return [Row(check.name, ERROR, f"it could not be checked: {type(error).__name__}: {error}", "")]


def _mended(check: Check, patient: Patient, before: list[Row]) -> list[Row]:
    assert check.mend is not None
    try:
        check.mend(patient)
    except ZaxyError as error:
        return [*before, Row(check.name, ERROR, f"it could not be mended: {error.message}", error.remediation)]
    after = _looked(check, patient)
    wrong = {row.name: row for row in before if row.status != OK}
    return [
        row._replace(message=f"mended: {wrong[row.name].message}", mended=True)
        if row.status == OK and row.name in wrong
        else row
        for row in after
    ]
