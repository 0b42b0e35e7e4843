"""How often a record is found that shares no content word with the question, with words alone and with vectors.

The three histories were written before any lane of vectors. One half of their questions is for tuning, the other only
for reporting, and only that one is judged. `--lanes` chooses which lanes take part, beside words: `static` needs
zaxy-vectors, `sentence` needs zaxy-sentence-transformers. Without it all that are installed are asked, side by side.
`--tuning` leaves the reporting half alone.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench.meaning.asking import ALL, Answers, Lanes, NoLane, Outcome, ask, found_at
from bench.meaning.histories import DOMAINS, REPORT, TUNE, History, histories

CUTS = (1, 5, 10, 20)
JUDGED = 10
WIDTH = 6 * len(CUTS)


def rows(found: Mapping[Lanes, Sequence[Outcome]]) -> Iterator[str]:
    heads = "".join(f"{f'@{cut}':>6}" for cut in CUTS)
    yield f"{'':18}" + "".join(f"   {one.name:^{WIDTH}}" for one in found)
    yield f"{'':12} {'n':>5}" + f"   {heads}" * len(found)
    for domain in (*DOMAINS, ""):
        parts = [[one for one in outcomes if domain in (one.history, "")] for outcomes in found.values()]
        shares = "".join("   " + "".join(f"{found_at(part, cut):6.1f}" for cut in CUTS) for part in parts)
        yield f"{domain or 'all':12} {len(parts[0]):5}{shares}"
    yield f"{f'goal @{JUDGED}':18}" + "".join(f"   {_bound(one, one.goal):^{WIDTH}}" for one in found)
    yield f"{f'limit @{JUDGED}':18}" + "".join(f"   {_bound(one, one.limit):^{WIDTH}}" for one in found)


def _bound(lanes: Lanes, share: float) -> str:
    return f"{'≥' if lanes.at_least else '≤'} {share:g} %"


def show(name: str, half: str, answers: Mapping[Lanes, Answers]) -> list[str]:
    """Print the table of one half; the lanes that are beyond their limits in it."""
    found = {lanes: [one for one in given.outcomes if one.question.half == half] for lanes, given in answers.items()}
    print(f"\n{name}: records among the first {', '.join(map(str, CUTS))}, in %")
    for line in rows(found):
        print(line.rstrip())
    judged = {lanes: found_at(outcomes, JUDGED) for lanes, outcomes in found.items()}
    return [
        f"{lanes.name} find {share:.1f} % at {JUDGED}, and the limit is {_bound(lanes, lanes.limit)}"
        for lanes, share in judged.items()
        if not lanes.is_within_limit(share)
    ]


def asked(written: Sequence[History], chosen: Sequence[Lanes]) -> dict[Lanes, Answers]:
    with TemporaryDirectory() as folder:
        return {lanes: ask(Path(folder), written, lanes) for lanes in chosen}


def chosen_lanes(names: Sequence[str]) -> list[Lanes]:
    """Those that were named, else words and whatever is installed."""
    chosen = [one for one in ALL if (one.name in names if names else one.installed)]
    missing = [one.package for one in chosen if not one.installed]
    if missing:
        raise NoLane(f"not installed: {', '.join(missing)}")
    return chosen


def main() -> int:
    parser = ArgumentParser(prog="meaning", description=__doc__)
    parser.add_argument("--lanes", nargs="+", choices=[one.name for one in ALL], default=[])
    parser.add_argument("--tuning", action="store_true", help="leave the reporting half alone; it is not judged")
    options = parser.parse_args()
    halves = (TUNE,) if options.tuning else (TUNE, REPORT)
    written = [
        one._replace(questions=tuple(asked for asked in one.questions if asked.half in halves)) for one in histories()
    ]
    try:
        answers = asked(written, chosen_lanes(options.lanes))
    except NoLane as error:
        print(error, file=sys.stderr)
        return 2
    show("tuning half", TUNE, answers)
    missed = [] if options.tuning else show("reporting half", REPORT, answers)
    for lanes, given in answers.items():
        if given.without:
            print(f"{lanes.name}: {given.without} questions were answered without the lane")
    if missed:
        print("\n".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
