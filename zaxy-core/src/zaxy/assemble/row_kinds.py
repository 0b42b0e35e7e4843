"""What kind of row a result is: a check, a decision, something that was said. Purposes weigh rows by their kinds."""

from __future__ import annotations

from functools import lru_cache

from zaxy.retrieve.results import Result
from zaxy.text import tokens

CHECK, CHANGE, DECISION, PLAN, ISSUE, FINDING = "check", "change", "decision", "plan", "issue", "finding"
ACCEPTED, FACT, PREFERENCE, SOURCE = "accepted", "fact", "preference", "source"
TALK, SKILL = "talk", "skill"
KIND_WORDS = {
    CHECK: "verification command test check gate audit",
    CHANGE: "edit change diff commit tool",
    DECISION: "decision",
    PLAN: "goal task plan assignment milestone",
    ISSUE: "issue bug incident vulnerability blocker conflict risk",
    FINDING: "finding review",
    ACCEPTED: "promotion mission handoff proof packet accepted",
    FACT: "fact",
    PREFERENCE: "preference",
    SOURCE: "document source paper",
    TALK: "turn transcript conversation chat talk",
    SKILL: "skill procedure",
}
"""The words by which a type of entity or event, or a lens, names each kind."""
_KINDS = {stem: kind for kind, text in KIND_WORDS.items() for stem in tokens.words(text)}


def kind_of(result: Result) -> str:
    """By the type of its entity, else by that of its event; empty where neither names a kind."""
    named = kinds_named(result.entity_type) or kinds_named(result.event_type)
    return named[0] if named else ""


@lru_cache(1024)
def kinds_named(text: str) -> tuple[str, ...]:
    """The kinds that a text names, in its order."""
    found = [_KINDS[stem] for stem in tokens.words(text.replace("_", " ")) if stem in _KINDS]
    return tuple(dict.fromkeys(found))
