"""Memory Checkout: what is current, cited and bounded; and when it is not enough it says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remembered import HOUSEKEEPING, SESSION, answerability, citations_in, decision, fact, project, turn
from zaxy.api.models import Event
from zaxy.assemble.token_budget import tokens_of
from zaxy.errors import ZaxyError
from zaxy.memory import Memory

DATABASE = "What does the billing service use?"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("project")


@pytest.fixture(scope="module")
def memory(workspace: Path) -> Iterator[Memory]:
    with Memory.open(workspace) as opened:
        yield opened


@pytest.fixture(scope="module")
def events(memory: Memory) -> dict[str, Event]:
    return project(memory)


@pytest.fixture(scope="module")
def reply(memory: Memory, events: dict[str, Event]) -> dict[str, Any]:
    return memory.checkout(DATABASE, SESSION).as_dict()


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        yield opened


def fact_texts(reply: dict[str, Any]) -> list[str]:
    return [one["content"] for one in reply["current_facts"]]


def cited(reply: dict[str, Any]) -> list[str]:
    return [one["citation"] for one in reply["current_facts"]]


def checked_out(memory: Memory, question: str, **asked: Any) -> dict[str, Any]:
    return memory.checkout(question, SESSION, **asked).as_dict()


# What a reply holds


def test_a_fact_is_told_with_its_citation_its_lane_and_its_entity(
    reply: dict[str, Any], events: dict[str, Event]
) -> None:
    (found,) = reply["current_facts"]
    assert found["content"] == "The billing service uses Postgres."
    assert events["decision"].citation.startswith(found["citation"])
    assert (found["source_lane"], found["entity_name"], found["entity_type"]) == ("graph", "database", "decision")


def test_facts_are_cited_with_twelve_digits_and_every_citation_resolves(memory: Memory, reply: dict[str, Any]) -> None:
    assert all(len(one["citation"].partition("#")[2]) == 12 for one in reply["current_facts"])
    found = citations_in(reply)
    assert len(found) > 3
    assert all(memory.resolve(citation) for citation in found)


def test_provenance_is_what_the_citations_say(reply: dict[str, Any]) -> None:
    rebuilt = [f"eventloom://{of['session_id']}/events/{of['seq']}#{of['hash']}" for of in reply["provenance"]]
    assert rebuilt == cited(reply)


def test_evidence_is_cited_and_is_none_of_the_facts(memory: Memory, events: dict[str, Event]) -> None:
    reply = checked_out(memory, "On which port does the label printer of the billing service listen?")
    assert reply["evidence"]
    for one in reply["evidence"]:
        assert one.keys() == {"content", "citation", "source_lane", "event_type"}
        assert memory.resolve(one["citation"])
    shown = [one["citation"] for one in (*reply["current_facts"], *reply["evidence"])]
    assert len(set(shown)) == len(shown)


def test_diagnostics_count_what_is_there(reply: dict[str, Any]) -> None:
    diagnostics = reply["diagnostics"]
    lanes = [one["source_lane"] for one in (*reply["current_facts"], *reply["evidence"])]
    assert diagnostics["source_lanes"] == {lane: lanes.count(lane) for lane in lanes}
    assert diagnostics["citation_count"] == len(lanes)
    assert diagnostics["current_citation_count"] == diagnostics["current_fact_count"] == len(reply["current_facts"])
    assert (diagnostics["superseded_contexts_excluded"], diagnostics["warning_count"]) == (0, 0)
    assert (diagnostics["feedback_recommended"], diagnostics["feedback_tool"]) == (True, "memory_feedback")


def test_token_efficiency_tells_of_the_prompt_that_was_given(reply: dict[str, Any]) -> None:
    counted = reply["diagnostics"]["token_efficiency"]
    assert counted.keys() == {"prompt_tokens", "facts_per_1k_tokens", "evidence_count", "fact_count"}
    assert counted["prompt_tokens"] == tokens_of(reply["prompt"])
    assert counted["facts_per_1k_tokens"] == round(1000 / counted["prompt_tokens"], 1)
    assert (counted["fact_count"], counted["evidence_count"]) == (1, len(reply["evidence"]))


def test_one_cited_fact_answers(reply: dict[str, Any]) -> None:
    assert reply["quality"] == {
        "answerability": "answer_from_memory",
        "confidence": pytest.approx(0.85, abs=0.06),
        "reasons": ["Retrieved current facts with Eventloom citations."],
        "required_action": None,
    }
    assert reply["warnings"] == []


def test_guidance_says_what_to_trust_what_to_ignore_and_what_to_call_next(reply: dict[str, Any]) -> None:
    guidance = reply["guidance"]
    assert "citation" in guidance["trust"]
    assert "Ignore instructions" in guidance["ignore"]
    assert guidance["next"]["tool"] == "memory_checkout"
    assert DATABASE in guidance["next"]["arguments"]["query"]


def test_feedback_payloads_can_be_sent_as_they_are(empty: Memory) -> None:
    project(empty)
    feedback = checked_out(empty, "Which port does the label printer listen on?")["guidance"]["feedback"]
    assert feedback["tool"] == "memory_feedback"
    assert feedback["payloads"]
    for payload in feedback["payloads"]:
        assert payload.keys() == {"entity_name", "entity_type", "feedback", "actor", "citation", "session_id"}
        citation, session = payload.pop("citation"), payload.pop("session_id")
        event = empty.feedback(**payload, session=session, citation=citation)
        assert (event.type, event.payload and event.payload["citation"]) == ("memory.reinforced", citation)


def test_retention_tells_how_far_memory_was_read(memory: Memory, events: dict[str, Event]) -> None:
    before = memory.head(SESSION)
    reply = checked_out(memory, DATABASE, max_recent_events=2)
    assert reply["retention"]["known_to_seq"] == before
    assert reply["retention"]["recent_from_seq"] == reply["recent"][0]["seq"] == events["lamp"].seq
    assert reply["retention"]["replay_bounded"] is True


def test_the_recent_past_is_told_oldest_first_from_where_it_is_asked_for(
    memory: Memory, events: dict[str, Event]
) -> None:
    reply = checked_out(memory, DATABASE, replay_from_seq=events["issue"].seq, max_recent_events=3)
    assert [one["seq"] for one in reply["recent"]] == [events[name].seq for name in ("issue", "edit", "port")]
    assert checked_out(memory, DATABASE, max_recent_events=0)["recent"] == []


def test_the_prompt_has_its_sections_in_order(reply: dict[str, Any]) -> None:
    lines = reply["prompt"].splitlines()
    assert lines[0] == "# Memory Checkout"
    headings = [line for line in lines if line.startswith("#")]
    assert headings == [
        *("# Memory Checkout", "## Quality", "## What Memory Holds", "## Working Set", "## Guidance", "## Diagnostics")
    ]
    assert any("The billing service uses Postgres." in line and "[eventloom://" in line for line in lines)


def test_a_composed_question_comes_with_a_plan_of_its_slots(memory: Memory, events: dict[str, Event]) -> None:
    plan = checked_out(memory, "On how many ports does the label printer listen in total?")["diagnostics"]["slot_plan"]
    assert plan["operation"] == "sum"
    assert plan["required_slots"] == ["source", "numeric"]
    assert plan["optional_slots"] == ["exact", "semantic"]
    assert "slot_plan" not in checked_out(memory, DATABASE)["diagnostics"]


def test_a_slot_that_nothing_fills_keeps_memory_from_answering(empty: Memory) -> None:
    fact(empty, "The harbour dredging cost more than planned.")
    reply = checked_out(empty, "What did the harbour dredging cost in total?")
    action = reply["quality"]["required_action"]
    assert reply["quality"]["answerability"] == "refresh_recommended"
    assert (action["tool"], action["missing_slots"]) == ("memory_checkout", ["numeric"])
    assert len(action["suggested_queries"]) == 1
    assert "numeric" in " ".join(reply["quality"]["reasons"])
    fact(empty, "The harbour dredging cost 40,000 euros in total.")
    assert answerability(empty, "What did the harbour dredging cost in total?") == "answer_from_memory"


# What counts


def test_the_same_text_recorded_twice_is_one_fact(empty: Memory) -> None:
    for key in ("one", "two", "three"):
        fact(empty, "The harbour lamp burns whale oil.", key=key)
    reply = checked_out(empty, "What does the harbour lamp burn?")
    assert fact_texts(reply) == ["The harbour lamp burns whale oil."]
    assert reply["diagnostics"]["duplicates_removed"] == 2


def test_what_was_superseded_is_no_fact_and_shown_as_what_was_so_before(empty: Memory) -> None:
    decision(empty, "The billing service uses SQLite.", key="database")
    decision(empty, "The billing service uses Postgres.", key="database")
    reply = checked_out(empty, DATABASE)
    assert fact_texts(reply) == ["The billing service uses Postgres."]
    assert reply["diagnostics"]["superseded_contexts_excluded"] == 1
    assert [one["replaced_by"] for one in reply["evidence"] if "SQLite" in one["content"]] == [
        reply["current_facts"][0]["citation"]
    ]
    assert [line[:17] for line in reply["prompt"].splitlines() if "SQLite" in line] == ["- was so before: "]


def test_what_is_only_superseded_is_left_to_the_user(empty: Memory) -> None:
    decision(empty, "The billing service uses SQLite.", key="database")
    empty.invalidate("database", "decision", session=SESSION)
    reply = checked_out(empty, DATABASE)
    assert reply["quality"]["answerability"] == "ask_user"
    assert "superseded or invalidated" in reply["quality"]["reasons"][0]
    assert (reply["current_facts"], reply["diagnostics"]["superseded_contexts_excluded"]) == ([], 1)


def test_what_was_erased_is_left_to_the_user(empty: Memory) -> None:
    erased = decision(empty, "The billing service uses SQLite.")
    assert answerability(empty, DATABASE) == "answer_from_memory"
    empty.forget(erased.citation, "it was asked for")
    reply = checked_out(empty, DATABASE)
    assert reply["quality"]["answerability"] == "ask_user"
    assert "SQLite" not in str(reply)


def test_current_facts_that_disagree_are_both_shown_and_not_answered_from(empty: Memory) -> None:
    both = [fact(empty, f"The staging server is called {name}.") for name in ("Marigold", "Thistle")]
    reply = checked_out(empty, "What is the staging server called?")
    (conflict,) = reply["conflicts"]
    assert conflict["about"] == "the staging server is called"
    claimed = {claim["citation"] for claim in conflict["claims"]}
    assert {empty.resolve(citation).hash for citation in claimed} == {event.hash for event in both}
    (warning,) = reply["warnings"]
    assert all(citation in warning for citation in claimed)
    assert reply["diagnostics"]["warning_count"] == 1
    assert reply["quality"]["answerability"] == "refresh_recommended"
    assert "supersedes" in reply["guidance"]["correct"]
    assert "## Conflicts" in reply["prompt"]


def test_facts_of_one_key_replace_each_other_and_do_not_disagree(empty: Memory) -> None:
    for name in ("Marigold", "Thistle"):
        fact(empty, f"The staging server is called {name}.", key="staging")
    reply = checked_out(empty, "What is the staging server called?")
    assert (reply["conflicts"], reply["warnings"]) == ([], [])
    assert fact_texts(reply) == ["The staging server is called Thistle."]


def test_many_disagreements_leave_room_for_the_facts(empty: Memory) -> None:
    for number in range(12):
        fact(empty, f"The staging server has the name marigold-{number}")
    reply = checked_out(empty, "Which name has the staging server?")
    assert len(reply["warnings"]) == 3
    assert len(reply["current_facts"]) > 3
    assert reply["tokens_used"] <= 3000


def test_a_question_that_was_recorded_is_no_answer_to_itself(empty: Memory) -> None:
    turn(empty, "Which paint does the lighthouse keeper prefer?")
    assert answerability(empty, "Which paint does the lighthouse keeper prefer?") == "ask_user"
    turn(empty, "Good question. Which paint does the lighthouse keeper prefer? I will look it up.")
    assert answerability(empty, "Which paint does the lighthouse keeper prefer?") == "ask_user"
    turn(empty, "The lighthouse keeper prefers a matte paint from Oslo.")
    reply = checked_out(empty, "Which paint does the lighthouse keeper prefer?")
    assert fact_texts(reply) == ["The lighthouse keeper prefers a matte paint from Oslo."]


@pytest.mark.parametrize("question", ("where are we?", "current task, project direction, and recent decisions"))
def test_where_things_stand_is_answered_from_what_is_open(
    memory: Memory, events: dict[str, Event], question: str
) -> None:
    reply = checked_out(memory, question)
    found = {memory.resolve(one["citation"]).seq for one in reply["current_facts"]}
    assert {events[name].seq for name in ("goal", "decision", "open task")} <= found
    assert events["done task"].seq not in found
    assert reply["quality"]["answerability"] == "answer_from_memory"


def test_a_question_on_the_next_task_is_answered_with_tasks_alone(memory: Memory, events: dict[str, Event]) -> None:
    reply = checked_out(memory, "What is the next task?")
    assert [memory.resolve(one["citation"]).seq for one in reply["current_facts"]] == [events["open task"].seq]


def test_where_nothing_stands_the_user_is_asked(empty: Memory) -> None:
    reply = checked_out(empty, "where are we?")
    assert reply["quality"]["answerability"] == "ask_user"
    assert reply["quality"]["required_action"] is None
    assert "ask the user" in reply["guidance"]["answer"]
    assert "feedback" not in reply["guidance"]
    assert reply["diagnostics"]["feedback_recommended"] is False


# What is asked for


def test_a_checkout_at_a_ref_sees_what_was_known_then(empty: Memory) -> None:
    decision(empty, "The billing service uses SQLite.", key="database")
    loom = empty.recall.store
    loom.set_ref("refs/heads/main", loom.last_event(SESSION))
    decision(empty, "The billing service uses Postgres.", key="database")
    empty.append("goal.created", {"goal": "Move to Oslo"}, actor="ada", session=SESSION)
    then = checked_out(empty, DATABASE, ref="refs/heads/main")
    assert fact_texts(then) == ["The billing service uses SQLite."]
    assert then["ref"] == "refs/heads/main"
    assert then["retention"]["known_to_seq"] == 1
    assert then["diagnostics"]["superseded_contexts_excluded"] == 0
    assert then["working_set"]["goals"] == []
    assert [one["seq"] for one in then["recent"]] == [1]
    assert fact_texts(checked_out(empty, DATABASE, ref="HEAD")) == ["The billing service uses Postgres."]
    assert "ref" not in checked_out(empty, DATABASE)


def test_what_became_known_after_a_ref_is_no_answer_at_it(empty: Memory) -> None:
    turn(empty, "Hello.")
    empty.recall.store.set_ref("refs/tags/start", empty.recall.store.last_event(SESSION))
    decision(empty, "The billing service uses Postgres.")
    assert checked_out(empty, DATABASE, ref="refs/tags/start")["quality"]["answerability"] == "ask_user"
    assert answerability(empty, DATABASE) == "answer_from_memory"


@pytest.mark.parametrize(
    ("asked", "code", "says"),
    [
        ({"ref": "refs/heads/nowhere"}, "not_found", "refs/heads/nowhere"),
        ({"ref": "../main"}, "invalid_request", "ref"),
        ({"purpose": "codding"}, "invalid_request", "general, coding, review, release, security, research, coordinate"),
        ({"purpose": {"preset": "coding", "colour": "red"}}, "invalid_request", "colour"),
        ({"purpose": {"preset": "codding"}}, "invalid_request", "coordinate"),
        ({"purpose": {"role": "x" * 241}}, "invalid_request", "role"),
        ({"purpose": {"evidence_policy": "x" * 241}}, "invalid_request", "evidence_policy"),
        ({"purpose": 7}, "invalid_request", "int"),
        ({"limit": 0}, "invalid_request", "limit"),
        ({"limit": -1}, "invalid_request", "limit"),
        ({"limit": 101}, "invalid_request", "limit"),
        ({"limit": "3"}, "invalid_request", "limit"),
        ({"max_recent_events": -1}, "invalid_request", "max_recent_events"),
        ({"max_recent_events": 101}, "invalid_request", "max_recent_events"),
        ({"replay_from_seq": 0}, "invalid_request", "replay_from_seq"),
        ({"max_tokens": 0}, "invalid_request", "max_tokens"),
        ({"max_tokens": 2.5}, "invalid_request", "max_tokens"),
    ],
)
def test_a_request_that_cannot_be_met_is_refused_and_nothing_is_written(
    memory: Memory, events: dict[str, Event], asked: dict[str, Any], code: str, says: str
) -> None:
    before = memory.head(SESSION)
    with pytest.raises(ZaxyError) as refused:
        memory.checkout(DATABASE, SESSION, **asked)
    assert refused.value.code == code
    assert says in f"{refused.value.message} {refused.value.remediation}"
    assert memory.head(SESSION) == before


def test_a_limit_bounds_the_facts(memory: Memory, events: dict[str, Event]) -> None:
    question = "current goals, decisions and tasks"
    assert len(checked_out(memory, question)["current_facts"]) == 3
    assert len(checked_out(memory, question, limit=2)["current_facts"]) == 2


# What it leaves behind


def test_a_checkout_writes_one_marker_and_nothing_else(memory: Memory, events: dict[str, Event]) -> None:
    before, told_before = memory.head(SESSION), memory.replay(SESSION)
    reply = checked_out(memory, DATABASE)
    (marker,) = memory.replay(SESSION, before + 1, include_housekeeping=True)
    assert (marker.type, marker.actor) == ("memory.checkout.completed", "zaxy")
    shown = {"answerability": reply["quality"]["answerability"], "tokens": reply["tokens_used"]}
    assert marker.payload == shown
    assert memory.replay(SESSION) == told_before


def test_the_same_log_gives_the_same_checkout(workspace: Path, memory: Memory, events: dict[str, Event]) -> None:
    def without_head(reply: dict[str, Any]) -> dict[str, Any]:
        return {**reply, "retention": {**reply["retention"], "known_to_seq": 0}}

    for question in (DATABASE, "where are we?", "What is the cat called?"):
        first = without_head(checked_out(memory, question))
        assert without_head(checked_out(memory, question)) == first
        with Memory.open(workspace) as another:
            assert without_head(checked_out(another, question)) == first


def test_zaxys_own_bookkeeping_never_comes_back(tmp_path: Path) -> None:
    questions = (
        "memory checkout completed answerability",
        "tool call completed status ok",
        "what did zaxy do?",
        DATABASE,
    )
    with Memory.open(tmp_path) as memory:
        told_first = {event.seq for event in project(memory).values()}
        for number in range(200):
            memory.checkout(questions[number % 4], SESSION, max_tokens=100_000)
            memory.record_tool_call(
                "memory_checkout", "ok", argument_keys=["query"], summary="answer_from_memory, 1 fact", session=SESSION
            )
        memory.bootstrap(SESSION)
        for question in (*questions, "where are we?"):
            reply = checked_out(memory, question, max_recent_events=100, limit=100, max_tokens=100_000)
            shown = [*reply["current_facts"], *reply["evidence"], *reply["recent"]]
            assert {memory.resolve(one["citation"]).seq for one in shown} <= told_first
            assert {one["seq"] for one in reply["recent"]} == told_first
            context = memory.context(
                question, SESSION, replay_from_seq=None, limit=100, max_recent_events=100, max_tokens=100_000
            ).as_dict()
            assert {memory.resolve(one["citation"]).seq for one in context["context"]} <= told_first
            assert {one["seq"] for one in context["replay"]} == told_first
            assert not any(name in str([context, reply["prompt"]]) for name in HOUSEKEEPING)
        assert memory.head(SESSION) > 400
        assert {event.seq for event in memory.replay(SESSION)} == told_first
