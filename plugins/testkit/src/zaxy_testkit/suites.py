"""One pytest class per extension point, its tests made from the point's checks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from zaxy.contracts.check import check_pin, read_pin
from zaxy.contracts.diff import BREAKING
from zaxy.contracts.pin import CONTRACT_FILE, plugin_of_project
from zaxy.plugins.check import check_plugin
from zaxy.plugins.host import PluginHost
from zaxy.plugins.roster import load_roster
from zaxy.plugins.sources import foreign_imports, python_sources
from zaxy.settings import Settings
from zaxy_testkit.checks import Case, Check, CheckFailed, Workbench, checks_of


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
        try:
            known.run(case, bench)
        except CheckFailed as failed:
            failed.add_note(known.troubleshooting)
            raise

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


class ClientSuite(Suite):
    point = "ide_config_writers"


class ExportSinkSuite(Suite):
    point = "export_sinks"


class SigningAlgorithmSuite(Suite):
    point = "signing_algorithms"


class ToolPackSuite(Suite):
    point = "tool_packs"


class CommandSuite(Suite):
    point = "commands"


class HealthCheckSuite(Suite):
    point = "doctor_checks"


class HttpRoutesSuite(Suite):
    point = "http_routes"


class HttpAuthSuite(Suite):
    point = "http_auth"


class EventFamilySuite(Suite):
    point = "event_types"


class PluginSuite:
    """The installed package as a whole, that of the project in which the test lies."""

    plugin: ClassVar[str] = ""
    """Its name. If it is empty, `pyproject.toml` says it."""
    contract: ClassVar[Path | None] = None
    """The file in which it pinned what it uses. If there is none, `zaxy-contract.json` in the project's folder."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        project = _project_of(cls)
        if project is not None and not cls.plugin:
            cls.plugin = plugin_of_project(project)
        if project is not None and cls.contract is None and (project / CONTRACT_FILE).is_file():
            cls.contract = project / CONTRACT_FILE

    @pytest.fixture
    def host(self, tmp_path: Path) -> PluginHost:
        settings = Settings(environ={})
        return PluginHost(load_roster(settings), settings, tmp_path, "workspace-under-test")

    def test_it_is_installed_and_its_manifest_is_accepted(self, host: PluginHost) -> None:
        """Install the package (pip install -e .); 'zaxy plugins list' shows what is wrong with zaxy-plugin.json."""
        row = host.roster.row(self.plugin)
        assert row.state == "ready", f"{row.stage}: {row.error} {row.hint}"

    def test_its_hooks_and_providers_are_what_the_manifest_promises(self, host: PluginHost) -> None:
        """Compare zaxy-plugin.json with plugin.py: points, names, stability and capabilities must agree."""
        findings = [f for f in check_plugin(host, host.roster.row(self.plugin)) if not f.is_note]
        assert not findings, "; ".join(f"{f.stage}: {f.error} {f.hint}" for f in findings)

    def test_it_imports_nothing_of_zaxy_but_its_api(self, host: PluginHost) -> None:
        """Only zaxy.api is covered by a contract: take what you need from there, or ask for it to be put there."""
        sources = python_sources(host.roster.row(self.plugin).module)
        inside = sorted({name for source in sources for name in foreign_imports(source)})
        assert not inside, f"it imports {', '.join(inside)}"

    def test_the_contract_that_it_pinned_still_holds(self) -> None:
        """The core changed something that this plugin relies on: adapt, then run 'zaxy contracts pin' again."""
        if self.contract is None:
            pytest.skip("the suite names no pinned contract; 'zaxy contracts pin' writes one")
        broken = [change for change in check_pin(read_pin(self.contract)) if change.verdict == BREAKING]
        assert not broken, "; ".join(f"{change.item}: {change.what}" for change in broken)


def _project_of(suite: type) -> Path | None:
    """The nearest folder around a test that has a pyproject.toml."""
    file = Path(inspect.getfile(suite)).resolve()
    return next((folder for folder in file.parents if (folder / "pyproject.toml").is_file()), None)


SUITES = {suite.point: suite for suite in Suite.__subclasses__()}
