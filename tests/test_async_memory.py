"""The async face: the same methods, and while one of them waits the event loop goes on."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from zaxy import AsyncMemory, Draft, Event, Memory, NotFound, Unavailable, ZaxyError, direct_reads
from zaxy.async_memory import AT_ONCE
from zaxy.eventloom.disk import DISK
from zaxy.eventloom.lock import SessionLock
from zaxy.workspace import Workspace, default_session

T = TypeVar("T")
NOTE = ("note.taken", {"text": "lamp"})
PLENTY = 60.0
"""Seconds within which anything ends, also on a busy machine."""


@contextmanager
def held(folder: Path, session: str) -> Iterator[None]:
    """Somebody else writes to a session: whoever reads or writes it meanwhile waits."""
    with SessionLock(str(folder / ".eventloom" / f"{session}.lock"), DISK).exclusive(PLENTY):
        yield


class Begun:
    """Appends that say when they have begun."""

    def __init__(self, memory: AsyncMemory, session: str, count: int = 1) -> None:
        self._begun: list[int] = []
        self._count = count
        self.tasks = [asyncio.create_task(memory.append_many(self._drafts(), session)) for _ in range(count)]

    def _drafts(self) -> Iterator[Draft]:
        self._begun.append(1)
        yield Draft("note.taken", "ann", {"text": "lamp"})

    async def all(self) -> list[asyncio.Task[list[Event]]]:
        await until(lambda: len(self._begun) == self._count)
        return self.tasks


async def seqs(events: AsyncIterator[Event]) -> list[int]:
    return [event.seq async for event in events]


async def first(events: AsyncIterator[T], count: int) -> list[T]:
    return [await asyncio.wait_for(anext(events), PLENTY) for _ in range(count)]


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PLENTY):
        while not is_so():
            await asyncio.sleep(0.01)


# The same words


def test_every_method_of_memory_has_its_async_face_with_the_same_parameters(tmp_path: Path) -> None:
    names = {name for name in dir(Memory) if not name.startswith("_")}
    assert names == {name for name in dir(AsyncMemory) if not name.startswith("_")}
    memory = AsyncMemory(Memory.open(tmp_path))
    for name in sorted(names - {"open", "session", "is_foreign"}):
        here, there = (list(inspect.signature(getattr(one, name)).parameters.values()) for one in (memory, Memory))
        assert [str(one) for one in here] == [str(one) for one in there if one.name != "self"], name
        is_awaited = inspect.iscoroutinefunction(getattr(memory, name))
        assert is_awaited != inspect.isasyncgenfunction(getattr(memory, name)), name


def test_what_is_written_is_found(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory.open(tmp_path) as memory:
            event = await memory.append("decision.made", {"decision": "Store the cache in Redis"}, actor="bob")
            assert event.session == memory.session
            assert (await memory.query("where is the cache?")).results[0].seq == event.seq
            assert (await memory.checkout("where is the cache?")).current_facts
            assert (await memory.resolve(event.citation)) == event
            assert not await memory.is_foreign()
            with pytest.raises(NotFound, match="no event 99"):
                await memory.get(99)

    asyncio.run(use())


def test_a_memory_can_be_awaited_and_closed_by_hand(tmp_path: Path) -> None:
    async def use() -> None:
        memory = await AsyncMemory.open(tmp_path)
        await memory.append(*NOTE)
        await memory.close()
        await memory.close()

    asyncio.run(use())
    with Memory.open(tmp_path) as memory:
        assert memory.head() == 1


# The loop goes on


def test_while_a_call_waits_the_loop_goes_on_and_other_calls_are_answered(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory.open(tmp_path) as memory:
            await memory.append(*NOTE, session="one")
            with held(tmp_path, "one"):
                writes = asyncio.create_task(memory.append(*NOTE, session="one"))
                reads = asyncio.create_task(memory.query("lamp", "one"))
                for number in range(1, 4):
                    assert (await memory.append(*NOTE, session="two")).seq == number
                assert (await memory.query("lamp", "two")).results
                assert not writes.done() and not reads.done()
            assert (await writes).seq == 2
            assert (await reads).results

    asyncio.run(use())


def test_more_calls_than_work_at_a_time_wait_their_turn(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory.open(tmp_path) as memory:
            done = await asyncio.gather(*(memory.append(*NOTE) for _ in range(4 * AT_ONCE)))
            assert sorted(event.seq for event in done) == list(range(1, 4 * AT_ONCE + 1))

    asyncio.run(use())


def test_which_session_is_meant_is_never_read_from_files_on_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[int] = set()

    def read(workspace: Workspace) -> str:
        threads.add(threading.get_ident())
        return default_session(workspace)

    monkeypatch.setattr(direct_reads, "default_session", read)

    async def use() -> None:
        async with AsyncMemory.open(tmp_path) as memory:
            before = memory.session
            monkeypatch.setenv("ZAXY_DOMAIN", "harbour")
            event = await memory.append(*NOTE)
            assert before != event.session == memory.session == "harbour-default"

    asyncio.run(use())
    assert threads and threading.get_ident() not in threads


# Cancelled


def test_a_read_that_is_cancelled_ends_at_once(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory.open(tmp_path) as memory:
            await memory.append(*NOTE, session="one")
            with held(tmp_path, "one"):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(memory.query("lamp", "one"), 0.05)
                assert await memory.sessions() == ["one"]

    asyncio.run(use())


def test_a_write_that_has_begun_is_finished_before_its_task_ends(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory.open(tmp_path) as memory:
            await memory.append(*NOTE, session="one")
            with held(tmp_path, "one"):
                (task,) = await Begun(memory, "one").all()
                for _ in range(2):
                    task.cancel()
                    await asyncio.sleep(0)
                assert not task.done()
            with pytest.raises(asyncio.CancelledError):
                await task
            with Memory.open(tmp_path) as other:
                assert other.head("one") == 2

    asyncio.run(use())


def test_a_write_that_has_not_begun_never_does_once_it_is_cancelled(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory.open(tmp_path) as memory:
            await memory.append(*NOTE, session="one")
            with held(tmp_path, "one"):
                working = await Begun(memory, "one", AT_ONCE).all()
                waiting = asyncio.create_task(memory.append(*NOTE, session="two"))
                await asyncio.sleep(0)
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
            await asyncio.gather(*working)
            assert await memory.sessions() == ["one"]

    asyncio.run(use())


# The end


def test_closing_waits_for_what_is_at_work_and_refuses_what_waits_for_its_turn(tmp_path: Path) -> None:
    async def use() -> None:
        memory = await AsyncMemory.open(tmp_path)
        await memory.append(*NOTE, session="one")
        with held(tmp_path, "one"):
            working = await Begun(memory, "one", AT_ONCE).all()
            waiting = asyncio.create_task(memory.append(*NOTE, session="two"))
            await asyncio.sleep(0)
            closing = asyncio.create_task(memory.close())
            await asyncio.sleep(0)
        await closing
        assert len({(await task)[0].seq for task in working}) == AT_ONCE
        with pytest.raises(Unavailable, match="this memory is closed"):
            await waiting

    asyncio.run(use())


def test_closing_is_finished_also_if_it_is_cancelled(tmp_path: Path) -> None:
    async def use() -> None:
        memory = await AsyncMemory.open(tmp_path)
        await memory.append(*NOTE, session="one")
        with held(tmp_path, "one"):
            (task,) = await Begun(memory, "one").all()
            closing = asyncio.create_task(memory.close())
            await asyncio.sleep(0)
            closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        assert (await task)[0].seq == 2

    asyncio.run(use())


# Iteration


def test_iteration_goes_through_a_session_and_ends_with_the_error_where_it_is_damaged(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.append_many([Draft("note.taken", "ann", {"text": f"note {n}."}) for n in range(200)], "one")

    async def use() -> list[int]:
        found: list[int] = []
        async with AsyncMemory.open(tmp_path) as memory:
            async for event in memory.events("one", 11):
                found.append(event.seq)
            pairs = [one async for one in memory.lines("one", first=2, last=3)]
            assert [(event.seq, line[:2]) for event, line in pairs] == [(2, b'{"'), (3, b'{"')]
        return found

    assert asyncio.run(use()) == list(range(11, 201))
    log = tmp_path / ".eventloom" / "one.jsonl"
    log.write_bytes(log.read_bytes().replace(b"note 120.", b"note 121."))
    found: list[int] = []

    async def read() -> None:
        async with AsyncMemory.open(tmp_path) as memory:
            async for event in memory.events("one"):
                found.append(event.seq)

    with pytest.raises(ZaxyError, match="event 121 of one is damaged"):
        asyncio.run(read())
    assert found == list(range(1, 121)), "all that stands before it"


def test_tail_follows_more_sessions_than_calls_work_at_a_time(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory.open(tmp_path) as memory:
            names = [f"s{number}" for number in range(2 * AT_ONCE)]
            for name in names:
                await memory.append(*NOTE, session=name)
            tails = [memory.tail(name, 1) for name in names]
            for tail in tails:
                assert (await first(tail, 1))[0].seq == 1
            waiting = [asyncio.create_task(anext(tail)) for tail in tails]
            await asyncio.sleep(0)
            with Memory.open(tmp_path) as other:
                for name in names:
                    other.append(*NOTE, session=name)
            assert [event.seq for event in await asyncio.wait_for(asyncio.gather(*waiting), PLENTY)] == [2] * len(names)

    asyncio.run(use())


def test_tail_ends_when_the_memory_is_closed_and_when_its_task_is_cancelled(tmp_path: Path) -> None:
    async def use() -> None:
        memory = await AsyncMemory.open(tmp_path)
        await memory.append(*NOTE)
        cancelled, ended = (asyncio.create_task(seqs(memory.tail())) for _ in range(2))
        await asyncio.sleep(0)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        found: list[int] = []

        async def watch() -> None:
            async for event in memory.tail():
                found.append(event.seq)

        watching = asyncio.create_task(watch())
        await until(lambda: bool(found))
        await memory.close()
        await asyncio.wait_for(watching, PLENTY)
        assert found == [1]
        await asyncio.wait_for(asyncio.gather(ended, return_exceptions=True), PLENTY)

    asyncio.run(use())


def test_tools_answer_a_model_beside_the_loop(tmp_path: Path) -> None:
    async def use() -> Any:
        async with AsyncMemory.open(tmp_path) as memory:
            tools = await memory.tools("anthropic")
            assert "memory_query" in tools and tools.schemas == (await memory.tools("anthropic")).schemas
            await memory.append(*NOTE)
            with held(tmp_path, memory.session):
                asked = asyncio.create_task(tools.call("memory_query", {"query": "lamp"}, call_id="a"))
                await memory.append(*NOTE, session="two")
                assert not asked.done()
            block = {"type": "tool_use", "id": "b", "name": "memory_query", "input": {"query": "lamp"}}
            return await asked, await tools.answer([block])

    asked, (answered,) = asyncio.run(use())
    assert [one["content"][0]["tool_use_id"] for one in (asked, answered)] == ["a", "b"]
    assert not asked["content"][0]["is_error"]


def test_one_memory_serves_tasks_of_several_loops(tmp_path: Path) -> None:
    shared = AsyncMemory(Memory.open(tmp_path))

    async def use() -> int:
        return (await shared.append(*NOTE)).seq

    with ThreadPoolExecutor(3) as threads:
        done = [threads.submit(asyncio.run, use()) for _ in range(3)]
    assert sorted(one.result() for one in done) == [1, 2, 3]
    asyncio.run(shared.close())
