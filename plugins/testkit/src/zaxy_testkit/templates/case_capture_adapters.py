from __future__ import annotations

from pathlib import Path

import pytest

from zaxy_testkit import CaptureAdapterCase, CaptureAdapterSuite
from zaxy_testkit.templates.capture_adapters import Adapter

RECORD = '{"text": "Tea at five – again.", "author": "Ada", "time": "2026-06-15T17:00:00+02:00"}\n'.encode()
HALF = RECORD.index("–".encode()) + 1  # in the middle of a character: the unkindest cut


class TestAdapter(CaptureAdapterSuite):
    @pytest.fixture
    def case(self, tmp_path: Path) -> CaptureAdapterCase:
        workspace, elsewhere = tmp_path / "work", tmp_path / "work-elsewhere"
        workspace.mkdir()
        elsewhere.mkdir()

        def append(data: bytes, file: str = "today.notes.jsonl") -> None:
            notes = workspace / ".notes" / file
            notes.parent.mkdir(parents=True, exist_ok=True)
            with notes.open("ab") as out:
                out.write(data)

        return CaptureAdapterCase(
            Adapter,
            workspace=workspace,
            elsewhere=elsewhere,
            write=lambda count: append(RECORD * count),
            write_half=lambda: append(RECORD[:HALF]),
            write_rest=lambda: append(RECORD[HALF:]),
            write_unknown=lambda: append(b'{"kind": "reminder"}\n'),
            write_subagent=lambda count: append(RECORD * count, "today/helper.notes.jsonl"),
        )
