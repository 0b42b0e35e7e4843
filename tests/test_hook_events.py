"""What a hook tells becomes a payload: the triggers, the clients' inputs, bounds, and the class of a prompt."""

from __future__ import annotations

import json

import pytest

from zaxy.observe.hook_events import (
    CUT,
    EXCERPT,
    TRIGGERS,
    argument_keys,
    bounded,
    excerpt,
    fields_of,
    is_own_call,
    known_trigger,
    payload_of,
    reminder_class,
)
from zaxy.plugins.hook_json import places_of


def read(data: object, source: str = "") -> dict[str, object]:
    return fields_of(data, places_of(source))


TYPES = {
    "session-start": "hook.session_started",
    "resume": "hook.resumed",
    "user-prompt-submit": "hook.user_prompt_submitted",
    "stop": "hook.stop",
    "precompact": "hook.precompact",
    "checkpoint": "hook.checkpoint",
    "heartbeat": "hook.heartbeat",
    "command": "command.completed",
    "file-edit": "file.edit.applied",
    "tool-call": "tool.call.completed",
    "transcript-turn": "transcript.turn",
}


def test_the_triggers_and_their_event_types_are_these() -> None:
    assert {name: trigger.type for name, trigger in TRIGGERS.items()} == TYPES


@pytest.mark.parametrize(
    ("trigger", "data", "expected"),
    [
        ("precompact", {"hook_event_name": "PreCompact", "trigger": "auto", "cwd": "/w"}, {"reason": "auto"}),
        ("session-start", {"hook_event_name": "SessionStart", "source": "compact"}, {"reason": "compact"}),
        ("stop", {"hook_event_name": "SessionEnd", "reason": "logout"}, {"reason": "logout"}),
        (
            "tool-call",
            {"tool_name": "Bash", "hook_event_name": "PostToolUseFailure", "error": "x"},
            {"status": "error"},
        ),
        ("tool-call", {"tool_name": "f", "tool_response": {"llmContent": "x", "error": {"m": 1}}}, {"status": "error"}),
        (
            "tool-call",
            {"tool_name": "q", "tool_input": '{"b":1,"a":2}'},
            {"argument_keys": ["a", "b"]},
        ),
        ("tool-call", {"tool_name": "q", "tool_response": "some text"}, {"result_summary": "text of 9 characters"}),
        ("command", {"command": "ls", "output": "a b", "duration": 150.7}, {"stdout": "a b", "duration_ms": 150}),
        ("command", {"tool_input": {"command": "ls"}, "tool_response": {"exit_code": 2}}, {"exit_code": 2}),
        ("file-edit", {"file_path": "/w/a.py", "edits": [], "workspace_roots": ["/w"]}, {"workspace": "/w"}),
        (
            "file-edit",
            {"tool_input": {"file_path": "b"}, "tool_response": {"type": "create"}},
            {"operation": "created"},
        ),
        ("user-prompt-submit", {"prompt": "Fix the bug"}, {"reminder_class": "none"}),
    ],
)
def test_the_inputs_of_the_clients_are_understood(
    trigger: str, data: dict[str, object], expected: dict[str, object]
) -> None:
    payload = payload_of(trigger, read(data))
    assert {field: payload.get(field) for field in expected} == expected
    assert payload["source"] == "unknown"


REPORT = "<untrusted_context>\nOutput: {}\nProcess Group PGID: 7\n</untrusted_context>"


@pytest.mark.parametrize(
    ("printed", "stdout", "exit_code"),
    [
        (REPORT.format("3 passed"), "3 passed", 0),
        (REPORT.format("1 failed\nExit Code: 2"), "1 failed", 2),
        (REPORT.format("Exit Code: 7\ndone"), "Exit Code: 7\ndone", 0),
        (REPORT.format("(empty)\nExit Code: 1"), None, 1),
        (REPORT.format("half\nSignal: 15"), "half", None),
        ("Output: a line of the program's own", "Output: a line of the program's own", None),
    ],
)
def test_a_commands_report_for_the_model_is_taken_apart(
    printed: str, stdout: str | None, exit_code: int | None
) -> None:
    told = {"tool_name": "run", "tool_input": {"command": "make"}, "tool_response": {"llmContent": printed}}
    payload = payload_of("command", read(told, "gemini"))
    assert (payload["command"], payload.get("stdout"), payload.get("exit_code")) == ("make", stdout, exit_code)


@pytest.mark.parametrize(
    ("fields", "own"),
    [
        ({"tool_name": "mcp__zaxy__memory_query"}, True),
        ({"tool_name": "mcp_zaxy_memory_query"}, True),
        ({"tool_name": "MCP:zaxy:memory_query"}, True),
        ({"tool_name": "zaxy.memory_query"}, True),
        ({"tool_name": "memory_query", "server": "zaxy"}, True),
        ({"tool_name": "memory_query"}, False),
        ({"tool_name": "memory_query", "server": "acme"}, False),
        ({"tool_name": "mcp_zaxy_tools_query", "server": "zaxy_tools"}, False),
        ({"tool_name": "mcp__zaxy_tools__query"}, False),
        ({"tool_name": "mcp__acme__zaxy"}, False),
        ({"tool_name": "zaxy_report"}, False),
    ],
)
def test_a_tool_is_memorys_own_if_it_is_of_its_server(fields: dict[str, object], own: bool) -> None:
    assert is_own_call("tool-call", fields) is own
    assert not is_own_call("command", fields)


def test_a_text_without_end_is_bounded_before_it_is_searched_for_secrets() -> None:
    payload = payload_of("command", {"command": "x" * 1_000_000, "stdout": "y" * 1_000_000})
    assert all(len(str(value)) < 20_000 for value in payload.values())
    assert {len(str(bounded(payload)[field])) for field in ("command", "stdout")} == {1000, EXCERPT}


@pytest.mark.parametrize(
    "prompt",
    [
        *("Where are we?", "ok, where were we with the parser?", "what's left to do", "What’s next?", "roadmap"),
        *("Status?", "status please", "Continue", "please continue", "continue where you left off", "carry on"),
        *("what is the current status of the release", "give me a status update", "what did we decide about auth?"),
        "Before anything else,\n  how far are\nwe with the migration?",
    ],
)
def test_a_prompt_that_asks_where_the_work_stands_is_a_status_question(prompt: str) -> None:
    assert reminder_class(prompt) == "status_question"


@pytest.mark.parametrize(
    "prompt",
    [
        *(
            "Fix the bug in main.py",
            "",
            "add a `continue` statement to the loop in parse()",
            "run git status and commit",
        ),
        *("return HTTP status 404 when the row is missing", "the progress bar flickers when the window is resized"),
        "x" * 100_000,
    ],
)
def test_any_other_prompt_is_none(prompt: str) -> None:
    assert reminder_class(prompt) == "none"


def test_a_trigger_may_be_written_with_underscores_and_capitals() -> None:
    assert known_trigger("Session_Start") == "session-start"


@pytest.mark.parametrize("length", [0, 239, 240, 241, 500, 10_000])
def test_an_excerpt_is_the_text_or_both_its_ends_within_the_limit(length: int) -> None:
    text = "".join(chr(ord("a") + number % 26) for number in range(length))
    kept = excerpt(text)
    assert len(kept) == min(length, EXCERPT)
    assert (kept == text) == (length <= EXCERPT)
    head, _, tail = kept.partition(CUT)
    assert text.startswith(head)
    assert text.endswith(tail)


def test_a_flood_of_argument_names_is_bounded() -> None:
    keys, note = argument_keys(json.dumps({f"{number:05}" + "k" * 200: 0 for number in range(5000)}))
    assert (len(keys), note) == (64, "5000 arguments")
    assert len(bounded({"argument_keys": keys})["argument_keys"][0]) == 64  # type: ignore[index]
