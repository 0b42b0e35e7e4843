"""What the fields of a purpose mean: words in them that choose a preset, ask for evidence, or lift kinds of rows.

Each field is a free text. What it says beyond these words is shown and kept, and acts on nothing.
"""

from __future__ import annotations

import re

from zaxy.assemble.row_kinds import CHANGE, CHECK, DECISION, PLAN, SOURCE, TALK, kinds_named
from zaxy.text import tokens

SHORT, LONG = "short", "long"
LONG_WEIGHTS = {DECISION: 1.5, PLAN: 1.0, SOURCE: 0.5, CHANGE: -1.0, CHECK: -0.5, TALK: -0.5}
"""What a long horizon adds to each kind: what was settled outlasts what was done."""
LENS_WEIGHT = 1.5
ROLE_SHARE = 0.5
"""How much of its own preset's weights a role adds to another preset."""
MAX_WORDS = 6
"""Words of a task, and of a lens, that are looked for too."""
ROLES = {
    "security": "security auditor pentester",
    "release": "release deployer operator operations",
    "review": "reviewer review critic",
    "research": "researcher research analyst scientist",
    "coordinate": "coordinator coordinate orchestrator planner lead manager",
    "coding": "developer engineer programmer coder coding implementer maintainer",
}
"""Words by which a role names its preset. The first preset counts: a security engineer works for security."""
_HIGH_RISK = re.compile(r"\b(?:high|critical|severe)\b", re.IGNORECASE)
_HORIZON = re.compile(
    r"\b(?:(?P<short>short|now|immediate|immediately|today|tonight|tomorrow|minutes?|hours?|days?|weeks?|sprint)"
    r"|(?P<long>long|months?|quarters?|years?|strategic|permanent))\b",
    re.IGNORECASE,
)
_NOT_KEPT = re.compile(
    r"\b(?:none|nothing|ephemeral|temporary|transient|discard|forget"
    r"|(?:do not|don't|never|not) (?:keep|retain|store))\b",
    re.IGNORECASE,
)
_ROLES = {preset: frozenset(tokens.words(text)) for preset, text in ROLES.items()}


def preset_of_role(role: str) -> str:
    """The preset that a role names; empty where it names none."""
    words = set(tokens.words(role))
    return next((preset for preset, named in _ROLES.items() if not words.isdisjoint(named)), "")


def is_high_risk(risk: str) -> bool:
    return bool(_HIGH_RISK.search(risk))


def horizon_of(time_horizon: str) -> str:
    """`short` or `long`, by the first word that says so; empty where none does."""
    found = _HORIZON.search(time_horizon)
    return str(found.lastgroup) if found else ""


def lens_weights(lens: str) -> dict[str, float]:
    return dict.fromkeys(kinds_named(lens), LENS_WEIGHT)


def looked_for_too(task: str, lens: str) -> tuple[str, ...]:
    """The words of a task, and those of a lens that name no kind of rows."""
    of_lens = [word for word in _words(lens) if not kinds_named(word)]
    return tuple(dict.fromkeys([*_words(task)[:MAX_WORDS], *of_lens[:MAX_WORDS]]))


def keeps_words(retention: str) -> bool:
    """Whether feedback may keep what was asked and why, and the purpose's own texts."""
    return not _NOT_KEPT.search(retention)


def _words(text: str) -> list[str]:
    return [word for word in tokens.WORDS.findall(text.casefold()) if word not in tokens.STOP_WORDS]
