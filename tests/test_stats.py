"""`zaxy stats`: what it says is counted in the log, here a second time in another way."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from zaxy import Memory
from zaxy.eventloom.admission import admit_own
from zaxy.eventloom.loom import Eventloom
from zaxy.observe.receipt import MODEL_TOKENS, SHOWN
from zaxy.observe.stats import week_of
from zaxy.terminal.stats_page import stats_page

TREE = Path(__file__).parents[1]
KEYS = ["events", "sessions", "first", "last", "injected_tokens", "model_tokens", "by_session", "by_week"]
WORKING_DAYS = ("2025-12-29", "2026-01-05", "2026-01-06", "2026-03-02")


class Clock:
    day = WORKING_DAYS[0]

    def __call__(self) -> str:
        return f"{self.day}T12:00:00.000000Z"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("EVENTLOOM_PATH", "EVENTLOOM_THREAD", "ZAXY_DOMAIN"):
        monkeypatch.delenv(variable, raising=False)
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


@pytest.fixture
def loom(project: Path) -> Iterator[tuple[Eventloom, Clock]]:
    with Memory.open(project) as memory:
        memory.append("note.taken", {"text": "now"}, session="now")
    clock = Clock()
    loom = Eventloom(str(project / ".eventloom"), clock=clock)
    yield loom, clock
    loom.close()


def stats(project: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "zaxy", "stats", *words],
        cwd=project,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def counted(project: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(stats(project, "--json"))
    return found


def lines_of(project: Path) -> list[dict[str, Any]]:
    """The events as the files hold them, read without Zaxy."""
    files = sorted((project / ".eventloom").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def test_what_it_says_is_what_a_count_of_the_files_gives(project: Path, loom: tuple[Eventloom, Clock]) -> None:
    log, clock = loom
    for number, day in enumerate(WORKING_DAYS):
        clock.day = day
        log.append(
            "a" if number % 2 else "b", [admit_own("note.taken", "ann", {"text": day, "tokens": 5})] * (number + 1)
        )
        log.append("a", [admit_own(SHOWN[number % 3], "zaxy", {"tokens": 100 + number})])
    found, lines = counted(project), lines_of(project)
    assert list(found) == KEYS
    assert (found["events"], found["sessions"]) == (len(lines), 3)
    days = sorted(line["time"][:10] for line in lines)
    assert (found["first"], found["last"]) == (days[0], days[-1])
    marks = [line for line in lines if line["actor"] == "zaxy" and "tokens" in line["payload"]]
    assert found["injected_tokens"] == sum(line["payload"]["tokens"] for line in marks) == 406
    weeks = Counter(datetime.fromisoformat(line["time"]).strftime("%G-W%V") for line in lines)
    assert {week["week"]: week["events"] for week in found["by_week"]} == weeks
    assert sum(week["injected_tokens"] for week in found["by_week"]) == 406
    own = Counter(line["thread"] for line in lines)
    assert {row["session_id"]: row["events"] for row in found["by_session"]} == own
    assert {row["session_id"]: row["injected_tokens"] for row in found["by_session"]} == {"a": 406, "b": 0, "now": 0}


def test_a_week_at_the_turn_of_the_year_is_that_of_iso_8601() -> None:
    assert [week_of(day) for day in WORKING_DAYS] == ["2026-W01", "2026-W02", "2026-W02", "2026-W10"]


def test_tokens_that_a_model_would_cost_are_counted_where_zaxy_itself_says_so(
    project: Path, loom: tuple[Eventloom, Clock]
) -> None:
    log, _ = loom
    log.append("a", [admit_own("note.taken", "ann", {MODEL_TOKENS: 1000})])
    assert counted(project)["model_tokens"] == 0
    log.append("a", [admit_own("memory.checkout.completed", "zaxy", {MODEL_TOKENS: 7, "tokens": 3})])
    assert counted(project)["model_tokens"] == 7
    assert "7  spent by memory itself" in stats(project)


def test_no_type_of_event_that_zaxy_writes_itself_records_a_call_of_a_model() -> None:
    types = json.loads((TREE / "contracts" / "event-types.json").read_text(encoding="utf-8"))
    assert "memory.context.injected" in json.dumps(types)
    assert MODEL_TOKENS not in json.dumps(types)


def test_a_checkout_and_a_bootstrap_say_how_many_tokens_they_handed_over(project: Path) -> None:
    with Memory.open(project) as memory:
        memory.append("decision.made", {"decision": "Keep login sessions in Postgres"}, session="work")
        checkout = memory.checkout("login sessions", "work")
        bootstrap = memory.bootstrap("work")
    assert counted(project)["injected_tokens"] == checkout.tokens_used + bootstrap.tokens_used


def test_a_damaged_log_is_counted_up_to_the_damage(project: Path, loom: tuple[Eventloom, Clock]) -> None:
    log, _ = loom
    log.append("a", [admit_own("note.taken", "ann", {"text": str(number)}) for number in range(4)])
    file = project / ".eventloom" / "a.jsonl"
    file.write_bytes(file.read_bytes().replace(b'{"text":"2"}', b'{"text":"9"}'))
    done = subprocess.run(
        [sys.executable, "-m", "zaxy", "stats", "--json"], cwd=project, capture_output=True, text=True
    )
    assert json.loads(done.stdout)["by_session"][0]["events"] == 2
    assert "the log of a is damaged" in done.stderr


def test_where_nothing_is_recorded_it_says_so_and_counts_nothing(project: Path) -> None:
    assert stats(project) == "nothing is recorded yet\n"
    empty = {**dict.fromkeys(KEYS, 0), "first": "", "last": "", "by_session": [], "by_week": []}
    assert counted(project) == empty


def test_the_bars_of_the_page_have_a_place_for_each_week_up_to_half_a_year() -> None:
    weeks = [{"week": f"2026-W{week:02}", "events": week, "injected_tokens": 0} for week in (2, 4, 40)]
    page = {**dict.fromkeys(KEYS, 1), "days": 3, "first": "2026-01-05", "last": "2026-10-01", "by_session": []}
    page["by_week"] = weeks
    drawn = next(line for line in stats_page(page, 80, False).splitlines() if line.startswith("events by week"))
    assert drawn[26:] == " " * 25 + "█"
    page["by_week"] = weeks[:2]
    drawn = next(line for line in stats_page(page, 80, False).splitlines() if line.startswith("events by week"))
    assert drawn[26:] == "▄ █"
