"""Every command that takes a path or an id, with what could lead out of the workspace: nothing does, nothing hangs."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import missing_package
from faults.commands_in_forks import Outcome, import_commands, run
from faults.outcomes import snapshot

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="links, pipes, forks and modes are POSIX here"),
    pytest.mark.timeout(280),
]

CONTRACTS = Path(__file__).parents[2] / "contracts"


def commands_of(contract: str) -> dict[str, list[dict[str, Any]]]:
    items = json.loads((CONTRACTS / f"{contract}.json").read_text(encoding="utf-8"))["items"]
    return {name[len("command ") :]: item["parameters"] for name, item in items.items() if name.startswith("command ")}


PACKAGE = {name: package for package in ("export", "testkit") for name in commands_of(f"plugins/{package}")}
"""The package of each command that is not the core's own."""
COMMANDS = {**commands_of("cli"), **commands_of("plugins/export"), **commands_of("plugins/testkit")}
IDS = ("--session-id", "--session", "SESSION", "SOURCE")
"""Parameters that name a session, or may."""
LONG_LIVED = ("serve", "capture start", "capture soak", "capture-soak", "codex-capture", "demo")
"""They start servers and watchers, and have tests of their own."""
SILENT = ("hook-event", "hook-context")
"""A client runs them: they exit with 0 whatever happens, and may note it."""
USUAL = {
    "EVENT_TYPE": "note.taken",
    "EVENT": "1",
    "--payload": '{"text": "x"}',
    "QUESTION": "x",
    "TEXT": "x",
    "ENTITY_NAME": "x",
    "--type": "fact",
    "--reason": "x",
    "--feedback": "used",
    "ACTION": "propose",
    "SKILL_ID": "x",
    "TRIGGER": "heartbeat",
    "NAME": "x",
    "CLIENT": "cursor",
    "--out": "bundle.json",
    "--sink": "file",
    "--dest": "bundle.json",
    "--point": "extractors",
    "BUNDLE": "kept.json",
    "FILE": "kept.json",
    "--out-private": "private.pem",
    "--out-public": "public.pem",
}


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    import_commands()


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a log and a bundle, and beside it what must stay as it is."""
    around = tmp_path_factory.mktemp("pattern")
    for folder in ("project", "outside/empty", "home"):
        (around / folder).mkdir(parents=True)
    (around / "outside" / "file").write_bytes(b"not ours\n")
    (around / "outside" / "log.jsonl").write_bytes(b"{}\n")
    environ = environ_of(around)
    done = run(
        ["append", "note.taken", "--payload", '{"text": "the lamp is red"}'], around / "project", environ=environ
    )
    assert done.code == 0, done.text
    if missing_package("export"):
        (around / "project" / "kept.json").write_bytes(b"{}\n")
    else:
        assert run(["export", "--out", "kept.json"], around / "project", environ=environ).code == 0
    for left in around.glob("project.*"):
        left.unlink()
    return around


@pytest.fixture
def around(pattern: Path, tmp_path: Path) -> Path:
    shutil.copytree(pattern, tmp_path / "here")
    return tmp_path / "here"


def environ_of(around: Path) -> dict[str, str]:
    return {"HOME": str(around / "home"), "ZAXY_STATE_DIR": str(around / "state"), "CODEX_HOME": ""}


class Watched:
    """Runs commands in the project, and holds what lies outside of it against what it was."""

    def __init__(self, around: Path) -> None:
        self.around, self.project = around, around / "project"
        self._before = self._outside()

    def run(self, *words: str, stdin: bytes = b"") -> Outcome:
        outcome = run(words, self.project, environ=environ_of(self.around), stdin=stdin)
        assert outcome.fine, f"{words}: {outcome}"
        assert self._outside() == self._before, f"{words} changed something outside"
        return outcome

    def _outside(self) -> dict[str, tuple[int, bytes]]:
        found = {**snapshot(self.around / "outside"), **snapshot(self.around / "home")}
        return {**found, **{path.name: (0, b"") for path in self.around.iterdir() if path.name.count(".") == 0}} | {
            "state": (0, b"")
        }


@pytest.fixture
def watched(around: Path) -> Iterator[Watched]:
    yield Watched(around)


def with_packages(pairs: list[tuple[str, str]]) -> list[Any]:
    """Commands and their parameters, for a test that needs the packages of those commands."""
    return [
        pytest.param(*pair, marks=[pytest.mark.needs_package(PACKAGE[pair[0]])] if pair[0] in PACKAGE else [])
        for pair in pairs
    ]


def words_of(command: str, **given: str) -> list[str]:
    """A command line with what it needs; `given` by the name of a parameter."""
    words = command.split()
    for parameter in COMMANDS[command]:
        name = parameter["name"]
        if name in given or parameter["required"] or name in ("ACTION",):
            value = given.get(name, USUAL.get(name, "x"))
            words += [f"{name}={value}"] if name.startswith("--") else [value]
    return [*words, "--json"]


# Ids


def traversals(seed: str) -> list[str]:
    """Ids that would be paths; another choice for each command."""
    dice = random.Random(seed)
    steps = ["..", ".", "outside", "log", "%2e%2e", "\uff0e\uff0e", "outside/log", ""]
    made = ["/".join(dice.choices(steps, k=dice.randrange(2, 5))) for _ in range(3)]
    return ["../../outside/log", "/tmp/../etc/x", *(one for one in made if "/" in one)]


WITH_ID = [
    (command, parameter["name"])
    for command, parameters in COMMANDS.items()
    if command not in LONG_LIVED
    for parameter in parameters
    if parameter["name"] in IDS
]


@pytest.mark.parametrize(("command", "parameter"), with_packages(WITH_ID), ids=lambda value: str(value))
def test_an_id_that_is_a_path_reaches_none(watched: Watched, command: str, parameter: str) -> None:
    before = snapshot(watched.project)
    for id_ in traversals(command + parameter):
        outcome = watched.run(*words_of(command, **{parameter: id_}))
        assert outcome.code != 0 or command in SILENT, (command, id_, outcome)
    after = snapshot(watched.project)
    log = ".eventloom/project-default.jsonl"
    assert {name for name in after if name not in before and ".jsonl" in name} == set()
    assert after[log] == before[log] or command in SILENT


@pytest.mark.parametrize("command", ["refs update", "refs resolve"])
def test_a_ref_that_is_a_path_names_nothing_outside(watched: Watched, command: str) -> None:
    for name in traversals(command):
        watched.run(*words_of(command, NAME=name, EVENT="eventloom://project-default/events/1#" + "0" * 12))


@pytest.mark.parametrize("field", ["session_id", "transcript_path", "cwd", "workspace"])
def test_what_a_hook_is_sent_leads_nowhere(watched: Watched, around: Path, field: str) -> None:
    os.mkfifo(around / "project" / "pipe")
    for value in (
        *traversals(field),
        str(around / "outside" / "log"),
        str(around / "project" / "pipe"),
        "/dev/zero",
        str(around / "outside"),
        "\0",
        "x" * 5000,
    ):
        sent = json.dumps({"hook_event_name": "Stop", "session_id": "s", field: value}).encode()
        for trigger in ("stop", "session-start", "heartbeat"):
            watched.run("hook-event", trigger, "--stdin-json", stdin=sent)
    if field == "transcript_path":
        watched.run("hook-event", "stop", f"--transcript-path={around}/project/pipe")


# Paths that are written


def linked(place: Path, outside: Path) -> None:
    place.symlink_to(outside / "file")


def linked_to_nothing(place: Path, outside: Path) -> None:
    place.symlink_to(outside / "new")


def linked_to_a_folder(place: Path, outside: Path) -> None:
    place.symlink_to(outside / "empty")


def second_name(place: Path, outside: Path) -> None:
    place.hardlink_to(outside / "file")


def pipe(place: Path, outside: Path) -> None:
    os.mkfifo(place)


def folder(place: Path, outside: Path) -> None:
    place.mkdir()


Disguise = Callable[[Path, Path], None]
DISGUISES: list[Disguise] = [linked, linked_to_nothing, linked_to_a_folder, second_name, pipe, folder]
WRITTEN = [
    ("export", "--out"),
    ("export-disclose", "--out"),
    ("export-push", "--dest"),
    ("export-keygen", "--out-private"),
    ("export-keygen", "--out-public"),
    ("contracts pin", "--out"),
    ("hooks", "--out"),
]
"""Parameters that name a file which the command writes."""
FOR_OTHERS = {("export-keygen", "--out-public"), ("contracts pin", "--out"), ("hooks", "--out")}
"""What is meant to be shared, or to be read by another program."""


def test_every_parameter_that_is_written_to_is_known_here() -> None:
    named = {(command, one["name"]) for command, parameters in COMMANDS.items() for one in parameters}
    outputs = {(command, name) for command, name in named if re.match("--out(put|-|$)", name) or name == "--dest"}
    assert outputs - set(WRITTEN) == {("plugins new", "--out")}


@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda one: one.__name__)
@pytest.mark.parametrize(("command", "parameter"), with_packages(WRITTEN), ids=lambda value: str(value))
def test_whatever_stands_where_a_command_writes_nothing_outside_is_touched(
    watched: Watched, command: str, parameter: str, disguise: Disguise
) -> None:
    place = watched.project / "target"
    disguise(place, watched.around / "outside")
    outcome = watched.run(*words_of(command, **{parameter: "target", "WHAT": "core"}))
    if outcome.code == 0 and place.is_file() and (command, parameter) not in FOR_OTHERS:
        assert stat.S_IMODE(place.lstat().st_mode) == 0o600


@pytest.mark.parametrize(("command", "parameter"), with_packages(WRITTEN), ids=lambda value: str(value))
def test_what_is_not_meant_for_others_is_written_for_its_user_alone(
    watched: Watched, command: str, parameter: str
) -> None:
    if command in PACKAGE:
        watched.run("export-keygen", "--out-private=a.pem", "--out-public=b.pem")
        watched.run("export", "--out=signed.json", "--private-key=a.pem", "--public-key=b.pem")
    outcome = watched.run(*words_of(command, **{parameter: "new.json", "WHAT": "core", "BUNDLE": "signed.json"}))
    assert outcome.code == 0, outcome
    mode = stat.S_IMODE((watched.project / "new.json").stat().st_mode)
    assert mode == 0o600 or (command, parameter) in FOR_OTHERS


@pytest.mark.parametrize("name", ["../outside/empty", "x/../../outside/empty", "a b", ".", "-x", "\u202e"])
@pytest.mark.needs_package("testkit")
def test_a_new_package_is_made_only_where_it_was_asked_for(watched: Watched, name: str) -> None:
    before = set(watched.project.iterdir())
    outcome = watched.run("plugins", "new", name, "--point=extractors", "--json")
    assert outcome.code != 0
    assert set(watched.project.iterdir()) == before


def test_a_contract_folder_that_is_a_link_or_a_file_is_left_alone(watched: Watched) -> None:
    for disguise in DISGUISES[:5]:
        place = watched.project / "contracts"
        disguise(place, watched.around / "outside")
        if disguise is not linked_to_a_folder:
            watched.run("contracts", "snapshot", "contracts", "--json")
        place.unlink()


# Paths that are read


READ = [
    ("import", "BUNDLE"),
    ("verify-export", "BUNDLE"),
    ("verify-export-subset", "BUNDLE"),
    ("export-disclose", "BUNDLE"),
    ("export-keys show", "FILE"),
    ("contracts check", "FILE"),
    ("contracts diff", "OLD"),
    ("replay", "SOURCE"),
    ("export", "--private-key"),
    ("export", "--passphrase-file"),
    ("export-push", "--auth-token-file"),
    ("export-keygen", "--passphrase-file"),
    ("verify-export", "--expect-public-key"),
]


@pytest.mark.parametrize(("command", "parameter"), with_packages(READ), ids=lambda value: str(value))
def test_nothing_is_waited_for_where_a_command_reads(watched: Watched, command: str, parameter: str) -> None:
    os.mkfifo(watched.project / "pipe.jsonl")
    for path in ("pipe.jsonl", "/dev/zero", "../outside/empty", "no-such-file", "x" * 300):
        given = {parameter: path, "NEW": "kept.json"}
        if parameter == "--passphrase-file":
            given["--private-key"] = "no-such-key"
        outcome = watched.run(*words_of(command, **given))
        assert outcome.code != 0, (path, outcome)


# What stands in the place of our own files


OWN = [
    *(".eventloom", ".eventloom/workspace.json", ".eventloom/.workspace.lock", ".eventloom/runtime"),
    *(".eventloom/runtime/init.json", ".eventloom/runtime/hook-errors.log", ".eventloom/runtime/capture"),
    *(".eventloom/runtime/reminders.lock", ".eventloom/runtime/zaxy-embedded-owner.json"),
    *(".eventloom/runtime/zaxy-embedded-owner.lock", ".eventloom/followers", ".eventloom/followers/locks"),
    *(".eventloom/followers/identities", ".eventloom/plugins", ".eventloom/spool", ".eventloom/.gitignore"),
]
USES = [
    ("append", "note.taken", '--payload={"text": "y"}', "--json"),
    ("query", "lamp", "--json"),
    ("config", "set", "ZAXY_DOMAIN", "shop", "--json"),
    ("hook-event", "user-prompt-submit", "--prompt=what is the status?", "--strict", "--json"),
    ("hook-event", "no-such-trigger"),
    ("hook-status", "--json"),
    ("capture", "status", "--json"),
    ("refs", "update", "known-good", "--json"),
    ("init", "--undo", "--json"),
]


@pytest.mark.parametrize("disguise", DISGUISES[:5], ids=lambda one: one.__name__)
@pytest.mark.parametrize("own", OWN)
def test_whatever_stands_in_the_place_of_our_own_files_nothing_outside_is_touched(
    watched: Watched, own: str, disguise: Disguise
) -> None:
    place = watched.project / own
    if place.is_dir():
        place.rename(watched.project / "moved-away")
    place.unlink(missing_ok=True)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    disguise(place, watched.around / "outside")
    for words in USES:
        watched.run(*words)
