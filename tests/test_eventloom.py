"""The log: what an append promises, what a reader sees, and what erasure, refs and repair do."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zaxy.errors import ZaxyError
from zaxy.eventloom import tail
from zaxy.eventloom.admission import RESERVED_TYPES, admit, checked_entry
from zaxy.eventloom.bulk import parse_quickly
from zaxy.eventloom.canonical import encode
from zaxy.eventloom.citation import Citation, parse_citation
from zaxy.eventloom.disk import Disk
from zaxy.eventloom.log import SessionLog
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.record import Entry, Line, parse_line


@pytest.fixture
def loom(tmp_path: Path) -> Iterator[Eventloom]:
    opened = Eventloom(str(tmp_path / ".eventloom"))
    yield opened
    opened.close()


def note(text: str = "hello", **fields: Any) -> Entry:
    return checked_entry("note.taken", "tester", {"text": text}, **fields)


def texts(lines: Iterator[Line] | list[Line]) -> list[str]:
    return [line.record["payload"]["text"] for line in lines]


def log_file(loom: Eventloom, session: str = "work") -> Path:
    return Path(loom.folder) / f"{session}.jsonl"


def test_an_append_writes_one_canonical_line_under_the_eventloom_path(loom: Eventloom) -> None:
    line = loom.append("work", [note()])[0]
    assert log_file(loom).read_bytes() == line.data + b"\n" == encode(line.record) + b"\n"
    assert line.record["v"] == 1
    assert (line.seq, line.record["prev"], line.record["thread"]) == (1, None, "work")
    assert line.record["id"].startswith("evt_1_")
    assert len(line.hash) == 64
    assert log_file(loom).stat().st_mode & 0o777 == 0o600
    assert Path(loom.folder).stat().st_mode & 0o777 == 0o700


def test_sequence_numbers_grow_by_one_and_each_event_names_the_hash_before(loom: Eventloom) -> None:
    lines = [loom.append("work", [note(str(number))])[0] for number in range(5)]
    assert [line.seq for line in lines] == [1, 2, 3, 4, 5]
    assert [line.record["prev"] for line in lines] == [None, *(line.hash for line in lines[:-1])]


def test_a_line_is_read_the_same_way_quickly_and_exactly(loom: Eventloom) -> None:
    payloads: list[dict[str, Any]] = [
        {"text": "plain"},
        {"text": "naïve 日本語 🙂", "float": 1.5, "big": 1e16, "tiny": 1e-7, "nested": {"a": [1, {"b": None}]}},
        {"\ufb33": 1, "\U0001f600": 2},
        {
            "payload": {"x": 1},
            "payload_digest": "no",
            "salt": "no",
            "hash": "no",
            "id": "evt_no",
            "sensitivity": "public",
        },
        {"text": ',"payload":{"fake":1},"payload_digest":"'},
        {},
    ]
    entries = [checked_entry("note.taken", 'a "quoted" actor', payload) for payload in payloads]
    for line in loom.append("work", entries):
        assert parse_quickly(line.data).record == parse_line(line.data).record == {**line.record}


def test_reading_from_beyond_any_number_gives_nothing(loom: Eventloom) -> None:
    loom.append("s", [admit("note.taken", "ann", {"text": "one"})])
    assert list(loom.read("s", 10**30)) == []


def test_reading_by_range_gives_just_that_range(loom: Eventloom) -> None:
    loom.append("work", [note(str(number)) for number in range(300)])
    assert texts(loom.read("work", 100, 103)) == ["99", "100", "101", "102"]
    assert texts(loom.read("work", 299)) == ["298", "299"]
    assert texts(loom.read("work", 301)) == []
    assert loom.get("work", 0) is None
    assert loom.get("work", 301) is None


def test_a_citation_resolves_in_both_forms_and_never_with_a_wrong_hash(loom: Eventloom) -> None:
    line = loom.append("work", [note()])[0]
    cited = Citation("work", 1, line.hash)
    assert str(cited) == f"eventloom://work/events/1#{line.hash}"
    for text in (str(cited), cited.short):
        assert loom.resolve(parse_citation(text)).hash == line.hash
    for wrong in (f"eventloom://work/events/1#{'0' * 12}", f"eventloom://work/events/2#{line.hash}"):
        with pytest.raises(ZaxyError, match="does not resolve"):
            loom.resolve(parse_citation(wrong))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "eventloom://work/events/1",
        "eventloom://work/events/1#",
        "eventloom://work/events/1#abc",
        "eventloom://work/events/01#000000000000",
        "eventloom://work/events/-1#000000000000",
        "eventloom://../events/1#000000000000",
        "eventloom://work/events/1#00000000000G",
        "http://work/events/1#000000000000",
        "eventloom://work/events/99999999999999999999#000000000000",
    ],
)
def test_a_malformed_citation_is_refused(text: str) -> None:
    with pytest.raises(ZaxyError) as refused:
        parse_citation(text)
    assert refused.value.code == "invalid_request"


def test_threads_that_append_at_once_share_syncs_and_lose_nothing(tmp_path: Path) -> None:
    class Counting(Disk):
        syncs = 0

        def sync(self, fd: int) -> None:
            self.syncs += 1
            super().sync(fd)

    disk = Counting()
    loom = Eventloom(str(tmp_path / "log"), disk=disk)
    loom.append("work", [note("first")])

    def write(writer: int) -> None:
        for number in range(50):
            loom.append("work", [note(f"{writer}:{number}")])

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = texts(loom.read("work"))
    assert sorted(found[1:]) == sorted(f"{writer}:{number}" for writer in range(8) for number in range(50))
    for writer in range(8):
        own = [text for text in found if text.startswith(f"{writer}:")]
        assert own == [f"{writer}:{number}" for number in range(50)], "a thread's own events keep their order"
    assert disk.syncs < 400 * 0.7
    assert loom.verify("work").ok


def test_a_batch_is_all_or_nothing_and_marked(loom: Eventloom) -> None:
    lines = loom.append("work", [note("a"), note("b"), note("c")])
    marks = [line.record["batch"] for line in lines]
    assert [(mark["index"], mark["count"]) for mark in marks] == [(0, 3), (1, 3), (2, 3)]
    assert len({mark["id"] for mark in marks}) == 1
    assert "batch" not in loom.append("work", [note("single")])[0].record


def test_the_same_key_again_writes_nothing_also_after_a_restart_and_without_the_index(loom: Eventloom) -> None:
    first = loom.append("work", [note("once", idempotency_key="k1")])[0]
    loom.append("work", [note("other")])
    assert loom.append("work", [note("once", idempotency_key="k1")])[0].hash == first.hash
    again = Eventloom(loom.folder)
    assert again.append("work", [note("once", idempotency_key="k1")])[0].hash == first.hash
    for file in Path(loom.folder, "followers", "log").iterdir():
        file.unlink()
    fresh = Eventloom(loom.folder)
    assert fresh.append("work", [note("once", idempotency_key="k1")])[0].hash == first.hash
    assert fresh.end("work").seq == 2


def test_the_same_key_with_other_content_is_a_conflict_and_writes_nothing(loom: Eventloom) -> None:
    loom.append("work", [note("once", idempotency_key="k1")])
    with pytest.raises(ZaxyError) as refused:
        loom.append("work", [note("twice", idempotency_key="k1"), note("beside it")])
    assert refused.value.code == "conflict"
    assert loom.end("work").seq == 1


def test_a_broken_index_is_replaced_and_the_log_still_answers(loom: Eventloom) -> None:
    loom.append("work", [note(str(number)) for number in range(200)])
    assert texts(loom.read("work", 150, 150)) == ["149"]
    loom.close()
    (index,) = Path(loom.folder, "followers", "log").glob("*.index")
    index.write_bytes(b"not a database at all" * 500)
    assert texts(Eventloom(loom.folder).read("work", 150, 150)) == ["149"]


def test_an_erased_payload_is_gone_and_the_chain_still_verifies(loom: Eventloom) -> None:
    loom.append("work", [note("keep me")])
    secret = loom.append("work", [note("FORGET-ME-NOT", idempotency_key="k")])[0]
    loom.append("work", [note("keep me too")])
    recorded = loom.erase("work", 2, "user", "asked for")
    assert (recorded.record["type"], recorded.record["payload"]["seq"]) == ("event.erased", 2)
    assert recorded.record["payload"]["hash"] == secret.hash
    for folder, _, files in os.walk(loom.folder):
        for name in files:
            assert b"FORGET-ME-NOT" not in Path(folder, name).read_bytes(), name
    erased = loom.get("work", 2)
    assert erased is not None
    assert "payload" not in erased.record
    assert erased.hash == secret.hash
    report = loom.verify("work")
    assert (report.ok, report.events, report.erased) == (True, 4, 1)
    assert loom.append("work", [note("FORGET-ME-NOT", idempotency_key="k")])[0].hash == secret.hash, "its key survives"
    assert loom.append("work", [note("goes on")])[0].seq == 5


def test_the_index_follows_an_erasure_of_the_very_event_it_ended_at(loom: Eventloom) -> None:
    loom.append("work", [note("a"), note("b")])
    assert texts(loom.read("work", 2)) == ["b"]
    loom.erase("work", 2, "user", "asked for")
    assert [line.seq for line in loom.read("work", 2)] == [2, 3]


def test_other_writers_and_readers_follow_to_the_file_that_an_erasure_put_there(loom: Eventloom) -> None:
    loom.append("work", [note("a"), note("b")])
    other = Eventloom(loom.folder)
    other.append("work", [note("c")])
    loom.erase("work", 1, "user", "asked for")
    assert other.append("work", [note("d")])[0].seq == 5
    assert loom.append("work", [note("e")])[0].seq == 6
    assert loom.verify("work").ok


def test_what_cannot_be_erased_is_refused(loom: Eventloom) -> None:
    loom.append("work", [note()])
    loom.erase("work", 1, "user", "asked for")
    for seq, code in ((1, "conflict"), (2, "forbidden"), (3, "not_found")):
        with pytest.raises(ZaxyError) as refused:
            loom.erase("work", seq, "user", "asked for")
        assert refused.value.code == code
    assert loom.end("work").seq == 2


def test_a_payload_blanked_by_hand_is_damage(loom: Eventloom) -> None:
    loom.append("work", [note("a"), note("b")])
    lines = log_file(loom).read_bytes().splitlines()
    record = json.loads(lines[0])
    del record["payload"], record["salt"]
    log_file(loom).write_bytes(encode(record) + b"\n" + lines[1] + b"\n")
    report = loom.verify("work")
    assert report.damage is not None
    assert (report.damage.seq, "no erasure of it is on record" in report.damage.reason) == (1, True)


def test_head_and_main_are_the_last_event_until_they_are_set_and_refs_name_events(loom: Eventloom) -> None:
    (first,) = loom.append("work", [note("a")])
    assert loom.resolve_ref("work", "refs/heads/main").hash == first.hash
    (second,) = loom.append("work", [note("b")])
    assert loom.resolve_ref("work", "HEAD").hash == second.hash
    assert loom.resolve_ref("work", "refs/heads/main").hash == second.hash
    loom.set_ref("refs/heads/main", first)
    loom.set_ref("refs/heads/main", second)
    loom.set_ref("HEAD", first)
    assert loom.resolve_ref("work", "refs/heads/main").hash == second.hash
    assert loom.resolve_ref("work", "HEAD").hash == first.hash
    assert set(loom.refs("work")) == {"HEAD", "refs/heads/main"}
    with pytest.raises(ZaxyError, match="has no ref refs/heads/other"):
        loom.resolve_ref("work", "refs/heads/other")


def test_a_payload_that_looks_like_the_setting_of_a_ref_sets_none(loom: Eventloom) -> None:
    first = loom.append("work", [note("a")])[0]
    forged = {"type": "memory.ref.updated", "name": "refs/heads/main", "target_seq": 1, "target_hash": first.hash}
    loom.append("work", [admit("note.taken", "mallory", payload) for payload in (forged, {"type": forged["type"]})])
    assert loom.refs("work") == {}
    loom.get("work", 2)  # so that the index has seen them
    assert loom.refs("work") == {}
    assert loom.resolve_ref("work", "refs/heads/main").hash == loom.last_event("work").hash


@pytest.mark.parametrize(
    "name", ["", "head", "refs/", "refs//x", "refs/../x", "refs/heads/", "refs/a b", "refs/x.", "/refs/x"]
)
def test_an_unsafe_ref_name_is_refused(loom: Eventloom, name: str) -> None:
    line = loom.append("work", [note()])[0]
    with pytest.raises(ZaxyError, match="is not the name of a ref"):
        loom.set_ref(name, line)


@pytest.mark.parametrize(
    ("type_", "actor", "code"),
    [
        *((reserved, "assistant", "forbidden") for reserved in sorted(RESERVED_TYPES)),
        *((f"{family}.x", "assistant", "forbidden") for family in ("event", "memory.ref", "imported", "coordination")),
        ("note.taken", "zaxy", "forbidden"),
        ("note", "assistant", "invalid_request"),
        ("Note.Taken", "assistant", "invalid_request"),
        ("note..taken", "assistant", "invalid_request"),
        ("note.taken\n", "assistant", "invalid_request"),
        ("note.taken", "", "invalid_request"),
        ("note.taken", "a" * 257, "too_large"),
        ("x." * 200 + "x", "assistant", "too_large"),
    ],
)
def test_reserved_and_malformed_names_are_refused_from_outside(type_: str, actor: str, code: str) -> None:
    with pytest.raises(ZaxyError) as refused:
        admit(type_, actor, {"text": "x"})
    assert refused.value.code == code


def test_a_payloads_sensitivity_is_lifted_to_the_record_and_must_be_a_tier(loom: Eventloom) -> None:
    entry = checked_entry("note.taken", "tester", {"text": "x", "sensitivity": "restricted"})
    assert loom.append("work", [entry])[0].record["sensitivity"] == "restricted"
    assert loom.append("work", [note()])[0].record["sensitivity"] == "internal"
    with pytest.raises(ZaxyError, match="is not a sensitivity"):
        checked_entry("note.taken", "tester", {"sensitivity": "cosmic"})


def test_an_oversize_payload_is_refused_and_nothing_is_written(loom: Eventloom) -> None:
    with pytest.raises(ZaxyError) as refused:
        loom.append("work", [note("x" * (1 << 20))])
    assert refused.value.code == "too_large"
    assert not Path(loom.folder).exists()
    checked_entry("note.taken", "tester", {"text": "x" * ((1 << 20) - 11)})


def test_a_reader_in_another_process_state_sees_only_what_is_durable(loom: Eventloom) -> None:
    loom.append("work", [note("a")])
    with open(log_file(loom), "ab") as file:
        file.write(b'{"half": "a li')
    other = Eventloom(loom.folder)
    assert texts(other.read("work")) == ["a"]
    assert other.verify("work").torn == 14
    assert other.append("work", [note("b")])[0].seq == 2
    assert b'{"half": "a li' in Path(loom.folder, "work.torn").read_bytes()
    assert texts(loom.read("work")) == ["a", "b"]


def test_a_damaged_session_can_be_read_up_to_the_damage_and_is_not_written_any_more(loom: Eventloom) -> None:
    loom.append("work", [note(str(number)) for number in range(10)])
    data = bytearray(log_file(loom).read_bytes())
    lines = bytes(data).split(b"\n")
    at = len(b"\n".join(lines[:6])) + 30
    data[at] ^= 1
    log_file(loom).write_bytes(bytes(data))
    other = Eventloom(loom.folder)
    read = []
    with pytest.raises(ZaxyError, match="event 7 of work is damaged"):
        for line in other.read("work"):
            read.append(line.seq)
    assert read == [1, 2, 3, 4, 5, 6]
    with pytest.raises(ZaxyError, match="can only be read"):
        other.append("work", [note()])
    data[at] ^= 1
    log_file(loom).write_bytes(bytes(data))
    report, _ = other.repair("work")
    assert report.ok
    assert other.append("work", [note()])[0].seq == 11


def test_a_log_that_was_cut_back_is_noticed_by_who_remembers_a_head(loom: Eventloom) -> None:
    loom.append("work", [note("a")])
    early = log_file(loom).read_bytes()
    head = loom.append("work", [note("b")])[0]
    remembered = Citation("work", head.seq, head.hash[:12])
    assert loom.verify("work", since=remembered).ok
    log_file(loom).write_bytes(early)
    cut = Eventloom(loom.folder).verify("work", since=remembered).damage
    assert cut is not None
    assert "cut back" in cut.reason
    Eventloom(loom.folder).append("work", [note("another b")])
    replaced = Eventloom(loom.folder).verify("work", since=remembered).damage
    assert replaced is not None
    assert "the history was replaced" in replaced.reason


def test_a_file_of_another_session_is_refused(loom: Eventloom) -> None:
    loom.append("work", [note()])
    Path(loom.folder, "play.jsonl").write_bytes(log_file(loom).read_bytes())
    Path(loom.folder, "play.jsonl").chmod(0o600)
    with pytest.raises(ZaxyError, match="holds the log of another session"):
        loom.append("play", [note()])


def test_a_session_that_differs_only_in_case_is_refused(loom: Eventloom) -> None:
    loom.append("Work", [note()])
    with pytest.raises(ZaxyError, match="differs only in case from Work"):
        loom.append("work", [note()])


def test_a_forked_child_appends_with_a_descriptor_of_its_own(loom: Eventloom) -> None:
    loom.append("work", [note("parent")])
    child = os.fork()
    if child == 0:
        try:
            loom.append("work", [note("child")])
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    loom.append("work", [note("parent again")])
    assert texts(loom.read("work")) == ["parent", "child", "parent again"]
    assert loom.verify("work").ok


def test_tailing_yields_events_as_they_become_durable(loom: Eventloom) -> None:
    loom.append("work", [note("a")])
    following = loom.follow("work", 1, poll=0.01)
    assert next(following).seq == 1
    timer = threading.Timer(0.05, lambda: Eventloom(loom.folder).append("work", [note("b")]))
    timer.start()
    assert next(following).record["payload"]["text"] == "b"
    timer.join()


def test_opening_a_log_reads_only_its_tail(tmp_path: Path) -> None:
    class Metered(Disk):
        read_bytes = 0

        def read(self, fd: int, count: int, offset: int) -> bytes:
            data = super().read(fd, count, offset)
            self.read_bytes += len(data)
            return data

    Eventloom(str(tmp_path)).append("work", [note("x" * 200) for _ in range(2000)])
    disk = Metered()
    SessionLog(str(tmp_path), "work", disk).append([note()])
    assert disk.read_bytes < 200_000 < (tmp_path / "work.jsonl").stat().st_size


def test_a_last_line_that_was_proven_is_proven_again_only_if_it_changed(
    loom: Eventloom, monkeypatch: pytest.MonkeyPatch
) -> None:
    proven: list[bytes] = []
    monkeypatch.setattr(tail, "parse_line", lambda data: proven.append(data) or parse_line(data))
    (first,) = loom.append("work", [note("a")])
    assert [loom.end("work").seq for _ in range(2)] == [1, 1]
    proven.clear()
    (second,) = Eventloom(loom.folder).append("work", [note("b")])
    proven.clear()
    assert [loom.end("work").seq for _ in range(2)] == [2, 2]
    assert proven == [second.data]
    path = Path(loom.folder, "work.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"text":"b"', b'"text":"c"'))
    assert (loom.end("work").seq, loom.state("work")) == (1, "damaged")
    path.write_bytes(first.data + b"\n")
    assert loom.end("work").seq == 1


@pytest.mark.parametrize("size", (100, 4_000, 5_000, 70_000, 200_000))
def test_the_last_line_is_found_however_long_it_is(tmp_path: Path, size: int) -> None:
    Eventloom(str(tmp_path)).append("work", [note("x" * size), note("y" * size)])
    end = Eventloom(str(tmp_path)).end("work")
    assert end.line is not None and end.line.record["payload"]["text"] == "y" * size


def test_a_list_of_redactions_that_would_make_an_endless_line_is_refused() -> None:
    places = [{"kind": "password", "pointer": "/" + "k" * 100_000} for _ in range(100)]
    with pytest.raises(ZaxyError) as refused:
        checked_entry("note.taken", "tester", {"text": "x"}, redacted=places)
    assert refused.value.code == "too_large"
