from __future__ import annotations

from pathlib import Path

import pytest
from codex_files import lines, meta, rollout, said

from zaxy.api.checks.capture_adapters import CaptureAdapterCase
from zaxy_codex.adapter import CodexSessions
from zaxy_testkit import CaptureAdapterSuite, PluginSuite

RECORD = lines([said("Tea at five – again.")])
HALF = RECORD.index("–".encode()) + 1


class TestPlugin(PluginSuite):
    plugin = "codex"
    contract = Path(__file__).parents[1] / "zaxy-contract.json"


class TestCodexSessions(CaptureAdapterSuite):
    @pytest.fixture
    def case(self, tmp_path: Path) -> CaptureAdapterCase:
        home, workspace, elsewhere = (tmp_path / name for name in ("codex", "work", "work-elsewhere"))
        workspace.mkdir()
        elsewhere.mkdir()

        def append(data: bytes) -> None:
            path = rollout(home)
            with path.open("ab") as file:
                if not file.tell():
                    file.write(lines([meta(workspace)]))
                file.write(data)

        return CaptureAdapterCase(
            CodexSessions,
            workspace=workspace,
            elsewhere=elsewhere,
            write=lambda count: append(RECORD * count),
            write_half=lambda: append(RECORD[:HALF]),
            write_rest=lambda: append(RECORD[HALF:]),
            write_unknown=lambda: append(lines([{"type": "future_record_kind", "payload": {}}])),
            settings={"CODEX_HOME": str(home)},
        )
