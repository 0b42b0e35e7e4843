"""The doctor: every part of a working memory is looked at and really tried, and where it fails the fix is named."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from zaxy.api.health import ERROR, OK, Finding
from zaxy.errors import ZaxyError
from zaxy.setup.init_clients import home_of
from zaxy.workspace import Workspace

FIX = "zaxy doctor --fix"


@dataclass(frozen=True)
class DoctorContext:
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


class DoctorCheck(NamedTuple):
    """One check, of the core or of a package."""

    name: str
    look: Callable[[DoctorContext], Sequence[Finding]]
    fix: Callable[[DoctorContext], None] | None = None
    """Fixes all of it that may be fixed without asking."""


def examine(context: DoctorContext, checks: Iterable[DoctorCheck], fix: bool) -> Iterator[Finding]:
    """The rows of every check; with `fix`, what can be fixed is fixed and looked at again."""
    for check in checks:
        rows = _looked(check, context)
        if fix and check.fix is not None and any(row.status != OK for row in rows):
            rows = _fixed(check, context, rows)
        yield from rows


def _looked(check: DoctorCheck, context: DoctorContext) -> list[Finding]:
    try:
        return list(check.look(context))
    except ZaxyError as error:
        return [Finding(check.name, ERROR, error.message, error.remediation)]
    except Exception as error:  # a check that fails is itself a finding, and the others are still looked at
        return [Finding(check.name, ERROR, f"it could not be checked: {type(error).__name__}: {error}", "")]


def _fixed(check: DoctorCheck, context: DoctorContext, before: list[Finding]) -> list[Finding]:
    assert check.fix is not None
    try:
        check.fix(context)
    except ZaxyError as error:
        return [*before, Finding(check.name, ERROR, f"it could not be fixed: {error.message}", error.remediation)]
    after = _looked(check, context)
    wrong = {row.name: row for row in before if row.status != OK}
    return [
        row._replace(message=f"fixed: {wrong[row.name].message}", fixed=True)
        if row.status == OK and row.name in wrong
        else row
        for row in after
    ]
