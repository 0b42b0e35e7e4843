"""Tools for a plain tool loop: the shapes of the two APIs, the answers of the server, and never an exception."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest

from folders import made_folder
from served import Server
from zaxy import InvalidRequest, Memory

Api = Literal["openai", "anthropic"]
APIS: tuple[Api, ...] = ("openai", "anthropic")
ASKED = {"query": "which port does staging use?"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    (tmp_path / "project").mkdir()
    with Memory.open(made_folder(tmp_path / "project")) as opened:
        opened.append("fact.recorded", {"fact": "Staging listens on port 8443."}, actor="ann")
        yield opened


def as_object(plain: Any) -> Any:
    """As an SDK has it: objects with fields; the arguments for Anthropic stay what they are."""
    if isinstance(plain, list):
        return [as_object(one) for one in plain]
    if not isinstance(plain, dict):
        return plain
    return SimpleNamespace(**{name: one if name == "input" else as_object(one) for name, one in plain.items()})


def turn_of(api: Api, *calls: tuple[str, Any]) -> dict[str, Any]:
    """A model's message that makes calls, with words beside them."""
    if api == "openai":
        made = [
            {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for n, (name, given) in enumerate(calls)
        ]
        return {"role": "assistant", "content": "Let me look.", "tool_calls": made or None}
    blocks = [
        {"type": "tool_use", "id": f"c{n}", "name": name, "input": given} for n, (name, given) in enumerate(calls)
    ]
    return {"role": "assistant", "content": [{"type": "text", "text": "Let me look."}, *blocks]}


def contents(messages: list[Any]) -> dict[str, Any]:
    """What the messages say to each call."""
    found = {}
    for message in messages:
        if message["role"] == "tool":
            assert set(message) == {"role", "tool_call_id", "content"}
            found[message["tool_call_id"]] = json.loads(message["content"])
            continue
        assert set(message) == {"role", "content"} and message["role"] == "user"
        for block in message["content"]:
            assert set(block) == {"type", "tool_use_id", "content", "is_error"} and block["type"] == "tool_result"
            found[block["tool_use_id"]] = json.loads(block["content"])
            assert block["is_error"] == ("error" in found[block["tool_use_id"]])
    return found


# Shapes and answers


def test_schemas_and_answers_are_those_of_the_server(memory: Memory) -> None:
    wrong: dict[str, Any] = {"query": 5}
    calls = [("memory_query", ASKED), ("memory_verbatim", ASKED), ("memory_query", wrong), ("memory_nothing", {})]
    server = Server(Path(memory.workspace.root))
    try:
        listed = server.request("tools/list", {})["result"]["tools"]
        over_mcp = [server.request("tools/call", {"name": name, "arguments": given})["result"] for name, given in calls]
    finally:
        server.close()
    assert memory.tools("anthropic").schemas == [
        {"name": one["name"], "description": one["description"], "input_schema": one["inputSchema"]} for one in listed
    ]
    assert memory.tools("openai").schemas == [
        {
            "type": "function",
            "function": {
                "name": one["name"],
                "description": one["description"],
                "parameters": one["inputSchema"],
            },
        }
        for one in listed
    ]
    for api in APIS:
        answered = memory.tools(api).answer(turn_of(api, *calls))
        assert contents(answered) == {f"c{n}": reply["structuredContent"] for n, reply in enumerate(over_mcp)}
    (message,) = answered
    assert [block["is_error"] for block in message["content"]] == [reply["isError"] for reply in over_mcp]


@pytest.mark.parametrize("api", APIS)
def test_a_turn_is_taken_as_the_sdk_has_it_and_as_plain_json(memory: Memory, api: Api) -> None:
    tools = memory.tools(api)
    turn = turn_of(api, ("memory_query", ASKED), ("memory_verbatim", ASKED))
    calls = turn["tool_calls"] if api == "openai" else turn["content"]
    reply = {"choices": [{"message": turn}]} if api == "openai" else turn
    expected = tools.answer(turn)
    assert sorted(contents(expected)) == ["c0", "c1"]
    for given in (reply, calls, tuple(calls)):
        assert tools.answer(given) == tools.answer(as_object(list(given) if isinstance(given, tuple) else given))
        assert tools.answer(given) == expected
    assert contents(tools.answer(as_object(calls[-1]))) == {"c1": contents(expected)["c1"]}


@pytest.mark.parametrize("api", APIS)
def test_a_call_by_its_name_takes_a_mapping_or_json(memory: Memory, api: Api) -> None:
    tools = memory.tools(api)
    message = tools.call("memory_query", ASKED, call_id="c1")
    assert message == tools.call("memory_query", json.dumps(ASKED), call_id="c1")
    assert contents([message])["c1"]["results"][0]["content"] == "Staging listens on port 8443."


@pytest.mark.parametrize("api", APIS)
def test_where_the_model_made_no_call_there_is_nothing_to_answer(memory: Memory, api: Api) -> None:
    tools = memory.tools(api)
    for turn in (turn_of(api), None, "words", [], {}, 7, as_object(turn_of(api))):
        assert tools.answer(turn) == []


def test_schemas_are_the_programs_own_to_change(memory: Memory) -> None:
    memory.tools("anthropic").schemas[0]["input_schema"]["properties"].clear()
    assert memory.tools("anthropic").schemas[0]["input_schema"]["properties"]


# Errors


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("name", "given", "code"),
    [
        ("memory_nothing", {}, "unknown_tool"),
        ("", {}, "unknown_tool"),
        ("memory_query", {}, "invalid_request"),
        ("memory_query", {"query": 5}, "invalid_request"),
        ("memory_query", [], "invalid_request"),
        ("memory_query", "{not JSON", "invalid_request"),
        ("memory_query", object(), "invalid_request"),
        ("memory_query", None, "invalid_request"),
        ("memory_append", {"event_type": "memory.ref.updated", "actor": "a", "payload": {}}, "forbidden"),
        ("memory_invalidate", {"entity_name": "x", "entity_type": "fact"}, "not_found"),
    ],
)
def test_an_error_is_an_answer_and_no_exception(memory: Memory, api: Api, name: str, given: Any, code: str) -> None:
    (answer,) = contents([memory.tools(api).call(name, given)]).values()
    assert answer["error"]["code"] == code
    assert answer["error"]["message"] and answer["error"]["remediation"]


@pytest.mark.parametrize(
    ("api", "call"),
    [
        ("openai", {"function": {}}),
        ("openai", {"function": "memory_query", "id": 5}),
        ("openai", {"function": {"name": ["memory_query"], "arguments": 5}}),
        ("anthropic", {"type": "tool_use"}),
        ("anthropic", {"type": "tool_use", "name": None, "input": "{", "id": None}),
    ],
)
def test_a_call_that_is_no_call_is_answered_too(memory: Memory, api: Api, call: Any) -> None:
    (answer,) = contents(memory.tools(api).answer([call])).values()
    assert answer["error"]["code"] in ("unknown_tool", "invalid_request")


def test_a_model_that_has_nothing_to_say_may_send_no_arguments(memory: Memory) -> None:
    for nothing in ("", "null", "{}", None, {}):
        (answer,) = contents([memory.tools("openai").call("memory_bootstrap", nothing)]).values()
        assert answer["session_id"] == memory.session


def test_an_api_or_a_profile_that_is_not_there_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidRequest, match="no tools for 'gemini'"):
        memory.tools("gemini")  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="no tool profile 'tiny'"):
        memory.tools("openai", profile="tiny")
    with pytest.raises(InvalidRequest):
        memory.tools("openai", session="not a session")


# What is chosen, and what is recorded


def test_a_profile_chooses_what_is_listed_and_the_setting_is_its_default(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = [one["name"] for one in memory.tools("anthropic", profile="full").schemas]
    assert len(full) > len(memory.tools("anthropic").schemas)
    monkeypatch.setenv("ZAXY_TOOL_PROFILE", "full")
    with Memory.open(memory.workspace.root) as other:
        assert [one["name"] for one in other.tools("anthropic").schemas] == full


def test_the_session_that_is_meant_is_the_one_that_the_tools_were_made_for(memory: Memory) -> None:
    tools = memory.tools("openai", session="chat-1")
    event = {"event_type": "note.taken", "actor": "assistant", "payload": {"text": "hello"}}
    tools.call("memory_append", event)
    tools.call("memory_append", {**event, "session_id": "chat-2"})
    tools.call("memory_append", event)
    assert (memory.head("chat-1"), memory.head("chat-2")) == (2, 1)


def test_a_program_can_tell_memorys_tools_from_its_own(memory: Memory) -> None:
    tools = memory.tools("openai")
    assert "memory_query" in tools and "context_assemble" in tools, "listed or not"
    assert "get_weather" not in tools and None not in tools


def test_calls_are_recorded_as_a_server_records_them(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.append("note.taken", {"text": "lamp"})
        memory.tools("openai").call("memory_query", {"query": "lamp"})
        memory.tools("anthropic").call("memory_nothing", {"secret": "x"})
    with Memory.open(tmp_path) as memory:
        calls = memory.latest(types=["tool.call.completed"])[::-1]
        assert [(one.payload["tool_name"], one.payload["status"]) for one in calls if one.payload] == [
            ("memory_query", "ok"),
            ("memory_nothing", "error"),
        ]
        assert [one.payload["argument_keys"] for one in calls if one.payload] == [["query"], ["secret"]]
        assert not memory.latest(types=["session.ended"])
