"""Memory shown in a minute: a small project is recorded, asked, corrected, asked again and proven.

Each step says whether it showed what it should, so the demonstration is a self-test of an installation too.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from zaxy.api.models import Draft, Event
from zaxy.assemble.quality import ANSWER, ASK
from zaxy.atomic_write import atomic_write
from zaxy.errors import Unavailable
from zaxy.eventloom.citation import parse_citation
from zaxy.eventloom.opening import files_log
from zaxy.memory import Memory
from zaxy.terminal.checkout_page import VERDICTS

QUESTION = "Where do we keep login sessions?"
UNKNOWN = "Who designs the logo?"
REDIS, POSTGRES = "Keep login sessions in Redis", "Keep login sessions in Postgres"
PROJECT = (
    Draft("goal.created", "ann", {"goal": "Open the web shop in May"}),
    Draft("decision.made", "ann", {"key": "sessions", "decision": REDIS, "reason": "the old server has it"}),
    Draft("fact.recorded", "bob", {"key": "payments", "fact": "Payments go through Stripe"}),
    Draft("task.proposed", "bob", {"task": "Measure how long a payment takes"}),
    Draft(
        "transcript.turn", "user", {"role": "user", "speaker": "ann", "content": "Users are logged out every night."}
    ),
)
ALTERED = 3
"""The event that is changed in a copy of the log: the one about Stripe."""
CORRECTION = Draft(
    "decision.made", "ann", {"key": "sessions", "decision": POSTGRES, "reason": "Redis forgets them on a restart"}
)


class Shown(NamedTuple):
    """One line of what a step showed, with its source."""

    text: str
    about: str = ""
    citation: str = ""


class Step(NamedTuple):
    name: str
    heading: str
    command: str
    """What one would type to get the same."""
    shown: tuple[Shown, ...]
    ok: bool
    """Whether it showed what it should."""

    def as_dict(self) -> dict[str, Any]:
        shown = [{key: value for key, value in line._asdict().items() if value} for line in self.shown]
        return {"step": self.name, "heading": self.heading, "command": self.command, "shown": shown, "ok": self.ok}


@contextmanager
def demo_folder(keep: bool) -> Iterator[Path]:
    """An empty folder outside of every workspace, named demo; it is gone afterwards unless it is to be kept."""
    try:
        around = Path(tempfile.mkdtemp(prefix="zaxy-"))
        folder = around / "demo"
        folder.mkdir()
    except OSError as error:
        raise Unavailable(
            f"no temporary folder can be made: {error.strerror}",
            "Make room there, or name another folder in the environment variable TMPDIR.",
        ) from None
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(around, ignore_errors=True)


def demo_steps(folder: Path) -> Generator[Step, None, None]:
    """The steps in order, each handed over as soon as it is done. The folder must be empty."""
    with Memory.open(folder) as memory:
        events = memory.append_many(PROJECT)
        yield _recorded(events)
        yield _asked(memory)
        corrected = memory.append_many([CORRECTION])[0]
        yield _corrected(corrected)
        yield _asked_again(memory)
        yield _asked_as_of(memory, events[-1].seq)
        yield _asked_the_unknown(memory)
        yield _verified(memory)
        yield _tampered_with(memory)


def _recorded(events: list[Event]) -> Step:
    shown = tuple(Shown(_said(event), f"{event.type} by {event.actor}", _short(event)) for event in events)
    command = """zaxy append decision.made --payload '{"key": "sessions", "decision": "..."}'"""
    return Step("recorded", "A small project is recorded", command, shown, len(events) == len(PROJECT))


def _asked(memory: Memory) -> Step:
    reply = memory.checkout(QUESTION).as_dict()
    ok = _answers(reply, REDIS) and _resolves(memory, reply)
    return Step("asked", "Memory is asked, and cites who said it", f'zaxy checkout "{QUESTION}"', _shown(reply), ok)


def _corrected(event: Event) -> Step:
    command = """zaxy append decision.made --payload '{"key": "sessions", "decision": "..."}'"""
    shown = Shown(_said(event), f"{event.type} by {event.actor}", _short(event))
    return Step("corrected", "The decision is corrected, under the same key", command, (shown,), event.seq > 0)


def _asked_again(memory: Memory) -> Step:
    reply = memory.checkout(QUESTION).as_dict()
    left_out = reply["diagnostics"]["superseded_contexts_excluded"]
    ok = _answers(reply, POSTGRES) and _resolves(memory, reply) and left_out == 1
    ok = ok and not any(fact["content"].startswith(REDIS) for fact in reply["current_facts"])
    shown = (*_shown(reply), Shown(f"{left_out} superseded decision was left out"))
    return Step("asked_again", "Asked again, it gives the new answer", f'zaxy checkout "{QUESTION}"', shown, ok)


def _asked_as_of(memory: Memory, seq: int) -> Step:
    found = memory.query(QUESTION, limit=1, known_at=seq).results
    shown = tuple(
        Shown(one.content.splitlines()[0], f"by {one.actor}", parse_citation(one.citation).short) for one in found
    )
    command = f'zaxy query "{QUESTION}" --known-at {seq} --limit 1'
    ok = len(found) == 1 and REDIS in found[0].content
    return Step("asked_as_of", f"Asked what was known after event {seq}, it gives the old one", command, shown, ok)


def _asked_the_unknown(memory: Memory) -> Step:
    reply = memory.checkout(UNKNOWN).as_dict()
    ok = reply["quality"]["answerability"] == ASK and not reply["current_facts"]
    return Step(
        "unknown",
        "Asked about something that nobody recorded, it invents nothing",
        f'zaxy checkout "{UNKNOWN}"',
        _shown(reply),
        ok,
    )


def _verified(memory: Memory) -> Step:
    events = memory.head()  # with the notes of the checkouts, which are written behind their replies
    report = memory.recall.store.verify(memory.session)
    notes = report.events - len(PROJECT) - 1
    summary = f"{report.events} events ({notes} note the checkouts): every byte, hash and link checked"
    shown = Shown(summary, f"head {report.head}")
    ok = report.ok and report.events == events
    return Step("verified", "The log is verified", "zaxy verify", (shown,), ok)


def _tampered_with(memory: Memory) -> Step:
    """Change one word in a copy of the log: the proof must notice."""
    name = f"{memory.session}.jsonl"
    copy = Path(memory.workspace.root, "altered", name)
    copy.parent.mkdir()
    altered = Path(memory.workspace.eventloom, name).read_bytes().replace(b"Stripe", b"PayPal")
    atomic_write(str(copy), altered)
    log = files_log(str(copy.parent))
    damage = log.verify(memory.session).damage
    log.close()
    summary = f"damaged at event {damage.seq}: {damage.reason}" if damage else "nothing was noticed"
    heading = "In a copy of the log one word is changed, and that is noticed"
    ok = damage is not None and damage.seq == ALTERED
    return Step("tampered_with", heading, f"zaxy verify altered/{name}", (Shown(summary),), ok)


def _shown(reply: dict[str, Any]) -> tuple[Shown, ...]:
    """The verdict of a checkout, and its facts."""
    quality = reply["quality"]
    verdict = quality["answerability"]
    meaning = Shown(f"{VERDICTS[verdict].meaning}: {verdict}, confidence {quality['confidence']:.2f}")
    facts = (
        Shown(fact["content"], f"{fact['entity_type']} by {fact['actor']}", fact["citation"])
        for fact in reply["current_facts"]
    )
    return (meaning, *facts)


def _answers(reply: dict[str, Any], wanted: str) -> bool:
    facts = reply["current_facts"]
    return reply["quality"]["answerability"] == ANSWER and bool(facts) and facts[0]["content"].startswith(wanted)


def _resolves(memory: Memory, reply: dict[str, Any]) -> bool:
    """Whether each fact's citation leads to the event that says it."""
    events = [memory.resolve(fact["citation"]) for fact in reply["current_facts"]]
    return all(
        fact["content"].startswith(_said(event)) for fact, event in zip(reply["current_facts"], events, strict=True)
    )


def _said(event: Event) -> str:
    payload = event.payload or {}
    return next((str(payload[key]) for key in ("goal", "decision", "fact", "task", "content") if key in payload), "")


def _short(event: Event) -> str:
    return parse_citation(event.citation).short
