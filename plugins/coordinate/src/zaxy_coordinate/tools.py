"""The fourteen tools of missions."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from zaxy.api import JsonObject, MemoryAccess, ProviderContext, Tool, UnknownTool, with_short_citations
from zaxy.api.tools import COORDINATE, COUNT, FULL, NAME, QUERY, TEXT, one_of, schema
from zaxy_coordinate.fold import STATUSES
from zaxy_coordinate.logs import MissionLogs
from zaxy_coordinate.missions import Missions
from zaxy_coordinate.proofs import SCOPES
from zaxy_coordinate.workplace import DEFAULT_ACTOR

SECONDS = 60.0
"""The first look at a large mission folds its logs."""
LISTED_IN = (COORDINATE, FULL)
TEXTS: JsonObject = {"type": "array", "items": TEXT}
OBJECT: JsonObject = {"type": "object"}
OBJECTS: JsonObject = {"type": "array", "items": OBJECT}
FRACTION: JsonObject = {"type": "number", "minimum": 0, "maximum": 1}
SWITCH: JsonObject = {"type": "boolean"}
WRITER: dict[str, JsonObject] = {"actor": NAME, "idempotency_key": NAME}
PACKET: JsonObject = {"anyOf": [OBJECTS, OBJECT], "description": "A list of {finding_id, status}, or a whole packet."}
REPEATED = ("assign", "report_finding", "handoff")
"""What writes something new each time, unless a key is given."""


def _tool(name: str, description: str, *, takes: JsonObject, reads: bool = False) -> Tool:
    return Tool(
        f"coordination_{name}",
        description,
        takes,
        read_only=reads,
        idempotent=not reads and name not in REPEATED,
        profiles=LISTED_IN,
        seconds=SECONDS,
    )


TOOLS = (
    _tool(
        "start",
        "Begin a mission that several agents work on. Its id becomes its session.",
        takes=schema("mission_id objective", mission_id=NAME, objective=TEXT, **WRITER),
    ),
    _tool(
        "worker_create",
        "Add a worker, who reports in a session of its own.",
        takes=schema("mission_id worker_id", mission_id=NAME, worker_id=NAME, role=TEXT, **WRITER),
    ),
    _tool(
        "assign",
        "Give a worker something to do.",
        takes=schema("mission_id worker_id assignment", mission_id=NAME, worker_id=NAME, assignment=TEXT, **WRITER),
    ),
    _tool(
        "report_finding",
        "Report what a worker found. It stays the worker's until it is reviewed and promoted. Evidence items may have "
        "kind, reference, command, exit_code, summary. The same claim_key with another claim_value is a conflict.",
        takes=schema(
            "mission_id worker_id summary",
            mission_id=NAME,
            worker_id=NAME,
            summary=TEXT,
            evidence=OBJECTS,
            confidence=FRACTION,
            claim_key=NAME,
            claim_value=TEXT,
            **WRITER,
        ),
    ),
    _tool(
        "merge_brief",
        "What waits for the coordinator: conflicts, findings to review, findings to promote, each cited.",
        takes=schema("mission_id", mission_id=NAME, max_tokens=COUNT, cursor=NAME, **WRITER),
        reads=True,
    ),
    _tool(
        "checkout",
        "The mission's accepted state, cited. include_diagnostics adds what was not accepted, labelled.",
        takes=schema(
            "mission_id", mission_id=NAME, query=QUERY, include_diagnostics=SWITCH, max_tokens=COUNT, **WRITER
        ),
        reads=True,
    ),
    _tool(
        "performance_ledger",
        "How each worker's findings fared: accepted, rejected, duplicate, without evidence, backed by tests, stale.",
        takes=schema("mission_id", mission_id=NAME, **WRITER),
        reads=True,
    ),
    _tool(
        "approval_packet",
        "The findings that wait, as a packet whose decisions a person or another agent fills in.",
        takes=schema("mission_id", mission_id=NAME, **WRITER),
        reads=True,
    ),
    _tool(
        "apply_approval",
        "Apply decisions as reviews, and as promotions where a decision says promote: all or none.",
        takes=schema("mission_id decisions", mission_id=NAME, decisions=PACKET, **WRITER),
    ),
    _tool(
        "review_finding",
        "Say what a finding is worth. Only a promotion makes it the mission's state.",
        takes=schema(
            "mission_id finding_id status",
            mission_id=NAME,
            finding_id=NAME,
            status=one_of(*STATUSES),
            rationale=TEXT,
            **WRITER,
        ),
    ),
    _tool(
        "promote",
        "Make an accepted finding the mission's state.",
        takes=schema("mission_id finding_id", mission_id=NAME, finding_id=NAME, **WRITER),
    ),
    _tool(
        "handoff",
        "Record where the mission stands, for the next one who works on it.",
        takes=schema("mission_id summary", mission_id=NAME, summary=TEXT, next_steps=TEXTS, risks=TEXTS, **WRITER),
    ),
    _tool(
        "record_synthesis_artifact",
        "Record an answer that a coordination_checkout led to, with the proof of what it rested on.",
        takes=schema(
            "mission_id checkout",
            mission_id=NAME,
            checkout={**OBJECT, "description": "The whole reply of coordination_checkout."},
            decision_scope=one_of(*SCOPES),
            handoff_id=NAME,
            candidate=OBJECT,
            outcome=one_of("used", "rejected", "corrected", "excluded"),
            reason=TEXT,
            correction=TEXT,
            **WRITER,
        ),
    ),
    _tool(
        "proof_trace",
        "Take a recorded answer apart: proof, artifact, handoff, and each event that they cite.",
        takes=schema("mission_id", mission_id=NAME, artifact_id=NAME, handoff_id=NAME, proof_seq=COUNT, **WRITER),
        reads=True,
    ),
)
METHODS = {"worker_create": "create_worker"}
"""Where a method has another name than its tool."""
WHOLE_CITATIONS = ("approval_packet",)
"""Their replies are files for others."""


class MissionTools:
    """The tool pack. It remembers the states of missions between calls."""

    def __init__(self, context: ProviderContext) -> None:
        self._logs = MissionLogs(os.path.join(str(context.state_dir), "missions"), context.workspace_id)

    def tools(self) -> tuple[Tool, ...]:
        return TOOLS

    def call(
        self, tool: str, arguments: JsonObject, memory: MemoryAccess, progress: Callable[[float, str], None]
    ) -> JsonObject:
        described = next((one for one in TOOLS if one.name == tool), None)
        if described is None:
            names = ", ".join(one.name for one in TOOLS)
            raise UnknownTool(f"there is no tool {tool!r:.80} here", f"Call one of {names}.")
        name = tool.removeprefix("coordination_")
        given = _arguments(described, name, arguments)
        reply = getattr(Missions(memory, self._logs), METHODS.get(name, name))(**given)
        return dict(reply) if name in WHOLE_CITATIONS else with_short_citations(reply)


def _arguments(tool: Tool, name: str, arguments: JsonObject) -> dict[str, Any]:
    """The arguments as the method takes them. Reads take no actor, and most writes need no key: what they do is named
    by what it is about, and the second time changes nothing."""
    given = dict(arguments)
    key, actor = given.pop("idempotency_key", ""), given.pop("actor", "")
    if not tool.read_only:
        given["actor"] = actor or ("" if name == "report_finding" else DEFAULT_ACTOR)
    if name in REPEATED and key:
        given["idempotency_key"] = key
    return given
