"""Write down the part of the contracts that somebody relies on, so that their own CI can watch it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from zaxy import __version__
from zaxy.api.catalog import ABILITIES, API_CURRENT, POINTS, version_text
from zaxy.contracts.check import live_items
from zaxy.contracts.snapshot import FORMAT, KIT, Contract, Item, Items
from zaxy.errors import InvalidRequest
from zaxy.plugins.manifest import FILE_NAME as MANIFEST_FILE, Manifest, parse_manifest

CONTRACT_FILE = "zaxy-contract.json"
"""Where a plugin's project keeps its pin."""
ALWAYS = ("Provider", "ProviderContext", "ZaxyError", "hookimpl")


def pin(manifest: Manifest, package: str, sources: Iterable[str]) -> Contract:
    """What one plugin relies on."""
    return pinned(manifest.name, package, plugin_items(live_items(), manifest, sources))


def pinned(name: str, package: str, items: Items) -> Contract:
    return {
        "contract": name,
        "kind": "pin",
        "format": FORMAT,
        "distribution": package,
        "api": version_text(API_CURRENT),
        "core": __version__,
        "items": dict(sorted(items.items())),
    }


def plugin_items(live: Items, manifest: Manifest, sources: Iterable[str]) -> Items:
    """The hooks and Protocols of the points it provides, every model those speak of, and what its sources import."""
    wanted = {f"plugin-api: hook {POINTS[point].hook}" for point in manifest.points}
    protocols = {POINTS[point].protocol for point in manifest.points}
    declared = {capability for provided in manifest.provides for capability in provided.capabilities}
    protocols |= {protocol for capability, protocol in ABILITIES.items() if capability in declared}
    wanted |= {name for name in live if _owner(name) in protocols}
    wanted |= {name for name in live if name.startswith("manifest: ")}
    wanted |= {name for protocol in protocols for name in live if name == f"{KIT}: case {protocol}Case"}
    words = {*ALWAYS, *(word for source in sources for word in imported_names(source))}
    return _closure(live, wanted, words)


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
        names = list(_project(folder)["entry-points"]["zaxy.plugins"])
    except (KeyError, TypeError):
        names = []
    if len(names) == 1:
        return str(names[0])
    raise InvalidRequest(
        f"{folder} has no pyproject.toml that announces one plugin",
        "Run this in a plugin's project, name an installed plugin (zaxy contracts pin NAME), or say what else relies "
        "on Zaxy: --mcp TOOLS, --python [PATHS], --events TYPES.",
    )


def name_of_project(folder: Path) -> str:
    """The name that the project in this folder has, else that of the folder."""
    name = _project(folder).get("name")
    return name if isinstance(name, str) and name else folder.resolve().name or "project"


def _project(folder: Path) -> dict[str, Any]:
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")).get("project")
    except (OSError, ValueError):
        project = None
    return project if isinstance(project, dict) else {}


def _closure(live: Items, wanted: set[str], words: set[str]) -> Items:
    """The wanted items, and every model or function that their types mention, and so on."""
    nouns = {
        name.rpartition(" ")[2]: name for name in live if re.match(r"plugin-api: (model|function|constant) ", name)
    }
    items: Items = {}
    editors = [name for name in live if " edit." in name and "edit" in words]
    of_tools = [name for name in live if " tools." in name and name.rpartition(".")[2] in words]
    pending = [*wanted, *editors, *of_tools, *(nouns[word] for word in words if word in nouns)]
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
