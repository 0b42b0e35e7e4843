from __future__ import annotations

from random import Random
from typing import Any

import pytest

from zaxy_coordinate.fold import FINDING, PROMOTION, REVIEW, STATUSES, WORKER, MissionState
from zaxy_coordinate.standing import Standings, open_conflicts
from zaxy_testkit import sample_event

MISSION, WORKERS = "port", ("w1", "w2", "w3")


class History:
    """A mission with findings that agree and contradict, reviewed and promoted at random."""

    def __init__(self, seed: int) -> None:
        self.state = MissionState(MISSION)
        self._rng, self._seqs = Random(seed), dict[str, int]()
        for worker in WORKERS:
            self._tell(MISSION, WORKER, worker_id=worker, worker_session_id=f"{MISSION}.{worker}")
        for number in range(1, 40):
            self._tell_something(number)

    def _tell(self, session: str, event_type: str, **payload: Any) -> None:
        seq = self._seqs[session] = self._seqs.get(session, 0) + 1
        given = {"mission_id": MISSION, **payload}
        self.state.apply(sample_event(session, seq, event_type=event_type, payload=given))

    def _tell_something(self, number: int) -> None:
        pick = self._rng.choice
        worker, names = pick(WORKERS), list(self.state.findings)
        if self._rng.random() < 0.6 or not names:
            said = {"claim_key": f"key {pick('abcdef')}", "claim_value": pick("xyz"), "summary": "It is so."}
            name = f"{worker}:finding:{number}"
            self._tell(f"{MISSION}.{worker}", FINDING, worker_id=worker, finding_id=name, **said)
        elif self._rng.random() < 0.7:
            self._tell(MISSION, REVIEW, finding_id=pick(names), status=pick(STATUSES))
        else:
            self._tell(MISSION, PROMOTION, finding_id=pick(names), claim_key=f"key {pick('abcdef')}", claim_value="x")


@pytest.mark.parametrize("seed", range(60))
def test_looked_at_alone_the_open_conflicts_are_those_of_all_that_stands(seed: int) -> None:
    state = History(seed).state
    assert open_conflicts(state) == Standings(state).conflicts


def test_most_of_these_histories_have_conflicts() -> None:
    assert sum(bool(open_conflicts(History(seed).state)) for seed in range(60)) > 40
