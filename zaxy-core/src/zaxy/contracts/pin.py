"""Write down the part of the contract that one plugin relies on, so that its own CI can watch it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from zaxy import __version__
from zaxy.api.catalog import API_CURRENT, POINTS, version_text
from zaxy.contracts.check import live_items
from zaxy.contracts.snapshot import FORMAT, Contract, Item, Items
from zaxy.errors import InvalidRequest
from zaxy.plugins.manifest import FILE_NAME as MANIFEST_FILE, Manifest, parse_manifest

ALWAYS = ("Provider", "ProviderContext", "ZaxyError", "hookimpl")


def pin(manifest: Manifest, package: str, sources: Iterable[str]) -> Contract:
    """The hooks and Protocols of the points it provides, every model those speak of, and what its sources import."""
    live = live_items()
    wanted = {f"plugin-api: hook {POINTS[point].hook}" for point in manifest.points}
    protocols = {POINTS[point].protocol for point in manifest.points}
    if any("follower" in provided.capabilities for provided in manifest.provides):
        protocols.add("Follower")
    wanted |= {name for name in live if _owner(name) in protocols}
    wanted |= {name for name in live if name.startswith("manifest: ")}
    wanted |= {name for protocol in protocols for name in live if name == f"plugin-api: case {protocol}Case"}
    words = {*ALWAYS, *(word for source in sources for word in imported_names(source))}
    items = _closure(live, wanted, words)
    return {
        "contract": manifest.name,
        "kind": "pin",
        "format": FORMAT,
        "distribution": package,
        "api": version_text(API_CURRENT),
        "core": __version__,
        "items": dict(sorted(items.items())),
    }


def pin_of_files(package: str, files: Mapping[str, str]) -> Contract:
    """The same for a package that is not installed yet, from its files by path."""
    manifest = next(text for path, text in files.items() if path.endswith(MANIFEST_FILE))
    sources = [text for path, text in files.items() if path.startswith("src/") and path.endswith(".py")]
    return pin(parse_manifest(manifest.encode(), package), package, sources)


def imported_names(source: str) -> set[str]:
    """What a module's source takes from `zaxy.api`."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise InvalidRequest(f"a source file of the plugin is not Python: {error}", "Fix it first.") from None
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("zaxy.api"):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "api":
            names.add(node.attr)
    return names


def plugin_of_project(folder: Path) -> str:
    """The plugin that the project in this folder announces, by its pyproject.toml."""
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
        names = list(project["project"]["entry-points"]["zaxy.plugins"])
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        names = []
    if len(names) == 1:
        return str(names[0])
    raise InvalidRequest(
        f"{folder} has no pyproject.toml that announces one plugin",
        "Run this in a plugin's project, or name an installed plugin: zaxy contracts pin NAME",
    )


def _closure(live: Items, wanted: set[str], words: set[str]) -> Items:
    """The wanted items, and every model or function that their types mention, and so on."""
    nouns = {
        name.rpartition(" ")[2]: name for name in live if re.match(r"plugin-api: (model|function|constant) ", name)
    }
    items: Items = {}
    editors = [name for name in live if " edit." in name and "edit" in words]
    pending = [*wanted, *editors, *(nouns[word] for word in words if word in nouns)]
    while pending:
        name = pending.pop()
        if name not in items:
            items[name] = live[name]
            pending += [nouns[word] for word in _type_words(live[name]) if word in nouns]
    return items


def _type_words(item: Item) -> set[str]:
    described = [item, *item.get("parameters", []), *item.get("fields", [])]
    for method in item.get("methods", []):
        described += [method, *method["parameters"]]
    texts = [str(part.get(key, "")) for part in described for key in ("type", "returns")]
    return {word for text in texts for word in re.findall(r"\w+", text)}


def _owner(name: str) -> str:
    match = re.fullmatch(r"plugin-api: method (\w+)\.\w+", name)
    return match[1] if match else ""
