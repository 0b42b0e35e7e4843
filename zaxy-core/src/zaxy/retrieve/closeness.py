"""How close together the words of a question stand in what was found: a long text has a little of everything.

Only the first of what the lanes propose are looked at, by the words that the index has of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from operator import mul

from zaxy.retrieve.fusion import Proposal
from zaxy.retrieve.matches import Matches
from zaxy.retrieve.question import Asked

LOOKED_AT = 30
WINDOW = 24
"""Words that stand together: about two sentences, without the commonest words."""
LONG = 45
"""Words from which on a text counts as long."""
FOR_ALL, FOR_CLOSE, FOR_LENGTH, FOR_OTHER_SPEAKER = 0.25, 0.75, -0.15, -0.15
"""What the share of the question that a text has counts, the share that its best window has, its length, and that
somebody speaks whom the question does not name."""
COVERED = 0.4
"""The share of the question's weight from which on words find enough."""
LANE = "closeness"


def weigh_closeness(asked: Asked, best: Sequence[Proposal], weight: float) -> None:
    """Add to the first of what is proposed, which is in its order, how well the words stand together."""
    looked_at = best[:LOOKED_AT]
    stems = [proposal.text.words.split() for proposal in looked_at]
    matches = Matches(asked.words, {stem for own in stems for stem in own})
    weights = [word.weight for word in asked.words]
    spoken = {word.text.casefold() for word in asked.words}
    named = spoken.intersection([proposal.text.speaker.casefold() for proposal in looked_at])
    for proposal, own in zip(looked_at, stems, strict=True):
        all_, close = _shares(own, matches, weights)
        if proposal.hit and proposal.hit.named:  # it has what is asked for by a name or a quotation: nothing is closer
            all_, close = max(all_, proposal.hit.named), max(close, proposal.hit.named)
        value = FOR_ALL * all_ + FOR_CLOSE * close + FOR_LENGTH * max(log((len(own) or 1) / LONG), 0.0)
        if named and proposal.text.kind == "transcript" and proposal.text.speaker.casefold() not in named:
            value += FOR_OTHER_SPEAKER
        proposal.add(LANE, close, value, weight)


def uncovered(asked: Asked, best: Sequence[Proposal]) -> float:
    """How little the words find: 1 if no row has more than half of `COVERED` of the question's weight, 0 from `COVERED`
    on, and where a name or a quotation was found."""
    first = best[:LOOKED_AT]
    if any(proposal.hit and proposal.hit.named for proposal in first):
        return 0.0
    stems = [frozenset(proposal.text.words.split()) for proposal in first]
    weights = [word.weight for word in asked.words]
    total = sum(weights)
    if not total:
        return 1.0
    matches = Matches(asked.words, frozenset().union(*stems))
    share = max([sum(map(mul, weights, found)) / total for found in matches.of_each(stems)], default=0.0)
    return min(max(2 * (1 - share / COVERED), 0.0), 1.0)


def _shares(own: Sequence[str], matches: Matches, weights: Sequence[float]) -> tuple[float, float]:
    """The share of the question's weight that a text has, and the share that its best window has."""
    total = sum(weights) or 1.0
    places = [(place, stem) for place, stem in enumerate(own) if stem in matches.found]
    whole = sum(map(mul, weights, matches.together({stem for _, stem in places}))) / total
    if len(own) <= WINDOW:
        return whole, whole
    best = 0.0
    for number, (start, _) in enumerate(places):
        within = {stem for place, stem in places[number:] if place < start + WINDOW}
        best = max(best, sum(map(mul, weights, matches.together(within))) / total)
    return whole, best
