"""Build every package as it would be published, and check what was built: `hatch run release:check`.

With `--final` the changelogs must have a date for the version, and no longer say that it is unreleased.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement

TREE = Path(__file__).parents[1]
DIST = TREE / "dist"
SNAPSHOTS = "zaxy/contracts/snapshots/"
URLS = {"Homepage", "Documentation", "Changelog", "Issues"}
COMMANDS = ("zaxy demo", "zaxy plugins check", "zaxy contracts check")


class Package(NamedTuple):
    name: str
    version: str
    folder: Path

    @property
    def stem(self) -> str:
        """How the names of its files begin."""
        return f"{self.name.replace('-', '_')}-{self.version}"

    @property
    def wheel(self) -> Path:
        return DIST / f"{self.stem}-py3-none-any.whl"

    @property
    def sdist(self) -> Path:
        return DIST / f"{self.stem}.tar.gz"


def packages() -> list[Package]:
    files = [TREE / "zaxy-core/pyproject.toml", *sorted(TREE.glob("plugins/*/pyproject.toml")), TREE / "pyproject.toml"]
    projects = [(file.parent, tomllib.loads(file.read_text(encoding="utf-8"))["project"]) for file in files]
    return [Package(project["name"], project["version"], folder) for folder, project in projects]


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, "ZAXY_RELEASE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    if done.returncode:
        sys.exit(f"{' '.join(str(word) for word in command)} failed in {cwd}:\n{done.stdout}")
    return done.stdout


def build(package: Package) -> None:
    """The sdist, and the wheel from the sdist alone: what somebody gets who builds it without the tree."""
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", DIST, cwd=package.folder)
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(package.sdist) as archive:
            archive.extractall(scratch, filter="data")
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", DIST, cwd=Path(scratch, package.stem))


def metadata_of(package: Package) -> Message:
    with zipfile.ZipFile(package.wheel) as wheel:
        text = wheel.read(f"{package.stem}.dist-info/METADATA").decode()
    return Parser().parsestr(text)


def problems_of(package: Package, versions: dict[str, str], final: bool) -> Iterator[str]:
    metadata = metadata_of(package)
    for text in metadata.get_all("Requires-Dist", []):
        requirement = Requirement(text)
        if requirement.url:
            yield f"requires {requirement.name} by its path"
        elif requirement.name in versions and not requirement.specifier:
            yield f"requires {requirement.name} in any version"
        elif requirement.name in versions and not requirement.specifier.contains(versions[requirement.name]):
            yield f"requires {text}, and this tree has {versions[requirement.name]}"
    missing = URLS - {text.partition(",")[0] for text in metadata.get_all("Project-URL", [])}
    if missing:
        yield f"has no project.urls for {', '.join(sorted(missing))}"
    if metadata["Requires-Python"] != ">=3.11":
        yield f"requires Python {metadata['Requires-Python']}"
    with zipfile.ZipFile(package.wheel) as wheel:
        if f"{package.stem}.dist-info/licenses/LICENSE" not in wheel.namelist():
            yield "has no licence in its wheel"
    yield from changelog_problems(package, final)


def changelog_problems(package: Package, final: bool) -> Iterator[str]:
    text = (package.folder / "CHANGELOG.md").read_text(encoding="utf-8")
    entry = re.search(rf"^## {re.escape(package.version)}(?P<when> .+)?$", text, re.MULTILINE)
    if entry is None:
        yield f"has no entry for {package.version} in its changelog"
    elif final and not re.fullmatch(r" \(\d{4}-\d{2}-\d{2}\)", entry["when"] or ""):
        yield f"has no date for {package.version} in its changelog, such as (2026-11-17)"


def contract_problems(core: Package) -> Iterator[str]:
    """The snapshots travel in the core's wheel: all of them, unchanged, and nothing else beside them."""
    folder = TREE / "contracts"
    expected = {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*.json")}
    with zipfile.ZipFile(core.wheel) as wheel:
        names = [name for name in wheel.namelist() if name.startswith(SNAPSHOTS)]
        carried = {name.removeprefix(SNAPSHOTS): wheel.read(name) for name in names}
    if carried != expected:
        differing = {name for name in {*carried, *expected} if carried.get(name) != expected.get(name)}
        yield f"carries other contracts than the tree: {', '.join(sorted(differing))}"


def try_out(built: list[Package]) -> None:
    """Install all wheels into a new environment, ours from their files, and use what was installed."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        venv.create(folder / "venv", with_pip=True)
        scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        # Named as files, none of ours is looked for in an index.
        run(scripts / "python", "-m", "pip", "install", "--quiet", *(package.wheel for package in built), cwd=folder)
        for command in COMMANDS:
            program, *arguments = command.split()
            run(scripts / program, *arguments, cwd=folder)
            print(f"  {command}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--final", action="store_true", help="the changelogs must have a date for the version")
    final = parser.parse_args().final
    shutil.rmtree(DIST, ignore_errors=True)
    built = packages()
    versions = {package.name: package.version for package in built}
    print("Building:")
    for package in built:
        build(package)
        print(f"  {package.name} {package.version}")
    problems = [f"{package.name} {text}" for package in built for text in problems_of(package, versions, final)]
    problems += [f"{built[0].name} {text}" for text in contract_problems(built[0])]
    if problems:
        sys.exit("Not to be published:\n  " + "\n  ".join(problems))
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted(DIST.iterdir()), cwd=TREE)
    print("Installed into a new environment:")
    try_out(built)
    print(f"All {len(built)} packages are in {DIST.relative_to(TREE)}/, built and checked.")


if __name__ == "__main__":
    main()
