"""Selects what is exported. Every surface has the same axes with the same meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from zaxy.api import MAX_ANSWERS, MAX_INTEGER, SENSITIVITIES, InvalidRequest, shown, utc_text

EVENT, SEMANTIC = "event", "semantic"
GRAINS = (EVENT, SEMANTIC)
DEFAULT_QUERY_LIMIT = 50
MAX_QUERY_LIMIT = MAX_ANSWERS
"""The text index gives no more results for one question."""
ENTRY_AXES = ("grains", "kinds", "since_seq", "max_seq", "since_time", "until_time")
"""The axes that an entry alone decides. Only these count when entries are disclosed."""
LISTS = ("grains", "kinds", "exclude_sensitivities")
NUMBERS = ("since_seq", "max_seq", "query_limit", "limit")


@dataclass(frozen=True, slots=True)
class Selector:
    """Everything, unless an axis narrows it."""

    grains: tuple[str, ...] = GRAINS
    kinds: tuple[str, ...] = ()
    """Event types; for a disclosure, kinds of entries. Empty means all."""
    since_seq: int | None = None
    """The last event that the receiver has already: it is left out."""
    max_seq: int | None = None
    since_time: str = ""
    until_time: str = ""
    """Both are inclusive, and compare with an entry's `valid_from`. A date alone means the whole day."""
    query: str = ""
    """Only events among the best `query_limit` passages for these words."""
    query_limit: int = DEFAULT_QUERY_LIMIT
    exclude_sensitivities: tuple[str, ...] = ()
    limit: int | None = None
    """How many of the matching events to take, the most recent ones."""

    @classmethod
    def of(cls, axes: Mapping[str, Any]) -> Selector:
        """The selector with these axes. None stands for an axis that is not given."""
        unknown = axes.keys() - {field.name for field in fields(cls)}
        if unknown:
            known = ", ".join(field.name for field in fields(cls))
            raise InvalidRequest(f"a selector has no {shown(min(unknown))}", f"It has {known}.")
        given: dict[str, Any] = {name: _texts(name, value) if name in LISTS else value for name, value in axes.items()}
        return cls(**{name: value for name, value in given.items() if value is not None}).checked()

    def checked(self) -> Selector:
        """The same selector, with its times in the form of the log. A contradiction is refused."""
        for name in LISTS:
            _refuse_other_than_texts(name, getattr(self, name))
        _each_of("grains", self.grains, GRAINS)
        _each_of("exclude_sensitivities", self.exclude_sensitivities, SENSITIVITIES)
        for name in NUMBERS:
            value = getattr(self, name)
            minimum = 0 if name == "since_seq" else 1
            if value is not None and (type(value) is not int or not minimum <= value <= MAX_INTEGER):
                raise InvalidRequest(
                    f"{name} is not a number of at least {minimum}", "Give a whole number, such as 100."
                )
        if self.query_limit > MAX_QUERY_LIMIT:
            raise InvalidRequest(f"query_limit is {self.query_limit}", f"It is at most {MAX_QUERY_LIMIT}.")
        if not isinstance(self.query, str) or self.query.isspace():
            raise InvalidRequest("the query is not a text", "Give words to look for.")
        since, until = _moment(self.since_time), _end_of_day(self.until_time)
        if since and until and until < since:
            raise InvalidRequest("until_time is before since_time", "Swap them.")
        if self.max_seq is not None and (self.since_seq or 0) >= self.max_seq:
            raise InvalidRequest(
                "max_seq is not after since_seq", "since_seq is exclusive: the first event is the next one."
            )
        grains = tuple(grain for grain in GRAINS if grain in self.grains)
        return replace(self, grains=grains, since_time=since, until_time=until)

    def takes(self, grain: str, kind: str, seq: int, valid_from: str) -> bool:
        """Whether an entry is selected by what it shows itself, which is all that counts for a disclosure."""
        return (
            grain in self.grains
            and (not self.kinds or kind in self.kinds)
            and (self.since_seq is None or seq > self.since_seq)
            and (self.max_seq is None or seq <= self.max_seq)
            and self.holds_at(valid_from)
        )

    def holds_at(self, valid_from: str) -> bool:
        return self.since_time <= valid_from and (not self.until_time or valid_from <= self.until_time)

    @property
    def first_seq(self) -> int:
        return (self.since_seq or 0) + 1


EVERYTHING = Selector()


def _texts(name: str, value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    texts = _refuse_other_than_texts(name, value)
    if not texts:
        raise InvalidRequest(f"{name} is an empty list, which selects nothing", "Name some, or leave it out for all.")
    return tuple(dict.fromkeys(texts))


def _refuse_other_than_texts(name: str, value: object) -> Sequence[str]:
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(item, str) for item in value):
        raise InvalidRequest(f"{name} is not a list of texts", 'Give a list, such as ["event"].')
    return value


def _each_of(name: str, given: Sequence[str], known: Sequence[str]) -> None:
    for item in given:
        if item not in known:
            raise InvalidRequest(f"{name} has {shown(item)}", f"Choose from {', '.join(known)}.")


def _moment(given: str) -> str:
    moment = utc_text(given)
    if given and not moment:
        raise InvalidRequest(f"{shown(given)} is not a date or time", "Write it as 2026-06-15 or 2026-06-15T12:00:00Z.")
    return moment


def _end_of_day(given: str) -> str:
    moment = _moment(given)
    return f"{moment[:10]}T23:59:59.999999Z" if moment and len(given.strip()) == len("2026-06-15") else moment
