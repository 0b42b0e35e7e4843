"""The store of a plugin, each call under guard and within a budget, and the log that it keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from zaxy.api.models import Cursor, Draft
from zaxy.api.points import StoredLog
from zaxy.errors import InternalError
from zaxy.eventloom.drafts import AdmittedDraft
from zaxy.eventloom.event_log import Appended, EventLog
from zaxy.eventloom.spool import Spool
from zaxy.eventloom.view import LogView
from zaxy.plugins.host import BoundProvider
from zaxy.rights import EVERYTHING, acting_with

SECONDS_TO_READ = 10.0
SECONDS_TO_WRITE = 60.0
"""An erasure may have to rewrite all that the store keeps."""

T = TypeVar("T")


class OutsideLog(EventLog):
    """The log in a plugin's store, with what hooks have left for it. Whatever is read, that is delivered first."""

    def __init__(self, store: BoundStore, spool: Spool) -> None:
        super().__init__(store)
        self._spool = spool

    def sessions(self) -> list[str]:
        self._deliver()
        return super().sessions()

    def view(self, session: str) -> LogView:
        self._deliver()
        return super().view(session)

    def append_each(self, session: str, drafts: Sequence[AdmittedDraft]) -> list[Appended]:
        self._deliver()
        return super().append_each(session, drafts)

    def _deliver(self) -> None:
        with acting_with(EVERYTHING):  # what hooks left is nobody's request
            self._spool.deliver(super().append_each)

    def close(self) -> None:
        self._spool.close()
        super().close()


def outside_log(provider: BoundProvider, spool: Spool) -> OutsideLog:
    return OutsideLog(BoundStore(provider), spool)


class BoundStore:
    def __init__(self, provider: BoundProvider) -> None:
        self._provider = provider

    def sessions(self) -> Sequence[str]:
        found = self._checked("sessions", self._provider.call("sessions", budget=SECONDS_TO_READ), list | tuple)
        return [str(session) for session in found]

    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[bytes]:
        return self._lines("append", session, drafts, budget=SECONDS_TO_WRITE)

    def open(self, session: str) -> StoredLog:
        return BoundStoredLog(self._provider, session)

    def by_key(self, session: str, key: str) -> bytes | None:
        line = self._provider.call("by_key", session, key, budget=SECONDS_TO_READ)
        return None if line is None else self._checked("by_key", line, bytes)

    def refs(self, session: str) -> Sequence[bytes]:
        return self._lines("refs", session, budget=SECONDS_TO_READ)

    def erase(self, session: str, seq: int, record: Draft) -> bytes:
        done = self._provider.call("erase", session, seq, record, budget=SECONDS_TO_WRITE)
        line: bytes = self._checked("erase", done, bytes)
        return line

    def wait(self, session: str, after: int, seconds: float) -> bool:
        return bool(self._provider.call("wait", session, after, seconds, budget=seconds + SECONDS_TO_READ))

    def close(self) -> None:
        self._provider.call("close", budget=SECONDS_TO_READ)

    def _lines(self, method: str, *arguments: object, budget: float) -> Sequence[bytes]:
        lines = self._checked(method, self._provider.call(method, *arguments, budget=budget), list | tuple)
        return [self._checked(method, line, bytes) for line in lines]

    def _checked(self, method: str, value: Any, kind: Any) -> Any:
        return checked(self._provider, method, value, kind)


class BoundStoredLog:
    """One state of a session's log, in the hands of the plugin that keeps it."""

    def __init__(self, provider: BoundProvider, session: str) -> None:
        def opened() -> tuple[StoredLog, Cursor | None]:
            log: StoredLog = provider.instance.open(session)
            return log, log.head

        self._provider = provider
        self._log, self.head = provider.guarded("open()", opened, budget=SECONDS_TO_READ)
        checked(provider, "open", self.head, Cursor | None)

    def lines(self, seqs: Sequence[int]) -> Mapping[int, bytes]:
        found = self._run("lines()", lambda: self._log.lines(seqs))
        kept = checked(self._provider, "lines", found, Mapping)
        return {seq: checked(self._provider, "lines", kept[seq], bytes) for seq in seqs if seq in kept}

    def lines_after(self, seq: int, limit: int) -> Sequence[bytes]:
        found = self._run("lines_after()", lambda: self._log.lines_after(seq, limit))
        kept = checked(self._provider, "lines_after", found, list | tuple)
        return [checked(self._provider, "lines_after", line, bytes) for line in kept[:limit]]

    def close(self) -> None:
        self._run("close()", self._log.close)

    def _run(self, what: str, function: Any) -> Any:
        return self._provider.guarded(what, function, budget=SECONDS_TO_READ)


def checked(provider: BoundProvider, method: str, value: Any, kind: Any) -> Any:
    """What a plugin returned, if it is of the kind that the Protocol promises."""
    if isinstance(value, kind):
        return value
    message = f"{provider.name}.{method}() returned a {type(value).__name__}, which is not what its Protocol promises"
    raise InternalError(message, f"Upgrade {provider.row.package}; its author runs 'zaxy plugins check'.")
