"""Composed questions over generated histories with known answers: is the first candidate right, and how sure is it?

The histories were written before the rules that they judge. One part is for tuning. Another was only ever reported. The
third was written by somebody who never saw the rules, and is only reported too. Those two are judged. `--tuning` leaves
them alone, and `--quick` the tuning part. The stories of strangers are written out, with answers worked out by hand:
the misses of one half may be looked at, those of the other are never shown. `--misses` lists what went wrong in the
tuning part or in the stories that may be looked at, `--seed` takes other numbers and dates.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench.synthesis.asking import Outcome, cost, outcomes
from bench.synthesis.histories import FRESH, KEPT, LOOKED, REPORT, TUNE, histories

SURE = 0.75
GOAL_RIGHT = 90.0
LEAST_RIGHT = {TUNE: 74.0, REPORT: 83.0, FRESH: 48.0, LOOKED: 70.0, KEPT: 48.0}
"""Percent of the first candidates that are right: what is aimed at, and what is held for each part."""
MISSES = {"tune": TUNE, "strangers": LOOKED}
GOAL_COST, MOST_COST = 3.0, 7.0
"""How many plain checkouts a composed one over a thousand rows may take: what is aimed at, and what is held."""


def sure_and_wrong(found: Sequence[Outcome]) -> list[Outcome]:
    return [one for one in found if one.confidence >= SURE and not one.right]


def show(name: str, found: Sequence[Outcome]) -> float:
    print(f"\n{name}")
    for key in ("history", "language"):
        for value in dict.fromkeys(getattr(one, key) for one in found):
            _row(value, [one for one in found if getattr(one, key) == value])
    for operation in dict.fromkeys(one.asked.operation for one in found):
        _row(operation, [one for one in found if one.asked.operation == operation])
    return _row("all", found)


def _row(name: str, found: Sequence[Outcome]) -> float:
    right = 100 * sum(one.right for one in found) / len(found)
    sure = sum(one.confidence >= SURE for one in found)
    named = f"{name:12} {len(found):3}  right {right:3.0f} %  of those with a candidate {right_of_given(found):3.0f} %"
    print(f"{named}  sure {sure:3}  sure and wrong {len(sure_and_wrong(found))}")
    return right


def right_of_given(found: Sequence[Outcome]) -> float:
    """Percent that are right of the first candidates that there are."""
    given = [one for one in found if one.confidence]
    return 100 * sum(one.right for one in given) / len(given) if given else 100.0


def judge(folder: Path, half: str, *, erasing: bool, seed: int) -> list[str]:
    whole = outcomes(folder / half, histories(half, seed))
    right = show(f"{half}, whole (goal {GOAL_RIGHT:g} %, limit {LEAST_RIGHT[half]:g} %)", whole)
    missed = [f"{half}: {right:.0f} % right"] if right < LEAST_RIGHT[half] else []
    missed += ["a wrong candidate is sure"] if sure_and_wrong(whole) else []
    if erasing:
        halved = outcomes(folder / half, histories(half, seed), erase=True)
        sure = sum(one.confidence >= SURE for one in halved)
        print(f"half of the needed events erased: {sure} of {len(halved)} candidates are sure")
        missed += ["a candidate is sure without its events"] if sure else []
    return missed


def show_misses(folder: Path, part: str, seed: int) -> None:
    for one in outcomes(folder / "misses", histories(part, seed)):
        if not one.right:
            asked = one.asked
            print(f"{one.language} {asked.operation:10} | {asked.ask}\n   wanted {asked.value} {asked.unit}, got")
            print(f"   {one.answer!r} {one.confidence} {one.reasons}")


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    for option in ("--tuning", "--quick"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("--misses", choices=MISSES)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    with TemporaryDirectory() as folder:
        if chosen.misses:
            show_misses(Path(folder), MISSES[chosen.misses], chosen.seed)
            return 0
        if chosen.tuning or not chosen.quick:
            judge(Path(folder), TUNE, erasing=not chosen.quick, seed=chosen.seed)
        missed = []
        for part in () if chosen.tuning else (REPORT, FRESH, LOOKED, KEPT):
            missed += judge(Path(folder), part, erasing=True, seed=chosen.seed)
        taken = cost(Path(folder) / "cost")
        ratio = taken.composed / taken.plain
        times = f"plain {1000 * taken.plain:.0f} ms, composed {1000 * taken.composed:.0f} ms"
        print(f"\nover 1,000 rows: {times}, {ratio:.1f} times (goal {GOAL_COST:g}, limit {MOST_COST:g})")
        if ratio > MOST_COST and not chosen.tuning:
            missed.append(f"a composed question takes {ratio:.1f} plain ones")
    if missed:
        print(f"over the limit: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
