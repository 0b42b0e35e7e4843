"""A repository that ships an `.eventloom` sends nothing, runs nothing, writes nowhere else, hangs nobody, and is not
believed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faults.crashes import child_command, child_environment
from faults.hostile_folders import LURE, Case, Trap, cases, write_believable_log
from folders import made_folder

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="links, pipes and owners are POSIX here"),
    pytest.mark.slow,
]
CASES = list(cases())
MAX_MEMORY = 600 << 20
PASSWORD = "the password of the user"
COMMANDS = (
    ("sessions",),
    ("verify", "--all"),
    ("append", "note.taken", "--payload", '{"text": "of this user"}'),
    ("hook-event", "command", "--command", "make test", "--exit-code", "0"),
    ("query", "how do we deploy", "--json"),
    ("checkout", "how do we deploy", "--json"),
    ("memory", "bootstrap", "--json"),
    ("replay",),
    ("refs", "list"),
    ("init", "--undo"),
    ("plugins", "list"),
    ("config", "list"),
)


@pytest.fixture(scope="module")
def believable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = made_folder(tmp_path_factory.mktemp("stranger") / "clone")
    write_believable_log(root)
    return root


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        made.setblocking(False)
        yield made


def run_commands() -> None:
    """In a child: every command in turn; prints what each returned and printed, and the memory that they took."""
    from zaxy.__main__ import main

    done = []
    for words in COMMANDS:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(words)
        done.append([code, out.getvalue(), err.getvalue()])
    print(json.dumps({"done": done, "memory": most_memory()}))


def most_memory() -> int:
    """The most bytes that this process held, if the system says; `getrusage` counts the parent before the exec too."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:"))


def contents(folder: Path) -> dict[str, bytes | str]:
    """All files under a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else "a folder" for path in folder.rglob("*")
    }


def was_called(listener: socket.socket) -> bool:
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def replies(done: list[Any], name: str) -> list[dict[str, Any]]:
    """The JSON that a command printed, unless it failed."""
    return [
        json.loads(out)
        for (code, out, _), words in zip(done, COMMANDS, strict=True)
        if words[0] == name and "--json" in words and code == 0
    ]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_strangers_repository_does_no_harm(
    case: Case, believable: Path, tmp_path: Path, listener: socket.socket
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "canary").write_text("not ours\n")
    host, port = listener.getsockname()
    trap = Trap(f"{host}:{port}", outside, tmp_path / "ran")
    clone = tmp_path / "clone"
    shutil.copytree(believable, clone)
    case.prepare(clone / ".eventloom", trap)
    for words in ("init -q .", "add -f -A ."):
        subprocess.run(["git", *words.split()], cwd=clone, capture_output=True)
    before = contents(outside)
    environ = {**child_environment(), "ZAXY_STATE_DIR": str(tmp_path / "state"), "HOME": str(tmp_path / "home")}
    # Without an empty part, which would mean the current folder.
    environ |= {
        "NEO4J_PASSWORD": PASSWORD,
        "PYTHONSAFEPATH": "1",
        "PYTHONPATH": environ["PYTHONPATH"].strip(os.pathsep),
    }
    ended = subprocess.run(
        child_command(run_commands), cwd=clone, env=environ, capture_output=True, text=True, timeout=240
    )
    assert ended.returncode == 0, ended.stderr
    report = json.loads(ended.stdout.splitlines()[-1])
    done = report["done"]
    assert not was_called(listener), "it called somebody"
    assert not trap.ran.exists(), "it ran a program of the repository"
    assert contents(outside) == before, "it wrote outside"
    assert report["memory"] < MAX_MEMORY
    assert not [err for _, _, err in done if "Traceback" in err]
    for reply in replies(done, "checkout"):
        assert reply["quality"]["answerability"] != "answer_from_memory"
        if any(LURE in row["content"] for row in (*reply["current_facts"], *reply["evidence"])):
            assert reply["warnings"]
            assert all(row["foreign"] for row in (*reply["current_facts"], *reply["evidence"]))
        assert LURE not in json.dumps(reply["guidance"])
    for reply in replies(done, "memory"):
        assert LURE not in json.dumps(reply)
    assert PASSWORD not in json.dumps(done)


def test_there_are_sixty_of_them_with_names_of_their_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 60
