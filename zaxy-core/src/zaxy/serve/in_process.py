"""The tools of a memory for the program that holds it: a call is answered as over MCP, and recorded as there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from zaxy.model_tools import ShownTool
from zaxy.serve.application import Application, Request
from zaxy.serve.catalog import listed_schema

if TYPE_CHECKING:
    from zaxy.api.models import JsonObject
    from zaxy.errors import ZaxyError
    from zaxy.memory import Memory

SECONDS_TO_RECORD = 10.0
"""How long the end of memory waits for the record of its last calls."""


class InProcess:
    def __init__(self, memory: Memory) -> None:
        self._application = Application(memory.workspace, memory=memory)

    def shown(self, profile: str) -> list[ShownTool]:
        """What a profile lists; without one, the profile of the settings."""
        unlisted = self._application.unlisted_arguments
        return [
            ShownTool(tool.name, tool.description, _plain(listed_schema(tool.input_schema, unlisted(tool.name))))
            for tool in (served.tool for served in self._application.listed(profile))
        ]

    def has(self, name: str) -> bool:
        return name in self._application.catalog

    def answer(
        self, name: str, arguments: Mapping[str, Any], *, session: str, refusal: ZaxyError | None
    ) -> tuple[dict[str, Any], bool]:
        reply = self._application.answer(Request(name, arguments, refusal=refusal, default_session=session))
        return reply.content, reply.failed

    def close(self) -> None:
        """Write what is waiting to be recorded."""
        self._application.record_the_rest(SECONDS_TO_RECORD)


def _plain(schema: JsonObject) -> dict[str, Any]:
    """A copy that is the program's own: it may change it, and give it to any encoder."""
    plain: dict[str, Any] = orjson.loads(orjson.dumps(schema))
    return plain
