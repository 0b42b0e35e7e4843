"""What an extractor of a plugin sees in events reaches those who ask: found, cited, named, and never more than that."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from conftest import Zaxy
from folders import made_folder
from outside_extractors import install_extractor
from remembered import fact
from zaxy.memory import Memory
from zaxy.retrieve.results import Result

SESSION = "work"
DRAWER = "The till drawer sticks when it rains."
NIGHTJAR = """
text = str((event.payload or {}).get("fact", ""))
ref = EntityRef("venture", "Nightjar")
if "was cancelled" in text:
    return Extraction(closings=(Closing(event.time, ref),))
if "till drawer" in text:
    return Extraction((Entity("Nightjar", "venture", "Rewrite of the cash desk"),))
return Extraction()
"""
Install = Callable[..., str]


@pytest.fixture
def extractor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(str(site))
    return lambda body, version="'1'": install_extractor(site, body, version)


def remembered(folder: Path) -> Memory:
    memory = Memory.open(made_folder(folder))
    fact(memory, "The label printer listens on port 8443.")
    fact(memory, DRAWER)
    fact(memory, "The harbour lamp burns whale oil.")
    return memory


def found(memory: Memory, question: str) -> list[Result]:
    return [row for row in memory.query(question, SESSION).results if row.derived]


@pytest.mark.parametrize("question", ["What about Nightjar?", "the rewrite of the cash desk", "Which ventures run"])
def test_an_event_is_found_by_what_an_extractor_sees_in_it(tmp_path: Path, extractor: Install, question: str) -> None:
    name = extractor(NIGHTJAR)
    with remembered(tmp_path / "here") as memory:
        (row,) = found(memory, question)
    assert (row.content, row.seq) == (DRAWER, 2)
    assert row.citation.startswith(f"eventloom://{SESSION}/events/2#")
    assert row.as_dict()["derived"] == row.in_brief()["derived"]
    assert row.derived == (
        {
            "entity_name": "Nightjar",
            "entity_type": "venture",
            "summary": "Rewrite of the cash desk",
            "extractor": name,
        },
    )


def test_a_fact_has_the_words_of_its_event_and_says_which_extractor_made_the_name(
    tmp_path: Path, extractor: Install
) -> None:
    name = extractor(NIGHTJAR)
    with remembered(tmp_path / "here") as memory:
        reply = memory.checkout("What about Nightjar?", SESSION).as_dict()
    (shown,) = (row for row in reply["current_facts"] if row["content"] == DRAWER)
    assert [row["extractor"] for row in shown["derived"]] == [name]
    assert f"venture Nightjar by the extractor {name}" in reply["prompt"]
    assert reply["quality"]["answerability"] == "refresh_recommended", "the log itself does not say Nightjar"


def test_the_commands_say_what_an_extractor_sees(tmp_path: Path, extractor: Install, zaxy: Zaxy) -> None:
    name = extractor(NIGHTJAR)
    remembered(tmp_path / "here").close()
    for command in ("query", "checkout"):
        done = zaxy(command, "What about Nightjar?", "--session-id", SESSION, site=tmp_path / "site")
        assert DRAWER in done.stdout and f"venture Nightjar, as the extractor {name} sees it" in done.stdout, (
            done.stdout
        )


def test_what_an_event_only_asks_is_not_found_by_an_extractor(tmp_path: Path, extractor: Install) -> None:
    extractor("return Extraction((Entity('Nightjar', 'venture', 'Rewrite'),))")
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        turn = {"role": "user", "content": "Where is the till drawer?"}
        memory.append("transcript.turn", turn, actor="ada", session=SESSION)
        assert found(memory, "Nightjar") == []


def test_an_extractor_ends_its_own_row_and_what_was_known_stays_known(tmp_path: Path, extractor: Install) -> None:
    extractor(NIGHTJAR)
    with remembered(tmp_path / "here") as memory:
        fact(memory, "The rewrite was cancelled.")
        assert found(memory, "Nightjar") == []
        before = memory.query("Nightjar", SESSION, known_at=3).results
        assert [row["entity_name"] for row in before[0].derived] == ["Nightjar"]


def test_an_extractor_ends_no_row_of_another_one_nor_of_the_core(tmp_path: Path, extractor: Install) -> None:
    first = extractor(NIGHTJAR)
    extractor(
        "if event.seq < 3:\n    return Extraction()\n"
        "return Extraction((Entity('Nightjar', 'venture', 'Mine now'),), (),\n"
        "    (Closing(event.time, EntityRef('venture', 'nightjar')), Closing(event.time, seq=2)))"
    )
    with remembered(tmp_path / "here") as memory:
        fact(memory, "The quay was swept.")
        (row,) = found(memory, "Nightjar")
        assert [(one["extractor"], one["summary"]) for one in row.derived] == [(first, "Rewrite of the cash desk")]
        assert row.content == DRAWER and not row.valid_to


def test_an_extractor_ends_all_that_it_saw_in_an_earlier_event(tmp_path: Path, extractor: Install) -> None:
    extractor(NIGHTJAR.replace("Closing(event.time, ref)", "Closing(event.time, seq=2)"))
    with remembered(tmp_path / "here") as memory:
        assert len(found(memory, "Nightjar")) == 1
        fact(memory, "The rewrite was cancelled.")
        assert found(memory, "Nightjar") == []
        assert memory.query("till drawer", SESSION).results[0].content == DRAWER


def test_another_version_of_an_extractor_replaces_what_it_said_before(tmp_path: Path, extractor: Install) -> None:
    version = tmp_path / "version"
    version.write_text("Nightjar")
    extractor(
        f"return Extraction((Entity(pathlib.Path({str(version)!r}).read_text(), 'venture', 'A venture'),))",
        f"property(lambda self: pathlib.Path({str(version)!r}).read_text())",
    )
    with remembered(tmp_path / "here") as memory:
        assert found(memory, "Nightjar")
    version.write_text("Corncrake")
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        assert memory.query("Nightjar", SESSION).results == ()
        assert found(memory, "Corncrake")
        assert memory.recall.backend.stats(SESSION).entities == 3 + 1


def test_what_an_extractor_said_goes_away_with_its_plugin(
    tmp_path: Path, extractor: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = extractor(NIGHTJAR)
    with remembered(tmp_path / "here") as memory:
        digests = memory.recall.loop.digests(SESSION) if found(memory, "Nightjar") else {}
    monkeypatch.setenv("ZAXY_PLUGINS_DISABLE", name)
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        assert memory.query("Nightjar", SESSION).results == ()
        assert memory.recall.backend.stats(SESSION).entities == 3
        assert {one: digests[one] == other for one, other in memory.recall.loop.digests(SESSION).items()} == {
            "text": False,
            "graph": False,
        }


def test_an_extractor_that_fails_leaves_a_notice_and_the_rest_as_it_was(
    tmp_path: Path, extractor: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = extractor("raise LookupError('no rows today')")
    with remembered(tmp_path / "here") as memory:
        failed = memory.checkout("Where does the label printer listen?", SESSION).as_dict()
    monkeypatch.setenv("ZAXY_PLUGINS_DISABLE", name)
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        plain = memory.checkout("Where does the label printer listen?", SESSION).as_dict()
    assert any(name in notice for notice in failed["notices"]) and failed["warnings"] == []
    assert (failed["current_facts"], failed["quality"]) == (plain["current_facts"], plain["quality"])


@pytest.mark.parametrize(
    ("path", "edit"),
    [
        ("retrieval_lanes-verbatim/work.db", "UPDATE passages SET words = words || ' corncrak ' WHERE seq = 1"),
        ("projection_backends-sqlite/graph.db", 'UPDATE entities SET properties = \'{"extractor":"forger"}\''),
        ("projection_backends-sqlite/graph.db", "UPDATE entities SET summary = 'Corncrake' WHERE type = 'venture'"),
    ],
)
def test_what_an_editor_writes_into_a_follower_is_not_an_extractors_word(
    tmp_path: Path, extractor: Install, path: str, edit: str
) -> None:
    name = extractor(NIGHTJAR)
    with remembered(tmp_path / "here") as memory:
        assert found(memory, "Nightjar")
    files = list((tmp_path / "here" / ".eventloom" / "followers").rglob(Path(path).name))
    with closing(sqlite3.connect(files[0])) as db, db:
        assert db.execute(edit).rowcount
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        answer = memory.query("Nightjar Corncrake", SESSION)
        assert any("built again" in warning for warning in answer.warnings)
        (row,) = (row for row in answer.results if row.derived)
        assert [one["extractor"] for one in row.derived] == [name]
        assert "Corncrake" not in str(answer.as_dict())


def test_a_derived_name_is_no_way_to_forge_a_citation(tmp_path: Path, extractor: Install) -> None:
    extractor(f"return Extraction((Entity('Nightjar eventloom://work/events/9#{'a' * 64}', 'venture', 'V'),))")
    with remembered(tmp_path / "here") as memory:
        assert "events/9" not in str(memory.query("Nightjar", SESSION).as_dict())
        assert "events/9" not in str(memory.checkout("Nightjar", SESSION).as_dict())


UNANSWERABLE = (
    "Who repairs the bicycle shed in winter?",
    "Which colour has the vicar's new umbrella?",
    "When does the choir rehearse in Antwerp?",
)


def test_an_extractor_that_claims_every_word_answers_nothing(tmp_path: Path, extractor: Install) -> None:
    every_word = " ".join(word.strip("?") for question in UNANSWERABLE for word in question.split())
    extractor(f"return Extraction((Entity({every_word[:150]!r}, 'venture', {every_word!r}),))")
    with remembered(tmp_path / "here") as memory:
        for question in UNANSWERABLE:
            assert memory.checkout(question, SESSION).quality.answerability != "answer_from_memory"


def test_an_invalidation_ends_what_an_extractor_saw(tmp_path: Path, extractor: Install) -> None:
    extractor(NIGHTJAR)
    with remembered(tmp_path / "here") as memory:
        memory.append("memory.invalidated", {"entity_type": "venture", "entity_name": "Nightjar"}, session=SESSION)
        assert found(memory, "Nightjar") == []


def test_what_an_extractor_saw_in_an_erased_event_is_nowhere(tmp_path: Path, extractor: Install) -> None:
    extractor("return Extraction((Entity('quixzbarq', 'venture', 'V'),)) if event.seq == 2 else Extraction()")
    here = tmp_path / "here"
    with remembered(here) as memory:
        (row,) = found(memory, "quixzbarq")
        assert memory.forget(row.citation, "private").warnings == ()
        assert memory.query("quixzbarq", SESSION).results == ()
    assert [path for path in here.rglob("*") if path.is_file() and b"quixzbarq" in path.read_bytes()] == []
