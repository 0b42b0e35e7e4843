"""The core's own providers pass the conformance checks of their points, like everybody's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from zaxy.api.checks import Case, Check, Workbench, checks_of
from zaxy.api.checks.event_stores import EventStoreCase
from zaxy.api.checks.export_sinks import ExportSinkCase
from zaxy.api.checks.projection_backends import ProjectionBackendCase
from zaxy.api.checks.retrieval_lanes import RetrievalLaneCase
from zaxy.api.checks.signing_algorithms import SigningAlgorithmCase
from zaxy.eventloom.store import JsonlStore
from zaxy.export.ed25519 import Ed25519
from zaxy.export.file_sink import FileSink
from zaxy.graph.sqlite_graph import SqliteGraph
from zaxy.text.index import TextIndex


def file_sink(scratch: Path) -> ExportSinkCase:
    arrived = scratch / "arrived.json"
    return ExportSinkCase(
        FileSink,
        destination=str(arrived),
        forbidden=str(scratch / "no such folder" / "bundle.json"),
        received=lambda: arrived.read_bytes() if arrived.exists() else None,
    )


def ed25519(scratch: Path) -> SigningAlgorithmCase:
    return SigningAlgorithmCase(Ed25519)


def jsonl_store(scratch: Path) -> EventStoreCase:
    return EventStoreCase(JsonlStore)


def sqlite_graph(scratch: Path) -> ProjectionBackendCase:
    return ProjectionBackendCase(SqliteGraph)


def text_index(scratch: Path) -> RetrievalLaneCase:
    return RetrievalLaneCase(TextIndex, capabilities=frozenset(("follower",)))


BUILT_IN: list[tuple[str, Callable[[Path], Case]]] = [
    ("event_stores", jsonl_store),
    ("export_sinks", file_sink),
    ("projection_backends", sqlite_graph),
    ("retrieval_lanes", text_index),
    ("signing_algorithms", ed25519),
]


@pytest.mark.parametrize(
    ("known", "case_in"),
    [
        pytest.param(known, case_in, id=f"{case_in.__name__}-{known.name}")
        for point, case_in in BUILT_IN
        for known in checks_of(point)
    ],
)
def test_a_built_in_provider_passes_the_check(known: Check, case_in: Callable[[Path], Case], tmp_path: Path) -> None:
    known.run(case_in(tmp_path), Workbench(tmp_path))
