"""Memory: what was appended is found, what held when is told apart, and every row can be checked."""

from __future__ import annotations

import base64
import gc
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import outside_store
from zaxy.api.models import Draft, Event
from zaxy.errors import ZaxyError
from zaxy.memory import Memory
from zaxy.retrieve.profiles import PROFILES
from zaxy.retrieve.results import Answer

SESSION = "work"


@pytest.fixture(params=["jsonl", outside_store.NAME])
def memory(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    if request.param != "jsonl":
        site = tmp_path / "site"
        outside_store.install(site)
        monkeypatch.syspath_prepend(str(site))
        monkeypatch.setenv("PYTHONPATH", str(site))
        monkeypatch.setenv("ZAXY_EVENT_STORE", request.param)
    with Memory.open(tmp_path) as opened:
        yield opened


def fact(memory: Memory, key: str, text: str, **fields: object) -> Event:
    return memory.append("fact.recorded", {"key": key, "fact": text, **fields}, actor="ada", session=SESSION)


def turn(memory: Memory, content: str, session: str = SESSION, **fields: object) -> Event:
    return memory.append(
        "transcript.turn", {"role": "user", "content": content, **fields}, actor="ada", session=session
    )


def texts(answer: Answer) -> list[str]:
    return [row.content.split("\n")[0] for row in answer.results]


# Writing and reading back


def test_the_collector_rests_while_a_reply_is_made(memory: Memory) -> None:
    fact(memory, "port", "the port is 8080")
    assert memory.recall.reply(SESSION, lambda _: gc.isenabled()) is False
    assert gc.isenabled()


def test_what_was_appended_is_found_with_a_citation_that_resolves(memory: Memory) -> None:
    event = fact(memory, "port", "the port is 8080")
    (row,) = memory.query("which port?", SESSION).results
    assert row.citation == event.citation
    assert memory.resolve(row.citation) == event
    assert (row.event_type, row.actor, row.entity_type, row.entity_name) == ("fact.recorded", "ada", "fact", "port")
    assert (row.valid_from, row.valid_to) == (event.time, "")


def test_a_batch_is_appended_whole_or_not_at_all(memory: Memory) -> None:
    drafts = [Draft("note.taken", "ada", {"text": f"note {n}"}) for n in range(3)]
    assert [event.seq for event in memory.append_many(drafts, SESSION)] == [1, 2, 3]
    with pytest.raises(ZaxyError):
        memory.append_many([*drafts, Draft("not a type", "ada", {})], SESSION)
    assert [event.seq for event in memory.replay(SESSION)] == [1, 2, 3]


def test_another_process_reads_what_was_just_written(memory: Memory, tmp_path: Path) -> None:
    program = (
        "import sys; from zaxy.memory import Memory; m = Memory.open(sys.argv[1])\n"
        "for line in sys.stdin: print(m.query(line, 'work').results[0].seq, flush=True)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdin and other.stdout
    for number in range(1, 11):
        event = turn(memory, f"the codeword of round {number} is word{number}")
        other.stdin.write(f"word{number}\n")
        other.stdin.flush()
        assert int(other.stdout.readline()) == event.seq
    other.stdin.close()
    assert other.wait(60) == 0


def test_threads_share_one_memory(memory: Memory) -> None:
    def work(name: int) -> None:
        for number in range(5):
            event = turn(memory, f"codeword w{name}x{number}")
            assert memory.query(f"w{name}x{number}", SESSION).results[0].seq == event.seq
            assert memory.verbatim(f"w{name}x{number}", SESSION).results[0].seq == event.seq

    with ThreadPoolExecutor(6) as threads:
        for done in [threads.submit(work, name) for name in range(6)]:
            done.result()


def test_replay_tells_events_in_order_without_housekeeping(memory: Memory) -> None:
    event = turn(memory, "lamp")
    memory.recall.store.set_ref("refs/heads/main", next(memory.recall.store.events(SESSION)))
    turn(memory, "oil")
    assert [event.seq for event in memory.replay(SESSION)] == [1, 3]
    assert [event.seq for event in memory.replay(SESSION, include_housekeeping=True)] == [1, 2, 3]
    assert memory.replay(SESSION, limit=1) == [event]
    assert [event.seq for event in memory.replay(SESSION, from_seq=2)] == [3]
    for answer in (memory.query("refs heads main", SESSION), memory.verbatim("refs heads main", SESSION)):
        assert 2 not in [row.seq for row in answer.results]


def test_sessions_never_mix(memory: Memory) -> None:
    turn(memory, "the lamp of the first", "one")
    turn(memory, "the lamp of the second", "two")
    memory.append("decision.made", {"decision": "lamp"}, session="two")
    for session in ("one", "two"):
        for answer in (memory.query("lamp", session), memory.verbatim("lamp", session)):
            assert answer.results
            assert all(f"//{session}/" in row.citation for row in answer.results)
    assert memory.query("lamp", "nobody").results == ()
    assert memory.query("lamp").results == ()


# What held when


def test_a_correction_is_told_now_and_what_it_corrected_as_of_then(memory: Memory) -> None:
    fact(memory, "port", "the port is 8080", occurred_at="2026-01-01")
    first = memory.recall.store.end(SESSION)
    fact(memory, "port", "the port is 9090", occurred_at="2026-02-01")
    assert texts(memory.query("port", SESSION)) == ["the port is 9090"]
    (then,) = memory.query("port", SESSION, temporal_filter="2026-01-15").results
    assert then.content.startswith("the port is 8080")
    assert (then.valid_from[:10], then.valid_to[:10]) == ("2026-01-01", "2026-02-01")
    assert memory.query("port", SESSION, temporal_filter="2025-12-31").results == ()
    (known,) = memory.query("port", SESSION, known_at=first).results
    assert (known.content[:16], known.valid_to) == ("the port is 8080", "")


def test_a_back_dated_event_is_filed_in_its_place(memory: Memory) -> None:
    fact(memory, "port", "the port is 9090", occurred_at="2026-02-01")
    fact(memory, "port", "the port is 8080", occurred_at="2026-01-01")
    assert texts(memory.query("port", SESSION)) == ["the port is 9090"]
    assert texts(memory.query("port", SESSION, temporal_filter="2026-01-15")) == ["the port is 8080"]
    assert memory.query("port", SESSION, temporal_filter="2026-01-15", known_at=1).results == ()


def test_what_is_superseded_by_name_or_citation_is_left_out(memory: Memory) -> None:
    for text in ("use Postgres", "use Redis"):
        memory.append("decision.made", {"decision": text}, actor="ada", session=SESSION)
    memory.append(
        "decision.made", {"decision": "use SQLite", "supersedes": "use Postgres"}, actor="ada", session=SESSION
    )
    cited = memory.query("Redis", SESSION).results[0].citation
    memory.append("decision.made", {"decision": "use files", "supersedes": [cited]}, actor="ada", session=SESSION)
    assert set(texts(memory.query("what do we use", SESSION))) == {"use SQLite", "use files"}
    assert set(texts(memory.query("what do we use", SESSION, known_at=2))) == {"use Postgres", "use Redis"}


def test_invalidating_ends_what_is_open_and_history_keeps_it(memory: Memory) -> None:
    fact(memory, "port", "the port is 8080", occurred_at="2026-01-01")
    event = memory.invalidate("PORT", "fact", invalid_at="2026-03-01", reason="moved", session=SESSION)
    assert event.type == "memory.invalidated"
    assert "the port is 8080" not in texts(memory.query("port", SESSION))
    assert texts(memory.query("port", SESSION, temporal_filter="2026-02-01")) == ["the port is 8080"]
    for name, kind in (("port", "fact"), ("port", "decision"), ("ports", "fact")):
        with pytest.raises(ZaxyError) as refused:
            memory.invalidate(name, kind, session=SESSION)
        assert refused.value.code == "not_found"


def test_what_never_held_cannot_end_before_it_began(memory: Memory) -> None:
    fact(memory, "port", "the port is 8080", occurred_at="2026-01-01")
    for moment in ("2025-01-01", "yesterday"):
        with pytest.raises(ZaxyError) as refused:
            memory.invalidate("port", "fact", invalid_at=moment, session=SESSION)
        assert refused.value.code == "invalid_request"
    assert len(memory.replay(SESSION)) == 1


def test_what_was_known_after_an_event_is_answered_as_it_was_then(memory: Memory) -> None:
    """The same rows with the same scores, whatever came later: the answer depends on the first events only."""
    then: dict[int, object] = {}
    for number in range(24):
        if number % 3:
            turn(
                memory, f"remark {number % 5} on the lamp {'and the oil ' * (number % 4)}", source=f"chat {number % 2}"
            )
        else:
            fact(memory, f"lamp {number % 2}", f"the lamp {number % 2} burns {number} hours of oil")
        if number % 8 == 7:
            cited = memory.query("lamp", SESSION).results[0].citation
            memory.append("memory.reinforced", {"citation": cited}, actor="ada", session=SESSION)
        then[memory.recall.store.end(SESSION)] = memory.query("remark 3 on lamp oil", SESSION).as_dict()["results"]
    for seq, results in then.items():
        assert memory.query("remark 3 on lamp oil", SESSION, known_at=seq).as_dict()["results"] == results


# Pages and budgets


def pages(memory: Memory, limit: int, meanwhile: bool, verbatim: bool, room: int = 3000) -> list[int]:
    cursor, seqs = "", []
    for number in range(200):
        read = memory.verbatim if verbatim else memory.query
        answer = read("remark on the lamp", SESSION, limit=limit, cursor=cursor, max_tokens=room)
        seqs += [row.seq for row in answer.results]
        cursor = answer.next_cursor
        assert answer.truncated == bool(cursor)
        if not cursor:
            return seqs
        if meanwhile:
            turn(memory, f"remark {number} on the lamp, meanwhile")
            fact(memory, f"lamp {number % 3}", f"the lamp {number % 3} is remarkable, revision {number}")
    raise AssertionError("the pages never end")


@pytest.mark.parametrize("meanwhile", [False, True])
@pytest.mark.parametrize("verbatim", [False, True])
@pytest.mark.parametrize("limit", [2, 7])
def test_pages_tell_every_result_once_in_one_order(memory: Memory, limit: int, verbatim: bool, meanwhile: bool) -> None:
    for number in range(25):
        turn(memory, f"remark {number % 9} on the lamp")
        fact(memory, f"lamp {number % 3}", f"the lamp {number % 3} is remarkable, revision {number // 3}")
    whole = pages(memory, 100, False, verbatim, room=10**6)
    assert len(whole) >= 25
    assert pages(memory, limit, meanwhile, verbatim) == whole


def test_a_cursor_of_another_question_or_a_forged_one_is_refused(memory: Memory) -> None:
    for number in range(5):
        turn(memory, f"remark {number} on the lamp")
    cursor = memory.query("lamp", SESSION, limit=2).next_cursor
    deep = base64.urlsafe_b64encode(b"[" * 100_000).decode()
    for forged in ("x", "é", deep, base64.urlsafe_b64encode(b"[1, 2]").decode(), cursor[:-4], "\ud800"):
        with pytest.raises(ZaxyError) as refused:
            memory.query("lamp", SESSION, cursor=forged)
        assert refused.value.code == "invalid_request"
    with pytest.raises(ZaxyError):
        memory.query("remark", SESSION, cursor=cursor)
    _, _, fingerprint = json.loads(base64.urlsafe_b64decode(cursor + "=="))
    for place in ([10**30, 5], [0, 10**30], [-1, 5], [0, -1], [True, 5]):
        forged = base64.urlsafe_b64encode(json.dumps([*place, fingerprint]).encode()).decode()
        with pytest.raises(ZaxyError):
            memory.query("lamp", SESSION, cursor=forged)


def test_an_answer_fits_its_budget_and_says_when_there_is_more(memory: Memory) -> None:
    for number in range(20):
        turn(memory, f"remark {number} on the lamp " + "with many more words " * 20)
    whole = memory.query("lamp", SESSION, limit=20, max_tokens=10**6)
    assert not whole.truncated and whole.tokens_used > 2000
    small = memory.query("lamp", SESSION, limit=20, max_tokens=500)
    assert small.truncated and 0 < small.tokens_used <= 500
    tiny = memory.query("lamp", SESSION, max_tokens=1)
    assert len(tiny.results) == 1 and tiny.truncated


@pytest.mark.parametrize(
    "fields",
    [
        {"limit": 0}, {"limit": 101}, {"limit": True}, {"limit": "5"}, {"max_tokens": 0}, {"profile": "fast"},
        {"known_at": -1}, {"known_at": "2"}, {"temporal_filter": "last year"}, {"query": ""}, {"query": " \n"},
        {"query": "x" * 4097}, {"query": None}, {"query": "\ud800 lamp"}, {"session": "../x"},
    ],
)  # fmt: skip
def test_a_question_that_cannot_be_asked_is_refused_with_what_to_do(memory: Memory, fields: dict[str, object]) -> None:
    turn(memory, "lamp")
    with pytest.raises(ZaxyError) as refused:
        memory.query(**{"query": "lamp", "session": SESSION, **fields})  # type: ignore[arg-type]
    assert refused.value.code in ("invalid_request", "too_large") and refused.value.remediation


@pytest.mark.parametrize("text", ["x" * 4096, "the of", "?!", "NEAR(lamp)", "lamp\0", "🙂", '"', "MATCH (n) RETURN n"])
def test_an_odd_question_is_answered(memory: Memory, text: str) -> None:
    turn(memory, "lamp")
    assert memory.query(text, SESSION).warnings == ()
    assert memory.verbatim(text, SESSION).warnings == ()
    if text in ("the of", "?!"):
        assert "common words" in memory.query(text, SESSION).notices[0]


# Scores


@pytest.mark.parametrize("profile", PROFILES)
def test_the_score_of_every_result_is_the_sum_of_its_steps(memory: Memory, profile: str) -> None:
    for number in range(12):
        turn(memory, f"remark {number} on lamp ZX-{number:04}", source="chat", speaker="Grace")
        fact(memory, f"lamp {number}", f"the lamp {number} burns oil", subject="lamp")
    memory.append("memory.reinforced", {"entity_type": "fact", "entity_name": "lamp 3"}, actor="ada", session=SESSION)
    answer = memory.query("lamp 3 of Grace, ZX-0007", SESSION, limit=50, profile=profile, max_tokens=10**6)
    lanes = set()
    for row in answer.as_dict()["results"]:
        explained = row["score_explanation"]
        assert {"source", "profile", "weighted_score", "steps"} <= set(explained)
        assert explained["profile"] == profile and row["source_lane"] in ("graph", explained["source"])
        for step in explained["steps"]:
            assert 0 <= step["normalised"] <= 1
        total = sum(step["normalised"] * step["weight"] for step in explained["steps"])
        assert total == pytest.approx(row["score"], abs=1e-3)
        lanes |= {step["lane"] for step in explained["steps"]}
        if "words" in explained:
            raw = next(step["raw"] for step in explained["steps"] if step["lane"] in ("keyword", "verbatim"))
            assert sum(explained["words"].values()) == pytest.approx(raw, abs=1e-3)
    assert lanes >= {"keyword", "verbatim", "exact", "recency", "reinforced"}
    scores = [row.score for row in answer.results]
    assert scores == sorted(scores, reverse=True)


def test_near_copies_do_not_fill_the_list(memory: Memory) -> None:
    for number in range(30):
        turn(memory, f"The nightly build of the lamp service failed again on step compile {'!' * number}")
    for name in ("Grace", "Edsger", "Barbara"):
        turn(memory, f"{name} thinks that the lamp needs oil of kind {name[0]}")
    answer = memory.query("lamp build failed", SESSION, limit=5)
    assert sum("nightly" in row.content for row in answer.results) <= 2
    for number in range(40):  # what is superseded takes no place, and hides no copies
        fact(memory, "build", f"the lamp build failed {number} times")
    answer = memory.query("lamp build failed", SESSION, limit=5)
    assert sum("nightly" in row.content for row in answer.results) <= 2


def test_feedback_that_something_helped_lifts_it(memory: Memory) -> None:
    first, second = (turn(memory, f"the lamp is {how}", source=how) for how in ("bright", "dimmed"))
    before = [row.seq for row in memory.query("lamp", SESSION).results]
    for _ in range(3):
        memory.append(
            "memory.reinforced",
            {"citation": (first if before[0] == 2 else second).citation},
            actor="a",
            session=SESSION,
        )
    assert [row.seq for row in memory.query("lamp", SESSION).results][:2] == before[:2][::-1]


def test_a_read_without_patience_answers_with_what_there_is_and_warns(memory: Memory, tmp_path: Path) -> None:
    turn(memory, "the lamp is out")
    memory.query("lamp", SESSION)
    turn(memory, "the lamp is on")
    with Memory.open(tmp_path, patience=0.0) as hasty:
        answer = hasty.query("lamp", SESSION)
        assert [row.seq for row in answer.results] == [1]
        behind = "is 1 events behind the log (event 1 of 2)"
        assert answer.warnings == tuple(f"{name} of work {behind}" for name in ("text", "graph"))
    assert len(memory.query("lamp", SESSION).results) == 2


def test_a_log_that_is_gone_is_told_and_nothing_is_made_of_what_followed_it(memory: Memory, tmp_path: Path) -> None:
    turn(memory, "the lamp is out")
    memory.query("lamp", SESSION)
    if (kept := tmp_path / ".eventloom" / "plugins" / outside_store.NAME / "events.db").exists():
        with closing(sqlite3.connect(kept)) as db, db:
            db.execute("DELETE FROM lines")
    else:
        (tmp_path / ".eventloom" / f"{SESSION}.jsonl").unlink()
    with Memory.open(tmp_path) as later:
        answer = later.query("lamp", SESSION)
        assert answer.results == () and len(answer.warnings) == 2
        later.rebuild_followers(SESSION)
        assert later.query("lamp", SESSION).warnings == ()


def test_many_sessions_can_be_asked_in_turn(memory: Memory) -> None:
    for number in range(40):
        turn(memory, f"the lamp number {number}", f"session-{number}")
    for number in (*range(40), *range(40)):
        (row,) = memory.verbatim("lamp", f"session-{number}").results
        assert row.content == f"the lamp number {number}"


def test_what_is_named_with_accents_is_walked_from(memory: Memory) -> None:
    memory.append("task.completed", {"task": "Überprüfung", "goal": "Qualität"}, actor="ada", session=SESSION)
    turn(memory, "unrelated")
    (row,) = (row for row in memory.query("what is related to Uberprufung?", SESSION).results if row.seq == 1)
    assert "traversal" in [step.lane for step in row.steps]


def test_a_folder_whose_followers_were_deleted_answers_the_same(memory: Memory, tmp_path: Path) -> None:
    for number in range(30):
        turn(memory, f"remark {number} on the lamp", source="chat")
        fact(memory, f"lamp {number % 4}", f"the lamp {number % 4} burns {number} hours")
    answer, digests = memory.query("lamp hours", SESSION).as_dict(), memory.follower_digests(SESSION)
    shutil.rmtree(tmp_path / ".eventloom" / "followers")
    assert memory.query("lamp hours", SESSION).as_dict() == answer
    assert memory.follower_digests(SESSION) == digests
    shutil.rmtree(tmp_path / ".eventloom" / "followers")
    with Memory.open(tmp_path) as fresh:
        assert fresh.query("lamp hours", SESSION).as_dict() == answer
        assert fresh.follower_digests(SESSION) == digests
