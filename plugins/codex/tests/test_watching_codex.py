"""Codex writes, torn at random bytes, while the watcher reads and is killed: every observation once, none lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from codex_files import called, event, lines, meta, output, record, rollout, said, sent

RECORDS = int(os.environ.get("ZAXY_CAPTURE_RECORDS", "20000"))
"""Records of all sessions together; 100,000 take half a minute."""
SEED = int(os.environ.get("ZAXY_FAULT_SEED", "20260615"))
SESSIONS = 6
KILLS = 4
PATIENCE = 240.0


def thread(number: int) -> str:
    return f"0199aaaa-bbbb-7ccc-8ddd-{number:012d}"


def session(number: int, cwd: Path, count: int) -> tuple[bytes, list[str]]:
    """A session file of so many records, and what is to be observed in it: each told by a text of its own."""
    records, expected = [meta(cwd, thread(number))], list[str]()
    turn = 0
    while len(records) < count:
        turn += 1
        name = f"{number}.{turn}"
        records += [
            *(
                record("turn_context", {"turn_id": f"t{turn}", "cwd": str(cwd)}),
                event("task_started", turn_id=f"t{turn}"),
            ),
            *(sent(f"ask {name} – please"), said(f"ask {name} – please")),
            called("exec_command", {"cmd": f"run {name}"}, f"c{turn}"),
            output(f"Process exited with code 0\nOutput:\n{'.' * (turn % 300)}", f"c{turn}"),
            event("patch_apply_end", call_id=f"p{turn}", success=True, changes={f"{name}.py": {"type": "update"}}),
            *(event("token_count", info=None), sent(f"done {name}", "assistant"), said(f"done {name}", "assistant")),
            event("task_complete", turn_id=f"t{turn}"),
        ]
        expected += [f"ask {name} – please", f"run {name}", f"{name}.py", f"done {name}"]
    return lines(records), expected


def captured(work: Path) -> list[str]:
    log = work / ".eventloom" / "work-default.jsonl"
    payloads = [json.loads(line)["payload"] for line in log.read_bytes().splitlines()] if log.exists() else []
    return [str(one.get("content") or one.get("command") or one.get("path")) for one in payloads]


def zaxy(work: Path, *arguments: str, **env: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "zaxy", *arguments, "--workspace", str(work), "--json"]
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, timeout=120, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills")
@pytest.mark.timeout(900)
def test_each_observation_is_captured_once_while_codex_writes_and_the_watcher_is_killed(tmp_path: Path) -> None:
    home, work, elsewhere = (tmp_path / name for name in ("codex", "work", "work-elsewhere"))
    work.mkdir()
    elsewhere.mkdir()
    env = {"CODEX_HOME": str(home), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    randomly = random.Random(SEED)
    expected: list[str] = []
    waiting: dict[Path, bytes] = {}
    for number in range(SESSIONS):
        ours = number % 3 != 2
        data, told = session(number, work if ours else elsewhere, RECORDS // SESSIONS)
        expected += told if ours else []
        waiting[rollout(home, thread(number))] = data
    largest = max(map(len, waiting.values())) // 40
    started = zaxy(work, "capture", "start", "--interval", "0.1", **env)
    kills = sorted(randomly.sample(range(20, 20 + 40 * SESSIONS // 2), KILLS))
    step = 0
    try:
        while waiting:
            path = randomly.choice(list(waiting))
            cut = randomly.randint(1, largest)
            with path.open("ab") as file:
                file.write(waiting[path][:cut])
            waiting[path] = waiting[path][cut:]
            if not waiting[path]:
                del waiting[path]
            time.sleep(randomly.random() * 0.02)
            step += 1
            if kills and step >= kills[0]:
                kills.pop(0)
                os.kill(started["pid"], signal.SIGKILL)
                started = zaxy(work, "capture", "start", "--interval", "0.1", **env)
        deadline = time.monotonic() + PATIENCE
        while len(captured(work)) < len(expected) and time.monotonic() < deadline:
            time.sleep(0.5)
        time.sleep(1)
        status = zaxy(work, "capture", "status", **env)
    finally:
        zaxy(work, "capture", "stop", **env)
    found = Counter(captured(work))
    assert found == Counter(expected), (found - Counter(expected), Counter(expected) - found)
    assert max(found.values()) == 1
    assert status["errors"] == []
    verified = subprocess.run([sys.executable, "-m", "zaxy", "verify", "--workspace", str(work)], capture_output=True)
    assert verified.returncode == 0
