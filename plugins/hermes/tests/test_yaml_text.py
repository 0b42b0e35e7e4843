from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given, settings, strategies as st

from zaxy.api import ServerEntry, ZaxyError
from zaxy_hermes.client import Hermes
from zaxy_testkit.checks.ide_config_writers import MOVED, SERVER

TWO = ServerEntry("zaxy-two", command="/two")
WRITER = Hermes(None)  # type: ignore[arg-type]  # it looks at nothing of its context

SECTIONS = [
    "",
    "mcp_servers:",
    "mcp_servers:   # none yet",
    "mcp_servers: {}",
    "mcp_servers: { }  # none",
    "mcp_servers: {search: {command: npx}, b: 1}",
    "mcp_servers: {\n  search: {command: npx},\n  }",
    "mcp_servers:\n  # looks things up\n  search:\n    command: npx\n\n    args: [a, # b\n      c]",
    "mcp_servers:\n      search: {command: npx}\n      # end\n",
    "mcp_servers: # tools\n\n a:\n  text: |\n   zaxy: no\n\n b: ~",
    '"mcp_servers" :\n  zaxy-old: {}\n  ? zaxy.odd\n  : 1',
    "mcp_servers:\n- a",
]
ROWS = st.sampled_from(
    [
        "",
        "# zaxy: a comment",
        "model: x   # y",
        "list:\n- a\n-   b: c\n    d: .nan",
        "text: |\n  mcp_servers:\n    zaxy: no\n",
        "kept: |+\n  zaxy\n\n",
        "folded: >-\n  a\n  b",
        "shared: &shared {a: 1}",
        "again: *shared",
        'quoted: "a\n  b"',
        "empty:",
        "nested:\n  mcp_servers:\n    zaxy: {command: other}",
    ]
)


@st.composite
def yaml_files(draw: st.DrawFn) -> str:
    rows = draw(st.lists(ROWS, max_size=5))
    rows.insert(draw(st.integers(0, len(rows))), draw(st.sampled_from(SECTIONS)))
    text = draw(st.sampled_from(["", "---\n", "# head\n--- # go\n"])) + "\n".join(rows)
    text += draw(st.sampled_from(["", "\n", "\n\n", "\n...\n"]))
    indent = draw(st.sampled_from(["", "", "  "]))
    if indent and not text.startswith(("---", "# head")):
        text = "".join(indent + line if line.strip() else line for line in text.splitlines(keepends=True))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", "\ufeff"])) + text


@settings(max_examples=300, deadline=None)
@given(yaml_files())
def test_installing_into_any_file_and_removing_gives_back_its_bytes(text: str) -> None:
    try:
        after = WRITER.install(text, SERVER, False)
    except ZaxyError as error:
        assert error.code in ("unavailable", "conflict")
        assume(False)
        return
    assert any(after.startswith(text[:cut]) and after.endswith(text[cut:]) for cut in range(len(text) + 1))
    assert WRITER.remove(after, "zaxy") == text
    assert WRITER.install(text, SERVER, True) == after
    assert WRITER.install(after, MOVED, True) == WRITER.install(text, MOVED, False)
    before, found = yaml.safe_load(text) or {}, yaml.safe_load(after)
    servers = found.pop("mcp_servers")
    assert servers.pop("zaxy") == WRITER.entry(SERVER)
    assert repr(servers) == repr(before.pop("mcp_servers", None) or {})
    assert repr(found) == repr(before)
    both = WRITER.install(after, TWO, False)
    assert WRITER.remove(both, "zaxy-two") == after
    assert WRITER.remove(WRITER.remove(both, "zaxy"), "zaxy-two") == text


@pytest.mark.parametrize("section", [s for s in SECTIONS if s != "mcp_servers:\n- a"])
@pytest.mark.parametrize("around", ["{}", "a: 1\n{}", "{}\nz: 1\n", "# head\n\na: 1\n{}\n\nz: |\n  b\n"])
def test_every_usual_way_to_write_the_section_can_be_edited(section: str, around: str) -> None:
    text = around.replace("{}", section, 1)
    assert WRITER.remove(WRITER.install(text, SERVER, False), "zaxy") == text


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: 1\nmcp_servers:\n  b: [1\nc: 2\n", "line 4, column"),
        ("mcp_servers:\n  zaxy: {}\n  zaxy: {}\n", "line 3, column 3: 'zaxy' is there twice"),
        ("a: 1\n---\nb: 2\n", "line 2, column 1"),
        ("- a\n", "line 1, column 1"),
        ("mcp_servers:\n- a\n", "line 2, column 1"),
        ("a: !secret x\n", "line 1, column 4"),
        ("a: \x01\n", "line 1, column 4"),
        ("a:\n\t- b\n", "line 2, column 1"),
        ("[" * 5000, "cannot be read"),
    ],
)
def test_a_file_that_hermes_could_not_use_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(ZaxyError, match=place):
        WRITER.install(text, SERVER, True)


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers: null\n",
        "mcp_servers: ~\n",
        "a: &a {b: 1}\nmcp_servers: *a\n",
        "mcp_servers: &a {b: {}}\nc: *a\n",
        "mcp_servers: &a\n  b: {}\nc: *a\n",
    ],
)
def test_a_section_that_shares_its_text_with_others_is_left_to_the_user(text: str) -> None:
    with pytest.raises(ZaxyError, match="cannot be edited") as refused:
        WRITER.install(text, SERVER, True)
    assert refused.value.code == "conflict"


def test_an_entry_that_the_user_wrote_is_replaced_and_removed_alone() -> None:
    text = (
        "mcp_servers:\n  a: {}\n  zaxy:   # mine\n    command: old\n    env:\n      A: |\n        b\n\n"
        "  # about c\n  c: {}\n"
    )
    forced = WRITER.install(text, SERVER, True)
    assert yaml.safe_load(forced)["mcp_servers"] == {"a": {}, "zaxy": WRITER.entry(SERVER), "c": {}}
    assert forced.endswith("  # about c\n  c: {}\n")
    assert yaml.safe_load(WRITER.remove(text, "zaxy")) == {"mcp_servers": {"a": {}, "c": {}}}


def test_odd_values_survive() -> None:
    odd = ServerEntry(
        "zaxy", command="C:\\ü \x7f\x85\u2028", args=("yes", "1", "", "a: b", "# c", "😀"), env={"on": "~"}
    )
    text = WRITER.install("", odd, False)
    assert yaml.safe_load(text)["mcp_servers"]["zaxy"] == WRITER.entry(odd)
    assert WRITER.remove(text, "zaxy") == ""
    flow = WRITER.install("mcp_servers: {}\n", odd, False)
    assert yaml.safe_load(flow)["mcp_servers"]["zaxy"] == WRITER.entry(odd)


def test_hermes_home_comes_before_the_home_folder() -> None:
    assert WRITER.target("user", Path("w"), Path("h"), {}) == Path("h/.hermes/config.yaml")
    assert WRITER.target("user", Path("w"), Path("h"), {"HERMES_HOME": "x"}) == Path("x/config.yaml")


def test_the_startup_allowance_is_hermes_own_and_a_remote_server_is_a_url() -> None:
    assert WRITER.entry(SERVER)["connect_timeout"] == 90
    assert WRITER.entry(ServerEntry("zaxy", url="https://h/mcp")) == {"url": "https://h/mcp", "connect_timeout": 90}
