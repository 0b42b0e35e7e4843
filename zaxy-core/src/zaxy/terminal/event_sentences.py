"""What an event of a built-in type says, as one sentence for a line of history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zaxy.extract.housekeeping import HOOK_ACTOR
from zaxy.extract.sentences import sentence_of
from zaxy.extract.texts import PROSE, first_text, text_of

ANSWERED = {
    "answer_from_memory": "and knew the answer",
    "refresh_recommended": "and wanted more to be read",
    "ask_user": "and did not know",
}
ENDS_OF_SKILLS = {
    "proposed": "is proposed",
    "validated": "works",
    "revised": "has a new version",
    "deprecated": "should not be used any more",
    "contradicted": "is contradicted",
}
UNKNOWN_SOURCE = "unknown"


def _skill(end: str) -> tuple[str, ...]:
    return (
        f"The procedure {{skill_id}} {{version}} {end}: {{said}}",
        f"The procedure {{skill_id}} {{version}} {end}",
        f"The procedure {{skill_id}} {end}: {{said}}",
        f"The procedure {{skill_id}} {end}",
    )


def _because(start: str) -> tuple[str, ...]:
    return f"{start}: {{said}}", f"{start}: {{reason}}", start


_FEEDBACK = (
    "The {entity_type} {entity_name} was {feedback}",
    "Event {cited} was {feedback}",
    "A memory was {feedback}",
)
_ERASED = (
    "What event {cited} said was erased: {reason}",
    "What event {cited} said was erased",
    "What an event said was erased: {reason}",
    "What an event said was erased",
)
SENTENCES: dict[str, tuple[str, ...]] = {
    "transcript.turn": ("{said}",),
    "hook.checkpoint": ("{said}", "{source} reported where its work stands", "Somebody reported where the work stands"),
    "hook.session_started": ("{said}", "{source} began a session", "A session began"),
    "hook.resumed": ("{said}", "{source} went on with a session", "A session went on"),
    "hook.user_prompt_submitted": ("{said}", "The user asked {source} for something", "The user asked for something"),
    "hook.stop": ("{said}", "{source} finished an answer", "An answer is finished"),
    "hook.precompact": ("{said}", "{source} is about to shorten its context", "A context is about to be shortened"),
    "hook.heartbeat": ("The hook of {source} works", "A hook works"),
    "session.ended": (
        "{said}",
        "The session of {source} ended: {reason}",
        "The session of {source} ended",
        "The session ended: {reason}",
        "The session ended",
    ),
    "session.genesis": ("The memory of {domain} began", "Memory began"),
    "subagent.cleaned": ("The session of the subagent {subagent_session_id} was closed", "A subagent was closed"),
    "subagent.completed": (
        "{said} ({outcome})",
        "{said}",
        "The subagent {subagent_session_id} has finished: {outcome}",
        "The subagent {subagent_session_id} has finished",
        "A subagent has finished",
    ),
    "workspace.instructions.discovered": ("Instructions for agents: {paths}", "Instructions for agents were found"),
    **{f"skill.{name}": _skill(end) for name, end in ENDS_OF_SKILLS.items()},
    "skill.applied": ("The procedure {skill_id} was used: {task}", "The procedure {skill_id} was used"),
    "skill.outcome_recorded": ("The procedure {skill_id} came to this: {outcome}", "{said}"),
    "memory.reinforced": _FEEDBACK,
    "memory.feedback": _FEEDBACK,
    "memory.invalidated": (
        "The {entity_type} {entity_name} no longer holds: {reason}",
        "The {entity_type} {entity_name} no longer holds",
        "Event {cited} no longer holds: {reason}",
        "Event {cited} no longer holds",
        "Something no longer holds: {reason}",
        "Something no longer holds",
    ),
    "memory.synthesis.artifact.created": ("An answer was composed: {answer}", *_because("An answer was composed")),
    "memory.synthesis.used": _because("A composed answer was used"),
    "memory.synthesis.rejected": _because("A composed answer was rejected"),
    "memory.synthesis.corrected": ("A composed answer was corrected: {correction}", "A composed answer was corrected"),
    "memory.evidence.reinforced": _because("A row of a composed answer was of use"),
    "memory.evidence.excluded": _because("A row of a composed answer does not count"),
    "memory.bootstrap.shown": ("Memory introduced itself",),
    "memory.checkout.completed": ("Memory was asked, {answered}", "Memory was asked"),
    "memory.context.injected": (
        "Memory put {tokens} tokens into a session of {client}",
        "Memory put {tokens} tokens into a session",
        "Memory was put into a session",
    ),
    "memory.reminder.suggested": ("A reminder was shown",),
    "memory.imported": ("Events were imported",),
    "memory.ref.updated": ("The ref {name} names event {target_seq}", "A ref was set"),
    "event.erased": _ERASED,
    "imported.erased": _ERASED,
}
"""Of each type the first is taken whose fields are all there. What people and agents record of their work is in the
sentences that a checkout shows of it, and commands, edits and calls have sentences of their own rules."""


def sentence_of_event(event_type: str, payload: Mapping[str, Any]) -> str:
    """The sentence of a built-in type; empty for other types, and where the payload has nothing that one needs."""
    templates = SENTENCES.get(event_type, ())
    fields = {**payload, **_derived(payload)} if templates else {}
    found = next((text for one in templates if (text := sentence_of(one, fields))), "")
    return found[:1].upper() + found[1:] if found and not found.startswith(fields["said"] or "\0") else found


def _derived(payload: Mapping[str, Any]) -> dict[str, str]:
    """What sentences name and a payload has in another form; empty counts as missing."""
    cites = [text for field in ("entity_citation", "citation", "target") if (text := text_of(payload.get(field)))]
    files = payload.get("files")
    paths = [text_of(one.get("path")) for one in files if isinstance(one, dict)] if isinstance(files, list) else []
    known = {name: text_of(payload.get(name)) for name in ("source", "client")}
    return {
        "said": first_text(payload, PROSE),
        "cited": cites[0].rpartition("/")[2].partition("#")[0] if cites else "",
        "paths": ", ".join(filter(None, paths)) or text_of(payload.get("path")),
        "answered": ANSWERED.get(text_of(payload.get("answerability")), ""),
        **{name: "" if value == UNKNOWN_SOURCE else value for name, value in known.items()},
    }


def who_said(record: Mapping[str, Any]) -> str:
    """Who is behind an event: of a turn who spoke, of what a hook wrote down its client."""
    spoken = ("speaker", "role") if record["type"] == "transcript.turn" else ()
    seen = ("source",) if record["actor"] == HOOK_ACTOR else ()
    named = first_text(record.get("payload") or {}, (*spoken, *seen))
    return named if named and named != UNKNOWN_SOURCE else str(record["actor"])
