from __future__ import annotations

from pathlib import Path

import pytest

from zaxy_hermes.client import Hermes
from zaxy_testkit import ClientCase, ClientSuite, PluginSuite

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


class TestHermes(ClientSuite):
    @pytest.fixture
    def case(self) -> ClientCase:
        return ClientCase(Hermes, existing=EXISTING, malformed="mcp_servers:\n  a: [1\n  b: 2\n")
