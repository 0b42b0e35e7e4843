"""The pytest plugin that keeps suites honest: a test may be expected to fail, but not silently replaced."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    from zaxy_testkit.suites import PluginSuite, Suite

    classes = {item.cls for item in items if isinstance(item, pytest.Function) and item.cls is not None}
    silent = []
    for cls in sorted((c for c in classes if issubclass(c, Suite | PluginSuite)), key=lambda c: c.__qualname__):
        silent += [f"{cls.__module__}.{cls.__qualname__}.{name}" for name in _replaced(cls, (Suite, PluginSuite))]
    if silent:
        raise pytest.UsageError(
            f"{', '.join(silent)} replaces a conformance test. If the provider really cannot pass it, keep it and "
            "say why: @pytest.mark.xfail(reason='...') on an override that calls super()."
        )


def _replaced(cls: type, suites: tuple[type, ...]) -> list[str]:
    """The names of conformance tests that the author's classes override without an xfail that gives its reason."""
    ours = [base for base in cls.__mro__ if base.__module__.startswith("zaxy_testkit") and issubclass(base, suites)]
    names = {name for base in ours for name in vars(base) if name.startswith("test_")}
    replaced = []
    for name in sorted(names):
        home = next(base for base in cls.__mro__ if name in vars(base))
        if home not in ours and not _explained(vars(home)[name]):
            replaced.append(name)
    return replaced


def _explained(test: object) -> bool:
    marks = getattr(test, "pytestmark", [])
    return any(mark.name == "xfail" and mark.kwargs.get("reason") for mark in marks)
