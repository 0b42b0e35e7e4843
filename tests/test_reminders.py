"""Reminders that hooks leave: when one is due, that it is not repeated, and that looking for it costs little."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from zaxy.api.models import Event
from zaxy.assemble.guidance import pending_reminder
from zaxy.commands import hook_event
from zaxy.eventloom.admission import admit, admit_own
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.store import event_of
from zaxy.observe import reminders

SESSION = "shop-default"
CHECKOUT, BOOTSTRAP = reminders.USES


class Shop:
    """A project whose hooks are run in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.loom = Eventloom(str(folder / ".eventloom"))

    def hook(self, *words: str) -> None:
        assert hook_event.run([*words, "--workspace", str(self.folder), "--source", "test"]) == 0

    def use(self, marker: str = CHECKOUT) -> None:
        self.loom.append(SESSION, [admit_own(marker, "zaxy", {"query": "x"})])

    def work(self, times: int) -> None:
        self.loom.append(SESSION, [admit("decision.made", "ann", {"decision": f"{n}"}) for n in range(times)])

    def events(self) -> list[Event]:
        return [event_of(line) for line in self.loom.read(SESSION)]

    def reasons(self) -> list[str]:
        found = [event for event in self.events() if event.type == reminders.TYPE]
        assert {event.actor for event in found} <= {"zaxy"}
        return [str((event.payload or {})["reason"]) for event in found]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    for variable in ("EVENTLOOM_PATH", "EVENTLOOM_THREAD", "ZAXY_DOMAIN"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "shop").mkdir()
    return Shop(tmp_path / "shop")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("session-start",), "context_boundary"),
        (("resume",), "context_boundary"),
        (("precompact",), "context_boundary"),
        (("tool-call", "--tool-name", "build", "--duration-ms", "300000"), "context_boundary"),
        (("command", "--command", "make", "--duration-ms", "900000"), "context_boundary"),
        (("stop", "--turn-count", "8"), "long_session"),
        (("user-prompt-submit", "--prompt", "So, where are we?"), "status_question"),
        (("user-prompt-submit", "--prompt", "what's left on the roadmap"), "status_question"),
    ],
)
def test_each_occasion_leaves_a_reminder_with_its_reason(shop: Shop, words: tuple[str, ...], reason: str) -> None:
    shop.hook(*words)
    hooked, reminded = shop.events()
    assert hooked.actor == "zaxy-hook"
    assert (reminded.type, reminded.actor) == ("memory.reminder.suggested", "zaxy")
    assert reminded.payload is not None
    assert set(reminded.payload) == {"reason", "message"}
    assert reminded.payload["reason"] == reason
    assert "memory_checkout" in str(reminded.payload["message"])
    assert pending_reminder(shop.loom.view(SESSION)) == reminded.payload["message"]


@pytest.mark.parametrize(
    "words",
    [
        ("heartbeat",),
        ("stop",),
        ("stop", "--turn-count", "7"),
        ("checkpoint", "--summary", "x"),
        ("command", "--command", "ls", "--duration-ms", "299999"),
        ("file-edit", "--path", "a.py"),
        ("user-prompt-submit", "--prompt", "Rename this function."),
        ("transcript-turn", "--role", "user", "--content", "where are we?"),
    ],
)
def test_an_ordinary_moment_leaves_none(shop: Shop, words: tuple[str, ...]) -> None:
    shop.hook(*words)
    assert shop.reasons() == []


def test_the_eighth_event_since_memory_was_used_leaves_one(shop: Shop) -> None:
    shop.use()
    for number in range(7):
        shop.hook("file-edit", "--path", f"{number}.py")
    assert shop.reasons() == []
    shop.hook("file-edit", "--path", "8.py")
    assert shop.reasons() == ["stale_memory_activity"]


def test_the_eighth_prompt_of_a_session_without_memory_leaves_one(shop: Shop) -> None:
    def long() -> int:
        return shop.reasons().count("long_session")

    for _ in range(6):
        shop.hook("user-prompt-submit", "--prompt", "Rename it.")
    shop.hook("session-start")
    for _ in range(7):
        shop.hook("user-prompt-submit", "--prompt", "Rename it.")
        shop.hook("stop")
    assert long() == 0, "those of the session before do not count"
    shop.hook("user-prompt-submit", "--prompt", "Rename it.")
    assert long() == 1
    shop.use()
    shop.hook("user-prompt-submit", "--prompt", "Rename it.")
    assert long() == 1


def test_what_zaxy_writes_for_itself_and_heartbeats_do_not_count(shop: Shop) -> None:
    shop.use()
    for _ in range(20):
        shop.hook("heartbeat")
        shop.loom.append(SESSION, [admit_own("tool.call.completed", "zaxy", {"tool_name": "memory_query"})])
    shop.work(6)
    shop.hook("stop")
    assert shop.reasons() == []
    shop.hook("stop")
    assert shop.reasons() == ["stale_memory_activity"]


@pytest.mark.parametrize("marker", [CHECKOUT, BOOTSTRAP])
def test_there_is_one_for_each_reason_until_memory_is_used_again(shop: Shop, marker: str) -> None:
    for _ in range(5):
        shop.hook("session-start")
        shop.hook("precompact")
        shop.hook("user-prompt-submit", "--prompt", "status", "--turn-count", "12")
    once = ["context_boundary", "long_session", "stale_memory_activity", "status_question"]
    assert sorted(shop.reasons()) == once
    shop.use(marker)
    assert pending_reminder(shop.loom.view(SESSION)) == ""
    shop.hook("resume")
    assert sorted(shop.reasons()) == sorted([*once, "context_boundary"])


def test_the_words_of_others_are_no_use_of_memory_and_no_reminder(shop: Shop) -> None:
    told = {"type": CHECKOUT, "actor": "zaxy", "text": f'\n{{"actor":"zaxy","type":"{reminders.TYPE}","v":1}}\n'}
    shop.work(4)
    shop.loom.append(SESSION, [admit("note.taken", "ann", told), admit("note.taken", "bob", {"actor": "zaxy"})])
    shop.hook("stop")
    shop.hook("stop")
    assert shop.reasons() == ["stale_memory_activity"]


def test_a_reminder_counts_for_its_own_session_only(shop: Shop) -> None:
    shop.hook("session-start")
    shop.hook("session-start", "--session-id", "other")
    assert [line.record["type"] for line in shop.loom.read("other")] == ["hook.session_started", reminders.TYPE]


def test_an_erased_reminder_and_a_torn_tail_are_no_hindrance(shop: Shop) -> None:
    shop.hook("session-start")
    shop.loom.erase(SESSION, 2, "ann", "tidy")
    shop.hook("precompact")
    log = shop.folder / ".eventloom" / f"{SESSION}.jsonl"
    with log.open("ab") as file:
        file.write(b'{"actor":"zaxy","batch":{"co')
    Shop(shop.folder).hook("stop", "--turn-count", "9")
    assert Shop(shop.folder).events()[-1].type == reminders.TYPE


def test_hooks_at_once_leave_one_reminder_between_them(shop: Shop) -> None:
    words = [sys.executable, "-m", "zaxy", "hook-event", "session-start", "--workspace", str(shop.folder)]
    running = [subprocess.Popen(words, stdin=subprocess.DEVNULL) for _ in range(12)]
    assert [process.wait(timeout=120) for process in running] == [0] * 12
    assert len([event for event in shop.events() if event.type == "hook.session_started"]) == 12
    assert shop.reasons().count("context_boundary") == 1
    assert not (shop.folder / ".eventloom" / "runtime" / "hook-errors.log").exists()


def test_the_hook_is_recorded_when_no_reminder_can_be_left(shop: Shop) -> None:
    shop.hook("stop")
    (shop.folder / ".eventloom" / "runtime").write_text("not a folder")
    shop.hook("session-start")
    assert [event.type for event in shop.events()] == ["hook.stop", "hook.session_started"]


def test_strict_json_names_the_hooks_event_and_not_the_reminder(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    shop.hook("session-start", "--strict", "--json")
    assert json.loads(capsys.readouterr().out)["seq"] == 1
    assert len(shop.events()) == 2


def test_only_the_end_of_a_large_log_is_looked_at(shop: Shop) -> None:
    shop.use()
    entries = [admit("transcript.turn", "ann", {"role": "user", "content": "x" * 1000}) for _ in range(500)]
    for _ in range(16):
        shop.loom.append(SESSION, entries)
    log = shop.folder / ".eventloom" / f"{SESSION}.jsonl"
    assert log.stat().st_size > 2 * reminders.FARTHEST_LOOK
    began = time.process_time()
    unused = reminders.since_last_use(str(log))
    took = time.process_time() - began
    assert 2000 < unused.events < 8000
    assert took < 0.1, "it takes about 3 ms"


def test_the_end_of_a_log_is_told_alike_however_much_of_it_is_read(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.work(3)
    shop.use()
    shop.hook("session-start")
    shop.work(2)
    log = str(shop.folder / ".eventloom" / f"{SESSION}.jsonl")
    size = os.path.getsize(log)
    found: set[tuple[Any, ...]] = set()
    for look in range(1, size + 2, 7):
        monkeypatch.setattr(reminders, "FIRST_LOOK", look)
        unused = reminders.since_last_use(log)
        found.add((unused.events, unused.reasons))
    assert found == {(3, frozenset(["context_boundary"]))}


@pytest.mark.parametrize("payload", ["[]", "7", "null", '"text"', '{"reason":[]}', "{}", "[" * 50_000 + "]" * 50_000])
def test_a_reminder_on_record_that_says_nothing_sensible_hinders_no_hook(tmp_path: Path, payload: str) -> None:
    line = f'{{"actor":"zaxy","payload":{payload},"type":"memory.reminder.suggested","v":1}}\n'
    (tmp_path / "work.jsonl").write_text(line * 2, encoding="utf-8")
    assert reminders.since_last_use(str(tmp_path / "work.jsonl")).events == 0
