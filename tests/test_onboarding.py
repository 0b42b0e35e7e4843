"""The first minutes of an agent in a project: bootstrap, checkout, what it is told, and names that need no set-up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Zaxy
from folders import made_folder
from remembered import decision, turn
from zaxy.api.tools import PROFILES
from zaxy.eventloom.disk import DISK
from zaxy.eventloom.lock import SessionLock
from zaxy.memory import Memory
from zaxy.observe.capture_config import FILE_NAME, capture_config_text
from zaxy.observe.recording import CAPTURE, HOOKS, choose_recorder, pause
from zaxy.observe.watcher import files_of
from zaxy.serve.application import Application, Request
from zaxy.workspace import find_workspace

SESSION = "work"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(made_folder(tmp_path / "here")) as opened:
        yield opened


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Application]:
    application = Application(find_workspace(str(made_folder(tmp_path / "here"))))
    yield application
    application.close(5.0)


def answered(server: Application, tool: str, **arguments: Any) -> dict[str, Any]:
    return server.answer(Request(tool, arguments)).content


# The two commands


def test_the_two_onboarding_commands_work_in_a_fresh_project(zaxy: Zaxy) -> None:
    shown = zaxy("memory", "bootstrap", "--session-id", "first")
    assert shown.returncode == 0 and "zaxy checkout" in shown.stdout
    assert "nothing captured lately: 'zaxy init'." in shown.stdout, "a command ends where its quotation mark does"
    asked = zaxy("memory", "checkout", "what did we decide?", "--session-id", "first", "--json")
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout)["quality"]["answerability"] == "ask_user"


def test_the_first_bootstrap_leaves_its_marker_and_the_session_is_there(memory: Memory) -> None:
    packet = memory.bootstrap(SESSION).as_dict()
    assert packet["capabilities"]["eventloom"] == {"status": "empty", "events": 0}
    (marker,) = memory.replay(SESSION, include_housekeeping=True)
    assert (marker.type, marker.actor) == ("memory.bootstrap.shown", "zaxy")
    assert memory.sessions() == [SESSION]


def test_capabilities_alone_begin_no_session(memory: Memory) -> None:
    memory.capabilities(SESSION)
    assert memory.sessions() == []


# Capabilities


@pytest.mark.parametrize("profile", PROFILES)
def test_capabilities_list_the_tools_of_the_profile_that_is_served(tmp_path: Path, profile: str) -> None:
    server = Application(find_workspace(str(tmp_path)), profile)
    listed = {served.tool.name for served in server.listed()}
    assert set(answered(server, "memory_capabilities")["tools"]) == listed
    assert set(answered(server, "memory_bootstrap")["capabilities"]["tools"]) == listed
    server.close(5.0)


def test_a_command_lists_the_tools_of_the_profile_that_the_workspace_chose(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "subagent_cleanup" not in memory.capabilities().as_dict()["tools"]
    monkeypatch.setenv("ZAXY_TOOL_PROFILE", "full")
    assert "subagent_cleanup" in memory.capabilities().as_dict()["tools"]


def capture(memory: Memory) -> dict[str, Any]:
    found: dict[str, Any] = memory.capabilities(SESSION).as_dict()["capture"]
    return found


def test_capture_by_hooks_is_healthy_before_anything_has_arrived(memory: Memory) -> None:
    found = capture(memory)
    assert (found["status"], found["paths"], found["action"]) == ("nothing captured lately", [], "zaxy init")
    choose_recorder(memory.workspace.eventloom, "claude-code", HOOKS)
    found = capture(memory)
    assert (found["status"], "action" in found) == ("nothing captured lately", False)
    assert found["paths"] == [{"client": "claude-code", "recorder": "hooks", "healthy": True, "last_seen": None}]
    said = turn(memory, "Hello.", SESSION, source="claude-code")
    found = capture(memory)
    assert (found["status"], found["paths"][0]["last_seen"]) == ("capturing", said.time)


def test_capture_is_healthy_where_servers_start_its_watcher_and_not_once_it_was_stopped(memory: Memory) -> None:
    config = Path(memory.workspace.root, ".codex", FILE_NAME)
    config.parent.mkdir(parents=True)
    config.write_text(capture_config_text("codex"))
    choose_recorder(memory.workspace.eventloom, "codex", CAPTURE)
    turn(memory, "Hello.", SESSION, source="codex")
    found = capture(memory)
    assert (found["status"], "action" in found) == ("the watcher starts with a server", False)
    assert (found["paths"][0]["recorder"], found["paths"][0]["healthy"]) == ("watcher", True)
    files = files_of(memory.workspace)
    Path(files.off).parent.mkdir(parents=True)
    Path(files.off).touch()  # as 'zaxy capture stop' leaves it
    found = capture(memory)
    assert (found["status"], found["action"][:18]) == ("the watcher is stopped", "zaxy capture start")
    assert found["paths"][0]["healthy"] is False
    with SessionLock(files.lock, DISK).exclusive(1.0):  # as a watcher holds it while it runs
        found = capture(memory)
    assert (found["status"], found["paths"][0]["healthy"]) == ("capturing", True)


def test_capture_that_is_paused_says_so(memory: Memory) -> None:
    choose_recorder(memory.workspace.eventloom, "claude-code", HOOKS)
    pause(memory.workspace.eventloom)
    found = capture(memory)
    assert (found["status"].startswith("paused since "), found["action"]) == (True, "zaxy resume")
    assert found["paths"][0]["healthy"] is False


# Refs


def test_main_is_there_from_the_first_event_and_moves_with_the_log_until_it_is_set(memory: Memory) -> None:
    first = decision(memory, "Use SQLite.", SESSION)
    assert memory.refs(SESSION) == {"refs/heads/main": first.citation}
    second = decision(memory, "Use Postgres.", SESSION)
    assert memory.refs(SESSION) == {"refs/heads/main": second.citation}
    assert memory.checkout("Which database?", SESSION, ref="refs/heads/main").known_to_seq == 2
    memory.set_ref("refs/heads/main", first.citation)
    assert memory.refs(SESSION) == {"refs/heads/main": first.citation}
    decision(memory, "Use DuckDB.", SESSION)
    assert memory.resolve_ref("refs/heads/main", SESSION) == first
    assert memory.checkout("Which database?", SESSION, ref="main").known_to_seq == 1


def test_a_tool_sets_a_ref_as_the_command_does(server: Application, memory: Memory, zaxy: Zaxy) -> None:
    first, second = decision(memory, "Use SQLite.", SESSION), decision(memory, "Use Postgres.", SESSION)
    set_ = answered(server, "memory_ref", name="main", citation=first.citation, session_id=SESSION)
    assert (set_["name"], set_["target"]) == ("refs/heads/main", first.citation[: -64 + 12])
    assert memory.resolve_ref("main", SESSION) == first
    assert answered(server, "memory_ref", name="refs/tags/v1", session_id=SESSION)["seq"] == 4
    assert memory.refs(SESSION)["refs/tags/v1"].startswith(f"eventloom://{SESSION}/events/3#")
    assert zaxy("refs", "update", "main", second.citation, "--session-id", SESSION).returncode == 0
    assert memory.resolve_ref("main", SESSION) == second
    assert answered(server, "memory_ref", name="a b", session_id=SESSION)["error"]["code"] == "invalid_request"


# Sessions that are not there, and calls


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("memory_query", ("query",)),
        ("memory_verbatim", ("verbatim",)),
        ("memory_checkout", ("checkout",)),
        ("memory_replay", ("replay",)),
    ],
)
def test_tools_and_commands_agree_on_a_session_that_is_not_there(
    server: Application, memory: Memory, zaxy: Zaxy, tool: str, words: tuple[str, ...]
) -> None:
    decision(memory, "Use SQLite.", SESSION)
    query = () if tool == "memory_replay" else ("sqlite",)
    command = zaxy(*words, *query, "--session-id", "nobody")
    refused = answered(server, tool, session_id="nobody", **({"query": query[0]} if query else {}))["error"]
    assert (refused["code"], command.returncode) == ("not_found", 1)
    assert refused["message"] == "there is no session nobody (there are: work)"
    assert refused["message"] in command.stderr
    assert memory.sessions() == [SESSION]


def test_the_workspaces_own_session_may_be_asked_before_it_begins(server: Application) -> None:
    assert answered(server, "memory_query", query="sqlite")["results"] == []
    named = answered(server, "memory_checkout", query="sqlite", session_id="here-default")
    assert named["quality"]["answerability"] == "ask_user"


def test_a_tool_that_is_called_by_its_dotted_name_is_on_record_as_it_is_listed(tmp_path: Path) -> None:
    server = Application(find_workspace(str(made_folder(tmp_path / "here"))))
    answered(server, "memory.append", event_type="note.taken", actor="ada", payload={"text": "x"})
    answered(server, "memory.nothing")
    server.close(30.0)
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        calls = [event.payload or {} for event in memory.replay(include_housekeeping=True)]
    names = [call["tool_name"] for call in calls if "tool_name" in call]
    assert names == ["memory_append", "memory.nothing"]


# Subagents


def test_a_subagents_damaged_log_still_gives_a_hand_over_that_says_so(memory: Memory, server: Application) -> None:
    for text in ("one", "two", "three"):
        decision(memory, text, "helper")
    log = Path(memory.workspace.eventloom, "helper.jsonl")
    log.write_bytes(log.read_bytes().replace(b'"two"', b'"too"'))
    sessions = {"parent_session_id": SESSION, "subagent_session_id": "helper"}
    reply = answered(server, "subagent_cleanup", **sessions, summary="I did it.")
    assert reply["integrity"]["status"] == "damaged"
    assert reply["integrity"]["damage"]["seq"] == 2
    assert (reply["events"], reply["summary"], "cleaned" in reply) == (1, "I did it.", False)
    completed = memory.resolve(reply["completed"])
    assert completed.session == SESSION
    assert completed.payload == {**sessions, "summary": "I did it.", "integrity": "damaged"}
    again = answered(server, "subagent_cleanup", **sessions, summary="I did it.")
    assert again["integrity"]["status"] == "damaged", "it is marked by now"
