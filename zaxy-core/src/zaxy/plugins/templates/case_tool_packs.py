from __future__ import annotations

import pytest

from zaxy.api.checks.tool_packs import ToolPackCase
from zaxy.plugins.templates.tool_packs import Pack
from zaxy_testkit import ToolPackSuite


class TestPack(ToolPackSuite):
    @pytest.fixture
    def case(self) -> ToolPackCase:
        return ToolPackCase(
            Pack,
            calls={
                "acme_note": {"session_id": "agent-1", "text": "The cake is in the fridge."},
                "acme_recent": {"session_id": "agent-1", "limit": 5},
            },
        )
