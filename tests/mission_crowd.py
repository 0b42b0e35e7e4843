"""Sixteen processes that report to one mission at once; half of them for the same worker."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from faults.crashes import fork
from zaxy.memory import Memory
from zaxy_coordinate.logs import MissionLogs
from zaxy_coordinate.missions import Missions

CROWD, SHARED = "crowd", "many"
PROCESSES = 16
WORKERS = tuple(SHARED if number % 2 else f"w{number}" for number in range(PROCESSES))
"""Whom each process reports for."""


def all_report(folder: str, each: int) -> None:
    """In a child, which has imported everything: start a mission, and let all report at the same moment.

    Prints what was acknowledged: the id of each finding and what it says.
    """
    place, errors = Path(folder, "here"), str(Path(folder, "errors"))
    place.mkdir()
    with Memory.open(place) as memory:
        missions = Missions(memory)
        missions.start(CROWD, "Count everything")
        for worker in dict.fromkeys(WORKERS):
            missions.create_worker(CROWD, worker)
    go = time.monotonic() + 0.5
    pids = [fork(lambda n=number: _report(place, n, each, go), errors) for number in range(PROCESSES)]  # type: ignore[misc]
    for pid in pids:
        os.waitpid(pid, 0)
    assert not os.path.exists(errors), Path(errors).read_text()
    print(json.dumps([json.loads((place / f"acknowledged-{number}").read_text()) for number in range(PROCESSES)]))


def _report(place: Path, number: int, each: int, go: float) -> None:
    told: list[dict[str, Any]] = []
    with Memory.open(place) as memory:
        missions = Missions(memory, MissionLogs(str(place / f"state-{number}"), "w"))
        time.sleep(max(0.0, go - time.monotonic()))
        for turn in range(each):
            summary = f"Process {number} counted {turn}"
            claim = {"claim_key": f"{WORKERS[number]} {turn}", "claim_value": str(number)}
            reply = missions.report_finding(CROWD, WORKERS[number], summary, **claim)
            told.append({"finding_id": reply["finding_id"], "summary": summary})
    (place / f"acknowledged-{number}").write_text(json.dumps(told))
