"""What is private reaches no file of memory: by hooks, capture, commands and tools of agents."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from captured import install_adapter, write_seen
from project import Project
from served import Server
from zaxy.errors import InvalidRequest
from zaxy.memory import Memory
from zaxy.observe.capture import Capture, Captured
from zaxy.observe.recording import HOOKS, choose_recorder
from zaxy.security.private_text import MARK
from zaxy.workspace import find_workspace

HIDDEN = "hidden7words"
ALL = f"<private>{HIDDEN}</private>"
SOME = f"before {ALL} behind"
LEFT = f"before {MARK} behind"
_numbers = count()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root, home = tmp_path / "project", tmp_path / "home"
    root.mkdir()
    home.mkdir()
    return Project(root, home)


def hook(project: Project, trigger: str, said: dict[str, Any], *words: str) -> None:
    done = project.run("hook-event", trigger, "--source", "claude-code", "--stdin-json", *words, stdin=json.dumps(said))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def prove_hidden(folder: Path) -> None:
    """Nothing of it is in any file, as it was written or as JSON writes it."""
    for path in folder.rglob("*"):
        assert not path.is_file() or HIDDEN.encode() not in path.read_bytes(), path


def events(project: Project) -> list[tuple[str, dict[str, Any]]]:
    return [(event["type"], event["payload"]) for event in project.events()]


# Hooks


def test_a_prompt_is_recorded_without_what_is_private_in_it(project: Project) -> None:
    choose_recorder(str(project.eventloom), "claude-code", HOOKS)
    hook(project, "user-prompt-submit", {"prompt": SOME})
    ((_, moment), (kind, turn)) = events(project)
    assert (kind, turn["content"], moment["reminder_class"]) == ("transcript.turn", LEFT, "none")
    prove_hidden(project.root)


@pytest.mark.parametrize("prompt", [ALL, f" <PRIVATE>\n{HIDDEN}", f"{ALL}\n{ALL}"])
def test_of_a_prompt_that_is_all_private_only_the_moment_is_recorded(project: Project, prompt: str) -> None:
    choose_recorder(str(project.eventloom), "claude-code", HOOKS)
    hook(project, "user-prompt-submit", {"prompt": prompt})
    assert [kind for kind, _ in events(project)] == ["hook.user_prompt_submitted"]
    prove_hidden(project.root)
    assert not (project.eventloom / "runtime").exists()


def test_what_a_prompt_asks_is_judged_without_what_is_private(project: Project) -> None:
    hook(project, "user-prompt-submit", {"prompt": "<private>what is left to do?</private> Hello."})
    hook(project, "user-prompt-submit", {"prompt": "<private>Hello.</private> what is left to do?"})
    classes = [payload["reminder_class"] for kind, payload in events(project) if kind.startswith("hook.")]
    assert classes == ["none", "status_question"]


@pytest.mark.parametrize("strict", [(), ("--strict",)])
def test_of_an_answer_that_is_all_private_nothing_is_recorded(project: Project, strict: tuple[str, ...]) -> None:
    hook(project, "transcript-turn", {"last_assistant_message": ALL}, "--role", "assistant", *strict)
    hook(project, "transcript-turn", {}, "--role", "assistant", "--content", ALL, *strict)
    assert not list(project.eventloom.glob("*")) or events(project) == []
    prove_hidden(project.root)


def test_nothing_private_is_left_of_commands_outputs_names_and_paths(project: Project) -> None:
    long = "x" * 30_000
    said = {
        "tool_name": "Bash",
        "tool_input": {"command": f"echo '{SOME}'"},
        "tool_response": {"stdout": f"{long}<private>{long}{HIDDEN}", "stderr": f"{HIDDEN}</private>{long}"},
    }
    hook(project, "command", said)
    hook(project, "tool-call", {"tool_name": f"t{ALL}", "tool_input": {SOME: 1}, "tool_response": {ALL: 1}})
    hook(project, "file-edit", {"tool_name": "Edit", "tool_input": {"file_path": f"/a/{ALL}.txt"}})
    hook(project, "stop", {"summary": SOME}, "--summary", SOME, "--reason", SOME)
    found = events(project)
    assert [kind for kind, _ in found][:3] == ["command.completed", "tool.call.completed", "file.edit.applied"]
    assert found[0][1]["command"] == f"echo '{LEFT}'"
    assert found[1][1]["argument_keys"] == [LEFT]
    prove_hidden(project.root)


def test_the_log_of_failed_hooks_does_not_keep_it(project: Project) -> None:
    done = project.run("hook-event", "command", "--command", "x", "--session-id", f"a {ALL}")
    assert done.returncode == 0
    assert (project.eventloom / "runtime/hook-errors.log").exists()
    prove_hidden(project.root)


# Capture


def captured(work: Path) -> Captured:
    capture = Capture(find_workspace(str(work)))
    try:
        return capture.run()
    finally:
        capture.close()


def test_capture_records_turns_without_it_and_none_that_is_all_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "no client has written here"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    install_adapter(tmp_path / "site", f"private{next(_numbers)}")
    work = tmp_path / "work"
    work.mkdir()
    ran = {"type": "command.completed", "payload": {"command": "make", "stdout": SOME}}
    write_seen(work, SOME, ALL, f"<private>{HIDDEN}", "plain", ran)
    found = captured(work)
    assert found.new == {"transcript.turn": 2, "command.completed": 1}
    assert found.left_out == {"private": 2}
    assert captured(work).new == {}
    prove_hidden(work / ".eventloom")


# What people and agents record


def test_a_typed_event_is_recorded_without_it(project: Project) -> None:
    assert project.run("append", "note.taken", "--payload", json.dumps({"text": SOME})).returncode == 0
    assert events(project) == [("note.taken", {"text": LEFT})]
    prove_hidden(project.root)


def test_agents_record_without_it_too(project: Project) -> None:
    event = {"event_type": "note.taken", "actor": "assistant", "payload": {"text": SOME, "rows": [ALL]}}
    with Server(project.root) as server:
        assert server.call("memory_append", **event)["seq"] == 1
        server.call("memory_ingest", events=[event])
        turn = server.call("context_after_turn", role="user", content=SOME)
        assert turn["event"]
        refused = server.call("context_after_turn", role="user", content=ALL)["error"]
        assert refused["code"] == "invalid_request"
        assert "private" in refused["message"]
        server.close()
    turns = [payload["content"] for kind, payload in events(project) if kind == "transcript.turn"]
    assert turns == [LEFT]
    prove_hidden(project.root)


def test_a_followers_files_hold_nothing_of_it(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.append("note.taken", {"text": SOME})
        assert memory.query("before behind").results
        with pytest.raises(InvalidRequest, match="private"):
            memory.after_turn("user", ALL)
    prove_hidden(tmp_path)
