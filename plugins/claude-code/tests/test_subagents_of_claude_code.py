"""Subagents of Claude Code: each transcript is a source of its own, whatever version wrote it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from zaxy import Memory
from zaxy.api import Observation

sys.path.insert(0, str(Path(__file__).parent))

from session_writer import SESSION, Claude, adapter, read_source

AGENT = "a3f2c1b4d5e6f7a8b"
NAME = f"work-default.{AGENT}-"
TYPES = re.compile(r"\((\S+) by ")
"""What a printed log says that its events are."""


@pytest.fixture
def claude(tmp_path: Path) -> Claude:
    return Claude(tmp_path, tmp_path / "work")


def read(claude: Claude, limit: int = 1000) -> dict[str, list[Observation]]:
    """What each source tells, by its agent; empty for the session itself."""
    sessions = adapter(claude.config.parent)
    found = sessions.sources(claude.folder)
    return {source.agent: read_source(sessions, source, limit=limit) for source in found}


def happened(observations: list[Observation]) -> list[tuple[str, object]]:
    return [
        (one.type, one.payload.get("content") or one.payload.get("command") or one.payload.get("path"))
        for one in observations
    ]


def work_of_a_subagent(claude: Claude) -> list[dict[str, Any]]:
    return [
        claude.user("Find the port"),
        claude.call("s1", "Bash", command="grep -r port ."),
        claude.result("s1", "8443", {"stdout": "8443", "stderr": ""}),
        claude.said("It is 8443.", "end_turn"),
    ]


WHAT_IT_DID = [
    ("transcript.turn", "Find the port"),
    ("command.completed", "grep -r port ."),
    ("transcript.turn", "It is 8443."),
    ("subagent.completed", None),
]


def test_a_subagent_is_a_source_that_names_it_and_its_session(claude: Claude) -> None:
    claude.write(claude.user("Which port is it?"))
    claude.write_subagent(AGENT, *work_of_a_subagent(claude))
    own, other = adapter(claude.config.parent).sources(claude.folder)
    assert (own.agent, own.parent, own.session) == ("", "", SESSION)
    assert (other.agent, other.parent, other.path) == (AGENT, SESSION, claude.subagent(AGENT))
    found = read(claude)
    assert happened(found[""]) == [("transcript.turn", "Which port is it?")]
    assert happened(found[AGENT]) == WHAT_IT_DID
    assert {one.payload["source"] for one in found[AGENT]} == {f"claude-code:{SESSION}/{AGENT}"}


def test_nobody_takes_the_task_for_a_users_words(claude: Claude) -> None:
    claude.write_subagent(AGENT, *work_of_a_subagent(claude))
    task = read(claude)[AGENT][0]
    assert (task.actor, task.payload["role"], task.payload["speaker"]) == ("assistant", "user", "parent")


def test_an_older_version_puts_it_beside_the_sessions(claude: Claude) -> None:
    claude.write_subagent("1a2b3c4d", *work_of_a_subagent(claude), file=claude.file.with_name("agent-1a2b3c4d.jsonl"))
    (source,) = adapter(claude.config.parent).sources(claude.folder)
    assert (source.agent, source.parent) == ("1a2b3c4d", SESSION)
    assert happened(read(claude)["1a2b3c4d"]) == WHAT_IT_DID


def test_subagents_of_a_workflow_lie_deeper(claude: Claude) -> None:
    claude.write_subagent(AGENT, *work_of_a_subagent(claude), file=claude.subagent(AGENT, "subagents/workflows/wf_1"))
    assert happened(read(claude)[AGENT]) == WHAT_IT_DID


@pytest.mark.parametrize("agent", ["acompact-3f2c1b", "aprompt_suggestion-3f2c1b", "aside_question-3f2c1b"])
def test_agents_that_the_client_starts_for_itself_are_none(claude: Claude, agent: str) -> None:
    claude.write_subagent(agent, *work_of_a_subagent(claude))
    claude.write_subagent(agent, *work_of_a_subagent(claude), file=claude.file.with_name(f"agent-{agent}.jsonl"))
    assert read(claude) == {}


def test_what_a_subagent_inherited_is_not_its_own(claude: Claude) -> None:
    inherited = {**claude.user("said before"), "forkedFrom": {"sessionId": SESSION, "messageUuid": "1111-1"}}
    claude.write_subagent(AGENT, inherited, *work_of_a_subagent(claude))
    assert happened(read(claude)[AGENT]) == WHAT_IT_DID


def test_a_subagent_that_works_elsewhere_is_not_this_workspaces(claude: Claude, tmp_path: Path) -> None:
    away = [{**record, "cwd": str(tmp_path / "work-elsewhere")} for record in work_of_a_subagent(claude)]
    claude.write(claude.user("Hello"))
    claude.write_subagent(AGENT, *away)
    assert list(read(claude)) == [""]


def test_a_subagent_without_a_last_word_has_not_ended(claude: Claude) -> None:
    claude.write_subagent(AGENT, claude.user("Find it"), claude.said("Looking.", "tool_use"), claude.said("Hm."))
    assert [one.type for one in read(claude)[AGENT]] == ["transcript.turn"] * 3


def test_a_record_is_the_same_however_much_is_read_at_a_time_and_a_torn_one_waits(claude: Claude) -> None:
    claude.write_subagent(AGENT, *work_of_a_subagent(claude))
    whole = read(claude)[AGENT]
    assert read(claude, limit=1)[AGENT] == whole
    data = claude.subagent(AGENT).read_bytes()
    claude.subagent(AGENT).write_bytes(data[:-20])
    sessions = adapter(claude.config.parent)
    (source,) = sessions.sources(claude.folder)
    reading = sessions.read(source, "", 100)
    assert list(reading.observations) == whole[:2]
    claude.subagent(AGENT).write_bytes(data)
    assert list(sessions.read(source, reading.mark, 100).observations) == whole[2:]


# Through the commands, with the files as Claude Code writes them


def zaxy(claude: Claude, *arguments: str) -> str:
    env = {**os.environ, "CLAUDE_CONFIG_DIR": str(claude.config), "CODEX_HOME": str(claude.config / "no codex")}
    command = [sys.executable, "-m", "zaxy", *arguments, "--workspace", str(claude.folder)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def captured(claude: Claude) -> str:
    """One pass of a watcher that is then stopped, and the name of the subagent's session."""
    env = {**os.environ, "CLAUDE_CONFIG_DIR": str(claude.config), "CODEX_HOME": str(claude.config / "no codex")}
    command = [sys.executable, "-m", "zaxy", "capture", "start", "--foreground", "--interval", "0.1"]
    with subprocess.Popen([*command, "--workspace", str(claude.folder)], env=env, stdout=subprocess.PIPE) as watcher:
        assert watcher.stdout is not None
        assert watcher.stdout.readline().startswith(b"captured ")
        watcher.terminate()
        assert watcher.wait(timeout=60) == 0
    sessions = json.loads(zaxy(claude, "sessions", "--json"))
    names = [row["session_id"] if isinstance(row, dict) else row for row in sessions["sessions"]]
    (name,) = [name for name in names if name.startswith(NAME)]
    return str(name)


def a_session_with_a_subagent(claude: Claude) -> None:
    claude.write(
        claude.user("Which port does the gateway use?"),
        claude.call("t1", "Agent", prompt="Find the port", subagent_type="Explore"),
        claude.result("t1", "It is 8443.", {"status": "completed", "agentId": AGENT, "totalDurationMs": 900}),
        claude.said("The gateway answers there.", "end_turn"),
    )
    claude.write_subagent(AGENT, *work_of_a_subagent(claude))


def test_the_commands_record_a_subagent_in_a_session_of_its_own(claude: Claude) -> None:
    a_session_with_a_subagent(claude)
    name = captured(claude)
    own, its = zaxy(claude, "replay", "work-default"), zaxy(claude, "replay", name)
    assert TYPES.findall(own) == [
        *("transcript.turn", "tool.call.completed", "transcript.turn", "subagent.completed"),
    ]
    assert name in own
    assert "8443" not in own
    assert TYPES.findall(its) == ["transcript.turn", "command.completed", "transcript.turn"]
    assert "It is 8443." in its


def test_a_checkout_in_the_parents_session_shows_no_word_of_the_subagent(claude: Claude) -> None:
    a_session_with_a_subagent(claude)
    name = captured(claude)
    question = "Which port did grep find?"
    with Memory.open(claude.folder) as memory:
        own, its = (str(memory.checkout(question, session=session).as_dict()) for session in ("work-default", name))
    assert "8443" not in own
    assert "8443" in its


def test_reading_all_of_it_again_after_the_marks_were_lost_adds_nothing(claude: Claude) -> None:
    a_session_with_a_subagent(claude)
    name = captured(claude)
    before = {session: zaxy(claude, "replay", session) for session in ("work-default", name)}
    shutil.rmtree(claude.folder / ".eventloom" / "runtime")
    claude.write(claude.user("Thanks"))
    assert captured(claude) == name
    assert zaxy(claude, "replay", name) == before[name]
    assert len(zaxy(claude, "replay", "work-default").splitlines()) == len(before["work-default"].splitlines()) + 1
