"""Reads notes that a person or a program keeps in a workspace: the files `.notes/*.notes.jsonl`.

What a subagent noted for `today.notes.jsonl` is in `.notes/today/`, in a file that is named after the subagent.

Each line is one note, `{"text": "Tea at five.", "author": "Ada", "time": "2026-06-15T17:00:00Z"}`; only the text is
required. Lines are added at the end and never changed, so a note's place in its file says which one it is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from zaxy.api import Observation, ProviderContext, Reading, Source, Unavailable

ENDING = ".notes.jsonl"


class Adapter:
    def __init__(self, context: ProviderContext) -> None:
        """Keeps nothing: whatever a reading needs in order to go on is in its mark."""

    def sources(self, workspace: Path) -> list[Source]:
        notes = workspace / ".notes"
        own = [Source(f"notes:{file.name}", file, _name(file)) for file in sorted(notes.glob(f"*{ENDING}"))]
        return [*own, *(_of_subagent(file) for file in sorted(notes.glob(f"*/*{ENDING}")))]

    def read(self, source: Source, mark: str, limit: int) -> Reading:
        offset, turn = (int(number) for number in (mark or "0:0").split(":"))
        observations: list[Observation] = []
        skipped: Counter[str] = Counter()
        for line in _complete_lines(source.path, offset):
            if len(observations) == limit:
                return Reading(tuple(observations), f"{offset}:{turn}", done=False, skipped=skipped)
            note = _parsed(line)
            if isinstance(note.get("text"), str):
                observations.append(_observation(note, source, offset, turn))
            else:
                skipped[str(note.get("kind", "unknown"))] += 1
            offset += len(line)
            turn += 1
        return Reading(tuple(observations), f"{offset}:{turn}", done=True, skipped=skipped)


def _name(file: Path) -> str:
    return file.name.removesuffix(ENDING)


def _of_subagent(file: Path) -> Source:
    """It is recorded in a session of its own, since it names its agent."""
    parent, agent = file.parent.name, _name(file)
    return Source(f"notes:{parent}/{file.name}", file, f"{parent}/{agent}", agent=agent, parent=parent)


def _complete_lines(path: Path, offset: int) -> Iterator[bytes]:
    """The lines from an offset on, without a last one that has no line end yet: its writer is not finished."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            yield from (line for line in file if line.endswith(b"\n"))
    except OSError as error:
        raise Unavailable(f"{path.name} cannot be read: {error.strerror}", "Check that it exists.") from error


def _parsed(line: bytes) -> Mapping[str, object]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _observation(note: Mapping[str, object], source: Source, offset: int, turn: int) -> Observation:
    return Observation(
        type="transcript.turn",
        actor=str(note.get("author") or "user"),
        payload={"role": "user", "content": note["text"], "source": source.id, "turn_index": turn},
        key=f"{source.id}:{offset}",
        occurred_at=_utc(note.get("time")),
    )


def _utc(time: object) -> str:
    """The time as the log writes times; empty where none is given, or one without a zone, which could be any moment."""
    try:
        moment = datetime.fromisoformat(str(time))
        utc = moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return ""
    return utc if moment.tzinfo else ""
