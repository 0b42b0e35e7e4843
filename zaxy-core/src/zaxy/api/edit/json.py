"""Edits of JSON files, with or without comments and trailing commas, that leave every other byte alone.

An edit puts one stretch of text in, and its place and spacing tell `take_out` what was there before: an element put
into an empty container touches its opening bracket, and a container that was made for it begins with a space or a
line end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from zaxy.api.edit.lines import LINE_END, indent_of, line_before, line_end_of, line_start, place_of, text_start
from zaxy.errors import Conflict, InternalError, NotFound, Unavailable, ZaxyError

Path = Sequence[str | int]
"""The way from the root: a name for a member of an object, a number for an item of an array."""

MAX_DEPTH = 200
MISSING = object()
FIX = "Fix the file first; it was left as it is."

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_BLANK = re.compile(r"(?:[ \t\r\n]|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_WORDS = {"true": True, "false": False, "null": None}


class Node(NamedTuple):
    """A value and the stretch of text that it takes."""

    start: int
    end: int
    value: Any
    elements: tuple[Element, ...] = ()


class Element(NamedTuple):
    """A member of an object, from its key on, or an item of an array."""

    key: str | int
    start: int
    node: Node
    comma: int | None
    """Where the comma after it is, if there is one."""


def parse(text: str) -> Node | None:
    """The root of the text; None if it holds nothing but spaces and comments. Malformed text is refused."""
    begin = text_start(text)
    at = _skip(text, begin)
    if at == len(text):
        return None
    root = _value(text, at, 0)
    rest = _skip(text, root.end)
    if rest != len(text):
        raise malformed(text, rest, "there is more after the end of the value")
    return root


def find(root: Node | None, path: Path) -> Element | None:
    """The element at a path, if there is one."""
    if root is None:
        return None
    element: Element | None = None
    for key in path:
        node = root if element is None else element.node
        element = next((inner for inner in node.elements if inner.key == key and type(inner.key) is type(key)), None)
        if element is None:
            return None
    return element


def value_at(text: str, path: Path) -> Any:
    """The value at a path, or `MISSING`."""
    root = parse(text)
    if not path:
        return MISSING if root is None else root.value
    element = find(root, path)
    return MISSING if element is None else element.node.value


def put(text: str, path: Path, value: Any) -> str:
    """The text with an element more, the first of its container; what is missing on the way to it is made.

    The last step is a new name for a member of an object, or any number for an item of an array.
    """
    root = parse(text)
    line_end = line_end_of(text)
    if root is None:
        begin = text_start(text)
        made = _wrapped(path, value, indent="", unit="  ", line_end=line_end) + line_end
        return _judged(text[:begin] + made + text[begin:], _value_with({}, path, value))
    container, done = _deepest(root, path, text)
    left = path[done:]
    label = _label(left[0])
    wanted = _value_with(root.value, path, value)
    if not container.elements:
        added = label + _wrapped_in_line(left[1:], value)
        return _judged(_spliced(text, container.start + 1, container.start + 1, added), wanted)
    first = container.elements[0]
    place = _line_end_before(text, container.start + 1, first.start)
    if place is None:
        added = f"{label}{_wrapped_in_line(left[1:], value)}, "
        return _judged(_spliced(text, first.start, first.start, added), wanted)
    indent = indent_of(text, first.start)
    wrapped = _wrapped(left[1:], value, indent=indent, unit=unit_of(text, root), line_end=line_end)
    added = f"{line_end}{indent}{label}{wrapped},"
    return _judged(_spliced(text, place, place, added), wanted)


def append(text: str, path: Path, value: Any) -> str:
    """The text with an item more at the end of the array at a path; what is missing on the way to it is made."""
    root = parse(text)
    listed = find(root, path)
    if root is None or listed is None or not listed.node.elements:
        return put(text, [*path, 0], value)
    first, last = listed.node.elements[0], listed.node.elements[-1]
    added = f", {json.dumps(value, ensure_ascii=False)}"
    if "\n" in text[listed.node.start : first.start]:
        line_end, indent = line_end_of(text), indent_of(text, first.start)
        added = f",{line_end}{indent}{_dumped(value, indent, unit_of(text, root), line_end)}"
    wanted = _value_replaced(root.value, path, [*listed.node.value, value])
    return _judged(_spliced(text, last.node.end, last.node.end, added), wanted)


def replace(text: str, path: Path, value: Any) -> str:
    """The text with another value at a path where there is one, written as `put` would have written it."""
    root = parse(text)
    element = find(root, path)
    if root is None or element is None:
        raise NotFound(f"there is no {_shown(path)}", "Put it in instead.")
    old = element.node
    if text[line_start(text, element.start) : element.start].strip(" \t") == "":
        indent = indent_of(text, element.start)
        new = _dumped(value, indent, unit_of(text, root), line_end_of(text))
    else:
        new = json.dumps(value, ensure_ascii=False)
    return _judged(_spliced(text, old.start, old.end, new), _value_replaced(root.value, path, value))


def take_out(text: str, path: Path) -> str:
    """The text without the element at a path, and without the containers that `put` made for it; unchanged if
    there is none."""
    root = parse(text)
    if root is None or find(root, path) is None:
        return text
    steps = list(path)
    while steps:
        container = root if len(steps) == 1 else _found(root, steps[:-1]).node
        if not _made_for_one(text, container):
            break
        steps.pop()
    if not steps:
        end = root.end
        ending = LINE_END.match(text, end)
        return text[: root.start] + text[ending.end() if ending else end :]
    return _judged(_without(text, root, steps), _value_without(root.value, steps))


def unit_of(text: str, root: Node) -> str:
    """One step of indentation: that of the root's first element, if it has a line of its own."""
    if not root.elements:
        return "  "
    first = root.elements[0]
    start = line_start(text, first.start)
    return indent_of(text, first.start) or "  " if start > root.start else "  "


def malformed(text: str, at: int, what: str) -> ZaxyError:
    """A refusal that names the line and the column, counted from 1."""
    return Unavailable(f"{place_of(text, at)}: {what}", FIX)


# Reading


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    end = match.end() if match else at
    if text.startswith("/*", end):
        raise malformed(text, end, "this comment has no end")
    return end


def _value(text: str, at: int, depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise malformed(text, at, f"it is nested deeper than {MAX_DEPTH} levels")
    character = text[at : at + 1]
    if character in ("{", "["):
        return _container(text, at, depth)
    if character == '"':
        return _string(text, at)
    number = _NUMBER.match(text, at)
    if number:
        return Node(at, number.end(), _number(number))
    for word, value in _WORDS.items():
        if text.startswith(word, at):
            return Node(at, at + len(word), value)
    raise malformed(text, at, "the text ends too early" if at >= len(text) else "a value is expected here")


def _number(match: re.Match[str]) -> object:
    if match[1] or match[2]:
        return float(match[0])
    # Python refuses to read integers of more than 4300 digits; only their being the same matters here.
    return int(match[0]) if len(match[0]) < 4000 else match[0]


def _string(text: str, at: int) -> Node:
    match = _STRING.match(text, at)
    if not match:
        raise malformed(text, at, "this string has no end, or a character that must be escaped")
    return Node(at, match.end(), json.loads(match[0]))


def _container(text: str, at: int, depth: int) -> Node:
    is_object = text[at] == "{"
    close = "}" if is_object else "]"
    elements: list[Element] = []
    names: set[str] = set()
    place = _skip(text, at + 1)
    while not text.startswith(close, place):
        start = place
        key: str | int = len(elements)
        if is_object:
            key, place = _key(text, place, names)
        node = _value(text, place, depth + 1)
        place = _skip(text, node.end)
        comma = place if text.startswith(",", place) else None
        elements.append(Element(key, start, node, comma))
        if comma is not None:
            place = _skip(text, comma + 1)
        elif not text.startswith(close, place):
            ended = place >= len(text)
            raise malformed(
                text, place, f"the text ends before {close!r}" if ended else f"',' or {close!r} is expected"
            )
    value: Any = {e.key: e.node.value for e in elements} if is_object else [e.node.value for e in elements]
    return Node(at, place + 1, value, tuple(elements))


def _key(text: str, at: int, names: set[str]) -> tuple[str, int]:
    if not text.startswith('"', at):
        raise malformed(text, at, "the text ends too early" if at >= len(text) else "a name in quotes is expected")
    node = _string(text, at)
    name = str(node.value)
    if name in names:
        raise malformed(text, at, f"{name!r:.80} is there twice")
    names.add(name)
    colon = _skip(text, node.end)
    if not text.startswith(":", colon):
        raise malformed(text, colon, "':' is expected")
    return name, _skip(text, colon + 1)


# Placing


def _deepest(root: Node, path: Path, text: str) -> tuple[Node, int]:
    """The last container on the way that is there, and how many steps lead to it."""
    node = root
    for done, key in enumerate(path):
        last = done == len(path) - 1
        if not isinstance(node.value, dict if isinstance(key, str) else list):
            kind = "an object" if isinstance(key, str) else "an array"
            raise malformed(text, node.start, f"{_shown(path[:done])} should be {kind}")
        if last and not isinstance(key, str):
            return node, done
        element = find(node, [key])
        if element is None:
            return node, done
        if last:
            raise Conflict(f"there is a {_shown(path)} already", "Replace it, or leave it.")
        node = element.node
    raise ValueError("a path has at least one step")


def _found(root: Node, path: Path) -> Element:
    element = find(root, path)
    if element is None:
        raise ValueError(f"there is no {_shown(path)}")
    return element


def _made_for_one(text: str, container: Node) -> bool:
    """Whether a container holds one element alone and has the spacing of one that `put` made."""
    if len(container.elements) != 1:
        return False
    only = container.elements[0]
    before, after = text[container.start + 1 : only.start], text[only.node.end : container.end - 1]
    return before != "" and before.strip(" \t\r\n") == "" and after.strip(" \t\r\n") == ""


def _without(text: str, root: Node, path: Path) -> str:
    container = root if len(path) == 1 else _found(root, path[:-1]).node
    element = _found(root, path)
    place = container.elements.index(element)
    line = line_start(text, element.start)
    alone_before = line > container.start and text[line : element.start].strip(" \t") == ""
    begin = line_before(text, line) if alone_before else element.start
    if element.comma is not None:
        end = element.comma + 1
        if alone_before and LINE_END.match(text, end):
            return _spliced(text, begin, end, "")
        return _spliced(text, element.start, end + (1 if text[end : end + 1] == " " else 0), "")
    before = container.elements[place - 1].comma if place else None
    if before is None:
        return _spliced(text, element.start, element.node.end, "")
    if text[before + 1 : element.start].strip(" \t\r\n") == "":
        return _spliced(text, before, element.node.end, "")
    return _spliced(_spliced(text, begin, element.node.end, ""), before, before + 1, "")


def _line_end_before(text: str, at: int, end: int) -> int | None:
    """Where the first line ends between two places, line ends in comments not counted."""
    while at < end:
        comment = _COMMENT.match(text, at)
        if comment:
            at = comment.end()
        elif LINE_END.match(text, at):
            return at
        else:
            at += 1
    return None


def _spliced(text: str, start: int, end: int, added: str) -> str:
    return text[:start] + added + text[end:]


# Writing


def rendered(path: Path, value: Any) -> str:
    """A text that holds the value at a path and nothing else."""
    return _wrapped(path, value, indent="", unit="  ", line_end="\n") + "\n"


def _label(key: str | int) -> str:
    return f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(key, str) else ""


def _dumped(value: Any, indent: str, unit: str, line_end: str) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", line_end + indent)


def _wrapped(path: Path, value: Any, *, indent: str, unit: str, line_end: str) -> str:
    """The value inside the containers that a path names, each element on a line of its own."""
    if not path:
        return _dumped(value, indent, unit, line_end)
    inner = indent + unit
    opening, closing = "{}" if isinstance(path[0], str) else "[]"
    content = _label(path[0]) + _wrapped(path[1:], value, indent=inner, unit=unit, line_end=line_end)
    return f"{opening}{line_end}{inner}{content}{line_end}{indent}{closing}"


def _wrapped_in_line(path: Path, value: Any) -> str:
    if not path:
        return json.dumps(value, ensure_ascii=False)
    opening, closing = "{}" if isinstance(path[0], str) else "[]"
    return f"{opening} {_label(path[0])}{_wrapped_in_line(path[1:], value)} {closing}"


# Judging


def _judged(text: str, wanted: Any) -> str:
    """The text, if it says what it should: a last guard before a file is replaced."""
    root = parse(text)
    if root is None or root.value != wanted:
        raise InternalError(
            "the edited text would not say what it should",
            "Nothing was changed. Edit the file by hand, and please report this.",
        )
    return text


def _value_with(value: Any, path: Path, new: Any) -> Any:
    changed = deepcopy(value)
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        empty: Any = {} if not rest or isinstance(rest[0], str) else []
        return {**changed, step: _value_with(changed.get(step, empty), rest, new)}
    if rest and isinstance(step, int) and step < len(changed):
        changed[step] = _value_with(changed[step], rest, new)
        return changed
    empty = {} if rest and isinstance(rest[0], str) else []
    return [_value_with(empty, rest, new) if rest else new, *changed]


def _value_replaced(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    changed = deepcopy(value)
    changed[path[0]] = _value_replaced(changed[path[0]], path[1:], new)
    return changed


def _value_without(value: Any, path: Path) -> Any:
    changed = deepcopy(value)
    place = changed
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    return changed


def _shown(path: Path) -> str:
    return ".".join(str(step) for step in path) or "the file's root"
