"""The author kit: conformance checks, suites over them for pytest, and `zaxy plugins new`.

    class TestSink(ExportSinkSuite):
        @pytest.fixture
        def case(self, tmp_path):
            return ExportSinkCase(Sink, destination=..., forbidden=..., received=...)

Each test of a suite is one check of `zaxy_testkit.checks` and carries its advice as a docstring. A test that does not
apply because the case lacks a capability is skipped with that reason. Overriding a test is an error, unless it is
marked `pytest.mark.xfail(reason=...)`: a suite that quietly leaves something out proves nothing.

Each name is loaded when it is first used, so that only the suites need pytest.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from zaxy_testkit.checks import (
        Case as Case,
        Check as Check,
        CheckFailed as CheckFailed,
        Workbench as Workbench,
        checks_of as checks_of,
    )
    from zaxy_testkit.checks.capture_adapters import CaptureAdapterCase as CaptureAdapterCase
    from zaxy_testkit.checks.commands import CommandCase as CommandCase
    from zaxy_testkit.checks.doctor_checks import HealthCheckCase as HealthCheckCase
    from zaxy_testkit.checks.event_stores import EventStoreCase as EventStoreCase
    from zaxy_testkit.checks.event_types import EventFamilyCase as EventFamilyCase, described_types as described_types
    from zaxy_testkit.checks.export_sinks import ExportSinkCase as ExportSinkCase
    from zaxy_testkit.checks.extractors import ExtractorCase as ExtractorCase
    from zaxy_testkit.checks.followers import history as history, sample_event as sample_event
    from zaxy_testkit.checks.http_auth import HttpAuthCase as HttpAuthCase
    from zaxy_testkit.checks.http_routes import HttpRoutesCase as HttpRoutesCase
    from zaxy_testkit.checks.ide_config_writers import ClientCase as ClientCase
    from zaxy_testkit.checks.projection_backends import ProjectionBackendCase as ProjectionBackendCase
    from zaxy_testkit.checks.retrieval_lanes import RetrievalLaneCase as RetrievalLaneCase
    from zaxy_testkit.checks.signing_algorithms import SigningAlgorithmCase as SigningAlgorithmCase
    from zaxy_testkit.checks.tool_packs import ToolPackCase as ToolPackCase
    from zaxy_testkit.suites import (
        CaptureAdapterSuite as CaptureAdapterSuite,
        ClientSuite as ClientSuite,
        CommandSuite as CommandSuite,
        EventFamilySuite as EventFamilySuite,
        EventStoreSuite as EventStoreSuite,
        ExportSinkSuite as ExportSinkSuite,
        ExtractorSuite as ExtractorSuite,
        HealthCheckSuite as HealthCheckSuite,
        HttpAuthSuite as HttpAuthSuite,
        HttpRoutesSuite as HttpRoutesSuite,
        PluginSuite as PluginSuite,
        ProjectionBackendSuite as ProjectionBackendSuite,
        RetrievalLaneSuite as RetrievalLaneSuite,
        SigningAlgorithmSuite as SigningAlgorithmSuite,
        Suite as Suite,
        ToolPackSuite as ToolPackSuite,
    )

_HOMES = {
    "checks": "Case Check CheckFailed Workbench checks_of",
    "checks.capture_adapters": "CaptureAdapterCase",
    "checks.commands": "CommandCase",
    "checks.doctor_checks": "HealthCheckCase",
    "checks.event_stores": "EventStoreCase",
    "checks.event_types": "EventFamilyCase described_types",
    "checks.export_sinks": "ExportSinkCase",
    "checks.extractors": "ExtractorCase",
    "checks.followers": "history sample_event",
    "checks.http_auth": "HttpAuthCase",
    "checks.http_routes": "HttpRoutesCase",
    "checks.ide_config_writers": "ClientCase",
    "checks.projection_backends": "ProjectionBackendCase",
    "checks.retrieval_lanes": "RetrievalLaneCase",
    "checks.signing_algorithms": "SigningAlgorithmCase",
    "checks.tool_packs": "ToolPackCase",
    "suites": "CaptureAdapterSuite ClientSuite CommandSuite EventFamilySuite EventStoreSuite ExportSinkSuite "
    "ExtractorSuite HealthCheckSuite HttpAuthSuite HttpRoutesSuite PluginSuite ProjectionBackendSuite "
    "RetrievalLaneSuite SigningAlgorithmSuite Suite ToolPackSuite",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"zaxy_testkit has no {name!r}")
    from importlib import import_module

    return getattr(import_module(f"zaxy_testkit.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME_OF)
