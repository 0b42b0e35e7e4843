"""An installed package that owns the event types `review.*`: its manifest, its rule, and the tools that write them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import installed

PACKAGE = "acme-review"
ENTRY = f"[zaxy.plugins]\n{PACKAGE} = acme_review.plugin\n"
PROVIDES: list[dict[str, object]] = [
    {"point": "event_types", "name": "review"},
    {"point": "tool_packs", "name": "acme-review"},
]
FIELDS = {"subject": "text", "finding": "text", "reviewer": "text", "score": "number", "notes": "list"}
REPORTED: dict[str, Any] = {
    "type": "review.finding.reported",
    "written_by": "package",
    "sentence": "{reviewer} found in {subject}: {finding}",
    "heading": "findings",
    "entities": ["review_finding"],
    "relations": ["found_by"],
    "fields": FIELDS,
}
SETTLED: dict[str, Any] = {"type": "review.finding.settled", "written_by": "package", "fields": {"subject": "text"}}
SEEN: dict[str, Any] = {"type": "review.page.seen", "written_by": "package", "housekeeping": True}
NOTE: dict[str, Any] = {
    "type": "review.note.added",
    "entities": ["review_note"],
    "fields": {"subject": "text", "text": "text"},
}
TYPES = (REPORTED, SETTLED, SEEN, NOTE)

PLUGIN = """
from zaxy.api import Provider, hookimpl

@hookimpl
def zaxy_event_types():
    return [Provider("review", "acme_review.family:Family", "Reviews.")]

@hookimpl
def zaxy_tool_packs():
    return [Provider("acme-review", "acme_review.pack:Pack", "Tools for reviews.")]
"""
FAMILY = """
import threading
from zaxy.api import Closing, Edge, Entity, EntityRef, Extraction

class Family:
    version = {version!r}

    def __init__(self, context):
        pass

    def extract(self, event):
{body}
"""
RULE = """
        payload = event.payload or {}
        subject = payload.get("subject", "")
        finding = EntityRef("review_finding", subject)
        if event.type == "review.finding.settled":
            return Extraction(closings=(Closing(event.time, entity=finding),))
        if event.type == "review.note.added":
            return Extraction((Entity(subject, "review_note", payload.get("text", "")),))
        edge = Edge(finding, EntityRef("actor", payload.get("reviewer", event.actor)), "found_by")
        return Extraction((Entity(subject, "review_finding", payload["finding"], {"status": "open"}),), (edge,))
"""
PACK = """
from zaxy.api import Tool

SCHEMA = {
    "type": "object",
    "properties": {"type": {"type": "string"}, "payload": {"type": "object"}},
    "required": ["type", "payload"],
    "additionalProperties": False,
}

class Pack:
    def __init__(self, context):
        pass

    def tools(self):
        return [
            Tool("acme_write", "Write an event of any type.", SCHEMA, profiles=("core",)),
            Tool("acme_ask", "Ask memory.", {"type": "object"}, profiles=("core",)),
        ]

    def call(self, tool, arguments, memory, progress):
        if tool == "acme_ask":
            return {"found": [row.seq for row in memory.query(arguments["query"], "work").results]}
        event = memory.append(arguments["type"], arguments["payload"], actor="ada", session="work")
        return {"seq": event.seq, "citation": event.citation}
"""

ADAPTER = """
from zaxy.api import Observation, Reading, Source

class Adapter:
    def __init__(self, context):
        pass

    def sources(self, workspace):
        return [Source("one", "one")]

    def read(self, source, mark, limit):
        seen = [Observation(kind, "eve", {"subject": "crane"}, kind) for kind in %r]
        return Reading(tuple(seen), "end", True)
"""
CAPTURE_HOOK = """
from zaxy.api import Provider, hookimpl

@hookimpl
def zaxy_capture_adapters():
    return [Provider("eve", "eve.adapter:Adapter", "Sees reviews.")]
"""


def install(
    site: Path, *, body: str = RULE, version: str = "1", types: tuple[dict[str, Any], ...] = TYPES, **changed: object
) -> None:
    """Install the package, or another version of it in its place."""
    uninstall(site)
    manifest = installed.manifest_of(
        PACKAGE, **{"provides": PROVIDES, "event_types": list(types), "api": {"min": "0.4", "max": "0.4"}, **changed}
    )
    family = FAMILY.format(version=version, body=body)
    modules = {"plugin.py": PLUGIN, "family.py": family, "pack.py": PACK}
    installed.install(site, PACKAGE, modules, manifest, ENTRY)


def uninstall(site: Path) -> None:
    """Take the package out again, as an uninstaller would."""
    import shutil

    for folder in ("acme_review", "acme_review-0.1.0.dist-info"):
        shutil.rmtree(site / folder, ignore_errors=True)
    forget_modules("acme_review")


def forget_modules(package: str) -> None:
    """Let the next import take what is installed then."""
    for module in [name for name in sys.modules if name.split(".")[0] == package]:
        del sys.modules[module]


def claim(site: Path, package: str, family: str) -> None:
    """A package that claims a family, and has nothing else."""
    provides = {"point": "event_types", "name": family, "target": f"{package}.family:Family", "summary": "A family."}
    manifest = installed.manifest_of(
        package, provides=[provides], event_types=[{"type": f"{family}.seen"}], api={"min": "0.4", "max": "0.4"}
    )
    rule = FAMILY.format(version="1", body="        return Extraction()")
    installed.install(site, package, {"family.py": rule}, manifest, f"[zaxy.plugins]\n{package} = {package}\n")


def install_adapter(site: Path, *types: str) -> None:
    """A package that says it has seen events of these types."""
    forget_modules("eve")
    modules = {"plugin.py": CAPTURE_HOOK, "adapter.py": ADAPTER % (list(types),)}
    manifest = installed.manifest_of("eve", provides=[{"point": "capture_adapters", "name": "eve"}])
    installed.install(site, "eve", modules, manifest, "[zaxy.plugins]\neve = eve.plugin\n")
