"""Rows of every kind that extractors may give, made from a seed, and every kind of question that a graph is asked."""

from __future__ import annotations

import random

from zaxy.api import AsOf, Closing, Edge, Entity, EntityRef, ExtractedEvent, Extraction, ProjectionBackend
from zaxy_testkit.checks.followers import moment, sample_event

TYPES, NAMES, RELATIONS = (
    ("actor", "task", "fact"),
    ("ada", "Bob", "Café", "dora", "Émile", "zoë'\"\\"),
    ("knows", "made"),
)
HOSTILE = "x'}) MATCH (n) DETACH DELETE n // $key \\ \" \0 \n 漢"


def random_events(seed: int, count: int) -> list[ExtractedEvent]:
    """Events that change, repeat, back-date and close things in every way that the models allow."""
    rnd = random.Random(seed)
    events = []
    for seq in range(1, count + 1):
        event = sample_event("graph", seq, event_type="note.taken", actor="tester", payload={"text": str(seq)})
        entities = tuple(random_entity(rnd) for _ in range(rnd.randint(0, 3)))
        edges = tuple(random_edge(rnd) for _ in range(rnd.randint(0, 3)))
        closings: list[Closing] = []
        if rnd.random() < 0.2:
            closings.append(Closing(moment(rnd.randint(1, count)), entity=random_ref(rnd)))
        if rnd.random() < 0.2:
            closings.append(Closing(moment(rnd.randint(1, count)), seq=rnd.randint(1, seq)))
        events.append(ExtractedEvent(event, Extraction(entities, edges, tuple(closings))))
    return events


def random_ref(rnd: random.Random) -> EntityRef:
    name = rnd.choice(NAMES)
    return EntityRef(rnd.choice(TYPES), rnd.choice([name, name.upper(), f" {name} "]))


def random_time(rnd: random.Random) -> str:
    """Mostly the event's own, else one before it or after it: there are at most 400 events, a minute apart."""
    return "" if rnd.random() < 0.6 else moment(rnd.randint(1, rnd.choice((60, 500))))


def random_entity(rnd: random.Random) -> Entity:
    """A whole entity, or an update that mentions some of its properties and takes others away."""
    ref = random_ref(rnd)
    nested = {"of": ["x", None]}
    properties: dict[str, object] = {} if rnd.random() < 0.5 else {"b": rnd.choice([1, True, 1.0]), "a": nested}
    if rnd.random() < 0.5:
        return Entity(ref.name, ref.entity_type, rnd.choice(["one", HOSTILE]), properties, random_time(rnd))
    update = {name: rnd.choice([None, rnd.randint(1, 3)]) for name in rnd.sample("abcd", 2)}
    summary, default = rnd.choice([("one", False), (HOSTILE, False), (ref.name, True)])
    return Entity(ref.name, ref.entity_type, summary, update, random_time(rnd), merges=True, default_summary=default)


def random_edge(rnd: random.Random) -> Edge:
    ends = random_ref(rnd), random_ref(rnd)
    evidence = rnd.choice(["", HOSTILE])
    return Edge(*ends, rnd.choice(RELATIONS), 0.5, False, "", evidence, random_time(rnd), random_time(rnd))


def many_moments(count: int) -> list[AsOf]:
    """After all times, before and after the last event, and all that as it was known after some of the events."""
    moments = [AsOf(), *(AsOf(moment(t)) for t in (*range(0, 62, 15), count, count + 20, 450))]
    moments += [AsOf(known_at=known) for known in range(0, count, 13)]
    return moments + [AsOf(moment(t), known) for t in (30, count, 450) for known in range(0, count + 5, 17)]


def answers(backend: ProjectionBackend, count: int, moments: list[AsOf]) -> dict[str, object]:
    """Every kind of read at each moment and with limits that cut, by what was asked."""
    start = [EntityRef("actor", "ADA"), EntityRef("fact", "émile")]
    found: dict[str, object] = {"stats": backend.stats("graph")}
    for as_of in moments:
        for limit in (1, 3, 100):
            found[f"entities {as_of} {limit}"] = list(backend.entities("graph", NAMES, as_of, limit))
            found[f"current {as_of} {limit}"] = list(backend.current("graph", TYPES, as_of, limit))
            for relations, depth in (([], 1), ([], 3), (["made"], 2)):
                edges = backend.neighbours("graph", start, relations=relations, depth=depth, as_of=as_of, limit=limit)
                found[f"neighbours {relations} {depth} {as_of} {limit}"] = list(edges)
        for seqs in ([1, 5, count], range(count + 2)):
            found[f"rows {len(seqs)} {as_of}"] = list(backend.rows_of_events("graph", seqs, as_of))
    return found
