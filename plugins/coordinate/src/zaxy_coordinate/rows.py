"""Findings as rows of replies, in the words of the log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from zaxy.api import count_tokens, one_line
from zaxy_coordinate.fold import MissionState, Ref
from zaxy_coordinate.standing import Standing
from zaxy_coordinate.workplace import Reply, Workplace

MAX_SUMMARY_CHARS = 600
MAX_EVIDENCE_CHARS = 240
MAX_EVIDENCE_ITEMS = 8
MAX_IDS = 16
ERASED = "(its words were erased)"


def finding_row(at: Workplace, state: MissionState, one: Standing) -> Reply:
    """A finding with where it stands. Who may see it is decided by the one who asks for the row."""
    said = at.words(one.finding.ref)
    row: Reply = {
        "finding_id": one.finding_id,
        "worker_id": one.finding.worker,
        "summary": one_line(str(said.get("summary") or ERASED), MAX_SUMMARY_CHARS),
        "citation": one.finding.ref.citation,
        "status": one.status,
        "authority": one.authority,
        "reported_at": one.finding.ref.time,
        "test_backed": one.finding.test_backed,
        "evidence": shown_evidence(said.get("evidence")),
    }
    optional = {field: said.get(field) for field in ("claim_key", "claim_value", "confidence")}
    optional |= {"duplicate_of": one.duplicate_of, "stale": one.stale, "conflict_id": one.conflict_id}
    row |= {name: value for name, value in optional.items() if value not in (None, "", False)}
    reviews = state.reviews.get(one.finding_id)
    if reviews:
        row["review"] = _review(at, reviews[-1].ref)
    return row


def _review(at: Workplace, ref: Ref) -> Reply:
    rationale = at.words(ref).get("rationale")
    shown = {"reviewer": ref.actor, "citation": ref.citation}
    return {**shown, "rationale": one_line(str(rationale), MAX_SUMMARY_CHARS)} if rationale else shown


def shown_evidence(items: Any) -> list[Reply]:
    """Evidence as it was given, with long texts cut."""
    if not isinstance(items, Sequence) or isinstance(items, str):
        return []
    return [
        {name: one_line(value, MAX_EVIDENCE_CHARS) if isinstance(value, str) else value for name, value in item.items()}
        for item in items[:MAX_EVIDENCE_ITEMS]
        if isinstance(item, dict)
    ]


class Room:
    """Tokens that are left for a reply."""

    def __init__(self, tokens: int) -> None:
        self.left = tokens
        self.short = False
        """Whether something did not fit."""

    def fill(
        self, rows: Iterable[Reply], *, at_least: int = 0, cost: Callable[[Reply], int] | None = None
    ) -> list[Reply]:
        """The first of the rows, as many as fit. `cost` says what a row takes where it is shown in several places."""
        taken: list[Reply] = []
        for row in rows:
            tokens = (cost or tokens_of)(row) + 1  # what stands between two rows
            if tokens > self.left and len(taken) >= at_least:
                self.short = True
                break
            self.left -= tokens
            taken.append(row)
        return taken


def tokens_of(value: object) -> int:
    import json

    return count_tokens(json.dumps(value, ensure_ascii=False))
