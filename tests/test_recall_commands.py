"""`zaxy query | verbatim | invalidate | followers`, as a person or a script runs them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Zaxy
from folders import made_folder
from zaxy.memory import Memory

ROW_KEYS = {
    *("content", "citation", "source_lane", "score", "score_explanation", "event_type", "actor"),
    *("valid_from", "valid_to", "metadata"),
}
Append = Callable[..., str]
ANSWER_KEYS = {"results", "tokens_used", "truncated", "next_cursor", "warnings", "notices"}


@pytest.fixture
def append(zaxy: Zaxy, tmp_path: Path) -> Append:
    """Append an event where the commands will look, without a process of its own; its citation."""

    def write(event_type: str, session: str = "", **payload: object) -> str:
        with Memory.open(made_folder(tmp_path / "here")) as memory:
            return memory.append(event_type, payload, actor="ada", session=session).citation

    return write


def asked(zaxy: Zaxy, *arguments: str, **env: str) -> dict[str, Any]:
    done = zaxy(*arguments, "--json", **env)
    assert done.returncode == 0, done.stderr + done.stdout
    reply = json.loads(done.stdout)
    assert isinstance(reply, dict)
    return reply


def test_query_prints_rows_with_short_citations(zaxy: Zaxy, append: Append) -> None:
    citation = append("fact.recorded", key="port", fact="the port is \x1b[31m8080", occurred_at="2026-01-01")
    done = zaxy("query", "which port?")
    assert done.returncode == 0
    text, *source = done.stdout.splitlines()
    short = re.search(r"eventloom://here-default/events/1#[0-9a-f]{12}$", source[-1])
    assert short and citation.startswith(short.group())
    assert "fact by ada, 2026-01-01, score " in source[0]
    assert text == "the port is [31m8080 · key: port"
    nothing = zaxy("query", "zebra")
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (0, "", "nothing found\n")


def test_query_as_json_has_the_documented_shape(zaxy: Zaxy, append: Append) -> None:
    citation = append("fact.recorded", key="port", fact="the port is 8080")
    reply = asked(zaxy, "query", "port")
    assert set(reply) == ANSWER_KEYS
    (row,) = reply["results"]
    assert set(row) == {*ROW_KEYS, "entity_name", "entity_type"}
    assert (row["citation"], row["entity_name"], row["entity_type"]) == (citation, "port", "fact")
    assert (reply["truncated"], reply["next_cursor"], reply["warnings"], reply["notices"]) == (False, None, [], [])
    assert reply["tokens_used"] > 0


def test_query_tells_what_held_then_and_what_was_known_then(zaxy: Zaxy, append: Append) -> None:
    append("fact.recorded", key="port", fact="the port is 8080", occurred_at="2026-01-01")
    append("fact.recorded", key="port", fact="the port is 9090", occurred_at="2026-02-01")
    for arguments, wanted in (((), "9090"), (("--as-of", "2026-01-15"), "8080"), (("--known-at", "1"), "8080")):
        (row,) = asked(zaxy, "query", "port", *arguments)["results"]
        assert wanted in row["content"]
    assert " to 2026-02-01" in zaxy("query", "port", "--as-of", "2026-01-15").stdout


def test_pages_go_on_with_the_cursor(zaxy: Zaxy, append: Append) -> None:
    for number in range(5):
        append("transcript.turn", role="user", content=f"remark {number} on the lamp")
    for command in ("query", "verbatim"):
        first = zaxy(command, "lamp", "--limit", "3")
        cursor = re.search(r"more with --cursor (\S+)", first.stderr)
        assert cursor
        second = zaxy(command, "lamp", "--limit", "3", "--cursor", cursor.group(1))
        shown = re.findall(r"events/(\d+)#", first.stdout + second.stdout)
        assert sorted(shown) == ["1", "2", "3", "4", "5"]
        assert "more with" not in second.stderr


def test_verbatim_tells_where_a_text_stands_and_needs_no_graph(zaxy: Zaxy, append: Append) -> None:
    append("document.indexed", path="docs/lamp.md", content="first\nthe lamp is out\nlast", start_line=7)
    append("transcript.turn", role="user", content="the lamp again", source="chat/1", turn_index=4)
    reply = asked(zaxy, "verbatim", "lamp", PROJECTION_BACKEND="nobody")
    assert set(reply) == ANSWER_KEYS
    places = {row["event_type"]: row["metadata"] for row in reply["results"]}
    place = {"kind": "document", "path": "docs/lamp.md", "start_line": 7, "end_line": 9}
    assert places["document.indexed"] == place
    assert places["transcript.turn"] == {"kind": "transcript", "source": "chat/1", "turn_index": 4}
    refused = zaxy("query", "lamp", PROJECTION_BACKEND="nobody")
    assert refused.returncode == 1
    assert "'nobody'" in refused.stderr and "sqlite" in refused.stderr
    as_json = zaxy("query", "lamp", "--json", PROJECTION_BACKEND="nobody")
    assert (as_json.returncode, json.loads(as_json.stdout)["error"]["code"]) == (1, "not_found")


def test_invalidate_ends_an_entity_by_the_name_that_a_query_shows(zaxy: Zaxy, append: Append) -> None:
    append("decision.made", decision="use Postgres")
    (row,) = asked(zaxy, "query", "Postgres")["results"]
    done = zaxy("invalidate", row["entity_name"], "--type", row["entity_type"], "--reason", "too slow", "--json")
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) == {"seq", "id", "hash", "citation", "session_id"}
    assert not [r for r in asked(zaxy, "query", "Postgres")["results"] if r["event_type"] == "decision.made"]
    again = zaxy("invalidate", row["entity_name"], "--type", "decision")
    assert (again.returncode, "has no open" in again.stderr) == (1, True)
    assert "its type counts too" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("query", "lamp", "--as-of", "someday"), 2, "2026-06-15"),
        (("query", "lamp", "--profile", "fast"), 2, "balanced, recall, precision, temporal"),
        (("query", "lamp", "--cursor", "abc"), 2, "Send it with the question that gave it"),
        (("query", "lamp", "--session-id", "../x"), 2, "is not a session id"),
        (("query", ""), 2, "Ask with a few words"),
        (("query", "x" * 5000), 1, "Shorten it"),
        (("query", "lamp", "--limit", "0"), 2, "limit"),
        (("verbatim", " "), 2, "Ask with a few words"),
        (("invalidate", "lamp"), 2, "--type"),
        (("invalidate", "lamp", "--type", "fact", "--at", "soon"), 2, "2026-06-15"),
        (("followers", "rebuild", "nobody"), 1, "There are text, graph"),
        (("followers", "status", "--all", "--session-id", "x"), 2, "Leave one of them out"),
        (("follower",), 2, "Did you mean 'zaxy followers"),
    ],
)
def test_bad_input_is_refused_with_what_to_do(
    zaxy: Zaxy, append: Append, arguments: tuple[str, ...], code: int, said: str
) -> None:
    append("note.taken", text="lamp")
    done = zaxy(*arguments)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr


def test_an_odd_question_gets_a_notice(zaxy: Zaxy, append: Append) -> None:
    append("note.taken", text="lamp")
    done = zaxy("query", "what is it?")
    assert (done.returncode, done.stdout) == (0, "")
    assert "notice: the query has nothing but common words" in done.stderr


# Followers


def test_followers_tell_where_they_are_and_a_rebuild_changes_nothing(
    zaxy: Zaxy, append: Append, tmp_path: Path
) -> None:
    for number in range(3):
        append("note.taken", text=f"lamp {number}")
    before = zaxy("followers", "status")
    assert before.stdout.splitlines() == [
        "here-default  text  event 0  3 events behind",
        "here-default  graph  event 0  3 events behind",
    ]
    zaxy("query", "lamp")
    rows = asked(zaxy, "followers", "status")["followers"]
    place = {"session_id": "here-default", "state": "current", "seq": 3, "behind": 0, "problem": ""}
    assert rows == [{**place, "follower": name} for name in ("text", "graph")]
    digests = asked(zaxy, "followers", "digest")
    assert set(digests["here-default"]) == {"text", "graph"}
    rebuilt = zaxy("followers", "rebuild")
    assert rebuilt.returncode == 0
    assert rebuilt.stdout.count("up to date") == 2
    assert asked(zaxy, "followers", "digest") == digests
    shutil.rmtree(tmp_path / "here" / ".eventloom" / "followers")
    assert asked(zaxy, "followers", "digest") == digests
    listed = zaxy("followers", "digest").stdout.split()
    assert listed == [w for name, digest in digests["here-default"].items() for w in (digest, "here-default", name)]


def test_one_follower_or_all_sessions_can_be_rebuilt(zaxy: Zaxy, append: Append) -> None:
    append("note.taken", text="lamp")
    append("note.taken", "other", text="lamp")
    assert zaxy("followers", "rebuild", "graph").returncode == 0
    states = asked(zaxy, "followers", "rebuild", "--all")["followers"]
    assert [(row["session_id"], row["follower"]) for row in states] == [
        *(("here-default", "text"), ("here-default", "graph"), ("other", "text"), ("other", "graph")),
    ]
    assert {row["state"] for row in states} == {"current"}


def test_a_log_that_was_cut_back_is_told_until_a_rebuild(zaxy: Zaxy, append: Append, tmp_path: Path) -> None:
    for number in range(4):
        append("note.taken", text=f"lamp {number}")
    zaxy("query", "lamp")
    (log,) = tmp_path.rglob("here-default.jsonl")
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:2]))
    done = zaxy("query", "lamp")
    assert done.returncode == 0
    assert done.stderr.count("warning: ") == 2 and "zaxy followers rebuild" in done.stderr
    status = zaxy("followers", "status", "--json")
    assert status.returncode == 1
    assert {row["state"] for row in json.loads(status.stdout)["followers"]} == {"frozen"}
    assert zaxy("followers", "rebuild").returncode == 0
    assert zaxy("followers", "status").returncode == 0
    assert "warning" not in zaxy("query", "lamp").stderr


def test_forget_leaves_no_text_under_the_folder(zaxy: Zaxy, append: Append, tmp_path: Path) -> None:
    append("note.taken", text="the harmless lamp")
    citation = append("decision.made", decision="the quixzbarq lamp", key="quixzbarq")
    for command in ("query", "verbatim"):
        assert "quixzbarq" in zaxy(command, "quixzbarq").stdout
    done = zaxy("forget", citation, "--hard", "--reason", "it was private")
    assert done.returncode == 0, done.stderr
    held = [path for path in (tmp_path / "here").rglob("*") if path.is_file() and b"quixzbarq" in path.read_bytes()]
    assert held == []
    for command in ("query", "verbatim"):
        done = zaxy(command, "lamp")
        assert "harmless" in done.stdout and "quixzbarq" not in done.stdout and "warning" not in done.stderr
    assert zaxy("verify").returncode == 0
