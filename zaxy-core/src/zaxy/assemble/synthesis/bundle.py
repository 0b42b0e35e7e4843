"""A composed question from the plan to the bundle: rows, ledger, candidates, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from zaxy.api.models import AsOf
from zaxy.api.synthesis import AnswerCandidate, Bundle, LedgerRow
from zaxy.assemble.purpose import Purpose
from zaxy.assemble.slots import NUMERIC, SOURCE, TEMPORAL, SlotPlan
from zaxy.assemble.synthesis.candidates import candidates
from zaxy.assemble.synthesis.doubts import UNREAD
from zaxy.assemble.synthesis.ledger import HAS_ALL, OF_KIND, LedgerEntry, ledger
from zaxy.assemble.synthesis.nouns import in_words_of_memory
from zaxy.assemble.synthesis.question import read_question
from zaxy.assemble.synthesis.rows import find_rows
from zaxy.retrieve.snapshot import Snapshot

SURE = 0.75
"""The confidence from which on a candidate is right: nothing is missing from what it rests on."""
SHOWN_IDS = 12
"""Source ids of a candidate that a reply lists; the artifact binds all."""
SHOWN_CANDIDATES = 3
SHOWN_CITATIONS = 4


class Synthesis(NamedTuple):
    plan: SlotPlan
    session: str
    known_to_seq: int
    asked_at: str
    """The moment of the question, by which `last week` is meant."""
    entries: tuple[LedgerEntry, ...]
    """Those that count first."""
    looked_at: int
    candidates: tuple[AnswerCandidate, ...]
    complete: bool
    missing: tuple[str, ...]
    missing_slots: tuple[str, ...]
    include_reason: str

    @property
    def top(self) -> AnswerCandidate | None:
        return next(iter(self.candidates), None)

    @property
    def is_sure(self) -> bool:
        return self.top is not None and self.top.confidence >= SURE

    def counts(self) -> dict[str, Any]:
        """What a reply says besides candidates and rows."""
        counted = sum(entry.counted for entry in self.entries)
        return {
            "asked_at": self.asked_at,
            "looked_at": self.looked_at,
            "counted": counted,
            "excluded": len(self.entries) - counted,
            "complete": self.complete,
            "missing": list(self.missing),
        }

    def rows(self) -> Iterator[LedgerRow]:
        return (entry.row(self.include_reason) for entry in self.entries)

    def citations(self) -> list[str]:
        """Of the first rows that the first candidate rests on."""
        support = self.top.support_source_ids[:SHOWN_CITATIONS] if self.top else ()
        by_source = {entry.source_group: entry.citation for entry in self.entries if entry.counted} if support else {}
        return [by_source[source] for source in support]

    def shown_candidates(self) -> list[dict[str, Any]]:
        return [
            one._replace(
                support_source_ids=one.support_source_ids[:SHOWN_IDS],
                excluded_source_ids=one.excluded_source_ids[:SHOWN_IDS],
            ).as_dict()
            for one in self.candidates[:SHOWN_CANDIDATES]
        ]

    def bundle(self, **details: Any) -> Bundle:
        """All of it, for an artifact."""
        return Bundle(
            session_id=self.session,
            query=self.plan.query,
            operation=self.plan.composed.operation,
            answer_type=self.plan.composed.answer_type,
            answer_candidates=self.candidates,
            ledger_rows=tuple(self.rows()),
            known_to_seq=self.known_to_seq,
            looked_at=self.looked_at,
            complete=self.complete,
            missing=self.missing,
            details=details,
        )


def synthesise(snapshot: Snapshot, plan: SlotPlan, purpose: Purpose, asked_at: str = "") -> Synthesis:
    """`asked_at`: the moment of the question, for who computes it again; now if none is given."""
    asked_at = asked_at or snapshot.moment(AsOf())
    asked, taken = in_words_of_memory(snapshot.asked(plan.query), snapshot.asked)
    question = read_question(plan, asked, asked_at)._replace(taken=taken)
    found = find_rows(snapshot, question, AsOf(asked_at, snapshot.head))
    if question.standing is not None and not found.rows and question.by_words:
        question = question._replace(standing=None, topic=question.by_words)  # they have a type of their own for it
        found = find_rows(snapshot, question, AsOf(asked_at, snapshot.head))
    entries = ledger(snapshot, question, found, purpose)
    gaps = [*found.missing, *_erased(snapshot), *(["the log came from elsewhere"] if snapshot.foreign else [])]
    outcome = candidates(question, entries, found, gaps)
    unread = any(entry.reason in UNREAD for entry in entries)
    filled = bool(outcome.candidates)
    sources = len({entry.source for entry in entries if entry.counted or entry.reason in UNREAD})
    return Synthesis(
        plan,
        snapshot.session,
        snapshot.head,
        asked_at,
        tuple(sorted(entries, key=lambda entry: not entry.counted)),
        len(found.rows),
        outcome.candidates,
        filled and not gaps and not unread and not found.dropped,
        tuple(dict.fromkeys([*gaps, *outcome.problems])),
        _missing_slots(plan, filled=filled, unread=unread, too_few=bool(gaps) or sources < plan.composed.sources),
        OF_KIND if question.standing else HAS_ALL,
    )


def _missing_slots(plan: SlotPlan, *, filled: bool, unread: bool, too_few: bool) -> tuple[str, ...]:
    """The slots that are not filled by all rows that bear on the question."""
    empty = {SOURCE: too_few, NUMERIC: unread or not filled, TEMPORAL: not filled}
    return tuple(slot for slot in plan.composed.required if empty[slot])


def _erased(snapshot: Snapshot) -> list[str]:
    count = snapshot.erased
    return [f"{count} events were erased, and nobody can say what they held"] if count else []
