"""A memory that was closed refuses every method and says so, in both faces; one of no folder is never opened."""

from __future__ import annotations

import asyncio
import io
import threading
from pathlib import Path
from typing import Any

import pytest

from zaxy import AsyncMemory, Draft, ForeignEvent, Memory, NotFound, Unavailable
from zaxy.api import EntityRef
from zaxy_export import Selector

CITATION = f"eventloom://work/events/1#{'0' * 64}"
CHECKOUT: dict[str, Any] = {}
"""A checkout of the memory before it was closed."""
CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "append": (("note.taken", {"text": "x"}), {}),
    "append_many": (([Draft("note.taken", "ann", {"text": "x"})],), {}),
    "after_turn": (("user", "hello"), {}),
    "feedback": (("cache", "decision"), {"feedback": "used"}),
    "skill": (("propose", "flush"), {"summary": "flush it"}),
    "synthesis_artifact": ((CHECKOUT,), {}),
    "synthesis_evidence": ((CHECKOUT, {"fact_id": "1"}), {"outcome": "used"}),
    "cleanup_subagent": (("work", "worker"), {"summary": "done"}),
    "record_tool_call": (("memory_query", "ok"), {"argument_keys": [], "summary": "answered"}),
    "invalidate": (("cache", "decision"), {}),
    "forget": ((CITATION, "asked for"), {}),
    "query": (("cache",), {}),
    "verbatim": (("cache",), {}),
    "checkout": (("cache",), {}),
    "context": (("cache",), {}),
    "resolve": ((CITATION,), {}),
    "get": ((1,), {}),
    "fitting": (("cache",), {}),
    "set_ref": (("refs/heads/main",), {}),
    "resolve_ref": (("HEAD",), {}),
    "current": ((["decision"],), {}),
    "entities": ((["cache"],), {}),
    "neighbours": (([EntityRef("decision", "cache")],), {}),
    "export": ((io.BytesIO(), Selector()), {}),
    "import_bundle": ((io.BytesIO(b"{}"),), {}),
    "import_events": (([ForeignEvent("a:1", "2026-06-15T12:00:00Z", "note.taken", "ann", {})],), {"source": {}}),
    "export_sink": (("file",), {}),
    "tools": (("openai",), {}),
}
"""What each method is called with; the others need nothing."""
OF_CLASSES = ("open", "close", "session", "is_foreign")
METHODS = sorted({name for name in dir(Memory) if not name.startswith("_")} - set(OF_CLASSES))


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    with Memory.open(tmp_path_factory.mktemp("project")) as memory:
        memory.append("decision.made", {"decision": "Store the cache in SQLite", "key": "cache"}, session="work")
        for cost in (10, 20):
            memory.append("transcript.turn", {"role": "user", "content": f"I spent ${cost} on fuel."}, session="work")
        CHECKOUT.update(memory.checkout("How much did I spend on fuel?", "work").as_dict())
    return memory


@pytest.mark.parametrize("name", METHODS)
def test_a_closed_memory_refuses(name: str, closed: Memory) -> None:
    places, named = CALLS.get(name, ((), {}))
    with pytest.raises(Unavailable, match="this memory is closed") as refused:
        getattr(closed, name)(*places, **named)
    assert refused.value.remediation == "Open it again, with Memory.open()."


def test_a_closed_memory_does_not_say_whose_it_is(closed: Memory) -> None:
    with pytest.raises(Unavailable, match="this memory is closed"):
        _ = closed.is_foreign


def test_closing_twice_is_closing_once(closed: Memory) -> None:
    closed.close()
    closed.close()


@pytest.mark.parametrize("name", [*METHODS, "is_foreign"])
def test_a_closed_async_memory_refuses(name: str, tmp_path: Path) -> None:
    places, named = CALLS.get(name, ((), {}))

    async def use() -> None:
        async with AsyncMemory.open(tmp_path) as memory:
            pass
        called = getattr(memory, name)(*places, **named)
        if hasattr(called, "__aiter__"):
            async for _ in called:
                pass
        else:
            await called

    with pytest.raises(Unavailable, match="this memory is closed"):
        asyncio.run(use())


def test_what_was_begun_on_a_memory_is_refused_once_that_is_closed(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.append_many([Draft("note.taken", "ann", {"text": f"note {number}"}) for number in range(3)])
        events = memory.events()
        assert next(events).seq == 1
        tools = memory.tools("anthropic")
    with pytest.raises(Unavailable, match="this memory is closed"):
        next(events)
    (result,) = tools.call("memory_query", {"query": "note"})["content"]
    assert result["is_error"] and "this memory is closed" in result["content"]


def test_a_folder_that_is_not_there_is_not_opened_and_not_made(tmp_path: Path) -> None:
    missing = tmp_path / "mistyped"
    with pytest.raises(NotFound, match="mistyped is not a folder") as refused:
        Memory.open(missing)
    assert "make it first" in refused.value.remediation
    (tmp_path / "a file").touch()
    with pytest.raises(NotFound, match="a file is not a folder"):
        Memory.open(tmp_path / "a file")

    async def use() -> None:
        async with AsyncMemory.open(missing):
            raise AssertionError

    with pytest.raises(NotFound, match="mistyped is not a folder"):
        asyncio.run(use())
    assert not missing.exists()


def test_nothing_of_a_closed_memory_runs_on(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with Memory.open(tmp_path) as memory:
        memory.append("note.taken", {"text": "x"})
        memory.tools("openai").call("memory_checkout", {"query": "x"})
        memory.follow_in_background()
    left = {thread.name for thread in set(threading.enumerate()) - before}
    assert not [name for name in left if not name.startswith("zaxy-plugin-")], "those wait for calls of a package"
