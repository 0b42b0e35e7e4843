"""Memory for commands in a workspace whose graph another process owns: the owner is asked, by the tools that it serves.

Only what needs the graph is. The log and the text index are shared by all processes, so the rest is done here.
"""

from __future__ import annotations

import json
import select
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from typing import Any

from zaxy import __version__
from zaxy.api.models import Edge, EdgeRow, Entity, EntityRef, EntityRow
from zaxy.errors import InternalError, Unavailable, ZaxyError, error_of
from zaxy.follow.loop import FOREVER, FollowerFindings, FollowerState, Progress
from zaxy.memory import Memory
from zaxy.owner.handshake import PING, Caller
from zaxy.owner.lines import Connection, Lost
from zaxy.owner.owner import (
    SECONDS_TO_START,
    connect,
    is_held,
    is_starting,
    needs_owner,
    owner_record,
    silent,
    unreachable,
)
from zaxy.retrieve.results import Answer
from zaxy.workspace import Workspace

SECONDS_TO_ANSWER_A_PING = 5.0
FOLLOWERS, ERASE, GRAPH = "memory_followers", "memory_erase", "memory_graph"
"""Tools that the owner has for commands alone."""
REQUEST = 1
DEFECT = "This is a defect: the owner's standard error may say more."
PROTOCOL = "io.modelcontextprotocol"
META = {
    f"{PROTOCOL}/protocolVersion": "2026-07-28",
    f"{PROTOCOL}/clientInfo": {"name": "zaxy", "version": __version__},
    f"{PROTOCOL}/clientCapabilities": {},
    "progressToken": REQUEST,
}


def memory_of(workspace: Workspace, progress: Progress | None = None) -> Memory:
    """The memory of a workspace, through its owner if its graph has one at the moment.

    Where that cannot be asked, it is the memory without the graph: the log needs none, and reads warn.
    """
    withheld = None
    if needs_owner(workspace):
        try:
            if owner_answers(workspace):
                return MemoryOfOwner(workspace, progress=progress)
            withheld = unreachable(workspace) if is_held(workspace) else None
        except Unavailable as error:
            withheld = error
    return Memory(workspace, progress=progress, withheld=withheld)


class MemoryOfOwner(Memory):
    """It answers as `Memory` does, and takes the same arguments."""

    def query(self, *arguments: Any, **named: Any) -> Any:
        return Answer.of(self._read("query", "memory_query", arguments, named))

    def verbatim(self, *arguments: Any, **named: Any) -> Any:
        return Answer.of(self._read("verbatim", "memory_verbatim", arguments, named))

    def checkout(self, *arguments: Any, **named: Any) -> Any:
        from zaxy.assemble.checkout import Checkout

        return Checkout.of(self._read("checkout", "memory_checkout", arguments, named))

    def context(self, *arguments: Any, **named: Any) -> Any:
        from zaxy.assemble.replies import Context

        return Context.of(self._read("context", "context_assemble", arguments, named))

    def current(self, *arguments: Any, **named: Any) -> Any:
        return [_entity_row(row) for row in self._graph("current", arguments, named)]

    def entities(self, *arguments: Any, **named: Any) -> Any:
        return [_entity_row(row) for row in self._graph("entities", arguments, named)]

    def neighbours(self, *arguments: Any, **named: Any) -> Any:
        return [_edge_row(row) for row in self._graph("neighbours", arguments, named)]

    def _graph(self, method: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> list[dict[str, Any]]:
        given = self._bound(method, arguments, named)
        session = given.pop("session_id")
        rows: list[dict[str, Any]] = self._call(GRAPH, {"read": method, "session_id": session, "given": given})["rows"]
        return rows

    def invalidate(self, *arguments: Any, **named: Any) -> Any:
        return self.resolve(self._read("invalidate", "memory_invalidate", arguments, named)["citation"])

    def feedback(self, *arguments: Any, **named: Any) -> Any:
        return self.resolve(self._read("feedback", "memory_feedback", arguments, named)["citation"])

    def synthesis_artifact(self, *arguments: Any, **named: Any) -> Any:
        from zaxy.assemble.replies import SynthesisRecord

        given = self._of_checkout("synthesis_artifact", arguments, named)
        return SynthesisRecord.of(self._call("memory_synthesis_artifact", given))

    def synthesis_evidence(self, *arguments: Any, **named: Any) -> Any:
        given = self._of_checkout("synthesis_evidence", arguments, named)
        return self.resolve(self._call("memory_synthesis_evidence", given)["citation"])

    def _of_checkout(self, method: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a method whose session is that of its checkout."""
        given = self._bound(method, arguments, named)
        del given["session_id"]
        return given

    def forget(self, *arguments: Any, **named: Any) -> Any:
        from zaxy.assemble.erasing import copies_of
        from zaxy.assemble.replies import Erasure

        reply = self._call(ERASE, self._bound("forget", arguments, named))
        return Erasure(
            reply["erased"],
            self.resolve(reply["citation"]),
            tuple(reply["warnings"]),
            copies=copies_of(reply.get("copies", ())),
            erased_copies=copies_of(reply.get("erased_copies", ())),
        )

    def follow(self, session: str = "") -> list[FollowerState]:
        return self._states("follow", session)

    def catch_up_followers(self, session: str = "") -> list[FollowerState]:
        return self._states("catch_up", session)

    def followers_status(self, session: str = "") -> list[FollowerState]:
        return self._states("status", session)

    def rebuild_followers(self, session: str = "", names: Sequence[str] = ()) -> list[FollowerState]:
        return self._states("rebuild", session, names)

    def verify_followers(self, session: str = "") -> list[FollowerFindings]:
        asked = {"action": "verify", "session_id": session or self.session}
        rows = self._call(FOLLOWERS, asked)["findings"]
        return [FollowerFindings(**{**row, "problems": tuple(row["problems"])}) for row in rows]

    def follower_digests(self, session: str = "") -> dict[str, str]:
        asked = {"action": "digest", "session_id": session or self.session}
        return dict(self._call(FOLLOWERS, asked)["digests"])

    def _states(self, action: str, session: str, names: Sequence[str] = ()) -> list[FollowerState]:
        asked = {"action": action, "session_id": session or self.session, "followers": list(names)}
        return [FollowerState(**row) for row in self._call(FOLLOWERS, asked)["states"]]

    def _read(self, method: str, tool: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Ask once the followers are there: a server's own reads wait for them only briefly."""
        given = self._bound(method, arguments, named)
        self.follow(given["session_id"])
        return self._call(tool, given)

    def _bound(self, method: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a method by the names that its tool has for them."""
        from inspect import signature

        given = dict(signature(getattr(Memory, method)).bind(self, *arguments, **named).arguments)
        given |= given.pop("details", {})
        bound = {"session_id" if name == "session" else name: value for name, value in given.items() if name != "self"}
        return bound if method == "forget" else {**bound, "session_id": bound.get("session_id") or self.session}

    def _call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What a tool of the owner answers."""
        progress = self.recall.progress
        record = owner_record(self.workspace)
        if record is not None and record.version != __version__:
            raise _of_another_version(record.version)
        given = {name: value for name, value in arguments.items() if value not in (None, "")}
        params = {"name": tool, "arguments": given, "_meta": META}
        request = {"jsonrpc": "2.0", "id": REQUEST, "method": "tools/call", "params": params}
        for line in _answers(self.workspace, json.dumps(request).encode() + b"\n", FOREVER):
            message = json.loads(line)
            if message.get("id") == REQUEST:
                return _content(message)
            if message.get("method") == "notifications/progress" and progress:
                progress(int(message["params"]["progress"]), int(message["params"]["total"]))
        raise _gone()


def _entity_row(row: Mapping[str, Any]) -> EntityRow:
    entity: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in row["entity"].items()
    }
    return EntityRow(**{**row, "entity": Entity(**entity)})


def _edge_row(row: Mapping[str, Any]) -> EdgeRow:
    ends = {name: EntityRef(*row["edge"][name]) for name in ("source", "target")}
    return EdgeRow(**{**row, "edge": Edge(**{**row["edge"], **ends})})


def _content(message: Mapping[str, Any]) -> dict[str, Any]:
    """What a tool's answer holds, or the error that it is."""
    if "error" in message:  # of the protocol itself, which knows our tools
        raise InternalError(f"the owner of the graph refused: {message['error'].get('message')!s:.200}", DEFECT)
    content: dict[str, Any] = message["result"]["structuredContent"]
    if message["result"].get("isError"):
        raise error_of(**content["error"])
    return content


def owner_answers(workspace: Workspace) -> bool:
    """Whether there is an owner; one that does not answer is an error, since nobody else can open the graph."""
    if (opened := connect(workspace)) is None:
        return False
    opened.close()
    next(_answers(workspace, PING, SECONDS_TO_START if is_starting(workspace) else SECONDS_TO_ANSWER_A_PING))
    return True


def _answers(workspace: Workspace, request: bytes, within: float) -> Iterator[bytes]:
    """The owner's lines in answer to one of ours."""
    if (opened := connect(workspace)) is None:
        raise _gone()
    connection = Connection(opened, Caller().line + request)
    deadline = monotonic() + within
    poll = select.poll()
    try:
        while True:
            poll.register(connection.fileno(), select.POLLIN | (select.POLLOUT if connection.unsent else 0))
            if not poll.poll(max(deadline - monotonic(), 0) * 1000):
                raise silent(workspace)
            yield from connection.exchange()
    except Lost:
        raise _gone() from None
    finally:
        connection.close()


def _gone() -> ZaxyError:
    return Unavailable(
        "the process that owned this workspace's graph ended while it was asked",
        "Run the command again.",
    )


def _of_another_version(version: str) -> ZaxyError:
    return Unavailable(
        f"the graph is held by a server of zaxy {version:.20}, and the command is of {__version__}",
        "Restart the client, so that its server is of the same version.",
    )
