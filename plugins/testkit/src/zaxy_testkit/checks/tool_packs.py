"""Checks of `tool_packs`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from zaxy.api import JsonObject, MemoryAccess, Prompt, PromptArgument, PromptMessage, Resource, ResourceContent, Tool
from zaxy_testkit.checks import Case, CheckFailed, Workbench, check, expect, expect_no_error, expect_refusal
from zaxy_testkit.checks.shape import check_shape, expect_ability
from zaxy_testkit.checks.trial_memory import events_in, trial_memory

T = TypeVar("T", Resource, Prompt)
POINT = "tool_packs"
NAME = re.compile(r"[a-z_]{1,48}")
MAX_DESCRIPTION_CHARS = 1024
PATH = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@%/?{}-]{1,256}")
MIME_TYPE = re.compile(r"[a-z0-9.+-]{1,64}/[a-z0-9.+-]{1,64}(?:;[ -~]{1,64})?")
MAX_CONTENT_BYTES = 1 << 20
NOWHERE = "no/resource/has/this-path"


@dataclass(frozen=True)
class ToolPackCase(Case):
    calls: Mapping[str, JsonObject]
    """An example of arguments for each tool. They are tried in the order of the listing, on one memory."""
    paths: Sequence[str] = field(default=(), kw_only=True)
    """Paths of resources that can be read once the example calls were made. Templates need one here."""
    prompts: Mapping[str, Mapping[str, str]] = field(default_factory=dict, kw_only=True)
    """An example of arguments for each prompt."""


check_shape(POINT)


@check(POINT)
def it_lists_tools(case: ToolPackCase, bench: Workbench) -> None:
    """`tools` must return a finished list or tuple of zaxy.api.Tool, at least one, without doing any work."""
    pack = bench.make(case)
    expect(bool(listed(pack)), "tools() must list at least one tool, and lists none")
    tools = pack.tools()
    expect(isinstance(tools, list | tuple), f"tools() must return a list or a tuple, not {type(tools).__name__}")


@check(POINT)
def its_list_is_the_same_every_time(case: ToolPackCase, bench: Workbench) -> None:
    """List the same tools in the same order always, by every instance and after calls too: clients keep the listing."""
    pack = bench.make(case)
    first = listed(pack)
    with trial_memory(bench.scratch, pack) as memory:
        for tool in first:
            if tool.name in case.calls:
                called(pack, tool.name, case, memory)
    for later in (listed(pack), listed(bench.make(case, "elsewhere"))):
        expect(later == first, f"the list was {_names(first)} at first and {_names(later)} later, or a tool changed")


@check(POINT)
def its_tool_names_have_only_small_letters_and_underscores(case: ToolPackCase, bench: Workbench) -> None:
    """Name tools with a-z and _ only, at most 48 characters: a dot or a dash hides every tool from some clients."""
    for tool in listed(bench.make(case)):
        plain = isinstance(tool.name, str) and NAME.fullmatch(tool.name)
        expect(bool(plain), f"{tool.name!r} is not a tool name: 1 to 48 of the characters a-z and _")


@check(POINT)
def no_two_tools_share_a_name(case: ToolPackCase, bench: Workbench) -> None:
    """Give each tool a name of its own; begin them all with the name of your pack to stay clear of other packs."""
    names = _names(listed(bench.make(case)))
    twice = sorted({name for name in names if names.count(name) > 1})
    expect(not twice, f"more than one tool is named {', '.join(twice)}")


@check(POINT)
def its_descriptions_are_short_texts(case: ToolPackCase, bench: Workbench) -> None:
    """Say in at most 1,024 characters what the tool does and when to use it: it costs tokens in every conversation."""
    for tool in listed(bench.make(case)):
        text = tool.description
        expect(isinstance(text, str) and bool(text.strip()), f"the description of {tool.name} is {text!r}")
        expect(
            len(text) <= MAX_DESCRIPTION_CHARS,
            f"the description of {tool.name} has {len(text)} characters; at most {MAX_DESCRIPTION_CHARS} are allowed",
        )


@check(POINT)
def its_input_schemas_are_objects(case: ToolPackCase, bench: Workbench) -> None:
    """Write a JSON Schema with "type": "object", its arguments under "properties", the needed ones in "required"."""
    for tool in listed(bench.make(case)):
        schema, of = tool.input_schema, f"the input schema of {tool.name}"
        if not isinstance(schema, Mapping):
            raise CheckFailed(f"{of} must be a JSON object, not {schema!r}")
        _expect_json(schema, of)
        expect(schema.get("type") == "object", f'{of} must have "type": "object", not {schema.get("type")!r}')
        arguments, required = schema.get("properties", {}), schema.get("required", [])
        if not isinstance(arguments, Mapping) or not all(isinstance(a, Mapping) for a in arguments.values()):
            raise CheckFailed(f"the properties in {of} must be an object of schemas, not {arguments!r}")
        known = isinstance(required, list | tuple) and all(name in arguments for name in required)
        expect(known, f"{of} requires {required!r}, and describes {sorted(arguments)}")


@check(POINT)
def no_tool_is_both_read_only_and_destructive(case: ToolPackCase, bench: Workbench) -> None:
    """Mark a tool read_only or destructive or neither: clients decide by it whether to ask their user first."""
    both = [tool.name for tool in listed(bench.make(case)) if tool.read_only and tool.destructive]
    expect(not both, f"{', '.join(both)} cannot be read-only and destructive at once")


@check(POINT)
def every_tool_has_an_example_call(case: ToolPackCase, bench: Workbench) -> None:
    """Give the case arguments for each tool of the pack, and for no others; the other checks call them."""
    names = set(_names(listed(bench.make(case))))
    expect(names <= case.calls.keys(), f"the case has no example for {', '.join(sorted(names - case.calls.keys()))}")
    expect(case.calls.keys() <= names, f"the pack does not list {', '.join(sorted(case.calls.keys() - names))}")


@check(POINT)
def every_example_call_answers_with_a_json_object(case: ToolPackCase, bench: Workbench) -> None:
    """Return a dictionary of plain JSON values, without NaN, dates, bytes or objects of your own."""
    pack = bench.make(case)
    with trial_memory(bench.scratch, pack) as memory:
        for tool in listed(pack):
            if tool.name in case.calls:
                answer = called(pack, tool.name, case, memory)
                if not isinstance(answer, Mapping):
                    raise CheckFailed(f"{tool.name} must answer with an object, not {answer!r}")
                _expect_json(answer, f"the answer of {tool.name}")


@check(POINT)
def an_unknown_tool_is_refused(case: ToolPackCase, bench: Workbench) -> None:
    """Raise UnknownTool(...) for a name that is not in your list, and append nothing."""
    pack = bench.make(case)
    name = "no_tool_has_this_name"
    with trial_memory(bench.scratch, pack) as memory:
        before = events_in(memory)
        error = expect_refusal(lambda: pack.call(name, {}, memory, _ignore_progress), f"calling {name!r}")
        expect(error.code == "unknown_tool", f"an unknown tool must be refused as unknown_tool, not as {error.code}")
        appended = events_in(memory) - before
        expect(not appended, f"calling an unknown tool appended {appended} events")


@check(POINT)
def a_read_only_tool_appends_nothing(case: ToolPackCase, bench: Workbench) -> None:
    """Take read_only from a tool that appends: clients run read-only tools without asking anybody."""
    pack = bench.make(case)
    with trial_memory(bench.scratch, pack) as memory:
        for tool in sorted(listed(pack), key=lambda tool: bool(tool.read_only)):
            if tool.name in case.calls:
                before = events_in(memory)
                called(pack, tool.name, case, memory)
                grown = events_in(memory) - before
                expect(not tool.read_only or grown == 0, f"{tool.name} is read-only and appended {grown} events")


@check(POINT)
def an_idempotent_tool_appends_nothing_when_called_again(case: ToolPackCase, bench: Workbench) -> None:
    """Give what an idempotent tool appends an idempotency_key made from its arguments, or take idempotent from it."""
    pack = bench.make(case)
    with trial_memory(bench.scratch, pack) as memory:
        for tool in listed(pack):
            if tool.idempotent and tool.name in case.calls:
                called(pack, tool.name, case, memory)
                before = events_in(memory)
                called(pack, tool.name, case, memory)
                grown = events_in(memory) - before
                expect(grown == 0, f"{tool.name} is idempotent and appended {grown} events when it was called again")


# Resources


@check(POINT, needs="resources")
def it_has_the_methods_of_a_pack_with_resources(case: ToolPackCase, bench: Workbench) -> None:
    """Compare your class with zaxy.api.ResourcePack, or drop the capability `resources`."""
    expect_ability("resources", bench.make(case))


@check(POINT, needs="resources")
def its_resources_are_well_formed(case: ToolPackCase, bench: Workbench) -> None:
    """List zaxy.api.Resource, each path once, without a scheme, in characters of a URI, with a name and a MIME type."""
    resources = resources_of(bench.make(case))
    expect(bool(resources), "resources() must list at least one resource, and lists none")
    paths = [resource.path for resource in resources]
    expect(len(set(paths)) == len(paths), f"a path is listed more than once: {paths}")
    for resource in resources:
        plain = bool(PATH.fullmatch(resource.path)) and "://" not in resource.path
        expect(plain, f"{resource.path!r} is not a path: it comes behind the plugin's name and ://")
        expect(resource.path.count("{") == resource.path.count("}"), f"the braces of {resource.path} do not match")
        expect(0 < len(resource.name) <= 128, f"the name of {resource.path} must have 1 to 128 characters")
        expect(len(resource.description) <= MAX_DESCRIPTION_CHARS, f"the description of {resource.path} is too long")
        expect(bool(MIME_TYPE.fullmatch(resource.mime_type)), f"{resource.mime_type!r} is not a MIME type")


@check(POINT, needs="resources")
def every_resource_can_be_read(case: ToolPackCase, bench: Workbench) -> None:
    """Return ResourceContent for each listed path and each path of the case, at most 1 MiB of it; append nothing."""
    pack = bench.make(case)
    listed_paths = [resource.path for resource in resources_of(pack) if not resource.is_template]
    templates = len(resources_of(pack)) - len(listed_paths)
    expect(not templates or bool(case.paths), "the case has no path for the templates that the pack lists")
    with trial_memory(bench.scratch, pack) as memory:
        _make_example_calls(pack, case, memory)
        before = events_in(memory)
        for path in dict.fromkeys((*listed_paths, *case.paths)):
            contents = read(pack, path, memory)
            size = sum(len(part.text.encode()) + len(part.blob) for part in contents)
            expect(bool(contents) and size <= MAX_CONTENT_BYTES, f"{path} gave {len(contents)} parts, {size} bytes")
        grown = events_in(memory) - before
        expect(grown == 0, f"reading appended {grown} events")


@check(POINT, needs="resources")
def an_unknown_resource_is_refused(case: ToolPackCase, bench: Workbench) -> None:
    """Raise NotFound(...) for a path where nothing is."""
    pack = bench.make(case)
    with trial_memory(bench.scratch, pack) as memory:
        error = expect_refusal(lambda: pack.read(NOWHERE, memory), f"reading {NOWHERE!r}")
    expect(error.code == "not_found", f"an unknown resource must be refused as not_found, not as {error.code}")


# Prompts


@check(POINT, needs="prompts")
def it_has_the_methods_of_a_pack_with_prompts(case: ToolPackCase, bench: Workbench) -> None:
    """Compare your class with zaxy.api.PromptPack, or drop the capability `prompts`."""
    expect_ability("prompts", bench.make(case))


@check(POINT, needs="prompts")
def its_prompts_are_well_formed(case: ToolPackCase, bench: Workbench) -> None:
    """List zaxy.api.Prompt, each name once and like those of tools, with a description and named arguments."""
    prompts = prompts_of(bench.make(case))
    expect(bool(prompts), "prompts() must list at least one prompt, and lists none")
    names = [prompt.name for prompt in prompts]
    expect(len(set(names)) == len(names), f"a prompt is listed more than once: {names}")
    for prompt in prompts:
        expect(bool(NAME.fullmatch(prompt.name)), f"{prompt.name!r} is not a name: 1 to 48 of the characters a-z and _")
        described = 0 < len(prompt.description) <= MAX_DESCRIPTION_CHARS
        expect(described, f"the description of {prompt.name} must have 1 to {MAX_DESCRIPTION_CHARS} characters")
        for one in prompt.arguments:
            named = isinstance(one, PromptArgument) and bool(NAME.fullmatch(one.name))
            expect(named, f"{one!r} is not an argument of {prompt.name} with a name of a-z and _")


@check(POINT, needs="prompts")
def every_prompt_makes_messages(case: ToolPackCase, bench: Workbench) -> None:
    """Give the case arguments for each prompt, and return PromptMessage of user or assistant; append nothing."""
    pack = bench.make(case)
    with trial_memory(bench.scratch, pack) as memory:
        _make_example_calls(pack, case, memory)
        before = events_in(memory)
        for prompt in prompts_of(pack):
            expect(prompt.name in case.prompts, f"the case has no example for the prompt {prompt.name}")
            with expect_no_error(f"making the prompt {prompt.name}"):
                messages = pack.prompt(prompt.name, case.prompts[prompt.name], memory)
            right = isinstance(messages, list | tuple) and bool(messages) and all(map(_is_message, messages))
            expect(right, f"{prompt.name} must make a list of zaxy.api.PromptMessage, and made {messages!r:.200}")
        grown = events_in(memory) - before
        expect(grown == 0, f"making prompts appended {grown} events")


def _is_message(one: object) -> bool:
    return isinstance(one, PromptMessage) and one.role in ("user", "assistant") and bool(one.text)


def resources_of(pack: Any) -> tuple[Resource, ...]:
    return _all_of(pack.resources, Resource)


def prompts_of(pack: Any) -> tuple[Prompt, ...]:
    return _all_of(pack.prompts, Prompt)


def _all_of(listing: Callable[[], Any], kind: type[T]) -> tuple[T, ...]:
    with expect_no_error(f"{listing.__name__}()"):
        found = tuple(listing())
    for one in found:
        if not isinstance(one, kind):
            raise CheckFailed(f"{listing.__name__}() must hold zaxy.api.{kind.__name__}, not {one!r}")
    return found


def read(pack: Any, path: str, memory: MemoryAccess) -> Sequence[ResourceContent]:
    with expect_no_error(f"reading {path}"):
        contents = pack.read(path, memory)
    if not isinstance(contents, list | tuple) or not all(isinstance(part, ResourceContent) for part in contents):
        raise CheckFailed(f"reading {path} must give a list of zaxy.api.ResourceContent, not {contents!r:.200}")
    return contents


def _make_example_calls(pack: Any, case: ToolPackCase, memory: MemoryAccess) -> None:
    for tool in listed(pack):
        if tool.name in case.calls:
            called(pack, tool.name, case, memory)


def listed(pack: Any) -> tuple[Tool, ...]:
    """The pack's tools. An error, or anything but tools, fails the check."""
    with expect_no_error("listing the tools"):
        tools = tuple(pack.tools())
    for tool in tools:
        if not isinstance(tool, Tool):
            raise CheckFailed(f"tools() must hold zaxy.api.Tool, not {tool!r}")
    return tools


def called(pack: Any, tool: str, case: ToolPackCase, memory: MemoryAccess) -> object:
    with expect_no_error(f"calling {tool} with {dict(case.calls[tool])}"):
        answer: object = pack.call(tool, case.calls[tool], memory, _ignore_progress)
    return answer


def _names(tools: Sequence[Tool]) -> list[str]:
    return [tool.name for tool in tools]


def _ignore_progress(fraction: float, message: str) -> None:
    """No check looks at the progress."""


def _expect_json(value: Mapping[str, object], what: str) -> None:
    try:
        json.dumps(dict(value), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise CheckFailed(f"{what} must be plain JSON: {error}") from error
    odd = [key for key in value if not isinstance(key, str)]
    expect(not odd, f"{what} must have texts as keys, not {odd}")
