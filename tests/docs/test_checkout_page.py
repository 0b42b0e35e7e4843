"""The page about checkouts says what the code says: its sums come out, and its tables are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench import purposes
from zaxy.assemble import judgement, quality
from zaxy.assemble.emphasis import RECENT_WEIGHT
from zaxy.assemble.evidence import PREFERRED, REQUIRED
from zaxy.assemble.purpose import FIELDS, POLICIES, PRESETS
from zaxy.assemble.purpose_fields import LENS_WEIGHT, LONG_WEIGHTS
from zaxy.assemble.quality import ANSWER, ASK, REFRESH, Grounds, judge
from zaxy.assemble.row_kinds import KIND_WORDS
from zaxy.assemble.slots import OPERATIONS
from zaxy.assemble.suppression import RULES, STALE_DAYS, TRUSTED
from zaxy.memory import Memory
from zaxy.terminal.checkout_page import VERDICTS

PAGE = (Path(__file__).parents[2] / "docs" / "checkout.md").read_text(encoding="utf-8")


def tables(first_column: str) -> list[list[list[str]]]:
    """The rows of each table whose first column has this title, without code marks."""
    found = re.findall(rf"^\| {re.escape(first_column)} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert found, f"there is no table whose first column is {first_column!r}"
    return [[[cell.strip(" `") for cell in row.split("|")[1:-1]] for row in body.splitlines()] for body in found]


def table(first_column: str) -> list[list[str]]:
    (only,) = tables(first_column)
    return only


def test_the_verdicts_are_the_ones_that_the_code_has() -> None:
    assert [row[0] for row in table("answerability")] == [ANSWER, REFRESH, ASK] == list(VERDICTS)


def test_the_constants_are_the_ones_that_the_code_has() -> None:
    summed = table("constant")
    assert {name: float(value) for name, value, _ in summed} == {name: getattr(quality, name) for name, *_ in summed}


def test_the_weights_of_the_judgement_are_the_ones_that_the_code_has() -> None:
    rows = table("figure")
    assert {row[0]: float(row[1]) for row in rows if row[1]} == judgement.TOPIC
    assert {row[0]: float(row[2]) for row in rows if row[2]} == judgement.ANSWER
    assert f"`BEARS` {judgement.BEARS}" in PAGE
    assert f"`ANSWERS` {judgement.ANSWERS}" in PAGE
    assert f"{judgement.TOPIC_START} for the topic and {judgement.ANSWER_START} for the answer" in PAGE


@pytest.mark.parametrize("row", table("facts"), ids=lambda row: row[5])
def test_a_worked_sum_comes_out_as_the_code_has_it(row: list[str]) -> None:
    facts, cited, superseded, warnings = map(int, row[:4])
    found = judge(Grounds(facts, cited, superseded, warnings))
    assert (f"{found.confidence:.2f}", found.answerability) == (row[5], row[6])
    written = row[4].partition(", at most ")
    total = sum(float(part) for part in written[0].replace("- ", "+ -").split("+"))
    assert round(min(total, float(written[2] or 1)), 2) == found.confidence


def test_the_purposes_are_the_ones_that_the_code_has() -> None:
    assert table("purpose") == [
        [
            *(one.preset, str(one.recall_floor), one.scoring_profile, one.evidence_policy),
            *(", ".join(one.suppresses), ", ".join(one.terms)),
        ]
        for one in PRESETS.values()
    ]


def test_the_weights_and_floors_of_kinds_are_the_ones_that_the_code_has() -> None:
    presets = [(one.preset, one.weights, one.floors) for one in PRESETS.values() if one.weights]
    assert table("emphasis of") == [
        [
            name,
            ", ".join(f"{kind} {weight:+}" for kind, weight in weights.items()),
            ", ".join(f"{kind} {floor}" for kind, floor in floors.items()),
        ]
        for name, weights, floors in (*presets, ("a long `time_horizon", LONG_WEIGHTS, {}))
    ]
    assert table("kind") == [[kind, ", ".join(text.split())] for kind, text in KIND_WORDS.items()]


def test_every_policy_and_every_field_of_a_purpose_is_explained() -> None:
    assert tuple(row[0] for row in table("policy")) == POLICIES
    needing = {row[0] for row in table("policy") if row[1] != "nothing"}
    assert needing == {*REQUIRED, *PREFERRED}
    explained = dict(table("field"))
    assert tuple(explained) == FIELDS
    assert f"gains {RECENT_WEIGHT}" in explained["time_horizon"]
    assert f"gains {LENS_WEIGHT}" in explained["ontology_lens"]


def test_what_the_page_says_of_each_purpose_comes_out() -> None:
    assert purposes.table() in PAGE, "print the table again: hatch run bench:purposes"


def test_every_reason_for_leaving_something_out_is_explained_with_the_bounds_that_hold() -> None:
    explained = dict(table("reason"))
    assert list(explained) == list(RULES)
    assert all(f"{STALE_DAYS} days" in told for reason, told in explained.items() if reason.startswith("stale"))
    assert str(TRUSTED) in explained["low_trust_inference"]


def test_the_composed_questions_are_the_ones_that_the_code_has() -> None:
    rows = [(one.operation, one.answer_type, str(one.sources), ", ".join(one.required)) for one in OPERATIONS]
    assert table("operation") == [list(row) for row in dict.fromkeys(rows)]  # some are asked for in several ways


def test_every_key_of_a_reply_is_explained(tmp_path: Path) -> None:
    explained = {name for row in table("key") for name in re.findall(r"[a-z_]+", row[0])}
    with Memory.open(tmp_path) as memory:
        memory.append("fact.recorded", {"fact": "Payments go through Stripe"})
        reply = memory.checkout("how do payments go?").as_dict()
    assert set(reply) - {"session_id", "query"} == explained
