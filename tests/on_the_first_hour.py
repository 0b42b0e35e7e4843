"""The first hour of a person who sits at a terminal: from `git init` to an answer from an earlier session.

The client is the real program with a scripted model. Not among the tests of every change: `.ci/run-real clients`
downloads the programs, once, and runs it.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import npm_programs
from scripted_model import Script, ScriptedModel, scripted_model
from tmux_terminal import Terminal
from zaxy.eventloom.loom import Eventloom

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux (apt-get install tmux)")

STATEMENT = "The demo for the board is on the 14th of May."
QUESTION = "Tell me when the demo is."
ANSWER = "It is written down."
ASK = 'zaxy ask "When is the demo for the board?"'
KEY = "sk-none-000000000000000000000000"
DIALOG = "Esc to close"
SECONDS = 60


@dataclass(frozen=True)
class Desk:
    """A user who has one client and an empty folder. Programs stand on the path by their names."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "shop"

    def program(self, name: str, *words: str) -> None:
        path = self.root / "bin" / name
        path.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
        path.chmod(0o755)

    def end_programs(self) -> None:
        """End what its programs left running: Codex leaves a server of its own behind."""
        ours = f"HOME={self.home}".encode()
        for process in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if ours in process.read_bytes().split(b"\0"):
                    os.kill(int(process.parent.name), signal.SIGTERM)

    def said(self, folder: Path) -> list[tuple[str, str]]:
        """Who said what, by the log."""
        (log,) = (folder / ".eventloom").glob("*.jsonl")
        records: list[Any] = [line.record for line in Eventloom(str(log.parent)).read(log.stem)]
        turns = [record["payload"] for record in records if record["type"] == "transcript.turn"]
        return [(turn["role"], turn["content"]) for turn in turns]


@dataclass(frozen=True)
class Client:
    name: str
    prepare: Callable[[Desk, ScriptedModel], None]
    """The user's own settings, as somebody has them who has used the client before."""
    begin: Callable[[Terminal], None]
    """From its start in a folder that it does not know to the first prompt."""
    program: str
    connected: str
    """What it shows of a server that is connected, when it is asked for `/mcp`."""
    leave: str
    prompt: str


def claude_code(desk: Desk, model: ScriptedModel) -> None:
    node, modules = npm_programs.node().node, npm_programs.installed("clients")
    desk.program("claude", node, str(modules / "@anthropic-ai/claude-code/cli-wrapper.cjs"))
    desk.environ.update({"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": KEY, "ENABLE_TOOL_SEARCH": "false"})
    desk.environ.update({"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"})
    approved = {"approved": [KEY[-20:]], "rejected": []}
    known = {"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": approved}
    (desk.home / ".claude.json").write_text(json.dumps(known), encoding="utf-8")


def trust_for_claude_code(terminal: Terminal) -> None:
    terminal.choose("Yes, I trust this folder")
    terminal.choose("Use this MCP server")


def codex(desk: Desk, model: ScriptedModel) -> None:
    node, modules = npm_programs.node().node, npm_programs.installed("clients")
    desk.program("codex", node, str(modules / "@openai/codex/bin/codex.js"))
    rows = ['model = "gpt-6-sol"', 'model_provider = "scripted"', "[model_providers.scripted]", 'name = "scripted"']
    rows += ['wire_api = "responses"', f'base_url = "{model.url}/v1"']
    config = desk.home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text("\n".join(rows) + "\n", encoding="utf-8")


def trust_for_codex(terminal: Terminal) -> None:
    terminal.choose("Trust and continue")
    terminal.choose("Trust all and continue")


CLIENTS = (
    Client("claude-code", claude_code, trust_for_claude_code, "claude", "✔ zaxy", "/exit", "auto mode on"),
    Client("codex", codex, trust_for_codex, "codex", "zaxy: connected", "/quit", "OpenAI Codex"),
)


@pytest.fixture
def desk() -> Iterator[Desk]:
    with tempfile.TemporaryDirectory(prefix="zaxy-", ignore_cleanup_errors=True) as root:
        desk = Desk(Path(root).resolve())
        for folder in ("home", "shop", "bin"):
            (desk.root / folder).mkdir()
        desk.program("zaxy", sys.executable, "-m", "zaxy")
        places = {"HOME": str(desk.home), "XDG_STATE_HOME": str(desk.home / "state")}
        shown = {"TERM": "xterm-256color", "LANG": "C.UTF-8", "PS1": "$ "}
        desk.environ.update({"PATH": f"{desk.root / 'bin'}:{os.environ['PATH']}", **places, **shown})
        yield desk
        desk.end_programs()


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_what_a_user_said_in_the_first_session_is_in_the_second_prompt_and_answered_with_a_citation(
    client: Client, desk: Desk
) -> None:
    with scripted_model(Script((), ANSWER)) as model:
        client.prepare(desk, model)
        with Terminal(desk.project, desk.environ, desk.root / "tmux") as terminal:
            set_up(terminal, client)
            talk(terminal, client, STATEMENT, first=True)
            wait_until_said(desk, [("user", STATEMENT), ("assistant", ANSWER)])
            talk(terminal, client, QUESTION)
            in_order = [("user", STATEMENT), ("assistant", ANSWER), ("user", QUESTION), ("assistant", ANSWER)]
            wait_until_said(desk, in_order)

            answered = terminal.command(ASK)
            assert "on the 14th of May" in answered
            citation = next(word for word in answered.split() if word.startswith("eventloom://"))
            assert STATEMENT in terminal.command(f"zaxy show {citation}")

            terminal.command("cd .. && mv shop store && cd store")
            renamed = terminal.command(ASK)
            assert citation in renamed
            assert STATEMENT in renamed
    asked = [json.dumps(body) for _, body in model.asked if QUESTION in json.dumps(body)]
    assert any(STATEMENT in one for one in asked), "the first prompt of the second session says where the work stands"


def set_up(terminal: Terminal, client: Client) -> None:
    terminal.command("git init -q")
    terminal.say(f"clear; zaxy init --client {client.name}")
    terminal.wait_for("without paths of this machine? [y/N]")
    terminal.keys("Enter")
    terminal.wait_for("Write this? [Y/n]")
    terminal.keys("Enter")
    assert "the server answered after" in terminal.wait_for("Next")


def talk(terminal: Terminal, client: Client, words: str, *, first: bool = False) -> None:
    """One session, and then the shell again."""
    terminal.say(f"clear; {client.program}")
    if first:
        client.begin(terminal)
    terminal.wait_for(client.prompt)
    if first:
        terminal.say_until("/mcp", client.connected, DIALOG)
        terminal.close(DIALOG)
    terminal.say(words)
    terminal.wait_for(ANSWER)
    terminal.say(client.leave)
    terminal.command("true")


def wait_until_said(desk: Desk, turns: list[tuple[str, str]]) -> None:
    """All of it, in this order, each once."""
    until = time.monotonic() + SECONDS
    while (said := desk.said(desk.project)) != turns:
        assert time.monotonic() < until, f"on record is {said}"
        time.sleep(0.2)
