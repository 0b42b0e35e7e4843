"""One history with all that a graph must keep apart: corrections, endings, back-dated news, relations and refs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from zaxy.api.models import Draft
from zaxy.memory import Memory

SESSION = "work"
PEOPLE = ("Ada", "Bob", "Émile", "Zoë", "ann o'hara")
THINGS = ("cache", "queue", "search index", "login page", "Größe", "mail relay", "backup", "billing")
STORES = ("SQLite", "Redis", "Postgres", "a file", "S3", "memory")
GOALS = ("ship the beta", "cut the costs", "no data loss")
START = datetime(2026, 3, 1, tzinfo=UTC)
TOGETHER = 100
"""Events that are appended at once; an event can cite those of earlier rounds only."""

REFS = 8

Make = Callable[["_Told"], Draft]


def record(memory: Memory, count: int, seed: int = 7) -> list[str]:
    """Fill the session with that many events, refs among them; the names of the refs."""
    told = _Told(Random(seed))
    refs: list[str] = []
    while memory.head(SESSION) < count:
        room = min(TOGETHER, count - memory.head(SESSION))
        events = memory.append_many([told.draft() for _ in range(room)], SESSION)
        told.citations += [event.citation for event in events]
        if len(refs) < REFS and memory.head(SESSION) >= count * (len(refs) + 1) // (REFS + 1):
            name = f"refs/heads/point-{len(refs)}"
            loom = memory.recall.store
            line = loom.get(SESSION, told.random.randint(1, memory.head(SESSION)))
            assert line is not None
            loom.set_ref(name, line)
            refs.append(name)
    return refs


class _Told:
    """What was told so far, and what is told next."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.number = 0
        self.citations: list[str] = []

    def draft(self) -> Draft:
        self.number += 1
        make = self.random.choices([one for one, _ in KINDS], weights=[weight for _, weight in KINDS])[0]
        return make(self)

    def one(self, among: tuple[str, ...]) -> str:
        return self.random.choice(among)

    def moment(self) -> str:
        """Mostly later than the last, at times long before it."""
        back = self.random.randint(0, 40) if self.random.random() < 0.2 else 0
        return (START + timedelta(minutes=25 * self.number, days=-back)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def when(self) -> dict[str, Any]:
        return {"occurred_at": self.moment()} if self.random.random() < 0.7 else {}


def _fact(told: _Told) -> Draft:
    thing, store = told.one(THINGS), told.one(STORES)
    payload = {"fact": f"The {thing} lies in {store}, see ZX-{told.number:04d}.", "subject": thing, **told.when()}
    if told.random.random() < 0.6:  # corrected later under the same name, whose case does not count
        key = f"{thing} place {told.random.randint(0, 9)}"
        payload["key"] = key.upper() if told.random.random() < 0.2 else key
    if told.citations and told.random.random() < 0.1:
        payload["supersedes"] = told.random.choice(told.citations)
    return Draft("fact.recorded", told.one(PEOPLE), payload)


def _decision(told: _Told) -> Draft:
    thing = told.one(THINGS)
    payload: dict[str, Any] = {"decision": f"Keep the {thing} in {told.one(STORES)}", "key": thing, **told.when()}
    if told.random.random() < 0.1:
        payload["supersedes"] = [told.one(THINGS), told.one(THINGS)]
    return Draft("decision.made", told.one(PEOPLE), payload)


def _task(told: _Told) -> Draft:
    kind = told.one(("task.proposed", "task.claimed", "task.completed"))
    name = f"move the {told.one(THINGS)} {told.random.randint(0, 5)}"
    return Draft(kind, told.one(PEOPLE), {"task": name, "key": name, "goal": told.one(GOALS), **told.when()})


def _goal(told: _Told) -> Draft:
    goal = told.one(GOALS)
    return Draft("goal.created", told.one(PEOPLE), {"goal": goal, "key": goal, "priority": told.number % 3})


def _turn(told: _Told) -> Draft:
    who = told.one(PEOPLE)
    said = f"{told.one(PEOPLE)} moved the {told.one(THINGS)} to {told.one(STORES)}, I think; ZX-{told.number:04d}."
    payload = {"role": "user", "speaker": who, "content": said, "source": f"chat {told.number // 30}"}
    return Draft("transcript.turn", who, payload)


def _preference(told: _Told) -> Draft:
    payload = {"user": told.one(PEOPLE), "preference": f"{told.one(STORES)} for the {told.one(THINGS)}"}
    return Draft("user.preference_changed", told.one(PEOPLE), {**payload, **told.when()})


def _document(told: _Told) -> Draft:
    path = f"docs/{told.one(THINGS).replace(' ', '-')}.md"
    return Draft("document.indexed", "indexer", {"path": path, "text": f"How to move to {told.one(STORES)}."})


def _invalidated(told: _Told) -> Draft:
    kind = told.one(("decision", "fact", "task"))
    name = told.one(THINGS) if kind == "decision" else f"{told.one(THINGS)} place {told.random.randint(0, 9)}"
    payload = {"entity_type": kind, "entity_name": name, "reason": "it is no longer so"}
    if told.random.random() < 0.5:
        payload["invalid_at"] = told.moment()
    return Draft("memory.invalidated", told.one(PEOPLE), payload)


def _reinforced(told: _Told) -> Draft:
    if not told.citations:
        return _turn(told)
    return Draft("memory.reinforced", "assistant", {"citation": told.random.choice(told.citations)})


KINDS: tuple[tuple[Make, int], ...] = (
    (_fact, 30),
    (_decision, 15),
    (_task, 10),
    (_goal, 2),
    (_turn, 25),
    (_preference, 6),
    (_document, 4),
    (_invalidated, 6),
    (_reinforced, 2),
)
