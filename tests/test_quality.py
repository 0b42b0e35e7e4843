"""The verdict on a checkout: a sum that can be redone by hand, and never an answer without a citation."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from zaxy.assemble.quality import ANSWER, ASK, CITED, REFRESH, UNCITED, WARNED, Grounds, judge


@st.composite
def grounds(draw: st.DrawFn) -> Grounds:
    facts = draw(st.integers(0, 12))
    return Grounds(
        facts,
        draw(st.integers(0, facts)),
        draw(st.integers(0, 5)),
        draw(st.integers(0, 6)),
        tuple(draw(st.lists(st.sampled_from(("source", "numeric", "temporal")), unique=True))),
        draw(st.sampled_from(("", "no verification is among the facts"))),
    )


def by_hand(given: Grounds) -> float:
    """0.25, 0.22 for each of two facts, 0.28 for each of two citations, 0.07 if something was left out; at most 0.95.
    Then off: 0.18 for each warning but no more than 0.35, 0.25 for missing slots, 0.30 for a policy that is not met."""
    hundredths = 25 + 22 * min(given.facts, 2) + 28 * min(given.citations, 2) + 7 * bool(given.superseded)
    hundredths = min(hundredths, 95) - min(18 * given.warnings, 35)
    hundredths -= 25 * bool(given.missing_slots) + 30 * bool(given.policy_unmet)
    return max(hundredths, 0) / 100


def test_one_cited_fact_gives_three_quarters_and_one_reason() -> None:
    assert judge(Grounds(facts=1, citations=1), {"tool": "memory_checkout"}).as_dict() == {
        "answerability": "answer_from_memory",
        "confidence": 0.75,
        "reasons": ["Retrieved current facts with Eventloom citations."],
        "required_action": None,
    }


def test_an_uncited_fact_with_a_warning_gives_29_hundredths_and_asks_for_a_refresh() -> None:
    action = {"tool": "memory_checkout", "query": "Memory Checkout", "reason": "It is narrower."}
    assert judge(Grounds(facts=1, citations=0, warnings=1), action).as_dict() == {
        "answerability": "refresh_recommended",
        "confidence": 0.29,
        "reasons": [
            "Retrieved current facts, but they lack Eventloom citations.",
            "Checkout contains warnings that reduce confidence.",
        ],
        "required_action": action,
    }


@given(grounds())
def test_confidence_is_the_sum_of_its_parts_and_within_nought_and_one(given: Grounds) -> None:
    confidence = judge(given).confidence
    assert confidence == by_hand(given)
    assert 0 <= confidence <= 1


@given(grounds())
def test_memory_answers_only_with_a_citation_and_without_a_warning(given: Grounds) -> None:
    verdict = judge(given, {"tool": "memory_checkout"})
    if verdict.answerability == ANSWER:
        assert given.facts and given.citations and not given.warnings
        assert verdict.confidence >= 0.75
        assert verdict.required_action is None
    else:
        assert verdict.answerability == (REFRESH if given.facts else ASK)
        assert verdict.required_action == {"tool": "memory_checkout"}


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (Grounds(0, 0), ASK),
        (Grounds(0, 0, superseded=4), ASK),
        (Grounds(5, 0), REFRESH),
        (Grounds(5, 0, superseded=4), REFRESH),
        (Grounds(5, 5, warnings=1), REFRESH),
        (Grounds(0, 0, warnings=1), ASK),
        (Grounds(5, 5, missing_slots=("numeric",)), REFRESH),
        (Grounds(5, 5, policy_unmet="no gate"), REFRESH),
    ],
    ids=(
        *("missing", "superseded only", "uncited", "uncited, some superseded", "damaged", "all of it damaged"),
        *("a slot is empty", "the policy is not met"),
    ),
)
def test_memory_does_not_answer_from_what_is(given: Grounds, verdict: str) -> None:
    assert judge(given).answerability == verdict


@given(grounds())
def test_the_reasons_say_what_the_verdict_rests_on(given: Grounds) -> None:
    reasons = judge(given).reasons
    assert (CITED in reasons) == bool(given.facts and given.citations)
    assert (UNCITED in reasons) == bool(given.facts and not given.citations)
    assert (WARNED in reasons) == bool(given.warnings)
    assert all(any(slot in reason for reason in reasons) for slot in given.missing_slots if given.facts)
    assert len(set(reasons)) == len(reasons) > 0
