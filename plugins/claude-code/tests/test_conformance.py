from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from zaxy_claude_code.adapter import ClaudeCodeSessions
from zaxy_claude_code.client import ClaudeCode
from zaxy_testkit import CaptureAdapterCase, CaptureAdapterSuite, ClientCase, ClientSuite, PluginSuite

RECORD = (
    '{{"isSidechain":{sidechain},"cwd":"{cwd}","sessionId":"s","version":"2.1.300","type":"user","uuid":"u-{number}",'
    '"timestamp":"2026-08-20T10:00:01.000Z","message":{{"role":"user","content":"Tea at five – again."}}}}\n'
)
SESSION = "11111111-2222-4333-8444-555555555555"
SERVERS = """\
// kept by hand
{
   "theme" : "dark",   /* and stormy */
   "mcpServers": { // tools
      // looks things up
      "search": {"command": "npx", "args": ["-y", "search-mcp"],},

      "zaxy-like": { "url": "https://example.org/mcp" } // a comment with "zaxy": {}
   },
   "last": [1, 2.50, 1e3,],
}
"""
SETTINGS = """\
{
\t// mine
\t"model": "opus",  "permissions": {"allow": ["Bash(git *)"],},
\t"hooks": {
\t\t"Stop": [
\t\t\t{ "hooks": [ { "type": "command", "command": "notify-send 'zaxy hook-event stop'" } ] }, // keep
\t\t],
\t\t"PostToolUse": []
\t},
}
"""


class TestPlugin(PluginSuite):
    plugin = "claude-code"
    contract = Path(__file__).parents[1] / "zaxy-contract.json"


class TestClaudeCodeSessions(CaptureAdapterSuite):
    @pytest.fixture
    def case(self, tmp_path: Path) -> CaptureAdapterCase:
        workspace, elsewhere = tmp_path / "work", tmp_path / "work-elsewhere"
        workspace.mkdir()
        elsewhere.mkdir()
        config = tmp_path / "claude"
        project = config / "projects" / "".join(c if c.isalnum() and c.isascii() else "-" for c in str(workspace))
        numbers = count()
        half: list[bytes] = []

        def append(data: bytes, file: str = f"{SESSION}.jsonl") -> None:
            (project / file).parent.mkdir(parents=True, exist_ok=True)
            with (project / file).open("ab") as out:
                out.write(data)

        def record(sidechain: str = "false") -> bytes:
            return RECORD.format(cwd=workspace.as_posix(), number=next(numbers), sidechain=sidechain).encode()

        def write_subagent(count: int) -> None:
            file = f"{SESSION}/subagents/agent-a3f2c1b4d5e6f7a8b.jsonl"
            append(b"".join(record("true") for _ in range(count)), file)

        def write_half() -> None:
            torn = record()
            cut = torn.index("–".encode()) + 1
            half.append(torn[cut:])
            append(torn[:cut])

        return CaptureAdapterCase(
            ClaudeCodeSessions,
            workspace=workspace,
            elsewhere=elsewhere,
            write=lambda count: append(b"".join(record() for _ in range(count))),
            write_half=write_half,
            write_rest=lambda: append(half.pop()),
            write_unknown=lambda: append(b'{"type":"reminder","uuid":"r"}\n'),
            write_subagent=write_subagent,
            settings={"CLAUDE_CONFIG_DIR": str(config)},
        )


class TestClaudeCode(ClientSuite):
    @pytest.fixture
    def case(self) -> ClientCase:
        return ClientCase(ClaudeCode, SERVERS, '{"mcpServers": {]}', SETTINGS)
