"""The built-in writers of MCP configuration: Claude Code, Claude Desktop, Cursor, VS Code, Gemini CLI and Codex."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from zaxy.api.models import ServerEntry
from zaxy.api.provider import ProviderContext
from zaxy.clients import json_text, toml_text
from zaxy.errors import Conflict, InvalidRequest, ZaxyError


class JsonWriter:
    """A client with a JSON file in the project's folder; the classes below say which."""

    name: ClassVar[str]
    scopes: ClassVar[tuple[str, ...]] = ("project",)
    file: ClassVar[tuple[str, ...]]
    servers: ClassVar[str] = "mcpServers"

    def __init__(self, context: ProviderContext) -> None:
        pass

    def target(self, scope: str, workspace: Path, home: Path, environ: Mapping[str, str]) -> Path:
        if scope not in self.scopes:
            raise _no_scope(self.name, scope, self.scopes)
        return workspace.joinpath(*self.file)

    def render(self, server: ServerEntry) -> str:
        return json.dumps({self.servers: {server.name: self.entry(server)}}, indent=2, ensure_ascii=False) + "\n"

    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        path = (self.servers, server.name)
        if json_text.value_at(text, path) is json_text.MISSING:
            return json_text.put(text, path, self.entry(server))
        if not force:
            raise _there_already(server.name)
        return json_text.replace(text, path, self.entry(server))

    def remove(self, text: str, name: str) -> str:
        return json_text.take_out(text, (self.servers, name))

    def entry(self, server: ServerEntry) -> dict[str, Any]:
        if server.url:
            return _filled({"url": server.url, "headers": dict(server.headers)})
        return _filled({"command": server.command, "args": list(server.args), "env": dict(server.env)})


class ClaudeCode(JsonWriter):
    name = "claude-code"
    file = (".mcp.json",)

    def entry(self, server: ServerEntry) -> dict[str, Any]:
        return {"type": "http" if server.url else "stdio", **super().entry(server)}


class ClaudeDesktop(JsonWriter):
    """Prints only: its file holds servers for the whole machine, and a running program writes to it too."""

    name = "claude-desktop"
    scopes = ()

    def entry(self, server: ServerEntry) -> dict[str, Any]:
        if server.url:
            raise InvalidRequest(
                "Claude Desktop reads no remote servers from its file",
                "Add the address in its settings, under Connectors.",
            )
        return super().entry(server)


class Cursor(JsonWriter):
    name = "cursor"
    file = (".cursor", "mcp.json")


class VsCode(JsonWriter):
    name = "vscode"
    file = (".vscode", "mcp.json")
    servers = "servers"

    def entry(self, server: ServerEntry) -> dict[str, Any]:
        return {"type": "http" if server.url else "stdio", **super().entry(server)}


class Gemini(JsonWriter):
    name = "gemini"
    file = (".gemini", "settings.json")

    def entry(self, server: ServerEntry) -> dict[str, Any]:
        entry = super().entry(server)
        if server.url:
            # `url` would mean the older transport there.
            entry = {"httpUrl": entry.pop("url"), **entry}
        return {**entry, "timeout": server.startup_timeout_s * 1000}


class Codex:
    name = "codex"
    scopes = ("user", "project")
    servers = "mcp_servers"

    def __init__(self, context: ProviderContext) -> None:
        pass

    def target(self, scope: str, workspace: Path, home: Path, environ: Mapping[str, str]) -> Path:
        if scope == "project":
            return workspace / ".codex" / "config.toml"
        if scope != "user":
            raise _no_scope(self.name, scope, self.scopes)
        named = environ.get("CODEX_HOME")
        return (Path(named) if named else home / ".codex") / "config.toml"

    def render(self, server: ServerEntry) -> str:
        return toml_text.rendered((self.servers, server.name), self.entry(server)) + "\n"

    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        table = (self.servers, server.name)
        if not toml_text.has(text, table):
            return toml_text.put(text, table, self.entry(server))
        if not force:
            raise _there_already(server.name)
        return toml_text.replace(text, table, self.entry(server))

    def remove(self, text: str, name: str) -> str:
        return toml_text.take_out(text, (self.servers, name))

    def entry(self, server: ServerEntry) -> dict[str, Any]:
        if server.url:
            entry = _filled({"url": server.url, "http_headers": dict(server.headers)})
        else:
            entry = _filled({"command": server.command, "args": list(server.args), "env": dict(server.env)})
        return {**entry, "startup_timeout_sec": server.startup_timeout_s}


def _filled(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value}


def _there_already(name: str) -> ZaxyError:
    return Conflict(f"there is a server named {name} already", "Pass --force to replace just that entry.")


def _no_scope(name: str, scope: str, scopes: tuple[str, ...]) -> ZaxyError:
    there = f"Use {' or '.join(scopes)}." if scopes else "Its configuration is only printed: paste it yourself."
    return InvalidRequest(f"{name} has no scope {scope!r:.40}", there)
