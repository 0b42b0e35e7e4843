"""Edits of YAML files that add, replace or take out one entry of a section and leave every other byte alone.

PyYAML says where things are and judges the text before and after. An entry goes first in its section. How it is
written tells `take_out` what was there before: as a block in a section that was made for it or has other entries, in
braces in one that was empty, with a space after the brace where there was nothing at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml

from zaxy.api import Conflict, Unavailable, ZaxyError
from zaxy.api.edit.json import FIX, MISSING
from zaxy.api.edit.lines import BOM, LINE_END, line_end_of, line_start, place_of, text_start

NULL = "tag:yaml.org,2002:null"

_SIMPLE = re.compile(r"[A-Za-z0-9_./-]+")
_NOT_PRINTABLE = re.compile("[^\x09\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_SPACE_AND_COMMA = re.compile(r"\s*,")

Nodes = dict[Any, Any]
Path = tuple[str, ...]
"""A section of the file, and the name of an entry in it."""


class Pair(NamedTuple):
    """A key of a mapping, and its value."""

    key: yaml.ScalarNode
    value: yaml.Node


# The edits


def value_at(text: str, path: Path) -> Any:
    """The values of an entry, or `MISSING`."""
    section, name = path
    root, values = _read(text)
    return values[section][name] if name in _meaning(root, section).entries else MISSING


def put(text: str, path: Path, values: Mapping[str, Any]) -> str:
    """The text with an entry more."""
    section, name = path
    root = parse(text)
    before = _meaning(root, section)
    for edited in _ways_to_put(text, root, section=section, name=name, values=values):
        if _says(edited, section, others=before.others, entries={**before.entries, name: values}, new=name):
            return edited
    raise _by_hand(section)


def replace(text: str, path: Path, values: Mapping[str, Any]) -> str:
    """The text with another entry where there is one."""
    section, name = path
    root = parse(text)
    before = _meaning(root, section)
    servers = _section(root, section)
    found = _child(servers.value, name) if servers else None
    if servers is None or found is None:
        raise _by_hand(section)
    if _is_flow(servers.value):
        edited = _spliced(text, found.value.start_mark.index, found.value.end_mark.index, _inline(values))
    else:
        start = _line_start(text, found.key.start_mark.index)
        indent = _indent(text, found.key, section)
        edited = _spliced(text, start, _content_end(text, found.value), block(name, values, indent, line_end_of(text)))
    if _says(edited, section, others=before.others, entries={**before.entries, name: values}, new=name):
        return edited
    raise _by_hand(section)


def take_out(text: str, path: Path) -> str:
    """The text without an entry, and without the section if it was made for it; unchanged if there is none."""
    section, name = path
    root = parse(text)
    before = _meaning(root, section)
    servers = _section(root, section)
    found = _child(servers.value, name) if servers else None
    if root is None or servers is None or found is None:
        return text
    left = {key: value for key, value in before.entries.items() if key != name}
    edited = _taken_out(text, root, servers, found)
    if edited is None or not _says(edited, section, others=before.others, entries=left, new=None):
        raise _by_hand(section)
    return edited


def rendered(path: Path, values: Mapping[str, Any]) -> str:
    """A text that holds the entry and nothing else."""
    section, name = path
    return block(section, {name: values}, "", "\n") + "\n"


def block(name: str, values: Mapping[str, Any], indent: str, line_end: str) -> str:
    """A key and what is below it, each on a line of its own, without a line end after it."""
    rows = [f"{indent}{_scalar(name)}:"]
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            rows.append(block(key, value, indent + "  ", line_end))
        else:
            rows.append(f"{indent}  {_scalar(key)}: {_inline(value)}")
    return line_end.join(rows)


# Reading


def parse(text: str) -> yaml.MappingNode | None:
    """The root of the text; None if it holds nothing. Malformed text, and keys that are there twice, are refused."""
    return _read(text)[0]


def _read(text: str) -> tuple[yaml.MappingNode | None, Any]:
    """The root of the text and the values that Hermes would get from it."""
    try:
        # One pass for both: PyYAML reads some 200 KB in a second.
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        values = loader.construct_document(root) if root is not None else None
        _refuse_twice(root, set())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise _refused(f"{where}{error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        raise _refused(f"{place_of(text, error.position)}: {error.reason}") from None
    except (RecursionError, ValueError, TypeError) as error:
        raise _refused(f"it cannot be read: {type(error).__name__}") from None
    if root is None or isinstance(root, yaml.MappingNode):
        return root, values
    if root.tag == NULL and root.start_mark.index == root.end_mark.index:
        return None, None  # a bare `---`
    raise _refused(f"line {root.start_mark.line + 1}, column {root.start_mark.column + 1}: settings are expected here")


def _refuse_twice(node: yaml.Node | None, seen: set[int]) -> None:
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_twice(item, seen)
    elif isinstance(node, yaml.MappingNode):
        names: set[Any] = set()
        for key, value in node.value:
            name = _plain(key)
            if isinstance(name, tuple) and name in names:
                raise yaml.MarkedYAMLError(problem=f"{key.value!r:.80} is there twice", problem_mark=key.start_mark)
            if isinstance(name, tuple):
                names.add(name)
            _refuse_twice(value, seen)


def _section(root: yaml.MappingNode | None, section: str) -> Pair | None:
    return _child(root, section) if root is not None else None


def _child(node: yaml.Node, name: str) -> Pair | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((Pair(k, v) for k, v in node.value if isinstance(k, yaml.ScalarNode) and k.value == name), None)


def _is_flow(node: yaml.Node) -> bool:
    return isinstance(node, yaml.MappingNode) and bool(node.flow_style)


def _is_nothing(node: yaml.Node) -> bool:
    """Whether a key has no value written at all, as different from `null` or `~`."""
    return node.tag == NULL and node.start_mark.index == node.end_mark.index


# Putting in


def _ways_to_put(
    text: str, root: yaml.MappingNode | None, *, section: str, name: str, values: Mapping[str, Any]
) -> list[str]:
    """The texts to try, the best first."""
    ending = line_end_of(text)
    found = _section(root, section)
    if found is not None:
        return [_put_into(text, found, section=section, name=name, values=values, ending=ending)]
    if root is not None and root.flow_style:
        added = f"{_scalar(section)}: {{ {_scalar(name)}: {_inline(values)} }}"
        return [_put_into_braces(text, root, added)]
    indent = _indent(text, root.value[0][0], section) if root is not None else ""
    made = block(section, {name: values}, indent, ending)
    at_the_end = text + made + ending if text in ("", BOM) or text.endswith("\n") else text + ending + made
    start = _document_start(text, root)
    return [at_the_end, text[:start] + made + ending + text[start:]]


def _put_into(text: str, found: Pair, *, section: str, name: str, values: Mapping[str, Any], ending: str) -> str:
    node = found.value
    if _is_nothing(node):
        place = text.index(":", found.key.end_mark.index) + 1
        return _spliced(text, place, place, f" {{ {_scalar(name)}: {_inline(values)} }}")
    if not isinstance(node, yaml.MappingNode) or node.start_mark.index < found.key.end_mark.index:
        raise _by_hand(section)
    if node.flow_style:
        return _put_into_braces(text, node, f"{_scalar(name)}: {_inline(values)}")
    line = LINE_END.search(text, found.key.end_mark.index)
    place = line.end() if line else len(text)
    indent = _indent(text, node.value[0][0], section)
    return _spliced(text, place, place, block(name, values, indent, ending) + ending)


def _put_into_braces(text: str, node: yaml.MappingNode, added: str) -> str:
    if node.value:
        first = node.value[0][0].start_mark.index
        return _spliced(text, first, first, f"{added}, ")
    after_brace = text.index("{", node.start_mark.index) + 1
    return _spliced(text, after_brace, after_brace, added)


def _document_start(text: str, root: yaml.MappingNode | None) -> int:
    """Behind the line `---` that begins the document, or at the file's beginning."""
    end = root.start_mark.index if root is not None else len(text)
    marker = list(re.finditer(r"^---[ \t]*(?:#[^\n]*)?\r?\n", text[:end], re.MULTILINE))
    if marker:
        return marker[-1].end()
    return text_start(text)


# Taking out


def _taken_out(text: str, root: yaml.MappingNode, servers: Pair, found: Pair) -> str | None:
    section = servers.value
    if not isinstance(section, yaml.MappingNode):
        return None
    if len(section.value) > 1:
        return _without(text, section, found)
    if not _is_flow(section):
        next_line = LINE_END.search(text, servers.key.end_mark.index)
        made_for_it = next_line is not None and next_line.end() == _line_start(text, found.key.start_mark.index)
        return _without(text, root, servers) if made_for_it else _without(text, section, found)
    inside = text[section.start_mark.index + 1 : section.end_mark.index - 1]
    if not inside.startswith(" "):
        return _spliced(text, found.key.start_mark.index, found.value.end_mark.index, "")
    if _is_flow(root):
        return _without(text, root, servers)
    colon = text.index(":", servers.key.end_mark.index) + 1
    return _spliced(text, colon, section.end_mark.index, "")


def _without(text: str, parent: yaml.MappingNode, found: Pair) -> str | None:
    if not parent.flow_style:
        start, end = _line_start(text, found.key.start_mark.index), _content_end(text, found.value)
        after = LINE_END.match(text, end)
        if after:
            return _spliced(text, start, after.end(), "")
        begin = text_start(text)
        before = start - (2 if text[start - 2 : start] == "\r\n" else 1) if start > begin else start
        return text[:before] if end == len(text) else None
    start, end = found.key.start_mark.index, found.value.end_mark.index
    comma = _SPACE_AND_COMMA.match(text, end)
    if comma:
        return _spliced(text, start, comma.end() + (1 if text[comma.end() : comma.end() + 1] == " " else 0), "")
    kept = text[:start].rstrip()
    if kept.endswith(","):
        return kept[:-1] + text[end:]
    return _spliced(text, start, end, "") if len(parent.value) == 1 else None


def _content_end(text: str, node: yaml.Node) -> int:
    """The end of a value's last line that is not blank or a comment, without its line end."""
    end = _last_mark(node)
    if text[end - 1 : end] == "\n":
        end -= 2 if text[end - 2 : end] == "\r\n" else 1
    line = LINE_END.search(text, end)
    return line.start() if line else len(text)


def _last_mark(node: yaml.Node) -> int:
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        key, value = node.value[-1]
        return max(int(key.end_mark.index), _last_mark(value))
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return _last_mark(node.value[-1])
    return int(node.end_mark.index)


def _indent(text: str, key: yaml.Node, section: str) -> str:
    start = _line_start(text, key.start_mark.index)
    indent = text[start : key.start_mark.index]
    if indent.strip(" "):
        raise _by_hand(section)
    return indent


def _line_start(text: str, at: int) -> int:
    return max(line_start(text, at), text_start(text))


def _spliced(text: str, start: int, end: int, added: str) -> str:
    return text[:start] + added + text[end:]


# Writing


def _scalar(value: object) -> str:
    if isinstance(value, bool | int):
        return json.dumps(value)
    text = str(value)
    if _SIMPLE.fullmatch(text) and text[0].isalpha() | (text[0] == "/") and yaml.safe_load(text) == text:
        return text
    return _NOT_PRINTABLE.sub(lambda match: f"\\U{ord(match[0]):08x}", json.dumps(text, ensure_ascii=False))


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(key)}: {_inline(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_inline(inner) for inner in value) + "]"
    return _scalar(value)


# Judging


class Meaning(NamedTuple):
    """What a text says: all but one section, and the entries of that section."""

    others: Nodes
    entries: dict[str, Any]


def _meaning(root: yaml.MappingNode | None, section: str) -> Meaning:
    if root is None:
        return Meaning({}, {})
    found = _section(root, section)
    others = {_plain(key): _plain(value) for key, value in root.value if found is None or key is not found.key}
    if found is None or found.value.tag == NULL:
        return Meaning(others, {})
    if not isinstance(found.value, yaml.MappingNode):
        mark = found.value.start_mark
        raise _refused(f"line {mark.line + 1}, column {mark.column + 1}: {section} should hold names and entries")
    return Meaning(others, {str(key.value): _plain(value) for key, value in found.value.value})


def _plain(node: yaml.Node) -> Any:
    """A value that can be compared: by what is written and its kind, since a number like `.nan` equals nothing."""
    if isinstance(node, yaml.MappingNode):
        return {_hashable(_plain(key)): _plain(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item) for item in node.value]
    return (node.tag, node.value)


def _hashable(value: Any) -> Any:
    return value if isinstance(value, tuple) else repr(value)


def _says(text: str, section: str, *, others: Nodes, entries: dict[str, Any], new: str | None) -> bool:
    """Whether the text has these other settings and these entries, of which `new` is given by its values."""
    try:
        root, values = _read(text)
        after = _meaning(root, section)
    except ZaxyError:
        return False
    if after.others != others or after.entries.keys() != entries.keys():
        return False
    if new is not None and values[section][new] != entries[new]:
        return False
    return all(after.entries[name] == entries[name] for name in entries if name != new)


def _by_hand(section: str) -> ZaxyError:
    return Conflict(
        f"{section} is written in a way that cannot be edited without touching other parts of the file",
        "Edit the file by hand; it was left as it is.",
    )


def _refused(what: str) -> ZaxyError:
    return Unavailable(what, FIX)
