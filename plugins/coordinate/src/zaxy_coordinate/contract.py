"""What this package promises beside its manifest: the format of approval packets, and the fields of a mission's
checkout, read off one of a small mission."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zaxy.api import JsonObject, MemoryAccess
from zaxy_coordinate.missions import Missions
from zaxy_coordinate.packet_schema import PACKET

MISSION = "contract"
CLAIM: dict[str, Any] = {"claim_key": "importer-format", "confidence": 0.9}
PASSED = {"kind": "test", "command": "pytest", "exit_code": 0}
EDITED = "importer.py"
KEYED_BY_CONTENT = ("status",)
"""Objects of counts whose keys say what there is to count."""
GIVEN_BY_WORKERS = ("evidence",)
"""Lists of objects whose fields are the worker's own."""
KINDS = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null"}


def items(memory: MemoryAccess) -> Iterator[tuple[str, JsonObject]]:
    """`memory` is empty at first."""
    yield "schema approval_packet", {"schema": PACKET}
    found: dict[str, set[str]] = {}
    for path, kind in fields(a_checkout(memory)):
        found.setdefault(path, set()).add(kind)
    for path, kinds in sorted(found.items()):
        yield f"field coordination_checkout {path}", {"type": " or ".join(sorted(kinds))}


def a_checkout(memory: MemoryAccess) -> Mapping[str, Any]:
    """A checkout with everything in it: an accepted finding, others of every kind, and a handoff."""
    missions = Missions(memory)
    missions.start(MISSION, "Ship the importer")
    for worker in ("w1", "w2"):
        missions.create_worker(MISSION, worker)
    reported = [
        missions.report_finding(MISSION, "w1", "It reads CSV", claim_value="CSV", evidence=[PASSED], **CLAIM),
        missions.report_finding(MISSION, "w1", "It stops at empty files", evidence=[{"path": EDITED}], confidence=0.5),
        missions.report_finding(MISSION, "w2", "It is slow", claim_key="speed", claim_value="slow"),
        missions.report_finding(MISSION, "w1", "It is quick", claim_key="speed", claim_value="quick"),
        missions.report_finding(MISSION, "w2", "It stops at empty files"),
    ]
    first, second, *_, last = (one["finding_id"] for one in reported)
    missions.review_finding(MISSION, first, "accepted", rationale="The test passed")
    missions.promote(MISSION, first)
    missions.review_finding(MISSION, second, "deferred", rationale="Not now")
    missions.review_finding(MISSION, last, "rejected", rationale="Said before")
    memory.append("file.edit.applied", {"path": EDITED}, session=MISSION)
    missions.handoff(MISSION, "The format is known", next_steps=["Look at the speed"], risks=["Empty files"])
    return missions.checkout(MISSION, "Which format?", include_diagnostics=True, max_tokens=30_000)


def fields(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Every field by its path, with its type; the items of a list are taken together."""
    name = path.removesuffix("[]").rpartition(".")[2]
    if isinstance(value, Mapping):
        if path:
            yield path, "object"
        if path.endswith("[]") and name in GIVEN_BY_WORKERS:
            return
        keys = {key: "*" if name in KEYED_BY_CONTENT else str(key) for key in value}
        for key, shown in keys.items():
            yield from fields(value[key], f"{path}.{shown}" if path else shown)
    elif isinstance(value, list | tuple):
        yield path, "array"
        for item in value:
            yield from fields(item, f"{path}[]")
    else:
        yield path, KINDS[type(value)]
