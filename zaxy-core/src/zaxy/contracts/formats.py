"""The formats in which memory leaves: read off bundles of a small memory, field by field.

Nothing is signed for it, since only the shapes count, so it needs no package for signatures.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from io import BytesIO
from tempfile import TemporaryDirectory
from typing import Any

SESSION = "contract"
ALGORITHM = "none"
RECORDED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("decision.made", {"decision": "The importer reads CSV", "key": "importer-format"}, ""),
    ("fact.recorded", {"fact": "The importer limit is 40 files"}, "restricted"),
    ("fact.recorded", {"fact": "The importer limit is 50 files"}, ""),
)
ERASED = 3
KINDS = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "list"}
NUMBERS = ("confidence",)
"""Fields that are whole by chance."""


def versions() -> dict[str, str]:
    bundle = import_module("zaxy.export.bundle")
    return {"entry": bundle.SCHEMA, "envelope": bundle.UNSIGNED, "bundle": bundle.SIGNED, "subset": bundle.SIGNED}


def axes() -> dict[str, dict[str, Any]]:
    """The axes of a selector: what each is if nothing is said, and whether it counts at disclosure."""
    selector = import_module("zaxy.export.selector")
    return {
        axis.name: {
            "default": list(axis.default) if isinstance(axis.default, tuple) else axis.default,
            "at_disclosure": axis.name in selector.ENTRY_AXES,
        }
        for axis in fields(selector.Selector)
    }


def fields_of_bundles() -> dict[str, set[str]]:
    """Every field by the object that it stands in, with the types that it has."""
    found: dict[str, set[str]] = {}
    for place, value in _objects():
        for name, item in value.items():
            kind = "number" if name in NUMBERS else KINDS.get(type(item), "null")
            found.setdefault(f"{place}.{name}", set()).add(kind)
    return found


def _objects() -> Iterator[tuple[str, dict[str, Any]]]:
    envelope, bundle, subset = _bundles()
    yield from (("envelope", envelope), ("bundle", bundle), ("subset", subset))
    yield from (("bundle.entries[]", item) for item in bundle["entries"])
    for item in subset["disclosed"]:
        yield "subset.disclosed[]", item
        entry = item["content"]
        yield "entry", entry
        yield entry["kind"].partition(":")[0] if entry["grain"] == "semantic" else "event", entry["content"]


def _bundles() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """An unsigned envelope, a bundle and a subset of all of it."""
    writing, disclosure = import_module("zaxy.export.bundle"), import_module("zaxy.export.disclosure")
    parts_of_file = import_module("zaxy.export.verification").parts_of_file
    signer = writing.Signer(ALGORITHM, b"", lambda message: b"")
    envelope, bundle, subset = BytesIO(), BytesIO(), BytesIO()
    with TemporaryDirectory() as folder, import_module("zaxy.memory").Memory.open(folder) as memory:
        for kind, payload, sensitivity in RECORDED:
            memory.append(kind, payload, sensitivity=sensitivity, session=SESSION)
        memory.recall.store.erase(SESSION, ERASED, "user", "asked for")
        memory.export(envelope, session=SESSION)
        written = memory.export(bundle, session=SESSION, signer=signer)
        every, leaves = bytearray(b"\1" * written.entries), bytearray(32 * written.entries)
        disclosure.write_subset(
            parts_of_file(bundle), every, leaves=leaves, file=subset, merkle_root=written.merkle_root
        )
    made = (json.loads(file.getvalue()) for file in (envelope, bundle, subset))
    return next(made), next(made), next(made)
