"""A user's program that has every method of memory, in both faces, with the type that comes back. It is not run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, assert_type

from zaxy import (
    Answer,
    AsyncMemory,
    AsyncModelTools,
    Bootstrap,
    Capabilities,
    Checkout,
    Context,
    Draft,
    Erasure,
    Event,
    FollowerFindings,
    FollowerState,
    ForeignEvent,
    ImportReceipt,
    Memory,
    ModelTools,
    RecordedTurn,
    Replay,
    SubagentCleanup,
    SynthesisRecord,
)
from zaxy.api import EdgeRow, EntityRef, EntityRow, ExportSink, Report
from zaxy_export import Imported, Selector, Written

DRAFTS = [Draft("note.taken", "ann", {"text": "x"})]
FOREIGN = [ForeignEvent("chat:1", "2026-06-15T12:00:00Z", "note.taken", "ann", {"text": "x"})]


def use(bundle: Path) -> None:
    with Memory.open("project", patience=2.0) as memory:
        assert_type(memory, Memory)
        assert_type(memory.session, str)
        assert_type(memory.is_foreign, bool)
        event = memory.append("fact.recorded", {"fact": "x"}, actor="ann", session="work", idempotency_key="1")
        assert_type(event, Event)
        assert_type(memory.append_many(DRAFTS, "work"), list[Event])
        assert_type(memory.after_turn("user", "hello", turn_index=1), RecordedTurn)
        assert_type(memory.feedback("cache", "decision", feedback="used", importance=0.5), Event)
        assert_type(memory.skill("propose", "flush", procedure=["stop", "start"]), Event)
        found = memory.checkout("where is the cache?", purpose="debugging")
        assert_type(found, Checkout)
        assert_type(memory.synthesis_artifact(found.as_dict()), SynthesisRecord)
        assert_type(memory.synthesis_evidence(found.as_dict(), {"fact_id": "1"}, outcome="used"), Event)
        assert_type(memory.cleanup_subagent("work", "worker", summary="done"), SubagentCleanup)
        memory.record_tool_call("memory_query", "ok", argument_keys=["query"], summary="answered")
        memory.end_session("done")
        assert_type(memory.query("cache", known_at=3), Answer)
        assert_type(memory.verbatim("cache", limit=1), Answer)
        assert_type(memory.context("cache"), Context)
        assert_type(memory.bootstrap(current_task="x"), Bootstrap)
        assert_type(memory.capabilities(), Capabilities)
        page = memory.replay(limit=10)
        assert_type(page, Replay)
        assert_type(memory.replay(from_seq=page.next_seq).truncated, bool)
        for one in page:
            assert_type(one, Event)
        for one in memory.events(include_housekeeping=True):
            assert_type(one, Event)
        assert_type(memory.tail("work", 5), Iterator[Event])
        assert_type(memory.lines(first=2), Iterator[tuple[Event, bytes]])
        assert_type(memory.resolve(event.citation), Event)
        assert_type(memory.head(), int)
        assert_type(memory.sessions(), list[str])
        assert_type(memory.get(1), Event)
        assert_type(memory.latest(types=["fact.*"]), list[Event])
        assert_type(memory.verify(), Report)
        assert_type(memory.fitting("cache"), list[int])
        assert_type(memory.doubts(), list[str])
        assert_type(memory.set_ref("refs/heads/main"), Event)
        assert_type(memory.refs(), dict[str, str])
        assert_type(memory.resolve_ref("HEAD"), Event)
        assert_type(memory.current(["decision"]), list[EntityRow])
        assert_type(memory.entities(["cache"]), list[EntityRow])
        assert_type(memory.neighbours([EntityRef("decision", "cache")], depth=2), list[EdgeRow])
        assert_type(memory.invalidate("cache", "decision"), Event)
        assert_type(memory.forget(event.citation, "asked for"), Erasure)
        with bundle.open("wb") as written:
            assert_type(memory.export(written, Selector()), Written)
        with bundle.open("rb") as read:
            assert_type(memory.import_bundle(read), Imported)
        assert_type(memory.import_events(FOREIGN, source={}), ImportReceipt)
        assert_type(memory.export_sink("file"), ExportSink)
        tools = memory.tools("openai", profile="core", session="work")
        assert_type(tools, ModelTools)
        messages: list[dict[str, Any]] = [tools.call("memory_query", {"query": "x"}, call_id="1")]
        messages += tools.answer(None)
        assert_type("memory_query" in tools, bool)
        assert_type(tools.schemas, list[Any])
        assert_type(memory.follow(), list[FollowerState])
        assert_type(memory.followers_status(), list[FollowerState])
        assert_type(memory.catch_up_followers(), list[FollowerState])
        assert_type(memory.rebuild_followers(names=["text"]), list[FollowerState])
        assert_type(memory.verify_followers(), list[FollowerFindings])
        assert_type(memory.follower_digests(), dict[str, str])
        memory.follow_in_background()
        memory.close()


async def use_async(bundle: Path) -> None:
    opened = await AsyncMemory.open()
    await opened.close()
    async with AsyncMemory.open("project", patience=2.0) as memory:
        assert_type(memory, AsyncMemory)
        assert_type(memory.session, str)
        assert_type(await memory.is_foreign(), bool)
        event = await memory.append("fact.recorded", {"fact": "x"}, actor="ann", session="work", idempotency_key="1")
        assert_type(event, Event)
        assert_type(await memory.append_many(DRAFTS, "work"), list[Event])
        assert_type(await memory.after_turn("user", "hello", turn_index=1), RecordedTurn)
        assert_type(await memory.feedback("cache", "decision", feedback="used", importance=0.5), Event)
        assert_type(await memory.skill("propose", "flush", procedure=["stop", "start"]), Event)
        found = await memory.checkout("where is the cache?", purpose="debugging")
        assert_type(found, Checkout)
        assert_type(await memory.synthesis_artifact(found.as_dict()), SynthesisRecord)
        assert_type(await memory.synthesis_evidence(found.as_dict(), {"fact_id": "1"}, outcome="used"), Event)
        assert_type(await memory.cleanup_subagent("work", "worker", summary="done"), SubagentCleanup)
        await memory.record_tool_call("memory_query", "ok", argument_keys=["query"], summary="answered")
        await memory.end_session("done")
        assert_type(await memory.query("cache", known_at=3), Answer)
        assert_type(await memory.verbatim("cache", limit=1), Answer)
        assert_type(await memory.context("cache"), Context)
        assert_type(await memory.bootstrap(current_task="x"), Bootstrap)
        assert_type(await memory.capabilities(), Capabilities)
        assert_type(await memory.replay(limit=10), Replay)
        async for one in memory.events(include_housekeeping=True):
            assert_type(one, Event)
        async with aclosing(memory.tail("work", 5)) as coming:
            async for one in coming:
                assert_type(one, Event)
        async for pair in memory.lines(first=2):
            assert_type(pair, tuple[Event, bytes])
        assert_type(await memory.resolve(event.citation), Event)
        assert_type(await memory.head(), int)
        assert_type(await memory.sessions(), list[str])
        assert_type(await memory.get(1), Event)
        assert_type(await memory.latest(types=["fact.*"]), list[Event])
        assert_type(await memory.verify(), Report)
        assert_type(await memory.fitting("cache"), list[int])
        assert_type(await memory.doubts(), list[str])
        assert_type(await memory.set_ref("refs/heads/main"), Event)
        assert_type(await memory.refs(), dict[str, str])
        assert_type(await memory.resolve_ref("HEAD"), Event)
        assert_type(await memory.current(["decision"]), list[EntityRow])
        assert_type(await memory.entities(["cache"]), list[EntityRow])
        assert_type(await memory.neighbours([EntityRef("decision", "cache")], depth=2), list[EdgeRow])
        assert_type(await memory.invalidate("cache", "decision"), Event)
        assert_type(await memory.forget(event.citation, "asked for"), Erasure)
        with bundle.open("wb") as written:
            assert_type(await memory.export(written, Selector()), Written)
        with bundle.open("rb") as read:
            assert_type(await memory.import_bundle(read), Imported)
        assert_type(await memory.import_events(FOREIGN, source={}), ImportReceipt)
        assert_type(await memory.export_sink("file"), ExportSink)
        tools = await memory.tools("anthropic", profile="core", session="work")
        assert_type(tools, AsyncModelTools)
        messages: list[dict[str, Any]] = [await tools.call("memory_query", {"query": "x"}, call_id="1")]
        messages += await tools.answer(None)
        assert_type("memory_query" in tools, bool)
        assert_type(tools.schemas, list[Any])
        assert_type(await memory.follow(), list[FollowerState])
        assert_type(await memory.followers_status(), list[FollowerState])
        assert_type(await memory.catch_up_followers(), list[FollowerState])
        assert_type(await memory.rebuild_followers(names=["text"]), list[FollowerState])
        assert_type(await memory.verify_followers(), list[FollowerFindings])
        assert_type(await memory.follower_digests(), dict[str, str])
        await memory.follow_in_background()
