"""Lanes and histories for the tests of this package."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from zaxy.api import Batch, Cursor, ExtractedEvent, ProviderContext
from zaxy_testkit.checks.followers import cursor_after, history, with_content
from zaxy_vectors.lane import VectorLane
from zaxy_vectors.weights import SETTING

SESSION = "s"
SAID = (
    "Our puppy is called Biscuit.",
    "The outage was caused by an expired certificate.",
    "Tom bought a used Volvo last spring.",
    "Backups run every night at two.",
    "Olga starts her day with green tea.",
)


def lane_in(folder: Path, weights: str = "") -> VectorLane:
    def clock() -> datetime:
        return datetime(2026, 6, 15, tzinfo=UTC)

    context = ProviderContext({SETTING: weights}, folder / "vectors", "w", print, clock)
    context.state_dir.mkdir(parents=True, exist_ok=True)
    return VectorLane(context)


def events_of(texts: Sequence[str], session: str = SESSION) -> list[ExtractedEvent]:
    return [with_content(event, text) for event, text in zip(history(session, len(texts)), texts, strict=True)]


def feed(lane: VectorLane, events: Sequence[ExtractedEvent], size: int = 100) -> Cursor | None:
    """Apply what is new of the events, as the core would."""
    session = events[0].event.session
    cursor = lane.cursor(session)
    for begin in range(cursor.seq if cursor else 0, len(events), size):
        batch = tuple(events[begin : begin + size])
        lane.apply(Batch(session, batch), cursor_after(batch[-1].event))
    return lane.cursor(session)


def many_texts(count: int) -> list[str]:
    """Texts of one to some sentences, no two alike."""
    things = ("ferry", "ledger", "tower", "garden", "compiler", "invoice", "violin", "harbour")
    return [
        " ".join(f"The {things[(seq + turn) % 8]} {seq} was moved to room {turn}." for turn in range(1 + seq % 12))
        for seq in range(1, count + 1)
    ]
