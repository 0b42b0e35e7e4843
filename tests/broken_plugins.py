"""The nine kinds of broken plugin, as small packages that a test installs into a folder of its own.

Some kinds have two variants, because what breaks at import and what breaks in a call reach the core in different
places. Each module of each package leaves a mark when it is imported, so that a test can prove that it was
not: a file named after the module in the folder that `ZAXY_TESTMARKS` names.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

import installed

MARKS = "ZAXY_TESTMARKS"
CALM_QUESTION = "a calm question"
"""The one question that the lane of `raises-in-call` answers."""


@dataclass(frozen=True)
class Package:
    """A distribution with one plugin that has one provider; right in everything that is not said otherwise."""

    name: str
    """The plugin's name, and its provider's where that is not given."""
    provider: str = ""
    point: str = "retrieval_lanes"
    distribution: str = ""
    at_import: str = ""
    in_hook: str = ""
    in_call: str = ""
    api: str = "0.1"
    manifest: str = ""
    """The manifest's text, in place of the one that fits the rest."""

    @property
    def provides(self) -> str:
        return self.provider or self.name

    @property
    def dist(self) -> str:
        return self.distribution or f"acme-{self.name}"

    @property
    def module(self) -> str:
        return self.dist.replace("-", "_")


KINDS: dict[str, tuple[Package, ...]] = {
    "fails to import": (Package("fails-to-import", at_import="import a_module_that_nobody_has"),),
    "raises in its hook": (Package("raises-in-hook", in_hook="raise RuntimeError('no hook today')"),),
    "raises in a call": (
        Package(
            "raises-in-call", in_call=f"if query.text != {CALM_QUESTION!r}:\n    raise LookupError('no lane today')"
        ),
    ),
    "hangs in a call": (Package("hangs", in_call="threading.Event().wait()"),),
    "calls sys.exit": (
        Package("exits-in-call", in_call="sys.exit(3)"),
        Package("exits-at-import", at_import="sys.exit(3)"),
    ),
    "prints to stdout": (
        Package(
            "prints",
            at_import="print('printed at import')",
            in_call="print('printed in a call')\n"
            "os.write(1, b'written to descriptor 1\\n')\n"
            "os.system('echo echoed by a child')",
        ),
        Package(
            "prints-bytes",
            in_call="sys.stdout.buffer.write(b'bytes through the buffer\\n')\n"
            "sys.stdout.flush()\n"
            "os.write(sys.stdout.fileno(), b'bytes through fileno\\n')",
        ),
    ),
    "a malformed or lying manifest": (
        Package("malformed-manifest", manifest='{"manifest": 1, "name": "malformed-mani'),
        Package("lying-manifest", in_hook="return []"),
    ),
    "a future API": (Package("future-api", api="9.0"),),
    "a name that is already taken": (Package("name-taken", provider="file", point="export_sinks"),),
}
PACKAGES = {package.name: package for packages in KINDS.values() for package in packages}


def install_all(site: Path) -> None:
    """Install every variant of every kind."""
    for kind in KINDS:
        install(kind, site)


def install(kind: str, site: Path) -> tuple[Package, ...]:
    """Install one kind in all its variants."""
    for package in KINDS[kind]:
        write(package, site)
    return KINDS[kind]


def imported(marks: Path) -> list[str]:
    """The modules of these packages that were imported, as their marks tell."""
    return sorted(mark.name for mark in marks.iterdir())


def write(package: Package, site: Path) -> Package:
    """Install one package."""
    sources = {"__init__.py": MARK, "plugin.py": _plugin(package), "provider.py": _provider(package)}
    entry_points = f"[zaxy.plugins]\n{package.name} = {package.module}.plugin\n"
    installed.install(site, package.dist, sources, package.manifest or _manifest(package), entry_points)
    return package


def _plugin(package: Package) -> str:
    return _PLUGIN.format(
        mark=MARK,
        at_import=package.at_import,
        point=package.point,
        in_hook=indent(package.in_hook or "pass", "    "),
        provides=package.provides,
        module=package.module,
    )


def _provider(package: Package) -> str:
    return _PROVIDERS[package.point].format(mark=MARK, in_call=indent(package.in_call or "pass", " " * 8))


def _manifest(package: Package) -> dict[str, object]:
    return installed.manifest_of(
        package.name,
        api={"min": package.api, "max": package.api},
        provides=[{"point": package.point, "name": package.provides}],
    )


MARK = f"""\
import os
import pathlib

if {MARKS!r} in os.environ:
    pathlib.Path(os.environ[{MARKS!r}], __name__).touch()
"""

_PLUGIN = """\
{mark}
import sys

from zaxy.api import Provider, hookimpl

{at_import}


@hookimpl
def zaxy_{point}():
{in_hook}
    return [Provider("{provides}", "{module}.provider:Made", "Made for tests.")]
"""

_PROVIDERS = {
    "retrieval_lanes": """\
{mark}
import sys
import threading


class Made:
    def __init__(self, context):
        pass

    def search(self, query):
{in_call}
        return []
""",
    "export_sinks": """\
{mark}
from zaxy.api import Receipt


class Made:
    def __init__(self, context):
        pass

    def check(self, destination):
{in_call}

    def deliver(self, parcel, destination, token):
        return Receipt("the plugin's own place", parcel.size, parcel.sha256)
""",
}
