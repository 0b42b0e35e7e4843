"""The command itself: its table, its exit codes, what it loads, and how it tells of mistakes."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from conftest import Zaxy
from installed import install_plugin
from zaxy import Memory, __version__
from zaxy.__main__ import main
from zaxy.command_table import COMMANDS, CommandRow
from zaxy.commands import recall

FORBIDDEN = {
    *("typer", "pydantic", "pluggy", "mcp", "asyncio", "importlib.metadata", "importlib_metadata"),
    *("kuzu", "neo4j", "cryptography", "rich", "click", "dataclasses", "inspect"),
}
WITHOUT_LIBRARIES = {
    *("typing", "pathlib", "sqlite3", "orjson", "subprocess", "socket", "zaxy.memory"),
    *("zaxy.plugins.discovery", "zaxy.plugins.manifest", "zaxy.plugins.roster", "zaxy.plugins.host"),
}
UNUSED_BY_READS = {
    *("typer", "rich", "click", "pydantic", "mcp", "asyncio", "importlib.metadata", "subprocess", "socket", "tempfile"),
    *("kuzu", "neo4j", "cryptography", "zaxy.api.points", "zaxy.api.adapter_models", "zaxy_export"),
    # Before a mark is written it is asked whether recording is paused: zaxy.observe.recording alone says that.
    *("zaxy.observe.hook_command", "zaxy.observe.hook_events", "zaxy.observe.capture", "zaxy.observe.watcher"),
    *("zaxy.setup", "zaxy.serve", "zaxy.clients", "zaxy.follow.background", "zaxy.follow.forgetting"),
}
UNUSED_BY_SEARCHES = {"zaxy.assemble.checkout", "zaxy.assemble.replies", "zaxy.terminal"}
HOT = [("--help",), ("--version",), ("plugins", "list"), ("plugins", "list", "--json"), ("plugins", "--help")]


@pytest.fixture(scope="module")
def fifty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    for number in range(50):
        install_plugin(site, f"plugin-{number}")
    return site


@pytest.mark.parametrize("arguments", HOT, ids=" ".join)
def test_a_hot_command_loads_none_of_the_heavy_modules(arguments: tuple[str, ...], fifty: Path, tmp_path: Path) -> None:
    program = (
        "import sys\nfrom zaxy.__main__ import main\n"
        "code = main(sys.argv[1:])\nprint('\\n'.join(sys.modules), file=sys.stderr)\nsys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=tmp_path,
        env={"PYTHONPATH": str(fifty), "PATH": "", "HOME": str(tmp_path.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stderr.split())
    # An editable install may bring an import hook that loads what it likes before we start.
    before = subprocess.run(
        [sys.executable, "-c", "import sys; print('\\n'.join(sys.modules))"], capture_output=True, text=True, check=True
    )
    assert not (FORBIDDEN & loaded) - set(before.stdout.split())
    assert not [name for name in loaded if name.startswith("plugin_")], "listing imported a plugin"
    assert done.stdout


@pytest.fixture
def remembered(tmp_path: Path) -> tuple[Path, str]:
    """A workspace with one event, which its followers have, and the event's citation."""
    with Memory.open(tmp_path) as memory:
        event = memory.append("decision.made", {"decision": "Store the cache in SQLite"})
        memory.follow()
    return tmp_path, event.citation


def loaded_by(project: Path, *arguments: str) -> set[str]:
    """The modules that a command loads beyond those that Python itself has at its start."""
    program = (
        "import sys\nbefore = set(sys.modules)\nfrom zaxy.__main__ import main\n"
        "code = main(sys.argv[1:])\nprint(*set(sys.modules) - before, file=sys.stderr)\nsys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=project, capture_output=True, text=True, check=True
    )
    assert done.stdout, "the command printed nothing"
    return set(done.stderr.split())


@pytest.mark.parametrize("options", [(), ("--json",), ("--session-id", "other")], ids=" ".join)
def test_append_and_show_load_no_memory_and_none_of_the_heavy_modules(
    remembered: tuple[Path, str], options: tuple[str, ...]
) -> None:
    project, citation = remembered
    loaded = loaded_by(project, "append", "note.taken", "--payload", '{"text": "one"}', *options)
    assert "zaxy.eventloom.loom" in loaded
    assert (FORBIDDEN | WITHOUT_LIBRARIES) & loaded == set()
    assert not {"zaxy.memory", "typer"} & loaded_by(project, "show", citation, "--json")


@pytest.mark.parametrize("words", [("query",), ("verbatim",), ("checkout",), ("memory", "checkout")], ids=" ".join)
@pytest.mark.parametrize("options", [(), ("--json",)], ids=["page", "json"])
def test_a_read_loads_only_what_reading_uses(
    remembered: tuple[Path, str], words: tuple[str, ...], options: tuple[str, ...]
) -> None:
    loaded = loaded_by(remembered[0], *words, "cache", *options)
    assert "zaxy.text.index" in loaded
    assert UNUSED_BY_READS & loaded == set()
    if "checkout" not in words:
        # Of the screens a search loads its own page only, and none for JSON.
        page = set() if options else {"zaxy.terminal"}
        assert (UNUSED_BY_SEARCHES - page) & loaded == set()


TYPED_IN_OTHER_WAYS = [
    ("query", "--limit=1", "cache"),
    ("query", "cache", "--limit", "1"),
    ("query", "cache", "--limit", "3", "--limit", "1"),
    ("query", "--limit", " 1", "--", "cache"),
    ("query", "--limit", "1", "--cursor", "", "cache"),
]


@pytest.mark.parametrize("words", TYPED_IN_OTHER_WAYS, ids=" ".join)
def test_words_that_are_not_plain_mean_what_plain_ones_mean(
    remembered: tuple[Path, str], zaxy: Zaxy, words: tuple[str, ...]
) -> None:
    project, citation = remembered
    rows = json.loads(zaxy(words[0], "--json", *words[1:], cwd=project).stdout)["results"]
    assert [row["citation"] for row in rows] == [citation]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("query",), "Missing argument 'TEXT'"),
        (("query", "a", "b"), "unexpected extra argument"),
        (("query", "a", "--limit", "0"), "greater than or equal to 1"),
        (("query", "a", "--limit", "101"), "less than or equal to 100"),
        (("query", "a", "--limit", "many"), "Invalid value for '--limit'"),
        (("query", "a", "--session-id"), "requires an argument"),
        (("query", "a", "--jsn"), "No such option: --jsn"),
        (("append", "note.taken"), "Missing option '--payload'"),
        (("memory", "checkout"), "Usage: zaxy memory checkout [OPTIONS]"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_hot_commands_mistakes_are_explained_as_those_of_any_other(
    zaxy: Zaxy, words: tuple[str, ...], said: str
) -> None:
    done = zaxy(*words)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.replace("│", " ").split())


def test_a_hot_commands_help_has_its_parameters_with_bounds_and_defaults(zaxy: Zaxy) -> None:
    shown = " ".join(zaxy("query", "--help", COLUMNS="200").stdout.replace("│", " ").split())
    assert "Usage: zaxy query [OPTIONS] {TEXT}" in shown
    assert "--limit N How many results at most. [default: 10; 1<=x<=100]" in shown
    assert all(str(parameter["name"]) in shown for parameter in recall.query.parameters[1:])


def test_fifty_plugins_are_listed_without_being_imported(zaxy: Zaxy, fifty: Path) -> None:
    listed = json.loads(zaxy("plugins", "list", "--json", site=fifty).stdout)
    rows = [row for row in listed["plugins"] if row["name"].startswith("plugin-")]
    assert len(rows) == 50
    assert {row["state"] for row in rows} == {"ready"}


def test_plugins_list_shows_name_version_package_points_api_state_and_hint(zaxy: Zaxy, tmp_path: Path) -> None:
    install_plugin(tmp_path / "site", "acme-notes")
    done = zaxy("plugins", "list", site=tmp_path / "site", ZAXY_PLUGINS_DISABLE="acme-notes")
    header, *rows = done.stdout.splitlines()
    assert header.split() == ["NAME", "VERSION", "PACKAGE", "POINTS", "API", "STATE", "HINT"]
    row = next(row for row in rows if row.startswith("acme-notes"))
    assert row.split()[:6] == ["acme-notes", "0.1.0", "acme-notes", "export_sinks", "0.1", "disabled"]
    assert row.endswith("Take it out of ZAXY_PLUGINS_DISABLE to use it.")


def test_the_singular_is_accepted_too(zaxy: Zaxy) -> None:
    assert zaxy("plugin", "list").stdout == zaxy("plugins", "list").stdout


def test_version_and_help_answer(zaxy: Zaxy) -> None:
    assert zaxy("--version").stdout == f"zaxy {__version__}\n"
    for arguments in (("--help",), ("-h",), ("help",), ()):
        shown = zaxy(*arguments)
        assert shown.returncode == 0
        listed = {line.split()[0] for line in shown.stdout.splitlines() if line.startswith("  ") and line.strip()}
        assert {command.words.split()[0] for command in COMMANDS} <= listed


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("plugns", "list"), "plugins list"),
        (("plugins", "lst"), "plugins list"),
        (("plugins", "chek", "--json"), "plugins check"),
        (("contract", "pni"), "contracts pin"),
        (("confg",), "config"),
        (("search", "lamp"), "query"),
        (("version",), "--version"),
    ],
)
def test_an_unknown_command_suggests_the_nearest_one(zaxy: Zaxy, typed: tuple[str, ...], meant: str) -> None:
    done = zaxy(*typed)
    assert done.returncode == 2
    assert f"Did you mean 'zaxy {meant}" in done.stdout + done.stderr


def test_wrong_usage_exits_with_2_and_what_is_not_so_with_1(zaxy: Zaxy) -> None:
    assert zaxy("plugins", "list", "--colour").returncode == 2
    assert zaxy("plugins", "new", "acme").returncode == 2
    assert zaxy("plugins", "show").returncode == 2
    assert zaxy("plugins").returncode == 2
    assert zaxy("plugins", "show", "nobody").returncode == 1


def test_with_json_an_error_is_json_on_stdout(zaxy: Zaxy) -> None:
    done = zaxy("plugins", "show", "nobody", "--json")
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert set(error) == {"code", "message", "remediation"}
    assert error["code"] == "not_found"


@pytest.mark.parametrize("command", [row for row in COMMANDS if row.attribute], ids=lambda row: row.words)
def test_a_command_over_memory_explains_itself_with_its_summary_and_takes_json(
    command: CommandRow, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main([*command.words.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"Usage: zaxy {command.words} " in shown
    assert command.summary in " ".join(shown.split()) and "--json" in shown


def test_every_other_command_of_the_table_exists_with_its_summary_and_json() -> None:
    for command in COMMANDS:
        if command.attribute:
            continue
        module = import_module(command.module)
        if command.hot:
            # One prints a script, and the other what a client reads, which its `--format` names.
            assert "--json" in module.HELP or command.words in ("completion", "hook-context")
            continue
        from typer.main import get_command

        known = get_command(module.app).commands[command.words.split()[-1]]
        assert known.help == command.summary
        assert any("--json" in parameter.opts for parameter in known.params), command.words


def test_no_typer_command_is_missing_from_the_table() -> None:
    for module in {command.module for command in COMMANDS}:
        app = getattr(import_module(module), "app", None)
        if app is not None:
            listed = {command.words.split()[-1] for command in COMMANDS if command.module == module}
            assert listed == {command.name for command in app.registered_commands}, module


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m zaxy plugins list --json | head -c 1; exit ${{PIPESTATUS[0]}}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


PAGES = [*(("help", word) for word in sorted({row.words.split()[0] for row in COMMANDS})), ("--help",)]


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_help_fits_the_terminal_and_cuts_no_name(
    words: tuple[str, ...], width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Usage: zaxy ")
    assert [line for line in shown.splitlines() if len(line) > width] == []
    assert "…" not in shown


@pytest.mark.parametrize("command", COMMANDS, ids=lambda row: row.words)
def test_every_command_explains_itself_with_h_too_in_one_style(
    command: CommandRow, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = []
    for option in ("-h", "--help"):
        assert main([*command.words.split(), option]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert shown[0].startswith(f"Usage: zaxy {command.words}")
    assert "\nOptions:\n" in shown[0] and "-h, --help" in shown[0] and "<bool>" not in shown[0]


def test_a_second_name_works_and_is_not_listed(zaxy: Zaxy) -> None:
    hidden = [command for command in COMMANDS if command.hidden]
    shown = zaxy("--help").stdout
    (memory,) = [line for line in shown.splitlines() if line.startswith("  memory ")]
    assert "checkout" not in memory
    assert all(zaxy(*command.words.split(), "--help").returncode == 0 for command in hidden)


@pytest.mark.parametrize("words", [("tail", "--follow"), ("log",)], ids=["typer", "hot"])
def test_ctrl_c_ends_every_command_as_shells_expect(
    remembered: tuple[Path, str], words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    from zaxy.commands.log_of_command import LogOfCommand

    def interrupted(*_: object, **__: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.chdir(remembered[0])
    monkeypatch.setattr(LogOfCommand, "records", interrupted)
    monkeypatch.setattr(LogOfCommand, "newest", interrupted)
    assert main(words) == 130
