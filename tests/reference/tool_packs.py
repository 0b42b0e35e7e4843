from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from zaxy.api import Draft, MemoryAccess, ProviderContext, Tool
from zaxy.api.checks.tool_packs import ToolPackCase
from zaxy.plugins.templates.tool_packs import ACTOR, Pack

RIGHT = Pack
Progress = Callable[[float, str], None]


def case(make: Callable[..., Any], scratch: Path) -> ToolPackCase:
    return ToolPackCase(
        make,
        calls={
            "acme_note": {"session_id": "agent-1", "text": "The cake is in the fridge."},
            "acme_recent": {"session_id": "agent-1", "limit": 5},
        },
    )


def changed(**fields: object) -> type[Pack]:
    """A pack whose first tool differs in the given fields."""

    class Changed(Pack):
        def tools(self) -> Sequence[Tool]:
            first, *others = super().tools()
            return (replace(first, **fields), *others)  # type: ignore[arg-type]

    return Changed


class CallWithoutProgress(Pack):
    def call(self, tool: str, arguments: Mapping[str, object], memory: MemoryAccess) -> Mapping[str, object]:  # type: ignore[override]
        return {}


class Empty(Pack):
    def tools(self) -> Sequence[Tool]:
        return ()


class Moody(Pack):
    def __init__(self, context: ProviderContext) -> None:
        self._used = False

    def tools(self) -> Sequence[Tool]:
        return super().tools()[:1] if self._used else super().tools()

    def call(
        self, tool: str, arguments: Mapping[str, object], memory: MemoryAccess, progress: Progress
    ) -> Mapping[str, object]:
        self._used = True
        return super().call(tool, arguments, memory, progress)


class OneMore(Pack):
    def tools(self) -> Sequence[Tool]:
        return (*super().tools(), Tool("acme_forget", "Forget a note.", {"type": "object"}, destructive=True))


class NotANumber(Pack):
    def call(
        self, tool: str, arguments: Mapping[str, object], memory: MemoryAccess, progress: Progress
    ) -> Mapping[str, object]:
        return {**super().call(tool, arguments, memory, progress), "score": float("nan")}


class Obliging(Pack):
    def call(
        self, tool: str, arguments: Mapping[str, object], memory: MemoryAccess, progress: Progress
    ) -> Mapping[str, object]:
        known = tool in [listed.name for listed in self.tools()]
        return super().call(tool, arguments, memory, progress) if known else {}


class KeepsARecord(Pack):
    def call(
        self, tool: str, arguments: Mapping[str, object], memory: MemoryAccess, progress: Progress
    ) -> Mapping[str, object]:
        answer = super().call(tool, arguments, memory, progress)
        memory.append(str(arguments["session_id"]), Draft("tool.call.completed", ACTOR, {"tool": tool}))
        return answer


WRONG = {
    "it_has_the_methods_of_its_protocol": CallWithoutProgress,
    "it_lists_tools": Empty,
    "its_list_is_the_same_every_time": Moody,
    "its_tool_names_have_only_small_letters_and_underscores": changed(name="acme.note"),
    "no_two_tools_share_a_name": changed(name="acme_recent"),
    "its_descriptions_are_short_texts": changed(description="Remember a short note. " * 50),
    "its_input_schemas_are_objects": changed(input_schema={"properties": {"text": {"type": "string"}}}),
    "no_tool_is_both_read_only_and_destructive": changed(read_only=True, destructive=True),
    "every_tool_has_an_example_call": OneMore,
    "every_example_call_answers_with_a_json_object": NotANumber,
    "an_unknown_tool_is_refused": Obliging,
    "a_read_only_tool_appends_nothing": KeepsARecord,
    "an_idempotent_tool_appends_nothing_when_called_again": changed(idempotent=True),
}
