"""Whether the descriptions of event types are right. It is loaded only for a manifest that has one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from zaxy.api.event_types import PACKAGE, PLACEHOLDER, EventType, family_of

SAID_KINDS = ("text", "number", "boolean")
"""Kinds of fields that a sentence may name."""
MAX_SENTENCE_CHARS = 200
TAKEN = "source_anchors"
"""What the working set has beside its headings."""
_TYPE = re.compile(r"[a-z0-9][a-z0-9-]{0,63}(?:\.[a-z0-9_-]{1,64})+")
_WORD = re.compile(r"[a-z][a-z0-9_]{0,63}")
_HEADING = re.compile(r"[a-z][a-z_]{0,29}s")


def misfit_of(declared: EventType) -> str:
    """What is wrong with the description of a type; empty if nothing is."""
    if not _TYPE.fullmatch(declared.name):
        return "type must be dotted lower-case words, such as review.finding.accepted"
    for word in (*declared.entities, *declared.relations, *(name for name, _ in declared.fields)):
        if not _WORD.fullmatch(word):
            return f"names {word!r:.80}, which is not a lower-case word such as review_finding"
    for kind in declared.living:
        if kind not in declared.entities:
            return f"living names {kind!r}, which is not among its entities"
    if declared.heading and (not _HEADING.fullmatch(declared.heading) or declared.heading == TAKEN):
        return "heading must be a lower-case word that ends in s, such as findings"
    if declared.heading and not declared.entities:
        return "heading needs entities, which stand under it"
    return _sentence_misfit(declared) or _housekeeping_misfit(declared)


def _sentence_misfit(declared: EventType) -> str:
    plain = re.sub(PLACEHOLDER, "", declared.sentence)
    if len(declared.sentence) > MAX_SENTENCE_CHARS or not plain.isprintable() or "{" in plain or "}" in plain:
        return f"sentence must be one line of at most {MAX_SENTENCE_CHARS} characters, with {{field}} for a field"
    kinds = dict(declared.fields)
    for name in re.findall(PLACEHOLDER, declared.sentence):
        if kinds.get(name) not in SAID_KINDS:
            return f"sentence has {{{name}}}, which is not among its fields of text, number or boolean"
    return ""


def _housekeeping_misfit(declared: EventType) -> str:
    if not declared.housekeeping:
        return ""
    if declared.written_by != PACKAGE:
        return "housekeeping must be written_by package: what anybody writes is not hidden"
    if declared.sentence or declared.heading or declared.entities or declared.relations:
        return "housekeeping is never shown: it has no sentence, heading, entities or relations"
    return ""


def families_misfit(families: Sequence[str], types: Sequence[EventType]) -> str:
    """How the families that a plugin provides and the types that it describes do not fit; empty if they do."""
    names = [declared.name for declared in types]
    described = set(map(family_of, names))
    for family in sorted(described ^ set(families)):
        lacks = "is not among its event_types" if family in described else "has no types in 'event_types'"
        return f"the family {family!r} {lacks}"
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    return f"it describes {twice[0]} twice" if twice else ""
