"""Whole sessions of the real programs, with a scripted model: what they did is on record, each thing once.

Not among the tests of every change: `.ci/run-real clients` downloads the programs, once, and runs it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import npm_programs
from scripted_model import TOOL_SEARCH, Call, Script, ScriptedModel, scripted_model
from zaxy.eventloom.loom import Eventloom

PROMPT, ANSWER = "Please greet the shop.", "The shop was greeted."
COMMAND, CONTENT = "echo shop-open; exit 3", "hello\nshop\n"
PATCH = "*** Begin Patch\n*** Add File: greeting.txt\n+hello\n+shop\n*** End Patch\n"
KEPT = ("PATH", "SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP", "LANG")
SECONDS = 180


@dataclass(frozen=True)
class Session:
    """A fresh project of a user who has nothing but one client."""

    folder: Path
    home: Path
    environ: dict[str, str] = field(default_factory=dict)

    def run(self, *words: str, of_stderr: bool = False) -> str:
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
        )
        assert done.returncode == 0, f"{words}: {done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stderr if of_stderr else done.stdout

    def zaxy(self, *words: str) -> str:
        return self.run(sys.executable, "-m", "zaxy", *words)

    def hooks(self, client: str) -> dict[str, Any]:
        rows = json.loads(self.zaxy("hook-status", "--json"))["clients"]
        return dict(next(row for row in rows if row["client"] == client))

    def records(self) -> list[Mapping[str, Any]]:
        """What was recorded, without where memory begins, reminders and what init tried."""
        (log,) = (self.folder / ".eventloom").glob("*.jsonl")
        records = [line.record for line in Eventloom(str(log.parent)).read(log.stem)]
        return [record for record in records if record["actor"] != "zaxy" or record["type"] == "tool.call.completed"]


GEMINI = "@google/gemini-cli/bundle/gemini.js"


@dataclass(frozen=True)
class Program:
    client: str
    script: Callable[[Path], tuple[Call, ...]]
    start: Callable[[Session, ScriptedModel], list[str]]
    """The command of one session without a terminal; it may write the user's own settings first."""
    init: tuple[str, ...] = ()
    exit_code: int | None = 3
    recorder: str = "zaxy-hook"
    lists: str = ""
    """What prints the servers and whether they answer, with `mcp list`; the others show that in a terminal alone."""


def node_program(path: str) -> list[str]:
    return [npm_programs.node().node, str(npm_programs.installed("clients") / path)]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def claude_code(session: Session, model: ScriptedModel) -> list[str]:
    session.environ.update({"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none"})
    session.environ.update({"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"})
    session.environ["ENABLE_TOOL_SEARCH"] = "false"
    allowed = ["--mcp-config", ".mcp.json", "--allowedTools", "Bash,Write,mcp__zaxy"]
    return [*node_program("@anthropic-ai/claude-code/cli-wrapper.cjs"), "-p", PROMPT, *allowed]


def gemini(session: Session, model: ScriptedModel) -> list[str]:
    session.environ.update({"GOOGLE_GEMINI_BASE_URL": model.url, "GEMINI_API_KEY": "none"})
    user = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}}
    write(session.home / ".gemini" / "settings.json", json.dumps(user))
    assert session.hooks("gemini")["message"].startswith("installed, in a folder that is not trusted")
    write(session.home / ".gemini" / "trustedFolders.json", json.dumps({str(session.folder): "TRUST_FOLDER"}))
    options = ["--approval-mode", "yolo", "-m", "gemini-2.5-flash"]
    return [*node_program(GEMINI), "-p", PROMPT, *options]


def wait_for_the_server(config: str) -> str:
    """A scripted model has said its last word before the server of the same project has begun."""
    return config.replace("[mcp_servers.zaxy]", "[mcp_servers.zaxy]\nrequired = true")


def codex(session: Session, model: ScriptedModel) -> list[str]:
    from zaxy_codex.client import Codex
    from zaxy_codex.trust import digest_of, key_of

    config, hooks = session.home / ".codex" / "config.toml", session.folder / ".codex" / "hooks.json"
    rows = ['model = "gpt-5.5"', 'model_provider = "scripted"', 'approval_policy = "never"']
    rows += ['sandbox_mode = "danger-full-access"', wait_for_the_server(config.read_text(encoding="utf-8"))]
    rows += ["[model_providers.scripted]", 'name = "scripted"', 'wire_api = "responses"']
    rows += [f'base_url = "{model.url}/v1"']
    rows += [f"[projects.{json.dumps(str(session.folder))}]", 'trust_level = "trusted"']
    for handler in Codex.hooks.find(hooks.read_text(encoding="utf-8")):
        rows += [f"[hooks.state.{json.dumps(key_of(handler, str(hooks)))}]"]
        rows += [f'trusted_hash = "{digest_of(handler, hooks)}"']
    write(config, "\n".join(rows))
    return [*node_program("@openai/codex/bin/codex.js"), "exec", "--skip-git-repo-check", PROMPT]


def script_of(shell: str, write: str, query: str, command: str = "command") -> Callable[[Path], tuple[Call, ...]]:
    def calls(project: Path) -> tuple[Call, ...]:
        edit = {"file_path": str(project / "greeting.txt"), "content": CONTENT}
        return (
            Call((shell,), {command: COMMAND, **({} if command == "cmd" else {"description": "Greet"})}),
            Call((write,), PATCH if write == "apply_patch" else edit),
            Call((query,), {"query": "shop"}),
        )

    return calls


def codex_script(project: Path) -> tuple[Call, ...]:
    run, edit, query = script_of("exec_command", "apply_patch", "mcp__zaxy.memory_query", "cmd")(project)
    return (run, edit, Call((TOOL_SEARCH,), {"query": "memory"}), query)


PROGRAMS = {
    "claude-code": Program("claude-code", script_of("Bash", "Write", "mcp__zaxy__memory_query"), claude_code),
    "gemini": Program(
        "gemini", script_of("run_shell_command", "write_file", "mcp_zaxy_memory_query"), gemini, lists=GEMINI
    ),
    # Its hooks are not given the exit code of a command.
    "codex-hooks": Program("codex", codex_script, codex, ("--recorder", "hooks"), None),
    "codex-capture": Program("codex", codex_script, codex, ("--recorder", "capture"), recorder="capture"),
}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    folder, home = tmp_path.resolve() / "shop", tmp_path.resolve() / "home"
    for made in (folder, home):
        made.mkdir()
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    places = {"HOME": str(home), "USERPROFILE": str(home), "XDG_STATE_HOME": str(home / "state"), "TERM": "dumb"}
    return Session(folder, home, {**kept, **places, "ZAXY_STATE_DIR": str(home / "state" / "zaxy")})


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_session_is_on_record_once(program: Program, session: Session) -> None:
    session.zaxy("init", "--client", program.client, "--yes", *program.init)
    with scripted_model(Script(program.script(session.folder), ANSWER)) as model:
        said = session.run(*program.start(session, model))
    assert ANSWER in said
    if program.lists:
        listed = session.run(*node_program(program.lists), "mcp", "list", of_stderr=True)
        assert re.search(r"zaxy: .* - Connected", listed), listed
    assert (session.folder / "greeting.txt").read_text(encoding="utf-8") == CONTENT
    status = session.hooks(program.client)
    assert status["status"] == "installed", status
    if program.recorder == "capture":
        session.zaxy("capture", "once", "--workspace", ".")
    assert not (session.folder / ".eventloom" / "runtime" / "hook-errors.log").exists()

    records = session.records()
    of_type = {kind: [each for each in records if each["type"] == kind] for kind in {each["type"] for each in records}}
    turns = [(each["payload"]["role"], each["payload"]["content"]) for each in of_type["transcript.turn"]]
    (command,), (edit,) = of_type["command.completed"], of_type["file.edit.applied"]
    (call,), (begun,), (ended,) = (
        of_type[kind] for kind in ("tool.call.completed", "hook.session_started", "hook.stop")
    )
    assert sorted(turns) == [("assistant", ANSWER), ("user", PROMPT)]
    assert command["payload"]["command"].endswith(COMMAND)
    assert "shop-open" in f"{command['payload'].get('stdout')} {command['payload'].get('stderr')}"
    assert command["payload"].get("exit_code") == program.exit_code
    assert Path(edit["payload"]["path"]).name == "greeting.txt"
    assert (call["actor"], call["payload"]["tool_name"]) == ("zaxy", "memory_query")
    assert (begun["payload"]["reason"], ended["payload"]["reason"]) == ("startup", "shutdown")
    assert of_type.keys() - {"hook.user_prompt_submitted"} == {
        *("transcript.turn", "command.completed", "file.edit.applied", "tool.call.completed"),
        *("hook.session_started", "hook.stop"),
    }
