"""Dates in the text of a row, and the period that a question names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from zaxy.assemble.synthesis.lexicon import months
from zaxy.text.tokens import folded

_OF = r"(?:\s+(?:de|of|del|di))?"
_ENDS = r"(?:st|nd|rd|th|er|º|ª|\.)?"
_RELATIVE = {
    "yesterday": "yesterday|gestern|ayer|hier|ieri|ontem|gisteren",
    "today": "today|heute|hoy|aujourd'hui|oggi|hoje|vandaag",
    "last week": "last week|letzte woche|vergangene woche|la semana pasada|la semaine derniere|la settimana scorsa"
    "|na semana passada",
    "this week": "this week|diese woche|esta semana|cette semaine|questa settimana",
    "last month": "last month|letzten monat|im letzten monat|el mes pasado|le mois dernier|il mese scorso"
    "|no mes passado",
    "this month": "this month|diesen monat|in diesem monat|este mes|ce mois-ci|questo mese",
    "last year": "last year|letztes jahr|im letzten jahr|el ano pasado|l'annee derniere|l'anno scorso|no ano passado",
    "this year": "this year|dieses jahr|in diesem jahr|este ano|cette annee|quest'anno",
}
_OPEN = {
    "since": "since|seit|desde|depuis|dal|sinds",
    "after": "after|nach|despues de|apres|dopo|apos|na",
    "until": "until|through|bis|hasta|jusqu'a|fino a|ate|tot",
    "before": "before|vor|antes de|avant|prima di|voor",
}
"""Words before a date that leave one end of the period open."""
_QUARTERS = (
    "first|erste[nrs]?|primer|premier|primo|primeiro",
    "second|zweite[nrs]?|segundo|deuxieme|secondo",
    "third|dritte[nrs]?|tercer|troisieme|terzo|terceiro",
    "fourth|last|vierte[nrs]?|letzte[nrs]?|cuarto|ultimo|quatrieme|dernier|quarto",
)
_QUARTER = re.compile(
    rf"(?<!\w)(?:{'|'.join(f'({words})' for words in _QUARTERS)})\s+(?:quarter|quartal|trim?estre)(?!\w)"
)
_FIRST_OF_TWO = re.compile(
    r"(?<![\d.])(\d{1,2})(?:st|nd|rd|th|º|ª|\.)?\s*(?:and|to|till|until|-|–|und|bis|y|al|a|et|au|e)"
    r"(?:\s+(?:the|dem|zum|el|le|il|o))?\s*$"
)
"""The first of two days of one month: `between 5 and 20 October`."""
_PREPOSITION = r"(?:in|im|en|on|am|el|le|during|wahrend|durante|for|fur|para|pour|em|nel|of|von|de|vom|des|du|del)\s+"


_ANY_DIGIT = re.compile(r"\d")
_NUMERIC = re.compile(r"\d-\d\d?-\d|\d\.\s?\d\d?\.\s?\d|\d年")
_LETTERS = re.compile(r"[^\W\d_]{3,}")


class Period(NamedTuple):
    """From the first day on, until before the last one. An open end is empty."""

    first: str
    end: str

    def has(self, time: str) -> bool:
        return self.first <= time[:10] and (not self.end or time[:10] < self.end)


class NamedPeriod(NamedTuple):
    period: Period
    start: int
    end: int
    """Where the question names it."""


class _Patterns(NamedTuple):
    day: re.Pattern[str]
    span: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    month = rf"(?P<{{0}}>(?<!\w)(?:{months().pattern})(?!\w)\.?)"
    day = (
        rf"(?<!\d)(?P<d1>\d{{1,2}}){_ENDS}{_OF}\s+{month.format('m1')}(?:{_OF},?\s+(?P<y1>\d{{4}}))?"
        rf"|{month.format('m2')}\s+(?P<d2>\d{{1,2}}){_ENDS}(?!\d)(?:,?\s+(?P<y2>\d{{4}}))?"
        r"|(?<![\d-])(?P<y3>\d{4})-(?P<m3>\d{2})-(?P<d3>\d{2})(?:t[\d:.]+z?)?(?!\d)"
        r"|(?<![\d.])(?P<d4>\d{1,2})\.\s?(?P<m4>\d{1,2})\.\s?(?P<y4>\d{4})(?!\d)"
        r"|(?<!\d)(?P<y5>\d{4})年(?P<m5>\d{1,2})月(?P<d5>\d{1,2})日"
    )
    span = (
        rf"(?:{month.format('m')}(?:{_OF},?\s+(?P<y>(?:19|20)\d\d))?)"
        r"|(?<!\w)q(?P<q>[1-4])(?:\s*/?\s*(?P<qy>(?:19|20)\d\d))?(?!\w)"
        r"|(?<![\w.,-])(?P<only>(?:19|20)\d\d)(?![\w.,-]\d)"
    )
    return _Patterns(re.compile(day), re.compile(span))


class WrittenDay(NamedTuple):
    day: str
    start: int
    end: int


def days_in(plain: str, year: int) -> list[WrittenDay]:
    """The days that a folded text names. `year`: of a day that is named without one."""
    if _ANY_DIGIT.search(plain) is None:
        return []
    if _NUMERIC.search(plain) is None and months().numbers.keys().isdisjoint(_LETTERS.findall(plain)):
        return []
    return list(_days(plain, year))


def _days(plain: str, year: int) -> Iterator[WrittenDay]:
    for match in _patterns().day.finditer(plain):
        named = {key[0]: value for key, value in match.groupdict().items() if value}
        month = named["m"].rstrip(".")
        number = int(month) if month.isdigit() else months().numbers[month]
        try:
            day = date(int(named.get("y", year)), number, int(named["d"]))
        except ValueError:
            continue
        yield WrittenDay(day.isoformat(), match.start(), match.end())


def period_in(question: str, today: str) -> NamedPeriod | None:
    """The period that a question names; None if it names none, or more than it can mean."""
    plain, now = folded(question), date.fromisoformat(today[:10])
    named = _relative(plain, now)
    if named is not None:
        return named
    return _one_of(_parts(plain, now), plain)


def two_periods(question: str, today: str) -> list[NamedPeriod]:
    """The two periods that a question compares; none if it names more or fewer."""
    plain, now = folded(question), date.fromisoformat(today[:10])
    parts = [NamedPeriod(one, _with(_PREPOSITION, plain, start), end) for one, start, end in _parts(plain, now)]
    return parts if len(parts) == 2 else []


def names_period(question: str) -> bool:
    return period_in(question, "2000-01-01") is not None


def _parts(plain: str, now: date) -> list[tuple[Period, int, int]]:
    """The days, months, quarters and years that a folded text names, in its order."""
    parts = []
    for one in _days(plain, now.year):
        parts.append((Period(one.day, _after(one.day)), one.start, one.end))
        if (first := _FIRST_OF_TWO.search(plain[: one.start])) is not None and 0 < int(first[1]) < int(one.day[8:]):
            day = f"{one.day[:8]}{int(first[1]):02}"
            parts.append((Period(day, _after(day)), first.start(), first.end()))
    for match in _QUARTER.finditer(plain):
        year = re.match(rf"{_OF},?\s+((?:19|20)\d\d)(?!\d)", plain[match.end() :])
        month = 3 * next(place for place in range(4) if match[place + 1]) + 1
        first_day = date(int(year[1]) if year else now.year, month, 1)
        end = match.end() + (year.end() if year else 0)
        parts.append((_quarter(first_day), match.start(), end))
    taken = [range(start, end) for _, start, end in parts]
    for match in _patterns().span.finditer(plain):
        if not any(match.start() in span for span in taken):
            parts.append((_span(match, now), match.start(), match.end()))
    return sorted(parts, key=lambda part: part[1])


def _relative(plain: str, now: date) -> NamedPeriod | None:
    monday, first = now - timedelta(days=now.weekday()), now.replace(day=1)
    before = (first - timedelta(days=1)).replace(day=1)
    spans = {
        "yesterday": (now - timedelta(days=1), now),
        "today": (now, now + timedelta(days=1)),
        "this week": (monday, monday + timedelta(days=7)),
        "last week": (monday - timedelta(days=7), monday),
        "this month": (first, _next_month(first)),
        "last month": (before, first),
        "this year": (date(now.year, 1, 1), date(now.year + 1, 1, 1)),
        "last year": (date(now.year - 1, 1, 1), date(now.year, 1, 1)),
    }
    for name, words in _RELATIVE.items():
        if found := re.search(rf"(?<!\w)(?:{words})(?!\w)", plain):
            start, end = spans[name]
            return NamedPeriod(Period(start.isoformat(), end.isoformat()), found.start(), found.end())
    return None


def _span(match: re.Match[str], now: date) -> Period:
    if match["q"]:
        return _quarter(date(int(match["qy"] or now.year), 3 * int(match["q"]) - 2, 1))
    if match["only"]:
        year = int(match["only"])
        return Period(f"{year}-01-01", f"{year + 1}-01-01")
    number = months().numbers[match["m"].rstrip(".")]
    year = int(match["y"]) if match["y"] else now.year - (number > now.month)
    first = date(year, number, 1)
    return Period(first.isoformat(), _next_month(first).isoformat())


def _quarter(first: date) -> Period:
    return Period(first.isoformat(), _next_month(_next_month(_next_month(first))).isoformat())


def _one_of(parts: list[tuple[Period, int, int]], plain: str) -> NamedPeriod | None:
    """One period as it is, open where the question says since or until; two as a range."""
    if not parts or len(parts) > 2:
        return None
    (first, start, _), (last, _, end) = parts[0], parts[-1]
    if len(parts) == 2:
        return NamedPeriod(Period(first.first, last.end), _with(_PREPOSITION, plain, start), end)
    ends = {"since": (first.first, ""), "after": (first.end, ""), "until": ("", first.end), "before": ("", first.first)}
    for name, words in _OPEN.items():
        if (begins := _with(rf"(?:{words})\s+(?:\w+\s+)?", plain, start)) < start:
            return NamedPeriod(Period(*ends[name]), begins, end)
    return NamedPeriod(first, _with(_PREPOSITION, plain, start), end)


def _with(words: str, plain: str, start: int) -> int:
    """Where words begin that stand directly before a place; the place itself if they do not."""
    found = re.search(rf"(?<!\w){words}$", plain[:start])
    return found.start() if found else start


def _next_month(first: date) -> date:
    return (first + timedelta(days=31)).replace(day=1)


def _after(day: str) -> str:
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()
