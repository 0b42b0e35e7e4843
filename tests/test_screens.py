"""What commands show on terminals of two widths, with colour and without, in two encodings."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import pytest

from zaxy import Draft, Memory
from zaxy.__main__ import main
from zaxy.command_table import COMMANDS
from zaxy.extract.known_types import KNOWN_TYPES
from zaxy.printing import ESCAPE, cells, progress_of

SAID = "We decided to keep the sessions in Postgres because SQLite cannot be shared between machines — so far"
CHINESE = "演示在五月十四日，地点是大会议室，所有人都要参加这次演示"
DRAFTS = [
    Draft("decision.made", "ann", {"decision": SAID, "key": "sessions", "rationale": "two machines write"}),
    Draft("fact.recorded", "a-colleague-with-a-rather-long-name", {"fact": CHINESE, "key": "demo"}),
    Draft("task.proposed", "bob", {"task": "Renew the certificate of the shop before the demo", "key": "shop"}),
    Draft("session.ended", "zaxy-hook", {"source": "codex", "reason": "shutdown", "hook_event_name": "SessionEnd"}),
    Draft("hook.session_started", "zaxy-hook", {"source": "claude-code", "trigger": "session-start"}),
    Draft("transcript.turn", "zaxy-hook", {"role": "user", "content": f"Where are the sessions kept? {'lamp' * 20}"}),
    Draft("acme.lamp", "ann", {"text": "The kitchen lamp is out", "deep": {"watts": [40, 60]}}),
]
READS = (
    ("ask", "Where do we keep the sessions?"),
    ("query", "sessions in Postgres"),
    ("verbatim", '"sessions in Postgres"'),
    ("query", "演示"),
    *(("log",), ("log", "--all"), ("types",), ("replay",), ("tail",), ("sessions",), ("stats",), ("verify",)),
    *(("show", "1"), ("show", "7"), ("refs", "list"), ("followers", "status"), ("config", "list")),
    *(("plugins", "list"), ("contracts", "list"), ("memory", "bootstrap"), ("memory", "capabilities")),
    *(("--help",), ("ask", "--help"), ("help", "memory")),
)
WRITES = (
    ("remember", "The demo is on the 14th, in the room with the kitchen lamp: please be there before nine o'clock"),
    ("append", "note.taken", "--payload", '{"text": "one"}'),
    *(("invalidate", "{spare}"), ("forget", "{spare}", "--hard"), ("pause",), ("resume",)),
)
WITH_COLOUR = ("ask", "query", "verbatim", "log", "replay", "tail")
STYLE = re.compile(r"\x1b\[\d+m")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("screens") / "here"
    here.mkdir()
    with Memory.open(here) as memory:
        memory.append_many(DRAFTS)
        memory.append_many([Draft("note.taken", "ann", {"text": f"spare {number}"}) for number in range(8)])
        memory.follow()
    return here


class Screen(io.TextIOWrapper):
    def __init__(self, encoding: str, is_terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, newline="\n")
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def shown(self) -> str:
        self.flush()
        self.buffer.seek(0)
        return self.buffer.read().decode(self.encoding)


def shown(words: tuple[str, ...], encoding: str, *, colour: bool, patch: pytest.MonkeyPatch) -> tuple[int, str]:
    """The exit code, and what stands on the screen."""
    screen, errors = Screen(encoding, colour), Screen(encoding, colour)
    with patch.context() as here:
        here.setattr(sys, "stdout", screen)
        here.setattr(sys, "stderr", errors)
        code = main(list(words))
    assert "Traceback" not in errors.shown(), errors.shown()
    return code, screen.shown()


def too_wide(page: str, columns: int) -> list[str]:
    """Lines that do not fit, but for one long word, such as a citation, and for commands: these are to be copied."""
    lines = [STYLE.sub("", line) for line in page.splitlines()]
    wide = [line for line in lines if cells(line) > columns and " " in line.strip()]
    return [line for line in wide if not line.startswith(("    zaxy ", "citation  "))]


MATRIX = list(product((80, 40), (True, False), ("utf-8", "cp1252")))


@pytest.mark.parametrize(("columns", "colour", "encoding"), MATRIX)
def test_every_screen_fits_and_nothing_on_it_is_cut(
    columns: int, colour: bool, encoding: str, *, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    spare = str(len(DRAFTS) + 1 + MATRIX.index((columns, colour, encoding)))
    screens = {}
    for command in (*READS, *WRITES):
        words = tuple(word.replace("{spare}", spare) for word in command)
        code, page = screens[" ".join(command)] = shown(words, encoding, colour=colour, patch=monkeypatch)
        assert code == 0 and page, words
        assert not too_wide(page, columns), words
        assert colour or ESCAPE not in page, words
        if words[0] in WITH_COLOUR and "--help" not in words:
            assert (ESCAPE in page) == colour, words
        assert "Traceback" not in page and "…" not in page, words
    lists = {
        "types": KNOWN_TYPES,
        "--help": {command.words.split()[0] for command in COMMANDS if not command.hidden},
        "refs list": ["refs/heads/main"],
        "sessions": ["here-default"],
    }
    for command, names in lists.items():
        page = screens[command][1]
        assert [name for name in names if not re.search(rf"(^|\s){re.escape(name)}($|\s)", page)] == [], command


def test_what_an_encoding_does_not_have_is_written_as_json_has_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    words = ("show", "2", "--json")
    pages = [shown(words, encoding, colour=False, patch=monkeypatch)[1] for encoding in ("utf-8", "ascii")]
    assert CHINESE in pages[0] and pages[1].isascii()
    assert json.loads(pages[0]) == json.loads(pages[1])
    bars = shown(("stats",), "ascii", colour=False, patch=monkeypatch)[1]
    assert re.search(r"events by week +8\n", bars)


EVERY_WAY_TO_PRINT = ("--help", "log", "log --help", "replay --json", "config list", "ask lamp")
"""A page, rows, typer's own, JSON bit by bit, an app without a context, and what keeps standard output to itself."""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
@pytest.mark.parametrize("words", EVERY_WAY_TO_PRINT)
def test_a_full_disk_behind_standard_output_is_told_in_words(words: str, project: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "zaxy", *words.split()], cwd=project, stdout=full, stderr=subprocess.PIPE, text=True
        )
    first, second = done.stderr.splitlines()
    assert (done.returncode, first.partition(": ")[0], second.startswith("  ")) == (1, "zaxy", True)
    assert "standard output cannot be written" in first


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("words", EVERY_WAY_TO_PRINT[1:4])
def test_a_closed_standard_output_and_a_reader_that_goes_away_are_no_errors(words: str, project: Path) -> None:
    command = f"{sys.executable} -m zaxy {words}"
    script = f"{command} >&- || exit 3; {{ {command} || echo failed >&2; }} | true"
    done = subprocess.run(["sh", "-c", script], cwd=project, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    assert "failed" not in done.stderr and "Traceback" not in done.stderr


def test_progress_says_how_fast_it_goes_and_what_is_left_and_wipes_itself_out(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter((0.0, 0.0, 2.0, 4.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(moments))
    screen = Screen("utf-8", True)
    monkeypatch.setattr(sys, "stderr", screen)
    show = progress_of("reading", "events")
    assert show is not None
    for done in (0, 5000, 10_000):
        show(done, 10_000)
    first, half, whole = screen.shown().split("\rreading: ")[1:]
    assert (first, half) == ("  0 %\033[K", " 50 %, 2,500 events/s, 2 s left\033[K")
    assert whole == "100 %\033[K\r\033[K"


def test_where_nobody_looks_there_is_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Screen("utf-8", False))
    assert progress_of("reading") is None
