"""What surrounds the code agrees with it: the workflow, pre-commit, issue forms and the packages' metadata."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from zaxy import __version__

TREE = Path(__file__).parents[1]
HOME = "https://github.com/zaxy-memory/zaxy"
HATCH = tomllib.loads((TREE / "hatch.toml").read_text(encoding="utf-8"))
WORKFLOW: dict[str, Any] = yaml.safe_load((TREE / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
STEPS = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
FORMS = sorted(file for file in TREE.glob(".github/ISSUE_TEMPLATE/*.yml") if file.stem != "config")
PROJECTS = [TREE / "pyproject.toml", TREE / "zaxy-core/pyproject.toml", *sorted(TREE.glob("plugins/*/pyproject.toml"))]
COMMANDS = {
    ".ci/run": (TREE / ".ci/run").read_text(encoding="utf-8"),
    ".ci/run-real": (TREE / ".ci/run-real").read_text(encoding="utf-8"),
    "ci.yml": "\n".join(step.get("run", "") for step in STEPS),
    **{page.name: page.read_text(encoding="utf-8") for page in sorted(TREE.glob(".github/*.md"))},
}


def project_in(file: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    return project


@pytest.mark.parametrize("text", COMMANDS.values(), ids=COMMANDS)
def test_every_script_of_hatch_that_is_run_or_named_exists(text: str) -> None:
    for environment, script in re.findall(r"hatch run (\w+):(\w+)", text):
        assert script in HATCH["envs"][environment]["scripts"], f"hatch run {environment}:{script}"


@pytest.mark.parametrize(
    "environment, script, command",
    [
        (environment, script, command)
        for environment, settings in HATCH["envs"].items()
        for script, commands in settings.get("scripts", {}).items()
        for command in ([commands] if isinstance(commands, str) else commands)
    ],
)
def test_every_script_of_hatch_runs_something_that_is_there(environment: str, script: str, command: str) -> None:
    paths = re.findall(r"(?<= )(?!dist/)[\w.-]+/[\w./-]+", command)  # dist/ is what a script before it has made
    assert [path for path in paths if not (TREE / path).exists()] == []


def test_the_readme_names_every_bench() -> None:
    named = re.findall(r"`(?:hatch run )?bench:(\w+)`", (TREE / "README.md").read_text(encoding="utf-8"))
    assert sorted(named) == sorted(HATCH["envs"]["bench"]["scripts"])


def test_the_workflow_runs_what_must_pass_before_a_change_lands() -> None:
    assert [step["run"] for step in WORKFLOW["jobs"]["linux"]["steps"] if "run" in step][-1] == ".ci/run"
    assert os.access(TREE / ".ci/run", os.X_OK) or os.name == "nt"


def test_every_heavy_part_runs_tests_that_are_there_and_is_described() -> None:
    script = COMMANDS[".ci/run-real"]
    names = re.findall(r"^  ([\w-]+)\) \w+ ", script, re.MULTILINE)
    assert names and f"one of: {', '.join(names)}" in script
    for name in names:
        assert f"`{name}`" in COMMANDS["CONTRIBUTING.md"] or f"`.ci/run-real {name}`" in COMMANDS["CONTRIBUTING.md"]
    for file, chosen in re.findall(r"(tests/\S+\.py) -k (\w+)", script):
        assert re.search(rf"def test_\w*{chosen}", (TREE / file).read_text(encoding="utf-8"))
    assert os.access(TREE / ".ci/run-real", os.X_OK) or os.name == "nt"


def test_the_workflow_runs_the_tests_on_three_systems_and_every_python() -> None:
    matrix = WORKFLOW["jobs"]["tests"]["strategy"]["matrix"]
    systems = {(system.partition("-")[0], python) for system in matrix["os"] for python in matrix["python"]}
    systems |= {(row["os"].partition("-")[0], row["python"]) for row in matrix["include"]}
    systems.add(("ubuntu", "3.11"))  # the one of .ci/run
    assert systems == {(system, python) for system in ("ubuntu", "macos", "windows") for python in PYTHONS}


def test_actions_are_pinned_to_a_release() -> None:
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert used and [name for name in used if not re.fullmatch(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+", name)] == []


def test_everybody_installs_the_same_hatch() -> None:
    texts = (*COMMANDS.values(), (TREE / "README.md").read_text(encoding="utf-8"))
    assert len({version for text in texts for version in re.findall(r"hatch==([\d.]+)", text)}) == 1


def test_folders_that_the_workflow_keeps_are_those_that_tests_use() -> None:
    patterns = re.findall(r"'(tests/[^']+)'", str(STEPS))
    assert patterns and all(list(TREE.glob(pattern)) for pattern in patterns)


def test_pre_commit_and_hatch_use_the_same_ruff() -> None:
    (repository,) = yaml.safe_load((TREE / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert f"ruff=={repository['rev'].removeprefix('v')}" in HATCH["envs"]["lint"]["dependencies"]
    assert [hook["id"] for hook in repository["hooks"]] == ["ruff-check", "ruff-format"]


def test_the_test_kit_and_our_own_tests_use_the_same_pytest() -> None:
    own = [text for text in HATCH["envs"]["test"]["dependencies"] if re.match(r"pytest\b(?!-)", text)]
    assert own == project_in(TREE / "plugins/testkit/pyproject.toml")["optional-dependencies"]["pytest"]


@pytest.mark.parametrize("file", PROJECTS, ids=lambda file: file.parent.name)
def test_every_package_says_where_its_home_pages_and_changelog_are(file: Path) -> None:
    urls = project_in(file)["urls"]
    assert list(urls) == ["Homepage", "Documentation", "Changelog", "Issues"]
    assert (urls["Homepage"], urls["Issues"]) == (HOME, f"{HOME}/issues")
    assert urls["Changelog"] == f"{HOME}/blob/main/{(file.parent / 'CHANGELOG.md').relative_to(TREE).as_posix()}"
    page = re.sub(rf"^{HOME}/(?:blob|tree)/main/", "", urls["Documentation"])
    assert (TREE / page).exists() and (file.parent / "CHANGELOG.md").is_file()


def test_the_core_says_the_version_that_its_package_has() -> None:
    assert project_in(TREE / "zaxy-core/pyproject.toml")["version"] == __version__


def test_only_pythons_that_the_workflow_tests_are_named() -> None:
    classifiers = project_in(TREE / "pyproject.toml")["classifiers"]
    named = [name for text in classifiers for name in re.findall(r"^Programming Language :: Python :: (3\.\d+)", text)]
    assert named and set(named) <= set(PYTHONS)
    assert {project_in(file)["requires-python"] for file in PROJECTS} == {f">={named[0]}"}


@pytest.mark.parametrize("file", FORMS, ids=lambda file: file.stem)
def test_issue_forms_ask_with_labels_and_ids(file: Path) -> None:
    form = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form)
    assert len({field["id"] for field in form["body"]}) == len(form["body"])
    assert all(field["attributes"]["label"] for field in form["body"])


def test_a_report_of_a_bug_comes_with_what_the_doctor_and_the_list_of_plugins_say() -> None:
    labels = {form.stem: form.read_text(encoding="utf-8") for form in FORMS}
    assert sorted(labels) == ["bug", "feature", "plugin"]
    for name in ("bug", "plugin"):
        assert "label: zaxy doctor --json" in labels[name] and "label: zaxy plugins list" in labels[name]
