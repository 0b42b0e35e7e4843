"""Three written histories, each with questions in wholly other words than the record that answers them.

They were written before any lane of vectors and without asking memory: no question was changed because of what finds
it. The halves alternate. That for tuning may be looked at while a lane is made; only the other one is judged.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
DOMAINS = ("team", "household", "office")
TUNE, REPORT = "tune", "report"


class Recorded(NamedTuple):
    label: str
    """By which the questions of the same history name it."""
    type: str
    actor: str
    payload: dict[str, Any]


class Question(NamedTuple):
    ask: str
    record: str
    """The label of the only event that answers it."""
    half: str


class History(NamedTuple):
    name: str
    events: tuple[Recorded, ...]
    """In the order in which they were recorded."""
    questions: tuple[Question, ...]


def load(domain: str) -> History:
    written = json.loads((FOLDER / f"{domain}.json").read_text("utf-8"))
    events = tuple(Recorded(one["id"], one["type"], one["actor"], one["payload"]) for one in written["events"])
    questions = tuple(Question(one["ask"], one["record"], one["half"]) for one in written["questions"])
    return History(written["name"], events, questions)


def histories() -> list[History]:
    return [load(domain) for domain in DOMAINS]
