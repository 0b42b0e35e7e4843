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
    read_contracts,
    read_pin,
    shipped_folder,
    write_contract,
)
from zaxy.contracts.diff import BREAKING, ContractChange
from zaxy.contracts.pin import pin as make_pin, plugin_of_project
from zaxy.contracts.snapshot import Contract, live_contracts, plugin_contract
from zaxy.errors import Unavailable, ZaxyError, error_of
from zaxy.plugins.manifest import Manifest
from zaxy.plugins.roster import InstalledPlugin, Roster, load_roster
from zaxy.plugins.scaffold import CONTRACT_FILE
from zaxy.plugins.sources import python_sources
from zaxy.printing import say
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
        say(f"{name.ljust(width)}  {contract['distribution'].ljust(packages)}  {_grades(contract)}")


@command(app, "contracts check")
def check(
    file: Annotated[Path | None, typer.Argument(help="A pinned contract. Default: the published snapshots.")] = None,
    as_json: AsJson = False,
) -> None:
    if file is None:
        changes = check_snapshots(_roster(), shipped_folder())
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
        advice = "This core breaks what was pinned: adapt the plugin and pin again, or stay with the older zaxy-core."
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
    name: Annotated[str | None, typer.Argument(help="An installed plugin. Default: the one of this project.")] = None,
    output: Annotated[Path, typer.Option("--output", help="The file to write.")] = Path(CONTRACT_FILE),
    as_json: AsJson = False,
) -> None:
    row = _roster().row(name) if name else _row_of_project()
    pinned = make_pin(_manifest(row), row.package, python_sources(row.module))
    write_contract(output, pinned)
    if as_json:
        say(json.dumps({"written": [str(output)], "items": len(pinned["items"])}, indent=2))
        return
    say(f"wrote {output}: {len(pinned['items'])} items that {row.name} relies on")
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
    for name, contract in contracts.items():
        write_contract(folder / f"{name}.json", contract)
    written = [str(folder / f"{name}.json") for name in contracts]
    say(json.dumps({"written": written}, indent=2) if as_json else "\n".join(f"wrote {w}" for w in written))


def _row_of_project() -> InstalledPlugin:
    """The plugin of the project in the current folder. It must be installed."""
    name = plugin_of_project(Path.cwd())
    try:
        return _roster().row(name)
    except ZaxyError as error:
        raise error_of(error.code, error.message, "Install the project first: pip install -e .") from None


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
