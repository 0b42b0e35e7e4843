from __future__ import annotations

import secrets
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from zaxy.api import Conflict, Cursor, Draft, Event, Page, ProviderContext
from zaxy.api.checks.event_stores import EventStoreCase
from zaxy.plugins.templates.event_stores import SCHEMA, Store

RIGHT = Store


def case(make: Callable[..., Any], scratch: Path) -> EventStoreCase:
    return EventStoreCase(make)


class WithoutErase:
    sessions, append, read, get = Store.sessions, Store.append, Store.read, Store.get
    head, close = Store.head, Store.close

    def __init__(self, context: ProviderContext) -> None:
        pass


class HeadOfNothing(Store):
    def head(self, session: str) -> Cursor | None:
        return super().head(session) or Cursor(0, "", 0)


class OneCountForAll(Store):
    def head(self, session: str) -> Cursor | None:
        found = self._db.execute("SELECT seq, hash, seq FROM events ORDER BY seq DESC LIMIT 1").fetchone()
        return Cursor(*found) if found else None


class Unchained(Store):
    def _events(self, which: str, *values: Any) -> list[Event]:
        return [replace(event, prev=None) for event in super()._events(which, *values)]


class WithoutCause(Store):
    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[Event]:
        return super().append(session, [replace(draft, caused_by="") for draft in drafts])


class ItsOwnClock(Store):
    def __init__(self, context: ProviderContext) -> None:
        super().__init__(replace(context, clock=lambda: datetime.now(UTC)))


class EchoesDrafts(Store):
    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[Event]:
        return [replace(event, id="", hash="") for event in super().append(session, drafts)]


class DraftByDraft(Store):
    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[Event]:
        events: list[Event] = []
        for draft in drafts:
            events += super().append(session, [draft])
        return events


class NoCursorAtTheEnd(Store):
    def read(self, session: str, after: Cursor | None, limit: int) -> Page:
        page = super().read(session, after, limit)
        return page if page.events else Page((), None)


class HeadWithoutOffset(Store):
    def head(self, session: str) -> Cursor | None:
        found = super().head(session)
        return found and replace(found, offset=0)


class NearestEvent(Store):
    def get(self, session: str, seq: int) -> Event | None:
        return super().get(session, seq) or super().get(session, 1)


class NewestSessionFirst(Store):
    def sessions(self) -> Sequence[str]:
        return [name for (name,) in self._db.execute("SELECT session FROM events GROUP BY session ORDER BY max(rowid)")]


class ForgetsKeys(Store):
    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[Event]:
        return super().append(session, [replace(draft, idempotency_key="") for draft in drafts])


class TrustsKeys(Store):
    def _first(self, session: str, draft: Draft) -> Event | None:
        found = self._events("session = ? AND key = ? AND key <> ''", session, draft.idempotency_key)
        return found[0] if found else None


class KeysOfAllSessions(Store):
    def _first(self, session: str, draft: Draft) -> Event | None:
        found = self._events("key = ? AND key <> ''", draft.idempotency_key)
        return found[0] if found else None


class SameContentSameEvent(Store):
    def _first(self, session: str, draft: Draft) -> Event | None:
        found = [event for event in self._events("session = ?", session) if event.payload == draft.payload]
        return found[0] if found else None


class InMemory(Store):
    @cached_property
    def _db(self) -> sqlite3.Connection:
        db = sqlite3.connect(":memory:", isolation_level=None)
        db.executescript(SCHEMA)
        return db


class RemembersItsLog(Store):
    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[Event]:
        events = super().append(session, drafts)
        self._remembered = super().read(session, None, 1000)
        return events

    def read(self, session: str, after: Cursor | None, limit: int) -> Page:
        return self._remembered


class LogOfItsOwn(Store):
    def __init__(self, context: ProviderContext) -> None:
        super().__init__(context)
        self._path = context.state_dir / f"{secrets.token_hex(8)}.db"


class EmptiesPayloads(Store):
    def _events(self, which: str, *values: Any) -> list[Event]:
        return [replace(event, payload=event.payload or {}) for event in super()._events(which, *values)]


class VagueRecord(Store):
    def _append(self, session: str, draft: Draft) -> Event:
        if draft.type == "event.erased":
            draft = replace(draft, payload={"seq": draft.payload["seq"]})
        return super()._append(session, draft)


class KeepsABackup(Store):
    def erase(self, session: str, seq: int, actor: str, reason: str) -> Event:
        shutil.copyfile(self._path, self._path.with_suffix(".backup"))
        return super().erase(session, seq, actor, reason)


class ErasesNothingGladly(Store):
    def erase(self, session: str, seq: int, actor: str, reason: str) -> Event:
        if self.get(session, seq) is None:
            return self._append(session, Draft("event.erased", actor, {"seq": seq, "reason": reason}))
        return super().erase(session, seq, actor, reason)


class OffsetsMove(Store):
    def read(self, session: str, after: Cursor | None, limit: int) -> Page:
        if after and self._events("session = ? AND payload IS NULL", session):
            raise Conflict("another event is at the cursor's offset", "Read from the start.")
        return super().read(session, after, limit)


class ErasesKeys(Store):
    def erase(self, session: str, seq: int, actor: str, reason: str) -> Event:
        self._db.execute("UPDATE events SET key = '' WHERE session = ? AND seq = ?", (session, seq))
        return super().erase(session, seq, actor, reason)


class TrustsCursors(Store):
    def read(self, session: str, after: Cursor | None, limit: int) -> Page:
        known = self.get(session, after.seq) if after else None
        return super().read(session, replace(after, hash=known.hash) if after and known else None, limit)


WRONG = {
    "a_cursor_of_another_history_is_a_conflict": TrustsCursors,
    "it_has_the_methods_of_its_protocol": WithoutErase,
    "a_session_without_events_is_empty": HeadOfNothing,
    "events_are_numbered_from_one_without_gaps": OneCountForAll,
    "each_event_names_the_hash_before_it": Unchained,
    "an_event_carries_its_draft": WithoutCause,
    "an_events_time_is_that_of_the_clock": ItsOwnClock,
    "what_append_returns_is_what_is_read": EchoesDrafts,
    "a_batch_is_appended_whole_or_not_at_all": DraftByDraft,
    "reading_on_from_cursors_visits_each_event_once": NoCursorAtTheEnd,
    "the_head_is_the_cursor_after_the_last_event": HeadWithoutOffset,
    "it_gets_one_event_by_its_number": NearestEvent,
    "sessions_come_sorted": NewestSessionFirst,
    "the_same_key_again_returns_the_first_event": ForgetsKeys,
    "the_same_key_with_other_content_is_a_conflict": TrustsKeys,
    "a_key_belongs_to_its_session": KeysOfAllSessions,
    "events_without_a_key_are_never_the_same": SameContentSameEvent,
    "events_survive_closing_and_reopening": InMemory,
    "one_server_reads_what_another_appended": RemembersItsLog,
    "several_servers_append_to_one_chain": LogOfItsOwn,
    "a_key_sent_to_several_servers_is_taken_once": ForgetsKeys,
    "an_erased_payload_is_none_and_the_chain_stays": EmptiesPayloads,
    "an_erasure_is_recorded_in_the_log": VagueRecord,
    "erased_text_is_in_no_file": KeepsABackup,
    "what_is_not_there_cannot_be_erased": ErasesNothingGladly,
    "a_cursor_outlives_an_erasure": OffsetsMove,
    "a_key_outlives_the_erasure_of_its_event": ErasesKeys,
}
