"""`zaxy init`: a project is set up in one command, and comes out again byte for byte."""

from __future__ import annotations

import hashlib
import json
import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import outside_lane
from conftest import missing_package
from project import Project
from zaxy.clients.files import ConfigFile, write_file
from zaxy.owner.owner import runtime_folder
from zaxy.setup import init
from zaxy.setup.genesis import instruction_files
from zaxy.setup.init_record import bytes_of, change_of, text_of, undone
from zaxy.workspace import find_workspace

MORTAL = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search")
"""Takes from root what lets it write everywhere."""
AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0

OWN = ("cursor", "gemini", "vscode")
"""Clients that come with the core."""
PACKAGED = tuple(name for name in ("claude-code", "codex") if not missing_package(name))
MOMENTS = {"session-start", "user-prompt-submit", "precompact", "stop"}
COMMENTED = b"""{
   // what the team uses
   "mcpServers": {
      "github": {"command": "npx", "args": ["-y", "github"], "env": {"TOKEN": "${GITHUB_TOKEN}"}}, /* ours */
      "db":    {"command": "/opt/db/bin/serve"}
   },
   "other": [1, 2,   3],
}
"""
CURSOR = b'\xef\xbb\xbf{"mcpServers":{"one":{"url":"https://one.example/mcp"}}}'
CURSOR_HOOKS = b"""{
\t"version": 1,
\t"hooks": {
\t\t"stop": [
\t\t\t{ "command": "./mine.sh" }
\t\t]
\t}
}
""".replace(b"\n", b"\r\n")
GEMINI = b"""{
  "theme": "dark", // kept
  "hooks": {
    "AfterTool": [
      {"matcher": "write_file", "hooks": [{"name": "fmt", "type": "command", "command": "fmt"}]}
    ]
  },
  "mcpServers": {}
}"""
CODEX = b"""# my settings
model = "o"   # the usual

[mcp_servers.docs]
command = "docs"
args = [ "serve", ]

[profiles.work]
model = "p"
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "shop", tmp_path / "home")
    made.root.mkdir()
    made.home.mkdir()
    return made


@pytest.fixture
def full(project: Project) -> Project:
    """Four clients, each with a configuration full of other things. Two of them have packages."""
    for name, content in (
        (".mcp.json", COMMENTED),
        (".cursor/mcp.json", CURSOR),
        (".cursor/hooks.json", CURSOR_HOOKS),
        (".gemini/settings.json", GEMINI),
    ):
        path = project.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    (project.home / ".codex").mkdir()
    (project.home / ".codex" / "config.toml").write_bytes(CODEX)
    (project.root / "AGENTS.md").write_text("Be brief.\n")
    return project


def test_init_twice_and_undo_once_leaves_every_file_as_it_was_byte_for_byte(full: Project) -> None:
    before, folders = full.files(), full.folders()
    first = full.told("init", "--yes")
    assert first["ok"] and first["changes"]
    assert {found["name"] for found in first["clients"]} == {*OWN[:2], *PACKAGED}
    written, events = full.files(), full.events()
    assert written != before
    for path, content in before.items():
        assert len(written[path]) >= len(content)
    second = full.told("init", "--yes")
    assert second["ok"] and not second["changes"] and second["written"] == []
    assert full.files() == written
    assert full.events() == events
    undone = full.told("init", "--undo")
    assert undone["ok"]
    assert full.files() == before
    assert full.folders() == folders
    assert full.events() == events


def test_what_stood_in_the_files_is_still_there_after_init(full: Project) -> None:
    full.told("init", "--yes")
    gemini = (full.root / ".gemini/settings.json").read_text()
    for kept in ('"theme": "dark", // kept', '{"matcher": "write_file", "hooks": [{"name": "fmt"'):
        assert kept in gemini
    assert (full.root / ".cursor/mcp.json").read_bytes().startswith(b"\xef\xbb\xbf{")
    assert b'\t\t\t{ "command": "./mine.sh" }\r\n' in (full.root / ".cursor/hooks.json").read_bytes()


@pytest.mark.needs_package("claude-code")
def test_what_stood_in_the_file_of_claude_code_is_still_there_after_init(full: Project) -> None:
    full.told("init", "--yes")
    claude = (full.root / ".mcp.json").read_text()
    for kept in ("// what the team uses", '"github": {"command": "npx"', "/* ours */", "[1, 2,   3],", '"zaxy": {'):
        assert kept in claude


@pytest.mark.needs_package("codex")
def test_what_stood_in_the_file_of_codex_is_still_there_after_init(full: Project) -> None:
    full.told("init", "--yes")
    codex = (full.home / ".codex/config.toml").read_text()
    assert codex.startswith(CODEX.decode().rstrip("\n")) or all(line in codex for line in CODEX.decode().splitlines())
    assert "startup_timeout_sec = 90" in codex
    for identity in ("EVENTLOOM_PATH", "EVENTLOOM_THREAD", "ZAXY_DOMAIN"):
        assert identity not in codex


def test_the_first_event_is_the_genesis_and_is_written_once(full: Project) -> None:
    full.told("init", "--yes")
    full.told("init", "--yes")
    types = [event["type"] for event in full.events()]
    assert types[:2] == ["session.genesis", "workspace.instructions.discovered"]
    assert types.count("session.genesis") == 1
    genesis = full.events()[0]["payload"]
    assert (genesis["workspace"], genesis["domain"], genesis["backend"]) == ("shop", "shop", "sqlite")
    assert genesis["workspace_id"] == json.loads((full.root / ".eventloom/workspace.json").read_text())["id"]


def test_instructions_are_recorded_by_hash_again_only_when_they_change(full: Project) -> None:
    full.told("init", "--yes")
    (file,) = full.events()[1]["payload"]["files"]
    text = b"Be brief.\n"
    assert file == {"path": "AGENTS.md", "size": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    assert "Be brief" not in json.dumps(full.events())
    (full.root / "AGENTS.md").write_text("Be very brief.\n")
    told = full.told("init", "--yes")
    assert told["events"] == ["workspace.instructions.discovered"]
    (full.root / "AGENTS.md").write_bytes(text)
    assert full.told("init", "--yes")["events"] == ["workspace.instructions.discovered"]
    assert full.told("init", "--yes")["events"] == []


def test_a_dry_run_writes_nothing_at_all(full: Project) -> None:
    def everything() -> dict[str, bytes]:
        return {str(p): p.read_bytes() for p in sorted(full.root.parent.rglob("*")) if p.is_file()}

    before = everything()
    told = full.told("init", "--dry-run")
    assert told["changes"] and len(told["files"]) >= 3
    assert full.run("init", "--dry-run").returncode == 0
    assert everything() == before
    assert not (full.root / ".eventloom").exists()


BY_NAME = {"command": "zaxy", "args": ["serve"]}


def with_zaxy_on_the_path(project: Project) -> str:
    """A PATH on which the command is found by its name, as where it is installed for the user."""
    folder = project.home / "bin"
    folder.mkdir(exist_ok=True)
    program = folder / "zaxy"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m zaxy "$@"\n')
    program.chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


@pytest.mark.skipif(sys.platform == "win32", reason="it has no pseudo-terminals")
def test_init_asks_whether_the_files_of_the_project_are_for_others_too(full: Project) -> None:
    path = with_zaxy_on_the_path(full)
    code, shown = at_a_terminal(full, b"y\n", "init", "--client", "cursor", for_others=b"y\n", PATH=path)
    assert code == 0, shown
    assert ".cursor/mcp.json and .cursor/hooks.json: for you on this machine, or committed for others too?" in shown
    config, hooks = ((full.root / ".cursor" / name).read_text("utf-8-sig") for name in ("mcp.json", "hooks.json"))
    assert json.loads(config)["mcpServers"]["zaxy"] == {
        "command": "zaxy",
        "args": ["serve", "--workspace", "${workspaceFolder}"],
    }
    assert handled(full.root / ".cursor/hooks.json") > MOMENTS
    for text in (config, hooks):
        assert str(full.root.parent) not in text and os.path.dirname(sys.executable) not in text
    assert not full.told("init", "--client", "cursor", "--yes", PATH=path)["changes"]


@pytest.mark.needs_package("claude-code")
def test_files_for_others_work_on_every_machine_and_turn_into_own_ones_and_back(project: Project) -> None:
    path = with_zaxy_on_the_path(project)
    done = project.told("init", "--client", "claude-code", "--shared", "--yes", PATH=path)
    assert done["server"]["ok"]
    file = project.root / ".mcp.json"
    assert {key: json.loads(file.read_text())["mcpServers"]["zaxy"][key] for key in BY_NAME} == BY_NAME
    assert "env" not in json.loads(file.read_text())["mcpServers"]["zaxy"]
    rows = {row["name"]: row for row in project.told("doctor", PATH=path)["rows"]}
    assert rows["client_config:claude-code"]["status"] == rows["hooks:claude-code"]["status"] == "ok"
    rows = {row["name"]: row for row in project.told("doctor", code=1)["rows"]}
    assert "not on the PATH" in rows["client_config:claude-code"]["message"]
    project.told("init", "--client", "claude-code", "--no-shared", "--yes")
    assert json.loads(file.read_text())["mcpServers"]["zaxy"]["env"]["EVENTLOOM_PATH"] == str(project.eventloom)
    assert project.told("init", "--undo")["ok"]
    assert not file.exists()


def test_a_project_that_was_moved_goes_on_with_the_files_that_name_its_old_place(project: Project) -> None:
    project.told("init", "--client", "cursor", "--yes")
    old, session = str(project.root), project.events()[-1]["thread"]
    moved = Project(project.root.rename(project.root.with_name("store")), project.home)
    entry = json.loads((moved.root / ".cursor/mcp.json").read_text())["mcpServers"]["zaxy"]
    assert entry["env"]["EVENTLOOM_PATH"].startswith(old)
    done = moved.run("hook-event", "session-start", "--eventloom-path", entry["env"]["EVENTLOOM_PATH"], "--strict")
    assert (done.returncode, moved.events()[-1]["thread"]) == (0, session), done.stderr
    rows = {row["name"]: row for row in moved.told("doctor")["rows"]}
    assert (rows["client_config:cursor"]["status"], rows["hooks:cursor"]["status"]) == ("warning", "ok")
    assert moved.told("init", "--client", "cursor", "--yes")["ok"]
    for name in ("mcp.json", "hooks.json"):
        text = (moved.root / ".cursor" / name).read_text()
        assert old not in text and str(moved.eventloom) in text
    assert {event["thread"] for event in moved.events()} == {session}
    assert moved.told("init", "--undo")["ok"]
    assert (moved.root / ".eventloom/.gitignore").exists()


def test_without_a_terminal_and_without_yes_it_says_so_and_writes_nothing(full: Project) -> None:
    before = full.files()
    done = full.run("init")
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert full.files() == before
    assert not (full.root / ".eventloom").exists()


def at_a_terminal(
    project: Project, answer: bytes, *words: str, for_others: bytes = b"n\n", **env: str
) -> tuple[int, str]:
    """Run the command at a pseudo-terminal, answer its two questions, and give what it printed."""
    import pty  # there is none on Windows

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "zaxy", *words],
        cwd=project.root,
        env=project.environ(TERM="dumb", **env),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown, answered, chosen = b"", False, False
    deadline = time.monotonic() + 120
    coming = select.poll()  # select takes no descriptor above 1023
    coming.register(ours, select.POLLIN)
    while time.monotonic() < deadline:
        if coming.poll(200):
            try:
                shown += os.read(ours, 65536)
            except OSError:
                break
            if b"[y/N]" in shown and not chosen:
                os.write(ours, for_others)
                chosen = True
            if b"?" in shown.splitlines()[-1] and b"[Y/n]" in shown and not answered:
                os.write(ours, answer)
                answered = True
        elif process.poll() is not None:
            break
    os.close(ours)
    return process.wait(60), shown.decode(errors="replace")


@pytest.mark.skipif(sys.platform == "win32", reason="it has no pseudo-terminals")
def test_at_a_terminal_it_asks_and_no_means_no(full: Project) -> None:
    before = full.files()
    code, shown = at_a_terminal(full, b"n\n", "init")
    assert code == 1, shown
    assert "Write this?" in shown
    assert full.files() == before
    code, shown = at_a_terminal(full, b"y\n", "init")
    assert code == 0, shown
    assert full.files() != before


def handled(path: Path) -> set[str]:
    """The triggers of our hooks in a file."""
    return set(re.findall(r"hook-event[\s\",]+([a-z-]+)", path.read_text()))


@pytest.mark.needs_package("codex")
def test_the_preset_for_codex_configures_capture_and_says_how_to_start_it(project: Project) -> None:
    done = project.run("init", "--preset", "local-codex", "--yes")
    assert done.returncode == 0, done.stderr
    assert "zaxy capture start --workspace ." in done.stdout
    kept = json.loads((project.root / ".codex/zaxy-capture.json").read_text())
    assert kept["capture"] == "codex"
    assert "[mcp_servers.zaxy]" in (project.home / ".codex/config.toml").read_text()
    assert handled(project.root / ".codex/hooks.json") == MOMENTS
    assert not project.told("init", "--preset", "local-codex", "--yes")["changes"]
    assert project.told("init", "--undo")["ok"]
    assert (project.files(), project.folders()) == ({}, [])


@pytest.mark.needs_package("claude-code", "codex")
def test_capture_for_one_client_leaves_the_hooks_of_another_as_they_are(project: Project) -> None:
    claude = project.root / ".claude/settings.local.json"
    done = project.told("init", "--client", "claude-code", "--client", "codex", "--yes")
    assert done["recorders"] == {"claude-code": "hooks", "codex": "capture"}
    assert handled(claude) > MOMENTS
    assert handled(project.root / ".codex/hooks.json") == MOMENTS
    assert not project.told("init", "--client", "claude-code", "--yes")["changes"]
    assert project.told("init", "--undo")["ok"]
    assert (project.files(), project.folders()) == ({}, [])


@pytest.mark.needs_package("claude-code")
def test_a_client_that_is_to_be_captured_has_hooks_for_moments_only(project: Project) -> None:
    claude = project.root / ".claude/settings.local.json"
    project.told("init", "--preset", "local-claude", "--yes")
    assert handled(claude) > MOMENTS
    assert project.told("init", "--client", "claude-code", "--recorder", "capture", "--yes")["changes"]
    assert handled(claude) == MOMENTS
    assert not project.told("init", "--client", "claude-code", "--yes")["changes"]
    assert project.told("init", "--client", "claude-code", "--recorder", "hooks", "--yes")["changes"]
    assert handled(claude) > MOMENTS
    assert project.told("init", "--undo")["ok"]
    assert (project.files(), project.folders()) == ({}, [])


def test_an_init_that_was_killed_at_any_moment_is_completed_and_undone_byte_for_byte(full: Project) -> None:
    before, folders = full.files(), full.folders()
    for wait in (0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7):
        process = subprocess.Popen(
            [sys.executable, "-m", "zaxy", "init", "--yes"],
            cwd=full.root,
            env=full.environ(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(wait)
        process.kill()
        process.wait()
    assert full.told("init", "--yes")["ok"]
    assert [event["type"] for event in full.events()].count("session.genesis") == 1
    assert full.told("init", "--undo")["ok"]
    assert (full.files(), full.folders()) == (before, folders)


WITH_PACKAGES = [pytest.param(n, marks=pytest.mark.needs_package("claude-code", "codex")) for n in range(4, 9)]
"""Files beyond the four that the core's own clients have."""


@pytest.mark.parametrize("writes", [*range(4), *WITH_PACKAGES])
def test_an_init_that_ends_between_its_record_and_a_file_is_undone_byte_for_byte(
    full: Project, writes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill at a chosen moment cannot be had from outside, so the write itself ends the run."""
    before, folders = full.files(), full.folders()
    done = list[Path]()

    def write_then_stop(read: ConfigFile, text: str, keep_backup: bool) -> Path | None:
        if len(done) == writes:
            raise KeyboardInterrupt
        done.append(read.path)
        return write_file(read, text, keep_backup)

    monkeypatch.setattr(init, "write_file", write_then_stop)
    workspace = find_workspace(str(full.root))
    plan = init.make_plan(workspace, init.InitOptions(clients=(*PACKAGED, *OWN)), full.environ())
    assert len(plan.files) > writes
    with pytest.raises(KeyboardInterrupt):
        init.carry_out(plan)
    assert len(done) == writes
    assert full.told("init", "--undo")["ok"]
    assert (full.files(), full.folders()) == (before, folders)
    assert full.told("init", "--undo")["undone"] == []


def test_the_whole_is_tried_by_starting_the_server_and_cites_the_log(project: Project) -> None:
    told = project.told("init", "--client", "cursor", "--yes")
    assert told["server"]["ok"]
    assert told["server"]["citation"].startswith("eventloom://shop-default/events/1#")


def test_an_entry_of_somebody_elses_is_left_alone_and_the_rest_is_written(full: Project) -> None:
    mine = b'{"mcpServers": {"zaxy": {"command": "/home/me/my-zaxy"}}}\n'
    (full.root / ".cursor/mcp.json").write_bytes(mine)
    told = full.told("init", "--yes", code=1)
    (left,) = told["left_alone"]
    assert left["client"] == "cursor"
    assert "--force" in left["action"]
    assert (full.root / ".cursor/mcp.json").read_bytes() == mine
    assert b"zaxy" in (full.root / ".gemini/settings.json").read_bytes()


def test_a_malformed_file_is_left_alone_and_named_with_its_line(full: Project) -> None:
    broken = b'{\n  "mcpServers": {\n    "one": oops\n  }\n}\n'
    path = full.root / ".cursor/mcp.json"
    path.write_bytes(broken)
    told = full.told("init", "--yes", code=1)
    (left,) = told["left_alone"]
    assert str(path) in left["reason"]
    assert "line 3" in left["reason"]
    assert path.read_bytes() == broken


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_linked_configuration_is_left_alone(full: Project, tmp_path: Path) -> None:
    elsewhere = tmp_path / "shared.json"
    elsewhere.write_bytes(COMMENTED)
    (full.root / ".cursor/mcp.json").unlink()
    (full.root / ".cursor/mcp.json").symlink_to(elsewhere)
    told = full.told("init", "--yes", code=1)
    (left,) = told["left_alone"]
    assert "link" in left["reason"]
    assert elsewhere.read_bytes() == COMMENTED
    assert (full.root / ".cursor/mcp.json").is_symlink()


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_linked_folder_that_leads_out_of_the_project_is_left_alone(full: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (full.root / ".vscode").symlink_to(outside)
    told = full.told("init", "--client", "vscode", "--yes", code=1)
    assert [left["client"] for left in told["left_alone"]] == ["vscode"]
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("home", [None, "/nonexistent/home", ""])
@pytest.mark.needs_package("codex")
def test_without_a_home_folder_project_files_are_written_and_the_rest_is_told(full: Project, home: str | None) -> None:
    codex = (full.home / ".codex/config.toml").read_bytes()
    told = full.told("init", "--client", "cursor", "--client", "codex", "--yes", code=1, HOME=home)
    assert [left["client"] for left in told["left_alone"]] == ["codex"]
    assert "HOME" in told["left_alone"][0]["reason"] + told["left_alone"][0]["action"]
    assert b"zaxy" in (full.root / ".cursor/mcp.json").read_bytes()
    assert (full.home / ".codex/config.toml").read_bytes() == codex


@pytest.mark.skipif(sys.platform == "win32", reason="modes mean something else there")
@pytest.mark.skipif(AS_ROOT and shutil.which("setpriv") is None, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_told_of_before_anything_is_written(full: Project) -> None:
    before = full.files()
    full.root.chmod(0o555)
    try:
        done = full.run("init", "--yes", before=MORTAL if AS_ROOT else ())
    finally:
        full.root.chmod(0o755)
    assert done.returncode == 1
    assert "Permission denied" in done.stderr and "writable" in done.stderr
    assert "Traceback" not in done.stderr
    assert full.files() == before


def test_a_path_that_is_no_folder_is_refused_without_a_traceback(project: Project) -> None:
    (project.root / ".eventloom").write_text("not a folder")
    done = project.run("init", "--client", "cursor", "--yes")
    assert done.returncode == 1
    assert "is not a folder" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (project.root / ".cursor").exists()


def test_undo_takes_out_only_the_entry_where_a_file_was_changed_since(full: Project) -> None:
    cursor = full.root / ".cursor/mcp.json"
    cursor.write_bytes(COMMENTED)
    before = full.files()
    full.told("init", "--yes")
    cursor.write_bytes(cursor.read_bytes().replace(b'"db":    {', b'"database": {'))
    told = full.told("init", "--undo")
    outcomes = {row["what"]: row["outcome"] for row in told["undone"]}
    assert outcomes[str(cursor)] == "entry taken out"
    assert cursor.read_bytes() == COMMENTED.replace(b'"db":    {', b'"database": {')
    assert {path: content for path, content in full.files().items() if path != str(cursor)} == {
        path: content for path, content in before.items() if path != str(cursor)
    }


def test_undo_stops_at_a_file_that_it_cannot_take_apart_and_shows_what_was_put_in(full: Project) -> None:
    cursor = full.root / ".cursor/mcp.json"
    cursor.write_bytes(COMMENTED)
    full.told("init", "--yes")
    spoilt = cursor.read_bytes() + b"}}} oops"
    cursor.write_bytes(spoilt)
    told = full.told("init", "--undo", code=1)
    (kept,) = [row for row in told["undone"] if row["outcome"] == "left as it is"]
    assert kept["what"] == str(cursor)
    assert '"zaxy"' in kept["difference"]
    assert cursor.read_bytes() == spoilt
    cursor.write_bytes(spoilt.removesuffix(b"}}} oops"))
    assert full.told("init", "--undo")["ok"]
    assert cursor.read_bytes() == COMMENTED
    assert full.told("init", "--undo")["undone"] == []


def test_undo_keeps_what_the_user_put_into_a_file_that_init_made(project: Project) -> None:
    project.told("init", "--client", "vscode", "--yes")
    path = project.root / ".vscode/mcp.json"
    text = path.read_text().replace('"servers": {', '"inputs": [],\n  "servers": {')
    path.write_text(text)
    assert project.told("init", "--undo")["ok"]
    assert json.loads(path.read_text())["inputs"] == []
    assert "zaxy" not in path.read_text()


def test_a_second_init_with_more_clients_is_undone_together_with_the_first(full: Project) -> None:
    before = full.files()
    full.told("init", "--client", "gemini", "--yes")
    full.told("init", "--client", "cursor", "--client", "vscode", "--yes")
    assert full.told("init", "--undo")["ok"]
    assert full.files() == before


def test_a_record_that_names_another_file_is_not_followed(full: Project) -> None:
    full.told("init", "--client", "cursor", "--yes")
    precious = full.home / "precious.txt"
    precious.write_text("keep me")
    record = full.root / ".eventloom/runtime/init.json"
    kept = json.loads(record.read_text())
    planted = change_of(str(precious), None, after=precious.read_bytes(), parts=(), folders=())
    kept["files"].append({**planted._asdict(), "parts": []})
    record.write_text(json.dumps(kept))
    told = full.told("init", "--undo", code=1)
    assert [row["what"] for row in told["undone"] if row["outcome"] == "left as it is"] == [str(precious)]
    assert precious.read_text() == "keep me"


def test_backend_and_domain_are_kept_in_the_workspace_and_taken_out_by_undo(project: Project) -> None:
    told = project.told("init", "--preset", "minimal", "--backend", "sqlite", "--domain", "Web Shop", "--yes")
    assert (told["session_id"], told["backend"]) == ("web-shop-default", "sqlite")
    kept = json.loads((project.root / ".eventloom/workspace.json").read_text())
    assert kept["settings"] == {"ZAXY_DOMAIN": "Web Shop"}
    assert not project.told("init", "--preset", "minimal", "--domain", "Web Shop", "--yes")["changes"]
    assert project.told("init", "--undo")["ok"]
    assert json.loads((project.root / ".eventloom/workspace.json").read_text())["settings"] == {}


def test_a_backend_that_was_chosen_before_is_put_back_by_undo(project: Project) -> None:
    project.told("init", "--preset", "minimal", "--yes")
    project.run("config", "set", "PROJECTION_BACKEND", "neo4j")
    assert project.told("init", "--preset", "minimal", "--backend", "sqlite", "--yes")["backend"] == "sqlite"
    workspace = find_workspace(workspace=str(project.root))
    assert "PROJECTION_BACKEND" not in workspace.stored_settings().here
    assert project.told("init", "--undo")["ok"]
    assert workspace.stored_settings().here == {"PROJECTION_BACKEND": "neo4j"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--preset", "local-nothing"), "local-cursor"),
        (("--client", "emacs"), "cursor"),
        (("--backend", "oracle"), "sqlite"),
        (("--vectors", "sums"), "static"),
    ],
)
def test_what_it_does_not_know_is_refused_with_what_it_knows(
    project: Project, words: tuple[str, str], said: str
) -> None:
    done = project.run("init", *words, "--yes")
    assert done.returncode == 2
    assert said in done.stderr
    assert not (project.root / ".eventloom").exists()


def test_a_backend_that_is_not_installed_is_refused_with_how_to_get_it(project: Project) -> None:
    done = project.run("init", "--backend", "kuzu", "--yes", ZAXY_PLUGINS_DISABLE="kuzu")
    assert done.returncode == 1
    assert "not installed" in done.stderr
    assert not (project.root / ".eventloom").exists()


def test_lanes_that_find_by_meaning_are_switched_and_taken_out_by_undo(project: Project, tmp_path: Path) -> None:
    site = tmp_path / "site"
    lane = outside_lane.install(site)
    for chosen, kept in ((lane, lane), ("off", "none")):
        project.told("init", "--preset", "minimal", "--vectors", chosen, "--yes", PYTHONPATH=str(site))
        assert json.loads((project.root / ".eventloom/workspace.json").read_text())["settings"] == {"ZAXY_LANES": kept}
    assert project.told("init", "--undo")["ok"]
    assert json.loads((project.root / ".eventloom/workspace.json").read_text())["settings"] == {}


@pytest.mark.parametrize("name", ["static", "sentence"])
def test_a_lane_that_is_not_installed_is_refused_with_how_to_get_it(project: Project, name: str) -> None:
    disabled = "vectors,sentence-transformers"
    done = project.run("init", "--vectors", name, "--yes", ZAXY_PLUGINS_DISABLE=disabled)
    assert done.returncode == 1
    assert "not installed" in done.stderr and "pip install" in done.stderr
    assert not (project.root / ".eventloom").exists()


def test_memory_stays_out_of_a_git_repository(project: Project) -> None:
    subprocess.run(["git", "init", "-q", "."], cwd=project.root, check=True)
    project.told("init", "--preset", "minimal", "--yes")
    listed = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=all"],
        cwd=project.root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert listed.stdout == ""


def test_what_a_dead_owner_left_is_cleared_away(project: Project) -> None:
    project.told("init", "--preset", "minimal", "--yes")
    folder = Path(runtime_folder(find_workspace(str(project.root))))
    folder.mkdir(exist_ok=True)
    record = folder / "zaxy-embedded-owner.json"
    record.write_text(json.dumps({"pid": 1, "started": "", "socket": str(folder / "gone.sock"), "version": "0"}))
    assert project.told("init", "--preset", "minimal", "--yes")["changes"]
    assert not record.exists()
    assert not project.told("init", "--preset", "minimal", "--yes")["changes"]


def test_a_folder_whose_name_has_no_letters_gets_a_session_of_its_own(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    odd = Project(tmp_path / "本", home)
    odd.root.mkdir()
    assert not odd.told("init", "--preset", "minimal", "--dry-run")["clients"]
    assert not (odd.root / ".eventloom").exists()
    told = odd.told("init", "--preset", "minimal", "--yes")
    identity = json.loads((odd.root / ".eventloom/workspace.json").read_text())["id"]
    assert told["session_id"] == f"ws-{identity[:8]}-default"
    assert not odd.told("init", "--preset", "minimal", "--yes")["changes"]


def test_links_and_folders_are_no_instruction_files(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").mkdir()
    (tmp_path / "real.md").write_text("x")
    if sys.platform != "win32":
        (tmp_path / "CLAUDE.md").symlink_to(tmp_path / "real.md")
    (tmp_path / ".cursor" / "rules").mkdir(parents=True)
    (tmp_path / ".cursor" / "rules" / "b.mdc").write_text("b")
    (tmp_path / ".cursor" / "rules" / "a.mdc").write_text("a")
    assert [file.path for file in instruction_files(str(tmp_path))] == [".cursor/rules/a.mdc", ".cursor/rules/b.mdc"]


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data + b"\xff\xfe",
        lambda data: b"",
        lambda data: data.replace("é".encode(), "ü".encode()),
        lambda data: b"x" + data,
    ],
)
def test_a_change_is_taken_back_exactly_whatever_the_bytes_are(edit: Callable[[bytes], bytes]) -> None:
    before = "caf\u00e9 \u2028 \U0001f600\r\n\ufeff".encode() + b"\x80\x00"
    after = edit(before)
    change = change_of("f", before, after=after, parts=(), folders=())
    assert undone(change, after) == before
    assert bytes_of(text_of(after)) == after
