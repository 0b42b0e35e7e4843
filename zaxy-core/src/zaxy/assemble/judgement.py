"""Whether memory bears on a question, and whether it answers it: two sums of a few figures, and the order of rows.

How the weights were chosen is in docs/decisions/0024. A person can redo each sum by
the figures in `diagnostics.judgement`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Any, NamedTuple

from zaxy.assemble.features import Features, Weighed
from zaxy.retrieve.question import Asked

ORDER = Features(
    score=4.0,
    coverage=2.5,
    window=1.5,
    pair=0.0,
    fit=0.5,
    field=0.5,
    other_speaker=-0.8,
    long=-0.8,
    other_name=0.0,
    newer=1.5,
    reader=3.0,
)
ROW = Features(
    score=5.0,
    coverage=2.7,
    window=0.0,
    pair=1.1,
    fit=0.6,
    field=0.0,
    other_speaker=-2.3,
    long=-0.8,
    other_name=0.0,
    newer=0.0,
    reader=2.0,
)
ROW_START = -5.3
"""By which rows are ordered, and what says that one of them answers."""
TOPIC = {
    "row": 0.3,
    "coverage": 2.7,
    "window": 2.4,
    "matched": 1.2,
    "unseen": -1.9,
    "unseen_names": -1.0,
    "meaning": 2.0,
    "reader": 1.5,
}
"""`meaning` makes up for words that memory does not know, as far as a lane of a plugin finds a row that means them."""
TOPIC_START, BEARS = -1.9, 0.36
ANSWER = {
    "row": 0.1,
    "coverage": 1.9,
    "matched": 0.5,
    "field": 1.0,
    "gap": 0.4,
    "unseen": -0.3,
    "other_speaker": -1.0,
    "other_name": -1.1,
    "reader": 1.5,
}
ANSWER_START, ANSWERS = -1.7, 0.77
MAX_MATCHED = 4.0
"""What more than four telling words of a question say together is no surer."""
TELLING = 0.4
"""The weight from which a word of the question is worth mentioning."""
TENTH = 10
"""How far down the list the gap is measured."""


class Judgement(NamedTuple):
    topic: float
    """How sure it is that anything bears on the question."""
    answer: float
    """How sure it is that the question is answered: in how many of such cases the rows that are shown state it."""
    figures: dict[str, float]
    missing: tuple[str, ...]
    """The telling words of the question that no row has."""

    @property
    def bears(self) -> bool:
        return self.topic >= BEARS

    @property
    def answers(self) -> bool:
        return self.bears and self.answer >= ANSWERS

    def as_dict(self) -> dict[str, Any]:
        return {
            "topic": round(self.topic, 2),
            "topic_needed": BEARS,
            "answer": round(self.answer, 2),
            "answer_needed": ANSWERS,
            "figures": {name: round(value, 2) for name, value in self.figures.items()},
            "words_not_found": list(self.missing),
        }


def in_order(rows: Sequence[Weighed]) -> list[Weighed]:
    """The rows that fit best first; of equals, in the order of recall."""
    return sorted(rows, key=order_sum, reverse=True)


def order_sum(row: Weighed) -> float:
    return _sum(ORDER, row.features)


def row_sum(features: Features) -> float:
    return _sum(ROW, features) + ROW_START


def judged(asked: Asked, rows: Sequence[Weighed]) -> Judgement:
    """`rows` in their order."""
    features = [row.features for row in rows]
    first = features[0] if features else Features(*[0.0] * len(Features._fields))
    unseen = [word for word in asked.words if not word.is_known]
    meaning = max([row.result.meaning for row in rows], default=0.0)
    weights = [word.weight for word in asked.words]
    figures = {
        "row": max(map(row_sum, features), default=ROW_START),
        "coverage": max([one.coverage for one in features], default=0.0),
        "window": max([one.window for one in features], default=0.0),
        "matched": min(max([sum([weights[place] for place in row.found]) for row in rows], default=0.0), MAX_MATCHED),
        "field": max([one.field * one.coverage for one in features], default=0.0),
        "unseen": sum(_unseen(asked, rows)) / (asked.total or 1.0),
        "unseen_names": float(sum(word.is_name for word in unseen)),
        "other_speaker": first.other_speaker,
        "other_name": max(features, key=row_sum, default=first).other_name,
        "gap": first.score - (features[TENTH - 1].score if len(features) >= TENTH else 0.0),
    }
    if meaning:
        figures["meaning"] = meaning * figures["unseen"]
    if reader := max([one.reader for one in features], default=0.0):
        figures["reader"] = reader
    found = frozenset().union(*[row.found for row in rows])
    left = [word for place, word in enumerate(asked.words) if place not in found]
    return Judgement(
        _share(TOPIC_START + sum([weight * figures.get(name, 0.0) for name, weight in TOPIC.items()])),
        _share(ANSWER_START + sum([weight * figures.get(name, 0.0) for name, weight in ANSWER.items()])),
        figures,
        tuple(word.text for word in left if word.weight >= TELLING),
    )


def _unseen(asked: Asked, rows: Sequence[Weighed]) -> list[float]:
    """The weight of each word that memory does not know, less what rows have of it by its meaning."""
    likeness = [max(of_word) for of_word in zip(*[row.likeness for row in rows if row.likeness], strict=True)]
    near = likeness or [0.0] * len(asked.words)
    return [word.weight * (1 - like) for word, like in zip(asked.words, near, strict=True) if not word.is_known]


def _sum(weights: Features, features: Features) -> float:
    return sum([weight * value for weight, value in zip(weights, features, strict=True)])


def _share(total: float) -> float:
    return 1.0 / (1.0 + exp(-total))
