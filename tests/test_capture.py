"""One pass of capture: what adapters read becomes events, each once, whatever an adapter does."""

from __future__ import annotations

import json
import shutil
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from captured import install_adapter, write_seen
from corpus.secrets import positives
from zaxy.errors import ZaxyError
from zaxy.eventloom.loom import Eventloom
from zaxy.observe.capture import Capture, Captured
from zaxy.security.redaction import redact
from zaxy.workspace import Workspace, find_workspace

_numbers = count()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "no client has written here"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return tmp_path / "site"


def adapter(site: Path, **faults: str) -> str:
    """A new adapter, under a name that no test has imported before."""
    name = f"seen{next(_numbers)}"
    install_adapter(site, name, **faults)
    return name


def captured(work: Path, session: str = "", adapters: tuple[str, ...] = ()) -> Captured:
    capture = Capture(find_workspace(str(work)), session, adapters)
    try:
        return capture.run()
    finally:
        capture.close()


def events(work: Path, session: str = "work-default") -> list[dict[str, Any]]:
    loom = Eventloom(str(work / ".eventloom"))
    try:
        return [line.record for line in loom.read(session)] if session in loom.sessions() else []
    finally:
        loom.close()


def test_each_observation_is_appended_once_and_a_second_pass_adds_none(work: Path, site: Path) -> None:
    adapter(site)
    write_seen(work, "one", "one", "two")
    first = captured(work)
    assert (first.new, first.known, first.sources, first.problems) == ({"transcript.turn": 3}, 0, 1, ())
    assert captured(work).appended == 0
    assert [event["payload"]["content"] for event in events(work)] == ["one", "one", "two"]


def test_only_what_is_new_is_appended(work: Path, site: Path) -> None:
    adapter(site)
    write_seen(work, "one")
    captured(work)
    write_seen(work, "two")
    assert captured(work).new == {"transcript.turn": 1}


@pytest.mark.parametrize("lost", ["deleted", "broken"])
def test_losing_the_marks_doubles_nothing(work: Path, site: Path, lost: str) -> None:
    adapter(site)
    write_seen(work, *(f"turn {number}" for number in range(1200)))
    assert captured(work).appended == 1200
    marks = work / ".eventloom" / "runtime" / "capture" / "marks"
    if lost == "deleted":
        shutil.rmtree(marks)
    else:
        next(marks.iterdir()).write_text('{"sou')
    write_seen(work, "new")
    again = captured(work)
    assert (again.appended, again.known) == (1, 1200)


def test_a_place_that_was_told_otherwise_before_is_known(work: Path, site: Path) -> None:
    adapter(site)
    write_seen(work, "a", "b", "c")
    captured(work)
    shutil.rmtree(work / ".eventloom" / "runtime")
    (work / ".seen" / "one.jsonl").unlink()
    write_seen(work, "a", "another b", "c", "d")
    again = captured(work)
    assert (again.appended, again.known) == (1, 3)
    assert [event["payload"]["content"] for event in events(work)] == ["a", "b", "c", "d"]


def test_what_was_forgotten_does_not_come_back(work: Path, site: Path) -> None:
    adapter(site)
    write_seen(work, "to be forgotten", "kept")
    captured(work)
    loom = Eventloom(str(work / ".eventloom"))
    loom.erase("work-default", 1, "user", "asked to")
    loom.close()
    shutil.rmtree(work / ".eventloom" / "runtime")
    assert captured(work).appended == 0
    assert "to be forgotten" not in (work / ".eventloom" / "work-default.jsonl").read_text()


def test_when_it_happened_is_kept(work: Path, site: Path) -> None:
    adapter(site)
    at = "2026-08-20T10:00:00.000000Z"
    write_seen(
        work, {"payload": {"content": "x"}, "occurred_at": at}, {"payload": {"content": "y"}, "occurred_at": "no"}
    )
    captured(work)
    assert [event["payload"].get("occurred_at") for event in events(work)] == [at, None]


def test_it_goes_to_the_default_session_unless_another_is_named(work: Path, site: Path) -> None:
    adapter(site)
    write_seen(work, "x")
    captured(work, "elsewhere")
    assert (len(events(work)), len(events(work, "elsewhere"))) == (0, 1)
    assert captured(work, "elsewhere").appended == 0


def test_no_graph_and_no_index_of_words_is_needed(work: Path, site: Path) -> None:
    adapter(site)
    write_seen(work, "x")
    captured(work)
    assert [folder.name for folder in (work / ".eventloom" / "followers").iterdir()] == ["log"]


def test_two_adapters_may_call_different_places_alike(work: Path, site: Path) -> None:
    adapter(site)
    adapter(site)
    write_seen(work, "x")
    assert captured(work).new == {"transcript.turn": 2}


# Secrets


def test_secrets_are_in_no_file(work: Path, site: Path) -> None:
    """Those that redaction recognises: how many of all that is, its own tests tell."""
    adapter(site)
    cases = [one for one in positives("report") if one.secret not in str(redact({"content": one.text})[0])][:300]
    assert len(cases) == 300
    write_seen(work, *(one.text for one in cases))
    assert captured(work).appended == 300
    shutil.rmtree(work / ".seen")
    kept = b"".join(path.read_bytes() for path in (work / ".eventloom").rglob("*") if path.is_file())
    assert not [one.kind for one in cases if one.secret.encode() in kept]


def test_secrets_are_taken_out_before_an_output_is_cut(work: Path, site: Path) -> None:
    """Where the cut comes first, it leaves half of a secret, which nobody recognises."""
    adapter(site)
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    for shift in range(0, 40, 5):
        output = "x" * (115 - shift) + " " + token + " " + "y" * 400
        write_seen(work, {"type": "command.completed", "actor": "c", "payload": {"command": "env", "stdout": output}})
    captured(work)
    found = [event["payload"]["stdout"] for event in events(work)]
    assert len(found) == 8
    assert all(len(text) <= 240 and token[:12] not in text and token[-12:] not in text for text in found)


def test_a_problem_does_not_repeat_a_secret(work: Path, site: Path) -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    adapter(site, before_read=f"raise ValueError('cannot parse {token}')")
    write_seen(work, "x")
    (problem,) = captured(work).problems
    assert "cannot parse" in problem
    assert token not in problem


# Adapters that misbehave


@pytest.mark.parametrize("where", ["before_sources", "before_read"])
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("raise ValueError('boom')", "boom"),
        ("raise SystemExit(3)", "SystemExit"),
        ("return 7", ""),
        ("time.sleep(60)", "did not come back within"),
    ],
)
def test_an_adapter_that_fails_is_told_of_and_the_others_go_on(
    work: Path, site: Path, where: str, fault: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZAXY_PLUGINS_BUDGET", "0.5")
    broken = adapter(site, **{where: fault})
    adapter(site)
    write_seen(work, "one", "two")
    found = captured(work)
    assert found.appended == 2
    assert any(broken in problem and said in problem for problem in found.problems)


def test_an_adapter_that_never_gets_on_is_left(work: Path, site: Path) -> None:
    adapter(site, before_read="return Reading((), mark, done=False)")
    write_seen(work, "x")
    assert "does not move" in captured(work).problems[0]


@pytest.mark.parametrize(
    "line",
    [
        {"type": "memory.ref.updated", "payload": {}},
        {"type": "coordination.task.claimed", "payload": {}},
        {"actor": "zaxy", "payload": {}},
        {"type": "Not A Type", "payload": {}},
        {"payload": {"content": "x" * 1_100_000}},
        {"payload": []},
    ],
)
def test_what_the_log_does_not_take_is_refused_alone(work: Path, site: Path, line: dict[str, Any]) -> None:
    adapter(site)
    write_seen(work, "before", line, "after")
    found = captured(work)
    assert (found.appended, found.refused, len(found.problems)) == (2, 1, 1)
    assert captured(work) == Captured({}, 0, 0, {}, 1, (), {}, {})


def test_an_adapter_that_is_asked_for_by_name_must_be_there(work: Path, site: Path) -> None:
    adapter(site)
    with pytest.raises(ZaxyError, match="no capture_adapters provider is named 'nobody'"):
        captured(work, adapters=("nobody",))


def test_a_log_that_cannot_be_written_is_an_error(work: Path, site: Path) -> None:
    adapter(site)
    write_seen(work, "x")
    captured(work)
    (work / ".eventloom" / "work-default.poisoned").write_text("for the test")
    write_seen(work, "y")
    with pytest.raises(ZaxyError):
        captured(work)
    (work / ".eventloom" / "work-default.poisoned").unlink()
    assert captured(work).appended == 1


def test_a_pass_that_is_asked_to_stop_stops_and_the_next_one_goes_on(work: Path, site: Path) -> None:
    adapter(site)
    write_seen(work, *(f"turn {number}" for number in range(1200)))
    capture = Capture(Workspace(str(work), str(work / ".eventloom"), "test"))
    asked = iter([False, False, True])
    assert capture.run(lambda: next(asked, True)).appended == 500
    assert capture.run().appended == 700
    capture.close()


def test_marks_are_readable_by_their_owner_alone(work: Path, site: Path) -> None:
    adapter(site)
    write_seen(work, "x")
    captured(work)
    (mark,) = (work / ".eventloom" / "runtime" / "capture" / "marks").iterdir()
    assert mark.stat().st_mode & 0o077 == 0
    assert json.loads(mark.read_text())["mark"] == "1"
