"""Where the work stands: the goals, decisions, tasks, artifacts and blockers that hold now, and where it was said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from zaxy.api.models import EntityRow
from zaxy.assemble.quoting import quoted
from zaxy.assemble.standing import is_open, status_of
from zaxy.assemble.token_budget import Candidate
from zaxy.extract.rules import HEADINGS
from zaxy.retrieve.snapshot import Snapshot
from zaxy.retrieve.statements import in_sentences

OF_EACH = 5
LOOKBACK, LOOKBACK_GROWTH, MAX_LOOKBACK = 25, 8, 12_800
"""Rows of a type that are read for the few that are shown, and how many times as many where those were not enough:
finished tasks and solved issues are left out, and one open task may stand behind a thousand of them."""
MAX_TEXT_CHARS = 160


ANCHORED = ("goals", "decisions", "tasks", "blockers")

CurrentOfEach = Callable[[Sequence[Sequence[str]], int], Sequence[Sequence[EntityRow]]]
"""Of each kind the rows of its types that hold at the moment asked for, newest first, up to a number."""


class Item(NamedTuple):
    text: str
    """At most `MAX_TEXT_CHARS` of it."""
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
        """With the core's headings, and those of packages under which there is something."""
        kept: dict[str, list[Item]] = {heading: [] for heading in HEADINGS}
        for name, item in found:
            kept.setdefault(name, []).append(item)
        return cls(kept)


def _line(kind: str, item: Item) -> str:
    return f"- {kind[:-1]}: {quoted(item.text)} [{item.citation}]"


NOTHING_OPEN = WorkingSet.of(())


def working_set(snapshot: Snapshot, each: int = OF_EACH) -> WorkingSet:
    """The newest open rows of every kind, in the words of the log."""
    own = snapshot.families.headings
    kinds = {**HEADINGS, **{heading: (*HEADINGS.get(heading, ()), *types) for heading, types in own.items()}}
    rows = open_rows(snapshot.current_of_each, list(kinds.values()), each)
    headings = {id(row): heading for heading, of_kind in zip(kinds, rows, strict=True) for row in of_kind}
    found = snapshot.cited_rows([row for of_kind in rows for row in of_kind])
    texts = in_sentences([one.passage for one in found], MAX_TEXT_CHARS)
    return WorkingSet.of(
        (headings[id(row)], Item(text, row.entity.entity_type, citation, row.valid_from, status_of(row.entity)))
        for (row, *_, citation), text in zip(found, texts, strict=True)
    )


def unfinished(rows: Sequence[EntityRow]) -> list[EntityRow]:
    return [row for row in rows if not row.entity.properties.get("status") or is_open(row.entity)]


def open_rows(
    current: CurrentOfEach,
    kinds: Sequence[Sequence[str]],
    wanted: int,
    *,
    lookback: int = LOOKBACK,
    choose: Callable[[Sequence[EntityRow]], list[EntityRow]] = unfinished,
) -> list[list[EntityRow]]:
    """The newest rows of each kind that are not finished, or those that `choose` takes out of rows, newest first."""
    rows = current(kinds, lookback)
    found = [choose(of_kind)[:wanted] for of_kind in rows]
    short = [
        number
        for number, of_kind in enumerate(rows)
        if len(found[number]) < wanted and len(of_kind) >= lookback and lookback < MAX_LOOKBACK
    ]
    if short:
        more = lookback * LOOKBACK_GROWTH
        farther = open_rows(current, [kinds[number] for number in short], wanted, lookback=more, choose=choose)
        for number, of_kind in zip(short, farther, strict=True):
            found[number] = of_kind
    return found
