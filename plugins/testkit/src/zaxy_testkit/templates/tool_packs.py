"""Two tools for short notes: one writes a note into memory, the other lists the latest ones.

The latest ones are also a resource, and a prompt has them reviewed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zaxy.api import (
    JsonObject,
    MemoryAccess,
    NotFound,
    Prompt,
    PromptArgument,
    PromptMessage,
    Resource,
    ResourceContent,
)
from zaxy.api.tools import LIMIT, TEXT, Call, FunctionPack, schema, text, tool

ACTOR = "acme-notes"


@tool("acme_note", "Remember a short note.", takes=schema("text", session_id=TEXT, text=text(max_chars=4000)))
def note(call: Call) -> JsonObject:
    event = call.memory.append("fact.recorded", {"text": call.arguments["text"]}, actor=ACTOR, session=call.session)
    return {"seq": event.seq, "citation": event.citation}


@tool(
    "acme_recent",
    "List the latest notes, the newest first.",
    takes=schema("", session_id=TEXT, limit=LIMIT),
    read_only=True,
    idempotent=True,
)
def recent(call: Call) -> JsonObject:
    return {"results": _recent(call.memory, call.session, call.arguments.get("limit", 10))}


class Pack(FunctionPack):
    functions = (note, recent)

    def resources(self) -> Sequence[Resource]:
        return (
            Resource("recent", "Recent notes", "The latest notes of this session.", "text/markdown"),
            Resource("sessions/{session}", "Notes of a session", mime_type="text/markdown"),
        )

    def read(self, path: str, memory: MemoryAccess) -> Sequence[ResourceContent]:
        folder, _, session = path.partition("/")
        if path == "recent" or (folder == "sessions" and session in memory.sessions()):
            return [ResourceContent(_as_list(_recent(memory, session, 50)), mime_type="text/markdown")]
        raise NotFound(f"there are no notes at {path!r}", "Read recent, or sessions/ and the name of a session.")

    def prompts(self) -> Sequence[Prompt]:
        return (Prompt("acme_review", "Review the latest notes.", (PromptArgument("goal", "What for."),)),)

    def prompt(self, name: str, arguments: Mapping[str, str], memory: MemoryAccess) -> Sequence[PromptMessage]:
        if name != "acme_review":
            raise NotFound(f"there is no prompt {name!r} here", "Ask for acme_review.")
        goal = arguments.get("goal", "finding what is out of date")
        return [PromptMessage(f"Review these notes, for {goal}:\n\n{_as_list(_recent(memory, '', 50))}")]


def _recent(memory: MemoryAccess, session: str, limit: int) -> list[dict[str, object]]:
    facts = memory.latest(session, 1000, types=("fact.recorded",))
    notes = [fact for fact in facts if fact.actor == ACTOR and fact.payload is not None][:limit]
    return [{"text": (e.payload or {}).get("text"), "citation": e.citation, "time": e.time} for e in notes]


def _as_list(notes: Sequence[Mapping[str, object]]) -> str:
    return "\n".join(f"- {note['text']} ({note['citation']})" for note in notes) or "There are no notes yet."
