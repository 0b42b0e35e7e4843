"""What init, hooks, capture and doctor do for our clients they do for anybody's; and `init --backend` likewise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import installed
import outside_client
from project import Project
from zaxy.api.edit import json as json_text
from zaxy.workspace import Workspace, find_workspace
from zaxy_testkit.scaffold import plugin_files, write_files

SETTINGS = b"""{
\t// mine
\t"theme": "dark",   "servers": {"other": {"command": "other"},},
\t"hooks": {
\t\t"end": [ { "hooks": [ { "type": "command", "command": "./mine.sh" } ] } ]
\t}
}\r
"""
OLD_WRITER = """
from pathlib import Path
from zaxy.api import Conflict


class Writer:
    scopes = ("project",)

    def __init__(self, context):
        pass

    def target(self, scope, workspace, home, environ):
        return workspace / "old.conf"

    def render(self, server):
        return f"{server.name}={server.command} {' '.join(server.args)}\\n"

    def install(self, text, server, force):
        if not force and text.startswith(f"{server.name}="):
            raise Conflict("it is there already", "Pass --force.")
        return self.render(server) + self.remove(text, server.name)

    def remove(self, text, name):
        return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(f"{name}="))
"""


class Elsewhere(Project):
    """A project whose user has installed packages that are not of this tree."""

    def __init__(self, root: Path, home: Path, site: Path) -> None:
        super().__init__(root, home)
        self.site = site

    def environ(self, **env: str | None) -> dict[str, str]:
        return super().environ(PYTHONPATH=str(self.site), **env)

    def doctor_rows(self, code: int = 0) -> dict[str, Any]:
        return {row["name"]: row for row in self.told("doctor", code=code)["rows"]}


@pytest.fixture
def project(tmp_path: Path) -> Elsewhere:
    made = Elsewhere(tmp_path / "shop", tmp_path / "home", tmp_path / "site")
    made.root.mkdir()
    made.home.mkdir()
    return made


@pytest.fixture
def acme(project: Elsewhere) -> Elsewhere:
    outside_client.install(project.site)
    (project.root / ".acme").mkdir()
    (project.root / ".acme" / "settings.json").write_bytes(SETTINGS)
    return project


def handlers(project: Elsewhere) -> dict[str, str]:
    """The command of each of our handlers, by the event at which the client runs it."""
    hooks = json_text.value_at((project.root / ".acme/settings.json").read_text(), ["hooks"])
    inner = [
        (event, handler["command"]) for event, groups in hooks.items() for group in groups for handler in group["hooks"]
    ]
    return {event: command for event, command in inner if "hook-event" in command}


def test_a_client_from_outside_is_set_up_diagnosed_and_undone_byte_for_byte(acme: Elsewhere) -> None:
    before, folders = acme.files(), acme.folders()
    planned = acme.told("init", "--client", outside_client.NAME, "--yes")
    assert planned["ok"] and planned["clients"] == [{"name": "acme-code", "by": "named"}]
    assert "Acme Code: restart it." in planned["next"]
    assert any("zaxy capture start" in step for step in planned["next"])
    assert json.loads((acme.root / ".acme/zaxy-capture.json").read_text())["capture"] == "acme-code"
    assert set(handlers(acme)) == {"begin", "end"}, "the watcher records the rest"
    assert not acme.told("init", "--client", "acme-code", "--yes")["changes"]
    rows = acme.doctor_rows()
    assert {rows[name]["status"] for name in ("client_config:acme-code", "hooks:acme-code")} == {"ok"}
    assert acme.told("init", "--undo")["ok"]
    assert (acme.files(), acme.folders()) == (before, folders)


def test_its_signs_and_its_preset_find_it_without_its_name(acme: Elsewhere) -> None:
    found = acme.told("init", "--dry-run")["clients"]
    assert found == [{"name": "acme-code", "by": ".acme is in the project"}]
    assert acme.told("init", "--dry-run", "--preset", "local-acme")["clients"][0]["name"] == "acme-code"
    assert "local-acme" in acme.run("init", "--preset", "nothing").stderr


def test_the_doctor_names_and_fixes_what_is_wrong_with_it(acme: Elsewhere) -> None:
    acme.told("init", "--client", "acme-code", "--yes")
    path = acme.root / ".acme/settings.json"
    good = path.read_text()
    program = json_text.value_at(good, ["servers", "zaxy", "command"])
    path.write_text(good.replace(program, "/gone/zaxy"))
    rows = acme.doctor_rows(code=1)
    assert "starts /gone/zaxy, which is not there" in rows["client_config:acme-code"]["message"]
    assert rows["hooks:acme-code"]["message"] == "/gone/zaxy is not there any more"
    assert acme.told("doctor", "--fix")["ok"]
    assert path.read_text() == good


def test_its_hooks_are_written_run_reported_and_removed(acme: Elsewhere) -> None:
    path = acme.root / ".acme/settings.json"
    assert acme.run("hooks", "acme-code", "--output", ".acme/settings.json").returncode == 0
    status = {row["client"]: row for row in acme.told("hook-status")["clients"]}
    assert (status["acme-code"]["status"], status["acme-code"]["file"]) == ("installed", ".acme/settings.json")
    said = {
        "begin": {"project": {"folder": str(acme.root)}},
        "ran": {"call": {"line": "make", "printed": "done", "code": 3}},
        "wrote": {"file": "a.py"},
        "answered": {"answer": {"words": "All done."}},
        "end": {},
    }
    commands = handlers(acme)
    assert commands.keys() == said.keys()
    for event, data in said.items():
        done = subprocess.run(
            ["/bin/sh", "-c", commands[event]],
            input=json.dumps(data).encode(),
            cwd=acme.home,
            env=acme.environ(),
            capture_output=True,
            timeout=60,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    payloads = {
        event["type"]: event["payload"]
        for event in acme.events()
        if event["actor"] == "zaxy-hook" and "source" in event["payload"]
    }
    assert {payload["source"] for payload in payloads.values()} == {"acme-code"}
    command = payloads["command.completed"]
    assert (command["command"], command["stdout"], command["exit_code"]) == ("make", "done", 3)
    assert payloads["file.edit.applied"]["path"] == "a.py"
    assert payloads["transcript.turn"]["content"] == "All done."
    assert payloads["hook.session_started"]["workspace"] == str(acme.root)
    assert acme.run("hooks", "acme-code", "--remove").returncode == 0
    assert path.read_bytes() == SETTINGS


def test_a_hook_of_it_imports_no_plugin_and_no_pluggy(acme: Elsewhere) -> None:
    words = [sys.executable, "-X", "importtime", "-m", "zaxy", "hook-event", "command", "--source", "acme-code"]
    done = subprocess.run(
        [*words, "--stdin-json", "--strict"],
        input=json.dumps({"call": {"line": "make"}}),
        cwd=acme.root,
        env=acme.environ(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr[-500:]
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "zaxy.plugins.hook_json" in loaded
    assert not loaded & {"pluggy", "typing", "dataclasses", "importlib.metadata", "acme_code", "zaxy.api.clients"}


def test_what_it_keeps_of_its_sessions_is_captured(acme: Elsewhere) -> None:
    acme.told("init", "--client", "acme-code", "--yes")
    (acme.root / ".acme" / "one.log").write_text('{"command": "make test", "exit_code": 0}\n{"command": "ls"')
    started = acme.told("capture", "start", "--interval", "0.1")
    try:
        deadline = time.monotonic() + 60
        while not started.get("captured") and time.monotonic() < deadline:
            time.sleep(0.2)
            started = acme.told("capture", "status")
    finally:
        acme.told("capture", "stop")
    assert started["captured"] == {"command.completed": 1}
    assert [event["payload"]["command"] for event in acme.events() if event["type"] == "command.completed"] == [
        "make test"
    ]


def test_its_option_names_the_file_to_write_and_is_in_the_help(acme: Elsewhere, tmp_path: Path) -> None:
    named = tmp_path / "named.json"
    words = ("ide-config", "acme-code", "--acme-config", str(named))
    assert acme.told(*words, "--install")["installed"]
    assert "zaxy" in json.loads(named.read_text())["servers"]
    assert acme.told(*words, "--remove")["deleted"]
    assert "--acme-config" in acme.run("ide-config", "--help").stdout
    refused = acme.run("ide-config", "cursor", "--acme-config", str(named))
    assert (refused.returncode, "is about acme-code" in refused.stderr) == (2, True)


# A writer of plugin API 0.1


@pytest.fixture
def old(project: Elsewhere) -> Elsewhere:
    plugin = (
        "from zaxy.api import Provider, hookimpl\n\n\n@hookimpl\ndef zaxy_ide_config_writers():\n"
        "    return [Provider('old', 'old.writer:Writer', 'An old writer.')]\n"
    )
    manifest = installed.manifest_of("old", provides=[{"point": "ide_config_writers", "name": "old"}])
    entry_points = "[zaxy.plugins]\nold = old.plugin\n"
    installed.install(project.site, "old", {"plugin.py": plugin, "writer.py": OLD_WRITER}, manifest, entry_points)
    return project


def test_a_writer_of_the_older_api_is_still_set_up_and_undone(old: Elsewhere) -> None:
    assert old.told("init", "--client", "old", "--yes")["ok"]
    assert (old.root / "old.conf").read_text().startswith("zaxy=")
    assert old.doctor_rows()["client_config:old"]["status"] == "ok"
    assert "'old' is not a client with hooks" in old.run("hooks", "old").stderr
    assert old.told("init", "--undo")["ok"]
    assert not (old.root / "old.conf").exists()


def test_its_author_reads_what_it_lacks(old: Elsewhere) -> None:
    done = old.run("plugins", "check", "old")
    assert done.returncode == 0
    assert "written for plugin API 0.1" in done.stdout + done.stderr
    assert "zaxy.api.FileClient" in done.stdout + done.stderr


# Graph stores


def scaffolded(project: Elsewhere, name: str, needs: list[str]) -> None:
    package = name.replace("-", "_")
    files = plugin_files(name, "projection_backends")
    write_files(project.site.parent / name, files)
    source = project.site.parent / name / "src"
    manifest = source / package / "zaxy-plugin.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "needs": needs}))
    info = source / f"{package}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(f"[zaxy.plugins]\n{name} = {package}\n")
    project.site = source


@pytest.mark.parametrize(
    ("needs", "kept"),
    [([], {"ZAXY_EMBEDDED_ENGINE": "acme-graph"}), (["server"], {"PROJECTION_BACKEND": "acme-graph"})],
    ids=["in this process", "on a server"],
)
def test_init_takes_a_graph_store_from_outside(project: Elsewhere, needs: list[str], kept: dict[str, str]) -> None:
    scaffolded(project, "acme-graph", needs)
    reply = project.told("init", "--preset", "minimal", "--backend", "acme-graph", "--yes")
    assert (reply["backend"], reply["ok"], reply["server"]["ok"]) == ("acme-graph", True, True)
    workspace = find_workspace(str(project.root))
    assert kept_here(workspace) == kept
    assert os.path.isdir(project.root / ".eventloom" / "followers" / "projection_backends-acme-graph")
    assert project.told("init", "--undo")["ok"]
    assert kept_here(workspace) == {}


def kept_here(workspace: Workspace) -> dict[str, object]:
    stored = workspace.stored_settings()
    return {**stored.workspace, **stored.here}
