"""Each check passes on a right provider and fails on a wrong one: a check that cannot fail proves nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import outside_package
from reference import commands, export_sinks
from zaxy.api import Candidate, Checkup, ExtractedEvent, Finding, MemoryAccess, Query
from zaxy.api.catalog import POINTS
from zaxy_testkit.checks import Case, Check, CheckFailed, Workbench, checks_of
from zaxy_testkit.checks.commands import CommandCase
from zaxy_testkit.checks.doctor_checks import HealthCheckCase
from zaxy_testkit.checks.followers import history, with_content
from zaxy_testkit.checks.overheard import listening
from zaxy_testkit.checks.retrieval_lanes import RetrievalLaneCase
from zaxy_testkit.templates.retrieval_lanes import Lane

CHECKS = [pytest.param(known, id=f"{point}-{known.name}") for point in POINTS for known in checks_of(point)]


def named(point: str, name: str) -> Check:
    return next(known for known in checks_of(point) if known.name == name)


def reference(point: str) -> ModuleType:
    return import_module(f"reference.{point}")


@pytest.mark.parametrize("known", CHECKS)
def test_the_check_passes_on_the_reference_provider(known: Check, tmp_path: Path) -> None:
    module = reference(known.point)
    known.run(module.case(module.RIGHT, tmp_path), Workbench(tmp_path))


@pytest.mark.parametrize("known", CHECKS)
def test_the_check_fails_on_a_provider_that_breaks_the_promise(known: Check, tmp_path: Path) -> None:
    module = reference(known.point)
    wrong = module.WRONG[known.name]
    with pytest.raises(CheckFailed) as failure:
        known.run(module.case(wrong, tmp_path), Workbench(tmp_path))
    assert len(str(failure.value)) > 20, "the message must say what was expected and what came instead"


@pytest.mark.parametrize("leaking", export_sinks.LEAKS, ids=lambda sink: sink.__name__)
def test_a_token_is_found_wherever_a_sink_lets_it_out(leaking: type, tmp_path: Path) -> None:
    known = named("export_sinks", "its_token_is_seen_by_the_receiver_alone")
    with pytest.raises(CheckFailed, match="also in"):
        known.run(export_sinks.case(leaking, tmp_path), Workbench(tmp_path))


@pytest.mark.parametrize("known", checks_of("commands"), ids=lambda known: known.name)
def test_a_hot_command_passes_and_what_it_appends_stays_in_the_scratch_folder(
    known: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    known.run(commands.case_of_hot(tmp_path), Workbench(tmp_path))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_what_a_child_process_prints_is_heard_too() -> None:
    with listening() as heard:
        subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
    assert heard.stdout == "from a child\n"


@pytest.mark.parametrize("known", CHECKS)
def test_the_check_tells_an_author_what_to_do(known: Check) -> None:
    assert len(known.troubleshooting) > 30


def run_all(point: str, case: Case, scratch: Path) -> None:
    """Every check that applies, each on a bench of its own."""
    for known in checks_of(point):
        if not known.needs or known.needs in case.capabilities:
            bench = scratch / known.name
            bench.mkdir()
            known.run(case, Workbench(bench))


def test_a_command_may_append_the_event_types_that_its_package_owns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside_package.install(tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    try:
        pulls = import_module("acme_pulls.commands").Pulls
        calls = {"pulls open": ("41", "Round invoices half to even"), "pulls list": ()}
        run_all("commands", CommandCase(pulls, calls=calls), tmp_path)
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "acme_pulls"]:
            del sys.modules[name]


class OfKeepers(Lane):
    """Follows the log, and finds nothing but what was said of keepers."""

    def search(self, query: Query) -> list[Candidate]:
        if "keeper" not in query.text:
            return []
        texts = self._load(query.session).texts
        everything = super().search(replace(query, limit=len(texts) or 1))
        return [one for one in everything if "keeper" in texts[str(one.seq)]][: query.limit]


def of_keepers(session: str, count: int) -> Sequence[ExtractedEvent]:
    events = history(session, count)
    said = [with_content(event, f"The keeper of tower {event.event.seq} snores.") for event in events[::3]]
    return sorted((*said, *(event for event in events if event.event.seq % 3 != 1)), key=lambda one: one.event.seq)


KEEPERS = RetrievalLaneCase(
    OfKeepers,
    capabilities=frozenset({"follower"}),
    question="Does the keeper of tower 7 snore?",
    history=of_keepers,
    best=7,
)


def test_a_follower_that_finds_only_some_things_brings_a_history_of_its_own(tmp_path: Path) -> None:
    run_all("retrieval_lanes", KEEPERS, tmp_path)


@pytest.mark.parametrize(
    "case",
    [replace(KEEPERS, best=4), replace(KEEPERS, question="Does it snore?")],
    ids=lambda case: str(case.question),
)
def test_a_history_of_its_own_must_be_found_with_the_best_first(case: RetrievalLaneCase, tmp_path: Path) -> None:
    with pytest.raises(CheckFailed, match="should find event"):
        named("retrieval_lanes", "what_fits_best_comes_first").run(case, Workbench(tmp_path))


class Unsettled:
    """Warns of questions that nobody has settled."""

    def __init__(self, context: object) -> None:
        pass

    def check(self, checkup: Checkup) -> Sequence[Finding]:
        if checkup.has_memory:
            with checkup.open_memory() as memory:
                if memory.latest(types=("question.*",)):
                    return [Finding("questions", "warning", "one is open", "Settle it.")]
        return [Finding("questions", "ok", "none is open")]


def ask(memory: MemoryAccess) -> None:
    memory.append("question.asked", {"text": "Why?"})


def test_what_a_check_looks_for_may_be_in_memory(tmp_path: Path) -> None:
    run_all("doctor_checks", HealthCheckCase(Unsettled, broken_memory=ask), tmp_path)
    known = named("doctor_checks", "it_finds_what_is_wrong_and_says_what_to_do")
    with pytest.raises(CheckFailed, match="every row is ok"):
        known.run(HealthCheckCase(Unsettled), Workbench(tmp_path))


class Asking:
    """It wants somebody to have asked something."""

    def __init__(self, context: object) -> None: ...

    def check(self, checkup: Checkup) -> Sequence[Finding]:
        if checkup.has_memory:
            with checkup.open_memory() as memory:
                if memory.latest(types=("question.*",)):
                    return [Finding("questions", "ok", "somebody has asked")]
        return [Finding("questions", "warning", "nobody has asked", "Ask something.")]


def test_what_a_check_wants_may_be_in_memory(tmp_path: Path) -> None:
    run_all("doctor_checks", HealthCheckCase(Asking, well_memory=ask), tmp_path)
    known = named("doctor_checks", "it_is_content_where_nothing_is_wrong")
    with pytest.raises(CheckFailed, match="nothing is wrong"):
        known.run(HealthCheckCase(Asking), Workbench(tmp_path))
