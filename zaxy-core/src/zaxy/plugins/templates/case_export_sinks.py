from __future__ import annotations

from pathlib import Path

import pytest

from zaxy.api.checks.export_sinks import ExportSinkCase
from zaxy.plugins.templates.export_sinks import Sink
from zaxy_testkit import ExportSinkSuite


class TestSink(ExportSinkSuite):
    @pytest.fixture
    def case(self, tmp_path: Path) -> ExportSinkCase:
        arrived = tmp_path / "state" / "bundle.json"
        return ExportSinkCase(
            Sink,
            destination="bundle.json",
            forbidden="../outside.json",
            received=lambda: arrived.read_bytes() if arrived.exists() else None,
        )
