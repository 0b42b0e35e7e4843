"""The contracts: live code equals the snapshots, changes are judged rightly, and pins notice what concerns them."""

from __future__ import annotations

import copy
import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import zaxy.api
from conftest import Zaxy
from installed import install_plugin
from zaxy.api import Event
from zaxy.api.catalog import POINTS, STABILITIES
from zaxy.api.event_types import KEPT_FAMILIES
from zaxy.assemble.prompt import render
from zaxy.contracts.check import check_snapshots, read_contracts, shipped_folder
from zaxy.contracts.diff import ADDITIVE, BREAKING, compare
from zaxy.contracts.snapshot import live_contracts
from zaxy.errors import Forbidden
from zaxy.eventloom.admission import RESERVED_FAMILIES, RESERVED_TYPES, admit
from zaxy.extract import housekeeping
from zaxy.extract.rules import ERASED, INVALIDATED, RULES, extract
from zaxy.plugins.roster import load_roster
from zaxy.settings import Settings

TREE = Path(__file__).parents[1]
API = live_contracts()["plugin-api"]["items"]


def test_code_and_snapshots_agree() -> None:
    changes = check_snapshots(load_roster(Settings({})), TREE / "contracts")
    assert not changes, (
        "run 'zaxy contracts snapshot contracts' (with --plugin NAME for a plugin) and note it in the CHANGELOG; "
        f"a breaking change of a stable item needs a new API major: {changes}"
    )


def test_every_plugin_of_the_tree_has_a_snapshot() -> None:
    assert {file.stem for file in (TREE / "contracts" / "plugins").glob("*.json")} == {
        folder.name for folder in (TREE / "plugins").iterdir() if folder.is_dir()
    }


def test_every_item_has_stability_since_and_side() -> None:
    for contract in read_contracts(shipped_folder()).values():
        for name, item in contract["items"].items():
            assert item["stability"] in STABILITIES, name
            assert item["side"] in ("core", "plugin", "both"), name
            assert item["since"], name


def test_the_plugin_api_describes_every_hook_and_method_with_structured_parameters() -> None:
    for point in POINTS.values():
        assert API[f"hook {point.hook}"]["returns"] == "list[Provider]"
        assert any(name.startswith(f"method {point.protocol}.") for name in API)
    assert API["method ExportSink.deliver"]["parameters"] == [
        {"name": "parcel", "type": "Parcel", "required": True},
        {"name": "destination", "type": "str", "required": True},
        {"name": "token", "type": "str", "required": True},
    ]
    assert API["method ProjectionBackend.apply"]["side"] == "plugin", "inherited methods count too"


Change = Callable[[dict[str, Any]], None]


def edit(item: str, **values: object) -> Change:
    def change(items: dict[str, Any]) -> None:
        items[item].update(values)

    return change


def remove(item: str) -> Change:
    return lambda items: items.__delitem__(item)


def add(item: str, like: str, **values: object) -> Change:
    return lambda items: items.__setitem__(item, {**items[like], **values})


def add_part(item: str, kind: str, required: bool) -> Change:
    return lambda items: items[item][kind].append({"name": "extra", "type": "str", "required": required})


def drop_part(item: str, kind: str) -> Change:
    return lambda items: items[item][kind].pop(0)


@pytest.mark.parametrize(
    ("change", "verdict", "what"),
    [
        (remove("hook zaxy_export_sinks"), BREAKING, "removed"),
        (remove("method ExportSink.check"), BREAKING, "removed"),
        (add("method ExportSink.undo", "method ExportSink.check"), BREAKING, "added"),
        (add("hook zaxy_new", "hook zaxy_export_sinks"), ADDITIVE, "added"),
        (add("method NewPoint.go", "method ExportSink.check"), ADDITIVE, "added"),
        (add_part("method ExportSink.check", "parameters", True), BREAKING, "parameter extra added"),
        (add_part("method ExportSink.check", "parameters", False), BREAKING, "parameter extra added"),
        (drop_part("method ExportSink.check", "parameters"), BREAKING, "parameter destination removed"),
        (add_part("model Parcel", "fields", True), ADDITIVE, "field extra added"),
        (drop_part("model Parcel", "fields"), BREAKING, "field path removed"),
        (add_part("model Receipt", "fields", True), BREAKING, "field extra added"),
        (add_part("model Receipt", "fields", False), ADDITIVE, "field extra added"),
        (add_part("model Event", "fields", True), BREAKING, "field extra added"),
        (add_part("function ZaxyError", "parameters", True), BREAKING, "parameter extra added"),
        (add_part("function ZaxyError", "parameters", False), ADDITIVE, "parameter extra added"),
        (edit("method ExportSink.check", returns="bool"), BREAKING, "returns 'None' became 'bool'"),
        (edit("hook zaxy_export_sinks", stability="beta"), ADDITIVE, "stability experimental became beta"),
        (edit("hook zaxy_export_sinks", summary="Other words."), ADDITIVE, "summary reworded"),
    ],
)
def test_a_change_is_judged_by_the_side_it_is_on(change: Change, verdict: str, what: str) -> None:
    changed = copy.deepcopy(API)
    change(changed)
    found = compare(API, changed)
    assert [(c.verdict, c.what) for c in found] == [(verdict, what)]


EVENT_TYPES = live_contracts()["event-types"]["items"]


@pytest.mark.parametrize(
    ("values", "verdict", "what"),
    [
        ({"entities": ["decision"]}, BREAKING, "entity type actor removed"),
        ({"entities": ["decision", "actor", "goal"]}, ADDITIVE, "entity type goal added"),
        ({"relations": []}, BREAKING, "relation made_decision removed"),
        ({"relations": ["made_decision", "about"]}, ADDITIVE, "relation about added"),
        ({"reserved": True}, BREAKING, "reserved False became True"),
        ({"housekeeping_by": ["zaxy"]}, BREAKING, "housekeeping_by [] became ['zaxy']"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_event_type_may_gain_rows_and_lose_none(values: dict[str, object], verdict: str, what: str) -> None:
    changed = copy.deepcopy(EVENT_TYPES)
    edit("event decision.made", **values)(changed)
    assert [(c.verdict, c.what) for c in compare(EVENT_TYPES, changed)] == [(verdict, what)]


def test_every_event_type_that_the_core_knows_is_in_the_contract() -> None:
    types = {name.removeprefix("event ") for name in EVENT_TYPES if name.startswith("event ")}
    assert types >= {*RULES, *housekeeping.TYPES, *RESERVED_TYPES, ERASED, INVALIDATED, housekeeping.IMPORTED_ERASED}
    prefixes = {name.removeprefix("prefix ") for name in EVENT_TYPES if name.startswith("prefix ")}
    assert prefixes == {*RESERVED_FAMILIES, *(f"{family}." for family in KEPT_FAMILIES)}


def test_the_contract_says_of_each_event_type_what_the_code_does_with_it() -> None:
    for name, item in EVENT_TYPES.items():
        event_type = name.removeprefix("event ")
        if event_type == name:
            continue
        try:
            admit(event_type, "ada", {"text": "lamp"})
            refused = False
        except Forbidden:
            refused = True
        assert item["reserved"] is refused
        for actor in ("ada", "zaxy", "zaxy-hook", "zaxy-import"):
            event = Event("work", 9, "evt_9", event_type, actor, "2026-06-15T00:00:00Z", {"text": "lamp"}, "9", "8")
            assert (actor in item["housekeeping_by"]) is housekeeping.is_housekeeping(event)
            given = set() if item["housekeeping_by"] else {row.entity_type for row in extract(event).entities}
            assert given <= {*item["entities"], *([] if item["entities"] else ["event"])}


def test_a_lower_stability_breaks() -> None:
    stable = copy.deepcopy(API)
    stable["hook zaxy_export_sinks"]["stability"] = "stable"
    assert [(c.verdict, c.stability) for c in compare(stable, API)] == [(BREAKING, "stable")]


def test_reordered_parameters_break() -> None:
    changed = copy.deepcopy(API)
    changed["method ExportSink.deliver"]["parameters"].reverse()
    assert [c.what for c in compare(API, changed)] == ["parameters reordered"]


def test_a_changed_type_of_a_parameter_or_field_breaks() -> None:
    changed = copy.deepcopy(API)
    changed["method ExportSink.check"]["parameters"][0]["type"] = "Path"
    changed["model Parcel"]["fields"][0]["type"] = "str"
    assert [c.verdict for c in compare(API, changed)] == [BREAKING, BREAKING]


def test_contracts_diff_tells_additions_from_breaks_and_exits_1_on_a_break(zaxy: Zaxy, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    assert zaxy("contracts", "snapshot", str(old)).returncode == 0
    assert zaxy("contracts", "snapshot", str(new)).returncode == 0
    same = zaxy("contracts", "diff", str(old), str(new))
    assert (same.returncode, same.stdout) == (0, "no differences\n")
    errors = json.loads((new / "errors.json").read_text())
    errors["items"]["error gone"] = errors["items"]["error conflict"]
    (new / "errors.json").write_text(json.dumps(errors))
    added = zaxy("contracts", "diff", str(old), str(new))
    assert (added.returncode, added.stdout) == (0, "additive: errors: error gone: added (experimental)\n")
    broken = zaxy("contracts", "diff", str(new), str(old), "--json")
    assert broken.returncode == 1
    assert json.loads(broken.stdout)["changes"]["errors"][0]["verdict"] == BREAKING


def test_contracts_check_compares_the_live_code_with_what_was_published(zaxy: Zaxy) -> None:
    done = zaxy("contracts", "check")
    assert (done.returncode, done.stdout) == (0, "no differences\n"), done.stderr


def test_a_pin_holds_what_the_plugin_uses_and_nothing_else(zaxy: Zaxy, tmp_path: Path) -> None:
    install_plugin(tmp_path / "site", "acme")
    pin = tmp_path / "pin.json"
    assert zaxy("contracts", "pin", "acme", "--output", str(pin), site=tmp_path / "site").returncode == 0
    items = json.loads(pin.read_text())["items"]
    assert "plugin-api: hook zaxy_export_sinks" in items
    assert "plugin-api: method ExportSink.deliver" in items
    assert "plugin-api: model Receipt" in items
    assert "manifest: field name" in items
    assert not [name for name in items if "Capture" in name or "setting " in name]
    checked = zaxy("contracts", "check", str(pin))
    assert (checked.returncode, checked.stdout) == (0, "no differences\n")


@pytest.mark.parametrize(
    ("item", "key", "value"),
    [
        ("plugin-api: method ExportSink.deliver", "returns", "int"),
        ("plugin-api: model Receipt", "fields", []),
        ("plugin-api: function GoneFromTheCore", "side", "core"),
    ],
)
def test_a_break_of_a_pinned_item_is_named_and_exits_1(
    zaxy: Zaxy, tmp_path: Path, item: str, key: str, value: object
) -> None:
    """The pin is edited instead of the core: to a check, either difference is the same."""
    install_plugin(tmp_path / "site", "acme")
    pin = tmp_path / "pin.json"
    zaxy("contracts", "pin", "acme", "--output", str(pin), site=tmp_path / "site")
    pinned = json.loads(pin.read_text())
    pinned["items"].setdefault(item, {"stability": "experimental", "since": "0.1"})[key] = value
    if key == "fields":
        pinned["items"][item]["fields"] = [{"name": "lost", "type": "str", "required": True}]
    pin.write_text(json.dumps(pinned))
    done = zaxy("contracts", "check", str(pin))
    assert done.returncode == 1
    assert f"breaking: {pin}: {item}" in done.stdout


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": 1, "items": {"x": 1}}', '{"format": 2, "items": {}}'])
def test_a_file_that_is_no_contract_is_refused(zaxy: Zaxy, tmp_path: Path, text: str) -> None:
    (tmp_path / "file.json").write_text(text)
    done = zaxy("contracts", "check", str(tmp_path / "file.json"))
    assert done.returncode == 2
    assert "contract" in done.stderr


def test_a_missing_file_and_a_folder_without_a_plugin_are_told_apart(zaxy: Zaxy) -> None:
    assert zaxy("contracts", "check", "nowhere.json").returncode == 1
    pin = zaxy("contracts", "pin")
    assert pin.returncode == 2
    assert "zaxy contracts pin NAME" in pin.stderr


def test_contracts_list_counts_items_by_stability(zaxy: Zaxy) -> None:
    lines = zaxy("contracts", "list").stdout.splitlines()
    assert any(line.startswith("plugin-api") and "experimental" in line for line in lines)
    assert json.loads(zaxy("contracts", "list", "--json").stdout)["contracts"]


def test_a_snapshot_is_not_taken_for_a_pin(zaxy: Zaxy, tmp_path: Path) -> None:
    zaxy("contracts", "snapshot", str(tmp_path / "snap"))
    done = zaxy("contracts", "check", str(tmp_path / "snap" / "errors.json"))
    assert done.returncode == 2
    assert "is a snapshot, not a pin" in done.stderr


def test_a_snapshot_makes_no_folders_for_a_mistyped_path(zaxy: Zaxy, tmp_path: Path) -> None:
    done = zaxy("contracts", "snapshot", str(tmp_path / "mistyped" / "a" / "snap"))
    assert (done.returncode, (tmp_path / "mistyped").exists()) == (1, False)
    assert f"there is no folder {tmp_path / 'mistyped'}" in done.stderr


def test_a_contract_that_cannot_be_written_is_no_defect(zaxy: Zaxy, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = zaxy("contracts", "snapshot", str(tmp_path / "file"))
    assert done.returncode == 1
    assert "cannot be written" in done.stderr


def test_everything_that_the_api_exports_is_in_the_contract() -> None:
    described = {name.split()[-1].split(".")[0] for name in API}
    assert set(dir(zaxy.api)) <= described


def test_a_required_field_breaks_only_where_files_can_already_have_its_object() -> None:
    required = {"side": "plugin", "stability": "experimental", "since": "0.1", "required": True}
    optional = {**required, "required": False}
    known = {"field settings": optional, "field settings[].env": required}
    in_a_known_list = {**known, "field settings[].unit": required}
    in_a_new_list = {**known, "field clients": optional, "field clients[].name": required}
    assert [change.verdict for change in compare(known, in_a_known_list)] == [BREAKING]
    assert {change.verdict for change in compare(known, in_a_new_list)} == {ADDITIVE}


def test_the_contract_of_a_checkout_has_all_that_one_can_hold() -> None:
    items = live_contracts()["memory-checkout"]["items"]
    fields = ("ref", "guidance.reminder", "quality.required_action.missing_slots", "quality.required_action.query")
    assert items.keys() >= {f"field {name}" for name in fields}
    prompt = Path(inspect.getsourcefile(render) or "").read_text()
    headings = set(re.findall(r'"(##? [A-Z][A-Za-z ]+)"', prompt))
    assert {name.removeprefix("section ") for name in items if name.startswith("section ")} == headings
    assert "## Quality" in headings
