"""Of a client's hooks and capture one records what it does, and a prompt's words are on record once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from project import Project
from zaxy.errors import Unavailable
from zaxy.observe.recording import (
    CAPTURE,
    HOOKS,
    choose_recorder,
    pause,
    read_recording,
    resume,
)

WORDS = "Please never deploy on a Friday again"
PROMPT = {"session_id": "5f0c", "hook_event_name": "UserPromptSubmit", "prompt": WORDS, "cwd": "/x"}
RAN = {
    "session_id": "5f0c",
    "hook_event_name": "PostToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "make test"},
    "tool_response": {"stdout": "ok"},
}
OBSERVED = ["command.completed", "transcript.turn"]
LATER = "9999-01-01T00:00:00.000000Z"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root, home = tmp_path / "project", tmp_path / "home"
    root.mkdir()
    home.mkdir()
    return Project(root, home)


def hook(project: Project, trigger: str, said: Mapping[str, Any], *, source: str = "claude-code") -> None:
    done = project.run("hook-event", trigger, "--source", source, "--stdin-json", stdin=json.dumps(said))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def kinds(project: Project) -> list[str]:
    return [event["type"] for event in project.events()]


def observed(project: Project) -> list[str]:
    return sorted(kind for kind in kinds(project) if kind in OBSERVED)


def turns(project: Project) -> list[tuple[str, str]]:
    found = [event["payload"] for event in project.events() if event["type"] == "transcript.turn"]
    return [(payload["role"], payload["content"]) for payload in found]


def chosen(project: Project, recorder: str, client: str = "claude-code") -> None:
    assert choose_recorder(str(project.eventloom), client, recorder)


# Hooks


def test_where_hooks_record_a_prompts_words_are_one_turn_of_the_user(project: Project) -> None:
    chosen(project, HOOKS)
    hook(project, "user-prompt-submit", PROMPT)
    assert turns(project) == [("user", WORDS)]
    assert kinds(project).count("hook.user_prompt_submitted") == 1


def test_secrets_are_taken_out_of_a_prompt(project: Project) -> None:
    chosen(project, HOOKS)
    secret = "ghp_" + "a1B2" * 9
    hook(project, "user-prompt-submit", {**PROMPT, "prompt": f"use {secret} to push"})
    assert turns(project)[0][1].startswith("use ")
    assert secret not in (project.eventloom / next(project.eventloom.glob("*.jsonl"))).read_text()


def test_where_nobody_was_chosen_a_prompts_words_are_not_kept(project: Project) -> None:
    hook(project, "user-prompt-submit", PROMPT)
    hook(project, "command", RAN)
    assert observed(project) == ["command.completed"]
    assert WORDS not in json.dumps(project.events())


def test_where_capture_records_hooks_record_moments_only(project: Project) -> None:
    chosen(project, CAPTURE)
    hook(project, "user-prompt-submit", PROMPT)
    hook(project, "command", RAN)
    hook(project, "transcript-turn", {"last_assistant_message": "Done."})
    hook(project, "stop", {})
    assert [kind for kind in kinds(project) if kind.startswith("hook.")] == ["hook.user_prompt_submitted", "hook.stop"]
    assert observed(project) == []


def test_the_choice_for_one_client_says_nothing_of_another(project: Project) -> None:
    chosen(project, CAPTURE, "codex")
    chosen(project, HOOKS)
    hook(project, "command", RAN)
    hook(project, "command", RAN, source="codex")
    assert [event["payload"]["source"] for event in project.events()] == ["claude-code"]


def test_what_a_subagent_does_goes_into_the_session_that_capture_would_give_it(project: Project) -> None:
    from zaxy.api.models import Source
    from zaxy.observe.subagent_sessions import session_of

    chosen(project, HOOKS)
    hook(project, "command", {**RAN, "agent_id": "a3f2c1b4"})
    source = Source("x", Path("x"), session="5f0c", agent="a3f2c1b4", parent="5f0c")
    expected = session_of(source, "project-default", "claude-code")
    assert [path.stem for path in project.eventloom.glob("*.jsonl")] == [expected]


# Capture

CLAUDE_LINE = {"sessionId": "5f0c", "version": "2.1", "userType": "external", "isSidechain": False}


def transcript(project: Project, *said: tuple[str, str]) -> None:
    """A session of Claude Code's in this project: what was said, and when."""
    cwd = str(project.root)
    folder = project.home / ".claude/projects" / "".join(c if c.isalnum() else "-" for c in cwd)
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        {
            **CLAUDE_LINE,
            "type": "user",
            "uuid": f"u{at}",
            "parentUuid": None,
            "cwd": cwd,
            "timestamp": time,
            "message": {"role": "user", "content": text},
        }
        for at, (time, text) in enumerate(said)
    ]
    (folder / "5f0c.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def capture(project: Project) -> dict[str, Any]:
    reply: dict[str, Any] = project.told("capture", "once")
    return reply


@pytest.mark.needs_package("claude-code")
def test_capture_leaves_out_what_hooks_have_recorded_and_takes_what_was_before_them(project: Project) -> None:
    chosen(project, HOOKS)
    hook(project, "user-prompt-submit", PROMPT)
    transcript(project, ("2026-01-01T10:00:00Z", "an old question"), (LATER, WORDS))
    reply = capture(project)
    assert (reply["new"], reply["left_out"]) == ({"transcript.turn": 1}, {"hooks": 1})
    assert turns(project) == [("user", WORDS), ("user", "an old question")]
    assert capture(project)["new"] == {}


@pytest.mark.needs_package("claude-code")
def test_after_capture_was_chosen_again_it_takes_what_came_since(project: Project) -> None:
    chosen(project, HOOKS)
    chosen(project, CAPTURE)
    transcript(project, (LATER, "a later question"))
    hook(project, "user-prompt-submit", PROMPT)
    assert capture(project)["new"] == {"transcript.turn": 1}
    assert turns(project) == [("user", "a later question")]


@pytest.mark.needs_package("claude-code")
def test_what_was_said_in_a_pause_is_never_captured(project: Project) -> None:
    pause(str(project.eventloom))
    transcript(project, ("2026-01-01T10:00:00Z", "before the pause"), (LATER, "within the pause"))
    hook(project, "stop", {})
    assert capture(project)["left_out"] == {"paused": 1}
    assert turns(project) == [("user", "before the pause")]
    resume(str(project.eventloom))
    hook(project, "stop", {})
    assert kinds(project) == ["transcript.turn", "hook.stop"]


@pytest.mark.needs_package("claude-code")
def test_since_takes_only_what_is_not_older(project: Project) -> None:
    transcript(project, ("2026-01-01T10:00:00Z", "in January"), ("2026-03-01T10:00:00Z", "in March"))
    assert project.told("capture", "once", "--since", "2026-02-01")["new"] == {"transcript.turn": 1}
    assert turns(project) == [("user", "in March")]
    assert project.told("capture", "once", "--since", "yesterday")["new"] == {}
    assert capture(project)["new"] == {"transcript.turn": 1}, "the older ones can still be had"
    assert sorted(turns(project)) == [("user", "in January"), ("user", "in March")]


@pytest.mark.needs_package("claude-code", "codex")
def test_capture_once_takes_the_clients_that_are_named(project: Project) -> None:
    transcript(project, ("2026-01-01T10:00:00Z", "in January"))
    assert project.told("capture", "once", "--client", "codex")["new"] == {}
    assert project.told("capture", "once", "--client", "claude-code")["new"] == {"transcript.turn": 1}
    refused = project.run("capture", "once", "--client", "nobody")
    assert refused.returncode == 1
    assert "nobody" in refused.stderr


# Setting up


@pytest.mark.needs_package("claude-code")
def test_after_init_the_hooks_as_they_stand_in_the_file_keep_what_the_user_says(project: Project) -> None:
    project.told("init", "--client", "claude-code", "--yes")
    settings = json.loads((project.root / ".claude/settings.local.json").read_text())
    (group,) = settings["hooks"]["UserPromptSubmit"]
    (handler,) = [one for one in group["hooks"] if "hook-event" in one["args"]]
    done = project.run_program(handler["command"], *handler["args"], stdin=json.dumps(PROMPT))
    assert (done.returncode, done.stdout) == (0, "")
    assert turns(project) == [("user", WORDS)]


@pytest.mark.needs_package("claude-code")
def test_taking_the_hooks_out_leaves_the_client_to_capture(project: Project) -> None:
    project.told("init", "--client", "claude-code", "--yes")
    assert project.told("init", "--undo")["ok"]
    assert read_recording(str(project.eventloom)).recorder_now("claude-code") == CAPTURE


@pytest.mark.needs_package("claude-code")
def test_init_says_which_earlier_sessions_can_be_taken_in(project: Project) -> None:
    transcript(project, ("2026-01-01T10:00:00Z", "in January"))
    steps = project.told("init", "--client", "claude-code", "--yes")["next"]
    assert any("zaxy capture once" in step for step in steps)
    capture(project)
    assert turns(project) == [("user", "in January")]


def test_a_recorder_that_a_client_cannot_have_is_refused_with_those_that_it_can(project: Project) -> None:
    refused = project.run("hooks", "cursor", "--output", ".cursor/hooks.json", "--recorder", "capture")
    assert refused.returncode == 2
    assert "no package that reads its sessions" in refused.stderr
    assert "Choose hooks" in refused.stderr
    assert not (project.root / ".cursor").exists()


# The file


CHOOSES = """
import sys
from zaxy.observe.recording import RECORDERS, choose_recorder
for turn in range(10):
    choose_recorder(sys.argv[1], sys.argv[2], RECORDERS[turn % 2])
"""


def test_of_many_that_choose_at_once_none_undoes_the_choice_of_another(tmp_path: Path) -> None:
    folder, clients = str(tmp_path / ".eventloom"), [f"client{number}" for number in range(4)]
    processes = [subprocess.Popen([sys.executable, "-c", CHOOSES, folder, client]) for client in clients]
    assert [process.wait() for process in processes] == [0] * len(clients)
    assert {client: len(rows) for client, rows in read_recording(folder).choices.items()} == dict.fromkeys(clients, 10)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2}', '{"format": 1, "recorders": 3, "paused": []}'])
def test_a_file_that_cannot_be_used_is_an_error_that_names_it_and_records_nothing(project: Project, text: str) -> None:
    project.eventloom.mkdir()
    (project.eventloom / "recording.json").write_text(text)
    with pytest.raises(Unavailable, match=r"recording\.json cannot be used"):
        read_recording(str(project.eventloom))
    hook(project, "stop", {})
    assert "recording.json" in (project.eventloom / "runtime/hook-errors.log").read_text()


def test_a_pause_in_a_pause_is_one_and_ends_once(tmp_path: Path) -> None:
    folder = str(tmp_path / ".eventloom")
    assert resume(folder) is None
    began = pause(folder)
    assert pause(folder) == began
    ended = resume(folder)
    assert ended is not None
    assert ended.since == began
    recording = read_recording(folder)
    assert recording.was_paused(began)
    assert not recording.was_paused(ended.until)
    assert not recording.paused_since
