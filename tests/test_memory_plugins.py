"""Memory with lanes and backends of plugins: what they add, and what is left when they fail."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from textwrap import indent

import pytest

import installed
from conftest import Zaxy
from folders import made_folder
from zaxy.errors import Unavailable, ZaxyError
from zaxy.follow.verification import NOT_BY_ROWS
from zaxy.memory import Memory

SESSION = "work"
_numbers = count()
PLUGIN = """
from zaxy.api import Provider, hookimpl

@hookimpl
def zaxy_{point}():
    return [Provider({name!r}, "{package}.made:Made", "Made for tests.", capabilities={capabilities!r})]
"""
LANE = """
import threading
from zaxy.api import Candidate, Cursor

class Made:
    def __init__(self, context):
        self.at = {{}}

    def search(self, query):
{body}

    def cursor(self, session):
        {cursor}

    def apply(self, batch, cursor):
        self.at[batch.session] = cursor

    def digest(self, session):
        return str(self.at.get(session))

    def wipe(self, session):
        self.at.pop(session, None)

    def close(self):
        pass
"""
Install = Callable[..., str]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(str(site))

    def make(point: str, source: str, name: str = "", capabilities: tuple[str, ...] = ()) -> str:
        package = f"outside{next(_numbers)}"
        name = name or package
        plugin = PLUGIN.format(point=point, name=name, package=package, capabilities=capabilities)
        provides = [{"point": point, "name": name, "capabilities": list(capabilities)}]
        manifest = installed.manifest_of(package, provides=provides)
        entry = f"[zaxy.plugins]\n{package} = {package}.plugin\n"
        installed.install(site, package, {"plugin.py": plugin, "made.py": source}, manifest, entry)
        return name

    return make


def lane(body: str, cursor: str = "return self.at.get(session)") -> str:
    return LANE.format(body=indent(body, " " * 8), cursor=cursor)


def remembered(folder: Path) -> Memory:
    memory = Memory.open(made_folder(folder))
    for text in ("the lamp is out", "the keeper sleeps", "the oil is spent"):
        memory.append(
            "transcript.turn", {"role": "user", "content": text, "source": text}, actor="ada", session=SESSION
        )
    return memory


def test_a_lane_proposes_events_and_its_step_is_shown(tmp_path: Path, install: Install) -> None:
    name = install("retrieval_lanes", lane("return [Candidate(2, 8.0), Candidate(3, 4.0), Candidate(2, 1.0)]"))
    with remembered(tmp_path / "here") as memory:
        answer = memory.query("lamp", SESSION)
    steps = {row.seq: [step for step in row.steps if step.lane == name] for row in answer.results}
    assert [step.normalised for step in steps[2]] == [1.0]
    assert [(step.raw, step.normalised, step.weight) for step in steps[3]] == [(4.0, 0.5, 0.5)]
    assert steps[1] == []
    assert answer.notices == ()
    assert next(row.source_lane for row in answer.results if row.seq == 2) == name


@pytest.mark.parametrize("name", ["count", "index"])
def test_a_lane_may_have_any_other_name_than_ours(tmp_path: Path, install: Install, name: str) -> None:
    install("retrieval_lanes", lane("return [Candidate(2, 8.0)]"), name)
    with remembered(tmp_path / "here") as memory:
        memory.append("decision.made", {"decision": "lamp"}, actor="ada", session=SESSION)
        answer = memory.query("lamp", SESSION)
    assert {1, 2, 4} <= {row.seq for row in answer.results}
    (own,) = (row for row in answer.results if row.seq == 4)
    assert "exact" in [step.lane for step in own.steps]
    (theirs,) = (row for row in answer.results if row.seq == 2)
    assert (name, 8.0, 0.5) in [(step.lane, step.raw, step.weight) for step in theirs.steps]


FAILURES = {
    "raises": "raise LookupError('no lane today')",
    "hangs": "threading.Event().wait()",
    "exits": "raise SystemExit(3)",
    "returns nothing": "return None",
    "returns a generator": "yield Candidate(1, 1.0)",
    "returns numbers": "return [1, 2, 3]",
    "endless scores": "return [Candidate(2, float('inf'))]",
    "no scores": "return [Candidate(2, float('nan')), Candidate(3, 'high'), Candidate(3, None)]",
    "events that are not there": "return [Candidate(99, 1.0), Candidate(-1, 1.0), Candidate('1', 1.0)]",
    "too many": "return [Candidate(1, 1.0)] * 1000",
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_lane_that_fails_drops_out_with_a_notice(tmp_path: Path, install: Install, failure: str) -> None:
    with remembered(tmp_path / "here") as memory:
        before = [row.as_dict() for row in memory.query("lamp", SESSION).results]
    name = install("retrieval_lanes", lane(FAILURES[failure]))
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        answer = memory.query("lamp", SESSION)
        assert any(name in said for said in answer.notices)
        assert answer.warnings == ()
        if failure != "too many":
            assert [row.as_dict() for row in answer.results] == before
        assert memory.verbatim("lamp", SESSION).results[0].seq == 1


def test_a_lane_that_follows_is_brought_up_to_the_log(tmp_path: Path, install: Install) -> None:
    body = "at = self.at.get(query.session)\nreturn [Candidate(at.seq, 1.0)] if at else []"
    name = install("retrieval_lanes", lane(body), capabilities=("follower",))
    with remembered(tmp_path / "here") as memory:
        answer = memory.query("lamp", SESSION)
        assert name in [step.lane for row in answer.results if row.seq == 3 for step in row.steps]
        assert [state.follower for state in memory.followers_status(SESSION)] == ["text", "graph", f"lane {name}"]


@pytest.mark.parametrize("cursor", ["return 'somewhere'", "raise LookupError('no cursor')", "return 7"])
def test_a_lane_that_cannot_follow_leaves_a_notice_and_the_answer(
    tmp_path: Path, install: Install, cursor: str
) -> None:
    name = install("retrieval_lanes", lane("return []", cursor), capabilities=("follower",))
    with remembered(tmp_path / "here") as memory:
        answer = memory.query("lamp", SESSION)
        assert answer.results[0].seq == 1
        assert answer.warnings == ()
        assert [name in notice for notice in answer.notices] == [True]


@pytest.mark.parametrize("place", ["search", "cursor"])
def test_a_lane_that_hangs_is_no_reason_to_doubt_the_answer(
    tmp_path: Path, install: Install, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    hang = FAILURES["hangs"]
    bodies = ("return []", hang) if place == "cursor" else (hang, "return None")
    name = install("retrieval_lanes", lane(*bodies), capabilities=("follower",))
    monkeypatch.setenv("ZAXY_PLUGINS_BUDGET", "0.3")
    with remembered(tmp_path / "here") as memory:
        answer = memory.query("lamp", SESSION)
        found = memory.checkout("Where is the lamp?", SESSION)
    assert answer.results[0].seq == 1
    assert any(f"lane {name}" in said for said in answer.notices)
    assert answer.warnings == () and found.warnings == []


# Backends


def test_a_backend_that_is_missing_is_named_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROJECTION_BACKEND", "tarn")
    with remembered(tmp_path / "here") as memory:
        assert memory.verbatim("lamp", SESSION).results[0].seq == 1
        with pytest.raises(ZaxyError) as refused:
            memory.query("lamp", SESSION)
    assert refused.value.code == "not_found"
    assert "'tarn'" in refused.value.message and "sqlite" in refused.value.message
    assert "nstall the package that provides it" in refused.value.remediation


def test_a_backend_that_is_broken_is_named_and_no_other_takes_its_place(
    tmp_path: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = install("projection_backends", "raise ImportError('no engine today')")
    monkeypatch.setenv("PROJECTION_BACKEND", name)
    with remembered(tmp_path / "here") as memory:
        assert memory.verbatim("lamp", SESSION).results[0].seq == 1
        with pytest.raises(ZaxyError) as refused:
            memory.query("lamp", SESSION)
    assert name in refused.value.message and "no engine today" in refused.value.message


def test_a_backend_that_fails_in_its_calls_leaves_the_words_and_a_warning(
    tmp_path: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        "class Made:\n    def __init__(self, context):\n        pass\n\n"
        "    def __getattr__(self, name):\n        raise LookupError('no graph today')\n"
    )
    monkeypatch.setenv("PROJECTION_BACKEND", install("projection_backends", source))
    with remembered(tmp_path / "here") as memory:
        answer = memory.query("lamp", SESSION)
    assert answer.results[0].seq == 1
    assert any("no graph today" in said for said in answer.warnings)
    assert any("superseded is not left out" in said for said in answer.notices)


def test_a_backend_without_a_check_of_its_rows_is_named_as_such_by_followers_verify(
    tmp_path: Path, install: Install, zaxy: Zaxy
) -> None:
    source = (
        "from zaxy.graph.sqlite_graph import SqliteGraph\n\nclass Made:\n"
        "    def __init__(self, context):\n        self.graph = SqliteGraph(context)\n\n"
        "    def __getattr__(self, name):\n        if name == 'verify':\n            raise AttributeError(name)\n"
        "        return getattr(self.graph, name)\n"
    )
    chosen = {"site": tmp_path / "site", "PROJECTION_BACKEND": install("projection_backends", source)}
    assert zaxy("append", "note.taken", "--payload", '{"text": "the lamp is out"}', **chosen).returncode == 0
    assert "the lamp is out" in zaxy("query", "lamp", **chosen).stdout
    verified = zaxy("followers", "verify", "--json", **chosen)
    assert (verified.returncode, verified.stderr) == (0, "")
    rows = {row["follower"]: (row["problems"], row["note"]) for row in json.loads(verified.stdout)["followers"]}
    assert rows["graph"] == ([], NOT_BY_ROWS)
    assert rows["text"] == ([], "")
    shown = zaxy("followers", "verify", **chosen).stdout.splitlines()
    assert f"here-default  graph  {NOT_BY_ROWS}" in shown


def test_a_graph_that_lags_behind_does_not_hide_what_the_words_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from zaxy.graph.sqlite_graph import SqliteGraph

    def no_room(*_: object) -> None:
        raise Unavailable("no room today", "Make room.")

    monkeypatch.setattr(SqliteGraph, "apply", no_room)
    with remembered(tmp_path / "here") as memory:
        answer = memory.query("lamp", SESSION)
    assert answer.results[0].seq == 1
    assert len(answer.warnings) == 1 and "no room today" in answer.warnings[0]


def test_an_erasure_reaches_a_graph_that_was_chosen_before_and_a_lane_that_is_disabled(
    tmp_path: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    package = install("retrieval_lanes", lane("return []"), capabilities=("follower",))
    with remembered(here) as memory:
        event = memory.append("note.taken", {"text": "quixzbarq"}, actor="ada", session=SESSION)
        memory.query("quixzbarq", SESSION)
    (here / ".eventloom" / "followers" / f"retrieval_lanes-{package}" / "vectors").write_text("quixzbarq")
    monkeypatch.setenv("ZAXY_PLUGINS_DISABLE", package)
    source = "from zaxy.graph.sqlite_graph import SqliteGraph as Made\n"
    monkeypatch.setenv("PROJECTION_BACKEND", install("projection_backends", source))
    with Memory.open(here) as memory:
        assert memory.query("quixzbarq", SESSION).results
        assert memory.forget(event.citation, "private").warnings == ()
        assert memory.query("lamp", SESSION).results[0].seq == 1
    held = [path for path in here.rglob("*") if path.is_file() and b"quixzbarq" in path.read_bytes()]
    assert held == []
