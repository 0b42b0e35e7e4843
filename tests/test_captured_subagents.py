"""What a subagent did is recorded in a session of its own, and never in that of the agent it works for."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from captured import install_adapter, write_seen
from conftest import Zaxy
from zaxy import Memory
from zaxy.eventloom.event_log import EventLog
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.opening import open_event_log
from zaxy.observe.capture import Capture, Captured, Marks
from zaxy.observe.readiness import MAX_SESSIONS, workspace_coverage
from zaxy.observe.subagent_sessions import COMPLETED, subagent_session, subagents_among
from zaxy.observe.watcher import is_running
from zaxy.security.redaction import redact_text
from zaxy.security.session_ids import check_session_id
from zaxy.workspace import find_workspace

_numbers = count()
END = {"type": "subagent.completed", "actor": "seen", "payload": {"summary": "heliotrope is done", "source": "seen:1"}}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with an adapter that no test has imported before."""
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "no client has written here"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    install_adapter(tmp_path / "site", f"told{next(_numbers)}")
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def captured(work: Path, session: str = "") -> Captured:
    capture = Capture(find_workspace(str(work)), session)
    try:
        return capture.run()
    finally:
        capture.close()


def logs(work: Path) -> dict[str, list[dict[str, Any]]]:
    """The events of every session."""
    loom = Eventloom(str(work / ".eventloom"))
    try:
        return {session: [line.record for line in loom.read(session)] for session in loom.sessions()}
    finally:
        loom.close()


def told(work: Path) -> dict[str, list[tuple[str, Any]]]:
    """Of every session the types, and what was said or whose end it was."""
    return {
        session: [(one["type"], one["payload"].get("content") or one["payload"].get("subagent")) for one in events]
        for session, events in logs(work).items()
    }


def test_each_subagent_has_a_session_of_its_own_beside_its_parents(work: Path) -> None:
    write_seen(work, "the parent's words")
    write_seen(work, "helper's words", file="one@helper")
    write_seen(work, "scout's words", "more of them", file="one@scout")
    found = captured(work)
    parent, helper, scout = logs(work)
    assert parent == "work-default"
    assert helper.startswith("work-default.helper-")
    assert scout.startswith("work-default.scout-")
    assert told(work) == {
        parent: [("transcript.turn", "the parent's words")],
        helper: [("transcript.turn", "helper's words")],
        scout: [("transcript.turn", "scout's words"), ("transcript.turn", "more of them")],
    }
    assert (found.new, found.subagents, found.problems) == ({"transcript.turn": 4}, {helper: 1, scout: 2}, ())


def test_a_named_session_has_the_subagents_below_it(work: Path) -> None:
    write_seen(work, "x", file="one@helper")
    (session,) = captured(work, "elsewhere").subagents
    assert session.startswith("elsewhere.helper-")


def test_subagents_of_two_parents_are_two_though_they_are_called_alike(work: Path) -> None:
    write_seen(work, "first", file="one@helper")
    write_seen(work, "second", file="two@helper")
    assert len(captured(work).subagents) == 2


@pytest.mark.parametrize("lost", [False, True], ids=["with its marks", "without its marks"])
def test_a_second_pass_records_nothing_twice(work: Path, lost: bool) -> None:
    write_seen(work, "a")
    write_seen(work, "b", END, "c", END, file="one@helper")
    captured(work)
    before = told(work)
    if lost:
        shutil.rmtree(work / ".eventloom" / "runtime")
    again = captured(work)
    assert (again.appended, again.problems) == (0, ())
    assert told(work) == before
    write_seen(work, "d", END, file="one@helper")
    assert captured(work).new == {"transcript.turn": 1}


class Killed(BaseException):
    """Ends a pass as a kill does: nothing after it is done."""


@pytest.mark.parametrize("step", [(EventLog, "append_each"), (Marks, "keep")], ids=["an append", "a mark"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("number", range(4))
def test_a_pass_that_dies_at_any_step_is_made_good_by_the_next(
    work: Path, step: tuple[type, str], when: str, number: int
) -> None:
    write_seen(work, "a", "b")
    write_seen(work, "c", END, "d", END, file="one@helper")
    write_seen(work, "e", END, file="one@scout")
    owner, name = step
    real, calls = getattr(owner, name), count()

    def dies(*arguments: Any) -> Any:
        at_it = next(calls) == number
        if at_it and when == "before":
            raise Killed
        done = real(*arguments)
        if at_it:
            raise Killed
        return done

    with pytest.MonkeyPatch.context() as patch, suppress(Killed):
        patch.setattr(owner, name, dies)
        captured(work)
    captured(work)
    found = told(work)
    assert [sorted(map(str, events)) for events in found.values()] == [
        sorted(map(str, events))
        for events in (
            [("transcript.turn", "a"), ("transcript.turn", "b"), (COMPLETED, "helper"), (COMPLETED, "scout")],
            [("transcript.turn", "c"), ("transcript.turn", "d")],
            [("transcript.turn", "e")],
        )
    ]


# The end of a subagent


def test_the_parent_hears_once_where_a_subagents_work_is_and_none_of_its_words(work: Path) -> None:
    write_seen(work, "heliotrope", END, "heliotrope again", END, file="one@helper")
    (helper,) = captured(work).subagents
    (end,) = logs(work)["work-default"]
    assert end["type"] == "subagent.completed"
    assert end["payload"] == {
        "source": "seen:1",
        "subagent": "helper",
        "subagent_session_id": helper,
        "parent_session_id": "work-default",
        "summary": f"A subagent ended. What it did is in the session {helper}.",
    }
    assert [kind for kind, _ in told(work)[helper]] == ["transcript.turn"] * 2


def test_the_end_that_a_session_of_no_subagent_tells_is_recorded_as_it_is(work: Path) -> None:
    write_seen(work, END)
    captured(work)
    assert [event["payload"] for event in logs(work)["work-default"]] == [END["payload"]]


@pytest.mark.parametrize("kept", ["parent", "subagent"])
def test_what_is_asked_in_one_session_is_not_answered_from_the_other(work: Path, kept: str) -> None:
    write_seen(work, "The gateway listens on port 8443.")
    write_seen(work, "The heliotrope archive lies under /srv/heliotrope.", END, file="one@helper")
    (helper,) = captured(work).subagents
    question = "Where does the heliotrope archive lie?"
    with Memory.open(work) as memory:
        shown = str(memory.checkout(question, session="work-default" if kept == "parent" else helper).as_dict())
    assert ("/srv/heliotrope" in shown) is (kept == "subagent")
    assert "8443" not in shown or kept == "parent"


# Sources that contradict themselves


def test_a_source_with_a_parent_that_names_no_subagent_is_not_read(tmp_path: Path, work: Path) -> None:
    install_adapter(
        tmp_path / "site",
        name := f"nameless{next(_numbers)}",
        before_sources="return [Source('x', workspace / '.seen' / 'one.jsonl', parent='two')]",
    )
    write_seen(work, "x")
    found = captured(work)
    assert found.appended == 1  # the other adapter's
    (problem,) = found.problems
    assert problem.startswith(f"{name}/x: ")
    assert "does not name its subagent" in problem


# Names


IDS = st.text(max_size=200) | st.sampled_from(
    ["a3f2c1b4d5e6f7a8b", "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee", "..", "-", "con", "A", "a", "ä/ö", "x" * 500]
)
SESSIONS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,126}[A-Za-z0-9]", fullmatch=True).filter(
    lambda name: name.split(".")[0].lower() not in ("con", "prn", "aux", "nul") and not redact_text(name)[1]
)


@given(SESSIONS, IDS, IDS)
def test_a_name_is_a_session_id_and_no_secret(session: str, parent: str, agent: str) -> None:
    name = subagent_session(session, "client", parent=parent, agent=agent)
    assert check_session_id(name) == name
    assert not redact_text(name)[1]
    assert name == subagent_session(session, "client", parent=parent, agent=agent)
    assert subagents_among([name, "work-default", "a.b"]) == [name]


@given(st.lists(st.tuples(SESSIONS, st.sampled_from(["a", "b"]), IDS, IDS), unique=True, min_size=2, max_size=8))
def test_different_subagents_have_names_that_no_file_system_takes_for_one(
    subagents: list[tuple[str, str, str, str]],
) -> None:
    names = {
        subagent_session(session, adapter, parent=parent, agent=agent).casefold()
        for session, adapter, parent, agent in subagents
    }
    assert len(names) == len(subagents)


def test_an_id_that_is_a_secret_is_in_no_name() -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    assert subagent_session("work", "client", parent="p", agent=token).startswith("work.agent-")


# The commands


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "here"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    install_adapter(tmp_path / "site", "seen")
    yield folder
    if (folder / ".eventloom").is_dir():
        subprocess.run([sys.executable, "-m", "zaxy", "capture", "stop"], cwd=folder, check=False, timeout=60)


def until(fact: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 120
    while not fact():
        assert time.monotonic() < deadline, f"it never came about that {what}"
        time.sleep(0.05)


def test_the_commands_show_the_sessions_of_subagents(zaxy: Zaxy, here: Path) -> None:
    write_seen(here, "the parent's words")
    write_seen(here, "helper's words", "and more", END, file="one@helper")
    zaxy("capture", "start", "--interval", "0.1", "--graph")
    session = subagent_session("here-default", "seen", parent="one", agent="helper")
    until(lambda: "subagents" in zaxy("capture", "status").stdout, "the status tells of it")
    assert f"subagents  2 events in 1 session: {session}" in zaxy("capture", "status").stdout
    assert json.loads(zaxy("capture", "status", "--json").stdout)["subagents"] == {session: 2}
    assert session in zaxy("sessions").stdout
    assert "helper's words" in zaxy("replay", session).stdout
    parents = zaxy("replay", "here-default").stdout
    assert session in parents
    assert "helper's words" not in parents
    capture = [row for row in zaxy("doctor").stdout.splitlines() if "capture_health" in row]
    assert "1 session of subagents" in capture[0]

    def followed() -> bool:
        states = json.loads(zaxy("followers", "status", "--session-id", session, "--json").stdout)["followers"]
        return all(state["seq"] == 2 for state in states)

    until(followed, "with --graph the followers have the subagent's session too")


@pytest.mark.skipif(os.name != "posix", reason="kills")
def test_a_watcher_that_is_killed_leaves_what_one_that_lives_leaves(zaxy: Zaxy, here: Path, tmp_path: Path) -> None:
    turns, helpers = 400, 8
    for number in range(helpers):
        write_seen(here, *(f"turn {number}.{turn}" for turn in range(turns)), END, file=f"one@helper{number}")
    write_seen(here, *(f"parent {turn}" for turn in range(turns)))
    calm = tmp_path / "calm" / "here"
    shutil.copytree(here / ".seen", calm / ".seen")
    for kill in range(4):
        pid = json.loads(zaxy("capture", "start", "--interval", "0.1", "--json").stdout)["pid"]
        until(lambda enough=kill * turns: _recorded(here) >= enough, "some of it is recorded")
        os.kill(pid, signal.SIGKILL)
        until(lambda: not is_running(find_workspace(str(here))), "its lock is free")
    for place in (here, calm):
        zaxy("capture", "start", "--interval", "0.1", "--workspace", str(place))
        until(lambda at=place: _is_read(zaxy, at), "everything is read")
        zaxy("capture", "stop", "--workspace", str(place))
    killed, undisturbed = (
        {session: sorted(map(str, events)) for session, events in told(at).items()} for at in (here, calm)
    )
    assert killed == undisturbed
    assert sum(map(len, killed.values())) == (helpers + 1) * turns + helpers
    assert zaxy("verify", "--workspace", str(here)).returncode == 0


def _recorded(at: Path) -> int:
    return sum(log.read_bytes().count(b"\n") for log in (at / ".eventloom").glob("*.jsonl"))


def _is_read(zaxy: Zaxy, at: Path) -> bool:
    status = json.loads(zaxy("capture", "status", "--workspace", str(at), "--json").stdout)
    return status["passes"] > 1 and status["last_pass"]["captured"] == 0


def test_many_subagents_do_not_hide_what_else_arrives(work: Path) -> None:
    write_seen(work, "the parent's words", {"type": "command.completed", "actor": "c", "payload": {"command": "make"}})
    captured(work)
    for number in range(MAX_SESSIONS + 4):
        write_seen(work, "x", file=f"one@helper{number}")
    captured(work)
    with closing(open_event_log(find_workspace(str(work)))) as log:
        seen = workspace_coverage(log)
    assert seen.subagents == MAX_SESSIONS + 4
    assert "command.completed" in seen.observed
