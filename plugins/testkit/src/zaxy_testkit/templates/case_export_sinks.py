from __future__ import annotations

from pathlib import Path

import pytest

from zaxy_testkit import ExportSinkCase, ExportSinkSuite
from zaxy_testkit.templates.export_sinks import Sink


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
