"""Which lines of a file an edit changed, in numbers: nothing of what they say.

A hunk is `[old_start, old_lines, new_start, new_lines]`, and holds no line that stayed. A start is the number of the
first line that the change concerns, on either side, also where it has no lines there. Hooks load this module: it
imports next to nothing.
"""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_HUNKS = 500
"""An edit in more places than that is recorded without them."""

MAX_COMPARED = 250_000
"""Old lines times new ones, within one replacement; of more all count as changed."""

Hunk = list[int]


def hunks_of(change: object) -> list[Hunk]:
    """The hunks of a `structuredPatch`, or of a unified diff; none where it cannot be read whole."""
    found: list[Hunk] = []
    parts = _parts_of_diff(change) if isinstance(change, str) else _parts_of_patch(change)
    for old, new, lines in parts if parts is not None else ():
        changed = _changed(old, new, lines)
        if changed is None:
            return []
        found += changed
    in_order = all(one[0] + one[1] <= after[0] for one, after in pairwise(found))
    return found if len(found) <= MAX_HUNKS and in_order else []


def hunks_of_replacements(after: str, replaced: Sequence[tuple[str, str]]) -> tuple[list[Hunk], str] | None:
    """The hunks of an edit that is known by its old and new texts, from the whole text after it; and the text before.

    None where a new text is not in just one place: then nobody can tell which one is meant.
    """
    text, steps = after, list[list[Hunk]]()
    for old, new in reversed(replaced):
        at = text.find(new) if new else -1
        if at < 0 or text.find(new, at + 1) >= 0:
            return None
        before = text[:at] + old + text[at + len(new) :]
        steps.append(_between(before, text, at, len(old)))
        text = before
    return _together([hunk for step in reversed(steps) for hunk in reversed(step)], lines_in(text)), text


def whole_file(lines: int) -> list[Hunk]:
    """The hunks of a file that was made with that number of lines."""
    return [[1, 0, 1, lines]] if lines else []


def numbers_of_edit(
    hunks: Sequence[Hunk], before: str | None, after: str | None, *, change: object = None
) -> dict[str, object]:
    """The fields of an edit on record: its hunks, how many lines they add and remove, and how long the file was and
    became, as far as that is known of its texts. A carriage return is not counted among the bytes.

    `change`: a unified diff that says at least by how many bytes it changed.
    """
    if not hunks:
        return {}
    added, removed = sum(hunk[3] for hunk in hunks), sum(hunk[1] for hunk in hunks)
    numbers: dict[str, object] = {"lines_added": added, "lines_removed": removed, "hunks": [*hunks]}
    known = [lines_in(after) - added + removed] if after is not None else []
    known += [lines_in(before)] if before is not None else []
    if len(set(known)) == 1:
        numbers["file_lines"] = [known[0], known[0] + added - removed]
    if before is not None and after is not None and "file_lines" in numbers:
        numbers["file_bytes"] = [bytes_in(before), bytes_in(after)]
    elif isinstance(change, str):
        numbers["bytes_changed"] = _bytes_changed(change)
    return numbers


def lines_in(text: str) -> int:
    return text.count("\n") + (bool(text) and not text.endswith("\n"))


def bytes_in(text: str) -> int:
    """Without carriage returns: programs differ in whether they count them."""
    return len(text.encode("utf-8", "replace")) - text.count("\r")


def _parts_of_patch(patch: object) -> list[tuple[int, int, Sequence[object]]] | None:
    parts: list[tuple[int, int, Sequence[object]]] = []
    for one in patch if isinstance(patch, list) else ():
        said = one if isinstance(one, dict) else {}
        old, new, lines = said.get("oldStart"), said.get("newStart"), said.get("lines")
        if type(old) is not int or type(new) is not int or not isinstance(lines, list):
            return None
        parts.append((old, new, lines))
    return parts


def _parts_of_diff(diff: str) -> list[tuple[int, int, Sequence[object]]] | None:
    parts: list[tuple[int, int, Sequence[object]]] = []
    lines = diff.removesuffix("\n").split("\n")
    at = 0
    while at < len(lines):
        header = _header(lines[at])
        at += 1
        if header is None:
            continue
        begin, (old, olds, new, news) = at, header
        while (olds > 0 or news > 0) and at < len(lines):
            sign = lines[at][:1]
            olds -= sign in ("", " ", "-")
            news -= sign in ("", " ", "+")
            at += 1
        if olds or news:
            return None
        at += at < len(lines) and lines[at][:1] == "\\"
        # A header names the line before, where a side has no lines.
        parts.append((old + (header[1] == 0), new + (header[3] == 0), lines[begin:at]))
    return parts


def _bytes_changed(diff: str) -> int:
    """By how much a diff makes a file longer."""
    changed, last = 0, 0
    for line in (line for _, _, lines in _parts_of_diff(diff) or () for line in lines):
        sign = str(line)[:1]
        if sign == "\\":  # the line before has no end
            changed -= last
        else:
            last = (sign == "+") - (sign == "-")
            changed += last * (bytes_in(str(line)[1:]) + 1)
    return changed


def _header(line: str) -> tuple[int, int, int, int] | None:
    """The numbers of `@@ -1,2 +3,4 @@`."""
    words = line.split(" ", 4)
    if len(words) < 4 or words[0] != "@@" or words[3] != "@@" or words[1][:1] != "-" or words[2][:1] != "+":
        return None
    sides = [side[1:].split(",") for side in words[1:3]]
    if not all(part.isdecimal() and len(part) < 10 for side in sides for part in side):
        return None
    (old, olds), (new, news) = ((int(side[0]), int(side[1]) if len(side) > 1 else 1) for side in sides)
    return old, olds, new, news


def _changed(old: int, new: int, lines: Iterable[object]) -> list[Hunk] | None:
    """The changes within a hunk that has lines around them."""
    if old < 0 or new < 0:
        return None
    old, new = old or 1, new or 1
    found: list[Hunk] = []
    run = [old, 0, new, 0]
    for line in lines:
        sign = line[:1] if isinstance(line, str) else "?"
        if sign == "\\":  # that the file has no end of line there
            continue
        if sign == "-":
            old, run[1] = old + 1, run[1] + 1
        elif sign == "+":
            new, run[3] = new + 1, run[3] + 1
        elif sign in ("", " "):
            found += [run] if run[1] or run[3] else []
            old, new = old + 1, new + 1
            run = [old, 0, new, 0]
        else:
            return None
    return [*found, *([run] if run[1] or run[3] else [])]


def _between(before: str, after: str, at: int, replaced: int) -> list[Hunk]:
    """The hunks of one replacement, by its length: the lines that it touches, without those that stayed."""
    begin = before.rfind("\n", 0, at) + 1
    sides = ((before, at + replaced), (after, at + replaced + len(after) - len(before)))
    whole = all(end == begin or text[end - 1] == "\n" for text, end in sides)
    olds, news = (_lines(text[begin : end if whole else _line_end(text, end)]) for text, end in sides)
    start = before.count("\n", 0, begin) + 1
    while olds and news and olds[0] == news[0]:
        olds, news, start = olds[1:], news[1:], start + 1
    while olds and news and olds[-1] == news[-1]:
        olds, news = olds[:-1], news[:-1]
    if min(len(olds), len(news)) < 2 or len(olds) * len(news) > MAX_COMPARED:
        return [[start, len(olds), start, len(news)]]
    from difflib import SequenceMatcher

    steps = SequenceMatcher(None, olds, news, autojunk=False).get_opcodes()
    return [[start + a, b - a, start + c, d - c] for tag, a, b, c, d in steps if tag != "equal"]


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def _together(steps: Iterable[Hunk], lines: int) -> list[Hunk]:
    """Changes that were made one after the other, as hunks between the first state and the last. Those of one step
    come last first, so that none moves another."""
    origins = list(range(1, lines + 1))
    for start, olds, _, news in steps:
        origins[start - 1 : start - 1 + olds] = [0] * news
    found: list[Hunk] = []
    old = new = 1
    for at, origin in enumerate([*origins, lines + 1], 1):
        if origin:
            if origin > old or at > new:
                found.append([old, origin - old, new, at - new])
            old, new = origin + 1, at + 1
    return found
