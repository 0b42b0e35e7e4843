from __future__ import annotations

from pathlib import Path

import pytest
from codex_files import OTHER, THREAD, lines, meta, rollout, said, spawned

from zaxy_codex.adapter import CodexSessions
from zaxy_codex.client import Codex
from zaxy_testkit import CaptureAdapterCase, CaptureAdapterSuite, ClientCase, ClientSuite, PluginSuite

RECORD = lines([said("Tea at five – again.")])
SERVERS_TOML = """\
# kept by hand
model   =  "o5"
note = '''
[mcp_servers.zaxy]
'''

[mcp_servers . search]\t# looks things up
  command = 'npx'
args = [ "-y", # quiet
  "search-mcp", ]

[mcp_servers.search.env]
"A.B" = "c"

[[profiles]]
name = "zaxy"
# nothing below this line
"""
HOOKS = '{"description": "mine", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./mine.sh"}]}]}}\n'
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

        def append(data: bytes, thread: str = THREAD) -> None:
            about = meta(workspace) if thread == THREAD else spawned(workspace, thread)
            with rollout(home, thread).open("ab") as file:
                if not file.tell():
                    file.write(lines([about]))
                file.write(data)

        return CaptureAdapterCase(
            CodexSessions,
            workspace=workspace,
            elsewhere=elsewhere,
            write=lambda count: append(RECORD * count),
            write_half=lambda: append(RECORD[:HALF]),
            write_rest=lambda: append(RECORD[HALF:]),
            write_unknown=lambda: append(lines([{"type": "future_record_kind", "payload": {}}])),
            write_subagent=lambda count: append(RECORD * count, OTHER),
            settings={"CODEX_HOME": str(home)},
        )


class TestCodex(ClientSuite):
    @pytest.fixture
    def case(self) -> ClientCase:
        return ClientCase(Codex, SERVERS_TOML, "[mcp_servers\ncommand", HOOKS)
