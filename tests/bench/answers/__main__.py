"""What a checkout makes of written histories: are the words of the answer there, and is the verdict honest?

The histories were written before the rules that they judge, each by another hand. One half is for tuning, the other
only for reporting, and only that one is judged. `--tuning` leaves the reporting half alone, `--quick` asks it once
and not again after questions were recorded and feedback given, `--misses` lists what went wrong in the tuning half.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench.answers.asking import ASKED, FEEDBACK, PLAIN, Outcome, ask, by
from bench.answers.histories import REPORT, TUNE, histories
from bench.answers.measures import ANSWER, ASK, MEASURES, PAIR_MEASURES, calibration_error

MAY_CHANGE = 2.0
"""Points by which a share may differ after questions were recorded or feedback was given."""
MAX_CALIBRATION_ERROR = 0.10


def rows(outcomes: Sequence[Outcome], keys: Sequence[str]) -> Iterator[str]:
    yield f"{'':18} {'n':>4} " + " ".join(f"{measure.name:>12}" for measure in MEASURES)
    yield _row("all", outcomes)
    for key in keys:
        for name, part in by(outcomes, key).items():
            yield _row(name, part)
    goals = [f"{'≥' if one.at_least else '≤'} {one.goal:g}" for one in MEASURES]
    yield f"{'goal':23} {' '.join(f'{goal:>12}' for goal in goals)}"
    limits = [f"{'≥' if one.at_least else '≤'} {one.limit:g}" for one in MEASURES]
    yield f"{'limit':23} {' '.join(f'{limit:>12}' for limit in limits)}"


def _row(name: str, outcomes: Sequence[Outcome]) -> str:
    figures = [measure.of(outcomes) for measure in MEASURES]
    shown = " ".join(f"{'' if figure is None else f'{figure:.0f}':>12}" for figure in figures)
    return f"{name:18} {len(outcomes):4} {shown}"


def show(name: str, folder: Path, half: str, ways: Sequence[str]) -> list[str]:
    """Print the tables of one half; the measures that are beyond their limits."""
    missed: list[str] = []
    before: list[float | None] = []
    for way in ways:
        outcomes, pairs = ask(folder / half, histories(half), way)
        print(f"\n{name}, {way}; shares in %")
        for line in rows(outcomes, ("wording", "history", "language", "kind") if way == PLAIN else ("history",)):
            print(line)
        figures = [measure.of(outcomes) for measure in MEASURES]
        if way == PLAIN:
            before = figures
            both = zip(MEASURES, figures, strict=True)
            missed += [one.name for one, figure in both if not one.is_within_limit(figure)]
            for pair in PAIR_MEASURES:
                figure = pair.of(pairs)
                sign = "≥" if pair.at_least else "≤"
                print(f"{pair.name:24} {'' if figure is None else f'{figure:5.0f}'}   {sign} {pair.goal:g}")
            error = calibration_error(outcomes)
            print(f"{'calibration error':24} {error or 0:5.2f}   ≤ {MAX_CALIBRATION_ERROR}")
        else:
            changed = [
                f"{one.name} {now - then:+.0f}"
                for one, then, now in zip(MEASURES, before, figures, strict=True)
                if then is not None and now is not None and abs(now - then) > MAY_CHANGE
            ]
            print(f"changed by more than {MAY_CHANGE:g} points: {', '.join(changed) or 'nothing'}")
    return missed


def show_misses(folder: Path) -> None:
    outcomes, pairs = ask(folder / "misses", histories(TUNE), PLAIN)
    for one in outcomes:
        asked = one.question
        if asked.answerable and (not one.shown or not one.cited or one.verdict == ASK):
            flags = f"{'' if one.shown else 'words '}{'' if one.cited else 'cited '}"
            wanted = f"{asked.words} {asked.events}"
            print(f"{one.history:11} {asked.kind:9} {one.verdict:20} {flags}| {asked.ask} | {wanted}")
        elif not asked.answerable and (one.verdict == ANSWER or (asked.kind == "other_topic" and one.verdict != ASK)):
            print(f"{one.history:11} {asked.kind:11} {one.verdict:20} | {asked.ask}")
    for pair in pairs:
        print(f"{pair.pair.relation:11} {pair.newest_first=} {pair.both_shown=} {pair.flagged=} | {pair.pair.ask}")


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--tuning", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--misses", action="store_true")
    chosen = parser.parse_args()
    with TemporaryDirectory() as folder:
        if chosen.misses:
            show_misses(Path(folder))
            return 0
        ways = (PLAIN,) if chosen.quick else (PLAIN, ASKED, FEEDBACK)
        if chosen.tuning or not chosen.quick:
            show("tuning half", Path(folder), TUNE, ways)
        missed = [] if chosen.tuning else show("reporting half", Path(folder), REPORT, ways)
    if missed:
        print(f"over the limit: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
