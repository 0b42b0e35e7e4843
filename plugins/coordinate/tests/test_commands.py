from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mission_steps import PASSED, accept, promoted, report, row

from zaxy import Memory
from zaxy_coordinate import Missions
from zaxy_export import KeyFiles, generate

Run = Callable[..., subprocess.CompletedProcess[str]]
PATIENCE = 120.0
"""Seconds after which something that should happen is held not to happen."""


@pytest.fixture
def zaxy(here: Path) -> Run:
    def run(*words: str, typed: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "zaxy", *words]
        return subprocess.run(
            command,
            cwd=here,
            env={**os.environ, **env},
            input=typed,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
        )

    return run


@pytest.fixture
def coordinate(zaxy: Run) -> Callable[..., Any]:
    """The JSON that a command prints; its exit code must be 0."""

    def run(*words: str) -> Any:
        done = zaxy("coordinate", *words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def test_a_mission_is_led_from_its_start_to_a_traced_answer(
    coordinate: Callable[..., Any], zaxy: Run, here: Path, tmp_path: Path
) -> None:
    assert coordinate("start", "port", "Port it")["mission_id"] == "port"
    assert coordinate("worker", "port", "w1", "--role", "tester")["worker_session_id"] == "port.w1"
    assert coordinate("assign", "port", "w1", "Look")["assignment_id"] == "w1:assignment:1"
    evidence = ("--evidence", json.dumps(PASSED), "--evidence", "src/lock.py:3")
    claim = ("--claim-key", "lock", "--claim-value", "holds", "--confidence", "0.5")
    finding = coordinate("report", "port", "w1", "The lock holds.", *evidence, *claim)["finding_id"]
    shown = coordinate("brief", "port")["findings"][0]
    assert shown["evidence"] == [PASSED, {"kind": "reference", "reference": "src/lock.py:3"}]
    assert coordinate("review", "port", finding, "accepted", "--rationale", "I ran it.")["status"] == "accepted"
    assert coordinate("promote", "port", finding)["status"] == "promoted"
    assert coordinate("ledger", "port")["total"]["promoted"] == 1
    handoff = coordinate("handoff", "port", "Half is done", "--next-step", "ARM", "--risk", "Rain")["handoff_id"]
    checkout = coordinate("checkout", "port", "Does the lock hold?")
    assert [fact["content"] for fact in checkout["current_facts"]] == ["The lock holds."]
    file = tmp_path / "checkout.json"
    file.write_text(json.dumps(checkout))
    chosen = ("--candidate", "1", "--outcome", "used", "--decision-scope", "handoff", "--handoff-id", handoff)
    made = coordinate("record", "port", str(file), *chosen)
    for key in (("--artifact-id", made["artifact_id"]), ("--handoff-id", handoff)):
        assert coordinate("trace", "port", *key)["proof"]["citation"] == made["proof"]["citation"]
    pages = {word: zaxy("coordinate", word, "port") for word in ("brief", "checkout", "ledger", "status")}
    pages["trace"] = zaxy("coordinate", "trace", "port", "--proof-seq", str(made["proof"]["seq"]))
    assert {word: page.returncode for word, page in pages.items()} == dict.fromkeys(pages, 0)
    for word in ("brief", "checkout", "trace"):
        assert "The lock holds." in pages[word].stdout
    assert "Nothing waits." in pages["status"].stdout


def test_a_packet_goes_to_somebody_else_and_comes_back_signed(
    coordinate: Callable[..., Any], zaxy: Run, missions: Missions, tmp_path: Path
) -> None:
    finding = report(missions, "The lock holds.")
    file = tmp_path / "packet.json"
    assert "1 findings to decide on" in zaxy("coordinate", "packet", "port", "--out", str(file)).stdout
    assert json.loads(zaxy("coordinate", "packet", "port").stdout) == json.loads(file.read_text())
    packet = json.loads(file.read_text())
    packet["decisions"][0] |= {"status": "accepted", "promote": True}
    file.write_text(json.dumps(packet))
    keys = KeyFiles(str(tmp_path / "key.pem"), str(tmp_path / "key.pub"))
    generate(keys)
    signed = zaxy("coordinate", "sign", str(file), "--private-key", keys.private, "--public-key", keys.public)
    key = signed.stdout.split()[-1]
    other = zaxy("coordinate", "apply", "port", str(file), "--expect-public-key", "00" * 32)
    assert other.returncode != 0 and "signed by somebody else" in other.stderr
    reply = coordinate("apply", "port", str(file), "--expect-public-key", key)
    assert (reply["promoted"], reply["signed_by"]) == ([finding], key)
    again = zaxy("coordinate", "apply", "port", str(file))
    assert "nothing was written" in again.stdout


def test_a_session_is_adopted(coordinate: Callable[..., Any], missions: Missions, memory: Memory) -> None:
    memory.append("transcript.turn", {"role": "assistant", "content": "It holds."}, session="sub")
    assert coordinate("adopt", "sub", "--mission", "port")["finding_id"] == "sub:finding:1"


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("brief", "moon"), 1, "there is no mission 'moon'"),
        (("review", "port", "w1:finding:9", "accepted"), 1, "has no finding"),
        (("review", "port", "w1:finding:1"), 2, "is not what a review can say"),
        (("report", "port", "w1", "x", "--evidence", "{bad"), 2, "--evidence is not JSON"),
        (("apply", "port", "nowhere.json"), 1, "nowhere.json cannot be read"),
        (("apply", "port", ".eventloom"), 1, ".eventloom cannot be read"),
        (("brief", "port", "--cursor", "9" * 5000), 2, "is no cursor of this brief"),
        (("checkout", "port", "--max-tokens", "5"), 2, "max_tokens is below"),
        (("record", "port", "checkout.txt"), 2, "checkout.txt is not JSON"),
    ],
)
def test_what_is_refused_says_why_in_a_sentence(
    zaxy: Run, missions: Missions, here: Path, words: tuple[str, ...], code: int, why: str
) -> None:
    report(missions, "The lock holds.")
    (here / "checkout.txt").write_text("Not JSON")
    done = zaxy("coordinate", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert why in done.stderr and "Traceback" not in done.stderr


def test_the_missions_are_listed_unless_there_is_only_one(zaxy: Run, missions: Missions) -> None:
    report(missions, "The lock holds.")
    assert "The lock holds." in zaxy("coordinate", "status").stdout
    missions.start("moon", "Fly there")
    listed = zaxy("coordinate", "status").stdout
    assert "port: Port it to Windows" in listed and "moon: Fly there" in listed


def test_without_a_mission_status_says_how_to_begin(zaxy: Run) -> None:
    zaxy("init", "--yes")
    done = zaxy("coordinate", "status")
    assert (done.returncode, "There is no mission here." in done.stdout) == (0, True)


def test_the_package_is_in_order_for_whoever_installs_it(zaxy: Run) -> None:
    done = zaxy("plugins", "check", "coordinate")
    assert done.returncode == 0, done.stdout + done.stderr


# The review walk


def test_what_waits_is_gone_through_from_a_pipe(zaxy: Run, missions: Missions) -> None:
    made = [report(missions, f"Fact {number}") for number in range(6)]
    done = zaxy("coordinate", "review", "port", "--actor", "ada", typed="a\np\nwhat?\nr\nIt is wrong.\ns\nd\n")
    assert done.returncode == 0, done.stderr
    assert [row(missions, name)["status"] for name in made] == [
        "accepted",
        "promoted",
        "rejected",
        "pending",
        "deferred",
        "pending",
    ]
    assert row(missions, made[2])["review"]["rationale"] == "It is wrong."
    assert {row(missions, name)["review"]["reviewer"] for name in made[:3]} == {"ada"}
    assert "4 decided, 2 still wait." in done.stdout


def test_a_refusal_does_not_end_the_walk(zaxy: Run, missions: Missions, memory: Memory) -> None:
    stale = report(missions, "A file says so.", evidence=[{"path": "src/a.py"}])
    memory.append("file.edit.applied", {"path": "src/a.py"}, session="port.w1")
    last = report(missions, "The lock holds.")
    done = zaxy("coordinate", "review", "port", typed="p\np\n")
    assert "has changed since it was reported" in done.stderr
    assert [row(missions, name)["status"] for name in (stale, last)] == ["accepted", "promoted"]


def test_the_walk_shows_evidence_and_the_other_side(zaxy: Run, missions: Missions) -> None:
    report(missions, "It holds.", claim_key="lock", claim_value="holds", evidence=[PASSED])
    report(missions, "It breaks.", "w2", claim_key="lock", claim_value="breaks")
    shown = zaxy("coordinate", "review", "port", typed="q\n").stdout
    assert "$ pytest -k lock  -> 0" in shown
    assert "against w2:finding:1: breaks" in shown


def test_nothing_that_waits_is_said(zaxy: Run, missions: Missions) -> None:
    promoted(missions, "It holds.")
    assert "Nothing waits for review." in zaxy("coordinate", "review", "port").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")
def test_on_a_terminal_one_key_is_enough(missions: Missions, here: Path) -> None:
    import pty

    made = [report(missions, f"Fact {number}") for number in range(3)]
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover
        os.chdir(here)
        os.execv(sys.executable, [sys.executable, "-m", "zaxy", "coordinate", "review", "port"])
    try:
        shown = ""
        for answer, until in (("p", "[q]uit"), ("r", "[q]uit"), ("Wrong.\n", "Why?"), ("q", "[q]uit")):
            shown += read_until(terminal, until)
            wait_for_keys(terminal, single=len(answer) == 1)
            os.write(terminal, answer.encode())
        shown += read_until(terminal, "still wait.")
    finally:
        os.close(terminal)
        ended(child)
    assert "\x1b[" in shown, "it is in colour"
    assert [row(missions, name)["status"] for name in made] == ["promoted", "rejected", "pending"]
    assert row(missions, made[1])["review"]["rationale"] == "Wrong."


def read_until(terminal: int, words: str) -> str:
    shown, deadline = "", time.monotonic() + PATIENCE
    while words not in shown:
        assert time.monotonic() < deadline, f"{words!r} was not shown, but {shown!r}"
        with selectors.DefaultSelector() as waiting:
            waiting.register(terminal, selectors.EVENT_READ)
            if waiting.select(1):
                shown += os.read(terminal, 65536).decode(errors="replace")
    return shown


def wait_for_keys(terminal: int, *, single: bool) -> None:
    """Wait until the program takes single keys, or lines: what is typed while it changes over is lost."""
    import termios

    deadline = time.monotonic() + PATIENCE
    while bool(termios.tcgetattr(terminal)[3] & termios.ICANON) is single:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ended(child: int) -> None:
    """Wait for the process; one that does not end by itself is ended."""
    deadline = time.monotonic() + PATIENCE
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.05)


# Watching


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for others")
@pytest.mark.parametrize("as_json", [False, True])
def test_watching_shows_what_is_new_until_it_is_interrupted(missions: Missions, here: Path, as_json: bool) -> None:
    accept(missions, report(missions, "The first fact."))
    words = ["coordinate", "status", "port", "--watch", *(["--json"] if as_json else [])]
    with subprocess.Popen(
        [sys.executable, "-m", "zaxy", *words], cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None and process.stderr is not None
            read_until(process.stdout.fileno(), "The first fact.")
            report(missions, "The second fact.")
            read_until(process.stdout.fileno(), "The second fact.")
        finally:
            process.send_signal(signal.SIGINT)
            code = process.wait(PATIENCE)
        assert (code, process.stderr.read()) == (0, b"")
