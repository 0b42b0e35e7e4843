"""Hermes Agent's configuration: `mcp_servers` in `config.yaml` of the user, which serves every project."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zaxy.api import Conflict, InvalidRequest, ProviderContext, ServerEntry
from zaxy_hermes import yaml_text

SERVERS = "mcp_servers"


class Hermes:
    scopes = ("user",)

    def __init__(self, context: ProviderContext) -> None:
        """Keeps nothing: texts come in and go out."""

    def target(self, scope: str, workspace: Path, home: Path, environ: Mapping[str, str]) -> Path:
        if scope != "user":
            raise InvalidRequest(f"hermes has no scope {scope!r:.40}", "Use user.")
        named = environ.get("HERMES_HOME")
        return (Path(named) if named else home / ".hermes") / "config.yaml"

    def render(self, server: ServerEntry) -> str:
        return yaml_text.block(SERVERS, {server.name: entry(server)}, "", "\n") + "\n"

    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        if not yaml_text.has(text, SERVERS, server.name):
            return yaml_text.put(text, SERVERS, server.name, entry(server))
        if not force:
            raise Conflict(
                f"there is a server named {server.name} already",
                "Pass --force to replace just that entry.",
            )
        return yaml_text.replace(text, SERVERS, server.name, entry(server))

    def remove(self, text: str, name: str) -> str:
        return yaml_text.take_out(text, SERVERS, name)


def entry(server: ServerEntry) -> dict[str, Any]:
    values: dict[str, Any] = (
        {"url": server.url, "headers": dict(server.headers)}
        if server.url
        else {"command": server.command, "args": list(server.args), "env": dict(server.env)}
    )
    filled = {key: value for key, value in values.items() if value}
    return {**filled, "connect_timeout": server.startup_timeout_s}
