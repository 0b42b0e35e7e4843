"""Composed answers on record: the artifact of a checkout, and what became of a row of its ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zaxy.api import appended, cited_for
from zaxy.api.synthesis import EVIDENCE_TYPES, OUTCOME_TYPES
from zaxy.api.tools import TEXT, Call, one_of, schema, texts, tool

OBJECT = {"type": "object"}


@tool(
    "memory_synthesis_artifact",
    "Record a checkout's composed answer.",
    takes=schema(
        "checkout",
        checkout={**OBJECT, "description": "its whole reply"},
        candidate=OBJECT,
        outcome=one_of(*OUTCOME_TYPES),
        **texts("reason correction actor"),
    ),
    idempotent=True,
)
def artifact(call: Call) -> Mapping[str, Any]:
    return cited_for(call, call.memory.synthesis_artifact(**call.own).as_dict())


@tool(
    "memory_synthesis_evidence",
    "Say that a ledger row was used or excluded.",
    takes=schema(
        "checkout row outcome",
        checkout=OBJECT,
        row=OBJECT,
        outcome=one_of(*EVIDENCE_TYPES),
        candidate=OBJECT,
        reason=TEXT,
        actor=TEXT,
    ),
    idempotent=True,
)
def evidence(call: Call) -> Mapping[str, Any]:
    return appended(call.memory.synthesis_evidence(**call.own))


TOOLS = (artifact, evidence)
