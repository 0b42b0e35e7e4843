"""What an agent learned: whether a memory was useful, and how something is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zaxy.api import appended
from zaxy.api.tools import COORDINATE, CORE, FULL, PURPOSE, TEXT, Call, one_of, schema, texts, tool

FEEDBACK = ("used", "helpful", "irrelevant")
NUMBER = {"type": "number"}
TEXTS = {"type": "array", "items": {"type": "string"}}


@tool(
    "memory_feedback",
    "Say whether cited facts helped.",
    takes=schema(
        "entity_name entity_type feedback",
        entity_name=TEXT,
        entity_type=TEXT,
        feedback=one_of(*FEEDBACK),
        actor=TEXT,
        session_id=TEXT,
        importance=NUMBER,
        query=TEXT,
        source=TEXT,
        score=NUMBER,
        **texts("citation reason outcome"),
        purpose=PURPOSE,
        metadata={"type": "object"},
    ),
    profiles=(CORE, COORDINATE, FULL),
)
def feedback(call: Call) -> Mapping[str, Any]:
    return appended(call.memory.feedback(**call.own, session=call.session))


@tool(
    "memory_skill",
    "Record a procedure: propose, validate, revise, deprecate, contradict, apply or record_outcome.",
    takes=schema(
        "action skill_id",
        **texts("action skill_id actor session_id version name summary"),
        procedure=TEXTS,
        applicability=TEXT,
        citations=TEXTS,
        task=TEXT,
        success_score=NUMBER,
        **texts("feedback evidence reason supersedes_version"),
    ),
    profiles=(CORE, FULL),
)
def skill(call: Call) -> Mapping[str, Any]:
    return appended(call.memory.skill(**call.own, session=call.session))


TOOLS = (feedback, skill)
