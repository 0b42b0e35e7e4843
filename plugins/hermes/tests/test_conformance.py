from __future__ import annotations

from pathlib import Path

import pytest

from zaxy.api.checks.ide_config_writers import IdeConfigWriterCase
from zaxy_hermes.writer import Hermes
from zaxy_testkit import IdeConfigWriterSuite, PluginSuite

EXISTING = """\
# Hermes, as I like it
model:   anthropic/claude
terminal: {backend: local,   timeout: 180}

mcp_servers:   # tools
    # looks things up
    search:
        command:  "npx"
        args: [ -y, search-mcp ]   # quiet
    zaxy-like: {url: 'https://example.org/mcp'}

notes: |
  zaxy: not a server
"""


class TestPlugin(PluginSuite):
    plugin = "hermes"
    contract = Path(__file__).parents[1] / "zaxy-contract.json"


class TestHermes(IdeConfigWriterSuite):
    @pytest.fixture
    def case(self) -> IdeConfigWriterCase:
        return IdeConfigWriterCase(Hermes, existing=EXISTING, malformed="mcp_servers:\n  a: [1\n  b: 2\n")
