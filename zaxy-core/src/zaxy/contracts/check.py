"""Hold the live code against the snapshots that were published, or against what a downstream package pinned."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

from zaxy.api.catalog import API_CURRENT, API_FLOOR, version_text
from zaxy.atomic_write import atomic_write
from zaxy.contracts.diff import BREAKING, ContractChange, compare
from zaxy.contracts.packages import TOOLS_POINT, plugin_contract
from zaxy.contracts.snapshot import FORMAT, KIT, Contract, Items, kit_items, live_contracts
from zaxy.errors import InvalidRequest, NotFound, TooLarge, Unavailable
from zaxy.plugins.roster import Roster, load_roster, package_of, same_package
from zaxy.security.small_files import read_named_file
from zaxy.settings import Settings

PLUGINS = "plugins"
MAX_FILE = 16 << 20


def shipped_folder() -> Path:
    """Where the published snapshots are: inside the installed package, or at the root of a checkout."""
    here = Path(__file__).resolve()
    inside = here.parent / "snapshots"
    return inside if inside.is_dir() else here.parents[4] / "contracts"


def read_contract(path: Path) -> Contract:
    """A snapshot or a pin from a file, checked to be one."""
    try:
        if path.stat().st_size > MAX_FILE:
            raise TooLarge(f"{path} is larger than 16 MiB", "Pass a contract file, such as a pin.")
        read = json.loads(read_named_file(str(path), MAX_FILE))
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}", "Check the path.") from None
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"{path} is not JSON: {error}", "Pass a contract file.") from None
    if not isinstance(read, dict) or read.get("format") != FORMAT or not _are_items(read.get("items")):
        raise InvalidRequest(
            f"{path} is not a contract of format {FORMAT}",
            "Pass a file that 'zaxy contracts snapshot' or 'zaxy contracts pin' wrote.",
        )
    return read


def read_contracts(path: Path) -> dict[str, Contract]:
    """The contracts in a file, or in a folder and its `plugins` folder, by name."""
    if not os.path.isdir(path):
        if not os.path.lexists(path):
            raise NotFound(f"{path} is not there", "Pass a contract file or a folder of them.")
        one = read_contract(path)
        return {str(one.get("contract", path.stem)): one}
    found = {file.stem: read_contract(file) for file in sorted(path.glob("*.json"))}
    found |= {f"{PLUGINS}/{file.stem}": read_contract(file) for file in sorted(path.glob(f"{PLUGINS}/*.json"))}
    return found


def contract_text(contract: Contract) -> str:
    return json.dumps(contract, indent=2, ensure_ascii=False) + "\n"


def write_contract(path: Path, contract: Contract) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(str(path), contract_text(contract).encode(), mode=None)
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}", "Name another place.") from None


def compare_all(old: dict[str, Contract], new: dict[str, Contract]) -> dict[str, list[ContractChange]]:
    """The changes of each contract that differs."""
    empty: Contract = {"items": {}}
    changes = {
        name: compare(old.get(name, empty)["items"], new.get(name, empty)["items"])
        for name in sorted(old.keys() | new.keys())
    }
    return {name: found for name, found in changes.items() if found}


def check_snapshots(roster: Roster, folder: Path) -> dict[str, list[ContractChange]]:
    """How the live code differs from the snapshots. A plugin's snapshot counts only where that package is installed."""
    published = read_contracts(folder)
    live = live_contracts()
    for row in roster.rows:
        name = f"{PLUGINS}/{row.name}"
        ours = name in published and same_package(row.package, str(published[name].get("distribution")))
        if ours and row.manifest:
            live[name] = plugin_contract(row.manifest, row.package)
    present = {name: found for name, found in published.items() if "/" not in name or name in live}
    return compare_all(present, live)


def read_pin(path: Path) -> Contract:
    pin = read_contract(path)
    if pin.get("kind") != "pin":
        raise InvalidRequest(
            f"{path} is a snapshot, not a pin",
            "Compare snapshots with 'zaxy contracts diff'; 'zaxy contracts pin' writes pins.",
        )
    return pin


def check_pin(pin: Contract) -> list[ContractChange]:
    """What changed in the live code of all that was pinned; items that were not pinned do not matter."""
    live = live_items({name.partition(": ")[0] for name in pin["items"]})
    has_kit = any(name.startswith(KIT) for name in live)
    pinned: Items = {name: item for name, item in pin["items"].items() if has_kit or not name.startswith(KIT)}
    changes = compare(pinned, {name: item for name, item in live.items() if name in pinned or _demanded(name, pinned)})
    version = _version(pin.get("api"))
    if version and version < API_FLOOR and any(name.startswith("plugin-api: ") for name in pinned):
        window = f"{version_text(API_FLOOR)} to {version_text(API_CURRENT)}"
        what = f"plugin API {version_text(version)} was pinned; this core accepts {window}"
        changes.insert(0, ContractChange("plugin API", BREAKING, what, "stable"))
    return changes


def live_items(only: Collection[str] | None = None) -> Items:
    """Every item of the live contracts and of the kit in one table, under the name that pins use: `contract: item`."""
    contracts = {**live_contracts(only), **_with_tools(only)}
    tables = {contract: described["items"] for contract, described in contracts.items()}
    if only is None or KIT in only:
        tables[KIT] = kit_items()
    return {f"{contract}: {name}": item for contract, items in tables.items() for name, item in items.items()}


def _with_tools(only: Collection[str] | None) -> dict[str, Contract]:
    """The contracts of our installed packages that bring tools: clients rely on those as on the core's."""
    ours = [row for row in load_roster(Settings()).rows if row.usable and package_of(row.name) == row.package]
    named = {f"{PLUGINS}/{row.name}": (row.manifest, row.package) for row in ours}
    return {
        name: plugin_contract(manifest, package)
        for name, (manifest, package) in named.items()
        if manifest and TOOLS_POINT in manifest.points and (only is None or name in only)
    }


def _demanded(name: str, pinned: Items) -> bool:
    """A method or a required manifest field that is new, beside pinned ones of the same kind."""
    family = name.partition(".")[0] + "." if name.startswith("plugin-api: method ") else "manifest: "
    return name.startswith(family) and any(known.startswith(family) for known in pinned)


def _version(text: object) -> tuple[int, int] | None:
    parts = str(text).split(".")
    return (int(parts[0]), int(parts[1])) if len(parts) == 2 and all(p.isdecimal() for p in parts) else None


def _are_items(items: Any) -> bool:
    return isinstance(items, dict) and all(
        isinstance(i, dict) and "stability" in i and "side" in i for i in items.values()
    )
