"""A small project's memory, and what the tests of its replies look for in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zaxy.api.models import Event
from zaxy.memory import Memory

SESSION = "work"
HOUSEKEEPING = (
    *("memory.checkout.completed", "memory.bootstrap.shown", "memory.reminder.suggested", "memory.ref.updated"),
    *("tool.call.completed", "event.erased"),
)
_CITATION = re.compile(r"eventloom://[A-Za-z0-9_.-]+/events/[1-9][0-9]*#(?:[0-9a-f]{64}|[0-9a-f]{12})(?![0-9a-f])")


def fact(memory: Memory, text: str, session: str = SESSION, actor: str = "ada", **fields: object) -> Event:
    return memory.append("fact.recorded", {"fact": text, **fields}, actor=actor, session=session)


def decision(memory: Memory, text: str, session: str = SESSION, **fields: object) -> Event:
    return memory.append("decision.made", {"decision": text, **fields}, actor="ada", session=session)


def turn(memory: Memory, text: str, session: str = SESSION, **fields: object) -> Event:
    return memory.append("transcript.turn", {"role": "user", "content": text, **fields}, actor="ada", session=session)


def project(memory: Memory, session: str = SESSION) -> dict[str, Event]:
    """Goals, decisions, tasks, an issue, an edit and facts, by short names."""
    return {
        "goal": memory.append(
            "goal.created", {"goal": "Ship the billing release in May"}, actor="ada", session=session
        ),
        "decision": decision(memory, "The billing service uses Postgres.", session, key="database"),
        "open task": memory.append(
            "task.proposed", {"task": "Write the restore drill"}, actor="grace", session=session
        ),
        "done task": memory.append(
            "task.completed", {"task": "Rename the ledger tables"}, actor="grace", session=session
        ),
        "issue": memory.append("issue.diagnosed", {"issue": "Nightly export times out"}, actor="ada", session=session),
        "edit": memory.append(
            "file.edit.applied", {"path": "src/ledger.py", "summary": "new index"}, actor="ada", session=session
        ),
        "port": fact(memory, "The label printer listens on port 8443.", session),
        "lamp": fact(memory, "The harbour lamp burns whale oil.", session),
        "turn": turn(memory, "My cat is called Biscuit and she sleeps on the scanner.", session),
    }


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


def citations_in(reply: Any) -> set[str]:
    """Every citation anywhere in a reply; something that only looks like one fails the test."""
    found = set()
    for text in texts_in(json.loads(json.dumps(reply))):
        for start in re.finditer("eventloom://", text, re.IGNORECASE):
            whole = _CITATION.match(text, start.start())
            assert whole, text[start.start() : start.start() + 100]
            found.add(whole.group())
    return found


def answerability(memory: Memory, question: str, session: str = SESSION) -> str:
    return str(memory.checkout(question, session).quality.answerability)


def log_of(folder: Path, session: str = SESSION) -> Path:
    return folder / ".eventloom" / f"{session}.jsonl"
