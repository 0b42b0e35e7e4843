"""A project keeps its memory when it is renamed or moved, and shares its session with no other; and where folders are
made."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from zaxy.__main__ import main
from zaxy.errors import NotFound
from zaxy.memory import Memory
from zaxy.serve.application import Application, Request
from zaxy.setup.doctor import DoctorContext
from zaxy.setup.doctor_sessions import check_sessions
from zaxy.workspace import Workspace, default_session, domain_of, find_workspace


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def remember(workspace: Workspace) -> str:
    """Append an event to the default session, whose name this is."""
    with Memory(workspace) as memory:
        return memory.append("note.taken", {"text": "We sell lamps."}).session


def here(folder: Path, log: Path | None = None, **environ: str) -> Workspace:
    """The workspace that a command finds in a folder."""
    named = {"EVENTLOOM_PATH": str(log)} if log else {}
    return find_workspace(environ={**named, **environ}, cwd=str(folder))


def in_folder(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PWD", str(folder))


# Its memory


def test_a_project_keeps_its_session_when_it_is_renamed_or_moved(home: Path) -> None:
    shop = made(home / "shop")
    assert remember(here(shop)) == "shop-default"
    for place in (home / "store", made(home / "elsewhere") / "My Store"):
        shop = shop.rename(place)
        assert default_session(here(shop)) == "shop-default"
        assert remember(here(shop)) == "shop-default"
    copied = made(home / "fresh")
    assert remember(here(copied)) == "fresh-default"


def test_a_name_without_a_letter_is_kept_too(home: Path) -> None:
    folder = made(home / "\u5546\u5e97")
    session = remember(here(folder))
    assert session.startswith("ws-")
    assert default_session(here(folder.rename(home / "shop"))) == session


def test_the_thread_and_the_domain_that_are_set_win_over_the_one_that_is_kept(home: Path) -> None:
    workspace = here(made(home / "shop"))
    remember(workspace)
    assert default_session(workspace, {"ZAXY_DOMAIN": "Acme Lamps"}) == "acme-lamps-default"
    assert default_session(workspace, {"EVENTLOOM_THREAD": "work", "ZAXY_DOMAIN": "acme"}) == "work"
    workspace.store_setting("ZAXY_DOMAIN", "other")
    assert default_session(workspace, {}) == "other-default"
    workspace.store_setting("ZAXY_DOMAIN", None)
    assert default_session(workspace, {}) == "shop-default"


@pytest.mark.parametrize("log", ["log", ".eventloom", "a/shop/.eventloom", "a/memory"])
def test_projects_that_share_a_log_share_no_session(home: Path, log: str) -> None:
    shops = [made(home / "a" / "shop"), made(home / "b" / "shop"), made(home / "c" / "blog")]
    shared = home / log
    sessions = [remember(here(shop, shared)) for shop in shops]
    assert len(set(sessions)) == len(shops)
    assert (sessions[0], sessions[2]) == ("shop-default", "blog-default")
    assert sessions[1].startswith("shop-")
    assert [default_session(here(shop, shared)) for shop in shops] == sessions
    assert [default_session(here(made(shop / "src"), shared)) for shop in shops] == sessions


def test_an_open_memory_waits_with_its_name_until_its_project_has_begun(home: Path) -> None:
    shared, shops = home / "log", [made(home / "a" / "shop"), made(home / "b" / "shop")]
    with Memory(here(shops[0], shared)) as first, Memory(here(shops[1], shared)) as second:
        assert first.session == second.session == "shop-default"
        assert second.append("note.taken", {"text": "We sell lamps."}).session == "shop-default"
        assert first.append("note.taken", {"text": "We sold candles."}).session != "shop-default"


def test_projects_of_one_name_that_begin_at_once_share_no_session(home: Path) -> None:
    shops = [made(home / name / "shop") for name in "abcd"]
    words = [sys.executable, "-m", "zaxy", "append", "note.taken", "--payload", "{}"]
    words += ["--eventloom-path", str(home / "log")]
    running = [subprocess.Popen(words, cwd=shop, stdout=subprocess.PIPE, text=True) for shop in shops]
    cited = [process.communicate(timeout=120)[0] for process in running]
    assert len({citation.split("/")[2] for citation in cited}) == len(shops)


def test_a_domain_that_was_set_for_one_project_of_a_log_is_no_others(home: Path) -> None:
    shared = home / "log"
    one, other = (here(made(home / name), shared) for name in ("one", "other"))
    remember(one)
    one.store_setting("ZAXY_DOMAIN", "acme")
    one.store_setting("ZAXY_PLUGINS_STRICT", True)
    assert (domain_of(one), domain_of(other)) == ("acme", "other")
    assert other.stored_settings().workspace == {"ZAXY_PLUGINS_STRICT": True}
    assert domain_of(here(made(home / "b" / "acme"), shared)) not in ("acme", "one")
    one.store_setting("ZAXY_DOMAIN", None)
    assert domain_of(one) == "one"


def test_a_repository_is_a_project_and_a_part_of_one_is_not(home: Path) -> None:
    shop, log = made(home / "shop"), home / "log"
    made(shop / ".git")
    part = made(shop / "parts" / "lamps")
    (part / ".git").write_text("gitdir: ../../.git/modules/lamps\n")
    vendored = made(shop / "vendored")
    made(vendored / ".git")
    assert [here(folder, log).root for folder in (part, vendored)] == [str(shop), str(vendored)]
    assert here(part, log, CLAUDE_PROJECT_DIR=str(vendored)).root == str(vendored)
    assert here(Path("/"), log).root == str(home)


# Paths that are gone


def test_a_path_from_before_a_project_was_moved_leads_to_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = made(home / "shop")
    remember(here(shop))
    store = shop.rename(home / "store")
    found = here(made(store / "src"), shop / ".eventloom")
    assert (found.root, found.eventloom) == (str(store), str(store / ".eventloom"))
    assert here(home, shop / ".eventloom", CLAUDE_PROJECT_DIR=str(store)).root == str(store)
    in_folder(monkeypatch, store)
    assert find_workspace(workspace=str(shop), environ={}).root == str(store)
    other = made(home / "other")
    remember(here(other))
    with pytest.raises(NotFound, match="there is no folder"):
        here(other, shop / ".eventloom")


MISTYPED = ("--workspace shpo", "--workspace shpo/src", "--eventloom-path shpo/.eventloom", "")
"""The last time in EVENTLOOM_PATH."""
COMMANDS = (
    *("append note.taken --payload {}", "remember lamps", "hook-event heartbeat --strict", "pause", "init --yes"),
    *("memory bootstrap", "capture once", "trust", "export --out bundle.json", "import bundle.json"),
    *("query lamps", "checkout lamps", "log", "replay", "stats", "sessions", "verify", "doctor", "show 1"),
)


@pytest.mark.needs_package("export", "claude-code")
@pytest.mark.parametrize("option", MISTYPED)
def test_no_command_makes_a_folder_for_a_place_that_was_mistyped(
    home: Path, option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(home / "here")
    in_folder(monkeypatch, folder)
    (folder / "bundle.json").write_text("{}")
    if not option:
        monkeypatch.setenv("EVENTLOOM_PATH", "shpo/.eventloom")
    for words in COMMANDS:
        if words.startswith("init") and not option.startswith("--workspace"):
            continue
        assert main([*words.split(), *option.split()]) == 1, words
        assert "there is no folder" in capsys.readouterr().err, words
    assert [path.name for path in folder.iterdir()] == ["bundle.json"]


READING = (
    *("query lamps", "checkout lamps", "log", "replay", "stats", "sessions", "verify --all", "doctor", "show 1"),
    *("verbatim lamps", "tail", "refs list", "followers status", "hook-status", "capture status"),
    *("config list", "types", "memory capabilities", "hook-context --source claude-code", "resume"),
    *("init --dry-run", "init --undo"),
)


def test_no_reading_command_makes_a_folder(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(home / "here")
    in_folder(monkeypatch, folder)
    for words in READING:
        main(words.split())
        assert not list(folder.iterdir()), f"{words}: {capsys.readouterr().err}"
    assert main(["memory", "bootstrap"]) == 0
    assert (folder / ".eventloom").is_dir()


# What the folder begins with


BEGINNINGS = (
    *("append note.taken --payload {}", "remember lamps", "hook-event heartbeat --strict", "memory bootstrap"),
    *("hook-event mistyped", "config set ZAXY_LANES none", "pause", "hooks cursor --out hooks.json"),
    pytest.param("capture once", marks=pytest.mark.needs_package("claude-code")),
    pytest.param("import ../bundle.json", marks=pytest.mark.needs_package("export")),
)


@pytest.mark.parametrize("words", BEGINNINGS)
def test_whatever_command_makes_the_folder_keeps_it_out_of_git(
    words: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if words.startswith("import"):
        remember(here(made(home / "other")))
        assert main(["export", "--workspace", str(home / "other"), "--out", str(home / "bundle.json")]) == 0
    folder = made(home / "shop")
    in_folder(monkeypatch, folder)
    assert main(words.split()) == 0
    assert_out_of_git(folder)


def test_a_program_and_a_server_keep_it_out_of_git_too(home: Path) -> None:
    remember(here(made(home / "shop")))
    server = Application(here(made(home / "blog")))
    assert server.answer(Request("memory_query", {"query": "lamps"})).content["results"] == []
    server.close(5.0)
    for name in ("shop", "blog"):
        assert_out_of_git(home / name)


def assert_out_of_git(folder: Path) -> None:
    assert "\n*\n" in (folder / ".eventloom" / ".gitignore").read_text()


def test_a_folder_with_other_things_in_it_is_not_kept_out_of_git(home: Path) -> None:
    shop, notes = made(home / "shop"), made(home / "notes")
    (notes / "mine.txt").write_text("mine")
    remember(here(shop, notes))
    assert not (notes / ".gitignore").exists()
    remember(here(shop, home / "log"))
    assert (home / "log" / ".gitignore").exists()


def test_the_list_of_ignored_files_stays_when_it_was_changed_or_init_is_undone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(home / "shop")
    in_folder(monkeypatch, folder)
    made(folder / ".git")
    assert main(["init", "--preset", "minimal", "--yes"]) == 0
    ignored = folder / ".eventloom" / ".gitignore"
    ignored.write_text("followers/\n")
    assert main(["init", "--undo"]) == 0
    remember(here(folder))
    assert ignored.read_text() == "followers/\n"


@pytest.mark.needs_package("export")
def test_one_missing_folder_of_a_file_to_write_is_made_with_a_notice(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(home / "shop")
    in_folder(monkeypatch, folder)
    remember(here(folder))
    export, push = ["export", "--out"], ["export-push", "--sink", "file", "--dest"]
    hooks = ["hooks", "cursor", "--out"]
    for words, name in ((export, "one"), (push, "two"), (hooks, "three")):
        assert main([*words, f"{name}/file.json"]) == 0
        assert f"made the folder {folder / name}" in capsys.readouterr().err
        assert main([*words, f"{name}/a/b/file.json"]) == 1
        assert f"there is no folder {folder / name / 'a'}" in capsys.readouterr().err
        assert not (folder / name / "a").exists()


# What the doctor says


def row_of(workspace: Workspace) -> tuple[str, str, str]:
    (row,) = check_sessions(DoctorContext(workspace, {}))
    return row.status, row.message, row.action


def test_the_doctor_names_a_session_that_was_left_behind_and_the_command_brings_it_home(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = home / "log"
    shop = here(made(home / "shop"), shared)
    other = here(made(home / "other"), shared)
    sessions = [remember(other), remember(shop)]
    assert sessions == ["other-default", "shop-default"]
    assert row_of(shop)[0] == row_of(other)[0] == "ok"
    store = here(Path(shop.root).rename(home / "store"), shared)
    (home / "store" / ".git").mkdir()
    for _ in range(2):
        status, message, action = row_of(store)
        assert status == "warning"
        assert "shop-default (1 event" in message and "other-default" not in message
        remember(store)
    assert row_of(other)[0] == "ok"
    in_folder(monkeypatch, home / "store")
    monkeypatch.setenv("EVENTLOOM_PATH", str(shared))
    command = action.split(" && ")[-1].split()
    assert command[0] == "zaxy" and main(command[1:]) == 0
    assert default_session(store) == "shop-default"
    assert row_of(store)[0] == "ok"
    assert default_session(other) == "other-default"


def test_the_doctor_names_what_is_older_than_the_domain_that_is_kept(home: Path) -> None:
    shop = here(made(home / "shop"))
    remember(shop)
    file = Path(shop.identity_file)
    kept = json.loads(file.read_text())
    del kept["projects"]
    file.write_text(json.dumps(kept))
    store = here(Path(shop.root).rename(home / "store"))
    assert remember(store) == "store-default"
    status, message, action = row_of(store)
    assert (status, action.split(" && ")[-1]) == ("warning", "zaxy config set ZAXY_DOMAIN shop")
    assert "shop-default" in message
