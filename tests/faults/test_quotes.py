"""What is written about a memory does not say it again: not in the log, not in an export, not after an erasure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from engines import needs_kuzu
from folders import made_folder
from zaxy.api.models import AsOf, EntityRef, Event
from zaxy.errors import ZaxyError
from zaxy.memory import Memory

SESSION = "work"
WORD = "quixzbarq"
SENTENCE = f"Ann will be paid 91,000 {WORD} a year from May."
LONG = f"{SENTENCE} " + "And so on, as the letter says at length. " * 20
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "fact": ("fact.recorded", {"fact": SENTENCE}),
    "fact in parts": ("fact.recorded", {"subject": "Ann", "attribute": "salary", "value": f"91,000 {WORD}"}),
    "short fact": ("fact.recorded", {"fact": WORD}),
    "long fact": ("fact.recorded", {"fact": LONG}),
    "decision": ("decision.made", {"decision": SENTENCE}),
    "titled decision": ("decision.made", {"title": f"Pay Ann {WORD}", "decision": "From May."}),
    "preference": ("user.preference_changed", {"user": "bob", "preference": SENTENCE}),
    "document": ("document.indexed", {"path": f"letters/{WORD}.md", "content": SENTENCE}),
    "task": ("task.proposed", {"title": SENTENCE}),
    "task with an id": ("task.proposed", {"id": "T-1", "title": SENTENCE}),
    "keyed by a sentence": ("fact.recorded", {"key": SENTENCE, "fact": "It is so."}),
    "note": ("note.taken", {"text": SENTENCE}),
}
TIERS = ("confidential", "restricted")


@pytest.fixture(params=("sqlite", pytest.param("kuzu", marks=needs_kuzu)))
def memory(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setenv("ZAXY_EMBEDDED_ENGINE", request.param)
    with Memory.open(tmp_path) as opened:
        yield opened


@pytest.fixture
def builtin(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        yield opened


def recorded(memory: Memory, kind: str, tier: str = "restricted") -> tuple[Event, EntityRef]:
    """An event and the thing that it tells of, as a caller gets to know its name."""
    event_type, payload = KINDS[kind]
    event = memory.append(event_type, payload, actor="ada", session=SESSION, sensitivity=tier)
    memory.follow(SESSION)
    row = next(
        row
        for row in memory.recall.backend.rows_of_events(SESSION, [event.seq], AsOf())
        if row.entity.entity_type not in ("actor", "user", "subject", "source")
    )
    return event, EntityRef(row.entity.entity_type, row.entity.name)


def text_of(event: Event) -> str:
    return json.dumps(event.payload)


def held_in(folder: Path, word: str = WORD) -> list[str]:
    """Every file under a folder that has a word in any byte of it."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and _has(path, word))


def _has(path: Path, word: str) -> bool:
    return word.encode() in path.read_bytes()


def reached(memory: Memory, thing: EntityRef) -> list[tuple[str, str]]:
    memory.follow(SESSION)
    edges = memory.recall.backend.neighbours(
        SESSION, [thing], relations=["feedback_about_memory", "reinforced_memory"], depth=1, as_of=AsOf(), limit=20
    )
    return sorted((row.edge.relation_type, row.edge.source.entity_type) for row in edges if row.edge.target == thing)


@pytest.mark.parametrize("kind", KINDS)
def test_feedback_holds_the_citation_and_reaches_that_thing(memory: Memory, kind: str) -> None:
    event, thing = recorded(memory, kind)
    said = memory.feedback(thing.name, thing.entity_type, feedback="used", session=SESSION, citation=event.citation)
    assert WORD not in text_of(said)
    assert reached(memory, thing) == [
        ("feedback_about_memory", "memory_feedback"),
        ("reinforced_memory", "actor"),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_an_invalidation_holds_the_citation_and_ends_that_thing_alone(memory: Memory, kind: str) -> None:
    _, thing = recorded(memory, kind)
    memory.append("fact.recorded", {"key": "other", "fact": "It stays."}, actor="ada", session=SESSION)
    ended = memory.invalidate(thing.name, thing.entity_type, session=SESSION)
    assert WORD not in text_of(ended)
    memory.follow(SESSION)
    assert memory.recall.versions(SESSION, thing, AsOf()) == []
    assert memory.recall.versions(SESSION, EntityRef("fact", "other"), AsOf())
    with pytest.raises(ZaxyError) as again:
        memory.invalidate(thing.name, thing.entity_type, session=SESSION)
    assert again.value.code == "not_found"


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("how", ("cited", "named", "by citation"))
def test_what_is_about_a_memory_takes_over_its_tier(builtin: Memory, tier: str, how: str) -> None:
    event, thing = recorded(builtin, "fact", tier)
    name = event.citation if how == "by citation" else thing.name
    details = {"citation": event.citation} if how == "cited" else {}
    said = builtin.feedback(name, "fact", feedback="helpful", session=SESSION, **details)
    ended = builtin.invalidate(name, "fact", session=SESSION)
    assert (said.sensitivity, ended.sensitivity) == (tier, tier)
    assert WORD not in text_of(said) + text_of(ended)


def test_a_key_is_still_written_as_it_is_given(builtin: Memory) -> None:
    event = builtin.append("fact.recorded", {"key": "pay", "fact": SENTENCE}, actor="ada", session=SESSION)
    said = builtin.feedback("pay", "fact", feedback="used", session=SESSION, citation=event.citation)
    assert said.payload == {
        "entity_name": "pay",
        "entity_type": "fact",
        "feedback": "used",
        "citation": event.citation,
    }


def test_a_name_that_the_cited_event_does_not_give_is_not_written_down(builtin: Memory) -> None:
    event, _ = recorded(builtin, "fact")
    about = f"what {WORD} is paid"
    said = builtin.feedback(about, "fact", feedback="used", session=SESSION, citation=event.citation)
    assert WORD not in text_of(said)
    assert said.sensitivity == "restricted"


def test_a_citation_of_something_else_is_kept_beside_the_reference(builtin: Memory) -> None:
    event, thing = recorded(builtin, "fact")
    other = builtin.append("note.taken", {"text": "Said on the phone."}, actor="ada", session=SESSION)
    said = builtin.feedback(thing.name, "fact", feedback="used", session=SESSION, citation=other.citation)
    assert said.payload is not None
    assert (said.payload["citation"], said.payload["entity_citation"]) == (other.citation, event.citation)
    assert len(reached(builtin, thing)) == 2


def test_one_of_two_things_with_one_title_is_reached_and_not_the_other(builtin: Memory) -> None:
    first = builtin.append("task.proposed", {"id": "T-1", "title": SENTENCE}, actor="ada", session=SESSION)
    continued = builtin.append("task.claimed", {"title": SENTENCE}, actor="ada", session=SESSION)
    builtin.append("task.proposed", {"id": "T-2", "title": SENTENCE}, actor="ada", session=SESSION)
    for citation in (first.citation, continued.citation):
        builtin.feedback("T-1", "task", feedback="used", session=SESSION, citation=citation)
    assert len(reached(builtin, EntityRef("task", "T-1"))) == 3
    assert reached(builtin, EntityRef("task", "T-2")) == []


def test_the_payload_that_guidance_suggests_repeats_nothing_and_reinforces(builtin: Memory) -> None:
    event, thing = recorded(builtin, "fact")
    builtin.append("fact.recorded", {"fact": "Ben will be paid 80,000 a year."}, actor="ada", session=SESSION)
    before = {row.citation: row.score for row in builtin.query("Ann paid", SESSION).results}
    advice = builtin.checkout("What will Ann be paid?", SESSION).as_dict()["guidance"]
    assert WORD not in json.dumps(advice)
    (payload, *_) = advice["feedback"]["payloads"]
    session = payload.pop("session_id")
    said = builtin.feedback(**payload, session=session)
    assert WORD not in text_of(said)
    after = {row.citation: row.score for row in builtin.query("Ann paid", SESSION).results}
    assert after[event.citation] > before[event.citation]
    assert len(reached(builtin, thing)) == 2


@pytest.mark.needs_package("export")
def test_a_restricted_sentence_does_not_leave_by_what_was_said_of_it(builtin: Memory) -> None:
    event, thing = recorded(builtin, "fact")
    builtin.feedback(thing.name, "fact", feedback="used", session=SESSION, citation=event.citation)
    builtin.feedback(thing.name, "fact", feedback="irrelevant", session=SESSION)
    builtin.invalidate(thing.name, "fact", session=SESSION)
    from zaxy_export.selector import Selector

    bundle = BytesIO()
    builtin.export(bundle, Selector.of({"exclude_sensitivities": ["restricted"]}), session=SESSION)
    assert WORD.encode() not in bundle.getvalue()


@pytest.mark.parametrize("kind", ("fact", "long fact", "task", "decision"))
def test_nothing_of_an_erased_sentence_is_left_though_it_was_judged_and_ended(
    memory: Memory, tmp_path: Path, kind: str
) -> None:
    event, thing = recorded(memory, kind)
    memory.feedback(thing.name, thing.entity_type, feedback="used", session=SESSION, citation=event.citation)
    memory.feedback(thing.name, thing.entity_type, feedback="irrelevant", session=SESSION)
    memory.invalidate(thing.name, thing.entity_type, session=SESSION)
    memory.query("what is Ann paid?", SESSION)
    assert held_in(tmp_path)
    memory.forget(event.citation, "it was asked for")
    assert held_in(tmp_path) == []
    memory.query("what is Ann paid?", SESSION)
    assert held_in(tmp_path) == []


@pytest.mark.needs_package("export")
def test_an_import_ends_and_reinforces_what_its_bundle_did(builtin: Memory, tmp_path: Path) -> None:
    event, thing = recorded(builtin, "fact")
    kept = builtin.append("fact.recorded", {"fact": f"Ben knows {WORD}."}, actor="ada", session=SESSION)
    builtin.feedback(kept.citation, "fact", feedback="used", session=SESSION)
    builtin.invalidate(event.citation, "fact", session=SESSION)
    bundle = BytesIO()
    builtin.export(bundle, session=SESSION)
    with Memory.open(made_folder(tmp_path / "there")) as there:
        there.import_bundle(bundle, SESSION)
        there.follow(SESSION)
        assert there.recall.versions(SESSION, thing, AsOf()) == []
        assert len(reached(there, EntityRef("fact", f"Ben knows {WORD}."))) == 2


def test_a_follower_that_is_built_again_reaches_the_same(memory: Memory) -> None:
    for kind in sorted(KINDS.keys() - {"task with an id"}):  # which only continues the task before it
        event, thing = recorded(memory, kind)
        memory.feedback(thing.name, thing.entity_type, feedback="used", session=SESSION, citation=event.citation)
    step_by_step = memory.follower_digests(SESSION)
    memory.rebuild_followers(SESSION)
    assert memory.follower_digests(SESSION) == step_by_step
