"""Rows of the doctor for missions that need somebody."""

from __future__ import annotations

from collections.abc import Sequence

from zaxy.api import Checkup, Finding, MemoryAccess, ProviderContext, ZaxyError
from zaxy.api.health import ERROR, OK, WARNING
from zaxy_coordinate.fold import MISSION
from zaxy_coordinate.logs import MissionLogs
from zaxy_coordinate.missions import Missions

NAME = "missions"
MAX_SESSIONS = 200
"""Sessions in which missions are looked for."""


MAX_ROWS = 20


class MissionCheck:
    """Whether the logs of each mission can be folded, and whether what is remembered of them is what they say."""

    def __init__(self, context: ProviderContext) -> None:
        self._folder, self._workspace_id = context.state_dir / "missions", context.workspace_id

    def check(self, checkup: Checkup) -> Sequence[Finding]:
        if not checkup.has_memory:
            return [Finding(NAME, OK, "there is no memory yet")]
        with checkup.open_memory() as memory:
            started = [name for name in memory.sessions()[:MAX_SESSIONS] if _is_mission(memory, name)]
            rows = [self._row(memory, mission) for mission in started]
        needing = [row for row in rows if row.status != OK]
        if len(needing) > MAX_ROWS:
            left_out = f"{len(needing) - MAX_ROWS + 1} more missions need somebody"
            needing = [*needing[: MAX_ROWS - 1], Finding(NAME, WARNING, left_out, "zaxy coordinate status")]
        return needing or [Finding(NAME, OK, f"{len(started)} missions, and nothing in them needs a decision")]

    def _row(self, memory: MemoryAccess, mission: str) -> Finding:
        try:
            fresh = MissionLogs().state(memory, mission)
            kept = MissionLogs(str(self._folder), self._workspace_id).state(memory, mission)
        except ZaxyError as error:
            return Finding(NAME, ERROR, f"{mission}: {error.message}", error.remediation)
        if vars(fresh) != vars(kept):
            action = f"Delete {self._folder}: it is made again from the log."
            return Finding(NAME, ERROR, f"{mission}: what is remembered of it is not what its logs say", action)
        conflicts = len(Missions(memory).standings(fresh).conflicts)
        if conflicts:
            action = f"Decide them: zaxy coordinate review {mission}"
            return Finding(NAME, WARNING, f"{mission}: {conflicts} open conflicts between findings", action)
        return Finding(NAME, OK, mission)


def _is_mission(memory: MemoryAccess, session: str) -> bool:
    return bool(memory.latest(session, 1, types=(MISSION,)))
