"""The event types `coordination.*` are kept for zaxy-coordinate: nobody else writes them, where it is in use or not."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import outside_family
from conftest import Zaxy, missing_package
from folders import made_folder
from served import Server
from zaxy.access import access_to
from zaxy.api.event_types import KEPT_FAMILIES
from zaxy.api.models import AsOf, Draft
from zaxy.errors import Forbidden
from zaxy.eventloom.drafts import own_draft
from zaxy.memory import Memory
from zaxy.observe.capture import Capture
from zaxy.plugins.roster import package_of
from zaxy.workspace import find_workspace

TREE = Path(__file__).parents[1]
FAMILY, PACKAGE = "coordination", "zaxy-coordinate"
PROMOTED = "coordination.finding.promoted"
FORGED = {"mission_id": "work", "finding_id": "w1:finding:1", "summary": "The moon is cheese"}
SESSION = "work"
DISABLED = {"ZAXY_PLUGINS_DISABLE": PACKAGE}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.fixture(params=["not in use", pytest.param("in use", marks=pytest.mark.needs_package("coordinate"))])
def settings(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    found = DISABLED if request.param == "not in use" else {}
    for name, value in found.items():
        monkeypatch.setenv(name, value)
    return found


@pytest.fixture
def memory(tmp_path: Path, settings: dict[str, str]) -> Iterator[Memory]:
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        yield memory


def test_the_family_is_kept_for_a_package_of_the_tree() -> None:
    assert KEPT_FAMILIES == {FAMILY: PACKAGE} and package_of(FAMILY) == PACKAGE


def test_each_command_of_missions_is_kept_for_the_package() -> None:
    manifest = json.loads((TREE / "plugins/coordinate/src/zaxy_coordinate/zaxy-plugin.json").read_text())
    commands = [one["words"] for one in manifest["provides"] if one["point"] == "commands"]
    assert commands and {package_of(f"zaxy {name}") for name in commands} == {PACKAGE}


# Who may write


def test_in_python_nobody_writes_them(memory: Memory) -> None:
    for refused in (
        lambda: memory.append(PROMOTED, FORGED, session=SESSION),
        lambda: memory.append("coordination.finding.invented", FORGED, session=SESSION),
        lambda: memory.append_many([Draft(PROMOTED, "eve", FORGED)], SESSION),
        lambda: access_to(memory).append(PROMOTED, FORGED, session=SESSION),
        lambda: access_to(memory, package="acme-other").append(PROMOTED, FORGED, session=SESSION),
    ):
        with pytest.raises(Forbidden, match=PACKAGE):
            refused()
    assert list(memory.replay(SESSION)) == []


def test_the_command_line_refuses_them(zaxy: Zaxy, settings: dict[str, str]) -> None:
    refused = zaxy("append", PROMOTED, "--payload", json.dumps(FORGED), **settings)
    assert refused.returncode == 1 and PACKAGE in refused.stderr


def test_without_the_package_the_refusal_says_what_to_install(zaxy: Zaxy) -> None:
    refused = zaxy("append", PROMOTED, "--payload", json.dumps(FORGED), **DISABLED)
    assert f"only {PACKAGE} writes {FAMILY}.*, and it is not in use here" in refused.stderr
    assert "install" in refused.stderr and "coordinate" in refused.stderr.rpartition("install")[2]


@pytest.mark.parametrize("tool", ["memory_append", "memory_ingest"])
def test_over_mcp_nobody_writes_them(tmp_path: Path, settings: dict[str, str], tool: str) -> None:
    event = {"event_type": PROMOTED, "actor": "eve", "payload": FORGED}
    given: dict[str, Any] = event if tool == "memory_append" else {"events": [event]}
    with Server(tmp_path / "demo", options=("--profile", "full"), **settings) as server:
        error = server.call(tool, session_id=SESSION, **given)["error"]
    assert error["code"] == "forbidden" and PACKAGE in error["message"]


def test_a_hook_has_no_trigger_for_them(zaxy: Zaxy, settings: dict[str, str]) -> None:
    refused = zaxy("hook-event", PROMOTED, "--strict", **settings)
    assert refused.returncode == 1 and "not a trigger" in refused.stderr


def test_capture_refuses_them(tmp_path: Path, site: Path, settings: dict[str, str]) -> None:
    outside_family.install_adapter(site, PROMOTED, "note.taken")
    capture = Capture(find_workspace(str(made_folder(tmp_path / "here"))), SESSION, ["eve"])
    captured = capture.run()
    capture.close()
    assert (captured.new, captured.refused) == ({"note.taken": 1}, 1)
    assert PACKAGE in captured.problems[0]


@pytest.mark.needs_package("export")
def test_an_import_makes_plain_data_of_them(memory: Memory, tmp_path: Path) -> None:
    written_before(memory)
    bundle = io.BytesIO()
    memory.export(bundle, session=SESSION)
    with Memory.open(made_folder(tmp_path / "there")) as other:
        assert other.import_bundle(bundle, "copy").as_data == 1
        (event,) = other.replay("copy")
        assert event.type == f"imported.{PROMOTED}"
        assert rows(other, "copy") == [("event", f"imported.{PROMOTED}:1")]
        assert "accepted_parent" not in json.dumps(other.checkout("cheese", "copy").as_dict())


# What a log has of them already


def written_before(memory: Memory) -> int:
    """An event that the package wrote while it was there."""
    return memory.recall.store.append(SESSION, [own_draft(PROMOTED, "ada", FORGED)])[0].seq


def rows(memory: Memory, session: str) -> list[tuple[str, str]]:
    memory.follow(session)
    found = memory.recall.backend.rows_of_events(session, range(1, 9), AsOf("9999-12-31T00:00:00.000000Z"))
    return [(row.entity.entity_type, row.entity.name) for row in found]


def test_without_the_package_a_log_with_such_events_is_read_verified_and_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not missing_package("coordinate"):  # what is not installed need not be disabled
        monkeypatch.setenv(*next(iter(DISABLED.items())))
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        seq = written_before(memory)
        assert [event.type for event in memory.replay(SESSION)] == [PROMOTED]
        assert memory.verify(SESSION).damage is None
        assert rows(memory, SESSION) == [("event", f"{PROMOTED}:{seq}")]
        answer = memory.query("moon cheese", SESSION)
        assert [row.seq for row in answer.results] == [seq]
        assert (answer.warnings, answer.notices) == ((), ())


@pytest.mark.needs_package("coordinate")
def test_when_the_package_comes_back_the_same_events_are_what_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(*next(iter(DISABLED.items())))
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        seq = written_before(memory)
        assert rows(memory, SESSION) == [("event", f"{PROMOTED}:{seq}")]
    monkeypatch.delenv("ZAXY_PLUGINS_DISABLE")
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        assert rows(memory, SESSION) == [("promotion", "w1:finding:1")]


# Who may own the family


def listed(zaxy: Zaxy, site: Path, **settings: str) -> dict[str, dict[str, Any]]:
    """The plugins as `zaxy plugins list` has them, by package."""
    plugins = json.loads(zaxy("plugins", "list", "--json", site=site, **settings).stdout)["plugins"]
    return {row["package"]: row for row in plugins}


@pytest.mark.parametrize("chosen", [{}, {"ZAXY_PLUGINS_PREFER": f"event_types:{FAMILY}=claimant"}, DISABLED])
def test_another_package_that_claims_the_family_is_refused_and_told_why(
    zaxy: Zaxy, site: Path, chosen: dict[str, str]
) -> None:
    outside_family.claim(site, "claimant", FAMILY)
    row = listed(zaxy, site, **chosen)["claimant"]
    assert (row["state"], row["stage"]) == ("failed", "name")
    assert row["error"] == f"it claims the event types {FAMILY}.*, and they are kept for {PACKAGE}"
    assert "another word" in row["hint"]
    checked = zaxy("plugins", "check", "claimant", site=site, **chosen)
    assert checked.returncode == 1 and f"kept for {PACKAGE}" in checked.stdout + checked.stderr
    refused = zaxy("append", f"{FAMILY}.seen", "--payload", "{}", site=site, **chosen)
    assert refused.returncode == 1 and PACKAGE in refused.stderr


@pytest.mark.needs_package("coordinate")
def test_a_claimant_takes_nothing_from_the_package_itself(zaxy: Zaxy, site: Path) -> None:
    outside_family.claim(site, "claimant", FAMILY)
    assert listed(zaxy, site)[PACKAGE]["state"] == "ready"
