"""How sure an answer is, and what speaks against its being right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from zaxy.assemble.synthesis.copies import may_be_one, repeats_a_day
from zaxy.assemble.synthesis.ledger import (
    COPY,
    ONE_OF_SEVERAL,
    OTHER_UNIT,
    TALK,
    TALK_TYPES,
    LedgerEntry,
    is_record,
    is_selected,
)
from zaxy.assemble.synthesis.question import ComposedQuestion
from zaxy.assemble.synthesis.rows import FoundRows
from zaxy.assemble.synthesis.senses import WAS_UNDONE, Senses
from zaxy.assemble.synthesis.values import DAY_RECORDED, NO_VALUE, SEVERAL, TWO_WAYS
from zaxy.assemble.synthesis.words import PEOPLE
from zaxy.retrieve.question import AskedWord

BY_FIELDS, BY_TEXT = 0.9, 0.65
"""How sure an answer is whose rows are selected and valued by fields, and one that was read in sentences: words cannot
tell what was paid from what was only meant to be."""
DOUBTED, PARTIAL, LEAST = 0.7, 0.5, 0.3
"""The most that an answer reaches with a doubt about some rows, without all rows, and where it is one of several."""
UNREAD = (NO_VALUE, SEVERAL, TWO_WAYS, ONE_OF_SEVERAL)
_BY_ACTOR = "who they are is known only by who recorded it"


def sureness(question: ComposedQuestion, entries: Sequence[LedgerEntry]) -> float:
    """By fields that select and value the rows, or by rows that all say the same besides; else by text."""
    if not entries or not all(is_record(question, entry) for entry in entries):
        return BY_TEXT
    by_time = question.period is not None or question.narrowed.last
    if by_time and any(entry.when.source == DAY_RECORDED for entry in entries):
        return DOUBTED
    if question.period is not None and question.period.is_rough:
        return DOUBTED
    kinds = {entry.found.event.type for entry in entries}
    fields = {entry.value.field for entry in entries}
    if len(kinds) > 1 or len(fields) > 1:
        return DOUBTED
    if all(is_selected(question, entry) for entry in entries):
        return BY_FIELDS
    asked = frozenset(stem for word in question.words for stem in word.stems)
    frames = {(entry.found.side, entry.frame(asked)) for entry in entries}
    return BY_FIELDS if len(frames) == len({entry.found.side for entry in entries}) and len(entries) > 1 else DOUBTED


def problems_of(
    question: ComposedQuestion, entries: Sequence[LedgerEntry], found: FoundRows
) -> Iterator[tuple[float, str]]:
    if found.dropped:
        yield DOUBTED - 0.1, f"no row has these words of the question: {', '.join(found.dropped)}"
    reasons = [entry.reason for entry in entries]
    if unread := sum(reason in UNREAD for reason in reasons):
        yield PARTIAL, f"{unread} of the rows have no value that can be read"
    if TALK in reasons:
        yield DOUBTED, "remarks in talk were left out, and may say more than the records"
    copies = [entry for entry in entries if entry.reason.startswith(COPY)]
    if any(entry.when.source == DAY_RECORDED for entry in copies):
        yield DOUBTED, "what was recorded twice in the same words counts once"
    if any(repeats_a_day(entry) for entry in copies):
        yield DOUBTED, "what was recorded twice of one day in the same words counts once"
    if WAS_UNDONE in reasons:
        yield DOUBTED, "some of it was undone, and it is not said of what"
    if unlike := sum(reason.startswith(OTHER_UNIT) for reason in reasons):
        yield PARTIAL, f"{unlike} of the rows have another unit"
    if question.taken:
        yield DOUBTED, f"words were taken for others that memory has: {', '.join(question.taken)}"
    if question.without:
        yield DOUBTED, f"what the question leaves out is known by these words: {_text(question.without)}"
    if question.operation == "count" and question.named and question.standing is None:
        of_people = PEOPLE.fullmatch(question.named) is not None
        yield DOUBTED, _BY_ACTOR if of_people else f"no row says that it is one of these: {question.named}"
    if question.asks_for_different and not question.counted:
        yield DOUBTED, "it is not said what makes two of them different"
    needed = [entry for entry in entries if entry.counted]
    records = [one.found.event for one in needed if one.found.event.type not in TALK_TYPES]
    for doubt in Senses(question).doubts(records):
        yield DOUBTED, doubt
    if doubt := may_be_one(needed):
        yield DOUBTED, doubt
    if question.operation in ("average", "median", "sum") and len(needed) == 1:
        yield DOUBTED, "only one row counts"


def _text(words: Sequence[AskedWord]) -> str:
    return ", ".join(word.text for word in words)
