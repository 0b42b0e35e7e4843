from __future__ import annotations

import pytest
from mission_steps import all_events, events, report, row

from zaxy import Memory
from zaxy.api import Conflict, InvalidRequest, NotFound
from zaxy_coordinate import Missions


@pytest.fixture
def subagent(memory: Memory) -> str:
    """A captured session: a conversation with commands in it."""
    session = "claude.sub_agent 7".replace(" ", "-")

    def turn(role: str, content: str) -> None:
        memory.append("transcript.turn", {"role": role, "content": content}, actor=role, session=session)

    def command(line: str, code: int) -> None:
        payload = {"command": line, "exit_code": code, "status": "done", "stdout": "lots"}
        memory.append("command.completed", payload, actor="assistant", session=session)

    turn("user", "Look at the lock.")
    turn("assistant", "I begin.")
    command("pytest -k lock", 0)
    command("ls", 1)
    turn("assistant", "  The lock holds on Windows.  ")
    turn("user", "Thanks.")
    turn("assistant", " ")
    return session


def test_the_closing_words_become_a_finding_with_the_commands_as_evidence(
    missions: Missions, memory: Memory, subagent: str
) -> None:
    reply = missions.adopt(subagent, "port", role="tester", actor="ada")
    assert (reply["worker_id"], reply["worker_session_id"]) == ("sub_agent-7", subagent)
    event = memory.resolve(reply["finding_citation"])
    said = event.payload or {}
    assert (event.session, event.actor, said["summary"]) == (subagent, "assistant", "The lock holds on Windows.")
    turn, *ran = said["evidence"]
    assert (memory.resolve(turn["reference"]).payload or {})["content"].strip() == said["summary"]
    assert [(one["command"], one["exit_code"]) for one in ran] == [("pytest -k lock", 0), ("ls", 1)]
    shown = row(missions, reply["finding_id"])
    assert (shown["authority"], shown["test_backed"]) == ("pending_worker", True)
    assert len(events(memory)) == 4, "the parent's log has the worker, and no word of it"


def test_adopting_again_changes_nothing_even_if_more_was_run(missions: Missions, memory: Memory, subagent: str) -> None:
    first = missions.adopt(subagent, "port")
    memory.append("command.completed", {"command": "make", "exit_code": 0}, session=subagent)
    before = len(all_events(memory))
    again = missions.adopt(subagent, "port")
    assert again["finding_id"] == first["finding_id"] and len(all_events(memory)) == before


def test_new_closing_words_become_another_finding(missions: Missions, memory: Memory, subagent: str) -> None:
    first = missions.adopt(subagent, "port")
    memory.append("transcript.turn", {"role": "assistant", "content": "It breaks."}, session=subagent)
    again = missions.adopt(subagent, "port")
    assert (first["finding_id"], again["finding_id"]) == ("sub_agent-7:finding:1", "sub_agent-7:finding:2")


def test_a_session_in_which_nobody_spoke_becomes_a_worker_without_a_finding(missions: Missions, memory: Memory) -> None:
    memory.append("command.completed", {"command": "ls", "exit_code": 0}, session="quiet")
    assert missions.adopt("quiet", "port")["finding_id"] is None
    assert report(missions, "I speak now.", "quiet") == "quiet:finding:1"


def test_what_is_no_session_is_not_adopted(missions: Missions) -> None:
    with pytest.raises(NotFound, match="there is no session 'nowhere' with events"):
        missions.adopt("nowhere", "port")


def test_the_session_of_a_mission_is_nobodys_worker(missions: Missions, memory: Memory) -> None:
    """A finding would else stand in a parent's log before anybody promoted it."""
    missions.start("moon", "Fly there")
    for session in ("port", "moon"):
        memory.append("transcript.turn", {"role": "assistant", "content": "An okapi."}, session=session)
        with pytest.raises(InvalidRequest, match=f"{session} is the session of a mission"):
            missions.adopt(session, "port")


@pytest.mark.parametrize("worker", ["a b", "a:finding:1", "-", "\x1b[2J"])
def test_an_adopted_worker_has_a_plain_name_too(missions: Missions, subagent: str, worker: str) -> None:
    with pytest.raises(InvalidRequest, match="is not a worker's id"):
        missions.adopt(subagent, "port", worker_id=worker)


@pytest.mark.parametrize(
    ("session", "worker"),
    [("a._x_", "x"), ("a.b.c", "c"), ("port.w7", "w7"), ("x" * 100, "x" * 64), ("a.-_-", "worker")],
)
def test_the_name_comes_from_the_session(missions: Missions, memory: Memory, session: str, worker: str) -> None:
    memory.append("command.completed", {"command": "ls"}, session=session)
    assert missions.adopt(session, "port")["worker_id"] == worker


def test_a_name_or_a_session_that_is_taken_is_a_conflict(missions: Missions, memory: Memory, subagent: str) -> None:
    with pytest.raises(Conflict, match="port has a worker w1 already"):
        missions.adopt(subagent, "port", worker_id="w1")
    missions.adopt(subagent, "port")
    with pytest.raises(Conflict, match="is the session of sub_agent-7 already"):
        missions.adopt(subagent, "port", worker_id="w9")
