from __future__ import annotations

import pytest

from zaxy.api.checks.ide_config_writers import IdeConfigWriterCase
from zaxy.plugins.templates.ide_config_writers import Writer
from zaxy_testkit import IdeConfigWriterSuite

EXISTING = """\
; kept by hand
theme=dark

[server.other]\t
  command   =  other --flag=1

# nothing below this line
"""


class TestWriter(IdeConfigWriterSuite):
    @pytest.fixture
    def case(self) -> IdeConfigWriterCase:
        return IdeConfigWriterCase(Writer, existing=EXISTING, malformed="[server.other\ncommand")
