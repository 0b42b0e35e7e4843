"""`zaxy plugins new` writes a package for one extension point. Its own tests pass as written."""

from __future__ import annotations

import json
import keyword
import sys
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from zaxy import __version__
from zaxy.api import API_CURRENT, POINTS, Conflict, InvalidRequest, NotFound, Unavailable
from zaxy.api.catalog import version_text
from zaxy.atomic_write import atomic_write
from zaxy.contracts.pin import CONTRACT_FILE
from zaxy.plugins.manifest import (
    ANY_LANE,
    COMMANDS_POINT,
    FAMILIES_POINT,
    FILE_NAME as MANIFEST_FILE,
    LANES_POINT,
    ROUTES_POINT,
)
from zaxy.plugins.manifest_values import NAME_RULE, is_name

TEMPLATES = "zaxy_testkit.templates"


class Template(NamedTuple):
    provider: str
    capabilities: tuple[str, ...] = ()


TEMPLATE_OF = {
    "projection_backends": Template("Backend"),
    "event_stores": Template("Store"),
    "retrieval_lanes": Template("Lane", ("follower",)),
    "extractors": Template("Extractor"),
    "capture_adapters": Template("Adapter"),
    "ide_config_writers": Template("AcmeClient"),
    "export_sinks": Template("Sink"),
    "signing_algorithms": Template("Algorithm"),
    "tool_packs": Template("Pack", ("resources", "prompts")),
    "commands": Template("Commands"),
    "doctor_checks": Template("Health", ("fix",)),
    "http_routes": Template("Routes"),
    "http_auth": Template("Auth"),
    "event_types": Template("Family"),
}
SETTINGS_OF = {
    "http_auth": [{"env": "ACME_TOKEN", "secret": True, "meaning": "The token that lets a client in."}],
}
"""What a template reads, for its manifest."""


def write_files(folder: Path, files: dict[str, str]) -> None:
    """Write a package's files into a new or empty folder."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Conflict(f"{folder} already exists", "Choose another folder with --output.")
    if not folder.absolute().parent.is_dir():
        raise NotFound(f"there is no folder {folder.parent}", "Check the path, or make that folder first.")
    try:
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            atomic_write(str(folder / path), text.encode(), mode=None)
    except OSError as error:
        raise Unavailable(
            f"{folder} cannot be written: {error.strerror}", "Choose another folder with --output."
        ) from None


def plugin_files(name: str, point: str) -> dict[str, str]:
    """All files of the package, by path. The provider is in one of them, and only the manifest names it."""
    _refuse_bad_names(name, point)
    package = name.replace("-", "_")
    return {
        "pyproject.toml": _pyproject(name, package),
        "README.md": _readme(name, point),
        f"src/{package}/__init__.py": _template(point),
        f"src/{package}/{MANIFEST_FILE}": _manifest(name, point, package),
        "tests/test_conformance.py": _tests(point, package),
    }


def _refuse_bad_names(name: str, point: str) -> None:
    if point not in TEMPLATE_OF:
        near = get_close_matches(point, TEMPLATE_OF, n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise InvalidRequest(f"there is no extension point {point!r}", f"{hint}They are {', '.join(TEMPLATE_OF)}.")
    package = name.replace("-", "_")
    if not is_name(name) or not package.isidentifier() or keyword.iskeyword(package):
        raise InvalidRequest(
            f"{name!r} cannot name a plugin",
            f"Use {NAME_RULE}, beginning with a letter: acme-notes.",
        )
    if package in sys.stdlib_module_names or package in ("zaxy", "zaxy_testkit"):
        raise InvalidRequest(f"{name!r} is the name of an existing module", "Choose another name.")


def _template(name: str) -> str:
    return resources.files(TEMPLATES).joinpath(f"{name}.py").read_text(encoding="utf-8")


def _summary(name: str, point: str) -> str:
    return f"{name}, a plugin for Zaxy: {POINTS[point].summary}."


def _manifest(name: str, point: str, package: str) -> str:
    version, template = version_text(API_CURRENT), TEMPLATE_OF[point]
    provided: dict[str, object] = {"point": point, "name": name, "target": f"{package}:{template.provider}"}
    provided["summary"] = f"{POINTS[point].summary[0].upper()}{POINTS[point].summary[1:]}."
    if point == COMMANDS_POINT:
        provided |= {"words": name, "summary": "Count the latest facts of a session."}
    if point == ROUTES_POINT:
        provided["paths"] = [f"/{name}"]
    if template.capabilities:
        provided["capabilities"] = list(template.capabilities)
    if point == LANES_POINT:  # it has no scale: only the proportions of its scores say anything
        provided["lane"] = {"weight": ANY_LANE.weight, "budget_ms": ANY_LANE.budget_ms}
    manifest = {
        "manifest": 1,
        "name": name,
        "summary": _summary(name, point),
        "api": {"min": version, "max": version},
        "provides": [provided],
        **({"settings": SETTINGS_OF[point], "needs": ["secret"]} if point in SETTINGS_OF else {}),
        **({"event_types": _event_types(name)} if point == FAMILIES_POINT else {}),
    }
    return json.dumps(manifest, indent=2) + "\n"


def _event_types(name: str) -> object:
    """The types of the template's family, which has the plugin's name."""
    text = resources.files(TEMPLATES).joinpath(MANIFEST_FILE).read_text(encoding="utf-8")
    return json.loads(text.replace("acme-review", name))["event_types"]


def _pyproject(name: str, package: str) -> str:
    major, minor = __version__.split(".")[:2]
    core = f">={major}.{minor},<{major}.{int(minor) + 1}"
    return f"""[build-system]
requires = ["hatchling>=1.27,<2"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "0.1.0"
description = "A plugin for Zaxy."
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["zaxy-core{core}"]

[project.optional-dependencies]
test = ["zaxy-testkit[pytest]{core}"]

[project.entry-points."zaxy.plugins"]
{name} = "{package}"
"""


def _tests(point: str, package: str) -> str:
    """The suite of the point, and that of the package as a whole."""
    case = f"{POINTS[point].protocol}Case, "
    text = _template(f"case_{point}").replace(f"from {TEMPLATES}.{point} import", f"\nfrom {package} import")
    text = text.replace(case, f"{case}PluginSuite, ").replace("import pytest\n\n", "import pytest\n")
    names = text.partition("from zaxy_testkit import ")[2].partition("\n")[0]
    text = text.replace(names, ", ".join(sorted(names.split(", "))))
    return f'{text}\n\nclass TestPlugin(PluginSuite):\n    """The package as a whole."""\n'


def _readme(name: str, point: str) -> str:
    return f"""# {name}

{_summary(name, point)}

In the environment that has `zaxy`, since the packages of Zaxy are on no index:

    pip install -e '.[test]'
    pytest                                  # the conformance suite of {point}
    zaxy plugins list                       # it is there
    zaxy plugins check {name}
    zaxy contracts check {CONTRACT_FILE}  # exits 1 when an upgrade of zaxy-core would break it

After changing what it uses of `zaxy.api`, run `zaxy contracts pin` and commit `{CONTRACT_FILE}`.
"""
