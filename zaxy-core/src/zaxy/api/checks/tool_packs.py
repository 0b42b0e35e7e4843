"""Checks of `tool_packs`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zaxy.api.checks import Case, CheckFailed, Workbench, check, expect, expect_no_error, expect_refusal
from zaxy.api.checks.shape import check_shape
from zaxy.api.models import Candidate, Cursor, Draft, Event, JsonObject, Page, Query, Tool

POINT = "tool_packs"
NAME = re.compile(r"[a-z_]{1,48}")
MAX_DESCRIPTION_CHARS = 1024


@dataclass(frozen=True)
class ToolPackCase(Case):
    calls: Mapping[str, JsonObject]
    """An example of arguments for each tool. They are tried in the order of the listing, on one memory."""


class MemoryStandIn:
    """Stands in for `MemoryAccess`: sessions in a dictionary, nothing durable, a search for shared words."""

    def __init__(self) -> None:
        self.sessions: dict[str, list[Event]] = {}

    def append(self, session: str, draft: Draft) -> Event:
        log = self.sessions.setdefault(session, [])
        for event in log:
            if draft.idempotency_key and event.idempotency_key == draft.idempotency_key:
                return event
        content = json.dumps([len(log), draft.type, draft.actor, dict(draft.payload)], allow_nan=False)
        digest = hashlib.sha256(content.encode()).hexdigest()
        event = Event(
            session=session,
            seq=len(log) + 1,
            id=f"evt_{len(log) + 1}_{digest[:8]}",
            type=draft.type,
            actor=draft.actor,
            time="2026-06-15T00:00:00.000000Z",
            payload=draft.payload,
            hash=digest,
            prev=log[-1].hash if log else None,
            sensitivity=draft.sensitivity,
            caused_by=draft.caused_by,
            idempotency_key=draft.idempotency_key,
        )
        log.append(event)
        return event

    def read(self, session: str, after: Cursor | None, limit: int) -> Page:
        log = self.sessions.get(session, [])
        start = after.offset if after else 0
        events = tuple(log[start : start + limit])
        if not events:
            return Page((), after)
        return Page(events, Cursor(events[-1].seq, events[-1].hash, start + len(events)))

    def query(self, query: Query) -> Sequence[Candidate]:
        words = set(query.text.lower().split())
        texts = ((e, json.dumps(dict(e.payload or {}))) for e in self.sessions.get(query.session, []))
        found = [Candidate(e.seq, len(words & set(re.findall(r"\w+", text.lower()))), text) for e, text in texts]
        return sorted((c for c in found if c.score), key=lambda c: (-c.score, -c.seq))[: query.limit]

    def __len__(self) -> int:
        return sum(map(len, self.sessions.values()))


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
    memory = MemoryStandIn()
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
    pack, memory = bench.make(case), MemoryStandIn()
    for tool in listed(pack):
        if tool.name in case.calls:
            answer = called(pack, tool.name, case, memory)
            if not isinstance(answer, Mapping):
                raise CheckFailed(f"{tool.name} must answer with an object, not {answer!r}")
            _expect_json(answer, f"the answer of {tool.name}")


@check(POINT)
def an_unknown_tool_is_refused(case: ToolPackCase, bench: Workbench) -> None:
    """Raise UnknownTool(...) for a name that is not in your list, and append nothing."""
    pack, memory = bench.make(case), MemoryStandIn()
    name = "no_tool_has_this_name"
    error = expect_refusal(lambda: pack.call(name, {}, memory, _ignore_progress), f"calling {name!r}")
    expect(error.code == "unknown_tool", f"an unknown tool must be refused as unknown_tool, not as {error.code}")
    expect(len(memory) == 0, f"calling an unknown tool appended {len(memory)} events")


@check(POINT)
def a_read_only_tool_appends_nothing(case: ToolPackCase, bench: Workbench) -> None:
    """Take read_only from a tool that appends: clients run read-only tools without asking anybody."""
    pack, memory = bench.make(case), MemoryStandIn()
    for tool in sorted(listed(pack), key=lambda tool: bool(tool.read_only)):
        if tool.name in case.calls:
            before = len(memory)
            called(pack, tool.name, case, memory)
            grown = len(memory) - before
            expect(not tool.read_only or grown == 0, f"{tool.name} is read-only and appended {grown} events")


@check(POINT)
def an_idempotent_tool_appends_nothing_when_called_again(case: ToolPackCase, bench: Workbench) -> None:
    """Give what an idempotent tool appends an idempotency_key made from its arguments, or take idempotent from it."""
    pack, memory = bench.make(case), MemoryStandIn()
    for tool in listed(pack):
        if tool.name in case.calls:
            called(pack, tool.name, case, memory)
            before = len(memory)
            if tool.idempotent:
                called(pack, tool.name, case, memory)
            grown = len(memory) - before
            expect(grown == 0, f"{tool.name} is idempotent and appended {grown} events when it was called again")


def listed(pack: Any) -> tuple[Tool, ...]:
    """The pack's tools. An error, or anything but tools, fails the check."""
    with expect_no_error("listing the tools"):
        tools = tuple(pack.tools())
    for tool in tools:
        if not isinstance(tool, Tool):
            raise CheckFailed(f"tools() must hold zaxy.api.Tool, not {tool!r}")
    return tools


def called(pack: Any, tool: str, case: ToolPackCase, memory: MemoryStandIn) -> object:
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
