"""The payload fields of the events that Zaxy writes itself: read off a memory that was used in every way."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from zaxy.contracts.sample_memory import sample_memory

SESSION, IMPORTED = "contract", "contract-imported"
FACT = {"fact": "The importer limit is 40 files", "key": "importer-limit"}
NEWER = {"fact": "The importer limit is 50 files", "supersedes": "importer-limit"}
SAID = "The importer is slow on Mondays"


def own_payloads() -> dict[str, set[str]]:
    """The fields by event type. What was imported says so in its payload, so it counts only where nothing else does."""
    found: dict[str, set[str]] = {}
    with sample_memory() as memory:
        _use(memory)
        for session in (SESSION, IMPORTED):
            here: dict[str, set[str]] = {}
            for event in memory.replay(session, include_housekeeping=True):
                here.setdefault(event.type, set()).update(event.payload or ())
            found = {**here, **found}
    return found


def _use(memory: Any) -> None:
    store, remind = memory.recall.store, import_module("zaxy.observe.reminders").reminder
    draft_of = import_module("zaxy.eventloom.drafts").draft_of
    fact = memory.append("fact.recorded", FACT, session=SESSION)
    memory.checkout("How many files does the importer take?", SESSION)
    memory.bootstrap(SESSION)
    context = import_module("zaxy.observe.context_command")
    shown = context.Injection("Zaxy's memory", (fact.citation,))
    store.append(SESSION, [draft_of(context.injected(shown, client="acme", client_session="abc"))])
    store.append(SESSION, [draft_of(remind("long_session"))])
    store.set_ref("refs/importer", fact)
    newer = memory.append("fact.recorded", NEWER, session=SESSION)
    memory.forget(newer.citation, "asked for")
    memory.append("fact.recorded", {"fact": SAID}, session=SESSION)
    memory.invalidate(SAID, "fact", reason="it was fixed", invalid_at="2100-01-01", session=SESSION)
    memory.append("fact.recorded", {"fact": "The importer is new", "key": "importer-age"}, session=SESSION)
    memory.invalidate("importer-age", "fact", session=SESSION)
    memory.import_events([_elsewhere(event) for event, _ in memory.lines(SESSION)], IMPORTED, source={})
    memory.end_session("done", SESSION)  # with it, the marks of what was shown are written


def _elsewhere(event: Any) -> Any:
    """An event as an importer hands it over."""
    foreign = import_module("zaxy.api").ForeignEvent
    erased = event.payload is None
    return foreign(event.citation, event.time, event.type, event.actor, event.payload, event.sensitivity, erased)
