"""What missions cost: the checkout, the brief and the ledger, each against its baseline in the same run; missions that
grow; and sixteen processes that report at once.

Measurements are interleaved and medians of CPU time compared, so that a busy machine slows both sides alike.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.log import Row, alternate, print_table, shown
from folders import made_folder
from zaxy.api.models import Draft
from zaxy.eventloom.admission import checked_entry
from zaxy.eventloom.record import make_line
from zaxy.memory import Memory
from zaxy_coordinate.fold import FINDING
from zaxy_coordinate.logs import MissionLogs
from zaxy_coordinate.missions import Missions
from zaxy_coordinate.reviews import Decision, decide

if os.name != "posix":
    sys.exit("bench:coordination forks, which only POSIX systems do")

MISSION = "big"
AT_ONCE = 16
PACKET = 200
"""Findings that are decided on at once."""
TIME = "2026-06-15T00:00:00.000000Z"
TURN = "I have read another part of the queue, and the retries are where the plan said that they would be. "


class Sizes(NamedTuple):
    workers: int
    findings: int
    small: int
    """Events of a mission, and of one that must answer as quickly; most of them are what workers have said."""
    large: int
    reports: int
    """Of each of the sixteen."""
    rounds: int


FULL = Sizes(workers=100, findings=10_000, small=1_000, large=100_000, reports=40, rounds=11)
QUICK = Sizes(workers=20, findings=2_000, small=1_000, large=20_000, reports=15, rounds=7)


# Missions to measure


def finding(worker: int, number: int) -> Draft:
    cases = number * worker % 97
    payload = {
        "mission_id": MISSION,
        "worker_id": f"w{worker}",
        "finding_id": f"w{worker}:finding:{number}",
        "summary": f"Module {number} of part {worker} handles {cases} cases of the retry queue",
        "claim_key": f"module {number} of part {worker}",
        "claim_value": str(cases),
        "evidence": [{"command": "pytest", "exit_code": 0, "reference": f"src/m{number}.py"}],
    }
    return Draft(FINDING, f"w{worker}", payload, idempotency_key=f"coordination:finding:{number}")


def reported(missions: Missions, workers: int, findings: int) -> None:
    """A mission with so many findings: all are accepted, and every second one is promoted."""
    missions.start(MISSION, "Find out everything about the retry queue")
    for worker in range(workers):
        missions.create_worker(MISSION, f"w{worker}")
        drafts = [finding(worker, number) for number in range(1, findings // workers + 1)]
        missions.memory.append_many(drafts, f"{MISSION}.w{worker}")
    names = list(missions.mission(MISSION).findings)
    for first in range(0, len(names), PACKET):
        taken = [Decision(name, "accepted", promote=not n % 2) for n, name in enumerate(names[first : first + PACKET])]
        decide(missions, MISSION, taken, actor="bench", decision_id=f"d{first}", details={})
    missions.handoff(MISSION, "All of it is decided")


def said(folder: Path, session: str, turns: int) -> None:
    """What a worker has said before, written without the cost of appending."""
    folder.mkdir(exist_ok=True, mode=0o700)
    prev, lines = None, []
    for seq in range(1, turns + 1):
        entry = checked_entry("transcript.turn", "assistant", {"role": "assistant", "content": f"{TURN}{seq}"})
        line = make_line(entry, session, seq=seq, prev=prev, time=TIME)
        prev = line.hash
        lines.append(line.data)
    path = os.open(folder / f"{session}.jsonl", os.O_WRONLY | os.O_CREAT, 0o600)
    with open(path, "wb") as file:
        file.write(b"\n".join(lines) + b"\n")


def opened(folder: Path) -> tuple[Memory, Missions]:
    memory = Memory.open(made_folder(folder))
    return memory, Missions(memory, MissionLogs(str(folder / "state"), "bench"))


def questions(workers: int) -> Iterator[str]:
    return cycle(f"How many cases of the retry queue does module 5 of part {n} handle?" for n in range(workers))


# The table


def reading(folder: Path, sizes: Sizes) -> Iterator[Row]:
    memory, missions = opened(folder)
    with closing(memory):
        reported(missions, sizes.workers, sizes.findings)
        memory.follow(MISSION)
        sessions = missions.mission(MISSION).sessions
        asked, asked_too, asked_more = (questions(sizes.workers) for _ in range(3))
        own, mission, all_of_it, brief, ledger, proven = alternate(
            sizes.rounds,
            lambda: memory.checkout(next(asked), MISSION),
            lambda: _expect(missions.checkout(MISSION, next(asked_too)), "current_facts"),
            lambda: missions.checkout(MISSION, next(asked_more), include_diagnostics=True),
            lambda: _expect(missions.merge_brief(MISSION), "findings"),
            lambda: _expect(missions.performance_ledger(MISSION), "workers"),
            lambda: [_prove(memory, session) for session in sessions],
        )
        yield from _rows_of_reading(sizes, own.cpu, mission.cpu, all_of_it.cpu)
        # A brief reads one page of rows however small the mission is: only a large one says what it costs beside that.
        judged = sizes is FULL
        for name, cost in (("brief", brief), ("ledger", ledger)):
            figures = f"{cost.cpu:.1f} ms against {proven.cpu:.0f}{'' if judged else '; judged in full runs only'}"
            yield Row(f"{name} / verify the mission's logs", cost.cpu / proven.cpu, 0.2, False, figures, judged)
        yield from _after_news(missions, memory, folder, sizes, proven.cpu)


def _rows_of_reading(sizes: Sizes, own: float, mission: float, all_of_it: float) -> Iterator[Row]:
    name = f"checkout of {sizes.findings:,} findings / memory's own"
    yield Row(name, mission / own, 2.0, False, f"{mission:.1f} ms against {own:.1f}")
    yield shown("checkout with diagnostics", f"{all_of_it:.1f} ms")


def _after_news(missions: Missions, memory: Memory, folder: Path, sizes: Sizes, proven: float) -> Iterator[Row]:
    """What is worked out again when somebody has reported, and when a process looks for the first time."""
    turn = iter(range(1_000_000))

    def report() -> None:
        missions.report_finding(MISSION, "w0", f"News number {next(turn)} of the retry queue")

    def look_again() -> None:
        report()
        missions.merge_brief(MISSION)

    reporting, news, kept, anew = alternate(
        5,
        report,
        look_again,
        lambda: MissionLogs(str(folder / "state"), "bench").state(missions.memory, MISSION),
        lambda: MissionLogs().state(missions.memory, MISSION),
    )
    yield shown("a report, and a report with a brief after it", f"{reporting.cpu:.1f} ms, {news.cpu:.1f}")
    figures = f"{kept.cpu:.0f} ms with what was remembered; {anew.cpu:.0f} from the log alone; verify {proven:.0f}"
    yield shown("the first look of a process", figures)


def growing(folder: Path, sizes: Sizes) -> Iterator[Row]:
    """Two missions with the same findings; in one of them the workers have talked more."""
    workers, findings = 10, 200
    places = []
    for count in (sizes.small, sizes.large):
        place = folder / str(count)
        place.mkdir()
        for worker in range(workers):
            said(place / ".eventloom", f"{MISSION}.w{worker}", (count - 2 * findings) // workers)
        memory, missions = opened(place)
        reported(missions, workers, findings)
        memory.follow(MISSION)
        places.append((memory, missions))
    (memory, small), (other, large) = places
    with closing(memory), closing(other):
        for name, read in READS:
            one, many = alternate(2 * sizes.rounds, lambda r=read: r(small), lambda r=read: r(large))
            figures = f"{many.cpu:.2f} ms against {one.cpu:.2f}"
            title = f"{name} at {sizes.large:,} events / at {sizes.small:,}"
            yield Row(title, many.cpu / one.cpu, 1.5, False, figures, bound=3.0)


READS: tuple[tuple[str, Callable[[Missions], Any]], ...] = (
    ("checkout", lambda missions: missions.checkout(MISSION, "How many cases does module 5 of part 3 handle?")),
    ("brief", lambda missions: missions.merge_brief(MISSION)),
    ("ledger", lambda missions: missions.performance_ledger(MISSION)),
)


def at_once(folder: Path, sizes: Sizes) -> Iterator[Row]:
    """Sixteen processes that report, each for a worker of its own, against one that reports as much.

    To know what contradicts what, each of them reads what the fifteen others write, which the one need not.
    """
    memory, missions = opened(folder)
    with closing(memory):
        missions.start(MISSION, "Find out everything at once")
        for worker in range(AT_ONCE + 1):
            missions.create_worker(MISSION, f"w{worker}")
    alone = _cpu_of([_fork(folder, AT_ONCE, AT_ONCE * sizes.reports)])
    together = _cpu_of([_fork(folder, worker, sizes.reports) for worker in range(AT_ONCE)])
    memory, missions = opened(folder)
    with closing(memory):
        found = len(missions.mission(MISSION).findings)
    if found != 2 * AT_ONCE * sizes.reports:
        raise RuntimeError(f"there are {found} findings")
    each = 1000 / (AT_ONCE * sizes.reports)
    figures = f"{together * each:.2f} ms a report against {alone * each:.2f}; {found:,} findings, none lost"
    yield Row(f"{AT_ONCE} processes that report / one", together / alone, 6.0, False, figures)


def _fork(folder: Path, worker: int, reports: int) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        memory, missions = opened(folder)
        with closing(memory):
            for turn in range(reports):
                missions.report_finding(MISSION, f"w{worker}", f"Part {worker} has {turn} cases")
        status = 0
    finally:
        os._exit(status)


def _cpu_of(pids: list[int]) -> float:
    """Seconds of CPU time that the processes took together."""
    spent = 0.0
    for pid in pids:
        _, status, used = os.wait4(pid, 0)
        if status:
            raise RuntimeError("a process that reported has failed")
        spent += used.ru_utime + used.ru_stime
    return spent


def _expect(reply: dict[str, Any], part: str) -> None:
    if not reply[part]:
        raise RuntimeError(f"there are no {part}")


def _prove(memory: Memory, session: str) -> None:
    if not memory.verify(session).ok:
        raise RuntimeError(f"{session} does not verify")


def measure(sizes: Sizes) -> Iterator[Row]:
    for part in (at_once, reading, growing):
        with TemporaryDirectory() as name:
            yield from part(Path(name).resolve(), sizes)


if __name__ == "__main__":
    print_table(measure(QUICK if "--quick" in sys.argv[1:] else FULL))
