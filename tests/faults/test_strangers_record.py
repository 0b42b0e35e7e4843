"""A record of init that came with somebody else's project takes nothing out of this user's files."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from faults.outcomes import snapshot
from zaxy import user_state
from zaxy.errors import ZaxyError
from zaxy.setup import init
from zaxy.setup.init_record import change_of
from zaxy.setup.init_undo import KEPT, Undone
from zaxy.workspace import find_workspace

pytestmark = [pytest.mark.skipif(os.name != "posix", reason="links are POSIX here"), pytest.mark.timeout(120)]

RECORD = Path(".eventloom", "runtime", "init.json")
CLIENTS = ("codex", "cursor", "gemini", "hermes")
OUTSIDE = (".codex/config.toml", ".hermes/config.yaml")
writes_outside = pytest.mark.needs_package("codex", "hermes")
"""No client of the core's own has a file outside of the project."""


class User:
    """A user's home and state, and what init and undo do for that user."""

    def __init__(self, around: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.state, self._patch = around / "home", around / "state", monkeypatch
        for name in OUTSIDE:
            (self.home / name).parent.mkdir(parents=True)
        (self.home / OUTSIDE[0]).write_text('model = "o"\n', encoding="utf-8")

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}

    def init(self, root: Path) -> None:
        self._patch.setenv("ZAXY_STATE_DIR", str(self.state))
        options = init.InitOptions(clients=CLIENTS)
        assert init.carry_out(init.make_plan(find_workspace(str(root)), options, self.environ)).left_alone == ()

    def undo(self, root: Path) -> dict[str, Undone]:
        self._patch.setenv("ZAXY_STATE_DIR", str(self.state))
        return {done.what: done for done in init.undo_init(find_workspace(str(root)), environ=self.environ)}


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], User]]:
    """Users by name; the server is not tried, which takes a second and has nothing to do with the record."""
    monkeypatch.setattr(init, "try_plan", lambda plan, checkout: (None, None))
    yield lambda name: User(tmp_path / name, monkeypatch)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    return root


def record_of(root: Path) -> dict[str, Any]:
    found = json.loads((root / RECORD).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def plant(root: Path, *changes: dict[str, Any]) -> None:
    (root / RECORD).parent.mkdir(parents=True, exist_ok=True)
    record = {"format": 1, "files": list(changes), "settings": []}
    (root / RECORD).write_text(json.dumps(record), encoding="utf-8")


def about(user: User, record: dict[str, Any], of: User) -> list[dict[str, Any]]:
    """The changes of one user's record, as they would be about another user's files."""
    text = json.dumps(record["files"]).replace(str(of.home), str(user.home))
    return list(json.loads(text))


@writes_outside
def test_what_this_user_wrote_from_here_is_taken_out_byte_for_byte(users: Callable[[str], User], project: Path) -> None:
    ann = users("ann")
    before = snapshot(ann.home)
    ann.init(project)
    assert snapshot(ann.home) != before
    assert all(done.ok for done in ann.undo(project).values())
    assert snapshot(ann.home) == before
    assert list((ann.state / "init").iterdir()) == []


@writes_outside
def test_a_strangers_record_takes_nothing_out_of_this_users_files(users: Callable[[str], User], project: Path) -> None:
    stranger, ann = users("stranger"), users("ann")
    ann.init(project)
    elsewhere = project.with_name("clone")
    (elsewhere / ".eventloom").mkdir(parents=True)
    shutil.copy(project / ".eventloom" / "workspace.json", elsewhere / ".eventloom")
    stranger.init(elsewhere)
    plant(elsewhere, *about(ann, record_of(elsewhere), stranger))
    before = snapshot(ann.home)
    done = ann.undo(elsewhere)
    assert snapshot(ann.home) == before
    for name, client in zip(OUTSIDE, ("codex", "hermes"), strict=True):
        refused = done[str(ann.home / name)]
        assert refused.outcome == KEPT
        assert f"zaxy ide-config {client} --remove" in refused.reason
    assert all(row.ok for what, row in done.items() if str(elsewhere) in what), "the project's own files are undone"
    assert all(row.ok for row in ann.undo(project).values()), "where it was made it is followed"


@pytest.mark.parametrize("place", ["a copy", "moved"])
@writes_outside
def test_a_project_in_another_place_keeps_its_hands_off_what_the_first_one_wrote(
    users: Callable[[str], User], project: Path, place: str
) -> None:
    ann = users("ann")
    ann.init(project)
    before, other = snapshot(ann.home), project.with_name("other")
    shutil.copytree(project, other) if place == "a copy" else project.rename(other)
    done = ann.undo(other)
    assert snapshot(ann.home) == before
    assert {what for what, row in done.items() if not row.ok} == {str(ann.home / name) for name in OUTSIDE}


@writes_outside
def test_a_record_that_was_edited_is_not_followed_out_of_the_project(
    users: Callable[[str], User], project: Path
) -> None:
    ann = users("ann")
    ann.init(project)
    whole, dice = record_of(project), random.Random(1)
    outside = [number for number, change in enumerate(whole["files"]) if change["path"].startswith("/")]
    before = snapshot(ann.home)
    for edit in range(60):
        changes = json.loads(json.dumps(whole["files"]))
        change = changes[dice.choice(outside)]
        field = dice.choice([*change])
        change[field] = {
            "at": change["at"] + 1,
            "parts": [{"kind": "mcp", "client": "cursor"}],
            "folders": [str(ann.home / "empty")],
            "path": str(ann.home / dice.choice(["x", ".codex/../.codex/config.toml", ".cursor/mcp.json"])),
        }.get(field, dice.choice(["", "x", "0" * 64, "[x]\ny = 1\n"]))
        if change in whole["files"]:
            continue
        (ann.home / "empty").mkdir(exist_ok=True)
        plant(project, change)
        refused = ann.undo(project)
        assert [row.outcome for row in refused.values()] == [KEPT], (edit, field)
        assert (ann.home / "empty").is_dir()
        (ann.home / "empty").rmdir()
        assert snapshot(ann.home) == before, (edit, field)
    plant(project, *whole["files"])
    assert all(row.ok for row in ann.undo(project).values()), "as it was made it is followed"


@writes_outside
def test_a_record_in_the_users_own_folder_without_the_users_seal_is_not_believed(
    users: Callable[[str], User], project: Path
) -> None:
    ann = users("ann")
    ann.init(project)
    (own,) = (ann.state / "init").iterdir()
    before = snapshot(ann.home)
    sealed = own.read_text(encoding="utf-8")
    for edited in (
        sealed.replace("mcp_servers", "mcp_serverz"),
        sealed.replace('"seal": "', '"seal": "0'),
        json.dumps({key: value for key, value in json.loads(sealed).items() if key != "seal"}),
        "[]",
        "{",
        '"x"',
        "",
    ):
        own.write_text(edited, encoding="utf-8")
        plant(project, *record_of(project)["files"])
        done = ann.undo(project)
        assert {what for what, row in done.items() if not row.ok} == {str(ann.home / name) for name in OUTSIDE}
        assert snapshot(ann.home) == before
    (ann.state / "key").write_bytes(b"k" * 32)
    user_state._keys.clear()  # as in a new process
    own.write_text(sealed, encoding="utf-8")
    assert not all(row.ok for row in ann.undo(project).values()), "a seal of another key"


@pytest.mark.parametrize("client", ["cursor", "gemini"])
@pytest.mark.parametrize("way", ["the folder", "the file"])
def test_a_link_in_a_project_leads_undo_nowhere(
    users: Callable[[str], User], project: Path, client: str, way: str
) -> None:
    ann = users("ann")
    target = {"cursor": "mcp.json", "gemini": "settings.json"}[client]
    mine = ann.home / f".{client}" / target
    mine.parent.mkdir()
    text = json.dumps({"mcpServers": {"zaxy": {"command": "zaxy", "args": ["serve"]}}}).encode()
    mine.write_bytes(text)
    if way == "the folder":
        (project / f".{client}").symlink_to(mine.parent)
    else:
        (project / f".{client}").mkdir()
        (project / f".{client}" / target).symlink_to(mine)
    relative = f".{client}/{target}"
    for before in (None, b"{}", b'{"mcpServers": {"evil": {"command": "evil"}}}'):
        change = change_of(relative, before, after=text, parts=(), folders=(f".{client}",))
        parts = [{"kind": "mcp", "client": client}]
        plant(project, {**change._asdict(), "parts": parts})
        assert [row.outcome for row in ann.undo(project).values()] == [KEPT]
        plant(project, {**change._asdict(), "after": "0" * 64, "parts": parts})
        assert [row.outcome for row in ann.undo(project).values()] == [KEPT]
        assert mine.read_bytes() == text


@writes_outside
def test_a_link_that_came_since_on_the_way_to_the_users_own_file_is_not_followed(
    users: Callable[[str], User], project: Path, tmp_path: Path
) -> None:
    ann = users("ann")
    ann.init(project)
    (ann.home / ".codex").rename(tmp_path / "dotfiles")
    (ann.home / ".codex").symlink_to(tmp_path / "dotfiles")
    before = snapshot(tmp_path / "dotfiles")
    refused = ann.undo(project)[str(ann.home / OUTSIDE[0])]
    assert (refused.outcome, "leads elsewhere" in refused.reason) == (KEPT, True)
    assert snapshot(tmp_path / "dotfiles") == before


def test_folders_that_a_record_names_go_only_if_they_were_made_for_its_file(
    users: Callable[[str], User], project: Path, tmp_path: Path
) -> None:
    ann = users("ann")
    beside, below = tmp_path / "empty", project / "empty"
    beside.mkdir()
    below.mkdir()
    change = change_of(".cursor/mcp.json", None, after=b"{}", parts=(), folders=())
    folders = [str(beside), "../empty", "empty", str(project), "."]
    plant(project, {**change._asdict(), "parts": [], "folders": folders})
    ann.undo(project)
    assert beside.is_dir() and below.is_dir() and project.is_dir()


@writes_outside
def test_what_the_user_changed_since_is_kept(users: Callable[[str], User], project: Path) -> None:
    ann = users("ann")
    ann.init(project)
    config = ann.home / OUTSIDE[0]
    config.write_text(config.read_text(encoding="utf-8") + "\n[mine]\nx = 1\n", encoding="utf-8")
    assert all(row.ok for row in ann.undo(project).values())
    assert config.read_text(encoding="utf-8").split() == ["model", "=", '"o"', "[mine]", "x", "=", "1"]


ONE: dict[str, Any] = change_of("a", b"", after=b"b", parts=(), folders=())._asdict()
BROKEN: list[Any] = [
    *([], "x", 7, None, {"format": 1}, {"format": 2, "files": [], "settings": []}),
    {"format": 1, "files": [{}], "settings": []},
    {"format": 1, "files": "abc", "settings": []},
    {"format": 1, "files": [], "settings": [{"env": 1, "before": 2, "after": 3}]},
    *(
        {"format": 1, "settings": [], "files": [{**ONE, **bad}]}
        for bad in ({"at": "1"}, {"at": True}, {"path": 5}, {"folders": [3]}, {"parts": [["mcp", 1]]}, {"more": 1})
    ),
]


@pytest.mark.parametrize("record", BROKEN, ids=lambda record: json.dumps(record)[:60])
def test_a_record_that_is_none_is_refused_in_a_sentence(
    users: Callable[[str], User], project: Path, record: object
) -> None:
    (project / RECORD).parent.mkdir(parents=True)
    (project / RECORD).write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(ZaxyError, match="not a record of this version"):
        users("ann").undo(project)


@pytest.mark.parametrize("disguise", ["a pipe", "a link", "a folder", "a link to the folder"])
def test_a_record_that_is_no_plain_file_is_refused_and_nothing_is_waited_for(
    users: Callable[[str], User], project: Path, tmp_path: Path, disguise: str
) -> None:
    path = project / RECORD
    path.parent.mkdir(parents=True)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "init.json").write_text('{"format": 1, "files": [], "settings": []}', encoding="utf-8")
    if disguise == "a pipe":
        os.mkfifo(path)
    elif disguise == "a link":
        path.symlink_to(tmp_path / "there" / "init.json")
    elif disguise == "a folder":
        path.mkdir()
    else:
        path.parent.rmdir()
        path.parent.symlink_to(tmp_path / "there")
    with pytest.raises(ZaxyError):
        users("ann").undo(project)


@writes_outside
def test_what_cannot_be_put_on_record_is_not_written_outside(
    users: Callable[[str], User], project: Path, tmp_path: Path
) -> None:
    ann = users("ann")
    ann.state.write_text("a file where the folder should be", encoding="utf-8")
    before = snapshot(ann.home)
    with pytest.raises(AssertionError, match="ZAXY_STATE_DIR"):
        ann.init(project)
    assert snapshot(ann.home) == before
    assert (project / ".cursor" / "mcp.json").exists(), "what lies in the project is written"
