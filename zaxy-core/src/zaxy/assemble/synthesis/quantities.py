"""Numbers with their units, out of the text of a row. What can be read in two ways is not read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zaxy.assemble.synthesis.lexicon import TIME, converted, dimension_of, is_money, unit_at, unit_words

_DIGITS = r"\d{1,3}(?:[ \u00a0\u202f'’.,]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
_GROUPS = re.compile(r"[ \u00a0\u202f'’]")
_MAY_BE_BOTH = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
NUMBER_WORDS = {
    word: number
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve",
        "null ein zwei drei vier funf sechs sieben acht neun zehn elf zwolf",
        "cero un dos tres cuatro cinco seis siete ocho nueve diez once doce",
        "zero un deux trois quatre cinq six sept huit neuf dix onze douze",
        "zero un due tre quattro cinque sei sette otto nove dieci undici dodici",
        "zero um dois tres quatro cinco seis sete oito nove dez onze doze",
    )
    for number, word in enumerate(words.split())
}
NUMBER_WORDS |= {"eine": 1, "einen": 1, "una": 1, "uno": 1, "une": 1, "uma": 1, "an": 1}


class Quantity(NamedTuple):
    value: float
    unit: str
    """Empty for a plain number."""
    noun: str
    """The word behind a plain number."""
    start: int = 0
    end: int = 0


class UnreadableNumber(ValueError):
    """A number that can be read in two ways."""


def number_of(text: str, decimal: str) -> float:
    """`1.234,50`, `1,234.50`, `1 234`, `٣٫٥`. `decimal`: the sign before decimals in the text's language, if known."""
    plain = _GROUPS.sub("", "".join(str(unicodedata.digit(sign, sign)) for sign in text))
    points, commas = plain.count("."), plain.count(",")
    if points and commas:
        last = max(plain.rfind("."), plain.rfind(","))
        return float(re.sub(r"[.,]", "", plain[:last]) + "." + plain[last + 1 :])
    if points + commas > 1:
        return float(re.sub(r"[.,]", "", plain))
    if _MAY_BE_BOTH.fullmatch(plain):
        if not decimal:
            raise UnreadableNumber(text)
        return float(plain.replace(decimal, ".") if decimal in plain else re.sub(r"[.,]", "", plain))
    return float(plain.replace(",", "."))


_NUMBERS = re.compile(
    rf"(?P<sign>[$€£₽₹₩¥]|(?<!\w)[a-z]{{3}})[ \u00a0]?(?P<priced>-?(?:{_DIGITS}))(?![\w:/])"
    rf"|(?<![\w.,:/-])(?P<number>-?(?:{_DIGITS}))(?![.,:/]?\d)"
    rf"|(?<!\w)(?P<word>{'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})(?= )"
)
_NOUN = re.compile(r"\s+([^\W\d_]+)")


def quantities(plain: str, decimal: str) -> list[Quantity]:
    """All quantities of a folded text, in order; hours and minutes that stand together are one."""
    return list(_together(list(_found(plain, decimal))))


def _found(plain: str, decimal: str) -> Iterator[Quantity]:
    place = 0
    while (match := _NUMBERS.search(plain, place)) is not None:
        place = match.end()
        unit = unit_words().get(match["sign"] or "", "")
        if match["sign"] and not is_money(unit):  # a word of three letters before a number
            place = match.start("priced")
            continue
        end = match.end()
        if not unit:
            unit, end = unit_at(plain, match.end())
        if match["number"] and not unit and end < len(plain) and plain[end].isalpha():
            continue  # part of a name
        noun = _NOUN.match(plain, match.end()) if not unit else None
        if match["word"] and not unit and noun is None:
            continue
        given = match["priced"] or match["number"]
        value = number_of(given, decimal) if given else float(NUMBER_WORDS[match["word"]])
        place = max(end, match.end())
        yield Quantity(value, unit, noun[1] if noun else "", match.start(), place)


def _together(found: Sequence[Quantity]) -> Iterator[Quantity]:
    """`2 h 30 min` is 150 min."""
    waiting: Quantity | None = None
    for one in found:
        if waiting is not None and _goes_on(waiting, one):
            whole = converted(waiting.value, waiting.unit, one.unit)
            one = one._replace(value=(whole or 0.0) + one.value, start=waiting.start)
        elif waiting is not None:
            yield waiting
        waiting = one
    if waiting is not None:
        yield waiting


def _goes_on(first: Quantity, second: Quantity) -> bool:
    if dimension_of(first.unit) != TIME or dimension_of(second.unit) != TIME or second.start - first.end > 5:
        return False
    return (converted(1, first.unit, second.unit) or 0) > 1
