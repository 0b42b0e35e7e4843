"""The server as a real client sees it, over a real pipe, in both eras of the protocol."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, ListToolsResult

from conftest import missing_package
from folders import made_folder
from installed import install, manifest_of
from served import ERAS, LEGACY, Server
from zaxy import __version__
from zaxy.api import Draft
from zaxy.api.tools import PROFILES
from zaxy.memory import Memory
from zaxy.serve.application import Application, Request
from zaxy.serve.catalog import FIRST, Catalog, own_tools
from zaxy.serve.connection import serve_streams
from zaxy.serve.limits import CallLimit
from zaxy.serve.protocol import make_server
from zaxy.token_count import count_tokens
from zaxy.workspace import find_workspace
from zaxy_testkit.templates import tool_packs

CORE = [
    *("memory_bootstrap", "memory_checkout", "memory_append", "memory_query", "memory_verbatim", "memory_feedback"),
    *("memory_skill", "memory_invalidate", "memory_replay", "context_after_turn"),
]
SHORT_CITATION = re.compile(r"eventloom://[\w.-]+/events/\d+#[0-9a-f]{12}")
Call = Callable[..., dict[str, Any]]


class Talk:
    """The SDK's own client, which runs in a thread of its own."""

    def __init__(self, portal: BlockingPortal, client: Client, folder: Path) -> None:
        self._portal = portal
        self.client = client
        self.folder = folder

    def result(self, tool: str, **arguments: Any) -> CallToolResult:
        found = self._portal.call(lambda: self.client.call_tool(tool, arguments))
        assert isinstance(found, CallToolResult)
        return found

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        found = self.result(tool, **arguments)
        (block,) = found.content
        assert json.loads(block.text) == found.structured_content  # type: ignore[union-attr]
        assert bool(found.is_error) == ("error" in found.structured_content)
        content: dict[str, Any] = found.structured_content
        return content

    def tools(self) -> ListToolsResult:
        return self._portal.call(self.client.list_tools)

    def memory(self) -> Memory:
        return Memory.open(self.folder)


@pytest.fixture(scope="module", params=ERAS)
def talk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    folder = tmp_path_factory.mktemp("demo")
    parameters = StdioServerParameters(command=sys.executable, args=["-m", "zaxy", "serve"], cwd=folder)
    mode = "legacy" if request.param == LEGACY else "auto"
    with start_blocking_portal() as portal:
        client = Client(stdio_client(parameters), mode=mode)
        with portal.wrap_async_context_manager(client):
            assert client.protocol_version == request.param
            yield Talk(portal, client, folder)


def fact(text: str, **more: object) -> dict[str, Any]:
    return {"event_type": "fact.recorded", "actor": "ann", "payload": {"text": text, **more}}


# What the server says of itself


def test_it_names_itself_with_version_and_instructions(talk: Talk) -> None:
    named = talk.client.server_info
    assert named is not None
    assert (named.name, named.version, named.title) == ("zaxy", __version__, "Zaxy memory")
    assert talk.client.instructions
    for tool in ("memory_bootstrap", "memory_checkout", "memory_append", "memory_feedback"):
        assert tool in talk.client.instructions


def test_the_core_profile_lists_its_ten_tools_always_in_the_same_order(talk: Talk) -> None:
    assert [tool.name for tool in talk.tools().tools] == CORE
    assert talk.tools() == talk.tools()


def test_the_listing_of_the_core_profile_costs_at_most_2500_tokens(talk: Talk) -> None:
    assert count_tokens(talk.tools().model_dump_json(by_alias=True, exclude_none=True)) <= 2500


def test_every_tool_has_a_plain_name_a_closed_schema_and_annotations(talk: Talk) -> None:
    for tool in talk.tools().tools:
        assert re.fullmatch(r"[a-z_]{1,40}", tool.name)
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is None
        assert tool.annotations is not None
        assert tool.annotations.open_world_hint is False
        assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) != (None, None) or (
            tool.name == "memory_invalidate"
        ), "only what is destructive may be taken for destructive, which is what no hint means"


def test_the_admin_token_and_a_second_name_are_taken_but_not_listed_except_for_appends(talk: Talk) -> None:
    listed = {tool.name: set(tool.input_schema["properties"]) for tool in talk.tools().tools}
    assert {"event_type", "actor", "payload", "thread"} <= listed.pop("memory_append")
    assert not {"thread", "admin_token"} & set.union(*listed.values())
    assert talk.call("memory_replay", admin_token="not asked for here")["results"] is not None


# The tools


def test_an_append_answers_with_its_place_and_a_citation_that_resolves(talk: Talk) -> None:
    reply = talk.call("memory_append", **fact("The sky is blue."))
    assert set(reply) == {"seq", "id", "hash", "citation", "session_id"}
    assert SHORT_CITATION.fullmatch(reply["citation"])
    with talk.memory() as memory:
        event = memory.resolve(reply["citation"])
        assert (event.seq, event.hash, event.session) == (reply["seq"], reply["hash"], reply["session_id"])
        assert memory.session == reply["session_id"]


def test_the_same_idempotency_key_again_gives_the_first_event(talk: Talk) -> None:
    first = talk.call("memory_append", **fact("once"), idempotency_key="key")
    again = talk.call("memory_append", **fact("once"), idempotency_key="key")
    assert again == {**first, "replayed": True}
    other = talk.call("memory_append", **fact("twice"), idempotency_key="key")
    assert other["error"]["code"] == "conflict"


def test_a_dotted_name_calls_the_same_tool(talk: Talk) -> None:
    assert talk.call("memory.append", **fact("dotted"))["seq"]


def test_thread_and_session_id_are_the_same_and_may_not_differ(talk: Talk) -> None:
    assert talk.call("memory_append", **fact("a"), thread="other")["session_id"] == "other"
    assert talk.call("memory_append", **fact("b"), thread="other", session_id="other")["session_id"] == "other"
    error = talk.call("memory_append", **fact("c"), thread="other", session_id="another")["error"]
    assert error["code"] == "invalid_request"


def test_a_batch_answers_with_each_events_place(talk: Talk) -> None:
    rows = talk.call("memory_ingest", events=[fact("one"), fact("two")], session_id="batch")["results"]
    assert [row["seq"] for row in rows] == [1, 2]
    assert all(SHORT_CITATION.fullmatch(row["citation"]) for row in rows)


def test_a_query_answers_with_cited_rows_in_pages(talk: Talk) -> None:
    talk.call("memory_ingest", events=[fact(f"The lamp number {n} is red.") for n in range(5)], session_id="lamps")
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = talk.call("memory_query", query="red lamp", session_id="lamps", limit=2, **cursor)
        assert {"results", "tokens_used", "truncated", "next_cursor"} <= set(page)
        seen += [row["citation"] for row in page["results"]]
        if not page["next_cursor"]:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert len(seen) == len(set(seen)) == 5
    assert all(SHORT_CITATION.fullmatch(citation) for citation in seen)


def test_verbatim_finds_the_words_as_they_were_written(talk: Talk) -> None:
    talk.call("memory_append", **fact("The key is ZX-4711-b."), session_id="verbatim")
    rows = talk.call("memory_verbatim", query='"ZX-4711-b"', session_id="verbatim")["results"]
    assert "ZX-4711-b" in rows[0]["content"]


def test_replay_pages_visit_every_event_once_and_keep_to_the_budget(talk: Talk) -> None:
    talk.call("memory_ingest", events=[fact(f"event {n} " + "word " * 40) for n in range(20)], session_id="pages")
    seen: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        page = talk.call("memory_replay", session_id="pages", max_tokens=600, **cursor)
        assert page["tokens_used"] <= 600
        seen += [row["seq"] for row in page["results"]]
        assert page["truncated"] == bool(page["next_cursor"])
        if not page["next_cursor"]:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert seen == list(range(1, 21))
    first = talk.call("memory_replay", session_id="pages", from_seq=3, limit=1)["results"][0]
    assert (first["seq"], first["type"], first["actor"]) == (3, "fact.recorded", "ann")


def test_an_event_that_is_larger_than_the_budget_is_replayed_without_its_payload(talk: Talk) -> None:
    talk.call("memory_append", **fact("word " * 20_000), session_id="large")
    page = talk.call("memory_replay", session_id="large", max_tokens=500)
    (row,) = page["results"]
    assert row["payload"] is None
    assert row["payload_tokens"] > 10_000
    assert page["tokens_used"] <= 500


def test_what_is_invalidated_is_no_longer_found(talk: Talk) -> None:
    told = {"event_type": "decision.made", "actor": "ann", "payload": {"key": "paint", "decision": "Paint it green."}}
    talk.call("memory_append", **told, session_id="paint")
    assert talk.call("memory_query", query="green paint", session_id="paint")["results"]
    reply = talk.call("memory_invalidate", entity_name="paint", entity_type="decision", session_id="paint")
    assert reply["seq"]
    found = talk.call("memory_query", query="green paint", session_id="paint")["results"]
    assert not [row for row in found if row["event_type"] == "decision.made"]


def test_a_checkout_says_whether_memory_suffices_and_cites(talk: Talk) -> None:
    told = {"event_type": "decision.made", "actor": "ann", "payload": {"decision": "The graph engine is SQLite."}}
    talk.call("memory_append", **told, session_id="engine")
    reply = talk.call("memory_checkout", query="What is the graph engine?", session_id="engine")
    assert reply["quality"]["answerability"] == "answer_from_memory"
    assert SHORT_CITATION.fullmatch(reply["current_facts"][0]["citation"])
    unknown = talk.call("memory_checkout", query="Where does Petra live?", session_id="engine")
    assert unknown["quality"]["answerability"] == "ask_user"


def test_bootstrap_and_capabilities_say_what_to_do_next(talk: Talk) -> None:
    talk.call("memory_append", **fact("The sky is blue."))
    assert talk.call("memory_bootstrap")["recommended_next"]["tool"] == "memory_checkout"
    assert talk.call("memory_capabilities")["eventloom"]["status"] == "ok"


def test_context_after_a_turn_has_the_turn_and_what_memory_knows(talk: Talk) -> None:
    talk.call("memory_append", **fact("The harbour closes at nine."), session_id="turns")
    turn = {"role": "user", "content": "When does the harbour close?", "turn_index": 1}
    reply = talk.call("context_after_turn", **turn, session_id="turns")
    assert reply["event"]["seq"]
    assert "The harbour closes at nine." in reply["prompt"]
    assert "harbour" in talk.call("context_assemble", query="harbour", session_id="turns")["prompt"]


def test_feedback_and_skills_are_recorded_with_their_details(talk: Talk) -> None:
    told = {"entity_name": "sky", "entity_type": "fact", "feedback": "used", "reason": "it was asked for"}
    seq = talk.call("memory_feedback", **told, session_id="learning")["seq"]
    steps = {"action": "propose", "skill_id": "deploy", "procedure": ["build", "push"], "version": "1"}
    talk.call("memory_skill", **steps, session_id="learning")
    with talk.memory() as memory:
        feedback, skill = memory.replay("learning", seq, limit=2)
    assert (feedback.type, (feedback.payload or {})["reason"]) == ("memory.reinforced", "it was asked for")
    assert (skill.type, (skill.payload or {})["procedure"]) == ("skill.proposed", ["build", "push"])


def test_the_feedback_that_a_checkout_for_a_purpose_suggests_is_taken_as_it_is(talk: Talk) -> None:
    talk.call("memory_append", **fact("The north mole is built of granite.", key="mole"), session_id="mole")
    profile = {"preset": "coding", "risk": "high", "expected_action": "repair", "evidence_policy": "two people agree"}
    asked = {"query": "What is the north mole built of?", "session_id": "mole"}
    checkout = talk.call("memory_checkout", **asked, purpose=profile)
    (suggested,) = checkout["guidance"]["feedback"]["payloads"]
    assert suggested["purpose"] == checkout["purpose"] == checkout["diagnostics"]["purpose"] == profile
    talk.call("memory_feedback", **suggested)
    again = talk.call("memory_checkout", **{**checkout["guidance"]["next"]["arguments"], "max_tokens": 4000})
    assert again["purpose"] == profile
    with talk.memory() as memory:
        recorded = memory.replay("mole")[-1]
    assert (recorded.type, (recorded.payload or {})["purpose"]) == ("memory.reinforced", profile)


def test_feedback_for_a_purpose_that_nobody_knows_is_refused_with_those_that_are_known(talk: Talk) -> None:
    named = {"entity_name": "mole", "entity_type": "fact", "feedback": "used", "session_id": "mole"}
    for purpose in ("baking", {"preset": "baking"}):
        error = talk.call("memory_feedback", **named, purpose=purpose)["error"]
        assert error["code"] == "invalid_request"
        assert "general, coding, review, release, security, research, coordinate" in error["remediation"]


def test_a_subagents_work_is_handed_over(talk: Talk) -> None:
    talk.call("memory_append", **fact("found it"), session_id="child")
    named = {"parent_session_id": "parent", "subagent_session_id": "child"}
    reply = talk.call("subagent_cleanup", **named, summary="Found the bug.")
    assert reply["integrity"]["status"] == "ok"
    assert SHORT_CITATION.fullmatch(reply["completed"])


def test_a_secret_does_not_reach_the_log(talk: Talk) -> None:
    talk.call("memory_append", **fact("password: hunter2-Tr0ub4dor&3"), session_id="secrets")
    assert b"Tr0ub4dor" not in (talk.folder / ".eventloom" / "secrets.jsonl").read_bytes()


# The record of calls


def recorded(folder: Path, session: str = "") -> list[Mapping[str, Any]]:
    with Memory.open(folder) as memory:
        events = memory.replay(session, include_housekeeping=True)
    return [event.payload or {} for event in events if event.type == "tool.call.completed"]


def test_every_call_is_recorded_with_its_argument_names_and_no_values(tmp_path: Path) -> None:
    with Server(tmp_path / "demo") as server:
        server.call("memory_append", **fact("a quiet word"), session_id="work")
        server.call("memory_query", query="hush-hush")
        server.call("memory_query", query="hush-hush", limit=1000)
        server.call("no_such_tool", anything="hush-hush")
        assert server.close() < server.soon
    rows = recorded(tmp_path / "demo")
    assert [(row["tool_name"], row["status"], row["argument_keys"], row["result_summary"]) for row in rows] == [
        ("memory_query", "ok", ["query"], "0 results"),
        ("memory_query", "error", ["limit", "query"], "invalid_request"),
        ("no_such_tool", "error", ["anything"], "unknown_tool"),
    ]
    assert [row["tool_name"] for row in recorded(tmp_path / "demo", "work")] == ["memory_append"]
    assert b"hush-hush" not in (tmp_path / "demo" / ".eventloom" / "demo-default.jsonl").read_bytes()


def test_a_call_that_names_a_session_that_is_not_there_does_not_make_it(tmp_path: Path) -> None:
    with Server(tmp_path / "demo") as server:
        server.call("memory_query", query="x", session_id="mistyped")
        server.close()
    with Memory.open(made_folder(tmp_path / "demo")) as memory:
        assert memory.sessions() == ["demo-default"]


def test_the_end_of_the_session_is_recorded(tmp_path: Path) -> None:
    with Server(tmp_path / "demo") as server:
        server.close()
    with Memory.open(made_folder(tmp_path / "demo")) as memory:
        assert memory.replay(include_housekeeping=True)[-1].type == "session.ended"


def test_recording_can_be_turned_off(tmp_path: Path) -> None:
    with Server(tmp_path / "demo", MCP_LIFECYCLE_CAPTURE_ENABLED="false") as server:
        server.call("memory_append", **fact("x"))
        server.close()
    with Memory.open(made_folder(tmp_path / "demo")) as memory:
        assert [event.type for event in memory.replay(include_housekeeping=True)] == ["fact.recorded"]


def test_a_record_that_cannot_be_written_fails_no_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(Memory, "record_tool_call", full)
    application = Application(find_workspace(str(tmp_path)))
    assert not application.answer(Request("memory_append", fact("x"))).failed
    application.close(within=60)
    assert "tool calls are not recorded" in capsys.readouterr().err


# Profiles, production, limits


def test_the_full_profile_lists_every_tool_and_every_profile_is_known() -> None:
    catalog = Catalog(own_tools())
    assert {served.tool.name for served in catalog.listed("full")} == {served.tool.name for served in catalog}
    assert {profile for served in catalog for profile in served.tool.profiles} <= set(PROFILES)


def test_the_profile_is_chosen_by_setting_or_option(tmp_path: Path) -> None:
    with Server(tmp_path / "a", options=("--profile", "full"), ZAXY_TOOL_PROFILE="core") as server:
        names = [tool["name"] for tool in server.request("tools/list", {})["result"]["tools"]]
        assert names[:10] == CORE
        assert "memory_ingest" in names
    with Server(tmp_path / "b", ZAXY_TOOL_PROFILE="coordinate") as server:
        names = [tool["name"] for tool in server.request("tools/list", {})["result"]["tools"]]
        assert "subagent_cleanup" in names
        assert server.call("memory_query", query="x")["results"] == [], "what is not listed can be called"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--profile", "huge"), "there is no tool profile 'huge'"),
        (("--transport", "pigeon"), "there is no transport 'pigeon'"),
        (("--port",), "--port has no value"),
        (("--transport", "http", "--port", "http"), "'http' is not a port"),
        (("--colour",), "'zaxy serve' does not take '--colour'"),
    ],
)
def test_wrong_options_are_told_and_exit_with_2(zaxy: Any, options: tuple[str, ...], words: str) -> None:
    done = zaxy("serve", *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_in_production_replay_and_invalidation_need_the_admin_token(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret\n")
    with Server(tmp_path / "demo", ZAXY_ENV="production", MCP_ADMIN_TOKEN_FILE=str(token)) as server:
        server.call("memory_append", **fact("x"))
        for wrong in ({}, {"admin_token": "s3cre"}, {"admin_token": "é"}, {"admin_token": ""}):
            error = server.call("memory_replay", **wrong)["error"]
            assert error["code"] == "forbidden"
            assert "admin_token" in error["remediation"]
        ended = {"entity_name": "x", "entity_type": "fact"}
        assert server.call("memory_invalidate", **ended)["error"]["code"] == "forbidden"
        assert len(server.call("memory_replay", admin_token="s3cret")["results"]) == 1
        listed = server.request("tools/list", {})["result"]["tools"]
        replay = next(tool for tool in listed if tool["name"] == "memory_replay")
        assert "admin_token" in replay["inputSchema"]["properties"]
        server.close()
    for file in (tmp_path / "demo" / ".eventloom").rglob("*.jsonl"):
        assert b"s3cret" not in file.read_bytes()


def test_in_production_without_an_admin_token_nobody_replays(tmp_path: Path) -> None:
    with Server(tmp_path / "demo", ZAXY_ENV="production") as server:
        for given in ({}, {"admin_token": "x"}):
            error = server.call("memory_replay", **given)["error"]
            assert (error["code"], "MCP_ADMIN_TOKEN" in error["remediation"]) == ("forbidden", True)


def test_more_calls_than_a_minute_allows_are_refused_until_time_has_passed() -> None:
    now = 0.0
    limit = CallLimit(60, clock=lambda: now)
    for _ in range(60):
        limit.take()
    with pytest.raises(Exception, match="more than 60 calls came within a minute"):
        limit.take()
    now = 1.0
    limit.take()
    with pytest.raises(Exception, match="more than 60 calls"):
        limit.take()


def test_the_limit_of_calls_is_told_as_unavailable_and_the_server_goes_on(tmp_path: Path) -> None:
    with Server(tmp_path / "demo", ZAXY_MAX_CALLS_PER_MINUTE="2") as server:
        replies = [server.call("memory_query", query="x") for _ in range(3)]
        assert replies[2]["error"]["code"] == "unavailable"
        assert "ZAXY_MAX_CALLS_PER_MINUTE" in replies[2]["error"]["remediation"]
        assert "result" in server.request("ping", {})


# Long work


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose followers have much to do: more than one read waits for."""
    folder = tmp_path_factory.mktemp("long") / "demo"
    folder.mkdir()
    with Memory.open(folder) as memory:
        for start in range(0, 60_000, 5000):
            drafts = [Draft("note.taken", "ann", {"text": f"note {n} on cats"}) for n in range(start, start + 5000)]
            memory.append_many(drafts)
    return folder


def test_a_long_call_reports_progress_and_others_are_answered_meanwhile(long_log: Path) -> None:
    with Server(long_log) as server:
        asked = {"name": "memory_query", "arguments": {"query": "cats"}, "_meta": {"progressToken": "p"}}
        slow = server.ask("tools/call", asked)
        quick = server.ask("ping", {})
        told = []
        while (message := server.receive()).get("id") != slow:
            told.append(message)
        assert any(message.get("id") == quick for message in told), "the ping had to wait"
        progress = [message["params"] for message in told if message.get("method") == "notifications/progress"]
        assert progress
        assert {params["progressToken"] for params in progress} == {"p"}
        done = [params["progress"] for params in progress]
        assert done == sorted(set(done)), "progress goes up"
        assert message["result"]["structuredContent"]["warnings"], "what was not followed in time is told"


def test_a_cancelled_call_is_not_answered_and_the_server_goes_on(long_log: Path) -> None:
    import shutil

    shutil.rmtree(long_log / ".eventloom" / "followers", ignore_errors=True)
    with Server(long_log) as server:
        slow = server.ask("tools/call", {"name": "memory_query", "arguments": {"query": "cats"}})
        time.sleep(0.3)
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow}})
        answers = [server.call("memory_append", **fact("after it"))["seq"]]
        assert answers[0] > 60_000
        assert server.silent(2.5), "the cancelled call was answered"


# Other streams


def test_one_application_serves_several_clients_over_other_streams(tmp_path: Path) -> None:
    """As an owner does whose clients come over a socket."""
    application = Application(find_workspace(str(tmp_path)))
    path = str(tmp_path / "socket")

    async def talk(number: int) -> list[dict[str, Any]]:
        asked = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        call = {"name": "memory_append", "arguments": fact(f"client {number}")}
        async with await anyio.connect_unix(path) as stream:
            for id_, (method, params) in enumerate((("initialize", asked), ("tools/call", call)), 1):
                message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
                await stream.send(json.dumps(message).encode() + b"\n")
            received = b""
            while received.count(b"\n") < 2:
                received += await stream.receive()
        return [json.loads(line) for line in received.splitlines()]

    async def serve() -> list[int]:
        server = make_server(application)
        found: list[int] = []

        async def client(number: int) -> None:
            answers = await talk(number)
            found.append(answers[1]["result"]["structuredContent"]["seq"])

        async with await anyio.create_unix_listener(path) as listener, anyio.create_task_group() as serving:
            serving.start_soon(listener.serve, lambda stream: serve_streams(server, stream, stream))
            async with anyio.create_task_group() as clients:
                for number in range(5):
                    clients.start_soon(client, number)
            serving.cancel_scope.cancel()
        return found

    seqs = anyio.run(serve)
    application.close(within=60)
    assert len(set(seqs)) == 5


# Tools of plugins

PACK = """
import os, subprocess, time
from zaxy.api import Tool
from acme_notes import notes

class Pack(notes.Pack):
    def tools(self):
        schema = {"type": "object", "properties": {}, "additionalProperties": False}
        named = [Tool(name, "For a test.", schema, profiles=("core",)) for name in
                 ("acme_hang", "acme_raise", "acme_nan", "memory_query", "acme.dotted")]
        return (*super().tools(), *named, Tool("acme_schema", "Wrong.", {"type": "object", "properties": 5}), "no tool")

    def call(self, tool, arguments, memory, progress):
        if tool == "acme_hang":
            time.sleep(600)
        if tool == "acme_raise":
            raise ValueError("/home/ann/hunter2")
        if tool == "acme_nan":
            return {"value": object()}
        return super().call(tool, arguments, memory, progress)
"""
PLUGIN = """
from zaxy.api import Provider, hookimpl

@hookimpl
def zaxy_tool_packs():
    return [Provider("acme", "acme_notes.pack:Pack", "Notes.")]
"""


@pytest.fixture(scope="module")
def with_pack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    assert tool_packs.ACTOR == "acme-notes"
    site = tmp_path_factory.mktemp("site")
    manifest = manifest_of(
        "acme-notes", api={"min": "0.4", "max": "0.4"}, provides=[{"point": "tool_packs", "name": "acme"}]
    )
    notes = Path(tool_packs.__file__).read_text(encoding="utf-8")
    modules = {"plugin.py": PLUGIN, "pack.py": PACK, "notes.py": notes}
    install(site, "acme-notes", modules, manifest, "[zaxy.plugins]\nacme-notes = acme_notes.plugin\n")
    options = ("--profile", "full")
    with Server(tmp_path_factory.mktemp("demo"), site=site, options=options, ZAXY_PLUGINS_BUDGET="1") as server:
        yield server


def test_a_packs_tools_are_listed_and_work_on_the_same_memory(with_pack: Server) -> None:
    names = [tool["name"] for tool in with_pack.request("tools/list", {})["result"]["tools"]]
    behind = names[len(FIRST) :]
    assert names[: len(FIRST)] == list(FIRST)
    assert behind == sorted(behind), "those that a model need not meet first come by name, those of packs too"
    exports = set() if missing_package("export") else {"memory_export"}
    assert {"acme_note", "acme_recent"} | exports <= set(behind)
    assert with_pack.call("acme_note", session_id="notes", text="Milk is out.")["seq"] == 1
    assert with_pack.call("acme_recent", session_id="notes", limit=5)["results"][0]["text"] == "Milk is out."
    assert with_pack.call("memory_query", query="milk", session_id="notes")["results"]


OLD_PACK = """
from zaxy.api import AsOf, Draft, Query, Tool

class Pack:
    def __init__(self, context):
        pass

    def tools(self):
        return [Tool("acme_old", "Note, read and ask.", {"type": "object", "properties": {}})]

    def call(self, tool, arguments, memory, progress):
        event = memory.append("notes", Draft("fact.recorded", "acme", {"text": "Milk is out."}))
        page = memory.read("notes", None, 10)
        found = memory.query(Query("milk", "notes", 5, AsOf()))
        return {"seq": event.seq, "events": len(page.events), "found": [one.seq for one in found]}
"""


def test_a_pack_of_an_older_api_gets_the_three_methods_that_it_knows(tmp_path: Path) -> None:
    manifest = manifest_of("acme-notes", provides=[{"point": "tool_packs", "name": "acme"}])
    modules = {"plugin.py": PLUGIN, "pack.py": OLD_PACK}
    entry = "[zaxy.plugins]\nacme-notes = acme_notes.plugin\n"
    install(tmp_path / "site", "acme-notes", modules, manifest, entry)
    (tmp_path / "demo").mkdir()
    with Server(tmp_path / "demo", site=tmp_path / "site") as server:
        assert server.call("acme_old") == {"seq": 1, "events": 1, "found": [1]}


TOKEN_PACK = """
import time
from zaxy.api import Tool

class Pack:
    def __init__(self, context):
        pass

    def tools(self):
        schema = {"type": "object", "properties": {"word": {"type": "string"}}, "additionalProperties": False}
        return [Tool("acme_admin", "For admins.", schema, admin=True), Tool("acme_slow", "Slow.", schema, seconds=60)]

    def call(self, tool, arguments, memory, progress):
        if tool == "acme_slow":
            time.sleep(1.5)
        return {"arguments": dict(arguments), "session": memory.session}
"""


def test_a_packs_tool_for_admins_needs_their_token_and_never_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provided = {"point": "tool_packs", "name": "acme", "target": "acme_admins.pack:Pack", "summary": "A pack."}
    manifest = manifest_of("acme-admins", api={"min": "0.4", "max": "0.4"}, provides=[provided])
    entry = "[zaxy.plugins]\nacme-admins = acme_admins\n"
    install(tmp_path / "site", "acme-admins", {"pack.py": TOKEN_PACK}, manifest, entry)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setenv("ZAXY_PLUGINS_BUDGET", "1")
    open_to_all = Application(find_workspace(str(made_folder(tmp_path / "a"))), "full")
    assert open_to_all.unlisted_arguments("acme_admin") == ("admin_token",)
    assert open_to_all.answer(Request("acme_admin", {"word": "x"})).content["arguments"] == {"word": "x"}
    slow = open_to_all.answer(Request("acme_slow", {"word": "y"}))
    assert slow.content.get("arguments") == {"word": "y"}, "it has longer than the budget"
    monkeypatch.setenv("MCP_ADMIN_TOKEN", "hunter2hunter2")
    guarded = Application(find_workspace(str(made_folder(tmp_path / "b"))), "full")
    assert guarded.unlisted_arguments("acme_admin") == ()
    for wrong in ({}, {"admin_token": "wrong"}):
        refused = guarded.answer(Request("acme_admin", {"word": "x", **wrong}))
        assert refused.content["error"]["code"] == "forbidden"
    admitted = guarded.answer(Request("acme_admin", {"word": "x", "admin_token": "hunter2hunter2"}))
    assert admitted.content["arguments"] == {"word": "x"}
    for application in (open_to_all, guarded):
        application.close(within=60)


def test_a_packs_arguments_are_held_against_its_schema(with_pack: Server) -> None:
    error = with_pack.call("acme_note", session_id="notes")["error"]
    assert (error["code"], error["message"]) == ("invalid_request", "text is missing")


def test_a_packs_tool_with_a_taken_or_wrong_name_or_schema_is_left_out_with_a_notice(with_pack: Server) -> None:
    with_pack.request("tools/list", {})
    assert with_pack.call("acme.dotted")["error"]["code"] == "unknown_tool"
    assert with_pack.call("acme_schema")["error"]["code"] == "unknown_tool"
    assert "the tool 'memory_query' of the pack acme is left out: its name is taken" in with_pack.stderr
    assert "the tool 'acme.dotted' of the pack acme is left out" in with_pack.stderr
    assert "the tool 'acme_schema' of the pack acme is left out: its input schema is wrong" in with_pack.stderr
    assert "listed something that is not a tool" in with_pack.stderr


def test_a_pack_that_breaks_tells_no_details_to_the_client(with_pack: Server) -> None:
    for tool in ("acme_raise", "acme_nan"):
        error = with_pack.call(tool)["error"]
        assert error["code"] == "internal_error"
        assert "acme" in error["message"]
        assert "hunter2" not in json.dumps(error)
    assert "hunter2" in with_pack.stderr


ADMIN_PACK = """
from zaxy.api.tools import TEXT, Call, FunctionPack, schema, tool

@tool("acme_wipe", "Wipe.", takes=schema("", admin_token=TEXT), destructive=True, admin=True, profiles=("core",))
def wipe(call: Call):
    call.progress(1, 2)
    return {"session": call.session or call.memory.session, "own": call.own}

class Pack(FunctionPack):
    functions = (wipe,)
"""


def test_a_pack_of_functions_may_keep_a_tool_to_those_who_have_the_admin_token(tmp_path: Path) -> None:
    api = {"min": "0.4", "max": "0.4"}
    manifest = manifest_of("acme-notes", api=api, provides=[{"point": "tool_packs", "name": "acme"}])
    modules = {"plugin.py": PLUGIN, "pack.py": ADMIN_PACK}
    install(tmp_path / "site", "acme-notes", modules, manifest, "[zaxy.plugins]\nacme-notes = acme_notes.plugin\n")
    with Server(tmp_path / "demo", site=tmp_path / "site", MCP_ADMIN_TOKEN="sesame") as server:
        assert server.call("acme_wipe")["error"]["code"] == "forbidden"
        assert server.call("acme_wipe", admin_token="sesame") == {"session": "demo-default", "own": {}}


def test_a_pack_that_hangs_is_given_up_after_its_budget(with_pack: Server) -> None:
    began = time.monotonic()
    error = with_pack.call("acme_hang")["error"]
    assert (error["code"], time.monotonic() - began < 60) == ("unavailable", True)
    assert with_pack.call("memory_query", query="x")["results"] == []
    assert with_pack.close() < with_pack.soon, "the hanging thread kept the process"
