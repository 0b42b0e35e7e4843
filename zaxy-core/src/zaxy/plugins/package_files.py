"""Files of installed packages, such as a plugin's manifest: found and read without importing the package."""

from __future__ import annotations

import os

from zaxy.plugins.discovery import locate
from zaxy.security.small_files import read_named_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec


class ManifestError(Exception):
    """The manifest is missing or malformed. The message says where."""


def read_package_file(module: str, name: str) -> bytes:
    """A file at the root of the package that holds `module`, or of `module` itself if that is a package."""
    packages = _packages(module)
    for package in packages:
        for path, get_data in _places(package, name):
            data = _read(path, get_data)
            if data:
                return data
    raise ManifestError(f"the package {' or '.join(packages)} has no {name}")


def places_of_file(module: str, name: str) -> list[str]:
    """The paths at which `read_package_file` looks."""
    return [path for package in _packages(module) for path, _ in _places(package, name)]


def _packages(module: str) -> list[str]:
    parent = module.rpartition(".")[0] or module
    return [name for name in dict.fromkeys((parent, module)) if name == parent or _is_package(module)]


def _is_package(module: str) -> bool:
    spec = _located(module)
    return spec is not None and spec.submodule_search_locations is not None


def _located(module: str) -> ModuleSpec | None:
    try:
        return locate(module)
    except Exception as error:  # a broken import hook must not stop the listing
        raise ManifestError(f"looking for the package {module} failed: {error!r}") from None


def _places(package: str, name: str) -> list[tuple[str, Callable[[str], bytes] | None]]:
    """Where a file of the package may be, each with how it is read inside a zip."""
    spec = _located(package)
    if spec is None or not spec.submodule_search_locations:
        raise ManifestError(f"the package {package} that it announces is not installed")
    get_data = getattr(spec.loader, "get_data", None)
    return [(os.path.join(folder, name), get_data) for folder in spec.submodule_search_locations]


def _read(path: str, get_data: Callable[[str], bytes] | None) -> bytes:
    """Its bytes; empty if it is not there."""
    try:
        return read_named_file(path)
    except (FileNotFoundError, NotADirectoryError):
        try:
            return get_data(path) if get_data else b""
        except OSError:
            return b""
    except OSError as error:
        raise ManifestError(f"{os.path.basename(path)} cannot be read: {error.strerror}") from None
