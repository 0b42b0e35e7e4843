"""The core's own providers pass the conformance checks of their points, like everybody's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from zaxy.eventloom.store import JsonlStore
from zaxy.graph.sqlite_graph import SqliteGraph
from zaxy.text.index import TextIndex
from zaxy_testkit.checks import Case, Check, Workbench, checks_of
from zaxy_testkit.checks.event_stores import EventStoreCase
from zaxy_testkit.checks.projection_backends import ProjectionBackendCase
from zaxy_testkit.checks.retrieval_lanes import RetrievalLaneCase


def jsonl_store(scratch: Path) -> EventStoreCase:
    return EventStoreCase(JsonlStore)


def sqlite_graph(scratch: Path) -> ProjectionBackendCase:
    return ProjectionBackendCase(SqliteGraph)


OF_OTHER_LANES = ("word-similarity", "rerank")
"""What the core's own lane cannot do."""


def text_index(scratch: Path) -> RetrievalLaneCase:
    return RetrievalLaneCase(TextIndex, capabilities=frozenset(("follower",)))


BUILT_IN: list[tuple[str, Callable[[Path], Case]]] = [
    ("event_stores", jsonl_store),
    ("projection_backends", sqlite_graph),
    ("retrieval_lanes", text_index),
]


@pytest.mark.parametrize(
    ("known", "case_in"),
    [
        pytest.param(known, case_in, id=f"{case_in.__name__}-{known.name}")
        for point, case_in in BUILT_IN
        for known in checks_of(point)
        if known.needs not in OF_OTHER_LANES
    ],
)
def test_a_built_in_provider_passes_the_check(known: Check, case_in: Callable[[Path], Case], tmp_path: Path) -> None:
    known.run(case_in(tmp_path), Workbench(tmp_path))
