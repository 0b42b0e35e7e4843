from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from zaxy.api import Checkup, Finding
from zaxy_testkit.checks.doctor_checks import HealthCheckCase
from zaxy_testkit.templates.doctor_checks import FOLDER, Health

RIGHT = Health


def case(make: Callable[..., Any], scratch: Path) -> HealthCheckCase:
    return HealthCheckCase(
        make,
        capabilities=frozenset({"fix"}),
        well=lambda workspace: (workspace / FOLDER).mkdir(exist_ok=True),
    )


class WithoutCheck:
    def __init__(self, context: object) -> None:
        pass


class FixesNothingAtAll(Health):
    fix = None  # type: ignore[assignment]


class Titled(Health):
    def check(self, checkup: Checkup) -> Sequence[Finding]:
        return [row._replace(name=row.name.title()) for row in super().check(checkup)]


class Alarmed(Health):
    def check(self, checkup: Checkup) -> Sequence[Finding]:
        return [row._replace(status="warning", action="Be careful.") for row in super().check(checkup)]


class Helpless(Health):
    def check(self, checkup: Checkup) -> Sequence[Finding]:
        return [row._replace(action="") for row in super().check(checkup)]


class Presuming(Health):
    def check(self, checkup: Checkup) -> Sequence[Finding]:
        with checkup.open_memory() as memory:
            memory.head()
        return super().check(checkup)


class Meddling(Health):
    def check(self, checkup: Checkup) -> Sequence[Finding]:
        rows = super().check(checkup)
        self.fix(checkup)
        return rows


class Idle(Health):
    def fix(self, checkup: Checkup) -> None:
        pass


WRONG = {
    "it_has_the_methods_of_its_protocol": WithoutCheck,
    "it_has_the_method_that_fixes": FixesNothingAtAll,
    "its_rows_are_findings": Titled,
    "it_is_content_where_nothing_is_wrong": Alarmed,
    "it_finds_what_is_wrong_and_says_what_to_do": Helpless,
    "a_workspace_without_memory_is_no_error": Presuming,
    "looking_changes_nothing": Meddling,
    "what_it_fixes_is_right_afterwards": Idle,
}
