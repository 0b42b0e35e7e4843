"""Erasing events from the log and from everything that has followed it, with a word on what is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zaxy.api.models import EntityRef
from zaxy.assemble.copies import Copy, find_copies
from zaxy.assemble.replies import Erasure
from zaxy.eventloom.citation import parse_citation
from zaxy.eventloom.erase import refuse_erasing
from zaxy.eventloom.field_names import public_pointer
from zaxy.extract.closings import ends_at
from zaxy.extract.names import entity_key
from zaxy.extract.references import INVALIDATED, reference_of
from zaxy.extract.rules import extract
from zaxy.follow.extraction import things_cited
from zaxy.follow.forgetting import drop_unused, ended_by
from zaxy.retrieve.recall import warnings

if TYPE_CHECKING:
    from zaxy.api.models import Event
    from zaxy.eventloom.event_log import EventLog
    from zaxy.retrieve.recall import Recall

FAMILY = "event."
"""The records of erasures stay: without them the log would count as damaged."""

MAX_OTHER_ROWS = 100
"""Rows of a thing that the record of an erasure names."""


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
            recall.all_loops.expect_erasure(session)
        ended = [self._ended_by(event) for event in events]
        return [
            self._log.erase(event.session, event.seq, self._actor, self._reason, closings=closings)
            for event, closings in zip(events, ended, strict=True)
        ]

    def _ended_by(self, event: Event) -> list[dict[str, object]]:
        recall = self._recall
        ended = ended_by(event, recall.store, recall.versions, extractors=recall.extractors, about=self._about(event))
        for later in self._log.events(event.session, event.seq + 1):
            reference = reference_of(later) if later.type == INVALIDATED else None
            if reference and reference.cited.seq == event.seq and (thing := self._about(later)):
                ended += self._other_rows(thing, later, besides=event.seq)
        return ended

    def _about(self, event: Event) -> EntityRef | None:
        """The thing that an event only refers to."""
        return things_cited(self._recall.store, self._recall.extractors, [event]).get(event.seq)

    def _other_rows(self, thing: EntityRef, ender: Event, *, besides: int) -> list[dict[str, object]]:
        """The other rows of a thing that an invalidation ends, the latest ones first: once the event is gone that it
        refers to, only they say what it is about."""
        rows = [
            (event.seq, row, EntityRef(entity.entity_type, entity.name))
            for event in self._log.events(ender.session, 1, ender.seq - 1)
            if event.seq != besides
            for row, entity in enumerate(extract(event).entities)
            if entity.entity_type == thing.entity_type
        ]
        meant, *others = map(entity_key, self._recall.meant(ender.session, [thing, *(ref for _, _, ref in rows)]))
        same = [(seq, row) for (seq, row, _), other in zip(rows, others, strict=True) if other == meant]
        closing = {"at": ends_at(ender, ender.payload or {}), "entity": None, "by": ender.seq}
        return [{**closing, "seq": seq, "row": row} for seq, row in same[: -MAX_OTHER_ROWS - 1 : -1]]

    def _rebuild(self, sessions: Iterable[str]) -> Iterator[str]:
        """Let the followers forget; a warning for each that could not, and for bytes that are still in files."""
        for session in sessions:
            yield from warnings(self._recall.all_loops.forget(session))
            if names := self._recall.all_loops.unscrubbed(session):
                files = f"the files of {' and '.join(names)} may still hold its bytes while another process reads them"
                yield f"{files}: each later read, and each server, tries again to remove them"

    def _drop_unused(self) -> Iterator[str]:
        """Before the erasure, so that nothing is left of it if this process dies after it."""
        recall = self._recall
        used = {f"{bound.point}-{bound.name}" for bound in (recall.index, *recall.lanes, recall.graph)}
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
