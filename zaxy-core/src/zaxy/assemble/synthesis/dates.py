"""Dates in the text of a row, and the period that a question names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from zaxy.assemble.synthesis.lexicon import months
from zaxy.assemble.synthesis.quantities import NUMBER_WORDS
from zaxy.text.tokens import folded

_OF = r"(?:\s+(?:de|of|del|di))?"
_ENDS = r"(?:st|nd|rd|th|er|º|ª|\.)?"
_FEW_WORDS = "|".join(sorted((word for word, number in NUMBER_WORDS.items() if number), key=len, reverse=True))
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
_AGO = {
    "day": "days?|tagen?|jours?|dias|giorni",
    "week": "weeks?|wochen?|semaines?|semanas|settimane",
    "month": "months?|monaten?|mois|meses|mesi",
    "year": "years?|jahren?|ans?|annees?|anos|anni",
}
_DAYS, _MONTHS = {"day": 1, "week": 7}, {"month": 1, "year": 12}
_LAST_FEW = re.compile(
    r"(?<!\w)(?:(?:within|during|over|in|innerhalb|wahrend|au cours|pendant|durant|durante|en) )?"
    r"(?:(?:the|den|der|die|des|les|ces|los|las|gli|i|nos|dos) )?"
    rf"(?:(?P<n1>\d+|{_FEW_WORDS}) (?:dernier\w*|ultim[oa]s?)"
    r"|(?:last|past|previous|letzten|vergangenen|dernier\w*|ultim[oaie]s?|pasad[oa]s)"
    rf" (?P<n2>\d+|{_FEW_WORDS}))"
    rf" (?:{'|'.join(f'(?P<{name}>{words})' for name, words in _AGO.items())})(?!\w)"
)
"""`in the last 30 days`: with the day of the question."""
_JOINED_PARTS = re.compile(r"\W*(?:and|or|und|oder|y|o|e|et|ou)?\W*" + r"(?:(?:in|im|en|em|for|fur) )?")
_BETWEEN = re.compile(r"(?<!\w)(?:between|zwischen|entre|tra|fra)\W+(?:the |dem |el |le |la )?$")
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
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_LETTERS = re.compile(r"[^\W\d_]{3,}")


class Period(NamedTuple):
    """From the first day on, until before the last one. An open end is empty."""

    first: str
    end: str
    parts: tuple[tuple[str, str], ...] = ()
    """The first and the last day of each part, where these leave something out: `in January and March`."""
    is_rough: bool = False
    """Whether people would not agree on its first day: `in the last two weeks`."""

    def has(self, time: str) -> bool:
        day = time[:10]
        spans = self.parts or ((self.first, self.end),)
        return any(first <= day and (not end or day < end) for first, end in spans)


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
    return _with_years(sorted(parts, key=lambda part: part[1]), plain)


def _with_years(parts: list[tuple[Period, int, int]], plain: str) -> list[tuple[Period, int, int]]:
    """In `January and March 2025` the year is that of both; in `December and March 2025` December is of 2024."""
    found: list[tuple[Period, int, int]] = []
    for period, start, end in reversed(parts):
        if found and _YEAR.search(plain[start:end]) is None and _YEAR.search(plain[found[0][1] : found[0][2]]):
            following = found[0][0].first
            year = int(following[:4]) - (period.first[5:] > following[5:])
            period = _moved(period, year - int(period.first[:4]))
        found.insert(0, (period, start, end))
    return found


def _moved(period: Period, years: int) -> Period:
    """The same days of another year."""
    first = date.fromisoformat(period.first)
    days = date.fromisoformat(period.end) - first
    moved = _months_before(first, -12 * years)
    whole = first.day == 1 and days.days > 27
    end = _months_before(date.fromisoformat(period.end), -12 * years) if whole else moved + days
    return Period(moved.isoformat(), end.isoformat())


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
    return _last_few(plain, now)


def _last_few(plain: str, now: date) -> NamedPeriod | None:
    found = _LAST_FEW.search(plain)
    if found is None:
        return None
    said = found["n1"] or found["n2"]
    number = int(said) if said.isdigit() else int(NUMBER_WORDS[said])
    name = next(name for name in _AGO if found[name])
    if not 0 < number < 1000:
        return None
    days, months_back = number * _DAYS.get(name, 0), number * _MONTHS.get(name, 0)
    first = _months_before(now, months_back) - timedelta(days=days)
    return NamedPeriod(Period(first.isoformat(), _after(now.isoformat()), is_rough=True), found.start(), found.end())


def _months_before(day: date, count: int) -> date:
    months_since = day.year * 12 + day.month - 1 - count
    first = date(months_since // 12, months_since % 12 + 1, 1)
    return first + timedelta(days=min(day.day, (_next_month(first) - first).days) - 1)


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
    """One period as it is, open where the question says since or until; two as a range, or each for itself."""
    if not parts:
        return None
    (first, start, _), (last, _, end) = parts[0], parts[-1]
    if len(parts) > 1 and _are_listed(parts, plain):
        spans = sorted((one.first, one.end) for one, _, _ in parts)
        each = tuple(spans) if any(one[1] < other[0] for one, other in pairwise(spans)) else ()
        period = Period(spans[0][0], max(last for _, last in spans), each)
        return NamedPeriod(period, _with(_PREPOSITION, plain, start), end)
    if len(parts) > 2:
        return None
    if len(parts) == 2:
        return NamedPeriod(Period(first.first, last.end), _with(_PREPOSITION, plain, start), end)
    ends = {"since": (first.first, ""), "after": (first.end, ""), "until": ("", first.end), "before": ("", first.first)}
    for name, words in _OPEN.items():
        if (begins := _with(rf"(?:{words})\s+(?:\w+\s+)?", plain, start)) < start:
            return NamedPeriod(Period(*ends[name]), begins, end)
    return NamedPeriod(first, _with(_PREPOSITION, plain, start), end)


def _are_listed(parts: list[tuple[Period, int, int]], plain: str) -> bool:
    """`January and March`, `in May or June`; `between May and July` is a range."""
    if _BETWEEN.search(plain[: parts[0][1]]):
        return False
    gaps = [plain[one[2] : other[1]] for one, other in pairwise(parts)]
    return all(gap.strip() and _JOINED_PARTS.fullmatch(gap) for gap in gaps) and "-" not in "".join(gaps)


def _with(words: str, plain: str, start: int) -> int:
    """Where words begin that stand directly before a place; the place itself if they do not."""
    found = re.search(rf"(?<!\w){words}$", plain[:start])
    return found.start() if found else start


def _next_month(first: date) -> date:
    return (first + timedelta(days=31)).replace(day=1)


def _after(day: str) -> str:
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()
