"""Write a package into a folder the way an installer leaves it, so that tests can have plugins without pip."""

from __future__ import annotations

import json
from pathlib import Path


def install(
    site: Path,
    package: str,
    modules: dict[str, str],
    manifest: dict[str, object] | str | None,
    entry_points: str,
    version: str = "0.1.0",
) -> None:
    """`modules` are sources by file name, in the import package that `package` names with underscores."""
    folder = site / package.replace("-", "_")
    folder.mkdir(parents=True)
    for name, source in {"__init__.py": "", **modules}.items():
        (folder / name).write_text(source)
    if manifest is not None:
        text = manifest if isinstance(manifest, str) else json.dumps(manifest)
        (folder / "zaxy-plugin.json").write_text(text)
    info = site / f"{package.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n\nA test package.\n")
    (info / "entry_points.txt").write_text(entry_points)
    (info / "INSTALLER").write_text("tests\n")
    (info / "RECORD").write_text("")


def manifest_of(name: str, /, **changed: object) -> dict[str, object]:
    """A manifest that is right, with some parts changed."""
    return {
        "manifest": 1,
        "name": name,
        "summary": f"The test plugin {name}.",
        "api": {"min": "0.1", "max": "0.1"},
        "provides": [{"point": "export_sinks", "name": name}],
        **changed,
    }


def install_plugin(site: Path, name: str, **changed: object) -> None:
    """A right plugin that provides an export sink of its own name."""
    package = name.replace("-", "_")
    plugin = (
        "from zaxy.api import Provider, hookimpl\n\n\n"
        "@hookimpl\ndef zaxy_export_sinks():\n"
        f"    return [Provider({name!r}, '{package}.sink:Sink', 'A sink.')]\n"
    )
    sink = (
        "from zaxy.api import Receipt\n\n\n"
        "class Sink:\n"
        "    def __init__(self, context):\n        self.context = context\n\n"
        "    def check(self, destination):\n        pass\n\n"
        "    def deliver(self, parcel, destination, token):\n"
        "        return Receipt(destination, parcel.size, parcel.sha256)\n"
    )
    install(
        site,
        name,
        {"plugin.py": plugin, "sink.py": sink},
        manifest_of(name, **changed),
        f"[zaxy.plugins]\n{name} = {package}.plugin\n",
    )
