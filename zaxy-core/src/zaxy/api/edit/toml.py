"""Edits of TOML files that add, replace or take out one table and leave every other byte alone.

`tomllib` judges the text before and after; the scanner here only finds where the statements of a valid text are.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from zaxy.api.edit.json import FIX, MISSING
from zaxy.api.edit.lines import BOM, after_line_end, line_before, line_end_of, line_start, text_start
from zaxy.errors import Conflict, Unavailable, ZaxyError

Table = tuple[str, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_KEY = re.compile(r"""[ \t]*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([A-Za-z0-9_-]+))[ \t]*""")
_STRINGS = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' r"'''.*?'{3,5}|" r'"(?:[^"\\\n]|\\.)*"|' r"'[^'\n]*'",
    re.DOTALL,
)
_PLAIN = re.compile(r"""[^\[\]{}"'#,\n]+""")
_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\n]*)?")
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")


class Statement(NamedTuple):
    """The head of a table, or a key with its value; `end` is behind it and a comment on its last line."""

    start: int
    end: int
    table: Table
    is_head: bool


def parse(text: str) -> dict[str, Any]:
    """What the text says; malformed text is refused with line and column."""
    try:
        # Numbers stay as they are written: a value like `nan` would not equal itself.
        return tomllib.loads(text.removeprefix(BOM), parse_float=str)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        where = f"line {place[1]}, column {place[2]}" if place else "at the end"
        what = str(error).split(" (at ")[0]
        raise _refused(f"{where}: {what[:1].lower()}{what[1:]}") from None
    except RecursionError:
        raise _refused("it is nested too deep") from None
    except ValueError as error:
        raise _refused(str(error)) from None


def value_at(text: str, table: Table) -> Any:
    """The values of a table, or `MISSING`."""
    found = _value_at(parse(text), table)
    return MISSING if found is None else found


def put(text: str, table: Table, values: Mapping[str, Any]) -> str:
    """The text with a table more, at its end."""
    before = parse(text)
    if _value_at(before, table) is not None:
        raise Conflict(f"there is a [{'.'.join(table)}] already", "Replace it, or leave it.")
    line_end = line_end_of(text)
    added = _rows(table, values, line_end)
    if text in ("", BOM):
        added += line_end
    elif text.endswith("\n"):
        added = line_end + added + line_end
    else:
        # No line end at its end either: that tells `take_out` that the file had none.
        added = line_end * 2 + added
    return _judged(text + added, _with(before, table, values), table)


def replace(text: str, table: Table, values: Mapping[str, Any]) -> str:
    """The text with other values in a table where there is one."""
    before = parse(text)
    first, *others = _stretches(text, table)
    for start, end in reversed(others):
        text = text[: line_before(text, start)] + text[end:]
    text = text[: first[0]] + _rows(table, values, line_end_of(text)) + text[first[1] :]
    return _judged(text, _with(_without(before, table), table, values), table)


def take_out(text: str, table: Table) -> str:
    """The text without a table and those below it; unchanged if there is none."""
    before = parse(text)
    if _value_at(before, table) is None:
        return text
    after = text
    for start, end in reversed(_stretches(text, table)):
        after = _cut(after, start, end)
    return _judged(after, _without(before, table), table)


def rendered(table: Table, values: Mapping[str, Any]) -> str:
    """A text that holds the table and nothing else."""
    return _rows(table, values, "\n") + "\n"


def _rows(table: Table, values: Mapping[str, Any], line_end: str) -> str:
    rows = [f"[{'.'.join(_key_text(part) for part in table)}]"]
    rows += [f"{_key_text(key)} = {_value_text(value)}" for key, value in values.items()]
    return line_end.join(rows)


def _cut(text: str, start: int, end: int) -> str:
    """Take a stretch out together with the line ends that `put` puts around it."""
    begin = text_start(text)
    ended = text.startswith(("\n", "\r\n"), end)
    if start == begin:
        # What was put in later has a blank line before it, which no longer parts it from anything.
        return text[:begin] + text[after_line_end(text, after_line_end(text, end)) :]
    blank_before = line_before(text, start)
    if ended:
        only_spaces = text[line_start(text, blank_before) : blank_before].strip(" \t") == ""
        # The blank line before goes too, if there is one: the first of the file's lines has none before it.
        first = blank_before if only_spaces else start
        return text[:first] + text[after_line_end(text, end) :]
    if end < len(text):
        return text[:start] + text[end:]
    blank = text[line_start(text, blank_before) : blank_before].strip(" \t") == ""
    return text[: line_before(text, blank_before) if blank and blank_before > begin else blank_before]


# Finding


def _stretches(text: str, table: Table) -> list[tuple[int, int]]:
    """Where the table and those below it stand, those that follow each other as one."""
    depth, begin = len(table), text_start(text)
    found: list[tuple[int, int]] = []
    heads = 0
    was_ours = False
    for statement in statements(text):
        ours = statement.table[:depth] == table
        if not ours:
            was_ours = False
            continue
        heads += statement.is_head
        if was_ours:
            found[-1] = (found[-1][0], statement.end)
        else:
            if not statement.is_head:
                raise _by_hand(table)
            found.append((max(line_start(text, statement.start), begin), statement.end))
        was_ours = True
    if not heads:
        raise _by_hand(table)
    return found


def statements(text: str) -> Iterator[Statement]:
    """The statements of a valid text, with the table that each belongs to."""
    table: Table = ()
    at = _end(_BLANK, text, text_start(text))
    while at < len(text):
        start = at
        is_head = text[at] == "["
        if is_head:
            brackets = 2 if text.startswith("[[", at) else 1
            table, at = _dotted_key(text, at + brackets)
            at += brackets
            own = table
        else:
            key, at = _dotted_key(text, at)
            own = (*table, *key[:-1]) if len(key) > 1 else table
            at = _after_value(text, at + 1)
        at = _end(_REST_OF_LINE, text, at)
        end = at - 1 if text[at - 1 : at] == "\r" else at
        yield Statement(start, end, own, is_head)
        at = _end(_BLANK, text, at)


def _dotted_key(text: str, at: int) -> tuple[Table, int]:
    parts: list[str] = []
    while True:
        match = _KEY.match(text, at)
        if not match:
            raise ValueError(f"a key is expected at {at}")
        basic, literal, bare = match.groups()
        parts.append(tomllib.loads(f'key = "{basic}"')["key"] if basic is not None else literal or bare or "")
        at = match.end()
        if not text.startswith(".", at):
            return tuple(parts), at
        at += 1


def _after_value(text: str, at: int) -> int:
    """Behind a value, which begins after spaces and may span lines inside brackets and long strings."""
    depth = 0
    at = _end(_SPACE, text, at)
    while at < len(text):
        character = text[at]
        if character in "\"'":
            at = _end(_STRINGS, text, at)
        elif character in "[{":
            depth, at = depth + 1, at + 1
        elif character in "]}":
            depth, at = depth - 1, at + 1
        elif character == "#" and depth:
            at = _end(_REST_OF_LINE, text, at)
        elif character in "#\n" and not depth:
            return at
        elif character in ",\n":
            at += 1
        else:
            at = _end(_PLAIN, text, at)
        if not depth and character in "\"']}":
            return at
    return at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    if not match:
        raise ValueError(f"the text cannot be followed at {at}")
    return match.end()


# Writing


def _key_text(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value_text(key)


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        rows = ", ".join(f"{_key_text(key)} = {_value_text(inner)}" for key, inner in value.items())
        return f"{{ {rows} }}" if rows else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(_value_text(inner) for inner in value)}]"
    raise TypeError(f"{value!r} cannot be written as TOML")


# Judging


def _judged(text: str, wanted: dict[str, Any], table: Table) -> str:
    """The text, if it is valid and says what it should."""
    try:
        after = parse(text)
    except ZaxyError:
        raise _by_hand(table) from None
    if _without_empty(after, table) != _without_empty(wanted, table):
        raise _by_hand(table)
    return text


def _value_at(data: Any, table: Table) -> Any:
    for part in table:
        if not isinstance(data, dict) or part not in data:
            return None
        data = data[part]
    return data


def _with(data: dict[str, Any], table: Table, values: Mapping[str, Any]) -> dict[str, Any]:
    changed = deepcopy(data)
    place = changed
    for part in table[:-1]:
        place = place.setdefault(part, {})
        if not isinstance(place, dict):
            raise _by_hand(table)
    place[table[-1]] = json.loads(json.dumps(values))
    return changed


def _without(data: dict[str, Any], table: Table) -> dict[str, Any]:
    changed = deepcopy(data)
    del _value_at(changed, table[:-1])[table[-1]]
    return changed


def _without_empty(data: dict[str, Any], table: Table) -> dict[str, Any]:
    """The data without parents of the table that hold nothing: a header alone names them, or nothing does."""
    changed = deepcopy(data)
    for depth in range(len(table) - 1, 0, -1):
        if _value_at(changed, table[:depth]) == {}:
            changed = _without(changed, table[:depth])
    return changed


def _by_hand(table: Table) -> ZaxyError:
    name = ".".join(table)
    return Conflict(
        f"{name} cannot be edited, because {table[0]} is written without a heading [{name}] of its own",
        "Edit the file by hand; it was left as it is.",
    )


def _refused(what: str) -> ZaxyError:
    return Unavailable(what, FIX)
