"""A purpose changes what is looked for and what may count, and says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from remembered import SESSION, decision, fact, project, turn
from zaxy.assemble.context import Gathered, gather
from zaxy.assemble.evidence import missing_evidence
from zaxy.assemble.purpose import FIELDS, GENERAL, PRESETS, Purpose, purpose_of
from zaxy.assemble.row_kinds import KIND_WORDS
from zaxy.assemble.suppression import RULES, suppressed
from zaxy.errors import ZaxyError
from zaxy.memory import Memory
from zaxy.retrieve.profiles import PROFILES
from zaxy.retrieve.results import Result
from zaxy.retrieve.snapshot import Snapshot

NAMED = ("coding", "review", "release", "security", "research", "coordinate")
LONG_AGO = "2020-01-01T00:00:00Z"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("purposes")) as opened:
        project(opened)
        yield opened


def test_the_presets_are_the_named_ones_and_general() -> None:
    assert tuple(PRESETS) == ("general", *NAMED)


@pytest.mark.parametrize("given", (None, "", "general", {}, {"preset": "general"}))
def test_without_a_purpose_it_is_general(given: object) -> None:
    assert purpose_of(given) == GENERAL


def test_the_object_form_keeps_every_field_that_was_given() -> None:
    given = {field: f"some {field}" for field in FIELDS if field != "evidence_policy"}
    purpose = purpose_of({"preset": "coding", "evidence_policy": "gate_evidence_required", **given})
    assert purpose.as_dict() == {"preset": "coding", **given, "evidence_policy": "gate_evidence_required"}


@pytest.mark.parametrize(
    "given", ("codding", "Coding", {"preset": "nope"}, {"preset": 3}, {"preset": None}, ["coding"], 7, True)
)
def test_an_unknown_purpose_is_refused_with_the_presets(given: object) -> None:
    with pytest.raises(ZaxyError) as refused:
        purpose_of(given)
    assert refused.value.code == "invalid_request"
    assert all(name in refused.value.remediation for name in ("general", *NAMED))


@pytest.mark.parametrize("given", ({"colour": "red"}, {"role": 3}, {"task": "x" * 241}, {"evidence_policy": 7}))
def test_a_field_that_does_not_fit_is_refused_by_name(given: dict[str, Any]) -> None:
    with pytest.raises(ZaxyError) as refused:
        purpose_of(given)
    assert refused.value.code == "invalid_request"
    assert next(iter(given)).replace("_", " ") in refused.value.message.replace("_", " ")


@pytest.mark.parametrize("name", NAMED)
def test_a_purpose_is_told_in_the_reply_the_diagnostics_the_prompt_and_the_next_call(memory: Memory, name: str) -> None:
    question = "What does the billing service use?"
    reply = memory.checkout(question, SESSION, purpose={"preset": name, "role": "night watch"}).as_dict()
    chosen = PRESETS[name]
    assert reply["purpose"] == {"preset": name, "role": "night watch", "evidence_policy": chosen.evidence_policy}
    assert f'- Purpose: {name} ({chosen.evidence_policy}, role "night watch").' in reply["prompt"]
    assert reply["diagnostics"]["purpose"] == reply["purpose"]
    assert reply["guidance"]["next"]["arguments"]["purpose"] == reply["purpose"]
    policy = reply["diagnostics"]["purpose_retrieval_policy"]
    assert policy.items() >= chosen.retrieval_policy.items()
    assert policy["evidence"]["policy"] == chosen.evidence_policy
    assert reply["diagnostics"]["purpose_policy"] == reply["retention"]["purpose_policy"]


def test_a_general_checkout_has_no_policy_to_tell(memory: Memory) -> None:
    reply = memory.checkout("What does the billing service use?", SESSION).as_dict()
    assert reply["purpose"] == {"preset": "general", "evidence_policy": "cited_current_facts_preferred"}
    assert not {"purpose", "purpose_policy", "purpose_retrieval_policy"} & reply["diagnostics"].keys()
    assert "purpose_policy" not in reply["retention"]
    assert "- Purpose:" not in reply["prompt"]


@pytest.mark.parametrize("name", NAMED)
def test_a_preset_looks_wider_for_more_words_and_weighs_by_a_known_profile(name: str) -> None:
    chosen = PRESETS[name]
    assert chosen.recall_floor > GENERAL.recall_floor
    assert max(chosen.weights.values()) > 0 > min(chosen.weights.values())
    assert {*chosen.weights, *chosen.floors} <= KIND_WORDS.keys()
    assert chosen.terms
    assert chosen.scoring_profile in PROFILES
    assert chosen.suppresses
    assert set(chosen.suppresses) <= RULES.keys()


def test_the_words_of_a_purpose_are_looked_for_behind_those_of_the_question(memory: Memory) -> None:
    gate = {"verification": "the long test run over everything, by that one command of ours", "command": "make"}
    found_by_words = memory.append("verification.recorded", gate, actor="ada", session="emphasis")
    for number in range(30):
        turn(memory, f"The parser, remark {number}.", "emphasis")

    def seqs(purpose: Purpose) -> list[int]:
        def read(snapshot: Snapshot) -> Gathered:
            return gather(snapshot, "the parser", limit=10, recent=0, from_seq=None, purpose=purpose)

        return [result.seq for result in memory.recall.reply("emphasis", read).results]

    assert found_by_words.seq not in seqs(GENERAL)
    assert len(seqs(GENERAL)) == GENERAL.recall_floor
    coding = seqs(PRESETS["coding"])
    assert found_by_words.seq in coding[PRESETS["coding"].recall_floor :]


# What may not count

SUPPRESSED: list[tuple[str, str, str, dict[str, Any]]] = [
    ("review", "pending_claim", "decision.made", {"decision": "The sluice gate opens at noon.", "status": "pending"}),
    ("review", "low_trust_inference", "fact.recorded", {"fact": "The sluice gate opens at noon.", "confidence": 0.3}),
    ("release", "draft", "decision.made", {"decision": "The sluice gate opens at noon.", "status": "draft"}),
    ("release", "uncited_release_claim", "transcript.turn", {"content": "The sluice gate is ready, it opens at noon."}),
    (
        *("release", "stale_gate_result", "verification.recorded"),
        {"verification": "The sluice gate opens at noon.", "occurred_at": LONG_AGO},
    ),
    ("security", "uncited_safe_claim", "fact.recorded", {"fact": "The sluice gate opens at noon and is safe."}),
    (
        *("security", "stale_mitigation", "issue.diagnosed"),
        {"issue": "The sluice gate opens at noon.", "occurred_at": LONG_AGO},
    ),
    ("research", "single_source_overclaim", "fact.recorded", {"fact": "The sluice gate always opens at noon."}),
    (
        *("research", "stale_source", "document.indexed"),
        {"path": "tides.md", "content": "The sluice gate opens at noon.", "occurred_at": LONG_AGO},
    ),
    ("coordinate", "rejected", "decision.made", {"decision": "The sluice gate opens at noon.", "status": "rejected"}),
]


@pytest.mark.parametrize(("preset", "rule", "event_type", "payload"), SUPPRESSED, ids=lambda value: str(value)[:30])
def test_what_a_purpose_does_not_let_count_is_left_out_and_the_reason_told(
    memory: Memory, preset: str, rule: str, event_type: str, payload: dict[str, Any]
) -> None:
    session = f"{preset}-{rule}"
    memory.append(event_type, payload, actor="ada", session=session)
    turn(memory, "Good morning.", session)
    general = memory.checkout("When does the sluice gate open?", session).as_dict()
    assert len(general["current_facts"]) == 1
    reply = memory.checkout("When does the sluice gate open?", session, purpose=preset).as_dict()
    assert reply["current_facts"] == []
    assert reply["evidence"] == []
    assert reply["quality"]["answerability"] == "ask_user"
    assert reply["diagnostics"]["purpose_policy"]["by_reason"][rule] == 1
    assert reply["quality"]["reasons"][0] == "What memory holds on this question does not count for the purpose."
    assert "Memory holds nothing" not in reply["prompt"]


def result(entity_type: str, content: str = "It leaks.", **properties: Any) -> Result:
    return Result(
        *(content, "eventloom://work/events/1#0123456789ab", 1, "exact", 1.0, (), "balanced", "x.y", "ada"),
        valid_from="2026-06-01T00:00:00Z",
        entity_type=entity_type,
        properties=properties,
    )


@pytest.mark.parametrize(
    ("preset", "found", "rule"),
    [
        ("coding", result("finding"), "uncited_claim"),
        ("coding", result("finding", evidence="log.txt"), ""),
        ("coordinate", result("finding"), "worker_local_pending"),
        ("coordinate", result("finding", status="accepted"), ""),
        ("coordinate", result("finding", status="rejected"), "rejected"),
        ("review", result("fact", confidence=0.5), ""),
        ("review", result("fact", inferred=True), "low_trust_inference"),
        ("security", result("verification", "It is safe.", evidence="pentest"), ""),
        ("research", result("fact", "It never leaks.", citations=["x"]), ""),
        ("general", result("finding", status="pending", confidence=0.1), ""),
    ],
)
def test_a_rule_leaves_out_what_it_names_and_nothing_else(preset: str, found: Result, rule: str) -> None:
    left_out = suppressed(PRESETS[preset], [found], "2026-06-02T00:00:00Z")
    assert left_out == ({found.citation: rule} if rule else {})


def test_what_was_recent_when_the_newest_event_happened_is_not_stale() -> None:
    found = result("document")
    assert suppressed(PRESETS["research"], [found], "2026-06-30T00:00:00Z") == {}
    assert suppressed(PRESETS["research"], [found], "2026-07-20T00:00:00Z") == {found.citation: "stale_source"}


# What a policy asks for


@pytest.mark.parametrize(
    ("preset", "lacking", "meeting"),
    [
        ("release", result("fact"), result("verification")),
        ("security", result("fact"), result("fact", evidence="pentest")),
        ("coordinate", result("fact"), result("decision")),
    ],
)
def test_a_policy_on_evidence_is_met_only_with_evidence(preset: str, lacking: Result, meeting: Result) -> None:
    chosen: Purpose = PRESETS[preset]
    assert missing_evidence(chosen, [lacking]).required
    assert missing_evidence(chosen, [lacking, meeting]).required == ""
    assert missing_evidence(GENERAL, [lacking]).required == ""


def test_a_release_without_a_gate_result_is_not_answered_from_memory(memory: Memory) -> None:
    decision(memory, "The ferry timetable has four sailings.", "ferry")
    question = "How is the ferry timetable, how many sailings has it?"
    reply = memory.checkout(question, "ferry", purpose="release").as_dict()
    assert reply["quality"]["answerability"] == "refresh_recommended"
    assert any("no verification or command result" in reason for reason in reply["quality"]["reasons"])
    gate = {"verification": "The ferry timetable has four sailings: checked.", "command": "make check", "exit_code": 0}
    memory.append("verification.recorded", gate, actor="ada", session="ferry")
    reply = memory.checkout(question, "ferry", purpose="release").as_dict()
    assert reply["quality"]["answerability"] == "answer_from_memory"


def test_a_purpose_goes_into_feedback(memory: Memory) -> None:
    event = fact(memory, "The ferry leaves from pier two.", "ferry")
    details = {"citation": event.citation, "purpose": purpose_of("release").as_dict(), "outcome": "shipped"}
    recorded = memory.feedback("ferry", "fact", feedback="used", session="ferry", **details)
    assert recorded.payload is not None
    assert recorded.payload["purpose"] == {"preset": "release", "evidence_policy": "gate_evidence_required"}
