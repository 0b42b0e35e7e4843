"""`zaxy contracts list | check | diff | pin | snapshot`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from zaxy.commands import command, new_app
from zaxy.contracts.check import (
    PLUGINS,
    check_pin,
    check_snapshots,
    compare_all,
    live_items,
    read_contracts,
    read_pin,
    shipped_folder,
    write_contract,
)
from zaxy.contracts.diff import BREAKING, ContractChange
from zaxy.contracts.packages import plugin_contract
from zaxy.contracts.pin import CONTRACT_FILE, name_of_project, pinned, plugin_items, plugin_of_project
from zaxy.contracts.snapshot import Contract, Item, live_contracts
from zaxy.contracts.uses import event_items, python_items, tool_items
from zaxy.errors import InvalidRequest, Unavailable, ZaxyError, error_of
from zaxy.plugins.install_hints import install_command
from zaxy.plugins.manifest import Manifest
from zaxy.plugins.roster import InstalledPlugin, Roster, load_roster
from zaxy.plugins.sources import python_sources
from zaxy.printing import say, say_wrapped
from zaxy.security.paths import make_folder_for
from zaxy.settings import Settings
from zaxy.workspace import stored_settings_here

app = new_app("contracts")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Folder = Annotated[Path, typer.Argument(help="The folder to write into.")]


@command(app, "contracts list")
def list_contracts(as_json: AsJson = False) -> None:
    published = read_contracts(shipped_folder())
    if as_json:
        say(json.dumps({"contracts": list(published.values())}, indent=2, ensure_ascii=False))
        return
    width = max(map(len, published), default=0)
    packages = max((len(contract["distribution"]) for contract in published.values()), default=0)
    for name, contract in published.items():
        say_wrapped(f"{name.ljust(width)}  {contract['distribution'].ljust(packages)}  {_grades(contract)}")


@command(app, "contracts check")
def check(
    file: Annotated[Path | None, typer.Argument(help="A pinned contract. Default: the published snapshots.")] = None,
    as_json: AsJson = False,
) -> None:
    if file is None:
        # No setting of this machine takes part: one that is wrong, or another graph, says nothing about the code.
        changes = check_snapshots(load_roster(Settings({})), shipped_folder())
        broken = bool(changes)
        advice = (
            "The code and its published contract differ. If that is meant, run 'zaxy contracts snapshot contracts' in\n"
            "the checkout (with --plugin NAME for a plugin's contract) and say so in the CHANGELOG."
        )
        if _breaks_stable(changes):
            advice += "\nA breaking change of a stable item needs a new major of the plugin API."
    else:
        changes = {str(file): check_pin(read_pin(file))}
        broken = any(change.verdict == BREAKING for change in changes[str(file)])
        advice = "This core breaks what was pinned: adapt what relies on it and pin again, or stay with the older core."
    _print_changes(changes, as_json, broken, advice)


@command(app, "contracts diff")
def diff(
    old: Annotated[Path, typer.Argument(help="A snapshot, or a folder of them.")],
    new: Annotated[Path, typer.Argument(help="A later snapshot, or a folder of them.")],
    as_json: AsJson = False,
) -> None:
    changes = compare_all(read_contracts(old), read_contracts(new))
    broken = any(change.verdict == BREAKING for found in changes.values() for change in found)
    _print_changes(changes, as_json, broken, "Breaking changes: those who rely on these items must adapt.")


@command(app, "contracts pin")
def pin(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="An installed plugin; default: this project's. With --python: files or folders of a program.",
        ),
    ] = None,
    *,
    mcp: Annotated[str, typer.Option("--mcp", help="MCP tools that a client calls, separated by commas.")] = "",
    python: Annotated[
        bool, typer.Option("--python", help="The names of 'zaxy' that a program uses; all of them without WHAT.")
    ] = False,
    events: Annotated[str, typer.Option("--events", help="Event types that are read, separated by commas.")] = "",
    output: Annotated[Path, typer.Option("--out", "--output", help="The file to write.")] = Path(CONTRACT_FILE),
    as_json: AsJson = False,
) -> None:
    tools, types, given = _words(mcp), _words(events), what or []
    live, items = live_items(), dict[str, Item]()
    name = package = name_of_project(Path.cwd())
    if (given and not python) or not (tools or types or python):
        row = _row_of(given)
        name, package = row.name, row.package
        items = plugin_items(live, _manifest(row), python_sources(row.module))
    items |= tool_items(live, tools) | event_items(live, types)
    if python:
        items |= python_items(live, [Path(path) for path in given])
    make_folder_for(str(output))
    write_contract(output, pinned(name, package, items))
    if as_json:
        say(json.dumps({"written": [str(output)], "items": len(items)}, indent=2))
        return
    say(f"wrote {output}: {len(items)} items that {name} relies on")
    say(f"next: run 'zaxy contracts check {output}' in its CI")


@command(app, "contracts snapshot")
def snapshot(
    folder: Folder,
    plugin: Annotated[
        str | None, typer.Option("--plugin", help="The contract of this installed plugin instead.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    if plugin is None:
        contracts = live_contracts()
    else:
        row = _roster().row(plugin)
        contracts = {f"{PLUGINS}/{row.name}": plugin_contract(_manifest(row), row.package)}
    make_folder_for(str(folder))
    for name, contract in contracts.items():
        write_contract(folder / f"{name}.json", contract)
    written = [str(folder / f"{name}.json") for name in contracts]
    say(json.dumps({"written": written}, indent=2) if as_json else "\n".join(f"wrote {w}" for w in written))


def _words(listed: str) -> list[str]:
    return [word.strip() for word in listed.split(",") if word.strip()]


def _row_of(names: list[str]) -> InstalledPlugin:
    if len(names) > 1:
        raise InvalidRequest("only one plugin is pinned at a time", "Files and folders of a program need --python.")
    return _roster().row(names[0]) if names else _row_of_project()


def _row_of_project() -> InstalledPlugin:
    """The plugin of the project in the current folder. It must be installed."""
    name = plugin_of_project(Path.cwd())
    try:
        return _roster().row(name)
    except ZaxyError as error:
        raise error_of(
            error.code, error.message, f"Install the project first: {install_command('.', editable=True)}"
        ) from None


def _roster() -> Roster:
    return load_roster(Settings(stored=stored_settings_here()))


def _manifest(row: InstalledPlugin) -> Manifest:
    if row.manifest is None:
        raise Unavailable(f"the plugin {row.name} has no manifest that can be read: {row.error}", row.hint)
    return row.manifest


def _grades(contract: Contract) -> str:
    grades = Counter(item["stability"] for item in contract["items"].values())
    return f"{len(contract['items'])} items: " + ", ".join(f"{n} {grade}" for grade, n in sorted(grades.items()))


def _breaks_stable(changes: dict[str, list[ContractChange]]) -> bool:
    return any(c.verdict == BREAKING and c.stability == "stable" for found in changes.values() for c in found)


def _print_changes(changes: dict[str, list[ContractChange]], as_json: bool, broken: bool, advice: str) -> None:
    if as_json:
        listed = {name: [change.as_dict() for change in found] for name, found in changes.items()}
        say(json.dumps({"ok": not broken, "changes": listed}, indent=2, ensure_ascii=False))
        raise typer.Exit(1 if broken else 0)
    for name, found in changes.items():
        for change in found:
            say(f"{change.verdict}: {name}: {change.item}: {change.what} ({change.stability})")
    if broken:
        say(advice, err=True)
    elif not any(changes.values()):
        say("no differences")
    raise typer.Exit(1 if broken else 0)
