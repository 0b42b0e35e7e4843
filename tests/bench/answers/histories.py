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
AS_PEOPLE_ASK = frozenset("friends garage mobile-app planner thesis village".split())
"""Histories whose questions were written without a look at the wording of the record. Those of the others avoid its
words on purpose: most of what memory is asked is easier."""


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
    wording: str = "in other words"
    """Or `as people ask`."""

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
    wording = "as people ask" if told["set"] in AS_PEOPLE_ASK else "in other words"
    questions = tuple(_question(one)._replace(wording=wording) for one in told["questions"])
    return History(told["set"], events, questions, pairs)


def _question(told: dict[str, Any]) -> Question:
    if "unanswerable" in told:
        return Question(told["ask"], told["language"], told["unanswerable"])
    answer = (tuple(told["words"]), tuple(told["events"]), told.get("as_of_event") or "")
    return Question(told["ask"], told["language"], told["kind"], *answer)


def histories(half: str) -> Iterator[History]:
    for path in sorted((FOLDER / half).glob("*.json")):
        yield load(path)
