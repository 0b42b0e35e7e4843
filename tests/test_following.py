"""The loop that brings followers up to the log: exactly once, whatever plugins, erasures and cut logs do."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engines import needs_kuzu
from zaxy.api.models import AsOf, Batch, Cursor, Query
from zaxy.errors import Unavailable, ZaxyError
from zaxy.eventloom.drafts import AdmittedDraft, admit_draft
from zaxy.eventloom.event_log import EventLog
from zaxy.eventloom.opening import files_log
from zaxy.extract import rules
from zaxy.follow.extraction import Extractors
from zaxy.follow.loop import Loop
from zaxy.follow.run import BATCH, GROWTH, MAX_BATCH, next_batch
from zaxy.memory import Memory
from zaxy.text.ranking import Hit

SESSION = "work"
Hits = Callable[[Query], list[Hit]]
Wipe = Callable[[str], None]


class Noted:
    """A follower that keeps in memory what it was given."""

    def __init__(self, fails_at: int = 0) -> None:
        self.seqs: list[int] = []
        self.batches = 0
        self.wipes = 0
        self.at: Cursor | None = None
        self.fails_at = fails_at

    def cursor(self, session: str) -> Cursor | None:
        return self.at

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        seqs = [extracted.event.seq for extracted in batch.events]
        if self.fails_at in seqs:
            raise Unavailable("no room today", "Make room.")
        self.seqs += seqs
        self.batches += 1
        self.at = cursor

    def digest(self, session: str) -> str:
        return str(self.seqs)

    def wipe(self, session: str) -> None:
        self.seqs, self.at = [], None
        self.wipes += 1

    def close(self) -> None: ...


class Stuck(Noted):
    def wipe(self, session: str) -> None:
        raise Unavailable("it will not let go", "Wait.")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EventLog]:
    made = files_log(str(tmp_path / ".eventloom"))
    yield made
    made.close()


def notes(numbers: range) -> list[AdmittedDraft]:
    return [admit_draft("note.taken", "tester", {"text": f"note {number}"}) for number in numbers]


def loop_of(store: EventLog, tmp_path: Path, **followers: Noted) -> Loop:
    return Loop(store, dict(followers), Extractors(), folder=tmp_path / "locks")


def log_of(folder: Path, session: str = SESSION) -> Path:
    return folder / ".eventloom" / f"{session}.jsonl"


def text_under(folder: Path, text: str) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


# Batches


def test_every_event_is_taken_once_in_batches(store: EventLog, tmp_path: Path) -> None:
    store.append(SESSION, notes(range(1200)))
    one = Noted()
    loop = loop_of(store, tmp_path, one=one)
    seen: list[tuple[int, int]] = []
    (state,) = loop.catch_up(SESSION, progress=lambda done, total: seen.append((done, total)))
    assert one.seqs == list(range(1, 1201))
    assert (state.seq, state.behind, state.warning) == (1200, 0, "")
    assert (seen[0], seen[-1]) == ((500, 1200), (1200, 1200))
    assert one.batches == len(seen) > 1
    loop.catch_up(SESSION)
    store.append(SESSION, notes(range(3)))
    loop.catch_up(SESSION)
    assert one.seqs == list(range(1, 1204))
    assert one.batches == len(seen) + 1


@pytest.mark.parametrize(
    ("events", "took", "seconds", "expected"),
    [
        (1000, 0.5, 1.0, 2000),  # as many as took that long
        (1000, 0.5, 0.3, 600),  # no more than the deadline leaves time for
        (1000, 9.0, 1.0, BATCH),  # never fewer
        (BATCH, 0.001, 1.0, GROWTH * BATCH),  # one quick batch says little
        (MAX_BATCH, 0.0, 1.0, MAX_BATCH),  # never more
        (1000, 0.5, -1.0, BATCH),
    ],
)
def test_a_batch_is_as_large_as_the_last_one_lets_expect(
    events: int, took: float, seconds: float, expected: int
) -> None:
    assert next_batch(events, took, seconds) == expected


def test_followers_at_different_places_are_each_brought_to_the_end(store: EventLog, tmp_path: Path) -> None:
    store.append(SESSION, notes(range(10)))
    one, two = Noted(), Noted()
    loop_of(store, tmp_path, one=one).catch_up(SESSION)
    store.append(SESSION, notes(range(10)))
    states = loop_of(store, tmp_path, one=one, two=two).catch_up(SESSION)
    assert one.seqs == two.seqs == list(range(1, 21))
    assert [state.behind for state in states] == [0, 0]


def test_a_follower_that_fails_does_not_stop_the_others(store: EventLog, tmp_path: Path) -> None:
    store.append(SESSION, notes(range(1200)))
    good, bad = Noted(), Noted(fails_at=700)
    states = {s.follower: s for s in loop_of(store, tmp_path, bad=bad, good=good).catch_up(SESSION)}
    assert good.seqs == list(range(1, 1201))
    assert (states["bad"].seq, states["bad"].behind) == (500, 700)
    assert "no room today" in states["bad"].warning
    assert not states["good"].warning
    bad.fails_at = 0
    assert not any(s.warning for s in loop_of(store, tmp_path, bad=bad, good=good).catch_up(SESSION))
    assert bad.seqs == good.seqs


def test_a_follower_that_will_not_forget_does_not_stop_the_others(store: EventLog, tmp_path: Path) -> None:
    store.append(SESSION, notes(range(5)))
    good, stuck = Noted(), Stuck()
    loop = loop_of(store, tmp_path, stuck=stuck, good=good)
    loop.catch_up(SESSION)
    store.erase(SESSION, 2, "tester", "private")
    states = {s.follower: s for s in loop.catch_up(SESSION)}
    assert good.wipes == 1 and good.seqs == list(range(1, 7))
    assert "will not let go" in states["stuck"].warning
    states = {s.follower: s for s in loop.rebuild(SESSION)}
    assert "will not let go" in states["stuck"].problem and not states["good"].problem


def test_rows_that_other_rules_made_are_made_anew(
    store: EventLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.append(SESSION, notes(range(5)))
    one = Noted()
    loop_of(store, tmp_path, one=one).catch_up(SESSION)
    monkeypatch.setattr(rules, "VERSION", "next")
    loop = loop_of(store, tmp_path, one=one)
    assert [state.behind for state in loop.status(SESSION)] == [5]
    loop.catch_up(SESSION)
    assert (one.wipes, one.seqs) == (1, list(range(1, 6)))


def test_a_deadline_leaves_a_warning_and_the_rest_for_later(
    store: EventLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.append(SESSION, notes(range(1200)))
    one = Noted()
    loop = loop_of(store, tmp_path, one=one)
    (state,) = loop.catch_up(SESSION, budget=0.0)
    assert state.behind == 1200 and "1,200 events behind" in state.warning
    loop.catch_up(SESSION)
    assert one.seqs == list(range(1, 1201))


def test_who_waits_for_another_process_in_vain_says_so(store: EventLog, tmp_path: Path) -> None:
    store.append(SESSION, notes(range(5)))
    one = Noted()
    with loop_of(store, tmp_path, other=Noted())._lock(SESSION).exclusive(1):
        (state,) = loop_of(store, tmp_path, one=one).catch_up(SESSION, budget=0.05)
    assert "was not free" in state.warning
    assert not one.seqs


# Damage, and logs that are cut back


def test_what_stands_before_damage_is_followed(store: EventLog, tmp_path: Path) -> None:
    store.append(SESSION, notes(range(50)))
    store.append(SESSION, notes(range(50, 60)))
    log_of(tmp_path).write_bytes(log_of(tmp_path).read_bytes().replace(b"note 42", b"note 43", 1))
    one = Noted()
    fresh = files_log(str(tmp_path / ".eventloom"))
    (state,) = loop_of(fresh, tmp_path, one=one).catch_up(SESSION)
    assert one.seqs == list(range(1, 43))
    assert "event 43" in state.warning and "damaged" in state.warning


@pytest.mark.parametrize("grown_again", [False, True])
def test_a_log_that_was_cut_back_freezes_what_followed_it_until_a_rebuild(tmp_path: Path, grown_again: bool) -> None:
    with Memory.open(tmp_path) as memory:
        for number in range(6):
            memory.append("note.taken", {"text": f"lamp {number}"}, session=SESSION)
        assert memory.query("lamp", SESSION).warnings == ()
    lines = log_of(tmp_path).read_bytes().splitlines(keepends=True)
    log_of(tmp_path).write_bytes(b"".join(lines[:3]))
    with Memory.open(tmp_path) as memory:
        if grown_again:
            for number in range(8):
                memory.append("note.taken", {"text": f"other lamp {number}"}, session=SESSION)
        answer = memory.query("lamp", SESSION)
        assert len(answer.warnings) == 2
        assert all("cut back" in said and "followers rebuild" in said for said in answer.warnings)
        assert all(state.frozen for state in memory.followers_status(SESSION))
        assert memory.verbatim("lamp", SESSION).warnings
        assert not any(state.problem for state in memory.rebuild_followers(SESSION))
        answer = memory.query("lamp", SESSION, limit=100, max_tokens=10**6)
        assert answer.warnings == ()
        assert {row.seq for row in answer.results} == set(range(1, 12 if grown_again else 4))
        for row in answer.results:
            assert memory.resolve(row.citation)


# Erasures


def test_an_erased_text_is_nowhere_under_the_folder(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        for number in range(30):
            memory.append("decision.made", {"decision": f"keep {number}"}, session=SESSION)
        secrets = [
            memory.append("decision.made", {"decision": f"quixzbarq{n}", "key": f"quixzbarq-key{n}"}, session=SESSION)
            for n in range(3)
        ]
        memory.append("memory.reinforced", {"citation": secrets[0].citation}, session=SESSION)
        assert len(memory.query("quixzbarq1", SESSION).results)
        memory.verbatim("quixzbarq0", SESSION)
        for event in secrets:
            done = memory.forget(event.citation, "it was private")
            assert (done.erased, done.event.type, done.warnings) == (event.citation, "event.erased", ())
        assert not text_under(tmp_path, "quixzbarq")
        for question in ("quixzbarq0", "private"):
            found = [*memory.query(question, SESSION).results, *memory.verbatim(question, SESSION).results]
            assert not any("quixzbarq" in row.content or "private" in row.content for row in found)
        found = memory.query("keep", SESSION, limit=100, max_tokens=10**6).results
        assert {row.seq for row in found} >= set(range(1, 31))
        digests = memory.follower_digests(SESSION)
        memory.rebuild_followers(SESSION)
        assert memory.follower_digests(SESSION) == digests


def facts(memory: Memory, **fields: object) -> list[str]:
    """What is held to be so of the port."""
    rows = memory.query("port", SESSION, **fields).results  # type: ignore[arg-type]
    return [row.content.split("\n")[0] for row in rows if "port" in row.content]


@pytest.mark.parametrize("erased", [1, 2, 3])
def test_what_an_erased_version_had_closed_stays_closed_and_nothing_else(tmp_path: Path, erased: int) -> None:
    with Memory.open(tmp_path) as memory:
        told = []
        for n in (1, 2, 3):
            payload = {"key": "port", "fact": f"port {n}", "subject": "gateway", "occurred_at": f"2026-01-0{n}"}
            told.append(memory.append("fact.recorded", payload, actor="ada", session=SESSION))
        memory.forget(told[erased - 1].citation, "private")
        assert facts(memory) == ([] if erased == 3 else ["port 3"])
        then = facts(memory, temporal_filter="2026-01-02T12:00:00Z")
        assert then == ([] if erased == 2 else ["port 2"])
        assert facts(memory, temporal_filter="2026-01-01T12:00:00Z") == ([] if erased == 1 else ["port 1"])
        open_ = memory.recall.backend.entities(SESSION, ["gateway"], AsOf(), 10)
        assert [row.entity.entity_type for row in open_] == ["subject"]


def test_a_read_is_repeated_when_a_follower_is_built_anew_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(tmp_path) as memory, Memory.open(tmp_path) as other:
        memory.append("note.taken", {"text": "lamp"}, session=SESSION)
        for read in (memory.query, memory.verbatim):
            assert len(read("lamp", SESSION).results) == 1
            hits, wipes = memory.recall.texts.hits, iter([other.recall.texts.wipe])

            def wiped_first(query: Query, hits: Hits = hits, wipes: Iterator[Wipe] = wipes) -> list[Hit]:
                for wipe in wipes:
                    wipe(SESSION)
                return hits(query)

            monkeypatch.setattr(memory.recall.texts, "hits", wiped_first)
            assert len(read("lamp", SESSION).results) == 1
            monkeypatch.undo()


def test_what_was_superseded_or_invalidated_by_erased_events_stays_ended_and_is_not_named(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        said = ("port of quixzbarq is open", "port of wexyl is open", "port of plugh is open")
        first, second, third = (
            memory.append("decision.made", {"decision": text}, actor="ada", session=SESSION) for text in said
        )
        enders = [
            memory.append(
                "decision.made", {"decision": "never mind", "supersedes": said[0]}, actor="ada", session=SESSION
            ),
            memory.append(
                "decision.made", {"decision": "no more", "supersedes": second.citation}, actor="ada", session=SESSION
            ),
            memory.invalidate(said[2], "decision", session=SESSION),
        ]
        assert facts(memory) == []
        for event in enders:
            memory.forget(event.citation, "private")
        assert facts(memory) == []
        memory.forget(first.citation, "private")
        memory.forget(third.citation, "private")
        assert not text_under(tmp_path, "quixzbarq") and not text_under(tmp_path, "plugh")
        assert memory.recall.store.verify(SESSION).ok


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("kuzu", marks=needs_kuzu)])
@pytest.mark.parametrize("times", [("", "2090-01-01"), ("2026-01-02", "2026-01-01"), ("", "2090-01-01", "2091-01-01")])
def test_what_an_invalidation_ended_stays_ended_when_the_event_that_it_refers_to_is_erased(
    tmp_path: Path, engine: str, times: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what begins in the future, and so was not what the invalidation refers to."""
    monkeypatch.setenv("PROJECTION_BACKEND", engine)
    with Memory.open(tmp_path) as memory:
        said = [
            {"decision": "the port is open", "rationale": f"reason {n}", **({"occurred_at": at} if at else {})}
            for n, at in enumerate(times)
        ]
        events = [memory.append("decision.made", payload, actor="ada", session=SESSION) for payload in said]
        ender = memory.invalidate("the port is open", "decision", session=SESSION)
        moments = {"now": {}, "later": {"temporal_filter": "2095-01-01T00:00:00Z"}}
        assert [facts(memory, **moment) for moment in moments.values()] == [[], []]
        for event in (events[0], ender):
            memory.forget(event.citation, "private")
            assert [facts(memory, **moment) for moment in moments.values()] == [[], []]
            memory.rebuild_followers(SESSION)
            assert [facts(memory, **moment) for moment in moments.values()] == [[], []]
        memory.append("decision.made", {"decision": "the port is open"}, actor="ada", session=SESSION)
        assert facts(memory) == ["the port is open"]


def test_an_erasure_is_complete_after_an_upgrade_and_without_patience(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(tmp_path) as memory:
        event = memory.append("note.taken", {"text": "quixzbarq"}, session=SESSION)
        memory.query("quixzbarq", SESSION)
    monkeypatch.setattr(rules, "VERSION", "next")
    with Memory.open(tmp_path, patience=0.0) as memory:
        memory.forget(event.citation, "private")
    assert not text_under(tmp_path, "quixzbarq")


FOLLOW_ON = """
import sys, time
from zaxy.memory import Memory
memory = Memory.open(sys.argv[1])
stop = time.monotonic() + float(sys.argv[2])
print("ready", flush=True)
while time.monotonic() < stop:
    assert not memory.query("lamp", "work").warnings
    memory.append("note.taken", {"text": "lamp"}, session="work")
"""


def test_an_erasure_while_another_process_follows_leaves_no_text(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        event = memory.append("note.taken", {"text": "lamp quixzbarq0"}, session=SESSION)
        other = subprocess.Popen(
            [sys.executable, "-c", FOLLOW_ON, str(tmp_path), "2"], stdout=subprocess.PIPE, text=True
        )
        assert other.stdout and other.stdout.readline() == "ready\n"
        for number in range(1, 6):
            time.sleep(0.1)
            warnings = memory.forget(event.citation, "private").warnings
            assert warnings == ()
            event = memory.append("note.taken", {"text": f"lamp quixzbarq{number}"}, session=SESSION)
        memory.forget(event.citation, "private")
        assert other.wait(120) == 0
        memory.query("lamp", SESSION)
        assert not text_under(tmp_path, "quixzbarq")
        digests = memory.follower_digests(SESSION)
        memory.rebuild_followers(SESSION)
        assert memory.follower_digests(SESSION) == digests
        assert json.loads(log_of(tmp_path).read_bytes().splitlines()[0]).get("payload") is None


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="no file is closed to root")
def test_files_that_may_not_be_read_are_named(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.append("note.taken", {"text": "lamp"}, session=SESSION)
        memory.query("lamp", SESSION)
    for path in (tmp_path / ".eventloom" / "followers").rglob("*.db"):
        path.chmod(0)
    with Memory.open(tmp_path) as memory:
        assert all("cannot be used" in state.problem for state in memory.followers_status(SESSION))
        for read in (memory.query, memory.verbatim):
            with pytest.raises(ZaxyError) as refused:
                read("lamp", SESSION)
            assert refused.value.code == "unavailable"


def test_the_garbage_collector_rests_only_while_events_are_followed(store: EventLog, tmp_path: Path) -> None:
    store.append(SESSION, notes(range(3)))
    on: list[bool] = []
    loop_of(store, tmp_path, one=Noted()).catch_up(SESSION, progress=lambda *_: on.append(gc.isenabled()))
    assert on == [False] and gc.isenabled()


AGED = """
import gc
from zaxy.follow.collector import MANY, resting_collector

gc.collect()
with resting_collector():
    few = [[] for _ in range(10)]
assert any(made is few[0] for made in gc.get_objects(generation=0))
with resting_collector():
    many = [[] for _ in range(MANY + 1)]
young = set(map(id, gc.get_objects(generation=0)))
assert gc.isenabled() and young.isdisjoint(map(id, (*few, *many)))
assert gc.get_freeze_count() == 0
"""

FROZEN = """
import gc
from zaxy.follow.collector import MANY, resting_collector

gc.freeze()
frozen = gc.get_freeze_count()
with resting_collector():
    many = [[] for _ in range(MANY + 1)]
assert 0 < gc.get_freeze_count() <= frozen
"""


# Each in a process of its own: a server that another test ran in this one may have frozen what it holds.
def test_what_is_left_of_many_events_counts_as_old() -> None:
    subprocess.run([sys.executable, "-c", AGED], check=True)


def test_what_an_application_has_frozen_stays_frozen() -> None:
    subprocess.run([sys.executable, "-c", FROZEN], check=True)
