"""What docs/workspace-genesis.md, docs/install.md and the page on Claude Code say is what the code has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from zaxy.eventloom.opening import files_log
from zaxy.setup.genesis import (
    INSTRUCTION_FILES,
    MAX_FILE,
    MAX_FILES,
    RULE_FOLDERS,
    WorkspaceFacts,
    missing_records,
    record,
)
from zaxy.workspace import find_workspace

TREE = Path(__file__).parents[2]


def page(name: str) -> str:
    return (TREE / "docs" / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    found = re.search(rf"^(#+) {re.escape(heading)}\n(.*?)(?=^#{{1,6}} |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found, f"there is no section {heading}"
    return found[2]


def first_column(text: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)


def test_the_fields_of_both_events_are_the_ones_that_are_written(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Be brief.\n")
    workspace = find_workspace(str(tmp_path))
    log = files_log(workspace.eventloom)
    try:
        missing = missing_records(log, "s", workspace.root)
        events = record(log, "s", workspace=workspace, missing=missing, identity=WorkspaceFacts("demo", "sqlite"))
    finally:
        log.close()
    written = {event.type: event.payload for event in events}
    assert set(written) == {"session.genesis", "workspace.instructions.discovered"}
    for event, payload in written.items():
        assert set(first_column(section(page("workspace-genesis.md"), event))) == set(payload)


def test_the_instruction_files_and_their_bounds_are_the_ones_that_are_looked_for() -> None:
    text = section(page("workspace-genesis.md"), "workspace.instructions.discovered")
    listed = re.findall(r"`([^`]+)`", text[text.index("Looked for are:") : text.index("At most")])
    rules = {f"*{ending}" for ending in RULE_FOLDERS.values()}
    assert set(listed) == {*INSTRUCTION_FILES, *RULE_FOLDERS, *rules}
    assert f"At most {MAX_FILES}, of at most {MAX_FILE >> 20} MiB each" in text


def test_the_table_of_extras_has_every_extra_that_there_is() -> None:
    project = tomllib.loads((TREE / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["extras"]
    assert set(first_column(section(page("install.md"), "Extras"))) == {*extras, "all"}
