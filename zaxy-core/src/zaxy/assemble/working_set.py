"""Where the work stands: the goals, decisions, tasks, artifacts and blockers that hold now, and where it was said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from zaxy.api.models import EntityRow
from zaxy.assemble.quoting import quoted
from zaxy.assemble.token_budget import Candidate
from zaxy.extract.texts import cut
from zaxy.retrieve.snapshot import Snapshot

OF_EACH = 5
LOOKBACK, LOOKED_FARTHER, MAX_LOOKBACK = 25, 8, 12_800
"""Rows of a type that are read for the few that are shown, and how many times as many where those were not enough:
finished tasks and solved issues are left out, and one open task may stand behind a thousand of them."""
MAX_TEXT_CHARS = 160
DONE = frozenset(("completed", "done", "closed", "resolved", "fixed", "cancelled", "abandoned", "rejected"))


class Kind(NamedTuple):
    heading: str
    entity_types: tuple[str, ...]


KINDS = (
    Kind("goals", ("goal",)),
    Kind("decisions", ("decision",)),
    Kind("tasks", ("task", "assignment")),
    Kind("blockers", ("issue", "conflict")),
    Kind("artifacts", ("file_edit", "document", "synthesis_artifact", "handoff")),
)
ANCHORED = ("goals", "decisions", "tasks", "blockers")

Current = Callable[[Sequence[str], int], Sequence[EntityRow]]
"""The rows of given types that hold at the moment asked for, newest first, up to a number."""


class Item(NamedTuple):
    text: str
    entity_type: str
    citation: str
    since: str
    status: str

    def as_dict(self) -> dict[str, Any]:
        shown = {"text": self.text, "type": self.entity_type, "status": self.status, "citation": self.citation}
        return {key: value for key, value in shown.items() if value}


class WorkingSet(NamedTuple):
    items: dict[str, list[Item]]

    def as_dict(self) -> dict[str, Any]:
        shown: dict[str, Any] = {name: [item.as_dict() for item in items] for name, items in self.items.items()}
        shown["source_anchors"] = self.anchors
        return shown

    @property
    def anchors(self) -> list[str]:
        """The citations that the working state rests on, newest first of each kind."""
        cited = (item.citation for name in ANCHORED for item in self.items[name][:2])
        return list(dict.fromkeys(cited))[:OF_EACH]

    def lines(self) -> list[str]:
        """As the prompt shows it; kinds of which there is nothing are left out."""
        return [_line(name, item) for name, items in self.items.items() for item in items]

    def ranked(self, each: int = OF_EACH) -> list[Candidate[tuple[str, Item]]]:
        """The newest of every kind first, then the next of every kind."""
        return [
            ((name, item), (item.as_dict(), _line(name, item)))
            for rank in range(each)
            for name, items in self.items.items()
            for item in items[rank : rank + 1]
        ]

    @classmethod
    def of(cls, found: Iterable[tuple[str, Item]]) -> WorkingSet:
        kept: dict[str, list[Item]] = {kind.heading: [] for kind in KINDS}
        for name, item in found:
            kept[name].append(item)
        return cls(kept)


def _line(kind: str, item: Item) -> str:
    return f"- {kind[:-1]}: {quoted(item.text, MAX_TEXT_CHARS)} [{item.citation}]"


NOTHING_OPEN = WorkingSet.of(())


def working_set(snapshot: Snapshot, each: int = OF_EACH) -> WorkingSet:
    """The newest open rows of every kind, in the words of the log."""
    rows = {kind.heading: open_rows(snapshot.current, kind.entity_types, each) for kind in KINDS}
    worded = {id(row): entity for row, entity in snapshot.worded([row for of in rows.values() for row in of])}
    return WorkingSet(
        {
            heading: [_item(snapshot, row, worded[id(row)].summary) for row in of if id(row) in worded]
            for heading, of in rows.items()
        }
    )


def _item(snapshot: Snapshot, row: EntityRow, text: str) -> Item:
    shown = cut(snapshot.shown(text), MAX_TEXT_CHARS)
    return Item(shown, row.entity.entity_type, snapshot.cite(row), row.valid_from, status_of(row))


def open_rows(current: Current, entity_types: Sequence[str], wanted: int = OF_EACH) -> list[EntityRow]:
    """The newest rows that are not finished."""
    count = LOOKBACK
    while True:
        rows = current(entity_types, count)
        found = [row for row in rows if is_open(row)]
        if len(found) >= wanted or len(rows) < count or count >= MAX_LOOKBACK:
            return found[:wanted]
        count *= LOOKED_FARTHER


def is_open(row: EntityRow) -> bool:
    return status_of(row) not in DONE


def status_of(row: EntityRow) -> str:
    return str(row.entity.properties.get("status", "")).lower()
