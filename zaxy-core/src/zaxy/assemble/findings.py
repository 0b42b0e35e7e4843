"""What was found on a question: one list in one order, each row with what it states and whether it answers."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zaxy.assemble.conflicts import MAX_DISAGREEMENTS, Disagreement, disagreements
from zaxy.assemble.context import Gathered, as_before, passages
from zaxy.assemble.emphasis import FOUND, LEFT_OUT, RowAction, below_floors, in_order_for
from zaxy.assemble.evidence import with_payloads
from zaxy.assemble.features import Weighed, coverages, weighed
from zaxy.assemble.judgement import BEARS, Judgement, judged, row_sum
from zaxy.assemble.now_truth import newest_first
from zaxy.assemble.purpose import Purpose
from zaxy.assemble.skills import Skills, applicable_skills
from zaxy.assemble.slots import SlotPlan, slot_plan
from zaxy.assemble.status import StandingRows, status_question, status_rows
from zaxy.assemble.suppression import suppressed
from zaxy.extract.texts import cut
from zaxy.retrieve.meaning import Meaning
from zaxy.retrieve.question import Asked
from zaxy.retrieve.results import Result
from zaxy.retrieve.snapshot import Snapshot
from zaxy.retrieve.statements import results_in_sentences, shown, shown_of_each
from zaxy.text.passages import SPOKEN
from zaxy.text.schema import Text

MAX_ROWS = 15
WITHOUT_BEARING = 6
"""Rows that are shown where nothing bears on the question: a reader may see more than words tell."""
MARKED = 0.35
"""The share that one must have to be marked as an answer."""
READ_AS_ANSWER = 0.5
"""The same of a row that a lane of a plugin has read with the question: more likely than not."""
DISPUTED = 0.2
"""The share from which on it matters that two rows disagree."""
ON_IT = 0.5
"""The share from which something that is not shown counts as having been on the question."""
MAX_LEFT_OUT = 6
"""Rows that are named as left out by the purpose; of the others only the count is shown."""
MAX_BEFORE = 3
"""Rows under which it is shown what they took the place of."""
SAID_BEFORE = 120
"""Characters of a statement that stands under the newer one which perhaps replaces it."""

BEFORE_HANDOFF = 2
"""Rows that stand before a handoff that is shown because it may tell of the topic in other words."""

_FIELD_NAME = re.compile(r"^[a-z]\w{0,63}: ")
_ENDS = (".", "!", "。", "！")


class Row(NamedTuple):
    """A row as it is shown."""

    result: Result
    text: str
    answers: bool
    """Whether it is taken for an answer; otherwise it may bear on the question."""
    replaced_by: str = ""
    """The citation of a newer statement about the same thing."""
    has_ended: bool = False
    """Whether it certainly no longer holds; otherwise it is only perhaps replaced."""


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
    found = _without_echoes(gathered.query, [*gathered.results, *passages(snapshot, gathered)])
    if purpose.is_given:
        found = with_payloads(found, snapshot.events([one.seq for one in found]))
    left_out = suppressed(purpose, found, snapshot.newest)
    not_counted = weighed(asked, [one for one in found if one.citation in left_out]) if left_out else []
    meaning = Meaning(snapshot) if snapshot.lanes else None
    counted = [one for one in found if one.citation not in left_out]
    rows_found = weighed(asked, counted, meaning, question=gathered.query)
    left_out |= below_floors(purpose, rows_found)
    taken = [row for row in rows_found if row.result.citation not in left_out]
    all_, lifted = in_order_for(purpose, taken, snapshot.newest)
    ordered = _once(all_)
    judgement, said_once = judged(asked, ordered), len(ordered)
    if not judgement.bears:
        ordered = [row for row in ordered if row.features.coverage]
    disputes = disagreements([row for row in ordered if row.features.coverage >= DISPUTED]) if judgement.bears else []
    disputed = {frozenset((one.first.seq, one.second.seq)) for one in disputes}
    ordered, replaced = newest_first(asked, ordered, disputed)
    rows = _rows(ordered, replaced, bears=judgement.bears, max_facts=max_facts)
    if asking := status_question(gathered.query, asked):
        standing = status_rows(snapshot, asking, asked=asked, found=all_)
        left_out |= suppressed(purpose, standing.results, snapshot.newest)
        standing = standing.without(left_out)
        rows = _with_status(standing, rows, max_facts=max_facts, of_topic=bool(asking.topic.words))
        judgement = _of_status(judgement, of_topic=bool(asking.topic.words)) if standing.answering else judgement
    rows = _with_what_was(snapshot, gathered, rows) if judgement.bears and gathered.replaced else rows
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
        sum([share >= ON_IT for share in _coverages(asked, gathered.superseded)]),
        tuple(_shown(disputes, rows)),
        applicable_skills(asked, snapshot),
        slot_plan(gathered.query),
    )


def _without_echoes(query: str, results: Iterable[Result]) -> list[Result]:
    """The rows without those where somebody typed just what is asked now, and no more.

    A few words without a verb, `allergies of Lucía`, neither ask nor tell, and answer themselves least of all. What
    ends like a sentence tells.
    """
    typed = _plain(query)
    return [
        result
        for result in results
        if result.event_type not in SPOKEN
        or typed.endswith(_ENDS)
        or typed not in [_plain(_value(line)) for line in result.content.split("\n")]
    ]


def _value(line: str) -> str:
    """What a line says, without the name of its field."""
    return _FIELD_NAME.sub("", line)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" ?")


def _coverages(asked: Asked, texts: Sequence[Text]) -> list[float]:
    return coverages(asked, [frozenset(text.words.split()) for text in texts]) if texts else []


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
    first = ordered[: MAX_ROWS if bears else WITHOUT_BEARING]
    texts = shown_of_each([(one.statements, one.worth) for one in first])
    for one, best in zip(first, texts, strict=True):
        newer = citations.get(replaced.get(one.result.seq, 0), "")
        has_it = one.features.coverage >= MARKED or one.features.reader >= READ_AS_ANSWER
        certain = has_it and row_sum(one.features) >= 0
        answers = bears and certain and not newer and facts < max_facts
        facts += answers
        text = best or one.result.content
        rows.append(Row(one.result, cut(text, SAID_BEFORE) if newer else text, answers, newer))
    return rows


def _with_what_was(snapshot: Snapshot, gathered: Gathered, rows: Sequence[Row]) -> list[Row]:
    """The rows, and under each of the first that took the place of something what that was."""
    shown = [row.result.seq for row in rows]
    changed = [seq for seq in shown if seq in gathered.replaced and gathered.replaced[seq].seq not in shown]
    before = as_before(snapshot, gathered, changed[:MAX_BEFORE])
    texts = dict(zip(before, results_in_sentences(before.values(), SAID_BEFORE), strict=True))
    found: list[Row] = []
    for row in rows:
        found.append(row)
        if (seq := row.result.seq) in before:
            found.append(Row(before[seq], texts[seq], False, row.result.citation, True))
    return found


def _with_status(standing: StandingRows, rows: Sequence[Row], *, max_facts: int, of_topic: bool) -> list[Row]:
    """First the rows that say where things stand. If the question has no topic nothing else answers."""
    first = [_row(one, answers=True) for one in standing.answering[:max_facts]]
    beside = [_row(one, answers=False) for one in standing.beside]
    known = {row.result.seq for row in (*first, *beside)}
    others = [row for row in rows if row.result.seq not in known]
    if first:
        room = max_facts - len(first) if of_topic else 0
        answering = [row.result.seq for row in others if row.answers][:room]
        others = [row._replace(answers=row.result.seq in answering) for row in others]
    return [*first, *others[:BEFORE_HANDOFF], *beside, *others[BEFORE_HANDOFF:]]


def _row(one: Weighed, *, answers: bool) -> Row:
    return Row(one.result, shown(one.statements, one.worth) or one.result.content, answers)


def _of_status(judgement: Judgement, *, of_topic: bool) -> Judgement:
    """Rows of the state that was asked for bear on the question, and without a topic they answer it."""
    if of_topic:
        return judgement._replace(topic=max(judgement.topic, BEARS))
    return judgement._replace(topic=1.0, answer=1.0)


def _once(rows: Iterable[Weighed]) -> list[Weighed]:
    """The rows without later ones that state the same."""
    found: dict[str, Weighed] = {}
    for row in rows:
        said = " ".join(row.statements.sentences) or row.result.content
        found.setdefault(" ".join(said.casefold().split()), row)
    return list(found.values())
