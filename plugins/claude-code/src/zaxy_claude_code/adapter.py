"""The capture adapter: finds Claude Code's sessions of a workspace, and reads on in them from a mark."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, NamedTuple

from zaxy.api import Observation, ProviderContext, Reading, Source, Unavailable
from zaxy_claude_code.lines import Line, complete_lines, fingerprint
from zaxy_claude_code.records import (
    CLIENT,
    NOTHING,
    TURN,
    Place,
    Record,
    answered_by,
    calls_of,
    is_passed_over,
    observations_of,
)
from zaxy_claude_code.session_files import Head, SessionFile, belongs_to, head_of, session_files
from zaxy_claude_code.tool_use import Call

MAX_WAITING = 128
"""Calls that were interrupted never get a result; the oldest are given up."""


BYTES_AT_ONCE = 16 << 20
"""Of a file in one reading: a call must come back within its budget, also where nothing is to be observed."""


class Mark(NamedTuple):
    """How far a session was read."""

    offset: int = 0
    given: int = 0
    """How many observations of the record at the offset were given already."""
    turns: int = 0
    """How many turns were read before."""
    fingerprint: str = ""
    waiting: Mapping[str, int] = MappingProxyType({})
    """The calls that have no result yet, and where their records stand."""

    def as_text(self) -> str:
        return json.dumps([*self[:-1], dict(self.waiting)], separators=(",", ":"))


def mark_from(text: str) -> Mark:
    """The mark that a text was made from; the start for a text that cannot be read."""
    try:
        offset, given, turns, found, waiting = json.loads(text)
        calls = {str(call): int(at) for call, at in waiting.items()}
        mark = Mark(int(offset), int(given), int(turns), str(found), calls)
    except (ValueError, TypeError, AttributeError, OverflowError):
        return Mark()
    return mark if min(mark.offset, mark.given, mark.turns, *mark.waiting.values()) >= 0 else Mark()


class ClaudeCodeSessions:
    def __init__(self, context: ProviderContext) -> None:
        """Keeps nothing that matters: whatever a reading needs in order to go on is in its mark."""
        self._config_folder = Path(str(context.settings.get("CLAUDE_CONFIG_DIR") or "~/.claude"))
        self._heads: dict[Path, Head] = {}

    def sources(self, workspace: Path) -> list[Source]:
        try:
            config_folder = self._config_folder.expanduser()
        except RuntimeError:  # there is no home folder
            return []
        found = (self._source(file, workspace) for file in session_files(config_folder, workspace))
        return [source for source in found if source is not None]

    def read(self, source: Source, mark: str, limit: int) -> Reading:
        try:
            with source.path.open("rb") as file:
                begun = mark_from(mark)
                found = fingerprint(file, begun.offset)
                if begun.offset and (not found or found != begun.fingerprint):
                    begun = Mark()  # cut, rewritten or replaced: records that were read before have the same keys
                return SessionReader(file, source, begun).read(limit)
        except FileNotFoundError:  # Claude Code removes old sessions
            return Reading((), mark, done=True)
        except OSError as error:
            raise Unavailable(
                f"{source.path.name} cannot be read: {error.strerror}",
                f"See that {source.path} may be read by you.",
            ) from error

    def _source(self, file: SessionFile, workspace: Path) -> Source | None:
        """A subagent belongs where it was started itself, as a session does."""
        head = self._heads.get(file.path) or head_of(file.path)
        if head is None:
            return None
        self._heads[file.path] = head
        if not belongs_to(head.folder, workspace):
            return None
        name, session = f"{CLIENT}:{file.id}", file.session or head.session
        if not file.agent:
            return Source(name, file.path, session)
        return Source(name, file.path, f"{session}/{file.agent}", agent=file.agent, parent=session)


class SessionReader:
    """One reading of a session's file from a mark on."""

    def __init__(self, file: BinaryIO, source: Source, mark: Mark) -> None:
        self._file = file
        self._session = source.session
        self._of_subagent = bool(source.agent)
        self._mark = mark
        self._waiting = dict(mark.waiting)
        self._calls: dict[str, Call] = {}

    def read(self, limit: int) -> Reading:
        taken: list[Observation] = []
        skipped: Counter[str] = Counter()
        offset, given, done = self._mark.offset, self._mark.given, True
        turns, enough = self._mark.turns, offset + BYTES_AT_ONCE
        for line in complete_lines(self._file, offset):
            room = limit - len(taken)
            if room <= 0 or line.offset >= enough:
                done = False
                break
            unknown: Counter[str] = Counter()
            record = self._record(line, unknown)
            place = Place(self._session, line.offset, turns, self._of_subagent)
            observations = observations_of(record, place, self._call, unknown)
            taken += observations[given : given + room]
            if len(observations) > given + room:
                given += room
                done = False
                break
            self._remember(record, line.offset)
            skipped.update(unknown)
            turns += any(observation.type == TURN for observation in observations)
            offset, given = line.end, 0
        mark = Mark(offset, given, turns, fingerprint(self._file, offset), self._waiting)
        return Reading(tuple(taken), mark.as_text(), done, dict(skipped))

    def _call(self, identity: str) -> Call | None:
        """A call that waits for its result, from its own record if an earlier reading passed it."""
        if identity not in self._waiting:
            return None
        if identity not in self._calls:
            line = next(complete_lines(self._file, self._waiting[identity]), None)
            self._calls.update(calls_of(self._record(line, Counter())) if line else {})
        return self._calls.get(identity)

    def _record(self, line: Line, unknown: Counter[str]) -> Record:
        record = _parsed(line.data, unknown)
        return NOTHING if is_passed_over(record, self._of_subagent) else record

    def _remember(self, record: Record, offset: int) -> None:
        for identity in answered_by(record):
            self._waiting.pop(identity, None)
            self._calls.pop(identity, None)
        for identity, call in calls_of(record).items():
            self._waiting[identity] = offset
            self._calls[identity] = call
        while len(self._waiting) > MAX_WAITING:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            self._calls.pop(oldest, None)


def _parsed(line: bytes | None, unknown: Counter[str]) -> Record:
    """The record of a line; one of a silent kind for a line that holds none, which is counted."""
    if line is None:
        unknown["a line that is too long"] += 1
        return NOTHING
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        if line.strip():
            unknown["not a JSON object"] += 1
        return NOTHING
    return record
