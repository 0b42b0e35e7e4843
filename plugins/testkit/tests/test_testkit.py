"""The test kit as an author meets it: real pytest runs over small test files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from zaxy.api.catalog import POINTS
from zaxy_testkit import checks_of
from zaxy_testkit.suites import SUITES

SINK = """
import pytest
from zaxy_testkit.templates.export_sinks import Sink
from zaxy_testkit import ExportSinkCase, ExportSinkSuite


class TestSink(ExportSinkSuite):
    @pytest.fixture
    def case(self, tmp_path):
        arrived = tmp_path / "state" / "bundle.json"
        def received():
            return arrived.read_bytes() if arrived.exists() else None
        return ExportSinkCase({make}, destination="bundle.json", forbidden="../x", received=received)
{more}
"""


def pytest_run(tmp_path: Path, source: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "test_it.py").write_text(source)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-p", "no:xdist", "test_it.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
    )


def test_there_is_a_suite_for_every_point_with_a_test_for_every_check() -> None:
    assert set(SUITES) == set(POINTS)
    for point, suite in SUITES.items():
        tests = {name.removeprefix("test_") for name in vars(suite) if name.startswith("test_")}
        assert tests == {known.name for known in checks_of(point)}


def test_a_right_provider_passes_the_suite(tmp_path: Path) -> None:
    done = pytest_run(tmp_path, SINK.format(make="Sink", more=""))
    checks = [known for known in checks_of("export_sinks") if not known.needs]
    assert f"{len(checks)} passed" in done.stdout, done.stdout


def test_a_wrong_provider_fails_with_what_was_expected(tmp_path: Path) -> None:
    done = pytest_run(tmp_path, SINK.format(make="lambda context: object()", more=""))
    assert done.returncode == 1
    assert "object has no check" in done.stdout


def test_a_suite_without_the_case_fixture_says_what_is_missing(tmp_path: Path) -> None:
    done = pytest_run(
        tmp_path, "from zaxy_testkit import ExportSinkSuite\nclass TestSink(ExportSinkSuite):\n    pass\n"
    )
    assert done.returncode == 1
    assert "must supply the fixture 'case'" in done.stdout


def test_overriding_a_test_silently_fails_the_run(tmp_path: Path) -> None:
    for override in (
        "    def test_it_delivers_the_very_bytes(self): pass",
        "    test_it_delivers_the_very_bytes = None",
    ):
        done = pytest_run(tmp_path, SINK.format(make="Sink", more=override))
        assert done.returncode != 0
        assert "TestSink.test_it_delivers_the_very_bytes replaces a conformance test" in done.stdout + done.stderr


def test_overriding_a_test_with_a_reason_is_allowed(tmp_path: Path) -> None:
    override = (
        "    @pytest.mark.xfail(reason='the client rewrites line ends')\n"
        "    def test_it_delivers_the_very_bytes(self, case, bench):\n        raise AssertionError\n"
    )
    done = pytest_run(tmp_path, SINK.format(make="Sink", more=override))
    assert done.returncode == 0, done.stdout
    assert "1 xfailed" in done.stdout


def test_an_xfail_without_a_reason_is_not(tmp_path: Path) -> None:
    override = "    @pytest.mark.xfail\n    def test_it_delivers_the_very_bytes(self): raise AssertionError\n"
    assert pytest_run(tmp_path, SINK.format(make="Sink", more=override)).returncode != 0


def test_a_missing_capability_skips_with_its_reason(tmp_path: Path) -> None:
    source = """
import pytest
from zaxy_testkit.checks.followers import history
from zaxy_testkit import RetrievalLaneCase, RetrievalLaneSuite


class Lane:
    def __init__(self, context): pass
    def search(self, query): return []


class TestLane(RetrievalLaneSuite):
    @pytest.fixture
    def case(self): return RetrievalLaneCase(Lane)
"""
    done = pytest_run(tmp_path, source)
    assert "needs the capability 'follower', which the case does not declare" in done.stdout
