"""`zaxy capture-soak`: it passes only while every kind of observation arrives."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from captured import write_capture_config
from zaxy.__main__ import main
from zaxy.eventloom.drafts import admit_draft
from zaxy.eventloom.event_log import EventLog
from zaxy.eventloom.opening import files_log
from zaxy.observe.readiness import OBSERVATIONS, Watching
from zaxy.observe.self_test import WINDOW_S, self_test

SESSION = "shop-default"
NONE = Watching(False, False)


class Clock:
    """A log's clock that a test sets."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 1, 12, tzinfo=UTC)

    def __call__(self) -> str:
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(tmp_path: Path, clock: Clock) -> EventLog:
    log = files_log(str(tmp_path / "shop" / ".eventloom"))
    log.store.loom._clock = clock  # type: ignore[attr-defined]
    return log


def observe(log: EventLog, *types: str, **payload: Any) -> None:
    log.append(SESSION, [admit_draft(type_, "zaxy-hook", {"trigger": "x", **payload}) for type_ in types])


def test_it_passes_when_every_kind_was_seen_within_half_an_hour(log: EventLog, clock: Clock) -> None:
    observe(log, *OBSERVATIONS)
    report = self_test(log, SESSION, NONE, clock.now + timedelta(seconds=WINDOW_S))
    assert report.passed
    report = report.as_dict()
    assert (report["beta_criteria"], report["stale_lanes"], report["missing_lanes"]) == ("pass", [], [])
    last = log.last_event(SESSION)
    assert report["latest"]["seq"] == last.seq
    assert report["latest"]["hash"] == last.hash
    assert report["remediation"] == []


def test_a_second_more_makes_a_lane_stale_and_says_what_to_do(log: EventLog, clock: Clock) -> None:
    observe(log, *OBSERVATIONS)
    clock.now += timedelta(seconds=WINDOW_S + 1)
    observe(log, *OBSERVATIONS[:2])
    report = self_test(log, SESSION, NONE, clock.now).as_dict()
    assert report["beta_criteria"] == "fail"
    assert report["stale_lanes"] == list(OBSERVATIONS[2:])
    assert [lane["status"] for lane in report["lanes"]] == ["fresh", "fresh", "stale", "stale"]
    assert "Nothing new for 30 minutes" in report["lanes"][2]["remediation"]


def test_a_missing_lane_says_how_to_wire_it(log: EventLog, clock: Clock) -> None:
    observe(log, *OBSERVATIONS[:3])
    report = self_test(log, SESSION, NONE, clock.now).as_dict()
    assert report["missing_lanes"] == ["transcript.turn"]
    assert report["remediation"][0].startswith("transcript.turn: Never seen: install hooks with 'zaxy hooks")


def test_importing_what_happened_long_ago_is_not_being_alive(log: EventLog, clock: Clock) -> None:
    observe(log, *OBSERVATIONS, occurred_at="2026-04-01T00:00:00Z")
    assert self_test(log, SESSION, NONE, clock.now).as_dict()["stale_lanes"] == list(OBSERVATIONS)


def test_a_configured_watcher_must_run(log: EventLog, clock: Clock) -> None:
    observe(log, *OBSERVATIONS)
    assert self_test(log, SESSION, Watching(True, True), clock.now).passed
    stopped = self_test(log, SESSION, Watching(True, False), clock.now)
    assert not stopped.passed
    assert "zaxy capture start" in stopped.as_dict()["remediation"][0]


def test_a_clock_that_is_behind_makes_nothing_stale(log: EventLog, clock: Clock) -> None:
    observe(log, *OBSERVATIONS)
    assert self_test(log, SESSION, NONE, clock.now - timedelta(hours=2)).passed


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("EVENTLOOM_PATH", "EVENTLOOM_THREAD", "ZAXY_DOMAIN"):
        monkeypatch.delenv(variable, raising=False)
    folder = tmp_path / "shop"
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("words", [["capture-soak"], ["capture", "soak"]])
def test_the_command_exits_with_one_until_it_passes(
    shop: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["session_id"], report["latest"], report["beta_criteria"]) == (SESSION, None, "fail")
    for hook in (
        ("command", "--command", "ls"),
        ("file-edit", "--path", "a.py"),
        ("tool-call", "--tool-name", "search"),
        ("transcript-turn", "--role", "assistant", "--content", "Done."),
    ):
        assert main(["hook-event", *hook]) == 0
    capsys.readouterr()
    assert main(words) == 0
    assert "beta criteria: pass" in capsys.readouterr().out
    write_capture_config(shop)
    assert main(words) == 1
    out = capsys.readouterr().out
    assert "watcher              stopped" in out
    assert "zaxy capture start --workspace ." in out


def test_the_command_looks_at_the_session_and_the_log_that_are_named(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["hook-event", "stop", "--session-id", "other"]) == 0
    assert main(["capture-soak", "--eventloom-path", ".eventloom", "--session-id", "other", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["latest"]["seq"] == 1


@pytest.mark.needs_package("codex")
def test_a_kind_that_not_every_user_of_a_client_has_may_be_absent(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for hook in (
        ("command", "--command", "ls"),
        ("file-edit", "--path", "a.py"),
        ("transcript-turn", "--role", "assistant", "--content", "Done."),
    ):
        assert main(["hook-event", *hook, "--source", "codex", "--strict"]) == 0
    assert main(["capture-soak", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [lane["status"] for lane in report["lanes"]] == ["fresh", "fresh", "optional", "fresh"]
    assert (report["missing_lanes"], report["remediation"]) == ([], [])
    assert main(["hook-event", "session-start", "--source", "gemini", "--strict"]) == 0
    assert main(["capture-soak", "--json"]) == 1, "Gemini's users have tool calls, and it is in use too"
    assert json.loads(capsys.readouterr().out)["missing_lanes"] == ["tool.call.completed"]
