from __future__ import annotations

import pytest

from zaxy.api import HttpRequest
from zaxy_testkit import HttpRoutesCase, HttpRoutesSuite
from zaxy_testkit.templates.http_routes import Routes


class TestRoutes(HttpRoutesSuite):
    @pytest.fixture
    def case(self) -> HttpRoutesCase:
        find = HttpRequest("GET", "/acme-pages/find", "q=what+is+decided&session=agent-1")
        return HttpRoutesCase(Routes, requests=(find, HttpRequest("GET", "/acme-pages/follow", "session=agent-1")))
