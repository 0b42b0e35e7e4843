"""What a record says of itself that changes what it counts for: that it is a plan, was undone, or goes another way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from zaxy.api.models import Event
from zaxy.assemble.synthesis.question import ComposedQuestion
from zaxy.assemble.synthesis.values import PRICES, QUANTITIES, fields_of, stems_of
from zaxy.retrieve.question import AskedWord
from zaxy.text.tokens import folded, words

PLANNED, UNDONE, FAILED = "plan", "undoing", "failure"
IS_PLAN = "it is a plan, and not what happened"
WAS_UNDONE = "it was undone, or undoes another"
HAS_FAILED = "it failed, and no money went"
_SAID = {
    PLANNED: re.compile(
        r"plan(?:s|ned|ning)?|budget\w*|estimat\w*|forecast\w*|expected|target\w*|quot(?:e|es|ed|ation)|propos\w*"
        r"|draft\w*|scheduled|requested|project(?:ed|ion)|pledged|wish(?:ed|list)?|intended|anticipated"
        r"|geplant\w*|planung|kostenvoranschlag|schatzung\w*|geschatzt\w*|angebot\w*|entwurf|prognose|erwartet\w*"
        r"|prevue?s?|prevision\w*|devis|estimation|estimee?s?|brouillon|propose[es]*"
        r"|previst[oa]s?|presupuest\w*|estimad[oa]s?|borrador|planead[oa]s?|planificad[oa]s?"
    ),
    UNDONE: re.compile(
        r"refund\w*|reimburs\w*|chargeback|revers(?:ed|al)|reverted|cancel\w*|void(?:ed)?|annul\w*|withdrawn|rejected"
        r"|storn\w*|(?:ruck)?erstatt\w*|gutschrift|abgesagt|widerrufen|rembours\w*|avoir|anulad\w*|reembols\w*|devol\w*|devuel\w*|ruckgabe\w*"
    ),
    FAILED: re.compile(
        "failed|declined|bounced|denied|fehlgeschlagen|abgelehnt|echouee?|refusee?|fallid[oa]|rechazad[oa]"
    ),
}
_REASONS = {PLANNED: IS_PLAN, UNDONE: WAS_UNDONE, FAILED: HAS_FAILED}
_DIRECTIONS = ("direction", "side", "flow", "sign")
STATES = frozenset(("status", "state", "stage", "phase", "kind", "type", "nature", *_DIRECTIONS))
"""Fields that say how a record is meant."""
_ENDS = frozenset(
    "from to sender recipient receiver payer payee buyer seller source target home away von an nach de a".split()
)
"""Fields that say which end of something a name is."""
_LEVEL = re.compile(
    r"balances?|levels?|stock|inventory|meters?|readings?|gauge|weigh\w*|temperature\w*|snapshots?|state|kontostand|bestand"
    r"|zahlerstand|stand|messung\w*|solde|niveau|stocks|releve\w*|saldo|nivel|lectura\w*"
)
_CORRECTS = re.compile(
    r"correct(?:s|ed|ion|ing)|replac(?:es|ed)|amend(?:s|ed|ment)|revis(?:es|ed|ion)|adjust(?:s|ed|ment)|instead"
    r"|korrigiert|korrektur|ersetzt|berichtig\w*|corrig\w*|correction|remplace|rectif\w*|corrige|reemplaza"
)
MAX_STATE = 40
"""Characters; what is longer says more than a state."""
_SETTLED = re.compile(
    "paid|done|confirmed|settled|approved|completed?|received|billable|valid|final|bezahlt|paye|pagad[oa]"
)
_SPENT = re.compile(
    r"expens\w*|spen[dt]\w*|pa(?:y|id|yment)s?|purchas\w*|bought|buy|costs?|prices?|bills?|billed|fees?|charge[ds]?|fares?"
    r"|tickets?|refuel\w*|ausgabe\w*|kosten|kauf\w*|gekauft|bezahlt|zahlung\w*|rechnung\w*|preis"
    r"|depense\w*|achat\w*|achete\w*|paiement\w*|prix|cout|gast\w*|compra\w*|pago\w*|precio|coste?"
)
_EARNED = re.compile(
    r"receiv\w*|incom\w*|revenue\w*|sales?|sold|earn\w*|invoic\w*|deposit\w*|salar\w*|wages?|payouts?|refund\w*"
    r"|einnahme\w*|verkauf\w*|umsatz|erhalten|gehalt|lohn|recettes?|ventes?|vendue?s?|revenus?|salaires?|recus?"
    r"|ingreso\w*|venta\w*|vendid\w*|sueldo\w*|cobr\w*"
)
_ASKS_FOR_SPENT = re.compile(
    r"(?<!\w)(?:spen[dt]\w*|pa(?:y|ys|id|yed)|bezahl\w*|gezahlt|zahl\w*|ausgegeben|ausgeben|ausgaben|gast\w{1,6}|pag\w{1,6}"
    r"|depens\w+|pay(?:e|es|ee|er|ons)|speso|spes[ae]|gastei|costs?|kosten|kostet\w*|gekostet|cout\w*|cost[oae]\w*)(?!\w)"
)


class RecordMarks(NamedTuple):
    """What a record says of itself."""

    event_type: str
    said: tuple[str, ...]
    """How it is, and what is true of it."""
    denied: tuple[str, ...]
    """The fields that are false."""


class Senses:
    """How records are meant, as far as a question cares. What the question itself names counts."""

    def __init__(self, question: ComposedQuestion) -> None:
        self._asked = frozenset(words(question.plain))
        self._words, self._plain = question.topic, frozenset(re.findall(r"[^\W_]+", question.plain))
        self._adds = question.operation in ("sum", "difference", "comparison") and question.needs_value
        self._topic = frozenset(stem for word in question.words for stem in word.stems)
        named = re.findall(r"[^\W_]+", question.plain)
        self._unnamed = {sense for sense in _SAID if not any(map(_SAID[sense].fullmatch, named))}
        of_money, self._needs_value = question.asks_for_money, question.needs_value
        applies = {PLANNED: self._needs_value, UNDONE: True, FAILED: of_money}
        self._excluding = [sense for sense in _SAID if applies[sense] and sense in self._unnamed]
        self._of_spending = self._needs_value and of_money and _ASKS_FOR_SPENT.search(question.plain) is not None
        self._of_kind = question.standing is not None
        self._known: dict[RecordMarks, str] = {}

    def against(self, event: Event) -> str:
        """Why a record is not one of what is asked for; empty if nothing speaks against it."""
        marks = _marks(event)
        if marks not in self._known:
            self._known[marks] = self._against(marks)
        return self._known[marks]

    def _against(self, marks: RecordMarks) -> str:
        said = _plain_words(marks.event_type, *marks.said)
        for sense in self._excluding:
            if any(map(_SAID[sense].fullmatch, said)):
                return _REASONS[sense]
        denied = next((field for field in marks.denied if self._is_named(field)), "")
        return f"{denied!r:.40} is false" if denied else ""

    def is_plan(self, event: Event) -> bool:
        if self._of_kind or PLANNED not in self._unnamed:
            return False
        marks = _marks(event)
        return any(map(_SAID[PLANNED].fullmatch, _plain_words(marks.event_type, *marks.said)))

    def doubts(self, records: Sequence[Event]) -> Iterator[str]:
        """What the records that count say of themselves, and the question does not: they may not all be meant."""
        payloads = [record.payload or {} for record in records]
        fields = {
            name for payload in payloads for name, value in payload.items() if name in STATES or value in (True, False)
        }
        for field in sorted(fields):
            values = {_said_by(payload.get(field)) for payload in payloads}
            if not self._is_named(field) and self._is_open(field, values):
                yield f"the rows say {field!r:.40}, and the question does not say which is meant"
        if not self._needs_value and any(map(self.is_plan, records)):
            yield "the rows are plans"
        kinds = {(record.type, *(record.payload or {})) for record in records}
        if self._of_spending and not all(self._was_spent(event_type, fields) for event_type, *fields in kinds):
            yield "the rows do not say that the money was spent"
        if self._adds and any(map(_LEVEL.fullmatch, _plain_words(*(event_type for event_type, *_ in kinds)))):
            yield "the rows may say how much there is, and not how much was added"
        if any(map(_CORRECTS.fullmatch, _plain_words(*(name for kind in kinds for name in kind)))):
            yield "some of the rows may correct others"
        yield from self._in_other_roles(records)

    def _in_other_roles(self, records: Sequence[Event]) -> Iterator[str]:
        """A word that stands in `from` of one row and in `to` of another does not mean the same in both."""
        held = {(record.type, record.actor, tuple(fields_of(record.payload or {}).items())) for record in records}
        for word in self._words:
            roles = [_roles(word, event_type, actor=actor, fields=fields) for event_type, actor, fields in held]
            same = frozenset.intersection(*roles) if roles else frozenset()
            if roles and all(roles) and (not same or (same <= _ENDS and self._plain.isdisjoint(same))):
                names = ", ".join(sorted(frozenset().union(*roles)))
                yield f"{word.text!r:.40} stands in {names:.80}, and the question does not say which is meant"

    def _is_named(self, field: str) -> bool:
        return not self._asked.isdisjoint(words(field.replace("_", " ")))

    def _is_open(self, field: str, values: set[object]) -> bool:
        if values & {True, False}:
            return len(values) > 1 or (False in values and _SETTLED.fullmatch(folded(field)) is not None)
        said = [value for value in values if isinstance(value, str)]
        if field in _DIRECTIONS:
            return bool(said)
        return field in STATES and len(values) > 1 and not all(self._asked.issuperset(words(value)) for value in said)

    def _was_spent(self, event_type: str, fields: Sequence[str]) -> bool:
        """By its type or the name of a field. What a question names by its kind is meant, whatever it is called."""
        of_type = _plain_words(event_type)
        if any(map(_EARNED.fullmatch, of_type)):
            return False
        if any(map(_SPENT.fullmatch, (*of_type, *_plain_words(*fields)))):
            return True
        return not self._topic.isdisjoint(words(event_type.replace(".", " ")))


def _roles(word: AskedWord, event_type: str, *, actor: str, fields: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The fields of a record that hold a word; its type and its actor are such fields too."""
    each = (("the type", event_type.replace(".", " ")), ("the actor", actor), *fields)
    return frozenset(field for field, value in each if stems_of(value).issuperset(word.stems))


def _marks(event: Event) -> RecordMarks:
    said, denied = [], []
    for field, value in (event.payload or {}).items():
        if value is True:
            said.append(field)
        elif value is False:
            denied.append(field)
        elif field in STATES and isinstance(value, str) and len(value) <= MAX_STATE:
            said.append(value)
    return RecordMarks(event.type, tuple(said), tuple(denied))


@lru_cache(4096)
def _plain_words(*texts: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[^\W_]+", folded(" ".join(texts))))


def _said_by(value: object) -> object:
    return value if isinstance(value, bool) else folded(value) if isinstance(value, str) else None


def price_of_one(question: ComposedQuestion, payload: Mapping[str, object], field: str) -> bool:
    """Whether a value is the price of one, and the row is about several."""
    if question.operation not in ("sum", "difference", "comparison") or field not in PRICES:
        return False
    counts = [payload.get(name) for name in (*QUANTITIES, "pieces", "units", "persons", "people", "guests", "nights")]
    return any(isinstance(count, int | float) and not isinstance(count, bool) and count != 1 for count in counts)
