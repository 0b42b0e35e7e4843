"""Whether a preset for purposes, as a manifest has it, stays within what the built-in ones do."""

from __future__ import annotations

from zaxy.api import purposes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from zaxy.plugins.manifest import PurposeFacts


def misfit_of(facts: PurposeFacts) -> str:
    """What is wrong with a preset, beginning with the field; empty if nothing is."""
    return (
        _misfit_of_words(facts)
        or _misfit_of_terms(facts.terms)
        or _outside("emphases", facts.emphases, -purposes.MAX_WEIGHT, purposes.MAX_WEIGHT)
        or _outside("floors", facts.floors, 0.0, purposes.MAX_FLOOR)
    )


def misfit_of_all(presets: list[PurposeFacts]) -> str:
    """What is wrong with the presets of one package together."""
    if len(presets) > purposes.MAX_PURPOSES:
        return f"purposes has {len(presets)} presets; a package has at most {purposes.MAX_PURPOSES}"
    names = [facts.name for facts in presets]
    twice = [name for name in names if names.count(name) > 1]
    return f"it has the purpose {twice[0]!r} twice" if twice else ""


def _misfit_of_words(facts: PurposeFacts) -> str:
    if facts.name in purposes.BUILT_IN:
        return f"name {facts.name!r} is one of the core's own: {', '.join(purposes.BUILT_IN)}"
    if not 1 <= facts.recall_floor <= purposes.MAX_RECALL_FLOOR:
        return f"recall_floor must be from 1 to {purposes.MAX_RECALL_FLOOR}"
    return (
        _unknown("scoring_profile", (facts.scoring_profile,), purposes.SCORING_PROFILES)
        or _unknown("evidence_policy", (facts.evidence_policy,), purposes.POLICIES)
        or _unknown("suppresses", facts.suppresses, purposes.SUPPRESSIONS)
    )


def _unknown(field: str, words: Iterable[str], known: tuple[str, ...]) -> str:
    unknown = [word for word in words if word not in known]
    return f"{field} has {unknown[0]!r:.60}; there are {', '.join(known)}" if unknown else ""


def _misfit_of_terms(terms: tuple[str, ...]) -> str:
    max_chars = purposes.MAX_TERM_CHARS
    if len(terms) > purposes.MAX_TERMS:
        return f"terms has {len(terms)} words; there may be {purposes.MAX_TERMS}"
    wrong = [term for term in terms if len(term) > max_chars or not term.replace("-", "").isalnum()]
    return f"terms has {wrong[0]!r:.60}, which is not a word of at most {max_chars} characters" if wrong else ""


def _outside(field: str, values: tuple[tuple[str, float], ...], low: float, high: float) -> str:
    unknown = _unknown(field, [kind for kind, _ in values], purposes.KINDS)
    outside = [kind for kind, value in values if not low <= value <= high]
    return unknown or (f"{field}.{outside[0]} must be from {low:g} to {high:g}" if outside else "")
