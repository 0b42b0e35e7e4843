"""`zaxy pause` and `zaxy resume`: meanwhile nothing records by itself, reads work, and everybody is told so."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from project import Project
from served import Listening, Server
from zaxy.api.health import Finding
from zaxy.memory import Memory
from zaxy.observe.recording import FILE, pause, read_recording, resume
from zaxy.setup.doctor import DoctorContext, examine
from zaxy.setup.doctor_recording import CHECKS
from zaxy.workspace import find_workspace

EVENT = {"event_type": "note.taken", "actor": "assistant", "payload": {"text": "the sky is blue"}}
WRITES: dict[str, dict[str, Any]] = {
    "memory_append": EVENT,
    "memory_ingest": {"events": [EVENT]},
    "context_after_turn": {"role": "user", "content": "hello there"},
    "memory_feedback": {"entity_name": "sky", "entity_type": "note", "feedback": "used"},
    "memory_skill": {"action": "propose", "skill_id": "s1", "name": "a", "summary": "b", "procedure": ["c"]},
}
READS: dict[str, dict[str, Any]] = {
    "memory_query": {"query": "sky"},
    "memory_checkout": {"query": "sky"},
    "memory_replay": {},
    "memory_bootstrap": {},
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root, home = tmp_path / "project", tmp_path / "home"
    root.mkdir()
    home.mkdir()
    return Project(root, home)


def log(project: Project) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(project.eventloom.glob("*.jsonl")))


def test_pause_and_resume_say_since_when_and_twice_is_once(project: Project) -> None:
    first, second = project.told("pause"), project.told("pause")
    assert (first["was_paused"], second["was_paused"]) == (False, True)
    assert first["paused_since"] == second["paused_since"]
    ended, again = project.told("resume"), project.told("resume")
    assert ended["paused_since"] == first["paused_since"]
    assert ended["paused_until"] > ended["paused_since"]
    assert again == {"workspace": str(project.root), "was_paused": False}
    assert "zaxy resume" in project.run("pause").stdout
    assert "stays out" in project.run("resume").stdout


def test_a_workspace_that_began_with_a_pause_is_its_users_own(project: Project) -> None:
    project.told("pause")
    assert find_workspace(str(project.root)).is_own


def test_during_a_pause_hooks_record_nothing_not_even_a_heartbeat(project: Project) -> None:
    project.told("pause")
    for words in (["session-start"], ["heartbeat"], ["command", "--command", "make"], ["precompact"]):
        done = project.run("hook-event", *words, "--source", "claude-code")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert log(project) == b""
    assert not (project.eventloom / "runtime/hook-errors.log").exists()
    strict = project.run("hook-event", "heartbeat", "--strict")
    assert strict.returncode == 1
    assert "zaxy resume" in strict.stderr
    project.told("resume")
    assert project.run("hook-event", "heartbeat", "--strict").returncode == 0
    assert b"hook.heartbeat" in log(project)


def test_agents_read_and_are_refused_their_writes_until_the_pause_ends(project: Project) -> None:
    project.told("append", "note.taken", "--payload", '{"text": "the sky is grey"}')
    with Server(project.root) as server:
        assert server.call("memory_append", **EVENT)["seq"]
        server.close()
    with Server(project.root) as server:
        assert server.call("memory_query", query="sky")["results"]
        before = quiet_log(project)
        project.told("pause")
        for tool, given in WRITES.items():
            refused = server.call(tool, **given)["error"]
            assert refused["code"] == "conflict", (tool, refused)
            assert "recording is paused" in refused["message"]
            assert "zaxy resume" in refused["remediation"]
        for tool, given in READS.items():
            reply = server.call(tool, **given)
            assert "error" not in reply, (tool, reply)
        server.close()
    assert log(project) == before
    with Server(project.root) as server:
        assert server.call("memory_append", **EVENT)["error"]["code"] == "conflict"
        project.told("resume")
        assert server.call("memory_append", **EVENT)["seq"]


def quiet_log(project: Project) -> bytes:
    """The log when the record of the calls so far has been written, which comes behind the replies."""
    deadline = time.monotonic() + 60
    while b"memory_query" not in log(project):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return log(project)


def test_over_http_it_is_the_same(project: Project) -> None:
    project.told("append", "note.taken", "--payload", '{"text": "the sky is grey"}')
    project.told("pause")
    before = log(project)
    with Listening(project.root) as server:
        assert "zaxy resume" in server.modern("memory_append", EVENT)["error"]["remediation"]
        assert "grey" in json.dumps(server.modern("memory_checkout", {"query": "sky"}))
    assert log(project) == before


def test_what_a_person_types_is_recorded_with_a_notice_and_reads_leave_no_mark(project: Project) -> None:
    project.told("pause")
    done = project.run("append", "note.taken", "--payload", '{"text": "the sky is grey"}')
    assert done.returncode == 0
    assert "recording is paused since" in done.stderr
    before = log(project)
    assert b"note.taken" in before
    assert "grey" in project.run("checkout", "sky").stdout
    assert log(project) == before
    project.told("resume")
    assert "paused" not in project.run("append", "note.taken", "--payload", "{}").stderr


def test_a_program_is_not_stopped_and_leaves_no_marks(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.append("note.taken", {"text": "the sky is grey"})
        pause(str(tmp_path / ".eventloom"))
        memory.checkout("sky")
        memory.append("note.taken", {"text": "the sky is blue"})
        memory.end_session()
        memory.record_tool_call("x", "ok", argument_keys=[], summary="")
        assert [event.type for event in memory.replay(include_housekeeping=True)] == ["note.taken"] * 2
        resume(str(tmp_path / ".eventloom"))
        memory.end_session()
        assert [event.type for event in memory.replay(include_housekeeping=True)][2:] == ["session.ended"]


def test_the_pause_is_seen_wherever_one_looks(project: Project) -> None:
    since = project.told("pause")["paused_since"]
    rows = {row["name"]: row for row in project.told("doctor")["rows"]}
    assert rows["recording"]["status"] == "warning"
    assert rows["recording"]["action"] == "zaxy resume"
    assert "paused" in rows["write_path"]["message"]
    assert log(project) == b"", "the doctor left no heartbeat"
    status = project.told("hook-status")
    assert status["paused_since"] == since
    assert "zaxy resume" in [warning["action"] for warning in status["warnings"]]
    assert project.told("capture", "status")["paused_since"] == since
    assert "paused" in project.run("capture", "status").stdout
    project.told("resume")
    assert project.told("hook-status")["paused_since"] is None
    assert "paused_since" not in project.told("capture", "status")
    assert recording_row(project).status == "ok"


def test_where_it_cannot_be_known_whether_there_is_a_pause_agents_write_nothing_and_read(project: Project) -> None:
    project.told("append", "note.taken", "--payload", '{"text": "the sky is grey"}')
    (project.eventloom / FILE).write_text("{")
    with Server(project.root) as server:
        assert FILE in server.call("memory_append", **EVENT)["error"]["message"]
        assert server.call("memory_query", query="sky")["results"]
    assert recording_row(project).status == "error"


def recording_row(project: Project) -> Finding:
    """What the doctor says of the pause."""
    (row,) = examine(DoctorContext(find_workspace(str(project.root))), CHECKS[:1], fix=False)
    return row


def test_pauses_and_resumes_at_once_leave_a_file_that_can_be_read(project: Project) -> None:
    words = [("pause",), ("resume",)] * 2
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "zaxy", *word],
            cwd=project.root,
            env=project.environ(),
            stdout=subprocess.DEVNULL,
        )
        for word in words
    ]
    assert [process.wait(120) for process in running] == [0] * 4
    recording = read_recording(str(project.eventloom))
    assert all(one.until for one in recording.pauses[:-1])
