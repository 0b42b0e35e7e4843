"""Who is let in over HTTP, by a package from outside, and what each may do, over MCP and over routes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anyio.from_thread import start_blocking_portal
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from conftest import Zaxy, missing_package
from folders import made_folder
from outside_http import AUTH, install_pack, install_pages, install_tokens
from served import ENVELOPE, ERAS, INITIALIZE, JSON, LEGACY, MODERN, Listening
from zaxy.memory import Memory

FACT = {"event_type": "fact.recorded", "actor": "ann", "payload": {"text": "The sky is blue."}}
METADATA = "/.well-known/oauth-protected-resource"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    site = tmp_path_factory.mktemp("site")
    install_pages(site)
    install_tokens(site)
    install_pack(site)
    given = {"PYTHONPATH": str(site), "ZAXY_HTTP_AUTH": "tokens", "ZAXY_ENV": "production"}
    with Listening(tmp_path_factory.mktemp("demo"), **given, ZAXY_TOOL_PROFILE="full") as running:
        for session in ("team-a", "team-b", "shared-1"):
            assert running.modern("memory_append", {**FACT, "session_id": session}, bearer("admin"))["seq"] == 1
        yield running


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[Listening]:
    install_tokens(tmp_path / "site")
    given = {"PYTHONPATH": str(tmp_path / "site"), "ZAXY_HTTP_AUTH": "tokens", "ZAXY_PLUGINS_BUDGET": "1"}
    with Listening(tmp_path / "demo", **given) as running:
        yield running


def bearer(who: str) -> dict[str, str]:
    return {"authorization": f"Bearer {who}-token"}


def calls(server: Listening, era: str, who: str, *asked: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """What a real client of that era gets for its calls, as somebody."""

    async def talk() -> list[dict[str, Any]]:
        http = httpx2.AsyncClient(headers=bearer(who), timeout=120)
        mode = "legacy" if era == LEGACY else "auto"
        async with http, Client(streamable_http_client(server.url, http_client=http), mode=mode) as client:
            assert client.protocol_version == era
            found = [await client.call_tool(tool, given) for tool, given in asked]
            return [one.structured_content for one in found]

    with start_blocking_portal() as portal:
        return portal.call(talk)


def codes(replies: list[dict[str, Any]]) -> list[str]:
    return [reply.get("error", {}).get("code", "ok") for reply in replies]


def get(server: Listening, path: str, who: str = "", method: str = "GET", body: bytes = b"") -> tuple[int, Any]:
    status, _, answer = server.send(body, bearer(who) if who else {}, method, path)
    return status, json.loads(answer)


EVERYTHING = (
    ("memory_query", {"query": "sky", "session_id": "team-a"}),
    ("memory_query", {"query": "sky", "session_id": "team-b"}),
    ("memory_query", {"query": "sky", "session_id": "shared-1"}),
    ("memory_append", {**FACT, "session_id": "team-a"}),
    ("memory_append", {**FACT, "thread": "team-b"}),
    ("memory_append", {**FACT, "session_id": "shared-1"}),
    ("memory_replay", {"session_id": "team-a"}),
    ("memory_checkout", {"query": "sky", "session_id": "team-b"}),
)
MAY = {
    "reader": "ok forbidden forbidden forbidden forbidden forbidden forbidden forbidden",
    "writer": "ok forbidden ok ok forbidden ok forbidden forbidden",
    "admin": "ok ok ok ok ok ok ok ok",
    "stranger": "forbidden forbidden forbidden forbidden forbidden forbidden forbidden forbidden",
}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("who", MAY)
def test_a_role_and_its_sessions_decide_what_a_client_may_call(server: Listening, era: str, who: str) -> None:
    assert codes(calls(server, era, who, *EVERYTHING)) == MAY[who].split()


@pytest.mark.needs_package("export")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("who", MAY)
def test_only_an_admin_exports(server: Listening, era: str, who: str) -> None:
    found = codes(calls(server, era, who, ("memory_export", {"session_id": "team-a"})))
    assert found == ["ok" if who == "admin" else "forbidden"]


@pytest.mark.parametrize(
    ("who", "found"), [("reader", [200, 403, 403]), ("writer", [200, 403, 201]), ("admin", [200, 200, 201])]
)
def test_a_route_may_do_with_memory_what_the_one_who_asks_may(server: Listening, who: str, found: list[int]) -> None:
    answers = [
        get(server, "/acme/find?q=sky&session=team-a", who),
        get(server, "/acme/find?q=sky&session=team-b", who),
        get(
            server,
            "/acme/write?session=shared-1" if who != "reader" else "/acme/write?session=team-a",
            who,
            "POST",
            b"x",
        ),
    ]
    assert [status for status, _ in answers] == found
    assert answers[0][1][0][1].startswith("eventloom://team-a/")
    refused = [body["error"]["code"] for status, body in answers if status == 403]
    assert set(refused) <= {"forbidden"}


def test_a_route_knows_who_asks_and_not_their_credentials(server: Listening) -> None:
    _, seen = get(server, "/acme/me", "writer")
    assert (seen["name"], seen["authorization"]) == ("wanda", "")


def test_only_ones_own_sessions_are_listed_and_the_first_of_them_is_the_default(server: Listening) -> None:
    assert get(server, "/acme/sessions", "reader")[1] == ["team-a", "team-a"]
    assert get(server, "/acme/sessions", "writer")[1] == ["team-a", "shared-1", "team-a"]
    default, *sessions = get(server, "/acme/sessions", "admin")[1]
    assert default.endswith("-default")
    assert {"team-a", "team-b"} <= set(sessions)


@pytest.mark.parametrize("era", ERAS)
def test_without_a_session_the_first_one_of_ones_own_is_meant(server: Listening, era: str) -> None:
    (found,) = calls(server, era, "reader", ("memory_query", {"query": "sky"}))
    assert {row["citation"].split("/")[2] for row in found["results"]} == {"team-a"}


def test_a_citation_into_a_session_of_others_is_refused(server: Listening) -> None:
    (appended,) = calls(server, MODERN, "admin", ("memory_append", {**FACT, "session_id": "team-b"}))
    asked = {"entity_name": appended["citation"], "entity_type": "fact", "feedback": "used"}
    cited = {**asked, "entity_name": "sky", "citation": appended["citation"]}
    for given in (asked, cited, {**cited, "session_id": "team-a"}):
        assert codes(calls(server, MODERN, "writer", ("memory_feedback", given))) == ["forbidden"], given


def test_nothing_is_half_done_where_one_of_two_sessions_is_of_others(server: Listening) -> None:
    given = {"parent_session_id": "team-b", "subagent_session_id": "team-a", "summary": "done"}
    before = get(server, "/acme/read?session=team-a", "admin")[1]
    assert codes(calls(server, MODERN, "writer", ("subagent_cleanup", given))) == ["forbidden"]
    assert get(server, "/acme/read?session=team-a", "admin")[1] == before


def test_an_error_names_no_sessions_of_others(server: Listening) -> None:
    (reply,) = calls(
        server, MODERN, "writer", ("memory_checkout", {"query": "x", "session_id": "shared-9", "ref": "HEAD"})
    )
    assert reply["error"]["code"] == "not_found"
    assert "team-b" not in json.dumps(reply)


@pytest.mark.parametrize("era", ERAS)
def test_a_client_is_listed_the_tools_that_it_may_call(server: Listening, era: str) -> None:
    async def listed(who: str) -> set[str]:
        http = httpx2.AsyncClient(headers=bearer(who), timeout=120)
        mode = "legacy" if era == LEGACY else "auto"
        async with http, Client(streamable_http_client(server.url, http_client=http), mode=mode) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    with start_blocking_portal() as portal:
        reader, writer, admin = (portal.call(listed, who) for who in ("reader", "writer", "admin"))
    assert "memory_query" in reader
    assert "memory_append" in writer - reader
    exports = set() if missing_package("export") else {"memory_export"}
    assert admin - writer == {"memory_replay", "memory_invalidate"} | exports
    assert reader < writer < admin


def test_a_tool_of_a_plugin_that_only_says_that_it_reads_appends_nothing_for_a_reader(server: Listening) -> None:
    lie = ("acme_lie", {})
    assert codes([calls(server, MODERN, who, lie)[0] for who in ("reader", "writer")]) == ["forbidden", "ok"]


@pytest.mark.parametrize("era", ERAS)
def test_a_resource_reads_only_what_the_one_who_asks_may(server: Listening, era: str) -> None:
    async def read(session: str) -> str:
        http = httpx2.AsyncClient(headers=bearer("reader"), timeout=120)
        mode = "legacy" if era == LEGACY else "auto"
        async with http, Client(streamable_http_client(server.url, http_client=http), mode=mode) as client:
            try:
                (part,) = (await client.read_resource(f"acme-pack://events/{session}")).contents
            except MCPError as error:
                return str(error)
            return str(part.text)

    with start_blocking_portal() as portal:
        assert portal.call(read, "team-a").startswith("eventloom://team-a/events/1#")
        assert "you have no access to the session 'team-b'" in portal.call(read, "team-b")


def test_without_credentials_nothing_is_answered_and_the_client_is_told_what_to_send(server: Listening) -> None:
    for path, method in (
        ("/mcp", "POST"),
        ("/mcp", "GET"),
        ("/acme/me", "GET"),
        ("/nowhere", "GET"),
        ("/mcp", "DELETE"),
    ):
        status, headers, body = server.send(INITIALIZE, {}, method, path)
        assert status == 401
        assert headers["www-authenticate"] == f'Bearer resource_metadata="http://127.0.0.1{METADATA}"'
        assert json.loads(body)["error"]["code"] == "forbidden"
    assert server.send(INITIALIZE, {"authorization": "Forbidden x"})[0] == 403


def test_the_gate_stands_before_authentication(server: Listening) -> None:
    for odd in ({"host": "evil.example"}, {"origin": "https://evil.example"}):
        assert server.send(INITIALIZE, {**bearer("admin"), **odd})[0] == 403
        assert server.send(b"", odd, "GET", METADATA)[0] == 403


def test_a_public_path_is_answered_to_everybody_and_has_no_memory(server: Listening) -> None:
    for path in (METADATA, METADATA + "/mcp"):
        assert get(server, path)[1]["resource"] == "http://127.0.0.1/mcp"
    assert get(server, METADATA + "/leak")[0] == 401
    assert get(server, METADATA + "/mcp/")[0] == 401
    assert get(server, METADATA + "/leak", "reader") == (200, get(server, "/acme/read?session=team-a", "admin")[1])


@pytest.mark.parametrize("odd", ["none", "text", "role", "sessions", "names", "nameless", "status", "split"])
def test_an_answer_that_is_no_identity_lets_nobody_in(server: Listening, odd: str) -> None:
    status, headers, body = server.send(INITIALIZE, {"authorization": f"Odd {odd}"})
    assert (status, json.loads(body)["error"]["code"]) == (503, "unavailable")
    assert "x-acme" not in headers


def test_an_auth_that_raises_lets_nobody_in_and_tells_no_details(server: Listening) -> None:
    status, _, body = server.send(INITIALIZE, {"authorization": "Raise x"})
    assert status == 503
    assert b"hunter2" not in body
    assert server.send(INITIALIZE, bearer("reader"))[0] == 200


def test_an_auth_that_hangs_lets_nobody_in(impatient: Listening) -> None:
    assert impatient.send(INITIALIZE, bearer("reader"))[0] == 200
    assert impatient.send(INITIALIZE, {"authorization": "Hang x"})[0] == 503
    assert impatient.send(INITIALIZE, bearer("admin"))[0] == 503  # it is still busy
    assert impatient.end() < 60


def test_a_session_of_the_protocol_is_only_for_the_one_who_opened_it(server: Listening) -> None:
    opened = server.send(INITIALIZE, bearer("reader"))[1]["mcp-session-id"]
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    named = {"mcp-session-id": opened, "mcp-protocol-version": LEGACY}
    assert server.send(ping, {**bearer("admin"), **named})[0] == 404
    assert server.send(b"", {**bearer("writer"), **named}, "DELETE")[0] == 404
    assert server.send(ping, {**bearer("reader"), **named})[0] == 200


def test_a_call_that_cannot_be_read_is_still_somebodys(server: Listening) -> None:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "memory_append", "arguments": 5, "_meta": ENVELOPE},
    }
    named = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "memory_append"}
    answer = json.loads(server.send(body, {**bearer("writer"), **named})[2])
    assert answer["result"]["structuredContent"]["error"]["code"] == "invalid_request"
    refused = json.loads(server.send(body, {**bearer("reader"), **named})[2])
    assert refused["result"]["structuredContent"]["error"]["code"] == "forbidden"


def test_the_record_of_calls_names_who_called_and_stays_out_of_sessions_of_others(tmp_path: Path) -> None:
    install_tokens(tmp_path / "site")
    with Listening(tmp_path / "demo", PYTHONPATH=str(tmp_path / "site"), ZAXY_HTTP_AUTH="tokens") as running:
        for session in ("team-a", "team-b"):
            running.modern("memory_append", {**FACT, "session_id": session}, bearer("admin"))
        running.modern("memory_query", {"query": "sky", "session_id": "team-b"}, bearer("reader"))
        running.end()
    with Memory.open(made_folder(tmp_path / "demo")) as memory:
        marks = {session: memory.replay(session, include_housekeeping=True) for session in ("team-a", "team-b")}
    called = {
        session: [(mark.payload or {}).get("identity") for mark in events if mark.type == "tool.call.completed"]
        for session, events in marks.items()
    }
    assert called == {"team-a": ["ada", "rita"], "team-b": ["ada"]}


# The start


def started(zaxy: Zaxy, site: Path, transport: str = "http", **env: str) -> Any:
    given = {"ZAXY_HTTP_AUTH": "tokens", "PYTHONPATH": str(site), **env}
    return zaxy("serve", "--transport", transport, "--port", "0", **given)


def test_an_auth_that_is_not_installed_stops_the_start(tmp_path: Path, zaxy: Zaxy) -> None:
    done = started(zaxy, tmp_path)
    assert done.returncode == 1
    assert "no http_auth provider is named 'tokens'" in done.stderr


@pytest.mark.parametrize(
    "source",
    [
        "import not_there\n",
        AUTH.replace("self.expected = context", 'raise ValueError("broken")\n        self.expected = context'),
        AUTH.replace("def identify", "def recognise"),
        AUTH.replace("def public_paths", "def open_paths"),
        AUTH.replace('return (METADATA, METADATA + "/mcp")', 'return ("/mcp",)'),
        AUTH.replace('return (METADATA, METADATA + "/mcp")', 'return ("/acme",)'),
        AUTH.replace('return (METADATA, METADATA + "/mcp")', "return METADATA"),
        AUTH.replace('return (METADATA, METADATA + "/mcp")', "time.sleep(600)"),
    ],
    ids=["import", "make", "identify", "public paths", "mcp", "of others", "text", "hang"],
)
def test_an_auth_that_is_broken_stops_the_start(tmp_path: Path, zaxy: Zaxy, source: str) -> None:
    assert source != AUTH
    install_pages(tmp_path / "site")
    install_tokens(tmp_path / "site", source)
    done = started(zaxy, tmp_path / "site", ZAXY_PLUGINS_BUDGET="2")
    assert done.returncode == 1
    assert "acme-tokens" in done.stderr
    assert "listening" not in done.stderr


def test_a_disabled_auth_stops_the_start(tmp_path: Path, zaxy: Zaxy) -> None:
    install_tokens(tmp_path / "site")
    done = started(zaxy, tmp_path / "site", ZAXY_PLUGINS_DISABLE="acme-tokens")
    assert done.returncode == 1
    assert "listening" not in done.stderr


def test_the_older_sse_transport_does_not_start_with_an_auth(tmp_path: Path, zaxy: Zaxy) -> None:
    install_tokens(tmp_path / "site")
    done = started(zaxy, tmp_path / "site", "sse")
    assert done.returncode == 1
    assert "--transport http" in done.stderr


@pytest.mark.parametrize(("kept", "chosen", "status"), [("tokens", "", 200), ("", "tokens", 401)])
def test_a_workspace_cannot_choose_or_drop_an_auth(tmp_path: Path, kept: str, chosen: str, status: int) -> None:
    install_tokens(tmp_path / "site")
    (tmp_path / "demo").mkdir()
    with Memory.open(made_folder(tmp_path / "demo")) as memory:
        memory.append("fact.recorded", {"text": "x"})
    file = tmp_path / "demo" / ".eventloom" / "workspace.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "settings": {"ZAXY_HTTP_AUTH": kept}}))
    with Listening(tmp_path / "demo", PYTHONPATH=str(tmp_path / "site"), ZAXY_HTTP_AUTH=chosen) as running:
        assert running.send(INITIALIZE)[0] == status


def test_a_token_for_http_stops_the_start_unless_the_chosen_auth_declares_it(tmp_path: Path, zaxy: Zaxy) -> None:
    install_tokens(tmp_path / "site")
    done = started(zaxy, tmp_path / "site", MCP_REMOTE_AUTH_TOKEN="s3cret-value")
    assert done.returncode == 1
    assert "MCP_REMOTE_AUTH_TOKEN" in done.stderr
    setting = {"env": "MCP_REMOTE_AUTH_TOKEN", "secret": True, "meaning": "The token."}
    install_tokens(tmp_path / "other", settings=[setting])
    (tmp_path / "token").write_text("s3cret-value")
    given = {"PYTHONPATH": str(tmp_path / "other"), "ZAXY_HTTP_AUTH": "tokens"}
    with Listening(tmp_path / "demo", **given, MCP_REMOTE_AUTH_TOKEN_FILE=str(tmp_path / "token")) as running:
        right = {"authorization": "Bearer s3cret-value"}
        assert running.modern("memory_append", {**FACT, "session_id": "team-a"}, right)["seq"] == 1
        assert running.send(INITIALIZE, {**JSON, "authorization": "Bearer s3cret"})[0] == 401


def test_an_admin_needs_the_admin_token_too_where_one_is_set(tmp_path: Path) -> None:
    install_tokens(tmp_path / "site")
    given = {"PYTHONPATH": str(tmp_path / "site"), "ZAXY_HTTP_AUTH": "tokens", "MCP_ADMIN_TOKEN": "s3cret"}
    with Listening(tmp_path / "demo", **given) as running:
        asked = ("memory_replay", {"session_id": "team-a"})
        token = {"x-zaxy-admin-token": "s3cret"}
        assert running.modern(*asked, bearer("admin"))["error"]["code"] == "forbidden"
        assert running.modern(*asked, {**bearer("writer"), **token})["error"]["code"] == "forbidden"
        assert running.modern(*asked, {**bearer("admin"), **token})["error"]["code"] == "not_found"
