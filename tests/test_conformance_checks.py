"""Each check passes on a right provider and fails on a wrong one: a check that cannot fail proves nothing."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from reference import commands, export_sinks
from zaxy.api.catalog import POINTS
from zaxy_testkit.checks import Check, CheckFailed, Workbench, checks_of
from zaxy_testkit.checks.overheard import listening

CHECKS = [pytest.param(known, id=f"{point}-{known.name}") for point in POINTS for known in checks_of(point)]


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
    known = next(each for each in checks_of("export_sinks") if each.name == "its_token_is_seen_by_the_receiver_alone")
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
