"""Forgetting names everybody else who holds the words, and erases them too where that is asked for."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Zaxy
from faults.crashes import SEED, text_under
from folders import made_folder
from imports import WAYS, taken_along
from zaxy.assemble.copies import find_copies, sentences_of
from zaxy.errors import ZaxyError
from zaxy.eventloom.admission import checked_entry
from zaxy.eventloom.drafts import draft_of
from zaxy.memory import Memory

SESSION, ELSEWHERE = "work", "archive"
WORD = "quixzbarq"
SENTENCE = f"Ann is paid 91,000 {WORD} a year"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        for number in range(5):
            opened.append("note.taken", {"text": f"The lamp {number} burns oil."}, actor="ada", session=SESSION)
        yield opened


def say(memory: Memory, event_type: str = "fact.recorded", session: str = SESSION, **payload: Any) -> str:
    return memory.append(event_type, payload, actor="ada", session=session).citation


def quoting(memory: Memory) -> dict[str, str]:
    """What an older version wrote, what people write, and what was imported, by how it holds the words."""
    old = {"entity_type": "fact", "entity_name": f"{SENTENCE}.", "feedback": "used"}
    return {
        "older feedback": say(memory, "memory.reinforced", **old),
        "older invalidation": say(
            memory, "memory.invalidated", **{**old, "entity_name": "nothing", "reason": SENTENCE}
        ),
        "the same": say(memory, fact=f"{SENTENCE}."),
        "within a text": say(memory, "transcript.turn", role="user", content=f"He wrote: {SENTENCE.upper()}! Really."),
        "other spaces": say(memory, "note.taken", text=SENTENCE.replace(" ", "\n  ")),
        "in a list": say(memory, "note.taken", items=[{"deep": [SENTENCE]}]),
        "as a key": say(memory, "note.taken", table={SENTENCE: 1}),
        "superseding": say(memory, "decision.made", decision="No more.", supersedes=f"{SENTENCE}."),
        "elsewhere": say(memory, "note.taken", ELSEWHERE, text=f"Somebody said that {SENTENCE}, I think."),
    }


def imported(memory: Memory, session: str, *, way: str) -> str:
    """The citation of the copy that an import into another session makes of the last event."""
    taken_along(memory, SESSION, way=way)(memory, session)
    return next(event.citation for event in memory.replay(session) if WORD in json.dumps(event.payload))


@pytest.mark.parametrize("way", WAYS)
def test_every_event_that_holds_the_words_is_named(memory: Memory, way: str) -> None:
    cited = say(memory, fact=f"{SENTENCE}.")
    copy = imported(memory, "imported", way=way)
    others = quoting(memory)
    done = memory.forget(cited, "it was asked for")
    found = {found.citation: found.why for found in done.copies}
    assert found.keys() == {copy, *others.values()}
    assert found[copy] == "imported from it"
    assert found[others["older feedback"]] == "written about it, and quotes it"
    assert found[others["elsewhere"]] == "says the same"
    assert done.erased_copies == ()
    assert memory.resolve(others["the same"]).payload is not None


@pytest.mark.parametrize("way", WAYS)
def test_with_copies_no_byte_of_the_words_is_left_in_any_session(memory: Memory, tmp_path: Path, way: str) -> None:
    cited = say(memory, fact=f"{SENTENCE}.")
    imported(memory, "imported", way=way)
    others = quoting(memory)
    for session in (SESSION, ELSEWHERE, "imported"):
        memory.query("What is Ann paid?", session)
    assert text_under(str(tmp_path), WORD)
    done = memory.forget(cited, "it was asked for", with_copies=True)
    assert {*others.values()} < {copy.citation for copy in done.erased_copies}
    assert (done.copies, done.warnings) == ((), ())
    assert text_under(str(tmp_path), WORD) + text_under(str(tmp_path), WORD.upper()) == []
    assert all(memory.recall.store.verify(session).ok for session in memory.sessions())
    assert len(memory.replay(SESSION)) > 5


def test_events_that_only_share_labels_or_words_are_no_copies(memory: Memory) -> None:
    shared = {"source": "a long conversation", "speaker": "Ann Meyer of Berlin", "path": "notes/of a day.md"}
    cited = say(memory, "transcript.turn", role="user", content="Yes, please do.", **shared)
    say(memory, "transcript.turn", role="user", content="No, do not.", **shared)
    say(memory, "note.taken", text="Please do it, yes.")
    say(memory, "note.taken", text="Yes, please donate.")
    assert memory.forget(cited, "it was asked for").copies == ()


@pytest.mark.parametrize("text", (WORD, f"{WORD} {WORD}", "薪水是九万一千", "Жалование Анны 91 000 в год"))
def test_short_texts_and_other_scripts_are_found_too(memory: Memory, text: str) -> None:
    cited = say(memory, fact=text)
    other = say(memory, "note.taken", text=f"x {text} y")
    assert [copy.citation for copy in memory.forget(cited, "asked for").copies] == [other]


def test_generated_sentences_are_found_wherever_they_are_put(memory: Memory) -> None:
    dice = random.Random(SEED)
    letters = "abcdefghijklmnopqrstuvwxyzäß .,'\"\\/-éλж"
    for _ in range(60):
        text = "".join(dice.choice(letters) for _ in range(dice.randint(20, 400)))
        event = memory.resolve(say(memory, "note.taken", text=text))
        if not sentences_of(event):
            continue
        payload = {"text": f"({text})"} if dice.random() < 0.5 else {"a": [1, {"b": f"so: {text.upper()} - he said"}]}
        other = say(memory, "other.said", **payload)
        assert other in [copy.citation for copy in find_copies(event, memory.recall.store).copies], text


def test_what_is_on_record_stays_and_is_named(memory: Memory) -> None:
    first, second = say(memory, fact=f"{SENTENCE}."), say(memory, fact=f"{SENTENCE}!")
    memory.forget(first, f"Ann said: {SENTENCE}")
    done = memory.forget(second, "it was asked for", with_copies=True)
    assert [copy.event_type for copy in done.copies] == ["event.erased"]


def test_what_is_erased_already_or_is_a_record_is_refused_before_anything_is_touched(memory: Memory) -> None:
    cited = say(memory, fact=f"{SENTENCE}.")
    done = memory.forget(cited, "it was asked for")
    other = say(memory, "note.taken", text=SENTENCE)
    for citation, code in ((cited, "conflict"), (done.event.citation, "forbidden")):
        with pytest.raises(ZaxyError) as refused:
            memory.forget(citation, "again", with_copies=True)
        assert refused.value.code == code
    assert memory.resolve(other).payload is not None
    assert memory.recall.loop.unscrubbed(SESSION) == []


def test_keys_that_an_older_version_left_in_the_record_are_mentioned(memory: Memory) -> None:
    entry = checked_entry("note.taken", "ada", {"text": "[redacted:password]"})
    old = [{"kind": "password", "pointer": "/Ann Meyer/pin"}]
    written = draft_of(entry._replace(fields={**entry.fields, "redacted": old}))
    citation = memory.recall.store.append(SESSION, [written])[0].citation
    assert ["keys of the payload" in warning for warning in memory.forget(citation, "asked for").warnings] == [True]
    new = memory.append("note.taken", {"Ann Meyer": {"password": "hunter2hunter2"}}, actor="ada", session=SESSION)
    assert memory.forget(new.citation, "asked for").warnings == ()


def test_a_damaged_session_is_named_as_not_searched(memory: Memory, tmp_path: Path) -> None:
    say(memory, "note.taken", ELSEWHERE, text="something else")
    log = tmp_path / ".eventloom" / f"{ELSEWHERE}.jsonl"
    log.write_bytes(log.read_bytes().replace(b"something", b"anything!"))
    done = memory.forget(say(memory, fact=SENTENCE), "asked for")
    assert [ELSEWHERE in warning for warning in done.warnings] == [True]


def test_the_command_lists_copies_and_erases_them_where_it_is_asked_to(zaxy: Zaxy, tmp_path: Path) -> None:
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        first, second, third = (say(memory, fact=f"{SENTENCE}{end}") for end in ".!?")
    done = zaxy("forget", first, "--hard")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("still holds its words") == 2
    assert "--with-copies" in done.stderr
    reply = json.loads(zaxy("forget", second, "--hard", "--with-copies", "--json").stdout)
    assert [third.startswith(copy["citation"]) for copy in reply["erased_copies"]] == [True]
    assert "copies" not in reply
    assert not text_under(str(tmp_path), WORD)
