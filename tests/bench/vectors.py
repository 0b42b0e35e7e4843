"""What the lane of word vectors costs: a question over 10,000 to a million windows, following, and memory.

It is run where the package is installed: hatch run vectors:cost. The budgets: a question over a million windows costs
at most three times one over a hundred thousand, and a process takes at most 40 MB of its own for it; with the lane,
following is at least 0.6 times as fast, and a question to the whole of memory takes at most 1.3 times as long.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
import numpy as np

from bench.recall.histories import Happening, make_history
from bench.recall.ours import write_log
from zaxy.memory import Memory
from zaxy_vectors.commits import WIDTHS
from zaxy_vectors.nearest import nearest
from zaxy_vectors.rows import append, made, open_rows

SIZES = (10_000, 100_000, 1_000_000)
EVENTS = 10_000
ROUNDS = 7
QUESTIONS = 60
MAX_GROWTH, MAX_MB, MIN_RATE, MAX_TIMES = 3.0, 40.0, 0.6, 1.3


def best_ms(action: Callable[[], object], rounds: int = ROUNDS) -> float:
    costs = []
    for _ in range(rounds):
        begun = time.perf_counter()
        action()
        costs.append(time.perf_counter() - begun)
    return min(costs) * 1000


def private_mb() -> float:
    """Memory of this process that no other shares, in MB; 0 where the system does not say."""
    try:
        lines = Path("/proc/self/smaps_rollup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1000


def search_costs(folder: Path) -> list[float]:
    rng = np.random.default_rng(1)
    costs = []
    for size in SIZES:
        paths = [folder / f"{size}.{ending}" for ending in WIDTHS]
        for begin in range(0, size, 10_000):
            vectors = rng.standard_normal((10_000, 256), np.float32) / 16
            seqs = range(begin + 1, begin + 10_001)
            append(paths, made(seqs, vectors), generation="bench", count=begin)
        rows = open_rows(paths, generation="bench", count=size)
        question = rng.standard_normal(256, np.float32) / 16
        nearest(rows, question, known_at=None, limit=50)
        gc.collect()
        before = private_mb()
        cost = best_ms(partial(nearest, rows, question, known_at=None, limit=50))
        costs.append(cost)
        print(f"{size:>9,} windows: {cost:6.1f} ms a question, {private_mb() - before:+.1f} MB of its own", flush=True)
        for path in paths:
            path.unlink()
    return costs


def make_log(folder: Path) -> tuple[str, list[str]]:
    """A log of `EVENTS` events, and questions on some of them."""
    histories = [make_history(seed) for seed in (1, 3, 5, 7)]
    events: list[Happening] = [event._replace(replaces=0) for history in histories for event in history.events]
    write_log(folder, "s", events[:EVENTS])
    return "s", [question.text for question in histories[0].questions[:QUESTIONS]]


class Cost(NamedTuple):
    rate: float
    """Events followed in a second."""
    asked: float
    """Milliseconds of a question: half of them take less."""
    private: float
    """What the process has of its own at the end, in MB."""


def follow_and_ask(folder: Path) -> Cost:
    session, questions = make_log(folder)
    with Memory.open(folder) as memory:
        begun = time.perf_counter()
        memory.query("warm up", session=session)
        rate = EVENTS / (time.perf_counter() - begun)
        costs = [best_ms(partial(memory.query, text, session=session), 3) for text in questions]
        gc.collect()
        return Cost(rate, median(costs), private_mb())


def in_a_process(folder: Path, disabled: str) -> Cost:
    """Measured in a process of its own, with or without the lane."""
    command = [sys.executable, __file__, "--follow", str(folder)]
    environment = {**os.environ, "ZAXY_PLUGINS_DISABLE": disabled}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return Cost(*json.loads(done.stdout))


def show(way: str, cost: Cost) -> None:
    numbers = f"{cost.rate:,.0f} events/s followed, {cost.asked:.1f} ms a question, {cost.private:.1f} MB of its own"
    print(f"{way:>7} the lane: {numbers}", flush=True)


def main() -> None:
    problems = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        costs = search_costs(folder)
        if costs[2] > MAX_GROWTH * costs[1]:
            problems.append(f"a million windows cost {costs[2] / costs[1]:.1f} times a hundred thousand")
        without, with_lane = in_a_process(folder / "without", "vectors"), in_a_process(folder / "with", "")
    show("without", without)
    show("with", with_lane)
    if with_lane.rate < MIN_RATE * without.rate:
        problems.append("following is too slow with the lane")
    if with_lane.asked > MAX_TIMES * without.asked:
        problems.append("a question takes too long with the lane")
    if with_lane.private > without.private + MAX_MB:
        problems.append("the lane takes too much memory")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--follow"]:
        print(json.dumps(follow_and_ask(Path(sys.argv[2]))))
    else:
        main()
