from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from zaxy.api import (
    AsOf,
    Batch,
    Closing,
    Cursor,
    Edge,
    EdgeRow,
    Entity,
    EntityRow,
    Event,
    ExtractedEvent,
    Extraction,
    GraphStats,
    ProviderContext,
    Version,
)
from zaxy_testkit.checks.projection_backends import ProjectionBackendCase
from zaxy_testkit.templates.projection_backends import COLUMNS, Backend, folded, given, node

RIGHT = Backend


def case(make: Callable[..., Any], scratch: Path) -> ProjectionBackendCase:
    return ProjectionBackendCase(make)


def changed(batch: Batch, change: Callable[[ExtractedEvent], Extraction]) -> Batch:
    """The batch with other rows extracted from its events."""
    return Batch(batch.session, tuple(ExtractedEvent(e.event, change(e)) for e in batch.events))


class FollowerOnly:
    cursor, apply, digest, wipe, close = Backend.cursor, Backend.apply, Backend.digest, Backend.wipe, Backend.close

    def __init__(self, context: ProviderContext) -> None:
        pass


class CursorAtZero(Backend):
    def cursor(self, session: str) -> Cursor | None:
        return super().cursor(session) or Cursor(0, "", 0)


class HalfTheCursor(Backend):
    def cursor(self, session: str) -> Cursor | None:
        found = super().cursor(session)
        return found and replace(found, fed_by="")


class TakesAgain(Backend):
    def apply(self, batch: Batch, cursor: Cursor) -> None:
        self._db.execute("DELETE FROM cursors WHERE session = ?", (batch.session,))
        super().apply(batch, cursor)


class EventByEvent(Backend):
    def apply(self, batch: Batch, cursor: Cursor) -> None:
        for extracted in batch.events:
            after = replace(cursor, seq=extracted.event.seq, hash=extracted.event.hash)
            super().apply(Batch(batch.session, (extracted,)), after)


class CountsBatches(Backend):
    batches = 0

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        self.batches += 1
        super().apply(batch, cursor)

    def digest(self, session: str) -> str:
        return f"{super().digest(session)}-{self.batches}"


class DigestOfTheCursor(Backend):
    def digest(self, session: str) -> str:
        return repr(self.cursor(session))


class HidesTheWiped(Backend):
    def wipe(self, session: str) -> None:
        self._db.execute("UPDATE rows SET session = '' WHERE session = ?", (session,))
        super().wipe(session)


class WipesAll(Backend):
    def wipe(self, session: str) -> None:
        for (each,) in self._db.execute("SELECT session FROM cursors").fetchall():
            super().wipe(each)


class FlatProperties(Backend):
    def entities(self, session: str, names: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        rows = super().entities(session, names, as_of, limit)
        flat = [replace(r.entity, properties={k: str(v) for k, v in r.entity.properties.items()}) for r in rows]
        return [replace(row, entity=entity) for row, entity in zip(rows, flat, strict=True)]


class CertainEdges(Backend):
    def neighbours(self, session: str, start: Any, **asked: Any) -> Sequence[EdgeRow]:
        found = super().neighbours(session, start, **asked)
        return [replace(row, edge=replace(row.edge, confidence=1.0)) for row in found]


class AlwaysFromTheEvent(Backend):
    def apply(self, batch: Batch, cursor: Cursor) -> None:
        def undated(extracted: ExtractedEvent) -> Extraction:
            entities = tuple(replace(entity, observed_at="") for entity in extracted.rows.entities)
            return replace(extracted.rows, entities=entities)

        super().apply(changed(batch, undated), cursor)


class ExactNames(Backend):
    def entities(self, session: str, names: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return [row for row in super().entities(session, names, as_of, limit) if row.entity.name in names]


class OneThingPerName(Backend):
    def entities(self, session: str, names: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return super().entities(session, names, as_of, limit=len(names) and 1)


class NeverEnds(Backend):
    kind = "entity"

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        super().apply(batch, cursor)
        self._db.execute("UPDATE rows SET valid_to = '', closed = NULL WHERE kind = ?", (self.kind,))


class EdgesNeverEnd(NeverEnds):
    kind = "edge"


class WithoutProperties(Backend):
    def apply(self, batch: Batch, cursor: Cursor) -> None:
        def bare(extracted: ExtractedEvent) -> Extraction:
            entities = tuple(replace(entity, properties={}) for entity in extracted.rows.entities)
            return replace(extracted.rows, entities=entities)

        super().apply(changed(batch, bare), cursor)


class AlwaysANewVersion(Backend):
    def apply(self, batch: Batch, cursor: Cursor) -> None:
        def numbered(extracted: ExtractedEvent) -> Extraction:
            number = {"seq": extracted.event.seq}
            entities = tuple(replace(entity, properties=number) for entity in extracted.rows.entities)
            return replace(extracted.rows, entities=entities)

        super().apply(changed(batch, numbered), cursor)


class CopiesEdges(Backend):
    def apply(self, batch: Batch, cursor: Cursor) -> None:
        super().apply(batch, cursor)
        self._db.execute(f"INSERT INTO rows ({COLUMNS}) SELECT {COLUMNS} FROM rows WHERE kind = 'edge'")


class OnlyNow(Backend):
    def entities(self, session: str, names: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return super().entities(session, names, AsOf(known_at=as_of.known_at), limit)


class AllKnowing(Backend):
    def entities(self, session: str, names: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return super().entities(session, names, AsOf(as_of.valid_at), limit)


class EitherTime(Backend):
    def entities(self, session: str, names: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return super().entities(session, names, AsOf(as_of.valid_at) if as_of.valid_at else as_of, limit)


class ClosesEventsOnly(Backend):
    def _close(self, event: Event, closing: Closing) -> None:
        if closing.seq is not None:
            super()._close(event, closing)


class ClosesEntitiesOnly(Backend):
    def _close(self, event: Event, closing: Closing) -> None:
        if closing.entity is not None:
            super()._close(event, closing)


class ClosesForAnybody(Backend):
    def _close(self, event: Event, closing: Closing) -> None:
        super()._close(event, replace(closing, extractor=""))


class ClosesWhatAnyEventOpened(Backend):
    def _close(self, event: Event, closing: Closing) -> None:
        super()._close(event, replace(closing, seq=None) if closing.entity else closing)


class ClosesEdgesToo(Backend):
    def _close(self, event: Event, closing: Closing) -> None:
        super()._close(event, closing)
        if closing.entity:
            end = "UPDATE rows SET valid_to = ?, closed = ? WHERE ? IN (subject, object)"
            self._db.execute(end, (closing.at, event.seq, node(closing.entity)))


class ClosesLast(Backend):
    def apply(self, batch: Batch, cursor: Cursor) -> None:
        super().apply(changed(batch, lambda extracted: replace(extracted.rows, closings=())), cursor)
        for extracted in batch.events:
            for closing in extracted.rows.closings:
                self._close(extracted.event, closing)


class ClosesNoLaterRow(Backend):
    def _close(self, event: Event, closing: Closing) -> None:
        began = self._db.execute("SELECT max(valid_from) FROM rows").fetchone()[0]
        if began <= closing.at:
            super()._close(event, closing)


class OpensOnce(Backend):
    def _open(self, event: Event, key: tuple[str, ...], row: Entity | Edge) -> None:
        if not self._db.execute("SELECT 1 FROM rows WHERE subject = ?", (key[2],)).fetchone():
            super()._open(event, key, row)


class ShortensNothing(Backend):
    def _open(self, event: Event, key: tuple[str, ...], row: Entity | Edge) -> None:
        closed = self._db.execute("SELECT valid_to, id FROM rows WHERE valid_to <> ''").fetchall()
        super()._open(event, key, row)
        self._db.executemany("UPDATE rows SET valid_to = ? WHERE id = ?", closed)


class ForgetsEarlierEnds(Backend):
    kind = "entity"

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        super().apply(batch, cursor)
        self._db.execute("UPDATE rows SET earlier = NULL WHERE kind = ?", (self.kind,))


class ForgetsEarlierEndsOfEdges(ForgetsEarlierEnds):
    kind = "edge"


class WithoutAnEndOnly(Backend):
    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return super().current(session, entity_types, AsOf(known_at=as_of.known_at), limit)


class ClosesOneVersion(Backend):
    def _end(self, ended: Sequence[Version]) -> None:
        super()._end(ended[:1])


class NeverMerges(Backend):
    def apply(self, batch: Batch, cursor: Cursor) -> None:
        def whole(extracted: ExtractedEvent) -> Extraction:
            entities = tuple(replace(entity, merges=False) for entity in extracted.rows.entities)
            return replace(extracted.rows, entities=entities)

        super().apply(changed(batch, whole), cursor)


class Alphabetical(Backend):
    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        rows = super().current(session, entity_types, as_of, limit)
        return sorted(rows, key=lambda row: row.entity.name)


class InTheOrderOfUtf16(Backend):
    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        rows = super().current(session, entity_types, as_of, limit)
        return sorted(rows, key=lambda row: folded(row.entity.name).encode("utf-16-be"))


class EdgesAsWritten(Backend):
    def neighbours(self, session: str, start: Any, **asked: Any) -> Sequence[EdgeRow]:
        written = [given for (given,) in self._db.execute("SELECT given FROM rows WHERE kind = 'edge' ORDER BY id")]
        return sorted(super().neighbours(session, start, **asked), key=lambda row: written.index(given(row.edge)))


class DigestOfEntities(Backend):
    def digest(self, session: str) -> str:
        rows = self._db.execute("SELECT given, content FROM rows WHERE kind = 'entity' AND session = ?", (session,))
        return repr(sorted(rows))


class ReadingEveryPayload(Backend):
    def apply(self, batch: Batch, cursor: Cursor) -> None:
        for extracted in batch.events:
            len(extracted.event.payload)  # type: ignore[arg-type]
        super().apply(batch, cursor)


class CutsFirst(Backend):
    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return super().current(session, entity_types, as_of, 1000)[-limit:]


class RowsOpenNow(Backend):
    def rows_of_events(self, session: str, seqs: Sequence[int], as_of: AsOf) -> Sequence[EntityRow]:
        return super().rows_of_events(session, seqs, AsOf())


class FoldsTypes(Backend):
    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return super().current(session, [*entity_types, *map(str.title, entity_types)], as_of, limit)


class OneWay(Backend):
    def neighbours(self, session: str, start: Sequence[Any], **asked: Any) -> Sequence[EdgeRow]:
        origins = {node(ref) for ref in start}
        return [row for row in super().neighbours(session, start, **asked) if node(row.edge.source) in origins]


class EveryRelation(Backend):
    def neighbours(self, session: str, start: Any, *, relations: Any, **asked: Any) -> Sequence[EdgeRow]:
        return super().neighbours(session, start, relations=[], **asked)


class OneStepMore(Backend):
    def neighbours(self, session: str, start: Any, *, depth: int, **asked: Any) -> Sequence[EdgeRow]:
        return super().neighbours(session, start, depth=depth + 1, **asked)


class NewestEdgesFirst(Backend):
    def neighbours(self, session: str, start: Any, **asked: Any) -> Sequence[EdgeRow]:
        return sorted(super().neighbours(session, start, **asked), key=lambda row: -row.opened_seq)


class EdgesOpenNow(Backend):
    def neighbours(
        self, session: str, start: Any, relations: Any, depth: int, as_of: AsOf, limit: int
    ) -> Sequence[EdgeRow]:
        return super().neighbours(session, start, relations=relations, depth=depth, as_of=AsOf(), limit=limit)


class CountsOpenRows(Backend):
    def stats(self, session: str) -> GraphStats:
        counts = super().stats(session)
        return replace(counts, entities=counts.open_entities, edges=counts.open_edges)


class AllSessions(Backend):
    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        sessions = [each for (each,) in self._db.execute("SELECT session FROM cursors").fetchall()]
        return [row for each in sessions for row in Backend.current(self, each, entity_types, as_of, limit)]


WRONG = {
    "it_has_the_methods_of_its_protocol": FollowerOnly,
    "its_cursor_is_none_before_the_first_batch": CursorAtZero,
    "it_remembers_the_cursor_after_reopening": HalfTheCursor,
    "applying_a_batch_again_changes_nothing": TakesAgain,
    "a_batch_that_fails_leaves_nothing_behind": EventByEvent,
    "an_erased_event_is_no_error": ReadingEveryPayload,
    "the_digest_does_not_depend_on_batch_sizes": CountsBatches,
    "the_digest_changes_with_the_content": DigestOfTheCursor,
    "a_wiped_session_is_forgotten": HidesTheWiped,
    "sessions_do_not_touch_each_other": WipesAll,
    "a_row_carries_what_its_event_says": FlatProperties,
    "an_edge_carries_what_its_event_says": CertainEdges,
    "a_row_begins_when_it_is_said_to_have_begun": AlwaysFromTheEvent,
    "names_match_after_nfkc_trimming_and_case_folding": ExactNames,
    "a_name_finds_entities_of_every_type": OneThingPerName,
    "other_content_closes_the_old_version": NeverEnds,
    "other_properties_are_other_content": WithoutProperties,
    "unchanged_content_opens_no_new_version": AlwaysANewVersion,
    "a_new_version_copies_no_edges": CopiesEdges,
    "an_edge_with_other_content_closes_the_old_one": EdgesNeverEnd,
    "it_gives_what_was_true_at_a_time": OnlyNow,
    "it_gives_what_was_known_after_an_event": AllKnowing,
    "it_combines_what_was_true_with_what_was_known": EitherTime,
    "a_closing_of_an_entity_closes_its_open_rows": ClosesEventsOnly,
    "a_closing_of_an_entity_leaves_its_edges": ClosesEdgesToo,
    "a_closing_of_an_event_closes_the_rows_it_opened": ClosesEntitiesOnly,
    "an_extractor_ends_no_rows_but_its_own": ClosesForAnybody,
    "a_closing_of_an_entity_and_an_event_closes_only_the_row_of_both": ClosesWhatAnyEventOpened,
    "a_closing_spares_what_its_own_event_opens": ClosesLast,
    "a_closing_dated_before_a_row_closes_it_too": ClosesNoLaterRow,
    "a_closed_entity_opens_again_when_it_comes_again": OpensOnce,
    "a_back_dated_event_is_filed_in_its_place": AlwaysFromTheEvent,
    "a_back_dated_event_ends_the_version_it_falls_into": ShortensNothing,
    "a_moved_end_is_seen_only_by_reads_that_know_of_it": ForgetsEarlierEnds,
    "a_moved_end_of_an_edge_is_seen_too": ForgetsEarlierEndsOfEdges,
    "a_row_of_the_future_holds_only_then": WithoutAnEndOnly,
    "a_closing_ends_what_is_still_to_come": ClosesOneVersion,
    "a_row_that_merges_keeps_what_it_does_not_mention": NeverMerges,
    "rows_come_newest_first_then_by_type_then_by_name": Alphabetical,
    "names_beyond_ascii_come_by_their_code_points": InTheOrderOfUtf16,
    "edges_of_one_event_come_by_relation_then_by_their_ends": EdgesAsWritten,
    "the_digest_changes_with_an_edge": DigestOfEntities,
    "a_limit_keeps_the_first_rows": CutsFirst,
    "rows_of_events_are_those_that_the_events_opened": RowsOpenNow,
    "current_rows_are_of_the_types_asked_for": FoldsTypes,
    "neighbours_are_found_either_way_along_an_edge": OneWay,
    "neighbours_keep_to_the_relations_asked_for": EveryRelation,
    "neighbours_reach_as_far_as_the_depth": OneStepMore,
    "neighbours_come_nearest_first_and_once": NewestEdgesFirst,
    "neighbours_hold_at_the_moment_asked_for": EdgesOpenNow,
    "stats_count_all_rows_and_the_open_ones": CountsOpenRows,
    "reads_see_only_their_own_session": AllSessions,
}
