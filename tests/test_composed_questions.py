"""How people ask for a sum over records: periods, two moments, groups, words that are in no record, fields by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zaxy.assemble.slots import slot_plan
from zaxy.assemble.synthesis.dates import Period, period_in, two_periods
from zaxy.memory import Memory

SESSION = "shed"
TODAY = "2026-11-20"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        yield opened


def record(memory: Memory, event_type: str, day: str = "2026-03-04", **fields: object) -> None:
    memory.append(event_type, {**fields, "occurred_at": day}, session=SESSION)


def say(memory: Memory, *texts: str) -> None:
    for text in texts:
        memory.append("transcript.turn", {"role": "user", "content": text}, session=SESSION)


def top(memory: Memory, question: str) -> dict[str, Any]:
    reply = memory.checkout(question, SESSION, max_tokens=20_000).as_dict()
    found: dict[str, Any] = reply["diagnostics"]["synthesis"]["answer_candidates"][0]
    return found


# Periods


@pytest.mark.parametrize(
    ("question", "first", "end"),
    [
        ("How many parcels in the first quarter?", "2026-01-01", "2026-04-01"),
        ("Wie viele Pakete im zweiten Quartal 2025?", "2025-04-01", "2025-07-01"),
        ("¿Cuántos paquetes en el tercer trimestre?", "2026-07-01", "2026-10-01"),
        ("How many parcels between 5 and 20 October?", "2026-10-05", "2026-10-21"),
        ("Wie viele Pakete zwischen dem 5. und dem 20. Oktober?", "2026-10-05", "2026-10-21"),
        ("How many parcels in March and April together?", "2026-03-01", "2026-05-01"),
    ],
)
def test_a_period_is_read_as_people_name_it(question: str, first: str, end: str) -> None:
    named = period_in(question, TODAY)
    assert named is not None and named.period == Period(first, end)


@pytest.mark.parametrize("question", ["How many rows has the data set?", "How much did we pay two days ago?"])
def test_a_word_that_is_short_for_a_month_elsewhere_is_no_month(question: str) -> None:
    assert period_in(question, TODAY) is None


def test_two_moments_that_are_compared_are_no_single_period() -> None:
    first, second = two_periods("How much more in May than on 3 June 2026?", TODAY)
    assert (first.period.first, second.period) == ("2026-05-01", Period("2026-06-03", "2026-06-04"))


# What is asked


@pytest.mark.parametrize(
    ("question", "operation"),
    [
        ("By how many litres is the tank fuller than in May?", "difference"),
        ("Wie viele Stunden mehr habe ich im April gearbeitet als im Mai?", "difference"),
        ("¿Cuántas horas más trabajé en abril que en mayo?", "difference"),
        ("Which client had the most hours in April?", "extreme"),
        ("Für welchen Kunden habe ich die meisten Stunden gearbeitet?", "extreme"),
        ("Kamen gegen Selb oder gegen Weiden mehr Zuschauer?", "comparison"),
        ("How much did I invoice Nordlicht in March?", "sum"),
        ("Was haben wir im Mai mit Kerzen eingenommen?", "sum"),
    ],
)
def test_a_question_is_known_by_its_words_wherever_they_stand(question: str, operation: str) -> None:
    plan = slot_plan(question)
    assert plan is not None and plan.composed.operation == operation


@pytest.mark.parametrize(
    "question",
    ["How much memory does the worker use?", "What did we decide about the fence?", "Who is the most patient of us?"],
)
def test_a_question_that_one_record_answers_is_not_composed(question: str) -> None:
    assert slot_plan(question) is None


# Which rows, and what follows


def test_totals_of_groups_are_compared_by_the_field_that_is_asked_for(memory: Memory) -> None:
    for client, hours in (("Kessel", 9.0), ("Atelier Sol", 6.5), ("Atelier Sol", 4.0)):
        record(memory, "hours.logged", "2026-04-10", client=client, hours=hours)
    found = top(memory, "Which client had the most hours in April 2026?")
    assert (found["value"], found["answer"]) == ("Atelier Sol", "Atelier Sol (10.5 h)")


def test_the_best_single_row_is_named_by_the_field_that_is_asked_for(memory: Memory) -> None:
    for model, accuracy in (("forest", 81.5), ("mlp", 92.0), ("mlp", 60.0)):
        record(memory, "run.finished", model=model, accuracy=accuracy, duration_minutes=30)
    assert top(memory, "Which model reached the highest accuracy?")["value"] == "mlp"


def test_one_thing_is_compared_at_two_moments(memory: Memory) -> None:
    for day, value in (("2026-04-01", 175), ("2026-07-01", 100), ("2026-10-01", 32)):
        fact = {"key": f"stock-{day}", "fact": "Stock of soap", "value": value, "unit": "pcs"}
        record(memory, "fact.recorded", day, **fact)
    found = top(memory, "By how many pieces is the stock of soap lower on 1 July 2026 than on 1 April 2026?")
    assert (found["value"], found["unit"]) == (75, "pcs")


def test_a_verb_that_only_some_records_have_does_not_leave_out_the_others_and_makes_the_sum_unsure(
    memory: Memory,
) -> None:
    say(memory, "Worked 50 min for Kessel on 12 June 2026", "13 June 2026: 2 h 10 min for Kessel, layout")
    found = top(memory, "How many minutes did I work for Kessel in June 2026 in total?")
    assert (found["value"], found["unit"]) == (180, "min")
    assert found["confidence"] <= 0.65


def test_what_was_called_off_in_the_same_breath_does_not_count(memory: Memory) -> None:
    say(memory, "8 June 2026: rented the A100 for 8 h", "Booked the A100 for 6 h on 28 June 2026, then cancelled it")
    assert top(memory, "How many hours did we rent the A100 in June 2026?")["value"] == 8


def test_orders_are_counted_by_the_order_and_not_by_the_quantity_in_it(memory: Memory) -> None:
    for number, quantity in ((512, 5), (513, 9)):
        record(memory, "order.placed", number=number, product="soap", quantity=quantity, total=20.0, currency="EUR")
    assert top(memory, "How many orders came in during March 2026?")["value"] == 2
    assert top(memory, "What was the average order value in March 2026?")["answer"] == "20 EUR"


def test_a_field_that_is_called_like_what_is_counted_says_how_many(memory: Memory) -> None:
    for opponent, spectators in (("Selb", 120), ("Weiden", 80)):
        record(memory, "match.played", opponent=opponent, spectators=spectators)
    assert top(memory, "How many spectators came in March 2026?")["value"] == 200


def test_the_time_between_two_records_of_one_thing_is_how_long_it_took_and_is_not_sure(memory: Memory) -> None:
    record(memory, "invoice.sent", "2026-02-14", number="2026-010", client="Kessel", amount=340, currency="EUR")
    record(memory, "payment.received", "2026-02-27", number="2026-010", client="Kessel", amount=340, currency="EUR")
    found = top(memory, "How many days did Kessel take to pay invoice 2026-010?")
    assert (found["value"], found["unit"]) == (13, "d")
    assert found["confidence"] <= 0.5
