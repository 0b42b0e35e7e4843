"""The value of a row, its unit and its time: from typed fields first, and from its text where no field says it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from zaxy.api.models import Event, JsonObject
from zaxy.assemble.synthesis.dates import days_in
from zaxy.assemble.synthesis.lexicon import MONEY, PIECES, TIME, decimal_sign, dimension_of, is_money, unit_words
from zaxy.assemble.synthesis.quantities import Quantity, UnreadableNumber, quantities
from zaxy.assemble.synthesis.words import MORE
from zaxy.extract.texts import PROSE
from zaxy.extract.times import utc_text
from zaxy.text.languages import language_of
from zaxy.text.tokens import folded, words

AMOUNTS = tuple(
    """
    value amount total betrag montant importe wert valeur valor
    quantity count menge anzahl quantite nombre cantidad numero duration dauer duree duracion
    price preis prix precio cost kosten cout coste costo sum score number
    """.split()
)
"""Fields that hold the measure of what a row tells, the likelier first: in English, German, French and Spanish."""
MEASURES = (
    *AMOUNTS,
    *"distance length weight size volume time elapsed hours minutes seconds days".split(),
    *"strecke gewicht groesse volumen zeit poids longueur taille temps peso distancia volumen tiempo".split(),
)
MAX_QUANTITY = 32
"""Characters of a field that may be a number with its unit."""
UNITS = ("unit", "units", "currency", "uom", "einheit", "wahrung", "waehrung", "unite", "devise", "unidad", "moneda")
TIMES = tuple("occurred_at date day on happened_at started_at ended_at at datum tag jour fecha".split())
OF_PEOPLE = tuple("assignee owner author reporter person member user employee player driver payer buyer by who".split())
"""Fields that say who did it, where that is not who recorded it."""
QUANTITIES = ("quantity", "count", "menge", "anzahl", "quantite", "nombre", "cantidad", "numero")
"""Fields that say how many things one row stands for."""
PRICES = tuple("price unit_price rate cost preis prix precio kosten cout coste costo".split())
"""Fields that may hold the price of one."""
_PROSE = frozenset(PROSE)
_OF_ONE = re.compile("_(?:per|pro|je|por|par)_")
"""A rate is no measure of a row: `price_per_night`."""
_IN_NAMES = re.compile(
    "seconds|minutes|hours|days|weeks|minuten|stunden|minutos|horas|heures|km|kg|eur|usd|gbp|chf|kwh|kcal|percent"
)
"""Units that the name of a field says wherever they stand in it: `minutes_to_resolve`."""
NO_VALUE = "no value that can be read"
SEVERAL = "several values, and it does not say which is meant"
TWO_WAYS = "a number that can be read in two ways"
DAY_FROM_FIELD, DAY_FROM_TEXT, DAY_RECORDED = "field", "text", "recorded"


class RowValue(NamedTuple):
    value: float | None
    unit: str = ""
    field: str = ""
    """The typed field that holds it; empty where it was read in text."""
    problem: str = ""
    """Why there is none."""


class When(NamedTuple):
    time: str
    source: str
    """Where the time stands: in a field, in the text, or it is when the event was recorded."""


def value_of(payload: JsonObject, said: str, unit: str, *, asked: frozenset[str], may_be_time: bool = True) -> RowValue:
    """`said`: its text, folded. `unit`: the one that is asked for, `money`, or empty for any. `asked`: the stems of
    the question. `may_be_time`: whether the question may be for how long it took, where the row has other numbers."""
    typed = [one for one in _typed(payload, asked) if _fits(one.unit, unit) or (unit == PIECES and _is_bare_count(one))]
    if not may_be_time and not unit and len(typed) == 1 and _is_beside_others(typed[0], payload, asked):
        return RowValue(None, problem=SEVERAL)
    if len(typed) < 2:
        return typed[0] if typed else _in_text(said, unit)
    named = [one for one in typed if not asked.isdisjoint(_field(one.field).stems)]
    best, *others = sorted(named or typed, key=lambda one: _order(one, asked))
    same = [one for one in others if one.value != best.value and _order(one, asked) == _order(best, asked)]
    return RowValue(None, problem=SEVERAL) if same else best


def _is_beside_others(value: RowValue, payload: JsonObject, asked: frozenset[str]) -> bool:
    """Whether it is a time that nobody asked for, and other fields have plain numbers."""
    if dimension_of(value.unit) != TIME or not asked.isdisjoint(_field(value.field).stems):
        return False
    return any(
        type(other) is float or (type(other) is int and not _field(field).unit)
        for field, other in payload.items()
        if field != value.field
    )


def _order(value: RowValue, asked: frozenset[str]) -> tuple[int, int]:
    """Fields that the question names come first, then the likelier ones."""
    return -len(asked & _field(value.field).stems), _rank(value)


def count_of(payload: JsonObject, nouns: frozenset[str]) -> RowValue:
    """How many things a row stands for, where a field says so: one that is called like them, or a usual one."""
    called = [field for field in payload if not nouns.isdisjoint(_field(field).stems)]
    numbers = [(field, number) for field in called if (number := _number(payload[field])) is not None]
    if len(numbers) > 1:
        return RowValue(None, problem=SEVERAL)
    if numbers:
        return RowValue(numbers[0][1], "", numbers[0][0])
    for field in QUANTITIES:
        if (number := _number(payload.get(field))) is not None:
            return RowValue(number, "", field)
    return RowValue(None)


def when(event: Event, said: str) -> When:
    """When what it tells happened: by a field, by a day that its text names, or else when it was recorded."""
    payload = event.payload or {}
    for field in TIMES:
        if field in payload and (time := utc_text(payload[field])):
            return When(time, DAY_FROM_FIELD)
    days = {one.day for one in days_in(said, int(event.time[:4]))}
    if len(days) == 1:
        return When(f"{days.pop()}T00:00:00.000000Z", DAY_FROM_TEXT)
    return When(event.time, DAY_RECORDED)


def prose(payload: JsonObject) -> str:
    """What a row says in sentences; empty where it has fields alone."""
    if _PROSE.isdisjoint(payload):
        return ""
    return "\n".join([value for field in PROSE if isinstance(value := payload.get(field), str)])


def noun_quantities(said: str, nouns: frozenset[str]) -> list[float]:
    """The numbers that stand directly before one of the nouns, by their stems; `two more plants` are two plants."""
    said = MORE.sub(" ", said)
    try:
        return [one.value for one in _read(said) if one.noun and not nouns.isdisjoint(words(one.noun))]
    except UnreadableNumber:
        return []


class _Field(NamedTuple):
    """What the name of a field says."""

    unit: str
    is_measure: bool
    stems: frozenset[str]


@lru_cache(4096)
def _field(name: str) -> _Field:
    parts = folded(name).split("_")
    unit = unit_words().get(parts[-1], "") if len(parts) > 1 or parts[0] in MEASURES else ""
    unit = unit or next((unit_words()[part] for part in parts if _IN_NAMES.fullmatch(part)), "")
    is_measure = name in MEASURES or (parts[0] in MEASURES and bool(unit))
    of_one = _OF_ONE.split(name)[0]
    return _Field(
        unit if of_one == name else "", is_measure and of_one == name, frozenset(words(of_one.replace("_", " ")))
    )


def _typed(payload: JsonObject, asked: frozenset[str]) -> Iterator[RowValue]:
    """The numbers in fields that hold a measure: by their names, or since the question names them."""
    common = next((_unit(given) for field in UNITS if isinstance(given := payload.get(field), str)), "")
    for field, unit, is_measure, is_asked in _measures(tuple(payload), asked):
        given = payload[field]
        if not (is_measure or is_asked):
            if isinstance(given, str) and (read := _whole(given)) and read.unit:
                yield RowValue(read.value, read.unit, field)
            elif unit and _says_unit(field) and (number := _number(given)) is not None:
                yield RowValue(number, unit, field)
        elif (number := _number(given)) is not None:
            # Five of something that has a price are not five euros.
            shared = common if not (field in QUANTITIES and is_money(common)) else ""
            is_shared = field in AMOUNTS or (is_asked and not any(_is_amount(other) for other in payload))
            yield RowValue(number, unit or (shared if is_shared else ""), field)
        elif isinstance(given, str) and (read := _whole(given)) and (is_measure or read.unit):
            yield RowValue(read.value, read.unit or unit or common or read.noun, field)


def _is_amount(field: str) -> bool:
    return field in AMOUNTS or _OF_ONE.search(field) is not None


def _says_unit(field: str) -> bool:
    return any(_IN_NAMES.fullmatch(part) for part in folded(field).split("_"))


@lru_cache(1024)
def _measures(fields: tuple[str, ...], asked: frozenset[str]) -> list[tuple[str, str, bool, bool]]:
    """The fields of a payload that may hold its value: their unit, and whether they are named so or asked for. One that
    is neither must say its unit. Rows of one kind have the same fields."""
    named = [(field, _field(field)) for field in fields if field not in (*TIMES, *UNITS)]
    return [(field, one.unit, one.is_measure, not asked.isdisjoint(one.stems)) for field, one in named]


def _is_bare_count(value: RowValue) -> bool:
    return not value.unit and value.field in QUANTITIES


def _rank(value: RowValue) -> int:
    if value.field in MEASURES:
        return MEASURES.index(value.field)
    return 0 if _field(value.field).is_measure else len(MEASURES)


def _number(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and value == value and abs(value) < 1e15 else None


def _whole(text: str) -> Quantity | None:
    """The quantity that a text is as a whole: `45.20 EUR`, `2 sacks`."""
    if len(text) > MAX_QUANTITY or not any(map(str.isdigit, text)):
        return None
    try:
        found = _read(folded(text))
    except UnreadableNumber:
        return None
    if len(found) != 1:
        return None
    size = found[0].end - found[0].start + (len(found[0].noun) + 1 if found[0].noun else 0)
    return found[0] if size >= len(text.strip()) else None


@lru_cache(1024)
def _unit(text: str) -> str:
    return unit_words().get(folded(text.strip()), text.strip()[:24])


def _fits(own: str, wanted: str) -> bool:
    if not wanted:
        return True
    return is_money(own) if wanted == MONEY else dimension_of(own) == dimension_of(wanted)


def _in_text(said: str, unit: str) -> RowValue:
    try:
        found = [one for one in _read(said) if one.unit or not unit]
    except UnreadableNumber:
        return RowValue(None, problem=TWO_WAYS)
    fitting = [one for one in found if _fits(one.unit, unit)] if unit else [one for one in found if one.unit] or found
    if not fitting:
        return RowValue(None, problem=NO_VALUE)
    if len({(one.value, one.unit) for one in fitting}) > 1:
        return RowValue(None, problem=SEVERAL)
    return RowValue(fitting[0].value, fitting[0].unit)


def _read(plain: str) -> list[Quantity]:
    """The quantities of a folded text, without the numbers of its dates."""
    for day in days_in(plain, 2000):
        plain = plain[: day.start] + " " * (day.end - day.start) + plain[day.end :]
    try:
        return quantities(plain, "")
    except UnreadableNumber:
        return quantities(plain, decimal_sign(language_of(plain)))


@lru_cache(8192)
def stems_of(text: str) -> frozenset[str]:
    return frozenset(words(text))


def fields_of(payload: JsonObject) -> Mapping[str, str]:
    """The short texts of a payload, by their fields: what a row can be selected by."""
    return {field: value for field, value in payload.items() if isinstance(value, str) and len(value) <= 80}


def stems_of_fields(payload: JsonObject, actor: str) -> Sequence[frozenset[str]]:
    return [stems_of(actor), *[stems_of(value) for field, value in fields_of(payload).items() if field not in TIMES]]
