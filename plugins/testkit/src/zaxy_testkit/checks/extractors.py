"""Checks of `extractors`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from zaxy.api.models import Closing, Edge, Entity, EntityRef, Event, Extraction
from zaxy_testkit.checks import Case, CheckFailed, Workbench, check, expect, expect_no_error
from zaxy_testkit.checks.shape import expect_shape

POINT = "extractors"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
UNKNOWN = Event(
    session="s",
    seq=1,
    id="evt_1_00000000",
    type="conformance.unheard-of",
    actor="nobody",
    time="2026-06-15T00:00:00.000000Z",
    payload={},
    hash="0" * 64,
    prev=None,
)


@dataclass(frozen=True)
class ExtractorCase(Case):
    events: tuple[Event, ...]
    """Samples, at least one of which yields rows."""
    unknown: Event = UNKNOWN
    """An event it has nothing to say about; give another if yours has something to say about this one."""


@check(POINT)
def it_has_the_methods_of_its_protocol(case: ExtractorCase, bench: Workbench) -> None:
    """Compare your class with zaxy.api.Extractor: `version` is an attribute, `extract` takes one event."""
    expect_shape(POINT, bench.make(case))


@check(POINT)
def its_version_is_a_text_and_stays_the_same(case: ExtractorCase, bench: Workbench) -> None:
    """Write `version` down as a constant such as "1": followers are rebuilt whenever it differs."""
    version, again = bench.make(case).version, bench.make(case, "elsewhere").version
    expect(isinstance(version, str) and bool(version.strip()), f"version must be a non-empty text, not {version!r}")
    expect(version == again, f"one instance has the version {version!r}, another one {again!r}")


@check(POINT)
def a_sample_yields_rows(case: ExtractorCase, bench: Workbench) -> None:
    """Give the case an event that your extractor does have something to say about; the other checks rest on it."""
    extractor = bench.make(case)
    expect(
        any(extracted(extractor, event) != Extraction() for event in case.events),
        f"none of the {len(case.events)} sample events gave an entity, an edge or a closing",
    )


@check(POINT)
def the_same_event_gives_the_same_rows_again(case: ExtractorCase, bench: Workbench) -> None:
    """Keep nothing from one call to the next: rows may depend on the event alone."""
    extractor = bench.make(case)
    first = [extracted(extractor, event) for event in case.events]
    for event, rows in zip(case.events, first, strict=True):
        again = extracted(extractor, event)
        expect(rows == again, f"{event.type} extracted again gave other rows: {_difference(rows, again)}")


@check(POINT)
def another_instance_on_another_day_gives_the_same_rows(case: ExtractorCase, bench: Workbench) -> None:
    """Do not use the clock, the state folder, random numbers or the order of events: a rebuild must give the same."""
    extractor = bench.make(case)
    first = [extracted(extractor, event) for event in case.events]
    bench.now += timedelta(days=400)
    other = bench.make(case, "elsewhere")
    for event, rows in reversed(list(zip(case.events, first, strict=True))):
        again = extracted(other, event)
        expect(rows == again, f"{event.type} gave another instance other rows: {_difference(rows, again)}")


@check(POINT)
def its_entities_are_well_formed(case: ExtractorCase, bench: Workbench) -> None:
    """Name, type and summary are non-empty texts, properties are plain JSON, `observed_at` is empty or a UTC time."""
    for rows in all_rows(case, bench):
        for entity in rows.entities:
            expect(isinstance(entity, Entity), f"entities must hold zaxy.api.Entity, not {entity!r}")
            _expect_text(entity, "name", "entity_type", "summary")
            _expect_time(entity, "observed_at")
            _expect_json(entity.properties, f"the properties of {entity}")


@check(POINT)
def its_edges_are_well_formed(case: ExtractorCase, bench: Workbench) -> None:
    """Source and target are EntityRef(type, name), a relation has a name, confidence is from 0 to 1, times are UTC."""
    for rows in all_rows(case, bench):
        for edge in rows.edges:
            expect(isinstance(edge, Edge), f"edges must hold zaxy.api.Edge, not {edge!r}")
            _expect_ref(edge.source, f"the source of {edge}")
            _expect_ref(edge.target, f"the target of {edge}")
            _expect_text(edge, "relation_type")
            _expect_time(edge, "valid_from", "valid_to")
            sure = edge.confidence
            number = isinstance(sure, int | float) and not isinstance(sure, bool)
            expect(number and 0 <= sure <= 1, f"confidence must be a number from 0 to 1, not {sure!r}, in {edge}")


@check(POINT)
def its_closings_are_well_formed(case: ExtractorCase, bench: Workbench) -> None:
    """A closing has a UTC time, and either an entity or the seq of an event: of what these have, your own rows end."""
    for rows in all_rows(case, bench):
        for closing in rows.closings:
            expect(isinstance(closing, Closing), f"closings must hold zaxy.api.Closing, not {closing!r}")
            expect(_is_time(closing.at), f"`at` must be a time such as 2026-06-15T00:00:00.000000Z in {closing}")
            expect((closing.entity is None) != (closing.seq is None), f"one of entity and seq is needed in {closing}")
            if closing.entity is not None:
                _expect_ref(closing.entity, f"the entity of {closing}")


@check(POINT)
def an_event_it_does_not_know_gives_no_rows(case: ExtractorCase, bench: Workbench) -> None:
    """Return Extraction() for an event that says nothing to you; the built-in rules have already made it findable."""
    rows = extracted(bench.make(case), case.unknown)
    expect(rows == Extraction(), f"{case.unknown.type} with {case.unknown.payload} should give no rows and gave {rows}")


@check(POINT)
def an_erased_event_is_no_error(case: ExtractorCase, bench: Workbench) -> None:
    """An event's payload is None once it was erased for good: return what can be said without it, such as nothing."""
    extractor = bench.make(case)
    for event in case.events:
        extracted(extractor, replace(event, payload=None))


@check(POINT)
def it_leaves_the_payload_as_it_is(case: ExtractorCase, bench: Workbench) -> None:
    """Copy what you want to change: every extractor is handed the same payload, in no promised order."""
    extractor = bench.make(case)
    for event in case.events:
        handed = replace(event, payload=deepcopy(event.payload))
        extracted(extractor, handed)
        expect(handed.payload == event.payload, f"the payload was {event.payload} and is now {handed.payload}")


def extracted(extractor: Any, event: Event) -> Extraction:
    """The rows of one event; anything but an Extraction fails the check."""
    with_payload = "its payload" if event.payload is not None else "its payload erased"
    with expect_no_error(f"extracting {event.type} with {with_payload}"):
        rows = extractor.extract(event)
    if not isinstance(rows, Extraction):
        raise CheckFailed(f"extracting {event.type} with {with_payload} gave {rows!r}, not a zaxy.api.Extraction")
    for kind in ("entities", "edges", "closings"):
        expect(isinstance(getattr(rows, kind), tuple), f"{kind} must be a tuple in {rows}")
    return rows


def all_rows(case: ExtractorCase, bench: Workbench) -> list[Extraction]:
    """The rows of every sample, as it is and with its payload erased."""
    extractor = bench.make(case)
    events = [*case.events, *(replace(event, payload=None) for event in case.events)]
    return [extracted(extractor, event) for event in events]


def _difference(first: Extraction, later: Extraction) -> str:
    for kind in ("entities", "edges", "closings"):
        ones, others = getattr(first, kind), getattr(later, kind)
        for place in range(max(len(ones), len(others))):
            one, other = (rows[place] if place < len(rows) else None for rows in (ones, others))
            if one != other:
                return f"{one or 'nothing'} at first, {other or 'nothing'} later"
    return "none"


def _expect_text(row: object, *names: str) -> None:
    for name in names:
        value = getattr(row, name)
        expect(isinstance(value, str) and bool(value.strip()), f"{name} must be a non-empty text in {row}")


def _expect_time(row: object, *names: str) -> None:
    for name in names:
        value = getattr(row, name)
        expect(
            value == "" or _is_time(value),
            f"{name} must be empty or a time such as 2026-06-15T00:00:00.000000Z, not {value!r}",
        )


def _is_time(value: object) -> bool:
    if not isinstance(value, str) or not TIME.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _expect_ref(value: object, what: str) -> None:
    fits = isinstance(value, EntityRef) and all(isinstance(part, str) and part.strip() for part in value)
    expect(fits, f"{what} must be an EntityRef(entity_type, name) of non-empty texts, not {value!r}")


def _expect_json(value: object, what: str) -> None:
    """Followers store properties as JSON. A value that JSON changes would differ after a rebuild."""
    if not isinstance(value, Mapping):
        raise CheckFailed(f"{what} must be an object, not {value!r}")
    try:
        stored = json.loads(json.dumps(dict(value), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise CheckFailed(f"{what} must be plain JSON: {error}") from error
    expect(stored == value, f"{what} must come back from JSON as they were, and come back as {stored}")
