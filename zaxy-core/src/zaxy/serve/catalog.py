"""The tools of a server: which are there, which a profile lists, and how one is found by its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from zaxy.api.models import JsonObject, Tool
from zaxy.api.tools import MAX_NUMBER, PROFILES, ToolFunction
from zaxy.errors import InvalidRequest, UnknownTool

MODULES = tuple(f"zaxy.serve.tools.{name}" for name in ("checkout", "log", "recall", "learning", "synthesis"))
FIRST = (
    "memory_bootstrap",
    "memory_checkout",
    "memory_append",
    "memory_query",
    "memory_verbatim",
    "memory_feedback",
    "memory_skill",
    "memory_invalidate",
    "memory_replay",
    "context_after_turn",
)
"""The order in which a model meets them; the others follow by name."""
MAX_NAME_CHARS = 128


class Catalog:
    def __init__(self, tools: Iterable[ToolFunction]) -> None:
        self._tools = {served.tool.name: served for served in tools}

    def __iter__(self) -> Iterator[ToolFunction]:
        return iter(self._tools.values())

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def with_tools(self, more: Iterable[ToolFunction]) -> Catalog:
        """With those of packs, each in its place."""
        return Catalog(sorted((*self, *more), key=_place))

    def listed(self, profile: str) -> list[ToolFunction]:
        """What a profile lists, in the same order always. All can be called, listed or not."""
        if profile not in PROFILES:
            raise InvalidRequest(
                f"there is no tool profile {profile!r:.40}",
                f"Set ZAXY_TOOL_PROFILE or --profile to one of {', '.join(PROFILES)}.",
            )
        return [served for served in self if profile in served.tool.profiles]

    def find(self, name: str) -> ToolFunction:
        """A tool by its name, or by the dotted form of it that older clients use."""
        found = self._tools.get(name) or self._tools.get(name.replace(".", "_"))
        if found is None:
            raise UnknownTool(
                f"Unknown tool: {name[:MAX_NAME_CHARS]}",
                "Call list_tools and retry with one of the advertised tool names.",
            )
        return found


def own_tools() -> list[ToolFunction]:
    """The tools of the core, in the order of every listing."""
    tools: list[ToolFunction] = [served for module in MODULES for served in import_module(module).TOOLS]
    return sorted(tools, key=_place)


def command_tools() -> Catalog:
    """The tools that only commands of this user may call, through the owner of their graph; no client sees them."""
    return Catalog(import_module("zaxy.serve.tools.for_commands").TOOLS)


def hints_of(tool: Tool) -> dict[str, bool]:
    """What a client may conclude about a tool. A hint that equals the protocol's default is left out."""
    hints: dict[str, bool] = {}
    if tool.read_only:
        hints["readOnlyHint"] = True
    elif not tool.destructive:
        hints["destructiveHint"] = False
    if tool.idempotent and not tool.read_only:
        hints["idempotentHint"] = True
    return {**hints, "openWorldHint": False}


def listed_schema(schema: JsonObject, unlisted: Iterable[str]) -> JsonObject:
    """The input schema without what would cost every conversation and tell a model nothing.

    These are arguments that are taken but not shown, and bounds that only keep out what is no number of anything.
    """
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return schema
    shown = {name: _listed_kind(kind) for name, kind in properties.items() if name not in unlisted}
    return {**schema, "properties": shown}


def _listed_kind(kind: Any) -> Any:
    if isinstance(kind, Mapping) and kind.get("maximum") == MAX_NUMBER:
        return {key: value for key, value in kind.items() if key not in ("minimum", "maximum")}
    return kind


def _place(served: ToolFunction) -> tuple[int, str]:
    name = served.tool.name
    return (FIRST.index(name) if name in FIRST else len(FIRST), name)
