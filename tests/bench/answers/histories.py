"""Written histories: what several hands recorded, what is asked of it, and which statements belong together.

Each is one JSON file. Those in `tune` may be looked at while rules are changed; those in `report` may not, and only
they are judged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "histories"
TUNE, REPORT = "tune", "report"


class Recorded(NamedTuple):
    label: str
    """By which the questions of the same history name it."""
    type: str
    actor: str
    payload: dict[str, Any]
    """With `occurred_at`, when it happened."""


class Question(NamedTuple):
    ask: str
    language: str
    kind: str
    """`why`, `when` and so on; of what is not recorded `other_topic`, `same_kind` or `attribute`."""
    words: tuple[str, ...] = ()
    """All of them must be shown for a reader to know the answer."""
    events: tuple[str, ...] = ()
    """Each of them holds the answer; none where nothing does."""
    as_of: str = ""
    """It is asked when this event was the last; empty: at the end."""

    @property
    def answerable(self) -> bool:
        return bool(self.events)


class Pair(NamedTuple):
    older: str
    newer: str
    relation: str
    """`update`, `conflict` or `compatible`."""
    ask: str


class History(NamedTuple):
    name: str
    events: tuple[Recorded, ...]
    questions: tuple[Question, ...]
    pairs: tuple[Pair, ...]

    def typed(self, label: str) -> bool:
        """Whether an event was recorded in fields, and not as talk."""
        kinds = {event.label: event.type for event in self.events}
        return kinds[label] not in ("transcript.turn", "hook.user_prompt_submitted")


def load(path: Path) -> History:
    told = json.loads(path.read_text("utf-8"))
    events = tuple(
        Recorded(one["id"], one["type"], one["actor"], {**one["payload"], "occurred_at": one["time"]})
        for one in told["events"]
    )
    pairs = tuple(Pair(one["older"], one["newer"], one["relation"], one["ask"]) for one in told["pairs"])
    return History(told["set"], events, tuple(map(_question, told["questions"])), pairs)


def _question(told: dict[str, Any]) -> Question:
    if "unanswerable" in told:
        return Question(told["ask"], told["language"], told["unanswerable"])
    answer = (tuple(told["words"]), tuple(told["events"]), told.get("as_of_event") or "")
    return Question(told["ask"], told["language"], told["kind"], *answer)


def histories(half: str) -> Iterator[History]:
    for path in sorted((FOLDER / half).glob("*.json")):
        yield load(path)
