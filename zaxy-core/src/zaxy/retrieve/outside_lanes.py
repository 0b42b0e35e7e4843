"""Lanes of plugins: how much each counts, how long it may take, and its scores on one scale.

What a lane says of itself stands in its manifest, and the user may give it another weight. A lane whose scale is known
can say more than an order: how far a row stands out from all others that it proposes. A lane that proposes everything
alike says nothing in this way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from zaxy.api.models import Candidate, Query
from zaxy.errors import ZaxyError
from zaxy.plugins.manifest import ANY_LANE, LaneFacts

if TYPE_CHECKING:
    from zaxy.plugins.host import BoundProvider
    from zaxy.retrieve.snapshot import Snapshot

PROPOSED_BY_OTHERS = 50
MAX_LANE_MS = 2000
"""The most that any lane may take for a question, whatever it says of itself."""
CALIBRATED = {"cosine": -1.0, "probability": 0.0}
"""The scales on which a score means the same for every question, with the least of each; the most is 1."""
OWN_LANE, NO_LANE = "verbatim", "none"
RANK = "rank"
MIN_SPREAD = 0.25
"""By how much the best of many candidates must be above the last to count as a whole."""
CROWD = 10
"""The first of a lane's candidates, from which each of them must stand out."""


class OutsideLane(NamedTuple):
    """A lane as the core asks it."""

    bound: BoundProvider
    weight: float
    seconds: float
    scale: str


class OutsideHit(NamedTuple):
    seq: int
    score: float
    """On the lane's own scale."""
    share: float
    """Between 0 and 1."""
    meaning: float
    """How far it stands out by its meaning; 0 where the scale says nothing of the kind."""


class LaneAnswer(NamedTuple):
    lane: str
    weight: float
    hits: list[OutsideHit]


def chosen_lanes(bound: Iterable[BoundProvider], chosen: Sequence[str], notices: list[str]) -> list[BoundProvider]:
    """The lanes of plugins that take part: those that the user or the workspace named, or else all."""
    outside = [lane for lane in bound if lane.name != OWN_LANE]
    names = {name.strip() for name in chosen}
    if not names:
        return outside
    missing = sorted(names - {lane.name for lane in outside} - {NO_LANE})
    notices += [f"ZAXY_LANES names {name!r:.64}, and no such lane is installed" for name in missing]
    return [lane for lane in outside if lane.name in names]


def outside_lanes(bound: Iterable[BoundProvider], weights: Sequence[str], notices: list[str]) -> list[OutsideLane]:
    """The lanes that are asked. `weights`: what the user set, as `name=0.8`; a lane of weight 0 is not asked."""
    chosen = dict(_weights(weights, notices))
    lanes = []
    for provider in bound:
        facts = _facts(provider)
        weight = chosen.pop(provider.name, facts.weight)
        if weight:
            seconds = min(facts.budget_ms, MAX_LANE_MS) / 1000
            lanes.append(OutsideLane(provider, weight, seconds, facts.scale))
    notices += [f"ZAXY_LANE_WEIGHTS names {name!r:.64}, and no such lane is installed" for name in chosen]
    return lanes


def _weights(given: Sequence[str], notices: list[str]) -> Iterator[tuple[str, float]]:
    for item in given:
        name, _, text = item.partition("=")
        try:
            weight = float(text)
        except ValueError:
            weight = math.nan
        if 0.0 <= weight <= 1.0:
            yield name.strip(), weight
        else:
            notices.append(f"ZAXY_LANE_WEIGHTS has {item!r:.80}, and should have a lane and 0 to 1, such as words=0.5")


def _facts(provider: BoundProvider) -> LaneFacts:
    manifest = provider.row.manifest
    of_lane = [one.lane for one in manifest.provides if one.name == provider.name] if manifest else []
    return next((facts for facts in of_lane if facts), ANY_LANE)


def ask_lanes(snapshot: Snapshot, query: Query, notices: list[str]) -> list[LaneAnswer]:
    """What each lane proposes. One that fails is not asked again for the same reply: it costs its budget once."""
    known_at = query.as_of.known_at or 0
    answers = []
    for lane in snapshot.lanes:
        name = lane.bound.name
        if name in snapshot.failed_lanes:
            continue
        try:
            scores = _scores(lane, query, notices)
        except ZaxyError as error:
            snapshot.failed_lanes.add(name)
            notices.append(f"the lane {name} does not take part: {error.message}")
            continue
        shares = normalised(scores, lane.scale)
        meaning = stand_out(scores, snapshot.count_said(CROWD, known_at)) if lane.scale in CALIBRATED else {}
        hits = [OutsideHit(seq, score, shares[seq], meaning.get(seq, 0.0)) for seq, score in scores.items()]
        answers.append(LaneAnswer(name, lane.weight, hits))
    return answers


def _scores(lane: OutsideLane, query: Query, notices: list[str]) -> dict[int, float]:
    """The best score of each event that the lane proposes and can mean."""
    found = lane.bound.call("search", query, budget=lane.seconds)
    if not isinstance(found, list | tuple):
        notices.append(f"the lane {lane.bound.name} does not take part: it returned no list of candidates")
        return {}
    fitting = [item for item in found[:PROPOSED_BY_OTHERS] if _fits(item, lane.scale, query.as_of.known_at or 0)]
    if left_out := len(found) - len(fitting):
        notices.append(f"the lane {lane.bound.name} proposed {left_out} events that it cannot mean")
    best: dict[int, float] = {}
    for item in fitting:
        best[item.seq] = max(float(item.score), best.get(item.seq, -math.inf))
    return best


def _fits(item: object, scale: str, known_at: int) -> bool:
    if not isinstance(item, Candidate) or type(item.seq) is not int or type(item.score) not in (int, float):
        return False
    low, high = (CALIBRATED[scale], 1.0) if scale in CALIBRATED else (-math.inf, math.inf)
    within = low - 1e-6 <= item.score <= high + 1e-6  # vectors of length 1 have a little more
    return 0 < item.seq <= known_at and within and math.isfinite(item.score)


def normalised(scores: Mapping[int, float], scale: str) -> dict[int, float]:
    """Each score as a share between 0 and 1, whatever its sign and scale.

    If the lane has filled its list, there may be more like the last of it: only what is above that counts.
    """
    if not scores:
        return {}
    if scale == RANK:
        places = sorted(set(scores.values()))
        scores = {seq: (places.index(score) + 1) / len(places) for seq, score in scores.items()}
    best, last = max(scores.values()), min(scores.values())
    if len(scores) == PROPOSED_BY_OTHERS:
        spread = max(best - last, MIN_SPREAD if scale in CALIBRATED else 0.0) or 1.0
        return {seq: (score - last) / spread for seq, score in scores.items()}
    if scale in CALIBRATED:
        return {seq: min(max(score, 0.0), 1.0) for seq, score in scores.items()}
    if last > 0 or best == last:
        return {seq: score / best if last > 0 else 1.0 for seq, score in scores.items()}
    zero = last - (best - last) / len(scores)  # so that the last of them counts a little too
    return {seq: (score - zero) / (best - zero) for seq, score in scores.items()}


def stand_out(scores: Mapping[int, float], said: int) -> dict[int, float]:
    """How far each candidate stands out: its score, less the more like the others it is.

    `said`: how many events say anything, at most `CROWD`. Of those that the lane does not propose the score is 0.
    """
    others = sorted([max(score, 0.0) for score in scores.values()], reverse=True)[1:said]
    if said < 2:
        return {}  # there is nothing to stand out from
    usual = sum(others) / (said - 1)
    return {seq: score * min(2 * (score - usual), 1.0) for seq, score in scores.items() if score > usual}
