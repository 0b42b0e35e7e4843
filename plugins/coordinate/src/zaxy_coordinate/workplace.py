"""What every operation on a mission works with: memory, the mission's state, and one way to write."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from zaxy.api import Conflict, Event, InvalidRequest, MemoryAccess, NotFound, as_package, event_reply
from zaxy_coordinate.fold import MissionState, Ref, ReportedFinding, Worker
from zaxy_coordinate.logs import MissionLogs
from zaxy_coordinate.standing import Standing, Standings

PACKAGE = "zaxy-coordinate"
DEFAULT_ACTOR = "coordinator"
MAX_READ = 1000
"""Events that are held for one call."""
MAX_NAMED = 8
"""Names that an error lists."""
_WORKER_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

Reply = dict[str, Any]


class Workplace:
    """Memory with the missions in it."""

    def __init__(self, memory: MemoryAccess, logs: MissionLogs | None = None) -> None:
        self.memory = as_package(memory, PACKAGE)
        self.logs = logs or MissionLogs()
        self._read: dict[str, Event] = {}

    def mission(self, mission_id: str) -> MissionState:
        """The state of a mission that was started, as it is now."""
        self._read.clear()
        state = self.logs.state(self.memory, mission_id)
        if state.created is None:
            raise NotFound(
                f"there is no mission {mission_id!r:.80}", "Start it with coordination_start, or name another one."
            )
        return state

    def standings(self, state: MissionState) -> Standings:
        return self.logs.standings(state)

    def standing(self, state: MissionState, finding_id: str) -> Standing:
        """Where one finding stands."""
        self.finding(state, finding_id)
        return self.standings(state).by_id[finding_id]

    def event(self, ref: Ref) -> Event:
        """An event of the log, read once for each mission and call."""
        if len(self._read) > MAX_READ:
            self._read.clear()
        found = self._read.get(ref.citation)
        if found is None:
            found = self._read[ref.citation] = self.memory.resolve(ref.citation)
        return found

    def words(self, ref: Ref) -> Mapping[str, Any]:
        """The payload of an event; nothing of one that was erased."""
        return self.event(ref).payload or {}

    # Looking up what a request names

    def worker(self, state: MissionState, worker_id: str) -> Worker:
        found = state.workers.get(worker_id)
        if found is None:
            known = ", ".join(sorted(state.workers)[:MAX_NAMED]) or "none yet"
            raise NotFound(
                f"{state.id} has no worker {worker_id!r:.80}",
                f"Its workers: {known}. Create one with coordination_worker_create.",
            )
        return found

    def finding(self, state: MissionState, finding_id: str) -> ReportedFinding:
        found = state.findings.get(finding_id)
        if found is None:
            raise NotFound(
                f"{state.id} has no finding {finding_id!r:.80}",
                "Take an id of coordination_merge_brief, such as w1:finding:1.",
            )
        return found

    # Writing

    def write(
        self,
        event_type: str,
        payload: Mapping[str, object],
        *,
        session: str,
        actor: str,
        key: str,
        sensitivity: str = "",
        whole: bool = False,
    ) -> Reply:
        """Append an event under a key that names what it does. The same again is the same event, and says so. Fields
        that say nothing are left out, unless it is to be written whole."""
        before = self.memory.head(session)
        event = self.memory.append(
            event_type,
            {name: value for name, value in payload.items() if whole or value not in (None, "", [], {})},
            actor=actor,
            session=session,
            sensitivity=sensitivity,
            idempotency_key=f"coordination:{key}",
        )
        if event.payload is None:
            raise Conflict("what was written under this name before has been erased", "Use another name.")
        return event_reply(event, replayed=event.seq <= before)

    def done_before(self, state: MissionState, request_key: str) -> Event | None:
        """What was written for a request with this key."""
        ref = state.requests.get(request_key) if request_key else None
        return self.event(ref) if ref else None


def check_worker_id(worker_id: str) -> str:
    if not _WORKER_ID.fullmatch(worker_id):
        raise InvalidRequest(
            f"{worker_id!r:.80} is not a worker's id", "Use 1 to 64 letters, digits, '_' and '-', such as w1."
        )
    return worker_id
