"""Whatever takes the place of a small file or a folder of ours, no command hangs, fills memory or writes outside."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from zaxy.memory import Memory

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, pipes and limits of memory are POSIX")

SECONDS = 60
"""More than any of these commands takes on a busy machine; without the reader they would never end."""
MEMORY = 1 << 30


def deep(path: Path) -> None:
    path.write_bytes(b"[" * 100_000 + b"]" * 100_000)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(4 << 30)


def folder(path: Path) -> None:
    path.mkdir()


DISGUISES: list[Callable[[Path], None]] = [deep, endless, pipe, huge, folder]
FILES = {
    "runtime/init.json": (("doctor",), ("init", "--undo", "--yes")),
    "runtime/zaxy-embedded-owner.json": (("doctor",), ("query", "lamp", "--session-id", "work")),
    "runtime/hook-errors.log": (("doctor",), ("hook-event", "heartbeat")),
    "runtime/capture/watcher.json": (("doctor",), ("capture", "status"), ("hook-status",)),
    "runtime/reminders.lock": (("hook-event", "session-start"),),
    "workspace.json": (),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A workspace with a little in its memory."""
    with Memory.open(tmp_path) as memory:
        memory.append("note.taken", {"text": "The harbour lamp burns whale oil."}, actor="ada", session="work")
        memory.query("lamp", "work")
    return tmp_path


def run(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "zaxy", *words],
        cwd=project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )


@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda disguise: disguise.__name__)
@pytest.mark.parametrize("name", [name for name in FILES if FILES[name]])
def test_a_small_file_that_is_something_else_neither_hangs_nor_breaks_a_command(
    project: Path, name: str, disguise: Callable[[Path], None]
) -> None:
    path = project / ".eventloom" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    disguise(path)
    for words in FILES[name]:
        done = run(project, *words)
        assert "Traceback" not in done.stderr, done.stderr
        assert "internal_error" not in done.stdout
    assert run(project, "replay", "work").stdout.count("whale oil") == 1


@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda disguise: disguise.__name__)
def test_the_mark_of_a_captured_source_that_is_something_else_means_from_the_start(
    tmp_path: Path, disguise: Callable[[Path], None]
) -> None:
    from zaxy.observe.capture import Marks

    Marks(str(tmp_path)).keep("a source", "7")
    assert Marks(str(tmp_path)).get("a source") == "7"
    (kept,) = tmp_path.rglob("*.json")
    kept.unlink()
    disguise(kept)
    assert Marks(str(tmp_path)).get("a source") == ""


@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda disguise: disguise.__name__)
def test_the_manifest_of_a_package_that_is_something_else_is_a_row_with_an_error(
    tmp_path: Path, disguise: Callable[[Path], None]
) -> None:
    package = tmp_path / "odd_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    metadata = tmp_path / "odd_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[zaxy.plugins]\nodd = odd_package.plugin\n")
    disguise(package / "zaxy-plugin.json")
    done = subprocess.run(
        [sys.executable, "-m", "zaxy", "plugins", "list", "--json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )
    rows = {row["name"]: row for row in json.loads(done.stdout)["plugins"]}
    assert rows["odd"]["state"] == "failed"


# Folders


def test_a_folder_that_is_a_link_is_never_written_through(tmp_path: Path) -> None:
    """Each folder that using memory makes is a link in turn, and all that made it is done again."""
    first = tmp_path / "first"
    first.mkdir()
    use(first)
    made = [path.relative_to(first) for path in (first / ".eventloom").rglob("*") if path.is_dir()]
    assert {str(path) for path in made} >= {".eventloom/followers", ".eventloom/followers/locks", ".eventloom/runtime"}
    for number, inside in enumerate(made):
        project, outside = tmp_path / f"project {number}", tmp_path / f"outside {number}"
        outside.mkdir()
        project.mkdir()
        if inside.parent != Path(".eventloom"):
            use(project)
            move_away(project / inside)
        else:
            (project / ".eventloom").mkdir(mode=0o700)
        (project / inside).symlink_to(outside)
        use(project)
        assert list(outside.rglob("*")) == [], inside


def move_away(path: Path) -> None:
    import shutil

    shutil.rmtree(path)


def use(project: Path) -> None:
    """Everything that makes folders: appending, reading, a hook, a provider, capture, an owner, an erasure."""
    from contextlib import suppress

    from zaxy.errors import ZaxyError
    from zaxy.follow.forgetting import drop_unused
    from zaxy.observe.capture import Marks
    from zaxy.observe.hook_command import note_error
    from zaxy.observe.reminders import only_one
    from zaxy.owner.owner import try_to_own
    from zaxy.security.paths import own_folder_within
    from zaxy.setup.init_record import read_record, write_record

    eventloom = str(project / ".eventloom")
    with Memory.open(project) as memory:

        def holds_reminders() -> None:
            with only_one(eventloom):
                pass

        def owns() -> None:
            owner = try_to_own(memory.workspace, lambda connection: None)
            if owner is not None:
                owner.close(within=1.0)

        for step in (
            lambda: memory.append("note.taken", {"text": "lamp"}, actor="ada", session="work"),
            lambda: memory.query("lamp", "work"),
            lambda: memory.checkout("lamp", "work"),
            lambda: memory.recall.host.all("export_sinks"),
            lambda: note_error(eventloom, "heartbeat", ZaxyError("unavailable", "odd", "Look.")),
            holds_reminders,
            owns,
            lambda: Marks(eventloom).keep("a source", "7"),
            lambda: write_record(memory.workspace, read_record(memory.workspace)),
            lambda: list(drop_unused(Path(eventloom, "followers"), ())),
            lambda: own_folder_within(eventloom, "plugins/odd", create=True),
        ):
            with suppress(ZaxyError, OSError):
                step()


def test_what_stands_beyond_a_link_is_not_deleted_by_an_erasure(tmp_path: Path) -> None:
    from zaxy.errors import ZaxyError
    from zaxy.follow.forgetting import drop_unused

    (tmp_path / "outside" / "some-thing").mkdir(parents=True)
    (tmp_path / "followers").symlink_to("outside")
    with pytest.raises(ZaxyError, match="is a link"):
        list(drop_unused(tmp_path / "followers", ()))
    assert (tmp_path / "outside" / "some-thing").is_dir()
