"""What was found on a question: one list in one order, each row with what it states and whether it answers."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zaxy.api.models import Entity, EntityRow
from zaxy.assemble.conflicts import MAX_DISAGREEMENTS, Disagreement, disagreements
from zaxy.assemble.context import Gathered, passages
from zaxy.assemble.emphasis import FOUND, LEFT_OUT, RowAction, below_floors, in_order_for
from zaxy.assemble.evidence import with_payloads
from zaxy.assemble.features import Weighed, coverage, weighed
from zaxy.assemble.judgement import Judgement, judged, row_sum
from zaxy.assemble.now_truth import newest_first
from zaxy.assemble.purpose import Purpose
from zaxy.assemble.skills import Skills, applicable_skills
from zaxy.assemble.slots import SlotPlan, slot_plan
from zaxy.assemble.statements import shown
from zaxy.assemble.suppression import suppressed
from zaxy.assemble.working_set import KINDS, open_rows
from zaxy.extract.texts import cut
from zaxy.retrieve.question import Asked
from zaxy.retrieve.results import Result
from zaxy.retrieve.snapshot import Snapshot
from zaxy.text import tokens

MAX_ROWS = 15
WITHOUT_BEARING = 6
"""Rows that are shown where nothing bears on the question: a reader may see more than words tell."""
MARKED = 0.35
"""The share that one must have to be marked as an answer."""
DISPUTED = 0.2
"""The share from which on it matters that two rows disagree."""
ON_IT = 0.5
"""The share from which something that is not shown counts as having been on the question."""
MAX_LEFT_OUT = 6
"""Rows that are named as left out by the purpose; of the others only the count is shown."""
SAID_BEFORE = 120
"""Characters of a statement that stands under the newer one which perhaps replaces it."""
STATUS_ROWS = 6
"""How many rows answer a question about where things stand."""
STATUS_WORDS = {
    "goals": tokens.words("goal direction roadmap priority"),
    "decisions": tokens.words("decision"),
    "tasks": tokens.words("task action step next left remaining pending open"),
    "blockers": tokens.words("blocker blocked"),
}
"""Words in such a question, by the part of the working set that they mean."""
STATUS = frozenset(
    tokens.words(
        """task goal decision blocker blocked action step direction progress status state roadmap priority project work
        session summary context next open pending left remaining continue resume where overview recent current latest
        important update background history memory preference we decide plan do make"""
    )
)
"""A question that has no other telling words asks where things stand."""
_STATUS = re.compile(
    r"\bwhere (?:are|were|do) we\b|\bwhat(?:'s|’s| is| was)? (?:left|next|open|missing|going on|blocking)\b"
    r"|\bcatch me up\b|\bhow far\b",
    re.IGNORECASE,
)


class Row(NamedTuple):
    """A row as it is shown."""

    result: Result
    text: str
    answers: bool
    """Whether it is taken for an answer; otherwise it may bear on the question."""
    replaced_by: str = ""
    """The citation of a newer statement about the same thing."""


@dataclass(frozen=True, slots=True)
class Findings:
    gathered: Gathered
    purpose: Purpose
    rows: tuple[Row, ...]
    judgement: Judgement
    asked: Asked
    left_out: dict[str, str]
    """Why the purpose does not let a row count, by the citation of the row."""
    actions: tuple[RowAction, ...]
    """What the purpose did to rows: first those that it left out, then those that are shown."""
    not_counted: int
    """Rows on the question that its rules left out."""
    duplicates: int
    superseded: int
    disagreements: tuple[Disagreement, ...]
    skills: Skills
    plan: SlotPlan | None

    @property
    def facts(self) -> list[Result]:
        return [row.result for row in self.rows if row.answers]

    @property
    def evidence(self) -> list[Result]:
        return [row.result for row in self.rows if not row.answers]


def sort_out(snapshot: Snapshot, gathered: Gathered, purpose: Purpose, max_facts: int) -> Findings:
    """Order what was found, judge it, and take out what may not count and what was said twice."""
    asked = snapshot.asked(gathered.query)
    found = [*gathered.results, *passages(snapshot, gathered)]
    if purpose.is_given:
        found = with_payloads(found, snapshot.events([one.seq for one in found]))
    left_out = suppressed(purpose, found, snapshot.newest)
    not_counted = weighed(asked, [one for one in found if one.citation in left_out])
    rows_found = weighed(asked, [one for one in found if one.citation not in left_out])
    left_out |= below_floors(purpose, rows_found)
    counted = [row for row in rows_found if row.result.citation not in left_out]
    all_, lifted = in_order_for(purpose, counted, snapshot.newest)
    ordered = _once(all_)
    judgement, said_once = judged(asked, ordered), len(ordered)
    if not judgement.bears:
        ordered = [row for row in ordered if row.features.coverage]
    disputes = disagreements([row for row in ordered if row.features.coverage >= DISPUTED]) if judgement.bears else []
    disputed = {frozenset((one.first.seq, one.second.seq)) for one in disputes}
    ordered, replaced = newest_first(asked, ordered, disputed)
    rows = _rows(ordered, replaced, bears=judgement.bears, max_facts=max_facts)
    if asks_for_status(gathered.query, asked):
        open_ = _status(snapshot, gathered.query)
        left_out |= suppressed(purpose, open_, snapshot.newest)
        status = [Row(one, one.content, True) for one in open_ if one.citation not in left_out][:max_facts]
        known = {row.result.citation for row in status}
        rows = [*status, *[row._replace(answers=False) for row in rows if row.result.citation not in known]]
        judgement = judgement._replace(topic=1.0, answer=1.0) if status else judgement
    return Findings(
        gathered,
        purpose,
        tuple(rows[:MAX_ROWS]),
        judgement,
        asked,
        left_out,
        tuple(_actions(left_out, rows[:MAX_ROWS], lifted=lifted, by_emphasis=gathered.by_emphasis)),
        sum([row.features.coverage >= ON_IT for row in not_counted]),
        len(all_) - said_once,
        sum([coverage(asked, frozenset(text.words.split())) >= ON_IT for text in gathered.superseded]),
        tuple(_shown(disputes, rows)),
        applicable_skills(asked, snapshot),
        slot_plan(gathered.query),
    )


def _actions(
    left_out: Mapping[str, str], rows: Sequence[Row], *, lifted: Mapping[str, RowAction], by_emphasis: Container[int]
) -> Iterator[RowAction]:
    yield from [RowAction(citation, LEFT_OUT, reason) for citation, reason in left_out.items()][:MAX_LEFT_OUT]
    for result in [row.result for row in rows]:
        if result.citation in lifted:
            yield lifted[result.citation]
        elif result.seq in by_emphasis:
            yield RowAction(result.citation, FOUND, "emphasis terms")


def _shown(disputes: Iterable[Disagreement], rows: Sequence[Row]) -> list[Disagreement]:
    """Those of which both sides are shown."""
    seqs = {row.result.seq for row in rows}
    return [one for one in disputes if {one.first.seq, one.second.seq} <= seqs][:MAX_DISAGREEMENTS]


def _rows(ordered: Sequence[Weighed], replaced: dict[int, int], *, bears: bool, max_facts: int) -> list[Row]:
    citations = {one.result.seq: one.result.citation for one in ordered}
    rows: list[Row] = []
    facts = 0
    for one in ordered[: MAX_ROWS if bears else WITHOUT_BEARING]:
        newer = citations.get(replaced.get(one.result.seq, 0), "")
        certain = one.features.coverage >= MARKED and row_sum(one.features) >= 0
        answers = bears and certain and not newer and facts < max_facts
        facts += answers
        text = shown(one.statements, one.worth) or one.result.content
        rows.append(Row(one.result, cut(text, SAID_BEFORE) if newer else text, answers, newer))
    return rows


def asks_for_status(query: str, asked: Asked) -> bool:
    telling = [word for word in asked.words if word.weight > 0.3 and not STATUS.issuperset(word.stems)]
    return not telling and bool(_STATUS.search(query) or any(STATUS.issuperset(word.stems) for word in asked.words))


def _status(snapshot: Snapshot, query: str) -> list[Result]:
    """The rows that say where things stand: of the kinds that the question names, or of every kind."""
    asked = set(tokens.words(query))
    named = {kind for kind, words in STATUS_WORDS.items() if not asked.isdisjoint(words)} or set(STATUS_WORDS)
    wanted = [kind for kind in KINDS if kind.heading in named]
    each = max(STATUS_ROWS // len(wanted), 1)
    rows = open_rows(snapshot.current_of_each, [kind.entity_types for kind in wanted], each)
    worded = snapshot.worded([row for of_kind in rows for row in of_kind])
    texts = snapshot.shown([entity.summary for _, entity in worded])
    cited = snapshot.cite([row for row, _ in worded])
    return [_of_row(*parts, text, citation) for parts, text, citation in zip(worded, texts, cited, strict=True)]


def _of_row(row: EntityRow, entity: Entity, text: str, citation: str) -> Result:
    return Result(
        content=text,
        citation=citation,
        seq=row.opened_seq,
        lane="exact",
        score=1.0,
        steps=(),
        profile="status",
        event_type="",
        actor="",
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        entity_name=entity.name,
        entity_type=entity.entity_type,
        properties=entity.properties,
    )


def _once(rows: Iterable[Weighed]) -> list[Weighed]:
    """The rows without later ones that state the same."""
    found: dict[str, Weighed] = {}
    for row in rows:
        said = " ".join(row.statements.sentences) or row.result.content
        found.setdefault(" ".join(said.casefold().split()), row)
    return list(found.values())
