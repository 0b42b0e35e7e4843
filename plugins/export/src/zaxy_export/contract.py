"""What this package promises beside its manifest: the formats of bundles, read off those of a small memory.

Nothing is signed for it, since only the shapes count, so it needs no package for signatures.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from io import BytesIO
from typing import Any

from zaxy.api import JsonObject, MemoryAccess
from zaxy_export.building import export_memory
from zaxy_export.bundle import SIGNED, UNSIGNED, Signer
from zaxy_export.disclosure import write_subset
from zaxy_export.entries import SCHEMA
from zaxy_export.importing import import_bundle
from zaxy_export.selector import ENTRY_AXES, Selector
from zaxy_export.verification import parts_of_file, parts_of_object

SESSION = "contract"
ALGORITHM = "none"
RECORDED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("decision.made", {"decision": "The importer reads CSV", "key": "importer-format"}, ""),
    ("fact.recorded", {"fact": "The importer limit is 40 files"}, "restricted"),
    ("decision.made", {"decision": "The importer reads JSON", "key": "importer-format"}, ""),
)
KINDS = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "list"}
NUMBERS = ("confidence",)
"""Fields that are whole by chance."""
VERSIONS = {"entry": SCHEMA, "envelope": UNSIGNED, "bundle": SIGNED, "subset": SIGNED}


def items(memory: MemoryAccess) -> Iterator[tuple[str, JsonObject]]:
    """The shapes of bundles with their versions and fields, what an import records, and the axes of a selector.

    `memory` is empty at first.
    """
    for shape, version in VERSIONS.items():
        yield f"version {shape}", {"value": version}
    for field, kinds in fields_of_bundles(memory).items():
        yield f"field {field}", {"type": " or ".join(sorted(kinds))}
    for axis, described in axes().items():
        yield f"axis {axis}", described


def axes() -> dict[str, dict[str, Any]]:
    """The axes of a selector: what each is if nothing is said, and whether it counts at disclosure."""
    return {
        axis.name: {
            "default": list(axis.default) if isinstance(axis.default, tuple) else axis.default,
            "at_disclosure": axis.name in ENTRY_AXES,
        }
        for axis in fields(Selector)
    }


def fields_of_bundles(memory: MemoryAccess) -> dict[str, set[str]]:
    """Every field by the object that it stands in, with the types that it has."""
    found: dict[str, set[str]] = {}
    for place, value in _objects(memory):
        for name, item in value.items():
            kind = "number" if name in NUMBERS else KINDS.get(type(item), "null")
            found.setdefault(f"{place}.{name}", set()).add(kind)
    return found


def _objects(memory: MemoryAccess) -> Iterator[tuple[str, dict[str, Any]]]:
    envelope, bundle, subset = _bundles(memory)
    yield "memory.imported", _recorded(memory, envelope)
    yield from (("envelope", envelope), ("bundle", bundle), ("subset", subset))
    yield from (("bundle.entries[]", item) for item in bundle["entries"])
    for item in subset["disclosed"]:
        yield "subset.disclosed[]", item
        entry = item["content"]
        yield "entry", entry
        yield entry["kind"].partition(":")[0] if entry["grain"] == "semantic" else "event", entry["content"]


def _recorded(memory: MemoryAccess, envelope: dict[str, Any]) -> dict[str, Any]:
    """What the log says of an import."""
    done = import_bundle(memory, parts_of_object(envelope), session=f"{SESSION}-imported")
    return dict(memory.resolve(done.citation).payload or {})


def _bundles(memory: MemoryAccess) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """An unsigned envelope, a bundle and a subset of all of it."""
    for kind, payload, sensitivity in RECORDED:
        last = memory.append(kind, payload, sensitivity=sensitivity, session=SESSION)
    memory.forget(last.citation, "asked for")
    signer = Signer(ALGORITHM, b"", lambda message: b"")
    envelope, bundle, subset = BytesIO(), BytesIO(), BytesIO()
    export_memory(memory, envelope, session=SESSION)
    written = export_memory(memory, bundle, session=SESSION, signer=signer)
    every, leaves = bytearray(b"\1" * written.entries), bytearray(32 * written.entries)
    write_subset(parts_of_file(bundle), every, leaves=leaves, file=subset, merkle_root=written.merkle_root)
    made = (json.loads(file.getvalue()) for file in (envelope, bundle, subset))
    return next(made), next(made), next(made)
