"""Finds installed plugins without importing them, and without `importlib.metadata` (60 ms of start-up).

The rules are those of `importlib.metadata`, and a test compares the two: the folders of `sys.path` in order,
`.dist-info`, `.egg-info` and eggs. Of two distributions with one name, the first one counts. Only a finder on
`sys.meta_path` that serves distributions of its own is not asked.
"""

from __future__ import annotations

import os
import sys

from zaxy.security.small_files import read_named_file
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from importlib.metadata import Distribution

    Reader = Callable[[str], str]

GROUP = "zaxy.plugins"
MAX_METADATA = 16 << 20


class Announcement(NamedTuple):
    """One entry point of the group `zaxy.plugins`, `<name> = <module>`, and the distribution it came with."""

    name: str
    module: str
    package: str
    version: str


def announced(path: Sequence[str] | None = None) -> list[Announcement]:
    """Every announced plugin on `path` (default: `sys.path`), sorted by name, then package."""
    seen: set[str] = set()
    found = []
    for name, read in _distributions(sys.path if path is None else path):
        if name in seen:
            continue
        seen.add(name)
        entries = _entry_points(read("entry_points.txt"))
        if entries:
            headers = _headers(read("METADATA") or read("PKG-INFO"))
            package, version = headers.get("name", name), headers.get("version", "unknown")
            found += [Announcement(entry, module, package, version) for entry, module in entries]
    return sorted(found)


def metadata_of(package: str) -> Reader | None:
    """A reader of the metadata files of an installed distribution; an absent file reads as empty."""
    wanted = _normalised(package.replace("-", "_"))
    return next((read for name, read in _distributions(sys.path) if name == wanted), None)


def locate(module: str) -> ModuleSpec | None:
    """The spec of a dotted module, found without importing its parents."""
    spec: ModuleSpec | None = None
    path: list[str] | None = None
    name = ""
    for part in module.split("."):
        if spec is not None and path is None:
            return None  # the parent is a plain module
        name = f"{name}.{part}" if name else part
        try:
            spec = next((s for f in sys.meta_path if (s := f.find_spec(name, path)) is not None), None)
        except KeyError:
            spec = _nested_namespace(name, part, path or [])
        if spec is None:
            return None
        path = None if spec.submodule_search_locations is None else list(spec.submodule_search_locations)
    return spec


def _nested_namespace(name: str, part: str, path: list[str]) -> ModuleSpec:
    """A namespace within a namespace. Python's own finder expects that its parent is imported."""
    from importlib.machinery import ModuleSpec

    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = [folder for base in path if os.path.isdir(folder := os.path.join(base, part))]
    return spec


def _distributions(path: Sequence[str]) -> Iterator[tuple[str, Reader]]:
    """The normalised name of every distribution and a reader of its metadata files, in order of discovery."""
    for folder in path:
        try:
            children = os.listdir(folder or os.curdir)
        except OSError:
            if os.path.isfile(folder):
                yield from _zipped_distributions(folder)
            continue
        base = os.path.basename(folder).lower()
        for child in children:
            low = child.lower()
            if low.endswith((".dist-info", ".egg-info")):
                yield _normalised(low.rpartition(".")[0]), _reader(os.path.join(folder, child))
            elif low == "egg-info" and base.endswith(".egg"):
                yield _normalised(base.rpartition(".")[0]), _reader(os.path.join(folder, child))


def _zipped_distributions(archive: str) -> Iterator[tuple[str, Reader]]:
    """Zip and egg files on the path are rare, so `importlib.metadata` reads them."""
    from importlib.metadata import distributions

    for distribution in distributions(path=[archive]):
        yield _normalised(distribution.metadata["Name"].replace("-", "_")), _archive_reader(distribution)


def _archive_reader(distribution: Distribution) -> Reader:
    return lambda name: distribution.read_text(name) or ""


def _reader(metadata: str) -> Reader:
    def read(name: str) -> str:
        # Old eggs keep their headers in the `.egg-info` file itself.
        path = metadata if name == "PKG-INFO" and os.path.isfile(metadata) else os.path.join(metadata, name)
        try:
            return read_named_file(path, MAX_METADATA).decode("utf-8", "replace")
        except OSError:
            return ""

    return read


def _entry_points(text: str) -> list[tuple[str, str]]:
    """The `name = module` pairs under `[zaxy.plugins]`; extras and attributes of a value are dropped."""
    if GROUP not in text:
        return []
    pairs = []
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            section = line.strip("[]")
        elif section == GROUP and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            pairs.append((name.strip(), value.partition("[")[0].partition(":")[0].strip()))
    return pairs


def _headers(text: str) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if not colon:
            break  # the headers end at the first empty line
        headers.setdefault(key.lower(), value.strip())
    return headers


def _normalised(stem: str) -> str:
    name = stem.partition("-")[0].lower().replace(".", "_")
    while "__" in name:
        name = name.replace("__", "_")
    return name
