"""Which edits of a file lie between two commits of it.

Times alone cannot say: clocks differ, and a commit that was amended or rebased is older than what is in it. Where the
edits lead from the length of the one text to that of the other, they say it themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from zaxy_why.edits import Edit, State
from zaxy_why.repository import Commit

SLACK = 2.0
"""Seconds by which clocks may differ: git's has whole seconds only."""
MAX_SPANS = 10_000
"""Beginnings times ends that are compared."""


def edits_between(
    edits: Sequence[Edit], since: Commit | None, until: Commit | None, *, start: State, end: State
) -> Sequence[Edit]:
    """Those that made the text of one commit into that of another. `since` is None for a file that was not there yet,
    `until` for the file as it is now."""
    begin = since.authored if since else 0
    known = [edit for edit in edits if time_of(edit) > begin - SLACK and (not until or time_of(edit) <= latest(until))]
    times = [time_of(edit) for edit in known]
    firsts = range(sum(time <= latest(since) for time in times) + 1 if since else 1)
    lasts = range(sum(time <= until.authored - SLACK for time in times) if until else len(times), len(times) + 1)
    usual = sum(time < begin for time in times), sum(not until or time <= until.authored + 1 for time in times)
    fitting = _fitting(known, firsts, lasts, start=start, end=end)
    if fitting:
        first, last = min(fitting, key=lambda span: abs(span[0] - usual[0]) + abs(span[1] - usual[1]))
    else:
        first = _nearest([at for at in firsts if _begins(known, at, start)], usual[0])
        last = _nearest([at for at in lasts if at and known[at - 1].after == end], usual[1])
    return known[first:last]


def time_of(edit: Edit) -> float:
    return datetime.fromisoformat(edit.at).timestamp()


def latest(commit: Commit) -> float:
    """The last moment that can be in a commit."""
    return max(commit.authored, commit.committed) + 1 + SLACK


def _fitting(edits: Sequence[Edit], firsts: range, lasts: range, *, start: State, end: State) -> list[tuple[int, int]]:
    """The beginnings and ends between which the edits change the length by as much as it changed."""
    if start.lines is None or start.bytes is None or end.lines is None or end.bytes is None:
        return []
    if len(firsts) * len(lasts) > MAX_SPANS:
        return []
    wanted = end.lines - start.lines, end.bytes - start.bytes
    part, lines, size = 0, 0, 0
    sums = [(part, lines, size)]
    for edit in edits:
        if edit.lines_changed is None or edit.bytes_changed is None:
            part += 1  # nothing adds up across it
        else:
            lines, size = lines + edit.lines_changed, size + edit.bytes_changed
        sums.append((part, lines, size))
    return [
        (first, last)
        for first in firsts
        for last in lasts
        if first <= last and sums[last] == (sums[first][0], sums[first][1] + wanted[0], sums[first][2] + wanted[1])
    ]


def _begins(edits: Sequence[Edit], at: int, start: State) -> bool:
    """Whether the text had that length before the edit at a place of the row, by this edit or the one before."""
    return (at > 0 and edits[at - 1].after == start) or (at < len(edits) and edits[at].before == start)


def _nearest(places: Sequence[int], usual: int) -> int:
    return min(places, key=lambda at: abs(at - usual)) if places else usual
