"""Checks of every follower of the log.

They are plain functions of a case and a workbench. A point whose providers follow the log registers `CHECKS` as its
own. `history` and `cursor_after` stand in for a log, so that a check of a follower needs nothing else of the core.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace

from zaxy.api.models import (
    Batch,
    Closing,
    Cursor,
    Edge,
    Entity,
    EntityRef,
    Event,
    ExtractedEvent,
    Extraction,
)
from zaxy.api.points import Follower
from zaxy_testkit.checks import Case, Workbench, expect, expect_no_error

SPEAKERS = ("Ada", "Grace", "Edsger")


def moment(minute: int) -> str:
    """The time of a sample event: `minute` minutes into the day, less than 24 hours."""
    return f"2026-03-01T{minute // 60:02d}:{minute % 60:02d}:00.000000Z"


def sample_event(
    session: str, seq: int, *, event_type: str, payload: dict[str, object], actor: str = "assistant"
) -> Event:
    """An event as a log would hold it, the same every time. Its hash depends on its place, not on its content."""
    before, own = (hashlib.sha256(f"{session}/{place}".encode()).hexdigest() for place in (seq - 1, seq))
    return Event(
        session=session,
        seq=seq,
        id=f"evt_{seq}_{own[:8]}",
        type=event_type,
        actor=actor,
        time=moment(seq),
        payload=payload,
        hash=own,
        prev=before if seq > 1 else None,
    )


def history(session: str, count: int, about: str = "the lighthouse") -> tuple[ExtractedEvent, ...]:
    """The first `count` events of a conversation about something, the same every time.

    Each turn asserts its speaker again, unchanged. Every third turn changes the topic's summary, and every fifth one
    closes the rows of the turn two before it.
    """
    return tuple(_turn(session, seq, about) for seq in range(1, count + 1))


def _turn(session: str, seq: int, about: str) -> ExtractedEvent:
    speaker = SPEAKERS[seq % len(SPEAKERS)]
    text = f"Remark {seq} on {about}."
    event = sample_event(
        session, seq, event_type="transcript.turn", actor=speaker, payload={"role": "user", "content": text}
    )
    turn = Entity(f"turn {seq} on {about}", "transcript_turn", text, {"role": "user", "turn_index": seq})
    person = Entity(speaker, "actor", speaker)
    topic = Entity(about, "topic", f"{about}, revision {seq // 3}")
    said = Edge(EntityRef("actor", speaker), EntityRef("transcript_turn", turn.name), "said", evidence=text)
    closings = (Closing(event.time, seq=seq - 2),) if seq % 5 == 0 else ()
    return ExtractedEvent(event, Extraction((turn, person, topic), (said,), closings))


def cursor_after(event: Event) -> Cursor:
    """The cursor with which a log's reader would go on after an event."""
    return Cursor(event.seq, event.hash, event.seq * 512, "built-in@1 sample@2")


def follow(follower: Follower, events: Iterable[ExtractedEvent], batch_size: int = 100) -> None:
    """Feed events to a follower, batch by batch."""
    waiting = tuple(events)
    while waiting:
        taken, waiting = waiting[:batch_size], waiting[batch_size:]
        follower.apply(Batch(taken[0].event.session, taken), cursor_after(taken[-1].event))


def with_content(extracted: ExtractedEvent, content: object) -> ExtractedEvent:
    """An event with the same place and hash, but other content."""
    payload = {"role": "user", "content": content}
    entities = tuple(replace(e, summary=str(content), properties=payload) for e in extracted.rows.entities)
    return ExtractedEvent(replace(extracted.event, payload=payload), replace(extracted.rows, entities=entities))


def its_cursor_is_none_before_the_first_batch(case: Case, bench: Workbench) -> None:
    """Return None from `cursor` for a session that was never applied: the core then feeds it from the first event."""
    with closing(bench.make(case)) as follower:
        found = follower.cursor("new")
    expect(found is None, f"before the first batch the cursor must be None, and is {found!r}")


def it_remembers_the_cursor_after_reopening(case: Case, bench: Workbench) -> None:
    """Store every field of the cursor with the batch, and commit before `apply` returns: the process may end next."""
    events = history("kept", 7)
    with closing(bench.make(case)) as follower:
        follow(follower, events, batch_size=3)
        digest = follower.digest("kept")
    wanted = cursor_after(events[-1].event)
    with closing(bench.make(case)) as follower:
        found = follower.cursor("kept")
        expect(found == wanted, f"after reopening the cursor must be {wanted!r}, and is {found!r}")
        expect(follower.digest("kept") == digest, "after reopening the digest must be what it was, and is another")


def applying_a_batch_again_changes_nothing(case: Case, bench: Workbench) -> None:
    """Skip events up to the seq of your own cursor: after a crash, or from a second server, they come once more."""
    events = history("repeated", 12)
    last = cursor_after(events[-1].event)
    with closing(bench.make(case)) as follower:
        follow(follower, events[:8])
        follow(follower, events[5:])
        digest = follower.digest("repeated")
        follow(follower, events)
        expect(follower.digest("repeated") == digest, "the same events applied again must leave the digest as it was")
        follow(follower, events[:4])
        expect(follower.digest("repeated") == digest, "an old batch applied again must leave the digest as it was")
        found = follower.cursor("repeated")
        expect(found == last, f"an old batch applied again must leave the cursor at {last!r}, and it is {found!r}")
        follower.wipe("repeated")
        follow(follower, events)
        expect(
            follower.digest("repeated") == digest,
            "batches that overlap must give the digest of the events taken once, and gave another",
        )


def a_batch_that_fails_leaves_nothing_behind(case: Case, bench: Workbench) -> None:
    """Write the rows and the cursor in one transaction, and roll back all of it when any event cannot be taken."""
    events = history("failing", 6)
    with closing(bench.make(case)) as follower:
        follow(follower, events[:3])
        before = follower.cursor("failing"), follower.digest("failing")
        unstorable = (*events[3:5], with_content(events[5], object()))
        try:
            follow(follower, unstorable)
        except Exception:
            after = follower.cursor("failing"), follower.digest("failing")
            expect(after == before, f"a batch that failed must leave {before!r}, and left {after!r}")


def an_erased_event_is_no_error(case: Case, bench: Workbench) -> None:
    """Expect `payload` to be None, and take the event without a text: after a rebuild it comes like that."""
    events = history("erased", 6)
    gone = ExtractedEvent(replace(events[2].event, payload=None), Extraction())
    with closing(bench.make(case)) as follower:
        with expect_no_error("applying an event whose payload was erased"):
            follow(follower, (*events[:2], gone, *events[3:]))
        wanted, reached = cursor_after(events[-1].event), follower.cursor("erased")
    expect(reached == wanted, f"after an erased event the cursor must go on to {wanted!r}, and is {reached!r}")


def the_digest_does_not_depend_on_batch_sizes(case: Case, bench: Workbench) -> None:
    """Build the digest from the rows in a fixed order, without row ids, times of writing or anything of the batch."""
    events = history("sized", 20)
    digests = {}
    with closing(bench.make(case)) as follower:
        for size in (1, 7, 20):
            follower.wipe("sized")
            follow(follower, events, batch_size=size)
            digests[size] = follower.digest("sized")
    expect(len(set(digests.values())) == 1, f"one digest was expected whatever the batch size, and there are {digests}")


def the_digest_changes_with_the_content(case: Case, bench: Workbench) -> None:
    """Hash all that you hold of the session, not only the cursor, the event hashes or how many rows there are.
    A follower that keeps only some events brings a `history` of these."""
    events = getattr(case, "history", history)("changing", 6)
    with closing(bench.make(case)) as follower:
        seen = [follower.digest("changing")]
        for event in events:
            follow(follower, [event])
            seen.append(follower.digest("changing"))
        expect(len(set(seen)) == len(seen), f"the digest must change with every event taken, and was {seen}")
        follower.wipe("changing")
        follow(follower, (*events[:3], with_content(events[3], "Something else was said."), *events[4:]))
        expect(
            follower.digest("changing") != seen[-1],
            f"the digest must differ when an event says something else, and is {seen[-1]} both times",
        )


def a_wiped_session_is_forgotten(case: Case, bench: Workbench) -> None:
    """Delete rows and cursor and overwrite their bytes (SQLite: PRAGMA secure_delete, then VACUUM): secrets get in."""
    secret = "quixzbarq"
    with closing(bench.make(case)) as follower:
        empty = follower.digest("wiped")
        follow(follower, history("kept", 4))
        follow(follower, history("wiped", 40, about=secret), batch_size=6)
        follower.wipe("wiped")
        found = follower.cursor("wiped")
        expect(found is None, f"after a wipe the cursor must be None, and is {found!r}")
        digest = follower.digest("wiped")
        expect(digest == empty, f"after a wipe the digest must be that of no events, {empty!r}, and is {digest!r}")
    for path in sorted((bench.scratch / "state").rglob("*")):
        if path.is_file():
            expect(secret.encode() not in path.read_bytes().lower(), f"the wiped text can still be read in {path.name}")


def sessions_do_not_touch_each_other(case: Case, bench: Workbench) -> None:
    """Keep the session in every key and every condition: two sessions have the same seqs and often the same names."""
    ours, theirs = history("ours", 9), history("theirs", 9)
    with closing(bench.make(case)) as follower:
        follow(follower, ours)
        before = follower.cursor("ours"), follower.digest("ours")
        follow(follower, theirs, batch_size=2)
        after = follower.cursor("ours"), follower.digest("ours")
        expect(after == before, f"a batch of another session must leave {before!r}, and left {after!r}")
        follower.wipe("theirs")
        after = follower.cursor("ours"), follower.digest("ours")
        expect(after == before, f"wiping another session must leave {before!r}, and left {after!r}")


CHECKS = (
    its_cursor_is_none_before_the_first_batch,
    it_remembers_the_cursor_after_reopening,
    applying_a_batch_again_changes_nothing,
    a_batch_that_fails_leaves_nothing_behind,
    an_erased_event_is_no_error,
    the_digest_does_not_depend_on_batch_sizes,
    the_digest_changes_with_the_content,
    a_wiped_session_is_forgotten,
    sessions_do_not_touch_each_other,
)
