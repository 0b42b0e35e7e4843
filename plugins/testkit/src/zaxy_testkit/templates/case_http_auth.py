from __future__ import annotations

import pytest

from zaxy.api import HttpRequest
from zaxy_testkit import HttpAuthCase, HttpAuthSuite
from zaxy_testkit.templates.http_auth import SETTING, TEAM, Auth


class TestAuth(HttpAuthSuite):
    @pytest.fixture
    def case(self) -> HttpAuthCase:
        return HttpAuthCase(
            Auth,
            admitted=HttpRequest("POST", "/mcp", headers=(("authorization", "Bearer let-me-in"),)),
            identity=TEAM,
            refused=(HttpRequest("POST", "/mcp", headers=(("authorization", "Basic let-me-in"),)),),
            settings={SETTING: "let-me-in"},
        )
