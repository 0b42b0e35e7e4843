from __future__ import annotations

import pytest

from zaxy_testkit import ToolPackCase, ToolPackSuite
from zaxy_testkit.templates.tool_packs import Pack


class TestPack(ToolPackSuite):
    @pytest.fixture
    def case(self) -> ToolPackCase:
        return ToolPackCase(
            Pack,
            calls={
                "acme_note": {"session_id": "agent-1", "text": "The cake is in the fridge."},
                "acme_recent": {"session_id": "agent-1", "limit": 5},
            },
            capabilities=frozenset({"resources", "prompts"}),
            paths=("recent", "sessions/agent-1"),
            prompts={"acme_review": {"goal": "a birthday"}},
        )
