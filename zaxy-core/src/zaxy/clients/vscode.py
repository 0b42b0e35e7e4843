"""VS Code: `.vscode/mcp.json` of the project."""

from __future__ import annotations

from typing import Any

from zaxy.api import ClientSigns, FileClient, ServerEntry


class VsCode(FileClient):
    title = "VS Code"
    signs = ClientSigns(in_project=(".vscode",), programs=("code",))
    project_file = ".vscode/mcp.json"
    servers = "servers"
    project_variable = "${workspaceFolder}"
    next_step = "VS Code: open .vscode/mcp.json and start the server zaxy."

    def entry(self, server: ServerEntry) -> dict[str, Any]:
        return {"type": "http" if server.url else "stdio", **super().entry(server)}
