"""Asks a real memory what a written history should answer, and notes what came back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from bench.answers.histories import History, Pair, Question
from folders import made_folder
from zaxy.memory import Memory

SESSION = "history"
PLAIN, ASKED, FEEDBACK = "plain", "questions recorded", "after feedback"
ROUNDS = 2
"""Of feedback, as each reply suggests it."""
FIRST = 3
_EVENT = re.compile(r"eventloom://[^\s\]\"#]+")
"""Of a citation the part that says which event it is: how much of the hash follows differs."""
_MARKS = re.compile(r"[\\\"“”„«»'’‘`\s]+")


class Outcome(NamedTuple):
    """What one checkout gave."""

    history: str
    question: Question
    verdict: str
    confidence: float
    shown: bool
    """The prompt has all words of the answer."""
    cited: bool
    """An answering event is among the first three that are shown."""


class PairOutcome(NamedTuple):
    pair: Pair
    typed: bool
    newest_first: bool
    both_shown: bool
    flagged: bool
    """The reply says that the two cannot both be so."""


class Asked:
    """A memory that holds one history."""

    def __init__(self, folder: Path, history: History, way: str = PLAIN) -> None:
        self._history = history
        self._memory = Memory.open(made_folder(folder))
        self._events: dict[str, str] = {}
        self._early: list[Outcome] = []
        for event in history.events:
            recorded = self._memory.append(event.type, event.payload, actor=event.actor, session=SESSION)
            self._events[event.label] = _event(recorded.citation)
            self._early += [self._outcome(one) for one in history.questions if one.as_of == event.label]
        if way == ASKED:
            self._record_questions()
        if way == FEEDBACK:
            self._give_feedback()

    def _record_questions(self) -> None:
        """As hooks do: some by the hook's own event, some as turns of a captured talk."""
        for number, question in enumerate(self._history.questions):
            if number % 2:
                payload = {"role": "user", "speaker": "user", "content": question.ask}
                self._memory.append("transcript.turn", payload, actor="user", session=SESSION)
            else:
                payload = {"prompt": question.ask}
                self._memory.append("hook.user_prompt_submitted", payload, actor="zaxy-hook", session=SESSION)

    def _give_feedback(self) -> None:
        for _ in range(ROUNDS):
            for question in self._history.questions:
                reply = self._memory.checkout(question.ask, session=SESSION).as_dict()
                payloads = reply["guidance"].get("feedback", {}).get("payloads", [])
                for payload in payloads[:1]:
                    self._memory.feedback(**{"session": SESSION, **_as_arguments(payload)})

    def outcomes(self) -> Iterator[Outcome]:
        yield from self._early
        yield from (self._outcome(one) for one in self._history.questions if not one.as_of)

    def _outcome(self, question: Question) -> Outcome:
        reply = self._memory.checkout(question.ask, session=SESSION).as_dict()
        answering = {self._events[label] for label in question.events}
        said = _bare(_without_question(reply["prompt"]))
        return Outcome(
            self._history.name,
            question,
            reply["quality"]["answerability"],
            reply["quality"]["confidence"],
            bool(question.words) and all(_bare(word) in said for word in question.words),
            not answering.isdisjoint(_cited(reply)[:FIRST]),
        )

    def pairs(self) -> Iterator[PairOutcome]:
        for pair in self._history.pairs:
            reply = self._memory.checkout(pair.ask, session=SESSION).as_dict()
            older, newer = self._events[pair.older], self._events[pair.newer]
            cited = _cited(reply)
            in_prompt = _EVENT.findall(reply["prompt"])
            claims = [{_event(claim["citation"]) for claim in one["claims"]} for one in reply["conflicts"]]
            yield PairOutcome(
                pair,
                self._history.typed(pair.older) and self._history.typed(pair.newer),
                newer in cited and (older not in cited or cited.index(newer) < cited.index(older)),
                older in in_prompt and newer in in_prompt,
                any({older, newer} <= both for both in claims),
            )

    def close(self) -> None:
        self._memory.close()


def _as_arguments(payload: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the tool as those of Python: the session is called `session_id` there."""
    arguments = dict(payload)
    if "session_id" in arguments:
        arguments["session"] = arguments.pop("session_id")
    return arguments


def _cited(reply: dict[str, Any]) -> list[str]:
    """The events that are shown, in the order of the prompt; evidence that stands beside the prompt comes last."""
    beside = [_event(row["citation"]) for row in (*reply["current_facts"], *reply["evidence"])]
    in_prompt = [event for event in _EVENT.findall(reply["prompt"]) if event in beside]
    return list(dict.fromkeys((*in_prompt, *beside)))


def _event(citation: str) -> str:
    return citation.partition("#")[0]


def _without_question(prompt: str) -> str:
    return "\n".join(line for line in prompt.splitlines() if not line.startswith("Question: "))


def _bare(text: str) -> str:
    """Without quotation marks, escapes and the width of spaces, which a prompt may change."""
    return _MARKS.sub(" ", text.replace("\\n", " ")).casefold().strip()


def ask(folder: Path, told: Iterable[History], way: str) -> tuple[list[Outcome], list[PairOutcome]]:
    """All questions of all histories, each history in a memory of its own."""
    outcomes: list[Outcome] = []
    pairs: list[PairOutcome] = []
    for history in told:
        with closing(Asked(folder / f"{history.name} {way}", history, way)) as asked:
            outcomes += asked.outcomes()
            pairs += asked.pairs()
    return outcomes, pairs


def by(outcomes: Sequence[Outcome], key: str) -> dict[str, list[Outcome]]:
    """The outcomes by history, language or kind of question."""
    found: dict[str, list[Outcome]] = {}
    for one in outcomes:
        name = one.history if key == "history" else getattr(one.question, key)
        found.setdefault(name, []).append(one)
    return dict(sorted(found.items()))
