"""The system under test: a real log, and the memory that is opened over it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import count
from pathlib import Path

from bench.recall.histories import Happening
from folders import made_folder
from zaxy.eventloom.admission import admit
from zaxy.eventloom.citation import Citation
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.record import Entry, Line
from zaxy.memory import Memory
from zaxy.text.blocks import BlockSizes
from zaxy.workspace import find_workspace

BATCH = 500
SMALL_BLOCKS = BlockSizes(block=64, marked=2, listed=64)
"""A history of a few thousand events fills many of these, as a log of hundreds of thousands fills ours."""
ROOM = 100_000
"""Tokens: no result is left out for its length."""


def write_log(folder: Path, session: str, events: Sequence[Happening]) -> None:
    """Append the events to the log of a workspace, in batches.

    What replaces another by citation waits until that one has its hash.
    """
    lines: list[Line] = []
    pending: list[Entry] = []
    with closing(Eventloom(str(folder / ".eventloom"), begin=find_workspace(str(made_folder(folder))).claim)) as loom:
        for event in events:
            if len(pending) == BATCH or event.replaces > len(lines):
                lines += loom.append(session, pending)
                pending = []
            payload = event.payload
            if event.replaces:
                line = lines[event.replaces - 1]
                payload = {**payload, "supersedes": str(Citation(session, line.seq, line.hash))}
            entry = admit(event.type, event.actor, payload)
            if "redacted" in entry.fields:
                raise RuntimeError(f"taken for a secret: {payload}")
            pending.append(entry)
        loom.append(session, pending)


class Ours:
    """`zaxy.memory.Memory` over the log of one session."""

    def __init__(self, folder: Path, session: str, sizes: BlockSizes) -> None:
        self._memory = Memory.open(folder)
        self._memory.recall.texts.sizes = sizes
        self._session = session

    def search(self, text: str, limit: int) -> list[int]:
        """The seqs of the results, best first; an event that comes back in several rows counts once."""
        answer = self._memory.query(text, session=self._session, limit=limit, max_tokens=ROOM)
        if answer.warnings:
            raise RuntimeError(f"memory warns: {answer.warnings}")
        return list(dict.fromkeys(row.seq for row in answer.results))

    def close(self) -> None:
        self._memory.close()


class Workbench:
    """Builds one memory after another, each in a folder of its own."""

    def __init__(self, folder: Path, sizes: BlockSizes | None = None) -> None:
        self._folder = folder
        self._sizes = sizes or BlockSizes()
        self._numbers = count()

    def over(self, session: str, events: Sequence[Happening]) -> Ours:
        folder = self._folder / str(next(self._numbers))
        write_log(folder, session, events)
        return Ours(folder, session, self._sizes)
