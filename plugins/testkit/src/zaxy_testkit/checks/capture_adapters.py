"""Checks of `capture_adapters`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from zaxy.api.models import Observation, Source
from zaxy.api.points import CaptureAdapter
from zaxy_testkit.checks import Case, CheckFailed, Workbench, check, expect, expect_no_error
from zaxy_testkit.checks.overheard import listening
from zaxy_testkit.checks.shape import check_shape

POINT = "capture_adapters"

EVENT_TYPE = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+")
MAX_READINGS = 1000
"""No sample needs nearly as many. An adapter that is not done by then never will be."""


@dataclass(frozen=True)
class CaptureAdapterCase(Case):
    workspace: Path
    """The workspace whose sessions are read; at the start the client has written nothing there."""
    elsewhere: Path
    """Another workspace, without sessions; best one whose path begins like the first one's."""
    write: Callable[[int], None]
    """Let the client write that many more complete records in the workspace. Each gives one observation.

    Best all alike: that reveals an adapter that confuses records with the same content.
    """
    write_half: Callable[[], None]
    """Let the client write the first part of one more such record, best cut within a character."""
    write_rest: Callable[[], None]
    """Let the client finish that record."""
    write_unknown: Callable[[], None]
    """Let the client write a complete record of a kind that the adapter does not know."""
    write_subagent: Callable[[int], None] | None = field(default=None, kw_only=True)
    """Let a subagent of the session that `write` writes to write that many more such records, always the same subagent.

    Leave it out only if the client has no subagents.
    """


def sources(adapter: CaptureAdapter, workspace: Path) -> Sequence[Source]:
    found = adapter.sources(workspace)
    expect(isinstance(found, Sequence), f"sources() must return a finished sequence, and returned {found!r}")
    return found


def read_on(adapter: CaptureAdapter, workspace: Path, marks: dict[str, str], limit: int = 100) -> list[Observation]:
    """Everything in the workspace's sources after the marks, which are moved on."""
    return read_sources(adapter, sources(adapter, workspace), marks, limit=limit)


def read_sources(
    adapter: CaptureAdapter, found_sources: Sequence[Source], marks: dict[str, str], *, limit: int = 100
) -> list[Observation]:
    found: list[Observation] = []
    for source in found_sources:
        for _ in range(MAX_READINGS):
            reading = adapter.read(source, marks.get(source.id, ""), limit)
            found += reading.observations
            marks[source.id] = reading.mark
            if reading.done:
                break
        else:
            raise CheckFailed(f"after {MAX_READINGS} readings {source.id!r} is still not done, mark {reading.mark!r}")
    return found


def read_all(adapter: CaptureAdapter, workspace: Path, limit: int = 100) -> list[Observation]:
    return read_on(adapter, workspace, {}, limit)


check_shape(POINT)


@check(POINT)
def it_finds_nothing_before_the_client_has_written(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Return no sources where the client's folder does not exist: most people do not use every client."""
    with expect_no_error("where nothing was written nothing must be found, and it"):
        found = read_all(bench.make(case), case.workspace)
    expect(not found, f"where nothing was written nothing must be found, and there was {found!r}")


@check(POINT)
def it_finds_the_sessions_of_the_workspace(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Compare resolved paths, and look wherever the client keeps its sessions; the case's `write` must write there."""
    case.write(1)
    found = sources(bench.make(case), case.workspace)
    expect(len(found) > 0, f"there is a session of {case.workspace}, and none was found")


@check(POINT)
def it_finds_no_sessions_of_another_workspace(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Choose by the folder that the session itself names, compared whole: one project's words are not another's."""
    case.write(1)
    found = sources(bench.make(case), case.elsewhere)
    expect(not found, f"no session belongs to {case.elsewhere}, and these were found: {found!r}")


@check(POINT)
def each_record_becomes_one_observation(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Give one observation for each record that tells something, even if two say the same; leave out none."""
    case.write(5)
    found = read_all(bench.make(case), case.workspace)
    expect(len(found) == 5, f"5 records were written, and {len(found)} observations were read: {found!r}")


@check(POINT)
def reading_on_from_the_last_mark_adds_nothing(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Begin where the mark says, also in a new process: nothing but the mark is handed to you after a restart."""
    case.write(4)
    marks: dict[str, str] = {}
    adapter = bench.make(case)
    read_on(adapter, case.workspace, marks)
    again = read_on(adapter, case.workspace, marks)
    expect(not again, f"everything had been read, and a second reading gave {again!r}")
    again = read_on(bench.make(case, "restarted"), case.workspace, marks)
    expect(not again, f"everything had been read, and after a restart a reading gave {again!r}")


@check(POINT)
def after_growth_only_what_is_new_comes(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Let the mark name a position, not a size, a time or a count of sessions; read on exactly there."""
    case.write(3)
    marks: dict[str, str] = {}
    adapter = bench.make(case)
    known = {observation.key for observation in read_on(adapter, case.workspace, marks)}
    case.write(2)
    new = read_on(adapter, case.workspace, marks)
    expect(
        len(new) == 2 and not known & {observation.key for observation in new},
        f"2 records were added to those of {sorted(known)!r}, and then came {new!r}",
    )


@check(POINT)
def a_reading_respects_its_limit(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Stop after `limit` observations and put the mark there: a session file may be larger than memory."""
    case.write(5)
    adapter = bench.make(case)
    for source in sources(adapter, case.workspace):
        reading = adapter.read(source, "", 2)
        expect(len(reading.observations) <= 2, f"at most 2 were asked for, {len(reading.observations)} came")


@check(POINT)
def it_is_done_only_when_everything_was_read(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Return done=False when the limit stopped you: a watcher sleeps when it sees done=True."""
    case.write(5)
    marks: dict[str, str] = {}
    adapter = bench.make(case)
    read_on(adapter, case.workspace, marks, limit=2)
    rest = read_on(adapter, case.workspace, marks)
    expect(not rest, f"it said that it was done, and {len(rest)} of 5 observations were still to come")


@check(POINT)
def it_does_not_matter_how_much_is_read_at_a_time(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Keep in the mark whatever you must know to go on (a turn's number, a call that waits for its result)."""
    case.write(5)
    whole = read_all(bench.make(case), case.workspace)
    single = read_all(bench.make(case), case.workspace, limit=1)
    expect(single == whole, f"read whole: {whole!r}; read one at a time: {single!r}")


@check(POINT)
def no_two_observations_have_the_same_key(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Make the key from the source's id and the position: records that say the same are still two."""
    case.write(5)
    keys = [observation.key for observation in read_all(bench.make(case), case.workspace)]
    expect(len(set(keys)) == len(keys), f"every key must be there once, and they are {keys!r}")


@check(POINT)
def the_same_place_gives_the_same_key(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Take nothing random, no time and no state of your own into the key: by it a second capture is recognised."""
    case.write(3)
    first, second = (
        [observation.key for observation in read_all(bench.make(case, state), case.workspace)]
        for state in ("first", "second")
    )
    expect(first == second, f"two readings from the start must give the same keys: {first!r} and {second!r}")


@check(POINT)
def an_observation_is_the_same_whenever_it_is_read(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Tell only what the record tells, not when you read it: the same key with other content is a conflict."""
    case.write(3)
    first = read_all(bench.make(case, "first"), case.workspace)
    bench.now += timedelta(days=1)
    second = read_all(bench.make(case, "second"), case.workspace)
    expect(first == second, f"first {first!r} was read, and a day later {second!r}")


@check(POINT)
def a_torn_last_record_waits_for_its_rest(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Take only records that have their end, and leave the mark before a torn one: clients are read as they write."""
    case.write(2)
    case.write_half()
    marks: dict[str, str] = {}
    adapter = bench.make(case)
    found = read_on(adapter, case.workspace, marks)
    expect(len(found) == 2, f"2 records are complete and one is torn, and {len(found)} observations came: {found!r}")
    case.write_rest()
    rest = read_on(adapter, case.workspace, marks)
    expect(len(rest) == 1, f"the torn record is complete now and should come once; what came is {rest!r}")
    again = read_on(adapter, case.workspace, marks)
    expect(not again, f"the record that had been torn must come once, and then came {again!r}")


@check(POINT)
def a_source_keeps_its_id(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Take the id from what the client calls the session, not from anything of this process or of the file's state."""
    case.write(1)
    before = [source.id for source in sources(bench.make(case, "first"), case.workspace)]
    case.write(1)
    after = [source.id for source in sources(bench.make(case, "second"), case.workspace)]
    expect(set(before) <= set(after), f"the sources were {before!r}, and a new instance calls them {after!r}")
    expect(len(set(after)) == len(after), f"every source needs an id of its own: {after!r}")


@check(POINT)
def its_observations_are_well_formed(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Give what the log takes: a dotted lower-case type, an actor, a JSON object, a time like the log's or none."""
    case.write(2)
    found = read_all(bench.make(case), case.workspace)
    wrong = [f"{observation!r}: {fault}" for observation in found for fault in _faults(observation)]
    expect(not wrong, "; ".join(wrong))


def _faults(observation: Observation) -> Iterator[str]:
    if not EVENT_TYPE.fullmatch(str(observation.type)):
        yield "the type must be dotted lower-case words, such as transcript.turn"
    if not observation.actor or not isinstance(observation.actor, str):
        yield "the actor must not be empty"
    elif observation.actor == "zaxy":
        yield "the actor zaxy is reserved for Zaxy itself"
    if not observation.key or not isinstance(observation.key, str):
        yield "the key must not be empty"
    if not _is_json_object(observation.payload):
        yield "the payload must be an object of plain JSON values, without NaN, infinities or lone surrogates"
    if observation.occurred_at != "" and not _is_utc_text(observation.occurred_at):
        yield "occurred_at must be empty or like 2026-06-15T00:00:00.000000Z"


def _is_json_object(payload: object) -> bool:
    if not isinstance(payload, Mapping) or not all(isinstance(name, str) for name in payload):
        return False
    try:
        json.dumps(dict(payload), allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError):
        return False
    return True


def _is_utc_text(text: object) -> bool:
    try:
        moment = datetime.fromisoformat(str(text))
        return text == moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return False


@check(POINT)
def a_record_of_an_unknown_kind_is_counted_and_passed_over(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Clients bring new kinds of records: count them in `Reading.skipped`, give no observation, and read on."""
    case.write(1)
    case.write_unknown()
    case.write(1)
    adapter = bench.make(case)
    (source,) = sources(adapter, case.workspace)
    with expect_no_error("an unknown record must be passed over, and reading it"):
        reading = adapter.read(source, "", 100)
    given, counted = len(reading.observations), sum(reading.skipped.values())
    expect(
        (given, counted) == (2, 1),
        f"of two known records and an unknown one came {given} observations, and {counted} were counted as skipped",
    )


@check(POINT)
def what_a_subagent_did_is_not_its_parents(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Give a subagent's transcript as a source with `agent`: it is then recorded in a session of its own."""
    if case.write_subagent is None:
        return
    case.write(2)
    case.write_subagent(3)
    adapter = bench.make(case)
    found = sources(adapter, case.workspace)
    own, others = ([source for source in found if bool(source.agent) is named] for named in (False, True))
    counts = [len(read_sources(adapter, some, {})) for some in (own, others)]
    expect(
        counts == [2, 3],
        f"the session has 2 records and its subagent 3; without an agent came {counts[0]}, with one {counts[1]}",
    )


@check(POINT)
def a_source_of_a_subagent_names_it_and_its_parent(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Take `agent` from the client's own id, and `parent` from the session that started it: both name its session."""
    if case.write_subagent is None:
        return
    case.write(1)
    case.write_subagent(1)
    first = sources(bench.make(case, "first"), case.workspace)
    case.write_subagent(1)
    second = sources(bench.make(case, "second"), case.workspace)
    named = [[(source.agent, source.parent) for source in found if source.agent] for found in (first, second)]
    parents = {source.session for source in first if not source.agent}
    expect(len(named[0]) == 1, f"one subagent has written, and these were named: {named[0]!r}")
    expect(named[0] == named[1], f"a subagent was named {named[0]!r}, and after it wrote more {named[1]!r}")
    expect(
        named[0][0][1] in parents, f"its parent is one of the sessions {sorted(parents)!r}, and it names {named[0]!r}"
    )


@check(POINT)
def it_leaves_the_clients_files_as_they_are(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Only read what the client keeps, and keep your notes in `context.state_dir`: the client is using its files."""
    case.write(3)
    adapter = bench.make(case)
    before = _files(case, bench)
    read_all(adapter, case.workspace, limit=2)
    after = _files(case, bench)
    changed = sorted(str(path) for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    expect(not changed, f"reading must leave every file as it was, and these were changed: {', '.join(changed)}")


def _files(case: CaptureAdapterCase, bench: Workbench) -> dict[Path, tuple[bytes, int]]:
    """What every file but the adapter's own holds, and when it was written."""
    files = {path for root in (bench.scratch, case.workspace, case.elsewhere) for path in root.rglob("*")}
    own = bench.scratch / "state"
    return {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in files
        if path.is_file() and own not in path.parents
    }


@check(POINT)
def it_prints_nothing(case: CaptureAdapterCase, bench: Workbench) -> None:
    """Use `logging` or `context.warn`: what is printed gets among the messages that a client reads from stdout."""
    case.write(2)
    case.write_unknown()
    with listening() as heard:
        read_all(bench.make(case), case.workspace)
    expect(not heard.stdout, f"nothing must be printed, and there was {heard.stdout[:200]!r}")
