"""Several lanes' proposals as one list: scores brought to one scale, weighed by a profile, near-copies put last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from zaxy.extract.names import entity_key
from zaxy.plugins.manifest import ANY_LANE
from zaxy.retrieve.lanes import LaneHit
from zaxy.retrieve.outside_lanes import LaneAnswer
from zaxy.retrieve.profiles import Profile
from zaxy.retrieve.results import ScoreStep
from zaxy.text.ranking import Hit
from zaxy.text.schema import Text

T = TypeVar("T")
MONTH = 30 * 86400.0
ENOUGH_FEEDBACK = 3.0
KEYWORD, VERBATIM = "keyword", "verbatim"
PLACES = 30
"""The candidates of a lane whose place counts."""
UNCOVERED = 1.0
"""The weight that a lane gains where words find as good as nothing."""
USUAL_WEIGHT = ANY_LANE.weight
"""Of a lane that says nothing of itself. One of less weight says less of what a row means, one of more no more."""


Part = tuple[str, float, float, float]
"""The lane, its score, that as a share of the best, and the lane's weight."""


class Proposal:
    """What the lanes say of one event."""

    __slots__ = ("hit", "meaning", "parts", "score", "seq", "text")

    def __init__(self, text: Text, hit: Hit | None = None, first: Part | None = None) -> None:
        """`text`: its best passage. `first`: what the lane says that found it."""
        self.seq = text.seq
        self.text = text
        self.hit = hit
        self.parts = [first] if first else []
        """What its score is the sum of, as `ScoreStep`s have it: most proposals are never shown."""
        self.score = first[2] * first[3] if first else 0.0
        self.meaning = 0.0
        """How far it stands out by its meaning, as a lane of a plugin says."""

    def add(self, lane: str, raw: float, normalised: float, weight: float) -> None:
        self.parts.append((lane, raw, normalised, weight))
        self.score += normalised * weight

    def said_by(self, text: Text) -> Proposal:
        """Another event with the same score, which speaks of the same thing."""
        other = Proposal(text, self.hit)
        other.parts, other.score, other.meaning = self.parts, self.score, self.meaning
        return other

    @property
    def steps(self) -> tuple[ScoreStep, ...]:
        return tuple([ScoreStep(*part) for part in self.parts])

    @property
    def lane(self) -> str:
        """The lane that weighs most."""
        lanes = [part for part in self.parts if part[0] not in ("recency", "reinforced")] or self.parts
        return max(lanes, key=lambda part: part[2] * part[3])[0]


def lane_of(text: Text) -> str:
    """The lane of what words found: turns and documents are `verbatim`, others `keyword`."""
    return KEYWORD if text.kind == "event" else VERBATIM


def of_words(hits: Sequence[Hit], profile: Profile, count: int | None = None) -> dict[int, Proposal]:
    """The events of the passages that words found, or the first `count` of them."""
    best = (hits[0].score if hits else 1.0) or 1.0
    proposals: dict[int, Proposal] = {}
    for hit in hits:  # best first, so that an event keeps its best passage
        if len(proposals) == count:
            break
        if hit.text.seq not in proposals:
            # As `lane_of` does, without a call for each.
            lane, weight = (KEYWORD, profile.keyword) if hit.text.kind == "event" else (VERBATIM, profile.verbatim)
            proposals[hit.text.seq] = Proposal(hit.text, hit, (lane, hit.score, hit.score / best, weight))
    return proposals


def add(proposals: dict[int, Proposal], hits: Sequence[LaneHit], *, lane: str, weight: float, best: float) -> None:
    """Let one more lane speak for the events that are proposed; `best` is the score that counts as 1."""
    for seq, score, entity in hits:
        if seq in proposals and score > 0 and (entity is None or entity_key(entity) == proposals[seq].text.entity):
            proposals[seq].add(lane, score, min(score / best, 1.0), weight)


def add_outside(proposals: dict[int, Proposal], answer: LaneAnswer, factor: float, *, uncovered: float = 0.0) -> None:
    """Let a lane of a plugin speak for the events that are proposed: for one that stands out up to twice as much.

    `factor`: how much the profile has such lanes count. `uncovered`: how little words have found; the less that is, the
    more the lane's order counts.
    """
    trusted = min(answer.weight / USUAL_WEIGHT, 1.0)
    ranked = sorted(answer.hits, key=lambda hit: (-hit.score, -hit.seq))
    for place, (seq, score, share, meaning) in enumerate(ranked):
        if seq in proposals and share > 0:
            by_place = uncovered * max(1 - place / PLACES, 0.0)
            weight = min(answer.weight * factor * (1 + meaning), 1.0) + UNCOVERED * uncovered * trusted
            proposals[seq].add(answer.lane, score, max(share, by_place), weight)
            proposals[seq].meaning = max(proposals[seq].meaning, meaning * trusted)


def weigh(proposals: Iterable[Proposal], profile: Profile, newest: str, feedback: Mapping[int, float]) -> None:
    """Add what time and feedback add."""
    moment = datetime.fromisoformat
    now = moment(newest).timestamp() if newest else 0.0
    for proposal in proposals:
        months = max(now - moment(proposal.text.time).timestamp(), 0.0) / MONTH
        fresh = 0.5**months
        proposal.parts.append(("recency", months, fresh, profile.recency))  # `add`, without a call for each
        proposal.score += fresh * profile.recency
        if proposal.seq in feedback:
            said = feedback[proposal.seq]
            share = min(said / ENOUGH_FEEDBACK, 1.0)
            proposal.add("reinforced", said, share, profile.reinforced)


def ordered(proposals: Iterable[Proposal]) -> list[Proposal]:
    """Best first; of equals, the newest."""
    return [best for _, _, best in sorted([(-one.score, -one.seq, one) for one in proposals])]


def copies_last(held: Iterable[tuple[Proposal, T]], profile: Profile) -> Iterator[tuple[Proposal, T]]:
    """The same proposals, but whatever is nearly a copy of one above it comes after all others.

    No more is taken than asked for, and what comes first does not depend on how much that is: pages fit together.
    """
    copies: list[tuple[Proposal, T]] = []
    sets: list[frozenset[str]] = []
    for proposal, row in held:
        words = frozenset(proposal.text.words.split())
        if _is_copy(words, sets, profile.near_copy):
            copies.append((proposal, row))
        else:
            sets.append(words)
            yield proposal, row
    yield from copies


def _is_copy(words: frozenset[str], others: Iterable[frozenset[str]], share: float) -> bool:
    """Whether it has nearly the same words as one of the others."""
    size = len(words)
    for other in others:
        smaller, larger = (size, len(other)) if size < len(other) else (len(other), size)
        if smaller >= share * larger:
            common = len(words & other)
            if common >= share * (smaller + larger - common):
                return True
    return False
