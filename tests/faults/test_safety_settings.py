"""Settings that promise safety keep the promise, or the server does not start."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from conftest import Zaxy, missing_package
from served import ENVELOPE, ERAS, MODERN, Server, content
from zaxy.serve.application import Application
from zaxy.serve.http import http_app
from zaxy.workspace import find_workspace

TOKEN_TOOLS = ("memory_replay", "memory_invalidate", *(() if missing_package("export") else ("memory_export",)))


@pytest.fixture(params=ERAS)
def guarded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A server with an admin token, and not in production."""
    with Server(tmp_path / "demo", request.param, MCP_ADMIN_TOKEN="s3cret", MCP_LIFECYCLE_CAPTURE_ENABLED="0") as one:
        yield one


def test_a_token_that_is_set_counts_outside_of_production_too(guarded: Server) -> None:
    needed = {"memory_invalidate": {"entity_name": "x", "entity_type": "fact"}}
    for tool in TOKEN_TOOLS:
        for wrong in ({}, {"admin_token": ""}, {"admin_token": "s3cre"}, {"admin_token": "s3cret "}):
            error = guarded.call(tool, **needed.get(tool, {}), **wrong)["error"]
            assert (error["code"], "s3cret" in json.dumps(error)) == ("forbidden", False)
            assert "admin_token" in error["remediation"]
        reply = guarded.call(tool, **needed.get(tool, {}), admin_token="s3cret")
        assert reply.get("error", {}).get("code") != "forbidden"
    listed = guarded.request("tools/list", {})["result"]["tools"]
    assert {"admin_token" in tool["inputSchema"]["properties"] for tool in listed if tool["name"] in TOKEN_TOOLS} == {
        True
    }


def test_two_tokens_in_headers_are_not_the_right_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_ADMIN_TOKEN", "s3cret")
    application = Application(find_workspace(str(tmp_path)))
    params = {"name": "memory_replay", "arguments": {}, "_meta": ENVELOPE}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    named = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "memory_replay"}
    headers = [("accept", "application/json, text/event-stream"), *named.items()]
    with TestClient(http_app(application, "http"), base_url="http://127.0.0.1") as client:
        for tokens, refused in (["s3cret"], False), (["s3cret", "x"], True), (["x", "s3cret"], True), ([], True):
            answer = client.post(
                "/mcp", json=body, headers=[*headers, *(("x-zaxy-admin-token", token) for token in tokens)]
            )
            assert ("error" in content(answer.json())) == refused, tokens
    application.close(within=60)


@pytest.mark.parametrize("blank", ["", "\n", "  \n", "\t"])
def test_a_token_that_is_set_and_empty_stops_the_start(tmp_path: Path, zaxy: Zaxy, blank: str) -> None:
    (tmp_path / "token").write_text(blank)
    for given in {"MCP_ADMIN_TOKEN_FILE": str(tmp_path / "token")}, {"MCP_ADMIN_TOKEN": blank or " "}:
        done = zaxy("serve", **given)
        assert done.returncode == 2
        assert "MCP_ADMIN_TOKEN is set, and empty" in done.stderr


@pytest.mark.parametrize("transport", ["http", "sse"])
@pytest.mark.parametrize("setting", ["MCP_REMOTE_AUTH_TOKEN", "MCP_REMOTE_AUTH_TOKEN_FILE", "MCP_OIDC_ISSUER"])
def test_authentication_that_the_transport_cannot_check_stops_the_start(
    zaxy: Zaxy, transport: str, setting: str
) -> None:
    done = zaxy("serve", "--transport", transport, "--port", "0", **{setting: "s3cret-value"})
    assert done.returncode == 1
    assert setting in done.stderr
    assert "Unset" in done.stderr
    assert "s3cret-value" not in done.stderr
