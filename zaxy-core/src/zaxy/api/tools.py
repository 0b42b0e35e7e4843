"""Tools as functions: each with its description beside it. The core's own tools are made with this.

@tool("acme_count", "Count the latest facts.", takes=schema("", session_id=TEXT, limit=LIMIT), read_only=True)
def count(call: Call) -> Mapping[str, Any]:
    return {"facts": len(call.memory.latest(call.session, **call.own, types=("fact.*",)))}


class Pack(FunctionPack):
    functions = (count,)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from zaxy.api.models import JsonObject, Tool
from zaxy.errors import InvalidRequest, UnknownTool

if TYPE_CHECKING:
    from zaxy.api.access import MemoryAccess
    from zaxy.api.provider import ProviderContext

Progress = Callable[[int, int], None]
"""Called with how much is done, and of how much."""
MAX_NUMBER = 2**53 - 1
"""What JSON carries exactly everywhere."""
CORE, COORDINATE, FULL, COMPACT = "core", "coordinate", "full", "compact"
ADMIN_TOKEN = "admin_token"
OF_EVERY_TOOL = ("session_id", "thread", ADMIN_TOKEN)
PROFILES = (CORE, COORDINATE, FULL, COMPACT)


class Call(NamedTuple):
    """One call of a tool, whose arguments satisfy its input schema."""

    memory: MemoryAccess
    arguments: Mapping[str, Any]
    progress: Progress
    default_session: str = ""
    """What is meant where the arguments name none; empty for the workspace's own."""
    from_command: bool = False
    """It is shown to a person, or to a program that reads whole citations."""
    profile: str = ""
    """The profile whose tools the caller was listed; empty for the workspace's own."""

    @property
    def session(self) -> str:
        return session_named(self.arguments) or self.default_session

    @property
    def own(self) -> dict[str, Any]:
        """The arguments that were given, without those that say whose memory is meant and who asks."""
        return {name: value for name, value in self.arguments.items() if name not in OF_EVERY_TOOL}

    def given(self, *names: str, **renamed: str) -> dict[str, Any]:
        """Those of the arguments that were given; `renamed` maps what a function calls one to the argument's name."""
        wanted = {**{name: name for name in names}, **renamed}
        return {name: self.arguments[key] for name, key in wanted.items() if key in self.arguments}


class ToolFunction(NamedTuple):
    """A tool together with the function that answers it."""

    tool: Tool
    answer: Callable[[Call], Mapping[str, Any]]


def tool(
    name: str,
    description: str,
    *,
    takes: JsonObject,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    profiles: tuple[str, ...] = (FULL,),
    admin: bool = False,
) -> Callable[[Callable[[Call], Mapping[str, Any]]], ToolFunction]:
    """Make a tool of the function that answers it; `takes` is its input schema."""
    described = Tool(name, description, takes, read_only, destructive, idempotent, profiles, admin)
    return lambda answer: ToolFunction(described, answer)


class FunctionPack:
    """A tool pack that is made of functions."""

    functions: ClassVar[tuple[ToolFunction, ...]]

    def __init__(self, context: ProviderContext) -> None:
        self.context = context

    def tools(self) -> tuple[Tool, ...]:
        return tuple(one.tool for one in self.functions)

    def call(
        self, tool: str, arguments: JsonObject, memory: MemoryAccess, progress: Callable[[float, str], None]
    ) -> Mapping[str, Any]:
        for one in self.functions:
            if one.tool.name == tool:
                return one.answer(Call(memory, arguments, lambda done, total: progress(done / max(total, 1), "")))
        names = ", ".join(one.tool.name for one in self.functions)
        raise UnknownTool(f"there is no tool {tool!r:.80} here", f"Call one of {names}.")


def session_named(arguments: Mapping[str, Any]) -> str:
    """The session that a call is about; empty where none is named. `thread` and `session_id` are two names of it."""
    session, thread = (str(arguments.get(key) or "") for key in ("session_id", "thread"))
    if session and thread and session != thread:
        raise InvalidRequest(
            "session_id and thread name different sessions",
            "Give one of them: a thread is a session.",
        )
    return session or thread


# Input schemas are part of every conversation, so they are written with as few words as they can be.


def text(description: str = "", max_chars: int | None = None) -> JsonObject:
    """Where no bound is given, memory itself has one."""
    bound = {} if max_chars is None else {"maxLength": max_chars}
    return _described({"type": "string", **bound}, description)


def whole(minimum: int, maximum: int) -> JsonObject:
    return {"type": "integer", "minimum": minimum, "maximum": maximum}


def one_of(*choices: str) -> JsonObject:
    return {"enum": list(choices)}


def schema(required: str, **properties: JsonObject) -> JsonObject:
    """An input schema; `required` names the arguments that must be given."""
    needed = {"required": required.split()} if required else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False}


def _described(kind: dict[str, Any], description: str) -> JsonObject:
    return {**kind, "description": description} if description else kind


def texts(names: str) -> dict[str, JsonObject]:
    """Several arguments that are texts, in this order."""
    return dict.fromkeys(names.split(), TEXT)


TEXT = text()
NAME = text(max_chars=256)
QUERY = text(max_chars=4096)
LIMIT = whole(1, 100)
COUNT = whole(1, MAX_NUMBER)
"""A seq, or a number of tokens."""
PURPOSE: JsonObject = {"anyOf": [{"type": "string"}, {"type": "object"}]}
"""Not a list of types, which some clients cannot pass on to their models."""
