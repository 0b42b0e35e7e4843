"""What memory costs as it grows: following, proving, asking and room, each against its baseline in the same run.

Following is measured in processes of their own, from nothing, against inserting the same rows by hand; asking against
the bare candidate query of FTS5 over the same texts, in turn. The words are drawn as in natural text: few are common,
most are rare. What was followed fast must have the digests of a rebuild in small batches, and a graph with a thing for
every event: leaving something out does not make it faster here.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import accumulate, islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.log import Row, print_table, shown, verify_and_parse
from folders import made_folder
from zaxy.api.models import Event
from zaxy.eventloom.admission import checked_entry
from zaxy.eventloom.bulk import encode_quickly
from zaxy.eventloom.record import make_line
from zaxy.extract.rules import extract
from zaxy.extract.texts import readable_text
from zaxy.follow import run
from zaxy.memory import Memory
from zaxy.workspace import find_workspace

SESSION = "scale"
START = datetime(2026, 1, 1, tzinfo=UTC)
COMMON = """the of and to a in is that it was for on are as with they be at this have from or had by but not what all
were we when there can an which their if do will how about many then them would so these some her him has
more could no than been its who did your my""".split()
RARE = 60_000
STEEPNESS = 1.2
"""How fast words become rare: 1,000 events have about 6,000 different ones, and half of all words are common."""
SPEAKERS = [f"Speaker{number}" for number in range(40)]
WORDS_OF_AN_EVENT = 35
WORDS_OF_A_QUESTION = 6
BATCH = 500
CANDIDATES = 300
QUESTIONS = 60
ROUNDS = {1_000: 5, 10_000: 3}
"""How often following is measured at a size; the median counts."""
SMALL_BATCH = 137
"""Events that a rebuild takes at once: what followers hold must not depend on it."""
RATE, REQUIRED_RATE, LEAST_RATE = 0.32, 0.28, 0.2
"""Of following against inserting by hand: the aim, what is asked for, and where the bench fails."""
GROUND = 10_000
"""Where a question is compared with the bare query, and later sizes with it."""


def _rare_word(number: int) -> str:
    """A word that can be spoken, the same for the same number."""
    syllables: list[str] = []
    while number or len(syllables) < 2:
        number, one = divmod(number, 70)
        syllables.append("bdfgklmnprstvz"[one % 14] + "aeiou"[one // 14])
    return "".join(syllables)


VOCABULARY = [*COMMON, *(_rare_word(number) for number in range(RARE))]
WEIGHTS = list(accumulate((rank + 2.7) ** -STEEPNESS for rank in range(len(VOCABULARY))))


def events(count: int) -> Iterator[Event]:
    """The first so many of one endless history; hashes are not yet filled in."""
    random = Random(11)
    for seq in range(1, count + 1):
        text = " ".join(random.choices(VOCABULARY, cum_weights=WEIGHTS, k=WORDS_OF_AN_EVENT))
        speaker = SPEAKERS[int(random.random() * len(SPEAKERS))]
        kind = random.random()
        if kind < 0.7:
            source = f"chat/{seq // 40}"
            payload = {"role": "user", "speaker": speaker, "content": text, "source": source, "turn_index": seq % 40}
            yield _event(seq, "transcript.turn", speaker, payload)
        elif kind < 0.8:
            yield _event(seq, "fact.recorded", "assistant", {"fact": text, "subject": text.split()[-1]})
        elif kind < 0.9:
            key = f"decision-{int(random.random() * seq / 20)}"
            yield _event(seq, "decision.made", speaker, {"decision": text, "key": key})
        else:
            payload = {"command": " ".join(text.split()[:4]), "stdout": text, "exit_code": 0}
            yield _event(seq, "command.completed", "assistant", payload)


def _event(seq: int, type_: str, actor: str, payload: dict[str, object]) -> Event:
    return Event(SESSION, seq, f"evt_{seq}", type_, actor, moment_of(seq), payload, "", None)


def moment_of(seq: int) -> str:
    """When the event of a number happened."""
    return (START + timedelta(seconds=20 * seq)).strftime("%Y-%m-%dT%H:%M:%S.000000Z")


def write_log(folder: Path, count: int) -> None:
    """A workspace with a whole log in it, without the cost of appending."""
    find_workspace(str(made_folder(folder))).claim()
    path, prev = folder / ".eventloom" / f"{SESSION}.jsonl", None
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        for event in events(count):
            payload = dict(event.payload or {})
            entry = checked_entry(event.type, event.actor, payload, canonical=encode_quickly(payload))
            line = make_line(entry, SESSION, seq=event.seq, prev=prev, time=event.time)
            prev = line.hash
            file.write(line.data + b"\n")


def questions(count: int) -> list[list[str]]:
    """Words of events that are there, none of them common."""
    random = Random(12)
    places = {1 + int(random.random() * min(count, 50_000)) for _ in range(QUESTIONS)}
    asked = []
    for event in events(max(places)):
        if event.seq in places:
            words = [word for word in readable_text(event.payload or {}).lower().split() if word.isalpha()]
            rare = [word for word in dict.fromkeys(words) if word not in COMMON]
            asked.append(sorted(rare, key=lambda word: random.random())[:WORDS_OF_A_QUESTION])
    return [words for words in asked if words]


# Following


class Followed(NamedTuple):
    wall: float
    cpu: float
    """Seconds, which a busy machine does not stretch as it does the wall's."""
    megabytes: float


def follow_here(folder: str) -> None:
    """In a process of its own: follow a log from nothing, and print what it took and what came of it."""
    with closing(Memory.open(folder)) as memory:
        memory.append("fact.recorded", {"fact": "All that is imported when first used is there now."}, session="before")
        memory.query("anything", session="before")
        began, began_cpu = time.perf_counter(), time.process_time()
        answer = memory.query("anything", session=SESSION, limit=1)
        cpu, wall = time.process_time() - began_cpu, time.perf_counter() - began
        behind = [state for state in memory.followers_status(SESSION) if state.behind or state.problem]
        if answer.warnings or behind:
            raise RuntimeError(f"not all was followed: {answer.warnings} {behind}")
        spent = {"wall": wall, "cpu": cpu, "megabytes": _most_memory()}
        print(json.dumps({"spent": spent, "digests": memory.follower_digests(SESSION)}))


def check_rebuild(folder: Path, digests: dict[str, str]) -> None:
    """Build the followers again in small batches: they must be as they were, and know something of every event."""
    run.BATCH = run.MAX_BATCH = SMALL_BATCH
    with closing(Memory.open(folder)) as memory:
        memory.rebuild_followers(SESSION)
        again, stats = memory.follower_digests(SESSION), memory.recall.backend.stats(SESSION)
        events = memory.head(SESSION)
    if again != digests:
        raise RuntimeError(f"what was followed is not what a rebuild makes: {digests} against {again}")
    if stats.entities < events or stats.edges < 0.9 * events:  # the same relation twice is one edge
        raise RuntimeError(f"the graph holds less than its {events:,} events say: {stats}")


def _most_memory() -> float:
    """The most that this process ever held, in MB."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1024
    except FileNotFoundError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1024)


def follow(folder: Path) -> tuple[Followed, dict[str, str]]:
    """What following from nothing took, and the digests of what it made."""
    command = [sys.executable, __file__, "--follow", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    printed = json.loads(done.stdout)
    return Followed(**printed["spent"]), printed["digests"]


def insert_by_hand(path: Path, count: int) -> float:
    """The same rows into FTS5 and two tables with an index for each look-up; CPU seconds, without making the rows."""
    seconds, known = 0.0, set()
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
            "CREATE VIRTUAL TABLE fts USING fts5 (text, tokenize = 'porter unicode61');"
            "CREATE TABLE entities (type TEXT, name TEXT, summary TEXT, properties TEXT, valid_from TEXT, seq INTEGER);"
            "CREATE TABLE edges (source TEXT, target TEXT, relation TEXT, valid_from TEXT, seq INTEGER);"
            # Without these nothing could be looked up.
            "CREATE INDEX by_name ON entities (name); CREATE INDEX by_event ON entities (seq);"
            "CREATE INDEX by_source ON edges (source); CREATE INDEX by_target ON edges (target);"
        )
        source = events(count)
        while batch := list(islice(source, BATCH)):
            texts, entities, edges = [], [], []
            for event in batch:
                rows = extract(event)
                texts.append((event.seq, readable_text(event.payload or {})))
                for entity in rows.entities:
                    row = (entity.entity_type, entity.name, entity.summary, json.dumps(dict(entity.properties)))
                    if row not in known:  # as ours, which writes nothing for an actor that it knows
                        entities.append((*row, event.time, event.seq))
                        known |= {row} if entity is not rows.entities[0] else set()
                edges += [
                    (edge.source.name, edge.target.name, edge.relation_type, event.time, event.seq)
                    for edge in rows.edges
                ]
            began = time.process_time()
            with database:
                database.executemany("INSERT INTO fts (rowid, text) VALUES (?, ?)", texts)
                database.executemany("INSERT INTO entities VALUES (?, ?, ?, ?, ?, ?)", entities)
                database.executemany("INSERT INTO edges VALUES (?, ?, ?, ?, ?)", edges)
            seconds += time.process_time() - began
    return seconds


# Asking


class Asked(NamedTuple):
    """Milliseconds of each question, in the same order."""

    query: list[float]
    verbatim: list[float]
    bare: list[float]


def ask(folder: Path, by_hand: Path, count: int) -> Asked:
    asked = Asked([], [], [])
    with closing(Memory.open(folder)) as memory, closing(sqlite3.connect(by_hand)) as database:

        def bare(words: list[str]) -> object:
            match = " OR ".join(words)
            statement = "SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rank LIMIT ?"
            return database.execute(statement, (match, CANDIDATES)).fetchall()

        ways: tuple[Callable[[list[str]], object], ...] = (
            lambda words: memory.query(f"what did they say about {' '.join(words)}", session=SESSION),
            lambda words: memory.verbatim(f"what did they say about {' '.join(words)}", session=SESSION),
            bare,
        )
        texts = questions(count)
        for turn in range(2):
            for words in texts:
                for way, spent in zip(ways, asked, strict=True):
                    began = time.perf_counter()
                    way(words)
                    if turn:  # the first round warms the caches
                        spent.append((time.perf_counter() - began) * 1000)
    return asked


def p95(figures: list[float]) -> float:
    return sorted(figures)[math.ceil(len(figures) * 0.95) - 1]


def ask_about_the_past(folder: Path) -> float:
    """A corrected decision is found as it was known before and as it is known now; the milliseconds of a question."""
    with closing(Memory.open(folder)) as memory:
        before, after = "The gate code of the archive is blue", "The gate code of the archive is green"
        first = memory.append("decision.made", {"decision": before, "key": "archive-gate"}, session=SESSION)
        second = memory.append("decision.made", {"decision": after, "key": "archive-gate"}, session=SESSION)
        began = time.perf_counter()
        then = {
            row.seq for row in memory.query("gate code of the archive", session=SESSION, known_at=first.seq).results
        }
        spent = time.perf_counter() - began
        now = {row.seq for row in memory.query("gate code of the archive", session=SESSION).results}
    if first.seq not in then or second.seq in then or second.seq not in now or first.seq in now:
        raise RuntimeError(f"the correction is not told apart: {first.seq in then} then, {second.seq in now} now")
    return spent * 1000


# The table


class Size(NamedTuple):
    events: int
    followed: Followed
    by_hand: float
    """CPU seconds."""
    verified: float
    parsed: float
    """CPU milliseconds of verifying the log, and of parsing and hashing each line."""
    asked: Asked


def measure_size(folder: Path, count: int) -> Size:
    source, followed, inserted = folder / f"{count}", [], []
    write_log(source, count)
    for turn in range(ROUNDS.get(count, 1)):
        place = folder / f"{count}-{turn}"
        shutil.copytree(source, place)
        inserted.append(insert_by_hand(place / "by-hand.db", count))
        spent, digests = follow(place)
        followed.append(spent)
    middle = Followed(*map(statistics.median, zip(*followed, strict=True)))
    check_rebuild(place, digests)
    rounds = ROUNDS.get(count, 1)
    ours, theirs = verify_and_parse(str(source / ".eventloom"), SESSION, events=count, rounds=rounds)
    asked = ask(place, place / "by-hand.db", count)
    return Size(count, middle, statistics.median(inserted), ours.cpu, theirs.cpu, asked)


def rows_of(size: Size, sizes: dict[int, Size]) -> Iterator[Row]:
    at = f"at {size.events:,}"
    rates = [size.events / seconds for seconds in (size.followed.cpu, size.by_hand)]
    figures = (
        f"{rates[0]:,.0f} events a CPU second against {rates[1]:,.0f}; {size.events / size.followed.wall:,.0f} a second"
        f"; {REQUIRED_RATE} is asked for; digests as a rebuild's"
    )
    judged = size.events >= GROUND
    yield Row(f"follow {at} / insert by hand", rates[0] / rates[1], RATE, True, figures, judged, LEAST_RATE)
    for smaller in (one for one in sizes.values() if one.events < size.events):
        cost, before = (one.followed.cpu / one.events * 1000 for one in (size, smaller))
        figures = f"{cost:.3f} ms an event against {before:.3f}"
        yield Row(f"follow {at} / at {smaller.events:,}", cost / before, 1.5, False, figures)
    rates = [size.events / milliseconds * 1000 for milliseconds in (size.verified, size.parsed)]
    figures = f"{rates[0]:,.0f} events a CPU second against {rates[1]:,.0f}"
    yield Row(f"verify {at} / parse and hash", rates[0] / rates[1], 0.5, True, figures, judged=judged)
    if size.events == 100_000:
        megabytes = size.followed.megabytes
        yield Row(f"MB held while following {at}", megabytes, 125, False, "the most of a process that follows it all")
    else:
        yield shown(f"MB held while following {at}", f"{size.followed.megabytes:.0f}")
    bare = statistics.median(size.asked.bare)
    for name, spent in (("query", size.asked.query), ("verbatim", size.asked.verbatim)):
        middle = statistics.median(spent)
        figures = f"p50 {middle:.2f} ms, p95 {p95(spent):.2f}, against {bare:.2f} and {p95(size.asked.bare):.2f}"
        yield Row(f"{name} {at} / bare candidates", middle / bare, 2.5, False, figures, judged=size.events == GROUND)
        if size.events > GROUND:
            ground = statistics.median(getattr(sizes[GROUND].asked, name))
            figures = f"p50 {middle:.2f} ms against {ground:.2f}"
            judged = size.events == 100_000
            yield Row(f"{name} {at} / at {GROUND:,}", middle / ground, 3.0, False, figures, judged=judged)


def measure(counts: list[int]) -> Iterator[Row]:
    sizes: dict[int, Size] = {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        for count in counts:
            sizes[count] = measure_size(folder, count)
            yield from rows_of(sizes[count], sizes)
        spent = ask_about_the_past(folder / f"{GROUND}-0")
        yield shown("a corrected decision, then and now", f"told apart; {spent:.2f} ms with following two events")


def main() -> None:
    arguments = sys.argv[1:]
    if arguments[:1] == ["--follow"]:
        follow_here(arguments[1])
        return
    counts = [1_000, 10_000]
    counts += [] if "--quick" in arguments else [100_000]
    counts += [1_000_000] if "--million" in arguments else []
    print_table(measure(counts))


if __name__ == "__main__":
    main()
