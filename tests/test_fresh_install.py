"""From a checkout on a machine with only Python and pip: the README's line works, and nothing of ours is downloaded."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from served import INITIALIZE
from zaxy.api.catalog import POINTS

TREE = Path(__file__).parents[1]
pytestmark = pytest.mark.slow
# Each group shares an environment, so its tests run in one worker.
install = pytest.mark.xdist_group("install")
authoring = pytest.mark.xdist_group("author")
# The README's line shows what pip does by itself; after that, one build environment and no bytecode are enough.
QUICKLY = ("--quiet", "--no-compile")


def run(*command: str | Path, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what git tracks or would track, in a folder whose name needs quoting."""
    copy = tmp_path_factory.mktemp("a checkout")
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", cwd=TREE).stdout
    for name in filter(None, listed.split("\0")):
        if (TREE / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TREE / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def decoys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that offers other, newer packages under our names."""
    folder = tmp_path_factory.mktemp("decoys")
    plugins = "claude_code codex coordinate export hermes kuzu mldsa neo4j testkit vectors webhook why".split()
    plugins.append("sentence_transformers")
    for name in ("zaxy_core", *(f"zaxy_{plugin}" for plugin in plugins)):
        info = f"{name}-99.0.dist-info"
        with zipfile.ZipFile(folder / f"{name}-99.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(
                f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 99.0\n"
            )
            wheel.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            wheel.writestr(f"{info}/RECORD", "")
    return folder


def readme_line(name: str) -> str:
    match = re.search(rf"<!-- {name} -->\n```sh\n(.+)\n```", (TREE / "README.md").read_text())
    assert match, f"the README has no line marked {name}"
    return match[1]


@pytest.fixture(scope="module")
def installed(checkout: Path, decoys: Path) -> subprocess.CompletedProcess[str]:
    return run("bash", "-euo", "pipefail", "-c", readme_line("install"), cwd=checkout, PIP_FIND_LINKS=str(decoys))


@install
def test_the_readmes_install_line_ends_with_a_working_zaxy(
    installed: subprocess.CompletedProcess[str], checkout: Path
) -> None:
    worked, shown, demo = installed.stdout.partition("What memory does, in a temporary folder.")
    assert "Building wheel for zaxy-core" in worked, "it says what it does while it works"
    assert shown and "All 8 steps showed what they should" in demo
    assert demo.endswith(f"{shlex.quote(str(checkout / '.venv/bin/zaxy'))} init\n"), "as it can be typed anywhere"
    assert run(checkout / ".venv/bin/zaxy", "plugins", "check", cwd=checkout).returncode == 0


@install
def test_the_whole_has_the_command_itself_since_pipx_makes_no_others(
    installed: subprocess.CompletedProcess[str], checkout: Path
) -> None:
    (commands,) = checkout.glob(".venv/lib/*/site-packages/zaxy_memory-*.dist-info/entry_points.txt")
    assert "zaxy = zaxy.__main__:main" in commands.read_text()


@install
def test_the_author_kit_comes_without_pytest(
    installed: subprocess.CompletedProcess[str], checkout: Path, tmp_path: Path
) -> None:
    run(checkout / ".venv/bin/zaxy", "plugins", "new", "acme-notes", "--point", "capture_adapters", cwd=tmp_path)
    assert (tmp_path / "acme-notes" / "pyproject.toml").is_file()
    assert not list(checkout.glob(".venv/lib/*/site-packages/pytest*"))


@install
def test_every_zaxy_package_came_from_the_tree(
    installed: subprocess.CompletedProcess[str], checkout: Path, decoys: Path
) -> None:
    pip = checkout / ".venv/bin/pip"
    run(pip, "install", *QUICKLY, "hatchling", cwd=checkout)
    run(pip, "install", *QUICKLY, "--no-build-isolation", ".[all]", cwd=checkout, PIP_FIND_LINKS=str(decoys))
    ours = {}
    for info in checkout.glob(".venv/lib/*/site-packages/zaxy*.dist-info"):
        ours[info.name.split("-")[0]] = json.loads((info / "direct_url.json").read_text())["url"]
    apart = ("sentence-transformers",)  # it brings PyTorch
    plugins = {project.parent.name for project in TREE.glob("plugins/*/pyproject.toml")}.difference(apart)
    members = {"zaxy_memory", "zaxy_core"} | {f"zaxy_{name.replace('-', '_')}" for name in plugins}
    assert set(ours) == members
    assert all(url.startswith(checkout.as_uri()) for url in ours.values()), ours
    assert not list(checkout.glob(".venv/lib/*/site-packages/zaxy*-99.0.dist-info"))


@install
def test_a_wheel_built_for_publishing_names_version_ranges(
    installed: subprocess.CompletedProcess[str], checkout: Path, tmp_path: Path
) -> None:
    pip = checkout / ".venv/bin/pip"
    run(pip, "install", *QUICKLY, "hatchling", cwd=checkout)
    words = ("--no-deps", "--no-build-isolation", "-w", tmp_path)
    run(pip, "wheel", "--quiet", *words, ".", cwd=checkout, ZAXY_RELEASE="1")
    (wheel,) = tmp_path.glob("zaxy_memory-*.whl")
    with zipfile.ZipFile(wheel) as opened:
        name = next(name for name in opened.namelist() if name.endswith("METADATA"))
        required = re.findall(r"Requires-Dist: (\S+)", opened.read(name).decode())
    assert "zaxy-core<0.2,>=0.1.0" in required
    assert not [line for line in required if "file:" in line]


@pytest.fixture(scope="module")
def author(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment outside the tree with the built wheels of core and kit, as a plugin author would have it."""
    folder = tmp_path_factory.mktemp("author")
    run(sys.executable, "-m", "venv", "venv", cwd=folder)
    pip = folder / "venv/bin/pip"
    run(pip, "install", *QUICKLY, "hatchling", "editables", cwd=folder)
    sources = (checkout / "zaxy-core", checkout / "plugins/testkit")
    run(pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, *sources, cwd=folder)
    (wheel,) = folder.glob("zaxy_core-*.whl")
    run(pip, "install", *QUICKLY, f"{wheel}[testkit]", cwd=folder, PIP_FIND_LINKS=str(folder))
    return folder


def install_projects(author: Path, *folders: Path) -> None:
    pip = author / "venv/bin/pip"
    editable = [word for folder in folders for word in ("-e", str(folder))]
    run(pip, "install", "--quiet", "--no-deps", "--no-build-isolation", *editable, cwd=author)


@authoring
def test_the_wheel_carries_the_table_of_word_frequencies_with_its_licence(author: Path) -> None:
    (wheel,) = author.glob("zaxy_core-*.whl")
    with zipfile.ZipFile(wheel) as opened:
        assert {f"zaxy/text/frequencies/{name}" for name in ("words.txt", "LICENSE.md")} <= set(opened.namelist())


@authoring
def test_the_wheel_carries_the_contracts(author: Path) -> None:
    done = run(author / "venv/bin/zaxy", "contracts", "check", cwd=author)
    assert done.stdout == "no differences\n"
    listed = run(author / "venv/bin/zaxy", "contracts", "list", cwd=author).stdout
    assert "plugin-api" in listed
    assert "plugins/kuzu" in listed
    assert "plugins/mldsa" in listed


@authoring
def test_a_new_plugin_of_every_point_passes_its_own_tests_as_written(author: Path) -> None:
    zaxy = author / "venv/bin/zaxy"
    names = {point: f"made-{point.replace('_', '-')}" for point in POINTS}
    for point, name in names.items():
        run(zaxy, "plugins", "new", name, "--point", point, cwd=author)
    install_projects(author, *(author / name for name in names.values()))
    run(zaxy, "plugins", "check", cwd=author)
    tests = [str(author / name / "tests") for name in names.values()]
    done = run(author / "venv/bin/python", "-m", "pytest", "-q", "--import-mode=importlib", *tests, cwd=author)
    assert re.search(r"^\d+ passed", done.stdout.splitlines()[-1]), done.stdout


@authoring
def test_a_downstream_project_notices_when_what_it_pinned_changes(author: Path, tmp_path: Path) -> None:
    zaxy = author / "venv/bin/zaxy"
    run(zaxy, "plugins", "new", "acme-notes", "--point", "capture_adapters", cwd=tmp_path)
    project = tmp_path / "acme-notes"
    install_projects(author, project)
    assert "acme-notes" in run(zaxy, "plugins", "list", cwd=project).stdout
    written = (project / "zaxy-contract.json").read_bytes()
    run(zaxy, "contracts", "pin", cwd=project)
    assert (project / "zaxy-contract.json").read_bytes() == written, "pinning again gives the same file"
    assert run(zaxy, "contracts", "check", "zaxy-contract.json", cwd=project).stdout == "no differences\n"
    (points,) = author.glob("venv/lib/*/site-packages/zaxy/api/points.py")
    source = points.read_text()
    try:
        points.write_text(source.replace("def sources(self, workspace: Path)", "def sources(self, workspace: str)"))
        broken = subprocess.run(
            [str(zaxy), "contracts", "check", "zaxy-contract.json"], cwd=project, capture_output=True, text=True
        )
        tests = subprocess.run(
            [str(author / "venv/bin/python"), "-m", "pytest", "-q"], cwd=project, capture_output=True, text=True
        )
    finally:
        points.write_text(source)
    assert broken.returncode == 1
    assert "plugin-api: method CaptureAdapter.sources: parameter workspace: type 'Path' became 'str'" in broken.stdout
    assert "test_the_contract_that_it_pinned_still_holds" in tests.stdout


@pytest.fixture
def missions(author: Path, checkout: Path) -> Iterator[Path]:
    """The same environment with zaxy-coordinate; it is gone again afterwards."""
    install_coordinate(author, checkout)
    yield author / "venv/bin"
    run(author / "venv/bin/pip", "uninstall", "--quiet", "-y", "zaxy-coordinate", cwd=author)


def install_coordinate(author: Path, checkout: Path) -> None:
    pip = author / "venv/bin/pip"
    run(pip, "install", *QUICKLY, "--no-deps", "--no-build-isolation", checkout / "plugins/coordinate", cwd=author)


def listed_tools(python: Path, cwd: Path) -> set[str]:
    """The tools that a server started by that Python lists."""
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    sent = "".join(json.dumps(message) + "\n" for message in (INITIALIZE, ready, listing))
    command = [str(python), "-m", "zaxy", "serve", "--profile", "full"]
    with subprocess.Popen(command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin and server.stdout
        server.stdin.write(sent)
        server.stdin.flush()
        answers = map(json.loads, server.stdout)
        found = next(answer for answer in answers if answer.get("id") == 2)
        server.stdin.close()
    return {tool["name"] for tool in found["result"]["tools"]}


@authoring
def test_without_zaxy_coordinate_a_mission_is_read_and_proven_and_with_it_again_goes_on(
    missions: Path, author: Path, checkout: Path, tmp_path: Path
) -> None:
    zaxy, python = missions / "zaxy", missions / "python"
    report = ("report", "port", "w1", "The vumorali valve is shut", "--claim-key", "valve", "--claim-value", "shut")
    for words in (
        ("start", "port", "Look at the valves"),
        ("worker", "port", "w1"),
        report,
        ("review", "port", "w1:finding:1", "accepted"),
        ("promote", "port", "w1:finding:1"),
    ):
        run(zaxy, "coordinate", *words, cwd=tmp_path)
    before = run(zaxy, "coordinate", "brief", "port", "--json", cwd=tmp_path).stdout
    tools = listed_tools(python, tmp_path)

    run(missions / "pip", "uninstall", "--quiet", "-y", "zaxy-coordinate", cwd=author)
    without = listed_tools(python, tmp_path)
    assert {name for name in tools - without if name.startswith("coordination_")} == tools - without != set()
    assert len(tools - without) == 14
    refused = subprocess.run([str(zaxy), "coordinate", "brief", "port"], cwd=tmp_path, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "'zaxy coordinate brief' is a command of zaxy-coordinate, which is not installed" in refused.stderr
    assert "pip install" in refused.stderr
    for session in ("port", "port.w1"):
        run(zaxy, "verify", session, cwd=tmp_path)
        assert "coordination." in run(zaxy, "replay", session, cwd=tmp_path).stdout
        assert "vumorali" in run(zaxy, "query", "valve", "--session-id", session, cwd=tmp_path).stdout
    forged = ("coordination.finding.promoted", "--session-id", "port", "--payload", '{"summary": "It is cheese"}')
    done = subprocess.run([str(zaxy), "append", *forged], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "only zaxy-coordinate writes coordination.*, and it is not in use here" in done.stderr

    install_coordinate(author, checkout)
    assert listed_tools(python, tmp_path) == tools
    assert run(zaxy, "coordinate", "brief", "port", "--json", cwd=tmp_path).stdout == before
    facts = json.loads(run(zaxy, "coordinate", "checkout", "port", "--json", cwd=tmp_path).stdout)["current_facts"]
    assert [fact["finding_id"] for fact in facts] == ["w1:finding:1"]
    again = json.loads(run(zaxy, "coordinate", "report", "port", "w1", "It is open", "--json", cwd=tmp_path).stdout)
    assert again["finding_id"] == "w1:finding:2"
