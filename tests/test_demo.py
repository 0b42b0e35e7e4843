"""`zaxy demo`: a newcomer sees what memory does, and it fails if it does not."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from conftest import Zaxy
from zaxy.errors import ZaxyError
from zaxy.memory import Memory
from zaxy.retrieve.results import Answer
from zaxy.terminal import demo
from zaxy.terminal.demo import demo_folder, demo_steps

COMMAND = Path(sys.executable).with_name("zaxy")
STEPS = ["recorded", "asked", "corrected", "asked_again", "asked_as_of", "unknown", "verified", "tampered_with"]


def shown(zaxy: Zaxy, *arguments: str, **env: str) -> dict[str, Any]:
    done = zaxy("demo", "--json", *arguments, **env)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert isinstance(told, dict)
    return told


def step(told: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [one for one in told["steps"] if one["step"] == name]
    assert isinstance(found, dict)
    return found


def test_the_demo_shows_every_step_in_under_ten_seconds(zaxy: Zaxy) -> None:
    before = os.times()
    done = zaxy("demo")
    spent = [now - then for now, then in zip(os.times(), before, strict=True)]
    assert spent[2] + spent[3] < 10, "CPU seconds of the processes that it started"
    assert (done.returncode, done.stderr) == (0, "")
    assert [line[:2] for line in done.stdout.splitlines() if line[:1].isdigit()] == [f"{n}." for n in range(1, 9)]
    assert "All 8 steps showed what they should" in done.stdout
    assert "\x1b" not in done.stdout


def test_the_steps_as_data_say_what_was_shown(zaxy: Zaxy) -> None:
    told = shown(zaxy)
    assert (told["ok"], told["folder"]) == (True, None)
    assert [one["step"] for one in told["steps"]] == STEPS
    assert all(one["ok"] for one in told["steps"])
    texts = {name: [line["text"] for line in step(told, name)["shown"]] for name in STEPS}
    assert "Keep login sessions in Redis. Reason: the old server has it" in texts["asked"]
    assert "Keep login sessions in Postgres. Reason: Redis forgets them on a restart" in texts["asked_again"]
    assert not [text for text in texts["asked_again"] if text.startswith("Keep login sessions in Redis")]
    assert "1 superseded decision was left out" in texts["asked_again"]
    assert texts["asked_as_of"] == ["Keep login sessions in Redis"]
    assert texts["unknown"] == ["Memory does not know: ask_user, confidence 0.07"]
    assert texts["tampered_with"][0].startswith("damaged at event 3")
    cited = [line for name in ("asked", "asked_again", "asked_as_of") for line in step(told, name)["shown"]]
    assert sum("citation" in line for line in cited) == 3


def test_the_demo_leaves_nothing_behind(zaxy: Zaxy, tmp_path: Path) -> None:
    temporary, home = tmp_path / "temporary", tmp_path / "home"
    temporary.mkdir()
    home.mkdir()
    done = zaxy("demo", TMPDIR=str(temporary), TEMP=str(temporary), TMP=str(temporary), HOME=str(home))
    assert done.returncode == 0
    assert [list(folder.iterdir()) for folder in (temporary, home, tmp_path / "here")] == [[], [], []]


def test_a_workspace_around_it_is_not_touched(zaxy: Zaxy, tmp_path: Path) -> None:
    here = tmp_path / "here"
    with Memory.open(here) as memory:
        memory.append("note.taken", {"text": "mine"})
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    told = shown(zaxy, EVENTLOOM_PATH=str(here / ".eventloom"), CLAUDE_PROJECT_DIR=str(here))
    assert told["ok"]
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


def test_what_is_kept_is_where_it_says_and_the_commands_shown_work_there(zaxy: Zaxy) -> None:
    told = shown(zaxy, "--keep")
    folder = Path(told["folder"])
    try:
        for name, said in (
            ("asked_again", "Keep login sessions in Postgres"),
            ("asked_as_of", "Keep login sessions in Redis"),
            ("unknown", "Memory does not know"),
            ("verified", "demo-default: ok"),
            ("tampered_with", "DAMAGED at event 3"),
        ):
            done = zaxy(*shlex.split(step(told, name)["command"])[1:], cwd=folder)
            assert said in done.stdout, done.stdout + done.stderr
        citation = step(told, "asked_again")["shown"][1]["citation"]
        assert "Redis forgets them on a restart" in zaxy("show", citation, cwd=folder).stdout
    finally:
        shutil.rmtree(folder.parent)


def test_it_ends_with_init_for_the_project_at_hand(zaxy: Zaxy, tmp_path: Path) -> None:
    project = tmp_path / "here"
    (project / ".git").mkdir()
    (project / "src").mkdir()
    done = zaxy("demo", cwd=project / "src", PATH=f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}")
    assert done.stdout.endswith(f"and asks:\n   cd {shlex.quote(str(project))}\n   zaxy init\n")


def test_where_no_project_is_at_hand_it_names_none(zaxy: Zaxy, tmp_path: Path) -> None:
    done = zaxy("demo", HOME=str(tmp_path / "here"))
    assert re.search(r"and asks:\n   \S+ init\n$", done.stdout), done.stdout


@pytest.mark.skipif(os.name == "nt", reason="a folder that is used cannot be removed there")
def test_it_works_in_a_folder_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    line = f"mkdir {gone} && cd {gone} && rmdir {gone} && {COMMAND} demo && {COMMAND} sessions"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
    assert re.search(r"and asks:\n   \S+ init\n$", done.stdout), done.stdout
    assert done.stderr.startswith("zaxy: the current folder is not there any more"), done.stderr


def test_the_last_line_can_be_typed_where_the_command_is_on_no_path(zaxy: Zaxy, tmp_path: Path) -> None:
    to_the_project, typed = shown(zaxy, PATH=os.defpath)["next"]
    assert Path(shlex.split(typed)[0]).is_absolute()
    line = f"{to_the_project} && {typed} --client cursor --yes"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True)
    assert "Done: 2 written" in done.stdout, done.stdout + done.stderr
    assert (tmp_path / "here" / ".cursor" / "mcp.json").is_file()


def test_a_wrong_answer_fails_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault cannot be had otherwise: memory that gives nothing back."""
    monkeypatch.setattr(Memory, "query", lambda *_, **__: Answer((), 0, False))
    with demo_folder(keep=False) as folder:
        failed = [one.name for one in demo_steps(folder) if not one.ok]
    assert failed == ["asked_as_of"]


def test_a_correction_that_does_not_replace_fails_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    correction = demo.CORRECTION
    monkeypatch.setattr(demo, "CORRECTION", type(correction)(correction.type, "ann", {"decision": demo.POSTGRES}))
    with demo_folder(keep=False) as folder:
        assert "asked_again" in [one.name for one in demo_steps(folder) if not one.ok]


def test_the_command_exits_with_1_if_a_step_fails(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from zaxy.__main__ import main

    monkeypatch.setattr(demo, "UNKNOWN", demo.QUESTION)
    assert main(["demo"]) == 1
    printed = capfd.readouterr().out
    assert "1 of 8 steps failed" in printed
    assert printed.endswith("zaxy plugins check\n"), "a project is not to be set up by what does not work"


def test_without_a_temporary_folder_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(ZaxyError, match="no temporary folder can be made") as refused, demo_folder(keep=False):
        pass
    assert (refused.value.code, "TMPDIR" in refused.value.remediation) == ("unavailable", True)
