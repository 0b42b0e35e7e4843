"""Rows that packages bring to `zaxy doctor`: after the core's own, named with their plugin, and unable to stop it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import installed
from zaxy.api import Finding
from zaxy.setup.doctor import DoctorCheck, DoctorContext, examine
from zaxy.setup.doctor_packages import package_checks
from zaxy.workspace import find_workspace

HEALTH = """
import os, sys, time
from zaxy.api import Finding, Unavailable


class Health:
    def __init__(self, context):
        self.how = context.settings.get("ACME_HOW", "")
        self.context = context

    def check(self, checkup):
        print("printed by acme")
        os.write(1, b"written by acme")
        if self.how == "raise":
            raise RuntimeError("the disk of acme is full")
        if self.how == "refuse":
            raise Unavailable("the server does not answer", "acme-server start")
        if self.how == "hang":
            time.sleep(600)
        if self.how == "exit":
            sys.exit(3)
        if self.how == "text":
            return "all is well"
        if self.how == "odd":
            return [Finding("Ser ver", "fine", "x")]
        if self.how == "many":
            return [Finding(f"row-{number}", "ok", "x") for number in range(21)]
        if self.how == "write":
            with checkup.open_memory() as memory:
                memory.append("fact.recorded", {"text": "I was here."})
        if self.how == "warn":
            self.context.warn("the server is old")
        if self.how == "silent":
            return [Finding("server", "warning", "it is slow", fixed=True)]
        if self.how == "escape":
            return [Finding("server", "ok", "\\x1b[31mred" + "x" * 1000)]
        marked = (checkup.workspace / "acme.mark").exists()
        rows = [Finding("mark", "ok" if marked else "error", f"in {checkup.workspace.name}", "zaxy doctor --fix")]
        if checkup.has_memory:
            with checkup.open_memory() as memory:
                rows.append(Finding("memory", "ok", f"{memory.head()} events in {memory.session}"))
        return rows

    def fix(self, checkup):
        if self.how == "unfixable":
            raise RuntimeError("no fixing today")
        (checkup.workspace / "acme.mark").touch()


class Broken:
    def __init__(self, context):
        raise RuntimeError("never made")
"""
CORE_ROWS = "python sqlite workspace trust disk_space log_chain write_path followers server".split()


def entry(name: str = "acme", target: str = "Health", *capabilities: str) -> dict[str, Any]:
    target = f"acme_health.health:{target}"
    described = {"target": target, "summary": "Looks at acme.", "capabilities": list(capabilities)}
    return {"point": "doctor_checks", "name": name, **described}


def install(site: Path, *provides: dict[str, Any]) -> None:
    settings = [{"env": "ACME_HOW", "meaning": "How it goes wrong."}]
    manifest = installed.manifest_of(
        "acme", api={"min": "0.4", "max": "0.4"}, provides=list(provides), settings=settings
    )
    installed.install(site, "acme-health", {"health.py": HEALTH}, manifest, "[zaxy.plugins]\nacme = acme_health\n")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "site"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


@pytest.fixture
def zaxy(tmp_path: Path, site: Path, project: Path) -> Any:
    def run(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
        state = {"ZAXY_STATE_DIR": str(tmp_path / "state"), "HOME": str(tmp_path)}
        environ = {**os.environ, "PYTHONPATH": str(site), **state, **env}
        return subprocess.run(
            [sys.executable, "-m", "zaxy", *words], cwd=project, env=environ, capture_output=True, text=True
        )

    return run


def rows_of(zaxy: Any, *words: str, **env: str) -> dict[str, dict[str, Any]]:
    done = zaxy("doctor", "--json", *words, **env)
    rows = json.loads(done.stdout)["rows"]
    for row in rows:
        assert list(row) == ["name", "status", "message", "action", "mended"]
    return {row["name"]: row for row in rows}


def test_a_packages_rows_come_last_with_its_name_and_what_it_prints_stays_away(site: Path, zaxy: Any) -> None:
    install(site, entry())
    zaxy("append", "fact.recorded", "--payload", '{"text": "The mark is a file."}')
    done = zaxy("doctor", "--json")
    rows = json.loads(done.stdout)["rows"]
    assert done.returncode == 1
    assert [row["name"] for row in rows[-3:]] == ["acme:mark", "acme:memory", "coordinate:missions"]
    assert (rows[-3]["status"], rows[-3]["message"]) == ("error", "in shop")
    assert rows[-2]["message"].endswith("events in shop-default")
    assert "printed by acme" in done.stderr and "written by acme" in done.stderr


def test_where_there_is_no_memory_yet_a_package_looks_and_nothing_is_made(site: Path, zaxy: Any, project: Path) -> None:
    install(site, entry())
    rows = rows_of(zaxy)
    assert "acme:mark" in rows and "acme:memory" not in rows
    assert list(project.iterdir()) == []


def test_a_package_with_the_capability_fixes_what_it_found(site: Path, zaxy: Any, project: Path) -> None:
    install(site, entry("acme", "Health", "fix"))
    row = rows_of(zaxy, "--fix")["acme:mark"]
    assert (row["status"], row["message"], row["mended"]) == ("ok", "fixed: in shop", True)
    assert (project / "acme.mark").exists()


def test_without_the_capability_nothing_of_a_package_is_fixed(site: Path, zaxy: Any, project: Path) -> None:
    install(site, entry())
    row = rows_of(zaxy, "--fix")["acme:mark"]
    assert (row["status"], row["mended"]) == ("error", False)
    assert not (project / "acme.mark").exists()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("raise", "acme.check() raised RuntimeError: the disk of acme is full"),
        ("hang", "acme.check() did not come back within 1 s"),
        ("exit", "acme.check() raised SystemExit(3)"),
        ("refuse", "acme-health: the server does not answer"),
        ("text", "the check 'acme' of acme-health returned no list of at most 20 findings"),
        ("odd", "the check 'acme' of acme-health returned a finding 'Ser ver' with the status 'fine'"),
        ("many", "returned no list of at most 20 findings"),
    ],
)
def test_a_check_that_fails_is_an_error_that_names_the_package_and_the_others_still_run(
    site: Path, project: Path, monkeypatch: pytest.MonkeyPatch, how: str, message: str
) -> None:
    install(site, entry(), entry("other"))
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("ACME_HOW", how)
    monkeypatch.setenv("ZAXY_PLUGINS_BUDGET", "1")
    context = DoctorContext(find_workspace(str(project)))
    own = DoctorCheck("own", lambda context: [Finding("own", "ok", "x")])
    rows = {row.name: row for row in examine(context, chain(package_checks(context), [own]), False)}
    assert list(rows) == ["acme", "acme:other", "coordinate:missions", "own"]
    assert {row.status for row in rows.values()} == {"error", "ok"}
    assert message in rows["acme"].message
    assert "acme-health" in rows["acme"].message
    assert rows["acme"].action


def test_a_check_that_cannot_be_made_is_an_error_and_the_others_still_run(site: Path, zaxy: Any) -> None:
    install(site, entry("acme", "Broken"), entry("other"))
    rows = rows_of(zaxy)
    assert all(name in rows for name in CORE_ROWS)
    assert "RuntimeError: never made" in rows["acme"]["message"]
    assert "acme-health" in rows["acme"]["message"]


def test_a_fix_that_fails_leaves_the_finding_and_says_why(site: Path, zaxy: Any) -> None:
    install(site, entry("acme", "Health", "fix"))
    rows = rows_of(zaxy, "--fix", ACME_HOW="unfixable")
    assert rows["acme:mark"]["status"] == "error"
    assert "it could not be fixed" in rows["acme"]["message"]


def test_a_warning_of_a_package_is_a_row_and_one_without_advice_gets_some(site: Path, zaxy: Any) -> None:
    install(site, entry())
    assert rows_of(zaxy, ACME_HOW="warn")["acme:notice"]["message"] == "acme: the server is old"
    silent = rows_of(zaxy, ACME_HOW="silent")["acme:server"]
    assert (silent["action"], silent["mended"]) == ("Look into the documentation of acme-health.", False)


def test_looking_cannot_write(site: Path, zaxy: Any) -> None:
    install(site, entry())
    zaxy("append", "fact.recorded", "--payload", '{"text": "The mark is a file."}')
    assert "append() needs the role writer" in rows_of(zaxy, ACME_HOW="write")["acme"]["message"]


def test_a_row_of_a_package_cannot_steer_the_terminal_nor_fill_it(site: Path, zaxy: Any) -> None:
    install(site, entry())
    shown = zaxy("doctor", ACME_HOW="escape").stdout
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) < 700


def test_a_disabled_package_has_no_row(site: Path, zaxy: Any) -> None:
    install(site, entry())
    assert not any(name.startswith("acme") for name in rows_of(zaxy, ZAXY_PLUGINS_DISABLE="acme"))


@pytest.mark.needs_package("testkit")
def test_a_capability_without_its_method_is_found_by_plugins_check(site: Path, zaxy: Any) -> None:
    install(site, entry("acme", "Health", "fix"))
    health = site / "acme_health" / "health.py"
    health.write_text(health.read_text(encoding="utf-8").replace("def fix", "def mix"), encoding="utf-8")
    checked = zaxy("plugins", "check", "acme")
    assert checked.returncode == 1
    assert "Health has no fix" in checked.stdout
