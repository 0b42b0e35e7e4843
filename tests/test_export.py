"""What an export holds: entries, their order and their bytes, and which of them a selector takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
import rfc8785

from conftest import Zaxy
from exported import (
    ERASED,
    SESSION,
    Reference,
    bundle_bytes,
    entries_of,
    entry_lines,
    reference,
    selected,
    varied_log,
    write_log,
)
from faults.crashes import child_command, child_environment, in_child
from zaxy.errors import ZaxyError
from zaxy.eventloom.admission import SENSITIVITIES, checked_entry
from zaxy.eventloom.loom import Eventloom
from zaxy.memory import Memory
from zaxy_export import projection
from zaxy_export.selector import EVERYTHING, MAX_QUERY_LIMIT, Selector

FIELDS = {
    *("schema_version", "grain", "kind", "citation", "seq"),
    *("valid_from", "valid_to", "source", "content"),
}
SWEEP = 120
EVENTS = int(os.environ.get("ZAXY_EXPORT_EVENTS", "12000"))
"""Events of the log whose export is watched for memory; 100,000 take half a minute more."""
MEGABYTES = 40
"""What the export of a log may hold more than that of a tenth of it: it is some 100 where all entries are held."""


class Log:
    """The generated log, opened, and its entries by the reference."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = varied_log(folder)
        self.memory = Memory.open(folder)
        self.entries = reference(self.path)

    def fitting(self, query: str, limit: int) -> set[int]:
        """The events that have the words, as a search shows them."""
        results = self.memory.verbatim(query, SESSION, limit=100, max_tokens=100_000).results
        return {one.seq for one in results[:limit]}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    found = Log(tmp_path_factory.mktemp("varied"))
    yield found
    found.memory.close()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        yield opened


def data_of(entries: list[Reference]) -> list[bytes]:
    return [one.data for one in entries]


def seqs(entries: list[bytes]) -> list[int]:
    return list(dict.fromkeys(json.loads(entry)["seq"] for entry in entries))


# Entries


def test_every_entry_is_to_the_byte_what_the_slow_way_makes(log: Log) -> None:
    made, expected = entries_of(log.memory), data_of(log.entries)
    assert len(expected) > 500
    for ours, theirs in zip(made, expected, strict=True):
        assert ours == theirs


def test_an_entry_has_nine_fields_and_its_grain_decides_its_source_and_content(log: Log) -> None:
    grains = set()
    for data in entries_of(log.memory):
        entry = json.loads(data)
        assert set(entry) == FIELDS
        assert entry["schema_version"] == "zaxy.export.v1"
        grains.add(entry["grain"])
        content = set(entry["content"])
        if entry["grain"] == "event":
            assert (entry["source"], entry["kind"]) == ("eventloom", entry["content"]["type"])
            assert {"type", "actor", "thread", "payload"} <= content
            assert content <= {"type", "actor", "thread", "payload", "sensitivity", "erased"}
            assert entry["valid_to"] is None
        else:
            assert entry["source"] == "extraction"
            what, _, of = entry["kind"].partition(":")
            assert entry["content"]["entity_type" if what == "entity" else "relation_type"] == of
            assert content == (
                {"name", "entity_type", "summary", "properties"}
                if what == "entity"
                else {
                    *("source", "target", "relation_type", "confidence"),
                    *("inferred", "inference_method", "evidence"),
                }
            )
    assert grains == {"event", "semantic"}


def test_entries_ascend_by_seq_and_each_event_stands_before_what_was_extracted_from_it(log: Log) -> None:
    places = [(entry["seq"], entry["grain"] != "event") for entry in map(json.loads, entries_of(log.memory))]
    assert places == sorted(places)
    assert len({seq for seq, _ in places}) == log.memory.head(SESSION)


def test_every_citation_is_the_full_one_and_resolves(log: Log) -> None:
    for data in entries_of(log.memory, Selector(grains=("event",))):
        entry = json.loads(data)
        event = log.memory.resolve(entry["citation"])
        assert (event.seq, event.citation) == (entry["seq"], entry["citation"])


def test_an_erased_event_leaves_with_its_record_and_without_what_it_said(log: Log) -> None:
    entries = [json.loads(data) for data in entries_of(log.memory)]
    for seq in ERASED:
        (entry,) = (entry for entry in entries if entry["seq"] == seq)
        assert entry["content"]["payload"] is None
        assert entry["content"]["erased"] is True
    assert all("erased" not in entry["content"] for entry in entries if entry["seq"] not in ERASED)


def test_a_sensitivity_other_than_the_usual_is_told(log: Log) -> None:
    tiers = {
        entry["seq"]: entry["content"].get("sensitivity")
        for entry in map(json.loads, entries_of(log.memory, Selector(grains=("event",))))
    }
    kept = {one.entry["seq"]: one.sensitivity for one in log.entries}
    assert {seq: tier or "internal" for seq, tier in tiers.items()} == kept
    assert "internal" not in tiers.values()
    assert set(kept.values()) == set(SENSITIVITIES)


def test_the_envelope_says_what_it_is_and_that_nobody_signed_it(log: Log) -> None:
    bundle = json.loads(bundle_bytes(log.memory))
    assert list(bundle) == ["version", "schema_version", "session_id", "signed", "entries"]
    del bundle["entries"]
    assert bundle == {
        "version": "zaxy.export.unsigned.v1",
        "schema_version": "zaxy.export.v1",
        "session_id": SESSION,
        "signed": False,
    }


def print_digest(folder: str) -> None:
    """In a child: the digest of the whole export."""
    with Memory.open(folder) as memory:
        print(sha256(bundle_bytes(memory)).hexdigest())


def test_the_bytes_are_the_same_in_every_run_and_every_process(log: Log) -> None:
    here = sha256(bundle_bytes(log.memory)).hexdigest()
    assert sha256(bundle_bytes(log.memory)).hexdigest() == here
    for seed in ("0", "1", "4242"):
        done = subprocess.run(
            child_command(print_digest, str(log.folder)),
            env={**child_environment(), "PYTHONHASHSEED": seed, "TZ": "Asia/Tokyo", "LC_ALL": "C"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == here


def test_an_export_changes_nothing_in_the_log(log: Log) -> None:
    before = log.path.read_bytes()
    bundle_bytes(log.memory)
    assert log.path.read_bytes() == before


def test_what_is_written_is_told_with_its_size_and_digest(log: Log) -> None:
    file = BytesIO()
    written = log.memory.export(file, EVERYTHING, session=SESSION)
    assert written.entries == len(log.entries)
    assert written.size == len(file.getvalue())
    assert written.sha256 == sha256(file.getvalue()).hexdigest()


# Selectors


AXES: dict[str, tuple[Any, ...]] = {
    "grains": (("event",), ("semantic",), ("semantic", "event")),
    "kinds": (("decision.made",), ("goal.created", "event.erased"), ("no.such",), ("entity:goal",)),
    "since_seq": (0, 1, 40, 100, 162, 163, 10_000),
    "max_seq": (1, 2, 60, 163, 10_000),
    "since_time": ("2026-06-02", "2026-06-03T10:00:00", "2026-06-02T07:00:00Z", "2026-05-31", "2027-01-01"),
    "until_time": ("2026-06-03", "2026-06-04T10:00:00+02:00", "2026-05-31", "2026-05-20", "2026-05-20T10:00:00.5Z"),
    "exclude_sensitivities": (("internal",), ("confidential", "restricted"), SENSITIVITIES),
    "limit": (1, 3, 50, 1000),
}
QUERIES = (("whale oil", 10), ("whale oil", 50), ("東京", 5), ("biscuit", 1), ("nothinglikethis", 50))


@pytest.mark.parametrize("axis", AXES)
def test_each_axis_alone_takes_what_the_naive_filter_takes(log: Log, axis: str) -> None:
    sizes = set()
    for value in AXES[axis]:
        expected = data_of(selected(log.entries, **{axis: value}))
        assert (
            entries_of(log.memory, Selector.of({axis: list(value) if isinstance(value, tuple) else value})) == expected
        )
        sizes.add(len(expected))
    assert len(sizes) > 1, "an axis that never narrows proves nothing"


def test_axes_together_take_what_the_naive_filter_takes(log: Log) -> None:
    random = Random(20260615)
    found: dict[tuple[str, int], set[int]] = {asked: log.fitting(*asked) for asked in QUERIES}
    taken = 0
    for _ in range(SWEEP):
        chosen = random.sample(sorted(AXES), random.randint(2, 5))
        axes = {name: random.choice(AXES[name]) for name in chosen}
        asked = random.choice(QUERIES) if random.random() < 0.3 else None
        given = {**axes, **({"query": asked[0], "query_limit": asked[1]} if asked else {})}
        try:
            selector = Selector.of({name: list(v) if isinstance(v, tuple) else v for name, v in given.items()})
        except ZaxyError as error:
            assert "before" in error.message or "not after" in error.message, given
            continue
        expected = data_of(selected(log.entries, found[asked] if asked else None, **axes))
        assert entries_of(log.memory, selector) == expected, given
        taken += bool(expected)
    assert taken > SWEEP / 10


def test_no_axis_means_all_event_types_and_both_grains(log: Log) -> None:
    everything = bundle_bytes(log.memory)
    assert bundle_bytes(log.memory, Selector.of({})) == everything
    assert bundle_bytes(log.memory, Selector.of(dict.fromkeys(AXES))) == everything
    assert len(entry_lines(everything)) == len(log.entries)


def test_since_seq_is_exclusive_and_max_seq_inclusive(log: Log) -> None:
    assert seqs(entries_of(log.memory, Selector(since_seq=10, max_seq=12))) == [11, 12]


def test_pages_by_since_seq_and_max_seq_make_the_whole(log: Log) -> None:
    head = log.memory.head(SESSION)
    pages = [entries_of(log.memory, Selector(since_seq=at, max_seq=at + 25)) for at in range(0, head, 25)]
    assert [entry for page in pages for entry in page] == entries_of(log.memory)


def test_times_are_judged_by_the_entry_and_not_by_its_event(memory: Memory) -> None:
    memory.append("fact.recorded", {"fact": "The lamp burns oil.", "occurred_at": "2020-02-02T10:00:00Z"}, session="s")
    old = [json.loads(data) for data in entries_of(memory, Selector(until_time="2020-12-31"), "s")]
    new = [json.loads(data) for data in entries_of(memory, Selector(since_time="2021-01-01"), "s")]
    assert {entry["valid_from"] for entry in old if entry["kind"] == "entity:fact"} == {"2020-02-02T10:00:00.000000Z"}
    assert "event" not in {entry["grain"] for entry in old}
    assert {entry["kind"] for entry in new} >= {"fact.recorded"}
    assert "entity:fact" not in {entry["kind"] for entry in new}


def test_a_date_alone_as_the_end_means_the_whole_day(tmp_path: Path) -> None:
    note = checked_entry("note.taken", "ada", {"text": "x"})
    write_log(tmp_path, [note] * 60, step=timedelta(hours=1))
    with Memory.open(tmp_path) as memory:
        whole_day = seqs(entries_of(memory, Selector(since_time="2026-06-02", until_time="2026-06-02")))
        at_midnight = seqs(entries_of(memory, Selector(until_time="2026-06-02T00:00:00Z")))
    assert whole_day == list(range(24, 48))
    assert at_midnight == list(range(1, 25)), "both ends are inclusive"


def test_kinds_gate_what_was_extracted_from_other_events_too(log: Log) -> None:
    entries = [json.loads(data) for data in entries_of(log.memory, Selector(kinds=("goal.created",)))]
    goals = {entry["seq"] for entry in entries if entry["grain"] == "event"}
    assert {entry["kind"] for entry in entries if entry["grain"] == "event"} == {"goal.created"}
    assert {entry["seq"] for entry in entries if entry["grain"] == "semantic"} <= goals
    assert {"entity:goal"} < {entry["kind"] for entry in entries}
    assert not entries_of(log.memory, Selector(kinds=("entity:goal",))), "kinds of entries count at disclosure only"


def test_the_limit_counts_matching_events_from_the_end_also_beyond_what_is_read_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = [checked_entry("note.taken" if at % 3 else "goal.created", "ada", {"goal": f"g{at}"}) for at in range(9000)]
    write_log(tmp_path, notes, step=timedelta(seconds=1))
    goals = [seq for seq in range(1, 9001) if not (seq - 1) % 3]
    with Memory.open(tmp_path) as memory:
        for limit in (1, 1365, 1366, 2999, 3000, 5000):
            selector = Selector(grains=("event",), kinds=("goal.created",), limit=limit)
            assert seqs(entries_of(memory, selector)) == goals[-limit:]
        assert len(entries_of(memory, Selector(grains=("event",), limit=5000))) == 5000
        monkeypatch.setattr(projection, "BATCH_EVENTS", 7)
        selector = Selector(grains=("event",), kinds=("goal.created",), limit=20, since_seq=30, max_seq=83)
        assert seqs(entries_of(memory, selector)) == [seq for seq in goals if 30 < seq <= 83][-20:]


def test_the_limit_counts_only_events_that_give_an_entry(memory: Memory) -> None:
    memory.append("fact.recorded", {"fact": "one"}, session="s")
    second = memory.append("fact.recorded", {"fact": "two"}, session="s")
    third = memory.append("fact.recorded", {"fact": "three"}, session="s")
    memory.forget(third.citation, "asked to")
    last = entries_of(memory, Selector(grains=("semantic",), limit=1), "s")
    assert seqs(last) == [second.seq], "an erased event and the record of its erasure have nothing extracted"


def test_a_query_takes_the_events_that_fit_best_in_the_order_of_the_log(memory: Memory) -> None:
    for number in range(30):
        memory.append("note.taken", {"text": f"The whale number {number} swims."}, session="s")
        memory.append("note.taken", {"text": f"Nothing of the kind, {number} times."}, session="s")
    found = seqs(entries_of(memory, Selector(query="whale swims", query_limit=7), "s"))
    assert len(found) == 7
    assert found == sorted(found)
    assert all(seq % 2 for seq in found)
    assert len(seqs(entries_of(memory, Selector(query="whale swims"), "s"))) == 30
    assert seqs(entries_of(memory, Selector(query="whale swims", since_seq=40, limit=3), "s")) == [55, 57, 59]


def test_what_is_told_a_moment_ago_is_found_by_a_query(memory: Memory) -> None:
    for number in range(3):
        event = memory.append("note.taken", {"text": f"The lighthouse number {number}."}, session="s")
        assert seqs(entries_of(memory, Selector(query="lighthouse"), "s"))[-1] == event.seq


def test_excluded_sensitivities_leave_nothing_behind(memory: Memory) -> None:
    memory.append("decision.made", {"decision": "The vault code is swordfish."}, session="s", sensitivity="restricted")
    memory.append("decision.made", {"decision": "Lunch is at noon."}, session="s")
    bundle = bundle_bytes(memory, Selector(exclude_sensitivities=("restricted", "confidential")), "s")
    assert b"swordfish" not in bundle
    assert b"noon" in bundle


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        ({"grains": ["events"]}, "grains has 'events'"),
        ({"grains": []}, "grains is an empty list"),
        ({"grains": "event"}, "grains is not a list of texts"),
        ({"grains": [5]}, "grains is not a list of texts"),
        ({"kinds": []}, "kinds is an empty list"),
        ({"kinds": "goal.created"}, "kinds is not a list of texts"),
        ({"kinds": {"goal.created": 1}}, "kinds is not a list of texts"),
        ({"since_seq": -1}, "since_seq is not a number of at least 0"),
        ({"since_seq": True}, "since_seq is not a number of at least 0"),
        ({"since_seq": "5"}, "since_seq is not a number of at least 0"),
        ({"since_seq": 2**53}, "since_seq is not a number of at least 0"),
        ({"max_seq": 0}, "max_seq is not a number of at least 1"),
        ({"max_seq": 1.5}, "max_seq is not a number of at least 1"),
        ({"since_seq": 5, "max_seq": 5}, "max_seq is not after since_seq"),
        ({"since_time": "yesterday"}, "'yesterday' is not a date or time"),
        ({"until_time": "2026-02-30"}, "'2026-02-30' is not a date or time"),
        ({"until_time": 5}, "int (not a text) is not a date or time"),
        ({"since_time": "2026-06-02", "until_time": "2026-06-01"}, "until_time is before since_time"),
        ({"query": 5}, "the query is not a text"),
        ({"query_limit": 0}, "query_limit is not a number of at least 1"),
        ({"query_limit": MAX_QUERY_LIMIT + 1}, "query_limit is"),
        ({"exclude_sensitivities": ["secret"]}, "exclude_sensitivities has 'secret'"),
        ({"exclude_sensitivities": []}, "exclude_sensitivities is an empty list"),
        ({"limit": 0}, "limit is not a number of at least 1"),
        ({"limit": -5}, "limit is not a number of at least 1"),
        ({"sort": "up"}, "a selector has no 'sort'"),
    ],
    ids=lambda value: json.dumps(value, default=str)[:50] if isinstance(value, dict) else "",
)
def test_what_cannot_be_meant_is_refused_with_what_to_do(axes: dict[str, Any], said: str) -> None:
    with pytest.raises(ZaxyError) as refused:
        Selector.of(axes)
    assert refused.value.code == "invalid_request"
    assert said in refused.value.message
    assert refused.value.remediation


def test_a_selector_that_a_program_makes_itself_is_judged_like_any_other(log: Log) -> None:
    for selector in (Selector(grains=("x",)), Selector(kinds="goal.created"), Selector(limit=0)):  # type: ignore[arg-type]
        with pytest.raises(ZaxyError) as refused:
            bundle_bytes(log.memory, selector)
        assert refused.value.code == "invalid_request"


@pytest.mark.parametrize(
    "selector",
    [
        Selector(kinds=("no.such",)),
        Selector(since_seq=10_000),
        Selector(since_time="2090-01-01"),
        Selector(query="nothinglikethis"),
        Selector(exclude_sensitivities=SENSITIVITIES),
        Selector(kinds=("no.such",), limit=5),
    ],
    ids=["kinds", "since_seq", "since_time", "query", "sensitivities", "limit"],
)
def test_a_selection_of_nothing_is_a_good_bundle_without_entries(log: Log, selector: Selector) -> None:
    bundle = json.loads(bundle_bytes(log.memory, selector))
    assert bundle["entries"] == []
    assert bundle["session_id"] == SESSION


def test_a_session_that_is_not_there_is_said_to_be_missing(log: Log) -> None:
    with pytest.raises(ZaxyError) as refused:
        bundle_bytes(log.memory, session="elsewhere")
    assert refused.value.code == "not_found"
    assert "elsewhere" in refused.value.message
    assert not (log.path.parent / "elsewhere.jsonl").exists()


# Logs that are damaged, large, or growing


@pytest.mark.parametrize("place", [0.1, 0.5, 0.95])
def test_a_damaged_log_exports_nothing_and_leaves_no_file(zaxy: Zaxy, tmp_path: Path, place: float) -> None:
    here = tmp_path / "here"
    path = varied_log(here)
    data = bytearray(path.read_bytes())
    at = data.index(b'"payload":', int(len(data) * place)) + len(b'"payload":{"')
    data[at] ^= 1
    path.write_bytes(data)
    before = sorted(here.iterdir())
    for more in ((), ("--limit", "170")):
        done = zaxy("export", "--out", "bundle.json", "--session-id", SESSION, *more)
        assert done.returncode == 1
        assert "is damaged" in done.stderr
        assert sorted(here.iterdir()) == before


def test_what_stands_before_the_damage_can_still_be_exported(tmp_path: Path) -> None:
    path = varied_log(tmp_path)
    expected = data_of(selected(reference(path), max_seq=20))
    data = bytearray(path.read_bytes())
    data[data.index(b'"payload":', len(data) // 2) + len(b'"payload":{"')] ^= 1
    path.write_bytes(data)
    with Memory.open(tmp_path) as memory:
        assert entries_of(memory, Selector(max_seq=20)) == expected


def append_until_told(folder: str, number: int) -> None:
    """In a child: append, until a file says that it is enough."""
    loom = Eventloom(os.path.join(folder, ".eventloom"))
    turn = 0
    while not os.path.exists(os.path.join(folder, "enough")):
        turn += 1
        note = checked_entry("note.taken", f"writer-{number}", {"text": f"turn {turn}", "turn": turn})
        loom.append("busy", [note, note])


def test_an_export_sees_one_state_while_others_append(tmp_path: Path) -> None:
    loom = Eventloom(str(tmp_path / ".eventloom"))
    loom.append("busy", [checked_entry("note.taken", "ada", {"text": "the first"})] * 300)
    writers = [
        subprocess.Popen(child_command(append_until_told, str(tmp_path), number), env=child_environment())
        for number in range(2)
    ]
    heads = []
    try:
        with Memory.open(tmp_path) as memory:
            deadline = threading.Event()
            while len(set(heads)) < 8 and len(heads) < 400:
                before = memory.head("busy")
                found = seqs(entries_of(memory, Selector(grains=("event",)), "busy"))
                assert found == list(range(1, len(found) + 1))
                assert before <= len(found) <= memory.head("busy")
                heads.append(len(found))
                if found[-1] == 300:
                    deadline.wait(0.1)
    finally:
        (tmp_path / "enough").touch()
        for writer in writers:
            assert writer.wait(120) == 0
        loom.close()
    assert len(set(heads)) >= 8, "the writers never wrote beside an export"


def print_memory_of_an_export(folder: str, out: str) -> None:
    """In a child: the most memory that an export took, in MB."""
    import resource

    with Memory.open(folder) as memory, open(out, "wb") as file:
        written = memory.export(file, EVERYTHING, session=SESSION)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1024)
    print(json.dumps({"entries": written.entries, "megabytes": most, "size": written.size}))


@pytest.mark.skipif(os.name != "posix", reason="the resource module, which tells the most memory used, is POSIX only")
def test_a_long_log_is_exported_without_holding_it(tmp_path: Path) -> None:
    text = "The deployment moved to the new cluster because the disks were slow. " * 30
    decision = checked_entry("decision.made", "ada", {"decision": text, "key": "cluster", "numbers": [0.5] * 40})
    measured = []
    for name, events in (("small", EVENTS // 10), ("large", EVENTS)):
        write_log(tmp_path / name, (decision for _ in range(events)), step=timedelta(seconds=1))
        measured.append(
            json.loads(in_child(print_memory_of_an_export, str(tmp_path / name), str(tmp_path / f"{name}.json")))
        )
        (tmp_path / f"{name}.json").unlink()
    small, large = measured
    assert large["entries"] == 10 * small["entries"]
    assert large["size"] > 3 * MEGABYTES << 20 if EVENTS >= 100_000 else large["size"] > MEGABYTES << 20
    assert large["megabytes"] < small["megabytes"] + MEGABYTES, measured


def test_the_reference_is_not_the_code_under_test() -> None:
    """The canonical form that all these tests compare with is that of another package."""
    assert rfc8785.dumps({"b": 1e16, "a": -0.0, "𝒳": 1, "\ufb33": 2}) == (
        '{"a":0,"b":10000000000000000,"𝒳":1,"\ufb33":2}'.encode()
    )
