"""A store from outside the tree keeps the log of a workspace, and every part of Zaxy goes through it."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import outside_client
import outside_store
from project import Project
from zaxy.observe.capture import Capture
from zaxy.workspace import find_workspace

SESSION = "shop-default"
HOOKS = 40


class Shop(Project):
    """A project whose log is kept by the store from outside."""

    def environ(self, **env: str | None) -> dict[str, str]:
        return super().environ(**{"PYTHONPATH": str(self.home / "site"), **env})


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop(tmp_path / "shop", tmp_path / "home")
    made.root.mkdir()
    made.home.mkdir()
    outside_store.install(made.home / "site")
    find_workspace(str(made.root)).store_setting("ZAXY_EVENT_STORE", outside_store.NAME)
    return made


def log(shop: Shop) -> list[dict[str, Any]]:
    found = shop.told("replay", SESSION)["events"]
    assert isinstance(found, list)
    return found


def spool(shop: Shop) -> Path:
    return shop.root / ".eventloom" / "spool" / f"{SESSION}.jsonl"


def test_the_store_keeps_the_log_through_everything_that_zaxy_does(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    first = shop.told("append", "decision.made", "--payload", json.dumps({"decision": "Oil the lamp.", "key": "lamp"}))
    keyed = ("append", "note.taken", "--payload", json.dumps({"text": "vault"}), "--idempotency-key", "k")
    second, same = shop.told(*keyed), shop.told(*keyed)
    assert (same["hash"], same.get("replayed")) == (second["hash"], True)
    assert shop.run("hook-event", "command", "--command", "make lamp", "--exit-code", "0").returncode == 0
    assert spool(shop).exists()

    outside_client.install(shop.home / "site")
    (shop.root / ".acme").mkdir()
    (shop.root / ".acme" / "one.log").write_text(json.dumps({"command": "ls"}) + "\n")
    monkeypatch.syspath_prepend(str(shop.home / "site"))
    capture = Capture(find_workspace(str(shop.root)), adapters=[outside_client.NAME])
    assert (capture.run().appended, capture.run().appended) == (1, 0)
    capture.close()

    reply = shop.told("checkout", "What about the lamp?")
    assert first["citation"].startswith(reply["current_facts"][0]["citation"])
    assert shop.run("refs", "update", "refs/heads/main").returncode == 0
    assert shop.run("refs", "resolve", "refs/heads/main").returncode == 0
    assert shop.run("forget", second["citation"], "--hard").returncode == 0
    assert "payload" not in shop.told("show", second["citation"])

    report = shop.told("verify", "--all")
    assert report["ok"] and [row["session_id"] for row in report["sessions"]] == [SESSION]
    types = [event["type"] for event in log(shop)]
    assert types.count("command.completed") == 2 and "event.erased" in types and "memory.ref.updated" in types
    assert not list((shop.root / ".eventloom").glob("*.jsonl"))


@pytest.mark.needs_package("export")
def test_the_store_keeps_what_was_imported(shop: Shop) -> None:
    shop.told("append", "note.taken", "--payload", json.dumps({"text": "The lamp is lit."}))
    bundle = shop.home / "bundle.json"
    assert shop.run("export", "--out", str(bundle)).returncode == 0
    imported = shop.run("import", str(bundle), "--session-id", "copy")
    assert imported.returncode == 0, imported.stderr
    report = shop.told("verify", "--all")
    assert report["ok"] and [row["session_id"] for row in report["sessions"]] == ["copy", SESSION]
    assert not list((shop.root / ".eventloom").glob("*.jsonl"))


def test_a_store_that_is_not_installed_is_an_error_that_names_those_that_are(shop: Shop) -> None:
    done = shop.run("sessions", ZAXY_EVENT_STORE="elsewhere")
    assert done.returncode != 0
    assert "elsewhere" in done.stderr and "acme-log" in done.stderr and "jsonl" in done.stderr


def test_a_store_of_an_older_api_is_refused_with_what_to_change(tmp_path: Path) -> None:
    made = Shop(tmp_path / "shop", tmp_path / "home")
    made.root.mkdir()
    outside_store.install(made.home / "site", api="0.2")
    done = made.run("sessions", ZAXY_EVENT_STORE=outside_store.NAME)
    assert done.returncode != 0
    assert "since 0.3 an event store keeps lines" in done.stderr and "plan_append" in done.stderr


# What hooks leave


def test_a_hook_spools_without_loading_a_plugin(shop: Shop) -> None:
    code = (
        "import sys\nfrom zaxy.__main__ import main\n"
        "main(['hook-event', 'stop', '--strict'])\n"
        "print([name for name in ('pluggy', 'sqlite3', 'dataclasses', 'acme_log') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=shop.root, env=shop.environ(), capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]", done.stderr
    assert spool(shop).exists()


def test_what_was_spooled_is_delivered_in_order_with_the_time_when_it_happened(shop: Shop) -> None:
    for number in range(3):
        shop.run("hook-event", "command", "--command", f"step {number}", "--exit-code", "0")
    spooled = [json.loads(line) for line in spool(shop).read_text().splitlines()]
    events = [event for event in log(shop) if event["type"] == "command.completed"]
    assert [event["payload"]["command"] for event in events] == ["step 0", "step 1", "step 2"]
    times = [event["payload"]["occurred_at"] for event in events]
    assert times == [record["time"] for record in spooled if record["type"] == "command.completed"]
    assert not spool(shop).exists()
    assert [event for event in log(shop) if event["type"] == "command.completed"] == events


def test_deliverers_that_are_killed_deliver_everything_once_and_in_order(shop: Shop) -> None:
    write = (
        "import sys\nfrom zaxy.eventloom.loom import Eventloom\nfrom zaxy.eventloom.admission import admit\n"
        "loom = Eventloom(sys.argv[1])\n"
        f"[loom.append({SESSION!r}, [admit('note.taken', 'ada', {{'n': n}})]) for n in range({HOOKS})]\n"
    )
    subprocess.run([sys.executable, "-c", write, str(spool(shop).parent)], env=shop.environ(), check=True, timeout=60)
    deliver = (
        "from zaxy.eventloom import spool\nspool.AT_ONCE = 1\n"
        "from zaxy.memory import Memory\nprint('begun', flush=True)\nMemory.open('.').sessions()"
    )
    chance = random.Random(7)
    for _ in range(5):
        command = [sys.executable, "-c", deliver]
        two = [subprocess.Popen(command, cwd=shop.root, env=shop.environ(), stdout=subprocess.PIPE) for _ in range(2)]
        for process in two:
            assert process.stdout is not None
            process.stdout.readline()
        time.sleep(chance.uniform(0, 0.15))
        for process in two:
            process.send_signal(signal.SIGKILL)
            process.communicate()
    numbers = [event["payload"]["n"] for event in log(shop) if event["type"] == "note.taken"]
    assert numbers == list(range(HOOKS))
    assert not spool(shop).exists()
    assert shop.told("verify")["ok"]
