"""What those rely on who write no plugin: clients of the MCP tools, programs that use `zaxy`, readers of events."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from zaxy.contracts.snapshot import Item, Items
from zaxy.errors import InvalidRequest, NotFound
from zaxy.plugins.roster import install_advice, package_of

TOOL, EVENT, PYTHON = "mcp-tools: tool ", "event-types: event ", "python: "
ANY_TOOL = re.compile(r"(?:mcp-tools|plugins/[a-z0-9-]+): tool (\w+)")
REPLIES = {"memory_checkout": "memory-checkout: field ", "memory_export": "plugins/export: field "}
"""Tools whose replies have a contract of their own."""
REPLY = "mcp-responses: field "


def tool_items(live: Items, tools: Sequence[str]) -> Items:
    """The tools with their arguments, and the fields of their replies."""
    known = {match[1]: name for name in live if (match := ANY_TOOL.fullmatch(name))}
    _refuse_unknown("MCP tool", tools, known=list(known))
    replies = tuple(REPLIES.get(tool, f"{REPLY}{tool} ") for tool in tools)
    wanted = {known[tool] for tool in tools}
    return {name: item for name, item in live.items() if name in wanted or name.startswith(replies)}


def event_items(live: Items, types: Sequence[str]) -> Items:
    """The event types with the fields of their payloads."""
    _refuse_unknown("event type", types, known=[name.removeprefix(EVENT) for name in live if name.startswith(EVENT)])
    return {f"{EVENT}{name}": live[f"{EVENT}{name}"] for name in types}


def python_items(live: Items, sources: Sequence[Path]) -> Items:
    """The public names of `zaxy` that the sources use, with their fields and methods; all of them without sources."""
    if not sources:
        return {name: item for name, item in live.items() if name.startswith(PYTHON)}
    used = _used_in(sources)
    public = {name.split()[-1] for name in live if re.match(f"{PYTHON}(class|value) ", name)}
    names = public if "*" in used.names else used.names
    if unknown := sorted(names - public):
        raise InvalidRequest(
            f"{unknown[0]} is no public name of zaxy", "Fix the import first; 'import zaxy; dir(zaxy)' lists them."
        )
    if not names:
        shown = ", ".join(map(str, sources))
        raise InvalidRequest(f"nothing in {shown} is imported from zaxy", "Name the files that use it.")
    return {**_named(live, names), **_members_used(live, names, used.attributes)}


class Used(NamedTuple):
    names: set[str]
    """What is imported from `zaxy`, or looked up in it."""
    attributes: set[str]
    """What is looked up in any object; which class that has, the source does not say."""


def python_files(paths: Iterable[Path]) -> list[Path]:
    """The files of Python among paths of files and folders."""
    files: list[Path] = []
    for path in paths:
        if not path.exists():
            raise NotFound(f"{path} is not there", "Name the files or folders of a program that uses zaxy.")
        files += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    if not files:
        raise NotFound("there is no Python file in the folders named", "Name the files of a program that uses zaxy.")
    return files


def _used_in(sources: Sequence[Path]) -> Used:
    names: set[str] = set()
    attributes: set[str] = set()
    for file in python_files(sources):
        nodes = _nodes(file)
        modules = {alias.asname or alias.name for node in nodes for alias in _modules(node) if alias.name == "zaxy"}
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module == "zaxy" and not node.level:
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.Attribute):
                of_zaxy = isinstance(node.value, ast.Name) and node.value.id in modules
                (names if of_zaxy else attributes).add(node.attr)
            elif isinstance(node, ast.With | ast.AsyncWith):
                attributes |= {"__enter__", "__exit__"}
    return Used(names, attributes)


def _nodes(file: Path) -> list[ast.AST]:
    try:
        return list(ast.walk(ast.parse(file.read_bytes())))
    except (OSError, SyntaxError, ValueError) as error:
        raise InvalidRequest(f"{file} cannot be read as Python: {error}", "Fix it first, or leave it out.") from None


def _modules(node: ast.AST) -> list[ast.alias]:
    return node.names if isinstance(node, ast.Import) else []


def _named(live: Items, names: set[str]) -> Items:
    wanted = {f"{PYTHON}{kind} {name}" for name in names for kind in ("class", "value")}
    return {name: item for name, item in live.items() if name in wanted}


def _members_used(live: Items, names: set[str], attributes: set[str]) -> Items:
    """The fields and methods that are used of those classes, and of all that these give, and so on."""
    found: Items = {}
    pending, reached = sorted(names), set[str]()
    while pending:
        name = pending.pop()
        if name in reached or f"{PYTHON}class {name}" not in live:
            continue
        reached.add(name)
        pending += re.findall(r"\w+", " ".join(live[f"{PYTHON}class {name}"]["bases"]))
        own = re.compile(rf"{PYTHON}(?:field|method) {name}\.(\w+)")
        used = {item: live[item] for item in live if (match := own.fullmatch(item)) and match[1] in attributes}
        found |= used
        pending += sorted(word for item in used.values() for word in _given(item))
    return found


def _given(item: Item) -> list[str]:
    """The words of the type that a field has or a method returns."""
    return re.findall(r"\w+", str(item.get("returns", item.get("type", ""))))


def _refuse_unknown(what: str, asked: Sequence[str], known: Sequence[str]) -> None:
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise InvalidRequest(f"no contract of zaxy-core has the {what} {unknown[0]!r}", _advice(unknown[0], known))


def _advice(unknown: str, known: Sequence[str]) -> str:
    if package_of(unknown):
        return install_advice(unknown)
    near = get_close_matches(unknown, known, n=1)
    return f"Did you mean {near[0]}?" if near else f"The contract has {', '.join(sorted(known))}."
