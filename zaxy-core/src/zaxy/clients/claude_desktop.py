"""Claude Desktop: printed only, since its file holds servers for the machine, and a running program writes to it."""

from __future__ import annotations

from typing import Any

from zaxy.api import FileClient, InvalidRequest, ServerEntry


class ClaudeDesktop(FileClient):
    title = "Claude Desktop"

    def entry(self, server: ServerEntry) -> dict[str, Any]:
        if server.url:
            raise InvalidRequest(
                "Claude Desktop reads no remote servers from its file",
                "Add the address in its settings, under Connectors.",
            )
        return super().entry(server)
