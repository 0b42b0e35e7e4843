"""The one kind of SQLite file behind the log's index, the text index and the graph: it may go at any time."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from zaxy.errors import InternalError, Unavailable
from zaxy.eventloom.database_errors import Unsealed
from zaxy.eventloom.disposable_database import BrokenFollower, DisposableDatabase
from zaxy.eventloom.sealed_connection import SealedConnection

SCHEMA = "CREATE TABLE words (word TEXT)"
ALL = "SELECT word FROM words ORDER BY word"


class Opened(DisposableDatabase):
    def __init__(self, folder: Path, version: object = 1, bound_to: str = "") -> None:
        self.warnings: list[str] = []
        path, warn = str(folder / "state" / "words.db"), self.warnings.append
        super().__init__(path, "the list of words", schema=SCHEMA, version=version, bound_to=bound_to, warn=warn)

    def add(self, *words: str) -> None:
        self.write(lambda db: db.executemany("INSERT INTO words VALUES (?)", [(word,) for word in words]))

    def words(self) -> list[str]:
        return [word for (word,) in self.read(lambda db: db.execute(ALL).fetchall())]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Opened]:
    with closing(Opened(tmp_path)) as made:
        yield made


def beside(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "state").iterdir() if ".broken-" in path.name)


def test_what_was_written_is_read_after_closing_and_by_others(tmp_path: Path, database: Opened) -> None:
    database.add("lamp", "boat")
    database.close()
    with closing(Opened(tmp_path)) as other:
        assert other.words() == database.words() == ["boat", "lamp"]
    assert not database.warnings


def test_threads_that_open_and_close_it_at_once_close_only_their_own_files(database: Opened) -> None:
    errors: list[BaseException] = []

    def open_and_close(use: Callable[[], object]) -> None:
        for _ in range(300):
            try:
                use()
                database.close()
            except BaseException as error:
                errors.append(error)

    uses: tuple[Callable[[], object], ...] = (lambda: database.add("lamp"), database.words) * 2
    threads = [Thread(target=open_and_close, args=(use,)) for use in uses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(database.words()) == 600


def test_a_change_is_made_whole_or_not_at_all(database: Opened) -> None:
    def half(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO words VALUES ('half')")
        raise RuntimeError

    database.add("lamp")
    before = database.generation
    with pytest.raises(RuntimeError):
        database.write(half)
    assert database.words() == ["lamp"]
    assert database.generation > before, "what was remembered of it may be wrong"


def of_another_version(folder: Path) -> None:
    with closing(Opened(folder, version=2)) as other:
        other.add("of another version")


def no_database(folder: Path) -> None:
    (folder / "state").mkdir()
    (folder / "state" / "words.db").write_bytes(b"not a database at all" * 100)


def a_folder(folder: Path) -> None:
    (folder / "state" / "words.db").mkdir(parents=True)


def of_another_program(folder: Path) -> None:
    (folder / "state").mkdir()
    with closing(sqlite3.connect(folder / "state" / "words.db")) as db:
        db.execute("CREATE TABLE songs (title)")


@pytest.mark.parametrize("make", [of_another_version, no_database, a_folder, of_another_program])
def test_what_cannot_be_used_is_set_aside_with_one_warning(
    tmp_path: Path, database: Opened, make: Callable[[Path], None]
) -> None:
    make(tmp_path)
    assert database.words() == []
    database.add("lamp")
    assert database.words() == ["lamp"]
    assert len(database.warnings) == 1
    assert database.warnings[0].startswith("the list of words was unusable (")
    assert "words.db.broken-1" in beside(tmp_path)
    database.scrub()
    assert beside(tmp_path) == (["words.db.broken-1"] if make is a_folder else []), "a folder is none of ours"


def test_a_mistake_of_the_code_is_no_reason_to_set_the_file_aside(tmp_path: Path, database: Opened) -> None:
    database.add("lamp")
    with pytest.raises(sqlite3.ProgrammingError):
        database.read(lambda db: db.execute(ALL, ("too", "many")))
    assert database.words() == ["lamp"]
    assert beside(tmp_path) == []


def test_a_place_that_cannot_be_used_is_an_error_that_names_it(tmp_path: Path, database: Opened) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "words.lock").mkdir()
    with pytest.raises(Unavailable, match="the list of words cannot be used"):
        database.words()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_a_connection_of_its_own_and_leaves_the_parents_alone(database: Opened) -> None:
    database.add("lamp")
    pid = os.fork()
    if not pid:
        try:
            database.close()  # the parent's connection must survive this
            database.add("boat")
            os._exit(0 if database.words() == ["boat", "lamp"] else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert database.words() == ["boat", "lamp"]


# One state, seals and stamps


def test_all_reads_within_a_hold_are_of_one_state(tmp_path: Path, database: Opened) -> None:
    database.add("lamp")
    with closing(Opened(tmp_path)) as other, database.hold():
        assert database.words() == ["lamp"]
        other.add("boat")
        assert database.words() == ["lamp"]
    assert database.words() == ["boat", "lamp"]


def test_what_this_thread_writes_within_a_hold_is_seen_after_it(database: Opened) -> None:
    with database.hold():
        assert database.words() == []
        database.add("lamp")
        assert database.words() == []
    assert database.words() == ["lamp"]


def test_a_row_that_was_changed_does_not_hold_its_seal(database: Opened) -> None:
    def check(db: SealedConnection) -> None:
        seal = db.seal(("lamp", 7, None))
        db.check(("lamp", 7, None), seal)
        for changed in (("boat", 7, None), ("lamp", 8, None), ("lamp", 7, ""), (b"lamp", 7, None), ("lamp", "7", None)):
            with pytest.raises(Unsealed):
                db.check(changed, seal)

    database.read(check)


def test_each_file_has_seals_of_its_own(tmp_path: Path, database: Opened) -> None:
    with closing(Opened(tmp_path / "other")) as other:
        assert database.read(lambda db: db.seal(("lamp",))) != other.read(lambda db: db.seal(("lamp",)))


def unsealed(db: SealedConnection) -> None:
    db.check(("lamp",), 0)


def test_a_broken_seal_sets_the_file_aside(tmp_path: Path, database: Opened) -> None:
    database.add("lamp")
    with pytest.raises(Unavailable):
        database.read(unsealed)
    assert database.words() == []
    assert "words.db.broken-1" in beside(tmp_path)


def test_a_broken_seal_ends_a_hold_and_its_owner_sets_the_file_aside(tmp_path: Path, database: Opened) -> None:
    database.add("lamp")
    with pytest.raises(BrokenFollower) as broken, database.hold():
        database.read(unsealed)
    assert database.words() == ["lamp"], "others may still be reading it"
    broken.value.set_aside()
    broken.value.set_aside()
    assert database.words() == []
    assert beside(tmp_path) == ["words.db.broken-1"]


@pytest.mark.parametrize("how", ["another user", "another workspace", "no stamp", "two stamps"])
def test_a_file_that_this_user_did_not_make_here_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    with closing(Opened(tmp_path)) as made:
        made.add("lamp")
        path = made._path
    edits = {"no stamp": "DELETE FROM stamp", "two stamps": "INSERT INTO stamp SELECT * FROM stamp"}
    if how in edits:
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(edits[how])
    if how == "another user":
        monkeypatch.setenv("ZAXY_STATE_DIR", str(tmp_path / "another user"))
    with closing(Opened(tmp_path, bound_to="another" if how == "another workspace" else "")) as database:
        assert database.words() == []
        assert "this user did not make it here" in database.warnings[0]


def test_bytes_that_are_no_text_set_the_file_aside_and_are_not_quoted(tmp_path: Path, database: Opened) -> None:
    database.write(lambda db: db.execute("INSERT INTO words VALUES (CAST(x'6c616d70ff' AS TEXT))"))
    assert database.words() == []
    assert "lamp" not in database.warnings[0]


def as_numbers(db: sqlite3.Connection) -> list[int]:
    return [int(word) for (word,) in db.execute(ALL)]


def test_a_read_that_fails_on_what_it_finds_has_the_file_built_again(tmp_path: Path, database: Opened) -> None:
    database.add("12", "secret lamp")
    assert database.read(as_numbers) == []
    assert len(beside(tmp_path)) == 1
    assert "ValueError in test_disposable_database.py" in database.warnings[0]
    assert "lamp" not in database.warnings[0], "a message quotes what was recorded"


def test_what_fails_again_in_the_new_file_is_said_as_a_mistake_and_quotes_nothing(
    tmp_path: Path, database: Opened
) -> None:
    database.add("secret lamp")
    database.read(as_numbers)
    database.add("secret lamp")
    with pytest.raises(InternalError, match="though it was built again: ValueError") as mistake:
        database.read(as_numbers)
    assert "lamp" not in mistake.value.message + mistake.value.remediation
    assert len(beside(tmp_path)) == 1 and database.words() == ["secret lamp"]


def test_a_held_read_that_fails_ends_the_hold(tmp_path: Path, database: Opened) -> None:
    database.add("secret lamp")
    with database.hold(), pytest.raises(BrokenFollower) as broken:
        database.read(as_numbers)
    assert "lamp" not in str(broken.value)
    broken.value.set_aside()
    assert database.words() == [] and len(beside(tmp_path)) == 1


def test_a_change_that_fails_by_what_is_to_be_written_leaves_the_file(tmp_path: Path, database: Opened) -> None:
    database.add("lamp")
    with pytest.raises(KeyError):
        database.write(lambda db: {}["no such"])
    assert database.words() == ["lamp"] and not beside(tmp_path)


def test_examining_says_why_a_file_cannot_be_used_and_leaves_it(tmp_path: Path, database: Opened) -> None:
    assert database.examine(lambda db: ["never asked"]) == [], "there is no file yet"
    database.add("lamp")
    assert database.examine(lambda db: [str(len(db.execute(ALL).fetchall()))]) == ["1"]
    assert "ValueError" in database.examine(lambda db: [str(as_numbers(db))])[0]
    database.close()
    (tmp_path / "state" / "words.db").write_bytes(b"rubbish" * 1000)
    assert database.examine(lambda db: []) == ["file is not a database"]
    assert not beside(tmp_path) and not database.warnings


def test_reads_go_on_while_a_thread_writes(database: Opened) -> None:
    database.add("lamp")
    database.words()
    inside: list[list[str]] = []

    def slowly(db: SealedConnection) -> None:
        db.execute("INSERT INTO words VALUES ('boat')")
        reader = Thread(target=lambda: inside.append(database.words()))
        reader.start()
        reader.join()

    database.write(slowly)
    assert inside == [["lamp"]]
    assert database.words() == ["boat", "lamp"]
