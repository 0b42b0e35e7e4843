"""Whether git tracks a folder is read from the index itself, in every form that git writes, and nothing is run."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from zaxy.security.git_index import tracks

pytestmark = [pytest.mark.skipif(shutil.which("git") is None, reason="git makes the samples"), pytest.mark.timeout(60)]

FOLDER = ".eventloom"
NAMES = [".editorconfig", ".eventloo", ".eventloomy/a", ".eventloom.txt", "a/.eventloom/x", "eventloom/y", "z" * 200]


def git(where: Path, *words: str, config: str = "core.fsmonitor=false") -> str:
    settings = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", config, "-c", "protocol.file.allow=always"]
    done = subprocess.run(["git", *settings, *words], cwd=where, check=True, capture_output=True, text=True)
    return done.stdout


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")


def repository(root: Path, *options: str) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", *options)
    write(root, *NAMES)
    git(root, "add", "-f", ".")
    return root


VARIANTS = {
    "version 2": ("update-index", "--index-version", "2"),
    "version 4": ("update-index", "--index-version", "4"),
    "split": ("update-index", "--split-index"),
    "not split": ("update-index", "--no-split-index"),
}


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_form_of_an_index_says_what_is_tracked(tmp_path: Path, variant: str, object_format: str) -> None:
    root = repository(tmp_path / "p", f"--object-format={object_format}")
    git(root, *VARIANTS[variant])
    assert not tracks(str(root), FOLDER)
    write(root, f"{FOLDER}/work.jsonl")
    assert not tracks(str(root), FOLDER)
    git(root, "add", "-f", FOLDER)
    assert tracks(str(root), FOLDER)
    assert tracks("/", str(root / FOLDER))
    git(root, *VARIANTS[variant])
    assert tracks(str(root), FOLDER)
    git(root, "rm", "-rq", "--cached", FOLDER)
    assert not tracks(str(root), FOLDER)


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_read_is_what_git_itself_lists(tmp_path: Path, variant: str) -> None:
    root = tmp_path / "p"
    root.mkdir()
    git(root, "init", "-q")
    letters = random.Random(variant)
    folders = [f"{letters.choice('abé.')}{letters.randrange(40)}" for _ in range(60)]
    write(root, *(f"{folder}/{letters.choice(folders)}/{letters.randrange(9)}" for folder in folders for _ in range(9)))
    git(root, "add", "-f", ".")
    git(root, *VARIANTS[variant])
    for folder in letters.sample(sorted(set(folders)), 12):
        git(root, "rm", "-rq", "--cached", folder)
    listed = git(root, "ls-files", "-z").split("\0")
    for path in {str(path.relative_to(root)) for path in root.rglob("*") if ".git" not in path.parts}:
        expected = any(name == path or name.startswith(f"{path}/") for name in listed)
        assert tracks(str(root), path) is expected, path


def test_a_file_that_is_to_be_added_counts(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    write(root, f"{FOLDER}/x")
    git(root, "add", "-f", "--intent-to-add", f"{FOLDER}/x")
    assert tracks(str(root), FOLDER)


def test_a_worktree_and_a_submodule_have_an_index_of_their_own(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    git(root, "commit", "-qm", "first")
    git(root, "worktree", "add", "-q", str(tmp_path / "wt"))
    git(root, "submodule", "--quiet", "add", str(root), "sub")
    for place in (tmp_path / "wt", root / "sub"):
        assert (place / ".git").is_file()
        write(place, f"{FOLDER}/x")
        assert not tracks(str(place), FOLDER)
        git(place, "add", "-f", FOLDER)
        assert tracks(str(place), FOLDER)
    assert not tracks(str(root), FOLDER)


def test_a_project_within_a_repository_is_found_and_a_repository_within_it_hides_nothing(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    project = root / "services" / "one"
    write(project, f"{FOLDER}/x")
    assert not tracks(str(project), FOLDER)
    git(root, "add", "-f", f"services/one/{FOLDER}/x")
    assert tracks(str(project), FOLDER)
    git(project / FOLDER, "init", "-q")
    assert tracks(str(project), FOLDER)


def test_links_are_looked_through(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    write(root, "memory/x")
    (root / FOLDER).symlink_to("memory")
    assert not tracks(str(root), FOLDER)
    git(root, "add", "-f", "memory")
    assert tracks(str(root), FOLDER)
    (tmp_path / "elsewhere").symlink_to(root)
    assert tracks(str(tmp_path / "elsewhere"), FOLDER)
    git(root, "rm", "-rq", "--cached", "memory")
    git(root, "add", "-f", FOLDER)
    assert tracks(str(root), FOLDER)


def test_damaged_and_hostile_indexes_raise_nothing_and_end(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    write(root, f"{FOLDER}/x")
    git(root, "add", "-f", ".")
    git(root, "update-index", "--split-index")
    index = root / ".git" / "index"
    whole = index.read_bytes()
    dice = random.Random(6)
    for _ in range(400):
        data = bytearray(whole[: dice.randrange(len(whole) + 1)])
        for _ in range(dice.randrange(4)):
            if data:
                data[dice.randrange(len(data))] = dice.choice((0, 1, 0x7F, 0x80, 0xFF))
        index.write_bytes(bytes(data))
        assert tracks(str(root), FOLDER) in (True, False)


@pytest.mark.skipif(os.name != "posix", reason="pipes and modes are POSIX here")
def test_whatever_stands_in_the_place_of_gits_files_nothing_is_waited_for(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    index, pointer = root / ".git" / "index", root / ".git"
    index.unlink()
    os.mkfifo(index)
    assert not tracks(str(root), FOLDER)
    index.unlink()
    index.mkdir()
    assert not tracks(str(root), FOLDER)
    shutil.rmtree(pointer)
    for content in (b"", b"gitdir:", b"gitdir: \0", b"gitdir: .git", b"gitdir: /dev/zero", b"\xff" * 99, b"x" * 99999):
        pointer.write_bytes(content)
        assert not tracks(str(root), FOLDER)
    pointer.unlink()
    os.mkfifo(pointer)
    assert not tracks(str(root), FOLDER)
    assert not tracks(str(root), "a\0b")
    assert not tracks("x" * 5000, FOLDER)
