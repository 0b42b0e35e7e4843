"""A year of a team's memory, made from a seed, with questions whose answers are known events.

Frozen: `tests/test_recall_bench.py` holds the digests of what it makes, so that nothing can be tuned to it unnoticed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from bench.recall.agenda import Planned
from bench.recall.dice import Dice

PER_KIND = 16


class Happening(NamedTuple):
    """An event of a history; its seq is its place, from 1."""

    type: str
    actor: str
    payload: dict[str, object]
    replaces: int = 0
    """The seq of the event that it names in `supersedes`, by citation; 0 if none."""


class Question(NamedTuple):
    kind: str
    text: str
    gold: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class History:
    seed: int
    events: tuple[Happening, ...]
    questions: tuple[Question, ...]

    @property
    def session(self) -> str:
        return f"history-{self.seed}"

    def digest(self) -> str:
        content = [self.events, self.questions]
        return sha256(json.dumps(content, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def make_history(seed: int) -> History:
    from bench.recall.team import Team

    dice = Dice(seed)
    team = Team(dice)
    order = team.live()
    seqs = {id(event): seq for seq, event in enumerate(order, 1)}
    questions = [
        Question(kind, text, tuple(sorted(seqs[id(event)] for event in gold)))
        for kind, asked in sorted(team.asked.items())
        for text, gold in dice.some(asked, PER_KIND)
    ]
    return History(seed, tuple(_happening(event, seqs) for event in order), tuple(questions))


def _happening(event: Planned, seqs: dict[int, int]) -> Happening:
    replaces = seqs[id(event.replaces)] if event.replaces else 0
    return Happening(event.type, event.actor, event.payload, replaces)
