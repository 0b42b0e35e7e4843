"""Nine kinds of broken plugin: the core keeps working, and tells which one is broken, why, and what to do."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from broken_plugins import CALM_QUESTION, KINDS, MARKS, PACKAGES, Package, imported, install, install_all, write
from conftest import missing_package
from zaxy.api import Parcel, Query, ZaxyError
from zaxy.api.catalog import OWN_LANES
from zaxy.plugins.discovery import announced
from zaxy.plugins.host import PluginHost
from zaxy.plugins.roster import InstalledPlugin, load_roster
from zaxy.retrieve.profiles import Profile
from zaxy.settings import Settings
from zaxy.user_state import state_folder

LANES = "retrieval_lanes"
SINKS = "export_sinks"
QUERY = Query("what broke?", "session")
BETRAYED = {"malformed-manifest": "manifest", "future-api": "api"}
if not missing_package("export"):
    BETRAYED["name-taken"] = "name"  # its name is one of zaxy-export's
CALLED = ("raises-in-call", "hangs", "exits-in-call", "prints-bytes")
"""Those that only a call betrays, which the kit makes."""
NEEDS = {"name-taken": "export", **dict.fromkeys(CALLED, "testkit")}
FOUND = [
    pytest.param(name, marks=[pytest.mark.needs_package(NEEDS[name])] if name in NEEDS else []) for name in PACKAGES
]
"""The plugins whose manifest alone gives them away, and the stage at which it does."""


@pytest.fixture
def marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "marks"
    folder.mkdir()
    monkeypatch.setenv(MARKS, str(folder))
    return folder


@pytest.fixture
def site(tmp_path: Path, marks: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages that this process imports from; what was imported is forgotten afterwards."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    yield folder
    for module in set(sys.modules) - before:
        if module.startswith("acme_"):
            del sys.modules[module]


def host_over(*sites: Path, **environ: str) -> PluginHost:
    """A host that knows zaxy-export and the plugins in these folders, with settings from nowhere but here."""
    settings = Settings(environ=environ)
    ours = [one for one in announced() if one.package == "zaxy-export"]
    roster = load_roster(settings, [*ours, *announced([str(folder) for folder in sites])])
    return PluginHost(roster, settings, sites[0].parent / ".eventloom", "workspace-under-test")


def row_of(host: PluginHost, name: str) -> InstalledPlugin:
    return host.roster.row(name)


def parcel_in(folder: Path) -> Parcel:
    path = folder / "bundle.json"
    path.write_bytes(b"{}")
    return Parcel(path, 2, hashlib.sha256(b"{}").hexdigest())


def zaxy(*words: str, site: Path, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user would who has the packages of `site` installed."""
    return python("-m", "zaxy", *words, site=site, folder=folder, **environ)


def python(*words: str, site: Path, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ZAXY_", "EVENTLOOM_", "CLAUDE_"))}
    own["ZAXY_STATE_DIR"] = state_folder()
    path = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**own, "PYTHONPATH": os.pathsep.join(path), **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


# The listing, which reads manifests and runs nobody's code


def test_there_are_nine_kinds() -> None:
    assert len(KINDS) == 9


def test_the_list_names_what_the_manifests_betray_with_stage_and_hint(tmp_path: Path) -> None:
    install_all(tmp_path / "site")
    listed = zaxy("plugins", "list", site=tmp_path / "site", folder=tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert listed.stderr == ""
    table, *troubles = listed.stdout.split("\n\n")
    states = {line.split()[0]: line.split()[5] for line in table.splitlines() if " acme-" in line}
    assert states.keys() == PACKAGES.keys()
    assert {name for name, state in states.items() if state == "ready"} == PACKAGES.keys() - BETRAYED.keys()
    for name, stage in BETRAYED.items():
        error, hint = next(t for t in troubles if t.startswith(f"{name} (acme-{name}): ")).splitlines()
        assert f" at {stage}: " in error
        assert hint.strip()


def test_the_list_as_json_is_pure_json_and_imports_no_plugin(tmp_path: Path, marks: Path) -> None:
    install_all(tmp_path / "site")
    listed = zaxy("plugins", "list", "--json", site=tmp_path / "site", folder=tmp_path, **{MARKS: str(marks)})
    assert listed.returncode == 0, listed.stderr
    rows = {row["name"]: row for row in json.loads(listed.stdout)["plugins"]}
    for name in PACKAGES:
        assert rows[name]["package"] == f"acme-{name}"
        assert rows[name]["stage"] == BETRAYED.get(name, "")
        assert bool(rows[name]["error"] and rows[name]["hint"]) == (name in BETRAYED)
        assert (rows[name]["state"] == "ready") == (name not in BETRAYED)
    assert rows["core"]["state"] == "ready"
    assert imported(marks) == []


def test_the_marks_tell_when_a_plugin_is_imported(site: Path, marks: Path) -> None:
    write(Package("sound"), site)
    host_over(site).get(LANES, "sound")
    assert imported(marks) == ["acme_sound", "acme_sound.plugin", "acme_sound.provider"]


# The host, kind by kind


def test_a_plugin_that_fails_to_import_drops_out_with_a_notice(site: Path) -> None:
    install("fails to import", site)
    write(Package("sound"), site)
    host = host_over(site)
    assert "sound" in [lane.name for lane in host.all(LANES)]
    failed = row_of(host, "fails-to-import")
    assert (failed.state, failed.stage) == ("failed", "import")
    assert "a_module_that_nobody_has" in failed.error
    assert "ZAXY_PLUGINS_DISABLE=fails-to-import" in failed.hint
    assert any("fails-to-import (acme-fails-to-import)" in notice for notice in host.notices)


def test_a_plugin_that_raises_in_its_hook_drops_out_with_a_notice(site: Path) -> None:
    install("raises in its hook", site)
    write(Package("sound"), site)
    host = host_over(site)
    assert "sound" in [lane.name for lane in host.all(LANES)]
    failed = row_of(host, "raises-in-hook")
    assert failed.state == "failed"
    assert "RuntimeError: no hook today (plugin.py:" in failed.error
    assert "ZAXY_PLUGINS_DISABLE=raises-in-hook" in failed.hint
    assert any("raises-in-hook (acme-raises-in-hook)" in notice for notice in host.notices)


def test_a_hook_that_raises_is_told_from_an_import_that_failed(site: Path) -> None:
    install("raises in its hook", site)
    host = host_over(site)
    assert host.load("raises-in-hook").stage == "hooks"
    assert "importing" not in row_of(host, "raises-in-hook").error


def test_a_plugin_that_raises_in_a_call_is_named_and_stays_in_use(site: Path) -> None:
    install("raises in a call", site)
    host = host_over(site)
    lane = host.get(LANES, "raises-in-call")
    with pytest.raises(ZaxyError) as failure:
        lane.call("search", QUERY)
    assert failure.value.code == "internal_error"
    assert "raises-in-call (acme-raises-in-call)" in failure.value.message
    assert "LookupError: no lane today (provider.py:" in failure.value.message
    assert row_of(host, "raises-in-call").state == "loaded"
    assert lane.call("search", Query(CALM_QUESTION, "session")) == []


def test_a_call_that_hangs_costs_its_budget_once_and_the_next_is_refused_at_once(site: Path) -> None:
    install("hangs in a call", site)
    host = host_over(site, ZAXY_PLUGINS_BUDGET="0.3")
    lane = host.get(LANES, "hangs")
    started = time.monotonic()
    with pytest.raises(ZaxyError, match=r"search\(\) did not come back within 0\.3 s") as failure:
        lane.call("search", QUERY)
    given_up = time.monotonic()
    assert 0.3 <= given_up - started < 60
    assert failure.value.code == "unavailable"
    assert "hangs (acme-hangs)" in failure.value.message
    for _ in range(200):  # waiting for each would take a minute
        with pytest.raises(ZaxyError, match="still busy"):
            lane.call("search", QUERY)
    assert time.monotonic() - given_up < 30


def test_a_plugin_that_hangs_does_not_hold_up_the_others(site: Path) -> None:
    install("hangs in a call", site)
    write(Package("sound"), site)
    host = host_over(site, ZAXY_PLUGINS_BUDGET="0.3")
    with pytest.raises(ZaxyError):
        host.get(LANES, "hangs").call("search", QUERY)
    assert host.get(LANES, "sound").call("search", QUERY) == []


def test_a_process_ends_although_a_plugin_still_hangs(tmp_path: Path) -> None:
    install("hangs in a call", tmp_path / "site")
    ran = python("-c", program("hangs"), site=tmp_path / "site", folder=tmp_path, ZAXY_PLUGINS_BUDGET="0.3")
    assert (ran.returncode, ran.stdout) == (0, "the program's own line\n"), ran.stderr


@pytest.mark.parametrize("taken", OWN_LANES)
def test_a_lane_cannot_have_the_name_of_a_built_in_one_even_if_it_is_preferred(site: Path, taken: str) -> None:
    write(Package("posing", provider=taken), site)
    row = row_of(host_over(site, ZAXY_PLUGINS_PREFER=f"{LANES}:{taken}=acme-posing"), "posing")
    assert (row.state, row.stage) == ("failed", "name")
    assert f"its lane '{taken}' has the name of a part of the core's own scores" in row.error


def test_the_names_that_no_lane_can_have_are_those_of_the_parts_of_a_score() -> None:
    assert set(OWN_LANES) == set(Profile._fields) - {"near_copy"}


SLOW = Package("hangs-at-import", at_import="import threading\nthreading.Event().wait()")


@pytest.fixture
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZAXY_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


def asked(site: Path, own_state: Path, name: str = "hangs-at-import", budget: str = "0.3") -> ZaxyError:
    """What a process says that asks for a lane, and is another one each time."""
    with pytest.raises(ZaxyError) as failure:
        host_over(site, ZAXY_PLUGINS_BUDGET=budget).get(LANES, name)
    return failure.value


def test_a_plugin_that_hangs_at_import_is_waited_for_once_by_all_processes(
    site: Path, marks: Path, own_state: Path
) -> None:
    write(SLOW, site)
    assert "did not come back within 0.3 s" in asked(site, own_state).message
    for mark in marks.iterdir():
        mark.unlink()
    again = asked(site, own_state)
    assert "it is left out until it changes" in again.message
    assert "zaxy plugins check hangs-at-import" in again.remediation
    assert imported(marks) == [], "nobody tried it"


def test_a_plugin_that_hung_is_tried_again_once_it_has_changed(tmp_path: Path, zaxy: Any) -> None:
    write(SLOW, tmp_path / "site")
    where = {"site": tmp_path / "site", "ZAXY_STATE_DIR": str(tmp_path / "state"), "ZAXY_PLUGINS_BUDGET": "2"}
    zaxy("append", "note.taken", "--payload", '{"text": "Lunch is at noon."}', **where)
    assert "did not come back" in zaxy("query", "lunch", **where).stderr
    plugin = tmp_path / "site" / "acme_hangs_at_import" / "plugin.py"
    plugin.write_text(plugin.read_text().replace("threading.Event().wait()", "pass"))
    assert "hangs-at-import" not in zaxy("query", "lunch", **where).stderr
    assert "left out" not in zaxy("plugins", "list", **where).stdout


def test_a_plugin_that_hung_is_tried_again_by_who_gives_it_more_time(site: Path, own_state: Path) -> None:
    write(SLOW, site)
    asked(site, own_state)
    assert "did not come back within 0.4 s" in asked(site, own_state, budget="0.4").message


def test_a_plugin_that_hung_is_listed_as_failed_and_tried_again_by_a_check(tmp_path: Path, zaxy: Any) -> None:
    write(SLOW, tmp_path / "site")
    where = {"site": tmp_path / "site", "ZAXY_STATE_DIR": str(tmp_path / "state"), "ZAXY_PLUGINS_BUDGET": "0.3"}
    zaxy("append", "note.taken", "--payload", '{"text": "Lunch is at noon."}', **where)
    first, second = (json.loads(zaxy("query", "lunch", "--json", **where).stdout) for _ in range(2))
    assert "did not come back within 0.3 s" in " ".join(first["notices"])
    assert "it is left out until it changes" in " ".join(second["notices"])
    assert first["results"] == second["results"] and first["results"] and not second["warnings"]
    listed = zaxy("plugins", "list", **where).stdout
    assert "hangs-at-import (acme-hangs-at-import): failed at import" in listed
    assert "try it again: zaxy plugins check hangs-at-import" in listed
    checked = zaxy("plugins", "check", "hangs-at-import", **where).stdout
    assert "did not come back within 0.3 s" in checked and "left out" not in checked


def test_sys_exit_in_a_call_is_an_error_of_the_plugin_and_the_process_lives(site: Path) -> None:
    install("calls sys.exit", site)
    host = host_over(site)
    lane = host.get(LANES, "exits-in-call")
    for _ in range(2):
        with pytest.raises(ZaxyError, match=r"exits-in-call \(acme-exits-in-call\).*SystemExit\(3\)") as failure:
            lane.call("search", QUERY)
        assert failure.value.code == "internal_error"
        assert "may not end the process" in failure.value.remediation


def test_sys_exit_at_import_takes_only_that_plugin_out_of_use(site: Path) -> None:
    install("calls sys.exit", site)
    host = host_over(site)
    assert [lane.name for lane in host.all(LANES) if lane.row.package.startswith("acme-")] == ["exits-in-call"]
    failed = row_of(host, "exits-at-import")
    assert (failed.state, failed.stage) == ("failed", "import")
    assert "SystemExit(3)" in failed.error
    assert "may not end the process" in failed.hint


def program(plugin: str) -> str:
    """A program that keeps its stdout to itself, asks one lane, and prints one line."""
    return f"""
from zaxy.errors import ZaxyError
from zaxy.plugins.guard import keep_stdout
keep_stdout()
from zaxy.api import Query
from zaxy.plugins.host import PluginHost
from zaxy.workspace import find_workspace
lane = PluginHost.of(find_workspace()).get({LANES!r}, {plugin!r})
try:
    lane.call("search", Query("what broke?", "session"))
except ZaxyError:
    pass
print("the program's own line")
"""


def test_what_a_plugin_prints_goes_to_stderr_and_stdout_stays_the_programs_own(tmp_path: Path) -> None:
    install("prints to stdout", tmp_path / "site")
    ran = python("-c", program("prints"), site=tmp_path / "site", folder=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "the program's own line\n"), ran.stderr
    for text in ("printed at import", "printed in a call", "written to descriptor 1", "echoed by a child"):
        assert text in ran.stderr


def test_bytes_that_a_plugin_sends_past_the_text_layer_go_to_stderr_too(tmp_path: Path) -> None:
    install("prints to stdout", tmp_path / "site")
    ran = python("-c", program("prints-bytes"), site=tmp_path / "site", folder=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "the program's own line\n"), ran.stderr
    for text in ("bytes through the buffer", "bytes through fileno"):
        assert text in ran.stderr


def test_a_malformed_manifest_fails_the_plugin_without_importing_it(site: Path, marks: Path) -> None:
    install("a malformed or lying manifest", site)
    host = host_over(site)
    failed = host.load("malformed-manifest")
    assert (failed.state, failed.stage) == ("failed", "manifest")
    assert "zaxy-plugin.json is not JSON" in failed.error
    assert "Upgrade it from where it came from, or remove it: " in failed.hint
    assert "uninstall" in failed.hint and "acme-malformed-manifest" in failed.hint
    assert imported(marks) == []


def test_a_manifest_that_promises_what_no_hook_offers_fails_at_the_hooks(site: Path) -> None:
    install("a malformed or lying manifest", site)
    host = host_over(site)
    host.all(LANES)
    failed = row_of(host, "lying-manifest")
    assert (failed.state, failed.stage) == ("failed", "hooks")
    assert "promises the retrieval_lanes provider 'lying-manifest', but no hook offers it" in failed.error
    assert "manifest and its hooks disagree" in failed.hint


def test_a_hook_that_offers_more_than_the_manifest_says_fails_too(site: Path) -> None:
    more = 'return [Provider("generous", "x:Y", ""), Provider("surprise", "x:Y", "")]'
    write(Package("generous", in_hook=more), site)
    failed = host_over(site).load("generous")
    assert (failed.state, failed.stage) == ("failed", "hooks")
    assert "'surprise', which the manifest does not mention" in failed.error


def test_a_future_api_is_refused_with_both_numbers_and_the_command_that_fixes_it(site: Path, marks: Path) -> None:
    install("a future API", site)
    host = host_over(site)
    refused = host.load("future-api")
    assert (refused.state, refused.stage) == ("incompatible", "api")
    assert "needs plugin API 9.0" in refused.error
    assert "accepts 0.1 to 0.4" in refused.error
    assert f"Upgrade the core: update {Path(__file__).parents[1] / 'zaxy-core'}" in refused.hint
    host.all(LANES)
    assert imported(marks) == []


def test_a_name_of_the_cores_own_stays_the_cores(site: Path, marks: Path) -> None:
    write(Package("words", provider="verbatim", point=LANES), site)
    host = host_over(site)
    assert "'verbatim' has the name of a part of the core's own" in row_of(host, "words").error
    assert host.get(LANES, "verbatim").is_own
    assert imported(marks) == []


@pytest.mark.needs_package("export")
def test_a_name_of_a_package_of_ours_stays_its_own(site: Path, marks: Path) -> None:
    install("a name that is already taken", site)
    host = host_over(site)
    failed = row_of(host, "name-taken")
    assert (failed.state, failed.stage) == ("failed", "name")
    assert "'file' is also provided by zaxy-export" in failed.error
    assert "export_sinks:file=acme-name-taken" in failed.hint
    receipt = host.get(SINKS, "file").call("deliver", parcel_in(site), str(site / "out.json"), "")
    assert receipt.destination == str(site / "out.json")
    assert (site / "out.json").read_bytes() == b"{}"
    assert imported(marks) == []


def test_a_preferred_plugin_takes_a_name_of_ours(site: Path) -> None:
    install("a name that is already taken", site)
    host = host_over(site, ZAXY_PLUGINS_PREFER="export_sinks:file=acme-name-taken")
    assert row_of(host, "name-taken").state == "ready"
    sink = host.get(SINKS, "file")
    assert sink.row.package == "acme-name-taken"
    receipt = sink.call("deliver", parcel_in(site), str(site / "out.json"), "")
    assert receipt.destination == "the plugin's own place"


def test_all_nine_together_leave_the_sound_providers_working(site: Path) -> None:
    install_all(site)
    write(Package("sound"), site)
    host = host_over(site)
    lanes = {lane.name: lane for lane in host.all(LANES) if lane.row.package.startswith("acme-")}
    assert lanes.keys() == {"sound", "raises-in-call", "hangs", "exits-in-call", "prints", "prints-bytes"}
    assert lanes["sound"].call("search", QUERY) == []
    holder = "zaxy-export" if "name-taken" in BETRAYED else "acme-name-taken"
    assert [sink.row.package for sink in host.all(SINKS) if sink.name == "file"] == [holder]
    for dropped in ("fails-to-import", "raises-in-hook", "exits-at-import", "lying-manifest"):
        assert any(f"{dropped} (acme-{dropped})" in notice for notice in host.notices)


@pytest.mark.parametrize("name", BETRAYED)
def test_a_plugin_that_its_manifest_takes_out_of_use_leaves_a_notice(site: Path, name: str) -> None:
    write(PACKAGES[name], site)
    assert any(f"{name} (acme-{name})" in notice for notice in host_over(site).notices)


# More ways to break, each of which has surprised somebody


def test_a_zaxy_error_out_of_a_hook_fails_the_plugin_as_any_other_error_does(site: Path) -> None:
    raising = "from zaxy.api import ZaxyError\nraise ZaxyError('unavailable', 'no hook today', 'Wait.')"
    write(Package("refuses", in_hook=raising), site)
    host = host_over(site)
    failed = host.load("refuses")
    assert failed.state == "failed"
    assert "no hook today" in failed.error
    with pytest.raises(ZaxyError, match=r"refuses \(acme-refuses\)"):
        host.get(LANES, "refuses")


def test_a_hook_that_returns_nonsense_fails_only_its_plugin(site: Path) -> None:
    write(Package("nonsense", in_hook='return [Provider("nonsense", "x:Y", "", capabilities=None)]'), site)
    write(Package("nameless", in_hook='return [Provider(None, "x:Y", ""), Provider("a", "x:Y", "")]'), site)
    write(Package("numeric", in_hook="return 7"), site)
    write(Package("sound"), site)
    host = host_over(site)
    assert [lane.name for lane in host.all(LANES) if lane.row.package.startswith("acme-")] == ["sound"]
    assert {row_of(host, name).state for name in ("nonsense", "nameless", "numeric")} == {"failed"}


def test_an_exception_that_cannot_be_printed_is_still_an_error_of_the_plugin(site: Path) -> None:
    mute = "class Mute(Exception):\n    def __str__(self): raise RuntimeError('mute')\nraise Mute"
    write(Package("mute", in_call=mute), site)
    with pytest.raises(ZaxyError, match=r"mute \(acme-mute\).*Mute"):
        host_over(site).get(LANES, "mute").call("search", QUERY)


# Disabled, strict, contested


@pytest.mark.parametrize("word", ["fails-to-import", "acme-fails-to-import"])
def test_a_plugin_disabled_by_name_or_package_is_never_imported(site: Path, marks: Path, word: str) -> None:
    install("fails to import", site)
    host = host_over(site, ZAXY_PLUGINS_DISABLE=word)
    assert row_of(host, "fails-to-import").state == "disabled"
    assert "ZAXY_PLUGINS_DISABLE" in row_of(host, "fails-to-import").hint
    assert host.load("fails-to-import").state == "disabled"
    assert "fails-to-import" not in [lane.name for lane in host.all(LANES)]
    assert host.notices == []
    with pytest.raises(ZaxyError, match="is disabled"):
        host.get(LANES, "fails-to-import")
    assert imported(marks) == []


@pytest.mark.parametrize("name", BETRAYED)
def test_a_plugin_with_a_broken_manifest_can_be_disabled_too(site: Path, name: str) -> None:
    write(PACKAGES[name], site)
    host = host_over(site, ZAXY_PLUGINS_DISABLE=name, ZAXY_PLUGINS_STRICT="1")
    assert row_of(host, name).state == "disabled"


@pytest.mark.parametrize("name", BETRAYED)
def test_strict_raises_at_once_for_what_the_manifest_betrays(site: Path, name: str) -> None:
    write(PACKAGES[name], site)
    with pytest.raises(ZaxyError, match=rf"{name} \(acme-{name}\)"):
        host_over(site, ZAXY_PLUGINS_STRICT="1")


@pytest.mark.parametrize("name", ["fails-to-import", "raises-in-hook", "exits-at-import", "lying-manifest"])
def test_strict_raises_where_a_plugin_would_drop_out_with_a_notice(site: Path, name: str) -> None:
    write(PACKAGES[name], site)
    host = host_over(site, ZAXY_PLUGINS_STRICT="1")
    with pytest.raises(ZaxyError, match=rf"{name} \(acme-{name}\)"):
        host.all(LANES)


@pytest.fixture
def rivals(tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two folders on the path, each with a package of its own whose lane is called `notes`."""
    other = tmp_path / "other"
    monkeypatch.syspath_prepend(str(other))
    write(Package("left", provider="notes"), site)
    write(Package("right", provider="notes"), other)
    return site, other


@pytest.mark.parametrize("first", [0, 1])
def test_two_providers_of_one_name_both_stand_aside_in_any_path_order(rivals: tuple[Path, Path], first: int) -> None:
    host = host_over(rivals[first], rivals[1 - first])
    for name, rival in (("left", "right"), ("right", "left")):
        failed = row_of(host, name)
        assert (failed.state, failed.stage) == ("failed", "name")
        assert f"'notes' is also provided by acme-{rival}" in failed.error
        assert f"ZAXY_PLUGINS_PREFER=retrieval_lanes:notes=acme-{name}" in failed.hint
    with pytest.raises(ZaxyError, match="also provided by"):
        host.get(LANES, "notes")


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("chosen", ["acme-left", "acme-right"])
def test_a_preference_settles_it_in_any_path_order(rivals: tuple[Path, Path], first: int, chosen: str) -> None:
    host = host_over(
        rivals[first], rivals[1 - first], ZAXY_PLUGINS_PREFER=f"retrieval_lanes:notes={chosen}", ZAXY_PLUGINS_STRICT="1"
    )
    assert host.get(LANES, "notes").row.package == chosen
    assert [lane.row.package for lane in host.all(LANES) if lane.name == "notes"] == [chosen]


def test_two_plugins_of_one_name_both_stand_aside_until_one_is_disabled_by_its_package(site: Path) -> None:
    write(Package("notes", provider="left-notes", distribution="acme-left"), site)
    write(Package("notes", provider="right-notes", distribution="acme-right"), site)
    host = host_over(site)
    for package, rival in (("acme-left", "acme-right"), ("acme-right", "acme-left")):
        failed = row_of(host, package)
        assert (failed.state, failed.stage) == ("failed", "name")
        assert f"also taken by {rival}" in failed.error
        assert "ZAXY_PLUGINS_DISABLE=" in failed.hint
    settled = host_over(site, ZAXY_PLUGINS_DISABLE="acme-left", ZAXY_PLUGINS_STRICT="1")
    assert row_of(settled, "acme-left").state == "disabled"
    assert settled.get(LANES, "right-notes").row.package == "acme-right"


def test_a_plugin_cannot_take_the_name_of_the_core(site: Path) -> None:
    write(Package("core", provider="usurper"), site)
    host = host_over(site)
    assert row_of(host, "acme-core").state == "failed"
    assert row_of(host, "zaxy-core").state == "ready"
    assert host.get(LANES, "verbatim").row.package == "zaxy-core"


# The provider that the user chose


@pytest.mark.parametrize("name", ["fails-to-import", "raises-in-hook", "exits-at-import", "lying-manifest"])
def test_a_chosen_provider_whose_plugin_failed_is_an_error_each_time_and_no_other_steps_in(
    site: Path, name: str
) -> None:
    write(PACKAGES[name], site)
    write(Package("sound"), site)
    host = host_over(site)
    for _ in range(2):
        with pytest.raises(ZaxyError, match=rf"{name} \(acme-{name}\) is failed"):
            host.get(LANES, name)


@pytest.mark.parametrize("name", ["malformed-manifest", "future-api"])
def test_a_chosen_provider_that_is_missing_points_to_the_plugins_that_are_out_of_use(site: Path, name: str) -> None:
    write(PACKAGES[name], site)
    with pytest.raises(ZaxyError, match=rf"{name} \(acme-{name}\)"):
        host_over(site).get(LANES, name)


def test_a_preferred_plugin_that_fails_is_not_replaced_by_our_provider(site: Path) -> None:
    write(Package("files", provider="file", point=SINKS, at_import="raise RuntimeError('no files today')"), site)
    host = host_over(site, ZAXY_PLUGINS_PREFER="export_sinks:file=acme-files")
    for _ in range(2):
        with pytest.raises(ZaxyError, match=r"files \(acme-files\) is failed at import"):
            host.get(SINKS, "file")


def test_an_unknown_provider_is_refused_with_the_names_that_are_installed(site: Path) -> None:
    write(Package("sound"), site)
    write(Package("steady"), site)
    with pytest.raises(ZaxyError, match=r"no retrieval_lanes provider is named 'souned'.*sound, steady") as failure:
        host_over(site).get(LANES, "souned")
    assert failure.value.code == "not_found"
    assert "spelling" in failure.value.remediation
    with pytest.raises(ZaxyError) as failure:
        host_over(site).get("signing_algorithms", "ml-dsa-99")
    assert "pip install" not in failure.value.remediation, "a name that nobody knows is not looked up in an index"


# The check, which imports and calls every one of them


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    folder = tmp_path_factory.mktemp("checked")
    install_all(folder / "site")
    return zaxy("plugins", "check", "--json", site=folder / "site", folder=folder, ZAXY_PLUGINS_BUDGET="0.5")


def findings_of(checked: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    report = json.loads(checked.stdout)
    assert report["ok"] is False
    findings: list[dict[str, Any]] = report["findings"]
    return findings


def test_the_check_exits_1_and_its_json_is_pure_although_plugins_print(
    checked: subprocess.CompletedProcess[str],
) -> None:
    assert checked.returncode == 1, checked.stderr
    for finding in findings_of(checked):
        assert finding.keys() >= {"plugin", "package", "stage", "error", "hint"}


@pytest.mark.parametrize("name", FOUND)
def test_the_check_finds_every_broken_plugin_and_says_what_to_do(
    checked: subprocess.CompletedProcess[str], name: str
) -> None:
    found = [finding for finding in findings_of(checked) if finding["plugin"] == name]
    assert found
    for finding in found:
        assert finding["package"] == f"acme-{name}"
        assert finding["stage"]
        assert finding["error"]
        assert finding["hint"]


def test_the_check_of_a_sound_plugin_finds_nothing_although_others_are_broken(tmp_path: Path) -> None:
    install_all(tmp_path / "site")
    write(Package("sound"), tmp_path / "site")
    checked = zaxy("plugins", "check", "sound", "--json", site=tmp_path / "site", folder=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    report = json.loads(checked.stdout)
    assert (report["ok"], report["findings"]) == (True, [])


@pytest.mark.parametrize(
    "command", ["--help", "--version", "plugins list", "plugins show core", "config list", "contracts list"]
)
def test_every_other_command_works_with_all_nine_installed(tmp_path: Path, marks: Path, command: str) -> None:
    install_all(tmp_path / "site")
    ran = zaxy(*command.split(), site=tmp_path / "site", folder=tmp_path, **{MARKS: str(marks)})
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
    assert imported(marks) == []
