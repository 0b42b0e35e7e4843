from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from mission_steps import accept, promoted, report
from plain_fold import PlainMission
from random_missions import RandomMission

from zaxy import Memory
from zaxy.api import Event
from zaxy_coordinate import Missions, logs
from zaxy_coordinate.digests import claim_of
from zaxy_coordinate.fold import MissionState
from zaxy_coordinate.logs import MissionLogs

SEEDS = range(6)
STEPS = 50


def fresh(memory: Memory) -> dict[str, Any]:
    return vars(MissionLogs().state(memory, "port"))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_folded_bit_by_bit_is_what_is_folded_at_once(memory: Memory, seed: int) -> None:
    mission, kept = RandomMission(memory, seed), MissionLogs()
    for _ in range(STEPS):
        mission.step()
        if mission.random.random() < 0.4:
            kept.state(memory, "port")
    assert vars(kept.state(memory, "port")) == fresh(memory)


@pytest.mark.parametrize("seed", SEEDS)
def test_it_does_not_matter_in_which_order_the_workers_logs_are_read(memory: Memory, seed: int) -> None:
    mission = RandomMission(memory, seed)
    for _ in range(STEPS):
        mission.step()
    sessions = {name: [event for event, _ in memory.lines(name)] for name in memory.sessions()}
    parent = sessions.pop("port")
    states = [folded([*parent, *itertools.chain(*order)]) for order in itertools.permutations(sessions.values())]
    in_time = sorted([*parent, *itertools.chain(*sessions.values())], key=lambda event: (event.time, event.seq))
    workers_known = [*parent[:4], *(event for event in in_time if event not in parent[:4])]
    for state in (*states, folded(workers_known)):
        assert {**vars(state), "outdated": False} == fresh(memory)


def folded(events: list[Event]) -> MissionState:
    state = MissionState("port")
    for event in events:
        state.apply(event)
    return state


@pytest.mark.parametrize("seed", range(100, 108))
def test_brief_ledger_and_checkout_are_what_a_plain_fold_says(memory: Memory, seed: int) -> None:
    mission = RandomMission(memory, seed)
    for _ in range(STEPS):
        mission.step()
    plain, missions = PlainMission(memory), mission.missions
    brief = missions.merge_brief("port", max_tokens=200_000)
    assert [one["finding_id"] for one in brief["findings"]] == plain.brief()
    for one in brief["findings"]:
        name = one["finding_id"]
        own = (one["status"], one["authority"], one.get("duplicate_of", ""), one.get("stale", False))
        assert own == (plain.status(name), plain.authority(name), plain.duplicate_of(name), plain.is_stale(name))
        assert ("conflict_id" in one) == plain.is_in_conflict(name)
    assert {name: n for name, n in brief["counts"]["authority"].items() if n} == plain.authorities()
    assert len(brief["conflicts"]) == brief["counts"]["conflicts"] == plain.conflicts()
    ledger = missions.performance_ledger("port")
    for one in (*ledger["workers"], ledger["total"]):
        counted = plain.ledger(one.get("worker_id", ""))
        assert {name: one[name] for name in counted} == counted
    checkout = missions.checkout("port", max_tokens=200_000)
    assert [one["finding_id"] for one in checkout["current_facts"]] == plain.accepted()


# What is kept in a file


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where states are kept, after every event."""
    monkeypatch.setattr(logs, "SAVE_AFTER", 1)
    return tmp_path / "kept"


def kept(folder: Path, workspace: str = "w") -> MissionLogs:
    folder.mkdir(exist_ok=True)
    return MissionLogs(str(folder / "missions"), workspace)


class Counting:
    """Memory that counts the events it reads out."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.read = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._memory, name)

    def lines(self, session: str, **given: Any) -> Any:
        for pair in self._memory.lines(session, **given):
            self.read += 1
            yield pair


def read_with(logs: MissionLogs, memory: Memory) -> tuple[dict[str, Any], int]:
    counting = Counting(memory)
    return vars(logs.state(counting, "port")), counting.read  # type: ignore[arg-type]


@pytest.fixture
def mission(missions: Missions) -> Missions:
    for number in range(5):
        promoted(missions, f"Fact {number}", evidence=[{"path": "src/a.py"}], claim_key=f"key {number}")
    missions.handoff("port", "Half is done")
    missions.record_synthesis_artifact("port", missions.checkout("port"))
    missions.apply_approval("port", [{"finding_id": report(missions, "More", "w2"), "status": "accepted"}])
    return missions


def test_a_kept_state_is_used_and_brought_up_to_the_log(mission: Missions, memory: Memory, folder: Path) -> None:
    kept(folder).state(memory, "port")
    report(mission, "One more")
    state, read = read_with(kept(folder), memory)
    assert state == fresh(memory)
    assert read == 4, "the last event of each of three logs, and the new one"


@pytest.mark.parametrize("change", ["edited", "of another mission", "of another workspace", "of another user", "cut"])
def test_a_kept_state_that_is_not_its_own_is_not_used(
    mission: Missions, memory: Memory, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    kept(folder).state(memory, "port")
    file, workspace = folder / "missions" / "port.state", "w"
    data = file.read_bytes()
    if change == "edited":
        file.write_bytes(data.replace(b"accepted", b"rejected"))
    elif change == "cut":
        file.write_bytes(data[:-10])
    elif change == "of another mission":
        mission.start("moon", "Fly there")
        kept(folder).state(memory, "moon")
        shutil.copy(folder / "missions" / "moon.state", file)
    elif change == "of another workspace":
        workspace = "other"
    else:
        monkeypatch.setenv("ZAXY_STATE_DIR", str(tmp_path / "somebody"))
    state, read = read_with(kept(folder, workspace), memory)
    everything = sum(memory.head(session) for session in ("port", "port.w1", "port.w2"))
    assert (state, read) == (fresh(memory), everything)
    assert read_with(kept(folder, workspace), memory)[1] == 3, "it was made again"


def test_what_was_erased_leaves_no_digest_in_the_file(mission: Missions, memory: Memory, folder: Path) -> None:
    finding = mission.report_finding("port", "w1", "Bob is ill.", claim_key="bob", claim_value="ill")
    used, own = kept(folder), kept(folder)
    used.state(memory, "port")
    file = folder / "missions" / "port.state"
    digests = [digest.encode() for digest in claim_of({"summary": "", "claim_key": "bob", "claim_value": "ill"})]
    assert all(digest in file.read_bytes() for digest in digests)
    memory.forget(finding["citation"], "personal")
    for one in (used, own):
        state = vars(one.state(memory, "port"))
        assert state == fresh(memory)
        assert finding["finding_id"] not in state["findings"]
        data = file.read_bytes() if file.exists() else b""
        assert not any(digest in data for digest in (*digests, finding["finding_id"].encode()))


def test_a_log_that_was_put_back_is_noticed(here: Path, folder: Path, tmp_path: Path) -> None:
    """Also where it has grown to the same length again."""
    with Memory.open(here) as memory:
        missions = Missions(memory)
        missions.start("port", "Port it")
        missions.create_worker("port", "w1")
        for number in range(3):
            report(missions, f"Fact {number}")
    shutil.copytree(here, tmp_path / "before", symlinks=True)
    with Memory.open(here) as memory:
        for number in range(3):
            accept(Missions(memory), f"w1:finding:{number + 1}")
        kept(folder).state(memory, "port")
    for grown in (0, 2, 3, 4):
        data = (folder / "missions" / "port.state").read_bytes()
        shutil.rmtree(here)
        shutil.copytree(tmp_path / "before", here, symlinks=True)
        with Memory.open(here) as memory:
            for number in range(grown):
                memory.append("memory.fact.recorded", {"text": f"Other {number}"}, session="port")
            state = vars(kept(folder).state(memory, "port"))
            assert state == fresh(memory) and not state["reviews"]
        (folder / "missions" / "port.state").write_bytes(data)


def test_a_log_that_was_cut_back_under_a_running_program_is_noticed(memory: Memory, missions: Missions) -> None:
    finding = report(missions, "The lock holds.")
    used = MissionLogs()
    accept(missions, finding)
    assert used.state(memory, "port").reviews

    class Shorter(Counting):
        def head(self, session: str) -> int:
            return min(self._memory.head(session), 3)

    state = used.state(Shorter(memory), "port")  # type: ignore[arg-type]
    assert (state.reviews, state.cursors["port"][0]) == ({}, 3)


def test_a_reader_keeps_the_state_that_it_has(missions: Missions, memory: Memory) -> None:
    """Others report meanwhile, and whoever goes through a state must not see it change."""
    state = missions.mission("port")
    before, standings = dict(vars(state)), missions.standings(state)
    names = list(state.workers)
    for number in range(3):
        missions.create_worker("port", f"more{number}")
        accept(missions, report(missions, f"Fact {number}"))
    assert list(state.workers) == names and vars(state) == before
    assert standings.all == [] and len(missions.standings(missions.mission("port")).all) == 3


def test_without_a_folder_nothing_is_written(mission: Missions, memory: Memory, folder: Path, tmp_path: Path) -> None:
    before = set(os.listdir(tmp_path))
    MissionLogs().state(memory, "port")
    assert set(os.listdir(tmp_path)) == before
