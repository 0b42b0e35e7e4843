"""Long sessions: a page says where the next one begins, iteration goes through all, and `tail` follows the log."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from queue import Queue

import pytest

import outside_store
from zaxy import Draft, Event, InvalidRequest, Memory, ZaxyError
from zaxy.api import EntityRef

SESSION = "work"


@pytest.fixture(params=["jsonl", outside_store.NAME])
def memory(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    if request.param != "jsonl":
        outside_store.install(tmp_path / "site")
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        monkeypatch.setenv("ZAXY_EVENT_STORE", request.param)
    with Memory.open(tmp_path) as opened:
        yield opened


def note(memory: Memory, count: int = 1) -> list[Event]:
    return memory.append_many([Draft("note.taken", "ann", {"text": f"note {n}"}) for n in range(count)], SESSION)


def mark(memory: Memory) -> None:
    """One event of housekeeping."""
    memory.record_tool_call("memory_query", "ok", argument_keys=[], summary="answered", session=SESSION)


def seqs(events: Iterator[Event] | list[Event]) -> list[int]:
    return [event.seq for event in events]


def test_pages_of_a_replay_follow_on_each_other_until_none_is_left(memory: Memory) -> None:
    for _ in range(3):
        note(memory, 2)
        mark(memory)
    pages = [memory.replay(SESSION, limit=4)]
    while pages[-1].truncated:
        pages.append(memory.replay(SESSION, pages[-1].next_seq, limit=4))
    assert [seqs(page) for page in pages] == [[1, 2, 4, 5], [7, 8]]
    assert pages[-1].next_seq == 10, "behind the housekeeping too"
    assert not memory.replay(SESSION, pages[-1].next_seq)
    note(memory)
    assert seqs(memory.replay(SESSION, pages[-1].next_seq)) == [10]


def test_a_page_that_ends_with_the_session_says_that_nothing_is_left(memory: Memory) -> None:
    note(memory, 3)
    assert not memory.replay(SESSION, limit=3).truncated
    assert memory.replay(SESSION, limit=2).truncated


def test_a_replay_of_a_long_session_says_that_it_is_not_all(memory: Memory) -> None:
    note(memory, 1001)
    page = memory.replay(SESSION)
    assert (len(page), page.truncated, page.next_seq) == (1000, True, 1001)
    assert len(list(memory.events(SESSION))) == 1001


def test_a_page_of_nothing_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidRequest, match="limit is 0"):
        memory.replay(SESSION, limit=0)


def test_iteration_goes_through_the_log_as_it_was_when_it_began(memory: Memory) -> None:
    note(memory, 2)
    mark(memory)
    events = memory.events(SESSION)
    assert next(events).seq == 1
    note(memory)
    assert seqs(events) == [2]
    assert seqs(memory.events(SESSION, 2)) == [2, 4]
    assert seqs(memory.events(SESSION, include_housekeeping=True)) == [1, 2, 3, 4]
    assert seqs(memory.events("nobody")) == []


def test_a_page_that_ends_before_damage_says_that_more_is_there_and_the_next_one_why_not(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        note(memory, 3)
    log = tmp_path / ".eventloom" / f"{SESSION}.jsonl"
    log.write_bytes(log.read_bytes().replace(b"note 1", b"note 7"))
    with Memory.open(tmp_path) as memory:
        page = memory.replay(SESSION)
        assert (seqs(page), page.truncated, page.next_seq) == ([1], True, 2)
        with pytest.raises(ZaxyError, match="event 2 of work is damaged"):
            memory.replay(SESSION, page.next_seq)
        with pytest.raises(ZaxyError, match="event 2 of work is damaged"):
            list(memory.events(SESSION))


# tail


def test_tail_begins_with_the_last_events_oldest_first(memory: Memory) -> None:
    note(memory, 5)
    mark(memory)
    assert seqs(islice(memory.tail(SESSION, 3), 3)) == [3, 4, 5]
    assert seqs(islice(memory.tail(SESSION, 3, include_housekeeping=True), 3)) == [4, 5, 6]


def test_tail_goes_on_with_what_comes_whoever_writes_it_and_ends_when_the_memory_is_closed(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as writer:
        memory = Memory.open(tmp_path)
        found: Queue[int | None] = Queue()

        def watch() -> None:
            for event in memory.tail(SESSION, 1):
                found.put(event.seq)
            found.put(None)

        note(writer, 2)
        watching = threading.Thread(target=watch)
        watching.start()
        assert found.get(timeout=60) == 2
        mark(writer)
        note(writer, 2)
        assert [found.get(timeout=60) for _ in range(2)] == [4, 5]
        note(memory)
        assert found.get(timeout=60) == 6
        memory.close()
        assert found.get(timeout=60) is None
        watching.join()


def test_tail_waits_for_a_session_that_is_yet_to_begin(memory: Memory) -> None:
    coming = memory.tail(SESSION, 0)
    note(memory)
    assert next(coming).seq == 1


def test_tail_of_nothing_shows_only_what_comes(memory: Memory) -> None:
    note(memory, 3)
    coming = memory.tail(SESSION, 0)
    note(memory)
    assert next(coming).seq == 4


def test_tail_of_less_than_nothing_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidRequest, match="limit is -1"):
        memory.tail(SESSION, -1)


# One name where several are meant


@pytest.mark.parametrize(
    "read",
    [
        lambda memory: memory.latest(types="note.taken"),
        lambda memory: memory.current("decision"),
        lambda memory: memory.entities("cache"),
        lambda memory: memory.neighbours([EntityRef("decision", "cache")], relations="made_decision"),
        lambda memory: memory.rebuild_followers(names="text"),
    ],
)
def test_a_text_is_not_taken_for_its_letters(memory: Memory, read: Callable[[Memory], object]) -> None:
    with pytest.raises(InvalidRequest, match="is one text, and several are meant") as refused:
        read(memory)
    assert re.fullmatch(r"Write \['[\w.]+'\]\.", refused.value.remediation)
