"""Write zaxy-memory's requirements: this tree's packages in a checkout, version ranges for publishing.

pip must never take a zaxy-* package from an index when the tree beside it has one, so a checkout
requires each package by its path. A wheel that is to be published may not name paths: build it
with ZAXY_RELEASE=1.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

REQUIREMENT = re.compile(r"(?P<name>[a-z0-9-]+)(?P<extras>\[[a-z0-9,-]+\])?")


class TreeRequirements(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        members = _members(Path(self.root))
        extras = {extra: list(names) for extra, names in self.config["extras"].items()}
        together = extras.keys() - set(self.config["apart"])
        extras["all"] = sorted({name for extra in together for name in extras[extra]})
        metadata["dependencies"] = [_requirement(name, members) for name in self.config["requires"]]
        metadata["optional-dependencies"] = {
            extra: [_requirement(name, members) for name in names] for extra, names in extras.items()
        }


def _members(root: Path) -> dict[str, tuple[Path, str]]:
    """Every package of the tree: its folder and its version, by distribution name."""
    members = {}
    for project in (root / "zaxy-core" / "pyproject.toml", *sorted(root.glob("plugins/*/pyproject.toml"))):
        if project.is_file():
            about = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
            members[about["name"]] = (project.parent, about["version"])
    return members


def _requirement(wanted: str, members: dict[str, tuple[Path, str]]) -> str:
    match = REQUIREMENT.fullmatch(wanted)
    if match is None or match["name"] not in members:
        raise ValueError(f"zaxy-memory requires {wanted!r}, and no package of that name is in this tree")
    folder, version = members[match["name"]]
    if os.environ.get("ZAXY_RELEASE") != "1":
        return f"{wanted} @ {folder.as_uri()}"
    major, minor, _ = version.split(".", 2)
    ceiling = f"0.{int(minor) + 1}" if major == "0" else str(int(major) + 1)
    return f"{wanted}>={version},<{ceiling}"
