"""What follows from the counted rows: answers in order, each with what it rests on and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from statistics import median
from typing import NamedTuple

from zaxy.api.synthesis import AnswerCandidate
from zaxy.assemble.synthesis.doubts import DOUBTED, LEAST, PARTIAL, UNREAD, problems_of, sureness
from zaxy.assemble.synthesis.ledger import (
    TALK_TYPES,
    LedgerEntry,
)
from zaxy.assemble.synthesis.lexicon import MONEY, TIME, converted, dimension_of
from zaxy.assemble.synthesis.periods import Different, average_of_each, distinct_of, of_time
from zaxy.assemble.synthesis.question import ComposedQuestion
from zaxy.assemble.synthesis.rows import FoundRows
from zaxy.assemble.synthesis.values import DAY_RECORDED, NO_VALUE, OF_PEOPLE, fields_of
from zaxy.assemble.synthesis.words import FAST, LEAST_WORDS, PEOPLE, SLOW
from zaxy.text.tokens import words

MAX_LISTED = 12
"""Things of an order that are named in the answer."""


class Computed(NamedTuple):
    """A result before it is judged."""

    value: float | str | None
    unit: str
    answer: str
    entries: tuple[LedgerEntry, ...]
    limit: float = 1.0
    """How sure it can be at best."""


class Outcome(NamedTuple):
    candidates: tuple[AnswerCandidate, ...]
    problems: tuple[str, ...]
    """Why there is none, or why it is not sure."""


def candidates(
    question: ComposedQuestion, entries: Sequence[LedgerEntry], found: FoundRows, gaps: Sequence[str]
) -> Outcome:
    if question.narrowed.refused:
        return Outcome((), (question.narrowed.refused,))
    problems = list(problems_of(question, entries, found))
    computed, refused = _computed(question, entries, found.dropped)
    limit = min([1.0, *(PARTIAL for _ in gaps), *(bound for bound, _ in problems)])
    listed = []
    for rank, one in enumerate(computed, 1):
        sure = min(sureness(question, one.entries), limit, one.limit)
        confidence = sure if rank == 1 else min(sure, LEAST)
        listed.append(_candidate(rank, question, one, entries=entries, confidence=confidence))
    return Outcome(tuple(listed), (*refused, *(why for _, why in problems)))


def _candidate(
    rank: int, question: ComposedQuestion, one: Computed, *, entries: Sequence[LedgerEntry], confidence: float
) -> AnswerCandidate:
    support = tuple(dict.fromkeys(entry.source_group for entry in one.entries))
    excluded = tuple(dict.fromkeys(e.source_group for e in entries if not e.counted and e.source_group not in support))
    value = int(one.value) if isinstance(one.value, float) and one.value == int(one.value) else one.value
    kind = question.operation
    if kind == "count" and question.unit:
        kind = "sum"
    return AnswerCandidate(rank, kind, one.answer, value, one.unit, round(confidence, 2), support, excluded)


# The sums


_OF_SOME = "some of the rows have no value that can be read, and the {} of the others is another one"


def _lacks_some(entries: Sequence[LedgerEntry]) -> bool:
    """Whether records like those that count have no value. A remark without a number is none."""
    types = {entry.found.event.type for entry in entries if entry.counted} - set(TALK_TYPES)
    return any(
        entry.found.event.type in types if entry.reason == NO_VALUE else entry.reason in UNREAD for entry in entries
    )


def _computed(
    question: ComposedQuestion, entries: Sequence[LedgerEntry], dropped: Sequence[str]
) -> tuple[list[Computed], list[str]]:
    counted = [entry for entry in entries if entry.counted]
    if not counted:
        return [], ["no row counts"]
    if question.narrowed.each:
        return _of_each(question, counted)
    if question.operation == "order":
        return _order(question, counted)
    if question.operation == "duration" and question.sides:
        return _between(question, counted)
    if question.operation == "duration" and question.is_spread:
        return _first_to_last(question, counted)
    if question.operation == "duration" and all(entry.value.value is None for entry in counted):
        first, last = sorted(counted, key=lambda entry: entry.when.time)
        return [_apart(question, first, last, PARTIAL)], []
    if question.operation == "count" and (not question.unit or question.unit == MONEY):
        return _count(question, counted), []
    if question.standing is not None:
        return _count(question, counted), []
    if question.counts_groups:
        groups = [(_group_of(question, one), one.things, one) for one in counted]
        return _greatest_group(groups, "", _chooser(question, ""))
    unit, refused = _one_unit(question, counted)
    if refused and question.operation == "sum" and not question.unit and not any(e.value.value for e in counted):
        return _count(question, counted), []
    if refused:
        return [], [refused]
    if question.operation == "duration" and (days := _days_of_hours(question, counted)):
        return days, []
    if question.operation in ("average", "median") and _lacks_some(entries):
        return [], [_OF_SOME.format(question.operation)]
    values = [(_in(entry, unit), entry) for entry in counted]
    if question.is_spread:
        return _spread(values, unit), []
    if question.operation in ("difference", "comparison"):
        return _compared(question, values, unit, dropped)
    if question.operation == "extreme":
        return _extreme(question, values, unit)
    numbers = [value for value, _ in values]
    total = {"average": lambda: sum(numbers) / len(numbers), "median": lambda: median(numbers)}
    result = _rounded(total.get(question.operation, lambda: sum(numbers))())
    return [Computed(result, unit, _with_unit(result, unit), tuple(counted))], []


def _of_each(question: ComposedQuestion, counted: Sequence[LedgerEntry]) -> tuple[list[Computed], list[str]]:
    """The average of what each month had, from the first month with a row to the last. Where one of them has none,
    whether it is meant is not said."""
    each = question.narrowed.each
    if question.operation not in ("sum", "average", "duration") or question.sides:
        return [], [f"an amount for each {each} is asked for, and only sums and averages are worked out so"]
    unit, refused = _one_unit(question, counted)
    if refused:
        return [], [refused]
    average, is_each = average_of_each(each, [(entry.when.time, _in(entry, unit)) for entry in counted])
    result, limit = _rounded(average), DOUBTED if is_each else PARTIAL
    return [Computed(result, unit, f"{_with_unit(result, unit)} for each {each}", tuple(counted), limit)], []


def _days_of_hours(question: ComposedQuestion, counted: Sequence[LedgerEntry]) -> list[Computed]:
    """How many days, of rows that state hours: those on which there is a row. Nobody works 24 hours a day."""
    if question.unit not in ("d", "wk") or any(dimension_of(entry.value.unit) != TIME for entry in counted):
        return []
    if any(entry.value.unit in ("d", "wk") for entry in counted):
        return []
    each = "day" if question.unit == "d" else "week"
    number = float(len({of_time(each, entry.when.time) for entry in counted}))
    return [Computed(number, question.unit, _with_unit(number, question.unit), tuple(counted), DOUBTED)]


def _one_unit(question: ComposedQuestion, counted: Sequence[LedgerEntry]) -> tuple[str, str]:
    """The unit of the answer; or why there is none."""
    units = list(dict.fromkeys(entry.value.unit for entry in counted))
    wanted = question.unit if question.unit not in ("", MONEY, TIME) else units[0]
    if len({dimension_of(unit) for unit in units}) > 1:
        return (
            "",
            f"the rows have different units, which cannot be taken together: {', '.join(u or 'none' for u in units)}",
        )
    return wanted, ""


def _in(entry: LedgerEntry, unit: str) -> float:
    value = entry.value.value or 0.0
    other = converted(value, entry.value.unit, unit) if entry.value.unit else value
    return value if other is None else other


def _count(question: ComposedQuestion, counted: Sequence[LedgerEntry]) -> list[Computed]:
    """How many there are: by what each row stands for, or one for each. Where some state a number and some do not, both
    are shown, and neither is sure."""
    if different := _different(question, counted):
        number, limit = float(len(different.names)), DOUBTED if different.is_doubted else 1.0
        names = f"{_with_unit(number, '')} ({', '.join(different.names[:MAX_LISTED])})"
        return [Computed(number, "", names, tuple(counted), limit)]
    stated = [entry.things for entry in counted]
    rows = Computed(float(len(counted)), "", str(len(counted)), tuple(counted))
    if all(number == 1 for number in stated):
        return [rows]
    total = _rounded(sum(stated))
    typed = all(entry.value.field for entry in counted)
    return [
        Computed(total, "", _with_unit(total, ""), tuple(counted), 1.0 if typed else PARTIAL),
        rows._replace(limit=LEAST),
    ]


def _extreme(
    question: ComposedQuestion, values: Sequence[tuple[float, LedgerEntry]], unit: str
) -> tuple[list[Computed], list[str]]:
    choose = _chooser(question, unit)
    groups = [(_group_of(question, entry), value, entry) for value, entry in values]
    if question.of_group or question.time_group:
        found, refused = _greatest_group(groups, unit, choose)
        return [one._replace(limit=DOUBTED) for one in found] if question.time_group else found, refused
    best = choose(value for value, _ in values)
    if question.group and all(name for name, value, _ in groups if value == best):
        name, _, entry = next(one for one in groups if one[1] == best)
        answer = f"{name} ({_with_unit(_rounded(best), unit)}, {entry.when.time[:10]})"
        return [Computed(name, "", answer, tuple(entry for _, entry in values))], []
    having = [entry for value, entry in values if value == best]
    names = "; ".join(dict.fromkeys(_name(entry) for entry in having[:3]))
    answer = f"{_with_unit(_rounded(best), unit)} ({names}, {having[0].when.time[:10]})"
    return [Computed(_rounded(best), unit, answer, tuple(entry for _, entry in values))], []


def _different(question: ComposedQuestion, counted: Sequence[LedgerEntry]) -> Different | None:
    events = [entry.found.event for entry in counted]
    if PEOPLE.fullmatch(question.named):
        return Different(tuple(dict.fromkeys(event.actor for event in events)), True)
    return distinct_of(question, events)


def _chooser(question: ComposedQuestion, unit: str) -> Callable[[Iterable[float]], float]:
    """The fastest takes the least time, and has the greatest speed."""
    if dimension_of(unit) == TIME and FAST.search(question.asked_for):
        return max if SLOW.search(question.asked_for) else min
    return min if LEAST_WORDS.search(question.asked_for) else max


def _group_of(question: ComposedQuestion, entry: LedgerEntry) -> str:
    """What a row says of what is asked for behind `which`; empty where no field of that name has a short text."""
    if question.time_group:
        return of_time(question.time_group, entry.when.time)
    fields = fields_of(entry.found.event.payload or {})
    if question.asks_who:
        return next((fields[name] for name in OF_PEOPLE if name in fields), entry.found.event.actor)
    for field, value in fields.items():
        if not question.group.isdisjoint(words(field.replace("_", " "))):
            return value
    return ""


def _greatest_group(
    groups: Sequence[tuple[str, float, LedgerEntry]], unit: str, choose: Callable[[Iterable[float]], float]
) -> tuple[list[Computed], list[str]]:
    totals: dict[str, float] = {}
    for name, value, _ in groups:
        totals[name] = totals.get(name, 0.0) + value
    if "" in totals or len(totals) < 2:
        return [], ["the rows do not say what they belong to"]
    best = choose(totals.values())
    chosen = [name for name, total in totals.items() if total == best]
    name = "equal" if len(chosen) > 1 else chosen[0]
    answer = f"{' and '.join(chosen)} ({_with_unit(_rounded(best), unit)})"
    return [Computed(name, "", answer, tuple(entry for _, _, entry in groups))], []


def _spread(values: Sequence[tuple[float, LedgerEntry]], unit: str) -> list[Computed]:
    """How far the highest is from the lowest."""
    first, last = min(value for value, _ in values), max(value for value, _ in values)
    ends = f"{_with_unit(_rounded(first), unit)} to {_with_unit(_rounded(last), unit)}"
    result = _rounded(last - first)
    limit = 1.0 if len(values) > 1 else PARTIAL
    return [Computed(result, unit, f"{_with_unit(result, unit)} ({ends})", tuple(one for _, one in values), limit)]


def _compared(
    question: ComposedQuestion, values: Sequence[tuple[float, LedgerEntry]], unit: str, dropped: Sequence[str]
) -> tuple[list[Computed], list[str]]:
    totals: list[float] = []
    names = [" ".join(word.text for word in side if word.text not in dropped) for side in question.sides]
    names = names or list(question.names_of_periods)
    if len(names) != 2:
        return [], ["which two things are compared cannot be known"]
    for side, name in enumerate(names):
        of_side = [value for value, entry in values if entry.found.side == side]
        if not of_side:
            return [], [f"no row counts for {name!r:.60}"]
        totals.append(sum(of_side))
    entries = tuple(entry for _, entry in values)
    each = ", ".join(f"{name} {_with_unit(_rounded(total), unit)}" for name, total in zip(names, totals, strict=True))
    if question.operation == "difference":
        result = _rounded(abs(totals[0] - totals[1]))
        return [Computed(result, unit, f"{_with_unit(result, unit)} ({each})", entries)], []
    choose = min if LEAST_WORDS.search(question.asked_for) else max
    chosen = "equal" if totals[0] == totals[1] else names[totals.index(choose(totals))]
    return [Computed(chosen, "", f"{chosen} ({each})", entries)], []


def _between(question: ComposedQuestion, counted: Sequence[LedgerEntry]) -> tuple[list[Computed], list[str]]:
    """The time from the one to the other; where several rows tell of one of them, from the first to the first."""
    chosen, doubt = [], 1.0
    for side in range(len(question.sides)):
        of_side = sorted([e for e in counted if e.found.side == side], key=lambda entry: entry.when.time)
        if not of_side:
            name = " ".join(word.text for word in question.sides[side])
            return [], [f"no row tells of {name!r:.60}"]
        chosen.append(of_side[0])
        doubt = PARTIAL if len({entry.when.time for entry in of_side}) > 1 else doubt
    doubt = DOUBTED if doubt == 1.0 and any(one.when.source == DAY_RECORDED for one in chosen) else doubt
    return [_apart(question, chosen[0], chosen[1], doubt)], []


def _first_to_last(question: ComposedQuestion, counted: Sequence[LedgerEntry]) -> tuple[list[Computed], list[str]]:
    ordered = sorted(counted, key=lambda entry: entry.when.time)
    if len(ordered) < 2:
        return [], ["only one row counts, and that is the first and the last"]
    span = _apart(question, ordered[0], ordered[-1], DOUBTED)
    return [span._replace(entries=tuple(ordered))], []


def _apart(question: ComposedQuestion, first: LedgerEntry, second: LedgerEntry, limit: float) -> Computed:
    begin, end = (datetime.fromisoformat(entry.when.time.replace("Z", "+00:00")) for entry in (first, second))
    seconds = abs((end - begin).total_seconds())
    unit = question.unit if question.unit and converted(1, "s", question.unit) else "d"
    result = _rounded(converted(seconds, "s", unit) or 0.0)
    result = float(round(result)) if unit == "d" and abs(result - round(result)) < 0.5 else result
    dates = f"{first.when.time[:10]} to {second.when.time[:10]}"
    return Computed(result, unit, f"{_with_unit(result, unit)} ({dates})", (first, second), limit)


def _order(question: ComposedQuestion, counted: Sequence[LedgerEntry]) -> tuple[list[Computed], list[str]]:
    """By time; of what is listed the first row of each thing."""
    ordered = sorted(counted, key=lambda entry: (entry.when.time, entry.found.event.seq))
    doubt = DOUBTED if any(entry.when.source == DAY_RECORDED for entry in ordered) else 1.0
    if question.sides:
        firsts = {entry.found.side: entry for entry in reversed(ordered)}
        if len(firsts) < len(question.sides):
            return [], ["not everything that is to be put in order was found"]
        doubt = PARTIAL if len(firsts) < len(ordered) else doubt
        ordered = sorted(firsts.values(), key=lambda entry: (entry.when.time, entry.found.event.seq))
    if len(ordered) < 2:
        return [], ["only one row counts, and that has no order"]
    names = [f"{_name(entry)} ({entry.when.time[:10]})" for entry in ordered[:MAX_LISTED]]
    return [Computed(None, "", "; ".join(names), tuple(ordered), doubt)], []


def _name(entry: LedgerEntry) -> str:
    """What a row is called in an answer: what it says, or the event itself."""
    return entry.label or f"event {entry.found.event.seq}"


def _rounded(value: float) -> float:
    return round(value, 6)


def _with_unit(value: float, unit: str) -> str:
    shown = f"{int(value)}" if value == int(value) else f"{value:.4f}".rstrip("0").rstrip(".")
    return f"{shown} {unit}".strip()
