"""The ledger: what each row says, whether it counts, and why or why not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orjson import OPT_SORT_KEYS, dumps

from zaxy.api.models import JsonObject
from zaxy.api.synthesis import AUTHORITIES, LedgerRow
from zaxy.assemble.purpose import Purpose
from zaxy.assemble.standing import DROPPED, PENDING
from zaxy.assemble.suppression import suppressed
from zaxy.assemble.synthesis.lexicon import LENGTH, TIME, converted, is_money
from zaxy.assemble.synthesis.question import ComposedQuestion
from zaxy.assemble.synthesis.rows import OWN, FoundRow, FoundRows, thing_of
from zaxy.assemble.synthesis.senses import IS_PLAN, Senses, price_of_one
from zaxy.assemble.synthesis.values import (
    DAY_FROM_FIELD,
    DAY_RECORDED,
    NO_VALUE,
    SEVERAL,
    TIMES,
    RowValue,
    When,
    count_of,
    noun_quantities,
    prose,
    stems_of,
    stems_of_fields,
    value_of,
    when,
)
from zaxy.assemble.synthesis.words import CANCELLED, INTENDED
from zaxy.extract.texts import readable_text
from zaxy.retrieve.results import Result
from zaxy.retrieve.snapshot import Snapshot
from zaxy.text.tokens import folded, words

NO_VALUE_NEEDED = RowValue(None)
MAX_LABEL = 80
HAS_ALL = "has all words of the question"
OF_KIND = "is of the kind and in the state that is asked for"
SUPERSEDED = "superseded or invalidated: it no longer holds"
OUTSIDE = "outside the period"
NOT_YET = "it says what may come, and not what was"
DID_NOT_HAPPEN = "it says that it was cancelled"
TALK = "said in talk, and the records of it count"
LEFT_OUT = "the question leaves it out"
NOT_LAST = "is not among the few that are asked for"
OTHER_UNIT = "its unit cannot be compared with"
ONE_OF_SEVERAL = "it has a price and a quantity, and does not say what all of it cost"
FEEDBACK = "excluded by feedback"
COPY = "a copy of"
TALK_TYPES = ("transcript.turn", "document.indexed")
"""What was said or written, and is no record."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_DIGITS = re.compile(r"\S*\d\S*")


class LedgerEntry(NamedTuple):
    """What one row says, and whether it counts. Its row of the ledger is made where it is shown or recorded."""

    found: FoundRow
    citation: str
    value: RowValue
    things: float
    """How many things it stands for."""
    when: When
    said: str
    """Its sentences, folded; empty where it has fields alone."""
    source: int
    """The event that stands for all copies of the statement."""
    reason: str
    """Why it does not count; empty if it does."""

    @property
    def counted(self) -> bool:
        return not self.reason

    @property
    def source_group(self) -> str:
        return f"source-{self.source}"

    def frame(self, asked: frozenset[str]) -> frozenset[str]:
        """What it says besides: its words without those of the question, without numbers and dates."""
        said = self.said or folded(readable_text(self.found.event.payload or {}))
        return frozenset(words(_DIGITS.sub(" ", said))) - asked

    def row(self, include_reason: str) -> LedgerRow:
        event, payload = self.found.event, self.found.event.payload or {}
        kind, name = thing_of(self.found.text)
        return LedgerRow(
            fact_id=f"fact-{event.seq}",
            source_group=self.source_group,
            citation=self.citation,
            kind=kind or event.type,
            entity=name if len(name) <= MAX_LABEL and not name.startswith(f"{event.type}:") else "",
            value=_json_number(self.value.value),
            unit=self.value.unit,
            time=self.when.time[:19] + "Z",
            label=self.label,
            include_reason="" if self.reason else include_reason,
            exclude_reason=self.reason,
            authority=_authority(payload.get("authority")),
        )

    @property
    def label(self) -> str:
        """The first sentences or fields, each whole: so that who erases the event finds what repeats it."""
        payload = self.found.event.payload or {}
        said = prose(payload)
        parts = (
            _SENTENCE.split(said)
            if said
            else readable_text({k: payload[k] for k in payload if k not in TIMES}).split("\n")
        )
        label = ""
        for part in filter(None, map(str.strip, parts)):
            longer = f"{label} {part}".strip()
            if len(longer) > MAX_LABEL:
                break
            label = longer
        return label


def ledger(snapshot: Snapshot, question: ComposedQuestion, found: FoundRows, purpose: Purpose) -> list[LedgerEntry]:
    """All rows in the order of the log; each counts or says why it does not."""
    rows = [row for row in found.rows if not row.event.type.startswith(OWN)]
    cited = snapshot.cite_events([row.event for row in rows])
    left_out = _suppressed(rows, cited, purpose, snapshot.newest)
    asked = frozenset(stem for word in question.words for stem in word.stems)
    senses, entries = Senses(question), []
    for row, citation in zip(rows, cited, strict=True):
        entry = _entry(question, row, citation, asked=asked)
        reason = _why_not(question, entry, found=found, suppression=left_out.get(citation, ""), senses=senses)
        entries.append(entry._replace(reason=reason) if reason else entry)
    entries = _without_value(question, entries)
    current = _last_of_each_key(sorted(entries, key=_place))
    if not question.needs_value:
        current = _deeds_before_plans(senses, current)
    chosen = _with_two_ends(question, _records_before_talk(question, _once(current)))
    return _few(chosen, question.narrowed.last)


def _without_value(question: ComposedQuestion, entries: list[LedgerEntry]) -> list[LedgerEntry]:
    """A record that lacks only the word that is the field of the value is one of those that are meant, without a value:
    of `the average yield of B7` each record of B7."""
    typed = [one for one in entries if one.counted and one.value.field]
    kinds = {one.found.event.type for one in typed}
    fields = frozenset(words(" ".join({one.value.field.replace("_", " ") for one in typed})))

    def lacks_value(entry: LedgerEntry) -> bool:
        row = entry.found
        if not row.lacks or not row.held or row.event.type not in kinds or fields.isdisjoint(words(row.lacks)):
            return False
        return question.period is None or question.period.has(entry.when.time)

    return [one._replace(reason=NO_VALUE) if lacks_value(one) else one for one in entries]


def _place(entry: LedgerEntry) -> int:
    return entry.found.event.seq


def _entry(question: ComposedQuestion, row: FoundRow, citation: str, *, asked: frozenset[str]) -> LedgerEntry:
    event, payload = row.event, row.event.payload or {}
    said = folded(prose(payload))
    value = NO_VALUE_NEEDED
    if question.needs_value:
        unit = question.unit or question.unit_of_bounds
        value = _value(question, payload, said, unit=unit, asked=asked)
        if not unit and question.more_of & stems_of(event.type.replace(".", " ")):  # not how much each states
            value = RowValue(1.0)
        if price_of_one(question, payload, value.field):
            value = RowValue(None, problem=ONE_OF_SEVERAL)
    count = 1.0
    if question.may_state_counts:
        count, value = _counted(question, event.type, payload, said, value=value)
    moment = when(event, said)
    if question.periods:
        side = next((place for place, one in enumerate(question.periods) if one.has(moment.time)), -1)
        row = row._replace(side=side)
    return LedgerEntry(row, citation, value, count, moment, said, event.seq, "")


def _value(question: ComposedQuestion, payload: JsonObject, said: str, *, unit: str, asked: frozenset[str]) -> RowValue:
    """Of what is asked for; where that is only how it is asked, `the heaviest`, of whatever the row states."""
    wanted = unit or question.implied or (TIME if question.operation == "duration" else "")
    value = value_of(payload, said, wanted, asked=asked, may_be_time=question.may_be_time)
    if question.asks_how_many and not wanted and is_money(value.unit):  # `how many lamps` is no money
        return RowValue(None, problem=NO_VALUE)
    if value.value is None and wanted == TIME:  # `how long` may be a length too
        value = value_of(payload, said, LENGTH, asked=asked)
    if value.value is None and wanted not in (unit, ""):
        bare = value_of(payload, said, "", asked=asked, may_be_time=question.may_be_time)
        value = bare if wanted != TIME or (bare.field and not bare.unit) else value
    return value


def _counted(
    question: ComposedQuestion, event_type: str, payload: JsonObject, said: str, *, value: RowValue
) -> tuple[float, RowValue]:
    """How many things a row stands for: a field says it, or a number before the noun that is asked for."""
    nouns = question.counted or frozenset(stem for word in question.topic for stem in word.stems)
    if not nouns.isdisjoint(stems_of(event_type.replace(".", " "))):  # `orders`, of events `order.placed`
        return 1.0, value
    typed = count_of(payload, nouns)
    if typed.problem:
        return 1.0, typed
    if typed.value is not None:
        return typed.value, value if value.value is not None else typed
    stated = noun_quantities(said, nouns)
    return (stated[0] if len(stated) == 1 else 1.0), value


def _why_not(
    question: ComposedQuestion, entry: LedgerEntry, *, found: FoundRows, suppression: str, senses: Senses
) -> str:
    row, payload = entry.found, entry.found.event.payload or {}
    if not row.held:
        return SUPERSEDED
    if row.lacks:
        return f"does not have {row.lacks!r:.40}"
    outside = question.period is not None and not question.period.has(entry.when.time)
    if outside or (question.periods and row.side < 0):
        return OUTSIDE
    if row.left_out:
        return LEFT_OUT
    if entry.said and CANCELLED.search(entry.said) and not question.asks_for_cancelled:
        return DID_NOT_HAPPEN
    if row.event.type in TALK_TYPES and _is_intended(question, entry):
        return NOT_YET
    if row.event.seq in found.excluded:
        return f"{FEEDBACK} [{found.excluded[row.event.seq]}]"
    if suppression:
        return f"the purpose leaves it out: {suppression}"
    if row.side == -2:
        return "belongs to more than one of what is compared"
    status = str(payload.get("status") or "").lower()
    if question.standing is None and status in DROPPED | PENDING:
        return f"its status is {status!r:.40}"
    if question.standing is None and row.event.type not in TALK_TYPES and (against := senses.against(row.event)):
        return against
    if question.may_state_counts and entry.value.problem == SEVERAL:
        return SEVERAL
    if question.needs_value and entry.value.value is None:
        return entry.value.problem or NO_VALUE
    return _out_of_bounds(question, entry.value)


def _is_intended(question: ComposedQuestion, entry: LedgerEntry) -> bool:
    """Whether talk is of what may come, in each of its sentences that have a number or a word of the question."""
    if INTENDED.search(question.plain):
        return False
    asked = frozenset(stem for word in question.words for stem in word.stems)
    telling = [one for one in _SENTENCE.split(entry.said) if _DIGITS.search(one) or not asked.isdisjoint(words(one))]
    return bool(telling) and all(map(INTENDED.search, telling))


def _out_of_bounds(question: ComposedQuestion, value: RowValue) -> str:
    for bound in question.bounds:
        if value.unit and bound.unit and converted(1, value.unit, bound.unit) is None:
            return f"{OTHER_UNIT} {bound}"
        if value.value is not None and not bound.takes(value.value, value.unit):
            return f"is not {bound}"
    return ""


def _few(entries: list[LedgerEntry], last: int) -> list[LedgerEntry]:
    """Only the newest of the rows that count, or for a number below zero the oldest."""
    if not last:
        return entries
    counted = sorted((one for one in entries if one.counted), key=lambda one: (one.when.time, one.found.event.seq))
    kept = {id(one) for one in (counted[-last:] if last > 0 else counted[:-last])}
    return [one._replace(reason=NOT_LAST) if one.counted and id(one) not in kept else one for one in entries]


def _deeds_before_plans(senses: Senses, entries: list[LedgerEntry]) -> list[LedgerEntry]:
    """Where some rows are of what happened, plans are not counted with them."""
    plans = [senses.is_plan(one.found.event) for one in entries]
    if not any(one.counted and not planned for one, planned in zip(entries, plans, strict=True)):
        return entries
    each = zip(entries, plans, strict=True)
    return [one._replace(reason=IS_PLAN) if one.counted and planned else one for one, planned in each]


def _last_of_each_key(entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
    """Of events of one type under one key only the last counts, also where the graph knows nothing of the type."""
    last = {key: entry for entry in entries if (key := _key(entry)) and entry.found.held}
    is_last = [last.get(_key(one), one) is one for one in entries]
    each = zip(entries, is_last, strict=True)
    return [one if not one.counted or newest else one._replace(reason=SUPERSEDED) for one, newest in each]


def _key(entry: LedgerEntry) -> tuple[str, ...]:
    key = (entry.found.event.payload or {}).get("key")
    return (entry.found.event.type, folded(key.strip())) if isinstance(key, str) and key.strip() else ()


def _once(entries: Iterable[LedgerEntry]) -> list[LedgerEntry]:
    """Copies of one statement are one source: the first counts, the others name it."""
    first: dict[object, LedgerEntry] = {}
    found = []
    for entry in entries:
        if entry.counted:
            same = (_statement(entry), entry.value.value, _own_time(entry))
            if (earlier := first.setdefault(same, entry)) is not entry:
                entry = entry._replace(source=earlier.source, reason=f"{COPY} fact-{earlier.source}")
        found.append(entry)
    return found


def _statement(entry: LedgerEntry) -> object:
    payload = entry.found.event.payload or {}
    return " ".join(entry.said.split()) or dumps(payload, default=str, option=OPT_SORT_KEYS)


def _own_time(entry: LedgerEntry) -> str:
    """The time that a row itself states; what only was recorded at different times may be a copy all the same."""
    if entry.when.source != DAY_RECORDED:
        return entry.when.time
    # A thing with an identity of its own is no copy of another.
    kind, name = thing_of(entry.found.text)
    return name if kind not in ("transcript_turn", "event") else ""


def _records_before_talk(question: ComposedQuestion, entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
    """Where fields hold the values, a remark on the same counts no second time."""
    typed = [one for one in entries if one.counted and is_record(question, one)]
    if not typed or len(typed) == sum(one.counted for one in entries):
        return list(entries)
    return [one._replace(reason=TALK) if one.counted and not is_record(question, one) else one for one in entries]


def _with_two_ends(question: ComposedQuestion, entries: list[LedgerEntry]) -> list[LedgerEntry]:
    """Where no row states how long something took, and fields date just two records of it, these are its ends."""
    if question.operation != "duration" or question.sides or any(entry.counted for entry in entries):
        return entries
    names = {word.text for word in question.topic if word.is_name}
    ends = [
        one
        for one in entries
        if one.when.source == DAY_FROM_FIELD
        and (one.reason == NO_VALUE or (one.found.held and names and one.found.lacks and one.found.lacks not in names))
    ]
    if len(ends) != 2 or ends[0].when.time == ends[1].when.time:
        return entries
    return [one._replace(reason="") if one in ends else one for one in entries]


def is_record(question: ComposedQuestion, entry: LedgerEntry) -> bool:
    """Whether fields say what the sum needs: the value, or for a count that it is a record at all."""
    if question.needs_value:
        return bool(entry.value.field)
    return entry.found.event.type not in TALK_TYPES


def is_selected(question: ComposedQuestion, entry: LedgerEntry) -> bool:
    """Whether fields select it: each word of the question stands in a field whose value says nothing else."""
    event = entry.found.event
    needed = {stem for word in question.topic for stem in word.stems}
    if question.sides and entry.found.side >= 0:
        needed |= {stem for word in question.sides[entry.found.side] for stem in word.stems}
    of_type = stems_of(event.type.replace(".", " "))
    whole = [stems for stems in stems_of_fields(event.payload or {}, event.actor) if stems and stems <= needed]
    return needed <= frozenset().union(of_type, *whole)


def _suppressed(rows: Sequence[FoundRow], cited: Sequence[str], purpose: Purpose, newest: str) -> dict[str, str]:
    if not purpose.suppresses:
        return {}
    results = [
        Result(
            content=prose(row.event.payload or {}),
            citation=citation,
            seq=row.event.seq,
            lane="exact",
            score=1.0,
            steps=(),
            profile="",
            event_type=row.event.type,
            actor=row.event.actor,
            valid_from=row.text.time,
            entity_type=thing_of(row.text)[0],
            properties=row.event.payload or {},
        )
        for row, citation in zip(rows, cited, strict=True)
    ]
    return suppressed(purpose, results, newest)


def _authority(value: object) -> str:
    return value if isinstance(value, str) and value in AUTHORITIES else ""


def _json_number(value: float | None) -> int | float | None:
    return int(value) if value is not None and value == int(value) else value
