"""What people type every day: `remember`, `ask`, `log`, `types`, and events and moments as people name them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from conftest import Zaxy
from folders import made_folder
from zaxy.api.event_types import CORE_TYPES
from zaxy.commands.moments import moment
from zaxy.errors import InvalidRequest
from zaxy.extract.kinds import KINDS, kind_of
from zaxy.extract.known_types import KNOWN_TYPES, near_type
from zaxy.extract.rules import RULES
from zaxy.memory import Memory
from zaxy.terminal.history_page import history_page

SAID_AND_ASKED = [
    ("The demo is on the 14th", "fact", "When is the demo?"),
    ("We decided to keep the sessions in Postgres", "decision", "Where do we keep the sessions?"),
    ("I prefer short answers with examples", "preference", "Which answers do I prefer?"),
    ("TODO: renew the certificate of the shop", "task", "What must be renewed?"),
    ("Our goal is to open the web shop in May", "goal", "When does the web shop open?"),
    ("Die Vorführung ist am 14. Mai", "fact", "Wann ist die Vorführung?"),
    ("Wir haben beschlossen, Postgres zu verwenden", "decision", "Was verwenden wir?"),
    ("La démonstration est le 14 mai", "fact", "Quand est la démonstration ?"),
    ("Prefiero respuestas cortas", "preference", "¿Qué respuestas prefiero?"),
    ("La presentación es el 14 de mayo", "fact", "¿Cuándo es la presentación?"),
    ("Демонстрация состоится 14 мая", "fact", "Когда состоится демонстрация?"),
    ("演示在五月十四日", "fact", "演示在什么时候？"),
]


@pytest.mark.parametrize(("said", "kind", "question"), SAID_AND_ASKED, ids=[row[0] for row in SAID_AND_ASKED])
def test_what_is_remembered_in_a_fresh_folder_comes_back_as_a_cited_fact(
    zaxy: Zaxy, said: str, kind: str, question: str
) -> None:
    done = zaxy("remember", said, "--json")
    assert done.returncode == 0, done.stderr
    reply = json.loads(done.stdout)
    assert reply["kind"] == kind == kind_of(said)
    facts = json.loads(zaxy("ask", question, "--json").stdout)["current_facts"]
    assert [reply["citation"].startswith(fact["citation"]) for fact in facts] == [True]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_type_with_a_rule_and_comes_back(zaxy: Zaxy, kind: str) -> None:
    assert KINDS[kind].event_type in RULES
    reply = json.loads(zaxy("remember", "The lantern hangs over the harbour gate", "--kind", kind, "--json").stdout)
    assert reply["event_type"] == KINDS[kind].event_type
    facts = json.loads(zaxy("ask", "Where does the lantern hang?", "--json").stdout)["current_facts"]
    assert reply["citation"].startswith(facts[0]["citation"])


def test_remember_says_the_kind_the_citation_and_how_to_see_it_again(zaxy: Zaxy) -> None:
    said, remembered, again = zaxy("remember", "Decision: use Postgres", "--key", "db").stdout.splitlines()
    assert said == "Decision: use Postgres"
    assert "remembered as a decision  eventloom://" in remembered
    command = again.partition("zaxy ")[2].split()
    assert "  use Postgres\n  key: db\n" in zaxy(*command).stdout


def test_the_same_key_replaces_what_was_remembered(zaxy: Zaxy) -> None:
    for said in ("The demo is on the 14th", "The demo is on the 21st"):
        zaxy("remember", said, "--key", "demo")
    facts = json.loads(zaxy("ask", "When is the demo?", "--json").stdout)["current_facts"]
    assert [fact["content"].splitlines()[0] for fact in facts] == ["The demo is on the 21st"]


def test_a_sentence_is_read_from_standard_input_and_an_empty_one_is_refused(tmp_path: Path) -> None:
    def run(given: bytes) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "zaxy", "remember", "-"], cwd=tmp_path, input=given, capture_output=True
        )

    assert run("\ufeffThe demo is on the 14th\n".encode()).stdout.startswith(b"The demo is on the 14th\n")
    assert run(b" \n").returncode == 2


def test_an_unknown_kind_is_refused_with_those_that_there_are(zaxy: Zaxy) -> None:
    done = zaxy("remember", "A thing", "--kind", "rumour")
    assert done.returncode == 2 and "decision, preference" in done.stderr


# Events by their numbers


@pytest.fixture
def memory(zaxy: Zaxy, tmp_path: Path) -> Memory:
    return Memory.open(made_folder(tmp_path / "here"))


def test_a_hash_may_begin_like_a_number(zaxy: Zaxy, memory: Memory) -> None:
    events = (memory.append("note.taken", {"text": f"lamp {number}"}, actor="ann") for number in range(500))
    event = next(event for event in events if event.hash[:6].isdecimal() and event.hash[0] != "0")
    text = (event.payload or {})["text"]
    assert f"\n  {text}\n" in zaxy("show", event.hash[:6]).stdout
    assert "has no event 999999" in zaxy("show", "999999").stderr


def test_an_event_is_meant_by_its_number_its_id_its_hash_and_its_citation(zaxy: Zaxy, memory: Memory) -> None:
    memory.append("note.taken", {"text": "first"}, actor="ann")
    event = memory.append("note.taken", {"text": "lamp"}, actor="ann")
    for name in ("2", event.id, event.id[:9], event.hash[:8], event.hash, event.citation):
        assert "\n  lamp\n" in zaxy("show", name).stdout, name


def test_a_number_is_one_of_the_session_that_is_meant(zaxy: Zaxy, memory: Memory) -> None:
    memory.append("note.taken", {"text": "here"}, actor="ann")
    memory.append("note.taken", {"text": "there"}, actor="ann", session="other")
    assert "  here\n" in zaxy("show", "1").stdout
    assert "  there\n" in zaxy("show", "1", "--session-id", "other").stdout


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [("3", 1, "has no event 3"), ("0", 1, "has no event 0"), ("abc", 2, "is not the name"), ("ffffffffffff", 1, "no")],
)
def test_what_names_no_event_is_refused(zaxy: Zaxy, memory: Memory, name: str, code: int, said: str) -> None:
    memory.append("note.taken", {"text": "lamp"}, actor="ann")
    done = zaxy("show", name)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr


def test_an_ambiguous_hash_lists_the_candidates(zaxy: Zaxy, memory: Memory) -> None:
    from zaxy.commands import event_names
    from zaxy.eventloom.opening import open_event_log

    events = [memory.append("note.taken", {"text": f"note {number}"}, actor="ann") for number in range(40)]
    by_digit: dict[str, list[int]] = {}
    for event in events:
        by_digit.setdefault(event.hash[:1], []).append(event.seq)
    digit, seqs = max(by_digit.items(), key=lambda row: len(row[1]))
    assert len(seqs) > 1
    with pytest.raises(InvalidRequest) as refused:
        event_names._by_hash(open_event_log(memory.workspace), memory.session, digit)
    assert f"{len(seqs)} events" in refused.value.message and str(seqs[0]) in refused.value.message


def test_commands_that_ask_for_an_event_take_its_number(zaxy: Zaxy, memory: Memory) -> None:
    first = memory.append("fact.recorded", {"fact": "The demo is on the 14th"}, actor="ann")
    memory.append("fact.recorded", {"fact": "The quixzbarq lamp is out"}, actor="ann")
    zaxy("refs", "update", "main", "1")
    assert "The demo is on the 14th" in zaxy("refs", "resolve", "main").stdout
    assert zaxy("memory", "feedback", "1", "--feedback", "used").returncode == 0
    assert zaxy("invalidate", "1").returncode == 0
    rows = json.loads(zaxy("query", "demo", "--json").stdout)["results"]
    assert first.citation not in [row["citation"] for row in rows]
    assert zaxy("forget", "2", "--hard").returncode == 0
    assert "(erased" in zaxy("show", "2").stdout
    caused = json.loads(zaxy("append", "note.taken", "--payload", "{}", "--caused-by", "1", "--json").stdout)
    shown = json.loads(zaxy("show", str(caused["seq"]), "--json").stdout)
    assert shown["caused_by"] == first.citation


def test_with_a_type_a_number_is_the_name_of_a_thing(zaxy: Zaxy, memory: Memory) -> None:
    memory.append("issue.diagnosed", {"id": "7", "issue": "The lamp flickers"}, actor="ann")
    assert zaxy("invalidate", "7", "--type", "issue").returncode == 0
    assert zaxy("invalidate", "lamp").returncode == 2


# Moments

NOW = datetime(2026, 11, 19, 15, 30)


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(__import__("time"), "tzset"):
        pytest.skip("this system has one time zone for all programs")
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    __import__("time").tzset()


@pytest.mark.usefixtures("in_berlin")
@pytest.mark.parametrize(
    ("said", "as_of", "since"),
    [
        ("today", "2026-11-19T14:30:00.000000Z", "2026-11-18T23:00:00.000000Z"),
        ("yesterday", "2026-11-18T22:59:59.999999Z", "2026-11-17T23:00:00.000000Z"),
        ("Monday", "2026-11-16T22:59:59.999999Z", "2026-11-15T23:00:00.000000Z"),
        ("last thursday", "2026-11-12T22:59:59.999999Z", "2026-11-11T23:00:00.000000Z"),
        ("3 days ago", "2026-11-16T14:30:00.000000Z", "2026-11-16T14:30:00.000000Z"),
        ("2 weeks ago", "2026-11-05T14:30:00.000000Z", "2026-11-05T14:30:00.000000Z"),
        ("an hour ago", "2026-11-19T13:30:00.000000Z", "2026-11-19T13:30:00.000000Z"),
        ("2026-06-15", "2026-06-15T00:00:00.000000Z", "2026-06-15T00:00:00.000000Z"),
        ("2026-06-15T12:00:00+02:00", "2026-06-15T10:00:00.000000Z", "2026-06-15T10:00:00.000000Z"),
        ("", "", ""),
    ],
)
def test_a_day_in_words_is_a_day_of_this_computer(said: str, as_of: str, since: str) -> None:
    assert moment(said, now=NOW) == as_of
    assert moment(said, begin=True, now=NOW) == since


@pytest.mark.parametrize("said", ["soon", "0 days ago", "3 moons ago", "999999999 days ago", "-1 days ago", "tomorrow"])
def test_what_is_no_moment_is_refused_with_what_is_one(said: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        moment(said)
    assert "yesterday" in refused.value.remediation


def test_a_reply_says_which_moment_was_taken(zaxy: Zaxy, memory: Memory) -> None:
    memory.append("fact.recorded", {"fact": "The demo is on the 14th"}, actor="ann")
    shown = zaxy("query", "demo", "--as-of", "2 days ago")
    assert "nothing found" in shown.stderr and "\nas of 20" in shown.stderr
    reply = json.loads(zaxy("query", "demo", "--as-of", "today", "--json").stdout)
    assert reply["as_of"].endswith("Z") and len(reply["results"]) == 1


# The log


def test_the_log_is_newest_first_under_its_days_and_leaves_out_bookkeeping(zaxy: Zaxy, memory: Memory) -> None:
    memory.append("decision.made", {"decision": "Use Postgres", "key": "db"}, actor="ann")
    memory.append("fact.recorded", {"fact": "The demo is on the 14th"}, actor="bob")
    zaxy("ask", "When is the demo?")
    heading, *lines = zaxy("log").stdout.splitlines()
    assert heading.endswith(", today")
    assert [line.split("  ")[0] for line in lines] == ["2", "1"]
    assert lines[0].endswith("  The demo is on the 14th  (fact by bob)")
    assert "Memory was asked" in zaxy("log", "--all").stdout


def test_the_log_is_filtered_by_type_family_actor_and_time(zaxy: Zaxy, memory: Memory) -> None:
    memory.append("task.proposed", {"task": "Buy milk"}, actor="ann")
    memory.append("task.completed", {"task": "Buy milk"}, actor="bob")
    memory.append("fact.recorded", {"fact": "The milk is sour"}, actor="bob")

    def seqs(*options: str) -> list[int]:
        return [event["seq"] for event in json.loads(zaxy("log", "--json", *options).stdout)["events"]]

    assert seqs("--type", "task.*") == [2, 1]
    assert seqs("--type", "task.completed") == [2]
    assert seqs("--actor", "bob", "--type", "fact.recorded") == [3]
    assert seqs("--limit", "1") == [3]
    assert seqs("--before", "3") == [2, 1]
    assert seqs("--since", "today") == [3, 2, 1]
    assert seqs("--since", "2099-01-01") == []


def test_the_log_reads_no_more_of_a_long_log_than_it_shows(zaxy: Zaxy, memory: Memory) -> None:
    from zaxy import Draft
    from zaxy.commands.doors import call_of

    memory.append_many([Draft("note.taken", "ann", {"text": f"note {number}"}) for number in range(3000)])
    log = call_of("log", (), summary="").open_log(str(memory.workspace.root))
    read: list[int] = []

    def wanted(record: dict[str, object]) -> bool:
        read.append(int(str(record["seq"])))
        return True

    records, before = log.newest(limit=20, wanted=wanted)
    assert [record["seq"] for record in records] == read == list(range(3000, 2980, -1))
    assert before == 2981
    assert "--before 2981" in zaxy("log").stderr


SAMPLE: dict[str, object] = {
    "text": "The lamp is out",
    "tool_name": "lamp",
    "nested": {"a": [1, {"b": 2}]},
    "answerability": "yes",
}


@pytest.mark.parametrize("event_type", KNOWN_TYPES)
@pytest.mark.parametrize("payload", [{}, SAMPLE], ids=["empty", "some"])
def test_every_built_in_type_is_a_line_and_never_json(event_type: str, payload: dict[str, object]) -> None:
    from zaxy.terminal.event_row import text_of_row

    record = {"seq": 8, "type": event_type, "actor": "ann", "time": "2026-11-19T10:00:00.000000Z", "payload": payload}
    record |= {"id": "evt_8_00000000", "thread": "here", "hash": "0" * 64, "sensitivity": "internal", "prev": None}
    page = history_page({"events": [record], "texts": {8: text_of_row(record)}}, 80, False)
    _, line, *more = page.splitlines()
    assert line.startswith("8  ") and (more or [line])[-1].endswith("ann)")
    assert max(map(len, (line, *more))) <= 80
    assert not set('{}[]"') & set(page)


# Types


def test_the_known_types_are_those_of_the_rules_and_of_the_core() -> None:
    assert set(KNOWN_TYPES) == {*RULES, *(one.name for one in CORE_TYPES)}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("decision.mad", "decision.made"),
        ("decison.made", "decision.made"),
        ("task.compelted", "task.completed"),
        ("Fact.recorded", "fact.recorded"),
        ("decision.made", ""),
        ("note.taken", ""),
        ("order.shipped", ""),
    ],
)
def test_a_type_that_is_nearly_a_known_one_is_questioned(typed: str, meant: str) -> None:
    assert near_type(typed) == meant


def test_types_lists_each_with_a_sentence(zaxy: Zaxy) -> None:
    shown = zaxy("types").stdout
    assert all(f"\n{name} " in f"\n{shown}" for name in KNOWN_TYPES)
    rows = json.loads(zaxy("types", "--json").stdout)["types"]
    assert all(row["summary"].endswith(".") for row in rows)


def test_a_script_records_a_mistyped_type_and_is_warned(zaxy: Zaxy) -> None:
    done = zaxy("append", "decison.made", "--payload", "{}", "--json")
    assert done.returncode == 0
    assert "did you mean decision.made?" in json.loads(done.stdout)["warnings"][0]
    assert "warning: decison.made" in done.stderr
    assert zaxy("append", "decison.made", "--payload", "{}", "--new-type").stderr == ""


@pytest.mark.skipif(os.name != "posix", reason="a terminal is made with pty")
def test_at_a_terminal_a_mistyped_type_is_refused_until_it_is_meant(tmp_path: Path) -> None:
    import pty

    def run(*options: str) -> int:
        ours, theirs = pty.openpty()
        try:
            words = [sys.executable, "-m", "zaxy", "append", "decison.made", "--payload", "{}", *options]
            return subprocess.run(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=theirs, check=False).returncode
        finally:
            os.close(ours)
            os.close(theirs)

    assert run() == 2
    assert not list(tmp_path.glob(".eventloom/*.jsonl"))
    assert run("--new-type") == 0


# What is given in files


def test_a_payload_is_taken_from_a_file_and_from_standard_input_with_a_byte_order_mark(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"text": "lamp"}'
    (tmp_path / "payload.json").write_bytes(data)
    for given in ("@payload.json", "-"):
        done = subprocess.run(
            [sys.executable, "-m", "zaxy", "append", "note.taken", "--payload", given],
            cwd=tmp_path,
            input=data,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    with Memory.open(tmp_path) as memory:
        assert [event.payload for event in memory.replay()] == [{"text": "lamp"}] * 2


def test_a_file_that_is_not_there_is_not_found(zaxy: Zaxy) -> None:
    done = zaxy("append", "note.taken", "--payload", "@nowhere.json")
    assert (done.returncode, "nowhere.json cannot be read" in done.stderr) == (1, True)
