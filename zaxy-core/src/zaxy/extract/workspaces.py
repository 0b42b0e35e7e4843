"""The workspace that a session belongs to, and the instruction files in it."""

from __future__ import annotations

from zaxy.api.models import EntityRef, Event, Extraction, JsonObject
from zaxy.extract.rule import Own, Rule, bare, edge, objects
from zaxy.extract.texts import cut, entity_name, first_text

WORKSPACE = ("workspace", "workspace_id", "domain")
MAX_FILES = 32


def workspace_name(event: Event, payload: JsonObject) -> str:
    return first_text(payload, WORKSPACE) or event.session


def genesis(own: Own) -> Extraction:
    session = bare("session", entity_name(own.event.session))
    ref = EntityRef("session", session.name)
    return Extraction((session,), (edge(ref, "initialized_workspace", own.ref, own.since),))


def use_of_instructions(own: Own) -> Extraction:
    """From the workspace, which its own event describes, to its instructions."""
    workspace = EntityRef("workspace", entity_name(workspace_name(own.event, own.payload)))
    return Extraction(edges=(edge(workspace, "uses_workspace_instructions", own.ref, own.since),))


def instructions_text(payload: JsonObject) -> str:
    """`AGENTS.md, CLAUDE.md`."""
    return ", ".join(_paths(payload)) or first_text(payload, ("path",))


def instruction_files(payload: JsonObject) -> dict[str, object]:
    """The files' paths, and beside them their sizes and hashes; never their text."""
    files = [file for file in objects(payload.get("files"), MAX_FILES) if first_text(file, ("path",))]
    if not files:
        return {}
    return {
        "paths": _paths(payload),
        "sizes": [size if type(size := file.get("size")) is int else 0 for file in files],
        "hashes": [cut(first_text(file, ("sha256", "hash")), 64) for file in files],
    }


def _paths(payload: JsonObject) -> list[str]:
    files = objects(payload.get("files"), MAX_FILES)
    return [cut(path, 240) for file in files if (path := first_text(file, ("path",)))]


RULES = {
    "session.genesis": Rule(
        "workspace",
        named_by=WORKSPACE,
        texts=("summary", "description"),
        keeps=("workspace_id", "domain", "path", "backend", "version"),
        name=workspace_name,
        describe=lambda payload: first_text(payload, ("workspace", "domain", "workspace_id")),
        more=genesis,
        also=("session",),
        relations=("initialized_workspace",),
    ),
    "workspace.instructions.discovered": Rule(
        "workspace_instructions",
        named_by=WORKSPACE,
        texts=("summary",),
        keeps=("workspace", "path", "size", "sha256"),
        name=workspace_name,
        describe=instructions_text,
        properties=instruction_files,
        more=use_of_instructions,
        relations=("uses_workspace_instructions",),
    ),
}
