"""Whatever a log says, nothing of it steers the terminal of whoever looks: every command, for people and as JSON."""

from __future__ import annotations

import ast
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import unicodedata
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import zaxy
from conftest import missing_package
from served import environment
from zaxy.command_table import COMMANDS
from zaxy.eventloom.canonical import encode
from zaxy.plugins.commands import package_commands
from zaxy.plugins.roster import package_of
from zaxy.printing import STEERING, visible, visible_but_for_style

CORE = Path(zaxy.__file__).parent
EVIL = "\x1b]0;EVIL\x07\x1b[31mEVIL\x1b[2J\x9b31mEVIL\x7f\u202eEVIL\u2066\u2028\r\x08EVIL"
"""Titles, colours that we use ourselves, cleared screens, the eight-bit escape, turned text, carriage returns."""
SESSION, MALFORMED, FOREIGN = "demo-default", "malformed", "foreign"
SALT = "ab" * 16
DIRECTION = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
OUR_STYLE = re.compile("\x1b\\[(?:0|1|2|31|32|33)m(?!EVIL)")
OUR_PROGRESS = re.compile("\r[^\r\n]{0,80}\x1b\\[K")
EVENTS: list[tuple[str, dict[str, Any]]] = [
    (
        "fact.recorded",
        {"text": f"The lamp is red {EVIL}", f"key{EVIL}": [EVIL, {EVIL: EVIL}], "subject": f"lamp {EVIL}"},
    ),
    ("decision.made", {"decision": f"Ship the lamp {EVIL}", "key": f"lamp {EVIL}", "reason": EVIL}),
    (f"odd{EVIL}", {"text": f"An odd lamp {EVIL}", "title": EVIL, "name": EVIL}),
    ("task.created", {"title": f"Clean the lamp {EVIL}", "status": f"open{EVIL}", "id": EVIL}),
    ("skill.proposed", {"skill_id": f"lamp{EVIL}", "title": EVIL, "steps": [EVIL], "version": EVIL, "status": EVIL}),
    ("memory.ref.updated", {"name": f"refs/heads/{EVIL}", "session_id": SESSION, "target_seq": 1}),
    ("prompt.submitted", {"text": f"Where is the lamp? {EVIL}", "client": EVIL}),
]


def steering(text: str) -> list[str]:
    """The characters of a text that could steer a terminal, by the Unicode tables and not by ours."""
    return sorted(
        {
            repr(letter)
            for letter in text
            if (unicodedata.category(letter) in ("Cc", "Zl", "Zp") and letter not in "\n\t")
            or unicodedata.bidirectional(letter) in DIRECTION
            or letter in "\u200e\u200f\u061c"
        }
    )


def planted(folder: Path, session: str, *, thread: str = "", within_format: bool = False) -> None:
    """A log whose chain is right and whose strings are hostile: all of them, or those that the format leaves free."""
    evil = "" if within_format else EVIL
    thread = thread or session
    lines: list[bytes] = []
    prev = None
    for seq, (kind, payload) in enumerate(EVENTS, 1):
        if kind == "memory.ref.updated":
            payload = {**payload, "target_hash": json.loads(lines[0])["hash"]}
        digest = sha256(bytes.fromhex(SALT) + encode(payload)).hexdigest()
        record = {
            "v": 1,
            "seq": seq,
            "id": f"evt_{seq}_0123abcd{evil}",
            "type": kind if evil else kind.replace(EVIL, ".thing"),
            "actor": f"ann {EVIL}",
            "thread": thread,
            "time": f"2026-06-15T00:00:00.000000Z{evil}",
            "sensitivity": f"internal{evil}",
            "payload_digest": digest,
            "prev": prev,
            "caused_by": f"evt_{EVIL}",
            "idempotency_key": f"key-{seq} {EVIL}",
            "redacted": [{"pointer": f"/{EVIL}", "kind": EVIL}],
        }
        prev = sha256(encode(record)).hexdigest()
        lines.append(encode({**record, "payload": payload, "salt": SALT, "hash": prev}) + b"\n")
    (folder / f"{session}.jsonl").write_bytes(b"".join(lines))
    (folder / f"{session}.jsonl").chmod(0o600)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("evil") / "demo"
    log = root / ".eventloom"
    log.mkdir(parents=True, mode=0o700)
    planted(log, SESSION, within_format=True)
    planted(log, MALFORMED)
    planted(log, FOREIGN, thread=f"other{EVIL}")
    damaged = (log / f"{SESSION}.jsonl").read_bytes().replace(b"lamp is red", b"lamp is RED", 1)
    (log / "damaged.jsonl").write_bytes(damaged)
    kept = {"id": "ab" * 16, "settings": {"ZAXY_HTTP_ALLOWED_ORIGINS": EVIL, EVIL: EVIL}}
    (log / "workspace.json").write_text(json.dumps(kept))
    (root.parent / "home").mkdir()
    (root / "bundle.json").write_text(json.dumps({"version": EVIL, "entries": [], EVIL: EVIL, "session_id": EVIL}))
    (root / "payload.json").write_text(json.dumps({"text": EVIL, "session_id": EVIL, "hook_event_name": EVIL}))
    return root


@pytest.fixture
def root(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / "demo"


def environ_of(root: Path) -> dict[str, str]:
    home = str(root.parent / "home")
    return environment(ZAXY_STATE_DIR=f"{home}/state", HOME=home, CODEX_HOME=home)


CITED = "the citation of event "
"""Stands before a number for the citation of that event."""
EVIL_NAME = EVIL.replace("/", "")
LINES: dict[str, list[list[str]]] = {
    "demo": [],
    "init": [["--dry-run"]],
    "doctor": [[]],
    "trust": [[]],
    "append": [["fact.recorded", "--actor", EVIL, "--payload", json.dumps({"text": EVIL})], [EVIL, "--payload", EVIL]],
    "remember": [[EVIL], [EVIL, "--kind", EVIL], ["lamp", "--key", EVIL, "--actor", EVIL]],
    "ask": [["Where is the lamp?"], [EVIL]],
    "log": [[], ["--all"], ["--session-id", MALFORMED], ["--session-id", FOREIGN], ["--since", EVIL], ["--type", EVIL]],
    "types": [[]],
    "stats": [[], ["--session-id", MALFORMED], ["--session-id", FOREIGN]],
    "pause": [[]],
    "resume": [[]],
    "replay": [[], [MALFORMED], [FOREIGN], ["damaged"], [EVIL], [".eventloom/malformed.jsonl"], ["bundle.json"]],
    "tail": [[], [MALFORMED], [FOREIGN], ["damaged"], [EVIL]],
    "sessions": [[]],
    "verify": [[], [MALFORMED], [FOREIGN], ["damaged"]],
    "repair": [["damaged"], [FOREIGN], []],
    "forget": [[f"{CITED}3", "--hard", "--reason", EVIL, "--actor", EVIL], [EVIL, "--hard"]],
    "checkout": [["Where is the lamp?"], ["Where is the lamp?", "--why"], [EVIL], ["lamp", "--session-id", MALFORMED]],
    "query": [["lamp"], ["lamp", "--session-id", MALFORMED], ["lamp", "--session-id", FOREIGN], [EVIL], ["ann EVIL"]],
    "verbatim": [["lamp"], ["EVIL"], [EVIL], ["lamp", "--session-id", MALFORMED]],
    "invalidate": [[EVIL, "--type", EVIL], ["lamp", "--type", "fact", "--at", EVIL]],
    "show": [[f"{CITED}3"], [f"{CITED}1"], [EVIL]],
    "memory checkout": [["lamp"]],
    "memory bootstrap": [[]],
    "memory capabilities": [[]],
    "memory feedback": [[EVIL, "--type", EVIL, "--feedback", "used", "--citation", f"{CITED}1"]],
    "memory synthesis-artifact": [["payload.json"], [EVIL], ["payload.json", "--candidate", "1", "--outcome", EVIL]],
    "memory synthesis-evidence": [["payload.json", EVIL, "--outcome", EVIL], [EVIL]],
    "memory skill": [["propose", EVIL, "--name", EVIL, "--step", EVIL], ["apply", EVIL]],
    "serve": [["--transport", EVIL], ["--profile", EVIL, "--transport", "http", "--port", "0"]],
    "ide-config": [[EVIL], ["cursor"]],
    "followers status": [[], ["--session-id", MALFORMED], ["--all"]],
    "followers rebuild": [[], ["--session-id", MALFORMED], ["--session-id", FOREIGN]],
    "followers catch-up": [[], ["--session-id", MALFORMED]],
    "followers verify": [[], ["--session-id", MALFORMED]],
    "followers digest": [[], ["--all"]],
    "hook-event": [[EVIL, "--strict"], ["user-prompt", "--client", EVIL]],
    "hook-context": [["--strict"], ["--session-id", MALFORMED], ["--source", EVIL], ["--format", EVIL, "--strict"]],
    "hooks": [[EVIL]],
    "hook-status": [[]],
    "capture-soak": [],
    "capture start": [],
    "capture once": [[], ["--client", EVIL], ["--since", EVIL]],
    "capture status": [[]],
    "capture stop": [[]],
    "capture soak": [],
    "codex-capture": [[]],
    "export": [["--out", "out.json"], ["--session-id", MALFORMED, "--out", "o.json"], ["--out", EVIL_NAME]],
    "export-push": [["--sink", EVIL, "--dest", EVIL], ["--sink", "file", "--dest", EVIL_NAME]],
    "export-disclose": [["bundle.json", "--out", "part.json"]],
    "verify-export": [["bundle.json"], ["payload.json"]],
    "verify-export-subset": [["bundle.json"]],
    "import": [["bundle.json"]],
    "export-keygen": [["--out-private", "a", "--out-public", "b", "--algorithm", EVIL]],
    "export-keys show": [["bundle.json"], [EVIL]],
    "refs list": [[], ["--session-id", MALFORMED]],
    "refs update": [["HEAD", f"{CITED}3"], [EVIL, f"{CITED}1"], ["HEAD", EVIL]],
    "refs resolve": [["HEAD"], [f"refs/heads/{EVIL}"]],
    "plugins list": [[]],
    "plugins show": [[EVIL]],
    "plugins check": [[EVIL]],
    "plugins new": [[EVIL, "--point", EVIL]],
    "contracts list": [[]],
    "contracts check": [["bundle.json"]],
    "contracts diff": [["bundle.json", "payload.json"]],
    "contracts pin": [[EVIL]],
    "contracts snapshot": [],
    "config list": [[]],
    "config set": [[EVIL, "1"], ["ZAXY_PLUGINS_BUDGET", EVIL], ["ZAXY_DOMAIN", EVIL]],
    "config unset": [[EVIL]],
    "completion": [["bash"], ["--words", EVIL], [EVIL]],
}
"""How each command is called; those without a line print nothing that was recorded, and run for long."""
SHOWN = ("replay", "log", "ask", "tail", "checkout", "query", "verbatim", "show", "memory checkout")
"""Those whose first line shows to people what was recorded."""
PAGES = ("checkout", "show", "doctor", "memory bootstrap", "memory capabilities", "replay", "query", "refs list")


def command_line(root: Path, words: str, *given: str) -> list[str]:
    lines = (root / ".eventloom" / f"{SESSION}.jsonl").read_bytes().splitlines()
    cited = {
        f"{CITED}{seq}": f"eventloom://{SESSION}/events/{seq}#{json.loads(lines[seq - 1])['hash']}" for seq in (1, 3)
    }
    return [sys.executable, "-m", "zaxy", *words.split(), *(cited.get(word, word) for word in given)]


def test_every_command_is_among_those_that_are_tried() -> None:
    packages = {words: package_of(f"zaxy {words}").removeprefix("zaxy-") for words in LINES}
    brought = {command.words for command in package_commands() if command.package in ("zaxy-export", "zaxy-testkit")}
    there = {words for words, package in packages.items() if not package or not missing_package(package)}
    assert there == {command.words for command in COMMANDS} | brought


@pytest.mark.parametrize("words", [words for words in LINES if LINES[words]])
def test_no_command_prints_what_steers_a_terminal(root: Path, words: str) -> None:
    for number, given_words in enumerate(LINES[words]):
        for as_json in ([], ["--json"]):
            done = subprocess.run(
                command_line(root, words, *given_words, *as_json),
                cwd=root,
                env=environ_of(root),
                input=(root / "payload.json").read_bytes(),
                capture_output=True,
                timeout=120,
                check=False,
            )
            out, err = done.stdout.decode(), done.stderr.decode()
            assert (steering(out), steering(err)) == ([], []), (given_words, as_json, out[-2000:], err[-2000:])
            assert as_json or number or words not in SHOWN or "EVIL" in out, (out, err)
            if as_json and out.strip() and words not in ("tail", "serve", "hook-event", "hook-context", "completion"):
                json.loads(out)


def on_terminal(root: Path, line: list[str]) -> str:
    """What a command prints on a terminal that shows colours."""
    ours, theirs = pty.openpty()
    environ = {**environ_of(root), "TERM": "xterm-256color"}
    environ.pop("NO_COLOR", None)
    process = subprocess.Popen(line, cwd=root, env=environ, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    printed = b""
    try:
        while chunk := os.read(ours, 65536):
            printed += chunk
    except OSError:
        pass  # the other end is closed
    os.close(ours)
    process.wait(120)
    return printed.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("words", PAGES)
def test_on_a_terminal_only_our_own_colours_are_shown(root: Path, words: str) -> None:
    for given_words in LINES[words]:
        printed = on_terminal(root, command_line(root, words, *given_words))
        assert steering(OUR_STYLE.sub("", OUR_PROGRESS.sub("", printed))) == [], (given_words, printed[-2000:])


def test_what_is_recorded_is_read_back_from_json_as_it_was(root: Path) -> None:
    done = subprocess.run(
        command_line(root, "replay", "--json"),
        cwd=root,
        env=environ_of(root),
        capture_output=True,
        check=True,
        timeout=120,
    )
    events = json.loads(done.stdout)["events"]
    assert [event["payload"] for event in events[:5]] == [payload for _, payload in EVENTS[:5]]
    assert events[0]["actor"] == f"ann {EVIL}"


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_what_is_made_visible_steers_nothing_and_stays_the_same_json(text: str) -> None:
    assert steering(visible(text)) == []
    assert json.loads(visible(json.dumps({text: text}, ensure_ascii=False))) == {text: text}
    styled = f"\x1b[1m{text}\x1b[0m"
    assert steering(OUR_STYLE.sub("", visible_but_for_style(styled))) == []


def test_our_table_has_every_character_that_steers() -> None:
    steers = {code for code in range(sys.maxunicode) if not 0xD800 <= code < 0xE000 and steering(chr(code))}
    assert steers == set(STEERING)


@pytest.mark.parametrize("folder", ["commands", "terminal", "setup", "observe", "serve", "owner", "clients", "plugins"])
def test_nothing_is_printed_but_through_what_makes_it_visible(folder: str) -> None:
    for path in (CORE / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in ("print", "typer.echo", "traceback.print_exc"), (path, node.lineno)
