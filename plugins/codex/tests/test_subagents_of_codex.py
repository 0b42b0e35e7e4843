"""Subagents of Codex: each one's rollout is a source of its own, without what it inherited from its parent."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from codex_files import OTHER, THREAD, TIME, called, done, event, lines, meta, output, rollout, said, sent, spawned

from zaxy import Memory
from zaxy.api import Observation, Source
from zaxy_codex.adapter import CodexSessions
from zaxy_testkit import Case, Workbench

TYPES = re.compile(r"\((\S+) by ")
"""What a printed log says that its events are."""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "codex"


def sessions(home: Path) -> CodexSessions:
    made: CodexSessions = Workbench(home).make(Case(CodexSessions, settings={"CODEX_HOME": str(home)}))
    return made


def sources(home: Path, work: Path) -> list[Source]:
    return sessions(home).sources(work)


def read(home: Path, work: Path, limit: int = 1000) -> dict[str, list[Observation]]:
    """What each source tells, by its agent; empty for a session."""
    found: dict[str, list[Observation]] = {}
    adapter = sessions(home)
    for source in adapter.sources(work):
        mark, is_done = "", False
        while not is_done:
            reading = adapter.read(source, mark, limit)
            found.setdefault(source.agent, []).extend(reading.observations)
            mark, is_done = reading.mark, reading.done
    return found


def work_of_a_subagent() -> list[dict[str, Any]]:
    return [
        *(sent("Find the port"), said("Find the port")),
        called("exec_command", {"cmd": "grep -r port ."}, "c1"),
        output("Process exited with code 0\nOutput:\n8443", "c1"),
        *(sent("It is 8443.", "assistant"), said("It is 8443.", "assistant")),
        event("task_complete", turn_id="t1", last_agent_message="It is 8443."),
    ]


WHAT_IT_DID = [
    ("transcript.turn", "Find the port"),
    ("command.completed", "grep -r port ."),
    ("transcript.turn", "It is 8443."),
    ("subagent.completed", None),
]


def happened(observations: list[Observation]) -> list[tuple[str, object]]:
    return [(one.type, one.payload.get("content") or one.payload.get("command")) for one in observations]


def test_a_subagent_is_a_source_that_names_it_and_its_parent(home: Path, work: Path) -> None:
    rollout(home).write_bytes(lines([meta(work), said("Which port is it?")]))
    rollout(home, OTHER).write_bytes(lines([spawned(work), *work_of_a_subagent()]))
    own, other = sources(home, work)
    assert (own.session, own.agent, own.parent) == (THREAD, "", "")
    assert (other.session, other.agent, other.parent) == (OTHER, OTHER, THREAD)
    found = read(home, work)
    assert happened(found[""]) == [("transcript.turn", "Which port is it?")]
    assert happened(found[OTHER]) == WHAT_IT_DID
    assert read(home, work, limit=1) == found


def test_nobody_takes_the_task_for_a_users_words(home: Path, work: Path) -> None:
    rollout(home, OTHER).write_bytes(lines([spawned(work), *work_of_a_subagent()]))
    task = read(home, work)[OTHER][0]
    assert (task.actor, task.payload["role"], task.payload["speaker"]) == ("assistant", "user", "parent")


@pytest.mark.parametrize(
    ("about", "parent"),
    [
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": THREAD}}}}, THREAD),
        ({"source": {"subagent": "review"}, "parent_thread_id": THREAD}, THREAD),
        ({"source": "subagent", "forked_from_id": THREAD}, THREAD),
        ({"source": {"subagent": "review"}}, ""),
        ({"source": {"subagent": "review"}, "parent_thread_id": THREAD, "forked_from_id": "another"}, THREAD),
    ],
)
def test_codex_names_the_parent_in_several_ways_or_not(
    home: Path, work: Path, about: dict[str, Any], parent: str
) -> None:
    rollout(home, OTHER).write_bytes(lines([meta(work, OTHER, **about), *work_of_a_subagent()]))
    (source,) = sources(home, work)
    assert (source.agent, source.parent) == (OTHER, parent)
    assert happened(read(home, work)[OTHER]) == WHAT_IT_DID


def test_a_fork_that_a_user_made_is_no_subagent(home: Path, work: Path) -> None:
    rollout(home, OTHER).write_bytes(lines([meta(work, OTHER, forked_from_id=THREAD), said("another way")]))
    (source,) = sources(home, work)
    assert (source.agent, source.parent) == ("", "")


def test_what_it_inherited_below_its_first_ordinal_is_not_captured_again(home: Path, work: Path) -> None:
    parents = [meta(work), said("the parent's"), event("task_complete", turn_id="t0")]
    own = [said("the task"), done("CommandExecution", id="c", command="make")]
    records = [spawned(work, subagent_history_start_ordinal=4), *parents, *own]
    rollout(home, OTHER).write_bytes(lines([{**one, "ordinal": n} for n, one in enumerate(records)]))
    assert happened(read(home, work)[OTHER]) == [("transcript.turn", "the task"), ("command.completed", "make")]


def test_what_it_inherited_without_ordinals_is_told_by_its_parents_file(home: Path, work: Path) -> None:
    parents = [said("the parent's"), said("an answer", "assistant")]
    rollout(home).write_bytes(lines([meta(work), *parents]))
    own = [{**one, "timestamp": TIME.format(6)} for one in work_of_a_subagent()]
    about = spawned(work, timestamp=TIME.format(5))
    rollout(home, OTHER).write_bytes(lines([about, meta(work), *parents, *own]))
    assert happened(read(home, work)[OTHER]) == WHAT_IT_DID


def test_the_subagent_of_a_subagent_names_that_one(home: Path, work: Path) -> None:
    deeper = THREAD.replace("0199", "0177")
    rollout(home, OTHER).write_bytes(lines([spawned(work)]))
    rollout(home, deeper).write_bytes(lines([spawned(work, deeper, OTHER), *work_of_a_subagent()]))
    assert {source.agent: source.parent for source in sources(home, work)} == {OTHER: THREAD, deeper: OTHER}


def test_a_subagent_that_works_elsewhere_is_not_this_workspaces(home: Path, work: Path) -> None:
    rollout(home, OTHER).write_bytes(lines([spawned(work.with_name("work-elsewhere")), *work_of_a_subagent()]))
    assert sources(home, work) == []


# Through the commands


def zaxy(home: Path, work: Path, *arguments: str) -> str:
    env = {**os.environ, "CODEX_HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "no claude")}
    command = [sys.executable, "-m", "zaxy", *arguments, "--workspace", str(work)]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_the_commands_record_a_subagent_in_a_session_of_its_own(home: Path, work: Path) -> None:
    fixture = (Path(__file__).parent / "fixtures" / "legacy.jsonl").read_text().replace("/home/dev/demo", str(work))
    rollout(home).write_text(fixture)
    rollout(home, OTHER).write_bytes(lines([spawned(work), *work_of_a_subagent()]))
    first = json.loads(zaxy(home, work, "codex-capture", "--json"))
    (name,) = first["subagents"]
    assert name.startswith(f"work-default.{OTHER}-")
    assert json.loads(zaxy(home, work, "codex-capture", "--json"))["new"] == {}
    assert name in zaxy(home, work, "sessions")
    own, its = zaxy(home, work, "replay", "work-default"), zaxy(home, work, "replay", name)
    assert "8443" not in own
    assert TYPES.findall(own)[-1] == "subagent.completed"
    assert name in own
    assert "All green." in own
    assert TYPES.findall(its) == ["transcript.turn", "command.completed", "transcript.turn"]
    with Memory.open(work) as memory:
        asked = [str(memory.checkout("Which port did grep find?", session=s).as_dict()) for s in ("work-default", name)]
    assert ["8443" in shown for shown in asked] == [False, True]


def test_what_an_older_version_recorded_with_the_parent_does_not_keep_it_out_of_its_own_session(
    home: Path, work: Path
) -> None:
    rollout(home, OTHER).write_bytes(lines([meta(work, OTHER), *work_of_a_subagent()]))
    zaxy(home, work, "codex-capture")
    rollout(home, OTHER).write_bytes(lines([spawned(work), *work_of_a_subagent()]))
    (count,) = json.loads(zaxy(home, work, "codex-capture", "--json"))["subagents"].values()
    assert count == 3
