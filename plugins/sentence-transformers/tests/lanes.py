"""Makes lanes and events for the tests of this package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from stand_in import settings

from zaxy.api import Batch, Candidate, Cursor, ExtractedEvent, Extraction, ProviderContext, Query
from zaxy_sentence_transformers.follower import SentenceLane
from zaxy_testkit import sample_event

SESSION = "work"


class Place:
    """A workspace's state folder and the user's folder, as several processes would share them."""

    def __init__(self, folder: Path, **changed: object) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.user = folder / "user" / "plugins" / "sentence-transformers"
        self.warnings: list[str] = []
        self.settings = settings(folder / "model", **changed)
        self.state.mkdir(parents=True, exist_ok=True)

    def lane(self, workspace_id: str = "workspace", **changed: object) -> SentenceLane:
        state = self.state if workspace_id == "workspace" else self.folder / workspace_id
        state.mkdir(exist_ok=True)
        context = ProviderContext(
            {**self.settings, **changed}, state, workspace_id, self.warnings.append, now, user_dir=self.user
        )
        return SentenceLane(context)

    def files(self) -> list[Path]:
        return [path for root in (self.state, self.folder / "user") for path in root.rglob("*") if path.is_file()]

    def holds(self, vector: bytes) -> bool:
        """Whether the bytes of a vector stand in any file."""
        return any(vector in path.read_bytes() for path in self.files())


def now() -> datetime:
    return datetime(2026, 6, 15, tzinfo=UTC)


def events(texts: Iterable[str | None], session: str = SESSION, first: int = 1) -> list[ExtractedEvent]:
    """What was said, as the core hands it over; None: it was erased."""
    made = []
    for seq, text in enumerate(texts, first):
        event = sample_event(session, seq, event_type="note.taken", payload={"text": text or ""})
        made.append(ExtractedEvent(event if text is not None else replace(event, payload=None), Extraction()))
    return made


def feed(lane: SentenceLane, given: Sequence[ExtractedEvent], size: int = 5) -> None:
    for at in range(0, len(given), size):
        some = tuple(given[at : at + size])
        last = some[-1].event
        lane.apply(Batch(last.session, some), Cursor(last.seq, last.hash, last.seq * 100, "rules@1|0"))


def ask(lane: SentenceLane, text: str, session: str = SESSION, limit: int = 10) -> list[Candidate]:
    return list(lane.search(Query(text, session, limit)))
