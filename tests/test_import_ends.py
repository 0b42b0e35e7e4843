"""What was ended by events that are erased now stays ended where a bundle is imported; and no bundle ends what is not
its own."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import outside_things
from engines import needs_kuzu
from exported import bundle_bytes
from folders import made_folder
from test_import import HERE, THERE, Pair, events
from zaxy import ForeignEvent
from zaxy.api.models import AsOf, EntityRef, Event
from zaxy.errors import Conflict
from zaxy.memory import Memory
from zaxy_export.selector import EVERYTHING, Selector

KINDS = ("decision", "fact", "task", "event")
DECISIONS = Selector(kinds=("decision.made", "fact.recorded", "task.proposed", "task.claimed", "memory.invalidated"))
"""Without the records of erasures."""
TIME = "2024-03-01T08:00:00.000000Z"


@pytest.fixture(params=["sqlite", pytest.param("kuzu", marks=[needs_kuzu, pytest.mark.needs_package("kuzu")])])
def pair(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    monkeypatch.setenv("PROJECTION_BACKEND", request.param)
    with ExitStack() as stack:
        yield Pair(tmp_path, stack)


def say(memory: Memory, type_: str = "decision.made", session: str = THERE, **payload: Any) -> Event:
    return memory.append(type_, payload, actor="ada", session=session)


def current(memory: Memory, session: str, at: str = "", kinds: tuple[str, ...] = KINDS) -> list[str]:
    memory.follow(session)
    rows = memory.recall.backend.current(session, list(kinds), AsOf(at) if at else AsOf(), 100)
    return sorted(row.entity.summary for row in rows)


def by_key(memory: Memory) -> list[Event]:
    say(memory, decision="Postgres", key="db")
    return [say(memory, decision="SQLite", key="db")]


def by_name(memory: Memory) -> list[Event]:
    say(memory, decision="Ship on Monday")
    return [say(memory, decision="Ship on Friday", supersedes="Ship on Monday")]


def by_citation(memory: Memory) -> list[Event]:
    older = say(memory, decision="Ship on Monday")
    return [say(memory, decision="Ship on Friday", supersedes=older.citation)]


def one_after_the_other(memory: Memory) -> list[Event]:
    first = say(memory, decision="Monday")
    second = say(memory, decision="Tuesday", supersedes=first.citation)
    return [second, say(memory, decision="Wednesday", supersedes=second.citation)]


def and_decided_again(memory: Memory) -> list[Event]:
    say(memory, decision="Postgres", key="db")
    erased = say(memory, decision="SQLite", key="db")
    say(memory, decision="Postgres", key="db")
    return [erased]


def an_invalidation(memory: Memory) -> list[Event]:
    say(memory, decision="the port is open")
    return [memory.invalidate("the port is open", "decision", session=THERE)]


def what_an_invalidation_refers_to(memory: Memory) -> list[Event]:
    """It ended what is to come, too, and only refers to the one that holds now."""
    first = say(memory, decision="the port is open", rationale="tide")
    say(memory, decision="the port is open", rationale="wind", occurred_at="2090-01-01")
    memory.invalidate("the port is open", "decision", session=THERE)
    return [first]


def a_task_by_another_name(memory: Memory) -> list[Event]:
    say(memory, "task.proposed", id="T-1", title="Fix login")
    say(memory, "task.claimed", title="Fix login", owner="bob")
    return [memory.invalidate("fix login", "task", session=THERE)]


STORIES: tuple[Callable[[Memory], list[Event]], ...] = (
    by_key,
    by_name,
    by_citation,
    one_after_the_other,
    and_decided_again,
    an_invalidation,
    what_an_invalidation_refers_to,
    a_task_by_another_name,
)


@pytest.mark.parametrize("selector", [EVERYTHING, DECISIONS], ids=["everything", "without the records"])
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_what_an_erased_event_had_ended_is_not_current_elsewhere(
    pair: Pair, story: Callable[[Memory], list[Event]], selector: Selector
) -> None:
    for event in story(pair.source):
        pair.source.forget(event.citation, "told in confidence")
    pair.carry(selector)
    for moment in ("", "2095-01-01T00:00:00.000000Z"):
        assert current(pair.target, HERE, moment) == current(pair.source, THERE, moment)
    pair.target.rebuild_followers(HERE)
    assert current(pair.target, HERE) == current(pair.source, THERE)


def test_it_held_there_and_here_until_the_same_moment(pair: Pair) -> None:
    say(pair.source, decision="Postgres", key="db", occurred_at="2020-01-01")
    gone = say(pair.source, decision="SQLite", key="db", occurred_at="2022-01-01")
    pair.source.forget(gone.citation, "told in confidence")
    pair.carry()
    seen = ["2019-06-01", "2021-06-01", "2021-12-31", "2022-06-01"]
    held = [current(pair.target, HERE, f"{day}T00:00:00.000000Z") for day in seen]
    assert held == [[], ["Postgres"], ["Postgres"], []]


@pytest.mark.parametrize("story", [by_key, what_an_invalidation_refers_to], ids=lambda story: story.__name__)
def test_it_stays_ended_over_two_imports_and_when_its_stand_in_is_erased_too(
    pair: Pair, tmp_path: Path, story: Callable[[Memory], list[Event]]
) -> None:
    for event in story(pair.source):
        pair.source.forget(event.citation, "told in confidence")
    pair.carry()
    (tmp_path / "third").mkdir()
    later = "2095-01-01T00:00:00.000000Z"
    with Memory.open(made_folder(tmp_path / "third")) as third:
        third.import_bundle(BytesIO(bundle_bytes(pair.target, EVERYTHING, HERE)), "third")
        assert current(third, "third") == current(third, "third", later) == []
    standing = [event for event in pair.imported() if event.type in ("imported.erased", "memory.invalidated")]
    for event in standing:
        pair.target.forget(event.citation, "even that")
    assert current(pair.target, HERE) == current(pair.target, HERE, later) == []


def test_no_name_of_what_was_ended_is_written_down_again(pair: Pair) -> None:
    for event in by_name(pair.source):
        pair.source.forget(event.citation, "told in confidence")
    pair.carry()
    (stand_in,) = [event for event in pair.imported() if event.type == "imported.erased"]
    assert "Monday" not in json.dumps(stand_in.payload)


def test_a_subset_that_discloses_the_two_events_carries_the_end(pair: Pair) -> None:
    (gone,) = by_key(pair.source)
    pair.source.forget(gone.citation, "told in confidence")
    subset = pair.bundle(disclosed=Selector(grains=("event",), kinds=("decision.made",)))
    pair.target.import_bundle(subset, HERE, expect_public_key=pair.public_key)
    assert [event.type for event in pair.imported()] == ["decision.made", "imported.erased"]
    assert current(pair.target, HERE) == []


def test_what_came_with_an_earlier_bundle_is_ended_by_a_later_one_that_has_it_too(pair: Pair) -> None:
    say(pair.source, decision="Postgres", key="db")
    pair.carry()
    assert current(pair.target, HERE) == ["Postgres"]
    pair.source.forget(say(pair.source, decision="SQLite", key="db").citation, "told in confidence")
    pair.carry()
    assert current(pair.target, HERE) == []


def test_a_thing_of_a_package_stays_ended_under_whatever_name(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    outside_things.install(site)
    monkeypatch.syspath_prepend(str(site))
    importlib.invalidate_caches()
    with Memory.open(pair.folders[0]) as source, Memory.open(pair.folders[1]) as target:
        say(source, "rota.shift.proposed", id="S-1", title="Night watch")
        say(source, "rota.shift.proposed", id="S-2", title="Day watch")
        gone = say(source, "rota.shift.cancelled", title="Night watch")
        source.forget(gone.citation, "told in confidence")
        target.import_bundle(BytesIO(bundle_bytes(source, EVERYTHING, THERE)), HERE)
        shifts = (outside_things.SHIFT,)
        assert current(target, HERE, kinds=shifts) == current(source, THERE, kinds=shifts) == ["Day watch"]


# Who may end what


def test_an_honest_bundle_does_not_end_what_has_the_same_name_here(pair: Pair) -> None:
    (gone,) = by_key(pair.source)
    pair.source.forget(gone.citation, "told in confidence")
    say(pair.target, session=HERE, decision="MariaDB", key="db")
    pair.carry()
    assert current(pair.target, HERE) == ["MariaDB"]
    pair.target.rebuild_followers(HERE)
    assert current(pair.target, HERE) == ["MariaDB"]


def hostile(citation: str, **more: Any) -> ForeignEvent:
    fields = {"time": TIME, "type": "decision.made", "actor": "eve", "payload": {"decision": "Mine", "key": "mine"}}
    return ForeignEvent(**{"origin": citation, **fields, **more})


def cited(seq: int, session: str = "evil") -> str:
    return f"eventloom://{session}/events/{seq}#{seq:064x}"


def closings(own: Event) -> list[dict[str, Any]]:
    """All ways to name a row of the receiver's own."""
    entity = ["decision", "db"]
    items = [{"at": TIME, "entity": entity, "seq": None}, {"at": TIME, "entity": entity, "seq": own.seq}]
    return [
        *items,
        {"at": TIME, "entity": None, "seq": own.seq},
        {"at": TIME, "entity": None, "seq": own.seq, "row": 0},
        {"at": TIME, "entity": None, "seq": own.seq, "row": 0, "only": True, "by": 3},
        {"at": TIME, "entity": entity, "seq": own.seq, "row": 0},
        *({"at": TIME, "seq": seq, "row": 0} for seq in (own.seq, own.citation, True, -1, 10**9)),
        *("nonsense", None, [], {"at": "never", "seq": own.seq}),
    ]


def test_a_hostile_bundle_that_names_rows_of_the_receivers_own_ends_nothing(pair: Pair) -> None:
    target = pair.target
    own = say(target, session=HERE, decision="Postgres", key="db")
    names = closings(own)
    record = {"hash": own.hash, "seq": own.seq, "reason": "x", "closings": names}
    came = {"citation": cited(1, "another"), "time": TIME, "closings": names}
    wicked = [
        hostile(own.citation),
        hostile(cited(2), payload=None, erased=True, closings=names),
        hostile(cited(2, HERE), payload=None, erased=True, closings=names),
        hostile(cited(3), type="memory.invalidated", closings=names, payload={"imported_from": came, "reason": "x"}),
        hostile(cited(4), type="event.erased", actor="zaxy", payload=record),
        hostile(cited(5), type="event.erased", actor="zaxy", payload={**record, "seq": 2}),
        hostile(cited(6), type="imported.erased", actor="zaxy-import", payload={"closings": names}),
        hostile(cited(7), payload={"decision": "Mine", "key": "mine", "closings": names, "imported_from": came}),
    ]
    done = target.import_events(wicked, HERE, source={"program": "evil"})
    assert done.new == len(wicked) - 1, "what has come back is not written again"
    assert current(target, HERE, kinds=("decision",)) == ["Mine", "Postgres"]
    target.rebuild_followers(HERE)
    assert current(target, HERE, kinds=("decision",)) == ["Mine", "Postgres"]
    assert target.recall.versions(HERE, EntityRef("decision", "db"), AsOf())[0].opened_seq == own.seq


@pytest.mark.parametrize("words", [{"decision": "SQLite", "key": "db"}, {"decision": "SQLite", "supersedes": cited(9)}])
def test_a_bundle_cannot_end_what_another_brought_by_giving_its_citation_to_other_words(
    pair: Pair, words: dict[str, Any]
) -> None:
    payload = {"decision": "Postgres", "key": "db", **({"supersedes": cited(9)} if "supersedes" in words else {})}
    pair.target.import_events([hostile(cited(1, "honest"), payload=payload)], HERE, source={})
    ends = [{"at": TIME, "seq": 1, "row": 0}]
    forged = [
        hostile(cited(1, "honest"), payload=words),
        hostile(cited(2, "honest"), payload=None, erased=True, closings=ends),
    ]
    refused = pytest.raises(Conflict) if "supersedes" not in words else nullcontext()
    with refused:
        pair.target.import_events(forged, HERE, source={})
    assert current(pair.target, HERE) == ["Postgres"]


def test_a_bundle_ends_what_it_brought_itself(pair: Pair) -> None:
    ends = [{"at": "2024-05-01T00:00:00.000000Z", "seq": 1, "row": 0}]
    pair.target.import_events(
        [hostile(cited(1)), hostile(cited(2), payload=None, erased=True, closings=ends)], HERE, source={}
    )
    assert current(pair.target, HERE) == []
    assert current(pair.target, HERE, "2024-04-01T00:00:00.000000Z") == ["Mine"]
    assert len(events(pair.target)) == 3
