"""Hermes Agent: `mcp_servers` in `config.yaml` of the user, which serves every project."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from zaxy.api import ClientSigns, FileClient, ServerEntry
from zaxy.api.clients import TextEditor
from zaxy_hermes import yaml_text


class Hermes(FileClient):
    title = "Hermes"
    signs = ClientSigns((".hermes.md", "HERMES.md"), (".hermes",), ("hermes",))
    user_file = ".hermes/config.yaml"
    editor: ClassVar[TextEditor] = yaml_text
    servers = "mcp_servers"
    next_step = "Hermes: type /reload-mcp, or start it again."

    def target(self, scope: str, workspace: Path, home: Path, environ: Mapping[str, str]) -> Path:
        named = environ.get("HERMES_HOME") if scope == "user" else ""
        return Path(named, "config.yaml") if named else super().target(scope, workspace, home, environ)

    def entry(self, server: ServerEntry) -> dict[str, Any]:
        return {**super().entry(server), "connect_timeout": server.startup_timeout_s}
