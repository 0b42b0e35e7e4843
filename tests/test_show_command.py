"""`zaxy show`: the event behind a citation, as a person or a script opens it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Zaxy
from folders import made_folder
from zaxy.memory import Memory


@pytest.fixture
def memory(zaxy: Zaxy, tmp_path: Path) -> Memory:
    return Memory.open(made_folder(tmp_path / "here"))


def test_a_citation_opens_the_event_that_says_it(zaxy: Zaxy, memory: Memory) -> None:
    cause = memory.append("note.taken", {"text": "the lamp is out"}, actor="bob", session="work").citation
    payload = {"decision": "Buy a lamp", "key": "lamp", "reason": "it is dark"}
    event = memory.append(
        "decision.made", payload, actor="ann", session="work", sensitivity="confidential", caused_by=cause
    )
    for citation in (event.citation, event.citation[: -(64 - 12)]):
        done = zaxy("show", citation)
        assert done.returncode == 0, done.stderr
        head, text = done.stdout.rstrip("\n").split("\n\n")
        title, *rows = head.splitlines()
        assert title == "decision.made by ann"
        assert dict(row.split(maxsplit=1) for row in rows if not row.startswith("caused by")) == {
            "time": f"{event.time[:10]} {event.time[11:19]} UTC",
            "session": "work",
            "event": f"2 ({event.id})",
            "hash": event.hash,
            "sensitivity": "confidential",
            "citation": event.citation[: -(64 - 12)],
        }
        (caused,) = [row for row in rows if row.startswith("caused by")]
        assert caused.split()[-1] == cause
        assert text.splitlines() == ["  Buy a lamp", "  key: lamp", "  reason: it is dark"]


def test_the_json_is_the_event_as_replay_prints_it(zaxy: Zaxy, memory: Memory) -> None:
    event = memory.append("note.taken", {"text": "lamp", "more": {"a": [1, None]}}, actor="ann")
    shown = json.loads(zaxy("show", event.citation, "--json").stdout)
    (replayed,) = json.loads(zaxy("replay", "--json").stdout)["events"]
    assert shown == replayed
    assert (shown["citation"], shown["payload"]) == (event.citation, event.payload)


def test_nested_values_are_shown_as_they_were_recorded_too(zaxy: Zaxy, memory: Memory) -> None:
    payload = {"text": "lamp", "more": {"a": [1, 2], "b": "\x1b[31mred\u202e"}}
    shown = zaxy("show", memory.append("note.taken", payload, actor="ann").citation).stdout
    assert "  lamp\n  more.a: 1, 2\n  more.b: [31mred\n" in shown
    assert json.loads(shown[shown.index("\n{\n") :]) == payload
    assert all(letter.isprintable() or letter == "\n" for letter in shown)


def test_what_was_taken_out_is_named(zaxy: Zaxy, memory: Memory) -> None:
    event = memory.append(
        "command.completed", {"command": "curl -u bob:hunter2secret https://example.com"}, actor="ann"
    )
    shown = zaxy("show", event.citation).stdout
    assert "redacted     password at /command\n" in shown
    assert "hunter2secret" not in shown


def test_an_erased_event_says_so_and_keeps_its_place(zaxy: Zaxy, memory: Memory) -> None:
    event = memory.append("note.taken", {"text": "the quixzbarq lamp"}, actor="ann")
    memory.forget(event.citation, "it was private")
    done = zaxy("show", event.citation)
    assert done.returncode == 0
    assert "(erased: what it said is gone for good" in done.stdout and event.hash in done.stdout
    assert "quixzbarq" not in done.stdout
    assert "payload" not in json.loads(zaxy("show", event.citation, "--json").stdout)


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (("#", "#0"), 2, "is not a citation"),
        (("events/1#", "events/9#"), 1, "does not resolve: there is no such event"),
        (("//here-default", "//other"), 1, "does not resolve: there is no such event"),
        (("eventloom:", "loom:"), 2, "is not the name of an event"),
    ],
)
def test_a_citation_that_names_nothing_is_refused(
    zaxy: Zaxy, memory: Memory, change: tuple[str, str], code: int, said: str
) -> None:
    citation = memory.append("note.taken", {"text": "lamp"}, actor="ann").citation
    done = zaxy("show", citation.replace(*change))
    assert (done.returncode, done.stdout, said in done.stderr) == (code, "", True), done.stderr


def test_a_wrong_hash_never_opens_an_event(zaxy: Zaxy, memory: Memory) -> None:
    event = memory.append("note.taken", {"text": "lamp"}, actor="ann")
    wrong = f"eventloom://here-default/events/1#{'0' * 12}"
    done = zaxy("show", wrong, "--json")
    assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (1, "not_found")
    assert "has another hash" in done.stdout and event.hash not in done.stdout


def test_a_log_elsewhere_is_opened_where_it_is_named(zaxy: Zaxy, memory: Memory, tmp_path: Path) -> None:
    citation = memory.append("note.taken", {"text": "lamp"}, actor="ann").citation
    away = tmp_path / "away"
    away.mkdir()
    assert zaxy("show", citation, cwd=away).returncode == 1
    for option in (("--workspace", str(tmp_path / "here")), ("--eventloom-path", str(tmp_path / "here/.eventloom"))):
        assert "  lamp" in zaxy("show", citation, *option, cwd=away).stdout
    assert list(away.iterdir()) == []
