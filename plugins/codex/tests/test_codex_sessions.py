from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import zstandard
from codex_files import OTHER, THREAD, called, done, event, lines, meta, output, record, rollout, said, sent

from zaxy.api import Observation, ProviderContext, Source
from zaxy_codex.adapter import CodexSessions
from zaxy_codex.state import State, mark_of, state_of

FIXTURES = Path(__file__).parent / "fixtures"
TURN, COMMAND, EDIT, CALL = "transcript.turn", "command.completed", "file.edit.applied", "tool.call.completed"
PATCH = "*** Begin Patch\n*** Add File: new.py\n+a = 1\n+b = 2\n*** Update File: old.py\n@@\n-x\n+y\n*** End Patch"
Found = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "codex"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def adapter(home: Path) -> CodexSessions:
    settings = {"CODEX_HOME": str(home)}
    return CodexSessions(ProviderContext(settings, home, "id", lambda message: None, lambda: datetime.now(UTC)))


def read(home: Path, work: Path, limit: int = 100, anew: bool = False) -> list[Observation]:
    """All observations of a workspace; `anew`: each reading by a new instance, as after a restart."""
    found: list[Observation] = []
    codex = adapter(home)
    for source in codex.sources(work):
        found += read_source(codex, source, limit, (lambda: sourced(home, work)) if anew else lambda: codex)
    return found


def sourced(home: Path, work: Path) -> CodexSessions:
    codex = adapter(home)
    codex.sources(work)
    return codex


def read_source(
    codex: CodexSessions, source: Source, limit: int = 100, instance: Callable[[], CodexSessions] | None = None
) -> list[Observation]:
    found: list[Observation] = []
    mark = ""
    while True:
        reading = (instance() if instance else codex).read(source, mark, limit)
        assert len(reading.observations) <= limit
        found += reading.observations
        mark = reading.mark
        if reading.done:
            return found


def told(observations: list[Observation]) -> Found:
    return [
        (one.type, {k: v for k, v in one.payload.items() if k not in ("source", "workspace")}) for one in observations
    ]


def written(home: Path, work: Path, *records: dict[str, Any], **about: Any) -> Found:
    rollout(home).write_bytes(lines([meta(work, **about), *records]))
    return told(read(home, work))


def place_fixture(name: str, home: Path, work: Path) -> None:
    text = (FIXTURES / name).read_text(encoding="utf-8").replace("/home/dev/demo", str(work))
    rollout(home).write_text(text, encoding="utf-8")


# Both history modes


def test_a_session_in_the_older_mode_gives_each_thing_once(home: Path, work: Path) -> None:
    place_fixture("legacy.jsonl", home, work)
    assert told(read(home, work)) == [
        (TURN, {"role": "user", "content": "Run the tests", "turn_index": 0}),
        (
            COMMAND,
            {
                "command": "pytest -q --token=sk-EXAMPLEONLY",
                "exit_code": 0,
                "stdout": "3 passed",
                "duration_ms": 1250,
            },
        ),
        (
            EDIT,
            {
                "path": "a.py",
                "operation": "modified",
                "lines_added": 1,
                "lines_removed": 1,
                "hunks": [[1, 1, 1, 1]],
                "bytes_changed": 0,
            },
        ),
        (TURN, {"role": "assistant", "content": "All green.", "turn_index": 1}),
        ("transcript.compacted", {"summary": "summary of earlier turns"}),
    ]


def test_a_session_in_pages_gives_each_thing_once(home: Path, work: Path) -> None:
    place_fixture("paginated.jsonl", home, work)
    assert told(read(home, work)) == [
        (TURN, {"role": "user", "content": "Run the tests", "turn_index": 0}),
        (COMMAND, {"command": "pytest -q", "exit_code": 0, "stdout": "3 passed"}),
        (EDIT, {"path": "a.py", "operation": "modified", "lines_added": 0, "lines_removed": 0}),
        (TURN, {"role": "assistant", "content": "All green.", "turn_index": 1}),
    ]


def test_unknown_records_are_counted_by_kind(home: Path, work: Path) -> None:
    rollout(home).write_bytes(
        lines([meta(work), record("brand_new", {}), event("brand_new"), done("BrandNew"), said("still read")])
        + b"not json\n"
    )
    codex = adapter(home)
    reading = codex.read(codex.sources(work)[0], "", 100)
    assert reading.skipped == {"brand_new": 1, "event_msg brand_new": 1, "item BrandNew": 1, "unreadable": 1}
    assert [one.payload["content"] for one in reading.observations] == ["still read"]


def test_a_torn_last_line_waits_for_its_rest(home: Path, work: Path) -> None:
    place_fixture("torn-tail.jsonl", home, work)
    codex = adapter(home)
    source = codex.sources(work)[0]
    first = codex.read(source, "", 100)
    assert [one.payload["content"] for one in first.observations] == ["Run the tests"]
    with rollout(home).open("ab") as file:
        file.write(b'oad":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}}\n')
    assert [one.payload["content"] for one in codex.read(source, first.mark, 100).observations] == ["done"]


# Words


def test_words_that_come_only_as_items_are_given(home: Path, work: Path) -> None:
    found = written(home, work, sent("why?"), sent("because", "assistant"), sent("why?"))
    assert [payload["content"] for _, payload in found] == ["why?", "because", "why?"]


def test_the_same_words_said_twice_are_two_turns(home: Path, work: Path) -> None:
    found = written(home, work, sent("go on"), said("go on"), sent("go on"), said("go on"))
    assert [payload["turn_index"] for _, payload in found] == [0, 1]


def test_what_codex_adds_in_the_users_name_is_no_turn(home: Path, work: Path) -> None:
    added = ("<environment_context>\n <cwd>/x</cwd>", "# AGENTS.md instructions for /x", "<user_instructions>")
    found = written(home, work, *map(sent, added), sent("hello"), said("hello"))
    assert [payload["content"] for _, payload in found] == ["hello"]


def test_a_reasoning_is_never_given(home: Path, work: Path) -> None:
    assert written(home, work, record("response_item", {"type": "reasoning", "summary": [{"text": "hm"}]})) == []


def test_a_turn_that_is_too_long_for_the_log_is_cut_in_the_middle(home: Path, work: Path) -> None:
    ((_, payload),) = written(home, work, said("a" * 100_000 + "b" * 100_000))
    assert len(payload["content"]) == 160_000
    assert payload["content"][0] + payload["content"][-1] == "ab"


def test_half_a_surrogate_pair_is_replaced(home: Path, work: Path) -> None:
    line = json.dumps(said("x")).replace('"x"', '"\\ud83d"').encode() + b"\n"
    rollout(home).write_bytes(lines([meta(work)]) + line)
    assert told(read(home, work))[0][1]["content"] == "?"


def test_turns_taken_back_are_recorded_and_nothing_is_taken_away(home: Path, work: Path) -> None:
    found = written(home, work, said("one"), event("thread_rolled_back", num_turns=2), said("two"))
    assert [kind for kind, _ in found] == [TURN, "transcript.rolled_back", TURN]
    assert found[1][1] == {"turns": 2, "summary": "the last 2 turns were taken back"}


# Commands, edits, calls


@pytest.mark.parametrize(
    ("name", "arguments", "text", "expected"),
    [
        ("exec_command", {"cmd": "ls"}, "Process exited with code 3\nOutput:\nx", ("ls", 3, "x")),
        (
            "shell",
            {"command": ["bash", "-lc", "ls -a"]},
            "Exit code: 1\nWall time: 2 seconds\nOutput:\n",
            ("ls -a", 1, None),
        ),
        (
            "shell",
            {"command": ["git", "commit", "-m", "a b"]},
            "Exit code: 0\nOutput:\nok",
            ("git commit -m 'a b'", 0, "ok"),
        ),
        ("shell_command", {"command": "make"}, '{"output":"built","metadata":{"exit_code":2}}', ("make", 2, "built")),
        (
            "exec_command",
            {"cmd": "x"},
            "Output:\nProcess exited with code 9",
            ("x", None, "Process exited with code 9"),
        ),
    ],
)
def test_a_command_is_paired_with_what_came_back(
    home: Path, work: Path, name: str, arguments: dict[str, Any], text: str, expected: tuple[Any, ...]
) -> None:
    ((kind, payload),) = written(home, work, called(name, arguments, "c"), output(text, "c"))
    assert kind == COMMAND
    assert (payload["command"], payload.get("exit_code"), payload.get("stdout")) == expected


def test_a_command_that_runs_on_is_given_when_it_ends(home: Path, work: Path) -> None:
    records = [
        called("exec_command", {"cmd": "pytest"}, "c1"),
        output("Process running with session ID 7\nOutput:\n.", "c1"),
        called("write_stdin", {"session_id": 7, "chars": ""}, "c2"),
        output("Process running with session ID 7\nOutput:\n..", "c2"),
        called("write_stdin", {"session_id": 7, "chars": ""}, "c3"),
        output("Process exited with code 0\nOutput:\n3 passed", "c3"),
    ]
    assert written(home, work, *records) == [(COMMAND, {"command": "pytest", "exit_code": 0, "stdout": "3 passed"})]


def test_a_command_without_an_end_is_given_when_its_turn_ends(home: Path, work: Path) -> None:
    records = [
        called("exec_command", {"cmd": "npm run dev"}, "c1"),
        output("Process running with session ID 7\nOutput:\n", "c1"),
        called("exec_command", {"cmd": "sleep 99"}, "c2"),
        event("turn_aborted", reason="interrupted"),
        output("Process exited with code 1\nOutput:\n", "c2"),
    ]
    assert [payload for _, payload in written(home, work, *records)] == [
        {"command": "sleep 99"},
        {"command": "npm run dev"},
    ]


def test_a_command_that_is_told_of_twice_is_given_once(home: Path, work: Path) -> None:
    item = done("CommandExecution", id="c1", command=["ls"], exit_code=0, aggregated_output="x", status="completed")
    pair = [called("exec_command", {"cmd": "ls"}, "c1"), output("Process exited with code 0\nOutput:\nx", "c1")]
    assert len(written(home, work, pair[0], item, pair[1])) == 1
    assert len(written(home, work, *pair, item)) == 1


def test_a_patch_gives_paths_and_counts_and_none_of_its_lines(home: Path, work: Path) -> None:
    asked = record("response_item", {"type": "custom_tool_call", "name": "apply_patch", "call_id": "p", "input": PATCH})
    answer = {"type": "custom_tool_call_output", "call_id": "p", "output": "Exit code: 0\nOutput:\nSuccess."}
    found = written(home, work, asked, record("response_item", answer))
    assert found == [
        (EDIT, {"path": "new.py", "operation": "created", "lines_added": 2, "lines_removed": 0}),
        (EDIT, {"path": "old.py", "operation": "modified", "lines_added": 1, "lines_removed": 1}),
    ]


def test_a_patch_handed_to_a_shell_is_no_command(home: Path, work: Path) -> None:
    command = ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]
    found = written(home, work, called("shell", {"command": command}, "c"), output("Exit code: 0\nOutput:\n", "c"))
    assert [kind for kind, _ in found] == [EDIT, EDIT]


def test_a_patch_that_failed_edits_nothing(home: Path, work: Path) -> None:
    changes = {str(work / "a.py"): {"type": "add", "content": "secret lines\n"}}
    found = written(home, work, event("patch_apply_end", call_id="p", success=False, changes=changes))
    assert found == [(CALL, {"tool_name": "apply_patch", "status": "error", "argument_keys": []})]


def test_the_lines_of_added_deleted_and_moved_files_are_counted(home: Path, work: Path) -> None:
    changes = {
        "a.py": {"type": "add", "content": "1\n2\n3\n"},
        "b.py": {"type": "delete", "content": "1\n"},
        "c.py": {"type": "update", "unified_diff": "--- c\n+++ d\n@@ -4 +4,2 @@\n-1\n+2\n+3\n", "move_path": "d.py"},
        "/elsewhere/e.py": {"type": "update", "unified_diff": "+1"},
    }
    found = written(home, work, event("patch_apply_end", call_id="p", success=True, changes=changes))
    shown = [tuple(payload.values()) for _, payload in found]
    assert shown == [
        ("a.py", "created", 3, 0, [[1, 0, 1, 3]], [0, 3], [0, 6]),
        ("b.py", "deleted", 0, 1),
        ("d.py", "renamed", 2, 1, [[4, 1, 4, 2]], 2, "c.py"),
        ("/elsewhere/e.py", "modified", 1, 0),
    ]


def test_of_a_tools_arguments_only_the_names_are_kept(home: Path, work: Path) -> None:
    asked = called("update_plan", {"plan": "the plan is secret", "explanation": "so is this"}, "c")
    found = written(home, work, asked, output("Plan updated", "c"))
    assert found == [
        (
            CALL,
            {
                "tool_name": "update_plan",
                "status": "ok",
                "argument_keys": ["explanation", "plan"],
                "result_summary": "text of 12 characters",
            },
        )
    ]


def test_a_call_to_an_mcp_tool_is_given_once(home: Path, work: Path) -> None:
    end = event(
        "mcp_tool_call_end",
        call_id="c",
        invocation={"server": "db", "tool": "query", "arguments": {"sql": "select"}},
        duration={"secs": 1, "nanos": 500_000_000},
        result={"Err": "no such table"},
    )
    found = written(home, work, called("db__query", {"sql": "select"}, "c"), end, output("no such table", "c"))
    assert [(payload["tool_name"], payload["status"]) for _, payload in found] == [("mcp__db__query", "error")]
    assert found[0][1]["duration_ms"] == 1500


def test_calls_of_memorys_own_tools_are_left_to_the_server(home: Path, work: Path) -> None:
    asked = {"server": "zaxy", "tool": "memory_checkout", "arguments": {"query": "x"}}
    records = [
        event("mcp_tool_call_end", call_id="a", invocation=asked, result={"Ok": {}}),
        done("McpToolCall", id="b", **asked, status="completed"),
        *(called("mcp__zaxy__memory_query", {"query": "x"}, "c"), output("found", "c")),
    ]
    assert written(home, work, *records) == []


def test_an_observation_says_in_which_session_and_folder_it_was_made(home: Path, work: Path) -> None:
    (work / "sub").mkdir()
    rollout(home).write_bytes(lines([meta(work / "sub"), said("x")]))
    (one,) = read(home, work)
    assert (one.payload["source"], one.payload["workspace"]) == (f"codex:{THREAD}", str(work / "sub"))


def test_the_time_of_an_observation_is_the_records(home: Path, work: Path) -> None:
    one = {**said("x"), "timestamp": "2026-08-20T12:00:00.5+02:00"}
    rollout(home).write_bytes(lines([meta(work), one, {**said("y"), "timestamp": "2026-13-45T99:00:00.000Z"}]))
    assert [found.occurred_at for found in read(home, work)] == ["2026-08-20T10:00:00.500000Z", ""]


# Which files, and which part of them


@pytest.mark.parametrize("folder", ["sessions/2026/08/20", "archived_sessions", "archived_sessions/2026"])
@pytest.mark.parametrize("ending", ["", ".zst"])
def test_a_session_has_the_same_keys_wherever_and_however_it_is_kept(
    home: Path, work: Path, folder: str, ending: str
) -> None:
    data = lines([meta(work), said("one"), said("two")])
    path = rollout(home, folder=folder, ending=ending)
    path.write_bytes(zstandard.compress(data, 3) if ending else data)
    start = len(lines([meta(work)]))
    assert [one.key for one in read(home, work)] == [
        f"codex:{THREAD}:{start}",
        f"codex:{THREAD}:{start + len(lines([said('one')]))}",
    ]


def test_a_file_that_is_compressed_between_two_readings_is_read_on(home: Path, work: Path) -> None:
    data = lines([meta(work), *(said(f"turn {number}") for number in range(20))])
    rollout(home).write_bytes(data)
    codex = adapter(home)
    source = codex.sources(work)[0]
    first = codex.read(source, "", 7)
    rollout(home, ending=".zst").write_bytes(zstandard.compress(data))
    rollout(home).unlink()
    second = codex.read(source, first.mark, 100)
    contents = [one.payload["content"] for one in (*first.observations, *second.observations)]
    assert contents == [f"turn {number}" for number in range(20)]
    assert second.done


def test_while_a_file_is_compressed_the_plain_one_counts(home: Path, work: Path) -> None:
    rollout(home).write_bytes(lines([meta(work), said("whole")]))
    rollout(home, ending=".zst").write_bytes(b"half of a fra")
    assert [one.payload["content"] for one in read(home, work)] == ["whole"]


def test_a_compressed_file_that_was_read_is_not_opened_again(
    home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rollout(home, ending=".zst").write_bytes(zstandard.compress(lines([meta(work), said("x")])))
    codex = adapter(home)
    source = codex.sources(work)[0]
    mark = codex.read(source, "", 10).mark
    monkeypatch.setattr("zaxy_codex.lines._opened", lambda path: pytest.fail("it was opened"))
    assert codex.read(source, mark, 10) == codex.read(source, mark, 10)


def test_a_broken_compressed_file_is_told_of(home: Path, work: Path) -> None:
    data = zstandard.compress(lines([meta(work), *(said(os.urandom(400).hex()) for _ in range(2000))]))
    path = rollout(home, ending=".zst")
    path.write_bytes(data)
    codex = adapter(home)
    source = codex.sources(work)[0]
    path.write_bytes(b"this is no frame" + data)
    with pytest.raises(Exception, match="cannot be read"):
        codex.read(source, "", 10)


def test_a_session_of_another_folder_is_not_found(home: Path, work: Path) -> None:
    rollout(home).write_bytes(lines([meta(f"{work}-other"), said("not ours")]))
    rollout(home, OTHER).write_bytes(lines([meta(work.parent), said("not ours either")]))
    assert adapter(home).sources(work) == []


def test_a_session_in_a_folder_below_belongs_to_the_workspace(home: Path, work: Path) -> None:
    (work / "sub").mkdir()
    rollout(home).write_bytes(lines([meta(work / "sub"), said("ours")]))
    assert len(read(home, work)) == 1


def test_a_folder_below_that_has_a_memory_of_its_own_is_another_workspace(home: Path, work: Path) -> None:
    (work / "sub" / ".eventloom").mkdir(parents=True)
    rollout(home).write_bytes(lines([meta(work / "sub" / "deep"), said("its own")]))
    assert adapter(home).sources(work) == []
    assert len(read(home, work / "sub")) == 1


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_workspace_reached_through_a_link_is_the_same(home: Path, work: Path) -> None:
    link = work.parent / "link"
    link.symlink_to(work)
    rollout(home).write_bytes(lines([meta(link), said("ours")]))
    assert len(read(home, work)) == len(read(home, link)) == 1


def test_only_the_turns_that_worked_in_the_workspace_are_given(home: Path, work: Path) -> None:
    def moved(folder: Path) -> dict[str, Any]:
        return record("turn_context", {"turn_id": "t", "cwd": str(folder), "model": "x"})

    elsewhere = work.parent / "elsewhere"
    records = [meta(elsewhere), said("theirs"), moved(work), said("ours"), moved(elsewhere), said("theirs again")]
    rollout(home).write_bytes(lines(records))
    assert [one.payload["content"] for one in read(home, work)] == ["ours"]
    assert [one.payload["content"] for one in read(home, work, limit=1, anew=True)] == ["ours"]
    assert [one.payload["content"] for one in read(home, elsewhere)] == ["theirs", "theirs again"]


def test_a_session_that_comes_to_the_workspace_later_is_found_then(home: Path, work: Path) -> None:
    codex = adapter(home)
    rollout(home).write_bytes(lines([meta(work.parent), said("theirs")]))
    assert codex.sources(work) == []
    with rollout(home).open("ab") as file:
        file.write(lines([record("turn_context", {"cwd": str(work)}), said("ours")]))
    assert len(codex.sources(work)) == 1


# Sessions that begin as a copy


@pytest.mark.parametrize("named_as", ["forked_from_id", "parent_thread_id"])
def test_what_a_fork_repeats_of_its_parent_is_not_given_again(home: Path, work: Path, named_as: str) -> None:
    early, late = "2026-08-20T09:00:00.000Z", "2026-08-20T11:00:00.000Z"
    shared = [{**said(text), "timestamp": early} for text in ("one", "two", "three")]
    parent = [meta(work), *shared, {**said("only in the parent"), "timestamp": late}]
    rollout(home).write_bytes(lines(parent))
    copied = [{**one, "timestamp": "2026-08-20T10:00:00.000Z"} for one in (meta(work), *shared[:2])]
    own = meta(work, OTHER, **{named_as: THREAD})
    rollout(home, OTHER).write_bytes(lines([own, *copied, said("only in the fork"), said("three")]))
    contents = [one.payload["content"] for one in read(home, work)]
    assert sorted(contents) == ["one", "only in the fork", "only in the parent", "three", "three", "two"]
    assert contents == [one.payload["content"] for one in read(home, work, limit=1, anew=True)]


def test_records_of_another_history_that_a_session_builds_on_are_not_its_own(home: Path, work: Path) -> None:
    base = {"thread_id": THREAD, "end_ordinal_exclusive": 5, "end_byte_offset": 100}
    about = meta(work, OTHER, history_mode="paginated", history_base=base, forked_from_id=THREAD)
    records = [{**about, "ordinal": 5}, {**said("copied"), "ordinal": 4}, {**said("own"), "ordinal": 6}]
    rollout(home, OTHER).write_bytes(lines(records))
    assert [one.payload["content"] for one in read(home, work)] == ["own"]


def test_a_fork_whose_parent_is_gone_is_read_as_it_is(home: Path, work: Path) -> None:
    rollout(home, OTHER).write_bytes(lines([meta(work, OTHER, forked_from_id=THREAD), said("kept")]))
    assert [one.payload["content"] for one in read(home, work)] == ["kept"]


# Marks


def busy_session(work: Path, turns: int) -> list[dict[str, Any]]:
    found = [meta(work)]
    for n in range(turns):
        text = f"question {n % 3}"
        found += [
            *(record("turn_context", {"turn_id": f"t{n}", "cwd": str(work)}), sent(text), said(text)),
            *(called("exec_command", {"cmd": f"run {n}"}, f"a{n}"), called("view", {"path": "x"}, f"b{n}")),
            *(output("Process exited with code 0\nOutput:\nok", f"a{n}"), output("seen", f"b{n}")),
            event("patch_apply_end", call_id=f"p{n}", success=True, changes={f"{i}.py": {} for i in range(3)}),
            *(sent("done", "assistant"), said("done", "assistant"), event("task_complete", turn_id=f"t{n}")),
        ]
    return found


@pytest.mark.parametrize("ending", ["", ".zst"])
@pytest.mark.parametrize("limit", [1, 2, 7])
def test_it_does_not_matter_how_much_is_read_at_a_time_nor_by_whom(
    home: Path, work: Path, limit: int, ending: str
) -> None:
    data = lines(busy_session(work, 4))
    rollout(home, ending=ending).write_bytes(zstandard.compress(data) if ending else data)
    whole = read(home, work, limit=1000)
    assert len(whole) == 4 * 7
    assert read(home, work, limit) == read(home, work, limit, anew=True) == whole


def test_a_session_cut_at_any_byte_is_read_on_from_there(home: Path, work: Path) -> None:
    data = lines(busy_session(work, 2))
    rollout(home).write_bytes(data)
    whole = read(home, work)
    randomly = random.Random(20260820)
    for cut in randomly.sample(range(len(data)), 60):
        rollout(home).write_bytes(data[:cut])
        codex = adapter(home)
        sources = codex.sources(work)
        first = codex.read(sources[0], "", 1000) if sources else None
        rollout(home).write_bytes(data)
        source = codex.sources(work)[0]
        rest = codex.read(source, first.mark if first else "", 1000)
        assert [*(first.observations if first else ()), *rest.observations] == whole, cut


def test_nothing_that_was_said_or_typed_is_in_a_mark(home: Path, work: Path) -> None:
    records = [said("the password is hunter2"), called("exec_command", {"cmd": "login --password hunter2"}, "c")]
    rollout(home).write_bytes(lines([meta(work), *records]))
    codex = adapter(home)
    assert "hunter2" not in codex.read(codex.sources(work)[0], "", 100).mark


def test_a_file_that_was_written_anew_is_read_from_its_start(home: Path, work: Path) -> None:
    rollout(home).write_bytes(lines([meta(work), *(said(f"a much longer turn {n}") for n in range(9))]))
    codex = adapter(home)
    source = codex.sources(work)[0]
    mark = codex.read(source, "", 100).mark
    rollout(home).write_bytes(lines([meta(work), said("short")]))
    assert [one.payload["content"] for one in codex.read(source, mark, 100).observations] == ["short"]


@pytest.mark.parametrize("mark", ["", "x", "[]", "1", '{"format":99}', '{"format":1,"calls":[1]}', '{"file":[1]}'])
def test_a_mark_that_cannot_be_read_means_the_start(mark: str) -> None:
    assert state_of(mark) == (State(), None)


def test_a_mark_keeps_a_state_whole() -> None:
    state = State(9, 1, "t", True, "b", 2, "p", 3, "/f", 4, ("user",), ("d",), (("c", 5),), (("7", 6),), ("e",))
    assert state_of(mark_of(state, (10, 11))) == (state, (10, 11))


def test_a_line_that_is_too_long_to_be_looked_at_is_passed_over(
    home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zaxy_codex.lines.MAX_LINE_CHARS", 4096)
    rollout(home).write_bytes(lines([meta(work), said("x" * 10_000), said("short")]))
    codex = adapter(home)
    reading = codex.read(codex.sources(work)[0], "", 100)
    assert [one.payload["content"] for one in reading.observations] == ["short"]
    assert reading.skipped == {"unreadable": 1}
