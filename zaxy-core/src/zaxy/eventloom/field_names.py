"""The fields of payloads that the event types of Zaxy know, and pointers that name no other field.

A pointer to where a secret was stays in the record for good, and a key may say as much as a text: somebody's name, or
an account. So a pointer shows the fields that are the same in everybody's log, and the numbers of items in lists.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OTHER = "*"
"""Stands in a pointer for a key that is not among these."""
FIELD_NAMES = frozenset(
    """
    accepted_finding_ids alternatives answer answer_candidates answer_type applicability argument_keys arguments
    artifact_id assignee assignment assignment_id attribute authority backend blocked_by candidate cause citation
    citations claim claim_key closings command component confidence conflict conflict_id conflict_ids conflicts_with
    content coordinator correction decision decision_id decision_scope description document document_id domain due
    duration_ms edits end_line entity_citation entity_index entity_name entity_type error evidence evidence_policy
    exclude_reason excluded_reasons excluded_source_ids exit_code expected_action fact fact_id feedback files
    finding finding_id finding_ids fix from goal goal_id handoff handoff_event_ref handoff_id handoff_refs hash id
    importance include_reason input integrity invalid_at issue issue_id key ledger_rows lines lines_added
    lines_removed message metadata mission mission_id name next_steps non_authoritative_rows object objective
    occurred_at ontology_lens operation outcome owner packet_id parent_session_id path paths pending_finding_ids
    predicate preference preference_id preset previous priority procedure promotion_refs prompt proof_id property
    purpose quality query question rank rationale reason relation reminder_class reply response result
    result_summary retention_policy review_refs reviewer risk risks role row scope score sensitivity seq session_id
    severity sha256 size skill_id slot_plan source speaker start_line status stderr stdout subagent
    subagent_session_id subject success_score summary supersedes supersedes_version support_source_ids tags task
    task_id text time_horizon title to tool tool_name transcript_path trigger turn_count turn_index unit user
    user_id value values verification verification_id version worker worker_id worker_session_id worker_source_refs
    workspace workspace_id
    """.split()
)


def public_pointer(pointer: str, payload: Any) -> str:
    """A JSON pointer into a payload, with `*` for every key that is not a known field."""
    shown, inside = [], payload
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        is_item = isinstance(inside, (list, tuple)) and key.isdecimal()
        shown.append(key if is_item or key in FIELD_NAMES else OTHER)
        inside = _member(inside, key)
    return "".join(f"/{part}" for part in shown)


def _member(inside: Any, key: str) -> Any:
    if isinstance(inside, dict):
        return inside.get(key)
    if isinstance(inside, (list, tuple)) and key.isdecimal() and len(key) < 8 and int(key) < len(inside):
        return inside[int(key)]
    return None
