"""Completion as it happens in real shells, by the scripts that `zaxy completion` prints."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tmux_terminal import Terminal


@pytest.fixture
def with_zaxy(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell that finds `zaxy` by its name."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "zaxy").write_text(f'#!/bin/sh\nexec {sys.executable} -m zaxy "$@"\n')
    (folder / "zaxy").chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(tmp_path), "TERM": "xterm"}


def test_bash_completes_by_the_script(zaxy: Any, with_zaxy: dict[str, str]) -> None:
    script = zaxy("completion", "bash").stdout
    asked = script + "COMP_WORDS=(zaxy memory ch); COMP_CWORD=2; _zaxy; echo ${COMPREPLY[@]}"
    done = subprocess.run(["bash", "-c", asked], env=with_zaxy, capture_output=True, text=True)
    assert done.stdout == "checkout\n", done.stderr


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish (apt-get install fish)")
@pytest.mark.parametrize(
    ("typed", "words"),
    [("config ", ["list", "set", "unset"]), ("memory ch", ["checkout"]), ("ask --s", ["--session-id"])],
)
def test_fish_completes_by_the_script(typed: str, words: list[str], with_zaxy: dict[str, str]) -> None:
    asked = f"zaxy completion fish | source; complete -C 'zaxy {typed}'"
    done = subprocess.run(["fish", "-c", asked], env=with_zaxy, capture_output=True, text=True)
    assert done.stdout.split() == words, done.stderr


@pytest.mark.skipif(
    None in map(shutil.which, ("zsh", "tmux")), reason="there is no zsh or tmux (apt-get install zsh tmux)"
)
def test_zsh_completes_by_the_script(tmp_path: Path, with_zaxy: dict[str, str]) -> None:
    with Terminal(tmp_path, with_zaxy, tmp_path / "tmux") as terminal:
        terminal.say("PS1='ready ' zsh -f")
        terminal.wait_for("ready")
        terminal.say('autoload -U compinit; compinit -u; eval "$(zaxy completion zsh)"; clear; echo loaded')
        terminal.wait_for("loaded\nready")
        for typed, whole in (("zaxy config se", "zaxy config set"), ("zaxy ask --sess", "zaxy ask --session-id")):
            terminal.keys("-l", typed)
            terminal.wait_for(typed)
            terminal.keys("Tab")
            terminal.wait_for(whole)
            terminal.keys("C-u")
