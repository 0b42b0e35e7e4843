"""One log, three engines as different as can be: the same rows, the same answers, the same checkouts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from random import Random
from shutil import copytree
from typing import Any, NamedTuple

import pytest

from servers.neo4j_server import Address
from varied_history import GOALS, PEOPLE, REFS, SESSION, STORES, THINGS, record
from zaxy.api.models import AsOf, EntityRef
from zaxy.memory import Memory

pytestmark = pytest.mark.xdist_group("neo4j")  # one server, and one history, for all of them
EVENTS = 5_000
ERASED = (40, 41, 1_203, 4_000)
TYPES = ("actor", "fact", "decision", "task", "goal", "subject", "preference", "document", "transcript_turn", "none")
QUESTIONS = (
    "where is the cache kept?",
    "what did Bob say about the queue?",
    "who decided on the search index",
    "login page",
    "ZX-0017",
    "ZX-4711",
    '"lies in Redis"',
    "what is related to the cache",
    "which store do we use now for the queue",
    "how is Zoë connected to the mail relay?",
    "Größe",
    "what is left to do for no data loss?",
    "where are we?",
    "what did ann o'hara decide on billing",
)
MOMENTS = ("2026-02-10", "2026-03-10", "2026-04-15T12:00:00Z", "2026-05-25")
SEQS = (1, 60, 1_202, 2_500, 4_999)
PURPOSES = (None, "coding", "research")


class Told(NamedTuple):
    """What an engine told, as the bytes that a caller would see."""

    rows: list[str]
    queries: list[str]
    checkouts: list[str]


class History(NamedTuple):
    folder: Path
    refs: list[str]


def as_bytes(reply: object) -> str:
    return json.dumps(reply, sort_keys=True, ensure_ascii=False)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    folder = tmp_path_factory.mktemp("history") / "here"
    folder.mkdir()
    with Memory.open(folder) as memory:
        refs = record(memory, EVENTS)
        for seq in ERASED:
            line = memory.recall.store.get(SESSION, seq)
            assert line is not None
            memory.recall.store.erase(SESSION, seq, "user", "it was asked for")
    return History(folder, refs)


def asked_of_the_graph(memory: Memory) -> Iterator[Any]:
    """Each read of the contract, from random moments, with limits that cut and limits that do not."""
    random, backend, head = Random(3), memory.recall.backend, memory.head(SESSION)
    names = (*THINGS, *PEOPLE, *STORES, *GOALS, "CACHE", "cache place 3", "move the queue 2", "nobody")
    for _ in range(60):
        as_of = AsOf(
            random.choice(("", *(f"{day[:10]}T00:00:00.000000Z" for day in MOMENTS))),
            random.choice((None, random.randint(0, head))),
        )
        chosen, limit = random.sample(names, 3), random.choice((1, 7, 1_000))
        starts = [EntityRef(random.choice(TYPES), name) for name in chosen]
        yield backend.entities(SESSION, chosen, as_of, limit)
        yield backend.rows_of_events(SESSION, random.sample(range(1, head + 1), 12), as_of)
        yield backend.current(SESSION, random.sample(TYPES, 2), as_of, limit)
        relations = random.choice(((), ("about",), ("made_decision", "said")))
        yield backend.neighbours(
            SESSION, starts, relations=relations, depth=random.randint(1, 3), as_of=as_of, limit=limit
        )
    yield [backend.stats(SESSION)]


def told_by(history: History, folder: Path) -> Told:
    folder = Path(copytree(history.folder, folder))
    with Memory.open(folder) as memory:
        assert [(state.behind, state.problem) for state in memory.follow(SESSION)] == [(0, "")] * 2
        rows = [as_bytes([asdict(row) for row in found]) for found in asked_of_the_graph(memory)]
        answers = [
            memory.query(question, SESSION, limit=20, temporal_filter=moment, known_at=known_at)
            for question in QUESTIONS
            for moment, known_at in (("", None), *((at, None) for at in MOMENTS), *(("", seq) for seq in SEQS))
        ]
        checkouts = [
            memory.checkout(question, SESSION, ref=ref, purpose=purpose).as_dict()
            for question in QUESTIONS
            for ref, purpose in (*(("", one) for one in PURPOSES), *((name, None) for name in history.refs))
        ]
        assert [answer.warnings for answer in answers if answer.warnings] == []
    for reply in checkouts:
        del reply["retention"]["known_to_seq"]  # the mark of the checkout before may still be on its way to the log
    return Told(rows, [as_bytes(answer.as_dict()) for answer in answers], [as_bytes(reply) for reply in checkouts])


@pytest.fixture(scope="module")
def built_in(history: History) -> Told:
    return told_by(history, history.folder.with_name("sqlite"))


def test_the_history_has_all_that_engines_could_differ_in(history: History, built_in: Told) -> None:
    with Memory.open(history.folder.with_name("sqlite")) as memory:
        stats = memory.recall.backend.stats(SESSION)
        assert memory.recall.store.verify(SESSION).ok
        assert memory.head(SESSION) >= EVENTS and len(history.refs) == REFS
    assert stats.entities - stats.open_entities > 1_000 and stats.edges - stats.open_edges > 200
    assert sum(len(json.loads(rows)) for rows in built_in.rows) > 3_000
    assert len(set(built_in.queries)) > len(QUESTIONS) * 6, "moments make no difference"
    assert len(set(built_in.checkouts)) > len(QUESTIONS) * 6, "refs make no difference"
    replies = [json.loads(reply) for reply in built_in.checkouts]
    assert any(reply["current_facts"] and reply["working_set"]["decisions"] for reply in replies)


@pytest.fixture(params=["kuzu", "neo4j"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name = str(request.param)
    if name == "neo4j":
        address: Address = request.getfixturevalue("neo4j_address")
        for setting, value in {"PROJECTION_BACKEND": name, **address.settings}.items():
            monkeypatch.setenv(setting, value)
    else:
        pytest.importorskip(name, reason=f"{name} is not installed")
        monkeypatch.setenv("ZAXY_EMBEDDED_ENGINE", name)
    return name


def test_one_log_gives_the_same_rows_answers_and_checkouts_on_every_engine(
    history: History, built_in: Told, engine: str
) -> None:
    folder = history.folder.with_name(engine)
    told = told_by(history, folder)
    for part in Told._fields:
        expected, found = getattr(built_in, part), getattr(told, part)
        differing = [number for number, pair in enumerate(zip(expected, found, strict=True)) if pair[0] != pair[1]]
        assert not differing, (part, differing, expected[differing[0]][:3000], found[differing[0]][:3000])
    assert (folder / ".eventloom" / "followers" / f"projection_backends-{engine}").is_dir()
    assert not (folder / ".eventloom" / "followers" / "projection_backends-sqlite").exists()
