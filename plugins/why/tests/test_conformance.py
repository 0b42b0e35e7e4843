from __future__ import annotations

from pathlib import Path

import pytest

from zaxy_testkit import CommandCase, CommandSuite, PluginSuite
from zaxy_testkit.checks.trial_memory import trial_memory
from zaxy_why.command import why

EDIT = {"path": "a.py", "operation": "created", "lines_added": 1, "lines_removed": 0, "hunks": [[1, 0, 1, 1]]}


class TestPlugin(PluginSuite):
    plugin = "why"
    contract = Path(__file__).parents[1] / "zaxy-contract.json"


class TestWhy(CommandSuite):
    @pytest.fixture
    def case(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandCase:
        with trial_memory(tmp_path) as memory:
            memory.append("file.edit.applied", EDIT)
        monkeypatch.chdir(tmp_path / "memory")
        Path("a.py").write_text("one\n", encoding="utf-8")
        return CommandCase(why, calls={"why": ("a.py:1",)})
