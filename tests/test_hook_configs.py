"""`zaxy hooks`: what it writes for each client really runs, and nothing else in a client's file is touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from installed import install_plugin
from zaxy.__main__ import main
from zaxy.api import HookCommand, HookHandler, JsonHooks
from zaxy.api.client_hooks import MOMENTS
from zaxy.api.edit import json as json_text
from zaxy.clients.cursor import CursorClient
from zaxy.clients.gemini import Gemini
from zaxy.clients.hook_files import renew_hooks
from zaxy.clients.installed import InstalledClient
from zaxy.errors import ZaxyError
from zaxy.eventloom.loom import Eventloom
from zaxy.workspace import find_workspace
from zaxy_claude_code.client import ClaudeCode
from zaxy_codex.client import Codex

CLAUDE_CODE, CODEX, CURSOR, GEMINI = ClaudeCode.hooks, Codex.hooks, CursorClient.hooks, Gemini.hooks
CLIENTS = {"claude-code": CLAUDE_CODE, "codex": CODEX, "cursor": CURSOR, "gemini": GEMINI}
NAME_OF = {id(hooks): name for name, hooks in CLIENTS.items()}
COMMAND = HookCommand(("/opt/zaxy/bin/zaxy",), "claude-code", "/home/u/p/.eventloom")
each_client = pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
posix = pytest.mark.skipif(os.name != "posix", reason="it runs commands as a POSIX client does")

# What each client writes on a hook's standard input, by event and, for tools, by the tool's name.

BASE = {"session_id": "abc", "transcript_path": "/t.jsonl", "cwd": "/elsewhere", "permission_mode": "default"}
CODEX_BASE = {**BASE, "model": "gpt-5", "turn_id": "t1"}
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n+z\n*** Add File: b.py\n+new\n*** End Patch\n"
TOLD: dict[str, dict[tuple[str, str], dict[str, Any]]] = {
    "claude-code": {
        ("SessionStart", ""): {**BASE, "source": "startup"},
        ("UserPromptSubmit", ""): {**BASE, "prompt": "where are we?"},
        ("PostToolUse", "Bash"): {
            **BASE,
            "tool_input": {"command": "ls"},
            "tool_response": {"stdout": "a", "stderr": ""},
        },
        ("PostToolUse", "Edit"): {**BASE, "tool_input": {"file_path": "a.py", "old_string": "x", "new_string": "y"}},
        ("PostToolUse", "WebFetch"): {**BASE, "tool_input": {"url": "https://x"}, "tool_response": "text"},
        ("PostToolUseFailure", "Bash"): {**BASE, "tool_input": {"command": "false"}, "error": "Exit code 1\nno"},
        ("PostToolUseFailure", "WebFetch"): {**BASE, "tool_input": {"url": "https://x"}, "error": "no such host"},
        ("PreCompact", ""): {**BASE, "trigger": "auto", "custom_instructions": ""},
        ("Stop", ""): {**BASE, "stop_hook_active": False, "last_assistant_message": "All done."},
        ("SessionEnd", ""): {**BASE, "reason": "logout"},
    },
    "codex": {
        ("SessionStart", ""): {**CODEX_BASE, "source": "startup"},
        ("UserPromptSubmit", ""): {**CODEX_BASE, "prompt": "continue"},
        ("PostToolUse", "Bash"): {
            **CODEX_BASE,
            "tool_input": {"command": "ls"},
            "tool_response": "a",
            "tool_use_id": "1",
        },
        ("PostToolUse", "apply_patch"): {**CODEX_BASE, "tool_input": {"command": PATCH}, "tool_response": "Success"},
        ("PostToolUse", "mcp__github__search"): {**CODEX_BASE, "tool_input": {"q": "x"}, "tool_response": {}},
        ("PreCompact", ""): {**CODEX_BASE, "trigger": "manual"},
        ("Stop", ""): {**CODEX_BASE, "stop_hook_active": False, "last_assistant_message": "All done."},
        ("SessionEnd", ""): {**CODEX_BASE, "reason": "exit"},
    },
    "cursor": {
        ("sessionStart", ""): {"conversation_id": "c", "workspace_roots": ["/p"]},
        ("beforeSubmitPrompt", ""): {"conversation_id": "c", "prompt": "status", "attachments": []},
        ("afterShellExecution", ""): {"command": "ls", "output": "a", "duration": 12.5},
        ("afterFileEdit", ""): {"file_path": "/p/a.py", "edits": [{"old_string": "x", "new_string": "y"}]},
        ("afterMCPExecution", ""): {"tool_name": "search", "tool_input": '{"q":"x"}', "result_json": "{}"},
        ("preCompact", ""): {"trigger": "auto"},
        ("afterAgentResponse", ""): {"text": "All done."},
        ("sessionEnd", ""): {"reason": "completed"},
    },
    "gemini": {
        ("SessionStart", ""): {**BASE, "source": "startup"},
        ("BeforeAgent", ""): {**BASE, "prompt": "go on"},
        ("AfterTool", "run_shell_command"): {
            **BASE,
            "tool_input": {"command": "ls"},
            "tool_response": {"llmContent": "a"},
        },
        ("AfterTool", "write_file"): {
            **BASE,
            "tool_input": {"file_path": "/p/a.py", "content": "x"},
            "tool_response": {},
        },
        ("AfterTool", "google_web_search"): {**BASE, "tool_input": {"query": "x"}, "tool_response": {}},
        ("PreCompress", "manual"): {**BASE, "trigger": "manual"},
        ("AfterAgent", ""): {**BASE, "prompt": "hi", "prompt_response": "All done.", "stop_hook_active": False},
        ("SessionEnd", ""): {**BASE, "reason": "exit"},
    },
}


def name_of(client: JsonHooks) -> str:
    return NAME_OF[id(client)]


def with_hooks(text: str, client: JsonHooks, command: HookCommand, force: bool = False, moments: bool = False) -> str:
    return client.install(text, command, force, moments)


def without_hooks(text: str, client: JsonHooks) -> str:
    return client.remove(text)


def handlers(text: str, client: JsonHooks) -> Sequence[HookHandler]:
    return client.find(text)


class Handler:
    """A handler as a client reads it from its own file."""

    def __init__(self, event: str, matcher: str, handler: dict[str, Any]) -> None:
        self.event, self.matcher, self.handler = event, matcher, handler

    def run(self, told: dict[str, Any], cwd: Path) -> tuple[int, bytes, bytes]:
        """As the client runs it: word by word if it has words, through a shell if it is a line."""
        line = self.handler["command"]
        words = [line, *self.handler["args"]] if "args" in self.handler else ["/bin/sh", "-c", line]
        environ = {"PATH": "/usr/bin:/bin", "HOME": str(cwd)}
        done = subprocess.run(
            words, input=json.dumps(told).encode(), cwd=cwd, env=environ, capture_output=True, timeout=60
        )
        return done.returncode, done.stdout, done.stderr


def read_as_client(text: str, client: JsonHooks) -> list[Handler]:
    """Plain JSON, in the shape that the client's own documentation gives."""
    config = json.loads(text)
    found = []
    for event, entries in config["hooks"].items():
        for entry in entries:
            if not client.grouped:
                found.append(Handler(event, entry.get("matcher", ""), entry))
                continue
            for handler in entry["hooks"]:
                assert handler["type"] == "command"
                found.append(Handler(event, entry.get("matcher", ""), handler))
    return found


def matches(client: JsonHooks, matcher: str, tool: str) -> bool:
    """As the clients do it: plain names are compared, anything else is searched for as a pattern."""
    import re

    if not matcher or not tool:
        return not matcher
    if re.fullmatch(r"[A-Za-z0-9_|]+", matcher):
        return tool in matcher.split("|")
    return re.search(matcher, tool) is not None


def zaxy(*words: str) -> int:
    return main(["hooks", *words])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose name would do harm in a careless shell."""
    folder = tmp_path / 'it\'s $(touch harm); a "project"'
    folder.mkdir()
    monkeypatch.chdir(folder)
    for variable in ("EVENTLOOM_PATH", "EVENTLOOM_THREAD", "ZAXY_DOMAIN"):
        monkeypatch.delenv(variable, raising=False)
    return folder


STARTS = ("SessionStart", "sessionStart")


def records(project: Path) -> list[dict[str, Any]]:
    loom = Eventloom(str(project / ".eventloom"))
    return [line.record for session in loom.sessions() for line in loom.read(session)]


@posix
@each_client
def test_every_hook_runs_as_the_client_runs_it_and_records_silently(client: JsonHooks, project: Path) -> None:
    path = project / client.files[0]
    assert zaxy(name_of(client), "--output", str(path)) == 0
    below = project / "src"
    below.mkdir()
    configured = read_as_client(path.read_text(), client)
    ran = []
    for (event, tool), told in TOLD[name_of(client)].items():
        meant = [each for each in configured if each.event == event and matches(client, each.matcher, tool)]
        assert meant, f"no hook for {event} {tool}"
        for each in meant:
            ran.append(each)
            full = {**told, "hook_event_name": event, **({"tool_name": tool} if tool else {})}
            code, out, err = each.run(full, below)
            assert (code, err) == (0, b"")
            assert out == b"" or (event in STARTS and b"Zaxy's memory of this project" in out)
    assert len({id(each) for each in ran}) == len(configured), "a hook that no event runs"
    errors = project / ".eventloom" / "runtime" / "hook-errors.log"
    assert not errors.exists(), errors.read_text()
    recorded = [record for record in records(project) if record["actor"] == "zaxy-hook"]
    assert {record["payload"]["source"] for record in recorded} == {name_of(client)}
    expected = {
        *("hook.session_started", "hook.user_prompt_submitted", "hook.precompact", "hook.stop"),
        *("command.completed", "file.edit.applied", "tool.call.completed", "transcript.turn"),
    }
    assert {record["type"] for record in recorded} == expected
    said = [record["payload"] for record in recorded if record["type"] == "transcript.turn"]
    assert [each["role"] for each in said] == ["user", "assistant"]
    assert said[-1]["content"] == "All done."
    assert not list(project.rglob("harm")), "a shell has read the path"


def test_geminis_question_whether_to_compress_is_no_boundary() -> None:
    hooks = [h for h in read_as_client(with_hooks("", GEMINI, COMMAND), GEMINI) if h.event == "PreCompress"]
    assert [matches(GEMINI, h.matcher, trigger) for h in hooks for trigger in ("manual", "auto")] == [True, False]


@posix
def test_a_patch_of_codex_is_one_edit_for_each_file(project: Path) -> None:
    assert zaxy("codex", "--output", ".codex/hooks.json") == 0
    edit = next(h for h in read_as_client(Path(".codex/hooks.json").read_text(), CODEX) if h.matcher == "apply_patch")
    told = {**CODEX_BASE, "tool_name": "apply_patch", "tool_input": {"command": PATCH}, "tool_response": "Success"}
    assert edit.run(told, project) == (0, b"", b"")
    edits = [record["payload"] for record in records(project) if record["type"] == "file.edit.applied"]
    shown = [(edit["path"], edit["operation"], edit["lines_added"], edit["lines_removed"]) for edit in edits]
    assert shown == [("a.py", "modified", 2, 1), ("b.py", "created", 1, 0)]


@posix
def test_a_failed_command_keeps_its_exit_code(project: Path) -> None:
    assert zaxy("claude-code", "--output", "s.json") == 0
    hook = next(
        h
        for h in read_as_client(Path("s.json").read_text(), CLAUDE_CODE)
        if (h.event, h.matcher) == ("PostToolUseFailure", "Bash")
    )
    hook.run({**BASE, "tool_name": "Bash", "tool_input": {"command": "false"}, "error": "Exit code 7\nno"}, project)
    payload = next(record["payload"] for record in records(project) if record["type"] == "command.completed")
    assert (payload["exit_code"], payload["stderr"]) == (7, "Exit code 7\nno")


@posix
@each_client
def test_a_session_that_is_resumed_is_recorded_as_such(client: JsonHooks, project: Path) -> None:
    assert zaxy(name_of(client), "--output", "hooks.json") == 0
    start = next(h for h in read_as_client(Path("hooks.json").read_text(), client) if h.event.lower() == "sessionstart")
    assert start.run({"source": "resume"}, project) == (0, b"", b"")
    assert next(record["type"] for record in records(project)) == "hook.resumed"


@posix
def test_a_turn_that_ended_without_a_word_is_no_error(project: Path) -> None:
    assert zaxy("codex", "--output", "hooks.json") == 0
    spoken = next(h for h in read_as_client(Path("hooks.json").read_text(), CODEX) if h.event == "Stop")
    assert spoken.run({**CODEX_BASE, "last_assistant_message": None}, project) == (0, b"", b"")
    assert [path.name for path in (project / ".eventloom").iterdir() if path.name[0] != "."] == ["recording.json"]


@posix
def test_the_generic_script_runs_from_anywhere_and_passes_its_options_on(project: Path, tmp_path: Path) -> None:
    assert zaxy("generic", "--output", "zaxy-hooks.sh", "--domain", "shop") == 0
    script = str(project / "zaxy-hooks.sh")
    calls = (
        ["session-start"],
        ["command", "--command", "ls; $HOME", "--exit-code", "2", "--source", "mine"],
        ["no-such-trigger"],
    )
    for call in calls:
        done = subprocess.run(["sh", script, *call], cwd=tmp_path, capture_output=True, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    started, _, command = records(project)
    assert (started["thread"], started["payload"]["source"]) == ("shop-default", "generic")
    assert (command["payload"]["command"], command["payload"]["source"]) == ("ls; $HOME", "mine")


@posix
def test_the_generic_script_exits_well_when_zaxy_is_gone(project: Path) -> None:
    assert zaxy("generic", "--output", "hooks.sh") == 0
    script = Path("hooks.sh")
    lines = script.read_text().splitlines()
    program = lines[-1].split()[1]
    script.write_text(script.read_text().replace(program, "/no/such/zaxy"))
    done = subprocess.run(["sh", "hooks.sh", "stop"], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@posix
@each_client
def test_a_session_begins_with_what_the_last_one_recorded_in_the_form_that_the_client_reads(
    client: JsonHooks, project: Path
) -> None:
    assert zaxy(name_of(client), "--output", "hooks.json") == 0
    assert main(["append", "goal.created", "--payload", '{"goal": "Ship the importer"}']) == 0
    hooks = read_as_client(Path("hooks.json").read_text(), client)
    printed = [out for hook in hooks if hook.event in STARTS for _, out, _ in [hook.run(dict(BASE), project)] if out]
    assert len(printed) == 1
    shown = printed[0].decode()
    if client is CURSOR:
        shown = json.loads(shown)["additional_context"]
    elif client is not CLAUDE_CODE:
        assert json.loads(shown)["hookSpecificOutput"]["hookEventName"] == "SessionStart"
        shown = json.loads(shown)["hookSpecificOutput"]["additionalContext"]
    assert '"Ship the importer"' in shown
    mark = next(record["payload"] for record in records(project) if record["type"] == "memory.context.injected")
    assert (mark["client"], mark["client_session"]) == (name_of(client), "abc")


@each_client
@pytest.mark.parametrize("text", ["", '{\n  "theme": "dark"\n}\n'], ids=["no file", "a file of others"])
def test_hooks_of_both_commands_are_found_replaced_and_taken_out_byte_for_byte(client: JsonHooks, text: str) -> None:
    if client is CODEX and text:
        text = '{\n  "hooks": {}\n}\n'
    command = COMMAND
    for moments in (False, True):
        installed = client.install(text, command, False, moments)
        found = client.find(installed)
        assert {"hook-context", "session-start"} <= {handler.trigger for handler in found}
        assert sum("hook-context" in handler.words for handler in found) == 1
        assert client.install(installed, command, True, moments) == installed
        assert client.remove(installed) == text


# The shapes that the clients take


def test_claude_codes_hooks_stand_under_hooks_word_by_word() -> None:
    config = json.loads(with_hooks("", CLAUDE_CODE, COMMAND))
    assert list(config) == ["hooks"]
    first = config["hooks"]["SessionStart"][0]["hooks"][0]
    assert first == {
        "type": "command",
        "command": "/opt/zaxy/bin/zaxy",
        "args": [
            *("hook-event", "session-start", "--source", "claude-code"),
            *("--eventloom-path", "/home/u/p/.eventloom", "--stdin-json"),
        ],
        "timeout": 10,
    }


def test_codexs_file_has_no_key_and_no_event_that_codex_refuses() -> None:
    config = json.loads(with_hooks("", CODEX, COMMAND))
    known = {
        *("PreToolUse", "PermissionRequest", "PostToolUse", "PreCompact", "PostCompact", "SessionStart"),
        *("SessionEnd", "UserPromptSubmit", "SubagentStart", "SubagentStop", "Stop"),
    }
    assert set(config) == {"hooks"}
    assert set(config["hooks"]) <= known
    for groups in config["hooks"].values():
        for group in groups:
            assert set(group) <= {"matcher", "hooks"}
            assert "(?" not in group.get("matcher", ""), "its patterns know no look-ahead"
            assert all(set(handler) == {"type", "command", "timeout"} for handler in group["hooks"])


def test_geminis_timeouts_are_milliseconds_and_cursors_file_has_a_version() -> None:
    gemini = json.loads(with_hooks("", GEMINI, COMMAND))
    assert gemini["hooks"]["PreCompress"][0]["hooks"][0]["timeout"] == 10_000
    cursor = json.loads(with_hooks("", CURSOR, COMMAND))
    assert cursor["version"] == 1
    assert set(cursor["hooks"]["sessionEnd"][0]) == {"command", "timeout"}


@pytest.mark.parametrize("tool", ["Bash", "Edit", "Write", "MultiEdit", "NotebookEdit", "Read", "mcp__x__y", "EditX"])
def test_one_tool_of_claude_code_runs_one_hook(tool: str) -> None:
    hooks = read_as_client(with_hooks("", CLAUDE_CODE, COMMAND), CLAUDE_CODE)
    assert sum(h.event == "PostToolUse" and matches(CLAUDE_CODE, h.matcher, tool) for h in hooks) == 1


def test_memorys_own_tools_run_no_hook_where_the_client_can_tell_them_apart() -> None:
    for client, event in ((CLAUDE_CODE, "PostToolUse"), (GEMINI, "AfterTool")):
        hooks = read_as_client(with_hooks("", client, COMMAND), client)
        assert not any(h.event == event and matches(client, h.matcher, "mcp__zaxy__memory_checkout") for h in hooks)


def test_hooks_leave_to_capture_what_it_reads_in_the_clients_own_files(project: Path, tmp_path: Path) -> None:
    install_plugin(tmp_path / "site", "gemini-files", provides=[{"point": "capture_adapters", "name": "gemini"}])

    def triggers(client: JsonHooks, *options: str) -> tuple[set[str], str]:
        words = [sys.executable, "-m", "zaxy", "hooks", name_of(client), *options]
        environ = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
        done = subprocess.run(words, env=environ, capture_output=True, text=True, check=True)
        return {handler.trigger for handler in handlers(done.stdout, client)}, done.stderr

    everything = {event.trigger for event in GEMINI.events}
    assert triggers(GEMINI) == (everything, "")
    moments, said = triggers(GEMINI, "--recorder", "capture")
    assert moments == {"session-start", "user-prompt-submit", "precompact", "stop", "hook-context"}
    assert "capture records commands" in said
    Path(".codex").mkdir()
    Path(".codex/zaxy-capture.json").write_text("{}")
    assert triggers(GEMINI) == (everything, ""), "the watcher is there for another client"


def test_renewed_hooks_keep_their_session_and_what_they_record(project: Path) -> None:
    path = project / "hooks.json"
    path.write_text(with_hooks("", CODEX, HookCommand(("/gone/zaxy",), "codex", "/gone", "shop-default"), moments=True))
    client = Codex(None)  # type: ignore[arg-type]
    renew_hooks(InstalledClient("codex", client, CODEX), path, find_workspace(str(project)))
    renewed = handlers(path.read_text(), CODEX)
    assert {handler.trigger for handler in renewed} == MOMENTS
    assert {handler.option("--session-id") for handler in renewed} == {"shop-default"}
    assert {handler.option("--eventloom-path") for handler in renewed} == {str(project / ".eventloom")}


# What is not ours

OTHERS = """{
\t// mine
\t"model": "opus",  "permissions": {"allow": ["Bash(git *)"],},
\t"hooks": {
\t\t"Stop": [
\t\t\t{ "hooks": [ { "type": "command", "command": "notify-send 'zaxy hook-event stop'" } ] }, // keep
\t\t],
\t\t"PostToolUse": []
\t},
}\r
"""


@pytest.mark.parametrize("client", [CLAUDE_CODE, GEMINI], ids=["claude-code", "gemini"])
def test_comments_commas_and_others_hooks_stay_byte_for_byte(client: JsonHooks) -> None:
    text = with_hooks(OTHERS, client, COMMAND)
    for line in OTHERS.splitlines():
        assert line.strip().removesuffix("[]") in text
    assert "notify-send" in json.dumps(json_text.value_at(text, ["hooks", "Stop"]))
    assert without_hooks(text, client) == OTHERS


def test_codexs_other_hooks_keep_their_numbers() -> None:
    mine = {"hooks": [{"type": "command", "command": "./mine.sh"}]}
    for text in (
        json.dumps({"hooks": {"Stop": [mine], "SessionStart": [mine, mine]}}),
        json.dumps({"description": "x", "hooks": {"Stop": [mine], "SessionStart": [mine, mine]}}, indent=4) + "\n",
    ):
        merged = with_hooks(text, CODEX, COMMAND)
        hooks = json.loads(merged)["hooks"]
        assert hooks["Stop"][0] == mine
        assert hooks["SessionStart"][:2] == [mine, mine]
        assert len(hooks["Stop"]) == 2
        assert without_hooks(merged, CODEX) == text


@each_client
def test_hooks_that_are_there_are_refused_and_replaced_with_force(client: JsonHooks) -> None:
    text = with_hooks("", client, COMMAND)
    with pytest.raises(ZaxyError) as caught:
        with_hooks(text, client, COMMAND)
    assert caught.value.code == "conflict"
    moved = HookCommand(("/new/zaxy",), "x", "/new/.eventloom", "x-default")
    replaced = with_hooks(text, client, moved, force=True)
    assert replaced == with_hooks("", client, moved)
    assert "/opt/zaxy" not in replaced


def test_force_replaces_only_zaxys_handlers_also_in_a_shared_group() -> None:
    config = json.loads(with_hooks("", CLAUDE_CODE, COMMAND))
    mine = {"type": "command", "command": "./mine.sh"}
    config["hooks"]["Stop"][0]["hooks"].append(mine)
    config["hooks"]["Notification"] = [{"hooks": [mine]}]
    replaced = with_hooks(json.dumps(config, indent=2), CLAUDE_CODE, COMMAND, force=True)
    assert len(handlers(replaced, CLAUDE_CODE)) == len(CLAUDE_CODE.events)
    hooks = json.loads(replaced)["hooks"]
    assert hooks["Notification"] == [{"hooks": [mine]}]
    assert {"hooks": [mine]} in hooks["Stop"]
    left = json.loads(without_hooks(replaced, CLAUDE_CODE))
    assert left == {"hooks": {"Stop": [{"hooks": [mine]}], "Notification": [{"hooks": [mine]}]}}


@pytest.mark.parametrize(
    ("handler", "ours"),
    [
        ({"type": "command", "command": "zaxy hook-event stop"}, True),
        ({"command": "/x/zaxy", "args": ["hook-event", "stop"], "type": "command"}, True),
        ({"type": "command", "command": "'/a b/python' -m zaxy hook-event stop"}, True),
        ({"type": "command", "command": r'"C:\Program Files\zaxy.exe" hook-event stop'}, True),
        ({"type": "command", "command": "notify && zaxy hook-event stop"}, False),
        ({"type": "command", "command": "zaxy hook-event stop && notify"}, False),
        ({"type": "command", "command": "echo zaxy hook-event stop"}, False),
        ({"type": "command", "command": "# zaxy hook-event stop"}, False),
        ({"type": "command", "command": "zaxy serve"}, False),
        ({"type": "prompt", "command": "zaxy hook-event stop"}, False),
        ({"type": "command", "command": "zaxy 'hook-event"}, False),
        ({"type": "command", "command": 7}, False),
        ("zaxy hook-event stop", False),
        (None, False),
    ],
)
def test_a_handler_is_ours_only_if_it_runs_zaxy_hook_event_and_nothing_else(handler: object, ours: bool) -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}, "note": "zaxy hook-event stop"})
    assert bool(handlers(text, CLAUDE_CODE)) is ours


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
GROUPS = st.lists(
    st.fixed_dictionaries({"hooks": st.lists(st.fixed_dictionaries({"type": st.just("command"), "command": NAMES}))}),
    max_size=3,
)
EVENTS = st.sampled_from(["Stop", "SessionStart", "PostToolUse", "Other", "stop", "AfterTool"])


@settings(max_examples=150, deadline=None)
@given(
    client=st.sampled_from(list(CLIENTS.values())),
    others=st.dictionaries(
        NAMES.filter(lambda name: name not in ("hooks", "version", "description")), VALUES, max_size=3
    ),
    hooks=st.none() | st.dictionaries(EVENTS, GROUPS, max_size=3),
    indent=st.sampled_from([None, 0, 1, 2, 4, "\t"]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    after=st.sampled_from(["", "\n"]),
    mark=st.sampled_from(["", "\ufeff"]),
)
def test_adding_and_removing_gives_back_every_byte(
    client: JsonHooks,
    others: dict[str, Any],
    hooks: dict[str, Any] | None,
    indent: int | str | None,
    line_end: str,
    after: str,
    mark: str,
) -> None:
    others = {} if client is CODEX else others
    config = {**others, **({"version": 1} if client is CURSOR else {}), **({} if hooks is None else {"hooks": hooks})}
    plain = json.dumps(config, indent=indent, ensure_ascii=False) + after
    text = ("" if client is CODEX else mark) + plain.replace("\n", line_end)
    merged = with_hooks(text, client, COMMAND)
    root = json_text.parse(merged)
    assert root is not None
    assert {key: root.value[key] for key in others} == others
    for event, groups in (hooks or {}).items():
        assert [group for group in root.value["hooks"][event] if group in groups] == groups
    assert len(handlers(merged, client)) == len(client.events)
    assert without_hooks(merged, client) == text


# Files


@each_client
def test_output_makes_folders_and_remove_takes_away_all_that_it_made(client: JsonHooks, project: Path) -> None:
    assert zaxy(name_of(client), "--output", client.files[0]) == 0
    assert len(handlers((project / client.files[0]).read_text(), client)) == len(client.events)
    assert zaxy(name_of(client), "--remove") == 0
    assert [path.name for path in project.iterdir()] == [".eventloom"], "who records is kept"


def test_a_second_run_is_refused_and_changes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert zaxy("claude-code", "--output", "s.json") == 0
    before = Path("s.json").read_bytes()
    assert zaxy("claude-code", "--output", "s.json") == 1
    assert "there are hooks of Zaxy already" in capsys.readouterr().err
    assert Path("s.json").read_bytes() == before
    assert zaxy("claude-code", "--output", "s.json", "--force") == 0
    assert Path("s.json").read_bytes() == before


def test_a_script_of_the_user_is_not_overwritten(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("hooks.sh").write_text("mine")
    assert zaxy("generic", "--output", "hooks.sh") == 1
    assert Path("hooks.sh").read_text() == "mine"
    assert "is there already" in capsys.readouterr().err
    assert zaxy("generic", "--output", "hooks.sh", "--force") == 0
    assert Path("hooks.sh").read_text().startswith("#!/bin/sh")


@pytest.mark.parametrize(
    ("client", "text", "reason"),
    [
        ("claude-code", '{\n  "hooks": {,}\n}', "line 2, column 13"),
        ("claude-code", "[]", "it is not a JSON object"),
        ("claude-code", '{"hooks": []}', "its 'hooks' is not an object"),
        ("claude-code", '{"hooks": {"Stop": {}}}', "its hooks.Stop is not a list"),
        ("codex", '{"Stop": []}', "Codex refuses a hooks.json that has 'Stop' beside 'hooks'"),
        ("codex", '{"hooks": {} // mine\n}', "Codex takes plain JSON only"),
        ("cursor", '{"version": 2}', "its 'version' is not 1"),
    ],
)
def test_a_file_that_the_client_could_not_use_is_refused_unchanged(
    project: Path, capsys: pytest.CaptureFixture[str], client: str, text: str, reason: str
) -> None:
    Path("config.json").write_text(text)
    assert zaxy(client, "--output", "config.json") == 1
    assert reason in capsys.readouterr().err
    assert Path("config.json").read_text() == text
    assert os.listdir() == ["config.json"]


@posix
def test_a_link_in_place_of_the_file_is_refused(project: Path, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}")
    Path(".claude").mkdir()
    Path(".claude/settings.local.json").symlink_to(tmp_path / "other.json")
    assert zaxy("claude-code", "--output", ".claude/settings.local.json") == 1
    assert (tmp_path / "other.json").read_text() == "{}"


def test_an_unknown_client_is_told_which_there_are(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert zaxy("emacs") == 2
    assert "claude-code, codex, cursor, gemini, generic" in capsys.readouterr().err


def test_the_json_names_the_file_its_backup_and_what_to_do(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("hooks.json").write_text("{}")
    assert zaxy("codex", "--output", "hooks.json", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    (file,) = told["files"]
    assert (file["path"], file["changed"]) == (str(project / "hooks.json"), True)
    assert Path(file["backup"]).read_text() == "{}"
    assert any("trust" in note for note in told["notes"])


def test_printing_writes_nothing(project: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "zaxy", "hooks", "cursor"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["version"] == 1
    assert list(project.iterdir()) == []
