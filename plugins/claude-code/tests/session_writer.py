"""Writes session files as Claude Code does, and reads them with the adapter."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from zaxy.api import Observation, Source
from zaxy_claude_code.adapter import ClaudeCodeSessions
from zaxy_testkit import Case, Workbench

SESSION = "11111111-2222-4333-8444-555555555555"


class Claude:
    """One session of Claude Code in a folder of its own making."""

    def __init__(self, home: Path, folder: Path, session: str = SESSION) -> None:
        self.config, self.folder, self.session = home / "claude", folder, session
        folder.mkdir(parents=True, exist_ok=True)
        name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in str(folder))
        name = name if len(name) <= 200 else f"{name[:200]}-1a2b3c"
        self.file = self.config / "projects" / name / f"{session}.jsonl"
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self._numbers = count(1)

    def record(self, kind: str, **fields: Any) -> dict[str, Any]:
        number = next(self._numbers)
        return {
            "isSidechain": False,
            "cwd": str(self.folder),
            "sessionId": self.session,
            "type": kind,
            "uuid": f"{self.session[:4]}-{number}",
            "timestamp": f"2026-08-20T10:{number // 60 % 60:02}:{number % 60:02}.000Z",
            **fields,
        }

    def user(self, content: object, **fields: Any) -> dict[str, Any]:
        return self.record("user", message={"role": "user", "content": content}, **fields)

    def assistant(self, *blocks: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
        return self.record("assistant", message={"role": "assistant", "content": list(blocks)}, **fields)

    def call(self, identity: str, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.assistant({"type": "tool_use", "id": identity, "name": tool, "input": arguments})

    def result(self, identity: str, text: object, details: object = None, is_error: bool = False) -> dict[str, Any]:
        block = {"type": "tool_result", "tool_use_id": identity, "content": text, "is_error": is_error}
        return self.user([block], **({} if details is None else {"toolUseResult": details}))

    def write(self, *records: Mapping[str, Any]) -> None:
        _append(self.file, records)

    def subagent(self, agent: str, folder: str = "subagents") -> Path:
        """Where the transcript of a subagent of this session lies."""
        return self.file.with_suffix("") / folder / f"agent-{agent}.jsonl"

    def write_subagent(self, agent: str, *records: Mapping[str, Any], file: Path | None = None) -> None:
        """As newer versions do it, with what they note beside it; `file` is another place for it."""
        file = file or self.subagent(agent)
        file.parent.mkdir(parents=True, exist_ok=True)
        _append(file, [{**record, "isSidechain": True, "agentId": agent} for record in records])
        file.with_suffix(".meta.json").write_text('{"agentType":"Explore","spawnDepth":1}')

    def said(self, text: str, stop_reason: str | None = None) -> dict[str, Any]:
        message = {"role": "assistant", "content": [{"type": "text", "text": text}], "stop_reason": stop_reason}
        return self.record("assistant", message=message)


def _append(file: Path, records: Iterable[Mapping[str, Any]]) -> None:
    with file.open("ab") as out:
        out.writelines(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


def adapter(home: Path) -> ClaudeCodeSessions:
    case = Case(ClaudeCodeSessions, settings={"CLAUDE_CONFIG_DIR": str(home / "claude")})
    made: ClaudeCodeSessions = Workbench(home).make(case)
    return made


def read_source(sessions: ClaudeCodeSessions, source: Source, mark: str = "", limit: int = 1000) -> list[Observation]:
    found: list[Observation] = []
    while True:
        reading = sessions.read(source, mark, limit)
        found += reading.observations
        mark = reading.mark
        if reading.done:
            return found


def told(home: Path, workspace: Path, limit: int = 1000) -> list[Observation]:
    """Everything that the workspace's sessions tell."""
    sessions = adapter(home)
    return [told for source in sessions.sources(workspace) for told in read_source(sessions, source, limit=limit)]
