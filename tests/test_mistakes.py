"""What people mistype: each answer names the next step, and nothing at all is written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from zaxy import Memory
from zaxy.__main__ import main

WRONG_USAGE, NOT_SO = 2, 1
MISTAKES = [
    ("a command with a slip", "rember lamps", WRONG_USAGE, "Did you mean 'zaxy remember'?"),
    ("a command by another name", "search lamps", WRONG_USAGE, "Did you mean 'zaxy query'?"),
    ("the same with a slip", "serach lamps", WRONG_USAGE, "Did you mean 'zaxy query'?"),
    ("an option as a command", "version", WRONG_USAGE, "Did you mean 'zaxy --version'?"),
    ("half of two words", "memory", WRONG_USAGE, "bootstrap"),
    ("an option with a slip", "ask lamps --sesion-id work", WRONG_USAGE, "--session-id"),
    ("no question", "ask", WRONG_USAGE, "Try 'zaxy ask -h'"),
    ("a type with a slip", "append decison.made --payload {}", WRONG_USAGE, "did you mean decision.made?"),
    ("a type with a blank", "append NOTE --payload {}", WRONG_USAGE, "such as decision.made"),
    ("a payload of no JSON", "append note.taken --payload {text:lamp}", WRONG_USAGE, 'such as \'{"text": "..."}\''),
    ("a payload that is no object", "append note.taken --payload [1]", WRONG_USAGE, 'such as {"text": "..."}'),
    ("a payload's file", "append note.taken --payload @missing.json", NOT_SO, "Name a file behind the @."),
    ("no payload", "append note.taken", WRONG_USAGE, "Missing option '--payload'"),
    ("a kind", "remember lamps --kind rumour", WRONG_USAGE, "Choose one of decision, preference"),
    ("nothing to remember", "remember ", WRONG_USAGE, "Say it: zaxy remember"),
    ("a session", "ask lamps --session-id nobody", NOT_SO, "'zaxy sessions' lists them."),
    ("a session's name", "remember lamps --session-id a/b", WRONG_USAGE, "Use a name such as"),
    ("a project", "remember lamps --workspace nowhere", NOT_SO, "Check the path, or make the folder first."),
    ("a folder of a log", "log --eventloom-path no/where", NOT_SO, "Check the path, or make the folder first."),
    ("a log's file", "replay missing.jsonl", NOT_SO, "Name a session, or a file that ends in .jsonl."),
    ("a moment", "query lamps --as-of soon", WRONG_USAGE, "Write yesterday, monday, '3 days ago'"),
    ("a date", "log --since 31.12.2026", WRONG_USAGE, "such as 2026-06-15"),
    ("an event's number", "show 99", NOT_SO, "Its last one is 2. 'zaxy log' lists them."),
    ("an event's name", "show lamps", WRONG_USAGE, "'zaxy log' shows numbers."),
    ("a citation", f"show eventloom://here-default/events/1#{'f' * 12}", NOT_SO, "Check the citation"),
    ("a key instead of an event", "invalidate demo", WRONG_USAGE, "What has a name is named with its --type."),
    ("an erasure that is not confirmed", "forget 1", WRONG_USAGE, "Add --hard if that is meant."),
    ("a number that is too small", "log --limit 0", WRONG_USAGE, "greater than or equal to 1"),
    ("a number in words", "tail --lines many", WRONG_USAGE, "Try 'zaxy tail -h'"),
    ("numbers that are swapped", "replay --from-seq 5 --to-seq 2", WRONG_USAGE, "Swap them."),
    ("a port", "serve --port many", WRONG_USAGE, "Give a number from 0 to 65535"),
    ("a ref", "refs resolve refs/heads/nobody", NOT_SO, "'zaxy refs list --session-id here-default'"),
    ("a setting", "config set ZAXY_LANE x", WRONG_USAGE, "Run 'zaxy config list'"),
    ("a value of a setting", "config set ZAXY_HTTP_MAX_CONNECTIONS many", WRONG_USAGE, "to an integer"),
    ("a client", "init --client claud", WRONG_USAGE, "Use one of claude-code"),
    ("feedback", "memory feedback 1 --feedback great", WRONG_USAGE, "It is one of used, helpful, irrelevant."),
    ("a purpose", "ask lamps --purpose {bad", WRONG_USAGE, "Pass a preset, or an object"),
    ("a shell", "completion tcsh", WRONG_USAGE, "Name a shell: bash, zsh, fish, powershell."),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, state_folder: Path) -> Path:
    """A project with one event. What reading keeps to be quick the next time is there already: the index of the log,
    and the list of installed packages."""
    here = tmp_path_factory.mktemp("project") / "here"
    here.mkdir()
    with Memory.open(here) as memory:
        memory.append("fact.recorded", {"fact": "The demo is on the 14th", "key": "demo"}, actor="ann")
        memory.follow()
    for words in ("append note.taken --payload {}", "show 2"):
        subprocess.run([sys.executable, "-m", "zaxy", *typed(words)], cwd=here, check=True, capture_output=True)
    return here


def everything(*folders: Path) -> dict[str, bytes | None]:
    """Each file below the folders with its bytes, and each folder. SQLite's marks of who reads are in memory, whatever
    they are called."""
    found = [path for folder in folders for path in folder.rglob("*") if not path.name.endswith("-shm")]
    return {str(path): path.read_bytes() if path.is_file() else None for path in found}


def typed(words: str) -> list[str]:
    return words.split(" ")


@pytest.mark.parametrize(("mistake", "words", "code", "step"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_a_mistake_is_answered_with_the_next_step_and_writes_nothing(
    mistake: str,
    words: str,
    code: int,
    step: str,
    *,
    project: Path,
    state_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)  # somebody sits there, and can type it again
    folders = (project.parent, state_folder, tmp_path)
    before = everything(*folders)
    assert main(typed(words)) == code, mistake
    out, err = capsys.readouterr()
    assert step in " ".join((out + err).split()), out + err
    assert "Traceback" not in err
    assert everything(*folders) == before


@pytest.mark.parametrize("words", ["log", "ask lamps", "query lamps", "replay", "tail", "verify", "followers status"])
def test_where_nothing_is_recorded_it_is_said_how_to_begin_and_nothing_is_made(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(typed(words)) == NOT_SO
    assert 'Record something: zaxy remember "The demo is on the 14th"' in capsys.readouterr().err
    assert not everything(tmp_path)
