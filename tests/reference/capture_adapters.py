from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from zaxy.api import Observation, ProviderContext, Reading, Source
from zaxy_testkit.checks.capture_adapters import CaptureAdapterCase
from zaxy_testkit.templates.capture_adapters import Adapter

RIGHT = Adapter

RECORD = '{"text": "Tea at five – again.", "author": "Ada", "time": "2026-06-15T17:00:00+02:00"}\n'.encode()
HALF = RECORD.index("–".encode()) + 1


def case(make: Callable[..., Any], scratch: Path) -> CaptureAdapterCase:
    workspace, elsewhere = scratch / "work", scratch / "work-elsewhere"
    workspace.mkdir()
    elsewhere.mkdir()

    def append(data: bytes, file: str = "today.notes.jsonl") -> None:
        notes = workspace / ".notes" / file
        notes.parent.mkdir(parents=True, exist_ok=True)
        with notes.open("ab") as out:
            out.write(data)

    return CaptureAdapterCase(
        make,
        workspace=workspace,
        elsewhere=elsewhere,
        write=lambda count: append(RECORD * count),
        write_half=lambda: append(RECORD[:HALF]),
        write_rest=lambda: append(RECORD[HALF:]),
        write_unknown=lambda: append(b'{"kind": "reminder"}\n'),
        write_subagent=lambda count: append(RECORD * count, "today/helper.notes.jsonl"),
    )


class WithoutRead:
    def __init__(self, context: object) -> None:
        pass

    def sources(self, workspace: Path) -> list[Source]:
        raise NotImplementedError


class Expectant(Adapter):
    def sources(self, workspace: Path) -> list[Source]:
        list((workspace / ".notes").iterdir())
        return super().sources(workspace)


class Blind(Adapter):
    def sources(self, workspace: Path) -> list[Source]:
        return []


class Nosy(Adapter):
    """Takes the sessions of every workspace whose path begins alike."""

    def sources(self, workspace: Path) -> list[Source]:
        return [s for folder in workspace.parent.glob("work*") for s in super(Nosy, self).sources(folder)]


class Altered(Adapter):
    """Reads rightly, and then changes each observation."""

    def read(self, source: Source, mark: str, limit: int) -> Reading:
        reading = super().read(source, mark, limit)
        return replace(
            reading, observations=tuple(self.altered(o, place) for place, o in enumerate(reading.observations))
        )

    def altered(self, observation: Observation, place: int) -> Observation:
        raise NotImplementedError


class Deduplicating(Adapter):
    def read(self, source: Source, mark: str, limit: int) -> Reading:
        reading = super().read(source, mark, limit)
        by_content = {str(o.payload["content"]): o for o in reading.observations}
        return replace(reading, observations=tuple(by_content.values()))


class Forgetful(Adapter):
    """Knows where it was only as long as it lives."""

    def __init__(self, context: ProviderContext) -> None:
        super().__init__(context)
        self._mark = ""

    def read(self, source: Source, mark: str, limit: int) -> Reading:
        reading = super().read(source, self._mark, limit)
        self._mark = reading.mark
        return replace(reading, mark="")


class MarkedBySize(Adapter):
    def read(self, source: Source, mark: str, limit: int) -> Reading:
        size = str(source.path.stat().st_size)
        if mark == size:
            return Reading((), mark, done=True)
        return replace(super().read(source, "", limit), mark=size)


class Unlimited(Adapter):
    def read(self, source: Source, mark: str, limit: int) -> Reading:
        return super().read(source, mark, 1_000_000)


class AlwaysDone(Adapter):
    def read(self, source: Source, mark: str, limit: int) -> Reading:
        return replace(super().read(source, mark, limit), done=True)


class CountingWithinAReading(Altered):
    def altered(self, observation: Observation, place: int) -> Observation:
        return replace(observation, payload={**observation.payload, "turn_index": place})


class KeyOfContent(Altered):
    def altered(self, observation: Observation, place: int) -> Observation:
        return replace(observation, key=str(observation.payload["content"]))


class RandomKey(Altered):
    def altered(self, observation: Observation, place: int) -> Observation:
        return replace(observation, key=uuid.uuid4().hex)


class Stamping(Altered):
    def __init__(self, context: ProviderContext) -> None:
        super().__init__(context)
        self._now = context.clock

    def altered(self, observation: Observation, place: int) -> Observation:
        return replace(observation, payload={**observation.payload, "captured_at": self._now().isoformat()})


class PassingTheTornRecord(Adapter):
    def read(self, source: Source, mark: str, limit: int) -> Reading:
        reading = super().read(source, mark, limit)
        return replace(reading, mark=f"{source.path.stat().st_size}:0") if reading.done else reading


class NamedByChance(Adapter):
    def sources(self, workspace: Path) -> list[Source]:
        return [replace(source, id=uuid.uuid4().hex) for source in super().sources(workspace)]


class MillisecondsOnly(Altered):
    def altered(self, observation: Observation, place: int) -> Observation:
        return replace(observation, occurred_at="2026-06-15T15:00:00.000Z")


class Uncounting(Adapter):
    def read(self, source: Source, mark: str, limit: int) -> Reading:
        return replace(super().read(source, mark, limit), skipped={})


class Tidying(Adapter):
    """Ends the client's last line, which the client has not done yet."""

    def read(self, source: Source, mark: str, limit: int) -> Reading:
        with source.path.open("ab") as file:
            file.write(b"\n")
        return super().read(source, mark, limit)


class Chatty(Adapter):
    def read(self, source: Source, mark: str, limit: int) -> Reading:
        print(f"reading {source.id}")
        return super().read(source, mark, limit)


class WithoutAgents(Adapter):
    """Takes what a subagent did for its parent's doing."""

    def sources(self, workspace: Path) -> list[Source]:
        return [replace(source, agent="", parent="") for source in super().sources(workspace)]


class WithoutParents(Adapter):
    """Names the subagent, and not whom it works for."""

    def sources(self, workspace: Path) -> list[Source]:
        return [replace(source, parent="") for source in super().sources(workspace)]


WRONG = {
    "what_a_subagent_did_is_not_its_parents": WithoutAgents,
    "a_source_of_a_subagent_names_it_and_its_parent": WithoutParents,
    "it_leaves_the_clients_files_as_they_are": Tidying,
    "it_prints_nothing": Chatty,
    "a_record_of_an_unknown_kind_is_counted_and_passed_over": Uncounting,
    "it_has_the_methods_of_its_protocol": WithoutRead,
    "it_finds_nothing_before_the_client_has_written": Expectant,
    "it_finds_the_sessions_of_the_workspace": Blind,
    "it_finds_no_sessions_of_another_workspace": Nosy,
    "each_record_becomes_one_observation": Deduplicating,
    "reading_on_from_the_last_mark_adds_nothing": Forgetful,
    "after_growth_only_what_is_new_comes": MarkedBySize,
    "a_reading_respects_its_limit": Unlimited,
    "it_is_done_only_when_everything_was_read": AlwaysDone,
    "it_does_not_matter_how_much_is_read_at_a_time": CountingWithinAReading,
    "no_two_observations_have_the_same_key": KeyOfContent,
    "the_same_place_gives_the_same_key": RandomKey,
    "an_observation_is_the_same_whenever_it_is_read": Stamping,
    "a_torn_last_record_waits_for_its_rest": PassingTheTornRecord,
    "a_source_keeps_its_id": NamedByChance,
    "its_observations_are_well_formed": MillisecondsOnly,
}
