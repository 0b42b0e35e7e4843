"""What an agent learned: whether a memory was useful, and how something is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zaxy.api.models import Tool
from zaxy.serve.results import appended
from zaxy.serve.served_tool import (
    COORDINATE,
    CORE,
    FULL,
    TEXT,
    Call,
    ServedTool,
    one_of,
    schema,
)

FEEDBACK = ("used", "helpful", "irrelevant")
ABOUT_FEEDBACK = ("importance", "query", "source", "score", "citation", "reason", "purpose", "outcome", "metadata")
ABOUT_SKILL = """
    version name summary procedure applicability citations task success_score feedback
    evidence reason supersedes_version
""".split()
NUMBER = {"type": "number"}
TEXTS = {"type": "array", "items": {"type": "string"}}


def feedback(call: Call) -> Mapping[str, Any]:
    given = call.given("entity_name", "entity_type", "feedback", "actor")
    return appended(call.memory.feedback(**given, session=call.session, **call.given(*ABOUT_FEEDBACK)))


def skill(call: Call) -> Mapping[str, Any]:
    given = call.given("action", "skill_id", "actor")
    return appended(call.memory.skill(**given, session=call.session, **call.given(*ABOUT_SKILL)))


TOOLS = (
    ServedTool(
        Tool(
            "memory_feedback",
            "After cited facts shaped an answer, say whether they were useful.",
            schema(
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
                citation=TEXT,
                reason=TEXT,
                purpose=TEXT,
                outcome=TEXT,
                metadata={"type": "object"},
            ),
            profiles=(CORE, COORDINATE, FULL),
        ),
        feedback,
    ),
    ServedTool(
        Tool(
            "memory_skill",
            "Record a reusable procedure: propose, validate, revise, deprecate, contradict, apply or record_outcome.",
            schema(
                "action skill_id",
                action=TEXT,
                skill_id=TEXT,
                actor=TEXT,
                session_id=TEXT,
                version=TEXT,
                name=TEXT,
                summary=TEXT,
                procedure=TEXTS,
                applicability=TEXT,
                citations=TEXTS,
                task=TEXT,
                success_score=NUMBER,
                feedback=TEXT,
                evidence=TEXT,
                reason=TEXT,
                supersedes_version=TEXT,
            ),
            profiles=(CORE, FULL),
        ),
        skill,
    ),
)
