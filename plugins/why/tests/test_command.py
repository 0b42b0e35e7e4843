"""`zaxy why` as it is typed: each answer, and for each mistake what is wrong and what to do next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from story import Story

from zaxy import Memory

Run = Callable[..., subprocess.CompletedProcess[str]]
PROMPT, LATER = "Write the basket; prices are in cents", "Add a discount"
FILE = "src/basket.py"
posix = pytest.mark.skipif(os.name != "posix", reason="shell scripts, and names that Windows does not allow")


def run(folder: Path, *words: str, columns: int = 80, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "zaxy", "why", *words],
        cwd=folder,
        env={**os.environ, "COLUMNS": str(columns), **env},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def reply(folder: Path, *words: str, code: int = 0) -> Any:
    done = run(folder, *words, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout or done.stderr)


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """A basket of eight lines by Claude Code, committed; then two more in the middle, in another session."""
    story = Story(tmp_path / "shop", tmp_path / "home")
    story.recorded_by_hooks("claude-code")
    story.ask(PROMPT, "claude-code", by_hooks=True)
    story.edit(FILE, 0, 0, [f"row {number}" for number in range(1, 9)], "claude-code", by_hooks=True)
    story.commit()
    story.begin_conversation()
    story.ask(LATER, "claude-code", by_hooks=True)
    story.edit(FILE, 4, 0, ["discount", "price"], "claude-code", by_hooks=True)
    return story


def test_a_line_leads_to_its_edit_prompt_and_commit_each_cited(story: Story) -> None:
    old, new = reply(story.folder, f"{FILE}:2"), reply(story.folder, f"{FILE}:5")
    assert (old["text"], old["prompt"]["text"], old["edit"]["operation"]) == ("row 2", PROMPT, "created")
    assert (new["text"], new["prompt"]["text"], new["edit"]["operation"]) == ("discount", LATER, "modified")
    assert old["commit"]["subject"] == "Go on"
    assert new["commit"] is None
    assert new["edit"]["session_id"] == "work-1" != old["edit"]["session_id"]
    assert old["certainty"] == new["certainty"] == "high"
    assert old["reasons"] == old["others"] == old["damaged"] == []
    with Memory.open(story.folder) as memory:
        for one in (old, new):
            for cited in (one["edit"], one["prompt"]):
                assert memory.resolve(cited["citation"]).session == cited["session_id"]


def test_a_line_that_an_edit_moved_is_still_that_of_the_one_that_wrote_it(story: Story) -> None:
    assert reply(story.folder, f"{FILE}:10")["text"] == "row 8"
    assert reply(story.folder, f"{FILE}:10")["prompt"]["text"] == PROMPT


def test_the_decision_is_the_one_made_between_prompt_and_edit_else_one_that_names_the_file_else_the_latest(
    story: Story,
) -> None:
    assert reply(story.folder, f"{FILE}:5")["decision"] is None

    def decision_after(decision: str, key: str, *, before_prompt: bool = True) -> tuple[str, str]:
        """Of which citation and why, for an edit that follows."""
        if not before_prompt:
            story.ask("Go on", "claude-code", by_hooks=True)
        cited[key] = story.decide(decision, key)
        if before_prompt:
            story.ask("Go on", "claude-code", by_hooks=True)
        story.edit(FILE, 0, 1, [f"first {key}"], "claude-code", by_hooks=True)
        found = reply(story.folder, f"{FILE}:1")["decision"]
        return found["citation"], found["why"]

    cited: dict[str, str] = {}
    latest = "the latest one that held then: whether the edit followed it is not on record"
    assert decision_after("Tests come first", "tests") == (cited["tests"], latest)
    assert decision_after("basket.py has no floats", "floats") == (cited["floats"], "it names the file")
    assert decision_after("It ships on Friday", "ships") == (cited["floats"], "it names the file")
    between = decision_after("Euros only", "currency", before_prompt=False)
    assert between == (cited["currency"], "made between the prompt and the edit")


def test_a_file_has_its_edits_newest_first_and_as_many_as_were_asked_for(story: Story) -> None:
    whole = reply(story.folder, FILE)
    assert (whole["edits"], len(whole["sessions"])) == (2, 2)
    assert [one["prompt"]["text"] for one in whole["newest"]] == [LATER, PROMPT]
    assert (whole["first"], whole["last"]) == (whole["newest"][1]["at"], whole["newest"][0]["at"])
    done = run(story.folder, FILE, "--limit", "1")
    assert LATER in done.stdout and PROMPT not in done.stdout
    assert done.stdout.endswith("and 1 older edit: --limit 2\n")
    assert reply(story.folder, FILE, "--session-id", "work-1")["edits"] == 1


def test_a_persons_line_is_nobodys_edit_and_has_its_commit_once_it_is_committed(story: Story) -> None:
    story.commit()
    story.by_hand(FILE, 0, 0, ["by hand"])
    found = reply(story.folder, f"{FILE}:1", code=1)
    assert found["edit"] is found["commit"] is found["certainty"] is None
    assert found["next"].startswith("Edits by hand are not recorded. 'zaxy hook-status'")
    story.commit()
    assert reply(story.folder, f"{FILE}:1", code=1)["commit"]["author"] == "Ann"
    done = run(story.folder, f"{FILE}:1")
    assert done.returncode == 1
    assert "edit       none on record wrote this line" in done.stdout
    assert "by Ann" in done.stdout and "how sure" not in done.stdout
    assert reply(story.folder, f"{FILE}:3")["text"] == "row 2"


def test_lines_that_a_person_changed_before_the_commit_leave_the_others_less_sure(story: Story) -> None:
    story.by_hand(FILE, 9, 1, ["eight", "nine"])
    story.commit()
    found = reply(story.folder, f"{FILE}:5")
    assert (found["text"], found["prompt"]["text"], found["certainty"]) == ("discount", LATER, "medium")
    assert found["reasons"] == ["something that is not on record changed the file after this edit"]


def test_an_untracked_file_and_a_folder_without_git_have_answers_too(tmp_path: Path) -> None:
    for name, git in (("tracked", True), ("plain", False)):
        story = Story(tmp_path / name, tmp_path / "home", git=git)
        story.recorded_by_hooks("claude-code")
        story.ask(PROMPT, "claude-code", by_hooks=True)
        story.edit(FILE, 0, 0, ["one", "two"], "claude-code", by_hooks=True)
        found = reply(story.folder, f"{FILE}:2")
        assert (found["prompt"]["text"], found["commit"], found["certainty"]) == (PROMPT, None, "high")


@pytest.mark.parametrize("committed", [False, True], ids=["staged", "committed"])
def test_a_renamed_file_keeps_its_edits_by_line_and_as_a_whole(story: Story, committed: bool) -> None:
    story.commit()
    story.move(FILE, "src/cart.py")
    if committed:
        story.commit()
    assert reply(story.folder, "src/cart.py:5")["prompt"]["text"] == LATER
    assert reply(story.folder, "src/cart.py:2")["edit"]["path"] == FILE
    assert reply(story.folder, "src/cart.py")["edits"] == 2


def test_an_amended_commit_has_the_edits_that_came_after_its_authors_time(story: Story) -> None:
    story.amend()
    found = reply(story.folder, f"{FILE}:5")
    assert (found["prompt"]["text"], found["certainty"], found["commit"]["subject"]) == (LATER, "high", "Go on")


def test_a_rebased_commit_has_the_edits_that_were_made_before_its_authors_time(story: Story) -> None:
    story.git("branch", "before")
    story.commit()
    story.git("switch", "-q", "--detach", "before")
    (story.folder / "other.txt").write_text("meanwhile\n", encoding="utf-8")
    story.commit()
    story.git("branch", "-f", "before")
    story.git("switch", "-q", "main")
    story.wait(10_000)
    story.git("rebase", "-q", "before")
    story.edit(FILE, 0, 0, ["later"], "claude-code", by_hooks=True)
    story.commit()
    found = reply(story.folder, f"{FILE}:6")
    assert (found["text"], found["prompt"]["text"], found["certainty"]) == ("discount", LATER, "high")
    assert (story.folder / "other.txt").exists()


def test_a_subagents_edit_has_the_prompt_of_the_conversation_that_it_was_started_in(story: Story) -> None:
    story.ask("Have somebody sort the rows", "claude-code", by_hooks=True)
    story.subagent = "a1b2c3"
    story.edit(FILE, 0, 1, ["sorted"], "claude-code", by_hooks=True)
    found = reply(story.folder, f"{FILE}:1")
    assert found["prompt"]["text"] == "Have somebody sort the rows"
    assert found["edit"]["session_id"].startswith(found["prompt"]["session_id"] + ".")
    assert found["task"] is None


def test_the_files_of_a_repository_above_the_project_have_their_commits(tmp_path: Path) -> None:
    story = Story(tmp_path / "shop", tmp_path / "home", git=False)
    story.recorded_by_hooks("claude-code")
    story.ask(PROMPT, "claude-code", by_hooks=True)
    story.edit(FILE, 0, 0, ["one", "two"], "claude-code", by_hooks=True)
    for words in (("init", "-q", ".."), ("add", "src"), ("commit", "-qm", "All of it")):
        story.git(*words)
    story.edit(FILE, 0, 0, ["zero"], "claude-code", by_hooks=True)
    assert reply(story.folder, f"{FILE}:3")["commit"]["subject"] == "All of it"


def test_where_git_is_not_installed_the_log_alone_answers(story: Story) -> None:
    done = run(story.folder, f"{FILE}:2", PATH="")
    assert done.returncode == 0
    assert PROMPT in done.stdout and "commit" not in done.stdout


@posix
def test_nothing_that_a_repository_configures_is_run(story: Story) -> None:
    ran = story.folder.parent / "ran"
    program = story.folder.parent / "program"
    program.write_text(f"#!/bin/sh\necho ran >> '{ran}'\ncat \"$1\" 2>/dev/null\n", encoding="utf-8")
    program.chmod(0o700)
    (story.folder / ".gitattributes").write_text("*.py diff=evil filter=evil\n", encoding="utf-8")
    for name in "diff.evil.textconv diff.evil.command diff.external core.fsmonitor core.pager gpg.program".split():
        story.git("config", name, str(program))
    story.git("config", "log.showSignature", "true")
    for target in (f"{FILE}:2", f"{FILE}:5", FILE):
        assert reply(story.folder, target)["path"] == FILE
    assert not ran.exists()


@posix
@pytest.mark.parametrize("name", ["-L.py", ":(glob)x.py", "src/ü ñ.py", "a'b\"c.py"])
def test_a_file_may_have_any_name(tmp_path: Path, name: str) -> None:
    story = Story(tmp_path / "shop", tmp_path / "home")
    story.recorded_by_hooks("claude-code")
    story.ask(PROMPT, "claude-code", by_hooks=True)
    story.edit(name, 0, 0, ["one", "two"], "claude-code", by_hooks=True)
    story.commit()
    found = reply(story.folder, f"./{name}:2")
    assert (found["path"], found["prompt"]["text"], found["commit"]["subject"]) == (name, PROMPT, "Go on")
    assert reply(story.folder, f"./{name}")["edits"] == 1


def test_where_git_blame_fails_the_log_alone_answers(story: Story) -> None:
    story.git("config", "blame.ignoreRevsFile", "missing")
    found = reply(story.folder, f"{FILE}:2")
    assert (found["prompt"]["text"], found["commit"], found["certainty"]) == (PROMPT, None, "high")


def test_a_deleted_file_has_its_edits_and_no_lines(story: Story) -> None:
    (story.folder / FILE).unlink()
    assert reply(story.folder, FILE)["edits"] == 2
    done = run(story.folder, f"{FILE}:5")
    assert done.returncode == 1
    assert done.stderr.endswith(f"Of a deleted file the edits are listed by: zaxy why {FILE}\n")


MISTAKES = (
    ("src/basket.py:99", 2, "src/basket.py has 10 lines, and no line 99", "zaxy why src/basket.py\n"),
    ("src/basket.py:0", 2, "src/basket.py has no line 0", "Lines are counted from 1."),
    ("src/basket.py:2-4", 2, "2-4 is no line of src/basket.py", "zaxy why src/basket.py:1"),
    ("src/basket.py:x", 2, "x is no line of src/basket.py", "zaxy why src/basket.py:1"),
    ("src", 2, "src is a folder", "Name a file in it"),
    ("src:3", 2, "src is a folder", "Name a file in it"),
    ("nope.py", 1, "there is no file nope.py, and no edit of it is on record", "'zaxy hook-status'"),
    ("nope.py:3", 1, "there is no file nope.py", "Correct the path."),
    ("../outside.py", 2, "../outside.py is outside of the project", "--workspace"),
    ("note.txt", 1, "no edit of note.txt is on record", "'zaxy capture once'"),
    ("picture:1", 2, "picture is not text", "Only lines of text"),
)


def test_each_mistake_is_said_with_the_next_step_and_writes_nothing(story: Story) -> None:
    (story.folder / "note.txt").write_text("hi\n", encoding="utf-8")
    (story.folder / "picture").write_bytes(b"\0\1\2")
    (story.folder.parent / "outside.py").write_text("hi\n", encoding="utf-8")
    before = sorted(story.folder.rglob("*"))
    for target, code, wrong, step in MISTAKES:
        done = run(story.folder, target)
        assert done.returncode == code, (target, done.stderr)
        first, second = done.stderr.splitlines(keepends=True)
        assert first.startswith(f"zaxy: {wrong}"), first
        assert step in second, second
    assert sorted(story.folder.rglob("*")) == before


def test_where_nothing_is_recorded_the_answer_is_zaxy_init_and_no_folder_is_made(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\n", encoding="utf-8")
    done = run(tmp_path, "a.py:1")
    assert done.returncode == 1
    assert done.stderr.endswith("nothing is recorded in " + f"{tmp_path} yet\n  Set the project up: zaxy init\n")
    assert not (tmp_path / ".eventloom").exists()


def test_a_path_is_taken_from_the_current_folder_and_else_from_the_projects(story: Story) -> None:
    (story.folder / ".zaxy").mkdir(exist_ok=True)
    for folder, path in ((story.folder / "src", "basket.py:5"), (story.folder / "src", f"{FILE}:5")):
        assert reply(folder, path, "--workspace", str(story.folder))["path"] == FILE
    assert reply(story.folder.parent, f"{FILE}:5:1", "--workspace", str(story.folder))["line"] == 5


def test_a_damaged_session_is_named_and_the_others_still_answer(story: Story) -> None:
    log = story.folder / ".eventloom/work-1.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"lines_added":2', b'"lines_added":3'))
    done = run(story.folder, f"{FILE}:2")
    assert "warning: the log of work-1 is damaged: 'zaxy verify work-1' tells where" in done.stderr
    assert PROMPT in done.stdout


@pytest.mark.parametrize("columns", [80, 40])
def test_a_page_fits_the_terminal_but_for_citations_which_stay_whole(story: Story, columns: int) -> None:
    story.decide("Prices are whole cents, and nobody shall ever see a float in a price again", "prices")
    story.ask("Round the price " * 8, "claude-code", by_hooks=True)
    story.edit(FILE, 0, 1, ["price = round(price) " * 6], "claude-code", by_hooks=True)
    for target in (f"{FILE}:1", FILE):
        lines = run(story.folder, target, columns=columns).stdout.splitlines()
        cited = [line for line in lines if "eventloom://" in line]
        assert len(cited) == 3
        assert all(len(line.split()) == 1 for line in cited)
        assert all(len(line) <= columns for line in lines if line not in cited)
        assert not any("\x1b" in line for line in lines)
