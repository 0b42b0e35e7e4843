"""Bundles that come back: local events with local citations, which keep where they came from and rule over nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from captured import install_adapter, write_seen
from conftest import Zaxy
from exported import bundle_bytes, write_log
from folders import made_folder
from served import Server
from zaxy.api.models import AsOf, Draft, EntityRef, Event
from zaxy.errors import ZaxyError
from zaxy.eventloom.admission import MAX_PAYLOAD, checked_entry
from zaxy.eventloom.drafts import own_draft
from zaxy.extract.housekeeping import is_housekeeping
from zaxy.importing import BATCH_EVENTS
from zaxy.memory import Memory
from zaxy.observe.capture import Capture
from zaxy.workspace import find_workspace
from zaxy_export.bundle import Signer
from zaxy_export.importing import Imported
from zaxy_export.selector import EVERYTHING, Selector
from zaxy_export.signing import KeyFiles, generate, signer_of

THERE, HERE = "there", "here"
"""The session that is exported, and the one that takes it."""


class Pair:
    """Two workspaces that know nothing of each other, and a key to sign with."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folders = (folder / "from", folder / "into")
        for made in self.folders:
            made.mkdir()
        self.source, self.target = (stack.enter_context(Memory.open(made)) for made in self.folders)
        files = KeyFiles(str(folder / "k.pem"), str(folder / "k.pub"))
        self.public_key = generate(files).key.hex()
        self.signer: Signer = stack.enter_context(signer_of(files))

    def bundle(
        self, selector: Selector = EVERYTHING, signed: bool = True, disclosed: Selector | None = None
    ) -> BytesIO:
        return BytesIO(bundle_bytes(self.source, selector, THERE, self.signer if signed else None, disclosed))

    def carry(self, selector: Selector = EVERYTHING) -> Imported:
        """Export and import, with the key pinned."""
        return self.target.import_bundle(self.bundle(selector), HERE, expect_public_key=self.public_key)

    @property
    def log(self) -> Path:
        """Of the session that takes the bundle."""
        return self.folders[1] / ".eventloom" / f"{HERE}.jsonl"

    def imported(self) -> list[Event]:
        """The events that came from elsewhere, all of them."""
        return [event for event in events(self.target) if "imported_from" in (event.payload or {})]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with ExitStack() as stack:
        yield Pair(tmp_path, stack)


def events(memory: Memory, session: str = HERE) -> list[Event]:
    return memory.replay(session, limit=100_000, include_housekeeping=True)


def origin(event: Event) -> str:
    assert event.payload is not None
    return str(event.payload["imported_from"]["citation"])


def found(memory: Memory, session: str, question: str, **more: Any) -> set[str]:
    """What a question finds that holds now, or held at a moment."""
    return {result.content for result in memory.query(question, session, limit=50, max_tokens=50_000, **more).results}


def open_versions(memory: Memory, session: str, entity_type: str, name: str) -> list[str]:
    memory.follow(session)
    return [row.entity.summary for row in memory.recall.versions(session, EntityRef(entity_type, name), AsOf())]


def note(memory: Memory, text: str, session: str = THERE, **more: Any) -> Event:
    return memory.append("note.taken", {"text": text, **more}, actor="ada", session=session)


# Citations


def test_imported_facts_are_cited_here_and_say_what_they_were_cited_by_there(pair: Pair) -> None:
    original = pair.source.append(
        "decision.made", {"decision": "The harbour lamp burns whale oil."}, actor="ada", session=THERE
    )
    bundle = pair.bundle()
    done = pair.target.import_bundle(bundle, HERE, expect_public_key=pair.public_key)
    assert (done.new, done.known, done.as_data, done.session) == (1, 0, 0, HERE)
    assert pair.target.resolve(done.citation).type == "memory.imported"
    (result,) = pair.target.query("what does the harbour lamp burn", HERE).results
    assert result.citation.startswith(f"eventloom://{HERE}/events/1#")
    assert result.metadata["origin_citation"] == original.citation
    (result,) = pair.target.verbatim("harbour lamp", HERE).results
    assert result.metadata["origin_citation"] == original.citation
    (fact,) = pair.target.checkout("what does the harbour lamp burn", HERE).as_dict()["current_facts"]
    assert fact["citation"].startswith(f"eventloom://{HERE}/events/1#")
    assert fact["metadata"] == {"origin_citation": original.citation}
    entries = [item["content"] for item in json.loads(bundle.getvalue())["entries"]]
    assert original.citation in {entry["citation"] for entry in entries}, "which proves it against the bundle"


def test_the_tool_and_the_command_show_the_origin_beside_the_local_citation(
    pair: Pair, zaxy: Zaxy, tmp_path: Path
) -> None:
    original = pair.source.append(
        "decision.made", {"decision": "The harbour lamp burns whale oil."}, actor="ada", session=THERE
    )
    (tmp_path / "b.json").write_bytes(pair.bundle().getvalue())
    into = pair.folders[1]
    done = zaxy(
        *("import", str(tmp_path / "b.json"), "--session", HERE, "--expect-public-key", pair.public_key, "--json"),
        cwd=into,
    )
    assert done.returncode == 0, done.stderr
    reply = json.loads(done.stdout)
    assert (reply["new"], reply["session_id"], reply["bundle"]["pinned"]) == (1, HERE, True)
    page = zaxy("checkout", "what does the harbour lamp burn", "--session-id", HERE, cwd=into)
    assert f"eventloom://{HERE}/events/1#" in page.stdout
    assert f"imported from {original.citation[: original.citation.index('#') + 13]}" in page.stdout
    with Server(into) as server:
        (fact,) = server.call("memory_checkout", query="what does the harbour lamp burn", session_id=HERE)[
            "current_facts"
        ]
        assert fact["citation"].startswith(f"eventloom://{HERE}/events/1#")
        shown = fact["metadata"]["origin_citation"]
        assert original.citation.startswith(shown)
        assert shown.startswith(f"eventloom://{THERE}/events/1#")
        (result,) = server.call("memory_query", query="harbour lamp", session_id=HERE)["results"]
        assert original.citation.startswith(result["metadata"]["origin_citation"])


def test_local_facts_have_no_origin_and_nobody_can_pretend_one(pair: Pair) -> None:
    forged = "eventloom://elsewhere/events/9#aaaaaaaaaaaa"
    note(pair.target, "The scanner hums.", HERE, origin_citation=forged, metadata={"origin_citation": forged})
    reply = pair.target.checkout("what does the scanner do", HERE).as_dict()
    results = pair.target.query("scanner", HERE).results
    assert reply["current_facts"]
    assert "metadata" not in reply["current_facts"][0]
    assert "origin_citation" not in results[0].metadata
    assert forged not in json.dumps(reply) + results[0].content
    assert forged not in json.dumps(pair.target.context("scanner", HERE).as_dict())


def test_where_it_came_from_is_no_part_of_what_it_says(pair: Pair) -> None:
    note(pair.source, "The scanner hums.")
    pair.source.append("gadget.polished", {"surface": "brass"}, actor="ada", session=THERE)
    pair.source.append("goal.created", {"goal": "Light the harbour."}, actor="ada", session=THERE)
    pair.carry()
    for words in (THERE, "imported_from", "imported", "citation", "occurred_at", "eventloom events"):
        assert not pair.target.verbatim(words, HERE).results, words
        assert not [r for r in pair.target.query(words, HERE).results if THERE in r.content], words
    results = [*pair.target.query("scanner brass harbour", HERE).results]
    assert {result.content for result in results} == found(pair.source, THERE, "scanner brass harbour")
    for result in results:
        assert THERE not in f"{result.content} {result.summary} {dict(result.properties)}"


# Once


def test_a_second_import_writes_nothing(pair: Pair) -> None:
    first = note(pair.source, "one")
    note(pair.source, "two", supersedes=first.citation)
    pair.source.forget(note(pair.source, "three").citation, "asked to")
    done = pair.carry()
    before = pair.log.read_bytes()
    again = pair.carry()
    assert pair.log.read_bytes() == before
    assert (again.new, again.known, again.citation) == (0, done.new, "")
    unsigned = pair.target.import_bundle(pair.bundle(signed=False), HERE)
    assert (unsigned.new, unsigned.known) == (0, done.new)
    assert pair.log.read_bytes() == before


def test_a_later_bundle_brings_only_what_is_new(pair: Pair) -> None:
    note(pair.source, "one")
    pair.carry()
    note(pair.source, "two")
    done = pair.carry()
    assert (done.new, done.known) == (1, 1)
    assert [event.payload["text"] for event in pair.imported() if event.payload] == ["one", "two"]


def test_an_import_that_is_killed_and_done_again_gives_every_event_once(tmp_path: Path, pair: Pair) -> None:
    count = 6 * BATCH_EVENTS
    notes = (checked_entry("note.taken", "ada", {"text": f"note {n}", "n": n}) for n in range(count))
    write_log(pair.folders[0], notes, THERE, timedelta(seconds=1))
    (tmp_path / "b.json").write_bytes(pair.bundle(Selector(grains=("event",))).getvalue())
    command = [sys.executable, "-m", "zaxy", "import", str(tmp_path / "b.json"), "--session", HERE]
    killed = 0
    for _ in range(30):
        size = pair.log.stat().st_size if pair.log.exists() else 0
        running = subprocess.Popen(command, cwd=pair.folders[1], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while running.poll() is None and time.monotonic() < deadline:
            if killed < 3 and pair.log.exists() and pair.log.stat().st_size > size:
                os.kill(running.pid, signal.SIGKILL)
                break
            time.sleep(0.002)
        running.communicate(timeout=60)
        killed += running.returncode == -signal.SIGKILL
        if running.returncode == 0:
            break
    assert running.returncode == 0
    assert killed, "it was never met in the middle"
    assert pair.target.recall.store.verify(HERE).ok
    numbers = [event.payload["n"] for event in pair.imported() if event.payload]
    assert numbers == list(range(count))
    assert [event.type for event in events(pair.target)].count("memory.imported") == 1


def test_what_was_forgotten_here_does_not_come_back(pair: Pair) -> None:
    note(pair.source, "The vault code is swordfish.")
    pair.carry()
    pair.target.forget(pair.imported()[0].citation, "asked to")
    done = pair.carry()
    assert (done.new, done.known) == (0, 1)
    assert b"swordfish" not in pair.log.read_bytes()
    assert not found(pair.target, HERE, "vault code")


# What holds, and when


def test_what_was_superseded_stays_so_by_key_by_name_and_by_citation(pair: Pair) -> None:
    source = pair.source
    for text in ("The database is Postgres.", "The database is SQLite."):
        source.append("decision.made", {"decision": text, "key": "database"}, actor="ada", session=THERE)
    source.append("decision.made", {"decision": "Ship on Monday"}, actor="ada", session=THERE)
    source.append(
        "decision.made", {"decision": "Ship on Friday", "supersedes": "Ship on Monday"}, actor="ada", session=THERE
    )
    old = source.append("fact.recorded", {"fact": "The lamp burns whale oil."}, actor="ada", session=THERE)
    new = {"fact": "The lamp burns paraffin.", "supersedes": [old.citation]}
    source.append("fact.recorded", new, actor="ada", session=THERE)
    note(pair.target, "Something that was here before, so that no event has the number it had.", HERE)
    pair.carry()
    for question in ("which database", "ship on which day", "what does the lamp burn"):
        there, here = (found(memory, name, question) for memory, name in ((source, THERE), (pair.target, HERE)))
        assert there == here - {t for t in here if "here before" in t}
    assert open_versions(pair.target, HERE, "decision", "Ship on Monday") == []
    assert found(pair.target, HERE, "whale oil lamp paraffin") & {"The lamp burns whale oil."} == set()
    assert "The lamp burns paraffin." in str(found(pair.target, HERE, "whale oil lamp paraffin"))
    last = pair.imported()[-1]
    assert last.payload is not None
    (cited,) = last.payload["supersedes"]
    assert pair.target.resolve(cited).payload["fact"] == "The lamp burns whale oil."  # type: ignore[index]
    assert cited.startswith(f"eventloom://{HERE}/")


def test_what_an_erased_event_had_superseded_stays_so_over_two_imports(pair: Pair, tmp_path: Path) -> None:
    source = pair.source
    source.append("decision.made", {"decision": "The database is Postgres.", "key": "database"}, session=THERE)
    by_key = source.append("decision.made", {"decision": "The database is SQLite.", "key": "database"}, session=THERE)
    older = source.append("fact.recorded", {"fact": "The lamp burns oil."}, session=THERE)
    by_citation = source.append(
        "fact.recorded", {"fact": "The lamp burns gas.", "supersedes": older.citation}, session=THERE
    )
    source.append("fact.recorded", {"fact": "The lamp stands on the database server."}, session=THERE)
    for event in (by_key, by_citation):
        source.forget(event.citation, "told in confidence")
    question = "which database is it, and what does the lamp burn?"
    current = found(source, THERE, question)
    assert current == {"The lamp stands on the database server."}
    pair.carry()
    assert found(pair.target, HERE, question) == current
    (tmp_path / "third").mkdir()
    with Memory.open(made_folder(tmp_path / "third")) as third:
        third.import_bundle(BytesIO(bundle_bytes(pair.target, EVERYTHING, HERE)), "third")
        assert found(third, "third", question) == current


def test_events_that_come_back_to_where_they_began_are_not_doubled(pair: Pair) -> None:
    pair.source.append("fact.recorded", {"fact": "The lamp burns oil."}, session=THERE)
    again = pair.source.import_bundle(pair.bundle(), THERE)
    assert (again.new, again.known) == (0, 1)
    pair.carry()
    pair.target.append("fact.recorded", {"fact": "The lamp is lit at dusk."}, session=HERE)
    back = pair.source.import_bundle(BytesIO(bundle_bytes(pair.target, EVERYTHING, HERE)), THERE)
    assert (back.new, back.known) == (2, 1)  # the fact that was added there, and the record of the import
    payloads_kept = [
        event.payload for event in events(pair.source, THERE) if event.type == "fact.recorded" and event.payload
    ]
    assert [payload["fact"] for payload in payloads_kept] == ["The lamp burns oil.", "The lamp is lit at dusk."]


def test_a_bundle_can_come_through_a_pipe(pair: Pair) -> None:
    pair.source.append("fact.recorded", {"fact": "The lamp burns oil."}, session=THERE)
    reading, writing = os.pipe()
    os.write(writing, pair.bundle().getvalue())
    os.close(writing)
    with open(reading, "rb") as pipe:
        assert pair.target.import_bundle(pipe, HERE).new == 1


def test_a_citation_of_another_session_is_left_as_it_was(pair: Pair) -> None:
    other = note(pair.source, "elsewhere", "third")
    note(pair.source, "one", supersedes=[other.citation, "eventloom://nonsense", 5])
    pair.carry()
    (event,) = pair.imported()
    assert event.payload is not None
    assert event.payload["supersedes"] == [other.citation, "eventloom://nonsense", 5]


def test_an_invalidation_holds_here_too(pair: Pair) -> None:
    pair.source.append("goal.created", {"goal": "Light the harbour"}, actor="ada", session=THERE)
    pair.source.append("goal.created", {"goal": "Paint the harbour"}, actor="ada", session=THERE)
    pair.source.invalidate("Light the harbour", "goal", session=THERE, reason="done")
    pair.carry()
    assert open_versions(pair.target, HERE, "goal", "Light the harbour") == []
    assert open_versions(pair.target, HERE, "goal", "Paint the harbour") == ["Paint the harbour"]


def test_what_held_at_a_moment_there_held_at_it_here(pair: Pair) -> None:
    decisions = (("red", "2020-01-01"), ("green", "2021-01-01"), ("blue", "2022-01-01T12:00:00+02:00"))
    for colour, since in decisions:
        decision = {"decision": f"The door is {colour}.", "key": "door", "occurred_at": since}
        pair.source.append("decision.made", decision, actor="ada", session=THERE)
    pair.carry()
    for moment in ("2019-06-01", "2020-06-01", "2021-06-01", "2022-01-01T09:59:00Z", "2022-01-01T10:01:00Z", ""):
        there = found(pair.source, THERE, "which colour is the door", temporal_filter=moment)
        here = found(pair.target, HERE, "which colour is the door", temporal_filter=moment)
        assert there == here, moment
        assert len(there) == (0 if moment.startswith("2019") else 1)


def test_events_without_a_time_of_their_own_happened_when_they_were_recorded_there(pair: Pair) -> None:
    decisions = [
        checked_entry("decision.made", "ada", {"decision": f"The door is {colour}.", "key": "door", **more})
        for colour, more in (("red", {}), ("green", {"occurred_at": "soon"}), ("blue", {"occurred_at": 5}))
    ]
    write_log(pair.folders[0], decisions, THERE, timedelta(days=1))
    pair.carry()
    for moment in ("2026-06-01", "2026-06-02T12:00:00Z", "2026-06-03T12:00:00Z", "2026-06-04T12:00:00Z"):
        there = found(pair.source, THERE, "which colour is the door", temporal_filter=moment)
        assert found(pair.target, HERE, "which colour is the door", temporal_filter=moment) == there
    kept = [event.payload["imported_from"].get("occurred_at") for event in pair.imported() if event.payload]
    assert kept == [None, "soon", 5], "what was said in place of a time is not lost"


# What only Zaxy may say


def test_what_only_zaxy_writes_comes_as_data_and_rules_over_nothing(pair: Pair) -> None:
    source, loom = pair.source, pair.source.recall.store
    first = note(source, "The lamp burns oil.")
    loom.set_ref("refs/heads/release", loom.get(THERE, first.seq))  # type: ignore[arg-type]
    source.checkout("lamp", THERE)
    source.bootstrap(THERE)
    source.record_tool_call("memory_query", "ok", argument_keys=["query"], summary="1 results", session=THERE)
    source.end_session("quitting time", THERE)
    loom.append(THERE, [own_draft("coordination.claimed", "grace", {"claim": "swordfish", "actor": "grace"})])
    source.forget(note(source, "The vault code is herring.").citation, "mackerel wanted it gone")
    reserved = [
        event
        for event in events(source, THERE)
        if event.actor == "zaxy" or event.type.startswith(("event.", "coordination.", "memory."))
    ]
    note(pair.target, "The first event here.", HERE)
    note(pair.target, "The second, which the erasure there might be taken to mean.", HERE)
    done = pair.carry()
    came = {origin(event): event for event in pair.imported()}
    for event in reserved:
        now = came[event.citation]
        assert now.type == f"imported.{event.type}"
        assert now.actor in ("zaxy-import", "grace")
        assert now.payload is not None
        assert now.payload["imported_from"]["type"] == event.type
        assert now.payload["imported_from"]["actor"] == event.actor
    assert done.as_data == len(reserved) + 1, "and the erased event"
    assert not pair.target.recall.store.refs(HERE)
    with pytest.raises(ZaxyError):
        pair.target.recall.store.resolve_ref(HERE, "refs/heads/release")
    assert all(event.payload is not None for event in events(pair.target)), "nothing is erased here"
    assert not [event for event in events(pair.target) if event.actor == "zaxy" and event.type != "memory.imported"]
    for word in ("memory_query", "quitting", "mackerel", "herring", "release"):
        assert not pair.target.query(word, HERE).results, word
        assert not pair.target.verbatim(word, HERE).results, word
    shown = [event.type for event in pair.target.replay(HERE)]
    assert shown == ["note.taken", "note.taken", "note.taken", "imported.coordination.claimed"]
    assert pair.target.verbatim("swordfish", HERE).results, (
        "what others said of their work is told like any other event"
    )


def test_an_erased_event_comes_with_its_place_and_without_what_it_said(pair: Pair) -> None:
    gone = note(pair.source, "The vault code is swordfish.")
    pair.source.forget(gone.citation, "asked to")
    pair.carry()
    first = pair.imported()[0]
    assert (first.type, first.actor) == ("imported.erased", "zaxy-import")
    assert first.payload is not None
    provenance = first.payload["imported_from"]
    assert (provenance["citation"], provenance["type"], provenance["actor"], provenance["erased"]) == (
        gone.citation,
        "note.taken",
        "ada",
        True,
    )
    assert is_housekeeping(first)
    assert b"swordfish" not in pair.log.read_bytes()


def test_an_import_of_an_import_keeps_the_earlier_origin(pair: Pair, tmp_path: Path) -> None:
    original = note(pair.source, "The scanner hums.")
    pair.carry()
    (first,) = pair.imported()
    onward = BytesIO(bundle_bytes(pair.target, session=HERE, signer=pair.signer))
    with Memory.open(made_folder(tmp_path / "third")) as third:
        third.import_bundle(onward, "last", expect_public_key=pair.public_key)
        came = events(third, "last")[0]
        assert came.payload is not None
        assert came.payload["imported_from"]["citation"] == first.citation
        assert came.payload["imported_from"]["earlier"]["citation"] == original.citation
        assert came.payload["occurred_at"] == original.time
        (result,) = third.query("scanner", "last").results
        assert result.metadata["origin_citation"] == first.citation
        assert [event.type for event in events(third, "last")] == [
            *("note.taken", "imported.memory.imported", "memory.imported"),
        ]


# Which bundles


def test_a_subset_imports_what_was_disclosed_and_an_envelope_says_that_nobody_signed_it(pair: Pair, zaxy: Zaxy) -> None:
    for number in range(6):
        note(pair.source, f"note {number}")
    subset = pair.bundle(disclosed=Selector(grains=("event",), since_seq=2, max_seq=4))
    done = pair.target.import_bundle(subset, HERE, expect_public_key=pair.public_key)
    assert (done.new, done.bundle.entries, done.bundle.of) == (2, 2, 12)
    (pair.folders[1] / "u.json").write_bytes(pair.bundle(signed=False).getvalue())
    imported_run = zaxy("import", "u.json", "--session-id", HERE, cwd=pair.folders[1])
    assert imported_run.returncode == 0, imported_run.stderr
    assert "4 events of there imported into here, 2 were there already" in imported_run.stdout
    assert "not signed" in imported_run.stderr
    pinned = zaxy("import", "u.json", "--session", "other", "--expect-public-key", pair.public_key, cwd=pair.folders[1])
    assert pinned.returncode == 1
    assert not (pair.folders[1] / ".eventloom" / "other.jsonl").exists()


def test_a_part_may_come_before_the_whole_and_before_what_it_supersedes(pair: Pair) -> None:
    first = note(pair.source, "one")
    note(pair.source, "two", supersedes=first.citation)
    note(pair.source, "three")
    assert pair.carry(Selector(since_seq=1, max_seq=2)).new == 1
    done = pair.carry()
    assert (done.new, done.known) == (2, 1)
    assert sorted(str(event.payload["text"]) for event in pair.imported() if event.payload) == ["one", "three", "two"]


def test_a_bundle_without_events_has_nothing_to_import(pair: Pair) -> None:
    note(pair.source, "one")
    for selector in (Selector(grains=("semantic",)), Selector(kinds=("no.such",))):
        with pytest.raises(ZaxyError) as refused:
            pair.carry(selector)
        assert refused.value.code == "not_found"
    assert not pair.log.exists()


def test_a_bundle_that_was_tampered_with_imports_nothing(pair: Pair) -> None:
    for number in range(3 * BATCH_EVENTS // 500):
        note(pair.source, f"The lamp number {number} burns oil.")
    good = pair.bundle().getvalue()
    subset = pair.bundle(disclosed=Selector()).getvalue()
    lines = good.split(b"\n")
    tampered = {
        "a word": good.replace(b"burns oil", b"burns tar", 1),
        "the last word": b"burns tar".join(good.rsplit(b"burns oil", 1)),
        "an entry less": b"\n".join([*lines[:2], *lines[3:]]),
        "another session": good.replace(b'"session_id":"there"', b'"session_id":"thare"'),
        "cut": good[:-200],
        "a word in a subset": subset.replace(b"burns oil", b"burns tar", 1),
        "not a bundle": b'{"hello": 1}',
        "nothing": b"",
    }
    for what, data in tampered.items():
        assert data not in (good, subset), what
        with pytest.raises(ZaxyError) as refused:
            pair.target.import_bundle(BytesIO(data), HERE)
        assert refused.value.code == "conflict", what
        assert not pair.log.exists(), what


def test_the_wrong_pin_imports_nothing(pair: Pair, tmp_path: Path, zaxy: Zaxy) -> None:
    note(pair.source, "one")
    (tmp_path / "b.json").write_bytes(pair.bundle().getvalue())
    done = zaxy(
        *("import", str(tmp_path / "b.json"), "--session", HERE, "--expect-public-key", "00" * 32), cwd=pair.folders[1]
    )
    assert done.returncode == 1
    assert "another key" in done.stderr
    for pin in ("00" * 32, "", "nonsense"):
        with pytest.raises(ZaxyError):
            pair.target.import_bundle(pair.bundle(), HERE, expect_public_key=pin)
    assert not pair.log.exists()


def test_what_stands_beside_a_signed_entry_changes_nothing_in_what_is_imported(pair: Pair) -> None:
    note(pair.source, "one")
    note(pair.source, "two")
    bundle = json.loads(pair.bundle(Selector(grains=("event",))).getvalue())
    bundle["entries"][0] |= {"schema_version": "zaxy.export.v1", "grain": "semantic"}
    bundle["entries"][1] |= {"schema_version": "zaxy.export.v1", "grain": "event", "citation": "forged", "type": "x.y"}
    done = pair.target.import_bundle(BytesIO(json.dumps(bundle).encode()), HERE, expect_public_key=pair.public_key)
    assert done.new == 2
    assert [event.payload["text"] for event in pair.imported() if event.payload] == ["one", "two"]


@pytest.mark.parametrize(
    "change",
    [
        {"payload": None},
        {"payload": [1]},
        {"type": "no dots"},
        {"type": 5},
        {"actor": ""},
        {"actor": None},
        {"sensitivity": "cosmic"},
        {"payload": {"text": "x" * (MAX_PAYLOAD + (1 << 17))}},
    ],
    ids=lambda change: str(change)[:40],
)
def test_an_envelope_with_one_bad_event_imports_none(pair: Pair, change: dict[str, Any]) -> None:
    for number in range(3):
        note(pair.source, f"note {number}")
    envelope = json.loads(pair.bundle(Selector(grains=("event",)), signed=False).getvalue())
    envelope["entries"][2]["content"] |= change
    with pytest.raises(ZaxyError):
        pair.target.import_bundle(BytesIO(json.dumps(envelope).encode()), HERE)
    assert not pair.log.exists()


# What is kept


def test_sensitivities_are_kept(pair: Pair) -> None:
    tiers = ["public", "internal", "confidential", "restricted"]
    for tier in tiers:
        pair.source.append("note.taken", {"text": tier}, actor="ada", session=THERE, sensitivity=tier)
    # What was said of the event counts, not what its payload says of itself.
    pair.source.append(
        "note.taken", {"text": "x", "sensitivity": "restricted"}, actor="ada", session=THERE, sensitivity="internal"
    )
    pair.source.append(
        "note.taken", {"text": "x", "sensitivity": "cosmic"}, actor="ada", session=THERE, sensitivity="internal"
    )
    pair.source.append("note.taken", {"text": "x", "sensitivity": "confidential"}, actor="ada", session=THERE)
    pair.source.forget(
        pair.source.append("note.taken", {"text": "y"}, actor="ada", session=THERE, sensitivity="restricted").citation,
        "asked to",
    )
    pair.carry()
    kept = [event.sensitivity for event in pair.imported()]
    assert kept == [event.sensitivity for event in events(pair.source, THERE)]
    assert kept[:8] == [*tiers, "internal", "internal", "confidential", "restricted"]


@pytest.mark.parametrize("less", [0, 1, 100, 300])
def test_a_payload_as_large_as_there_is_comes_back_whole(pair: Pair, less: int) -> None:
    text = "é" * ((MAX_PAYLOAD - len('{"text":""}') - less) // 2)
    pair.source.append("note.taken", {"text": text}, actor="ada", session=THERE)
    pair.carry()
    (event,) = pair.imported()
    assert event.payload is not None
    assert event.payload["text"] == text
    with pytest.raises(ZaxyError) as refused:
        note(pair.target, "x" * MAX_PAYLOAD, HERE)
    assert refused.value.code == "too_large", "the bound of an ordinary append is what it was"
    onward = bundle_bytes(pair.target, session=HERE, signer=pair.signer)
    assert pair.source.import_bundle(BytesIO(onward), "back", expect_public_key=pair.public_key).new == 2


def test_every_payload_is_kept_as_it_was_but_for_its_origin_and_its_time(pair: Pair) -> None:
    payloads: list[dict[str, Any]] = [
        {"text": "naïve 🐋", "n": [1e16, 0.5, -0.0, 1e-7], "𝒳": {"\ufb33": None}},
        {"text": "x", "occurred_at": "2020-01-01", "payload": {"imported_from": 1}},
        {},
    ]
    for payload in payloads:
        pair.source.append("gadget.polished", payload, actor="Zoë", session=THERE)
    pair.carry()
    for event, payload, original in zip(pair.imported(), payloads, events(pair.source, THERE), strict=True):
        assert event.payload is not None
        kept = {key: value for key, value in event.payload.items() if key != "imported_from"}
        assert kept == {"occurred_at": original.time, **payload}
        assert (event.type, event.actor) == ("gadget.polished", "Zoë")
        assert origin(event) == original.citation


# The mark of an import


def test_nobody_else_can_write_the_mark_of_an_import(pair: Pair, zaxy: Zaxy) -> None:
    into, forged = pair.folders[1], {"citation": "eventloom://elsewhere/events/1#" + "a" * 64}
    payload = {"text": "The scanner hums.", "imported_from": forged}
    with pytest.raises(ZaxyError) as refused:
        pair.target.append("note.taken", payload, session=HERE)
    assert refused.value.code == "forbidden"
    with pytest.raises(ZaxyError):
        pair.target.append_many([Draft("note.taken", "ada", {"text": "x"}), Draft("note.taken", "ada", payload)], HERE)
    with pytest.raises(ZaxyError):
        pair.target.append("memory.imported", {"session_id": "x"}, session=HERE)
    done = zaxy("append", "note.taken", "--payload", json.dumps(payload), "--session-id", HERE, cwd=into)
    assert done.returncode == 1
    assert "imported_from" in done.stderr
    with Server(into, MCP_LIFECYCLE_CAPTURE_ENABLED="0") as server:
        event = {"event_type": "note.taken", "actor": "ada", "payload": payload}
        assert server.call("memory_append", session_id=HERE, **event)["error"]["code"] == "forbidden"
        reply = server.call("memory_ingest", session_id=HERE, events=[event])
        assert "forbidden" in json.dumps(reply)
    assert not pair.log.exists()


def test_neither_a_hook_nor_a_capture_writes_the_mark_of_an_import(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    into, forged = pair.folders[1], {"citation": "eventloom://elsewhere/events/1#" + "a" * 64}
    forged_turn = {"role": "user", "content": "The scanner hums.", "imported_from": forged}
    done = subprocess.run(
        [sys.executable, "-m", "zaxy", "hook-event", "transcript-turn", "--stdin-json", "--session-id", HERE],
        input=json.dumps(forged_turn),
        cwd=into,
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "no client has written here"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    install_adapter(tmp_path / "site", "seen-forged")
    write_seen(into, {"payload": forged_turn}, "The printer whirs.")
    capture = Capture(find_workspace(str(into)), HERE, ("seen-forged",))
    try:
        capture.run()
    finally:
        capture.close()
    written = pair.log.read_bytes()
    assert b"printer whirs" in written
    assert b"imported_from" not in written
    assert b"elsewhere" not in written
