"""A well-hashed record that breaks the format ends no read: `verify` names it, and all around it stays readable."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import missing_package
from faults.commands_in_forks import run as run_in_fork
from faults.nasty_records import GONE, ODD, Good, Nasty, event_types, good, log_of, nasty_records, odd_payloads
from faults.sample_logs import SESSION, note, planted
from zaxy.errors import ZaxyError
from zaxy.eventloom.grammar import MALFORMED, is_time
from zaxy.eventloom.loom import Eventloom
from zaxy.memory import Memory

RECORDS = nasty_records()
NEWER = ("v: a number", "v: a huge number")
"""Of these the advice is to upgrade. At the end of a log nothing can be said about what stands before it."""
BEFORE = ("The harbour lamp burns whale oil.", "The label printer is green.")
AFTER = ("The ferry leaves at noon.", "The bakery sells rye bread.")
DAMAGED = "is damaged: 'zaxy verify work' tells where"
EVERY = 5
"""Every how manyth record goes through the slower surfaces. Its place in the log changes from one to the next."""


def around(nasty: Nasty, last: bool) -> list[bytes]:
    events: list[Good | Nasty] = [good(text) for text in BEFORE]
    return log_of(*events, nasty, *([] if last else [good(text) for text in AFTER]))


PLACE = len(BEFORE) + 1


def test_there_are_many_nasty_records_of_every_kind() -> None:
    assert len(RECORDS) > 400
    assert len({record.name for record in RECORDS}) == len(RECORDS)
    assert sum(not record.breaks for record in RECORDS) > 30
    assert len(event_types()) >= 50


@pytest.mark.parametrize("last", [False, True], ids=["in the middle", "at the end"])
def test_a_log_is_read_around_a_nasty_record_and_verify_names_it(tmp_path: Path, last: bool) -> None:
    wrong = {}
    for number, nasty in enumerate(RECORDS):
        if last and nasty.name in NEWER:
            continue
        loom = planted(tmp_path / str(number), b"".join(around(nasty, last)))
        if problems := list(problems_of(loom, nasty, last)):
            wrong[nasty.name] = problems
        loom.close()
    assert wrong == {}


def problems_of(loom: Eventloom, nasty: Nasty, last: bool) -> Iterator[object]:
    expected = [1, 2] if nasty.breaks else [1, 2, PLACE]
    expected += [PLACE + 1, PLACE + 2] if nasty.chained and not last else []
    found = []
    try:
        for line in loom.read(SESSION):
            found.append(line.seq)
    except ZaxyError as error:
        if nasty.chained or not error.remediation:
            yield error
    if found != expected:
        yield found
    with loom.view(SESSION) as view:
        if {1, 2} - view.events(expected).keys():
            yield "the events before it are not found"
    if loom.refs(SESSION).keys() - {"refs/heads/main"}:
        yield "it sets a ref"
    report = loom.verify(SESSION)
    named = report.damage.seq if report.damage else None
    if named != (PLACE if nasty.breaks else None):
        yield report
    try:
        loom.append(SESSION, [note("more")])
    except ZaxyError as error:
        if not nasty.breaks:
            yield error
    else:
        if nasty.breaks:
            yield "it was written behind damage"


@pytest.mark.parametrize("start", range(EVERY))
def test_no_surface_fails_over_a_nasty_record_and_each_shows_what_stands_around_it(tmp_path: Path, start: int) -> None:
    wrong: dict[str, object] = {}
    for number, nasty in enumerate(RECORDS[start :: EVERY * EVERY]):
        last = bool(number % 2) and nasty.name not in NEWER
        with remembered(tmp_path / str(number), around(nasty, last)) as memory:
            expected = [*BEFORE, *(AFTER if nasty.chained and not last else ())]
            for name, problem in failing(memory, expected, nasty):
                wrong[f"{nasty.name}, {last=}, {name}"] = problem
    assert wrong == {}


def remembered(folder: Path, lines: list[bytes]) -> Memory:
    folder.mkdir()
    planted(folder / ".eventloom", b"".join(lines)).close()
    return Memory.open(folder)


def failing(memory: Memory, expected: list[str], nasty: Nasty) -> Iterator[tuple[str, object]]:
    """The surfaces that raise, or do not show what they should, or do not warn."""
    for name, read in surfaces(memory).items():
        try:
            shown = read()
        except Exception as error:
            yield name, error
            continue
        if name == "export" and not nasty.chained:
            continue  # a bundle that ends at damage would look whole: it is refused, or ends before the last line
        if missing := [text for text in expected if text not in shown]:
            yield name, missing
        if nasty.breaks and "ordinary" in shown:
            yield name, "it shows what the damaged record says"
        if nasty.breaks and name in WARNING and not ("damaged" in shown or "upgrade" in shown):
            yield name, "it does not warn"


WARNING = ("query", "verbatim", "checkout", "context", "replay", "tail", "export")


def surfaces(memory: Memory) -> dict[str, Callable[[], str]]:
    everything = " ".join((*BEFORE, *AFTER))
    path = memory.workspace.eventloom

    def replies(method: Callable[..., Any]) -> Callable[[], str]:
        return lambda: json.dumps(method(everything, SESSION).as_dict(), ensure_ascii=False, default=str)

    def command(*words: str) -> Callable[[], str]:
        return lambda: run(*words, "--eventloom-path", path)

    def without_text(read: Callable[[], object]) -> Callable[[], str]:
        """Of these only that they answer is of interest."""
        return lambda: f"{everything} {DAMAGED} {read() and ''}"

    return {
        "verify": without_text(lambda: memory.recall.store.verify(SESSION)),
        "query": lambda: f"{memory.query(everything, SESSION)}",
        "verbatim": lambda: f"{memory.verbatim(everything, SESSION)}",
        "checkout": replies(memory.checkout),
        "context": replies(memory.context),
        "recent": lambda: " ".join(str(event.payload) for event in memory.replay(SESSION)),
        "bootstrap": without_text(lambda: memory.bootstrap(SESSION)),
        "followers catch-up": without_text(lambda: memory.catch_up_followers(SESSION)),
        "followers verify": without_text(lambda: memory.verify_followers(SESSION)),
        "replay": command("replay", SESSION),
        "replay --json": command("replay", SESSION, "--json"),
        "tail": command("tail", SESSION),
        "sessions": without_text(command("sessions")),
        "refs list": without_text(command("refs", "list", "--session-id", SESSION)),
        "refs resolve": without_text(command("refs", "resolve", "HEAD", "--session-id", SESSION)),
        "hook-status": without_text(command("hook-status")),
        **({} if missing_package("export") else {"export": lambda: exported(path)}),
    }


def run(*words: str) -> str:
    """In a fork: a command leaves it to the end of its process to close its files."""
    path = words[words.index("--eventloom-path") + 1]
    done = run_in_fork(words, Path(path).parent, environ={})
    assert done.fine, done.text
    return done.text


def exported(path: str) -> str:
    file = Path(path, "bundle.json")
    file.unlink(missing_ok=True)
    said = run("export", "--out", str(file), "--session-id", SESSION, "--eventloom-path", path)
    return said + (file.read_text(encoding="utf-8") if file.exists() else "")


@pytest.mark.parametrize("name", [name for name in ODD if ODD[name] is not GONE and len(str(ODD[name])) < 1000])
def test_every_event_type_with_that_value_in_all_fields_of_its_payload_is_followed_and_read(
    tmp_path: Path, name: str
) -> None:
    events = odd_payloads(ODD[name])
    wrong = [place for place, event in enumerate(events, 2) if event.breaks]
    with remembered(tmp_path / "here", log_of(good(BEFORE[0]), *events, good(AFTER[0]))) as memory:
        report = memory.recall.store.verify(SESSION)
        assert [event.seq for event in report.malformed] == wrong
        assert [state.behind for state in memory.follow(SESSION)] == [0, 0]
        for read in (memory.query, memory.verbatim, memory.checkout, memory.context):
            found = str(read(f"{BEFORE[0]} {AFTER[0]}", SESSION))
            assert BEFORE[0] in found and AFTER[0] in found
            assert MALFORMED not in found
        assert len(memory.replay(SESSION, include_housekeeping=True)) == len(events) + 2
        assert [found.problems for found in memory.verify_followers(SESSION) if found.problems] == []


@pytest.mark.parametrize("read_only", [False, True])
def test_a_read_warns_also_where_the_damage_cannot_be_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_only: bool
) -> None:
    with remembered(tmp_path / "here", around(Nasty("odd time", {"time": "noon"}), False)) as memory:
        if read_only:
            monkeypatch.setattr("zaxy.eventloom.disk.Disk.write", refused)
        for _ in range(2):
            assert any(DAMAGED in warning for warning in memory.query("lamp", SESSION).warnings)
        assert Path(memory.workspace.eventloom, f"{SESSION}.damaged").exists() or read_only


def refused(*_: object) -> int:
    raise OSError(30, "Read-only file system")


def test_a_mark_has_one_line_however_often_the_damage_is_met(tmp_path: Path) -> None:
    loom = planted(tmp_path / "log", b"".join(around(Nasty("odd time", {"time": "noon"}), False)))
    for _ in range(5):
        list(loom.read(SESSION))
    assert (tmp_path / "log" / f"{SESSION}.damaged").read_text().count("\n") == 1


def test_doctor_names_the_damaged_event(tmp_path: Path) -> None:
    with remembered(tmp_path / "here", around(Nasty("odd time", {"time": "noon"}), False)) as memory:
        shown = run("doctor", "--eventloom-path", memory.workspace.eventloom)
    assert f"damaged at event {PLACE}: its time is not a moment" in shown


def test_every_time_that_python_can_write_is_a_time_of_the_log() -> None:
    from datetime import UTC, datetime, timedelta

    moment = datetime(1, 1, 1, tzinfo=UTC)
    while moment.year < 9990:
        assert is_time(f"{moment.isoformat(timespec='microseconds')[:26]}Z"), moment
        moment += timedelta(days=97, hours=5, microseconds=17)
    for day in (datetime(year, 2, 28, tzinfo=UTC) + timedelta(days=1) for year in range(1, 3000)):
        assert is_time(f"{day.isoformat(timespec='microseconds')[:26]}Z"), day
        assert is_time(f"{day.year:04d}-02-29T00:00:00.000000Z") == (day.day == 29)
