"""Checks of `event_stores`."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from zaxy.api import prove_line, verify_lines
from zaxy.api.models import Draft, Event
from zaxy.api.points import EventStore, StoredLog
from zaxy_testkit.checks import Case, CheckFailed, Workbench, check, expect, expect_refusal
from zaxy_testkit.checks.shape import expect_shape, member_misfits

POINT = "event_stores"
SESSION = "log"
SERVERS = 4
REF = "memory.ref.updated"


@dataclass(frozen=True)
class EventStoreCase(Case):
    """Only `make` is needed: the checks bring their own events."""


def note(text: object, key: str = "") -> Draft:
    return Draft("note.taken", "tester", {"text": text}, idempotency_key=key)


def notes(count: int) -> list[Draft]:
    return [note(f"note {number}") for number in range(1, count + 1)]


def record_of(event: Event, actor: str = "tester", **more: object) -> Draft:
    """The record of an erasure, as the core makes it."""
    return Draft("event.erased", actor, {"seq": event.seq, "hash": event.hash, "reason": "it was private", **more})


def proven(lines: Sequence[bytes], session: str = SESSION) -> list[Event]:
    """The events of lines, each of which must be right to the last byte."""
    found = []
    for line in lines:
        try:
            found.append(prove_line(line, session))
        except Exception as error:
            raise CheckFailed(f"a line must stay as plan_append made it, and {line!r:.200} is not: {error}") from error
    return found


def append(store: EventStore, drafts: Sequence[Draft], session: str = SESSION) -> list[Event]:
    return proven(store.append(session, drafts), session)


def log(store: EventStore, session: str = SESSION) -> list[Event]:
    """All events of a session."""
    with closing(store.open(session)) as opened:
        return proven(opened.lines_after(0, 1000), session)


def texts(events: Sequence[Event]) -> list[object]:
    return [event.payload.get("text") if event.payload else None for event in events]


def record(line: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(line)
    return found


def expect_chain(events: Sequence[Event]) -> None:
    """Fail unless the events are numbered from 1 without a gap and each names the hash before it."""
    seqs = [event.seq for event in events]
    expect(seqs == list(range(1, len(events) + 1)), f"seqs must be 1, 2, 3 and so on, and are {seqs}")
    found = [event.prev for event in events]
    wanted = [None, *(event.hash for event in events)][: len(events)]
    expect(found == wanted, f"each prev must be the hash before it, and None at first: {wanted}, not {found}")


def on_several_servers(case: Case, bench: Workbench, work: Callable[[EventStore, int], list[Event]]) -> list[Event]:
    """The events that several stores return which work on the same state at once, each in its own thread."""

    def serve(number: int) -> list[Event]:
        with closing(bench.make(case)) as store:
            return work(store, number)

    with ThreadPoolExecutor(SERVERS) as pool:
        servers = [pool.submit(serve, number) for number in range(SERVERS)]
    failures = [repr(server.exception()) for server in servers if server.exception()]
    expect(not failures, f"{SERVERS} servers on one log must all succeed, and raised {', '.join(failures)}")
    return [event for server in servers for event in server.result()]


@check(POINT)
def it_has_the_methods_of_its_protocol(case: EventStoreCase, bench: Workbench) -> None:
    """Compare your class with zaxy.api.EventStore, and what `open` returns with zaxy.api.StoredLog."""
    with closing(bench.make(case)) as store:
        expect_shape(POINT, store)
        with closing(store.open(SESSION)) as opened:
            wrong = member_misfits(StoredLog, opened)
    expect(not wrong, "; ".join(wrong))


@check(POINT)
def a_session_without_events_is_empty(case: EventStoreCase, bench: Workbench) -> None:
    """Open it with the head None and no lines, and find no key and no ref in it: it is not an error."""
    with closing(bench.make(case)) as store:
        with closing(store.open("new")) as opened:
            found = (opened.head, dict(opened.lines([1])), list(opened.lines_after(0, 10)))
        expect(found == (None, {}, []), f"an unknown session must be empty, (None, {{}}, []), and is {found}")
        named = (store.by_key("new", "k"), list(store.refs("new")))
        expect(named == (None, []), f"by_key and refs must be (None, []) in an unknown session, and are {named}")
        expect(list(store.sessions()) == [], f"reading must create no session, and there are {store.sessions()}")


@check(POINT)
def events_are_numbered_from_one_without_gaps(case: EventStoreCase, bench: Workbench) -> None:
    """Take the next seq inside the transaction that writes the event, and count each session for itself."""
    with closing(bench.make(case)) as store:
        seqs = [
            [event.seq for event in append(store, notes(count), session)]
            for session, count in ((SESSION, 2), ("other", 1), (SESSION, 3), ("other", 1))
        ]
    wanted = [[1, 2], [1], [3, 4, 5], [2]]
    expect(seqs == wanted, f"appends to two sessions must be numbered {wanted}, and were {seqs}")


@check(POINT)
def each_event_names_the_hash_before_it(case: EventStoreCase, bench: Workbench) -> None:
    """Give each event a hash of 64 lower-case hex digits and the hash of the one before as `prev`, None at first."""
    with closing(bench.make(case)) as store:
        for session in (SESSION, "other"):
            store.append(session, notes(2))
            store.append(session, notes(1))
            expect_chain(log(store, session))
        hashes = [event.hash for session in (SESSION, "other") for event in log(store, session)]
    odd = [text for text in hashes if not re.fullmatch("[0-9a-f]{64}", text)]
    expect(not odd, f"a hash is 64 lower-case hex digits, and there are {odd}")
    expect(len(set(hashes)) == len(hashes), f"no two events have the same hash, and the hashes are {hashes}")


@check(POINT)
def an_event_carries_its_draft(case: EventStoreCase, bench: Workbench) -> None:
    """Append the draft as it is, its salt and its redactions included: `plan_append` takes care of all of it."""
    payload = {"text": "Grüße 🌍\n", "deep": {"list": [1, 2.5, None, True, {"": ""}]}, "z": 0, "a": -1}
    salt, redacted = "0123456789abcdef" * 2, (("/text", "token"),)
    draft = Draft("note.taken", "Ada", payload, "restricted", "evt_1_00000000", "key-1", redacted, salt)
    with closing(bench.make(case)) as store:
        lines = store.append(SESSION, [draft, note("other")])
    event, other = proven(lines)
    fields = ("type", "actor", "payload", "sensitivity", "caused_by", "idempotency_key")
    found, wanted = ([getattr(of, name) for name in fields] for of in (event, draft))
    expect(found == wanted, f"the event was drafted as {wanted} and came back as {found}")
    kept = (record(lines[0])["salt"], record(lines[0]).get("redacted"))
    marked = (salt, [{"kind": "token", "pointer": "/text"}])
    expect(kept == marked, f"salt and redactions must be those of the draft, {marked}, and are {kept}")
    expect(event.session == SESSION, f"the event is of session {SESSION!r}, and says {event.session!r}")
    expect(bool(event.id) and event.id != other.id, f"each event has an id of its own, not {event.id!r}, {other.id!r}")


@check(POINT)
def an_events_time_is_that_of_the_clock(case: EventStoreCase, bench: Workbench) -> None:
    """Ask `context.clock` when you append, and write the time in UTC with six digits of a second and a Z."""
    with closing(bench.make(case)) as store:
        (event,) = append(store, notes(1))
    wanted = bench.now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    expect(event.time == wanted, f"the clock says {wanted}, and the event {event.time!r}")


@check(POINT)
def what_append_returns_is_what_is_read(case: EventStoreCase, bench: Workbench) -> None:
    """Return the lines as they are stored: the caller cites them by seq and hash at once."""
    with closing(bench.make(case)) as store:
        appended = list(store.append(SESSION, notes(3)))
        with closing(store.open(SESSION)) as opened:
            found = list(opened.lines_after(0, 10))
    expect(found == appended, f"the log must hold the lines that append returned, {appended}, and holds {found}")


@check(POINT)
def a_batch_is_appended_whole_or_not_at_all(case: EventStoreCase, bench: Workbench) -> None:
    """Check every draft before you write one, or roll back: what JSON cannot hold is refused, and its batch with it."""
    with closing(bench.make(case)) as store:
        store.append(SESSION, notes(1))
        for bad in (float("nan"), float("inf"), object(), "\ud800"):
            drafts = [*notes(2), note(bad), note("after")]
            expect_refusal(partial(store.append, SESSION, drafts), f"a payload that holds {bad!r}")
            expect(len(log(store)) == 1, f"a refused batch must write nothing, and the log has {texts(log(store))}")
        store.append(SESSION, [note("after all")])
        expect_chain(log(store))


@check(POINT)
def reading_on_visits_each_event_once(case: EventStoreCase, bench: Workbench) -> None:
    """Return at most `limit` lines behind that event, oldest first, and none at the end."""
    with closing(bench.make(case)) as store:
        wanted = texts(append(store, notes(10)))
        with closing(store.open(SESSION)) as opened:
            for limit in (1, 3, 10, 50):
                found: list[object] = []
                for _ in range(12):
                    page = opened.lines_after(len(found), limit)
                    expect(len(page) <= limit, f"at most {limit} lines were asked for, and {len(page)} came")
                    found += texts(proven(page))
                expect(found == wanted, f"pages of {limit} must give {wanted}, and gave {found}")


@check(POINT)
def the_head_is_the_last_event(case: EventStoreCase, bench: Workbench) -> None:
    """Give the seq and hash of the last event of the session, not of another one."""
    with closing(bench.make(case)) as store:
        store.append("other", notes(5))
        last = append(store, notes(3))[-1]
        with closing(store.open(SESSION)) as opened:
            head = opened.head
    found = head and (head.seq, head.hash)
    expect(found == (last.seq, last.hash), f"head must name event {last.seq} and hash {last.hash}, not {found}")


@check(POINT)
def it_finds_lines_by_their_numbers(case: EventStoreCase, bench: Workbench) -> None:
    """Return the lines of that session by seq, and leave out, without an error, a seq that is not there."""
    with closing(bench.make(case)) as store:
        store.append("other", [note("of another session")])
        lines = list(store.append(SESSION, notes(4)))
        with closing(store.open(SESSION)) as opened:
            found = dict(opened.lines([3, 1, 0, 5, -1]))
    wanted = {1: lines[0], 3: lines[2]}
    expect(found == wanted, f"lines([3, 1, 0, 5, -1]) must give {wanted}, and gave {found}")


@check(POINT)
def a_log_that_is_open_does_not_move(case: EventStoreCase, bench: Workbench) -> None:
    """Keep the head that the log had when it was opened: later events are not seen, and no line moves."""
    with closing(bench.make(case)) as store:
        before = append(store, notes(3))
        with closing(store.open(SESSION)) as opened:
            store.append(SESSION, notes(2))
            store.erase(SESSION, 2, record_of(before[1]))
            head, events = opened.head, proven(opened.lines_after(0, 10))
            more = (list(opened.lines_after(3, 10)), dict(opened.lines([4])))
    expect(head is not None and head.seq == 3, f"the head must stay at event 3, and is {head}")
    found, wanted = [event.hash for event in events], [event.hash for event in before]
    expect(found == wanted, f"an open log must stay as it was, {wanted}, and is {found}")
    expect(more == ([], {}), f"an open log has nothing behind its head, and gave {more}")


@check(POINT)
def a_log_verifies_from_the_first_line_to_the_last(case: EventStoreCase, bench: Workbench) -> None:
    """Keep each line byte for byte as plan_append made it, batches and erasures included."""
    with closing(bench.make(case)) as store:
        events = append(store, [*notes(3), note("once", key="k")])
        store.append(SESSION, [note("once", key="k")])
        store.erase(SESSION, 2, record_of(events[1]))
        store.append(SESSION, notes(2))
        with closing(store.open(SESSION)) as opened:
            report = verify_lines(SESSION, opened.lines_after(0, 100))
    expect(report.ok, f"the log must verify, and event {report.damage and report.damage.seq} is wrong: {report.damage}")
    found = (report.events, report.erased)
    expect(found == (7, 1), f"the log has 7 events, 1 of them erased, and {found} were found")


@check(POINT)
def it_finds_the_event_of_a_key(case: EventStoreCase, bench: Workbench) -> None:
    """Look keys up by session and key, and return the line, also of an event that was erased."""
    with closing(bench.make(case)) as store:
        store.append("other", [note("there", key="k")])
        event = append(store, [note("before"), note("here", key="k")])[1]
        for moment in ("as it was written", "once it was erased"):
            line = store.by_key(SESSION, "k")
            found = proven([line])[0].hash if line is not None else None
            expect(found == event.hash, f"by_key must find event 2 {moment}, {event.hash}, and found {found}")
            if moment == "as it was written":
                store.erase(SESSION, event.seq, record_of(event))
        others = (store.by_key(SESSION, "other"), store.by_key(SESSION, ""))
    expect(others == (None, None), f"a key that nobody used, and the empty one, find None, and found {others}")


@check(POINT)
def refs_come_in_order(case: EventStoreCase, bench: Workbench) -> None:
    """Return all lines of the type memory.ref.updated, oldest first, of that session and no other type."""
    with closing(bench.make(case)) as store:
        store.append("other", [_ref("other", 0)])
        for number in range(3):
            store.append(SESSION, [note(f"not a ref: {REF}"), _ref(SESSION, number)])
        found = texts(proven(list(store.refs(SESSION))))
    wanted = ["ref 0", "ref 1", "ref 2"]
    expect(found == wanted, f"the refs are {wanted}, and {found} came")


def _ref(session: str, number: int) -> Draft:
    target = {"session_id": session, "target_seq": 1, "target_hash": "0" * 64}
    return Draft(REF, "zaxy", {"name": "HEAD", "text": f"ref {number}", **target})


@check(POINT)
def waiting_ends_when_more_has_come(case: EventStoreCase, bench: Workbench) -> None:
    """Look at what other processes have appended too, and return False when the time is over."""
    with closing(bench.make(case)) as store:
        expect(store.wait(SESSION, 0, 0.0) is False, "there is no event yet, and wait(0) must be False")
        store.append(SESSION, notes(2))
        expect(store.wait(SESSION, 1, 0.0) is True, "there is an event behind 1, and wait must be True at once")
        expect(store.wait(SESSION, 2, 0.05) is False, "there is no event behind 2, and wait must be False in the end")
        later = threading.Timer(0.1, _append_elsewhere, (case, bench))
        later.start()
        try:
            expect(store.wait(SESSION, 2, 60.0) is True, "another server appended event 3, and wait must be True")
        finally:
            later.join()


def _append_elsewhere(case: Case, bench: Workbench) -> None:
    with closing(bench.make(case)) as store:
        store.append(SESSION, notes(1))


@check(POINT)
def sessions_come_sorted(case: EventStoreCase, bench: Workbench) -> None:
    """List each session that has events once, in the order of Python's `sorted`."""
    with closing(bench.make(case)) as store:
        for session in ("m", "b.2", "Z", "b-1", "a", "m"):
            store.append(session, notes(1))
        found = list(store.sessions())
    wanted = ["Z", "a", "b-1", "b.2", "m"]
    expect(found == wanted, f"the sessions are {wanted}, and {found} came")


@check(POINT)
def the_same_key_again_returns_the_first_event(case: EventStoreCase, bench: Workbench) -> None:
    """Look the idempotency key up in the transaction that appends, drafts of the same batch included."""
    with closing(bench.make(case)) as store:
        (first,) = append(store, [note("once", key="k")])
    with closing(bench.make(case)) as store:
        again, fresh, twice = append(store, [note("once", key="k"), note("new", key="n"), note("new", key="n")])
        expect(again == first, f"the same key must return the first event, {first}, and returned {again}")
        expect(twice == fresh, f"the same key in one batch must return one event, {fresh}, and returned {twice}")
        expect(
            texts(log(store)) == ["once", "new"], f"'once' and 'new' were to be written, and {texts(log(store))} was"
        )


@check(POINT)
def the_same_key_with_other_content_is_a_conflict(case: EventStoreCase, bench: Workbench) -> None:
    """Raise ZaxyError with the code `conflict` when type, actor or payload differ, and write nothing of the batch."""
    with closing(bench.make(case)) as store:
        store.append(SESSION, [note("once", key="k")])
        others = [
            note("other", key="k"),
            Draft("note.changed", "tester", {"text": "once"}, idempotency_key="k"),
            Draft("note.taken", "another", {"text": "once"}, idempotency_key="k"),
        ]
        for other in others:
            batch = [note("before"), other]
            error = expect_refusal(partial(store.append, SESSION, batch), f"the key of another event, {other}")
            expect(error.code == "conflict", f"the code must be 'conflict', and is {error.code!r}")
            expect(texts(log(store)) == ["once"], f"a conflict must write nothing, and the log has {texts(log(store))}")


@check(POINT)
def a_key_belongs_to_its_session(case: EventStoreCase, bench: Workbench) -> None:
    """Look keys up by session and key: another session may use the same key for something else."""
    with closing(bench.make(case)) as store:
        store.append("other", [note("there", key="k")])
        try:
            store.append(SESSION, [note("here", key="k")])
        except Exception as error:
            raise CheckFailed(f"the key was new in its session, and append raised {error!r}") from error
        found = texts(log(store))
    expect(found == ["here"], f"the key was new in its session, which must have ['here'], and has {found}")


@check(POINT)
def events_without_a_key_are_never_the_same(case: EventStoreCase, bench: Workbench) -> None:
    """Treat an empty idempotency key as none: two events may say the same and are still two."""
    with closing(bench.make(case)) as store:
        store.append(SESSION, [note("again"), note("again")])
        store.append(SESSION, [note("again")])
        expect(len(log(store)) == 3, f"3 events without a key were appended, and the log has {len(log(store))}")


@check(POINT)
def events_survive_closing_and_reopening(case: EventStoreCase, bench: Workbench) -> None:
    """Commit before `append` returns: there may be no `close`, and the next process must find every event."""
    left_open = bench.make(case)
    before = append(left_open, notes(2))
    with closing(bench.make(case)) as store:
        before += append(store, notes(3))
    left_open.close()
    with closing(bench.make(case)) as store:
        expect(log(store) == before, f"after reopening {before} was expected, and {log(store)} is there")
        store.append(SESSION, notes(1))
        expect_chain(log(store))


@check(POINT)
def one_server_reads_what_another_appended(case: EventStoreCase, bench: Workbench) -> None:
    """Do not trust a head or a key that you remember: another process may have appended since."""
    with closing(bench.make(case)) as ours, closing(bench.make(case)) as theirs:
        ours.append(SESSION, notes(1))
        theirs.append(SESSION, [note("theirs")])
        found = texts(log(ours))
        expect(found == ["note 1", "theirs"], f"['note 1', 'theirs'] was expected from the other server, not {found}")
        ours.append(SESSION, [note("ours")])
        expect_chain(log(theirs))
        expect(log(ours) == log(theirs), "two servers of one log must read the same, and do not")


@check(POINT)
def several_servers_append_to_one_chain(case: EventStoreCase, bench: Workbench) -> None:
    """Take a lock that other processes see before you read the head, and hold it until the events are written."""

    def work(store: EventStore, number: int) -> list[Event]:
        batches = [[note(f"{number}.{n}.{part}") for part in range(n % 3 + 1)] for n in range(12)]
        return [event for batch in batches for event in append(store, batch)]

    returned = on_several_servers(case, bench, work)
    with closing(bench.make(case)) as store:
        events = log(store)
    expect_chain(events)
    ordered = sorted(returned, key=lambda event: event.seq)
    expect(
        ordered == events, f"{len(returned)} events were returned, and the log's {len(events)} are not the same ones"
    )


@check(POINT)
def a_key_sent_to_several_servers_is_taken_once(case: EventStoreCase, bench: Workbench) -> None:
    """Look the key up under the same lock as the append: two servers may be sent the same request at once."""

    def work(store: EventStore, number: int) -> list[Event]:
        return [event for n in range(8) for event in append(store, [note(f"same {n}", key=f"key-{n}")])]

    returned = on_several_servers(case, bench, work)
    with closing(bench.make(case)) as store:
        events = log(store)
    expect(
        len(events) == 8, f"8 keys were sent to each of {SERVERS} servers, and there are {len(events)} events, not 8"
    )
    expect({e.hash for e in returned} == {e.hash for e in events}, "each server must return the event of the log")


@check(POINT)
def an_erased_payload_is_none_and_the_chain_stays(case: EventStoreCase, bench: Workbench) -> None:
    """Put the line that `erase_payload` makes in place of the one that was there, and change no other."""
    with closing(bench.make(case)) as store:
        before = append(store, notes(4))
        store.erase(SESSION, 2, record_of(before[1]))
    with closing(bench.make(case)) as store:
        after = log(store)
        expect_chain(after)
        found, wanted = texts(after)[:4], ["note 1", None, "note 3", "note 4"]
        expect(found == wanted, f"only the payload of event 2 must be gone, {wanted}, and there is {found}")
        kept = [(event.seq, event.id, event.type, event.hash) for event in after[:4]]
        wanted_kept = [(event.seq, event.id, event.type, event.hash) for event in before]
        expect(kept == wanted_kept, f"all else must stay as it was, {wanted_kept}, and is {kept}")


@check(POINT)
def an_erasure_is_recorded_in_the_log(case: EventStoreCase, bench: Workbench) -> None:
    """Append the record that you are given in the same transaction, and return its line."""
    closings = [{"at": "2026-06-15T00:00:00.000000Z", "entity": None, "seq": 1, "row": 0}]
    with closing(bench.make(case)) as store:
        event = append(store, notes(3))[1]
        draft = record_of(event, "Ada", closings=closings)
        (made,) = proven([store.erase(SESSION, 2, draft)])
        last = log(store)[-1]
    expect(made == last, f"what erase returns must be the last event of the log, {last}, and is {made}")
    found = (made.seq, made.type, made.actor, made.payload)
    wanted = (4, "event.erased", "Ada", draft.payload)
    expect(found == wanted, f"the record must be {wanted}, and is {found}")


@check(POINT)
def erased_text_is_in_no_file(case: EventStoreCase, bench: Workbench) -> None:
    """Overwrite the bytes (SQLite: PRAGMA secure_delete, then VACUUM), in copies, journals and indexes too."""
    secret = "quixzbarq"
    with closing(bench.make(case)) as store:
        store.append(SESSION, [*notes(20), note(f"We meet at {secret}. " * 200), *notes(20)])
        store.append(SESSION, [note(f"Not only {secret} itself.", key="k")])
        for event in [log(store)[seq - 1] for seq in (21, 42)]:
            store.erase(SESSION, event.seq, record_of(event))
    for path in sorted((bench.scratch / "state").rglob("*")):
        if path.is_file():
            expect(secret.encode() not in path.read_bytes(), f"the erased text can still be read in {path.name}")


@check(POINT)
def what_is_not_there_cannot_be_erased(case: EventStoreCase, bench: Workbench) -> None:
    """Raise ZaxyError with the code `not_found` for an unknown session or seq, and record nothing."""
    with closing(bench.make(case)) as store:
        (event,) = append(store, notes(1))
        for session, seq in ((SESSION, 2), (SESSION, 0), ("unknown", 1)):
            error = expect_refusal(
                partial(store.erase, session, seq, record_of(event)), f"erasing event {seq} of {session!r}"
            )
            expect(error.code == "not_found", f"the code must be 'not_found', and is {error.code!r}")
        found = (list(store.sessions()), len(log(store)))
        expect(found == ([SESSION], 1), f"a refused erasure must write nothing, and there are {found}")


@check(POINT)
def only_the_event_that_is_meant_is_erased(case: EventStoreCase, bench: Workbench) -> None:
    """Compare the record's hash with that of the event, in the transaction: otherwise, or if erased, a conflict."""
    with closing(bench.make(case)) as store:
        events = append(store, notes(3))
        store.erase(SESSION, 3, record_of(events[2]))
        for seq, named in ((1, events[1]), (3, events[2])):
            error = expect_refusal(partial(store.erase, SESSION, seq, record_of(named)), f"erasing event {seq}")
            expect(error.code == "conflict", f"the code must be 'conflict', and is {error.code!r}")
        found = texts(log(store))
    wanted = ["note 1", "note 2", None, None]
    expect(found == wanted, f"a refused erasure must change nothing, {wanted}, and the log has {found}")


@check(POINT)
def a_key_outlives_the_erasure_of_its_event(case: EventStoreCase, bench: Workbench) -> None:
    """Keep the key of an erased event: the same request again returns that event, still erased, and writes nothing."""
    with closing(bench.make(case)) as store:
        (event,) = append(store, [note("private", key="k")])
        store.erase(SESSION, 1, record_of(event))
        (again,) = append(store, [note("private", key="k")])
        expect((again.seq, again.payload) == (1, None), f"event 1 without payload was expected, and {again} came")
        expect(len(log(store)) == 2, f"the log must keep its 2 events, and has {texts(log(store))}")
