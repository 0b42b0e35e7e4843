"""What capture costs: records of Codex that are read in a second, and that are in the log a second later."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import zstandard

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.log import Row, print_table
from zaxy.observe.capture import AT_ONCE, POINT, Capture
from zaxy.plugins.host import PluginHost
from zaxy.workspace import Workspace, find_workspace

FULL, QUICK = 100_000, 20_000
THREAD = "0199aaaa-bbbb-7ccc-8ddd-{:012d}"
IDLE_SESSIONS = 1000


def record(kind: str, **payload: Any) -> bytes:
    line = {"timestamp": "2026-08-20T10:00:00.000Z", "type": kind, "payload": payload}
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def session(cwd: Path, count: int, thread: str) -> list[bytes]:
    """A session of about so many records, 280 bytes each: words, a command, its output, what Codex notes for itself."""
    records = [record("session_meta", id=thread, timestamp="2026-08-20T10:00:00.000Z", cwd=str(cwd))]
    for turn in range(count // 10):
        asked, told = f"Why does test {turn} of the parser fail now and then?", f"It passes now, all {turn} of them."
        output = f"Wall time: 1.25 seconds\nProcess exited with code 0\nOutput:\n{'tests/test_parser.py .....' * 20}"
        records += [
            record("turn_context", turn_id=f"t{turn}", cwd=str(cwd), model="x"),
            record("response_item", type="message", role="user", content=[{"type": "input_text", "text": asked}]),
            record("event_msg", type="user_message", message=asked),
            record("response_item", type="reasoning", summary=[], encrypted_content="A" * 800),
            record(
                "response_item",
                type="function_call",
                name="exec_command",
                arguments='{"cmd":"pytest"}',
                call_id=f"c{turn}",
            ),
            record("response_item", type="function_call_output", call_id=f"c{turn}", output=output),
            record("event_msg", type="token_count", info=None),
            record("response_item", type="message", role="assistant", content=[{"type": "output_text", "text": told}]),
            record("event_msg", type="agent_message", message=told),
            record("event_msg", type="task_complete", turn_id=f"t{turn}"),
        ]
    return records


def rollout(home: Path, number: int, ending: str = "") -> Path:
    path = home / "sessions" / f"rollout-2026-08-20T10-00-00-{THREAD.format(number)}.jsonl{ending}"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def reading(workspace: Workspace) -> float:
    """Seconds that the adapter needs, without the log."""
    adapter = PluginHost.of(workspace).get(POINT, "codex")
    began = time.perf_counter()
    for source in adapter.call("sources", Path(workspace.root)):
        mark, done = "", False
        while not done:
            found = adapter.call("read", source, mark, AT_ONCE)
            mark, done = found.mark, found.done
    return time.perf_counter() - began


def passing(workspace: Workspace) -> tuple[float, float]:
    """Seconds of a first pass, and of one that finds nothing new."""
    capture = Capture(workspace, adapters=("codex",))
    began = time.perf_counter()
    capture.run()
    first = time.perf_counter() - began
    began = time.perf_counter()
    capture.run()
    second = time.perf_counter() - began
    capture.close()
    return first, second


def measure(count: int) -> Iterator[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        for ending in ("", ".zst"):
            home, work = folder / f"codex{ending}", folder / f"work{ending}"
            work.mkdir()
            os.environ["CODEX_HOME"] = str(home)
            records = session(work, count, THREAD.format(0))
            data = b"".join(records)
            rollout(home, 0, ending).write_bytes(zstandard.compress(data) if ending else data)
            workspace = find_workspace(str(work))
            kind = "compressed" if ending else "plain"
            yield Row(f"records read in a second, {kind}", len(records) / reading(workspace), 10_000, True, "")
            if not ending:
                yield Row("records in the log after a second", len(records) / passing(workspace)[0], 5_000, True, "")
        home, work = folder / "codex-idle", folder / "work-idle"
        work.mkdir()
        os.environ["CODEX_HOME"] = str(home)
        for number in range(IDLE_SESSIONS):
            rollout(home, number).write_bytes(b"".join(session(work, 20, THREAD.format(number))))
        idle = passing(find_workspace(str(work)))[1] * 1000
        yield Row(f"ms of a pass over {IDLE_SESSIONS:,} quiet sessions", idle, 250, False, "")


if __name__ == "__main__":
    print_table(measure(QUICK if "--quick" in sys.argv[1:] else FULL))
