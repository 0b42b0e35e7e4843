"""The built-in types of events, each with a word for it and a sentence on it, and which of them a mistyped one meant.

The hot commands load this, so it imports nothing.
"""

from __future__ import annotations

KNOWN_TYPES = {
    "goal.created": ("goal", "Something is to be reached."),
    "task.proposed": ("task", "Something is to be done."),
    "task.claimed": ("task claimed", "Somebody has begun a task."),
    "task.completed": ("task done", "A task is done."),
    "decision.made": ("decision", "Something was decided; the same key replaces it."),
    "issue.diagnosed": ("issue", "Something does not work, and why."),
    "verification.recorded": ("verification", "Something was checked, and what came of it."),
    "handoff.created": ("handoff", "Work is handed to somebody else."),
    "fact.recorded": ("fact", "Something is so; the same key replaces it."),
    "user.preference_changed": ("preference", "Somebody wants something done in some way."),
    "document.indexed": ("document", "A part of a document, to be found by its words."),
    "transcript.turn": ("said", "Somebody said something in a conversation."),
    "command.completed": ("command", "A command ran in a shell, and how it ended."),
    "file.edit.applied": ("file edit", "A file was changed; not what is in it."),
    "tool.call.completed": ("tool call", "A tool was called, and how it ended; not its arguments."),
    "hook.checkpoint": ("checkpoint", "A client reported where its work stands."),
    "hook.session_started": ("session started", "A client began a session."),
    "hook.resumed": ("session resumed", "A client went on with a session."),
    "hook.user_prompt_submitted": ("prompt", "The user asked a client for something."),
    "hook.stop": ("stop", "A client finished an answer."),
    "hook.precompact": ("before compaction", "A client is about to shorten its context."),
    "hook.heartbeat": ("heartbeat", "A hook shows that it still works."),
    "session.ended": ("session ended", "A session is over."),
    "subagent.cleaned": ("subagent cleaned up", "The session of a subagent is closed."),
    "subagent.completed": ("subagent done", "A subagent has finished, and what came of it."),
    "skill.proposed": ("skill proposed", "A procedure that could be used again."),
    "skill.validated": ("skill validated", "A procedure was tried, and works."),
    "skill.revised": ("skill revised", "A procedure has a new version."),
    "skill.deprecated": ("skill deprecated", "A procedure should not be used any more."),
    "skill.contradicted": ("skill contradicted", "Something speaks against a procedure."),
    "skill.applied": ("skill applied", "A procedure was used for a task."),
    "skill.outcome_recorded": ("skill outcome", "What came of the use of a procedure."),
    "memory.reinforced": ("memory reinforced", "A memory was of use."),
    "memory.feedback": ("feedback", "Somebody says how useful a memory was."),
    "memory.invalidated": ("ended", "Something no longer holds; history keeps it."),
    "memory.synthesis.artifact.created": ("composed answer", "An answer was composed of many memories."),
    "memory.synthesis.used": ("composed answer used", "A composed answer was used."),
    "memory.synthesis.rejected": ("composed answer rejected", "A composed answer was rejected."),
    "memory.synthesis.corrected": ("composed answer corrected", "A composed answer was corrected."),
    "memory.evidence.reinforced": ("evidence reinforced", "A row of a composed answer was of use."),
    "memory.evidence.excluded": ("evidence excluded", "A row of a composed answer does not count."),
    "memory.bootstrap.shown": ("memory introduced itself", "A session was given its start. Only Zaxy writes it."),
    "memory.checkout.completed": ("memory was asked", "A checkout took place. Only Zaxy writes it."),
    "memory.context.injected": ("memory in a prompt", "What memory gave a session at its start. Only Zaxy writes it."),
    "memory.reminder.suggested": ("reminder shown", "A reminder was shown. Only Zaxy writes it."),
    "memory.imported": ("import", "Events were imported. Only Zaxy writes it."),
    "memory.ref.updated": ("ref set", "A ref names another event. Only Zaxy writes it."),
    "event.erased": ("erasure", "What an event said is gone for good. Only Zaxy writes it."),
    "imported.erased": ("erased elsewhere", "Stands for an event that was erased elsewhere. Only Zaxy writes it."),
    "session.genesis": ("memory began", "The memory of a workspace begins."),
    "workspace.instructions.discovered": ("instructions found", "Files that tell agents how to work here."),
}
"""By the type: what a line of history calls it, and a sentence on it."""
MAX_SLIPS = 2
"""Letters that are wrong, missing, too many or swapped in a type that is mistyped, and not another one."""


def label_of(event_type: str) -> str:
    """What a line of history calls an event of a type, which may be anybody's."""
    known = KNOWN_TYPES.get(event_type)
    return known[0] if known else event_type


def near_type(event_type: str) -> str:
    """The known type that a mistyped one means; empty where it is known, or like none."""
    if event_type in KNOWN_TYPES:
        return ""
    typed = event_type.casefold()
    slips = {name: _slips(typed, name) for name in KNOWN_TYPES if _may_be(typed, name)}
    near = min(slips, key=lambda name: slips[name], default="")
    return near if near and slips[near] <= MAX_SLIPS else ""


def _may_be(typed: str, name: str) -> bool:
    """Whether so few letters differ that it is worth comparing them in order."""
    return abs(len(typed) - len(name)) <= MAX_SLIPS and len(set(typed) ^ set(name)) <= 2 * MAX_SLIPS


def _slips(one: str, other: str) -> int:
    """How many letters must be changed, put in, left out or swapped to make one of the other."""
    rows = [list(range(len(other) + 1))]
    for at, letter in enumerate(one, 1):
        row = [at]
        for place, wanted in enumerate(other, 1):
            cost = min(rows[-1][place] + 1, row[-1] + 1, rows[-1][place - 1] + (letter != wanted))
            if at > 1 and place > 1 and letter == other[place - 2] and one[at - 2] == wanted:
                cost = min(cost, rows[-2][place - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]
