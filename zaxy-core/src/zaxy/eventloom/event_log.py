"""The log of a workspace, whatever store keeps it: admitted drafts go in, proven events come out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from zaxy.api.models import Cursor, Event, Page, Report
from zaxy.errors import Conflict, InternalError, NotFound
from zaxy.eventloom.admission import OWN_ACTOR
from zaxy.eventloom.citation import Citation
from zaxy.eventloom.drafts import AdmittedDraft, own_draft
from zaxy.eventloom.erase import ERASED, erasure_payload, refuse_erasing
from zaxy.eventloom.places import chained_record, refused_if_malformed
from zaxy.eventloom.reader import damage_explained
from zaxy.eventloom.record import Line, same_content
from zaxy.eventloom.refs import MAIN, OF_THE_END, UPDATED, check_ref_name, ref_payload, whole_ref_name
from zaxy.eventloom.store import event_of_record
from zaxy.eventloom.verify import verify_lines
from zaxy.eventloom.view import LogView
from zaxy.rights import ADMIN, WRITER, check_access, usable
from zaxy.security.session_ids import check_new_session, check_session_id

if TYPE_CHECKING:
    from zaxy.api.points import EventStore

WAIT_SECONDS = 1.0
MAX_PAGE_BYTES = 16 << 20
"""A page ends after this much of the log, however many events were asked for."""


class Appended(NamedTuple):
    event: Event
    new: bool
    """False where its idempotency key had been used before."""


class EventLog:
    """Everything that the core does with the log goes through here, and is held to what a request's identity may do."""

    def __init__(self, store: EventStore) -> None:
        self.store = store
        self._begun: set[str] = set()
        self._damaged: set[str] = set()
        """Sessions in which this process has met events that break the grammar."""

    # Writing

    def append(self, session: str, drafts: Sequence[AdmittedDraft]) -> list[Event]:
        """Append all of them or none, and return when they are durable."""
        return [done.event for done in self.append_each(session, drafts)]

    def append_each(self, session: str, drafts: Sequence[AdmittedDraft]) -> list[Appended]:
        """The same, with whether each is new."""
        if not drafts:
            return []
        check_access(session, WRITER)
        if session not in self._begun:
            check_new_session(check_session_id(session), list(self.store.sessions()))
            self._begun.add(session)
        lines = self.store.append(session, drafts)
        if len(lines) != len(drafts):
            raise self._wrong(f"{len(drafts)} events were appended, and it returned {len(lines)} lines")
        return [self._appended(session, draft, line) for draft, line in zip(drafts, lines, strict=True)]

    def _appended(self, session: str, draft: AdmittedDraft, line: bytes) -> Appended:
        record = self._proven(session, line)
        if not same_content(draft.entry, Line(record, line)):
            raise self._wrong(f"event {record['seq']} of {session} is not what was appended")
        return Appended(event_of_record(record), record.get("salt") == draft.salt)

    def erase(self, session: str, seq: int, actor: str, reason: str, *, closings: Sequence[object] = ()) -> Event:
        """Erase one event's payload and salt for good. Returns the event that records it.

        `closings`: what the erased event had closed. It stays closed.
        """
        check_access(session, ADMIN)
        event = self.get(session, seq)
        if event is None:
            raise NotFound(f"{session} has no event {seq}", "Look the event up before erasing it.")
        refuse_erasing(seq, event.type, event.payload is None)
        record = own_draft(ERASED, actor, erasure_payload(seq, event.hash, reason, closings))
        return event_of_record(self._proven(session, self.store.erase(session, seq, record)))

    # Reading

    def sessions(self) -> list[str]:
        """The sessions that have a log, sorted; of those, the ones that the request's identity may use."""
        return usable(self.store.sessions())

    def view(self, session: str) -> LogView:
        """One state of a session's log, to be closed by the caller."""
        check_access(session)
        return LogView(
            check_session_id(session), self.store.open(session), note=lambda seq, reason: self._damaged.add(session)
        )

    def head(self, session: str) -> Cursor | None:
        """The durable end of a session's log."""
        with self.view(session) as view:
            return view.head

    def end(self, session: str) -> int:
        """The seq of the last durable event; 0 where there is none."""
        head = self.head(session)
        return head.seq if head else 0

    def last_event(self, session: str) -> Event:
        with self.view(session) as view:
            last = view.get(view.end)
        if last is None:
            raise NotFound(f"the session {session} has no events", "Append one first.")
        return last

    def records(self, session: str, first: int = 1, last: int | None = None) -> Iterator[tuple[dict[str, Any], bytes]]:
        """The records of a range with their lines, oldest first, each proven. The rest of the log is not read."""
        with self.view(session) as view:
            yield from view.records(first, last)

    def events(self, session: str, first: int = 1, last: int | None = None) -> Iterator[Event]:
        """The events of a range, oldest first."""
        return (event_of_record(record) for record, _ in self.records(session, first, last))

    def get(self, session: str, seq: int) -> Event | None:
        return next(self.events(session, seq, seq), None) if seq > 0 else None

    def read(self, session: str, after: Cursor | None, limit: int) -> Page:
        """The events after a cursor, oldest first; `conflict` where the log does not hold the cursor's event."""
        first = after.seq if after else 1
        found = self.records(session, first, first + limit - (after is None))
        if after is not None and next(found, ({"hash": ""}, b""))[0]["hash"] != after.hash:
            raise Conflict(
                f"{session} no longer holds event {first}, which was read before: its log was cut back or replaced",
                "Read it from the start.",
            )
        events: list[Event] = []
        size = 0
        for record, line in found:
            events.append(event_of_record(record))
            size += len(line)
            if size > MAX_PAGE_BYTES:
                break
        last = events[-1] if events else None
        return Page(tuple(events), Cursor(last.seq, last.hash, last.seq) if last else after)

    def by_key(self, session: str, key: str) -> Event | None:
        """The event that used an idempotency key."""
        check_access(session)
        line = self.store.by_key(check_session_id(session), key)
        if line is None:
            return None
        event = event_of_record(self._proven(session, line))
        if event.idempotency_key != key:
            raise self._wrong(f"it gave the event of another key for {key!r:.80}")
        return event

    def resolve(self, citation: Citation) -> Event:
        """The event that a citation names. A wrong hash never resolves."""
        return event_of_record(self.record(citation))

    def record(self, citation: Citation) -> dict[str, Any]:
        """All that the log says of the event that a citation names."""
        record, _ = next(self.records(citation.session, citation.seq, citation.seq), (None, b""))
        if record is not None and citation.names(record["hash"]):
            with damage_explained(citation.session, f"event {citation.seq}"):
                return refused_if_malformed(record)
        reason = "there is no such event" if record is None else "the event there has another hash"
        raise NotFound(f"{citation} does not resolve: {reason}", "Check the citation, or run 'zaxy verify'.")

    def follow(self, session: str, first: int) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Records from a number on with their lines, as they become durable. It never ends by itself."""
        while True:
            for record, line in self.records(session, first):
                first = record["seq"] + 1
                yield record, line
            self.store.wait(session, first - 1, WAIT_SECONDS)

    # Refs

    def ref_targets(self, session: str) -> dict[str, Citation]:
        """All refs, each with the event that it names. refs/heads/main is there from the first event on."""
        named = {name: ref_target(setting) for name, setting in self.refs(session).items()}
        head = self.head(session)
        ends = {MAIN: Citation(session, head.seq, head.hash)} if head else {}
        return dict(sorted({**ends, **named}.items()))

    def refs(self, session: str) -> dict[str, Event]:
        """The refs that were set, each with the event that set it last."""
        check_access(session)
        with damage_explained(session):
            records = [chained_record(line) for line in self.store.refs(self._existing(session))]
        # One that breaks the grammar, or is of another session, sets none.
        events = [event_of_record(record) for record in records if record["thread"] == session]
        return {str(event.payload["name"]): event for event in events if event.type == UPDATED and event.payload}

    def set_ref(self, name: str, target: Event) -> Event:
        """Set a ref to an event of its session. Returns the event that records it."""
        whole = check_ref_name(whole_ref_name(name))
        payload = ref_payload(whole, target.session, target.seq, target.hash)
        return self.append(target.session, [own_draft(UPDATED, OWN_ACTOR, payload)])[0]

    def resolve_ref(self, session: str, name: str) -> Event:
        """The event that a ref names. HEAD and refs/heads/main are the last event, unless they were set."""
        name = check_ref_name(whole_ref_name(name))
        setting = self.refs(session).get(name)
        if setting is None and name in OF_THE_END:
            return self.last_event(session)
        if setting is None or setting.payload is None:
            raise NotFound(
                f"{session} has no ref {name}", f"'zaxy refs list --session-id {session}' shows those it has."
            )
        target = ref_target(setting)
        event = self.get(session, target.seq)
        if event is not None and event.hash == target.hash:
            return event
        raise NotFound(f"{name} names an event that is not in {session}", "Run 'zaxy verify'.")

    # Proof

    def state(self, session: str) -> str:
        """`ok`, `damaged`, or in files also `poisoned`."""
        return "damaged" if session in self._damaged else "ok"

    def verify(
        self, session: str, progress: Callable[[int, int], None] | None = None, since: Citation | None = None
    ) -> Report:
        """Verify the whole log, line by line, believing nothing that the store says."""
        check_access(session)
        self._existing(session)
        report = self._verified(session, progress, since)
        # A payload that was erased meanwhile is missing from lines that were read before its record was there.
        return report if report.ok else self._verified(session, progress, since)

    def _verified(self, session: str, progress: Callable[[int, int], None] | None, since: Citation | None) -> Report:
        with self.view(session) as view:
            return verify_lines(session, view.lines(), progress=progress, since=since, size=view.end)

    def check_writable(self, session: str) -> None:
        """Refuse as an append would, and write nothing, as far as the store lets that be known."""
        check_access(session, WRITER)

    @property
    def has_index(self) -> bool:
        """Whether an index of the log is kept that can be checked: that of files is."""
        return False

    def verify_index(self, session: str) -> list[str]:
        """What is wrong with that index."""
        return []

    def repair(self, session: str) -> tuple[Report, int]:
        """Verify. A log of files is also made writable again; another store looks after its own."""
        return self.verify(session), 0

    def _existing(self, session: str) -> str:
        known = self.sessions()
        if check_session_id(session) in known:
            return session
        shown = ", ".join(known[:8]) or "none"
        raise NotFound(f"there is no session {session} (there are: {shown})", "'zaxy sessions' lists them.")

    def _proven(self, session: str, line: bytes) -> dict[str, Any]:
        with damage_explained(session):
            record = refused_if_malformed(chained_record(line))
        if record["thread"] != session:
            raise self._wrong(f"it gave an event of {record['thread']!r:.80} for {session}")
        return record

    def _wrong(self, what: str) -> InternalError:
        return InternalError(f"the event store is wrong: {what}", "Its author can find out with 'zaxy plugins check'.")

    def close(self) -> None:
        self.store.close()


def ref_target(setting: Event) -> Citation:
    """The event that a ref names, by the event that set it."""
    payload: Any = setting.payload
    return Citation(setting.session, payload["target_seq"], payload["target_hash"])
