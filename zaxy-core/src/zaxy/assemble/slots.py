"""What a composed question needs: a count, a sum, a difference, a duration or an order rests on several events."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from zaxy.retrieve.results import Result
from zaxy.text.tokens import folded

VERSION = 1
SOURCE, NUMERIC, TEMPORAL, EXACT, SEMANTIC = "source", "numeric", "temporal", "exact", "semantic"


class Composed(NamedTuple):
    operation: str
    answer_type: str
    pattern: re.Pattern[str]
    sources: int
    """The least number of events that an answer rests on."""
    required: tuple[str, ...]
    only_if: Callable[[str], bool] | None = None
    """What else must be so of the question, as it was asked."""


def _composed(
    operation: str,
    answer_type: str,
    pattern: str,
    sources: int,
    *required: str,
    only_if: Callable[[str], bool] | None = None,
) -> Composed:
    return Composed(operation, answer_type, re.compile(rf"(?<!\w)(?:{pattern})(?!\w)"), sources, required, only_if)


def _names_period(question: str) -> bool:
    from zaxy.assemble.synthesis.dates import names_period  # a plain question needs none of it

    return names_period(question)


def _asks_which(question: str) -> bool:
    return _ASKS_WHICH.match(folded(question)) is not None


_ELISION = re.compile(r"(?<!\w)d'(?=\w)")
_MANY = "how many|wie vielen?|cuant[oa]s|combien de?|quant[ie]|quant[oa]s|hoeveel"
MANY = re.compile(rf"\W*(?:{_MANY})\b")
_MUCH = "how much|wie viel|wieviel|cuanto|combien(?! de? )|quanto|hoeveel"
_SPENT = (
    r"(?:[\w'’-]+ ){0,12}?(?:spend|spent|pay|paid|cost|expenses|ausgegeben|ausgeben|bezahlt|gezahlt|gekostet"
    r"|gast\w{1,5}|pagado|pagamos|pagaron|cuesta\w*|costaron|costo|depens\w+|paye|payes|coute|speso|pagato|costato|gastou|gastamos|pagou)"
)
_TIMES = (
    "(?:days|weeks|months|years|hours|minutes|seconds|tage|wochen|monate|jahre|stunden|minuten|sekunden|dias|semanas"
    "|meses|anos|horas|minutos|segundos|jours|semaines|mois|ans|annees|heures|secondes|giorni|settimane|mesi|anni|ore)"
)
_MEASURES = (
    r"(?:euros?|dollars?|dolares|money|geld|dinero|argent|km|kilomet\w+|quilomet\w+|chilomet\w+|miles|meters|metres|meter|metros|kg"
    r"|kilos?|kilogram\w*|grams?|gramm|gramos|grammes|liters?|litres?|litros|kwh|kcal|calories|kalorien|calorias)"
)
_GROWN = "more|less|fewer|longer|faster|higher|lower|cheaper|shorter|larger|smaller|greater|bigger"
_THAN = (
    r"(?=[^?]{1,80}?\b(?:more|fewer|less|mehr|weniger|mas|menos|plus|moins|piu|meno|mais)\b"
    r"[^?]{1,80}?\b(?:than|als|que|di|do que)\b(?! *[\d$€£]))"
)
"""`how many hours more for this than for that`; `more than 3 hours` compares nothing."""
_ASKS_WHICH = re.compile(
    r"\W*(?:(?:for|with|in|on|at|fur|mit|bei|an|in|con|para|en|a|de|pour|avec|chez) )?"
    r"(?:which|who|whose|welche[nrsm]?|wer|wem|wen|que|quien|cual|quel\w*|qui|quale|chi)\b"
)
_WHICH = r"(?:which|who|what|welche[nrsm]?|wer|wem|wen|que|quien|cual|quel\w*|qui|quale|chi)"
_TO_WHAT = r"(?:on|for|in|at|with|from|to|by|en|para|con|por|a|pour|chez|dans|avec)\b"
_BIG_EN = "highest|lowest|largest|smallest|biggest|longest|shortest|heaviest|lightest|hottest|coldest|slowest|fastest"
_BIG_DE = (
    r"(?:hochst|niedrigst|grosst|kleinst|teuerst|billigst|gunstigst|langst|kurzest|schnellst|langsamst|schwerst|leichtest"
    r"|warmst|kaltest|meist|wenigst)e[nmrs]?"
)
_BIG_ES = (
    r"(?:mas|plus|piu|mais) (?:alt|baj|baix|bas|car|cher|barat|larg|long|lung|cort|court|elev|grand|pequen|petit|rapid"
    r"|lent|pesad|lourd)\w*"
)
OPERATIONS = (
    _composed(
        "order",
        "list",
        "in (?:what|which) order|chronological(?:ly)?|timeline of|sequence of|in welcher reihenfolge|chronologisch"
        r"|en que orden|cronologic\w+|dans quel ordre|chronologique\w*|in (?:che|quale) ordine|em que ordem",
        2,
        SOURCE,
        TEMPORAL,
    ),
    _composed(
        "difference",
        "number",
        rf"difference between|difference in|(?:{_MUCH}|{_MANY}) (?:{_GROWN})|compared (?:to|with)"
        rf"|by how (?:many|much)|um wie ?viele?|(?:{_MANY}|{_MUCH}){_THAN}"
        "|unterschied zwischen|differenz zwischen|(?:wie viel|wieviel) (?:mehr|weniger|langer|teurer|hoher|gunstiger)"
        "|diferencia entre|cuant[oa]s? (?:mas|menos)|difference entre|combien de (?:plus|moins)|^de combien"
        "|differenza tra"
        "|quanto (?:piu|meno|mais|menos)|diferenca entre",
        2,
        SOURCE,
        NUMERIC,
    ),
    _composed(
        "comparison",
        "value",
        rf"(?:{_GROWN}|mehr|weniger|langer|teurer|hoher|mas|menos|plus|moins|piu|meno|mais)(?:,? [^.;?]+)?"
        r" (?:or|oder|o|ou)(?= [^,.;?]+\?)"
        r"|(?:or|oder|o|ou)(?= [^,.;?]{1,60} (?:more|fewer|less|mehr|weniger|mas|menos|plus|moins)(?:[ ?]))",
        2,
        SOURCE,
        NUMERIC,
    ),
    _composed(
        "average",
        "number",
        r"on average|average|mean (?:of|per|over|time|cost)|im (?:durch)?schnitt|durchschnittlich\w*"
        rf"|{_WHICH} [^?]{{1,60}} media(?=[ ?])"
        "|im mittel|mittelwert|de media|en promedio|promedio|por termino medio|media d(?:e|el|os|as?)"
        r"|(?:tiempo|coste|costo|precio|gasto|importe|valor|numero|consumo|peso|tempo|prezzo|preco) medio|en moyenne"
        "|moyenn?e?s?|in media|em media",
        1,
        SOURCE,
        NUMERIC,
    ),
    _composed("median", "number", "median|mediana|mediane", 1, SOURCE, NUMERIC),
    _composed(
        "extreme",
        "value",
        rf"{_BIG_EN}|most expensive|cheapest|maximum|minimum|{_BIG_DE}|maximal\w*|minimal\w*|{_BIG_ES}"
        r"|maxim[oa]|minim[oa]|moins cher\w*|mayor|menor",
        1,
        SOURCE,
        NUMERIC,
    ),
    _composed(
        "extreme",
        "value",
        r"(?:the )?(?:most|fewest|least)(?= \w+s\b)|(?:die )?(?:meisten|wenigsten)(?= \w)"
        r"|(?<!que )(?:mas|menos)(?= \w+s\b)|le (?:plus|moins) de?(?= \w)"
        rf"|(?:the )?(?:most|least)(?= {_TO_WHAT}| *[?]|$)|am (?:meisten|wenigsten)"
        rf"|(?:mas|menos|le plus|le moins)(?= {_TO_WHAT}| *[?]|$)",
        1,
        SOURCE,
        NUMERIC,
        only_if=_asks_which,
    ),
    _composed(
        "duration",
        "duration",
        rf"how long|wie lange|cuanto tiempo|combien de temps|quanto tempo|(?:{_MANY})(?= {_TIMES})"
        r"|cuanto (?:duro|dura|tardo|tarda)|quanto (?:durou|dura|demorou)|quanto e durat[oa]",
        1,
        SOURCE,
        TEMPORAL,
    ),
    _composed(
        "sum",
        "number",
        rf"{_WHICH} (?:is|was|ist|war|es|fue|est|etait) (?:the|our|my|der|die|das|el|la|le) total(?= \w)"
        "|in total|altogether|(?:the )?sum of|total (?:of|number|amount|cost|count)|insgesamt|zusammen"
        "|summe|gesamt(?:summe|zahl|betrag)"
        "|gesamte?[nrms]?|en total|suma de|total de|au total|somme|(?:montant|cout|prix|nombre|importe|coste) total"
        "|in totale|somma|no total"
        rf"|(?:{_MANY})(?= {_MEASURES})|(?:{_MUCH})(?= {_SPENT})",
        1,
        SOURCE,
        NUMERIC,
    ),
    _composed(
        "sum",
        "number",
        rf"(?:{_MUCH})(?= (?:did|do|does|have|has|had|was|were|habe|haben|hat|hatten|le|nos|hemos|he|ha) )"
        rf"|(?:{_MUCH})(?= \w+(?:e|mos|ron|o) )"
        r"|(?:what|was|que)(?= (?:did|have|has|habe|haben|hat|hemos) (?:we|i|they|wir|ich|sie) )",
        1,
        SOURCE,
        NUMERIC,
        only_if=_names_period,
    ),
    _composed(
        "count",
        "number",
        rf"{_MANY}|how often|number of|count of|wie oft|anzahl|numero de|combien de fois|nombre de|quante volte"
        "|numero di",
        1,
        SOURCE,
        NUMERIC,
    ),
)
"""The first that a question asks for is meant. The patterns are folded: without accents and case."""
_NUMBER = re.compile(
    r"\d|\b(?:no|none|never|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty"
    r"|hundred|thousand|million|once|twice|half|every|daily|weekly|monthly|quarterly|yearly)\b",
    re.IGNORECASE,
)
_DURATION = re.compile(r"\d+(?:\.\d+)?\s*(?:ms|s|h|sec|second|min|minute|hour|day|week|month|year)s?\b", re.IGNORECASE)


class SlotPlan(NamedTuple):
    query: str
    composed: Composed

    def missing(self, facts: Sequence[Result]) -> tuple[str, ...]:
        """The required slots that the facts do not fill."""
        dated = len({fact.citation for fact in facts if fact.valid_from})
        filled = {
            SOURCE: len({fact.citation for fact in facts}) >= self.composed.sources,
            NUMERIC: any(_NUMBER.search(fact.content) for fact in facts),
            TEMPORAL: dated > 1 or any(_DURATION.search(fact.content) for fact in facts),
        }
        return tuple(slot for slot in self.composed.required if not filled[slot])

    def suggested_queries(self, missing: Sequence[str]) -> list[str]:
        ends = {SOURCE: "every event about", NUMERIC: "figures and amounts of", TEMPORAL: "dates and times of"}
        return [f"{ends[slot]}: {self.query}"[:240] for slot in missing]

    def as_dict(self) -> dict[str, Any]:
        required = self.composed.required
        slots = [{"name": name, "strategy": _STRATEGIES[name], "required": name in required} for name in _STRATEGIES]
        kept = [slot for slot in slots if slot["required"] or slot["name"] in (EXACT, SEMANTIC)]
        return {
            "version": VERSION,
            "query": self.query[:240],
            "answer_type": self.composed.answer_type,
            "operation": self.composed.operation,
            "required_slots": list(required),
            "optional_slots": [EXACT, SEMANTIC],
            "slots": kept,
        }


_STRATEGIES = {
    SOURCE: "cited events, each once",
    NUMERIC: "events that hold a number",
    TEMPORAL: "events with their times",
    EXACT: "identifiers and names as they stand",
    SEMANTIC: "other words for the same",
}


def as_asked(question: str) -> str:
    """The question, folded, with `d'heures` as two words; each character stands where it stood."""
    return _ELISION.sub("d ", folded(question).replace("’", "'"))


def slot_plan(question: str) -> SlotPlan | None:
    """The plan of a composed question; None for a question that one event can answer."""
    plain = as_asked(question)
    composed = next(
        (one for one in OPERATIONS if one.pattern.search(plain) and (one.only_if is None or one.only_if(question))),
        None,
    )
    return SlotPlan(question, composed) if composed else None
