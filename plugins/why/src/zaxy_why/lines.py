"""Where a line of a file came from, found by carrying it back through edits that hold numbers only.

Between two edits something may have changed the file that is on no record: a person, a formatter, another program.
Each edit says how long the file was before and after it. Where these fit, nothing came between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from zaxy.api import bytes_in
from zaxy_why.edits import Edit, State


class Text(NamedTuple):
    """A file at one moment."""

    lines: Sequence[str]
    state: State


def text_of(data: bytes) -> Text:
    """A text without carriage returns at the ends of its lines, which programs add and take away."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    lines = text.split("\n")
    lines = lines if lines[-1] else lines[:-1]
    return Text(lines, State(len(lines), bytes_in(text)))


class Origin(NamedTuple):
    """Where a line came from: an edit, or a line of the text that the edits began with."""

    edit: Edit | None = None
    line: int = 0
    """The number of the line that it was at first; 0 where it was in none."""
    is_proven: bool = False
    others: tuple[Edit, ...] = ()
    """Other edits that may have written it."""
    reasons: tuple[str, ...] = ()
    """Why it is not proven."""


UNSEEN = "something that is not on record changed the file between these edits"
UNSEEN_SINCE = "something that is not on record changed the file after this edit"
UNMEASURED = "how long the file was is not on record, so a change in between would not show"
UNPLACED = "an edit is on record without the places that it changed"


class Link(NamedTuple):
    """What is known of the time between one edit and the next, or the end."""

    is_proven: bool = False
    shift: int = 0
    """How many lines longer the file became in it."""
    reason: str = UNMEASURED


class Gap(NamedTuple):
    """A time in which the file became longer or shorter by something that is not on record."""

    links: tuple[int, ...]
    """The links in which that may have been."""
    shift: int


def links_of(edits: Sequence[Edit], start: State, end: State) -> tuple[list[Link], list[Gap]]:
    """The link behind each edit, oldest first: whether the file was as long at its two ends; and where it was not."""
    links, gaps = [Link()] * len(edits), list[Gap]()
    waiting: list[int] = []
    expected = end
    for at in range(len(edits) - 1, -1, -1):
        edit = edits[at]
        waiting.append(at)
        if shift := _difference(expected.lines, edit.after.lines):
            gaps.append(Gap(tuple(waiting), shift))
        if not (edit.after.is_known and expected.is_known):
            expected = edit.before if edit.after.is_known or shift else _before(edit, expected)
            waiting = waiting if expected.is_known and not shift else []
            continue
        reason = UNSEEN_SINCE if at == len(edits) - 1 else UNSEEN
        for late in waiting:
            links[late] = Link(True, 0, "") if edit.after == expected else Link(reason=reason)
        waiting, expected = [], edit.before
    if expected == start and start.is_known:
        for late in waiting:
            links[late] = Link(True, 0, "")
    elif waiting and (shift := _difference(expected.lines, start.lines)):
        gaps.append(Gap(tuple(waiting), shift))
    return links, gaps


def _difference(one: int | None, other: int | None) -> int:
    return one - other if one is not None and other is not None else 0


def _settled(
    links: list[Link], gaps: Sequence[Gap], edits: Sequence[Edit], *, start: Text | None, end: Text
) -> list[Link]:
    """The links with the shift of each gap in the one where that fits best."""
    for gap in gaps:
        fits = {at: _place_of_change(at, edits, shift=gap.shift, start=start, end=end)[0] for at in gap.links if start}
        best = max(gap.links, key=lambda at: (fits.get(at, 0), -at))
        links[best] = Link(False, gap.shift, UNSEEN_SINCE if best == len(edits) - 1 else UNSEEN)
    return links


def _before(edit: Edit, after: State) -> State:
    """How long the file was before an edit, by how much that changed."""
    if edit.lines_changed is None or after.lines is None:
        return State()
    known = after.bytes is not None and edit.bytes_changed is not None
    return State(after.lines - edit.lines_changed, after.bytes - edit.bytes_changed if known else None)  # type: ignore[operator]


def origin_of(line: int, edits: Sequence[Edit], *, start: Text | None, end: Text) -> Origin:
    """Carry a line of `end` back through the edits, newest first. `start`: the text before all of them, if known."""
    found, gaps = links_of(edits, start.state if start else State(), end.state)
    links = _settled(found, gaps, edits, start=start, end=end)
    here, reasons, is_proven = line, list[str](), True
    for at in range(len(edits) - 1, -1, -1):
        edit, link = edits[at], links[at]
        if not link.is_proven:
            is_proven = False
            reasons.append(link.reason)
            moved = _across(here, at, edits, link=link, start=start, end=end)
            if moved is None:
                return Origin(reasons=_once(reasons))
            if isinstance(moved, tuple):
                return _either(moved, edits[: at + 1], reasons)
            here = moved
        if not edit.hunks:
            is_proven = False
            reasons.append(UNPLACED)
            continue
        if _wrote(edit, here):
            return Origin(edit, 0, is_proven, (), _once(reasons))
        here = _carried_back(edit, here)
    unplaced = [edit for edit in reversed(edits) if not edit.hunks]
    if unplaced:
        return Origin(unplaced[0], 0, False, tuple(unplaced[1:]), _once(reasons))
    return Origin(None, here, is_proven, (), _once(reasons))


def _wrote(edit: Edit, line: int) -> bool:
    return any(hunk.new_start <= line < hunk.new_start + hunk.new_lines for hunk in edit.hunks)


def _carried_back(edit: Edit, line: int) -> int:
    """The number before an edit of a line that it left."""
    return line - sum(hunk.new_lines - hunk.old_lines for hunk in edit.hunks if hunk.new_start + hunk.new_lines <= line)


def _once(reasons: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reasons))


def _either(places: tuple[int, int], edits: Sequence[Edit], reasons: Sequence[str]) -> Origin:
    """What two possible places of a line come to."""
    found = [_first_writer(place, edits) for place in places]
    writers = list({edit.citation: edit for edit in found if edit is not None}.values())
    if not writers:
        return Origin(None, places[0], False, (), _once(reasons))
    return Origin(writers[0], 0, False, tuple(writers[1:]), _once(reasons))


def _first_writer(line: int, edits: Sequence[Edit]) -> Edit | None:
    for edit in reversed(edits):
        if _wrote(edit, line):
            return edit
        line = _carried_back(edit, line)
    return None


def _across(
    line: int, at: int, edits: Sequence[Edit], *, link: Link, start: Text | None, end: Text
) -> int | tuple[int, int] | None:
    """Where a line was before something that is not on record, which came after the edit at `at`.

    A number where it can be found out, two where it cannot, None for a line that was made there.
    """
    if not link.shift:
        return line
    shift = link.shift
    _, first, last = _place_of_change(at, edits, shift=shift, start=start, end=end)
    if line < first:
        return line
    if line >= last + max(shift, 0):
        return line - shift
    if first == last:
        return None
    if line <= shift:
        return line
    # Nobody knows where it was. The further down a line is, the more likely it was above.
    return (line - shift, line) if 2 * line > (last - first) + shift else (line, line - shift)


def _place_of_change(
    at: int, edits: Sequence[Edit], *, shift: int, start: Text | None, end: Text
) -> tuple[int, int, int]:
    """Before which line something was put in or taken out, from the first that it may be to the last: where the lines
    that no edit wrote fit best, and how many fit."""
    if start is None:
        return 0, 1, len(end.lines) + 1
    older = _forwards(edits[: at + 1], start)
    newer = _backwards(edits[at + 1 :], end)
    if older is None or newer is None or len(newer) - len(older) != shift:
        return -len(end.lines), 1, len(end.lines) + 1
    above = _fits(older, newer[: len(older)])
    below = _fits(older[-shift:] if shift < 0 else older, newer[shift:] if shift > 0 else newer)
    # Before place p, 0-based: what stands above it fits unmoved, and what stands below it fits moved.
    size = min(len(older), len(newer))
    score = sum(below)
    best, places = score, [0]
    for place in range(1, size + 1):
        score += above[place - 1] - below[place - 1]
        if score > best:
            best, places = score, []
        places += [place] if score == best else []
    return best, places[0] + 1, places[-1] + 1


def _fits(older: Sequence[str | None], newer: Sequence[str | None]) -> list[int]:
    """1 for lines that say the same, -1 for those that do not, 0 where it cannot be known."""
    return [0 if a is None or b is None else 1 if a == b else -1 for a, b in zip(older, newer, strict=False)]


def _forwards(edits: Sequence[Edit], start: Text) -> list[str | None] | None:
    """What is known of the text after the edits: the lines that they left."""
    text: list[str | None] = [*start.lines]
    for edit in edits:
        for hunk in reversed(edit.hunks):
            if hunk.old_start - 1 + hunk.old_lines > len(text):
                return None
            text[hunk.old_start - 1 : hunk.old_start - 1 + hunk.old_lines] = [None] * hunk.new_lines
    return text


def _backwards(edits: Sequence[Edit], end: Text) -> list[str | None] | None:
    """What is known of the text before the edits: the lines that they left."""
    text: list[str | None] = [*end.lines]
    for edit in reversed(edits):
        for hunk in reversed(edit.hunks):
            if hunk.new_start - 1 + hunk.new_lines > len(text):
                return None
            text[hunk.new_start - 1 : hunk.new_start - 1 + hunk.new_lines] = [None] * hunk.old_lines
    return text
