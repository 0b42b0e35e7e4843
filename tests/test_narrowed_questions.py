"""Composed questions that take only some of the rows, and records that say themselves how they are meant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zaxy.api.models import Draft
from zaxy.assemble.slots import slot_plan
from zaxy.assemble.synthesis.dates import period_in
from zaxy.memory import Memory

SESSION, TODAY = "narrowed", "2026-11-19"
SURE = 0.75
FUEL = "How much did we spend on fuel in total?"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        yield opened


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """What was spent in the first months of a year; nobody changes it."""
    rows = [
        *(
            ("fuel", 60, "2026-01-10"),
            ("fuel", 50, "2026-02-11"),
            ("fuel", 40, "2026-03-12"),
            ("fuel", 30, "2026-03-20"),
        ),
        *(("food", 20, "2026-01-05"), ("food", 25, "2026-02-06"), ("food", 15, "2026-03-07")),
        *(("rent", 700, "2026-01-01"), ("rent", 700, "2026-02-01"), ("rent", 700, "2026-03-01")),
    ]
    with Memory.open(tmp_path_factory.mktemp("ledger")) as opened:
        record(opened, *[spent(category, amount, day) for category, amount, day in rows])
        yield opened


@pytest.fixture(scope="module")
def hours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    rows = [("Kessel", 3, "2026-03-02"), ("Kessel", 2.5, "2026-03-03"), ("Kessel", 4, "2026-04-06")]
    rows += [("Moser", 6, "2026-03-09"), ("Moser", 1.5, "2026-04-10")]
    with Memory.open(tmp_path_factory.mktemp("hours")) as opened:
        record(opened, *[("time.logged", {"client": name, "hours": n, "date": day}) for name, n, day in rows])
        yield opened


Record = tuple[str, dict[str, Any]]


def spent(category: str, amount: float, day: str, event_type: str = "expense.recorded", **more: Any) -> Record:
    return event_type, {"category": category, "amount": amount, "currency": "EUR", "occurred_at": day, **more}


def record(memory: Memory, *records: Record, actor: str = "ana") -> None:
    memory.append_many([Draft(event_type, actor, payload) for event_type, payload in records], SESSION)


def synthesis(memory: Memory, question: str) -> dict[str, Any]:
    found: dict[str, Any] = memory.checkout(question, SESSION, max_tokens=20_000).as_dict()["diagnostics"]["synthesis"]
    return found


def answer(memory: Memory, question: str) -> Any:
    """The value of the first candidate; None where there is none."""
    candidates = synthesis(memory, question)["answer_candidates"]
    return candidates[0].get("value") if candidates else None


def confidence(memory: Memory, question: str) -> float:
    candidates = synthesis(memory, question)["answer_candidates"]
    return float(candidates[0]["confidence"]) if candidates else 0.0


# What the question takes of the rows


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How many expenses for fuel were over 45 EUR?", 2),
        ("How many fuel expenses were at most 40 EUR?", 2),
        ("Wie viele Ausgaben für fuel lagen über 45 Euro?", 2),
        ("Combien de dépenses de fuel dépassent 45 euros ?", 2),
        ("How much did we spend on everything except fuel?", 2160),
        ("How much did we spend without fuel in March 2026?", 715),
        ("Wie viel haben wir für alles außer fuel ausgegeben?", 2160),
        ("Combien avons-nous dépensé pour tout sauf fuel ?", 2160),
        ("How much did we spend on the last two fuel expenses?", 70),
        ("How much did the first fuel expense cost?", 60),
        ("How much did we spend on fuel in January and March 2026?", 130),
        ("Combien avons-nous dépensé en fuel en janvier et en mars 2026 ?", 130),
        ("How much did we spend on fuel and food in total?", 240),
        ("How much did we spend in March 2026?", 785),
        ("How many different categories did we spend money on?", 3),
        ("What is the difference between the highest and the lowest fuel expense?", 30),
        ("How much did we spend on fuel per month on average?", 60),
        ("Wie viel haben wir pro Monat für fuel ausgegeben?", 60),
        ("Combien avons-nous dépensé en fuel par mois en moyenne ?", 60),
        ("Which month had the most expenses for fuel?", "2026-03"),
        ("Which category had the highest total in March 2026?", "rent"),
    ],
)
def test_a_question_takes_the_rows_that_it_names(ledger: Memory, question: str, value: Any) -> None:
    assert answer(ledger, question) == value


@pytest.mark.parametrize(
    "question",
    [
        "How much did we not spend on fuel?",
        "Wie viel haben wir nicht für fuel ausgegeben?",
        "How much did we spend on fuel other than in March 2026?",
    ],
)
def test_what_cannot_be_followed_has_no_answer_and_says_why(ledger: Memory, question: str) -> None:
    found = synthesis(ledger, question)
    assert found["answer_candidates"] == []
    assert "the question" in found["missing"][0]


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How many hours did I work in March 2026?", 11.5),
        ("Wie viele Stunden habe ich insgesamt gearbeitet?", 17),
        ("Combien d'heures ai-je travaillé pour Moser ?", 7.5),
        ("Combien d’heures ai-je travaillé en mars 2026 pour Kessel ?", 5.5),
        ("How many clients did I work for?", 2),
        ("Pour combien de clients ai-je travaillé ?", 2),
        ("How many times did I work more than 3 hours?", 2),
        ("On how many days did I work for Moser?", 2),
        ("What was my longest day for Kessel?", 4),
        ("Which client had the most hours in March 2026?", "Moser"),
        ("Quel client a eu le plus d'heures en mars 2026 ?", "Moser"),
    ],
)
def test_hours_are_asked_for_in_several_ways(hours: Memory, question: str, value: Any) -> None:
    assert answer(hours, question) == value


@pytest.mark.parametrize(
    ("named", "first", "end", "parts"),
    [
        ("in January and March 2026", "2026-01-01", "2026-04-01", 2),
        ("in Februar und März 2025", "2025-02-01", "2025-04-01", 0),
        ("from December 2025 to February", "2025-12-01", "2026-03-01", 0),
        ("December and January 2026", "2025-12-01", "2026-02-01", 0),
        ("between May and July", "2026-05-01", "2026-08-01", 0),
        ("Q1 and Q3 2025", "2025-01-01", "2025-10-01", 2),
        ("January, March and May 2026", "2026-01-01", "2026-06-01", 3),
        ("in the last 7 days", "2026-11-12", "2026-11-20", 0),
        ("in den letzten zwei Wochen", "2026-11-05", "2026-11-20", 0),
        ("ces 30 derniers jours", "2026-10-20", "2026-11-20", 0),
        ("en los últimos 3 meses", "2026-08-19", "2026-11-20", 0),
    ],
)
def test_several_periods_and_the_last_few_days_are_read(named: str, first: str, end: str, parts: int) -> None:
    found = period_in(named, TODAY)
    assert found is not None
    assert (found.period.first, found.period.end, len(found.period.parts)) == (first, end, parts)


def test_a_month_between_two_that_are_named_is_not_among_them() -> None:
    found = period_in("in January and March 2026", TODAY)
    assert found is not None
    assert [found.period.has(f"2026-0{month}-15T00:00:00Z") for month in (1, 2, 3)] == [True, False, True]


def test_more_than_a_number_compares_no_two_things() -> None:
    plan = slot_plan("How many times did I work more than 3 hours?")
    assert plan is not None and plan.composed.operation == "count"


# What the records say of themselves


@pytest.mark.parametrize(
    "rows",
    [
        [spent("fuel", 500, "2026-03-01", "budget.set"), spent("fuel", 400, "2026-04-01", "budget.set")],
        [spent("fuel", 50, "2026-03-01", "expense.planned"), spent("fuel", 40, "2026-04-01", "expense.planned")],
        [spent("fuel", 50, "2026-03-01", planned=True), spent("fuel", 40, "2026-04-01", planned=True)],
        [spent("fuel", 50, "2026-03-01", "expense.refunded"), spent("fuel", 40, "2026-04-01", "expense.refunded")],
        [spent("fuel", 50, "2026-03-01", "payment.failed"), spent("fuel", 40, "2026-04-01", "payment.failed")],
        [spent("fuel", 50, "2026-03-01", state="estimated", note="a guess")] * 2,
    ],
    ids=["budgets", "plans", "planned", "refunds", "failures", "estimates with a note"],
)
def test_money_that_was_not_spent_is_no_spending(memory: Memory, rows: list[Record]) -> None:
    record(memory, *rows)
    assert answer(memory, FUEL) is None


def test_what_a_question_names_counts_whatever_it_is(memory: Memory) -> None:
    record(memory, spent("fuel", 500, "2026-03-01", "budget.set"), spent("fuel", 400, "2026-04-01", "budget.set"))
    assert answer(memory, "How much budget do we have for fuel in total?") == 900


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        (FUEL, [spent("fuel", 9, "2026-03-01", direction="in"), spent("fuel", 5, "2026-03-02", direction="out")]),
        (FUEL, [spent("fuel", 9, "2026-03-01", paid=True), spent("fuel", 5, "2026-03-02", settled=False)]),
        (FUEL, [spent("fuel", 9, "2026-03-01", "invoice.sent"), spent("fuel", 5, "2026-03-02", "invoice.sent")]),
        (FUEL, [spent("fuel", 9, "2026-03-01"), spent("fuel", 5, "2026-03-02", corrects="the first of March")]),
        (FUEL, [spent("fuel", 9, "2026-03-01"), spent("fuel", 9, "2026-03-01"), spent("fuel", 5, "2026-03-02")]),
        (
            "How much money is in Giro in total?",
            [
                ("balance.noted", {"account": "Giro", "amount": amount, "currency": "EUR", "date": f"2026-0{month}-01"})
                for month, amount in ((1, 1000), (2, 800))
            ],
        ),
        (
            "How much did we transfer to Savings in total?",
            [
                ("transfer.made", {"from": first, "to": second, "amount": 50, "currency": "EUR", "date": day})
                for first, second, day in (("Savings", "Giro", "2026-02-01"), ("Giro", "Savings", "2026-02-03"))
            ],
        ),
        (
            "How many people fixed bugs?",
            [("bug.fixed", {"title": title, "date": "2026-03-02"}) for title in ("crash", "typo")],
        ),
    ],
    ids=["direction", "a flag", "income", "a correction", "the same day", "a level", "two roles", "who"],
)
def test_records_that_may_mean_something_else_give_no_sure_answer(
    memory: Memory, question: str, rows: list[Record]
) -> None:
    record(memory, *rows)
    found = synthesis(memory, question)
    assert found["missing"] and confidence(memory, question) < SURE


def test_a_field_that_the_question_names_and_that_is_false_takes_the_row_out(memory: Memory) -> None:
    for number, paid in enumerate((True, False, True), 1):
        record(memory, ("bill.entered", {"vendor": "Acme", "paid": paid, "amount": number, "currency": "EUR"}))
    found = synthesis(memory, "How many bills of Acme have we paid?")
    assert found["answer_candidates"][0]["value"] == 2
    assert "'paid' is false" in [row.get("exclude_reason") for row in found["ledger_rows"]]


def test_the_price_of_one_is_not_what_several_cost(memory: Memory) -> None:
    for product, quantity, price in (("paper", 10, 4.5), ("pens", 2, 3)):
        order = {"customer": "Acme", "product": product, "quantity": quantity, "price": price, "currency": "EUR"}
        record(memory, ("order.placed", order))
    assert answer(memory, "How much did Acme pay in total?") is None
    assert answer(memory, "How many pens did Acme order?") == 2
    assert answer(memory, "How many orders did Acme place?") == 2


def test_of_events_under_one_key_the_last_one_counts_whatever_their_type(memory: Memory) -> None:
    for day, slept in (("2026-03-01", 7.5), ("2026-03-02", 6), ("2026-03-02", 6.5)):
        record(memory, ("sleep.logged", {"key": day, "hours": slept, "date": day}))
    found = synthesis(memory, "How many hours did I sleep in March 2026?")
    assert found["answer_candidates"][0]["value"] == 14
    assert [row["fact_id"] for row in found["ledger_rows"] if "superseded" in row.get("exclude_reason", "")] == [
        "fact-2"
    ]


def test_the_fastest_takes_the_least_time(memory: Memory) -> None:
    for minutes in (46, 44, 47):
        record(memory, ("run.logged", {"route": "Seerunde", "distance_km": 8.2, "duration_minutes": minutes}))
    assert answer(memory, "What was my fastest Seerunde?") == 44
    assert answer(memory, "Was war meine langsamste Seerunde?") == 47


def test_plans_are_not_counted_with_what_happened(memory: Memory) -> None:
    for day, event_type in enumerate(("run.logged", "run.logged", "run.planned"), 1):
        record(memory, (event_type, {"route": "Seerunde", "distance_km": 8, "date": f"2026-05-0{day}"}))
    assert answer(memory, "How many times did I run the Seerunde?") == 2


def test_who_did_most_is_named_by_the_actor(memory: Memory) -> None:
    for actor, title in (("ana", "crash"), ("ben", "list"), ("ana", "typo")):
        record(memory, ("bug.fixed", {"title": title}), actor=actor)
    assert answer(memory, "Who fixed the most bugs?") == "ana"
    assert answer(memory, "How many bugs did Ana fix?") == 2
