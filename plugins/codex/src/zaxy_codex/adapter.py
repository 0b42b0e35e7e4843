"""The capture adapter: Codex's sessions of a workspace, read by position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zaxy.api import InvalidRequest, Observation, ProviderContext, Reading, Source, ZaxyError
from zaxy_codex.belonging import LOOKED_AT_ONCE, Folders, Known, folder_of, is_within
from zaxy_codex.copied import begun, was_copied
from zaxy_codex.lines import Line, begins_a_line, line_at, lines_from, parsed
from zaxy_codex.observed import Observed, clean, utc
from zaxy_codex.origins import Origin
from zaxy_codex.records import Session, meaning
from zaxy_codex.rollouts import Rollout, codex_home, find_rollouts
from zaxy_codex.state import State, mark_of, state_of

BYTES_AT_ONCE = 16 << 20
"""Of a file in one reading: a call must come back within its budget, also where nothing is to be observed."""
MAX_CALLS_REMEMBERED = 1024
WAITS = (b"function_call", b"custom_tool_call", b"local_shell_call")


@dataclass(frozen=True, slots=True)
class CodexSource(Source):
    """A session file, and the workspace whose part of it is wanted."""

    workspace: str = ""


class CodexSessions:
    """Keeps nothing that it could not find again: what it remembers only saves opening files again."""

    def __init__(self, context: ProviderContext) -> None:
        self._home = codex_home(context.settings.get("CODEX_HOME"))
        self._folders = Folders()
        self._rollouts: dict[str, Rollout] = {}
        self._calls: dict[tuple[str, int], Mapping[str, Any]] = {}
        self._open: dict[str, tuple[int, Iterator[Line]]] = {}

    def sources(self, workspace: Path) -> list[Source]:
        self._rollouts = find_rollouts(self._home)
        found: list[Source] = []
        within: dict[str, bool] = {}
        room = LOOKED_AT_ONCE
        for rollout in self._rollouts.values():
            known = Known()
            with suppress(ZaxyError):  # it has just been compressed or moved: next time it is found elsewhere
                known, room = self._folders.of(rollout, room)
            if any(_cached(folder, workspace, within) for folder in known.folders):
                found.append(_source(rollout, known, workspace))
        return found

    def read(self, source: Source, mark: str, limit: int) -> Reading:
        if not isinstance(source, CodexSource):
            raise InvalidRequest(f"{source.id} is not a source of Codex's", "Hand over what sources() gave.")
        state, known_file = state_of(mark)
        path = self._path_of(source)
        file = _file_state(path)
        if known_file is not None and known_file == file:
            return Reading((), mark, done=True)
        if source.id not in self._open and not begins_a_line(path, state.offset):
            state = State()
        return self._read(source, path, file=file, state=state, limit=limit)

    def _read(
        self, source: CodexSource, path: Path, *, file: tuple[int, int] | None, state: State, limit: int
    ) -> Reading:
        observations: list[Observation] = []
        skipped: Counter[str] = Counter()
        within: dict[str, bool] = {}
        workspace = Path(source.workspace)
        session = Session(source.workspace, lambda place: self._call_at(source.id, path, place))
        end = state.offset + BYTES_AT_ONCE
        while (line := self._next_line(source.id, path, state.offset)) is not None:
            record = parsed(line.data)
            if any(word in line.data for word in WAITS):
                self._remember(source.id, line.offset, record)
            after, found = state, list[Observed]()
            if record.get("type") == "session_meta":
                after = self._begin(record, state)
            else:
                copied, after = was_copied(record, state, self._line_of)
                folder = "" if copied else folder_of(record)
                after = after._replace(folder=folder) if folder else after
                if not copied and _cached(after.folder, workspace, within):
                    after, found, unknown = meaning(record, after, session)
                    skipped.update([unknown] if unknown else [])
            room = limit - len(observations)
            fresh = found[state.given : state.given + room]
            observations += [
                _observation(
                    one, source, offset=line.offset, number=state.given + number, record=record, folder=after.folder
                )
                for number, one in enumerate(fresh)
            ]
            if state.given + len(fresh) < len(found):
                self._close(source.id)  # the record is read once more
                return _reading(observations, state._replace(given=state.given + len(fresh)), skipped)
            state = after._replace(offset=line.end, given=0)
            if len(observations) >= limit or state.offset >= end:
                return _reading(observations, state, skipped)
        self._close(source.id)
        return Reading(tuple(observations), mark_of(state, file), done=True, skipped=skipped)

    def _begin(self, record: Mapping[str, Any], state: State) -> State:
        """The first one tells whose session it is; one of another session was copied with what follows it."""
        given = record.get("payload")
        payload: Mapping[str, Any] = given if isinstance(given, dict) else {}
        if not state.thread:
            state = begun(payload, utc(record.get("timestamp")), state)
            if state.parent and self._rollout_of(state.parent) is None:
                state = state._replace(parent="")
        elif state.thread != str(payload.get("id") or payload.get("session_id")):
            return state
        return state._replace(folder=folder_of(dict(record)) or state.folder)

    # Files

    def _path_of(self, source: CodexSource) -> Path:
        """Where the file is now: it may have been compressed or archived since it was found."""
        if source.path.exists():
            return source.path
        self._close(source.id)
        moved = find_rollouts(self._home).get(source.id.removeprefix("codex:"))
        return moved.path if moved else source.path

    def _rollout_of(self, thread: str) -> Rollout | None:
        if thread not in self._rollouts:
            self._rollouts = find_rollouts(self._home)
        known = self._rollouts.get(thread)
        return known or next((one for one in self._rollouts.values() if one.thread == thread), None)

    def _line_of(self, thread: str, offset: int) -> Line | None:
        """A line of the session that another one is a copy of."""
        rollout = self._rollout_of(thread)
        if rollout is None:
            return None
        try:
            return self._next_line(f"copied from {thread}", rollout.path, offset)
        except ZaxyError:
            return None

    def _next_line(self, name: str, path: Path, offset: int) -> Line | None:
        """The line at an offset. The file stays open for the one that follows it: compressed ones are slow to enter."""
        reached, lines = self._open.get(name, (-1, None))
        if lines is None or reached != offset:
            self._close(name)
            lines = lines_from(path, offset)
        line = next(lines, None)
        if line is None:
            self._open.pop(name, None)
            return None
        self._open[name] = (line.end, lines)
        return line

    def _close(self, name: str) -> None:
        _, lines = self._open.pop(name, (0, None))
        if lines is not None:
            lines.close()  # type: ignore[attr-defined]

    # Calls that wait for their results

    def _remember(self, name: str, offset: int, record: Mapping[str, Any]) -> None:
        payload = record.get("payload")
        if isinstance(payload, dict) and not str(payload.get("type")).endswith("_output"):
            if len(self._calls) >= MAX_CALLS_REMEMBERED:
                self._calls.pop(next(iter(self._calls)))
            self._calls[(name, offset)] = payload

    def _call_at(self, name: str, path: Path, offset: int) -> Mapping[str, Any]:
        known = self._calls.get((name, offset))
        if known is None:
            payload = parsed(line_at(path, offset)).get("payload")
            known = payload if isinstance(payload, dict) else {}
        return known


def _source(rollout: Rollout, known: Known, workspace: Path) -> CodexSource:
    origin = known.origin or Origin()
    about = {"agent": rollout.thread, "parent": origin.parent} if origin.subagent else {}
    return CodexSource(rollout.id, rollout.path, rollout.thread, workspace=str(workspace), **about)


def _observation(
    observed: Observed, source: Source, *, offset: int, number: int, record: Mapping[str, Any], folder: str
) -> Observation:
    place = f"{source.id}:{offset}"
    return Observation(
        observed.type,
        observed.actor,
        {**observed.payload, "source": source.id, "workspace": clean(folder)},
        key=f"{place}:{number}" if number else place,
        occurred_at=utc(record.get("timestamp")),
    )


def _reading(observations: list[Observation], state: State, skipped: Mapping[str, int]) -> Reading:
    return Reading(tuple(observations), mark_of(state), done=False, skipped=skipped)


def _cached(folder: str, workspace: Path, known: dict[str, bool]) -> bool:
    if folder not in known:
        known[folder] = is_within(folder, workspace)
    return known[folder]


def _file_state(path: Path) -> tuple[int, int] | None:
    """Size and time of a file: as long as both stay, it holds nothing new."""
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_size, status.st_mtime_ns)
