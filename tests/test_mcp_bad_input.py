"""Whatever a client sends, it gets an answer that tells what is wrong, and the server goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from served import ERAS, LEGACY, Server, content
from zaxy.memory import Memory
from zaxy.serve.application import Application, Request
from zaxy.serve.frames import MAX_FRAME, Unreadable, read_frame, too_large
from zaxy.workspace import find_workspace

MEGABYTE = 1 << 20


@pytest.fixture(scope="module", params=ERAS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("here"), request.param) as running:
        running.call("memory_append", event_type="fact.recorded", actor="ann", payload={"text": "The sky is blue."})
        yield running


@pytest.fixture(autouse=True)
def _goes_on(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "server" in request.fixturenames:
        server: Server = request.getfixturevalue("server")
        assert server.call("memory_query", query="sky")["results"], "the server does not answer any more"


def frame(server: Server, payload: str, number: int = 7) -> bytes:
    """An append whose payload is written out by hand."""
    params = server.params(name="memory_append", arguments={"event_type": "note.taken", "actor": "ann", "payload": 0})
    written = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    return written.replace('"payload": 0', f'"payload": {payload}').encode() + b"\n"


def error_of(server: Server, sent: bytes, number: int | str = 7) -> dict[str, str]:
    server.send(sent)
    answer = server.receive()
    assert answer["id"] == number
    error: dict[str, str] = content(answer)["error"]
    assert set(error) == {"code", "message", "remediation"}
    assert all(error.values())
    return error


def test_a_request_of_more_than_two_mebibytes_is_refused_with_a_result(server: Server) -> None:
    error = error_of(server, frame(server, json.dumps({"text": "x" * 3 * MEGABYTE})))
    assert error["code"] == "too_large"
    assert f"{MAX_FRAME:,}" in error["message"]


def test_a_large_request_is_answered_also_if_its_id_comes_last(server: Server) -> None:
    params = server.params(name="memory_append", arguments={"payload": {"text": 'x"}' * MEGABYTE}})
    sent = json.dumps({"method": "tools/call", "params": params, "jsonrpc": "2.0", "id": "abc"})
    assert error_of(server, sent.encode() + b"\n", "abc")["code"] == "too_large"


def test_ten_megabytes_and_a_million_keys_cost_little_memory(server: Server) -> None:
    def resident() -> int:
        with open(f"/proc/{server.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    if not os.path.exists("/proc/self/statm"):
        pytest.skip("only Linux tells how much memory another process has")
    before = resident()
    keys = "{" + ",".join(f'"k{number}":1' for number in range(1_000_000)) + "}"
    assert error_of(server, frame(server, keys))["code"] == "too_large"
    assert error_of(server, frame(server, json.dumps({"text": "x" * 10_000_000})))["code"] == "too_large"
    assert resident() - before < 100 * MEGABYTE


def test_a_payload_of_more_than_one_mebibyte_is_refused(server: Server) -> None:
    error = error_of(server, frame(server, json.dumps({"text": "x" * (MEGABYTE + 1)})))
    assert error["code"] == "too_large"
    assert "payload" in error["message"]


@pytest.mark.parametrize("depth", [65, 100, 300, 900, 10_000])
def test_what_is_nested_too_deep_is_refused_for_that_however_deep_it_is(server: Server, depth: int) -> None:
    error = error_of(server, frame(server, '{"a":' * depth + "1" + "}" * depth))
    assert error["code"] == "invalid_request"
    assert "nested" in error["message"]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", "9007199254740993", r'"\ud800"'])
def test_a_value_that_json_does_not_have_is_refused(server: Server, value: str) -> None:
    assert error_of(server, frame(server, f'{{"value": {value}}}'))["code"] == "invalid_request"


def test_a_lone_surrogate_in_any_argument_is_refused(server: Server) -> None:
    params = json.dumps(server.params(name="memory_query", arguments={"query": "Q"})).replace('"Q"', r'"\udfff"')
    sent = f'{{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {params}}}\n'
    assert "surrogate" in error_of(server, sent.encode())["message"]


def test_bytes_that_are_not_utf_8_are_refused(server: Server) -> None:
    assert error_of(server, frame(server, '{"text": "?"}').replace(b"?", b"\xff\xfe"))["code"] == "invalid_request"


def test_a_line_that_is_no_json_gets_the_protocols_own_error(server: Server) -> None:
    server.send(b"hello\n")
    answer = server.receive()
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)


def test_a_broken_request_that_is_no_call_gets_the_protocols_own_error_with_its_id(server: Server) -> None:
    server.send(b'{"jsonrpc": "2.0", "id": 9, "method": "tools/list", "params": {"cursor": "\\ud800"}}\n')
    answer = server.receive()
    assert (answer["id"], answer["error"]["code"]) == (9, -32600)


def test_a_batch_is_refused(server: Server) -> None:
    server.send(b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]\n')
    assert server.receive()["error"]["code"] == -32700


def test_empty_lines_are_passed_over(server: Server) -> None:
    server.send(b"\n\r\n  \n")
    assert server.silent(0.2)


@pytest.mark.parametrize("arguments", [[], "text", 5, True])
def test_arguments_that_are_no_object_are_refused_with_a_result(server: Server, arguments: object) -> None:
    answer = server.request("tools/call", {"name": "memory_query", "arguments": arguments})
    error = content(answer)["error"]
    assert (error["code"], error["message"]) == ("invalid_request", "the arguments of memory_query must be an object")


@pytest.mark.parametrize("params", [{}, {"name": 5}, {"name": None, "arguments": {}}])
def test_a_call_without_a_tool_name_is_refused_with_a_result(server: Server, params: dict[str, Any]) -> None:
    assert content(server.request("tools/call", params))["error"]["code"] in ("invalid_request", "unknown_tool")


@pytest.mark.parametrize("name", ["unknown_tool", "memory_quer", "", "../../etc/passwd", "x" * 5000])
def test_an_unknown_tool_is_told_in_the_documented_words(server: Server, name: str) -> None:
    assert server.call(name)["error"] == {
        "code": "unknown_tool",
        "message": f"Unknown tool: {name[:128]}",
        "remediation": "Call list_tools and retry with one of the advertised tool names.",
    }


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "message"),
    [
        ("memory_query", {}, "invalid_request", "query is missing"),
        ("memory_query", {"query": 5}, "invalid_request", "query must be a text, not a whole number"),
        ("memory_query", {"query": "x", "limit": 0}, "invalid_request", "limit must be at least 1"),
        ("memory_query", {"query": "x", "limit": 101}, "invalid_request", "limit must be at most 100"),
        ("memory_query", {"query": "x", "limit": "5"}, "invalid_request", "limit must be a whole number, not a text"),
        ("memory_query", {"query": "x" * 4097}, "too_large", "query must be of at most 4,096 characters"),
        ("memory_query", {"query": "x", "colour": 1}, "invalid_request", "there is no argument 'colour'"),
        ("memory_query", {"query": "x", "max_tokens": 0}, "invalid_request", "max_tokens"),
        ("memory_query", {"query": "x", "profile": "best"}, "invalid_request", "best"),
        ("memory_query", {"query": "x", "temporal_filter": "soon"}, "invalid_request", "'soon' is not a date"),
        ("memory_query", {"query": "x", "session_id": "../up"}, "invalid_request", "is not a session id"),
        ("memory_query", {"query": "x", "session_id": "a/b"}, "invalid_request", "is not a session id"),
        ("memory_query", {"query": "x", "session_id": "C:\\x"}, "invalid_request", "is not a session id"),
        ("memory_query", {"query": "x", "cursor": "abc"}, "invalid_request", "cursor"),
        ("memory_checkout", {"query": "x", "ref": "refs/heads/none"}, "not_found", "refs/heads/none"),
        ("memory_checkout", {"query": "x", "purpose": "baking"}, "invalid_request", "baking"),
        ("memory_append", {"actor": "a", "payload": {}}, "invalid_request", "event_type is missing"),
        ("memory_append", {"event_type": "a.b", "actor": "a" * 257, "payload": {}}, "too_large", "actor must be of at"),
        ("memory_append", {"event_type": "nodots", "actor": "a", "payload": {}}, "invalid_request", "'nodots'"),
        ("memory_append", {"event_type": "event.erased", "actor": "a", "payload": {}}, "forbidden", "only Zaxy itself"),
        ("memory_append", {"event_type": "a.b", "actor": "zaxy", "payload": {}}, "forbidden", "is Zaxy itself"),
        ("memory_append", {"event_type": "a.b", "actor": "a", "payload": []}, "invalid_request", "payload must be an"),
        ("memory_ingest", {"events": []}, "invalid_request", "events must be a list of at least 1"),
        ("memory_ingest", {"events": [{"actor": "a"}]}, "invalid_request", "events[0].event_type is missing"),
        ("memory_ingest", {"events": [{}] * 1001}, "too_large", "events must be a list of at most 1,000"),
        ("memory_feedback", {"entity_name": "a", "entity_type": "b", "feedback": "ok"}, "invalid_request", "feedback"),
        ("memory_skill", {"action": "juggle", "skill_id": "s"}, "invalid_request", "juggle"),
        ("memory_invalidate", {"entity_name": "no", "entity_type": "fact"}, "not_found", "has no open"),
    ],
)
def test_a_violation_is_told_by_its_name_and_what_was_expected(
    server: Server, tool: str, arguments: dict[str, Any], code: str, message: str
) -> None:
    error = server.call(tool, **arguments)["error"]
    assert error["code"] == code
    assert message in error["message"]
    assert error["remediation"]


def test_a_cursor_of_another_question_is_refused(server: Server) -> None:
    notes = [{"event_type": "note.taken", "actor": "ann", "payload": {"text": f"apple {n}"}} for n in range(3)]
    server.call("memory_ingest", events=notes)
    first = server.call("memory_query", query="apple", limit=1)
    error = server.call("memory_query", query="pear", limit=1, cursor=first["next_cursor"])["error"]
    assert error["code"] == "invalid_request"
    error = server.call("memory_replay", cursor=first["next_cursor"])["error"]
    assert error["code"] == "invalid_request"


def test_a_batch_with_one_wrong_event_writes_nothing(server: Server) -> None:
    right = {"event_type": "note.taken", "actor": "ann", "payload": {"text": "never"}}
    error = server.call("memory_ingest", events=[right, {**right, "actor": "zaxy"}])["error"]
    assert error["code"] == "forbidden"
    assert server.call("memory_verbatim", query="never")["results"] == []


def test_a_defect_tells_neither_traceback_nor_path_nor_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("/home/ann/.ssh/id_rsa has hunter2")

    monkeypatch.setattr(Memory, "query", broken)
    application = Application(find_workspace(str(tmp_path)))
    reply = application.answer(Request("memory_query", {"query": "x"}))
    application.close(within=60)
    assert reply.failed
    assert reply.content["error"]["code"] == "internal_error"
    told = json.dumps(reply.content)
    assert not [word for word in ("Traceback", "ssh", "hunter2", "RuntimeError") if word in told]
    assert "hunter2" in capsys.readouterr().err, "whoever runs the server should see what happened"


@pytest.mark.parametrize(
    ("head", "tail", "known"),
    [
        (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_append","ar',
            b'x"}}}',
            (1, "memory_append"),
        ),
        (b'{"id" : "a\\"b" , "method":"tools/call", "params": {"arguments"', b"}}", ('a"b', "")),
        (b'{"method":"tools/call","params":{"name":"t","arguments":{', b'}}, "jsonrpc":"2.0", "id": 5}', (5, "t")),
        (b'{"params":{"name":"t","arguments":{', b'}},"method":"tools/call","id":5,"jsonrpc":"2.0"}\r', (5, "t")),
        (b'{"method":"tools/call","params":{"arguments":{"text":"', b'","id":7}}}', (None, "")),
        (b'{"method":"tools/call","params":{"arguments":{"text":"', rb'\",\"id\":7}"}}}', (None, "")),
    ],
)
def test_what_is_salvaged_of_a_large_frame_is_its_outermost_level(
    head: bytes, tail: bytes, known: tuple[int | str | None, str]
) -> None:
    found = too_large(head, tail)
    assert (found.id, found.tool) == known


def test_only_calls_with_an_id_can_be_answered_as_calls() -> None:
    for data in (b"{}", b"[]", b'{"id": 1, "method": 5}', b'{"id": 1.5, "method": "tools/call"}', b'{"id": true}'):
        found = read_frame(data)
        assert isinstance(found, Unreadable)
        assert found.as_call() is None


def test_the_first_frame_may_be_broken(tmp_path: Path) -> None:
    with Server(tmp_path / "here", era="none") as fresh:
        fresh.send(b"\x00\x01garbage\n")
        assert fresh.receive()["error"]["code"] == -32700
        fresh.era = LEGACY
        asked = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        assert "result" in fresh.request("initialize", asked)
