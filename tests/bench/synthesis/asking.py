"""Asks a real memory the questions of a history, whole and with half of the needed events erased."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from bench.synthesis.history import Asked, History
from zaxy.api.models import Draft
from zaxy.memory import Memory

SESSION = "history"
NEAR = 0.005
"""How far a number may be off: what is rounded for people."""


class Outcome(NamedTuple):
    history: str
    language: str
    asked: Asked
    right: bool
    confidence: float
    """Of the first candidate; 0 where there is none."""
    answer: str
    reasons: tuple[str, ...]


def outcomes(folder: Path, histories: Sequence[History], *, erase: bool = False) -> list[Outcome]:
    return [one for history in histories for one in _of_history(folder, history, erase=erase)]


def _of_history(folder: Path, history: History, *, erase: bool) -> Iterator[Outcome]:
    place = folder / f"{history.name}-{history.language}{'-erased' if erase else ''}"
    place.mkdir(parents=True)
    with closing(Memory.open(place)) as memory:
        drafts = [Draft(told.type, told.actor, told.payload) for told in history.told]
        events = memory.append_many(drafts, SESSION)
        seqs = [event.seq for event in events]
        if erase:
            _erase_half(memory, history, [event.citation for event in events])
        for asked in history.asked:
            yield _outcome(history, asked, seqs, memory.checkout(asked.ask, SESSION).as_dict())


def _erase_half(memory: Memory, history: History, citations: Sequence[str]) -> None:
    """Of each question every second event that its answer needs."""
    gone = {place for asked in history.asked for place in asked.needed[::2]}
    for place in sorted(gone):
        memory.forget(citations[place], "no longer needed", actor="user")


def _outcome(history: History, asked: Asked, seqs: Sequence[int], reply: dict[str, Any]) -> Outcome:
    synthesis = reply["diagnostics"].get("synthesis", {})
    found = synthesis.get("answer_candidates", [])
    top = found[0] if found else None
    needed = [f"source-{seqs[place]}" for place in asked.needed]
    right = top is None if asked.value is None and not asked.order else bool(top) and _is_right(asked, top, needed)
    plan = reply["diagnostics"].get("slot_plan", {}).get("operation", "no plan")
    reasons = (plan, *synthesis.get("missing", ()))
    return Outcome(
        history.name,
        history.language,
        asked,
        right,
        top["confidence"] if top else 0.0,
        top["answer"] if top else "",
        reasons,
    )


def _is_right(asked: Asked, top: dict[str, Any], needed: Sequence[str]) -> bool:
    if asked.order:
        return list(top["support_source_ids"]) == list(needed)
    if isinstance(asked.value, str):
        return asked.value.casefold() in str(top["answer"]).casefold()
    value = top.get("value")
    same = isinstance(value, int | float) and abs(value - float(asked.value or 0)) <= NEAR
    return same and (not asked.unit or top.get("unit") == asked.unit)


class Cost(NamedTuple):
    plain: float
    composed: float
    """Seconds of CPU of the quickest of some runs: others may use the machine too."""


def cost(folder: Path, rows: int = 1000, rounds: int = 7) -> Cost:
    """A plain checkout and a composed one over that many rows, in turn."""
    folder.mkdir(parents=True)
    with closing(Memory.open(folder)) as memory:
        drafts = [
            Draft(
                "expense.recorded",
                "ana",
                {
                    "category": "fuel",
                    "amount": number / 10,
                    "currency": "EUR",
                    "occurred_at": f"2026-{number % 9 + 1:02}-{number % 27 + 1:02}T12:00:00Z",
                },
            )
            for number in range(1, rows + 1)
        ]
        memory.append_many(drafts, SESSION)
        questions = ("Which currency has an expense for fuel?", "How much did we spend on fuel in total?")
        reply = memory.checkout(questions[1], SESSION).as_dict()["diagnostics"]["synthesis"]
        assert (reply["counted"], reply["answer_candidates"][0]["value"]) == (rows, rows * (rows + 1) / 20)
        times: list[list[float]] = [[], []]
        for _ in range(rounds):
            for question, taken in zip(questions, times, strict=True):
                start = process_time()
                memory.checkout(question, SESSION)
                taken.append(process_time() - start)
    return Cost(min(times[0]), min(times[1]))
