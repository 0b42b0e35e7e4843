"""`zaxy hook-status`: what counts as installed, what is said about hooks that cannot work, and what has arrived."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from captured import write_capture_config
from zaxy.__main__ import main
from zaxy.eventloom.admission import admit, admit_own
from zaxy.eventloom.loom import Eventloom

OBSERVATIONS = ["command.completed", "file.edit.applied", "tool.call.completed", "transcript.turn"]
OBSERVING = {
    "command.completed": ("command", "--command", "ls"),
    "file.edit.applied": ("file-edit", "--path", "a.py"),
    "tool.call.completed": ("tool-call", "--tool-name", "search"),
    "transcript.turn": ("transcript-turn", "--role", "user", "--content", "hello"),
}


class Project:
    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def run(self, *words: str) -> tuple[int, str]:
        self._capsys.readouterr()
        code = main(list(words))
        return code, self._capsys.readouterr().out

    def status(self) -> dict[str, Any]:
        code, out = self.run("hook-status", "--json")
        assert code == 0
        told: dict[str, Any] = json.loads(out)
        return told

    def client(self, name: str) -> dict[str, Any]:
        return next(row for row in self.status()["clients"] if row["client"] == name)

    def install(self, name: str, file: str, *more: str) -> Path:
        assert self.run("hooks", name, "--output", file, *more)[0] == 0
        return self.folder / file

    def hook(self, *words: str) -> None:
        assert self.run("hook-event", *words, "--strict")[0] == 0


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    for variable in ("EVENTLOOM_PATH", "EVENTLOOM_THREAD", "ZAXY_DOMAIN"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex-home"))
    monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "true")
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return Project(folder, capsys)


def test_an_empty_project_is_told_where_to_begin(project: Project) -> None:
    told = project.status()
    assert {row["status"] for row in told["clients"]} == {"not_installed"}
    assert told["capture_readiness"] == {
        "status": "missing",
        "active_observation_types": [],
        "missing_observation_types": OBSERVATIONS,
    }
    assert told["latest_hook_event"] is None
    assert [warning["action"] for warning in told["warnings"]] == ["zaxy init"]
    assert list(project.folder.iterdir()) == [], "looking leaves nothing behind"


@pytest.mark.parametrize("file", [".claude/settings.local.json", ".claude/settings.json"])
@pytest.mark.needs_package("claude-code")
def test_claude_codes_hooks_are_found_in_either_file(project: Project, file: str) -> None:
    project.install("claude-code", file)
    row = project.client("claude-code")
    assert (row["installed"], row["status"], row["file"]) == (True, "installed", file)
    assert project.status()["warnings"] == []


@pytest.mark.parametrize(
    "text",
    [
        '{"note": "zaxy hook-event stop"} // zaxy hook-event stop',
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo zaxy hook-event stop"}]}]}}',
        '{"Stop": [{"hooks": [{"type": "command", "command": "zaxy hook-event stop"}]}]}',
        '{"hooks": {"Stop": [{"matcher": "zaxy hook-event", "hooks": []}]}}',
        '// {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "zaxy hook-event stop"}]}]}}',
    ],
)
@pytest.mark.needs_package("claude-code")
def test_comments_and_other_texts_that_name_zaxy_are_no_installation(project: Project, text: str) -> None:
    (project.folder / ".claude").mkdir()
    (project.folder / ".claude" / "settings.json").write_text(text)
    assert project.client("claude-code")["installed"] is False


@pytest.mark.needs_package("claude-code")
def test_a_file_that_cannot_be_read_is_told_and_the_other_still_counts(project: Project) -> None:
    (project.folder / ".claude").mkdir()
    (project.folder / ".claude" / "settings.local.json").write_text("{")
    row = project.client("claude-code")
    assert (row["status"], row["installed"]) == ("invalid", False)
    assert "line 1" in row["message"]
    project.install("claude-code", ".claude/settings.json")
    assert project.client("claude-code")["status"] == "installed"


@pytest.mark.needs_package("claude-code")
def test_hooks_that_are_turned_off_are_told(project: Project) -> None:
    project.install("claude-code", ".claude/settings.local.json")
    (project.folder / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
    assert project.client("claude-code")["status"] == "disabled"


@pytest.mark.needs_package("claude-code")
def test_hooks_of_a_zaxy_that_is_gone_or_of_another_log_are_told(project: Project) -> None:
    from zaxy_claude_code.client import ClaudeCode

    path = project.install("claude-code", ".claude/settings.local.json")
    text = path.read_text()
    program = ClaudeCode.hooks.find(text)[0].words[0]
    path.write_text(text.replace(program, "/no/such/zaxy"))
    row = project.client("claude-code")
    assert (row["status"], row["message"]) == ("broken", "/no/such/zaxy is not there any more")
    path.write_text(text.replace(str(project.folder), "/somewhere/else"))
    row = project.client("claude-code")
    assert row["message"] == "they record into another log, /somewhere/else/.eventloom"
    assert project.run(*row["action"].split()[1:])[0] == 0, "what it advises mends it"
    assert project.client("claude-code")["status"] == "installed"


def test_a_project_that_was_moved_is_told(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.install("cursor", ".cursor/hooks.json")
    moved = project.folder.with_name("moved")
    shutil.copytree(project.folder, moved)
    monkeypatch.chdir(moved)
    assert "another log" in project.client("cursor")["message"]


def test_gemini_runs_hooks_only_in_a_folder_that_is_trusted(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    home = project.folder.parent / "home"
    (home / ".gemini").mkdir(parents=True)
    trusted = home / ".gemini" / "trustedFolders.json"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("GEMINI_CLI_TRUST_WORKSPACE")
    project.install("gemini", ".gemini/settings.json")
    row = project.client("gemini")
    assert (row["status"], row["installed"]) == ("not_trusted", True)
    assert row["message"] == "installed, in a folder that is not trusted: Gemini CLI skips 9 of 9 hooks"
    assert "/permissions trust" in row["action"]
    inside, around = str(project.folder), str(project.folder.parent)
    for rules, status in (
        ({inside: "TRUST_FOLDER"}, "installed"),
        ({around: "TRUST_FOLDER"}, "installed"),
        ({f"{inside}/deeper": "TRUST_FOLDER"}, "not_trusted"),
        ({f"{inside}/deeper": "TRUST_PARENT"}, "installed"),
        ({around: "TRUST_FOLDER", inside: "DO_NOT_TRUST"}, "not_trusted"),
        ([inside], "not_trusted"),
    ):
        trusted.write_text("// mine\n" + json.dumps(rules))
        assert project.client("gemini")["status"] == status, rules
    (home / ".gemini" / "settings.json").write_text('{"security": {"folderTrust": {"enabled": false}}}')
    assert project.client("gemini")["status"] == "installed"
    monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "false")
    assert project.client("gemini")["status"] == "not_trusted"


def test_a_missing_moment_is_told(project: Project) -> None:
    path = project.install("gemini", ".gemini/settings.json")
    config = json.loads(path.read_text())
    del config["hooks"]["PreCompress"]
    path.write_text(json.dumps(config))
    row = project.client("gemini")
    assert (row["status"], row["message"]) == ("partly_installed", "no handler for precompact")


# Codex


def trust(project: Project, path: Path, skip: int = 0) -> None:
    """Note what Codex notes when its user trusts hooks."""
    from zaxy_codex.client import Codex
    from zaxy_codex.trust import digest_of, key_of

    home = Path(os.environ["CODEX_HOME"])
    home.mkdir(exist_ok=True)
    rows = ['model = "gpt-5"']
    for handler in Codex.hooks.find(path.read_text())[skip:]:
        rows += [f"[hooks.state.{json.dumps(key_of(handler, str(path)))}]"]
        rows += [f'trusted_hash = "{digest_of(handler, path)}"']
    (home / "config.toml").write_text("\n".join(rows))


@pytest.mark.needs_package("codex")
def test_codexs_hooks_count_once_they_are_trusted(project: Project) -> None:
    path = project.install("codex", ".codex/hooks.json")
    row = project.client("codex")
    assert (row["installed"], row["status"]) == (True, "not_trusted")
    assert row["message"] == "installed, not yet trusted: Codex skips 9 of 9 hooks"
    assert "/hooks" in row["action"]
    trust(project, path, skip=2)
    assert project.client("codex")["message"].endswith("Codex skips 2 of 9 hooks")
    trust(project, path)
    assert project.client("codex")["status"] == "installed"
    text = path.read_text()
    path.write_text(text.replace('"timeout": 3', '"timeout": 2'))
    row = project.client("codex")
    assert (row["status"], row["message"]) == (
        "not_trusted",
        "installed, changed since they were trusted: Codex skips 1 of 9 hooks",
    )
    path.write_text(text)
    config = Path(os.environ["CODEX_HOME"], "config.toml")
    config.write_text(config.read_text() + "\nenabled = false\n")
    assert project.client("codex")["status"] == "not_trusted"
    config.write_text("not toml [")
    assert project.client("codex")["status"] == "not_trusted"


@pytest.mark.parametrize("text", ['{"Stop": []}', '{"hooks": {}, "version": 1}', '{"hooks": {}, }', "[]", "{"])
@pytest.mark.needs_package("codex")
def test_a_file_that_codex_refuses_is_no_installation(project: Project, text: str) -> None:
    (project.folder / ".codex").mkdir()
    (project.folder / ".codex" / "hooks.json").write_text(text)
    row = project.client("codex")
    assert (row["status"], row["installed"]) == ("invalid", False)


@pytest.mark.needs_package("codex")
def test_a_client_that_a_watcher_captures_counts_as_installed(project: Project) -> None:
    write_capture_config(project.folder)
    row = project.client("codex")
    assert (row["installed"], row["file"]) == (True, ".codex/zaxy-capture.json")


def test_a_configured_watcher_that_does_not_run_is_told_with_the_command_that_resumes_it(project: Project) -> None:
    write_capture_config(project.folder)
    told = project.status()
    assert told["watcher"] == {
        "configured": True,
        "running": False,
        "starts_with_servers": False,
        "resume_command": "zaxy capture start --workspace .",
    }
    assert told["warnings"] == [
        {
            "message": "capture is configured, but its watcher does not run: nothing new is imported",
            "action": "zaxy capture start --workspace .",
        }
    ]


@pytest.mark.needs_package("codex")
def test_a_watcher_that_runs_is_no_reason_to_warn(project: Project) -> None:
    write_capture_config(project.folder)
    environ = {**os.environ, "HOME": str(project.folder)}
    zaxy = [sys.executable, "-m", "zaxy", "capture"]
    subprocess.run([*zaxy, "start", "--workspace", "."], env=environ, check=True, timeout=120, capture_output=True)
    try:
        told = project.status()
        assert told["watcher"] == {"configured": True, "running": True}
        assert told["warnings"] == []
    finally:
        subprocess.run([*zaxy, "stop", "--workspace", "."], env=environ, check=True, timeout=120, capture_output=True)
    assert project.status()["watcher"]["running"] is False


# What has arrived


def test_coverage_tells_each_kind_and_the_latest_hook(project: Project) -> None:
    project.hook("session-start", "--source", "gemini")
    for number, words in enumerate(OBSERVING.values()):
        readiness = project.status()["capture_readiness"]
        assert readiness["status"] == ("missing" if number == 0 else "partial")
        assert readiness["active_observation_types"] == OBSERVATIONS[:number]
        assert readiness["missing_observation_types"] == OBSERVATIONS[number:]
        project.hook(*words, "--source", "gemini")
        project.hook(*words, "--source", "gemini")
    told = project.status()
    assert told["capture_readiness"]["status"] == "ready"
    assert {row["count"] for row in told["coverage"].values()} == {2}
    assert told["latest_hook_event"]["type"] == "transcript.turn"
    assert (told["latest_hook_event"]["trigger"], told["latest_hook_event"]["source"]) == ("transcript-turn", "gemini")
    assert told["latest_hook_event"]["citation"].startswith("eventloom://shop-default/events/")


@pytest.mark.needs_package("codex")
def test_codexs_users_are_ready_without_calls_of_other_servers(project: Project) -> None:
    for type_, words in OBSERVING.items():
        if type_ != "tool.call.completed":
            project.hook(*words, "--source", "codex")
    assert project.status()["capture_readiness"] == {
        "status": "ready",
        "active_observation_types": [type_ for type_ in OBSERVATIONS if type_ != "tool.call.completed"],
        "missing_observation_types": [],
    }


def test_memorys_own_tool_calls_are_no_observation(project: Project) -> None:
    loom = Eventloom(str(project.folder / ".eventloom"))
    loom.append("shop-default", [admit_own("tool.call.completed", "zaxy", {"tool_name": "memory_query"})])
    assert project.status()["coverage"]["tool.call.completed"] is None


def test_what_a_watcher_captured_counts_by_when_it_happened_and_in_any_session(project: Project) -> None:
    loom = Eventloom(str(project.folder / ".eventloom"))
    late, early = "2026-03-02T12:00:00+02:00", "2026-03-01T00:00:00Z"
    for when in (late, early, "yesterday"):
        loom.append(
            "elsewhere", [admit("transcript.turn", "codex", {"role": "user", "content": "x", "occurred_at": when})]
        )
    row = project.status()["coverage"]["transcript.turn"]
    assert row["count"] == 3
    assert row["last"] > "2026-03-02T10:00:00.000000Z", "a time that cannot be read is not taken for one"
    loom.append("other", [admit("command.completed", "codex", {"command": "ls", "occurred_at": late})])
    assert project.status()["coverage"]["command.completed"]["last"] == "2026-03-02T10:00:00.000000Z"


def test_the_page_for_people_shows_the_same(project: Project) -> None:
    project.install("cursor", ".cursor/hooks.json")
    project.hook("command", "--command", "ls")
    code, out = project.run("hook-status")
    assert code == 0
    assert "cursor               installed        .cursor/hooks.json" in out
    assert "capture readiness    partial" in out
    assert "file.edit.applied    never seen" in out


def test_the_log_may_lie_elsewhere(project: Project, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    elsewhere = str(tmp_path / "logs" / ".eventloom")
    project.hook("stop", "--eventloom-path", elsewhere)
    code, out = project.run("hook-status", "--eventloom-path", elsewhere, "--workspace", ".", "--json")
    assert (code, json.loads(out)["latest_hook_event"]["type"]) == (0, "hook.stop")


def test_a_damaged_session_is_told_and_the_others_still_count(project: Project) -> None:
    project.hook("command", "--command", "ls", "--session-id", "whole")
    for _ in range(3):
        project.hook("file-edit", "--path", "a.py", "--session-id", "broken")
    log = project.folder / ".eventloom" / "broken.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"a.py"', b'"b.py"'))
    told = project.status()
    assert told["capture_readiness"]["active_observation_types"] == ["command.completed"]
    assert {"message": "the log of broken is damaged", "action": "zaxy verify broken"} in told["warnings"]
