"""The whole memory on a Neo4j server: chosen by name, set up by init, looked at by the doctor."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from project import Project
from servers.neo4j_server import Address, Neo4jServer, OldServer, free_port, new_server
from zaxy.memory import Memory
from zaxy.workspace import find_workspace

pytestmark = pytest.mark.xdist_group("neo4j")
SECRET = "hunter2-is-the-password"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "shop", tmp_path / "home")
    made.root.mkdir()
    made.home.mkdir()
    return made


@pytest.fixture(scope="module")
def old_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    started = new_server(tmp_path_factory.mktemp("old") / "server", OldServer)
    yield started
    started.kill()


def test_it_is_chosen_by_name_and_answers_like_any_other(
    neo4j_address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PROJECTION_BACKEND": "neo4j", **neo4j_address.settings}.items():
        monkeypatch.setenv(name, value)
    with closing(Memory.open(str(tmp_path))) as memory:
        memory.append("fact.recorded", {"fact": "The cache is in SQLite.", "subject": "cache"})
        memory.append("fact.recorded", {"fact": "The cache is in Redis.", "subject": "cache"})
        answer = memory.query("where is the cache?")
        assert memory.recall.graph.name == "neo4j"
        assert [row.content for row in answer.results] and not answer.warnings and not answer.notices
        for state in memory.rebuild_followers():
            assert (state.seq, state.problem) == (2, "")


def test_init_chooses_it_and_writes_the_password_nowhere(
    project: Project, neo4j_address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZAXY_STATE_DIR", str(tmp_path / "state"))
    env = {**neo4j_address.settings, "ZAXY_PLUGINS_BUDGET": "30"}
    told = project.told("init", "--backend", "neo4j", "--client", "claude-code", "--client", "cursor", "--yes", **env)
    assert told["backend"] == "neo4j"
    assert find_workspace(str(project.root)).stored_settings().here == {"PROJECTION_BACKEND": "neo4j"}
    written = [path for folder in (project.root, project.home) for path in folder.rglob("*") if path.is_file()]
    assert len(written) > 3
    for path in written:
        assert neo4j_address.password.encode() not in path.read_bytes(), path
    fact = ("append", "fact.recorded", "--payload", '{"fact": "The lamp is red."}')
    assert project.run(*fact, **env).returncode == 0
    query = project.run("query", "lamp", **env)
    assert query.returncode == 0 and not query.stderr, query.stderr


def test_init_refuses_it_with_how_to_get_it_where_its_package_is_not_there(project: Project) -> None:
    done = project.run("init", "--backend", "neo4j", "--yes", ZAXY_PLUGINS_DISABLE="neo4j")
    assert done.returncode == 1
    assert "neo4j is not installed" in done.stderr and "plugins/neo4j" in done.stderr
    assert not (project.root / ".eventloom").exists()


def test_a_password_is_not_kept_in_the_workspace(project: Project) -> None:
    project.told("init", "--preset", "minimal", "--yes")
    done = project.run("config", "set", "NEO4J_PASSWORD", SECRET)
    assert done.returncode != 0 and "NEO4J_PASSWORD" in done.stderr
    assert SECRET not in (project.root / ".eventloom/workspace.json").read_text()
    secret = project.root / "secret"
    secret.write_text(f"{SECRET}\n")
    listed = project.run("config", "list", NEO4J_PASSWORD_FILE=str(secret))
    assert "NEO4J_PASSWORD" in listed.stdout and SECRET not in listed.stdout


def followers_row(project: Project, **env: str) -> dict[str, Any]:
    told = project.told("doctor", code=1, PROJECTION_BACKEND="neo4j", **env)
    assert SECRET not in json.dumps(told)
    (row,) = (row for row in told["rows"] if row["name"] == "followers")
    assert row["status"] == "error"
    return dict(row)


def test_the_doctor_tells_a_server_that_is_down_a_wrong_password_and_an_old_version_apart(
    project: Project, neo4j_address: Address, old_server: Neo4jServer
) -> None:
    project.told("init", "--preset", "minimal", "--yes")
    down = followers_row(project, NEO4J_URI=f"bolt://127.0.0.1:{free_port()}", NEO4J_PASSWORD=SECRET)
    wrong = followers_row(project, **{**neo4j_address.settings, "NEO4J_PASSWORD": SECRET})
    old = followers_row(project, **old_server.address.settings)
    assert "no Neo4j server answers at bolt://127.0.0.1:" in down["message"]
    assert down["action"].startswith("Start it, or set NEO4J_URI")
    assert "refuses the password of the user neo4j" in wrong["message"]
    assert wrong["action"].startswith("Set NEO4J_USER and NEO4J_PASSWORD")
    assert f"is Neo4j {OldServer.version}, and Zaxy needs Neo4j 5 or later" in old["message"]
    assert old["action"].startswith("Upgrade it to Neo4j 5.26")
    healthy = project.told("doctor", PROJECTION_BACKEND="neo4j", **neo4j_address.settings)
    assert healthy["ok"]
