"""Conformance suites for plugin authors: subclass one, supply the fixture `case`, run pytest.

    class TestSink(ExportSinkSuite):
        @pytest.fixture
        def case(self, tmp_path):
            return ExportSinkCase(Sink, destination=..., forbidden=..., received=...)

Each test is one check of `zaxy.api.checks` and carries its advice as a docstring. A test that does not apply because
the case lacks a capability is skipped with that reason. Overriding a test is an error, unless it is marked
`pytest.mark.xfail(reason=...)`: a suite that quietly leaves something out proves nothing.
"""

from zaxy_testkit.suites import (
    CaptureAdapterSuite,
    ClientSuite,
    EventStoreSuite,
    ExportSinkSuite,
    ExtractorSuite,
    PluginSuite,
    ProjectionBackendSuite,
    RetrievalLaneSuite,
    SigningAlgorithmSuite,
    Suite,
    ToolPackSuite,
)

__all__ = [
    "CaptureAdapterSuite",
    "ClientSuite",
    "EventStoreSuite",
    "ExportSinkSuite",
    "ExtractorSuite",
    "PluginSuite",
    "ProjectionBackendSuite",
    "RetrievalLaneSuite",
    "SigningAlgorithmSuite",
    "Suite",
    "ToolPackSuite",
]
