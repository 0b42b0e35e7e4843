"""Erasing events from the log and from everything that has followed it, with a word on what is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zaxy.assemble.copies import Copy, find_copies
from zaxy.assemble.replies import Erasure
from zaxy.eventloom.citation import parse_citation
from zaxy.eventloom.erase import refuse_erasing
from zaxy.eventloom.field_names import public_pointer
from zaxy.follow.extraction import things_cited
from zaxy.follow.forgetting import drop_unused, ended_by
from zaxy.retrieve.recall import warnings

if TYPE_CHECKING:
    from zaxy.api.models import Event
    from zaxy.eventloom.event_log import EventLog
    from zaxy.retrieve.recall import Recall

FAMILY = "event."
"""The records of erasures stay: without them the log would count as damaged."""


class Eraser:
    """Erases events one by one, in the name of who asked for it."""

    def __init__(self, recall: Recall, log: EventLog, *, actor: str, reason: str) -> None:
        self._recall = recall
        self._log = log
        self._actor = actor
        self._reason = reason

    def forget(self, citation: str, *, with_copies: bool) -> Erasure:
        """Erase a cited event, and if asked for all that has words of it. Copies go first: as long as the event itself
        is there, they can be found."""
        cited = parse_citation(citation)
        record = self._log.record(cited)
        event = self._log.resolve(cited)
        refuse_erasing(event.seq, event.type, event.payload is None)
        copies, problems = find_copies(event, self._log)
        chosen = [copy for copy in copies if with_copies and not copy.event_type.startswith(FAMILY)]
        erased = [*(self._log.resolve(parse_citation(copy.citation)) for copy in chosen), event]
        unused = list(self._drop_unused())
        records = self._erase(erased)
        left = list(self._rebuild(dict.fromkeys(one.session for one in erased)))
        return Erasure(
            event.citation,
            records[-1],
            (*left, *unused, *problems, *_keys_on_record(record)),
            copies=tuple(copy for copy in copies if copy not in chosen),
            erased_copies=tuple(chosen),
        )

    def _erase(self, events: Sequence[Event]) -> list[Event]:
        """Erase events from the log. What they have ended is asked for while all of them are there."""
        recall = self._recall
        for session in dict.fromkeys(event.session for event in events):
            recall.loop.catch_up(session, recall.patience, recall.progress)
            recall.loop.expect_erasure(session)
        ended = [self._ended_by(event) for event in events]
        return [
            self._log.erase(event.session, event.seq, self._actor, self._reason, closings=closings)
            for event, closings in zip(events, ended, strict=True)
        ]

    def _ended_by(self, event: Event) -> list[dict[str, object]]:
        recall = self._recall
        about = things_cited(recall.store, recall.extractors, [event]).get(event.seq)
        return ended_by(event, recall.store, recall.versions, about=about)

    def _rebuild(self, sessions: Iterable[str]) -> Iterator[str]:
        """Let the followers forget; a warning for each that could not, and for bytes that are still in files."""
        for session in sessions:
            yield from warnings(self._recall.loop.forget(session))
            if names := self._recall.loop.unscrubbed(session):
                files = f"the files of {' and '.join(names)} may still hold its bytes while another process reads them"
                yield f"{files}: each later read, and each server, tries again to remove them"

    def _drop_unused(self) -> Iterator[str]:
        """Before the erasure, so that nothing is left of it if this process dies after it."""
        recall = self._recall
        used = {f"{bound.point}-{bound.name}" for bound in (*recall.host.all("retrieval_lanes"), recall.graph)}
        return drop_unused(Path(recall.workspace.eventloom, "followers"), used)


def _keys_on_record(record: dict[str, object]) -> Sequence[str]:
    """A warning where the record shows keys of the payload, as older versions wrote it."""
    redacted, payload = record.get("redacted"), record.get("payload")
    pointers = [str(item["pointer"]) for item in redacted] if isinstance(redacted, list) else []
    if all(public_pointer(pointer, payload) == pointer for pointer in pointers):
        return ()
    return (
        "its record still shows keys of the payload, where secrets were taken out: an older version wrote them, and"
        " they are part of its hash",
    )


def copies_of(rows: Iterable[dict[str, str]]) -> tuple[Copy, ...]:
    """Copies as a reply of a tool shows them."""
    return tuple(Copy(row["citation"], row["type"], row["why"]) for row in rows)
