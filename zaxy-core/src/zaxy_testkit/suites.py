"""One pytest class per extension point, its tests made from the point's checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from zaxy.api.catalog import POINTS
from zaxy.api.checks import Case, Check, Workbench, checks_of


class Suite:
    """The base of all suites; `point` chooses the checks that become tests."""

    point: ClassVar[str] = ""

    @pytest.fixture
    def case(self) -> Case:
        raise NotImplementedError(f"{type(self).__name__} must supply the fixture 'case'; see the module's docstring")

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Workbench:
        return Workbench(tmp_path)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "point" in vars(cls):
            for known in checks_of(cls.point):
                setattr(cls, f"test_{known.name}", _test_of(known))


def _test_of(known: Check) -> Callable[..., None]:
    def test(self: Suite, case: Case, bench: Workbench) -> None:
        if known.needs and known.needs not in case.capabilities:
            pytest.skip(f"needs the capability {known.needs!r}, which the case does not declare")
        known.run(case, bench)

    test.__name__ = f"test_{known.name}"
    test.__doc__ = known.troubleshooting
    return test


class ProjectionBackendSuite(Suite):
    point = "projection_backends"


class EventStoreSuite(Suite):
    point = "event_stores"


class RetrievalLaneSuite(Suite):
    point = "retrieval_lanes"


class ExtractorSuite(Suite):
    point = "extractors"


class CaptureAdapterSuite(Suite):
    point = "capture_adapters"


class IdeConfigWriterSuite(Suite):
    point = "ide_config_writers"


class ExportSinkSuite(Suite):
    point = "export_sinks"


class SigningAlgorithmSuite(Suite):
    point = "signing_algorithms"


class ToolPackSuite(Suite):
    point = "tool_packs"


class PluginSuite:
    """The installed package as a whole: `plugin` is its name in the entry point."""

    plugin: ClassVar[str] = ""

    def test_its_manifest_can_be_read_and_its_api_is_accepted(self) -> None:
        """Run 'zaxy plugins list': the row's error says what is wrong with zaxy-plugin.json."""
        raise NotImplementedError

    def test_its_hooks_offer_what_its_manifest_promises(self) -> None:
        raise NotImplementedError


SUITES = {suite.point: suite for suite in Suite.__subclasses__()}
assert SUITES.keys() == POINTS.keys()
