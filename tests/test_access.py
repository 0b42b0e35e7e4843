"""Memory as packages are given it: what the core's own tools can do, and no more than the one who asks may."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from zaxy import Memory
from zaxy.access import METHODS, ROLE_FOR, access_to
from zaxy.api import Draft, EntityRef, MemoryAccess
from zaxy.errors import Forbidden, NotFound
from zaxy.rights import Permission
from zaxy.serve.packs import NarrowAccess

WRITTEN = {"text": "The staging database moved to Frankfurt."}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory.open(tmp_path)
    memory.append("fact.recorded", {"key": "staging", **WRITTEN}, session="work")
    memory.append("decision.made", {"key": "region", "decision": "Frankfurt"}, session="work")
    memory.append("fact.recorded", {"text": "Salaries are paid on the 25th."}, session="private")
    return memory


@pytest.mark.parametrize("name", sorted(METHODS))
def test_memory_itself_satisfies_the_protocol_name_by_name(name: str) -> None:
    promised = inspect.signature(getattr(MemoryAccess, name)).parameters.values()
    there = inspect.signature(getattr(Memory, name)).parameters.values()
    assert [(p.name, p.kind, p.default) for p in promised] == [(p.name, p.kind, p.default) for p in there]


def test_every_public_read_and_write_of_memory_is_there_but_what_belongs_to_a_process() -> None:
    public = {name for name in dir(Memory) if not name.startswith("_") and callable(getattr(Memory, name))}
    of_a_process = {
        *("open", "close", "follow", "follow_in_background", "record_tool_call", "end_session"),
        *("export", "import_bundle", "events", "tail", "tools"),
    }
    assert public - of_a_process == METHODS


def test_a_package_reads_events_rows_and_refs(memory: Memory) -> None:
    access = access_to(memory)
    assert access.head("work") == 2
    assert access.get(1, "work").payload == {"key": "staging", **WRITTEN}
    assert [event.seq for event in access.latest("work", types=("fact.*",))] == [1]
    assert [event.seq for event in access.latest("work")] == [2, 1]
    assert access.verify("work").ok
    ref = access.set_ref("refs/heads/main", access.get(1, "work").citation)
    assert access.refs("work") == {"refs/heads/main": access.get(1, "work").citation}
    assert ref.type == "memory.ref.updated"
    assert access.resolve_ref("refs/heads/main", "work").seq == 1
    row = access.current(["decision"], "work")[0]
    assert (row.entity.name, row.opened_seq) == ("region", 2)
    assert access.entities(["REGION"], "work")[0].event_hash == access.get(2, "work").hash
    edges = access.neighbours([EntityRef("decision", "region")], "work")
    assert {edge.opened_seq for edge in edges} == {2}
    with pytest.raises(NotFound, match="work has no event 99"):
        access.get(99, "work")


def test_a_row_that_somebody_put_into_the_graph_says_nothing(memory: Memory) -> None:
    access = access_to(memory)
    assert access.current(["decision"], "work")
    memory.close()
    path = Path(memory.workspace.eventloom) / "followers" / "projection_backends-sqlite"
    import sqlite3

    for file in path.glob("*.db"):
        with sqlite3.connect(file) as db:
            db.execute("UPDATE entities SET summary = 'Everything moves to the moon'")
    with Memory.open(Path(memory.workspace.root)) as again:
        rows = access_to(again).current(["decision"], "work")
    assert [row.entity.summary for row in rows] == ["Frankfurt"]


def test_a_question_that_begins_like_a_citation_is_a_question(memory: Memory) -> None:
    assert access_to(memory).query("eventloom://staging and region", "work").results


def test_an_admin_asks_how_the_followers_are_and_rebuilds_them(memory: Memory) -> None:
    access = access_to(memory)
    rebuilt = access.rebuild_followers("work")
    assert {state.follower: state.behind for state in rebuilt} == {"text": 0, "graph": 0}
    assert access.followers_status("work") == rebuilt
    assert not any(found.problems for found in access.verify_followers("work"))
    assert access.follower_digests("work").keys() == {"text", "graph"}


def test_a_reader_writes_nothing(memory: Memory) -> None:
    access = access_to(memory, Permission("reader"))
    assert access.query("staging", "work").results
    with pytest.raises(Forbidden, match=r"append\(\) needs the role writer, and yours is reader"):
        access.append("fact.recorded", WRITTEN, session="work")
    for name, role in ROLE_FOR.items():
        if role != "reader":
            with pytest.raises(Forbidden):
                getattr(access, name)("x", "y")
    assert memory.head("work") == 2


def test_only_an_admin_erases(memory: Memory) -> None:
    citation = memory.get(1, "work").citation
    with pytest.raises(Forbidden):
        access_to(memory, Permission("writer")).forget(citation, "asked")
    assert access_to(memory).forget(citation, "asked").erased == citation


def test_sessions_that_are_not_yours_are_out_of_reach(memory: Memory) -> None:
    access = access_to(memory, Permission("admin", ("work", "team-*"), "work"))
    foreign = memory.get(1, "private").citation
    assert access.sessions() == ["work"]
    assert access.session == "work"
    assert access.head() == 2
    access.append("fact.recorded", {"text": "For the team."}, session="team-1")
    assert access.sessions() == ["team-1", "work"]
    for refused in (
        lambda: access.query("salaries", "private"),
        lambda: access.resolve(foreign),
        lambda: access.append("fact.recorded", WRITTEN, session="private"),
        lambda: access.append_many([Draft("fact.recorded", "me", WRITTEN)], "private"),
        lambda: access.cleanup_subagent("work", "private", summary="done"),
        lambda: access.feedback("x", "fact", feedback="used", citation=foreign),
        lambda: access.invalidate(foreign, "fact"),
        lambda: access.set_ref("refs/heads/mine", foreign),
        lambda: access.replay("private"),
    ):
        with pytest.raises(Forbidden, match="private"):
            refused()
    with pytest.raises(Forbidden, match="copies in every session"):
        access.forget(access.get(1).citation, "asked")
    assert memory.head("private") == 1


def test_nothing_but_the_protocol_is_handed_out(memory: Memory) -> None:
    access = access_to(memory)
    for name in ("recall", "close", "workspace", "follow", "_log"):
        with pytest.raises(AttributeError):
            getattr(access, name)
    assert isinstance(memory, MemoryAccess)
    assert not isinstance(NarrowAccess(memory, "acme"), MemoryAccess)
