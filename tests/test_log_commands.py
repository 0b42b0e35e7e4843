"""The commands about the log, as a person or a script runs them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from conftest import Zaxy

CITATION = re.compile(r"eventloom://here-default/events/(\d+)#[0-9a-f]{64}")


def append(zaxy: Zaxy, text: str, *more: str) -> str:
    done = zaxy("append", "note.taken", "--payload", json.dumps({"text": text}), *more)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_append_prints_the_citation_and_uses_the_default_session(zaxy: Zaxy, tmp_path: Path) -> None:
    assert CITATION.fullmatch(append(zaxy, "a"))
    assert (tmp_path / "here" / ".eventloom" / "here-default.jsonl").is_file()
    reply = json.loads(append(zaxy, "b", "--json", "--idempotency-key", "k"))
    assert set(reply) == {"seq", "id", "hash", "citation", "session_id"}
    again = json.loads(append(zaxy, "b", "--json", "--idempotency-key", "k"))
    assert again == {**reply, "replayed": True}


def test_two_projects_never_share_a_default_session(zaxy: Zaxy, tmp_path: Path) -> None:
    sessions = set()
    for name in ("one", "Two Words", "日本"):
        (tmp_path / name).mkdir()
        done = zaxy("append", "note.taken", "--payload", "{}", "--json", cwd=tmp_path / name)
        sessions.add(json.loads(done.stdout)["session_id"])
    assert {"one-default", "two-words-default"} < sessions
    assert any(re.fullmatch(r"ws-[0-9a-f]{8}-default", session) for session in sessions)


def test_the_thread_and_domain_settings_choose_the_session(zaxy: Zaxy) -> None:
    def session(**env: str) -> str:
        return str(json.loads(zaxy("append", "note.taken", "--payload", "{}", "--json", **env).stdout)["session_id"])

    assert session(EVENTLOOM_THREAD="mine") == "mine"
    assert session(ZAXY_DOMAIN="acme") == "acme-default"


def test_a_payload_comes_from_standard_input_too(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "zaxy", "append", "note.taken", "--payload", "-"],
        input='{"text": "piped"}',
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("note.taken", "--payload", "{"), 2, "is not JSON"),
        (("note.taken", "--payload", '{"a":' * 5_000 + "1" + "}" * 5_000), 2, "nested more than 64 deep"),
        (("note.taken", "--payload", "[]"), 2, "Send a JSON object"),
        (("note.taken", "--payload", '{"n": NaN}'), 2, "not a finite number"),
        (("note", "--payload", "{}"), 2, "dotted lower-case words"),
        (("event.erased", "--payload", "{}"), 1, "only Zaxy itself writes"),
        (("note.taken", "--payload", "{}", "--actor", "zaxy"), 1, "is Zaxy itself"),
        (("note.taken", "--payload", "{}", "--session-id", "../x"), 2, "is not a session id"),
        (("note.taken", "--payload", "{}", "--sensitivity", "cosmic"), 2, "is not a sensitivity"),
    ],
)
def test_bad_input_is_refused_with_what_to_do_and_nothing_is_written(
    zaxy: Zaxy, tmp_path: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = zaxy("append", *arguments)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert not list((tmp_path / "here").rglob("*.jsonl"))


def test_replay_of_a_damaged_log_as_json_is_json_with_what_stands_before_the_damage(zaxy: Zaxy, tmp_path: Path) -> None:
    for text in ("one", "two", "three"):
        append(zaxy, text, "--session-id", "s")
    (log,) = tmp_path.rglob("s.jsonl")
    log.write_bytes(log.read_bytes().replace(b"two", b"two!"))
    done = zaxy("replay", "s", "--json")
    assert done.returncode == 1
    reply = json.loads(done.stdout)
    assert [event["payload"] for event in reply["events"]] == [{"text": "one"}]
    assert "event 2 of s is damaged" in reply["error"]["message"]


def test_replay_prints_a_bounded_range_of_a_session_or_a_log_file(zaxy: Zaxy, tmp_path: Path) -> None:
    for number in range(5):
        append(zaxy, f"number {number}")
    assert [line.split()[0] for line in zaxy("replay").stdout.splitlines()] == ["1", "2", "3", "4", "5"]
    ranged = zaxy("replay", ".eventloom/here-default.jsonl", "--from-seq", "2", "--to-seq", "3", "--json")
    events = json.loads(ranged.stdout)["events"]
    assert [event["payload"]["text"] for event in events] == ["number 1", "number 2"]
    assert "salt" not in events[0]
    assert zaxy("replay", "--from-seq", "3", "--to-seq", "2").returncode == 2
    assert zaxy("replay", "nobody").returncode == 1


def test_a_terminal_is_not_steered_by_what_an_event_says(zaxy: Zaxy) -> None:
    append(zaxy, "red \x1b[31m and \x07 bell\nand a line")
    assert "\x1b" not in zaxy("replay").stdout
    assert len(zaxy("replay").stdout.splitlines()) == 1


def test_verify_proves_all_sessions_and_notices_a_changed_byte(zaxy: Zaxy, tmp_path: Path) -> None:
    head = append(zaxy, "a")
    append(zaxy, "b", "--session-id", "other")
    assert zaxy("verify", "--all").stdout.count(": ok, 1 events") == 2
    assert zaxy("verify", "--since", head).returncode == 0
    file = tmp_path / "here" / ".eventloom" / "other.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"text":"b"', b'"text":"c"'))
    done = zaxy("verify", "--all", "--json")
    assert done.returncode == 1
    damage = next(row["damage"] for row in json.loads(done.stdout)["sessions"] if not row["ok"])
    assert damage["seq"] == 1
    refused = zaxy("append", "note.taken", "--payload", "{}", "--session-id", "other")
    assert (refused.returncode, "damaged" in refused.stderr) == (1, True)
    assert "damaged" in zaxy("sessions").stdout
    assert zaxy("repair", "other").returncode == 1


def test_verify_since_notices_a_log_that_was_cut_back(zaxy: Zaxy, tmp_path: Path) -> None:
    append(zaxy, "a")
    file = tmp_path / "here" / ".eventloom" / "here-default.jsonl"
    early = file.read_bytes()
    head = append(zaxy, "b")
    file.write_bytes(early)
    done = zaxy("verify", "--since", head)
    assert (done.returncode, "cut back" in done.stdout) == (1, True)


def test_after_an_older_copy_was_put_back_for_a_damaged_log_repair_says_what_accepts_it(
    zaxy: Zaxy, tmp_path: Path
) -> None:
    append(zaxy, "tea")
    file = tmp_path / "here" / ".eventloom" / "here-default.jsonl"
    early = file.read_bytes()
    append(zaxy, "milk")
    assert zaxy("query", "milk").returncode == 0
    file.write_bytes(file.read_bytes().replace(b"tea", b"tee"))
    assert "zaxy repair here-default" in zaxy("verify").stderr
    file.write_bytes(early)
    assert "'zaxy repair here-default' lets it be written again" in zaxy("verify").stderr
    repaired = zaxy("repair")
    assert (repaired.returncode, repaired.stdout) == (0, "here-default can be written again\n")
    assert "it ends at event 1, and event 2 was seen here" in repaired.stderr
    assert "'zaxy followers rebuild --session-id here-default' accepts it" in repaired.stderr
    assert append(zaxy, "sugar").startswith("eventloom://here-default/events/2#")


def test_forget_erases_only_with_hard_and_leaves_no_trace_of_the_text(zaxy: Zaxy, tmp_path: Path) -> None:
    cited = append(zaxy, "UNWANTED-TEXT")
    assert zaxy("forget", cited).returncode == 2
    assert zaxy("forget", cited, "--hard", "--reason", "asked").returncode == 0
    for file in (tmp_path / "here" / ".eventloom").rglob("*"):
        assert not file.is_file() or b"UNWANTED-TEXT" not in file.read_bytes()
    assert "1 erased" in zaxy("verify").stdout
    assert "(erased)" in zaxy("replay").stdout
    assert zaxy("forget", cited, "--hard").returncode == 1


def test_refs_are_set_listed_and_resolved(zaxy: Zaxy) -> None:
    first = append(zaxy, "a")
    append(zaxy, "b")
    assert zaxy("refs", "update", "refs/heads/main", first).returncode == 0
    assert json.loads(zaxy("refs", "list", "--json").stdout)["refs"] == {"refs/heads/main": first}
    assert json.loads(zaxy("refs", "resolve", "refs/heads/main", "--json").stdout)["citation"] == first
    assert zaxy("refs", "resolve", "refs/heads/none").returncode == 1
    assert zaxy("refs", "update", "../x").returncode == 2


def interrupted(process: subprocess.Popen[str]) -> int:
    """The exit code once it has ended. Python loses an interrupt that comes while it clears something away, and a
    person would press the keys again."""
    for _ in range(10):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=20)
    raise AssertionError("it goes on")


def test_tail_follows_a_log_as_it_grows(zaxy: Zaxy, tmp_path: Path) -> None:
    append(zaxy, "before")
    following = subprocess.Popen(
        [sys.executable, "-m", "zaxy", "tail", "-f", "--json"], cwd=tmp_path / "here", stdout=subprocess.PIPE, text=True
    )
    try:
        assert following.stdout is not None
        assert json.loads(following.stdout.readline())["payload"]["text"] == "before"
        append(zaxy, "after")
        assert json.loads(following.stdout.readline())["payload"]["text"] == "after"
    finally:
        assert interrupted(following) == 130


def test_a_secret_is_taken_out_before_it_reaches_the_disk(zaxy: Zaxy, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    append(zaxy, f"use {token} for the push")
    data = (tmp_path / "here" / ".eventloom" / "here-default.jsonl").read_bytes()
    assert token.encode() not in data
    event = json.loads(zaxy("replay", "--json").stdout)["events"][0]
    assert event["payload"]["text"] == "use [redacted:github_token] for the push"
    assert event["redacted"] == [{"kind": "github_token", "pointer": "/text"}]
