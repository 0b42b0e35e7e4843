from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from codex_files import called, event, lines, meta, output, rollout, said, sent

from zaxy.observe.capture import Capture, Captured
from zaxy.workspace import find_workspace

HIDDEN = "hidden7words"
PRIVATE = f"<private>{HIDDEN}</private>"
LONG = "x" * 200_000


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def captured(work: Path) -> Captured:
    capture = Capture(find_workspace(str(work)), adapters=["codex"])
    try:
        return capture.run()
    finally:
        capture.close()


def turns(work: Path) -> list[str]:
    events: list[dict[str, Any]] = [
        json.loads(line) for line in (work / ".eventloom" / "work-default.jsonl").read_text("utf-8").splitlines()
    ]
    return [event["payload"]["content"] for event in events if event["type"] == "transcript.turn"]


def write(work: Path, *records: dict[str, Any]) -> None:
    rollout(work.parent / "codex").write_bytes(lines([meta(work), *records]))


def prove_hidden(work: Path) -> None:
    for path in (work / ".eventloom").rglob("*"):
        assert not path.is_file() or HIDDEN.encode() not in path.read_bytes(), path


def test_what_is_private_reaches_no_file_and_a_turn_that_is_all_private_is_no_event(work: Path) -> None:
    write(
        work,
        sent(f"Hello {PRIVATE} there"),
        said(f"Hello {PRIVATE} there"),
        sent(PRIVATE),
        said(PRIVATE),
        sent(f"You said {PRIVATE}.", "assistant"),
        said(f"You said {PRIVATE}.", "assistant"),
        said(f"{LONG}<private>{LONG}{HIDDEN}"),
        said(f"one <PRIVATE\n>{HIDDEN}"),
        called("shell", {"command": ["bash", "-lc", f"echo '{PRIVATE}'"]}, "c1"),
        output(f"{LONG}<private>{LONG}{HIDDEN}", "c1"),
        called(f"x{PRIVATE}", {PRIVATE: HIDDEN}, "c2"),
        output(PRIVATE, "c2"),
        event("turn_aborted"),
    )
    found = captured(work)
    assert found.problems == ()
    assert [text[:25] for text in turns(work)] == [
        "Hello [private] there",
        "You said [private].",
        "x" * 25,
        "one [private]",
    ]
    assert found.left_out == {"private": 1}
    prove_hidden(work)
    assert captured(work).new == {}


def test_the_same_message_twice_in_a_file_is_one_turn_also_when_a_mark_lies_between_them(work: Path) -> None:
    write(work, sent(f"Hello {PRIVATE} there"))
    captured(work)
    write(work, sent(f"Hello {PRIVATE} there"), said(f"Hello {PRIVATE} there"))
    captured(work)
    assert turns(work) == ["Hello [private] there"]
    prove_hidden(work)
