"""Checks of `projection_backends`: one short function for each promise, in one file as the list of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, TypeVar

from zaxy.api.models import (
    AsOf,
    Closing,
    Edge,
    EdgeRow,
    Entity,
    EntityRef,
    EntityRow,
    ExtractedEvent,
    Extraction,
    GraphStats,
)
from zaxy.api.points import ProjectionBackend
from zaxy_testkit.checks import Case, Workbench, check, expect, followers
from zaxy_testkit.checks.followers import follow, moment, sample_event
from zaxy_testkit.checks.shape import check_shape

Row = TypeVar("Row", EntityRow, EdgeRow)

POINT = "projection_backends"
SESSION = "graph"
NOW = AsOf()  # after all times: what has no end
ADA = EntityRef("person", "ada")


@dataclass(frozen=True)
class ProjectionBackendCase(Case):
    """Nothing but how to make it: the checks bring the graph that it is tried on."""


def check_graph(function: Callable[[ProjectionBackend], None]) -> Callable[[Any, Workbench], None]:
    """Register a check of a backend that is made for it, without any rows, and closed when it is done."""

    @wraps(function)
    def run(case: ProjectionBackendCase, bench: Workbench) -> None:
        with closing(bench.make(case)) as backend:
            function(backend)

    return check(POINT)(run)


def sample(seq: int, *rows: Entity | Edge, closings: Sequence[Closing] = (), session: str = SESSION) -> ExtractedEvent:
    """The event `seq`, of the time `moment(seq)`, and what was extracted from it."""
    entities = tuple(row for row in rows if isinstance(row, Entity))
    edges = tuple(row for row in rows if isinstance(row, Edge))
    event = sample_event(session, seq, event_type="note.taken", actor="tester", payload={"text": f"note {seq}"})
    return ExtractedEvent(event, Extraction(entities, edges, tuple(closings)))


def feed(backend: ProjectionBackend, *events: ExtractedEvent) -> None:
    """Feed the events to the backend, with empty events in between: a batch has no gaps."""
    known = {extracted.event.seq: extracted for extracted in events}
    session = events[0].event.session
    cursor = backend.cursor(session)
    seqs = range(cursor.seq + 1 if cursor else 1, max(known) + 1)
    follow(backend, [known.get(seq) or sample(seq, session=session) for seq in seqs])


def person(name: str, summary: str = "somebody", observed_at: str = "") -> Entity:
    return Entity(name, "person", summary, observed_at=observed_at)


def link(source: str, target: str, relation: str = "knows", evidence: str = "") -> Edge:
    return Edge(EntityRef("person", source), EntityRef("person", target), relation, evidence=evidence)


def summaries(rows: Iterable[EntityRow]) -> list[str]:
    return [row.entity.summary for row in rows]


def names(rows: Iterable[EntityRow]) -> list[str]:
    return [row.entity.name for row in rows]


def steps(rows: Iterable[EdgeRow]) -> list[tuple[int, str]]:
    return [(row.depth, f"{row.edge.source.name}-{row.edge.target.name}") for row in rows]


def only(rows: Sequence[Row], what: str) -> Row:
    expect(len(rows) == 1, f"one row was expected, {what}, and there are {len(rows)}: {list(rows)}")
    return rows[0]


def ada(backend: ProjectionBackend, as_of: AsOf = NOW) -> list[str]:
    """What the backend says of Ada at a moment."""
    return summaries(backend.entities(SESSION, ["ada"], as_of, 10))


def edges_around(
    backend: ProjectionBackend,
    start: EntityRef = ADA,
    *,
    relations: Sequence[str] = (),
    depth: int = 1,
    as_of: AsOf = NOW,
    limit: int = 10,
) -> Sequence[EdgeRow]:
    return backend.neighbours(SESSION, [start], relations=relations, depth=depth, as_of=as_of, limit=limit)


def expect_windows(backend: ProjectionBackend, wanted: dict[str, tuple[str, str, int, int | None]]) -> None:
    """Fail unless Ada's versions have these windows: summary to valid_from, valid_to, opened_seq, closed_seq."""
    for summary, window in wanted.items():
        rows = [r for r in backend.entities(SESSION, ["ada"], AsOf(window[0]), 10) if r.entity.summary == summary]
        row = only(rows, f"{summary!r} at its beginning, {window[0]}")
        found = (row.valid_from, row.valid_to, row.opened_seq, row.closed_seq)
        expect(found == window, f"{summary!r} was expected with (from, to, opened, closed) {window}, and has {found}")


check_shape(POINT)
for each in followers.CHECKS:
    check(POINT)(each)


@check_graph
def a_row_carries_what_its_event_says(backend: ProjectionBackend) -> None:
    """Keep every field of an entity, its properties as nested as they came, and the seq, hash and time of its event."""
    properties: dict[str, object] = {"born": 1815, "of": ["London", None], "works": {"écrit": True, "share": 0.5}}
    event = sample(3, Entity("Ada Lovelace", "person", "wrote the first program", properties))
    feed(backend, event)
    row = only(backend.entities(SESSION, ["Ada Lovelace"], NOW, 10), "the one of event 3")
    found = (row.entity.name, row.entity.entity_type, row.entity.summary, dict(row.entity.properties))
    wanted = ("Ada Lovelace", "person", "wrote the first program", properties)
    expect(found == wanted, f"the entity was {wanted} and came back as {found}")
    window = (row.valid_from, row.valid_to, row.opened_seq, row.closed_seq, row.event_hash)
    expected = (moment(3), "", 3, None, event.event.hash)
    expect(window == expected, f"(from, to, opened, closed, hash) must be {expected}, and is {window}")


@check_graph
def an_edge_carries_what_its_event_says(backend: ProjectionBackend) -> None:
    """Keep every field of an edge, and the seq, hash and time of its event: answers cite them."""
    edge = Edge(ADA, EntityRef("engine", "Analytical Engine"), "wrote_for", 0.75, True, "co-occurrence", "letter 12")
    event = sample(3, edge)
    feed(backend, event)
    row = only(edges_around(backend), "the one of event 3")
    fields = ("source", "target", "relation_type", "confidence", "inferred", "inference_method", "evidence")
    found, wanted = ([getattr(of, name) for name in fields] for of in (row.edge, edge))
    expect(found == wanted, f"the edge was {wanted} and came back as {found}")
    window = (row.valid_from, row.valid_to, row.opened_seq, row.closed_seq, row.event_hash)
    expected = (moment(3), "", 3, None, event.event.hash)
    expect(window == expected, f"(from, to, opened, closed, hash) must be {expected}, and is {window}")


@check_graph
def a_row_begins_when_it_is_said_to_have_begun(backend: ProjectionBackend) -> None:
    """Ask `zaxy.api.beginning`, and keep valid_from and valid_to of the version that `zaxy.api.open_version` opens."""
    past = Edge(ADA, EntityRef("person", "bob"), "knows", valid_from=moment(2), valid_to=moment(4))
    feed(backend, sample(9, person("ada", observed_at=moment(2)), past))
    row = only(backend.entities(SESSION, ["ada"], NOW, 10), "the one of event 3")
    expect(row.valid_from == moment(2), f"valid_from must be observed_at, {moment(2)}, and is {row.valid_from}")
    found = [steps(edges_around(backend, as_of=AsOf(moment(t)))) for t in (1, 2, 3, 4)]
    held = [(1, "ada-bob")]
    expect(found == [[], held, held, []], f"the edge must hold in minutes 2 and 3 of 1 to 4, and gave {found}")
    expect(not edges_around(backend), "an edge with an end must not hold after all times")


@check_graph
def names_match_after_nfkc_trimming_and_case_folding(backend: ProjectionBackend) -> None:
    """Store unicodedata.normalize("NFKC", name).strip().casefold() beside the name, and look that up."""
    name = " Große Straße Ⅳ"
    feed(backend, sample(1, person(name, "first")))
    for asked in (name, "GROSSE STRASSE IV", "große straße iv  ", "Ｇroße Straße Ⅳ"):
        found = summaries(backend.entities(SESSION, [asked], NOW, 10))
        expect(found == ["first"], f"{asked!r} must find {name!r}, and found {found}")
    for asked in ("große", "große straße i", ""):
        found = summaries(backend.entities(SESSION, [asked], NOW, 10))
        expect(found == [], f"{asked!r} is another name than {name!r}, and found {found}")
    feed(backend, sample(2, person("GROSSE STRASSE IV", "second")))
    found = summaries(backend.entities(SESSION, [name], NOW, 10))
    expect(found == ["second"], f"another spelling is the same thing: only 'second' was expected, not {found}")


@check_graph
def a_name_finds_entities_of_every_type(backend: ProjectionBackend) -> None:
    """Look names up alone, and keep types apart: a person and a ship of one name are two things, not two versions."""
    feed(backend, sample(1, person("ada"), person("bob")), sample(2, Entity("Ada", "ship", "sails")))
    found = sorted(r.entity.entity_type for r in backend.entities(SESSION, ["ada", "nobody"], NOW, 10))
    expect(found == ["person", "ship"], f"'ada' is a person and a ship, and gave {found}")


@check_graph
def other_content_closes_the_old_version(backend: ProjectionBackend) -> None:
    """Store what `zaxy.api.open_version` ends: valid_to is the new valid_from, closed_seq the new seq."""
    feed(backend, sample(1, person("ada", "old")), sample(5, person("ada", "new")))
    expect_windows(backend, {"old": (moment(1), moment(5), 1, 5), "new": (moment(5), "", 5, None)})
    expect(ada(backend) == ["new"], f"only 'new' must be open now, not {ada(backend)}")


@check_graph
def other_properties_are_other_content(backend: ProjectionBackend) -> None:
    """Keep the content of a version as it is given to you: it is what `zaxy.api.open_version` compares with."""
    one, two = {"a": 1, "b": 2}, {"a": 1, "b": 3}
    feed(backend, sample(1, Entity("ada", "person", "same", one)), sample(2, Entity("ada", "person", "same", two)))
    stats = backend.stats(SESSION)
    expect(stats.entities == 2, f"other properties must open a second version, and there are {stats.entities}")
    feed(backend, sample(3, Entity("ada", "person", "same", {"b": 3, "a": 1})))
    stats = backend.stats(SESSION)
    expect(stats.entities == 2, f"keys in another order are the same content, and made {stats.entities} versions")


@check_graph
def unchanged_content_opens_no_new_version(backend: ProjectionBackend) -> None:
    """Write nothing when an entity or an edge comes again as it is: an actor comes with every event of a log."""
    again = person("ada"), link("ada", "bob")
    feed(backend, *[sample(seq, *again) for seq in range(1, 6)])
    stats = backend.stats(SESSION)
    expect(stats == GraphStats(1, 1, 1, 1), f"one entity and one edge, 5 times the same, must be 1 row each: {stats}")
    row = only(backend.entities(SESSION, ["ada"], NOW, 10), "the one of event 1")
    expect(row.opened_seq == 1, f"the row must stay that of event 1, and is of event {row.opened_seq}")


@check_graph
def a_new_version_copies_no_edges(backend: ProjectionBackend) -> None:
    """Tie edges to an entity's type and name, not to a version of it: they then need no copy when it changes."""
    revised = [sample(seq, person("ada", f"revision {seq}")) for seq in range(2, 8)]
    feed(backend, sample(1, person("ada"), link("ada", "bob"), link("eve", "ada")), *revised)
    stats = backend.stats(SESSION)
    expect((stats.edges, stats.open_edges) == (2, 2), f"there were 2 edges, and after new versions there are {stats}")
    found = sorted(steps(edges_around(backend)))
    expect(found == [(1, "ada-bob"), (1, "eve-ada")], f"both edges must still be there, and there are {found}")


@check_graph
def an_edge_with_other_content_closes_the_old_one(backend: ProjectionBackend) -> None:
    """Treat edges like entities: the same ends and relation with other content are a new version of one edge."""
    feed(backend, sample(1, link("ada", "bob", evidence="old")), sample(5, link("ada", "bob", evidence="new")))
    found = {t: edges_around(backend, as_of=AsOf(moment(t))) for t in (4, 5)}
    evidence = {t: [row.edge.evidence for row in rows] for t, rows in found.items()}
    expect(evidence == {4: ["old"], 5: ["new"]}, f"'old' until minute 5 and then 'new' was expected, not {evidence}")
    old = (found[4][0].valid_to, found[4][0].closed_seq)
    expect(old == (moment(5), 5), f"the old edge must end at {moment(5)} by event 5, and has {old}")


@check_graph
def it_gives_what_was_true_at_a_time(backend: ProjectionBackend) -> None:
    """A row holds at t if valid_from <= t and its valid_to is empty or t < valid_to: the end itself is outside."""
    feed(backend, sample(2, person("ada", "old")), sample(5, person("ada", "new")))
    found = {minute: ada(backend, AsOf(moment(minute))) for minute in (1, 2, 4, 5, 9)}
    wanted = {1: [], 2: ["old"], 4: ["old"], 5: ["new"], 9: ["new"]}
    expect(found == wanted, f"by minute {wanted} was true, and the answers are {found}")


@check_graph
def it_gives_what_was_known_after_an_event(backend: ProjectionBackend) -> None:
    """Leave out rows opened after `known_at`; give each row to `zaxy.api.seen`, which shows its end as known then."""
    feed(backend, sample(2, person("ada", "old")), sample(5, person("ada", "new")))
    found = {seq: ada(backend, AsOf(known_at=seq)) for seq in (0, 1, 2, 4, 5, 9)}
    wanted = {0: [], 1: [], 2: ["old"], 4: ["old"], 5: ["new"], 9: ["new"]}
    expect(found == wanted, f"after these events {wanted} was known, and the answers are {found}")
    row = only(backend.entities(SESSION, ["ada"], AsOf(known_at=4), 10), "known after event 4")
    window = (row.valid_to, row.closed_seq)
    expect(window == ("", None), f"after event 4 the row was open, ('', None), and is shown with {window}")


@check_graph
def it_combines_what_was_true_with_what_was_known(backend: ProjectionBackend) -> None:
    """Apply both conditions at once: a later event may say what was true long before it."""
    feed(backend, sample(6, person("ada", "believed")), sample(9, person("ada", "true", observed_at=moment(7))))
    moments = [AsOf(moment(8), 8), AsOf(moment(8), 9), AsOf(moment(6), 9), AsOf(moment(5), 9), AsOf(moment(8), 5)]
    found = [ada(backend, as_of) for as_of in moments]
    wanted = [["believed"], ["true"], ["believed"], [], []]
    expect(found == wanted, f"at {moments} the answers must be {wanted}, and are {found}")


@check_graph
def a_closing_of_an_entity_closes_its_open_rows(backend: ProjectionBackend) -> None:
    """Give the entity's versions, found by type and folded name, to `zaxy.api.end_versions`, and delete nothing."""
    ends = Closing(moment(4), entity=EntityRef("person", "ADA"))
    feed(backend, sample(1, person("ada"), person("bob"), Entity("ada", "ship", "sails")), sample(6, closings=[ends]))
    found = [(r.entity.entity_type, r.entity.name) for r in backend.current(SESSION, ["person", "ship"], NOW, 10)]
    expect(found == [("person", "bob"), ("ship", "ada")], f"all but the person 'ada' must stay open, and {found} did")
    row = only(backend.entities(SESSION, ["ada"], AsOf(moment(3), 9), 10)[:1], "before the closing")
    window = (row.valid_to, row.closed_seq)
    expect(window == (moment(4), 6), f"(valid_to, closed_seq) must be {(moment(4), 6)}, and is {window}")
    expect(backend.stats(SESSION).entities == 3, f"there were 3 rows, and now there are {backend.stats(SESSION)}")


@check_graph
def a_closing_of_an_entity_leaves_its_edges(backend: ProjectionBackend) -> None:
    """Do not touch edges when an entity is closed: there may be any number of them, and what they say stays true."""
    feed(backend, sample(1, person("ada"), link("ada", "bob")), sample(2, closings=[Closing(moment(2), entity=ADA)]))
    found = steps(edges_around(backend))
    expect(found == [(1, "ada-bob")], f"the closed entity's edge must still be open, and there is {found}")


@check_graph
def a_closing_of_an_event_closes_the_rows_it_opened(backend: ProjectionBackend) -> None:
    """Give the rows with that opened_seq, edges included and no others, to `zaxy.api.end_versions`."""
    rows = person("ada"), person("bob"), link("ada", "bob")
    feed(backend, sample(1, *rows), sample(2, person("eve"), link("eve", "bob")))
    feed(backend, sample(6, closings=[Closing(moment(4), seq=1)]))
    stats = backend.stats(SESSION)
    expect(stats == GraphStats(3, 2, 1, 1), f"of 3 entities and 2 edges 1 each must stay open, and there are {stats}")
    before = AsOf(moment(3))
    closed = [*backend.entities(SESSION, ["ada", "bob"], before, 10)]
    edges = [r for r in edges_around(backend, as_of=before) if r.opened_seq == 1]
    expect((len(closed), len(edges)) == (2, 1), f"before the closing its rows held, and there are {closed} {edges}")
    ended: list[EntityRow | EdgeRow] = [*closed, *edges]
    windows = {(row.valid_to, row.closed_seq) for row in ended}
    expect(windows == {(moment(4), 6)}, f"(valid_to, closed_seq) must be {(moment(4), 6)}, and is {windows}")


@check_graph
def an_extractor_ends_no_rows_but_its_own(backend: ProjectionBackend) -> None:
    """Hand closings on as they are, and properties too: by both `zaxy.api.end_versions` knows whose row it is."""
    own, other = (Entity(name, "person", "somebody", {"extractor": name}) for name in ("ada", "bob"))
    closings = [Closing(moment(2), seq=1, extractor="ada"), Closing(moment(2), EntityRef("person", "bob"), None, "ada")]
    feed(backend, sample(1, own, other, person("eve")), sample(2, closings=closings))
    found = names(backend.current(SESSION, ["person"], NOW, 10))
    expect(found == ["bob", "eve"], f"the extractor 'ada' made one row of three and ended it; open are {found}")


@check_graph
def a_closing_of_an_entity_and_an_event_closes_only_the_row_of_both(backend: ProjectionBackend) -> None:
    """Hand closings on as they are: by its `seq`, `zaxy.api.end_versions` knows which row of the entity is meant."""
    feed(backend, sample(1, person("ada"), person("bob")), sample(2, person("eve")))
    closings = [Closing(moment(3), ADA, 1), Closing(moment(3), EntityRef("person", "eve"), 1)]
    feed(backend, sample(3, closings=closings))
    found = sorted(names(backend.current(SESSION, ["person"], NOW, 10)))
    expect(found == ["bob", "eve"], f"event 1 opened 'ada', and not 'eve'; open are {found}")


@check_graph
def a_closing_spares_what_its_own_event_opens(backend: ProjectionBackend) -> None:
    """Carry out an event's closings before you open its rows: it may end a thing and begin it again."""
    again = sample(3, person("ada", "new"), closings=[Closing(moment(3), entity=ADA)])
    feed(backend, sample(1, person("ada", "old")), again)
    expect(ada(backend) == ["new"], f"'new' must be open after its own event, and there is {ada(backend)}")


@check_graph
def a_closing_dated_before_a_row_closes_it_too(backend: ProjectionBackend) -> None:
    """Close every open row that a closing names, whenever it began: closed before it began, it holds at no time."""
    feed(backend, sample(5, person("ada")), sample(6, closings=[Closing(moment(2), entity=ADA)]))
    found = [ada(backend, as_of) for as_of in (NOW, AsOf(moment(3)), AsOf(moment(5)), AsOf(moment(9)))]
    expect(found == [[], [], [], []], f"a row closed before it began holds at no time, and there is {found}")
    found = [ada(backend, AsOf(known_at=5)), ada(backend, AsOf(moment(5), 5))]
    expect(found == [["somebody"], ["somebody"]], f"before it was closed the row held, and there is {found}")


@check_graph
def a_closed_entity_opens_again_when_it_comes_again(backend: ProjectionBackend) -> None:
    """Compare with the version that holds, not with the last one: what was closed and comes again opens a version."""
    feed(
        backend,
        sample(1, person("ada")),
        sample(3, closings=[Closing(moment(3), entity=ADA)]),
        sample(5, person("ada")),
    )
    found = {minute: len(ada(backend, AsOf(moment(minute)))) for minute in (2, 3, 4, 5)}
    expect(found == {2: 1, 3: 0, 4: 0, 5: 1}, f"it held in minutes 2 and 5, not in 3 and 4, and gave {found}")


@check_graph
def a_back_dated_event_is_filed_in_its_place(backend: ProjectionBackend) -> None:
    """Fetch the first version that begins later, too, and keep valid_to and closed_seq of the version that opens."""
    feed(backend, sample(5, person("ada", "current")), sample(9, person("ada", "earlier", observed_at=moment(2))))
    expect(ada(backend) == ["current"], f"only 'current' must be open now, not {ada(backend)}")
    expect_windows(backend, {"earlier": (moment(2), moment(5), 9, 9), "current": (moment(5), "", 5, None)})


@check_graph
def a_back_dated_event_ends_the_version_it_falls_into(backend: ProjectionBackend) -> None:
    """Fetch the last version that begins by then: it ends where the new one begins, so that one holds at a time."""
    between = sample(9, person("ada", "between", observed_at=moment(4)))
    feed(backend, sample(2, person("ada", "first")), sample(6, person("ada", "last")), between)
    found = {minute: ada(backend, AsOf(moment(minute))) for minute in (2, 3, 4, 5, 6)}
    wanted = {2: ["first"], 3: ["first"], 4: ["between"], 5: ["between"], 6: ["last"]}
    expect(found == wanted, f"by minute {wanted} was true, and the answers are {found}")
    expect_windows(backend, {"first": (moment(2), moment(4), 2, 9), "between": (moment(4), moment(6), 9, 9)})


@check_graph
def a_moved_end_is_seen_only_by_reads_that_know_of_it(backend: ProjectionBackend) -> None:
    """Keep the `earlier` ends of a version that ends again: a read as known before that must still see them."""
    between = sample(9, person("ada", "between", observed_at=moment(4)))
    feed(backend, sample(2, person("ada", "first")), sample(6, person("ada", "last")), between)
    asked = [AsOf(moment(5), known) for known in (2, 5, 6, 8, 9)]
    found = [ada(backend, as_of) for as_of in asked]
    wanted = [["first"], ["first"], ["first"], ["first"], ["between"]]
    expect(found == wanted, f"at {asked} the answers must be {wanted}, and are {found}")
    reads = {
        "entities": backend.entities(SESSION, ["ada"], AsOf(moment(5), 8), 10),
        "current": backend.current(SESSION, ["person"], AsOf(moment(5), 8), 10),
        "rows_of_events": backend.rows_of_events(SESSION, [2], AsOf(moment(5), 8)),
    }
    for read, rows in reads.items():
        window = [(row.valid_to, row.closed_seq) for row in rows]
        expect(window == [(moment(6), 6)], f"{read}: event 6 had ended it at {moment(6)}, and it has {window}")


@check_graph
def a_moved_end_of_an_edge_is_seen_too(backend: ProjectionBackend) -> None:
    """Keep the `earlier` ends of edges as you keep those of entities."""
    edges = [replace(link("ada", "bob", evidence=str(t)), valid_from=moment(t)) for t in (2, 6, 4)]
    feed(backend, *[sample(seq, edge) for seq, edge in zip((2, 6, 9), edges, strict=True)])
    asked = [AsOf(moment(5), 5), AsOf(moment(5), 8), AsOf(moment(5), 9), AsOf(moment(6), 8)]
    found = [[r.edge.evidence for r in edges_around(backend, as_of=of)] for of in asked]
    wanted = [["2"], ["2"], ["4"], ["6"]]
    expect(found == wanted, f"at {asked} the edges must be {wanted}, and are {found}")


@check_graph
def a_row_of_the_future_holds_only_then(backend: ProjectionBackend) -> None:
    """Ask `zaxy.api.holds`, and find rows whose end is still to come: they hold although they have an end."""
    tomorrow = sample(3, person("ada", "new", observed_at=moment(30)), link("eve", "ada"))
    feed(backend, sample(1, person("ada", "old"), link("ada", "bob")), tomorrow)
    feed(backend, sample(4, closings=[Closing(moment(30), seq=1)]))
    found = [
        [
            *summaries(backend.entities(SESSION, ["ada"], as_of, 10)),
            *summaries(backend.current(SESSION, ["person"], as_of, 10)),
            *summaries(backend.rows_of_events(SESSION, [1, 3], as_of)),
            *(name for _, name in steps(edges_around(backend, relations=["knows"], as_of=as_of, limit=1))),
        ]
        for as_of in (AsOf(moment(29)), AsOf(moment(29), 9), AsOf(moment(30)), NOW)
    ]
    now, then = ["old", "old", "old", "eve-ada"], ["new", "new", "new", "eve-ada"]
    expect(found == [now, now, then, then], f"'old' until minute 30 and then 'new' was expected, and it is {found}")


@check_graph
def a_closing_ends_what_is_still_to_come(backend: ProjectionBackend) -> None:
    """Fetch all versions that begin after the event's time, besides the last before it: a closing ends those too."""
    future = [person("ada", f"later {t}", observed_at=moment(t)) for t in (30, 40)]
    feed(backend, sample(1, person("ada", "old")), sample(2, *future))
    feed(backend, sample(4, closings=[Closing(moment(4), entity=ADA)]))
    found = [ada(backend, AsOf(moment(t))) for t in (3, 4, 30, 45)]
    expect(found == [["old"], [], [], []], f"after minute 4 nothing must hold, and it is {found}")
    found = [ada(backend, AsOf(moment(t), 3)) for t in (4, 30, 45)]
    expect(found == [["old"], ["later 30"], ["later 40"]], f"before the closing it was otherwise: {found}")


@check_graph
def a_row_that_merges_keeps_what_it_does_not_mention(backend: ProjectionBackend) -> None:
    """Store summary and properties from the content of the version that opens, not from the row that came."""
    first = Entity("ada", "person", "a programmer", {"born": 1815, "city": "London", "of": {"x": [1]}})
    later = Entity("ada", "person", "ada", {"city": None, "died": 1852}, merges=True, default_summary=True)
    feed(backend, sample(1, first), sample(5, later), sample(6, replace(later, properties={"died": 1852})))
    row = only(backend.entities(SESSION, ["ada"], NOW, 10), "the merged one")
    found = (row.entity.summary, dict(row.entity.properties), row.opened_seq)
    wanted = ("a programmer", {"born": 1815, "of": {"x": [1]}, "died": 1852, "summary_seq": 1}, 5)
    expect(found == wanted, f"the merged row must be {wanted}, and is {found}")
    expect_windows(backend, {"a programmer": (moment(1), moment(5), 1, 5)})


@check_graph
def rows_come_newest_first_then_by_type_then_by_name(backend: ProjectionBackend) -> None:
    """Order by opened_seq descending, then entity_type, then name, in every read: answers must not differ by engine."""
    first = [person("dora"), Entity("carl", "zebra", "z"), person("bert")]
    second = [Entity("alma", "zebra", "z"), person("emil"), person("cleo")]
    wanted = ["cleo", "emil", "alma", "bert", "dora", "carl"]
    feed(backend, sample(1, *first), sample(2, *second))
    reads = {
        "entities": backend.entities(SESSION, sorted(wanted), NOW, 10),
        "rows_of_events": backend.rows_of_events(SESSION, [1, 2], NOW),
        "current": backend.current(SESSION, ["zebra", "person"], NOW, 10),
    }
    for read, rows in reads.items():
        expect(names(rows) == wanted, f"{read} must come in the order {wanted}, and came as {names(rows)}")


@check_graph
def names_beyond_ascii_come_by_their_code_points(backend: ProjectionBackend) -> None:
    """Compare the folded names as Python compares texts, not by the rules of a language and not as UTF-16."""
    wanted = ["anna", "zoe", "Ärger", "Östen", "жук", "灯台", "\ufd3eblume", "😀"]
    feed(backend, sample(1, *map(person, reversed(wanted))))
    for read, rows in {
        "entities": backend.entities(SESSION, wanted, NOW, 10),
        "rows_of_events": backend.rows_of_events(SESSION, [1], NOW),
        "current": backend.current(SESSION, ["person"], NOW, 10),
    }.items():
        expect(names(rows) == wanted, f"{read} must come in the order {wanted}, and came as {names(rows)}")


@check_graph
def edges_of_one_event_come_by_relation_then_by_their_ends(backend: ProjectionBackend) -> None:
    """Order edges of one step and one event by relation, source and target, names in the form in which they match."""
    edges = [link("hub", "Östen"), link("hub", "zoe"), link("Ärger", "hub"), link("hub", "anna", "admires")]
    feed(backend, sample(1, *edges))
    found = [name for _, name in steps(edges_around(backend, EntityRef("person", "hub")))]
    wanted = ["hub-anna", "hub-zoe", "hub-Östen", "Ärger-hub"]
    expect(found == wanted, f"the edges must come in the order {wanted}, and came as {found}")


@check_graph
def the_digest_changes_with_an_edge(backend: ProjectionBackend) -> None:
    """Hash the edges too, with their ends, relation, content and window: a lost edge must show."""
    digests = {}
    for case, edges in {
        "no edge": [],
        "an edge": [link("ada", "bob")],
        "the other way": [link("bob", "ada")],
        "another relation": [link("ada", "bob", "hired")],
        "other evidence": [link("ada", "bob", evidence="a letter")],
    }.items():
        backend.wipe(SESSION)
        feed(backend, sample(1, person("ada"), person("bob"), *edges))
        digests[case] = backend.digest(SESSION)
    expect(len(set(digests.values())) == len(digests), f"each of these needs a digest of its own: {digests}")


@check_graph
def a_limit_keeps_the_first_rows(backend: ProjectionBackend) -> None:
    """Order first, then cut: a limit that cuts first returns whatever the engine happened to find."""
    people = ["dora", "bert", "emil", "cleo", "alma"]
    events = [sample(seq, person(name), link("hub", name)) for seq, name in enumerate(people, start=1)]
    wanted = ["alma", "cleo"]
    feed(backend, *events)
    found = {
        "entities": names(backend.entities(SESSION, people, NOW, 2)),
        "current": names(backend.current(SESSION, ["person"], NOW, 2)),
        "neighbours": [row.edge.target.name for row in edges_around(backend, EntityRef("person", "hub"), limit=2)],
    }
    for read, rows in found.items():
        expect(rows == wanted, f"{read} with a limit of 2 must give the newest, {wanted}, and gave {rows}")


@check_graph
def rows_of_events_are_those_that_the_events_opened(backend: ProjectionBackend) -> None:
    """Select by opened_seq, and leave out what does not hold at the moment asked for."""
    events = [sample(1, person("ada", "old"), person("bob")), sample(2, person("eve")), sample(3, person("ada", "new"))]
    feed(backend, *events)
    asked = [([1, 3], NOW), ([1], NOW), ([1], AsOf(moment(2))), ([2, 7], NOW), ([], NOW)]
    found = [summaries(backend.rows_of_events(SESSION, seqs, as_of)) for seqs, as_of in asked]
    wanted = [["new", "somebody"], ["somebody"], ["old", "somebody"], ["somebody"], []]
    expect(found == wanted, f"for {asked} the rows must be {wanted}, and are {found}")


@check_graph
def current_rows_are_of_the_types_asked_for(backend: ProjectionBackend) -> None:
    """Select by entity_type, exactly as written, and by what holds at the moment; no type asked for gives no row."""
    rows = [Entity(kind, kind, kind) for kind in ("task", "goal", "Task", "decision")]
    feed(backend, sample(2, *rows), sample(4, Entity("goal", "goal", "changed")))
    asked = [(["task", "goal"], NOW), (["goal"], AsOf(moment(3))), (["goal"], AsOf(moment(1))), ([], NOW)]
    found = [summaries(backend.current(SESSION, types, as_of, 10)) for types, as_of in asked]
    wanted = [["changed", "task"], ["goal"], [], []]
    expect(found == wanted, f"for {asked} the rows must be {wanted}, and are {found}")


@check_graph
def neighbours_are_found_either_way_along_an_edge(backend: ProjectionBackend) -> None:
    """Follow edges from source to target and from target to source, and compare names folded here too."""
    feed(backend, sample(1, link("ada", "bob"), link("eve", "ada"), link("eve", "bob")))
    found = sorted(steps(edges_around(backend, EntityRef("person", " ADA "))))
    wanted = [(1, "ada-bob"), (1, "eve-ada")]
    expect(found == wanted, f"the edges of 'ada' are {wanted}, and {found} came")


@check_graph
def neighbours_keep_to_the_relations_asked_for(backend: ProjectionBackend) -> None:
    """Walk only edges of the given relations, at every step; an empty list means all of them."""
    edges = [link("ada", "bob", "knows"), link("bob", "eve", "knows"), link("ada", "dan", "hired"), link("dan", "eve")]
    feed(backend, sample(1, *edges))
    asked: list[list[str]] = [["hired"], ["knows"], ["hired", "knows"], ["met"], []]
    found = {" ".join(of): len(edges_around(backend, relations=of, depth=2)) for of in asked}
    wanted = {"hired": 1, "knows": 2, "hired knows": 4, "met": 0, "": 4}
    expect(found == wanted, f"the edges by relation are {wanted}, and {found} came")


@check_graph
def neighbours_reach_as_far_as_the_depth(backend: ProjectionBackend) -> None:
    """Take as many steps as `depth` says and no more, and number each edge with the step that reached it."""
    chain = [link(*pair) for pair in ("ab", "bc", "cd", "de")]
    feed(backend, sample(1, *chain))
    found = {depth: steps(edges_around(backend, EntityRef("person", "a"), depth=depth)) for depth in (1, 2, 3)}
    whole = [(1, "a-b"), (2, "b-c"), (3, "c-d")]
    wanted = {depth: whole[:depth] for depth in (1, 2, 3)}
    expect(found == wanted, f"by depth {wanted} was expected, and {found} came")


@check_graph
def neighbours_come_nearest_first_and_once(backend: ProjectionBackend) -> None:
    """Order by step, then by newest event; give an edge at its nearest step only, also in a graph with circles."""
    events = [
        sample(1, link("a", "b")),
        sample(2, link("b", "c")),
        sample(3, link("c", "a")),
        sample(4, link("b", "d")),
    ]
    feed(backend, *events)
    found = steps(edges_around(backend, EntityRef("person", "a"), depth=4))
    wanted = [(1, "c-a"), (1, "a-b"), (2, "b-d"), (2, "b-c")]
    expect(found == wanted, f"{wanted} was expected, nearest first, and {found} came")


@check_graph
def neighbours_hold_at_the_moment_asked_for(backend: ProjectionBackend) -> None:
    """Walk only over edges that hold at the moment: what lies behind a closed edge is not reached through it."""
    ends = sample(5, closings=[Closing(moment(5), seq=2)])
    feed(backend, sample(2, link("ada", "bob")), sample(3, link("bob", "eve")), ends)
    asked = [NOW, AsOf(moment(4)), AsOf(moment(2)), AsOf(known_at=4), AsOf(known_at=2)]
    found = [[name for _, name in steps(edges_around(backend, depth=2, as_of=of))] for of in asked]
    both = ["ada-bob", "bob-eve"]
    wanted = [[], both, both[:1], both, both[:1]]
    expect(found == wanted, f"at {asked} the edges must be {wanted}, and are {found}")


@check_graph
def stats_count_all_rows_and_the_open_ones(backend: ProjectionBackend) -> None:
    """Count closed rows too in `entities` and `edges`; `open_entities` and `open_edges` are those without an end."""
    events = [sample(1, person("ada", "old"), person("bob"), link("ada", "bob")), sample(2, person("ada", "new"))]
    feed(backend, *events, sample(3, link("eve", "bob"), closings=[Closing(moment(3), seq=1)]))
    found = backend.stats(SESSION)
    wanted = GraphStats(entities=3, edges=2, open_entities=1, open_edges=1)
    expect(found == wanted, f"the graph has {wanted}, and stats says {found}")


@check_graph
def reads_see_only_their_own_session(backend: ProjectionBackend) -> None:
    """Put the session into the condition of every read; a session that was never applied has no rows, and no error."""
    feed(backend, sample(1, person("ada"), link("ada", "bob"), session="other"))
    found = [
        *backend.entities(SESSION, ["ada"], NOW, 10),
        *backend.rows_of_events(SESSION, [1], NOW),
        *backend.current(SESSION, ["person"], NOW, 10),
        *edges_around(backend, depth=2),
    ]
    stats = backend.stats(SESSION)
    expect(not found, f"a session without events has no rows, and {found} came from another one")
    expect(stats == GraphStats(0, 0, 0, 0), f"a session without events has no rows, and stats says {stats}")
