"""What a composed question asks for: which rows, of which period, measured how, and compared with what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from zaxy.assemble.slots import MANY, Composed, SlotPlan, as_asked
from zaxy.assemble.status import GROUPS, NAMED_KINDS, StatusQuestion
from zaxy.assemble.synthesis.dates import NamedPeriod, Period, period_in, two_periods
from zaxy.assemble.synthesis.lexicon import MONEY, MONTHS, TIME, dimension_of, is_money, named_units
from zaxy.assemble.synthesis.narrowed import Bound, Narrowed, narrowed, time_noun
from zaxy.assemble.synthesis.words import (
    ASKING,
    CANCELLED,
    COMPARED,
    DIFFERENT,
    FAST,
    FIRST_OR_LAST,
    FIRST_TO_LAST,
    GREATEST_AND_LEAST,
    GROUP_SUPERLATIVE,
    GROWN,
    HOW_LONG,
    IMPLIED,
    JOINING,
    LIST_MARKS,
    MEASURED,
    OF_TIME,
    SIDE_WORDS,
    SIDES,
    SPREAD,
    TIMED,
    TITLES,
    WHICH,
    WHO,
    WORKED,
)
from zaxy.retrieve.question import Asked, AskedWord
from zaxy.text.languages import language_of
from zaxy.text.status_words import status_words
from zaxy.text.tokens import UNSPACED, WORDS, folded, words
from zaxy.text.word_weights import common

_BOTH_ENDS = re.compile("|".join(GREATEST_AND_LEAST) + r"|\b(?:and|und|et|y)\b")
_JOINED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
TELLING = 0.25
"""The weight from which on a word of the question must stand in a row."""
WITH_VALUES = ("sum", "average", "median", "extreme", "difference", "comparison")
KINDS = NAMED_KINDS
"""The kinds of things that the graph counts by themselves: tasks, decisions, goals, problems."""


class ComposedQuestion(NamedTuple):
    composed: Composed
    topic: tuple[AskedWord, ...]
    """What every row must have."""
    period: Period | None
    unit: str
    """The unit that is asked for, or `money` for any currency; empty where none is named."""
    standing: StatusQuestion | None
    """The kind and the states that it names: `open tasks`. Its topic is the same."""
    asked_for: str = ""
    """The words of the operation itself, folded: `the highest`."""
    sides: tuple[tuple[AskedWord, ...], ...] = ()
    """What is compared or put in order: the words of each, besides the topic."""
    periods: tuple[Period, ...] = ()
    """The two periods that are compared, where it is not two things."""
    names_of_periods: tuple[str, ...] = ()
    """As the question says them."""
    language: str = ""
    group: frozenset[str] = frozenset()
    """The stems of what is asked for behind `which`: `which client`, by whose field rows belong together."""
    time_group: str = ""
    """`month` of `which month`: by the time of which rows belong together."""
    counted: frozenset[str] = frozenset()
    """The stems of what directly follows `how many`: `pens` of `how many pens did Acme order`."""
    named: str = ""
    """The word directly behind `how many`, if it says too little to be looked for: `people`."""
    plain: str = ""
    """All of the question, folded."""
    joined: tuple[AskedWord, ...] = ()
    """Words of which a row needs only one: `fuel` and `food` of `on fuel and food`."""
    narrowed: Narrowed = Narrowed("")
    without: tuple[AskedWord, ...] = ()
    """The words of what the question leaves out."""
    by_words: tuple[AskedWord, ...] = ()
    """What every row must have where the graph has nothing of the kind."""
    taken: tuple[str, ...] = ()
    """The words that were taken for others, which memory has."""
    more_of: frozenset[str] = frozenset()
    """The stems behind `more` or `fewer` where two things are compared: `tickets` of `more tickets, Acme or Borg`."""
    is_spread: bool = False
    """Whether the difference is that of the highest and the lowest, or the duration that from the first to the last."""

    @property
    def operation(self) -> str:
        return self.composed.operation

    @property
    def needs_value(self) -> bool:
        """Whether a row counts by a value that it has, and not only by being there."""
        if self.operation == "duration":
            return not self.sides and not self.is_spread
        if self.counts_groups:
            return bool(self.bounds)
        of_kind = self.operation == "sum" and self.standing is not None
        return bool(self.bounds) or (self.operation in WITH_VALUES and not of_kind)

    @property
    def may_state_counts(self) -> bool:
        """Whether a row may stand for several things, as `three eggs` does."""
        may = self.operation in ("count", "sum") or self.counts_groups
        return may and not self.unit and self.standing is None and not self.bounds

    @property
    def counts_groups(self) -> bool:
        """Whether the rows of each group are counted: `who fixed the most bugs`."""
        return self.operation == "extreme" and self.of_group and not self.unit and not self.time_group

    @property
    def asks_who(self) -> bool:
        return WHO.match(self.plain) is not None

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return self.narrowed.bounds

    @property
    def unit_of_bounds(self) -> str:
        return next((bound.unit for bound in self.bounds if bound.unit), "")

    @property
    def asks_for_money(self) -> bool:
        return self.unit == MONEY or is_money(self.unit)

    @property
    def asks_how_many(self) -> bool:
        return MANY.match(self.plain) is not None

    @property
    def implied(self) -> str:
        """What is measured: the heaviest by its weight, whatever else a row states; empty where nothing says it."""
        return next((dimension for dimension, said in IMPLIED.items() if said.search(self.plain)), "")

    @property
    def may_be_time(self) -> bool:
        return any(said.search(self.plain) for said in (OF_TIME, TIMED, FAST, HOW_LONG, WORKED))

    @property
    def asks_for_different(self) -> bool:
        """Whether each thing counts once, however many rows tell of it."""
        return self.operation == "count" and DIFFERENT.search(self.plain) is not None

    @property
    def asks_for_cancelled(self) -> bool:
        return any(CANCELLED.match(folded(word.text)) for word in self.words)

    @property
    def of_group(self) -> bool:
        """Whether totals of groups are asked for, and not single rows."""
        return GROUP_SUPERLATIVE.fullmatch(self.asked_for) is not None

    @property
    def words(self) -> tuple[AskedWord, ...]:
        """Those of the topic and of all sides."""
        return (*self.topic, *(word for side in self.sides for word in side))


def read_question(plan: SlotPlan, asked: Asked, today: str) -> ComposedQuestion:
    """`today`: the day on which it was asked, for `last week`."""
    plain = as_asked(plan.query)
    asked = Asked(tuple(_apart(asked, plan.query)), asked.kind)
    compared = _compared_periods(plan, today)
    named = None if compared else period_in(plan.query, today)
    rest = plain
    for one in compared or ([named] if named else []):
        rest = _blanked(rest, one.start, one.end)
    group = _group(rest) if plan.composed.operation == "extreme" else ()
    narrow = narrowed(rest, plan.query, few=_may_be_few(plan.composed.operation, rest))
    rest = narrow.rest
    unit = _unit(f"{rest} {narrow.without}", plan.composed.operation)
    counted = _counted(asked, rest, plan.composed)
    rest = _topic_of(rest, plan.composed, asked, has_unit=bool(unit))
    standing = _standing(plan, asked, rest)
    topic = standing.topic.words if standing else tuple(_words(asked, rest))
    ends = {"difference": SPREAD, "duration": FIRST_TO_LAST}.get(plan.composed.operation)
    is_spread = ends is not None and not compared and ends.search(plain) is not None
    sides = () if compared or is_spread else tuple(_sides(plan.composed.operation, asked, rest))
    if sides:
        of_sides = {word for side in sides for word in side}
        topic = tuple(word for word in topic if word not in of_sides)
    said = plan.composed.pattern.search(plain)
    period = named.period if named else None
    stems = frozenset(stem for word in group for stem in words(word))
    stems |= {stem for word in asked.words if folded(word.text) in group for stem in word.stems}
    of_group = tuple(word for word in topic if stems.isdisjoint(word.stems))
    return ComposedQuestion(
        plan.composed,
        of_group or topic,
        period,
        unit,
        standing,
        said[0] if said else "",
        sides,
        tuple(one.period for one in compared),
        tuple(plan.query[one.start : one.end].strip() for one in compared),
        language_of(plan.query),
        stems,
        time_noun(group),
        counted.stems,
        counted.word if not any(counted.word == folded(word.text) for word in topic) else "",
        plain,
        () if sides else _joined(rest, tuple(_words(asked, rest))),
        narrow,
        tuple(_words(asked, MEASURED.sub(_spaces, narrow.without))),
        tuple(_words(asked, rest)),
        more_of=_more_of(plain) if plan.composed.operation in ("difference", "comparison") else frozenset(),
        is_spread=is_spread,
    )


def _compared_periods(plan: SlotPlan, today: str) -> list[NamedPeriod]:
    """Two periods with a word of comparing between them: `in April than in May`."""
    if plan.composed.operation not in ("difference", "comparison"):
        return []
    periods = two_periods(plan.query, today)
    between = folded(plan.query)[periods[0].end : periods[1].start] if periods else ""
    return periods if any(pattern.search(f" x {between} x ") for pattern in SIDES["than"] + SIDES["or"]) else []


def _group(rest: str) -> tuple[str, ...]:
    found = WHICH.search(rest)
    return (found[1],) if found else ()


def _may_be_few(operation: str, rest: str) -> bool:
    """Whether `the last two` is of rows, and not an end of what is compared or measured."""
    if operation in ("order", "difference", "comparison"):
        return False
    return not any(pattern.search(rest) for kind in ("between", "from") for pattern in SIDES[kind])


def _more_of(plain: str) -> frozenset[str]:
    found = GROWN.search(plain)
    behind = WORDS.search(plain, found.end()) if found else None
    return frozenset(words(behind[0])) if behind else frozenset()


class _Counted(NamedTuple):
    """What stands directly behind the asking."""

    word: str = ""
    stems: frozenset[str] = frozenset()


def _counted(asked: Asked, rest: str, composed: Composed) -> _Counted:
    """Up to the first word that says nothing."""
    found = composed.pattern.search(rest)
    if found is None:
        return _Counted()
    by_text = {folded(word.text): word for word in asked.words if word.weight >= TELLING}
    first, stems = "", set[str]()
    for match in WORDS.finditer(rest, found.end()):
        if DIFFERENT.fullmatch(match[0]):
            continue
        first = first or match[0]
        word = by_text.get(match[0])
        if word is None or not word.stems or (stems and word.is_name):
            break
        stems.update(word.stems)
    return _Counted(first if _is_thing(first) else "", frozenset(stems))


def _is_thing(word: str) -> bool:
    return bool(words(word)) and not any(said.fullmatch(word) for said in (ASKING, TIMED, MEASURED, COMPARED, GROWN))


def _joined(rest: str, topic: Sequence[AskedWord]) -> tuple[AskedWord, ...]:
    """The words of the topic between which stand only words of joining."""
    places = sorted((rest.find(folded(word.text)), word) for word in topic)
    found: list[AskedWord] = []
    for (start, first), (end, second) in pairwise(places):
        between = rest[start + len(folded(first.text)) : end]
        if start >= 0 and JOINING.fullmatch(between) and between.strip():
            found += [first, second]
    return tuple(dict.fromkeys(found))


def _topic_of(rest: str, composed: Composed, asked: Asked, *, has_unit: bool) -> str:
    """What is left without the words of the asking. Words for a measure stay where nothing else would: `how many
    expenses` asks for these."""
    for pattern in (composed.pattern, TIMED, ASKING, *([DIFFERENT] if composed.operation == "count" else [])):
        rest = pattern.sub(lambda found: _held(found, composed.operation), rest)
    for _, start, end in named_units(rest) if has_unit else ():
        rest = _blanked(rest, start, end)
    if composed.operation in ("difference", "comparison"):
        rest = SPREAD.sub(lambda found: _BOTH_ENDS.sub(_spaces, found[0]), rest)
        rest = COMPARED.sub(_spaces, rest)
    if composed.operation == "duration" and FIRST_TO_LAST.search(rest):
        rest = FIRST_OR_LAST.sub(_spaces, SIDE_WORDS.sub(_spaces, rest))
    bare = MEASURED.sub(_spaces, rest)
    return bare if any(_words(asked, bare)) else rest


def _apart(asked: Asked, query: str) -> Iterator[AskedWord]:
    """The words, and names that were taken for one each by itself: `Bounty and Corsair` are two. So are words that a
    hyphen joins, as in `avons-nous`: they name nothing together."""
    for word in asked.words:
        if word.is_name and _JOINED.fullmatch(word.text):
            for part in word.text.split("-"):
                said = common(part, language_of(query))
                yield AskedWord(part, tuple(words(part)), said, False, True)
            continue
        if word.is_name and (title := TITLES.match(folded(word.text))):
            text = word.text[title.end() :]
            yield word._replace(text=text, stems=tuple(words(text)))
            continue
        parts = [part.strip() for part in LIST_MARKS.split(folded(word.text)) if part.strip()]
        if len(parts) < 2:
            yield word
            continue
        for part in parts:
            yield word._replace(text=part, stems=tuple(words(part)), is_known=True)


def _held(found: re.Match[str], operation: str) -> str:
    """Nothing of what was found, but for the word that parts two sides."""
    if operation == "comparison" and (kept := re.search(r"\b(?:or|oder|o|ou)$", found[0])):
        inner = re.sub(r"^\w+", _spaces, found[0][: kept.start()])
        return inner + kept[0]
    if operation == "difference" and (kept := re.search(r"\b(?:between|zwischen|entre|tra)$", found[0])):
        return " " * kept.start() + kept[0]
    return _spaces(found)


def _spaces(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _unit(rest: str, operation: str) -> str:
    """The unit that is named. Words that ask for money ask for any currency. The longest day is no number of days."""
    named = next((unit for unit, _, _ in named_units(rest)), "")
    of_time = HOW_LONG.search(rest) or (operation == "extreme" and FAST.search(rest))
    if not named and operation != "duration" and of_time:
        return TIME
    if operation == "extreme" and named not in ("s", "min", "h") and dimension_of(named) in (TIME, MONTHS):
        named = ""
    return named or (MONEY if MEASURED.search(rest) else "")


def _standing(plan: SlotPlan, asked: Asked, rest: str) -> StatusQuestion | None:
    """The kind of thing that is counted, if it is one of those that the graph knows by its kind."""
    if plan.composed.operation not in ("count", "sum"):
        return None
    said = status_words(plan.composed.pattern.sub(" ", as_asked(plan.query)))  # `how many` asks for no way
    if said.states.isdisjoint(KINDS) or not said.states <= set(GROUPS):
        return None
    left = frozenset(WORDS.findall(said.rest))
    found = _words(asked, rest)
    topic = tuple(word for word in found if word.is_name or frozenset(WORDS.findall(folded(word.text))) <= left)
    return StatusQuestion(said.states, Asked(topic, ""))


def _words(asked: Asked, rest: str) -> Iterator[AskedWord]:
    """The telling words that are left, in the order of the question."""
    left = frozenset(WORDS.findall(rest))
    for word in asked.words:
        text = folded(word.text)
        stands_alone = WORDS.fullmatch(text) is not None and UNSPACED.search(text) is None
        is_left = text in left if stands_alone else text in rest
        if word.weight >= TELLING and word.stems and is_left:
            yield word


def _sides(operation: str, asked: Asked, rest: str) -> Iterator[tuple[AskedWord, ...]]:
    if operation == "order":
        yield from _listed(asked, rest)
        return
    kinds = {"comparison": ("or",), "difference": ("between", "than"), "duration": ("between", "from")}
    for kind in kinds.get(operation, ()):
        found = next(filter(None, (pattern.search(rest) for pattern in SIDES[kind])), None)
        if found is None:
            continue
        first, second = (
            tuple(_words(asked, GROWN.split(found[side])[0] if side == "b" else found[side])) for side in "ab"
        )
        common = frozenset(first) & frozenset(second)
        one, two = _own(first, common), _own(second, common)
        if kind in ("or", "than"):  # what stands before the first side belongs to both
            one = one[-len(two) :] if two else ()
        if one and two:
            yield from (one, two)
            return


def _own(words: Sequence[AskedWord], common: frozenset[AskedWord]) -> tuple[AskedWord, ...]:
    return tuple(word for word in words if word not in common)


def _listed(asked: Asked, rest: str) -> Iterator[tuple[AskedWord, ...]]:
    """The things of a list; of the words before the first thing only the last one belongs to it."""
    parts = [found for part in LIST_MARKS.split(rest) if (found := tuple(_words(asked, part)))]
    if len(parts) < 2:
        return
    room = max(min(len(part) for part in parts[1:]), 1)
    yield from (parts[0][-room:], *parts[1:-1], parts[-1][:room])
