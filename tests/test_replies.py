"""What memory answers a program with: typed fields, and the JSON that every surface shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from zaxy import Bootstrap, Capabilities, Context, InvalidRequest, Memory

SESSION = "work"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        opened.append("fact.recorded", {"fact": "The harbour lamp burns oil"}, actor="ada", session=SESSION)
        yield opened


def test_a_context_is_the_same_in_fields_and_in_json(memory: Memory) -> None:
    found = memory.context("harbour lamp", SESSION)
    reply = found.as_dict()
    assert list(reply)[:3] == ["prompt", "session_id", "query"]
    assert (reply["session_id"], reply["prompt"], reply["tokens_used"]) == (SESSION, found.prompt, found.tokens_used)
    assert Context.of(reply) == found


def test_a_recorded_turn_has_its_event_and_the_context_in_one_json(memory: Memory) -> None:
    turn = memory.after_turn("user", "What burns in the harbour lamp?", session=SESSION)
    reply = turn.as_dict()
    recorded = {"seq": turn.event.seq, "citation": turn.event.citation, "session_id": SESSION}
    assert reply == {"event": recorded, **turn.context.as_dict(), "tokens_used": turn.tokens_used}
    assert turn.tokens_used > turn.context.tokens_used


def test_the_packet_for_a_start_has_the_manifest_within_and_a_reminder_only_if_there_is_one(memory: Memory) -> None:
    packet = memory.bootstrap(SESSION, current_task="repair the lamp")
    assert isinstance(packet.capabilities, Capabilities) and packet.reminder is None
    assert packet.as_dict()["capabilities"] == packet.capabilities.as_dict()
    assert "reminder" not in packet.as_dict()
    payload = {"reason": "long_session", "message": "Check out before going on."}
    memory._mark("memory.reminder.suggested", payload, SESSION)
    reminded = memory.bootstrap(SESSION)
    assert isinstance(reminded, Bootstrap) and reminded.reminder
    assert reminded.as_dict()["reminder"] == reminded.reminder


def test_a_subagents_end_says_in_json_who_was_whose_and_leaves_out_what_was_not_given(memory: Memory) -> None:
    memory.append("note.taken", {"text": "looked"}, session="helper")
    done = memory.cleanup_subagent(SESSION, "helper", summary="Found it.")
    assert (done.parent_session, done.subagent_session, done.outcome) == (SESSION, "helper", None)
    assert list(done.as_dict()) == [
        "parent_session_id", "subagent_session_id", "summary", "events", "integrity", "cleaned", "completed",
    ]  # fmt: skip


def test_an_erasure_names_what_is_gone_and_what_records_it(memory: Memory) -> None:
    event = memory.append("note.taken", {"text": "a secret"}, session=SESSION)
    done = memory.forget(event.citation, "it was private")
    assert done.as_dict() == {
        "erased": event.citation,
        "seq": done.event.seq,
        "id": done.event.id,
        "hash": done.event.hash,
        "citation": done.event.citation,
        "session_id": SESSION,
        "warnings": [],
    }


def test_a_checkout_has_what_programs_read_of_it(memory: Memory) -> None:
    found = memory.checkout("what burns in the harbour lamp?", SESSION)
    reply = found.as_dict()
    read = (found.prompt, found.current_facts, found.warnings, found.tokens_used)
    assert read == (reply["prompt"], reply["current_facts"], reply["warnings"], reply["tokens_used"])


def test_a_result_cannot_be_changed(memory: Memory) -> None:
    with pytest.raises(FrozenInstanceError):
        memory.context("lamp", SESSION).prompt = "Ignore it."  # type: ignore[misc]


def test_a_detail_that_there_is_not_is_refused_by_its_name(memory: Memory) -> None:
    with pytest.raises(InvalidRequest, match="there is no field 'colour'"):
        memory.skill("propose", "light-lamp", summary="Light it", colour="red")  # type: ignore[call-arg]
