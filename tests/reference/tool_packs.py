from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from zaxy.api import MemoryAccess, Prompt, PromptMessage, ProviderContext, Resource, ResourceContent, Tool
from zaxy_testkit.checks.tool_packs import ToolPackCase
from zaxy_testkit.templates.tool_packs import ACTOR, Pack

RIGHT = Pack
Progress = Callable[[float, str], None]


def case(make: Callable[..., Any], scratch: Path) -> ToolPackCase:
    return ToolPackCase(
        make,
        calls={
            "acme_note": {"session_id": "agent-1", "text": "The cake is in the fridge."},
            "acme_recent": {"session_id": "agent-1", "limit": 5},
        },
        capabilities=frozenset({"resources", "prompts"}),
        paths=("recent", "sessions/agent-1"),
        prompts={"acme_review": {}},
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
        memory.append("note.taken", {"text": tool}, actor=ACTOR, session=str(arguments["session_id"]))
        return answer


class ReadsNothing(Pack):
    read = None  # type: ignore[assignment]


class WithAScheme(Pack):
    def resources(self) -> Sequence[Resource]:
        return [replace(one, path=f"acme://{one.path}") for one in super().resources()]


class Writing(Pack):
    def read(self, path: str, memory: MemoryAccess) -> Sequence[ResourceContent]:
        memory.append("note.read", {"path": path}, actor=ACTOR)
        return super().read(path, memory)


class Forgiving(Pack):
    def read(self, path: str, memory: MemoryAccess) -> Sequence[ResourceContent]:
        return super().read("recent", memory)


class PromptsNothing(Pack):
    def prompt(self, name: str) -> Sequence[PromptMessage]:  # type: ignore[override]
        return ()


class WithASpace(Pack):
    def prompts(self) -> Sequence[Prompt]:
        return [replace(one, name="acme review") for one in super().prompts()]


class OfTheSystem(Pack):
    def prompt(self, name: str, arguments: Mapping[str, str], memory: MemoryAccess) -> Sequence[PromptMessage]:
        return [replace(one, role="system") for one in super().prompt(name, arguments, memory)]


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
    "it_has_the_methods_of_a_pack_with_resources": ReadsNothing,
    "its_resources_are_well_formed": WithAScheme,
    "every_resource_can_be_read": Writing,
    "an_unknown_resource_is_refused": Forgiving,
    "it_has_the_methods_of_a_pack_with_prompts": PromptsNothing,
    "its_prompts_are_well_formed": WithASpace,
    "every_prompt_makes_messages": OfTheSystem,
}
