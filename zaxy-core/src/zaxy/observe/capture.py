"""One pass over what clients have written since the last one: each observation is appended once.

An observation's key says where it came from, so reading something again adds nothing. The marks only save the work:
deleting them loses no event and records none twice.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from zaxy.api.models import Observation, Reading, Source
from zaxy.atomic_write import atomic_write
from zaxy.errors import InternalError, InvalidRequest, NotFound, ZaxyError
from zaxy.eventloom.admission import MAX_KEY_CHARS, admit
from zaxy.eventloom.canonical import encode
from zaxy.eventloom.drafts import AdmittedDraft, draft_of
from zaxy.eventloom.log import utc_now
from zaxy.eventloom.opening import open_event_log
from zaxy.extract.observations import OBSERVATIONS
from zaxy.extract.times import utc_text
from zaxy.observe.hook_events import bounded
from zaxy.observe.ignored import Ignored, read_ignored
from zaxy.observe.recording import HOOKS, NOTHING, read_recording
from zaxy.observe.subagent_sessions import COMPLETED, end_for_parent, session_of
from zaxy.plugins.families import Families
from zaxy.plugins.host import BoundProvider, PluginHost
from zaxy.plugins.roster import advice_on, load_roster
from zaxy.security.paths import own_folder_within, unusable_folder
from zaxy.security.private_text import is_all_private
from zaxy.security.redaction import redact
from zaxy.security.small_files import read_small_json
from zaxy.settings import Settings
from zaxy.workspace import Workspace, default_session

POINT = "capture_adapters"
PAUSED, OLDER, PRIVATE, IGNORED = "paused", "older", "private", "ignored"
FOLDER = os.path.join("runtime", "capture")
TURN = "transcript.turn"
AT_ONCE = 500
"""Observations of one reading, which become durable together."""
MAX_BATCH = 8 << 20
MAX_MARK_BYTES = 16 << 20
MAX_PROBLEMS = 20
MAX_PROBLEM_CHARS = 400


def capture_folder(eventloom: str) -> str:
    """Where capture keeps its own files, made with what is above it."""
    return own_folder_within(eventloom, FOLDER, create=True)


Progress = Callable[[str, int, int], None]
"""Takes, before a source is read, the adapter, and how many of its sources were read, of how many."""


class Captured(NamedTuple):
    """What a pass came to."""

    new: dict[str, int]
    """How many events of each type were appended."""
    known: int
    """How many observations were in the log already."""
    refused: int
    """How many the log does not take; `problems` says why."""
    skipped: dict[str, int]
    """How many records of each kind no adapter knows."""
    sources: int
    problems: tuple[str, ...]
    subagents: dict[str, int]
    """Of the new events, how many are in each session of a subagent."""
    left_out: dict[str, int]
    """How many observations were not wanted: `hooks` record them, recording was `paused`, they are `older`, all
    that was said was `private`, or `.zaxyignore` keeps them out: `ignored`."""

    @property
    def appended(self) -> int:
        return sum(self.new.values())

    def sessions(self, own: str) -> set[str]:
        """Those that have new events; `own` is the one of the capture itself."""
        return {*self.subagents, *([own] if self.appended > sum(self.subagents.values()) else [])}


def check_that_something_reads(workspace: Workspace, wanted: str = "") -> None:
    """Refuse to watch where no adapter is installed: `wanted` is the one that the project names."""
    roster = load_roster(Settings(stored=workspace.stored_settings()))
    if any(provided.point == POINT for _, provided in roster.providers):
        return
    raise NotFound(
        "no package is in use that reads what a client keeps of its sessions, so nothing can be captured",
        advice_on(wanted, roster) or "Install the package of your client. Hooks work without one: zaxy hooks --help",
    )


class Capture:
    """The capture of one workspace, into its default session unless another is named, and beside it the subagents'."""

    def __init__(
        self, workspace: Workspace, session: str = "", adapters: Sequence[str] = (), *, since: str = ""
    ) -> None:
        """`adapters`: only these, which must be there. Without names, all that are installed and work.

        `since`: a time, and nothing that happened before it is taken. Then everything is read from the start, and no
        mark is kept: what was left out can still be had.
        """
        self.workspace = workspace
        self._since = since
        self._named = session
        self.session = session or default_session(workspace)
        self._names = adapters
        self._host = PluginHost.of(workspace)
        self._log = open_event_log(workspace, lambda: self._host)
        self._marks = Marks(workspace.eventloom, kept=not since)
        self._families = Families(lambda: self._host.roster)
        self._recording = NOTHING
        self._ignored = Ignored(workspace.root)

    def adapters(self) -> list[BoundProvider]:
        if self._names:
            return [self._host.get(POINT, name) for name in self._names]
        return self._host.all(POINT)

    def run(self, stopped: Callable[[], bool] = lambda: False, progress: Progress = lambda *_: None) -> Captured:
        """Read what is new. An adapter that fails is reported and left out; the log's own errors are raised."""
        tally = _Tally()
        self.session = self._named or default_session(self.workspace)  # memory may have begun since the last pass
        self._recording = read_recording(self.workspace.eventloom)
        self._ignored = read_ignored(self.workspace.root)
        for adapter in self.adapters():
            try:
                sources = list(adapter.call("sources", Path(self.workspace.root)))
            except (ZaxyError, TypeError) as error:
                tally.problem(adapter.name, error)
                continue
            for at, source in enumerate(sources):
                if stopped():
                    return tally.captured()
                progress(adapter.name, at, len(sources))
                tally.sources += 1
                self._read(adapter, source, tally, stopped)
        for notice in () if self._names else self._host.notices:
            tally.problem("", notice)
        return tally.captured()

    def close(self) -> None:
        self._log.close()

    def _read(self, adapter: BoundProvider, source: Source, tally: _Tally, stopped: Callable[[], bool]) -> None:
        """Take one source to its end, page by page; the mark is kept when its page is durable."""
        name = f"{adapter.name}/{source.id}" if isinstance(source, Source) else adapter.name
        try:
            session = self._session_of(adapter.name, source)
        except ZaxyError as error:
            tally.problem(name, error)
            return
        mark_name = name if session == self.session else f"{name} as a subagent"
        while not stopped():
            mark = self._marks.get(mark_name)
            try:
                reading = _checked(adapter.call("read", source, mark, AT_ONCE))
            except ZaxyError as error:
                tally.problem(name, error)
                return
            for goes_to, observations in self._by_session(source, session, reading.observations):
                self._append(adapter.name, goes_to, observations=observations, tally=tally)
            tally.skipped.update(reading.skipped)
            self._marks.keep(mark_name, reading.mark)
            if reading.done:
                return
            if reading.mark == mark:
                tally.problem(name, "it is not done, and its mark does not move")
                return

    def _session_of(self, adapter: str, source: Source) -> str:
        """Whatever is no source is left to the adapter, which says so itself."""
        return session_of(source, self.session, adapter) if isinstance(source, Source) else self.session

    def _by_session(
        self, source: Source, session: str, observations: Sequence[Observation]
    ) -> list[tuple[str, Sequence[Observation]]]:
        """All of it goes to the source's session. Only the end of a subagent goes to its parent's."""
        if session == self.session:
            return [(session, observations)]
        ends = [one for one in observations if _is_end(one)]
        for_parent = [end_for_parent(end, source, session=session, parent=self.session) for end in ends[:1]]
        return [(session, [one for one in observations if not _is_end(one)]), (self.session, for_parent)]

    def _append(self, adapter: str, session: str, *, observations: Sequence[Observation], tally: _Tally) -> None:
        drafts: list[AdmittedDraft] = []
        for observation in observations:
            try:
                draft = _draft(adapter, observation, self._families)
                if reason := self._why_left_out(adapter, observation, draft):
                    tally.left_out[reason] += 1
                    continue
                drafts.append(draft)
            except ZaxyError as error:
                tally.refused += 1
                tally.problem(adapter, error)
        for batch in _batches(drafts):
            self._append_batch(session, batch, tally)

    def _why_left_out(self, adapter: str, observation: Observation, draft: AdmittedDraft) -> str:
        """Why something is not to be recorded, by when it happened and what it is; empty for what is."""
        if _is_private(observation):
            return PRIVATE
        if self._ignored.leaves_out(observation.type, observation.payload):
            return IGNORED
        at = utc_text(draft.payload.get("occurred_at")) or utc_now()
        if at < self._since:
            return OLDER
        if self._recording.was_paused(at):
            return PAUSED
        by_hooks = draft.type in OBSERVATIONS and self._recording.recorder(adapter, at) == HOOKS
        return HOOKS if by_hooks else ""

    def _append_batch(self, session: str, drafts: Sequence[AdmittedDraft], tally: _Tally) -> None:
        try:
            appended = self._log.append_each(session, drafts)
        except ZaxyError as error:
            if error.code != "conflict":
                raise
            if len(drafts) == 1:
                # The same place was read otherwise before, by an older adapter or an older redaction: it is known.
                tally.known += 1
                return
            middle = len(drafts) // 2
            self._append_batch(session, drafts[:middle], tally)
            self._append_batch(session, drafts[middle:], tally)
            return
        for event, new in appended:
            if not new:
                tally.known += 1
                continue
            tally.new[event.type] += 1
            if session != self.session:
                tally.subagents[session] += 1


class _Tally:
    def __init__(self) -> None:
        self.new: Counter[str] = Counter()
        self.known = self.refused = self.sources = 0
        self.skipped: Counter[str] = Counter()
        self.subagents: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self._problems: dict[str, None] = {}

    def problem(self, where: str, error: object) -> None:
        if len(self._problems) < MAX_PROBLEMS:
            said = error.message if isinstance(error, ZaxyError) else str(error)
            self._problems[without_secrets(f"{where}: {said}" if where else said)] = None

    def captured(self) -> Captured:
        return Captured(
            dict(self.new),
            self.known,
            self.refused,
            dict(self.skipped),
            self.sources,
            tuple(self._problems),
            dict(self.subagents),
            dict(self.left_out),
        )


def without_secrets(message: str) -> str:
    """One printable line for a log or a status: an adapter's error may repeat what it was reading."""
    said = str(redact({"message": message})[0]["message"])
    line = "".join(character if character.isprintable() else " " for character in said)
    return line if len(line) <= MAX_PROBLEM_CHARS else f"{line[: MAX_PROBLEM_CHARS - 1]}…"


def _checked(reading: object) -> Reading:
    if (
        isinstance(reading, Reading)
        and isinstance(reading.mark, str)
        and isinstance(reading.observations, tuple | list)
        and isinstance(reading.skipped, Mapping)
    ):
        return reading
    raise InternalError(f"read() gave a {type(reading).__name__} that is no Reading", "Upgrade the adapter's package.")


def _is_end(observation: object) -> bool:
    """Whether it tells that a subagent has ended. What is malformed stays where it is, and is refused there."""
    return (
        isinstance(observation, Observation)
        and observation.type == COMPLETED
        and isinstance(observation.payload, Mapping)
    )


def _draft(adapter: str, observation: Observation, families: Families) -> AdmittedDraft:
    """An observation as the log takes it: secrets out, then texts cut, since half a secret is not recognised."""
    if not isinstance(observation, Observation) or not isinstance(observation.payload, Mapping):
        raise InvalidRequest("an observation is not one", "Upgrade the adapter's package.")
    if not isinstance(observation.key, str) or not observation.key:
        raise InvalidRequest("an observation has no key", "Upgrade the adapter's package.")
    payload: dict[str, Any] = dict(observation.payload)
    if utc_text(observation.occurred_at):
        payload["occurred_at"] = observation.occurred_at
    key = _key(adapter, observation.key)
    entry = admit(observation.type, observation.actor, payload, families=families, idempotency_key=key)
    if observation.type in OBSERVATIONS and (short := bounded(entry.payload)) != entry.payload:
        entry = entry._replace(payload=short, canonical_payload=encode(short))
    return draft_of(entry)


def _is_private(observation: Observation) -> bool:
    """Whether nothing is left of a turn without what is private in it."""
    return observation.type == TURN and is_all_private(str(observation.payload.get("content")))


def _key(adapter: str, key: str) -> str:
    """The adapter is part of it: two of them may call different places alike."""
    whole = f"{adapter}/{key}"
    if len(whole) <= MAX_KEY_CHARS:
        return whole
    return f"{adapter}/sha256:{sha256(key.encode('utf-8', 'replace')).hexdigest()}"


def _batches(drafts: Sequence[AdmittedDraft]) -> Iterator[Sequence[AdmittedDraft]]:
    batch: list[AdmittedDraft] = []
    size = 0
    for draft in drafts:
        length = len(draft.entry.canonical_payload)
        if batch and size + length > MAX_BATCH:
            yield batch
            batch, size = [], 0
        batch.append(draft)
        size += length
    if batch:
        yield batch


class Marks:
    """How far each source was read, a small file for each. What is missing or broken means: from the start."""

    def __init__(self, eventloom: str, *, kept: bool = True) -> None:
        """Without `kept` they hold for this one object, and no file is read or written."""
        self._eventloom, self._is_kept = eventloom, kept
        self._folder = os.path.join(eventloom, FOLDER, "marks")
        self._known: dict[str, str] = {}

    def get(self, source: str) -> str:
        if source not in self._known:
            self._known[source] = self._read(source) if self._is_kept else ""
        return self._known[source]

    def keep(self, source: str, mark: str) -> None:
        if self.get(source) == mark:
            return
        self._known[source] = mark
        if not self._is_kept:
            return
        folder = own_folder_within(self._eventloom, os.path.join(FOLDER, "marks"), create=True)
        path = os.path.join(folder, _file_name(source))
        try:
            atomic_write(path, json.dumps({"source": source, "mark": mark}).encode())
        except OSError as error:
            del self._known[source]
            raise unusable_folder(self._folder, error) from None

    def _read(self, source: str) -> str:
        try:
            kept = read_small_json(os.path.join(self._folder, _file_name(source)), MAX_MARK_BYTES)
            return str(kept["mark"]) if kept["source"] == source else ""
        except (OSError, ValueError, KeyError, TypeError):
            return ""


def _file_name(source: str) -> str:
    return f"{sha256(source.encode('utf-8', 'replace')).hexdigest()[:32]}.json"
