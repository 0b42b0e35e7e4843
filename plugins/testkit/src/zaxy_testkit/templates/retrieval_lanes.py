"""Finds events that share words with a question. A word counts the more, the fewer events have it.

Each session's texts are one file, written again with every batch: enough for some thousands of events. Beyond that
keep them in a database, and store the cursor in the transaction that stores the texts.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from zaxy.api import Batch, Candidate, Cursor, ProviderContext, Query


@dataclass
class Index:
    """What the lane keeps of one session; stored as it is, so that texts and cursor cannot part."""

    cursor: Cursor | None = None
    texts: dict[str, str] = field(default_factory=dict)
    """By seq, as a text: JSON has no other keys."""


class Lane:
    def __init__(self, context: ProviderContext) -> None:
        self._folder = context.state_dir

    def search(self, query: Query) -> list[Candidate]:
        asked, known_at = _words(query.text), query.as_of.known_at
        texts = {int(seq): text for seq, text in self._load(query.session).texts.items()}
        shared = {seq: asked & _words(text) for seq, text in texts.items() if known_at is None or seq <= known_at}
        spread = Counter(word for words in shared.values() for word in words)
        scores = {seq: math.fsum(1 / spread[word] for word in words) for seq, words in shared.items() if words}
        best = sorted(scores, key=lambda seq: (-scores[seq], -seq))
        return [Candidate(seq, scores[seq]) for seq in best[: query.limit]]

    def cursor(self, session: str) -> Cursor | None:
        return self._load(session).cursor

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        index = self._load(batch.session)
        reached = index.cursor.seq if index.cursor else 0
        new = [extracted.event for extracted in batch.events if extracted.event.seq > reached]
        if not new:
            return
        index.texts |= {str(event.seq): _text(event.payload) for event in new}
        index.cursor = cursor
        self._store(batch.session, index)

    def digest(self, session: str) -> str:
        return hashlib.sha256(json.dumps(self._load(session).texts).encode()).hexdigest()

    def wipe(self, session: str) -> None:
        for ending in ("partial", "json"):
            (self._folder / f"{session}.{ending}").unlink(missing_ok=True)

    def close(self) -> None:
        """Nothing is held open."""

    def _load(self, session: str) -> Index:
        try:
            stored = json.loads((self._folder / f"{session}.json").read_bytes())
        except FileNotFoundError:
            return Index()
        return Index(Cursor(**stored["cursor"]), stored["texts"])

    def _store(self, session: str, index: Index) -> None:
        """Replace the session's file whole: after a crash there is the old one or the new one."""
        partial = self._folder / f"{session}.partial"
        with partial.open("w", encoding="utf-8") as out:
            json.dump(asdict(index), out)
            out.flush()
            os.fsync(out.fileno())
        os.replace(partial, self._folder / f"{session}.json")


def _text(value: object) -> str:
    """All that a payload says in words; nothing if it was erased."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return " ".join(_text(item) for item in value)
    return value if isinstance(value, str) else ""


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
