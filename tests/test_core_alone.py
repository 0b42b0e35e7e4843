"""The core without any other package of the tree: everything works but what the packages bring."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core_alone import CoreAlone
from installed import install_plugin
from project import Project
from zaxy.command_table import COMMANDS

TREE = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> CoreAlone:
    return CoreAlone(tmp_path_factory.mktemp("alone"))


def test_no_plugin_is_there(alone: CoreAlone, tmp_path: Path) -> None:
    listed = json.loads(alone.run("plugins", "list", "--json", cwd=tmp_path).stdout)
    assert [row["name"] for row in listed["plugins"]] == ["core"]


def test_what_was_appended_is_found_and_proven(alone: CoreAlone, tmp_path: Path) -> None:
    payload = json.dumps({"decision": "The harbour pilot is called Ada."})
    for words in (
        ("append", "decision.made", "--actor", "ada", "--payload", payload),
        ("query", "harbour pilot"),
        ("checkout", "Who is the harbour pilot?"),
        ("verify",),
    ):
        done = alone.run(*words, cwd=tmp_path)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
    assert "Ada" in alone.run("query", "harbour pilot", cwd=tmp_path).stdout


def test_the_demonstration_runs(alone: CoreAlone, tmp_path: Path) -> None:
    done = alone.run("demo", cwd=tmp_path)
    assert "All 8 steps showed what they should" in done.stdout, done.stdout + done.stderr


def test_its_contracts_hold_without_those_of_the_packages(alone: CoreAlone, tmp_path: Path) -> None:
    done = alone.run("contracts", "check", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "no differences\n"), done.stderr


def test_a_new_plugin_needs_the_kit_and_the_command_says_so(alone: CoreAlone, tmp_path: Path) -> None:
    done = alone.run("plugins", "new", "acme-notes", "--point", "export_sinks", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("zaxy: 'zaxy plugins new' is a command of zaxy-testkit, which is not installed")
    assert "\n  Install it: " in done.stderr
    assert "/plugins/testkit\n" in done.stderr, "from a checkout, by its folder"


def test_a_check_proves_the_manifest_and_says_what_it_did_not_try(alone: CoreAlone, tmp_path: Path) -> None:
    install_plugin(tmp_path / "site", "acme-sink")
    done = alone.run("plugins", "check", cwd=tmp_path, site=tmp_path / "site")
    assert done.stdout.startswith(
        "core (zaxy-core 0.1.0): ok\n"
        "acme-sink (acme-sink 0.1.0): ok\n"
        "The calls of each provider were not tried: that needs zaxy-testkit. Install it: "
    )
    assert done.stdout.endswith("/plugins/testkit\n")


def test_a_check_still_finds_hooks_that_disagree_with_the_manifest(alone: CoreAlone, tmp_path: Path) -> None:
    install_plugin(tmp_path / "site", "acme-sink", provides=[{"point": "export_sinks", "name": "another"}])
    done = alone.run("plugins", "check", "acme-sink", "--json", cwd=tmp_path, site=tmp_path / "site")
    report = json.loads(done.stdout)
    assert done.returncode == 1 and not report["calls_tried"]
    assert [finding["stage"] for finding in report["findings"]] == ["hooks"]


def test_a_command_of_a_package_that_is_missing_names_the_package(alone: CoreAlone, tmp_path: Path) -> None:
    for name, rest in (("export", "--out"), ("import", "b.json"), ("export-keys show", "k.pub"), ("export-keys", "-h")):
        done = alone.run(*name.split(), rest, cwd=tmp_path)
        assert done.returncode == 2
        assert f"'zaxy {name}' is a command of zaxy-export" in done.stderr
        assert "pip install" in done.stderr and "plugins/export" in done.stderr


def test_the_commands_of_missions_name_their_package(alone: CoreAlone, tmp_path: Path) -> None:
    for words in (("coordinate",), ("coordinate", "brief", "port"), ("coordinate", "--help")):
        done = alone.run(*words, cwd=tmp_path)
        assert done.returncode == 2, (words, done.stdout)
        assert "is a command of zaxy-coordinate" in done.stderr
        assert "pip install" in done.stderr and "plugins/coordinate" in done.stderr


def brought_by(package: Path) -> set[str]:
    """What a package of the tree brings that somebody may name, as its manifest and its contract say."""
    (manifest,) = (json.loads(path.read_text(encoding="utf-8")) for path in package.glob("src/*/zaxy-plugin.json"))
    contract = json.loads((TREE / "contracts/plugins" / f"{package.name}.json").read_text(encoding="utf-8"))
    clients, words = manifest.get("clients", []), [one["words"] for one in manifest["provides"] if "words" in one]
    groups = {word.split()[0] for word in words} - {row.words.split()[0] for row in COMMANDS}
    return {
        manifest["name"],
        *(one["name"] for one in manifest["provides"] if "name" in one),
        *(one["env"] for one in manifest.get("settings", [])),
        *(one["preset"] for one in clients),
        *(option["flag"] for one in clients for option in one.get("options", [])),
        *(f"zaxy {name}" for name in (*words, *groups)),
        *(item.removeprefix("tool ") for item in contract["items"] if item.startswith("tool ")),
    }


def test_the_core_knows_the_package_of_everything_that_a_package_of_the_tree_brings() -> None:
    packages = [path.parent for path in (TREE / "plugins").glob("*/pyproject.toml")]
    brought = {name: f"zaxy-{package.name}" for package in packages for name in brought_by(package)}
    assert json.loads((TREE / "zaxy-core/src/zaxy/plugins/packages.json").read_text(encoding="utf-8")) == brought


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("init", "--client", "codex", "--dry-run"), "'codex' is not a client that is installed"),
        (("init", "--preset", "local-codex", "--dry-run"), "there is no preset 'local-codex'"),
        (("hooks", "codex"), "'codex' is not a client with hooks"),
        (("ide-config", "codex"), "is named 'codex'"),
        (("ide-config", "codex", "--codex-config-scope=user"), "--codex-config-scope is an option of zaxy-codex"),
        (("ide-config", "codex", "--codex-trusted-project"), "--codex-trusted-project is an option of zaxy-codex"),
        (("codex-capture",), "is named 'codex'"),
        (("config", "set", "CODEX_HOME", "/x"), "CODEX_HOME is a setting of zaxy-codex"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_a_missing_package_would_bring_is_refused_with_how_to_get_it(
    alone: CoreAlone, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    done = alone.run(*words, cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert "pip install" in done.stderr and "plugins/codex" in done.stderr


def test_what_nobody_brings_is_refused_with_what_there_is(alone: CoreAlone, tmp_path: Path) -> None:
    for words, known in (
        (("init", "--client", "emacs"), "Use one of claude-desktop, cursor,"),
        (("init", "--preset", "local-emacs"), "Choose one of local-cursor,"),
        (("hooks", "claude-desktop"), "Use one of cursor, gemini, generic."),
        (("config", "set", "EMACS_HOME", "/x"), "Run 'zaxy config list'"),
    ):
        assert known in alone.run(*words, cwd=tmp_path).stderr


def test_a_tool_of_a_missing_package_is_pinned_by_nobody_and_its_package_is_named(
    alone: CoreAlone, tmp_path: Path
) -> None:
    done = alone.run("contracts", "pin", "--mcp", "memory_export", cwd=tmp_path)
    assert done.returncode == 2 and "plugins/export" in done.stderr


def test_where_nothing_reads_sessions_no_watcher_is_started(alone: CoreAlone, tmp_path: Path) -> None:
    """It would run for ever, and record nothing."""
    for options in ((), ("--foreground",)):
        done = alone.run("capture", "start", *options, cwd=tmp_path)
        assert done.returncode == 1
        assert "nothing can be captured\n  Install the package of your client." in done.stderr
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/zaxy-capture.json").write_text('{"format": 1, "capture": "codex"}', encoding="utf-8")
    assert "plugins/codex" in alone.run("capture", "start", cwd=tmp_path).stderr
    assert json.loads(alone.run("capture", "status", "--json", cwd=tmp_path).stdout)["status"] != "running"


def test_the_doctor_says_that_it_has_tried_no_call(alone: CoreAlone, tmp_path: Path) -> None:
    rows = {row["name"]: row for row in json.loads(alone.run("doctor", "--json", cwd=tmp_path).stdout)["rows"]}
    said = "core: all can be loaded, and no call was tried: that needs zaxy-testkit"
    assert rows["plugins"]["message"].startswith(said)


@pytest.mark.needs_package("codex")
def test_what_init_wrote_for_a_client_whose_package_is_gone_is_kept_and_says_what_to_do(
    alone: CoreAlone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, project = tmp_path / "home", Project(tmp_path / "shop", tmp_path / "home")
    home.mkdir()
    project.root.mkdir()
    project.told("init", "--preset", "local-codex", "--yes")
    written = project.files()
    monkeypatch.setenv("HOME", str(home))
    undone = alone.run("init", "--undo", "--yes", cwd=project.root)
    assert undone.returncode == 1
    assert undone.stdout.count("left as it is: codex is not a client that is installed. Install the package") == 3
    assert project.files() == written
    rows = json.loads(alone.run("doctor", "--json", cwd=project.root).stdout)["rows"]
    (row,) = (row for row in rows if row["name"] == "client_config:codex")
    assert row["status"] == "warning" and "plugins/codex" in row["action"]
    assert project.told("init", "--undo", "--yes")["ok"], "with the package all of it goes"


def test_memory_without_the_package_of_bundles_says_how_to_get_it(alone: CoreAlone, tmp_path: Path) -> None:
    program = (
        "from io import BytesIO\nfrom zaxy import Memory, Unavailable\n"
        "memory = Memory.open()\nmemory.append('note.taken', {'text': 'one'})\n"
        "for call in (memory.export, memory.import_bundle):\n"
        "    try:\n        call(BytesIO())\n    except Unavailable as error:\n        print(error.remediation)\n"
    )
    done = alone.python(program, cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert len(lines) == 2, done.stderr
    assert all("pip install" in line and "plugins/export" in line for line in lines)


def test_event_types_that_are_kept_for_a_missing_package_are_refused_with_how_to_get_it(
    alone: CoreAlone, tmp_path: Path
) -> None:
    done = alone.run("append", "coordination.mission.created", "--payload", "{}", cwd=tmp_path)
    assert done.returncode == 1
    assert "only zaxy-coordinate writes coordination.*, and it is not in use here" in done.stderr
    assert "pip install" in done.stderr and "plugins/coordinate" in done.stderr
