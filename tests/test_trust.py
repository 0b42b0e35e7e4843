"""A workspace is this user's own, or it came from elsewhere and is not believed until its user trusts it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from zaxy.errors import Forbidden, NotFound
from zaxy.memory import Memory
from zaxy.setup.init import InitOptions, make_plan
from zaxy.setup.taking_in import take_in
from zaxy.workspace import Workspace, find_workspace

SESSION = "harbour"
QUESTION = "which lamp burns at the pier"
posix = pytest.mark.skipif(os.name != "posix", reason="owners are POSIX")


@pytest.fixture(autouse=True)
def me(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This user's own folder, in which Zaxy has been run before."""
    folder = tmp_path / "my state"
    monkeypatch.setenv("ZAXY_STATE_DIR", str(folder))
    monkeypatch.setattr("zaxy.eventloom.seen_heads.SECONDS_BETWEEN", 0.0)
    remembering(tmp_path / "an older project")
    return folder


def remembering(root: Path) -> Workspace:
    root.mkdir(parents=True, exist_ok=True)
    workspace = find_workspace(workspace=str(root))
    with Memory(workspace) as memory:
        fact = {"subject": "pier", "relation": "lamp", "value": "the oil lamp burns at the pier"}
        memory.append("fact.recorded", fact, session=SESSION)
        memory.query(QUESTION, SESSION)
    return workspace


def from_elsewhere(root: Path, **settings: object) -> Workspace:
    """A workspace that another user has made, with the settings that he put into it."""
    with pytest.MonkeyPatch.context() as other:
        other.setenv("ZAXY_STATE_DIR", str(root.parent / "the state of another"))
        workspace = remembering(root)
        file = Path(workspace.identity_file)
        file.write_text(json.dumps({**json.loads(file.read_text()), "settings": settings}))
    return workspace


def checkout(workspace: Workspace) -> dict[str, Any]:
    with Memory(workspace) as memory:
        return memory.checkout(QUESTION, SESSION).as_dict()


def is_foreign(reply: dict[str, Any]) -> bool:
    return bool(reply["warnings"]) and "zaxy trust" in reply["warnings"][0]


# Own


def test_a_workspace_made_here_is_the_users_own_wherever_it_is_moved(tmp_path: Path) -> None:
    workspace = remembering(tmp_path / "here")
    identity = workspace.identity()
    (tmp_path / "here").rename(tmp_path / "there")
    moved = find_workspace(workspace=str(tmp_path / "there"))
    assert moved.is_own
    assert moved.identity() == identity
    assert not is_foreign(checkout(moved))


def test_a_first_append_makes_the_workspace_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    workspace = find_workspace(workspace=str(tmp_path / "new"))
    with Memory(workspace) as memory:
        memory.append("fact.recorded", {"fact": "the lamp burns oil"}, session=SESSION)
    assert "users" in json.loads(Path(workspace.identity_file).read_text())
    assert workspace.is_own


def test_two_users_may_both_trust_one_workspace(tmp_path: Path) -> None:
    workspace = from_elsewhere(tmp_path / "shared")
    take_in(workspace)
    assert workspace.is_own
    with pytest.MonkeyPatch.context() as other:
        other.setenv("ZAXY_STATE_DIR", str(tmp_path / "the state of another"))
        assert workspace.is_own


def test_a_state_folder_that_cannot_be_written_leaves_memory_usable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").write_text("in the way")
    monkeypatch.setenv("ZAXY_STATE_DIR", str(tmp_path / "a file"))
    workspace = remembering(tmp_path / "here")
    assert workspace.is_own
    assert not is_foreign(checkout(workspace))


# From elsewhere


def test_the_settings_of_a_workspace_from_elsewhere_are_not_read(tmp_path: Path) -> None:
    workspace = from_elsewhere(tmp_path / "clone", ZAXY_TOOL_PROFILE="full", PROJECTION_BACKEND="neo4j")
    assert not workspace.is_own
    assert not workspace.stored_settings().workspace


def test_facts_from_elsewhere_are_marked_in_every_reply_and_never_answer(tmp_path: Path) -> None:
    mine, theirs = checkout(remembering(tmp_path / "mine")), checkout(from_elsewhere(tmp_path / "clone"))
    assert mine["quality"]["answerability"] == "answer_from_memory"
    assert theirs["quality"]["answerability"] != "answer_from_memory"
    assert is_foreign(theirs)
    rows = [*theirs["current_facts"], *theirs["evidence"], *theirs["recent"]]
    assert rows and all(row["foreign"] for row in rows)
    assert ", foreign:" in theirs["prompt"]
    assert "foreign" not in mine["prompt"] and not any("foreign" in row for row in mine["current_facts"])


def test_queries_context_and_the_start_of_a_session_say_that_memory_came_from_elsewhere(tmp_path: Path) -> None:
    with Memory(from_elsewhere(tmp_path / "clone")) as memory:
        for answer in (memory.query(QUESTION, SESSION), memory.verbatim("lamp", SESSION)):
            assert is_foreign(answer.as_dict())
            assert all(row["foreign"] for row in answer.as_dict()["results"])
            assert all(row["foreign"] for row in answer.in_brief()["results"])
        context = memory.context(QUESTION, SESSION).as_dict()
        assert is_foreign(context) and all(row["foreign"] for row in context["context"])
        assert is_foreign(memory.bootstrap(SESSION).as_dict()["capabilities"])


def test_what_is_recorded_in_a_workspace_from_elsewhere_is_kept_and_found(tmp_path: Path) -> None:
    workspace = from_elsewhere(tmp_path / "clone")
    with Memory(workspace) as memory:
        memory.append("fact.recorded", {"fact": "the crane lifts ten tons"}, session=SESSION)
        assert "ten tons" in memory.query("what does the crane lift", SESSION).results[0].content


def test_an_id_that_was_copied_gives_nothing_of_the_workspace_it_was_copied_from(tmp_path: Path) -> None:
    mine = remembering(tmp_path / "mine")
    mine.store_setting("ZAXY_ENV", "production")
    workspace = from_elsewhere(tmp_path / "clone")
    stolen = json.loads(Path(mine.identity_file).read_text())["id"]
    Path(workspace.identity_file).write_text(json.dumps({"id": stolen, "users": {"0011223344556677": "00" * 16}}))
    assert not workspace.is_own
    assert workspace.identity() != stolen
    assert not workspace.stored_settings().here


@pytest.mark.parametrize("identity", ["../../../etc", "x" * 100_000, 7, None, ["a"], "0" * 31, "\x1b[2J" + "0" * 28])
def test_an_odd_id_names_no_file(tmp_path: Path, identity: object) -> None:
    workspace = from_elsewhere(tmp_path / "clone")
    Path(workspace.identity_file).write_text(json.dumps({"id": identity}))
    assert is_foreign(checkout(workspace))
    take_in(workspace)
    assert not is_foreign(checkout(workspace))
    assert len(workspace.identity()) == 32


def test_a_log_without_a_workspace_file_is_not_the_users_own_because_of_that(tmp_path: Path) -> None:
    workspace = from_elsewhere(tmp_path / "clone")
    os.unlink(workspace.identity_file)
    assert not workspace.is_own
    workspace.claim()
    assert not workspace.is_own
    assert is_foreign(checkout(workspace))


def test_init_says_that_a_memory_came_from_elsewhere(tmp_path: Path) -> None:
    options = InitOptions(preset="minimal")
    assert "zaxy trust" in make_plan(from_elsewhere(tmp_path / "clone"), options).next_steps[0]
    assert "zaxy trust" not in str(make_plan(remembering(tmp_path / "mine"), options).next_steps)


# Trusting


def test_what_is_trusted_is_believed_with_the_settings_that_a_workspace_may_have(tmp_path: Path) -> None:
    workspace = from_elsewhere(tmp_path / "clone", ZAXY_TOOL_PROFILE="full", NEO4J_URI="bolt://elsewhere")
    taken = take_in(workspace)
    assert (taken.was_own, taken.settings, taken.unread) == (False, {"ZAXY_TOOL_PROFILE": "full"}, ["NEO4J_URI"])
    assert taken.events == {SESSION: 1}
    reply = checkout(workspace)
    assert reply["quality"]["answerability"] == "answer_from_memory"
    assert not reply["notices"]


def test_where_there_is_no_memory_there_is_nothing_to_trust(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound, match="there is no log"):
        take_in(find_workspace(str(tmp_path / "empty")))
    assert not list((tmp_path / "empty").iterdir())


def test_what_the_user_had_set_for_a_workspace_stays_when_it_is_trusted(tmp_path: Path) -> None:
    workspace = from_elsewhere(tmp_path / "clone")
    workspace.store_setting("ZAXY_ENV", "production")
    assert "production" not in Path(workspace.identity_file).read_text()
    take_in(workspace)
    assert workspace.stored_settings().here == {"ZAXY_ENV": "production"}


def test_an_open_memory_believes_what_another_process_has_trusted(tmp_path: Path) -> None:
    workspace = from_elsewhere(tmp_path / "clone")
    with Memory(workspace) as memory:
        assert memory.query(QUESTION, SESSION).warnings
        take_in(workspace)
        assert not memory.query(QUESTION, SESSION).warnings


# Older than marks


def unmarked(workspace: Workspace) -> Workspace:
    """As a version made it that knew of no marks."""
    file = Path(workspace.identity_file)
    kept = json.loads(file.read_text())
    kept.pop("users", None)
    file.write_text(json.dumps(kept))
    return workspace


def test_what_was_there_at_the_first_run_is_adopted_unless_git_tracks_it(tmp_path: Path, me: Path) -> None:
    mine, tracked = (unmarked(from_elsewhere(tmp_path / name, ZAXY_DOMAIN="pier")) for name in ("mine", "tracked"))
    for words in ("init -q", "add -f .eventloom"):
        subprocess.run(["git", *words.split()], cwd=tracked.root, check=True, capture_output=True)
    assert not mine.is_own  # it came after the first run
    os.unlink(me / "first-run.json")
    assert mine.is_own and mine.stored_settings().workspace == {"ZAXY_DOMAIN": "pier"}
    assert not tracked.is_own
    assert "users" in json.loads(Path(mine.identity_file).read_text())
    assert unmarked(mine).is_own is False


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() != 0, reason="only root gives files away")
def test_what_belongs_to_another_user_is_not_adopted(tmp_path: Path, me: Path) -> None:
    workspace = unmarked(from_elsewhere(tmp_path / "theirs"))
    os.chown(workspace.eventloom, 4321, 4321)
    os.unlink(me / "first-run.json")
    assert not workspace.is_own


# The folder of another user


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() != 0, reason="only root gives files away")
def test_a_log_of_another_user_in_a_folder_above_is_passed_over_unless_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    project = tmp_path / "wide" / "project"
    project.mkdir(parents=True)
    above = from_elsewhere(tmp_path / "wide")
    os.chown(above.eventloom, 4321, 4321)
    found = find_workspace(environ={}, cwd=str(project))
    assert (found.root, found.passed_over) == (str(project), above.eventloom)
    with Memory(found) as memory:
        memory.append("fact.recorded", {"fact": "the lamp burns oil"}, session=SESSION)
        assert [note for note in memory.query("which lamp", SESSION).notices if "another user" in note]
    assert find_workspace(workspace=above.root, environ={}).eventloom == above.eventloom
    with pytest.raises(Forbidden, match="belongs to another user"):
        find_workspace(environ={}, cwd=above.root)
    monkeypatch.setenv("SUDO_UID", "4321")
    assert find_workspace(environ={}, cwd=above.root).eventloom == above.eventloom


# Another log in the place of the one that was seen


def remember_more(workspace: Workspace) -> None:
    with Memory(workspace) as memory:
        memory.append("fact.recorded", {"fact": "the crane lifts ten tons"}, session=SESSION)
        memory.query(QUESTION, SESSION)


def with_an_older_copy_in_its_place(folder: Path) -> Workspace:
    workspace = remembering(folder / "here")
    copy = shutil.copytree(workspace.eventloom, folder / "copy", ignore=shutil.ignore_patterns("followers"))
    remember_more(workspace)
    assert not is_foreign(checkout(workspace))
    shutil.rmtree(workspace.eventloom)
    shutil.copytree(copy, workspace.eventloom)
    return workspace


def test_an_older_copy_in_the_place_of_a_log_is_not_believed_until_it_is_trusted(tmp_path: Path) -> None:
    workspace = with_an_older_copy_in_its_place(tmp_path)
    reply = checkout(workspace)
    assert is_foreign(reply) and "was seen here" in reply["warnings"][0]
    assert reply["quality"]["answerability"] != "answer_from_memory"
    take_in(workspace)
    assert not is_foreign(checkout(workspace))


def test_a_log_that_went_another_way_is_not_believed(tmp_path: Path) -> None:
    workspace = with_an_older_copy_in_its_place(tmp_path)
    with pytest.MonkeyPatch.context() as other:
        other.setenv("ZAXY_STATE_DIR", str(tmp_path / "the state of another"))
        with Memory(workspace) as memory:
            for number in range(5):
                memory.append("fact.recorded", {"fact": f"crane {number} lifts nothing"}, session=SESSION)
    reply = checkout(workspace)
    assert is_foreign(reply) and "is another one" in reply["warnings"][0]


def test_a_copy_of_a_workspace_goes_its_own_way(tmp_path: Path) -> None:
    workspace = remembering(tmp_path / "here")
    copied = find_workspace(str(shutil.copytree(workspace.root, tmp_path / "copied")))
    for one in (workspace, copied, copied, workspace):
        remember_more(one)
        assert not is_foreign(checkout(one))


def test_followers_that_are_rebuilt_accept_the_log_as_it_is(tmp_path: Path) -> None:
    workspace = with_an_older_copy_in_its_place(tmp_path)
    with Memory(workspace) as memory:
        memory.rebuild_followers(SESSION)
    assert not is_foreign(checkout(workspace))


def test_what_another_process_wrote_and_saw_meanwhile_is_no_reason_to_doubt(tmp_path: Path) -> None:
    workspace = remembering(tmp_path / "here")
    with Memory(workspace) as memory, memory.recall.store.view(SESSION) as earlier:
        remember_more(workspace)
        assert memory.recall.seen.doubt(earlier)
        assert memory.recall.foreign(earlier) == []


def test_a_log_that_only_grew_is_the_one_that_was_seen(tmp_path: Path) -> None:
    workspace = remembering(tmp_path / "here")
    for _ in range(3):
        remember_more(workspace)
        assert not is_foreign(checkout(workspace))
