"""The conformance checks: plain functions that a provider passes or fails, one module for each extension point.

A check takes a case (how to make the provider, and samples for it) and a workbench (folders and contexts). It raises
`CheckFailed`, which says what was expected and what came instead. `zaxy_testkit` turns checks into pytest classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from zaxy.api import ZaxyError
from zaxy.api.provider import ProviderContext

T = TypeVar("T")
_CHECKS: dict[str, list[Check]] = {}


class CheckFailed(AssertionError):
    """A provider does not do what its point's Protocol promises."""


@dataclass(frozen=True)
class Check:
    point: str
    name: str
    """The fact that it proves, in words joined by underscores."""
    run: Callable[[Any, Workbench], None]
    troubleshooting: str
    needs: str = ""
    """The check applies only to providers with this capability."""


@dataclass(frozen=True)
class Case:
    """How to make the provider under test. The cases of the points add samples."""

    make: Callable[[ProviderContext], Any]
    settings: Mapping[str, object] = field(default_factory=dict, kw_only=True)
    capabilities: frozenset[str] = field(default=frozenset(), kw_only=True)


@dataclass
class Workbench:
    """A scratch folder, and contexts whose state lives in it."""

    scratch: Path
    now: datetime = datetime(2026, 6, 15, tzinfo=UTC)
    warnings: list[str] = field(default_factory=list)

    def make(self, case: Case, state: str = "state") -> Any:
        """A provider with the state folder `state`. The same name reopens the same state."""
        folder = self.scratch / state
        folder.mkdir(exist_ok=True)
        return case.make(
            ProviderContext(
                case.settings,
                folder,
                "workspace-under-test",
                self.warnings.append,
                self._clock,
                user_dir=self.scratch / "user",
            )
        )

    def _clock(self) -> datetime:
        return self.now


def check(
    point: str, needs: str = ""
) -> Callable[[Callable[[Any, Workbench], None]], Callable[[Any, Workbench], None]]:
    """Register a function as a check of a point. Its docstring says what to do if it fails."""

    def register(function: Callable[[Any, Workbench], None]) -> Callable[[Any, Workbench], None]:
        known = Check(point, function.__name__, function, (function.__doc__ or "").strip(), needs)
        _CHECKS.setdefault(point, []).append(known)
        return function

    return register


def checks_of(point: str) -> tuple[Check, ...]:
    """All checks of a point, in the order in which they are written."""
    import_module(f"zaxy_testkit.checks.{point}")
    return tuple(_CHECKS[point])


def expect(fact: bool, otherwise: str) -> None:
    """Fail the check unless the fact holds."""
    if not fact:
        raise CheckFailed(otherwise)


@contextmanager
def expect_no_error(otherwise: str) -> Iterator[None]:
    """Fail the check if the body raises: `otherwise` says what did."""
    try:
        yield
    except Exception as error:
        raise CheckFailed(f"{otherwise} raised {error!r}") from error


def expect_refusal(action: Callable[[], object], of: str) -> ZaxyError:
    """The ZaxyError that the action raises. Anything else fails the check."""
    try:
        answer = action()
    except ZaxyError as error:
        return error
    except Exception as error:
        raise CheckFailed(f"{of} must be refused with a ZaxyError, and raised {error!r}") from error
    raise CheckFailed(f"{of} must be refused with a ZaxyError, and was answered with {answer!r}")
