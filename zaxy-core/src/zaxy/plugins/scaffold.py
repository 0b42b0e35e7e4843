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
from zaxy.api.catalog import API_CURRENT, POINTS, version_text
from zaxy.atomic_write import atomic_write
from zaxy.errors import Conflict, InvalidRequest, Unavailable
from zaxy.plugins.manifest import FILE_NAME as MANIFEST_FILE, NAME_RULE, is_name

TEMPLATES = "zaxy.plugins.templates"
CONTRACT_FILE = "zaxy-contract.json"


class Template(NamedTuple):
    module: str
    provider: str
    capabilities: tuple[str, ...] = ()


TEMPLATE_OF = {
    "projection_backends": Template("backend", "Backend"),
    "event_stores": Template("store", "Store"),
    "retrieval_lanes": Template("lane", "Lane", ("follower",)),
    "extractors": Template("extractor", "Extractor"),
    "capture_adapters": Template("adapter", "Adapter"),
    "ide_config_writers": Template("client", "AcmeClient"),
    "export_sinks": Template("sink", "Sink"),
    "signing_algorithms": Template("algorithm", "Algorithm"),
    "tool_packs": Template("pack", "Pack"),
}


def write_files(folder: Path, files: dict[str, str]) -> None:
    """Write a package's files into a new or empty folder."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Conflict(f"{folder} already exists", "Choose another folder with --output.")
    try:
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            atomic_write(str(folder / path), text.encode(), mode=None)
    except OSError as error:
        raise Unavailable(
            f"{folder} cannot be written: {error.strerror}", "Choose another folder with --output."
        ) from None


def plugin_files(name: str, point: str) -> dict[str, str]:
    """All files of the package, by path."""
    _refuse_bad_names(name, point)
    template = TEMPLATE_OF[point]
    package = name.replace("-", "_")
    return {
        "pyproject.toml": _pyproject(name, package),
        "README.md": _readme(name, point),
        "CHANGELOG.md": f"# Changelog of {name}\n\n## 0.1.0\n\n- First version.\n",
        f"src/{package}/__init__.py": f'"""{_summary(name, point)}"""\n\n__version__ = "0.1.0"\n',
        f"src/{package}/plugin.py": _plugin_module(name, point, package, template),
        f"src/{package}/{template.module}.py": _template(point),
        f"src/{package}/{MANIFEST_FILE}": _manifest(name, point, template),
        f"src/{package}/py.typed": "",
        "tests/test_conformance.py": _template(f"case_{point}").replace(
            f"{TEMPLATES}.{point}", f"{package}.{template.module}"
        ),
        "tests/test_plugin.py": _plugin_test(name),
    }


def _refuse_bad_names(name: str, point: str) -> None:
    if point not in POINTS:
        near = get_close_matches(point, POINTS, n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise InvalidRequest(f"there is no extension point {point!r}", f"{hint}They are {', '.join(POINTS)}.")
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


def _plugin_module(name: str, point: str, package: str, template: Template) -> str:
    capabilities = "".join(f"\n            capabilities={template.capabilities!r}," if template.capabilities else "")
    return f'''"""What this plugin offers to Zaxy. It is imported only when one of its providers is asked for."""

from __future__ import annotations

from zaxy.api import Provider, hookimpl


@hookimpl
def {POINTS[point].hook}() -> list[Provider]:
    return [
        Provider(
            "{name}",
            "{package}.{template.module}:{template.provider}",
            "{_summary(name, point)}",{capabilities}
        )
    ]
'''


def _manifest(name: str, point: str, template: Template) -> str:
    version = version_text(API_CURRENT)
    provided: dict[str, object] = {"point": point, "name": name, "stability": "experimental"}
    if template.capabilities:
        provided["capabilities"] = list(template.capabilities)
    manifest = {
        "manifest": 1,
        "name": name,
        "summary": _summary(name, point),
        "api": {"min": version, "max": version},
        "provides": [provided],
    }
    return json.dumps(manifest, indent=2) + "\n"


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
test = ["zaxy-core[testkit]{core}"]

[project.entry-points."zaxy.plugins"]
{name} = "{package}.plugin"

[tool.hatch.build.targets.wheel]
packages = ["src/{package}"]

[tool.pytest.ini_options]
testpaths = ["tests"]
"""


def _readme(name: str, point: str) -> str:
    return f"""# {name}

{_summary(name, point)}

    pip install -e '.[test]'
    pytest                                  # the conformance suite of {point}
    zaxy plugins list                       # it is there
    zaxy plugins check {name}
    zaxy contracts check {CONTRACT_FILE}  # exits 1 when an upgrade of zaxy-core would break it

After changing what it uses of `zaxy.api`, run `zaxy contracts pin` and commit `{CONTRACT_FILE}`.
"""


def _plugin_test(name: str) -> str:
    return f'''from __future__ import annotations

from pathlib import Path

from zaxy_testkit import PluginSuite


class TestPlugin(PluginSuite):
    plugin = "{name}"
    contract = Path(__file__).parents[1] / "{CONTRACT_FILE}"
'''
