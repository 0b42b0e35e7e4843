"""What a generated history is made of: events, and questions with the answers that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from random import Random
from typing import Any, NamedTuple

LANGUAGES = ("en", "de", "es")
_MONTHS = {
    "en": "January February March April May June July August September October November December".split(),
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(),
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(),
}


class Told(NamedTuple):
    """An event of a history."""

    type: str
    payload: dict[str, Any]
    actor: str = "ana"


class Asked(NamedTuple):
    """A question, and what is right."""

    ask: str
    operation: str
    needed: tuple[int, ...]
    """The places of the events that the answer rests on."""
    value: float | str | None
    """None where nothing may be answered. A text must stand in the answer."""
    unit: str = ""
    order: bool = False
    """Whether the needed events are the answer, in this order."""


class History(NamedTuple):
    name: str
    language: str
    told: tuple[Told, ...]
    asked: tuple[Asked, ...]


class Writer:
    """Events in the order in which they are told; remembers where each stands."""

    def __init__(self, language: str, dice: Random) -> None:
        self.language = language
        self.dice = dice
        self.told: list[Told] = []

    def tell(self, type_: str, actor: str = "ana", **payload: Any) -> int:
        self.told.append(Told(type_, {name: value for name, value in payload.items() if value is not None}, actor))
        return len(self.told) - 1

    def say(self, content: str, actor: str = "user") -> int:
        return self.tell("transcript.turn", actor, role="user", content=content)

    def scatter(self, events: Sequence[Told]) -> list[int]:
        """Tells them in an order of chance; their places, in the order given."""
        places = {}
        for number in self.dice.sample(range(len(events)), len(events)):
            event = events[number]
            places[number] = self.tell(event.type, event.actor, **event.payload)
        return [places[number] for number in range(len(events))]

    def where(self, type_: str, keep: Callable[[dict[str, Any]], bool]) -> dict[int, dict[str, Any]]:
        """The payloads of a type that are meant, by their place; of each key only the newest."""
        newest = {told.payload.get("key", place): place for place, told in enumerate(self.told) if told.type == type_}
        return {place: self.told[place].payload for place in newest.values() if keep(self.told[place].payload)}

    # How people write

    def day(self, month: int, year: int = 2026) -> date:
        return date(year, month, self.dice.randint(2, 27))

    def days(self, month: int, count: int) -> list[date]:
        return sorted(date(2026, month, day) for day in self.dice.sample(range(2, 27), count))

    def written(self, day: date) -> str:
        month = _MONTHS[self.language][day.month - 1]
        return {
            "en": f"{day.day} {month} {day.year}",
            "de": f"{day.day}. {month} {day.year}",
            "es": f"{day.day} de {month} de {day.year}",
        }[self.language]

    def month(self, month: int) -> str:
        name = _MONTHS[self.language][month - 1]
        return f"{name} de 2026" if self.language == "es" else f"{name} 2026"

    def number(self, value: float) -> str:
        """As the language writes it, with two places, or none where it is whole."""
        text = f"{value:,.2f}" if value != int(value) else f"{int(value):,}"
        return text if self.language == "en" else text.translate(str.maketrans(",.", ".,"))

    def money(self, value: float) -> str:
        return f"€{self.number(value)}" if self.language == "en" else f"{self.number(value)} €"

    def amount(self, low: int, high: int) -> float:
        return self.dice.randrange(low * 100, high * 100, 5) / 100


def noon(day: date) -> str:
    return f"{day.isoformat()}T12:00:00Z"


def later(day: date, days: int) -> date:
    return day + timedelta(days=days)


def month_of(payload: dict[str, Any]) -> int:
    return int(payload["occurred_at"][5:7])


def turn(content: str, actor: str = "user") -> Told:
    return Told("transcript.turn", {"role": "user", "content": content}, actor)


def dated(type_: str, day: date, actor: str = "ana", **payload: Any) -> Told:
    return Told(type_, {**payload, "occurred_at": noon(day)}, actor)
