from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from zaxy.observe.capture import Capture
from zaxy.workspace import find_workspace

sys.path.insert(0, str(Path(__file__).parent))

from session_writer import Claude

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Claude:
    made = Claude(tmp_path, tmp_path / "work")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(made.config))
    return made


def captured(claude: Claude) -> tuple[int, int]:
    """How many events a pass appends, and how many observations it knows already."""
    capture = Capture(find_workspace(str(claude.folder)), adapters=["claude-code"])
    try:
        result = capture.run()
    finally:
        capture.close()
    assert (result.refused, result.problems) == (0, ())
    return result.appended, result.known


def log_of(claude: Claude) -> str:
    return (claude.folder / ".eventloom" / "work-default.jsonl").read_text(encoding="utf-8")


def test_a_second_pass_adds_nothing_and_neither_does_losing_the_marks(claude: Claude) -> None:
    claude.write(claude.user("Hello"), claude.call("t1", "Bash", command="make"), claude.result("t1", "built"))
    assert captured(claude) == (2, 0)
    assert captured(claude) == (0, 0)
    for mark in (claude.folder / ".eventloom" / "runtime" / "capture" / "marks").iterdir():
        mark.unlink()
    assert captured(claude) == (0, 2)
    assert log_of(claude).count("\n") == 2


def test_a_session_that_was_copied_adds_only_what_is_new_in_it(claude: Claude, tmp_path: Path) -> None:
    records = [claude.user("Hello"), claude.assistant({"type": "text", "text": "Good morning"})]
    claude.write(*records)
    copy = Claude(tmp_path, claude.folder, "99999999-2222-4333-8444-555555555555")
    copy.write(*({**record, "sessionId": copy.session} for record in records), copy.user("Another way"))
    assert captured(claude) == (3, 2)


def test_no_secret_reaches_the_log_though_it_stands_where_an_excerpt_is_cut(claude: Claude) -> None:
    for number in range(60):
        output = "x" * (80 + number) + f" {SECRET} " + "y" * 1000
        claude.write(
            claude.call(f"t{number}", "Bash", command=f"curl -H 'Authorization: Bearer {SECRET}' host"),
            claude.result(f"t{number}", output, {"stdout": output, "stderr": ""}),
        )
    claude.write(claude.user(f"My token is {SECRET}"))
    assert captured(claude) == (61, 0)
    assert not any(SECRET[:length] in log_of(claude) for length in (12, 20, len(SECRET)))
    assert not any(SECRET[-length:] in log_of(claude) for length in (12, 20))


def test_excerpts_are_short_and_what_was_said_is_whole(claude: Claude) -> None:
    output, said = "passed\n" * 1000, "Please read this. " * 1000
    claude.write(claude.call("t1", "Bash", command="pytest"), claude.result("t1", output, {"stdout": output}))
    claude.write(claude.user(said))
    assert captured(claude) == (2, 0)
    assert "passed\\n" * 40 not in log_of(claude)
    assert said.strip() in log_of(claude)


HIDDEN = "hidden7words"


def test_what_is_private_reaches_no_file_and_a_turn_that_is_all_private_is_no_event(claude: Claude) -> None:
    private = f"<private>{HIDDEN}</private>"
    long = "x" * 200_000
    claude.write(
        claude.user(f"Hello {private} there"),
        claude.user(private),
        claude.user(
            [{"type": "text", "text": f"one <Private a='b'>{HIDDEN}"}, {"type": "text", "text": f"{HIDDEN} two"}]
        ),
        claude.said(f"You said {private}."),
        claude.user(f"{long}<private>{long}{HIDDEN}"),
        claude.call("t1", "Bash", command=f"echo '{private}'"),
        claude.result("t1", f"{long} <private>{long}{HIDDEN}"),
        claude.call("t2", "Write", file_path=f"{claude.folder}/{private}.txt", content=HIDDEN),
        claude.result("t2", "written"),
        claude.call("t3", f"mcp__x{private}", **{private: HIDDEN}),
        claude.result("t3", f"{private}"),
    )
    captured(claude)
    assert [payload["content"][:30] for payload in turns(claude)] == [
        "Hello [private] there",
        "one [private]",
        "You said [private].",
        "x" * 30,
    ]
    for path in (claude.folder / ".eventloom").rglob("*"):
        assert not path.is_file() or HIDDEN.encode() not in path.read_bytes(), path


def turns(claude: Claude) -> list[dict[str, str]]:
    events = map(json.loads, log_of(claude).splitlines())
    return [event["payload"] for event in events if event["type"] == "transcript.turn"]
