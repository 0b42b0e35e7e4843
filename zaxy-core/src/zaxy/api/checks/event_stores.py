"""Checks of `event_stores`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from zaxy.api.checks import Case, CheckFailed, Workbench, check, expect, expect_refusal
from zaxy.api.checks.shape import expect_shape
from zaxy.api.models import Draft, Event, Page
from zaxy.api.points import EventStore

POINT = "event_stores"
SESSION = "log"
SERVERS = 4


@dataclass(frozen=True)
class EventStoreCase(Case):
    """Only `make` is needed: the checks bring their own events."""


def note(text: object, key: str = "") -> Draft:
    return Draft("note.taken", "tester", {"text": text}, idempotency_key=key)


def notes(count: int) -> list[Draft]:
    return [note(f"note {number}") for number in range(1, count + 1)]


def log(store: EventStore, session: str = SESSION) -> list[Event]:
    """All events of a session."""
    return list(store.read(session, None, 1000).events)


def texts(events: Sequence[Event]) -> list[object]:
    return [event.payload.get("text") if event.payload else None for event in events]


def one(store: EventStore, seq: int) -> Event:
    event = store.get(SESSION, seq)
    if event is None:
        raise CheckFailed(f"event {seq} is in the log, and get({SESSION!r}, {seq}) found None")
    return event


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
    """Compare your class with zaxy.api.EventStore: a method is missing or takes other parameters."""
    expect_shape(POINT, bench.make(case))


@check(POINT)
def a_session_without_events_is_empty(case: EventStoreCase, bench: Workbench) -> None:
    """Answer with an empty page whose cursor is None, and with None from `head` and `get`: it is not an error."""
    with closing(bench.make(case)) as store:
        page, head, event = store.read("new", None, 10), store.head("new"), store.get("new", 1)
        expect(page == Page((), None), f"an unknown session must read as {Page((), None)}, and gave {page}")
        expect((head, event) == (None, None), f"head and get must be None in an unknown session, not {head}, {event}")
        expect(list(store.sessions()) == [], f"reading must create no session, and there are {store.sessions()}")


@check(POINT)
def events_are_numbered_from_one_without_gaps(case: EventStoreCase, bench: Workbench) -> None:
    """Take the next seq inside the transaction that writes the event, and count each session for itself."""
    with closing(bench.make(case)) as store:
        seqs = [
            [event.seq for event in store.append(session, notes(count))]
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
    """Keep every field of the draft, the payload as nested as it came, and give each event an id of its own."""
    payload = {"text": "Grüße 🌍\n", "deep": {"list": [1, 2.5, None, True, {"": ""}]}, "z": 0, "a": -1}
    draft = Draft("note.taken", "Ada", payload, "restricted", "evt_1_00000000", "key-1")
    with closing(bench.make(case)) as store:
        event, other = store.append(SESSION, [draft, note("other")])
    fields = ("type", "actor", "payload", "sensitivity", "caused_by", "idempotency_key")
    found, wanted = ([getattr(of, name) for name in fields] for of in (event, draft))
    expect(found == wanted, f"the event was drafted as {wanted} and came back as {found}")
    expect(event.session == SESSION, f"the event is of session {SESSION!r}, and says {event.session!r}")
    expect(bool(event.id) and event.id != other.id, f"each event has an id of its own, not {event.id!r}, {other.id!r}")


@check(POINT)
def an_events_time_is_that_of_the_clock(case: EventStoreCase, bench: Workbench) -> None:
    """Ask `context.clock` when you append, and write the time in UTC with six digits of a second and a Z."""
    with closing(bench.make(case)) as store:
        (event,) = store.append(SESSION, notes(1))
    wanted = bench.now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    expect(event.time == wanted, f"the clock says {wanted}, and the event {event.time!r}")


@check(POINT)
def what_append_returns_is_what_is_read(case: EventStoreCase, bench: Workbench) -> None:
    """Return the events as they are stored: the caller cites them by seq and hash at once."""
    with closing(bench.make(case)) as store:
        appended = list(store.append(SESSION, notes(3)))
        expect(log(store) == appended, f"read must give the appended events {appended}, and gave {log(store)}")


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
def reading_on_from_cursors_visits_each_event_once(case: EventStoreCase, bench: Workbench) -> None:
    """Return at most `limit` events, oldest first, and the cursor after them; at the end, the one you were given."""
    with closing(bench.make(case)) as store:
        wanted = texts(store.append(SESSION, notes(10)))
        for limit in (1, 3, 10, 50):
            found: list[object] = []
            cursor = None
            for _ in range(12):
                page = store.read(SESSION, cursor, limit)
                expect(len(page.events) <= limit, f"at most {limit} events were asked for, and {len(page.events)} came")
                found += texts(page.events)
                cursor = page.cursor
            expect(found == wanted, f"pages of {limit} must give {wanted}, and gave {found}")
        store.append(SESSION, [note("later")])
        found = texts(store.read(SESSION, cursor, 10).events)
        expect(found == ["later"], f"the cursor of the last page must lead on to ['later'], and led to {found}")


@check(POINT)
def the_head_is_the_cursor_after_the_last_event(case: EventStoreCase, bench: Workbench) -> None:
    """Give the seq and hash of the last event, and the same cursor with which `read` ends there."""
    with closing(bench.make(case)) as store:
        last = store.append(SESSION, notes(3))[-1]
        head, end = store.head(SESSION), store.read(SESSION, None, 10).cursor
        expect(head == end, f"head must be the cursor at the end of reading, {end}, and is {head}")
        found = head and (head.seq, head.hash)
        expect(found == (last.seq, last.hash), f"head must name event {last.seq} and hash {last.hash}, not {found}")


@check(POINT)
def it_gets_one_event_by_its_number(case: EventStoreCase, bench: Workbench) -> None:
    """Return the event of that session and seq, and None, not an error, for a seq that is not there."""
    with closing(bench.make(case)) as store:
        store.append("other", [note("of another session")])
        events = store.append(SESSION, notes(3))
        for event in events:
            found = store.get(SESSION, event.seq)
            expect(found == event, f"get({event.seq}) must give {event}, and gave {found}")
        for seq in (0, 4, -1):
            expect(store.get(SESSION, seq) is None, f"there is no event {seq}, and get gave {store.get(SESSION, seq)}")


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
        (first,) = store.append(SESSION, [note("once", key="k")])
    with closing(bench.make(case)) as store:
        again, fresh, twice = store.append(SESSION, [note("once", key="k"), note("new", key="n"), note("new", key="n")])
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
        store.append(SESSION, [note("here", key="k")])
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
    before = list(left_open.append(SESSION, notes(2)))
    with closing(bench.make(case)) as store:
        before += store.append(SESSION, notes(3))
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
        expect(ours.head(SESSION) == theirs.head(SESSION), "two servers of one log must have one head, and have two")


@check(POINT)
def several_servers_append_to_one_chain(case: EventStoreCase, bench: Workbench) -> None:
    """Take a lock that other processes see before you read the head, and hold it until the events are written."""

    def work(store: EventStore, number: int) -> list[Event]:
        batches = [[note(f"{number}.{n}.{part}") for part in range(n % 3 + 1)] for n in range(12)]
        return [event for batch in batches for event in store.append(SESSION, batch)]

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
        return [event for n in range(8) for event in store.append(SESSION, [note(f"same {n}", key=f"key-{n}")])]

    returned = on_several_servers(case, bench, work)
    with closing(bench.make(case)) as store:
        events = log(store)
    expect(
        len(events) == 8, f"8 keys were sent to each of {SERVERS} servers, and there are {len(events)} events, not 8"
    )
    expect({e.hash for e in returned} == {e.hash for e in events}, "each server must return the event of the log")


@check(POINT)
def an_erased_payload_is_none_and_the_chain_stays(case: EventStoreCase, bench: Workbench) -> None:
    """Let the hash cover a salted digest of the payload, not the payload: erasing then changes no hash."""
    with closing(bench.make(case)) as store:
        before = list(store.append(SESSION, notes(4)))
        store.erase(SESSION, 2, "tester", "it was private")
    with closing(bench.make(case)) as store:
        after = log(store)
        expect_chain(after)
        found, wanted = texts(after)[:4], ["note 1", None, "note 3", "note 4"]
        expect(found == wanted, f"only the payload of event 2 must be gone, {wanted}, and there is {found}")
        erased = one(store, 2)
        expect(erased.payload is None, f"an erased payload is None, and get gave {erased.payload!r}")
        kept = [(event.seq, event.id, event.type, event.hash) for event in after[:4]]
        wanted_kept = [(event.seq, event.id, event.type, event.hash) for event in before]
        expect(kept == wanted_kept, f"all else must stay as it was, {wanted_kept}, and is {kept}")


@check(POINT)
def an_erasure_is_recorded_in_the_log(case: EventStoreCase, bench: Workbench) -> None:
    """Append an `event.erased` event by that actor, whose payload has seq, hash and reason, and return it."""
    with closing(bench.make(case)) as store:
        event = store.append(SESSION, notes(3))[1]
        record = store.erase(SESSION, 2, "Ada", "it was private")
        last = log(store)[-1]
    expect(record == last, f"the event that erase returns must be the last of the log, {last}, and is {record}")
    found = (record.seq, record.type, record.actor)
    expect(found == (4, "event.erased", "Ada"), f"(4, 'event.erased', 'Ada') was expected, and the record is {found}")
    payload = dict(record.payload or {})
    named = {name: payload.get(name) for name in ("seq", "hash", "reason")}
    wanted = {"seq": 2, "hash": event.hash, "reason": "it was private"}
    expect(named == wanted, f"its payload must name {wanted}, and names {named}")


@check(POINT)
def erased_text_is_in_no_file(case: EventStoreCase, bench: Workbench) -> None:
    """Overwrite the bytes (SQLite: PRAGMA secure_delete, then VACUUM), in copies, journals and indexes too."""
    secret = "quixzbarq"
    with closing(bench.make(case)) as store:
        store.append(SESSION, [*notes(20), note(f"We meet at {secret}. " * 200), *notes(20)])
        store.append(SESSION, [note(f"Not only {secret} itself.", key="k")])
        for seq in (21, 42):
            store.erase(SESSION, seq, "tester", "it was private")
    for path in sorted((bench.scratch / "state").rglob("*")):
        if path.is_file():
            expect(secret.encode() not in path.read_bytes(), f"the erased text can still be read in {path.name}")


@check(POINT)
def what_is_not_there_cannot_be_erased(case: EventStoreCase, bench: Workbench) -> None:
    """Raise ZaxyError with the code `not_found` for an unknown session or seq, and record nothing."""
    with closing(bench.make(case)) as store:
        store.append(SESSION, notes(1))
        for session, seq in ((SESSION, 2), (SESSION, 0), ("unknown", 1)):
            error = expect_refusal(
                partial(store.erase, session, seq, "tester", "a mistake"), f"erasing event {seq} of {session!r}"
            )
            expect(error.code == "not_found", f"the code must be 'not_found', and is {error.code!r}")
        found = (list(store.sessions()), len(log(store)))
        expect(found == ([SESSION], 1), f"a refused erasure must write nothing, and there are {found}")


@check(POINT)
def a_cursor_outlives_an_erasure(case: EventStoreCase, bench: Workbench) -> None:
    """Find the place again by the cursor's seq if its offset has moved: followers read on and meet the erasure."""
    with closing(bench.make(case)) as store:
        store.append(SESSION, notes(5))
        cursor = store.read(SESSION, None, 3).cursor
        store.erase(SESSION, 2, "tester", "it was private")
        try:
            found = [event.seq for event in store.read(SESSION, cursor, 10).events]
        except Exception as error:
            raise CheckFailed(f"a cursor from before an erasure must lead on, and reading raised {error!r}") from error
    expect(found == [4, 5, 6], f"after event 3 come [4, 5, 6], the last of them the erasure, and {found} came")


@check(POINT)
def a_key_outlives_the_erasure_of_its_event(case: EventStoreCase, bench: Workbench) -> None:
    """Keep the key of an erased event: the same request again returns that event, still erased, and writes nothing."""
    with closing(bench.make(case)) as store:
        store.append(SESSION, [note("private", key="k")])
        store.erase(SESSION, 1, "tester", "it was private")
        (again,) = store.append(SESSION, [note("private", key="k")])
        expect((again.seq, again.payload) == (1, None), f"event 1 without payload was expected, and {again} came")
        expect(len(log(store)) == 2, f"the log must keep its 2 events, and has {texts(log(store))}")


@check(POINT)
def a_cursor_of_another_history_is_a_conflict(case: EventStoreCase, bench: Workbench) -> None:
    """Look at the event that the cursor names: reading on after a log was cut back would skip or repeat events."""
    with closing(bench.make(case)) as store:
        store.append(SESSION, notes(3))
        head = store.head(SESSION)
        for other in (replace(head, hash="0" * 64), replace(head, seq=head.seq + 5, offset=head.offset + 500)):
            refused = expect_refusal(partial(store.read, SESSION, other, 10), f"reading after {other}")
            expect(refused.code == "conflict", f"reading after {other} must be a conflict, and is {refused.code}")
