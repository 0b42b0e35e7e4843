"""The log in the workspace's files: what the built-in store can do beyond any other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from zaxy.api.models import Event, Report
from zaxy.eventloom.citation import Citation
from zaxy.eventloom.drafts import AdmittedDraft
from zaxy.eventloom.event_log import Appended, EventLog
from zaxy.eventloom.refs import whole_ref_name
from zaxy.eventloom.store import JsonlStore, event_of
from zaxy.eventloom.view import LogView
from zaxy.rights import WRITER, check_access


class FilesLog(EventLog):
    """It need not prove what it has just written, reads what stands before damage, and can be repaired."""

    def __init__(self, store: JsonlStore) -> None:
        super().__init__(store)
        self._loom = store.loom

    def append(self, session: str, drafts: Sequence[AdmittedDraft]) -> list[Event]:
        check_access(session, WRITER)
        return [event_of(line) for line in self._loom.append(session, [draft.entry for draft in drafts])]

    def append_each(self, session: str, drafts: Sequence[AdmittedDraft]) -> list[Appended]:
        check_access(session, WRITER)
        entries = [draft.entry for draft in drafts]
        lines = self._loom.append(session, entries)
        return [
            Appended(event_of(line), line.record.get("salt") == draft.salt)
            for draft, line in zip(drafts, lines, strict=True)
        ]

    def view(self, session: str) -> LogView:
        check_access(session)
        return self._loom.view(session)

    def records(self, session: str, first: int = 1, last: int | None = None) -> Iterator[tuple[dict[str, Any], bytes]]:
        check_access(session)
        return self._loom.records(session, first, last)

    def refs(self, session: str) -> dict[str, Event]:
        check_access(session)
        return {name: event_of(line) for name, line in self._loom.refs(session).items()}

    def resolve_ref(self, session: str, name: str) -> Event:
        check_access(session)
        return event_of(self._loom.resolve_ref(session, whole_ref_name(name)))

    def check_writable(self, session: str) -> None:
        super().check_writable(session)
        self._loom.check_writable(session)

    def state(self, session: str) -> str:
        return self._loom.state(session)

    def verify(
        self, session: str, progress: Callable[[int, int], None] | None = None, since: Citation | None = None
    ) -> Report:
        check_access(session)
        return self._loom.verify(session, progress, since)

    @property
    def has_index(self) -> bool:
        return True

    def verify_index(self, session: str) -> list[str]:
        """Where the index is not what the log gives; one of an older history counts for nothing anyway."""
        return self._loom.verify_index(session)

    def repair(self, session: str) -> tuple[Report, int]:
        """Verify. If the log is intact, cut an interrupted write and make the session writable again."""
        return self._loom.repair(session)
