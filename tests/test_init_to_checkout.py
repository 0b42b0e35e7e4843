"""From an empty folder to a cited checkout: what `zaxy init` writes is all that a real MCP client needs."""

from __future__ import annotations

import asyncio
import json
import tomllib
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from project import Project

FILES = {
    "claude-code": (".mcp.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
    "vscode": (".vscode/mcp.json", "servers"),
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "shop", tmp_path / "home")
    made.root.mkdir()
    made.home.mkdir()
    return made


def configured(project: Project, client: str) -> dict[str, Any]:
    """The entry as the client itself reads it."""
    if client == "codex":
        entry = tomllib.loads((project.home / ".codex/config.toml").read_text())["mcp_servers"]["zaxy"]
    else:
        file, servers = FILES[client]
        entry = json.loads((project.root / file).read_text())[servers]["zaxy"]
    assert isinstance(entry, dict)
    return entry


async def asked(project: Project, entry: dict[str, Any]) -> dict[str, Any]:
    """Record a decision and ask for it, as an agent does."""
    server = StdioServerParameters(
        command=entry["command"],
        args=entry["args"],
        env={"HOME": str(project.home), "PATH": "/usr/bin:/bin", **entry.get("env", {})},
        cwd=project.root,
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        decision = {"key": "cache", "decision": "Store the cache in SQLite"}
        event = {"event_type": "decision.made", "payload": decision, "actor": "ann"}
        recorded = await session.call_tool("memory_append", event)
        assert not recorded.is_error, recorded
        found = await session.call_tool("memory_checkout", {"query": "Where do we store the cache?"})
        assert isinstance(found.structured_content, dict)
        return found.structured_content


PACKAGED = [pytest.param(name, marks=pytest.mark.needs_package(name)) for name in ("claude-code", "codex")]


@pytest.mark.parametrize("client", [*PACKAGED, "cursor", "gemini", "vscode"])
def test_a_client_that_init_configured_gets_a_cited_answer(project: Project, client: str) -> None:
    began = monotonic()
    told = project.told("init", "--client", client, "--yes")
    set_up = monotonic() - began
    reply = asyncio.run(asked(project, configured(project, client)))
    took = monotonic() - began
    assert reply["quality"]["answerability"] == "answer_from_memory"
    fact = reply["current_facts"][0]
    assert fact["content"] == "Store the cache in SQLite"
    assert fact["citation"].startswith(f"eventloom://{told['session_id']}/events/")
    shown = project.run("show", fact["citation"])
    assert "Store the cache in SQLite" in shown.stdout
    print(f"init {set_up:.1f} s, cited checkout after {took:.1f} s")
    assert set_up < 15
    assert took < 30


def test_an_agents_checkout_and_the_commands_see_the_same_session(project: Project) -> None:
    project.told("init", "--client", "cursor", "--domain", "Web Shop", "--yes")
    asyncio.run(asked(project, configured(project, "cursor")))
    assert "Store the cache in SQLite" in project.run("checkout", "Where do we store the cache?").stdout
    assert {event["thread"] for event in project.events()} == {"web-shop-default"}
