"""Things of a package's family that have ids and titles: one thing under several names, as the core's own are."""

from __future__ import annotations

import importlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import installed
import outside_things
from engines import needs_kuzu
from folders import made_folder
from outside_things import SHIFT, TYPES
from zaxy.api.models import AsOf, EntityRef, EntityRow
from zaxy.contracts.diff import compare
from zaxy.contracts.packages import plugin_contract
from zaxy.memory import Memory
from zaxy.plugins.check import check_plugin
from zaxy.plugins.host import PluginHost
from zaxy.plugins.manifest import ManifestError, parse_manifest

SESSION = "work"
PROVIDES = [{"point": "event_types", "name": "rota", "target": "acme_rota.family:Rota", "summary": "Shifts."}]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.fixture(params=["sqlite", pytest.param("kuzu", marks=[needs_kuzu, pytest.mark.needs_package("kuzu")])])
def memory(
    request: pytest.FixtureRequest, tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Memory]:
    monkeypatch.setenv("PROJECTION_BACKEND", request.param)
    outside_things.install(site)
    importlib.invalidate_caches()
    with Memory.open(made_folder(tmp_path / "here")) as opened:
        yield opened


@pytest.fixture
def opened(tmp_path: Path, site: Path) -> Iterator[Any]:
    """Memory beside a family whose rule makes the entity in this way."""
    memories: list[Memory] = []

    def open_beside(**changed: Any) -> Memory:
        outside_things.install(site, **changed)
        importlib.invalidate_caches()
        memories.append(Memory.open(made_folder(tmp_path / "here")))
        return memories[-1]

    yield open_beside
    for memory in memories:
        memory.close()


def say(memory: Memory, what: str, **payload: Any) -> int:
    return memory.append(f"rota.shift.{what}", payload, session=SESSION).seq


def shifts(memory: Memory) -> list[EntityRow]:
    memory.follow(SESSION)
    return list(memory.recall.backend.current(SESSION, [SHIFT], AsOf(), 100))


def named(memory: Memory, name: str, as_of: AsOf | None = None) -> list[str]:
    memory.follow(SESSION)
    return [row.entity.name for row in memory.recall.versions(SESSION, EntityRef(SHIFT, name), as_of or AsOf())]


# One thing


def test_a_shift_that_is_done_by_its_id_is_the_one_that_was_proposed_with_it(memory: Memory) -> None:
    say(memory, "proposed", id="S-1", title="Night watch", guard="ann", hours=8)
    say(memory, "done", id="S-1")
    (shift,) = shifts(memory)
    assert (shift.entity.name, shift.entity.summary) == ("S-1", "Night watch")
    assert dict(shift.entity.properties) == {"status": "done", "guard": "ann", "hours": 8, "summary_seq": 1}


def test_an_update_keeps_what_it_does_not_mention_and_null_takes_a_field_away(memory: Memory) -> None:
    say(memory, "proposed", id="S-1", title="Night watch", guard="ann", hours=8)
    say(memory, "changed", title="night WATCH", where="gate", hours=None)
    (shift,) = shifts(memory)
    properties = dict(shift.entity.properties)
    assert properties == {"status": "proposed", "guard": "ann", "where": "gate"}


def test_an_id_that_comes_later_is_learned_by_the_thing_of_that_title(memory: Memory) -> None:
    say(memory, "proposed", title="Night watch", guard="ann")
    say(memory, "changed", id="S-1", title="Night watch")
    say(memory, "done", id="S-1")
    (shift,) = shifts(memory)
    assert (shift.entity.name, shift.entity.properties["guard"]) == ("Night watch", "ann")
    assert shift.entity.properties["status"] == "done"


def test_two_shifts_of_one_title_and_different_ids_are_two(memory: Memory) -> None:
    for number in ("S-1", "S-2"):
        say(memory, "proposed", id=number, title="Night watch", guard=number)
    say(memory, "done", title="Night watch")
    assert {row.entity.name: row.entity.properties["status"] for row in shifts(memory)} == {
        "S-1": "proposed",
        "S-2": "done",
    }
    assert named(memory, "Night watch", AsOf(known_at=1)) == ["S-1"]


def test_edges_and_closings_mean_the_thing_too(memory: Memory) -> None:
    say(memory, "proposed", id="S-1", title="Night watch")
    say(memory, "changed", title="Night watch", guard="bob")
    memory.follow(SESSION)
    (edge,) = memory.recall.backend.neighbours(
        SESSION, [EntityRef(SHIFT, "S-1")], relations=["stands"], depth=1, as_of=AsOf(), limit=5
    )
    assert (edge.edge.source.name, edge.edge.target.name) == ("bob", "S-1")
    say(memory, "cancelled", title="Night watch")
    assert shifts(memory) == []


def test_a_thing_is_asked_for_and_invalidated_by_any_of_its_names(memory: Memory) -> None:
    say(memory, "proposed", id="S-1", title="Night watch", where="the north gate")
    say(memory, "changed", id="S-1", guard="bob")
    assert memory.query("Who stands the night watch?", SESSION).results[0].seq == 2
    memory.invalidate("night watch", SHIFT, session=SESSION)
    assert named(memory, "S-1") == [] == named(memory, "Night watch")


def test_the_working_set_shows_it_once_with_its_words(memory: Memory) -> None:
    say(memory, "proposed", id="S-1", title="Night watch")
    say(memory, "changed", id="S-1", where="the north gate")
    (shown,) = memory.context("anything", SESSION).as_dict()["working_set"]["shifts"]
    assert "Night watch" in shown["text"]


# Followers come and go


def history(memory: Memory) -> None:
    for number in range(12):
        say(memory, "proposed", id=f"S-{number % 4}", title=f"Title {number % 3}", guard=str(number))
        say(memory, "done", title=f"Title {number % 2}")


def test_a_rebuilt_graph_has_the_same_things(memory: Memory) -> None:
    history(memory)
    before = shifts(memory)
    digests = memory.recall.loop.digests(SESSION)
    memory.recall.loop.rebuild(SESSION, ["graph"])
    assert memory.recall.loop.digests(SESSION) == digests
    assert shifts(memory) == before and len(before) == 4


def test_names_are_learned_again_when_their_file_is_gone(memory: Memory) -> None:
    history(memory)
    found = named(memory, "Title 1")
    folder = memory.recall.workspace.root
    memory.close()
    shutil.rmtree(Path(folder) / ".eventloom" / "followers" / "identities")
    with Memory.open(folder) as again:
        assert found and named(again, "Title 1") == found


def test_what_an_erased_event_had_ended_stays_ended_under_whatever_name(memory: Memory) -> None:
    say(memory, "proposed", title="Night watch")
    say(memory, "changed", id="S-1", title="Night watch", guard="ann")
    gone = say(memory, "cancelled", id="S-1")
    memory.forget(next(event.citation for event in memory.replay(SESSION, gone)), "asked for")
    assert shifts(memory) == []


def test_what_is_erased_teaches_no_name_any_more(memory: Memory) -> None:
    say(memory, "proposed", id="S-1", title="the secret name")
    say(memory, "changed", id="S-1", guard="bob")
    memory.forget(memory.replay(SESSION, 1)[0].citation, "it was asked for")
    assert named(memory, "the secret name") == []
    assert named(memory, "S-1") == ["S-1"]


def test_without_its_package_nothing_is_known_by_its_names(tmp_path: Path, site: Path, opened: Any) -> None:
    memory = opened()
    say(memory, "proposed", id="S-1", title="Night watch")
    assert named(memory, "Night watch") == ["S-1"]
    memory.close()
    shutil.rmtree(site / "acme_rota")
    shutil.rmtree(site / "acme_rota-0.1.0.dist-info")
    with Memory.open(made_folder(tmp_path / "here")) as alone:
        assert shifts(alone) == [] and named(alone, "Night watch") == []


# Whose names are whose

LIES = {
    "an id without its name": "Entity('x', 'rota_shift', 'X', ids=('S-1',))",
    "an id that is no text": "Entity('x', 'rota_shift', 'X', ids=('x', 7))",
    "ids that are a list": "Entity('x', 'rota_shift', 'X', ids=['x'])",
    "an empty title": "Entity('x', 'rota_shift', 'X', titles=('x', ' '))",
    "hundreds of ids": "Entity('x', 'rota_shift', 'X', ids=tuple(['x'] * 200))",
    "a type that does not live": "Entity('x', 'rota_note', 'X', ids=('x',))",
    "an id of the core's own": "Entity('rota:x', 'task', 'X', merges=True, ids=('rota:x', 'T-1'))",
    "a title of the core's own": "Entity('rota:x', 'task', 'X', merges=True, ids=('rota:x',), titles=('Fix login',))",
}
LYING = ({**TYPES[0], "entities": [SHIFT, "rota_note", "task"], "living": [SHIFT, "task"]}, *TYPES[1:])


@pytest.mark.parametrize("lie", LIES)
def test_a_rule_that_gives_names_that_are_not_its_own_loses_its_rows(opened: Any, lie: str) -> None:
    memory = opened(entity=LIES[lie], types=LYING)
    memory.append("task.proposed", {"id": "T-1", "title": "Fix login", "owner": "ann"}, session=SESSION)
    say(memory, "proposed", id="S-1", title="Night watch")
    memory.append("task.completed", {"id": "T-1"}, session=SESSION)
    memory.follow(SESSION)
    rows = memory.recall.backend.current(SESSION, ["task", SHIFT, "rota_note"], AsOf(), 10)
    assert [(row.entity.name, row.entity.properties["status"]) for row in rows] == [("T-1", "completed")]
    assert any("acme-rota" in notice for notice in memory.query("login", SESSION).notices)


def test_two_things_of_one_type_with_names_in_one_event_are_refused(opened: Any) -> None:
    memory = opened(entity="tuple(Entity(name, 'rota_shift', 'X', ids=(name,)) for name in payload['where'])")
    say(memory, "proposed", id="S-1", where="xy")
    assert shifts(memory) == []
    assert any("acme-rota" in notice for notice in memory.query("x", SESSION).notices)
    say(memory, "proposed", id="S-1", where="z")
    assert [row.entity.name for row in shifts(memory)] == ["z"]


def test_a_thing_of_the_core_s_type_has_names_that_begin_with_the_family(opened: Any) -> None:
    entity = "Entity('rota:1', 'task', 'X', payload, merges=True, ids=('rota:1',), titles=('rota:night',))"
    memory = opened(entity=entity, types=LYING)
    memory.append("task.proposed", {"id": "1", "title": "night"}, session=SESSION)
    say(memory, "proposed", id="S-1", guard="ann")
    memory.append("task.completed", {"title": "night"}, session=SESSION)
    memory.follow(SESSION)
    rows = memory.recall.backend.current(SESSION, ["task"], AsOf(), 10)
    assert {row.entity.name: row.entity.properties["status"] for row in rows} == {
        "1": "completed",
        "rota:1": "proposed",
    }


# The manifest, the contract, the check


def manifest_with(**changed: Any) -> bytes:
    manifest = installed.manifest_of(
        "acme-rota", api={"min": "0.4", "max": "0.4"}, provides=PROVIDES, event_types=[{**TYPES[0], **changed}]
    )
    return json.dumps(manifest).encode()


def test_a_living_type_is_one_of_the_entities() -> None:
    with pytest.raises(ManifestError, match=re.escape("event_types[0].living names 'rota_guard', which is not among")):
        parse_manifest(manifest_with(living=["rota_guard"]), "acme-rota")


def test_the_contract_has_the_living_types_and_they_may_only_grow() -> None:
    def items(**changed: Any) -> dict[str, Any]:
        return dict(plugin_contract(parse_manifest(manifest_with(**changed), "acme-rota"), "acme-rota")["items"])

    kinds = {"entities": [SHIFT, "rota_guard"]}
    before, after = items(**kinds), items(**kinds, living=[SHIFT, "rota_guard"])
    assert before["event rota.shift.proposed"]["living"] == [SHIFT]
    assert [change.verdict for change in compare(before, after)] == ["additive"]
    assert [change.verdict for change in compare(after, before)] == ["breaking"]


def test_the_check_finds_names_that_are_not_the_familys_own(opened: Any) -> None:
    memory = opened(entity="Entity('x', 'rota_shift', 'X', ids=('S-1',))")
    host: PluginHost = memory.recall.host
    (problem,) = check_plugin(host, host.roster.row("acme-rota"))
    assert (problem.stage, "not its own to write" in problem.error) == ("call", True)
