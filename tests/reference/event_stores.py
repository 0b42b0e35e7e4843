from __future__ import annotations

import secrets
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from zaxy.api import Cursor, Draft, ProviderContext, prove_line
from zaxy_testkit.checks.event_stores import EventStoreCase
from zaxy_testkit.templates.event_stores import SCHEMA, Store, StoreLog

RIGHT = Store


def case(make: Callable[..., Any], scratch: Path) -> EventStoreCase:
    return EventStoreCase(make)


class WithoutErase:
    sessions, append, open, by_key = Store.sessions, Store.append, Store.open, Store.by_key
    refs, wait, close, head = Store.refs, Store.wait, Store.close, Store.head
    __init__ = Store.__init__
    _db = Store._db


class HeadOfNothing(Store):
    def head(self, session: str) -> Cursor | None:
        return super().head(session) or Cursor(0, "0" * 64, 0)


class OneCountForAll(Store):
    def head(self, session: str) -> Cursor | None:
        found = self._db.execute("SELECT seq, hash, seq FROM lines ORDER BY seq DESC LIMIT 1").fetchone()
        return Cursor(*found) if found else None


class Unchained(Store):
    def head(self, session: str) -> Cursor | None:
        found = super().head(session)
        return found and replace(found, hash="0" * 64)


class WithoutRedactions(Store):
    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[bytes]:
        return super().append(session, [replace(draft, redacted=(), salt="") for draft in drafts])


class ItsOwnClock(Store):
    def __init__(self, context: ProviderContext) -> None:
        super().__init__(replace(context, clock=lambda: datetime.now(UTC)))


class EndsItsLines(Store):
    def found(self, which: str, session: str, *values: Any) -> list[bytes]:
        return [line + b"\n" for line in super().found(which, session, *values)]


class DraftByDraft(Store):
    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[bytes]:
        lines: list[bytes] = []
        for draft in drafts:
            lines += super().append(session, [draft])
        return lines


class PagesOfItsOwn(Store):
    def open(self, session: str) -> StoreLog:
        class Log(StoreLog):
            def lines_after(self, seq: int, limit: int) -> Sequence[bytes]:
                return super().lines_after(seq - seq % 4, limit)

        return Log(self, session)


class CountsAsHead(Store):
    def head(self, session: str) -> Cursor | None:
        found = super().head(session)
        (count,) = self._db.execute("SELECT count(*) FROM lines").fetchone()
        return found and replace(found, seq=count)


class NearestEvent(Store):
    def open(self, session: str) -> StoreLog:
        class Log(StoreLog):
            def lines(self, seqs: Sequence[int]) -> Mapping[int, bytes]:
                found = super().lines(seqs)
                return {seq: found.get(seq, found[1]) for seq in seqs}

        return Log(self, session)


class MovingHead(Store):
    def open(self, session: str) -> StoreLog:
        class Log(StoreLog):
            @property
            def _end(self) -> int:
                head = self._store.head(self._session)
                return head.seq if head else 0

        return Log(self, session)


class NamesAnotherHash(Store):
    def _append(self, session: str, drafts: Sequence[Draft]) -> Sequence[bytes]:
        if drafts[0].type == "event.erased":
            return super()._append(session, [replace(drafts[0], payload={**drafts[0].payload, "hash": "0" * 64})])
        return super()._append(session, drafts)


class KeysOfLivingEvents(Store):
    def by_key(self, session: str, key: str) -> bytes | None:
        line = super().by_key(session, key)
        return line if line and prove_line(line, session).payload is not None else None


class NewestRefFirst(Store):
    def refs(self, session: str) -> Sequence[bytes]:
        return list(reversed(super().refs(session)))


class WaitsForItself(Store):
    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[bytes]:
        lines = super().append(session, drafts)
        self._seen = super().head(session)
        return lines

    def wait(self, session: str, after: int, seconds: float) -> bool:
        seen: Cursor | None = getattr(self, "_seen", None)
        return seen is not None and seen.seq > after


class NewestSessionFirst(Store):
    def sessions(self) -> Sequence[str]:
        return [name for (name,) in self._db.execute("SELECT session FROM lines GROUP BY session ORDER BY max(rowid)")]


class ForgetsKeys(Store):
    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[bytes]:
        return super().append(session, [replace(draft, idempotency_key="") for draft in drafts])


class TrustsKeys(Store):
    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[bytes]:
        known = {draft.idempotency_key: self.by_key(session, draft.idempotency_key) for draft in drafts}
        new = super().append(session, [draft for draft in drafts if not known[draft.idempotency_key]])
        left = iter(new)
        return [known[draft.idempotency_key] or next(left) for draft in drafts]


class KeysOfAllSessions(Store):
    def by_key(self, session: str, key: str) -> bytes | None:
        found = self._db.execute("SELECT line FROM lines WHERE key = ? AND key <> ''", (key,)).fetchone()
        return found[0] if found else None


class SameContentSameEvent(Store):
    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[bytes]:
        return super().append(session, [replace(draft, idempotency_key=str(draft.payload)) for draft in drafts])


class InMemory(Store):
    @cached_property
    def _db(self) -> sqlite3.Connection:
        db = sqlite3.connect(":memory:", isolation_level=None)
        db.executescript(SCHEMA)
        return db


class RemembersItsLog(Store):
    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[bytes]:
        lines = super().append(session, drafts)
        self._remembered = super().open(session)
        return lines

    def open(self, session: str) -> StoreLog:
        return self._remembered


class LogOfItsOwn(Store):
    def __init__(self, context: ProviderContext) -> None:
        super().__init__(context)
        self._path = context.state_dir / f"{secrets.token_hex(8)}.db"


class ErasesTheNext(Store):
    def erase(self, session: str, seq: int, record: Draft) -> bytes:
        line = super().erase(session, seq, record)
        self._db.execute("DELETE FROM lines WHERE session = ? AND seq = ?", (session, seq + 2))
        return line


class VagueRecord(Store):
    def _append(self, session: str, drafts: Sequence[Draft]) -> Sequence[bytes]:
        drafts = [
            replace(draft, payload={key: value for key, value in draft.payload.items() if key != "closings"})
            for draft in drafts
        ]
        return super()._append(session, drafts)


class KeepsABackup(Store):
    def erase(self, session: str, seq: int, record: Draft) -> bytes:
        shutil.copyfile(self._path, self._path.with_suffix(".backup"))
        return super().erase(session, seq, record)


class ErasesNothingGladly(Store):
    def erase(self, session: str, seq: int, record: Draft) -> bytes:
        if self.line(session, seq) is None:
            return self.append(session, [record])[0]
        return super().erase(session, seq, record)


class ErasesWhateverIsThere(Store):
    def erase(self, session: str, seq: int, record: Draft) -> bytes:
        line = self.line(session, seq)
        event = prove_line(line, session) if line else None
        named = {**record.payload, "hash": event.hash} if event else record.payload
        return super().erase(session, seq, replace(record, payload=named))


class ErasesKeys(Store):
    def erase(self, session: str, seq: int, record: Draft) -> bytes:
        self._db.execute("UPDATE lines SET key = '' WHERE session = ? AND seq = ?", (session, seq))
        return super().erase(session, seq, record)


WRONG = {
    "it_has_the_methods_of_its_protocol": WithoutErase,
    "a_session_without_events_is_empty": HeadOfNothing,
    "events_are_numbered_from_one_without_gaps": OneCountForAll,
    "each_event_names_the_hash_before_it": Unchained,
    "an_event_carries_its_draft": WithoutRedactions,
    "an_events_time_is_that_of_the_clock": ItsOwnClock,
    "what_append_returns_is_what_is_read": EndsItsLines,
    "a_batch_is_appended_whole_or_not_at_all": DraftByDraft,
    "reading_on_visits_each_event_once": PagesOfItsOwn,
    "the_head_is_the_last_event": CountsAsHead,
    "it_finds_lines_by_their_numbers": NearestEvent,
    "a_log_that_is_open_does_not_move": MovingHead,
    "a_log_verifies_from_the_first_line_to_the_last": NamesAnotherHash,
    "it_finds_the_event_of_a_key": KeysOfLivingEvents,
    "refs_come_in_order": NewestRefFirst,
    "waiting_ends_when_more_has_come": WaitsForItself,
    "sessions_come_sorted": NewestSessionFirst,
    "the_same_key_again_returns_the_first_event": ForgetsKeys,
    "the_same_key_with_other_content_is_a_conflict": TrustsKeys,
    "a_key_belongs_to_its_session": KeysOfAllSessions,
    "events_without_a_key_are_never_the_same": SameContentSameEvent,
    "events_survive_closing_and_reopening": InMemory,
    "one_server_reads_what_another_appended": RemembersItsLog,
    "several_servers_append_to_one_chain": LogOfItsOwn,
    "a_key_sent_to_several_servers_is_taken_once": ForgetsKeys,
    "an_erased_payload_is_none_and_the_chain_stays": ErasesTheNext,
    "an_erasure_is_recorded_in_the_log": VagueRecord,
    "erased_text_is_in_no_file": KeepsABackup,
    "what_is_not_there_cannot_be_erased": ErasesNothingGladly,
    "only_the_event_that_is_meant_is_erased": ErasesWhateverIsThere,
    "a_key_outlives_the_erasure_of_its_event": ErasesKeys,
}
