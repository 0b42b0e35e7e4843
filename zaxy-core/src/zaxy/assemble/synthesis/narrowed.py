"""What a question takes away from the rows that have its words: amounts, exceptions, all but the last few. What of it
cannot be followed is said, and then there is no answer: a sum over all rows would be another one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zaxy.assemble.synthesis.dates import days_in
from zaxy.assemble.synthesis.lexicon import converted, decimal_sign
from zaxy.assemble.synthesis.quantities import NUMBER_WORDS, Quantity, UnreadableNumber, quantities
from zaxy.text.languages import language_of

OVER, NO_LESS_THAN, UNDER, NO_MORE_THAN = "over", "at least", "under", "at most"
_BOUNDS = {
    NO_LESS_THAN: "at least|no less than|mindestens|au moins|al menos|por lo menos|almeno|pelo menos",
    NO_MORE_THAN: "at most|no more than|up to|hochstens|maximal|bis zu|au plus|jusqu'a|como maximo|hasta"
    "|al massimo|no maximo",
    OVER: r"over|above|more than|exceed\w*|(?:greater|longer|higher|larger|bigger|heavier) than|uber|mehr als"
    r"|(?:langer|hoher|grosser|schwerer|teurer) als|plus de|superieure?s? a|depass\w+|au-dessus de|mas de"
    r"|superior(?:es)? a|por encima de|piu di|mais de|acima de",
    UNDER: r"under|below|less than|fewer than|(?:smaller|shorter|lower|cheaper|lighter) than|unter|weniger als"
    r"|(?:kurzer|kleiner|niedriger|billiger|gunstiger|leichter) als|moins de|inferieure?s? a|en dessous de|menos de"
    r"|inferior(?:es)? a|por debajo de|meno di|abaixo de",
}
_BOUND = re.compile("|".join(rf"(?P<b{place}>(?<!\w)(?:{words})\s*$)" for place, words in enumerate(_BOUNDS.values())))
_EXCEPT = re.compile(
    r"(?<!\w)(?:except(?: for)?|excluding|leaving out|not counting|not including|sin contar|sans compter"
    r"|without|other than|apart from|aside from|but not|ausser|ohne|ausgenommen"
    r"|abgesehen von|sauf|sans|hors|excepte|a part|excepto|salvo|sin|tranne|eccetto|senza|exceto|sem)(?!\w)"
)
_NOT = re.compile(
    r"(?<!\w)(?:not|never|nicht|niemals|nie|keine?[nmrs]?|pas|jamais|nunca|jamas|non|nao)(?!\w)"
    r"|n't(?!\w)"
)
_SPANISH_NOT = re.compile(r"(?<!\w)no(?!\w)")
_COUNTS = "|".join(sorted((word for word, number in NUMBER_WORDS.items() if number), key=len, reverse=True))
_LAST = r"last|latest|most recent|newest|letzte[nrsm]?|derniere?s?|ultim[oa]s?"
_FIRST = r"first|earliest|oldest|erste[nrsm]?|premiere?s?|primer[oa]?s?|prim[oi]|prime"
_THE = (
    r"the|my|our|their|die|der|das|den|dem|meine?[nrm]?|unsere?[nrm]?"
    r"|les?|la|mes|mon|ma|nos|notre|los?|las|el|il|i|gli"
)
_PART = r"(?!\s+(?:half|third|part|halfte|drittel|moitie|mitad|part[ei]e?|half-?year|semestre)\b)"
_FEW = re.compile(
    rf"(?<!\w)(?:{_THE})\s+(?:(?P<before>\d+|{_COUNTS})\s+)?(?:(?P<last>{_LAST})|(?P<first>{_FIRST}))(?!\w)"
    rf"(?:\s+(?P<after>\d+|{_COUNTS})(?!\w))?{_PART}"
)
_SPANS = {
    "day": r"days?|tage?|jours?|journees?|dias?|giorn[oi]",
    "week": r"weeks?|wochen?|semaines?|semanas?|settiman[ae]",
    "month": r"months?|monate?|mois|mes|meses|mes[ei]",
    "quarter": r"quarters?|quartale?|trim?estres?",
    "year": r"years?|jahre?|ans?|annees?|anos?|ann[oi]",
}
_PER = r"per|an?|each|every|je|pro|jede[nrsm]?|par|chaque|por|al|cada|a la"
_EACH = {
    "day": "daily|taglich\\w*|quotidien\\w*|diari[oa]s?",
    "week": "weekly|wochentlich\\w*|hebdomadaires?|semanal(?:es)?",
    "month": "monthly|monatlich\\w*|mensuel\\w*|mensual(?:es)?",
    "quarter": "quarterly|vierteljahrlich\\w*|trimestriel\\w*|trimestral(?:es)?",
    "year": "yearly|annual(?:ly)?|jahrlich\\w*|annuel\\w*|anual(?:es)?",
}
_EACH_OF = {
    name: re.compile(rf"(?<!\w)(?:(?:{_PER})\s+(?:{_SPANS[name]})|{words})(?!\w)(?! ago)")
    for name, words in _EACH.items()
}
TIME_NOUNS = {name: re.compile(rf"(?:{words})") for name, words in _SPANS.items()}


class Bound(NamedTuple):
    """An amount that each row must be over or under."""

    kind: str
    value: float
    unit: str

    def takes(self, value: float, unit: str) -> bool:
        own = converted(value, unit, self.unit) if self.unit and unit else value
        if own is None:
            return False
        return {
            OVER: own > self.value,
            NO_LESS_THAN: own >= self.value,
            UNDER: own < self.value,
            NO_MORE_THAN: own <= self.value,
        }[self.kind]

    def __str__(self) -> str:
        return f"{self.kind} {self.value:g} {self.unit}".strip()


class Narrowed(NamedTuple):
    """What is left of the question, and what was taken out of it. Blanks stand where it stood."""

    rest: str
    bounds: tuple[Bound, ...] = ()
    last: int = 0
    """How many of the newest rows are meant, or below zero of the oldest; 0 for all."""
    each: str = ""
    """`month` where an amount for each month is asked for."""
    without: str = ""
    """What is left out of the sum, in the question's words."""
    refused: str = ""
    """Why the question cannot be followed."""


def narrowed(rest: str, query: str, *, few: bool) -> Narrowed:
    """`rest`: the folded question without its period. `few`: whether `the last two` can be of the rows."""
    language = language_of(query)
    each, rest = _each(rest)
    bounds, rest = _bounds(rest, decimal_sign(language))
    found = _FEW.search(rest) if few else None
    last = _how_many(found) if found else 0
    rest = _blank(rest, found) if found else rest
    refused, without = "", ""
    if (exception := _EXCEPT.search(rest)) is not None:
        kept, without = rest[: exception.start()], rest[exception.end() :]
        if not re.search(r"\w", without) or re.match(r"\s{4}", without):  # the blanks of a period
            refused = "the question leaves out a period, which is not followed"
        rest = f"{kept:<{len(rest)}}"
    if _NOT.search(rest) or (language == "es" and _SPANISH_NOT.search(rest)):
        refused = "the question asks for what did not happen, and rows tell of what did"
    return Narrowed(rest, bounds, last, each, without, refused)


def _each(rest: str) -> tuple[str, str]:
    for name, pattern in _EACH_OF.items():
        if found := pattern.search(rest):
            return name, _blank(rest, found)
    return "", rest


def _bounds(rest: str, decimal: str) -> tuple[tuple[Bound, ...], str]:
    found: list[Bound] = []
    for quantity in _quantities(rest, decimal):
        said = _BOUND.search(rest[: quantity.start])
        if said is None:
            continue
        kind = next(kind for place, kind in enumerate(_BOUNDS) if said[f"b{place}"])
        found.append(Bound(kind, quantity.value, quantity.unit))
        rest = rest[: said.start()] + " " * (quantity.end - said.start()) + rest[quantity.end :]
    return tuple(found), rest


def _quantities(rest: str, decimal: str) -> Sequence[Quantity]:
    for day in days_in(rest, 2000):
        rest = rest[: day.start] + " " * (day.end - day.start) + rest[day.end :]
    try:
        return quantities(rest, decimal)
    except UnreadableNumber:
        return []


def _how_many(found: re.Match[str]) -> int:
    said = found["before"] or found["after"] or "1"
    number = int(said) if said.isdigit() else int(NUMBER_WORDS[said])
    return number if found["last"] else -number


def _blank(text: str, found: re.Match[str]) -> str:
    return text[: found.start()] + " " * (found.end() - found.start()) + text[found.end() :]


def time_noun(words: Sequence[str]) -> str:
    """`month` where the words name months."""
    return next(iter(_time_nouns(words)), "")


def _time_nouns(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        yield from (name for name, pattern in TIME_NOUNS.items() if pattern.fullmatch(word))
