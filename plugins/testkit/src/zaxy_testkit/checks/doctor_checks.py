"""Checks of `doctor_checks`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from zaxy.api import Checkup, Finding, MemoryAccess, NotFound
from zaxy_testkit.checks import Case, CheckFailed, Workbench, check, expect, expect_no_error
from zaxy_testkit.checks.shape import check_shape, expect_ability
from zaxy_testkit.checks.trial_memory import events_in, trial_memory

POINT = "doctor_checks"
OK, WARNING, ERROR = "ok", "warning", "error"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,47}")
MAX_ROWS = 20
MAX_CHARS = 500


def _nothing(place: Path | MemoryAccess) -> None:
    """Most checks need nothing in the workspace to be content."""


@dataclass(frozen=True)
class HealthCheckCase(Case):
    well: Callable[[Path], None] = field(default=_nothing, kw_only=True)
    """Puts into a workspace's folder what the check wants to find there."""
    well_memory: Callable[[MemoryAccess], object] = field(default=_nothing, kw_only=True)
    """Appends what the check wants to find in memory."""
    broken: Callable[[Path], None] = field(default=_nothing, kw_only=True)
    """Leaves something wrong in a workspace's folder."""
    broken_settings: Mapping[str, object] = field(default_factory=dict, kw_only=True)
    """Settings with which something is wrong, such as the address of a server that is not there."""
    broken_memory: Callable[[MemoryAccess], object] = field(default=_nothing, kw_only=True)
    """Appends what the check must object to."""


check_shape(POINT)


@check(POINT, needs="fix")
def it_has_the_method_that_fixes(case: HealthCheckCase, bench: Workbench) -> None:
    """Compare your class with zaxy.api.HealthFix, or drop the capability `fix`."""
    expect_ability("fix", bench.make(case))


@check(POINT)
def its_rows_are_findings(case: HealthCheckCase, bench: Workbench) -> None:
    """Return a list of 1 to 20 zaxy.api.Finding, with short names of a-z, 0-9, _ and -, and a message each."""
    for rows in (_well(case, bench), _broken(case, bench)):
        expect(0 < len(rows) <= MAX_ROWS, f"check() must return 1 to {MAX_ROWS} rows, and returned {len(rows)}")
        for row in rows:
            expect(bool(NAME.fullmatch(row.name)), f"{row.name!r} is not a row's name: a-z, 0-9, _ and -, at most 48")
            expect(row.status in (OK, WARNING, ERROR), f"the status of {row.name} is {row.status!r}")
            short = bool(row.message.strip()) and max(len(row.message), len(row.action)) <= MAX_CHARS
            expect(short, f"the message of {row.name} must have 1 to {MAX_CHARS} characters, and its action no more")


@check(POINT)
def it_is_content_where_nothing_is_wrong(case: HealthCheckCase, bench: Workbench) -> None:
    """Give every row the status ok where the case has put all that it needs: a warning that always stands is noise."""
    wrong = [row for row in _well(case, bench) if row.status != OK]
    expect(not wrong, f"nothing is wrong, and it says {wrong[:1]}")


@check(POINT)
def it_finds_what_is_wrong_and_says_what_to_do(case: HealthCheckCase, bench: Workbench) -> None:
    """Give what is wrong the status warning or error, and an action: best a command that fixes it."""
    wrong = [row for row in _broken(case, bench) if row.status != OK]
    expect(bool(wrong), "the case has broken something, and every row is ok")
    silent = [row.name for row in wrong if not row.action.strip()]
    expect(not silent, f"{', '.join(silent)} must have an action that says what to do, and has none")


@check(POINT)
def a_workspace_without_memory_is_no_error(case: HealthCheckCase, bench: Workbench) -> None:
    """Look at `has_memory` before you open memory: people run the doctor before anything is recorded."""
    folder = _folder(bench, "empty")
    case.well(folder)
    rows = _checked(bench.make(case), Checkup(folder, False, _no_memory))
    wrong = [row for row in rows if row.status == ERROR]
    expect(not wrong, f"there is no memory yet, which is no error, and it says {wrong[:1]}")


@check(POINT)
def looking_changes_nothing(case: HealthCheckCase, bench: Workbench) -> None:
    """Only look: append nothing, write no file of the workspace. What puts things right belongs into `fix`."""
    folder = _folder(bench, "looked-at")
    case.broken(folder)
    health = bench.make(_as_broken(case))
    with trial_memory(bench.scratch, health) as memory:
        case.broken_memory(memory)
        before, events = _files(folder), events_in(memory)
        _checked(health, Checkup(folder, True, lambda: _Opened(memory)))
        grown = events_in(memory) - events
    expect(grown == 0, f"check() appended {grown} events")
    changed = sorted(str(path) for path, _ in before ^ _files(folder))
    expect(not changed, f"check() changed {', '.join(changed[:3])}")


@check(POINT, needs="fix")
def what_it_fixes_is_right_afterwards(case: HealthCheckCase, bench: Workbench) -> None:
    """After `fix`, let `check` find in order what can be fixed, and do no harm when it is called again."""
    folder = _folder(bench, "fixed")
    case.broken(folder)
    health = bench.make(_as_broken(case))
    with trial_memory(bench.scratch, health) as memory:
        case.broken_memory(memory)
        checkup = Checkup(folder, True, lambda: _Opened(memory))
        wrong = {row.name for row in _checked(health, checkup) if row.status != OK}
        for _ in range(2):
            with expect_no_error("fix()"):
                health.fix(checkup)
        right = {row.name for row in _checked(health, checkup) if row.status == OK}
    expect(bool(wrong & right), f"fix() has put none of {', '.join(sorted(wrong)) or 'what was broken'} right")


class _Opened(AbstractContextManager[MemoryAccess]):
    """Memory that is open already, as `open_memory` hands it out."""

    def __init__(self, memory: MemoryAccess) -> None:
        self._memory = memory

    def __enter__(self) -> MemoryAccess:
        return self._memory

    def __exit__(self, *_: object) -> None:
        """The check that opened it closes it."""


def _no_memory() -> AbstractContextManager[MemoryAccess]:
    raise NotFound("there is no memory yet", "zaxy init --yes")


def _well(case: HealthCheckCase, bench: Workbench) -> Sequence[Finding]:
    folder = _folder(bench, "well")
    case.well(folder)
    return _rows(case, bench, folder=folder, append=case.well_memory)


def _broken(case: HealthCheckCase, bench: Workbench) -> Sequence[Finding]:
    folder = _folder(bench, "broken")
    case.broken(folder)
    return _rows(_as_broken(case), bench, folder=folder, append=case.broken_memory)


def _rows(
    case: HealthCheckCase, bench: Workbench, *, folder: Path, append: Callable[[MemoryAccess], object]
) -> Sequence[Finding]:
    health = bench.make(case)
    with trial_memory(bench.scratch, health) as memory:
        append(memory)
        return _checked(health, Checkup(folder, True, lambda: _Opened(memory)))


def _checked(health: Any, checkup: Checkup) -> Sequence[Finding]:
    """The rows. An error, or anything but findings, fails the check."""
    with expect_no_error("check()"):
        rows = health.check(checkup)
    if not isinstance(rows, list | tuple):
        raise CheckFailed(f"check() must return a list or a tuple, not {type(rows).__name__}")
    for row in rows:
        if not isinstance(row, Finding):
            raise CheckFailed(f"check() must hold zaxy.api.Finding, not {row!r}")
    return rows


def _as_broken(case: HealthCheckCase) -> HealthCheckCase:
    return replace(case, settings={**case.settings, **case.broken_settings})


def _folder(bench: Workbench, name: str) -> Path:
    folder = bench.scratch / f"workspace-{name}"
    folder.mkdir(exist_ok=True)
    return folder


def _files(folder: Path) -> set[tuple[Path, str]]:
    """The files and folders of a workspace, each file with a hash of its content."""
    return {
        (path.relative_to(folder), hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "")
        for path in folder.rglob("*")
    }
