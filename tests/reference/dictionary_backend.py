"""A graph in a dictionary: fetch a thing's versions, ask `zaxy.api` what they become, keep that."""

from __future__ import annotations

import json
import pickle
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from zaxy.api import (
    AsOf,
    Batch,
    Cursor,
    EdgeRow,
    Entity,
    EntityRef,
    EntityRow,
    GraphStats,
    ProviderContext,
    end_versions,
    folded_name,
    open_version,
    seen,
)


def node(ref: EntityRef) -> tuple[str, str]:
    return ref.entity_type, folded_name(ref.name)


class DictionaryBackend:
    def __init__(self, context: ProviderContext) -> None:
        self._folder = context.state_dir

    def _path(self, session: str) -> Path:
        return self._folder / f"{session}.pickle"

    def _load(self, session: str) -> tuple[Cursor | None, dict[Any, Any]]:
        """The cursor, and of each thing and edge its versions: number to (version, row, hash of the event)."""
        path = self._path(session)
        return pickle.loads(path.read_bytes()) if path.exists() else (None, {})

    def cursor(self, session: str) -> Cursor | None:
        return self._load(session)[0]

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        before, found = self._load(batch.session)
        lines: dict[Any, Any] = defaultdict(dict, found)
        for event, rows in ((of.event, of.rows) for of in batch.events if not before or of.event.seq > before.seq):
            for closing in rows.closings:
                wanted = [("entity", *node(closing.entity))] if closing.entity else list(lines)
                for line in (lines[key] for key in wanted if key in lines):
                    named = [of for of, _, _ in line.values() if closing.entity or of.opened_seq == closing.seq]
                    for version in end_versions(named, closing, event):
                        line[version.number] = (version, *line[version.number][1:])
            keyed = [(("entity", *node(EntityRef(row.entity_type, row.name))), row) for row in rows.entities]
            keyed += [(("edge", node(of.source), node(of.target), of.relation_type), of) for of in rows.edges]
            for key, row in keyed:
                opened, ended = open_version([version for version, _, _ in lines[key].values()], row, event)
                for version in ended:
                    lines[key][version.number] = (version, *lines[key][version.number][1:])
                if opened:
                    number = len(lines[key])
                    lines[key][number] = (opened._replace(number=number), row, event.hash)
        if not before or cursor.seq > before.seq:
            aside = self._folder / "new"
            aside.write_bytes(pickle.dumps((cursor, {key: line for key, line in lines.items() if line})))
            aside.replace(self._path(batch.session))

    def digest(self, session: str) -> str:
        return sha256(repr(sorted(self._load(session)[1].items())).encode()).hexdigest()

    def wipe(self, session: str) -> None:
        self._path(session).unlink(missing_ok=True)

    def close(self) -> None:
        pass

    def _held(self, session: str, as_of: AsOf, fits: Callable[[Any, Any], bool]) -> list[tuple[Any, Any]]:
        """The rows of what fits that hold then: each with the key of its thing or edge."""
        found = []
        for key, line in self._load(session)[1].items():
            for version, row, event_hash in line.values():
                if fits(key, version) and (held := seen(version, as_of)):
                    window = (held.valid_from, held.valid_to, held.opened_seq, held.closed_seq, event_hash)
                    if key[0] == "edge":
                        found.append((key, EdgeRow(row, *window)))
                        continue
                    summary, properties = held.content
                    entity = Entity(row.name, key[1], str(summary), json.loads(str(properties)), row.observed_at)
                    found.append((key, EntityRow(entity, *window)))
        return sorted(found, key=lambda each: (-each[1].opened_seq, each[0][3:], each[0][1:]))

    def _entities(self, session: str, as_of: AsOf, fits: Callable[[Any, Any], bool]) -> list[EntityRow]:
        return [row for _, row in self._held(session, as_of, lambda key, of: key[0] == "entity" and fits(key, of))]

    def entities(self, session: str, names: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        wanted = {folded_name(name) for name in names}
        return self._entities(session, as_of, lambda key, _: key[2] in wanted)[: max(limit, 0)]

    def rows_of_events(self, session: str, seqs: Sequence[int], as_of: AsOf) -> Sequence[EntityRow]:
        return self._entities(session, as_of, lambda _, version: version.opened_seq in seqs)

    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return self._entities(session, as_of, lambda key, _: key[1] in entity_types)[: max(limit, 0)]

    def neighbours(
        self, session: str, start: Sequence[EntityRef], relations: Sequence[str], depth: int, as_of: AsOf, limit: int
    ) -> Sequence[EdgeRow]:
        edges = self._held(session, as_of, lambda key, _: key[0] == "edge" and (not relations or key[3] in relations))
        found: dict[int, EdgeRow] = {}
        reached, outermost = set[Any](), {node(ref) for ref in start}
        for step in range(1, depth + 1):
            met = [(place, key, row) for place, (key, row) in enumerate(edges) if not outermost.isdisjoint(key[1:3])]
            reached |= outermost
            for place, _, row in met:
                found.setdefault(place, replace(row, depth=step))
            outermost = {end for _, key, _ in met for end in key[1:3]} - reached
        return list(found.values())[: max(limit, 0)]

    def stats(self, session: str) -> GraphStats:
        lines = self._load(session)[1]
        rows = [(key[0], not version.valid_to) for key, line in lines.items() for version, _, _ in line.values()]
        counts = [rows.count((kind, True)) + rows.count((kind, False)) for kind in ("entity", "edge")]
        return GraphStats(*counts, rows.count(("entity", True)), rows.count(("edge", True)))
