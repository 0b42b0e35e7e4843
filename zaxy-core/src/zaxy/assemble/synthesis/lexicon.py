"""The words for units, currencies and months in several languages, from the CLDR data that Babel carries.

Babel is imported here alone, when the first composed question is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from babel import Locale
from babel.dates import get_month_names
from babel.numbers import get_currency_name, get_currency_symbol, list_currencies
from babel.units import format_unit

from zaxy.text.tokens import folded

LANGUAGES = ("en", "de", "es", "fr", "it", "pt", "nl", "pl", "sv", "ru", "zh", "ja")
TIME, MONTHS, LENGTH, MASS, VOLUME, MONEY = "time", "months", "length", "mass", "volume", "money"
_UNITS = {
    "s": ("duration-second", TIME, 1),
    "min": ("duration-minute", TIME, 60),
    "h": ("duration-hour", TIME, 3600),
    "d": ("duration-day", TIME, 86400),
    "wk": ("duration-week", TIME, 604800),
    "mo": ("duration-month", MONTHS, 1),
    "y": ("duration-year", MONTHS, 12),
    "mm": ("length-millimeter", LENGTH, 0.001),
    "cm": ("length-centimeter", LENGTH, 0.01),
    "m": ("length-meter", LENGTH, 1),
    "km": ("length-kilometer", LENGTH, 1000),
    "mi": ("length-mile", LENGTH, 1609.344),
    "g": ("mass-gram", MASS, 1),
    "kg": ("mass-kilogram", MASS, 1000),
    "ml": ("volume-milliliter", VOLUME, 1),
    "l": ("volume-liter", VOLUME, 1000),
    "°C": ("temperature-celsius", "°C", 1),
    "°F": ("temperature-fahrenheit", "°F", 1),
    "MB": ("digital-megabyte", "bytes", 1),
    "GB": ("digital-gigabyte", "bytes", 1000),
    "kWh": ("energy-kilowatt-hour", "energy", 1),
    "kcal": ("energy-kilocalorie", "kcal", 1),
}
"""Each unit: its name in CLDR, its dimension, and how many of the dimension's base it is."""
_CURRENCIES = "EUR USD GBP CHF JPY CNY INR RUB PLN SEK NOK DKK CZK HUF BRL MXN CAD AUD KRW".split()
"""Those that are read in sentences. The codes of others are words of some language, as `all` and `bob` are."""
_PLURALS = (1, 2, 5, 1.5)
"""Numbers that between them take every plural form of these languages."""
_SYMBOLS = {"$": "USD", "€": "EUR", "£": "GBP", "₽": "RUB", "₹": "INR", "₩": "KRW", "zł": "PLN", "%": "%", "°": "°"}
_SHORT = {"hrs": "h", "hr": "h", "mins": "min", "secs": "s", "sec": "s", "kms": "km", "kilos": "kg", "kilo": "kg"}
PIECES = "pcs"
_PIECES = (
    "pcs piece pieces stuck stucke stucks unidad unidades uds pieza piezas piece pieces pezzo pezzi peca pecas stuks"
)
_ALSO = {
    **dict.fromkeys(_PIECES.split(), PIECES),
    "percent": "%",
    "prozent": "%",
    "dollar": "USD",
    "dollars": "USD",
    "dolares": "USD",
    "celsius": "°C",
}
_NUMBER = re.compile(r"[\d.,\s\u00a0\u202f]+")
_WORD = re.compile(r"[^\W\d_]+")
_NO_MONTHS = frozenset(("set", "out", "ago", "gen"))
"""Short for months in Italian, Portuguese and Spanish, and words of their own elsewhere."""
_NO_UNITS = ("mi", "mo")
"""Short for units behind a number, and words of their own in a question: `mi peso`."""
_LETTERS = "hmsgl"
"""Letters that stand for a unit by themselves; others are words of some language."""
_JOINED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Month(NamedTuple):
    pattern: str
    """Any name of any month, longest first."""
    numbers: dict[str, int]


@cache
def unit_words() -> dict[str, str]:
    """The unit that a word, a sign or a few words name, folded."""
    words = dict(_currency_words())
    for unit, (name, _, _) in _UNITS.items():
        for language in LANGUAGES:
            for form in _forms(name, language):
                words.setdefault(form, unit)
        if len(unit) > 1 or unit in _LETTERS:
            words[folded(unit)] = unit
    return {**words, **_SHORT, **_ALSO, **{folded(sign): unit for sign, unit in _SYMBOLS.items()}}


def _forms(name: str, language: str) -> Iterator[str]:
    for length in ("long", "short"):
        for count in _PLURALS:
            written = format_unit(count, name, length=length, locale=language)
            form = folded(_NUMBER.sub(" ", written)).strip().rstrip(".")
            if len(form) > 1 or form in _LETTERS:
                yield form


def _currency_words() -> Iterator[tuple[str, str]]:
    for code in _CURRENCIES:
        yield folded(code), code
        for language in LANGUAGES:
            for count in _PLURALS:
                yield folded(get_currency_name(code, count=count, locale=language)), code
        yield folded(get_currency_symbol(code, locale="en")), code


_NAME = r"(?:[^\W\d_]+\.?|[%€$£₽₹₩°][cf]?)"
AFTER_NUMBER = re.compile(rf"[ \u00a0\u202f-]?({_NAME}(?:[ \u00a0]{_NAME}){{0,2}})")
MAX_JOINED = 4
"""Characters of a unit's name where words are not spaced apart."""


def unit_at(plain: str, place: int) -> tuple[str, int]:
    """The unit that is named at a place of a folded text, and where its name ends; empty where none is."""
    found = AFTER_NUMBER.match(plain, place)
    name = found[1] if found else ""
    while name:
        if (unit := unit_words().get(name.rstrip("."))) is not None and found is not None:
            return unit, found.start(1) + len(name)
        name = name[: max(name.rfind(" "), name.rfind("\u00a0"), 0)]
    if found is not None and _JOINED.match(found[1]):
        for size in range(MAX_JOINED, 0, -1):
            if (unit := unit_words().get(found[1][:size])) is not None:
                return unit, found.start(1) + size
    return "", place


def named_units(plain: str) -> list[tuple[str, int, int]]:
    """The units that a folded text names in words of their own: each with where its name stands."""
    found = []
    for word in _WORD.finditer(plain):
        is_short = len(word[0]) == 2 and word[0] in _UNITS and word[0] not in _NO_UNITS
        is_word = len(word[0]) > 2 or is_short  # `an` is a year in French
        if is_word and (unit := unit_words().get(word[0])) is not None:
            found.append((unit, word.start(), word.end()))
    return found


def words_of(dimension: str) -> frozenset[str]:
    """The words and signs that name a unit of a dimension, or any currency."""
    of_money = dimension == MONEY
    return frozenset(
        word for word, unit in unit_words().items() if (is_money(unit) if of_money else dimension_of(unit) == dimension)
    )


def dimension_of(unit: str) -> str:
    """What a unit measures: two units of one dimension can be turned into each other. Each currency is its own."""
    return _UNITS[unit][1] if unit in _UNITS else unit


@cache
def _codes() -> frozenset[str]:
    return frozenset(list_currencies())


def is_money(unit: str) -> bool:
    return unit in _codes()


def converted(value: float, unit: str, wanted: str) -> float | None:
    """The value in another unit of the same dimension; None where there is no such way."""
    if unit == wanted:
        return value
    if unit not in _UNITS or wanted not in _UNITS or dimension_of(unit) != dimension_of(wanted):
        return None
    return value * _UNITS[unit][2] / _UNITS[wanted][2]


@cache
def months() -> Month:
    numbers: dict[str, int] = {}
    for language in LANGUAGES:
        for width in ("wide", "abbreviated"):
            for context in ("format", "stand-alone"):
                for number, name in get_month_names(width, context, locale=language).items():
                    plain = folded(name).rstrip(".")
                    if not plain.isdigit() and len(plain) > 2 and plain not in _NO_MONTHS:
                        numbers.setdefault(plain, number)
    names = sorted(numbers, key=len, reverse=True)
    return Month("|".join(map(re.escape, names)), numbers)


@cache
def decimal_sign(language: str) -> str:
    """What stands before the decimals in a language; empty where that is not known."""
    if language not in LANGUAGES:
        return ""
    return str(Locale(language).number_symbols["latn"]["decimal"])
