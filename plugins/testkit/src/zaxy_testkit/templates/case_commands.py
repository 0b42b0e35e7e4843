from __future__ import annotations

import pytest

from zaxy_testkit import CommandCase, CommandSuite
from zaxy_testkit.templates.commands import Commands


class TestCommands(CommandSuite):
    @pytest.fixture
    def case(self) -> CommandCase:
        return CommandCase(Commands, calls={"acme-notes": ("--limit", "5")})
