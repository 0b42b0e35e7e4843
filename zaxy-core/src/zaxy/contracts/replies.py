"""The shape of what reads and tools answer with: read off real replies of a small memory, field by field.

A field is named by its path and has a type; what it says is left out, as it changes with every log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

from zaxy.contracts.sample_memory import naming, sample_memory

Reply = Mapping[str, Any]
Call = Callable[[str, dict[str, Any]], Reply]
"""Calls a tool by its name, with arguments."""

SESSION = "contract"
RECORDED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("goal.created", {"goal": "Ship the importer", "key": "importer"}),
    ("decision.made", {"decision": "The importer reads CSV", "key": "importer-format"}),
    ("decision.made", {"decision": "The importer reads Parquet", "key": "importer-format"}),
    ("task.proposed", {"task": "Write the importer's guide", "goal": "importer"}),
    ("issue.diagnosed", {"issue": "The importer stops at empty files"}),
    ("fact.recorded", {"fact": "The importer limit is 40 files"}),
    ("fact.recorded", {"fact": "The importer limit is 50 files"}),
    (
        "transcript.turn",
        {"role": "user", "content": "The importer was asked for in May", "source": "chat", "turn_index": 1},
    ),
    ("fact.recorded", {"fact": "Cost of the importer", "key": "bill-1", "amount": 30, "unit": "EUR"}),
    ("fact.recorded", {"fact": "Cost of the importer", "key": "bill-1", "amount": 40, "unit": "EUR"}),
    ("fact.recorded", {"fact": "Cost of the importer", "key": "bill-2", "amount": 50, "unit": "EUR"}),
    ("document.indexed", {"path": "docs/importer.md", "text": "The importer reads files.\nOne at a time."}),
)
SKILL = {
    "action": "propose",
    "skill_id": "importer-release",
    "summary": "Release the importer",
    "procedure": ["Test", "Tag"],
    "applicability": "The importer has reached its limit of files",
}
OUTCOME = {"action": "record_outcome", "skill_id": "importer-release", "success_score": 0.9}
KEYED_BY_CONTENT = ("source_lanes", "by_reason", "scores", "tools", "last_seen", "words", "floors")
"""Objects whose keys say something, instead of naming a field."""
WRITTEN_BY_OTHERS = ("results[].payload",)
"""Objects that hold what somebody recorded: the fields in them are those of the event's type."""
WHOLE = 30_000
"""Tokens: a budget that leaves nothing out. What just fits changes with the hashes."""
QUESTION = "How many files does the importer limit?"
COMPOSED = "How much did the importer cost in total?"
"""Answered by two rows of what was recorded; a third one was replaced."""
CHECKOUTS: tuple[dict[str, Any], ...] = (
    {"query": QUESTION, "purpose": "coding"},
    {"query": "How long has the importer read Parquet?", "ref": "HEAD"},
    {"query": COMPOSED},
)
"""A conflict, a purpose, skills, a reminder and a composed question; one whose slots no fact fills, as of a ref; and
one with candidates and a ledger."""
TURN = {"role": "user", "content": "The importer was asked for again", "max_tokens": WHOLE}
EVENT = {"event_type": "fact.recorded", "actor": "assistant", "payload": {"fact": "The importer has one author"}}
SUBAGENT = "contract-subagent"
TOOLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_bootstrap", {"current_task": "the importer"}),
    ("memory_query", {"query": "importer", "limit": 3}),
    ("memory_verbatim", {"query": "importer files", "limit": 3}),
    ("context_assemble", {"query": "importer files", "max_tokens": WHOLE}),
    ("memory_feedback", {"entity_name": "importer-format", "entity_type": "decision", "feedback": "used"}),
    ("memory_capabilities", {"current_task": "the importer"}),
    ("memory_ref", {"name": "refs/heads/main"}),
    ("memory_replay", {"limit": 2}),
    ("memory_replay", {"max_tokens": 1}),
    ("memory_replay", {"from_seq": 1_000}),
    ("memory_append", {**EVENT, "session_id": SUBAGENT}),
    ("memory_append", {**EVENT, "idempotency_key": "importer-author"}),
    ("memory_append", {**EVENT, "idempotency_key": "importer-author"}),
    ("memory_append", {**EVENT, "event_type": "fact.recordet"}),
    ("memory_ingest", {"events": [EVENT]}),
    ("memory_skill", OUTCOME),
    ("memory_invalidate", {"entity_name": "importer-format", "entity_type": "decision"}),
    ("context_after_turn", TURN),
    (
        "subagent_cleanup",
        {"parent_session_id": SESSION, "subagent_session_id": SUBAGENT, "summary": "Done", "outcome": "kept"},
    ),
)
"""A checkout and an export have contracts of their own. A tool that answers in more than one way is called for each."""


def checkout_fields() -> Iterator[tuple[str, str]]:
    """The fields of checkouts with everything in them."""
    for reply in _checkouts():
        yield from fields(reply)


def checkout_sections() -> list[str]:
    """The headings of their prompts, in order."""
    lines = [line for reply in _checkouts() for line in str(reply["prompt"]).splitlines()]
    return list(dict.fromkeys(line for line in lines if line.startswith("#")))


@cache
def _checkouts() -> tuple[Reply, ...]:
    with _recorded() as call:
        return tuple([call("memory_checkout", {**asked, "max_tokens": WHOLE}) for asked in CHECKOUTS])


def tool_fields() -> list[tuple[str, str]]:
    """The fields of what tools answer, each path beginning with its tool."""
    with _recorded() as call:
        answered = [(tool, call(tool, arguments)) for tool, arguments in TOOLS]
        answered += [(tool, call(tool, arguments)) for tool, arguments in _of_a_checkout(call)]
    return [(f"{tool} {path}", kind) for tool, reply in answered for path, kind in fields(reply)]


def _of_a_checkout(call: Call) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls that are given a checkout with a composed answer."""
    checkout = call("memory_checkout", {"query": COMPOSED, "max_tokens": WHOLE})
    synthesis = checkout["diagnostics"]["synthesis"]
    given = {"checkout": checkout, "candidate": synthesis["answer_candidates"][0], "outcome": "used"}
    yield "memory_synthesis_artifact", given
    yield "memory_synthesis_artifact", given
    yield "memory_synthesis_evidence", {"checkout": checkout, "row": synthesis["ledger_rows"][0], "outcome": "used"}


def worked_qualities() -> dict[str, dict[str, Any]]:
    """The quality of two checkouts that the documentation works out: one cited fact, and one without citation."""
    quality = import_module("zaxy.assemble.quality")
    guidance = import_module("zaxy.assemble.guidance")
    claim = "Memory Checkout is current."
    refresh = {"tool": guidance.CHECKOUT_TOOL, "query": claim, "reason": guidance.NARROWER}
    return {
        "one cited fact": quality.judge(quality.Grounds(facts=1, citations=1)).as_dict(),
        "one uncited fact and a warning": quality.judge(
            quality.Grounds(facts=1, citations=0, warnings=1), refresh
        ).as_dict(),
    }


@contextmanager
def _recorded() -> Iterator[Call]:
    """A caller of the tools of a small memory, with everything in it that a reply can show."""
    catalog = import_module("zaxy.serve.catalog")
    served = import_module("zaxy.api.tools")
    tools = catalog.Catalog(catalog.own_tools())
    with sample_memory() as memory:

        def call(tool: str, arguments: dict[str, Any]) -> Reply:
            named = served.Call(memory, {"session_id": SESSION, **arguments}, lambda done, total: None)
            with naming(f"the reply of {tool}"):
                reply: Reply = tools.find(tool).answer(named)
            return reply

        for type_, payload in RECORDED:
            call("memory_append", {"event_type": type_, "actor": "assistant", "payload": payload})
        for arguments in (SKILL, OUTCOME, OUTCOME):
            call("memory_skill", arguments)
        remind = import_module("zaxy.eventloom.drafts").own_draft
        memory.recall.store.append(SESSION, [remind("memory.reminder.suggested", "zaxy", {"reason": "long_session"})])
        yield call


def fields(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Every field with its type, in order; the items of a list are taken together."""
    if isinstance(value, Mapping):
        if path:
            yield path, "object"
        if path in WRITTEN_BY_OTHERS:
            return
        names = ["*"] * len(value) if path.rpartition(".")[2] in KEYED_BY_CONTENT else list(value)
        inner = (found for name, item in zip(names, value.values(), strict=True) for found in _within(path, name, item))
        yield from dict.fromkeys(inner)
        return
    if isinstance(value, list):
        yield path, "array"
        yield from dict.fromkeys(found for item in value for found in fields(item, f"{path}[]"))
        return
    yield path, _KINDS[type(value)]


def _within(path: str, name: str, item: object) -> Iterator[tuple[str, str]]:
    return fields(item, f"{path}.{name}" if path else name)


_KINDS: dict[type, str] = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null"}
