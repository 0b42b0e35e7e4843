"""Context for the next call of a model, what a turn leaves behind, and how a session begins and ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remembered import SESSION, citations_in, decision, fact, log_of, project, turn
from zaxy import __version__
from zaxy.api.models import Event
from zaxy.assemble.bootstrap import DEFAULT_TASK, TOOLS, ToolUse, tools_listed
from zaxy.assemble.token_budget import TokenBudget, fitted, tokens_of
from zaxy.errors import ZaxyError
from zaxy.memory import Memory
from zaxy.plugins.host import PluginHost

QUESTION = "What does the billing service use?"
LONG = "with a long tail of words that says why, when and for whom it was so " * 10


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("project")) as opened:
        yield opened


@pytest.fixture(scope="module")
def events(memory: Memory) -> dict[str, Event]:
    return project(memory)


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        yield opened


# Assembled


def test_context_is_retrieval_and_recent_replay_with_counts_and_policy(
    memory: Memory, events: dict[str, Event]
) -> None:
    reply = memory.context(QUESTION, SESSION).as_dict()
    assert any(memory.resolve(item["citation"]) == events["decision"] for item in reply["context"])
    assert [one["seq"] for one in reply["replay"]] == [event.seq for event in events.values()]
    counted = {lane: [item["metadata"]["assembly_lane"] for item in reply["context"]].count(lane) for lane in LANES}
    assert reply["context_counts"] == {**counted, "replay": len(reply["replay"])}
    assert reply["assembly_policy"].keys() == {"graph", "verbatim", "replay", "max_tokens"}
    assert (reply["session_id"], reply["query"], reply["warnings"]) == (SESSION, QUESTION, [])


LANES = ("graph", "verbatim")


def test_the_verbatim_lane_has_its_place_beside_the_graph(empty: Memory) -> None:
    for number in range(30):
        fact(empty, f"The harbour lamp number {number} burns oil.")
    reply = empty.context("harbour lamp oil", SESSION, limit=5).as_dict()
    assert reply["context_counts"]["graph"] == 5
    assert 0 < reply["context_counts"]["verbatim"] <= 3
    shown = [item["citation"] for item in reply["context"]]
    assert len(set(shown)) == len(shown)


def test_the_prompt_starts_with_the_working_set(memory: Memory, events: dict[str, Event]) -> None:
    lines = memory.context(QUESTION, SESSION).as_dict()["prompt"].splitlines()
    assert lines[0] == "# Active Memory Working Set"
    assert [line for line in lines if line.startswith("#")][1:] == ["## Retrieved", "## Recent"]
    assert any("Ship the billing release in May" in line for line in lines[: lines.index("## Retrieved")])


def test_an_empty_memory_has_a_prompt_too(empty: Memory) -> None:
    reply = empty.context(QUESTION, SESSION).as_dict()
    assert reply["prompt"].splitlines()[0] == "# Active Memory Working Set"
    assert reply["prompt"].splitlines()[-1] == "- nothing is open"
    assert reply["context_counts"] == {"graph": 0, "verbatim": 0, "replay": 0}
    assert reply["truncated"] is False
    assert empty.sessions() == []


def test_every_citation_in_a_context_resolves(memory: Memory, events: dict[str, Event]) -> None:
    cited = citations_in(memory.context("billing label printer harbour cat", SESSION).as_dict())
    assert len(cited) == len(events)
    assert all(memory.resolve(citation) for citation in cited)


def test_the_replay_is_bounded_and_may_begin_anywhere(memory: Memory, events: dict[str, Event]) -> None:
    last = [event.seq for event in events.values()][-2:]
    reply = memory.context(QUESTION, SESSION, max_recent_events=2).as_dict()
    assert [one["seq"] for one in reply["replay"]] == last
    assert reply["truncated"] is True
    reply = memory.context(QUESTION, SESSION, replay_from_seq=3, max_recent_events=2).as_dict()
    assert [one["seq"] for one in reply["replay"]] == [3, 4]
    assert memory.context(QUESTION, SESSION, max_recent_events=0).as_dict()["replay"] == []


def test_a_context_writes_nothing(memory: Memory, events: dict[str, Event]) -> None:
    before = memory.head(SESSION)
    memory.context(QUESTION, SESSION)
    assert memory.head(SESSION) == before


BAD: list[dict[str, Any]] = [
    *({"limit": 0}, {"limit": -1}, {"limit": 101}, {"limit": "5"}, {"max_recent_events": -1}),
    *({"max_recent_events": 101}, {"max_tokens": 0}, {"max_tokens": "many"}),
]


@pytest.mark.parametrize("asked", [*BAD, {"replay_from_seq": 0}], ids=str)
def test_a_context_that_cannot_be_made_is_refused(memory: Memory, asked: dict[str, Any]) -> None:
    with pytest.raises(ZaxyError) as refused:
        memory.context(QUESTION, SESSION, **asked)
    assert refused.value.code == "invalid_request"
    assert next(iter(asked)) in refused.value.message


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("crowded")) as memory:
        for number in range(20):
            for event_type, field in (
                ("goal.created", "goal"),
                ("task.proposed", "task"),
                ("issue.diagnosed", "issue"),
            ):
                memory.append(
                    event_type, {field: f'{field} {number} of the "harbour"\n{LONG}'}, actor="ada", session=SESSION
                )
            decision(memory, f"decision {number}\\ on the harbour {LONG}", key=f"d{number}")
            fact(memory, f"The harbour crane {number} lifts {number} tons {LONG}")
        yield memory


@pytest.mark.parametrize("budget", (600, 1000, 1500, 2000, 3000, 6000))
@pytest.mark.parametrize("question", ("What does the harbour crane lift?", "lighthouse", "why " * 1000))
def test_a_context_keeps_to_its_budget(crowded: Memory, question: str, budget: int) -> None:
    reply = crowded.context(question, SESSION, max_tokens=budget).as_dict()
    assert reply["tokens_used"] <= budget
    assert tokens_of(reply) <= reply["tokens_used"]
    assert reply["truncated"] is True


def test_a_large_working_set_leaves_room_for_what_was_asked_and_what_happened(crowded: Memory) -> None:
    reply = crowded.context("What does the harbour crane lift?", SESSION).as_dict()
    assert all(reply["context_counts"][part] for part in ("graph", "verbatim", "replay"))
    assert all(reply["working_set"][kind] for kind in ("goals", "decisions", "tasks", "blockers"))


def test_what_one_part_does_not_need_the_others_get(crowded: Memory) -> None:
    used = crowded.context("lighthouse", SESSION, max_recent_events=0).as_dict()
    assert used["context_counts"] == {"graph": 0, "verbatim": 0, "replay": 0}
    assert used["tokens_used"] > 2500


# TokenBudget


def test_room_is_given_in_order_until_it_runs_out() -> None:
    items = [(number, ("x" * 40,)) for number in range(10)]
    cost = tokens_of("x" * 40)
    room = TokenBudget(3 * cost)
    assert room.fill(items) == [0, 1, 2]
    assert (room.left, room.short) == (0, True)
    assert TokenBudget(0).fill(items, at_least=1) == [0]


def test_as_much_is_taken_of_many_items_as_of_few() -> None:
    items = [(number, ("x" * 40, "y")) for number in range(100)]
    cost = tokens_of("x" * 40) + tokens_of("y")
    assert tokens_of("x" * 40, "y") == cost
    assert TokenBudget(40 * cost).fill(items) == list(range(40))
    assert TokenBudget(1000 * cost).fill(items) == list(range(100))


def test_shares_are_kept_first_and_what_is_left_is_given_to_whoever_needs_it() -> None:
    items = [(number, ("x" * 40,)) for number in range(10)]
    cost = tokens_of("x" * 40)
    taken = TokenBudget(10 * cost).fill_in_turn((items, 0.3), (items[:2], 0.5), (items, 0.5))
    assert [len(part) for part in taken] == [6, 2, 2]
    alone = TokenBudget(10 * cost)
    assert [len(part) for part in alone.fill_in_turn((items, 0.3), ([], 0.5))] == [10, 0]
    assert not alone.short


def test_a_reply_that_came_out_too_large_is_made_again_of_less() -> None:
    asked: list[int] = []

    def compose(budget: int) -> dict[str, Any]:
        asked.append(budget)
        return {"text": "word " * budget}

    reply = fitted(compose, 500, least=compose, what="a sample")
    assert len(asked) > 1
    assert tokens_of(reply) <= reply["tokens_used"] <= 500


# After a turn


def test_a_turn_is_recorded_before_context_is_assembled(empty: Memory) -> None:
    reply = empty.after_turn(
        "user", "My cat is called Biscuit.", session=SESSION, speaker="ada", source="chat", turn_index=4
    ).as_dict()
    event = empty.resolve(reply["event"]["citation"])
    assert (event.type, event.actor, event.seq) == ("transcript.turn", "user", reply["event"]["seq"])
    assert event.payload == {
        "role": "user",
        "content": "My cat is called Biscuit.",
        "speaker": "ada",
        "source": "chat",
        "turn_index": 4,
    }
    assert [one["seq"] for one in reply["replay"]] == [event.seq]
    assert reply["prompt"].startswith("# Active Memory Working Set")


def test_the_context_after_a_turn_is_on_what_was_said_or_what_is_asked(
    memory: Memory, events: dict[str, Event]
) -> None:
    said = memory.after_turn("user", "Tell me about the harbour lamp", session=SESSION).as_dict()
    assert said["query"] == "Tell me about the harbour lamp"
    assert any("whale oil" in item["content"] for item in said["context"])
    asked = memory.after_turn("user", "Thanks.", session=SESSION, query=QUESTION).as_dict()
    assert any("Postgres" in item["content"] for item in asked["context"])


def test_a_turn_that_is_sent_twice_with_one_key_is_recorded_once(empty: Memory) -> None:
    first, again = (
        empty.after_turn("user", "Hello there.", session=SESSION, idempotency_key="t1").as_dict() for _ in range(2)
    )
    assert first["event"] == again["event"]
    assert empty.head(SESSION) == 1


def test_a_turn_keeps_to_its_budget(crowded: Memory) -> None:
    reply = crowded.after_turn("user", "What does the harbour crane lift?", session=SESSION, max_tokens=1200).as_dict()
    assert tokens_of(reply) <= reply["tokens_used"] <= 1200


@pytest.mark.parametrize("asked", [*BAD, {"content": " "}, {"query": "x" * 5000}], ids=lambda asked: str(asked)[:30])
def test_a_turn_whose_context_cannot_be_made_is_not_recorded(empty: Memory, asked: dict[str, Any]) -> None:
    with pytest.raises(ZaxyError):
        empty.after_turn(**{"role": "user", "content": "Hello.", "session": SESSION, **asked})
    assert empty.head(SESSION) == 0


# The end of a subagent


def test_a_subagents_end_is_recorded_in_both_sessions_and_handed_over(empty: Memory) -> None:
    turn(empty, "I looked into it.", "helper")
    bundle = empty.cleanup_subagent(
        "parent", "helper", summary="The lamp needs oil.", outcome="done", actor="grace"
    ).as_dict()
    assert (bundle["summary"], bundle["outcome"], bundle["events"]) == ("The lamp needs oil.", "done", 1)
    assert bundle["integrity"]["status"] == "ok"
    cleaned, completed = empty.resolve(bundle["cleaned"]), empty.resolve(bundle["completed"])
    assert (cleaned.type, cleaned.session, cleaned.actor) == ("subagent.cleaned", "helper", "grace")
    assert (completed.type, completed.session) == ("subagent.completed", "parent")
    subagent = {"parent_session_id": "parent", "subagent_session_id": "helper", "summary": "The lamp needs oil."}
    assert cleaned.payload == completed.payload == {**subagent, "outcome": "done"}
    assert [empty.head(session) for session in ("helper", "parent")] == [2, 1]


@pytest.mark.parametrize(
    ("parent", "subagent"), [("helper", "helper"), ("../parent", "helper"), ("parent", "nobody")], ids=str
)
def test_a_subagents_end_that_cannot_be_is_refused_and_nothing_is_written(
    empty: Memory, parent: str, subagent: str
) -> None:
    turn(empty, "I looked into it.", "helper")
    with pytest.raises(ZaxyError):
        empty.cleanup_subagent(parent, subagent, summary="Done.")
    assert (empty.sessions(), empty.head("helper")) == (["helper"], 1)


# The beginning and the end of a session


def test_capabilities_tell_what_memory_is_what_to_call_and_what_is_captured(
    memory: Memory, events: dict[str, Event]
) -> None:
    before = memory.head(SESSION)
    manifest = memory.capabilities(SESSION, current_task="mend the lamp").as_dict()
    assert (manifest["name"], manifest["version"], manifest["session_id"]) == ("zaxy", __version__, SESSION)
    assert manifest["tools"] == {name: one.use for name, one in TOOLS.items() if "core" in one.profiles}
    assert manifest["next"] == {
        "tool": "memory_checkout",
        "arguments": {"query": "mend the lamp", "session_id": SESSION},
    }
    assert manifest["eventloom"]["status"] == "ok"
    assert manifest["eventloom"]["events"] == before
    assert memory.resolve(manifest["eventloom"]["head"]).seq == before
    assert manifest["capture"]["status"] == "capturing"
    assert manifest["capture"]["last_seen"]["file.edit.applied"] == events["edit"].time
    assert manifest["capture"]["last_seen"]["command.completed"] is None
    assert "after compaction or resume" in manifest["refresh_when"]
    assert memory.head(SESSION) == before


def test_capabilities_name_the_tools_of_installed_packages_and_no_others(empty: Memory) -> None:
    found = empty.capabilities(SESSION, profile="full").as_dict()["tools"]
    assert found["coordination_checkout"] == "The mission's accepted state, cited"
    assert found["coordination_merge_brief"] == "What waits for the coordinator"
    empty.recall.host = PluginHost.of(empty.workspace, announcements=())
    own = {name: one.use for name, one in TOOLS.items()}
    assert empty.capabilities(SESSION, profile="full").as_dict()["tools"] == own
    assert empty.bootstrap(SESSION, profile="full").as_dict()["capabilities"]["tools"] == own


def test_no_package_speaks_for_a_tool_of_the_core() -> None:
    theirs = {"memory_query": ToolUse("mine", ("full",)), "acme_find": ToolUse("theirs", ("full",))}
    assert tools_listed("full", theirs) == {**{name: one.use for name, one in TOOLS.items()}, "acme_find": "theirs"}


def test_the_rhythm_of_calls_is_told_in_order(memory: Memory) -> None:
    called = [step.split()[0] for step in memory.capabilities(SESSION).as_dict()["call_rhythm"]]
    first, last = ["memory_bootstrap", "memory_checkout", "memory_append"], ["memory_feedback"]
    assert called == [*first, "coordination", *last, "memory_synthesis_artifact", "memory_synthesis_evidence"]


def test_an_empty_session_has_capabilities_too(empty: Memory) -> None:
    manifest = empty.capabilities("fresh").as_dict()
    assert manifest["eventloom"] == {"status": "empty", "events": 0}
    assert manifest["capture"]["status"] == "nothing captured lately"
    assert manifest["next"]["arguments"]["query"] == DEFAULT_TASK
    assert empty.sessions() == []


def test_bootstrap_embeds_capabilities_and_leaves_a_marker(empty: Memory) -> None:
    project(empty)
    before = empty.head(SESSION)
    packet = empty.bootstrap(SESSION, current_task="mend the lamp").as_dict()
    assert packet["startup_sequence"] == ["memory_bootstrap", "memory_checkout", "memory_feedback"]
    assert packet["recommended_next"] == packet["capabilities"]["next"]
    assert packet["recommended_next"]["arguments"]["query"] == "mend the lamp"
    assert packet["capture_status"] == "capturing"
    assert len(packet["trust_policy"]) == 3
    (marker,) = empty.replay(SESSION, before + 1, include_housekeeping=True)
    assert (marker.type, marker.actor) == ("memory.bootstrap.shown", "zaxy")


def test_the_first_call_that_bootstrap_recommends_can_be_made_as_it_is(
    memory: Memory, events: dict[str, Event]
) -> None:
    arguments = memory.bootstrap(SESSION).as_dict()["recommended_next"]["arguments"]
    reply = memory.checkout(arguments["query"], arguments["session_id"]).as_dict()
    assert reply["quality"]["answerability"] == "answer_from_memory"


def test_what_a_server_keeps_of_a_call_is_bookkeeping(empty: Memory) -> None:
    empty.record_tool_call("memory_query", "ok", argument_keys=["query", "limit"], summary="3 results", session=SESSION)
    (event,) = empty.replay(SESSION, include_housekeeping=True)
    assert (event.type, event.actor) == ("tool.call.completed", "zaxy")
    assert event.payload == {
        "tool_name": "memory_query",
        "status": "ok",
        "argument_keys": ["query", "limit"],
        "result_summary": "3 results",
    }
    assert empty.replay(SESSION) == []


def test_the_end_of_a_session_is_recorded_and_is_no_fact(empty: Memory) -> None:
    empty.end_session("shutdown", SESSION)
    (event,) = empty.replay(SESSION, include_housekeeping=True)
    assert (event.type, event.actor, event.payload) == ("session.ended", "zaxy", {"reason": "shutdown"})
    reply = empty.checkout("Why did the session end with a shutdown?", SESSION).as_dict()
    assert reply["current_facts"] == []
    assert reply["quality"]["answerability"] == "ask_user"


def test_the_head_is_the_last_event(empty: Memory) -> None:
    assert empty.head(SESSION) == 0
    assert empty.head(SESSION) + 1 == turn(empty, "Hello.").seq == empty.head(SESSION)


def test_without_a_session_the_workspaces_own_is_meant(empty: Memory) -> None:
    decision(empty, "The billing service uses Postgres.", empty.session)
    assert empty.head() == 1
    assert empty.checkout(QUESTION).as_dict()["session_id"] == empty.session
    assert empty.checkout(QUESTION).quality.answerability == "answer_from_memory"
    assert empty.context(QUESTION).as_dict()["session_id"] == empty.bootstrap().as_dict()["session_id"] == empty.session


def test_a_damaged_log_is_told_of_in_context(empty: Memory, tmp_path: Path) -> None:
    project(empty)
    empty.context(QUESTION, SESSION)
    log = log_of(tmp_path)
    log.write_bytes(log.read_bytes().replace(b"whale oil", b"snake oil", 1))
    reply = empty.context("What does the harbour lamp burn?", SESSION).as_dict()
    assert any("damaged" in warning for warning in reply["warnings"])
    assert "snake" not in str(reply)
