"""Pins of those who write no plugin: what is in them, what breaks them, and that only the core decides about it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import broken_plugins
from conftest import Zaxy
from installed import install, install_plugin, manifest_of
from zaxy.contracts.check import check_pin, live_items
from zaxy.contracts.diff import ADDITIVE, BREAKING, compare
from zaxy.contracts.pin import pinned
from zaxy.contracts.uses import EVENT, TOOL, event_items, python_items, tool_items
from zaxy.errors import InvalidRequest

LIVE = live_items()
TOOLS = [name.removeprefix(TOOL) for name in LIVE if name.startswith(TOOL)]
PROGRAM = """
import zaxy as memory_of
from zaxy import Memory, NotFound


def shown(question):
    with Memory.open(".") as memory:
        try:
            found = memory.checkout(question)
        except NotFound as error:
            return error.code
        return found.quality.confidence, [event.citation for event in memory.replay()], memory_of.__version__
"""


def pin_at(path: Path) -> dict[str, Any]:
    pin: dict[str, Any] = json.loads(path.read_text())
    return pin


# What is in a pin


@pytest.mark.needs_package("export")
def test_a_tool_of_a_package_of_ours_is_pinned_from_its_contract() -> None:
    items = tool_items(LIVE, ["memory_export", "memory_query"])
    assert {"plugins/export: tool memory_export", "plugins/export: field bundle.merkle_root"} <= items.keys()
    assert f"{TOOL}memory_query" in items


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_can_be_pinned_with_its_arguments_and_the_fields_of_its_reply(tool: str) -> None:
    items = tool_items(LIVE, [tool])
    assert f"{TOOL}{tool}" in items
    assert len([name for name in items if ": field " in name]) >= 5


def test_a_clients_pin_has_only_the_tools_that_it_names() -> None:
    items = tool_items(LIVE, ["memory_query", "memory_checkout"])
    assert {name for name in items if name.startswith(TOOL)} == {f"{TOOL}memory_query", f"{TOOL}memory_checkout"}
    assert "mcp-responses: field memory_query results[].citation" in items
    assert "memory-checkout: field quality.answerability" in items
    assert not [name for name in items if " memory_verbatim" in name]


def test_a_readers_pin_has_the_payload_fields_of_its_types() -> None:
    items = event_items(LIVE, ["decision.made", "event.erased"])
    assert {"decision", "rationale", "supersedes", "occurred_at"} <= set(items[f"{EVENT}decision.made"]["payload"])
    assert items[f"{EVENT}event.erased"]["payload"] == ["closings", "hash", "reason", "seq"]
    assert len(items) == 2


@pytest.mark.parametrize("name", [name for name in LIVE if name.startswith(EVENT)])
def test_every_event_type_has_the_fields_of_its_payload(name: str) -> None:
    assert LIVE[name]["payload"] or name == f"{EVENT}memory.bootstrap.shown", "only this one says nothing more"


def test_a_programs_pin_has_the_names_and_members_that_it_uses_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(PROGRAM)
    assert set(python_items(LIVE, [tmp_path])) == {
        "python: class Memory",
        "python: class NotFound",
        "python: value __version__",
        "python: method Memory.__enter__",
        "python: method Memory.__exit__",
        "python: method Memory.checkout",
        "python: method Memory.open",
        "python: method Memory.replay",
        "python: field Checkout.quality",
        "python: field Quality.confidence",
        "python: field Event.citation",
        "python: field ZaxyError.code",
    }


def test_a_program_that_imports_everything_pins_every_name(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("from zaxy import *\n")
    items = python_items(LIVE, [tmp_path])
    assert set(items) == {name for name in LIVE if name.startswith(("python: class ", "python: value "))}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("from zaxy import Recall\n", "Recall is no public name of zaxy"),
        ("import zaxy\nzaxy.Recall\n", "Recall is no public name of zaxy"),
        ("import json\n", "is imported from zaxy"),
        ("def broken(:\n", "cannot be read as Python"),
    ],
)
def test_a_program_that_cannot_be_pinned_says_why(tmp_path: Path, source: str, said: str) -> None:
    (tmp_path / "app.py").write_text(source)
    with pytest.raises(InvalidRequest, match=said):
        python_items(LIVE, [tmp_path / "app.py"])


def test_several_kinds_stand_in_one_file(zaxy: Zaxy, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(PROGRAM)
    pin, kinds = tmp_path / "pin.json", ("--mcp", "memory_append, memory_query", "--events", "fact.recorded")
    done = zaxy("contracts", "pin", "--python", str(tmp_path / "app.py"), *kinds, "--output", str(pin), "--json")
    assert done.returncode == 0, done.stderr
    items = pin_at(pin)["items"]
    assert json.loads(done.stdout) == {"written": [str(pin)], "items": len(items)}
    assert {name.partition(":")[0] for name in items} == {"python", "mcp-tools", "mcp-responses", "event-types"}
    checked = zaxy("contracts", "check", str(pin))
    assert (checked.returncode, checked.stdout) == (0, "no differences\n")


def test_a_plugin_that_also_calls_tools_pins_both(zaxy: Zaxy, tmp_path: Path) -> None:
    install_plugin(tmp_path / "site", "acme")
    pin = tmp_path / "pin.json"
    words = ("contracts", "pin", "acme", "--mcp", "memory_query", "--output", str(pin))
    assert zaxy(*words, site=tmp_path / "site").returncode == 0
    contract = pin_at(pin)
    assert (contract["contract"], contract["distribution"]) == ("acme", "acme")
    assert {"plugin-api: hook zaxy_export_sinks", f"{TOOL}memory_query"} <= set(contract["items"])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--mcp", "memory_chekout"), 2, "Did you mean memory_checkout?"),
        (("--events", "note.taken"), 2, "no contract of zaxy-core has the event type 'note.taken'"),
        (("--python", "nowhere"), 1, "nowhere is not there"),
        (("one", "two"), 2, "need --python"),
        ((), 2, "--mcp TOOLS, --python [PATHS], --events TYPES"),
    ],
)
def test_what_cannot_be_pinned_says_what_to_do(zaxy: Zaxy, words: tuple[str, ...], code: int, said: str) -> None:
    done = zaxy("contracts", "pin", *words)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr


# What breaks one


@pytest.mark.parametrize(
    ("breaking", "kind", "item"),
    [
        (
            "zaxy.AsyncMemory; from zaxy.questions import Questions; del Questions.checkout",
            ("--python",),
            "python: method Memory.checkout: removed",
        ),
        (
            "zaxy.Memory.head = lambda self, session: 0",
            ("--python",),
            "python: method Memory.head: parameter session: is required now",
        ),
        (
            "from zaxy.serve.tools import recall; from zaxy.contracts import replies; recall.TOOLS = recall.TOOLS[1:]; "
            "replies.TOOLS = tuple(sample for sample in replies.TOOLS if sample[0] != 'memory_query')",
            ("--mcp", "memory_query"),
            f"{TOOL}memory_query: removed",
        ),
        (
            "from zaxy.retrieve.results import Answer; inner = Answer.in_brief; "
            "Answer.in_brief = lambda self: {k: v for k, v in inner(self).items() if k != 'truncated'}",
            ("--mcp", "memory_query"),
            "mcp-responses: field memory_query truncated: removed",
        ),
        (
            "from zaxy.extract.rules import RULES; rule = RULES['decision.made']; "
            "RULES['decision.made'] = rule._replace(keeps=tuple(f for f in rule.keeps if f != 'rationale'))",
            ("--events", "decision.made"),
            f"{EVENT}decision.made: payload field rationale removed",
        ),
    ],
    ids=["method", "signature", "tool", "reply", "payload"],
)
def test_a_core_that_breaks_what_was_pinned_is_refused_by_name(
    zaxy: Zaxy, tmp_path: Path, breaking: str, kind: tuple[str, ...], item: str
) -> None:
    """The core is broken in the process that checks: to the check it is another version."""
    pin = tmp_path / "pin.json"
    assert zaxy("contracts", "pin", *kind, "--output", str(pin)).returncode == 0
    program = f"import sys, zaxy; {breaking}\nfrom zaxy.__main__ import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", program, "contracts", "check", str(pin)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert f"breaking: {pin}: {item}" in done.stdout


def test_what_was_not_pinned_does_not_matter_to_a_client_or_a_program(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(PROGRAM)
    for items in (
        python_items(LIVE, [tmp_path]),
        tool_items(LIVE, ["memory_query"]),
        event_items(LIVE, ["task.claimed"]),
    ):
        assert check_pin({**pinned("shop", "shop", items), "api": "0.0"}) == [], (
            "the plugin API is no business of theirs"
        )


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ({"type": "string", "maxLength": 9}, {"type": "string"}, ADDITIVE),
        ({"type": "string"}, {"type": "string", "maxLength": 9}, BREAKING),
        ({"minimum": 1}, {"minimum": 0}, ADDITIVE),
        ({"minimum": 0}, {"minimum": 1}, BREAKING),
        ({"enum": ["a"]}, {"enum": ["a", "b"]}, ADDITIVE),
        ({"enum": ["a", "b"]}, {"enum": ["a"]}, BREAKING),
        ({"type": "string"}, {"type": "string", "enum": ["a"]}, BREAKING),
        ({"enum": ["a"]}, {}, BREAKING),
        ({"type": "string"}, {"type": "object"}, BREAKING),
        ({"properties": {"description": {"type": "string"}}}, {"properties": {}}, BREAKING),
        ({"properties": {"a": {"description": "A"}}}, {"properties": {"a": {"description": "B"}}}, ADDITIVE),
    ],
)
def test_an_argument_may_take_more_and_never_less(old: object, new: object, verdict: str) -> None:
    def described(schema: object) -> dict[str, dict[str, Any]]:
        argument = {"name": "query", "required": True, "schema": schema}
        return {"tool x": {"side": "core", "stability": "beta", "since": "0.1", "parameters": [argument]}}

    assert [change.verdict for change in compare(described(old), described(new))] == [verdict]


def test_an_item_that_is_not_described_as_one_is_named(zaxy: Zaxy, tmp_path: Path) -> None:
    pin = tmp_path / "pin.json"
    zaxy("contracts", "pin", "--mcp", "memory_query", "--output", str(pin))
    contract = pin_at(pin)
    contract["items"][f"{TOOL}memory_query"]["parameters"] = ["query"]
    pin.write_text(json.dumps(contract))
    done = zaxy("contracts", "check", str(pin))
    assert done.returncode == 2
    assert "mcp-tools: tool memory_query is not described" in done.stderr and "Traceback" not in done.stderr


# The core alone

NOISY = """
from zaxy.api import Provider, hookimpl


@hookimpl
def zaxy_extractors():
    return [Provider("noisy", "acme_noisy.plugin:Extractor", "More rows.")]


@hookimpl
def zaxy_retrieval_lanes():
    return [Provider("noisy-lane", "acme_noisy.gone:Lane", "Nothing.")]
"""


def test_no_plugin_changes_what_is_said_of_the_core(zaxy: Zaxy, tmp_path: Path) -> None:
    site = tmp_path / "site"
    broken_plugins.install_all(site)
    offers = [{"point": "extractors", "name": "noisy"}, {"point": "retrieval_lanes", "name": "noisy-lane"}]
    install(site, "acme-noisy", {"plugin.py": NOISY}, manifest_of("noisy", provides=offers), ENTRY)
    install_plugin(site, "webhook")
    assert zaxy("contracts", "check", site=site).stdout == zaxy("contracts", "check").stdout == "no differences\n"
    pin = tmp_path / "pin.json"
    zaxy("contracts", "pin", "--mcp", "memory_query,memory_checkout,memory_bootstrap", "--output", str(pin))
    assert zaxy("contracts", "check", str(pin), site=site).stdout == "no differences\n"


ENTRY = "[zaxy.plugins]\nnoisy = acme_noisy.plugin\n"
WRONG = {
    "PROJECTION_BACKEND": "nowhere",
    "ZAXY_EVENT_STORE": "nowhere",
    "ZAXY_PLUGINS_PREFER": "nonsense",
    "ZAXY_PLUGINS_STRICT": "1",
    "ZAXY_PLUGINS_BUDGET": "soon",
}


@pytest.mark.parametrize("name", WRONG)
def test_no_setting_of_the_machine_changes_what_is_said_of_the_core(zaxy: Zaxy, name: str) -> None:
    done = zaxy("contracts", "check", **{name: WRONG[name]})
    assert (done.returncode, done.stdout) == (0, "no differences\n"), done.stderr


@pytest.mark.parametrize(
    ("broken", "item"),
    [
        ("import zaxy.commands.refs as m; del m.RefsCommands", "command refs list"),
        ("import zaxy.api as m; m.Receipt = 'gone'", "model Receipt"),
        ("import zaxy.memory as m; m.Memory.query = lambda self, **given: 1 / 0", "the reply of memory_query"),
        ("import zaxy.contracts.own_events as m; m.own_payloads = lambda: 1 / 0", "the contract event-types"),
    ],
)
def test_a_failure_within_a_check_names_the_item(tmp_path: Path, broken: str, item: str) -> None:
    program = f"import sys; {broken}\nfrom zaxy.__main__ import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", program, "contracts", "check"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 1
    assert f"{item} cannot be read off the code" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and "internal" not in done.stderr
