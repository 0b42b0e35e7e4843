"""The server over HTTP: on loopback only, for both eras, and closed to other hosts and origins."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp.client.client import Client
from mcp.client.session import ClientSession
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult
from starlette.testclient import TestClient

from folders import made_folder
from served import ENVELOPE, ERAS, INITIALIZE, JSON, LEGACY, MODERN, Listening, content
from zaxy.memory import Memory
from zaxy.serve.application import Application
from zaxy.serve.http import http_app
from zaxy.workspace import find_workspace


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    with Listening(tmp_path_factory.mktemp("demo")) as running:
        yield running


FACT = {"event_type": "fact.recorded", "actor": "ann", "payload": {"text": "The sky is blue."}}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize("era", ERAS)
def test_a_real_client_of_either_era_reads_what_it_wrote(server: Listening, era: str) -> None:
    async def talk() -> tuple[str, CallToolResult, CallToolResult]:
        mode = "legacy" if era == LEGACY else "auto"
        async with Client(streamable_http_client(server.url), mode=mode) as client:
            written = await client.call_tool("memory_append", {**FACT, "session_id": era})
            found = await client.call_tool("memory_query", {"query": "sky", "session_id": era})
            return client.protocol_version, written, found

    with start_blocking_portal() as portal:
        version, written, found = portal.call(talk)
    assert version == era
    assert written.structured_content["citation"] in [row["citation"] for row in found.structured_content["results"]]


def test_the_older_sse_transport_still_works_and_says_that_it_is_deprecated(tmp_path: Path) -> None:
    with Listening(tmp_path / "demo", "sse") as old:
        assert old.url.endswith("/sse")

        async def talk() -> CallToolResult:
            async with sse_client(old.url) as (read, write), ClientSession(read, write) as session:
                await session.initialize()
                found = await session.call_tool("memory_append", FACT)
                assert isinstance(found, CallToolResult)
                return found

        with start_blocking_portal() as portal:
            assert portal.call(talk).structured_content["seq"] == 1
        assert "deprecated" in "".join(old.told)
        for path in ("/sse", "/messages/?session_id=x"):
            method = "GET" if path == "/sse" else "POST"
            assert old.send(b"", {"origin": "http://evil.example"}, method, path)[0] == 403
            assert old.send(b"", {"host": "evil.example"}, method, path)[0] == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:80", "localhost", "LOCALHOST:9999", "[::1]:5", "127.8.8.8"])
def test_a_loopback_host_is_served_on_whatever_port_it_names(server: Listening, host: str) -> None:
    assert server.send(INITIALIZE, {"host": host})[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        *(
            "evil.example",
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "localhost@evil.example",
        ),
        *(
            "0.0.0.0",
            "10.0.0.1",
            "[::]",
            "169.254.169.254",
            "127.0.0.1:port",
            "[::1",
            "2130706433",
            "localhost,evil",
            "",
        ),
    ],
)
def test_any_other_host_is_forbidden(server: Listening, host: str) -> None:
    status, _, body = server.send(INITIALIZE, {"host": host})
    assert status == 403
    assert json.loads(body)["error"]["code"] == "forbidden"


@pytest.mark.parametrize(
    "origin", ["http://localhost", "http://127.0.0.1:3000", "https://localhost:1", "http://[::1]:2"]
)
def test_a_loopback_origin_is_served(server: Listening, origin: str) -> None:
    assert server.send(INITIALIZE, {"origin": origin})[0] == 200


@pytest.mark.parametrize(
    "origin",
    [
        *("http://evil.example", "https://localhost.evil.example", "http://localhost@evil.example", "null", ""),
        *(
            "file://",
            "localhost",
            "http://127.0.0.1.evil.example:80",
            "ftp://localhost",
            "http://localhost/evil.example",
        ),
    ],
)
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "OPTIONS"])
def test_any_other_origin_is_forbidden_whatever_the_method(server: Listening, origin: str, method: str) -> None:
    assert server.send(INITIALIZE, {"origin": origin}, method)[0] == 403


def test_an_origin_can_be_allowed_and_its_absence_forbidden(tmp_path: Path) -> None:
    allowed = {"ZAXY_HTTP_ALLOWED_ORIGINS": "https://app.example", "ZAXY_HTTP_REQUIRE_ORIGIN": "true"}
    with Listening(tmp_path / "demo", **allowed) as strict:
        assert strict.send(INITIALIZE, {"origin": "https://app.example"})[0] == 200
        assert strict.send(INITIALIZE, {"origin": "https://app.example.evil"})[0] == 403
        assert strict.send(INITIALIZE)[0] == 403


def test_a_body_of_more_than_two_mebibytes_is_refused_and_the_server_goes_on(server: Listening) -> None:
    status, _, body = server.send(b"x" * (2 * (1 << 20) + 1))
    assert (status, json.loads(body)["error"]["code"]) == (413, "too_large")
    assert server.modern("memory_append", FACT)["seq"]


@pytest.mark.parametrize(
    ("payload", "words"),
    [('{"a":' * 10_000 + "1" + "}" * 10_000, "nested"), (r'{"text": "\ud800"}', "surrogate"), ('{"n": NaN}', "")],
    ids=["deep", "surrogate", "nan"],
)
@pytest.mark.parametrize("era", ERAS)
def test_what_is_no_json_is_refused_with_a_result_as_on_stdio(
    server: Listening, era: str, payload: str, words: str
) -> None:
    headers = {"mcp-protocol-version": era}
    params: dict[str, Any] = {"name": "memory_append", "arguments": {**FACT, "payload": 0}}
    if era == MODERN:
        params["_meta"] = ENVELOPE
        headers |= {"mcp-method": "tools/call", "mcp-name": "memory_append"}
    else:
        headers["mcp-session-id"] = server.send(INITIALIZE)[1]["mcp-session-id"]
    written = json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params})
    status, told, body = server.send(written.replace('"payload": 0', f'"payload": {payload}').encode(), headers)
    assert status == 200
    if told["content-type"].startswith("text/event-stream"):
        body = next(line for line in body.splitlines() if line.startswith(b"data: {"))[6:]
    error = content(json.loads(body))["error"]
    assert error["code"] == "invalid_request"
    assert words in error["message"]


def test_the_admin_token_may_come_in_a_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The application itself, since in production it does not listen yet."""
    monkeypatch.setenv("ZAXY_ENV", "production")
    monkeypatch.setenv("MCP_ADMIN_TOKEN", "s3cret")
    application = Application(find_workspace(str(tmp_path)))
    params = {"name": "memory_replay", "arguments": {}, "_meta": ENVELOPE}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {**JSON, "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "memory_replay"}
    with TestClient(http_app(application, "http"), base_url="http://127.0.0.1") as client:
        for token, refused in (("", True), ("s3cre", True), ("s3cret", False)):
            answer = client.post("/mcp", json=body, headers={**headers, "x-zaxy-admin-token": token})
            assert ("error" in content(answer.json())) == refused
    application.close(within=60)


def test_in_production_it_does_not_start_on_a_network(tmp_path: Path, zaxy: Any) -> None:
    for transport in ("http", "sse"):
        done = zaxy("serve", "--transport", transport, "--port", "0", ZAXY_ENV="production", MCP_ADMIN_TOKEN="x")
        assert done.returncode == 1
        assert "authentication" in done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com"])
def test_it_listens_on_loopback_only(zaxy: Any, host: str) -> None:
    done = zaxy("serve", "--transport", "http", "--host", host, "--port", "0")
    assert done.returncode == 1
    assert "is not a loopback address" in done.stderr


def test_a_port_that_is_taken_is_told(server: Listening, zaxy: Any) -> None:
    done = zaxy("serve", "--transport", "http", "--port", str(server.port))
    assert done.returncode == 1
    assert "cannot be listened on" in done.stderr


def test_it_is_not_reached_from_outside(server: Listening) -> None:
    if not os.path.exists("/proc/net/tcp"):
        pytest.skip("only Linux tells what is listened on")
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = [local for _, local, _, state, *_ in rows if state == "0A" and int(local[9:], 16) == server.port]
    assert listening == [f"0100007F:{server.port:04X}"]


def test_several_clients_share_one_memory(server: Listening) -> None:
    seqs: list[int] = []

    def write() -> None:
        for _ in range(5):
            seqs.append(server.modern("memory_append", FACT, {})["seq"])

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(seqs) == len(set(seqs)) == 20


def test_the_server_ends_soon_after_it_is_told_to_and_records_it(tmp_path: Path) -> None:
    with Listening(tmp_path / "demo") as running:
        assert running.modern("memory_append", FACT)["seq"] == 1
        assert running.end() < 30
        assert running.process.returncode == 0
    with Memory.open(made_folder(tmp_path / "demo")) as memory:
        assert memory.replay(include_housekeeping=True)[-1].type == "session.ended"
