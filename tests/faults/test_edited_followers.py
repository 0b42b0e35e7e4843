"""Followers are files on the user's disk: whatever is edited in them puts no words into memory's mouth.

In each round the followers of a small workspace are edited and memory is asked. What was planted is nowhere in what it
says, all that it shows stands in the event that it cites, and an answer is either the one that an unharmed workspace
gives or says what was wrong. The next reads answer as if nothing had happened. Only where SQLite's own lists of words
were edited, or rows deleted, something may be missing in silence: then `zaxy followers verify` must find that, and a
rebuild must bring it back.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import varied_history
from faults.crashes import SEED, in_child
from faults.follower_edits import (
    ASKED_FOR,
    CELL_EDITS,
    FILE_EDITS,
    PLANTED,
    TEXT,
    CellEdit,
    FileEdit,
    databases,
    delete_row,
    edit_cells,
)
from folders import made_folder
from remembered import citations_in
from zaxy.api.models import Draft, Event
from zaxy.errors import ZaxyError
from zaxy.memory import Memory
from zaxy.user_state import state_folder

pytestmark = [pytest.mark.skipif(os.name != "posix", reason="files that are open are replaced"), pytest.mark.slow]

SESSION = varied_history.SESSION
ROUNDS = int(os.environ.get("ZAXY_EDITS", "200"))
"""How many edits all the tests here make together."""
FIRST_ROUND = int(os.environ.get("ZAXY_EDITS_FROM", "0"))
"""Where each test begins: many edits can be made in parts, and one that went wrong can be made again alone."""
ASKED_AT_ONCE = 3
ONLY_VERIFIED = re.compile(r"^deleted | fts_|^work\.db (bytes|page|to)")
"""Edits that no read can notice, so that the check of all rows must find them: of a row that is gone; of SQLite's own
tables of the text index, which have no seals; and of bytes of that file, which may be in those tables."""
QUESTIONS = (
    "where does the cache lie",
    "which store does the queue use",
    "what was decided about the search index",
    "who moved the backup to S3",
    "open tasks of the login page",
    "what is the task T-7 about",
    "how do we restore the ledger",
    "what does Ada prefer for billing",
    "ZX-0040",
    '"I think"',
    "goals with priority",
    f"what is the {ASKED_FOR} gate code",
)
READS = ("query", "verbatim", "context", "checkout")
SAYS_SO = re.compile(r"buil[dt]|damage|unusable|edited|not made", re.IGNORECASE)

Answers = dict[tuple[str, str], dict[str, Any]]


# The workspaces


def fill(memory: Memory) -> None:
    """Of everything something: decisions, facts, turns, tasks, skills, corrections, endings, feedback."""
    varied_history.record(memory, 110)
    task = {"task_id": "T-7", "title": "Rewrite the restore drill"}
    for kind in ("proposed", "claimed", "completed"):
        memory.append(f"task.{kind}", task, actor="grace", session=SESSION)
    memory.append("task.proposed", {"task_id": "T-8", "title": "Label the old disks"}, actor="ada", session=SESSION)
    details = {"name": "Restore the ledger", "summary": "Bring the ledger back", "procedure": ["stop", "copy", "start"]}
    memory.skill("propose", "restore-ledger", actor="ada", session=SESSION, version="1", **details)
    memory.skill("apply", "restore-ledger", actor="ada", session=SESSION, version="1", task="T-7", success_score=0.9)
    first = memory.append("fact.recorded", {"fact": "The lamp burns oil", "key": "lamp"}, actor="ada", session=SESSION)
    second = {"fact": "The lamp burns gas", "key": "lamp light", "supersedes": first.citation}
    memory.append("fact.recorded", second, actor="ada", session=SESSION)
    memory.feedback("cache", "decision", feedback="helpful", actor="ada", session=SESSION, citation=first.citation)
    memory.invalidate("lamp light", "fact", reason="it went out", actor="ada", session=SESSION)


def fill_with_other_words(folder: str, events: list[list[Any]]) -> None:
    """In a child too: the same events, where every text has something more to say."""
    with Memory.open(made_folder(Path(folder))) as memory:
        drafts = [Draft(kind, actor, _planted(payload)) for kind, actor, payload in events]
        recorded = memory.append_many(drafts, SESSION)
        memory.query("anything", SESSION)
        memory.resolve(recorded[-2].citation)  # by the index of the log, which is a follower too


def _planted(payload: dict[str, Any]) -> dict[str, Any]:
    named = ("key", "subject", "task_id", "skill_id", "entity_name", "entity_type", "occurred_at", "invalid_at", "role")
    planted = {key: f"{value} {TEXT}" for key, value in payload.items() if isinstance(value, str) and key not in named}
    return {**payload, **planted, "citation": "", "supersedes": ""}


@pytest.fixture(scope="module")
def same_user(state_folder: Path) -> Iterator[None]:
    """The key of the tests, before the first test has it: what another user had made would be built again anyway."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZAXY_STATE_DIR", str(state_folder))
        yield


@pytest.fixture(scope="module")
def workspaces(same_user: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An unharmed one, the same copied while it was in use, one of the same user and one of another user."""
    folder = tmp_path_factory.mktemp("edited")
    with Memory.open(made_folder(folder / "clean")) as memory:
        fill(memory)
        events = [
            [event.type, event.actor, dict(event.payload or {})]
            for event in memory.replay(SESSION)
            if not event.type.startswith(("event.", "memory."))
        ]
        memory.query("anything", SESSION)
        shutil.copytree(folder / "clean", folder / "in-use")
    fill_with_other_words(str(folder / "sibling"), events)
    home = {f"HOME={folder}/home", f"XDG_STATE_HOME={folder}/home", f"XDG_CONFIG_HOME={folder}/home"}
    home |= {f"XDG_DATA_HOME={folder}/home", f"XDG_CACHE_HOME={folder}/home", f"ZAXY_STATE_DIR={folder}/home"}
    in_child(fill_with_other_words, str(folder / "another-user"), events, under=("env", *sorted(home)))
    return folder


# Asking


def ask(workspace: Path, questions: tuple[str, ...]) -> Answers:
    """What a new memory answers; where it refuses, its message."""
    answers: Answers = {}
    with Memory.open(workspace) as memory:
        for question in questions:
            for read in READS:
                try:
                    reply = getattr(memory, read)(question, SESSION).as_dict()
                    answers[question, read] = without_head(json.loads(json.dumps(reply)))
                except ZaxyError as error:
                    answers[question, read] = {"warnings": [error.message, error.remediation], "refused": error.code}
    return answers


def without_head(reply: Any) -> Any:
    """A reply without the number of the last event, which the marker of every checkout raises."""
    if isinstance(reply, dict):
        return {key: without_head(value) for key, value in reply.items() if key not in ("next_cursor", "known_to_seq")}
    return [without_head(value) for value in reply] if isinstance(reply, list) else reply


@pytest.fixture(scope="module")
def unharmed(same_user: None, workspaces: Path, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    copy = tmp_path_factory.mktemp("unharmed") / "here"
    shutil.copytree(workspaces / "clean", copy)
    return ask(copy, QUESTIONS)


def within(reply: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """The values under some names, wherever they stand."""
    if isinstance(reply, dict):
        for key, value in reply.items():
            if key in names:
                yield value
            yield from within(value, names)
    elif isinstance(reply, list | tuple):
        for value in reply:
            yield from within(value, names)


def doubts(reply: Any) -> set[str]:
    """All warnings and notices of a reply."""
    return {str(one) for group in within(reply, ("warnings", "notices")) for one in group}


def shown_with_citation(reply: Any) -> Iterator[tuple[str, str]]:
    if isinstance(reply, dict):
        if isinstance(reply.get("content"), str) and reply.get("citation"):
            yield reply["content"], str(reply["citation"])
        for value in reply.values():
            yield from shown_with_citation(value)
    elif isinstance(reply, list | tuple):
        for value in reply:
            yield from shown_with_citation(value)


def words(text: str) -> set[str]:
    """The words of a text, without citations: those may be shown shorter, and are looked up besides.

    A field is shown with spaces in its name, and a word that is cut off is none.
    """
    return set(re.findall(r"[^\W_]+", re.sub(r"eventloom://\S+|\w+…", "", text.lower())))


OUR_WORDS = {"status"}
"""What a row is called that has its value from the type of its event."""


def words_of(event: Event) -> set[str]:
    return words(json.dumps([event.payload, event.actor, event.type, event.time], ensure_ascii=False))


# What must hold


def untrue(memory: Memory, answers: Answers) -> Iterator[str]:
    """What a reply says that the log does not."""
    for asked, reply in answers.items():
        if PLANTED in json.dumps(reply, ensure_ascii=False).lower():
            yield f"{asked} says what was planted"
        for citation in citations_in(reply):
            try:
                memory.resolve(citation)
            except ZaxyError:
                yield f"{asked} cites {citation}, which does not resolve"
        for content, citation in shown_with_citation(reply):
            try:
                strange = words(content) - words_of(memory.resolve(citation)) - OUR_WORDS
            except ZaxyError:
                continue  # reported above
            if strange:
                yield f"{asked} shows {sorted(strange)} that are not in {citation}"


def silent_differences(answers: Answers, unharmed: Answers) -> Iterator[str]:
    """Which answers differ from the unharmed ones without a word about it."""
    for asked, reply in answers.items():
        said = doubts(reply) - doubts(unharmed[asked])
        if reply != unharmed[asked] and not any(SAYS_SO.search(doubt) for doubt in said):
            yield f"{asked} differs in {sorted(_different(reply, unharmed[asked]))} and says only {sorted(said)}"


def differences(answers: Answers, unharmed: Answers) -> Iterator[str]:
    for asked, reply in answers.items():
        if reply != unharmed[asked]:
            yield f"the second time {asked} differs in {sorted(_different(reply, unharmed[asked]))}"


def _different(reply: dict[str, Any], other: dict[str, Any]) -> set[str]:
    return {key for key in reply.keys() | other.keys() if reply.get(key) != other.get(key)}


def found_by_verifying(here: Path) -> list[str]:
    with Memory.open(here) as memory:
        return [problem for found in memory.verify_followers(SESSION) for problem in found.problems]


def wrong_after(edit: Callable[[Random, Path], str], random: Random, here: Path, *, unharmed: Answers) -> Iterator[str]:
    """Edit, ask twice, and say what must not be."""
    made = edit(random, here)
    questions = tuple(random.sample(QUESTIONS, ASKED_AT_ONCE))
    edited = shutil.copytree(here, here.with_name("edited"))
    for again in (False, True):
        try:
            answers = ask(here, questions)
        except Exception as error:  # nothing but a ZaxyError may come
            yield f"{made}: {type(error).__name__}: {error}"
            return
        with Memory.open(here) as memory:
            yield from (f"{made}: {found}" for found in untrue(memory, answers))
        wrong = list(differences(answers, unharmed) if again else silent_differences(answers, unharmed))
        if wrong and may_be_silent(made, edited):
            wrong = list(differences(rebuilt(here, questions), unharmed))
        yield from (f"{made}: {found}" for found in wrong)
        if wrong:
            return


def may_be_silent(made: str, here: Path) -> bool:
    """Whether nobody but the check of all rows can have noticed an edit, and that does."""
    return bool(ONLY_VERIFIED.search(made)) and bool(found_by_verifying(here))


def rebuilt(here: Path, questions: tuple[str, ...]) -> Answers:
    with Memory.open(here) as memory:
        memory.rebuild_followers(SESSION)
    return ask(here, questions)


def rounds_of(kind: str, tmp_path: Path, workspaces: Path) -> Iterator[tuple[str, Random, Path]]:
    """For each round a name to repeat it by, its random numbers, and a copy of the unharmed workspace."""
    last = max(ROUNDS // (len(CELL_EDITS) + len(FILE_EDITS) + 1), 1)
    for number in range(min(FIRST_ROUND, last - 1), last):
        name = f"{SEED} {kind} {number}"
        here = tmp_path / "here"
        shutil.copytree(workspaces / "clean", here)
        # The log of the last round, at the same place, was another one, and would be missed.
        shutil.rmtree(Path(state_folder(), "workspaces"), ignore_errors=True)
        yield name, Random(name), here
        for made in tmp_path.iterdir():
            if made.name in ("here", "edited"):
                shutil.rmtree(made)


def check_rounds(
    edit: Callable[[Random, Path], str], kind: str, *, tmp_path: Path, workspaces: Path, unharmed: Answers
) -> None:
    """Make this kind of edit in all its rounds, and fail with the seed of each that went wrong."""
    wrong, rounds = [], 0
    for name, random, here in rounds_of(kind, tmp_path, workspaces):
        rounds += 1
        if found := list(wrong_after(edit, random, here, unharmed=unharmed)):
            wrong.append("\n  ".join([f"seed {name!r}", *found[:3]]))
    assert not wrong, "\n".join([f"wrong in {len(wrong)} of {rounds} rounds", *wrong])


def test_the_workspace_is_varied_and_answers_the_same_twice(
    workspaces: Path, unharmed: Answers, tmp_path: Path
) -> None:
    before = [path.stat().st_ino for path in databases(shutil.copytree(workspaces / "clean", tmp_path / "here"))]
    assert ask(tmp_path / "here", QUESTIONS[::-1]) == unharmed
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        assert list(untrue(memory, unharmed)) == []
    assert len(databases(workspaces / "clean")) == 4
    assert [path.stat().st_ino for path in databases(tmp_path / "here")] == before, "a copy was built again"
    assert not [doubt for reply in unharmed.values() for doubt in doubts(reply) if SAYS_SO.search(doubt)]
    assert [asked for asked, reply in unharmed.items() if asked[1] == "verbatim" and not citations_in(reply)] == [
        (QUESTIONS[-1], "verbatim")
    ]
    with Memory.open(made_folder(workspaces / "sibling")) as memory:
        assert PLANTED in json.dumps(memory.query(QUESTIONS[-1], SESSION).as_dict())


@pytest.mark.timeout(300 + 3 * ROUNDS)
@pytest.mark.parametrize("edit", CELL_EDITS, ids=lambda edit: edit.__name__)
def test_an_edited_cell_is_not_believed(edit: CellEdit, workspaces: Path, unharmed: Answers, tmp_path: Path) -> None:
    def make(random: Random, here: Path) -> str:
        return edit_cells(random, here, edit)

    check_rounds(make, edit.__name__, tmp_path=tmp_path, workspaces=workspaces, unharmed=unharmed)


@pytest.mark.timeout(300 + 3 * ROUNDS)
@pytest.mark.parametrize("edit", FILE_EDITS, ids=lambda edit: edit.__name__)
def test_a_file_that_is_not_as_it_was_left_is_not_believed(
    edit: FileEdit, workspaces: Path, unharmed: Answers, tmp_path: Path
) -> None:
    def make(random: Random, here: Path) -> str:
        return edit(random, here, workspaces)

    check_rounds(make, edit.__name__, tmp_path=tmp_path, workspaces=workspaces, unharmed=unharmed)


def deleted(random: Random, here: Path) -> str:
    return f"deleted {edit_cells(random, here, delete_row)}"


@pytest.mark.timeout(300 + 3 * ROUNDS)
def test_a_deleted_row_makes_nothing_untrue(workspaces: Path, unharmed: Answers, tmp_path: Path) -> None:
    check_rounds(deleted, "deleted", tmp_path=tmp_path, workspaces=workspaces, unharmed=unharmed)


@pytest.mark.timeout(300 + 3 * ROUNDS)
def test_a_deleted_row_is_found_by_verifying_the_followers_or_was_of_no_use(
    workspaces: Path, unharmed: Answers, tmp_path: Path
) -> None:
    with Memory.open(shutil.copytree(workspaces / "clean", tmp_path / "unharmed")) as memory:
        nothing = memory.verify_followers(SESSION)
    unseen = {}
    for name, random, here in rounds_of("deleted", tmp_path, workspaces):
        made = deleted(random, here)
        with Memory.open(here) as memory:
            is_unseen = memory.verify_followers(SESSION) == nothing
        if is_unseen and ask(here, QUESTIONS) != unharmed:
            unseen[name] = made
    assert not unseen, unseen
