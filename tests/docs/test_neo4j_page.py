"""The page about Neo4j: its commands fill a real server, and its queries give there what the page shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import zaxy_neo4j
from servers.neo4j_server import Address

pytestmark = pytest.mark.xdist_group("neo4j")
PAGE = (Path(__file__).parents[2] / "docs" / "neo4j.md").read_text(encoding="utf-8")
QUERY = re.compile(r"^```cypher\n(.*?)^```\n\n```\n(.*?)^```", re.MULTILINE | re.DOTALL)
QUERIES = [
    pytest.param(*match.groups(), id=f"line {PAGE[: match.start()].count(chr(10)) + 1}")
    for match in QUERY.finditer(PAGE)
]
CITATION = re.compile(r"(?<=#)[0-9a-f]{12}")


def of_this_workspace(query: str) -> str:
    """The page's queries are for a database with one workspace; the one of the tests has several."""
    return re.sub(r"(:ZaxyPlace|:ZaxyThing)( \{|\))", _with_workspace, query)


def _with_workspace(found: re.Match[str]) -> str:
    label, bracket = found.groups()
    return f"{label} {{workspace: $workspace, " if bracket == " {" else f"{label} {{workspace: $workspace}})"


@pytest.fixture(scope="module")
def workspace(neo4j_address: Address, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The id of a workspace in which the page's commands were run."""
    folder = tmp_path_factory.mktemp("page") / "demo"
    folder.mkdir()
    commands = next(block for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S) if "zaxy append" in block)
    environ = {
        **os.environ,
        **neo4j_address.settings,
        "PROJECTION_BACKEND": "neo4j",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-e", "-c", commands], cwd=folder, env=environ, capture_output=True, text=True, timeout=200
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "Store the cache in Redis" in done.stdout and "warning" not in done.stdout
    return str(json.loads((folder / ".eventloom" / "workspace.json").read_text())["id"])


@pytest.fixture(scope="module")
def driver(neo4j_address: Address) -> Iterator[Any]:
    from neo4j import GraphDatabase

    with GraphDatabase.driver(neo4j_address.uri, auth=(neo4j_address.user, neo4j_address.password)) as opened:
        yield opened


def test_every_query_of_the_page_shows_what_it_gives() -> None:
    assert len(QUERIES) == PAGE.count("```cypher") >= 8


@pytest.mark.parametrize(("query", "shown"), QUERIES)
def test_the_query_gives_what_the_page_shows(query: str, shown: str, workspace: str, driver: Any) -> None:
    rows = driver.execute_query(of_this_workspace(query), workspace=workspace).records
    given = "".join(" | ".join("" if value is None else str(value) for value in row) + "\n" for row in rows)
    assert CITATION.sub("", given) == CITATION.sub("", shown)


def test_a_query_that_takes_the_space_from_the_place_reads_an_index(workspace: str, driver: Any) -> None:
    query = next(match[1] for match in QUERY.finditer(PAGE) if "v.space = place.space" in match[1])
    plan = driver.execute_query("EXPLAIN " + of_this_workspace(query), workspace=workspace).summary.plan
    reads = [step["operatorType"] for step in _steps(plan) if "ZaxyVersion" in step["args"].get("Details", "")]
    assert reads and all("IndexSeek" in read for read in reads), reads


def _steps(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("children", ()):
        yield from _steps(child)


def test_the_settings_are_those_of_the_manifest() -> None:
    manifest = json.loads((Path(zaxy_neo4j.__file__).parent / "zaxy-plugin.json").read_text(encoding="utf-8"))
    named = re.findall(r"^\| `(NEO4J_\w+)` \| ?`?([^`|]*?)`? ?\|", PAGE, re.MULTILINE)
    told = {setting["env"]: _shown(setting.get("default")) for setting in manifest["settings"]}
    assert dict(named) == told


def _shown(default: object) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default or "")
