"""How many lines `zaxy why` leads to the right edit, and what it costs beside `zaxy query`.

The lines are those of projects in which agents and people write, move, overwrite, format, commit and amend, so that the
writer of every line is known. The two commands are run in turn, and medians of CPU time compared, with that of the
programs that they start (git), so that a busy machine slows both alike.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(1, str(Path(__file__).parents[2] / "plugins/why/tests"))
from story import Line, Story
from written import PERSON, ask, written_history

from bench.log import Row, print_table, shown
from zaxy import Draft, Memory

TURN = "I have read another part of the queue, and the retries are where the plan said that they would be. "
Answers = list[tuple[Line, dict[str, Any]]]
QUIETLY = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
KINDS = {"hooks": True, "session files": False}


class Sizes(NamedTuple):
    seeds: int
    events: int
    """Of other things, in the same log."""
    rounds: int


FULL = Sizes(seeds=4, events=100_000, rounds=11)
QUICK = Sizes(seeds=1, events=5_000, rounds=5)


def history(folder: Path, seed: int = 1, *, by_hooks: bool = True, git: bool = True) -> Story:
    """A story in a home of its own, as capture and git need one."""
    os.environ |= {"HOME": str(folder / "home"), "ZAXY_STATE_DIR": str(folder / "user")}
    return written_history(folder / "shop", folder / "home", seed, by_hooks=by_hooks, git=git)


def found(folder: Path, sizes: Sizes) -> Iterator[Row]:
    for git in (True, False):
        for kind, by_hooks in KINDS.items():
            answers: Answers = []
            for seed in range(1, sizes.seeds + 1):
                place = folder / f"{kind}-{git}-{seed}"
                story = history(place, seed, by_hooks=by_hooks, git=git)
                answers += [(line, reply) for _, _, line, reply in ask(story, 1000, seed)]
            yield from rows_of(answers, kind if git else f"{kind}, no git", is_judged=git)


def rows_of(answers: Answers, kind: str, *, is_judged: bool) -> Iterator[Row]:
    agents = [one for one in answers if one[0].writer != PERSON]
    people = [reply for line, reply in answers if line.writer == PERSON]
    right = [reply for line, reply in agents if reply["edit"] and reply["edit"]["at"] == line.writer]
    sure = sum(reply["certainty"] == "high" for _, reply in agents)
    surely_right = sum(reply["certainty"] == "high" for reply in right)
    figures = f"{len(right)} of {len(agents)} lines; {sure} with high certainty, {surely_right} of them right"
    yield Row(f"agents' lines found ({kind})", len(right) / len(agents), 0.95, True, figures, is_judged, bound=0.95)
    wrong = [reply for reply in people if reply["edit"]]
    surely = sum(reply["certainty"] == "high" for reply in wrong)
    figures = f"{len(wrong)} of {len(people)} lines; {surely} with high certainty"
    yield Row("  people's lines given to an agent", len(wrong) / len(people), 0.1, False, figures, is_judged)


def cost(folder: Path, sizes: Sizes) -> Iterator[Row]:
    story = history(folder / "cost")
    turns = [Draft("transcript.turn", "assistant", {"role": "assistant", "content": f"{TURN}{n}"}) for n in range(1000)]
    with Memory.open(story.folder) as memory:
        for _ in range(sizes.events // len(turns)):
            memory.append_many(turns)
        memory.follow()
    target = max(story.files, key=lambda name: len(story.files[name]))
    words = (("query", "What was requested for the prices?"), ("why", f"{target}:3"), ("why", target))
    spent: dict[tuple[str, ...], list[float]] = {one: [] for one in words}
    for turn in range(sizes.rounds + 1):
        for one in words:
            milliseconds = cpu_of(*one, folder=story.folder)
            spent[one] += [milliseconds] if turn else []
    query, line, file = (median(spent[one]) for one in words)
    figures = f"{line:.0f} ms of CPU against {query:.0f}, beside {sizes.events:,} other events"
    yield Row("zaxy why FILE:LINE / zaxy query", line / query, 3.0, False, figures, bound=4.5)
    yield shown("zaxy why FILE", f"{file:.0f} ms of CPU")


def cpu_of(*words: str, folder: Path) -> float:
    """Milliseconds of CPU time, with that of the programs which the command starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "zaxy", *words], cwd=folder, check=True, **QUIETLY)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measured(sizes: Sizes) -> Iterator[Row]:
    with TemporaryDirectory() as scratch:
        yield from found(Path(scratch), sizes)
        yield from cost(Path(scratch), sizes)


if __name__ == "__main__":
    for name in [name for name in os.environ if name.startswith(("ZAXY_", "GIT_"))]:
        del os.environ[name]
    print_table(measured(QUICK if "--quick" in sys.argv else FULL))
