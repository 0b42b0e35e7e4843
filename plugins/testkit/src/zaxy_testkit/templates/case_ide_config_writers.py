from __future__ import annotations

import pytest

from zaxy_testkit import ClientCase, ClientSuite
from zaxy_testkit.templates.ide_config_writers import AcmeClient

EXISTING = """\
{
   // kept by hand
   "theme" : "dark",
   "servers": {
      "other": {"command": "other", "args": ["--flag=1"],},
   }
}
"""
HOOKS = """\
{
\t"hooks": {
\t\t"SessionEnd": [ { "hooks": [ { "type": "command", "command": "./mine.sh" } ] } ], // mine
\t\t"Other": []
\t}
}
"""


class TestClient(ClientSuite):
    @pytest.fixture
    def case(self) -> ClientCase:
        return ClientCase(AcmeClient, existing=EXISTING, malformed='{"servers": {]}', hooks=HOOKS)
