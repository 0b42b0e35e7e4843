"""How well memory finds what was said, against plain BM25 over the same events in the same run.

Odd seeds are for tuning, even ones only for reporting, and only those are judged. `--tuning` leaves the even ones
alone, `--quick` takes one seed of each half, `--baseline` has plain BM25 on both sides, to see how hard it is.

Each half is asked a second time with small blocks: in a long log common words are found by the marks of blocks, and in
these histories no block of the usual size would be full.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, Protocol

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench.recall.baseline import PlainBm25, plain_bm25
from bench.recall.histories import Happening, make_history
from bench.recall.identifiers import make_identifiers
from bench.recall.measures import CUTS, Outcome, difference, outcome, summary
from bench.recall.ours import SMALL_BLOCKS, Workbench
from bench.recall.scripts import NEAR, make_scripts

SEEDS = (1, 2, 3, 4, 5, 6)
QUICK = (1, 2)
FURTHEST = max(CUTS)
AT_10 = CUTS.index(10)
MIN_GAIN = 5.0
"""Points of recall at 10 above plain BM25, on the reporting half."""
MAX_LOSS = 2.0
"""Points of recall at 10 that the reporting half may lose by small blocks."""


class Searcher(Protocol):
    def search(self, text: str, limit: int) -> list[int]: ...

    def close(self) -> None: ...


Opening = Callable[[str, Sequence[Happening]], Searcher]
"""Opens what is judged over the events of a session."""


class PlainSide:
    """Plain BM25 in the place of what is judged."""

    def __init__(self, events: Sequence[Happening]) -> None:
        self._plain = plain_bm25(events)

    def search(self, text: str, limit: int) -> list[int]:
        return self._plain.search(text, limit)

    def close(self) -> None:
        pass


def open_plain(session: str, events: Sequence[Happening]) -> PlainSide:
    return PlainSide(events)


class Half(NamedTuple):
    ours: list[Outcome]
    plain: list[Outcome]


def ask_histories(seeds: Sequence[int], opening: Opening) -> Half:
    half = Half([], [])
    for seed in seeds:
        history = make_history(seed)
        plain = plain_bm25(history.events)
        with closing(opening(history.session, history.events)) as ours:
            for question in history.questions:
                for searcher, outcomes in ((ours, half.ours), (plain, half.plain)):
                    found = searcher.search(question.text, FURTHEST)
                    outcomes.append(outcome(question.kind, found, question.gold))
    return half


def table(half: Half) -> Iterator[str]:
    heads = " ".join(f"{f'@{cut}':>5}" for cut in CUTS)
    yield f"{'':12} {'n':>4}   {heads} {'MRR':>6}   {heads} {'MRR':>6}   {'gain at 10':>10}"
    for kind in (*sorted({one.kind for one in half.ours}), ""):
        sides = [summary([one for one in side if kind in (one.kind, "")]) for side in half]
        figures = "   ".join(
            f"{' '.join(f'{share * 100:5.1f}' for share in side.recalls)} {side.reciprocal_rank:6.3f}" for side in sides
        )
        gain = (sides[0].recalls[AT_10] - sides[1].recalls[AT_10]) * 100
        yield f"{kind or 'all':12} {sides[0].questions:4}   {figures}   {gain:+10.1f}"


def show_half(name: str, seeds: Sequence[int], opening: Opening) -> float:
    """Print a half's table; what ours gains at 10, in points."""
    half = ask_histories(seeds, opening)
    print(f"\n{name}: seeds {', '.join(map(str, seeds))}; recall in % and MRR, ours, then plain BM25")
    for line in table(half):
        print(line)
    gain = difference([one.recalls[AT_10] for one in half.ours], [one.recalls[AT_10] for one in half.plain])
    low, high = gain.low * 100, gain.high * 100
    print(f"gain at 10: {gain.mean * 100:+.1f} points, 95 % interval {low:+.1f} to {high:+.1f}", flush=True)
    return gain.mean * 100


def show_identifiers(opening: Opening) -> list[str]:
    """Print how many are found; those that were not the first result."""
    events, questions = make_identifiers()
    plain = plain_bm25(events)
    with closing(opening("identifiers", events)) as ours:
        missed = [text for text, seq in questions if ours.search(text, FURTHEST)[:1] != [seq]]
    theirs = sum(plain.search(text, 1) == [seq] for text, seq in questions)
    print(f"\nidentifiers: {len(questions) - len(missed)} of {len(questions)} come first; with plain BM25 {theirs}")
    return missed


def show_scripts(opening: Opening) -> list[str]:
    """Print how many are found in each script; the questions whose answer was not near the top."""
    events, questions = make_scripts()
    plain = plain_bm25(events)
    with closing(opening("scripts", events)) as ours:
        missed = [text for _, text, seq in questions if seq not in ours.search(text, FURTHEST)[:NEAR]]
    print(f"\nscripts: answers among the first {NEAR}, ours, then plain BM25")
    for script in dict.fromkeys(script for script, _, _ in questions):
        of_it = [(text, seq) for name, text, seq in questions if name == script]
        found = sum(text not in missed for text, _ in of_it)
        theirs = sum(_is_near(plain, text, seq) for text, seq in of_it)
        print(f"{script:12} {len(of_it):4}   {found:5} {theirs:5}")
    return missed


def _is_near(plain: PlainBm25, text: str, seq: int) -> bool:
    return seq in plain.search(text, NEAR)


def judge(seeds: Sequence[int], only_tuning: bool, *, opening: Opening, in_small_blocks: Opening) -> list[str]:
    """Print every part; what is not good enough."""
    problems = []
    ways = {"": opening, f", in blocks of {SMALL_BLOCKS.block} passages": in_small_blocks}
    for way, open_ in ways.items():
        show_half(f"tuning{way}", [seed for seed in seeds if seed % 2], open_)
    if not only_tuning:
        even = [seed for seed in seeds if not seed % 2]
        gain, with_small = [show_half(f"reporting{way}", even, open_) for way, open_ in ways.items()]
        if gain < MIN_GAIN:
            problems.append(f"{gain:+.1f} points at 10 are less than {MIN_GAIN:+.1f}")
        if with_small < gain - MAX_LOSS:
            problems.append(f"small blocks lose {gain - with_small:.1f} points at 10, more than {MAX_LOSS}")
    problems += [f"not the first result: {text}" for text in show_identifiers(opening)]
    problems += [f"not among the first {NEAR}: {text}" for text in show_scripts(opening)]
    return problems


def main() -> None:
    parser = ArgumentParser(prog="recall", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one seed of each half")
    parser.add_argument("--tuning", action="store_true", help="leave the reporting half alone; it is not judged")
    parser.add_argument("--baseline", action="store_true", help="plain BM25 on both sides")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        opening: Opening = open_plain if options.baseline else Workbench(Path(folder) / "usual").over
        small: Opening = open_plain if options.baseline else Workbench(Path(folder) / "small", SMALL_BLOCKS).over
        seeds = QUICK if options.quick else SEEDS
        problems = judge(seeds, options.tuning, opening=opening, in_small_blocks=small)
    if problems:
        sys.exit("\n" + "\n".join(problems))


if __name__ == "__main__":
    main()
