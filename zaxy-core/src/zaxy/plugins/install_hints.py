"""How a package gets into the environment that runs this copy, in the words of the program that installed it.

None of our packages is on an index, where a stranger may have its name. So a hint names the folder or the wheel that
this copy came from. Packages of others are named as their authors name them.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

from zaxy.plugins.discovery import metadata_of

CORE, WHOLE = "zaxy-core", "zaxy-memory"
OURS = re.compile(r"zaxy-[a-z0-9-]+")
REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(\[[^\]]*\])?(.*)")
KEPT_BY = {"pipx": "pipx_metadata.json", "uv tool": "uv-receipt.toml"}
"""The notes in environments that a program keeps for one command."""
UNKNOWN_FOLDER = "WHEELS"
"""Stands for a folder of wheels: installers do not note where they found a wheel that was named without its folder."""


class InstalledFrom(NamedTuple):
    """Where a distribution came from, as far as its installer noted it."""

    url: str = ""
    path: str = ""
    """The folder or file, if it is on this machine and still there."""
    editable: bool = False


def install_hint(requirement: str) -> str:
    """The command that installs a requirement, such as `zaxy-kuzu`, `zaxy-core[export]` or `neo4j>=6.4,<7`."""
    match = REQUIREMENT.fullmatch(requirement.strip())
    name, extras = (match[1], match[2] or "") if match else ("", "")
    is_ours = OURS.fullmatch(name) is not None
    own = installed_from(name)
    place = own.path or (is_ours and (_folder_in_tree(name) or _wheel_beside_ours(name)))
    if place:
        in_place = (installed_from(CORE) if is_ours else own).editable and installed_by() not in KEPT_BY
        return install_command(quoted(_typed(place) + extras), editable=in_place, again=bool(extras))
    if not is_ours:
        return install_command(quoted(f"{name}{extras} @ {own.url}" if own.url else requirement))
    if needed := _needed_by(name, extras):
        return install_command(*map(quoted, needed))
    command = install_command(f"{UNKNOWN_FOLDER}/{name.replace('-', '_')}-*.whl")
    return f"{command} ({UNKNOWN_FOLDER}: the folder of wheels that {CORE} was installed from)"


def shown_hint(given: str) -> str:
    """What an author says about a missing package. A requirement, which has no spaces, becomes a command."""
    return given if any(map(str.isspace, given)) else f"Install it: {install_hint(given)}"


def upgrade_hint(package: str, what: str = "it") -> str:
    """What to do for a newer version of an installed package: `Upgrade it: ...`."""
    source = installed_from(package)
    if source.editable:
        return f"Upgrade {what}: update {source.path or source.url}"
    if os.path.isdir(source.path):
        return f"Upgrade {what}: update {source.path}, then {install_command(quoted(_typed(source.path)), again=True)}"
    if OURS.fullmatch(package):
        return f"Upgrade {what}: {install_hint(package)}"
    return f"Upgrade {what} from {source.url or 'where it came from'}"


def remove_hint(package: str) -> str:
    if installed_by() == "pipx":
        return f"pipx uninject {_program()} {package}"
    return f"{_pip()} uninstall{_environment()} {package}"


def install_command(*targets: str, editable: bool = False, again: bool = False) -> str:
    """The command that installs targets, which are quoted already, into the environment of this process.

    `again`: also what is there already, such as a package that is to have an extra.
    """
    kind, given = installed_by(), " ".join(targets)
    if kind == "pipx":
        flags = ["--force"] * again + ["--editable"] * editable
        return " ".join(("pipx inject", *flags, _program(), given))
    if kind == "uv tool" and (tool := _uv_tool()):
        added = "--with-editable" if editable else "--with"
        return " ".join(("uv tool install", *["--force"] * again, tool, *(f"{added} {target}" for target in targets)))
    return " ".join((f"{_pip()} install{_environment()}", *["-e"] * editable, given))


# Where packages came from


def installed_from(package: str) -> InstalledFrom:
    read = metadata_of(package)
    try:
        noted: Any = json.loads(read("direct_url.json")) if read else {}
        url, about = str(noted["url"]), noted.get("dir_info") or {}
        parts, vcs = urlsplit(url), (noted.get("vcs_info") or {}).get("vcs", "")
    except (ValueError, KeyError, TypeError, AttributeError):
        return InstalledFrom()
    path = url2pathname(parts.path) if parts.scheme == "file" else ""
    return InstalledFrom(
        f"{vcs}+{url}" if vcs else url, path if os.path.exists(path) else "", bool(about.get("editable"))
    )


def _folder_in_tree(package: str) -> str:
    """The folder of one of our packages in the checkout that the core came from; empty if there is none."""
    inside = {CORE: CORE, WHOLE: ""}.get(package, os.path.join("plugins", package.removeprefix("zaxy-")))
    tree = _checkout()
    there = tree and os.path.isfile(os.path.join(tree, inside, "pyproject.toml"))
    return os.path.normpath(os.path.join(tree, inside)) if there else ""


def _checkout() -> str:
    """The checkout that the core was installed from, or is run in; empty if it is neither."""
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    for core in (installed_from(CORE).path, source):
        if os.path.isfile(os.path.join(core, "pyproject.toml")) and os.path.basename(core) == CORE:
            return os.path.dirname(core)
    return ""


def _wheel_beside_ours(package: str) -> str:
    """The newest wheel of a package beside the wheel that the core came from; empty if there is none."""
    core = installed_from(CORE).path
    if not core.endswith(".whl"):
        return ""
    from glob import escape, glob

    found = glob(os.path.join(escape(os.path.dirname(core)), f"{package.replace('-', '_')}-*.whl"))
    return max(found, key=os.path.getmtime, default="")


def _needed_by(package: str, extras: str) -> list[str]:
    """What the extras of an installed package require of others."""
    read = metadata_of(package)
    wanted = {word.strip() for word in extras.strip("[]").split(",")}
    lines = re.findall(r"^Requires-Dist: (.+?) *; *extra == ['\"](.+?)['\"]$", read("METADATA") if read else "", re.M)
    return [requirement for requirement, extra in lines if extra in wanted]


# What installs


def installed_by() -> str:
    """`pipx` or `uv tool` where one of them keeps this environment, else `uv` or `pip`."""
    for kind, note in KEPT_BY.items():
        if os.path.isfile(os.path.join(sys.prefix, note)):
            return kind
    read = metadata_of(CORE)
    by_uv = read is not None and read("INSTALLER").strip() == "uv"
    return "uv" if by_uv or metadata_of("pip") is None else "pip"


def _program() -> str:
    """The name under which pipx keeps this environment."""
    return quoted(os.path.basename(sys.prefix))


def _uv_tool() -> str:
    """What uv installed as a tool, with all that was added to it: it forgets what is not named again."""
    import tomllib

    try:
        with open(os.path.join(sys.prefix, KEPT_BY["uv tool"]), "rb") as file:
            listed = tomllib.load(file)["tool"]["requirements"]
        words = [_noted_requirement(one) for one in listed]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return " --with ".join(words) if all(words) else ""


def _noted_requirement(noted: dict[str, Any]) -> str:
    """One requirement of a tool; empty if it is one of ours without its place, which is not known any more then."""
    place = noted.get("directory") or noted.get("editable") or noted.get("path") or noted.get("url")
    if place is None and OURS.fullmatch(noted["name"]):
        return ""
    extras = f"[{','.join(noted['extras'])}]" if noted.get("extras") else ""
    return quoted(f"{place or noted['name']}{extras}{'' if place else noted.get('specifier', '')}")


def _pip() -> str:
    """uv, or pip as it is called from here: another environment's may come first on the path."""
    if installed_by() != "pip":
        return "uv pip"
    import shutil

    found = shutil.which("pip")
    here = found and os.path.realpath(os.path.dirname(found)) == os.path.realpath(os.path.dirname(sys.executable))
    return "pip" if here else f"{quoted(sys.executable)} -m pip"


def _environment() -> str:
    """uv takes the environment that is active, unless another one is named."""
    if installed_by() == "pip" or os.environ.get("VIRTUAL_ENV") == sys.prefix:
        return ""
    return f" --python {quoted(sys.prefix)}"


def _typed(folder: str) -> str:
    """A folder of the checkout as it is typed at its root, or the whole path."""
    tree, here = _checkout(), os.path.realpath(os.getcwd())
    if not tree or os.path.realpath(tree) != here:
        return folder
    return os.path.normpath(folder).replace(tree, os.curdir, 1)


def quoted(word: str) -> str:
    """A word as one types it."""
    if re.fullmatch(r"[\w@%+=:,./\\-]+", word):
        return word
    return f'"{word}"' if os.name == "nt" else "'" + word.replace("'", "'\"'\"'") + "'"
