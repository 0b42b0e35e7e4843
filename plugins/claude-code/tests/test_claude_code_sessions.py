from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from zaxy.api import Observation, ZaxyError

sys.path.insert(0, str(Path(__file__).parent))

from session_writer import SESSION, Claude, adapter, read_source, told

COMPACTED = Path(__file__).parent / "sessions" / "compacted.jsonl"
RECORDS_A_SECOND = 10_000


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


@pytest.fixture
def claude(tmp_path: Path, work: Path) -> Claude:
    return Claude(tmp_path, work)


def happened(home: Path, work: Path) -> list[tuple[str, dict[str, Any]]]:
    """Types and payloads, without what every payload has."""
    shared = ("source", "workspace", "turn_index")
    return [(o.type, {k: v for k, v in o.payload.items() if k not in shared}) for o in told(home, work)]


def turn(role: str, content: str) -> tuple[str, dict[str, Any]]:
    return ("transcript.turn", {"role": role, "content": content})


# What records tell


def test_a_session_with_a_compaction_gives_turns_a_command_the_compaction_and_the_summary(
    tmp_path: Path, work: Path, claude: Claude
) -> None:
    folder = json.dumps(str(work))[1:-1]
    claude.file.write_text(COMPACTED.read_text().replace("/home/dev/demo", folder))
    assert happened(tmp_path, work) == [
        turn("user", "Run the tests"),
        turn("assistant", "Running."),
        ("command.completed", {"command": "pytest -q", "exit_code": 0, "stdout": "3 passed"}),
        ("transcript.compacted", {"summary": "the conversation was compacted"}),
        ("transcript.summarized", {"summary": "Ran tests"}),
    ]


def test_an_observation_names_its_actor_its_client_its_folder_its_time_and_its_record(
    tmp_path: Path, work: Path, claude: Claude
) -> None:
    claude.write(claude.user("Hello"), claude.assistant({"type": "text", "text": "Good morning"}))
    shared = {"source": f"claude-code:{SESSION}", "workspace": str(work)}
    assert told(tmp_path, work) == [
        Observation(
            "transcript.turn",
            "user",
            {**shared, "turn_index": 0, "role": "user", "content": "Hello"},
            "claude-code:1111-1:0",
            "2026-08-20T10:00:01.000000Z",
        ),
        Observation(
            "transcript.turn",
            "assistant",
            {**shared, "turn_index": 1, "role": "assistant", "content": "Good morning"},
            "claude-code:1111-2:0",
            "2026-08-20T10:00:02.000000Z",
        ),
    ]


def test_thinking_meta_records_sidechains_and_api_errors_are_passed_over(
    tmp_path: Path, work: Path, claude: Claude
) -> None:
    text = {"type": "text", "text": "secret plan"}
    claude.write(
        claude.assistant({"type": "thinking", "thinking": "secret plan", "signature": "s"}),
        claude.user("secret plan", isMeta=True),
        claude.assistant(text, isSidechain=True, agentId="abc"),
        claude.assistant(text, isApiErrorMessage=True),
        claude.user("Hello"),
    )
    assert happened(tmp_path, work) == [turn("user", "Hello")]
    sessions = adapter(tmp_path)
    assert not sessions.read(sessions.sources(work)[0], "", 10).skipped


def test_what_the_client_puts_into_the_users_mouth_is_not_what_the_user_said(
    tmp_path: Path, work: Path, claude: Claude
) -> None:
    claude.write(
        claude.user("<local-command-stdout>Compacted</local-command-stdout>"),
        claude.user("<system-reminder>Be brief</system-reminder>"),
        claude.user(
            "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
            "<command-args>the log</command-args>"
        ),
        claude.user("<command-name>/clear</command-name><command-args></command-args>"),
        claude.user("<bash-input>ls -l</bash-input>"),
        claude.user("<bash-stdout>a.txt</bash-stdout><bash-stderr></bash-stderr>"),
        claude.user("<div> is not closed in index.html"),
    )
    assert happened(tmp_path, work) == [
        turn("user", "/review the log"),
        turn("user", "/clear"),
        turn("user", "! ls -l"),
        turn("user", "<div> is not closed in index.html"),
    ]


def test_texts_of_one_record_are_one_turn_and_an_image_is_only_mentioned(
    tmp_path: Path, work: Path, claude: Claude
) -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "iVBORw0"}}
    claude.write(claude.user([{"type": "text", "text": "Look:"}, image, {"type": "text", "text": "Why?"}]))
    assert happened(tmp_path, work) == [turn("user", "Look:\n\n[image]\n\nWhy?")]


def test_records_that_share_a_message_id_are_turns_of_their_own(tmp_path: Path, work: Path, claude: Claude) -> None:
    for text in ("First block", "Second block"):
        record = claude.assistant({"type": "text", "text": text})
        record["message"]["id"] = "msg_1"
        claude.write(record)
    assert happened(tmp_path, work) == [turn("assistant", "First block"), turn("assistant", "Second block")]


def test_a_compaction_and_what_it_left_are_told_and_not_as_words_of_the_user(
    tmp_path: Path, work: Path, claude: Claude
) -> None:
    claude.write(
        claude.record("system", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 155_000}),
        claude.user("This session is continued. The tests pass.", isCompactSummary=True),
        claude.record("system", subtype="stop_hook_summary"),
    )
    assert happened(tmp_path, work) == [
        (
            "transcript.compacted",
            {"summary": "the conversation was compacted", "trigger": "auto", "tokens_before": 155_000},
        ),
        ("transcript.summarized", {"summary": "This session is continued. The tests pass."}),
    ]


# Commands


@pytest.mark.parametrize(
    ("text", "details", "is_error", "outcome"),
    [
        ("ok", {"stdout": "ok", "stderr": "", "interrupted": False}, False, {"exit_code": 0, "stdout": "ok"}),
        ("ok", None, False, {"exit_code": 0, "stdout": "ok"}),
        (
            "Exit code 2\nno such file",
            "Error: Exit code 2\nno such file",
            True,
            {"exit_code": 2, "stderr": "no such file"},
        ),
        ("Command timed out after 2m", "Error: Command timed out", True, {"stderr": "Command timed out after 2m"}),
        ("part", {"stdout": "part", "stderr": "", "interrupted": True}, False, {"stdout": "part"}),
        ("Running in background", {"stdout": "", "stderr": "", "backgroundTaskId": "b1"}, False, {}),
        ([{"type": "text", "text": "ok"}], None, False, {"exit_code": 0, "stdout": "ok"}),
    ],
)
def test_a_command_has_the_exit_code_that_is_told_and_none_where_none_is(
    tmp_path: Path, work: Path, claude: Claude, text: object, details: object, is_error: bool, outcome: dict[str, Any]
) -> None:
    claude.write(claude.call("t1", "Bash", command="make"), claude.result("t1", text, details, is_error))
    assert happened(tmp_path, work) == [("command.completed", {"command": "make", **outcome})]


def test_a_command_that_the_user_refused_did_not_run(tmp_path: Path, work: Path, claude: Claude) -> None:
    refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    claude.write(claude.call("t1", "Bash", command="rm -r /"), claude.result("t1", refusal, f"Error: {refusal}", True))
    assert happened(tmp_path, work) == [
        (
            "tool.call.completed",
            {
                "tool_name": "Bash",
                "status": "refused",
                "argument_keys": ["command"],
                "result_summary": f"text of {len(refusal)} characters",
            },
        )
    ]


def test_long_output_keeps_its_two_ends(tmp_path: Path, work: Path, claude: Claude) -> None:
    output = "first line\n" + "x" * 1_000_000 + "\n557 passed"
    claude.write(claude.call("t1", "Bash", command="pytest"), claude.result("t1", output, {"stdout": output}))
    [(_, payload)] = happened(tmp_path, work)
    assert len(payload["stdout"]) == 16 << 10
    assert payload["stdout"].startswith("first line\n")
    assert payload["stdout"].endswith("\n557 passed")


# Edits and other tools

PATCH = [{"oldStart": 7, "newStart": 9, "lines": [" kept", "-gone SECRET", "+new SECRET", "+more SECRET", " kept"]}]
COUNTED = {"lines_added": 2, "lines_removed": 1, "hunks": [[8, 1, 10, 2]]}
WRITTEN = "SECRET" + "\nSECRET" * 20


@pytest.mark.parametrize(
    ("tool", "arguments", "details", "edit"),
    [
        (
            "Edit",
            {"file_path": "/w/a.py", "old_string": "SECRET", "new_string": "SECRET"},
            {"filePath": "/w/a.py", "structuredPatch": PATCH, "originalFile": "SECRET\n"},
            {"path": "/w/a.py", "operation": "modified", **COUNTED},
        ),
        (
            "Edit",
            {"file_path": "/w/a.py", "old_string": "gone SECRET", "new_string": "new SECRET\nmore SECRET"},
            {"filePath": "/w/a.py", "structuredPatch": PATCH, "originalFile": "kept\n" * 7 + "gone SECRET\nkept\n"},
            {"path": "/w/a.py", "operation": "modified", **COUNTED, "file_lines": [9, 10], "file_bytes": [52, 63]},
        ),
        (
            "Write",
            {"file_path": "/w/b.py", "content": "SECRET\nSECRET\n"},
            {"type": "create", "filePath": "/w/b.py", "content": "SECRET\nSECRET\n", "structuredPatch": []},
            {
                "path": "/w/b.py",
                "operation": "created",
                "lines_added": 2,
                "lines_removed": 0,
                "hunks": [[1, 0, 1, 2]],
                "file_lines": [0, 2],
                "file_bytes": [0, 14],
            },
        ),
        (
            "Write",
            {"file_path": "/w/b.py", "content": WRITTEN},
            {"type": "update", "filePath": "/w/b.py", "structuredPatch": PATCH},
            {"path": "/w/b.py", "operation": "modified", **COUNTED, "file_lines": [20, 21]},
        ),
        (
            "MultiEdit",
            {"file_path": "/w/c.py", "edits": [{"old_string": "SECRET", "new_string": "SECRET"}]},
            {"filePath": "/w/c.py", "structuredPatch": PATCH},
            {"path": "/w/c.py", "operation": "modified", **COUNTED},
        ),
        (
            "NotebookEdit",
            {"notebook_path": "/w/n.ipynb", "new_source": "SECRET"},
            {"new_source": "SECRET"},
            {"path": "/w/n.ipynb", "operation": "modified"},
        ),
    ],
)
def test_an_edit_gives_path_and_line_counts_and_nothing_of_the_file(
    tmp_path: Path, work: Path, claude: Claude, tool: str, arguments: Any, details: Any, edit: dict[str, Any]
) -> None:
    claude.write(claude.call("t1", tool, **arguments), claude.result("t1", "SECRET was written", details))
    assert happened(tmp_path, work) == [("file.edit.applied", edit)]
    assert "SECRET" not in repr(told(tmp_path, work))


def test_an_edit_that_failed_is_a_failed_call_and_no_edit(tmp_path: Path, work: Path, claude: Claude) -> None:
    claude.write(
        claude.call("t1", "Edit", file_path="/w/a.py", old_string="a", new_string="b"),
        claude.result("t1", "String to replace not found", "Error: String to replace not found", True),
    )
    [(kind, payload)] = happened(tmp_path, work)
    assert (kind, payload["tool_name"], payload["status"]) == ("tool.call.completed", "Edit", "error")


def test_a_tool_call_gives_the_names_of_its_arguments_and_no_value(tmp_path: Path, work: Path, claude: Claude) -> None:
    claude.write(
        claude.call("t1", "mcp__mail__send", to="SECRET", body="SECRET"),
        claude.result("t1", "sent SECRET", {"durationMs": 12.5, "text": "SECRET"}),
    )
    assert happened(tmp_path, work) == [
        (
            "tool.call.completed",
            {
                "tool_name": "mcp__mail__send",
                "status": "ok",
                "argument_keys": ["body", "to"],
                "result_summary": "text of 11 characters",
                "duration_ms": 12,
            },
        )
    ]
    assert "SECRET" not in repr(told(tmp_path, work))


def test_a_call_of_memorys_own_tools_is_left_to_the_server_to_record(
    tmp_path: Path, work: Path, claude: Claude
) -> None:
    claude.write(claude.call("t1", "mcp__zaxy__memory_checkout", query="?"), claude.result("t1", "{}"))
    sessions = adapter(tmp_path)
    reading = sessions.read(sessions.sources(work)[0], "", 10)
    assert (reading.observations, reading.skipped) == ((), {})


def test_calls_at_once_are_paired_with_their_own_results(tmp_path: Path, work: Path, claude: Claude) -> None:
    both = [{"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": f"run {n}"}} for n in (1, 2)]
    claude.write(claude.assistant(*both), claude.result("t2", "two"), claude.result("t1", "one"))
    commands = [(payload["command"], payload["stdout"]) for _, payload in happened(tmp_path, work)]
    assert commands == [("run 2", "two"), ("run 1", "one")]


def test_what_the_client_tells_of_one_result_is_not_taken_for_another(
    tmp_path: Path, work: Path, claude: Claude
) -> None:
    both = [{"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": f"run {n}"}} for n in (1, 2)]
    results = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": f"out {n}"} for n in (1, 2)]
    claude.write(claude.assistant(*both), claude.user(results, toolUseResult={"stdout": "out 2", "stderr": ""}))
    assert [payload["stdout"] for _, payload in happened(tmp_path, work)] == ["out 1", "out 2"]


def test_a_call_that_has_its_result_no_longer_waits(tmp_path: Path, work: Path, claude: Claude) -> None:
    claude.write(claude.call("t1", "Bash", command="make"), claude.result("t1", "built"))
    sessions = adapter(tmp_path)
    assert "t1" not in sessions.read(sessions.sources(work)[0], "", 10).mark


@pytest.mark.parametrize(
    ("timestamp", "occurred_at"),
    [
        ("2026-08-20T12:00:01.5+02:00", "2026-08-20T10:00:01.500000Z"),
        ("2026-08-20T10:00:01", ""),
        ("yesterday", ""),
        ("0001-01-01T00:00:00+14:00", ""),
        (1_755_684_001, ""),
    ],
)
def test_a_time_is_told_in_utc_or_not_at_all(
    tmp_path: Path, work: Path, claude: Claude, timestamp: object, occurred_at: str
) -> None:
    claude.write({**claude.user("Hello"), "timestamp": timestamp})
    assert [observation.occurred_at for observation in told(tmp_path, work)] == [occurred_at]


def test_a_call_without_a_result_gives_nothing_and_a_result_without_a_call_is_counted(
    tmp_path: Path, work: Path, claude: Claude
) -> None:
    claude.write(claude.call("t1", "Bash", command="sleep 9"), claude.result("t9", "done"))
    sessions = adapter(tmp_path)
    reading = sessions.read(sessions.sources(work)[0], "", 10)
    assert (reading.observations, reading.skipped) == ((), {"a result without its call": 1})


def test_a_result_that_comes_in_a_later_reading_finds_its_call(tmp_path: Path, work: Path, claude: Claude) -> None:
    claude.write(claude.call("t1", "Bash", command="make"))
    source = adapter(tmp_path).sources(work)[0]
    mark = adapter(tmp_path).read(source, "", 10).mark
    claude.write(claude.user("meanwhile"), claude.result("t1", "built"), claude.user("thanks"))
    found = [o.payload.get("command") or o.payload["content"] for o in read_source(adapter(tmp_path), source, mark)]
    assert found == ["meanwhile", "make", "thanks"]


def test_the_mark_stays_small_though_a_thousand_calls_never_got_a_result(
    tmp_path: Path, work: Path, claude: Claude
) -> None:
    claude.write(*(claude.call(f"toolu_{n:030}", "Bash", command="x" * 1000) for n in range(1000)))
    source = adapter(tmp_path).sources(work)[0]
    mark = adapter(tmp_path).read(source, "", 10).mark
    assert len(mark) < 10_000
    claude.write(claude.result(f"toolu_{999:030}", "ok"), claude.result(f"toolu_{0:030}", "too late"))
    reading = adapter(tmp_path).read(source, mark, 10)
    assert len(reading.observations) == 1
    assert reading.skipped == {"a result without its call": 1}


# Which sessions


def test_a_session_in_a_folder_of_the_workspace_belongs_to_it(tmp_path: Path, work: Path) -> None:
    inner = Claude(tmp_path, work / "src" / "my_app")
    inner.write(inner.user("Hello"))
    assert happened(tmp_path, work) == [turn("user", "Hello")]


@pytest.mark.parametrize("name", ["my_shop.v2", "Übung 1", "Caf\u00e9", "Cafe\u0301", "\u212aelvin", "🙂", "x" * 200])
def test_a_workspace_may_be_named_as_it_likes(tmp_path: Path, name: str) -> None:
    claude = Claude(tmp_path, tmp_path / name)
    claude.write(claude.user("Hello"))
    assert happened(tmp_path, tmp_path / name) == [turn("user", "Hello")]


def test_a_session_beside_or_above_the_workspace_does_not_belong_to_it(tmp_path: Path, work: Path) -> None:
    for folder in (tmp_path, tmp_path / "work-elsewhere", tmp_path / "work_src", tmp_path / "Work2"):
        other = Claude(tmp_path, folder)
        other.write(other.user("not yours"))
    work.mkdir()
    assert adapter(tmp_path).sources(work) == []


def test_a_folder_that_is_only_named_alike_is_told_apart_by_what_the_session_says(tmp_path: Path) -> None:
    dotted, slashed = Claude(tmp_path, tmp_path / "a.b"), Claude(tmp_path, tmp_path / "a" / "b", SESSION[::-1])
    dotted.write(dotted.user("from a.b"))
    slashed.write(slashed.user("from a/b"))
    assert dotted.file.parent == slashed.file.parent
    assert happened(tmp_path, tmp_path / "a.b") == [turn("user", "from a.b")]
    assert happened(tmp_path, tmp_path / "a") == [turn("user", "from a/b")]


def test_a_session_in_a_folder_with_a_memory_of_its_own_belongs_there(tmp_path: Path, work: Path) -> None:
    inner = Claude(tmp_path, work / "vendored" / "src")
    inner.write(inner.user("Hello"))
    (work / "vendored" / ".eventloom").mkdir()
    assert happened(tmp_path, work) == []
    assert happened(tmp_path, work / "vendored") == [turn("user", "Hello")]


@pytest.mark.skipif(os.name == "nt", reason="making links needs a privilege there")
def test_a_workspace_that_is_reached_through_a_link_is_the_same(tmp_path: Path, work: Path, claude: Claude) -> None:
    claude.write(claude.user("Hello"))
    (tmp_path / "link").symlink_to(work)
    assert happened(tmp_path, tmp_path / "link") == [turn("user", "Hello")]


def test_a_session_that_names_no_folder_yet_waits(tmp_path: Path, work: Path, claude: Claude) -> None:
    claude.write({"type": "file-history-snapshot", "messageId": "m0", "snapshot": {}})
    sessions = adapter(tmp_path)
    assert sessions.sources(work) == []
    claude.write(claude.user("Hello"))
    assert len(sessions.sources(work)) == 1


def test_without_a_home_folder_there_are_no_sessions(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "expanduser", _no_home)
    assert adapter(tmp_path).sources(work) == []


def _no_home(path: Path) -> Path:
    raise RuntimeError("Could not determine home directory.")


# Reading on


def test_a_forked_session_repeats_records_under_the_same_keys_with_the_same_content(
    tmp_path: Path, work: Path, claude: Claude
) -> None:
    fork = Claude(tmp_path, work, "99999999-2222-4333-8444-555555555555")
    records = [claude.user("Hello"), claude.call("t1", "Bash", command="make"), claude.result("t1", "ok")]
    claude.write(*records)
    for number, record in enumerate(records):
        origin = {"sessionId": claude.session, "messageUuid": record["uuid"]}
        fork.write({**record, "uuid": f"new-{number}", "sessionId": fork.session, "forkedFrom": origin})
    fork.write(fork.user("Something else"))
    found = told(tmp_path, work)
    distinct = {observation.key: observation for observation in found}
    assert len(found) == 5
    assert len(distinct) == 3
    assert all(observation == distinct[observation.key] for observation in found)


def test_a_copy_without_a_note_of_its_origin_has_the_same_keys(tmp_path: Path, work: Path, claude: Claude) -> None:
    """Older versions copied records so; which of the two is captured first is then kept."""
    resumed = Claude(tmp_path, work, "99999999-2222-4333-8444-555555555555")
    record = claude.user("Hello")
    claude.write(record)
    resumed.write({"type": "summary", "summary": "Greeting", "leafUuid": record["uuid"]})
    resumed.write({**record, "sessionId": resumed.session})
    said = [observation.key for observation in told(tmp_path, work) if observation.type == "transcript.turn"]
    assert said == [f"claude-code:{record['uuid']}:0"] * 2


def test_turns_are_counted_whatever_comes_between_them(tmp_path: Path, work: Path, claude: Claude) -> None:
    claude.write(
        claude.user("one"),
        claude.user("-", isMeta=True),
        claude.call("t1", "Bash", command="ls"),
        claude.result("t1", "a.txt"),
        claude.assistant({"type": "text", "text": "two"}),
        claude.user("three"),
    )
    for limit in (1, 2, 100):
        turns = [o.payload for o in told(tmp_path, work, limit) if o.type == "transcript.turn"]
        assert [(turn["turn_index"], turn["content"]) for turn in turns] == [(0, "one"), (1, "two"), (2, "three")]


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_a_record_with_several_observations_may_be_cut_anywhere(
    tmp_path: Path, work: Path, claude: Claude, limit: int
) -> None:
    for start in range(0, 12, 3):
        calls = [
            {"type": "tool_use", "id": f"t{start + n}", "name": "Bash", "input": {"command": f"run {start + n}"}}
            for n in range(3)
        ]
        results = [{"type": "tool_result", "tool_use_id": call["id"], "content": "ok"} for call in calls]
        claude.write(claude.assistant({"type": "text", "text": "Go"}, *calls))
        claude.write(claude.user([*results, {"type": "text", "text": "and then?"}, {"type": "novelty"}]))
    sessions = adapter(tmp_path)
    source = sessions.sources(work)[0]
    found, skipped, mark, done = [], 0, "", False
    while not done:
        reading = adapter(tmp_path).read(source, mark, limit)
        assert len(reading.observations) <= limit
        found += reading.observations
        skipped += sum(reading.skipped.values())
        mark, done = reading.mark, reading.done
    assert found == told(tmp_path, work)
    assert len(found) == 4 * 5
    assert skipped == 4


def test_a_file_of_which_nothing_is_to_be_told_is_read_in_pieces(tmp_path: Path, work: Path, claude: Claude) -> None:
    claude.write(claude.user("first"), *(claude.record("progress", data="x" * 1_000_000) for _ in range(40)))
    claude.write(claude.user("last"))
    sessions = adapter(tmp_path)
    source = sessions.sources(work)[0]
    first = sessions.read(source, "", 10)
    assert (len(first.observations), first.done) == (1, False)
    assert [o.payload["content"] for o in read_source(sessions, source, first.mark)] == ["last"]


def test_a_file_that_was_cut_and_written_anew_is_read_from_its_start(
    tmp_path: Path, work: Path, claude: Claude
) -> None:
    kept, gone = claude.user("kept"), claude.user("gone")
    claude.write(kept, gone)
    sessions = adapter(tmp_path)
    source = sessions.sources(work)[0]
    before = sessions.read(source, "", 10)
    claude.file.write_bytes(b"")
    assert sessions.read(source, before.mark, 10).observations == ()
    claude.write(kept, claude.user("a longer one in its place"), claude.user("one more"))
    after = sessions.read(source, before.mark, 10)
    assert [o.payload["content"] for o in after.observations] == ["kept", "a longer one in its place", "one more"]
    assert after.observations[0] == before.observations[0]


def test_a_file_that_is_gone_gives_nothing_and_keeps_its_mark(tmp_path: Path, work: Path, claude: Claude) -> None:
    claude.write(claude.user("Hello"))
    sessions = adapter(tmp_path)
    source = sessions.sources(work)[0]
    mark = sessions.read(source, "", 10).mark
    claude.file.unlink()
    reading = sessions.read(source, mark, 10)
    assert (reading.observations, reading.mark, reading.done) == ((), mark, True)


def test_a_file_that_cannot_be_read_is_unavailable(tmp_path: Path, work: Path, claude: Claude) -> None:
    claude.write(claude.user("Hello"))
    sessions = adapter(tmp_path)
    source = sessions.sources(work)[0]
    claude.file.unlink()
    claude.file.mkdir()
    with pytest.raises(ZaxyError, match="cannot be read") as refusal:
        sessions.read(source, "", 10)
    assert refusal.value.code == "unavailable"
    assert sessions.sources(work) == []


def test_a_file_that_was_cut_while_it_was_read_is_read_from_its_start(
    tmp_path: Path, work: Path, claude: Claude
) -> None:
    """The mark was written when the file no longer reached so far."""
    claude.write(claude.user("Hello"))
    sessions = adapter(tmp_path)
    source = sessions.sources(work)[0]
    reading = sessions.read(source, '[1000000,0,0,"",{}]', 10)
    assert [observation.payload["content"] for observation in reading.observations] == ["Hello"]


@pytest.mark.parametrize(
    "mark",
    ["rubbish", "[]", "null", '["a",0,0,"",{}]', "[1e999,0,0,0,{}]", "[5,0,0,1,[]]", "[-5,0,0,1,{}]", "[0,0,-1,0,{}]"],
)
def test_a_mark_that_cannot_be_read_means_from_the_start(tmp_path: Path, work: Path, claude: Claude, mark: str) -> None:
    claude.write(claude.user("Hello"))
    sessions = adapter(tmp_path)
    assert len(sessions.read(sessions.sources(work)[0], mark, 10).observations) == 1


def test_unknown_records_unknown_blocks_and_broken_lines_are_counted_and_the_rest_is_read(
    tmp_path: Path, work: Path, claude: Claude
) -> None:
    claude.write(claude.user("Hello"), claude.record("novelty"), claude.record("novelty"), {"no": "type"})
    with claude.file.open("ab") as out:
        out.write(b'{"type": "user", broken\n\n[1, 2]\n\x00\x00\xff\n' + b"[" * 100_000 + b"\n")
    claude.write(claude.assistant({"type": "server_tool_use"}, {"type": "text", "text": "Bye"}))
    sessions = adapter(tmp_path)
    reading = sessions.read(sessions.sources(work)[0], "", 100)
    assert [o.payload["content"] for o in reading.observations] == ["Hello", "Bye"]
    assert reading.skipped == {"novelty": 2, "no type": 1, "not a JSON object": 4, "assistant/server_tool_use": 1}


def test_records_whose_fields_are_of_the_wrong_kind_raise_nothing(tmp_path: Path, work: Path, claude: Claude) -> None:
    rng = random.Random(7)
    values = [None, True, -1, 1e300, "", "text", "\ud800", [], [None], {}, {"type": "tool_use"}, [{"type": "text"}]]
    names = "type uuid cwd timestamp message toolUseResult isMeta subtype compactMetadata summary forkedFrom".split()
    claude.write(claude.user("Hello"))
    with claude.file.open("ab") as out:
        for kind in ("user", "assistant", "system", "summary"):
            for _ in range(500):
                record = claude.user(
                    [{"type": "tool_result", "tool_use_id": rng.choice(values), "content": rng.choice(values)}]
                )
                record |= {"type": kind, rng.choice(names): rng.choice(values)}
                record["message"] = rng.choice([record["message"], {"content": rng.choice(values)}])
                out.write(json.dumps(record).encode() + b"\n")
    for observation in told(tmp_path, work):
        json.dumps(dict(observation.payload), ensure_ascii=False, allow_nan=False).encode()
        assert observation.key


def test_whatever_is_cut_off_at_any_byte_every_record_comes_once(tmp_path: Path, work: Path, claude: Claude) -> None:
    for number in range(40):
        claude.write(claude.call(f"t{number}", "Bash", command="ä" * number), claude.result(f"t{number}", "ok"))
    whole = claude.file.read_bytes()
    expected = told(tmp_path, work)
    source = adapter(tmp_path).sources(work)[0]
    rng = random.Random(11)
    claude.file.write_bytes(b"")
    written, mark, found = 0, "", []
    while written < len(whole) or not found or len(found) < len(expected):
        step = rng.randrange(1, 400)
        with claude.file.open("ab") as out:
            out.write(whole[written : written + step])
        written += step
        reading = adapter(tmp_path).read(source, mark, rng.randrange(1, 5))
        found += reading.observations
        mark = reading.mark
    assert found == expected


def test_ten_thousand_records_are_read_in_a_second(tmp_path: Path, work: Path, claude: Claude) -> None:
    for number in range(0, 20_000, 4):
        claude.write(
            claude.user(f"Please fix number {number}. " + "It is important. " * 10),
            claude.assistant({"type": "text", "text": "I will look at it. " * 10}),
            claude.call(f"t{number}", "Bash", command=f"pytest -q tests/test_{number}.py"),
            claude.result(f"t{number}", "3 passed\n" * 20, {"stdout": "3 passed\n" * 20, "stderr": ""}),
        )
    sessions = adapter(tmp_path)
    source = sessions.sources(work)[0]
    best = 0.0
    for _ in range(3):  # the machine may have other work
        begun = time.process_time()
        assert len(read_source(sessions, source, limit=500)) == 15_000
        best = max(best, 20_000 / (time.process_time() - begun))
    print(f"{best:,.0f} records a second")
    assert best >= RECORDS_A_SECOND
