"""Memory for commands in a workspace whose graph another process owns: what needs the graph is asked of that one."""

from __future__ import annotations

import json
import select
import socket
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from inspect import signature
from time import monotonic
from typing import Any

from zaxy import __version__
from zaxy.api.models import Cursor, Event
from zaxy.assemble.replies import Erasure
from zaxy.errors import InternalError, Unavailable, ZaxyError, error_of
from zaxy.follow.loop import FOREVER, Progress, State
from zaxy.memory import Memory
from zaxy.owner.handshake import MEMORY, PING, Caller
from zaxy.owner.lines import Connection, Lost
from zaxy.owner.owner import connect, needs_owner, silent
from zaxy.retrieve.results import Answer, Result, ScoreStep
from zaxy.workspace import Workspace

SECONDS_TO_ANSWER_A_PING = 5.0
QUESTIONS = (
    *("query", "checkout", "context", "invalidate", "forget"),
    *("follow", "followers_status", "rebuild_followers", "follower_digests"),
)
"""Methods of `Memory` that need the graph. The others need the log and the text index, which all processes share."""
PATIENT = ("query", "checkout", "context", "invalidate")
TOLD = {kind.__name__: kind for kind in (Answer, Result, ScoreStep, Event, Cursor, State, Erasure)}


def memory_of(workspace: Workspace, progress: Progress | None = None) -> Memory:
    """The memory of a workspace, through its owner if its graph has one at the moment."""
    if needs_owner(workspace) and owner_answers(workspace):
        return MemoryOfOwner(workspace, progress=progress)
    return Memory(workspace, progress=progress)


def _question(name: str) -> Any:
    def ask(self: MemoryOfOwner, *arguments: object, **named: object) -> Any:
        return self.ask_owner(name, arguments, named)

    return ask


class Told:
    """A checkout as the owner told it."""

    def __init__(self, reply: dict[str, Any]) -> None:
        self._reply = reply

    def as_dict(self) -> dict[str, Any]:
        return self._reply


class MemoryOfOwner(Memory):
    """It answers as `Memory` does."""

    def ask_owner(self, name: str, arguments: Sequence[object], named: Mapping[str, object]) -> Any:
        """What a method of the owner's memory gives, or the error that it raised."""
        question = {"method": name, "arguments": arguments, "named": named, "version": __version__}
        opened = connect(self.workspace)
        if opened is None:
            raise _gone()
        line = json.dumps(question).encode() + b"\n"
        reply = json.loads(_asked(opened, self.workspace, Caller(MEMORY), line, FOREVER))
        if "error" in reply:
            raise error_of(**reply["error"])
        return _from_plain(reply["told"])


for _name in QUESTIONS:
    setattr(MemoryOfOwner, _name, _question(_name))


def answer_command(memory: Memory, question: bytes) -> bytes:
    """The owner's side: one question of a command, answered."""
    try:
        asked = json.loads(question)
        if asked["version"] != __version__ or asked["method"] not in QUESTIONS:
            raise _of_another_version(asked["version"])
        method = getattr(memory, asked["method"])
        given = signature(method).bind(*asked["arguments"], **asked["named"])
        if asked["method"] in PATIENT:  # a server's own reads wait for a moment only, those of commands do not
            memory.recall.loop.catch_up(given.arguments.get("session") or memory.session)
        reply: dict[str, Any] = {"told": _plain(method(*given.args, **given.kwargs))}
    except ZaxyError as error:
        reply = error.as_dict()
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        told = f"the owner of the graph failed: {type(error).__name__}"
        reply = InternalError(told, "This is a defect: the owner's standard error tells more.").as_dict()
    return json.dumps(reply).encode() + b"\n"


def _plain(value: object) -> object:
    """A value as JSON can carry it, with the names of our own kinds."""
    if isinstance(value, State):
        return {"kind": "State", "fields": [_plain(field) for field in value]}
    if isinstance(value, tuple(TOLD.values())):
        return {"kind": type(value).__name__, "fields": [_plain(getattr(value, one.name)) for one in _fields(value)]}
    if hasattr(value, "as_dict"):
        return {"kind": "Told", "fields": value.as_dict()}
    if isinstance(value, tuple):
        return {"kind": "tuple", "fields": [_plain(item) for item in value]}
    if isinstance(value, Mapping):
        return {"kind": "dict", "fields": dict(value)}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _from_plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind, told = value["kind"], value["fields"]
    if kind == "Told":
        return Told(told)
    if kind == "dict":
        return told
    items = [_from_plain(item) for item in told]
    return tuple(items) if kind == "tuple" else TOLD[kind](*items)


def _fields(value: Any) -> Any:
    assert is_dataclass(value)
    return fields(value)


def owner_answers(workspace: Workspace) -> bool:
    """Whether there is an owner; one that does not answer is told of, since nobody else can open the graph."""
    opened = connect(workspace)
    if opened is None:
        return False
    _asked(opened, workspace, Caller(PING), b"?\n", SECONDS_TO_ANSWER_A_PING)
    return True


def _asked(opened: socket.socket, workspace: Workspace, caller: Caller, question: bytes, within: float) -> bytes:
    """The owner's one line in answer to one of ours."""
    connection = Connection(opened, caller.line + question)
    deadline = monotonic() + within
    poll = select.poll()
    try:
        while True:
            poll.register(connection.fileno(), select.POLLIN | (select.POLLOUT if connection.unsent else 0))
            if not poll.poll(max(deadline - monotonic(), 0) * 1000):
                raise silent(workspace)
            for line in connection.exchange():
                return line
    except Lost:
        raise _gone() from None
    finally:
        connection.close()


def _gone() -> ZaxyError:
    return Unavailable(
        "the process that owned this workspace's graph ended while it was asked",
        "Run the command again.",
    )


def _of_another_version(version: object) -> ZaxyError:
    return Unavailable(
        f"the graph is held by a server of zaxy {__version__}, and the command is of {version!s:.20}",
        "Restart the client, so that its server is of the same version.",
    )
