"""One thing under several names, now and as it was known; and time that never goes back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from folders import made_folder
from zaxy.api.models import AsOf, EntityRef, EntityRow
from zaxy.extract import rules
from zaxy.graph import schema
from zaxy.memory import Memory

SESSION = "names"
DAY = "2026-03-{:02}T00:00:00.000000Z"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(made_folder(tmp_path / "here")) as opened:
        yield opened


def say(memory: Memory, event_type: str, **payload: Any) -> int:
    return memory.append(event_type, payload, session=SESSION).seq


def rows(memory: Memory, kind: str = "task", as_of: AsOf | None = None) -> list[EntityRow]:
    memory.follow(SESSION)
    return list(memory.recall.backend.current(SESSION, [kind], as_of or AsOf(), 100))


def named(memory: Memory, name: str, kind: str = "task", as_of: AsOf | None = None) -> list[EntityRow]:
    memory.follow(SESSION)
    return memory.recall.versions(SESSION, EntityRef(kind, name), as_of or AsOf())


# One thing


def test_a_task_that_is_completed_by_its_id_is_the_one_that_was_proposed_with_it(memory: Memory) -> None:
    say(memory, "task.proposed", id="T-1", title="Fix login", owner="ann", due="friday")
    say(memory, "task.completed", id="T-1", outcome="it was the cookie")
    (task,) = rows(memory)
    assert dict(task.entity.properties) == {
        "status": "completed",
        "owner": "ann",
        "due": "friday",
        "outcome": "it was the cookie",
        "summary_seq": 1,
    }
    assert (task.entity.summary, task.entity.name) == ("Fix login", "T-1")


def test_a_title_alone_means_the_thing_last_known_by_it(memory: Memory) -> None:
    say(memory, "task.proposed", id="T-1", title="Fix login")
    say(memory, "task.claimed", title="fix LOGIN ", owner="bob")
    (task,) = rows(memory)
    assert (task.entity.name, task.entity.properties["owner"]) == ("T-1", "bob")


def test_an_id_that_comes_later_is_learned_by_the_thing_of_that_title(memory: Memory) -> None:
    say(memory, "task.proposed", title="Fix login", owner="ann")
    say(memory, "task.claimed", id="T-1", title="Fix login")
    say(memory, "task.completed", id="T-1")
    (task,) = rows(memory)
    assert (task.entity.name, task.entity.properties["owner"]) == ("Fix login", "ann")
    assert task.entity.properties["status"] == "completed"


def test_two_tasks_of_one_title_and_different_ids_are_two(memory: Memory) -> None:
    for number in ("T-1", "T-2"):
        say(memory, "task.proposed", id=number, title="Fix login", owner=number)
    say(memory, "task.completed", title="Fix login")
    assert {row.entity.name: row.entity.properties["status"] for row in rows(memory)} == {
        "T-1": "proposed",
        "T-2": "completed",
    }


def test_a_skill_that_is_validated_keeps_its_procedure(memory: Memory) -> None:
    say(memory, "skill.proposed", skill_id="deploy", name="Deploy it", procedure=["build", "push"], summary="Ship it")
    say(memory, "skill.validated", skill_id="deploy", evidence="worked twice")
    (skill,) = rows(memory, "skill")
    assert (skill.entity.summary, skill.entity.properties["procedure"]) == ("Ship it", ["build", "push"])
    assert skill.entity.properties["status"] == "validated"
    assert memory.checkout("how do I deploy?", SESSION).as_dict()["diagnostics"]["skills"]["items"][0]["procedure"] == [
        "build",
        "push",
    ]


def test_a_skill_that_was_contradicted_keeps_its_analytics(memory: Memory) -> None:
    say(memory, "skill.proposed", skill_id="deploy", procedure=["build"], summary="Deploy it")
    say(memory, "skill.outcome_recorded", skill_id="deploy", success_score=0.1)
    say(memory, "skill.contradicted", skill_id="deploy", reason="it breaks the build")
    found = memory.checkout("how do I deploy?", SESSION).as_dict()["diagnostics"]
    assert found["skill_analytics"]["contradiction_count"] == 1 and found["skill_analytics"]["outcome_count"] == 1


def test_a_decision_under_the_same_key_replaces_the_whole(memory: Memory) -> None:
    say(memory, "decision.made", key="db", decision="Postgres", rationale="known")
    say(memory, "decision.made", key="db", decision="SQLite")
    (decision,) = rows(memory, "decision")
    assert "rationale" not in decision.entity.properties


def test_edges_and_closings_mean_the_thing_too(memory: Memory) -> None:
    say(memory, "goal.created", id="G-1", title="No data loss")
    say(memory, "task.proposed", id="T-1", title="Write twice", goal="no data loss")
    memory.follow(SESSION)
    edges = memory.recall.backend.neighbours(
        SESSION, [EntityRef("goal", "G-1")], relations=["has_task"], depth=1, as_of=AsOf(), limit=5
    )
    assert [(edge.edge.source.name, edge.edge.target.name) for edge in edges] == [("G-1", "T-1")]
    say(memory, "task.proposed", id="T-2", title="Write thrice", supersedes="Write twice")
    assert [row.entity.name for row in rows(memory)] == ["T-2"]


def test_a_thing_is_invalidated_and_asked_for_by_any_of_its_names(memory: Memory) -> None:
    say(memory, "task.proposed", id="T-1", title="Fix login", summary="The form forgets who you are")
    assert memory.query("what about fix login?", SESSION).results[0].seq == 1
    memory.invalidate("fix login", "task", session=SESSION)
    assert named(memory, "T-1") == [] == named(memory, "Fix login")


def test_a_name_means_what_it_meant_when_it_was_known(memory: Memory) -> None:
    say(memory, "task.proposed", id="T-1", title="Fix login")
    say(memory, "task.proposed", id="T-2", title="Fix login")
    assert [row.entity.name for row in named(memory, "Fix login")] == ["T-2"]
    assert [row.entity.name for row in named(memory, "Fix login", as_of=AsOf(known_at=1))] == ["T-1"]


# Followers come and go


def history(memory: Memory) -> None:
    for number in range(12):
        say(memory, "task.proposed", id=f"T-{number % 4}", title=f"Title {number % 3}", owner=str(number))
        say(memory, "task.completed", title=f"Title {number % 2}")


def test_a_rebuilt_graph_has_the_same_names_whenever_it_is_rebuilt(memory: Memory) -> None:
    history(memory)
    memory.follow(SESSION)
    digests = memory.recall.loop.digests(SESSION)
    memory.recall.loop.rebuild(SESSION, ["graph"])
    assert memory.recall.loop.digests(SESSION) == digests


def test_names_are_learned_again_when_their_file_is_gone(memory: Memory) -> None:
    history(memory)
    found = [row.entity.name for row in named(memory, "Title 1")]
    folder = memory.recall.workspace.root
    memory.close()
    shutil.rmtree(Path(folder) / ".eventloom" / "followers" / "identities")
    with Memory.open(folder) as again:
        assert found and [row.entity.name for row in named(again, "Title 1")] == found


def test_what_is_erased_teaches_no_name_any_more(memory: Memory) -> None:
    say(memory, "task.proposed", id="T-1", title="the secret name")
    say(memory, "task.claimed", id="T-1", owner="bob")
    citation = next(iter(memory.recall.store.events(SESSION, 1, 1))).citation
    memory.forget(citation, "it was asked for")
    assert named(memory, "the secret name") == []
    folder = Path(memory.recall.workspace.root) / ".eventloom" / "followers" / "identities"
    assert all(b"secret" not in path.read_bytes() for path in folder.iterdir())


def test_a_graph_of_an_older_format_is_rebuilt_by_itself(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    history(memory)
    expected = rows(memory)
    root = memory.recall.workspace.root
    memory.close()
    for name in ("zaxy.graph.schema.FORMAT", "zaxy.graph.sqlite_graph.FORMAT"):
        monkeypatch.setattr(name, schema.FORMAT + 1)
    with Memory.open(root) as newer:
        assert rows(newer) == expected


def test_rows_of_older_rules_are_made_again(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as before:
        before.setattr("zaxy.extract.rules.VERSION", "1")
        with Memory.open(memory.recall.workspace.root) as older:
            say(older, "task.proposed", id="T-1", title="Fix login")
            older.follow(SESSION)
    memory.follow(SESSION)
    cursor = memory.recall.backend.cursor(SESSION)
    assert cursor and f"built-in@{rules.VERSION}" in cursor.fed_by


# Time


class Clocked:
    """A memory whose clock a test sets."""

    def __init__(self, folder: Path) -> None:
        self.now = DAY.format(10)
        self.memory = Memory.open(made_folder(folder))
        self.memory.recall.store.store.loom._clock = lambda: self.now
        self.memory.recall.backend._clock = lambda: self.now


@pytest.fixture
def clocked(tmp_path: Path) -> Iterator[Clocked]:
    clock = Clocked(tmp_path / "clocked")
    yield clock
    clock.memory.close()


def test_a_row_that_begins_in_the_future_is_current_only_then(clocked: Clocked) -> None:
    memory = clocked.memory
    say(memory, "decision.made", key="db", decision="Postgres")
    say(memory, "decision.made", key="db", decision="SQLite", occurred_at=DAY.format(20))
    assert [row.entity.summary for row in rows(memory, "decision")] == ["Postgres"]
    assert memory.query("which db?", SESSION).results[0].content.startswith("Postgres")
    clocked.now = DAY.format(21)
    assert [row.entity.summary for row in rows(memory, "decision")] == ["SQLite"]
    (then,) = rows(memory, "decision", AsOf(known_at=2))
    assert then.entity.summary == "Postgres", "as known then it stays as it was then"


def test_an_end_in_the_future_ends_a_row_only_then(clocked: Clocked) -> None:
    memory = clocked.memory
    say(memory, "decision.made", key="db", decision="Postgres")
    memory.invalidate("db", "decision", invalid_at=DAY.format(20), session=SESSION)
    assert len(rows(memory, "decision")) == 1
    clocked.now = DAY.format(20)
    assert rows(memory, "decision") == []


def test_a_clock_that_is_set_back_hides_nothing_that_was_written(clocked: Clocked) -> None:
    memory = clocked.memory
    say(memory, "decision.made", key="db", decision="Postgres")
    say(memory, "task.proposed", id="T-1", title="Fix login")
    clocked.now = DAY.format(5)
    assert [row.entity.summary for row in rows(memory, "decision")] == ["Postgres"]
    say(memory, "decision.made", key="db", decision="SQLite")
    say(memory, "task.completed", id="T-1")
    assert [row.entity.summary for row in rows(memory, "decision")] == ["SQLite"]
    assert rows(memory)[0].entity.properties["status"] == "completed"
    memory.invalidate("db", "decision", session=SESSION)
    assert rows(memory, "decision") == []


def test_the_same_rows_come_out_whatever_the_clock_says_when_they_are_followed(clocked: Clocked) -> None:
    memory = clocked.memory
    say(memory, "decision.made", key="db", decision="Postgres")
    clocked.now = DAY.format(5)
    say(memory, "decision.made", key="db", decision="SQLite", occurred_at=DAY.format(20))
    memory.follow(SESSION)
    digests = memory.recall.loop.digests(SESSION)
    clocked.now = DAY.format(25)
    memory.recall.loop.rebuild(SESSION)
    assert memory.recall.loop.digests(SESSION) == digests


def test_one_open_task_behind_a_thousand_finished_ones_is_in_the_working_set(memory: Memory) -> None:
    say(memory, "task.proposed", id="T-open", title="The one that is left")
    for number in range(1000):
        say(memory, "task.completed", id=f"T-{number}", title=f"Task {number}")
    tasks = memory.checkout("what is left to do?", SESSION).as_dict()["working_set"]["tasks"]
    assert [task["text"] for task in tasks] == ["The one that is left. Id: T-open. Status: proposed"]
