"""What hooks have left for a store that they do not open: a log in files, delivered once and in order.

A hook must start quickly, so it loads no plugin. It appends to `spool/<session>.jsonl`, and the next process that opens
the log takes it from there. Each event's key is made of its hash in the spool, so delivering it again adds nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from zaxy.errors import ZaxyError
from zaxy.eventloom.drafts import AdmittedDraft, draft_of_record
from zaxy.eventloom.store import JsonlStore

if TYPE_CHECKING:
    from zaxy.eventloom.event_log import Appended

    Append = Callable[[str, Sequence[AdmittedDraft]], Sequence[Appended]]

AT_ONCE = 500


class Spool:
    def __init__(self, files: JsonlStore, warn: Callable[[str], None]) -> None:
        self._loom = files.loom
        self._warn = warn

    def deliver(self, append: Append) -> None:
        """Append what is there to the log it was meant for, and remove it. What cannot be delivered stays."""
        if not os.path.isdir(self._loom.folder):
            return
        for session in self._loom.sessions():
            try:
                self._deliver(session, append)
            except ZaxyError as error:
                reason = f"{error.message} {error.remediation}"
                self._warn(f"what hooks recorded in {session} is not delivered yet: {reason}")

    def _deliver(self, session: str, append: Append) -> None:
        last = 0
        for records in _batches(line.record for line in self._loom.read(session)):
            append(session, [_draft(record) for record in records])
            last = records[-1]["seq"]
        self._loom.remove(session, last)

    def close(self) -> None:
        self._loom.close()


def _draft(record: dict[str, Any]) -> AdmittedDraft:
    """The event as it goes on: it happened when it was spooled, not when it is delivered."""
    payload = {"occurred_at": record["time"], **record.get("payload", {})}
    return draft_of_record(record, payload, f"spool:{record['hash']}")


def _batches(records: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while batch := list(islice(records, AT_ONCE)):
        yield batch
