"""Commands that packages bring: listed without their code, found by their words, and unable to shadow the core's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import installed

STATUS = """
from zaxy.api import CommandCall

print("imported")


class Status:
    def __init__(self, context):
        self.setting = context.settings.get("ACME_WORD", "")

    def run(self, call: CommandCall) -> int:
        if "--fail" in call.arguments:
            raise RuntimeError("the disk of acme is full")
        if "--leave" in call.arguments:
            raise SystemExit(7)
        with call.open_memory() as memory:
            event = memory.append("fact.recorded", {"text": f"{self.setting} {call.words}"}, actor="acme")
            call.say(f"{call.words} {list(call.arguments)} {memory.resolve(event.citation).payload['text']}")
        return 0
"""
TYPED = '''
import typer
from zaxy.api import NotFound, TyperCommand, current_call

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command("find")
def find(text: str, limit: int = 3) -> None:
    """Find facts."""
    call = current_call()
    with call.open_memory() as memory:
        call.say(f"{len(memory.query(text, limit=limit).results)} found")


@app.command("lose")
def lose() -> None:
    raise NotFound("there is nothing to lose", "Record something first.")


class Typed(TyperCommand):
    app = app
'''

HOT = """
from zaxy.api import JSON, PLACE, SESSION_ID, Argument, Option, current_call, event_page, hot_command, print_page, say


@hot_command(
    Argument("What to note."), Option("--times", "N", "How often.", minimum=1), SESSION_ID, *PLACE, JSON
)
def note(text, *, times=1, session_id=None, workspace=None, eventloom_path=None, as_json=False):
    place = {"session_id": session_id, "workspace": workspace, "eventloom_path": eventloom_path}
    for _ in range(times):
        reply = current_call().append("acme.noted", {"text": text}, actor="acme", **place)
    say(str(reply) if as_json else reply["citation"])


@hot_command(Argument("The event."))
def open_note(citation):
    print_page(event_page, current_call().open_log().record(citation))


@hot_command()
def damage():
    log = current_call().open_log(recorded=True)
    for record in log.records():
        say(log.row(record))
    say(f"{log.session} is {log.state()}, whole: {log.verify().ok}")


@hot_command()
def behind():
    with current_call().open_memory(recorded=True) as memory:
        for state in memory.followers_status():
            say(f"{state.follower} {state.behind}")
"""


def entry(words: str, target: str = "status:Status", **more: Any) -> dict[str, Any]:
    target = f"acme_tools.{target}"
    return {"point": "commands", "words": words, "target": target, "summary": f"Say {words}.", **more}


def install(site: Path, *provides: dict[str, Any], name: str = "acme-tools", **more: Any) -> None:
    package = name.replace("-", "_")
    manifest = installed.manifest_of(name, api={"min": "0.4", "max": "0.4"}, provides=list(provides), **more)
    modules = {"status.py": STATUS, "typed.py": TYPED, "hot.py": HOT}
    installed.install(site, name, modules, manifest, f"[zaxy.plugins]\n{name} = {package}\n")


@pytest.fixture
def zaxy(tmp_path: Path) -> Any:
    project = tmp_path / "project"
    project.mkdir()

    def run(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "ZAXY_STATE_DIR": str(tmp_path / "state"), **env}
        return subprocess.run(
            [sys.executable, "-m", "zaxy", *words], cwd=project, env=environ, capture_output=True, text=True
        )

    return run


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "site"


def test_help_lists_them_under_their_heading_and_imports_nobody(site: Path, zaxy: Any) -> None:
    install(site, entry("acme status", group="acme"), entry("acme forget-me"))
    shown = zaxy("--help")
    assert shown.returncode == 0
    assert "\nacme (acme-tools):\n  acme status" in shown.stdout
    assert "\nacme-tools:\n  acme forget-me" in shown.stdout
    assert "imported" not in shown.stdout + shown.stderr


def test_a_group_alone_lists_its_commands_and_is_wrong_usage(site: Path, zaxy: Any) -> None:
    install(site, entry("acme status"), entry("acme other"))
    alone, asked = zaxy("acme"), zaxy("acme", "--help")
    assert (alone.returncode, asked.returncode) == (2, 0)
    assert alone.stdout == asked.stdout
    assert "acme other" in asked.stdout and "checkout" not in asked.stdout


def test_a_command_gets_its_arguments_its_settings_and_memory(site: Path, zaxy: Any) -> None:
    settings = [{"env": "ACME_WORD", "meaning": "A word."}]
    install(site, entry("acme status"), entry("acme"), settings=settings)
    done = zaxy("acme", "status", "--deep", ACME_WORD="so")
    assert (done.returncode, done.stdout) == (0, "acme status ['--deep'] so acme status\n"), done.stderr
    assert "imported" in done.stderr
    assert json.loads(zaxy("query", "status", "--json").stdout)["results"][0]["actor"] == "acme"


def test_the_longest_words_win(site: Path, zaxy: Any) -> None:
    install(site, entry("acme"), entry("acme status"))
    assert zaxy("acme", "status").stdout.startswith("acme status []")
    assert zaxy("acme", "state").stdout.startswith("acme ['state']")


def test_a_shell_completes_the_words_of_packages_and_imports_nobody(site: Path, zaxy: Any) -> None:
    install(site, entry("acme status"), entry("acme states"), entry("memory acme"))
    shown = zaxy("completion", "--words", "acme\nstat")
    assert (shown.stdout, shown.stderr) == ("states\nstatus\n", "")
    assert "acme" in zaxy("completion", "--words", "memory\n").stdout.split()
    assert "acme" in zaxy("completion", "--words", "").stdout.split()
    assert zaxy("completion", "--words", "acme\nstatus\n").stdout == "\n"


def test_a_shell_completes_the_options_of_a_command(zaxy: Any) -> None:
    def words(typed: str) -> list[str]:
        return str(zaxy("completion", "--words", typed).stdout).split()

    assert words("ask\n--s") == ["--session-id"]
    assert words("verify\n--") == [
        *("--all", "--eventloom-path", "--help", "--json", "--session-id", "--since", "--workspace"),
    ]
    assert words("serve\n--po") == ["--port"]
    assert words("--") == ["--help", "--version"]


def test_a_shell_without_a_script_is_wrong_usage(zaxy: Any) -> None:
    done = zaxy("completion", "tcsh")
    assert done.returncode == 2
    assert "Name a shell: bash, zsh, fish, powershell." in done.stderr


def test_a_package_may_join_a_group_of_the_core(site: Path, zaxy: Any) -> None:
    install(site, entry("memory acme"))
    assert zaxy("memory", "acme").stdout.startswith("memory acme []")
    assert "memory acme" in zaxy("memory", "--help").stdout
    assert "memory bootstrap" in zaxy("memory", "--help").stdout


@pytest.mark.parametrize("words", ["checkout", "memory checkout", "query often", "memory", "plugins list all"])
def test_a_command_cannot_shadow_one_of_the_core(site: Path, zaxy: Any, words: str) -> None:
    install(site, entry(words))
    listed = json.loads(zaxy("plugins", "list", "--json").stdout)["plugins"]
    row = next(row for row in listed if row["name"] == "acme-tools")
    assert row["state"] == "failed"
    assert "would shadow 'zaxy" in row["error"]
    assert "acme-tools" not in zaxy("--help").stdout


def test_two_packages_with_the_same_words_are_both_refused_until_one_is_preferred(site: Path, zaxy: Any) -> None:
    install(site, entry("acme status"))
    other = {**entry("acme status"), "target": "acme_other.status:Status"}
    install(site, other, name="acme-other")
    refused = zaxy("acme", "status")
    assert refused.returncode == 2
    assert "'acme-status' is also provided by acme-tools" in refused.stderr
    assert "ZAXY_PLUGINS_PREFER=commands:acme-status=acme-other" in refused.stderr
    chosen = zaxy("acme", "status", ZAXY_PLUGINS_PREFER="commands:acme-status=acme-other")
    assert chosen.returncode == 0, chosen.stderr


def test_a_disabled_plugin_brings_no_command(site: Path, zaxy: Any) -> None:
    install(site, entry("acme status"))
    assert zaxy("acme", "status", ZAXY_PLUGINS_DISABLE="acme-tools").returncode == 2


def test_a_defect_of_a_command_names_its_package(site: Path, zaxy: Any) -> None:
    install(site, entry("acme status"))
    done = zaxy("acme", "status", "--fail")
    assert done.returncode == 1
    assert "'zaxy acme status' of acme-tools raised RuntimeError: the disk of acme is full" in done.stderr
    assert zaxy("acme", "status", "--leave").returncode == 7


def test_a_typo_of_a_packages_command_gets_the_near_one(site: Path, zaxy: Any) -> None:
    install(site, entry("acme status"))
    assert "Did you mean 'zaxy acme status'?" in zaxy("acme", "statsu").stderr


def test_a_typer_app_serves_a_group(site: Path, zaxy: Any) -> None:
    install(site, entry("acme find", "typed:Typed"), entry("acme lose", "typed:Typed"))
    zaxy("append", "fact.recorded", "--payload", '{"text": "The key lies under the mat."}')
    assert zaxy("acme", "find", "key").stdout == "1 found\n"
    assert "Usage: zaxy acme find" in zaxy("acme", "find", "--help").stdout
    assert zaxy("acme", "find", "key", "--limit", "many").returncode == 2
    lost = zaxy("acme", "lose")
    assert (lost.returncode, lost.stderr) == (1, "zaxy: there is nothing to lose\n  Record something first.\n")


# The cheap form, and the doors behind it


HOT_COMMANDS = (
    entry("acme note", "hot:note"),
    entry("acme open", "hot:open_note"),
    entry("acme damage", "hot:damage"),
    entry("acme behind", "hot:behind"),
)


def test_a_hot_command_of_a_package_reads_its_words_and_appends(site: Path, zaxy: Any) -> None:
    install(site, *HOT_COMMANDS)
    cited = zaxy("acme", "note", "Lunch is at noon.", "--times", "2", "--session-id", "kitchen")
    assert cited.stdout.startswith("eventloom://kitchen/events/2#"), cited.stderr
    shown = zaxy("acme", "open", cited.stdout.strip()).stdout
    assert shown == zaxy("show", cited.stdout.strip()).stdout
    assert "Lunch is at noon." in shown


def test_a_hot_command_of_a_package_is_explained_by_typer_with_the_sentence_of_its_manifest(
    site: Path, zaxy: Any
) -> None:
    install(site, *HOT_COMMANDS)
    shown = " ".join(zaxy("acme", "note", "--help", COLUMNS="200").stdout.replace("│", " ").split())
    assert "Usage: zaxy acme note [OPTIONS] {TEXT}" in shown
    assert "Say acme note." in shown and "--times N How often. [default: 1; x>=1]" in shown
    wrong = zaxy("acme", "note", "a", "--times", "0")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "Invalid value for '--times'" in wrong.stderr


def test_a_hot_command_of_a_package_loads_neither_typer_nor_memory(site: Path, zaxy: Any, tmp_path: Path) -> None:
    install(site, *HOT_COMMANDS)
    program = (
        "import sys\nfrom zaxy.__main__ import main\n"
        "code = main(['acme', 'note', 'x'])\nprint(*sys.modules, file=sys.stderr)\nsys.exit(code)"
    )
    environ = {**os.environ, "PYTHONPATH": str(site), "ZAXY_STATE_DIR": str(tmp_path / "state")}
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.stdout.startswith("eventloom://"), done.stderr
    assert not {"typer", "pydantic", "pluggy", "mcp", "asyncio", "zaxy.memory"} & set(done.stderr.split())


def test_what_a_package_appends_quickly_may_be_of_the_types_that_it_alone_writes(site: Path, zaxy: Any) -> None:
    family = {"point": "event_types", "name": "acme", "target": "acme_tools.family:Family", "summary": "Notes."}
    noted = {"type": "acme.noted", "written_by": "package", "sentence": "Noted: {text}", "fields": {"text": "text"}}
    install(site, *HOT_COMMANDS, family, event_types=[noted])
    refused = zaxy("append", "acme.noted", "--payload", '{"text": "x"}')
    assert "only acme-tools itself writes acme.noted" in refused.stderr
    assert zaxy("acme", "note", "x").returncode == 0
    assert "Noted: x  (acme.noted by acme)" in zaxy("acme", "damage").stdout


def test_a_command_of_a_package_reads_a_damaged_log_as_the_core_does(site: Path, zaxy: Any, tmp_path: Path) -> None:
    install(site, *HOT_COMMANDS)
    nothing = zaxy("acme", "damage")
    assert nothing.returncode == 1 and "nothing is recorded in" in nothing.stderr
    for text in ("one", "two"):
        zaxy("acme", "note", text)
    (log,) = (tmp_path / "project" / ".eventloom").glob("*.jsonl")
    assert zaxy("acme", "damage").stdout.splitlines()[-1] == f"{log.stem} is ok, whole: True"
    log.write_bytes(log.read_bytes().replace(b'"two"', b'"too"'))
    told, ours = zaxy("acme", "damage"), zaxy("replay")
    assert (told.returncode, ours.returncode) == (1, 1)
    assert told.stderr.splitlines()[0] == ours.stderr.splitlines()[0]
    assert told.stdout == ours.stdout


def test_a_command_of_a_package_asks_how_far_the_followers_are(site: Path, zaxy: Any) -> None:
    install(site, *HOT_COMMANDS)
    zaxy("acme", "note", "one")
    assert zaxy("acme", "behind").stdout.split() == ["text", "1", "graph", "1"]


def test_a_packages_contract_has_the_options_of_its_hot_commands(site: Path, zaxy: Any, tmp_path: Path) -> None:
    install(site, *HOT_COMMANDS)
    written = zaxy("contracts", "snapshot", str(tmp_path / "out"), "--plugin", "acme-tools")
    (file,) = (tmp_path / "out").rglob("*.json")
    parameters = json.loads(file.read_text())["items"]["command acme note"]["parameters"]
    assert {"name": "TEXT", "type": "str", "required": True} in parameters, written.stderr
    assert {"name": "--times", "type": "int", "required": False} in parameters


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"words": ""}, "words is missing"),
        ({"words": "Acme status"}, "must be at most 3 words"),
        ({"words": "acme --json"}, "must be at most 3 words"),
        ({"words": "a b c d"}, "must be at most 3 words"),
        ({"target": ""}, "target is missing: help lists a command without its code"),
        ({"target": "acme_tools.status"}, "must be a text such as acme_notes.lane:Lane"),
        ({"summary": ""}, "summary is missing"),
        ({"point": "export_sinks", "name": "acme"}, "words is only for commands"),
    ],
)
def test_a_manifest_that_is_wrong_about_a_command_says_where(
    site: Path, zaxy: Any, changed: dict[str, str], complaint: str
) -> None:
    install(site, {**entry("acme status"), "name": "acme", **changed})
    listed = json.loads(zaxy("plugins", "list", "--json").stdout)["plugins"]
    row = next(row for row in listed if row["name"] == "acme-tools")
    assert row["state"] == "failed"
    assert complaint in row["error"], row["error"]


def test_a_plugin_whose_manifest_names_all_targets_needs_no_hooks(site: Path, zaxy: Any) -> None:
    """Its entry point is the package, in which there is no `plugin.py`."""
    install(site, entry("acme status"))
    checked = zaxy("plugins", "check", "acme-tools")
    assert "stdout: it printed to stdout: 'imported'" in checked.stdout
    assert not (site / "acme_tools" / "plugin.py").exists()


def test_a_hook_that_offers_what_the_manifest_names_whole_is_refused(site: Path, zaxy: Any) -> None:
    sink = {"point": "export_sinks", "name": "acme", "target": "acme_tools.sink:Sink", "summary": "A sink."}
    plugin = (
        "from zaxy.api import Provider, hookimpl\n\n@hookimpl\ndef zaxy_export_sinks():\n"
        "    return [Provider(name, 'acme_tools.sink:Sink', 'A sink.') for name in ('acme', 'b')]\n"
    )
    manifest = installed.manifest_of(
        "acme-tools", api={"min": "0.4", "max": "0.4"}, provides=[sink, {"point": "export_sinks", "name": "b"}]
    )
    entry_point = "[zaxy.plugins]\nacme-tools = acme_tools.plugin\n"
    installed.install(site, "acme-tools", {"plugin.py": plugin}, manifest, entry_point)
    checked = zaxy("plugins", "check", "acme-tools")
    assert "whose target stands in the manifest already" in checked.stdout


def test_a_command_that_asks_nothing_of_memory_makes_none(site: Path, zaxy: Any, tmp_path: Path) -> None:
    quiet = (
        "class Quiet:\n    def __init__(self, context):\n        pass\n\n    def run(self, call):\n        return 0\n"
    )
    install(site, entry("acme quiet", "quiet:Quiet"))
    (site / "acme_tools" / "quiet.py").write_text(quiet)
    assert zaxy("acme", "quiet").returncode == 0
    assert list(tmp_path.rglob(".eventloom")) == []
