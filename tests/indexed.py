"""A text index in a folder of its own, fed with events that tests make up."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from zaxy.api.models import AsOf, Batch, Event, Query
from zaxy.api.provider import ProviderContext
from zaxy.follow.extraction import Extractors
from zaxy.text.blocks import BlockSizes
from zaxy.text.index import TextIndex
from zaxy_testkit.checks.followers import cursor_after, sample_event

SESSION = "read"


class Index:
    """A text index in a folder, fed with events made here."""

    def __init__(self, folder: Path, sizes: BlockSizes | None = None) -> None:
        self.folder = folder
        self.sizes = sizes or BlockSizes()
        self.warnings: list[str] = []
        self.seq = 0
        self.events: list[Event] = []
        self.open()

    def open(self) -> None:
        context = ProviderContext({}, self.folder, "workspace", self.warnings.append, lambda: datetime.now(UTC))
        self.texts = TextIndex(context)
        self.texts.sizes = self.sizes

    def take(self, event_type: str, actor: str = "Ada", **payload: object) -> Event:
        self.seq += 1
        event = sample_event(SESSION, self.seq, event_type=event_type, actor=actor, payload=payload)
        self.events.append(event)
        self.apply(event)
        return event

    def say(self, content: str, **more: object) -> Event:
        return self.take("transcript.turn", "Ada", role="user", content=content, **more)

    def apply(self, *events: Event) -> None:
        self.texts.apply(Batch(SESSION, Extractors().extract(events)), cursor_after(events[-1]))

    def found(self, question: str, as_of: AsOf | None = None) -> list[int]:
        return [item.seq for item in self.texts.search(Query(question, SESSION, 100, as_of or AsOf()))]

    def first(self, question: str) -> int:
        return next(iter(self.found(question)), 0)
