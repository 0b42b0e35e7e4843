"""`zaxy hook-event`: what it records of a client's hooks, what it never keeps, and that no client notices a failure."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from zaxy.commands import hook_event
from zaxy.errors import Unavailable
from zaxy.eventloom.loom import Eventloom
from zaxy.observe import hook_command
from zaxy.observe.hook_events import ACTOR, CUT, EXCERPT, TRIGGERS

FORBIDDEN = {
    *("typer", "pydantic", "pluggy", "mcp", "asyncio", "importlib.metadata", "importlib_metadata", "typing"),
    *("kuzu", "neo4j", "cryptography", "rich", "click", "dataclasses", "inspect", "sqlite3", "orjson", "pathlib"),
    "subprocess",
}
SESSION = "my-project-default"
posix = pytest.mark.skipif(os.name != "posix", reason="it is about a POSIX process")


class Client:
    """Runs the real command as a client would: a process of its own in the project's folder."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.eventloom = project / ".eventloom"

    def start(self, *arguments: str | bytes, **options: Any) -> subprocess.Popen[str]:
        environ = {**os.environ, **options.pop("env", {})}
        words: list[str | bytes] = [sys.executable, "-m", "zaxy", "hook-event", *arguments]
        plain = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(words, **{"cwd": self.project, "env": environ, **plain, **options})

    def hook(self, *arguments: str | bytes, stdin: str | None = None, **options: Any) -> tuple[int | None, str, str]:
        process = self.start(*arguments, **options, **({} if stdin is None else {"stdin": subprocess.PIPE}))
        out, err = process.communicate(stdin, timeout=60)
        return process.returncode, out, err

    def silently(self, *arguments: str | bytes, **options: Any) -> None:
        assert self.hook(*arguments, **options) == (0, "", "")

    def records(self, session: str = SESSION) -> list[dict[str, Any]]:
        """What the hooks recorded, without the reminders that some of them leave."""
        records = [line.record for line in Eventloom(str(self.eventloom)).read(session)]
        return [record for record in records if record["type"] != "memory.reminder.suggested"]

    def reminders(self) -> list[dict[str, Any]]:
        records = [line.record for line in Eventloom(str(self.eventloom)).read(SESSION)]
        return [record for record in records if record["type"] == "memory.reminder.suggested"]

    def last_payload(self) -> dict[str, Any]:
        payload: dict[str, Any] = self.records()[-1]["payload"]
        return payload

    def errors(self) -> list[str]:
        log = self.eventloom / "runtime" / "hook-errors.log"
        return log.read_text(encoding="utf-8").splitlines() if log.exists() else []

    def everything_kept(self) -> str:
        files = [path for path in self.eventloom.rglob("*") if path.is_file()]
        return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in files)


@pytest.fixture
def client(tmp_path: Path) -> Client:
    project = tmp_path / "my-project"
    project.mkdir()
    return Client(project)


NEEDED = {
    "command": ("--command", "pytest"),
    "file-edit": ("--path", "src/core.py"),
    "tool-call": ("--tool-name", "memory_append"),
    "transcript-turn": ("--role", "assistant", "--content", "Recorded the decision."),
}


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_a_trigger_is_recorded_silently_by_the_hook_actor_in_the_default_session(client: Client, trigger: str) -> None:
    client.silently(trigger, "--source", "codex", *NEEDED.get(trigger, ()))
    (record,) = client.records()
    assert (record["type"], record["actor"], record["thread"]) == (TRIGGERS[trigger].type, ACTOR, SESSION)
    assert (record["payload"]["trigger"], record["payload"]["source"]) == (trigger, "codex")
    assert client.errors() == []


def test_a_heartbeat_holds_nothing_but_trigger_and_source(client: Client) -> None:
    client.silently("heartbeat", "--source", "manual")
    assert client.last_payload() == {"trigger": "heartbeat", "source": "manual"}


def test_a_checkpoint_keeps_what_it_was_told(client: Client) -> None:
    client.silently(
        *("checkpoint", "--eventloom-path", ".eventloom", "--session-id", SESSION, "--source", "codex"),
        *("--workspace", "/path/to/project", "--transcript-path", "/path/to/transcript.jsonl"),
        *("--summary", "Finished hook install mode.", "--reason", "manual", "--turn-count", "7"),
    )
    assert client.last_payload() == {
        "trigger": "checkpoint",
        "source": "codex",
        "workspace": "/path/to/project",
        "transcript_path": "/path/to/transcript.jsonl",
        "summary": "Finished hook install mode.",
        "reason": "manual",
        "turn_count": 7,
    }


def test_a_command_keeps_its_exit_code_and_bounded_excerpts_of_what_it_printed(client: Client) -> None:
    printed = "collected 557 items\n" + "." * 5000 + "\n557 passed"
    client.silently(
        *("command", "--source", "codex", "--command", "pytest", "--exit-code", "-11"),
        *("--stdout", printed, "--stderr", "one warning", "--duration-ms", "1200"),
    )
    payload = client.last_payload()
    assert (payload["command"], payload["exit_code"], payload["duration_ms"]) == ("pytest", -11, 1200)
    assert payload["stderr"] == "one warning"
    assert len(payload["stdout"]) == EXCERPT
    assert payload["stdout"].startswith("collected 557") and payload["stdout"].endswith("557 passed")
    assert CUT in payload["stdout"]


def test_a_file_edit_keeps_path_operation_summary_and_line_counts(client: Client) -> None:
    client.silently(
        *("file-edit", "--source=codex", "--path", "src/zaxy/core.py", "--operation", "modified"),
        *("--summary", "Updated context assembly", "--lines-added", "12", "--lines-removed", "3"),
    )
    assert client.last_payload() == {
        "trigger": "file-edit",
        "source": "codex",
        "path": "src/zaxy/core.py",
        "operation": "modified",
        "summary": "Updated context assembly",
        "lines_added": 12,
        "lines_removed": 3,
    }


def test_a_file_edit_keeps_where_its_hunks_stand_and_no_line_of_them(client: Client) -> None:
    lines = [" kept", "-the old line", "+the new line", "+and another"]
    patch = [{"oldStart": 3, "oldLines": 2, "newStart": 3, "newLines": 3, "lines": lines}]
    said = {"tool_name": "Edit", "tool_input": {"file_path": "a.py"}, "tool_response": {"structuredPatch": patch}}
    client.silently("file-edit", "--source", "claude-code", "--stdin-json", stdin=json.dumps(said))
    payload = client.last_payload()
    assert (payload["path"], payload["hunks"]) == ("a.py", [[4, 1, 4, 2]])
    assert (payload["lines_added"], payload["lines_removed"]) == (2, 1)
    assert not [line for line in lines if line[1:] in client.everything_kept()]


def test_a_tool_call_keeps_the_names_of_its_arguments_sorted(client: Client) -> None:
    client.silently(
        *("tool-call", "--source", "codex", "--tool-name", "memory_append", "--tool-status", "ok"),
        *("--arguments-json", '{"payload":{"inner":1},"event_type":"task.completed"}', "--result-summary", "seq=42"),
    )
    payload = client.last_payload()
    assert payload["argument_keys"] == ["event_type", "payload"]
    assert (payload["tool_name"], payload["status"], payload["result_summary"]) == ("memory_append", "ok", "seq=42")


def test_arguments_that_are_no_json_object_leave_a_note_and_no_names(client: Client) -> None:
    for given in ('{"torn": ', "[1, 2]", "[" * 100_000):
        client.silently("tool-call", "--tool-name", "Edit", "--arguments-json", given)
        payload = client.last_payload()
        assert "argument_keys" not in payload
        assert payload["note"] == "the arguments were not a JSON object"


def test_what_was_said_in_a_turn_is_kept_whole(client: Client) -> None:
    said = "-- a line that begins like an option\n" + "word " * 20_000
    client.silently("transcript-turn", "--role", "assistant", "--content", said, "--turn-index", "12")
    payload = client.last_payload()
    assert (payload["role"], payload["content"], payload["turn_index"]) == ("assistant", said, 12)


def test_calls_of_memorys_own_tools_are_left_to_its_server(client: Client) -> None:
    cursor = {"hook_event_name": "afterMCPExecution", "tool_name": "memory_query", "tool_input": "{}"}
    for told, source in (
        ({"hook_event_name": "PostToolUse", "tool_name": "mcp__zaxy__memory_query"}, "codex"),
        ({**cursor, "mcp_server_name": "zaxy"}, "cursor"),
        ({"tool_name": "mcp_zaxy_memory_query", "mcp_context": {"server_name": "zaxy"}}, "gemini"),
    ):
        client.silently("tool-call", "--source", source, "--stdin-json", stdin=json.dumps(told))
    assert not client.eventloom.exists()
    client.silently(
        *("tool-call", "--source", "cursor", "--stdin-json"), stdin=json.dumps({**cursor, "mcp_server_name": "acme"})
    )
    assert client.last_payload()["tool_name"] == "memory_query"
    assert client.errors() == []


def test_the_names_of_arguments_stay_also_where_they_name_secrets(client: Client) -> None:
    for keys in (["api_key", "query"], ["password", "token"], ["x-api-key", "zone"]):
        client.silently("tool-call", "--tool-name", "x", "--arguments-json", json.dumps(dict.fromkeys(keys, "v")))
        record = client.records()[-1]
        assert record["payload"]["argument_keys"] == keys
        assert "redacted" not in record


# What is never kept


def test_nothing_readable_of_files_arguments_and_prompts_is_kept(client: Client) -> None:
    private = "The quick brown fox"
    edit = {"file_path": "a.py", "old_string": private, "new_string": f"{private}!"}
    claude = {
        "hook_event_name": "PostToolUse",
        "tool_name": "Edit",
        "tool_input": edit,
        "tool_response": {"filePath": "a.py", "originalFile": private, "structuredPatch": [{"lines": [private]}]},
        "prompt": private,
    }
    cursor = {"hook_event_name": "afterFileEdit", "file_path": "a.py", "edits": [edit], "workspace_roots": ["/w"]}
    codex = {"tool_name": "apply_patch", "tool_input": {"command": f"*** Begin Patch\n+{private}"}}
    client.silently("user-prompt-submit", "--prompt", f"{private}, and where are we?")
    client.silently("file-edit", "--path", "a.py", "--content", private, "--stdout", private, "--command", private)
    client.silently("tool-call", "--tool-name", "Write", "--arguments-json", json.dumps(edit), "--content", private)
    client.silently("stop", "--prompt", private, "--content", private, "--result-summary", private)
    for trigger in ("file-edit", "tool-call", "user-prompt-submit", "stop"):
        client.silently(trigger, "--stdin-json", stdin=json.dumps(claude))
    for told in (cursor, codex):
        client.silently("file-edit", "--path", "a.py", "--stdin-json", stdin=json.dumps(told))
    client.silently("command", "--command", "ls", "--stdin-json", stdin=json.dumps(codex))
    client.silently("tool-call", "--tool-name", "Write", "--arguments-json", private)
    client.silently(private, "--exit-code", private, private, "--no-such-option", private)
    client.silently(f"{private} {private}")
    assert len(client.records()) == 12
    assert private not in client.everything_kept()
    assert len(client.errors()) == 2
    assert client.records()[0]["payload"]["reminder_class"] == "status_question"


def test_secrets_are_redacted_and_the_record_says_where(client: Client) -> None:
    token = "ghp_" + "aB3dE5gH7jK9" * 3
    client.silently("command", "--command", f"curl -H 'Authorization: Bearer {token}' https://x", "--stdout", token)
    client.silently("transcript-turn", "--role", "user", "--content", f"my token is {token}")
    client.silently("checkpoint", "--summary", f"export GITHUB_TOKEN={token}", "--workspace", f"/tmp/{token}")
    client.silently("tool-call", "--tool-name", "x", "--arguments-json", json.dumps({token: 1}))
    kept = client.everything_kept()
    assert token not in kept
    assert token[4:20] not in kept
    assert {mark["pointer"] for mark in client.records()[0]["redacted"]} == {"/command", "/stdout"}


@pytest.mark.parametrize("offset", [80, 100, 110, 115, 120, 125, 130, 150])
def test_a_secret_at_the_edge_of_an_excerpt_is_redacted_before_the_cut(client: Client, offset: int) -> None:
    token = "ghp_" + "aB3dE5gH7jK9" * 3
    text = "." * offset + " " + token + " " + "." * 4000 + " " + token + " " + "." * offset
    client.silently("command", "--command", "env", "--stdout", text)
    kept = client.last_payload()["stdout"]
    assert len(kept) <= EXCERPT
    assert not any(token[start : start + 8] in kept for start in range(len(token) - 8))


# Mistakes


def test_an_unknown_trigger_is_refused_before_anything_is_written(client: Client) -> None:
    client.silently("precompat", "--source", "codex")
    assert not list(client.eventloom.glob("*.jsonl"))
    (line,) = client.errors()
    when, trigger, code, message = line.split(" ", 3)
    assert when.endswith("Z")
    assert (trigger, code, message) == ("-", "invalid_request", "'precompat' is not a trigger")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "no trigger was given"),
        (("no such trigger",), "that is not a trigger"),
        (("stop", "--session-id", "../../etc/passwd"), "is not a session id"),
        (("command", "--command", ""), "command needs --command"),
        (("transcript-turn", "--role", "user"), "transcript-turn needs --content"),
    ],
)
def test_a_mistake_is_silent_but_for_the_error_log_and_told_with_strict(
    client: Client, arguments: tuple[str, ...], reason: str
) -> None:
    client.silently(*arguments)
    assert len(client.errors()) == 1
    assert reason in client.errors()[0]
    code, out, err = client.hook(*arguments, "--strict")
    assert (code, out) == (1, "")
    assert reason in err
    code, out, err = client.hook(*arguments, "--strict", "--json")
    assert (code, err) == (1, "")
    assert reason in json.loads(out)["error"]["message"]
    assert not list(client.project.rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        (("--sauce", "x"), "it does not take --sauce"),
        (("--sauce=x",), "it does not take --sauce"),
        (("--strict=yes",), "it does not take --strict"),
        (("again",), "it takes one trigger"),
        (("--turn-count", "many"), "--turn-count is not a whole number"),
        (("--exit-code", "0x1"), "--exit-code is not a whole number"),
    ],
)
@pytest.mark.parametrize("is_first", [False, True])
def test_an_odd_flag_costs_nothing_but_itself_and_stands_in_the_error_log(
    client: Client, odd: tuple[str, ...], reason: str, is_first: bool
) -> None:
    rest = ("command", "--command", "make", "--duration-ms", "5")
    client.silently(*((*odd, *rest) if is_first else (*rest, *odd)))
    said = {"trigger": "command", "source": "unknown", "command": "make", "duration_ms": 5}
    assert client.last_payload() == said
    (line,) = client.errors()
    assert line.endswith(f"{reason}; the rest was recorded")
    code, out, err = client.hook(*rest, *odd, "--strict")
    assert (code, out) == (1, "") and reason in err, "a person is told, and nothing is recorded"
    assert len(list(client.eventloom.glob("*.jsonl"))) == 1


def test_an_option_without_a_value_counts_as_not_given(client: Client) -> None:
    client.silently("stop", "--source", "", "--turn-count=", "--summary")
    assert client.last_payload() == {"trigger": "stop", "source": "unknown"}


def test_a_value_is_never_taken_for_an_option(client: Client) -> None:
    client.silently("transcript-turn", "--role", "--strict", "--content", "--eventloom-path=/elsewhere")
    payload = client.last_payload()
    assert (payload["role"], payload["content"]) == ("--strict", "--eventloom-path=/elsewhere")


def test_with_strict_and_json_it_prints_where_the_event_stands(client: Client) -> None:
    code, out, err = client.hook("heartbeat", "--strict", "--json")
    reply = json.loads(out)
    (record,) = client.records()
    assert (code, err) == (0, "")
    assert reply == {
        "seq": 1,
        "id": record["id"],
        "hash": record["hash"],
        "citation": f"eventloom://{SESSION}/events/1#{record['hash']}",
        "session_id": SESSION,
    }
    client.silently("heartbeat", "--json")
    client.silently("heartbeat", "--strict")


FLAGS = """--eventloom-path --session-id --source --workspace --summary --reason --turn-count --command --exit-code
    --stdout --stderr --path --operation --tool-name --tool-status --arguments-json --result-summary --role --content
    --turn-index"""


def test_every_flag_that_clients_scripts_use_is_taken(client: Client) -> None:
    numbers = ("--turn-count", "--exit-code", "--turn-index")
    given = [(flag, "1" if flag in numbers else "{}") for flag in FLAGS.split()[1:]]
    client.silently("stop", *[word for pair in given for word in pair])
    assert client.errors() == []


def test_help_explains_every_option(client: Client) -> None:
    code, out, err = client.hook("--help")
    assert (code, err) == (0, "")
    assert all(str(parameter["name"]) in out for parameter in hook_event.PARAMETERS)
    assert all(trigger in out for trigger in TRIGGERS)
    assert not client.eventloom.exists()


# Where it is recorded


def test_the_log_is_the_one_that_is_named_and_the_session_too(client: Client, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "other").mkdir()
    client.silently("stop", "--eventloom-path", str(elsewhere), "--workspace", str(client.project), "--session-id", "s")
    client.silently("stop", env={"EVENTLOOM_PATH": str(elsewhere), "EVENTLOOM_THREAD": "t"})
    client.silently("stop", "--workspace", str(tmp_path / "other"))
    assert sorted(path.name for path in elsewhere.glob("*.jsonl")) == ["s.jsonl", "t.jsonl"]
    assert (tmp_path / "other" / ".eventloom" / "other-default.jsonl").exists()
    assert not client.eventloom.exists()


def test_twenty_hooks_at_once_all_land_in_one_whole_chain(client: Client) -> None:
    running = [client.start("checkpoint", "--summary", f"number {number}") for number in range(20)]
    assert [(*process.communicate(timeout=120), process.returncode) for process in running] == [("", "", 0)] * 20
    assert client.errors() == []
    summaries = {record["payload"]["summary"] for record in client.records()}
    assert summaries == {f"number {number}" for number in range(20)}
    report = Eventloom(str(client.eventloom)).verify(SESSION)
    # A hook that cannot get the lock of reminders in time leaves none, as on a busy machine: a later one does.
    assert report.ok and report.events in (20, 21), "and at most one reminder, after the eighth"
    client.silently("checkpoint", "--summary", "alone")
    assert len(client.reminders()) == 1


# What clients write on standard input

CLAUDE_BASH = {
    "session_id": "abc123",
    "transcript_path": "/home/u/.claude/projects/p/abc123.jsonl",
    "cwd": "/home/u/p",
    "permission_mode": "default",
    "hook_event_name": "PostToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "pytest -q", "description": "Run the tests"},
    "tool_response": {"stdout": "557 passed", "stderr": "", "interrupted": False},
    "tool_use_id": "toolu_1",
}


def test_claude_codes_input_fills_what_no_option_gives(client: Client) -> None:
    client.silently(
        "command", "--source", "claude-code", "--workspace", ".", "--stdin-json", stdin=json.dumps(CLAUDE_BASH)
    )
    assert client.last_payload() == {
        "trigger": "command",
        "source": "claude-code",
        "workspace": ".",
        "transcript_path": "/home/u/.claude/projects/p/abc123.jsonl",
        "hook_event_name": "PostToolUse",
        "command": "pytest -q",
        "stdout": "557 passed",
    }
    client.silently("tool-call", "--stdin-json", stdin=json.dumps(CLAUDE_BASH))
    payload = client.last_payload()
    assert (payload["tool_name"], payload["status"]) == ("Bash", "ok")
    assert payload["argument_keys"] == ["command", "description"]
    assert payload["result_summary"] == "object with interrupted, stderr, stdout"


@pytest.mark.parametrize(
    "stdin",
    ["", "{", "null", "[]", '"text"', "\x00", "[" * 200_000, '{"cwd": 3, "tool_input": [1], "workspace_roots": {}}'],
    ids=lambda text: text[:12],
)
def test_whatever_stands_on_standard_input_the_hook_is_recorded(client: Client, stdin: str) -> None:
    client.silently("stop", "--source", "x", "--stdin-json", stdin=stdin)
    assert client.last_payload()["source"] == "x"


def test_more_input_than_a_hook_takes_is_read_to_the_end_and_not_used(client: Client) -> None:
    client.silently("stop", "--stdin-json", stdin=json.dumps({"reason": "x", "tool_response": "y" * (3 << 20)}))
    payload = client.last_payload()
    assert "reason" not in payload
    assert payload["note"] == "the standard input was not a JSON object"


def test_an_input_that_is_never_closed_is_not_waited_for(client: Client) -> None:
    process = client.start("stop", "--stdin-json", stdin=subprocess.PIPE)
    assert process.wait(timeout=60) == 0
    process.communicate()
    assert len(client.records()) == 1


# No client notices a failure


@pytest.fixture
def locked(client: Client) -> Iterator[Client]:
    """A session whose lock another process holds for as long as the test runs."""
    client.silently("stop")
    program = (
        "import sys, time\nfrom zaxy.eventloom.disk import DISK\nfrom zaxy.eventloom.lock import SessionLock\n"
        "with SessionLock(sys.argv[1], DISK).exclusive(5):\n    print('held', flush=True)\n    time.sleep(600)"
    )
    path = str(client.eventloom / f"{SESSION}.lock")
    holder = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    yield client
    holder.kill()
    holder.communicate()


def test_a_locked_session_is_given_up_after_a_second(locked: Client) -> None:
    began = time.monotonic()
    locked.silently("stop")
    waited = time.monotonic() - began
    assert 1 <= waited < 60
    (line,) = locked.errors()
    assert " stop unavailable the session my-project-default is being written by another process" in line


def _waits_for_a_lock(pid: int) -> bool:
    """Whether a process has come so far that it holds a session's lock file open."""
    opened = []
    for number in os.listdir(f"/proc/{pid}/fd"):
        with suppress(FileNotFoundError):  # closed since it was listed
            opened.append(os.readlink(f"/proc/{pid}/fd/{number}"))
    return any(name.endswith(".lock") for name in opened)


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
def test_an_interrupt_is_no_reason_for_a_client_to_stop(locked: Client) -> None:
    process = locked.start("stop")
    deadline = time.monotonic() + 60
    while not _waits_for_a_lock(process.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert (*process.communicate(timeout=60), process.returncode) == ("", "", 0)
    assert len(locked.errors()) == 1


def test_a_path_to_the_log_that_is_a_file_is_left_alone(client: Client) -> None:
    file = client.project / "notes.txt"
    file.write_text("mine")
    client.silently("stop", env={"EVENTLOOM_PATH": str(file)})
    client.silently("stop", "--eventloom-path", str(file / "below"))
    code, _, err = client.hook("stop", "--eventloom-path", str(file), "--strict")
    assert code == 1
    assert "is not a folder" in err
    assert file.read_text() == "mine"
    assert os.listdir(client.project) == ["notes.txt"]


def _mind_permissions() -> None:
    """In a child that is about to become another program: root, too, writes only where it is allowed to."""
    drop_from_bounding_set, override_permissions = 24, 1  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
    ctypes.CDLL(None).prctl(drop_from_bounding_set, override_permissions, 0, 0, 0)


@posix
def test_a_folder_that_cannot_be_written_is_no_error(client: Client) -> None:
    if os.geteuid() == 0 and sys.platform != "linux":
        pytest.skip("root may write anywhere")
    humbly: dict[str, Any] = {"preexec_fn": _mind_permissions} if os.geteuid() == 0 else {}
    client.project.chmod(0o555)
    client.silently("stop", **humbly)
    client.silently("no-such-trigger", **humbly)
    code, _, err = client.hook("stop", "--strict", **humbly)
    assert code == 1
    assert "Permission denied" in err
    assert os.listdir(client.project) == []
    client.project.chmod(0o755)
    client.silently("stop", **humbly)
    log = client.eventloom / f"{SESSION}.jsonl"
    log.chmod(0o400)
    client.silently("stop", **humbly)
    assert "permission was denied" in client.errors()[0]


def test_a_damaged_workspace_file_or_session_is_only_logged(client: Client) -> None:
    client.silently("stop")
    log = client.eventloom / f"{SESSION}.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"trigger":"stop"', b'"trigger":"stap"'))
    client.silently("stop")
    (client.eventloom / "workspace.json").write_text("{")
    client.silently("stop")
    assert ["damaged" in client.errors()[0], "workspace.json" in client.errors()[1]] == [True, True]


@posix
def test_a_link_in_place_of_the_log_or_of_the_error_log_is_not_followed(client: Client, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    client.silently("no-such-trigger")
    error_log = client.eventloom / "runtime" / "hook-errors.log"
    error_log.unlink()
    (outside / "file").write_text("mine")
    error_log.symlink_to(outside / "file")
    client.silently("no-such-trigger")
    assert (outside / "file").read_text() == "mine"
    other = tmp_path / "other"
    other.mkdir()
    (other / ".eventloom").symlink_to(outside, target_is_directory=True)
    client.silently("stop", cwd=other)
    assert os.listdir(outside) == ["file"]


@posix
def test_without_home_and_any_environment_it_records(client: Client) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "zaxy", "hook-event", "stop"],
        cwd=client.project,
        env={"PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(client.records()) == 1


@posix
@pytest.mark.parametrize("closed", ["0", "1", "2", "012"])
@pytest.mark.parametrize("arguments", ["stop --stdin-json", "no-such-trigger", "stop --strict --json"])
def test_closed_standard_streams_are_no_error(client: Client, closed: str, arguments: str) -> None:
    closing = " ".join(f"{stream}>&-" for stream in closed)
    command = f"{sys.executable} -m zaxy hook-event {arguments} {closing}"
    done = subprocess.run(["bash", "-c", command], cwd=client.project, stdin=subprocess.DEVNULL, timeout=60)
    assert done.returncode == 0
    if arguments.startswith("stop"):
        assert len(client.records()) == 1
        assert Eventloom(str(client.eventloom)).verify(SESSION).ok


@posix
def test_a_folder_that_was_removed_is_no_error(client: Client, tmp_path: Path) -> None:
    command = f"mkdir gone && cd gone && rmdir ../gone && {sys.executable} -m zaxy hook-event stop"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@posix
def test_arguments_that_are_not_utf_8_are_recorded_with_marks_in_their_place(client: Client) -> None:
    client.silently(b"command", b"--command", b"cat \xff\xfe.txt", b"--source", b"\xc3")
    assert client.last_payload()["command"] == "cat ??.txt"


def test_a_defect_is_logged_by_its_place_and_not_by_its_words(
    client: Client, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the text that was to be recorded")

    monkeypatch.chdir(client.project)
    monkeypatch.setattr("zaxy.observe.hook_events.payload_of", broken)
    assert hook_event.run(["stop"]) == 0
    assert capfd.readouterr() == ("", "")
    (line,) = client.errors()
    assert " stop internal_error RuntimeError at test_hook_event.py:" in line
    assert "to be recorded" not in line


def test_a_defect_in_redaction_is_logged_without_a_message(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise RuntimeError

    monkeypatch.chdir(client.project)
    monkeypatch.setattr("zaxy.security.redaction.redact", broken)
    assert hook_event.run(["stop"]) == 0
    assert client.errors()[0].endswith(" stop internal_error (a message that could not be searched for secrets)")
    assert not list(client.eventloom.glob("*.jsonl"))


# The error log


@posix
def test_only_its_owner_can_read_the_error_log(client: Client) -> None:
    client.silently("no-such-trigger")
    log = client.eventloom / "runtime" / "hook-errors.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700


def test_an_error_is_one_line_without_secrets_or_control_characters(tmp_path: Path) -> None:
    token = "ghp_" + "aB3dE5gH7jK9" * 3
    error = Unavailable(f"a\nb\x1b[31m {token} " + "x" * 1000, "")
    hook_command.note_error(str(tmp_path / ".eventloom"), "stop\nforged", error)
    (line,) = (tmp_path / ".eventloom" / "runtime" / "hook-errors.log").read_text(encoding="utf-8").splitlines()
    assert token not in line and "\x1b" not in line and "forged" not in line
    assert line.split(" ")[1:3] == ["-", "unavailable"]
    assert len(line) < 400


def test_a_full_error_log_makes_room_for_a_new_one(tmp_path: Path) -> None:
    folder = tmp_path / ".eventloom"
    log = folder / "runtime" / "hook-errors.log"
    error = Unavailable("x" * 200, "")
    for _ in range(2500):
        hook_command.note_error(str(folder), "stop", error)
    sizes = {path.name: path.stat().st_size for path in log.parent.iterdir()}
    assert set(sizes) == {"hook-errors.log", "hook-errors.log.1"}
    assert max(sizes.values()) <= 256 << 10
    assert sizes["hook-errors.log.1"] > 250 << 10


# What it costs


@pytest.mark.parametrize(
    "arguments",
    [
        ("stop", "--source", "x"),
        ("command", "--command", "curl -H 'Authorization: Bearer abcdefghijklmnop123'", "--stdout", "x" * 5000),
        ("user-prompt-submit", "--prompt", "where are we?"),
        ("no-such-trigger",),
        ("stop", "--stdin-json"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_it_loads_none_of_the_heavy_modules(client: Client, arguments: tuple[str, ...]) -> None:
    program = (
        "import sys\nbefore = set(sys.modules)\nfrom zaxy.__main__ import main\n"
        "code = main(sys.argv[1:])\nprint(' '.join(set(sys.modules) - before))\nsys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "hook-event", *arguments],
        cwd=client.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert "zaxy.eventloom.loom" in loaded
    assert not FORBIDDEN & loaded
