"""Codex itself, asked through its app server, takes what `zaxy hooks codex` writes and keeps the trust in others."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

import npm_programs
from zaxy.__main__ import main
from zaxy.clients.hook_installs import hook_install
from zaxy.clients.installed import InstalledClient
from zaxy.workspace import find_workspace
from zaxy_codex.client import Codex as Client
from zaxy_codex.trust import digest_of, key_of

INSTALLED = InstalledClient("codex", Client(None), Client.hooks)  # type: ignore[arg-type]
PROGRAM = "@openai/codex/bin/codex.js"
MINE = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./mine.sh"}]}]}}


class Codex:
    """A project that Codex's user trusts, and a Codex that knows nothing else."""

    def __init__(self, folder: Path) -> None:
        self.project, self.home = folder / "shop", folder / "codex-home"
        for made in (self.project / ".codex", self.home, folder / "home"):
            made.mkdir(parents=True)
        self.environ = {**os.environ, "CODEX_HOME": str(self.home), "HOME": str(folder / "home")}
        self.trust({})

    def trust(self, hashes: dict[str, str]) -> None:
        """What Codex writes when its user trusts a project and some of its hooks."""
        lines = [f"[projects.{json.dumps(str(self.project))}]", 'trust_level = "trusted"']
        for key, value in hashes.items():
            lines += [f"[hooks.state.{json.dumps(key)}]", f"trusted_hash = {json.dumps(value)}"]
        (self.home / "config.toml").write_text("\n".join(lines))

    def listed(self) -> dict[str, Any]:
        """The hooks as Codex has read them, with its warnings and errors."""
        program = str(npm_programs.installed("codex") / PROGRAM)
        server = subprocess.Popen(
            [npm_programs.node().node, program, "app-server"],
            cwd=self.project,
            env=self.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert server.stdin is not None
        assert server.stdout is not None
        too_late = threading.Timer(60, server.kill)
        too_late.start()
        try:
            for message in (
                {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "zaxy-tests", "version": "1"}}},
                {"method": "initialized"},
                {"id": 2, "method": "hooks/list", "params": {"cwds": [str(self.project)]}},
            ):
                server.stdin.write(json.dumps(message) + "\n")
                server.stdin.flush()
            for line in server.stdout:
                answer = json.loads(line)
                if answer.get("id") == 2:
                    (told,) = answer["result"]["data"]
                    return dict(told)
            raise AssertionError("Codex ended without an answer")
        finally:
            too_late.cancel()
            server.stdin.close()
            server.kill()
            server.wait()
            server.stdout.close()

    def status(self) -> str:
        return hook_install(INSTALLED, Client.hooks, find_workspace(str(self.project)), self.environ).status


@pytest.fixture
def codex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Codex:
    codex = Codex(tmp_path.resolve())
    monkeypatch.chdir(codex.project)
    monkeypatch.delenv("EVENTLOOM_PATH", raising=False)
    return codex


def test_codex_reads_every_hook_without_a_warning_and_runs_them_once_trusted(codex: Codex) -> None:
    assert main(["hooks", "codex", "--output", ".codex/hooks.json"]) == 0
    told = codex.listed()
    assert (told["warnings"], told["errors"]) == ([], [])
    assert len(told["hooks"]) == len(Client.hooks.events)
    assert {hook["trustStatus"] for hook in told["hooks"]} == {"untrusted"}
    assert codex.status() == "not_trusted"
    codex.trust({hook["key"]: hook["currentHash"] for hook in told["hooks"]})
    assert {hook["trustStatus"] for hook in codex.listed()["hooks"]} == {"trusted"}
    assert codex.status() == "installed"


def test_a_hook_that_changed_since_it_was_trusted_is_skipped_by_codex_and_hook_status_says_so(codex: Codex) -> None:
    path = codex.project / ".codex" / "hooks.json"
    assert main(["hooks", "codex", "--output", str(path)]) == 0
    hashes = {hook["key"]: hook["currentHash"] for hook in codex.listed()["hooks"]}
    ours = Client.hooks.find(path.read_text())
    assert {key_of(handler, str(path)): digest_of(handler, path) for handler in ours} == hashes
    codex.trust(hashes)
    path.write_text(path.read_text().replace('"timeout": 3', '"timeout": 2'))
    statuses = [hook["trustStatus"] for hook in codex.listed()["hooks"]]
    assert sorted(set(statuses)) == ["modified", "trusted"]
    assert statuses.count("modified") == 1
    assert codex.status() == "not_trusted"


def test_a_hook_of_the_users_own_stays_trusted(codex: Codex) -> None:
    path = codex.project / ".codex" / "hooks.json"
    path.write_text(json.dumps(MINE, indent=2))
    (mine,) = codex.listed()["hooks"]
    codex.trust({mine["key"]: mine["currentHash"]})
    assert main(["hooks", "codex", "--output", ".codex/hooks.json"]) == 0
    trusted = [hook for hook in codex.listed()["hooks"] if hook["trustStatus"] == "trusted"]
    assert [hook["command"] for hook in trusted] == ["./mine.sh"]
    assert main(["hooks", "codex", "--remove"]) == 0
    assert path.read_text() == json.dumps(MINE, indent=2)


@pytest.mark.parametrize("text", ['{"Stop": []}', '{"hooks": {}, "version": 1}', '{"hooks": {} // mine\n}'])
def test_what_zaxy_calls_invalid_codex_refuses(codex: Codex, text: str) -> None:
    (codex.project / ".codex" / "hooks.json").write_text(text)
    assert codex.status() == "invalid"
    told = codex.listed()
    assert told["hooks"] == []
    assert "failed to parse hooks config" in "".join(told["warnings"])
