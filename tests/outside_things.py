"""An installed package whose family has things with ids and titles: the shifts of a rota."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import installed

PACKAGE = "acme-rota"
SHIFT = "rota_shift"
FIELDS = {"id": "text", "title": "text", "guard": "text", "hours": "number", "where": "text"}
TYPES: tuple[dict[str, Any], ...] = (
    {
        "type": "rota.shift.proposed",
        "heading": "shifts",
        "entities": [SHIFT],
        "living": [SHIFT],
        "relations": ["stands"],
        "fields": FIELDS,
    },
    {"type": "rota.shift.changed", "entities": [SHIFT], "living": [SHIFT], "relations": ["stands"], "fields": FIELDS},
    {"type": "rota.shift.done", "entities": [SHIFT], "living": [SHIFT], "fields": FIELDS},
    {"type": "rota.shift.cancelled", "fields": FIELDS},
)
FAMILY = """
from zaxy.api import Closing, Edge, Entity, EntityRef, Extraction

STATUS = {{"rota.shift.proposed": "proposed", "rota.shift.done": "done"}}


class Rota:
    version = "1"

    def __init__(self, context):
        pass

    def extract(self, event):
        payload = dict(event.payload or {{}})
        ids, titles = ((payload.pop(field),) if payload.get(field) else () for field in ("id", "title"))
        if not ids and not titles:
            return Extraction()
        shift = EntityRef("rota_shift", (ids or titles)[0])
        if event.type == "rota.shift.cancelled":
            return Extraction(closings=(Closing(event.time, entity=shift),))
        if event.type in STATUS:
            payload["status"] = STATUS[event.type]
        made = {entity}
        entities = made if isinstance(made, tuple) else (made,)
        guard = payload.get("guard")
        return Extraction(entities, (Edge(EntityRef("actor", guard), shift, "stands"),) if guard else ())
"""
ENTITY = """Entity(
            shift.name, shift.entity_type, (titles or ids)[0], payload,
            merges=True, default_summary=not titles, ids=ids, titles=titles,
        )"""


def install(site: Path, *, entity: str = ENTITY, types: tuple[dict[str, Any], ...] = TYPES) -> None:
    for module in [name for name in sys.modules if name.split(".")[0] == "acme_rota"]:
        del sys.modules[module]
    provided = {"point": "event_types", "name": "rota", "target": "acme_rota.family:Rota", "summary": "Shifts."}
    manifest = installed.manifest_of(
        PACKAGE, api={"min": "0.4", "max": "0.4"}, provides=[provided], event_types=list(types)
    )
    modules = {"family.py": FAMILY.format(entity=entity)}
    installed.install(site, PACKAGE, modules, manifest, f"[zaxy.plugins]\n{PACKAGE} = acme_rota\n")
