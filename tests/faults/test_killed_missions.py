"""A mission whose process is killed at any moment and started again ends as one that nobody disturbed."""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path

import pytest

from faults.crashes import SEED, fork, in_child, kill
from mission_script import STEPS, run_script, standing_of, steps_left
from zaxy_coordinate import logs

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="SIGKILL and fork are POSIX"),
    pytest.mark.slow,
    pytest.mark.timeout(3600),
]
KILLS = int(os.environ.get("ZAXY_MISSION_KILLS", "25"))


def kill_missions(folder: str, kills: int, seed: int) -> None:
    """In a child, which has imported everything: missions in forks that are killed, until so many were.

    Prints what differs from a run that nobody disturbed.
    """
    logs.SAVE_AFTER = 1  # so that what is remembered of the state is met in the middle of its write, too
    rng, errors = random.Random(seed), str(Path(folder, "errors"))
    calm = [new_folder(folder, f"calm-{number}") for number in range(3)]
    usual = min(seconds_of(one, errors) for one in calm)
    wanted = standing_of(calm[0])
    killed = ended = 0
    moments: list[int] = []
    wrong: list[object] = []
    while killed < kills and not os.path.exists(errors):
        disturbed = new_folder(folder, f"disturbed-{ended}")
        while steps_left(disturbed):
            was_killed = killed_after(rng.uniform(0, usual), disturbed, errors)
            killed += was_killed
            moments += [steps_left(disturbed)] * was_killed
            if os.path.exists(errors):
                break
        else:
            found = standing_of(disturbed)
            wrong += [{part: found[part] for part in wanted if found[part] != wanted[part]}] * (found != wanted)
            ended += 1
    told = Path(errors).read_text() if os.path.exists(errors) else ""
    outcome = {"killed": killed, "ended": ended, "places": len(set(moments)), "seconds": usual, "wanted": wanted}
    print(json.dumps({**outcome, "wrong": wrong, "errors": told}))


def seconds_of(folder: Path, errors: str) -> float:
    began = time.monotonic()
    os.waitpid(fork(lambda: run_script(folder), errors), 0)
    return time.monotonic() - began


def killed_after(seconds: float, folder: Path, errors: str) -> bool:
    """Whether the script was still running when it was killed."""
    pid = fork(lambda: run_script(folder), errors)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, _ = os.waitpid(pid, os.WNOHANG)
        if ended:
            return False
        time.sleep(0.001)
    return kill(pid)


def new_folder(around: str, name: str) -> Path:
    folder = Path(around, name)
    folder.mkdir(parents=True)
    return folder


def test_a_mission_killed_at_any_moment_and_started_again_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    print(f"seed {SEED}")
    outcome = json.loads(in_child(kill_missions, str(tmp_path), KILLS, SEED, timeout=3500))
    assert outcome["errors"] == ""
    assert outcome["wrong"] == []
    assert outcome["killed"] >= KILLS
    assert outcome["ended"] >= 1
    assert outcome["wanted"]["events"]["raid coordination.finding.promoted"] == 4, "the script did what it says"
    places = f"{outcome['places']} of {len(STEPS) + 1} places"
    print(f"{outcome['killed']} kills at {places} between steps, {outcome['ended']} missions ended")
    print(f"a mission that nobody disturbed took {outcome['seconds']:.2f} s")
