"""The core without any other package of the tree: everything works but what the packages bring."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core_alone import CoreAlone
from installed import install_plugin


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
    for words in (("export", "--out", "b.json"), ("import", "b.json"), ("export-keys", "show", "k.pub")):
        done = alone.run(*words, cwd=tmp_path)
        assert done.returncode == 2
        assert f"'zaxy {words[0]}' is a command of zaxy-export" in done.stderr
        assert "pip install" in done.stderr and "plugins/export" in done.stderr


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
