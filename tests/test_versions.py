"""Which versions open, end and move: by example, and against time painted minute by minute."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from generated_rows import random_events
from reference.dictionary_backend import DictionaryBackend
from zaxy.api import (
    AsOf,
    Closing,
    Edge,
    Entity,
    EntityRef,
    Event,
    ExtractedEvent,
    Version,
    as_known,
    comes_last,
    end_versions,
    folded_name,
    holds,
    last_of,
    open_version,
    seen,
)
from zaxy_testkit.checks import Workbench
from zaxy_testkit.checks.followers import follow, moment, sample_event
from zaxy_testkit.checks.projection_backends import ProjectionBackendCase

ADA = EntityRef("person", "ada")


def event(seq: int) -> Event:
    return sample_event("graph", seq, event_type="note.taken", actor="tester", payload={"text": str(seq)})


def person(summary: str, begins: int | None = None, **more: object) -> Entity:
    return replace(Entity("ada", "person", summary, observed_at="" if begins is None else moment(begins)), **more)


def line(*rows: tuple[int, Entity | Closing]) -> list[Version]:
    """The versions that rows and closings make, each of the event `seq`."""
    versions: dict[int, Version] = {}
    for seq, row in rows:
        if isinstance(row, Closing):
            changed = end_versions(versions.values(), row, event(seq))
        else:
            opened, changed = open_version(versions.values(), row, event(seq))
            if opened:
                versions[len(versions)] = opened._replace(number=len(versions))
        versions.update((version.number, version) for version in changed)
    return list(versions.values())


def windows(versions: list[Version]) -> list[tuple[str, str, str]]:
    """Summary and window of each version, in the order in which they were opened, times as minutes."""

    def minute(time: str) -> str:
        return str(next(m for m in range(600) if moment(m) == time)) if time else ""

    return [(str(of.content[0]), minute(of.valid_from), minute(of.valid_to)) for of in versions]


def closing(at: int) -> Closing:
    return Closing(moment(at), entity=ADA)


# By example


def test_the_first_version_is_open() -> None:
    assert windows(line((3, person("one")))) == [("one", "3", "")]


def test_the_next_version_ends_the_one_before() -> None:
    assert windows(line((3, person("one")), (5, person("two")))) == [("one", "3", "5"), ("two", "5", "")]


def test_the_same_again_changes_nothing() -> None:
    assert windows(line((3, person("one")), (5, person("one")))) == [("one", "3", "")]


def test_a_version_of_the_future_ends_the_one_before_only_then() -> None:
    assert windows(line((3, person("one")), (5, person("two", 50)))) == [("one", "3", "50"), ("two", "50", "")]


def test_an_update_before_a_version_of_the_future_ends_where_that_begins() -> None:
    versions = line((3, person("one")), (5, person("two", 50)), (9, person("three")))
    assert windows(versions) == [("one", "3", "9"), ("two", "50", ""), ("three", "9", "50")]


def test_a_back_dated_version_is_filed_in_its_place_and_closes_nothing_later() -> None:
    versions = line((3, person("one")), (20, person("two")), (30, person("between", 10)))
    assert windows(versions) == [("one", "3", "10"), ("two", "20", ""), ("between", "10", "20")]


def test_a_back_dated_version_keeps_an_end_that_was_set() -> None:
    versions = line((3, person("one")), (9, closing(9)), (30, person("between", 6)))
    assert windows(versions) == [("one", "3", "6"), ("between", "6", "9")]


def test_a_back_dated_version_before_all_others_ends_where_they_begin() -> None:
    assert windows(line((9, person("one")), (20, person("first", 2)))) == [("one", "9", ""), ("first", "2", "9")]


def test_what_was_closed_opens_again() -> None:
    versions = line((3, person("one")), (5, closing(5)), (9, person("one")))
    assert windows(versions) == [("one", "3", "5"), ("one", "9", "")]


def test_a_closing_of_the_future_ends_a_version_only_then() -> None:
    assert windows(line((3, person("one")), (5, closing(50)))) == [("one", "3", "50")]


def test_a_closing_never_makes_a_version_longer() -> None:
    assert windows(line((3, person("one")), (5, closing(40)), (6, closing(50)))) == [("one", "3", "40")]


def test_a_closing_leaves_what_ended_before_its_event() -> None:
    versions = line((3, person("one")), (9, person("two")), (20, closing(5)))
    assert windows(versions) == [("one", "3", "9"), ("two", "9", "5")]


def test_a_void_version_stands_in_nobodys_way() -> None:
    versions = line((3, person("one")), (4, person("two", 50)), (5, closing(5)), (6, person("three")))
    assert [version.is_void for version in versions] == [False, True, False]
    assert windows(versions)[2] == ("three", "6", "")
    assert windows(line((3, person("one")), (4, person("two", 50)), (5, closing(5)), (60, person("three")))) == [
        *(("one", "3", "5"), ("two", "50", "5")),
        ("three", "60", ""),
    ]


def test_the_ends_of_a_version_are_kept_in_the_order_in_which_they_came() -> None:
    first = line((3, person("one")), (20, person("two")), (30, person("x", 10)), (31, person("y", 6)))[0]
    assert (first.valid_to, first.closed_seq) == (moment(6), 31)
    assert first.earlier == ((20, moment(20)), (30, moment(10)))
    known = [as_known(first.valid_to, first.closed_seq, first.earlier, seq) for seq in (3, 20, 29, 30, 31, None)]
    assert known == [
        *(("", None), (moment(20), 20), (moment(20), 20)),
        *((moment(10), 30), (moment(6), 31), (moment(6), 31)),
    ]


def test_an_end_that_moves_within_one_event_leaves_no_trace() -> None:
    rows = ((3, person("one")), (9, person("two")), (9, person("three", 7)))
    first = line(*rows)[0]
    assert (first.valid_to, first.closed_seq, first.earlier) == (moment(7), 9, ())


def test_an_update_keeps_what_it_does_not_mention() -> None:
    update = person("ada", merges=True, default_summary=True, properties={"b": 2, "c": None})
    versions = line((3, person("one", properties={"a": 1, "c": 3})), (5, update))
    assert versions[1].content == ("one", '{"a":1,"b":2,"summary_seq":3}')


def test_an_update_names_the_event_whose_summary_it_keeps_until_one_gives_its_own() -> None:
    kept = [person("ada", merges=True, default_summary=True, properties={"a": number}) for number in (1, 2, 2)]
    own = person("two", merges=True, properties={"a": 3})
    versions = line((3, person("one", merges=True)), (5, kept[0]), (7, kept[1]), (8, kept[2]), (9, own))
    assert [version.content[1] for version in versions] == [
        "{}",
        '{"a":1,"summary_seq":3}',
        '{"a":2,"summary_seq":3}',
        '{"a":3}',
    ]


def test_a_row_does_not_say_itself_whose_summary_it_has() -> None:
    update = person("ada", merges=True, default_summary=True, properties={"summary_seq": 99, "a": 1})
    assert line((3, person("one")), (5, update))[1].content == ("one", '{"a":1,"summary_seq":3}')


def test_an_update_of_nothing_takes_none_away() -> None:
    update = person("ada", merges=True, default_summary=True, properties={"b": 2, "c": None})
    assert line((5, update))[0].content == ("ada", '{"b":2}')


def test_a_back_dated_update_leaves_later_versions_as_they_are() -> None:
    first, second = person("one", properties={"a": 1}), person("one", properties={"a": 2})
    versions = line((3, first), (20, second), (30, person("x", 10, merges=True, properties={"b": 3})))
    assert [version.content[1] for version in versions] == ['{"a":1}', '{"a":2}', '{"a":1,"b":3}']


def test_a_row_that_does_not_merge_replaces_the_whole() -> None:
    versions = line((3, person("one", properties={"a": 1})), (5, person("two", properties={"b": 2})))
    assert versions[1].content == ("two", '{"b":2}')


def test_an_edge_ends_where_it_says_or_where_the_next_begins() -> None:
    bob = EntityRef("person", "bob")
    later = Version(1, moment(50), "", 5, None, ())
    opened, _ = open_version([later], Edge(ADA, bob, "knows", valid_to=moment(40)), event(9))
    assert opened and opened.valid_to == moment(40)
    opened, _ = open_version([later], Edge(ADA, bob, "knows", valid_to=moment(60)), event(9))
    assert opened and (opened.valid_to, opened.closed_seq) == (moment(50), 9)


def test_the_last_version_is_enough_for_what_begins_after_it() -> None:
    versions = line((3, person("one")), (9, person("two")))
    assert last_of(versions) == versions[1]
    assert comes_last(versions[1], moment(9)) and not comes_last(versions[1], moment(8)) and comes_last(None, "")


def test_a_row_holds_from_its_beginning_to_before_its_end() -> None:
    window = (moment(3), moment(9))
    assert [holds(*window, moment(t)) for t in (2, 3, 8, 9)] == [False, True, True, False]
    assert not holds(*window, "") and holds(moment(3), "", "")


def test_a_version_is_not_seen_before_it_was_known() -> None:
    (only,) = line((5, person("one", 2)))
    assert seen(only, AsOf(moment(3), 4)) is None and seen(only, AsOf(moment(3), 5)) == only


# Against a plain reference

FOREVER = 600
"""Minutes: after all times that are generated."""


class Painted:
    """Time as minutes, each of which has the row that holds in it. It knows nothing of ends, orders or versions."""

    def __init__(self) -> None:
        self.cells: list[tuple[int, str, object] | None] = [None] * (FOREVER + 1)

    def open(self, number: int, row: Entity | Edge, now: int) -> None:
        begins = minute_of(row.observed_at if isinstance(row, Entity) else row.valid_from, now)
        holder = self.cells[begins]
        says = _says(row, holder[2], int(holder[1])) if holder else _says(row, None, 0)
        if holder and holder[2] == says:
            return
        until = next((m for m in range(begins, FOREVER + 1) if self.cells[m] is not holder), FOREVER + 1)
        if isinstance(row, Edge) and row.valid_to:
            until = min(until, minute_of(row.valid_to, 0))
            self.clear(holder, begins)
        self.cells[begins:until] = [(number, str(now), says)] * (until - begins)

    def clear(self, holder: object, since: int) -> None:
        self.cells[since:] = (
            [None if cell is holder else cell for cell in self.cells[since:]] if holder else (self.cells[since:])
        )

    def close(self, at: int, now: int, opened: int | None = None) -> None:
        """End what holds now or later, from `at` on; of one event only, if it is named."""
        for row in {id(cell): cell for cell in self.cells[now:] if cell}.values():
            if opened is None or row[1] == str(opened):
                self.clear(row, at)


def minute_of(time: str, otherwise: int) -> int:
    return next(m for m in range(FOREVER) if moment(m) == time) if time else otherwise


def _says(row: Entity | Edge, before: object, opened: int) -> object:
    if isinstance(row, Edge):
        return (row.confidence, row.evidence, row.valid_to)
    if not row.merges:
        return (row.summary, _sorted(row.properties))
    summary, properties = before if isinstance(before, tuple) else ("", "{}")
    held = json.loads(properties)
    given_by = held.pop("summary_seq", opened)
    keeps_summary = before and row.default_summary
    own = summary if keeps_summary else row.summary
    says = {name: value for name, value in {**held, **row.properties}.items() if value is not None}
    if before and (own, _sorted(says)) == (summary, _sorted(held)):
        return before
    return (own, _sorted({**says, "summary_seq": given_by} if keeps_summary else says))


def _sorted(properties: object) -> str:
    return json.dumps(properties, sort_keys=True)


def painted(events: list[ExtractedEvent]) -> dict[object, Painted]:
    lines: dict[object, Painted] = {}
    number = 0
    for extracted in events:
        seq, rows = extracted.event.seq, extracted.rows
        for ends in rows.closings:
            at = minute_of(ends.at, 0)
            if ends.entity:
                key: object = (ends.entity.entity_type, folded_name(ends.entity.name))
                lines.setdefault(key, Painted()).close(at, seq)
            else:
                for of in lines.values():
                    of.close(at, seq, ends.seq)
        for row in (*rows.entities, *rows.edges):
            number += 1
            lines.setdefault(_key(row), Painted()).open(number, row, seq)
    return lines


def _key(row: Entity | Edge) -> object:
    if isinstance(row, Entity):
        return (row.entity_type, folded_name(row.name))
    ends = ((ref.entity_type, folded_name(ref.name)) for ref in (row.source, row.target))
    return (*ends, row.relation_type)


@pytest.mark.parametrize("seed", range(8))
def test_a_graph_says_what_was_painted_and_says_so_for_ever(seed: int, tmp_path: Path) -> None:
    """As known after some events it says what they alone had painted, whatever was filed later."""
    count = 70
    events = random_events(seed, count)
    backend = Workbench(tmp_path).make(ProjectionBackendCase(DictionaryBackend))
    follow(backend, events)
    for known in (5, 20, 45, count):
        plain = painted(events[:known])
        for minute in (1, 10, 30, 45, 60, 69, 80, 200, 450, FOREVER):
            as_of = AsOf(moment(minute) if minute < FOREVER else "", known)
            wanted = {key: of.cells[minute] for key, of in plain.items() if of.cells[minute]}
            rows = backend.current("graph", ("actor", "task", "fact"), as_of, 1000)
            found: dict[object, object] = {
                _key(row.entity): (str(row.opened_seq), (row.entity.summary, _sorted(row.entity.properties)))
                for row in rows
            }
            starts = [EntityRef(*end) for key in plain for end in key[:2] if isinstance(end, tuple)]  # type: ignore[index]
            found |= {
                _key(row.edge): (str(row.opened_seq), (row.edge.confidence, row.edge.evidence, row.edge.valid_to))
                for row in backend.neighbours("graph", starts, relations=[], depth=1, as_of=as_of, limit=1000)
            }
            assert found == {key: cell[1:] for key, cell in wanted.items() if cell}, (known, minute)
