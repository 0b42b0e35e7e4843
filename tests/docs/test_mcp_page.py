"""The page on the MCP server names every tool with its exact signature, and says which profile lists it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from all_tools import all_tools
from zaxy.api.tools import ToolFunction
from zaxy.serve.catalog import FIRST, Catalog

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
TOOLS = list(all_tools())


def signature(served: ToolFunction) -> str:
    schema = served.tool.input_schema
    properties, required = schema["properties"], schema.get("required", ())
    named = [name if name in required else f"{name}?" for name in properties]  # type: ignore[operator, attr-defined]
    return f"{served.tool.name}({', '.join(named)})"


def test_the_page_has_a_section_for_each_tool_in_the_order_of_the_listing() -> None:
    assert re.findall(r"^### (\w+)$", PAGE, re.MULTILINE) == [served.tool.name for served in TOOLS]


@pytest.mark.parametrize("served", TOOLS, ids=lambda served: served.tool.name)
def test_a_tools_section_shows_its_exact_signature_and_says_something(served: ToolFunction) -> None:
    section = re.search(rf"^### {served.tool.name}\n\n`(.+)`\n\n(\S.+)", PAGE, re.MULTILINE)
    assert section
    assert section[1] == signature(served)


@pytest.mark.parametrize("profile", ["coordinate", "compact"])
def test_the_page_lists_what_a_small_profile_lists(profile: str) -> None:
    row = re.search(rf"^\| `{profile}` \| (.+) \|$", PAGE, re.MULTILINE)
    assert row
    assert re.findall(r"`(\w+)`", row[1]) == [served.tool.name for served in Catalog(TOOLS).listed(profile)]


def test_the_core_profile_is_the_first_ten() -> None:
    assert [served.tool.name for served in Catalog(TOOLS).listed("core")] == list(FIRST)
