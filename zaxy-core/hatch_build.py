"""Put the contract snapshots of the tree's root into the wheel, where `zaxy contracts` finds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

IN_WHEEL = "zaxy/contracts/snapshots"
IN_SDIST = "contracts"


class ContractSnapshots(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # an editable install reads the folder of the tree itself
        root = Path(self.root)
        snapshots = next((f for f in (root.parent / "contracts", root / IN_SDIST) if f.is_dir()), None)
        if snapshots is None:
            raise FileNotFoundError(f"no contracts folder beside or in {root}: build from a checkout or its sdist")
        build_data["force_include"][str(snapshots)] = IN_WHEEL if self.target_name == "wheel" else IN_SDIST
