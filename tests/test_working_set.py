"""The working set: what is open now, a few of each kind, newest first, each with its citation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from remembered import SESSION, decision, project
from zaxy.assemble.token_budget import TokenBudget
from zaxy.assemble.working_set import NOTHING_OPEN, Item, WorkingSet
from zaxy.memory import Memory

KINDS = ("goals", "decisions", "tasks", "blockers", "artifacts")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        yield opened


def open_now(memory: Memory, kind: str) -> list[str]:
    return [item["text"] for item in memory.context("anything at all", SESSION).as_dict()["working_set"][kind]]


def test_it_holds_goals_decisions_tasks_artifacts_blockers_and_source_anchors(memory: Memory) -> None:
    events = project(memory)
    found = memory.context("anything at all", SESSION).as_dict()["working_set"]
    assert found.keys() == {*KINDS, "source_anchors"}
    kept = {"goals": "goal", "decisions": "decision", "tasks": "open task", "blockers": "issue", "artifacts": "edit"}
    for kind, name in kept.items():
        (item,) = found[kind]
        assert memory.resolve(item["citation"]).seq == events[name].seq
    anchors = {memory.resolve(citation).seq for citation in found["source_anchors"]}
    assert anchors == {events[name].seq for name in ("goal", "decision", "open task", "issue")}


def test_a_checkout_shows_the_same_working_set(memory: Memory) -> None:
    project(memory)
    assert (
        memory.checkout("anything at all", SESSION).as_dict()["working_set"]
        == memory.context("anything at all", SESSION).as_dict()["working_set"]
    )


def test_it_is_bounded_and_the_newest_come_first(memory: Memory) -> None:
    for number in range(20):
        memory.append("goal.created", {"goal": f"goal {number}"}, actor="ada", session=SESSION)
    assert open_now(memory, "goals") == [f"goal {number}" for number in (19, 18, 17, 16, 15)]
    assert len(memory.checkout("anything", SESSION).as_dict()["working_set"]["goals"]) == 3


def test_a_long_text_is_cut(memory: Memory) -> None:
    memory.append("goal.created", {"goal": "reach the harbour " * 50}, actor="ada", session=SESSION)
    (text,) = open_now(memory, "goals")
    assert len(text) <= 160
    assert text.endswith("…")


@pytest.mark.parametrize("status", ("completed", "Done", "closed", "resolved", "fixed", "cancelled", "rejected"))
def test_what_is_settled_is_left_out_there_and_where_things_stand(memory: Memory, status: str) -> None:
    memory.append("issue.diagnosed", {"issue": "The crane squeaks", "key": "squeak"}, actor="ada", session=SESSION)
    assert open_now(memory, "blockers") == ["The crane squeaks"]
    assert memory.checkout("what is blocked?", SESSION).as_dict()["current_facts"]
    settled = {"issue": "The crane squeaks", "key": "squeak", "status": status}
    memory.append("issue.diagnosed", settled, actor="ada", session=SESSION)
    assert open_now(memory, "blockers") == []
    assert memory.checkout("what is blocked?", SESSION).as_dict()["current_facts"] == []


def test_a_task_leaves_when_it_is_completed(memory: Memory) -> None:
    for status in ("proposed", "claimed"):
        memory.append(f"task.{status}", {"task": "Oil the crane"}, actor="ada", session=SESSION)
        assert open_now(memory, "tasks") == [f"Oil the crane. Status: {status}"]
    memory.append("task.completed", {"task": "Oil the crane"}, actor="ada", session=SESSION)
    assert open_now(memory, "tasks") == []


def test_finished_tasks_do_not_crowd_out_open_ones(memory: Memory) -> None:
    memory.append("task.proposed", {"task": "Oil the crane"}, actor="ada", session=SESSION)
    for number in range(20):
        memory.append("task.completed", {"task": f"Paint rail {number}"}, actor="ada", session=SESSION)
    assert open_now(memory, "tasks") == ["Oil the crane. Status: proposed"]


def test_what_was_superseded_or_invalidated_leaves(memory: Memory) -> None:
    for name in ("SQLite", "Postgres"):
        decision(memory, f"Use {name}", key="database")
    assert open_now(memory, "decisions") == ["Use Postgres"]
    memory.invalidate("database", "decision", session=SESSION)
    assert open_now(memory, "decisions") == []


def test_sessions_have_working_sets_of_their_own(memory: Memory) -> None:
    decision(memory, "Use SQLite", "another")
    assert open_now(memory, "decisions") == []


# Its parts


def item(kind: str, number: int) -> Item:
    return Item(f"{kind} {number}", kind, f"eventloom://work/events/{number}#0123456789ab", "", "")


def test_where_room_is_short_every_kind_gives_way_alike() -> None:
    whole = WorkingSet({kind: [item(kind, number) for number in range(1, 6)] for kind in KINDS})
    costly = whole.ranked()
    assert len(costly) == 25
    room = TokenBudget(sum(len(str(parts)) for _, parts in costly[:7]) // 4)
    kept = WorkingSet.of(room.fill(costly))
    counts = [len(kept.items[kind]) for kind in KINDS]
    assert room.short
    assert 0 < sum(counts) < 25
    assert max(counts) - min(counts) <= 1
    assert all(kept.items[kind] == whole.items[kind][: len(kept.items[kind])] for kind in KINDS)


def test_anchors_are_the_newest_of_goals_decisions_tasks_and_blockers_each_once() -> None:
    same = [item("goal", 1)] * 2
    assert WorkingSet.of([("goals", one) for one in same]).anchors == [same[0].citation]
    full = WorkingSet(
        {kind: [item(kind, number) for number in range(10 * at, 10 * at + 5)] for at, kind in enumerate(KINDS, 1)}
    )
    assert len(full.anchors) == 5
    assert not any("events/5" in citation for citation in full.anchors)


def test_where_nothing_is_open_there_is_nothing_to_tell() -> None:
    assert NOTHING_OPEN.lines() == []
    assert NOTHING_OPEN.as_dict() == {**{kind: [] for kind in KINDS}, "source_anchors": []}
