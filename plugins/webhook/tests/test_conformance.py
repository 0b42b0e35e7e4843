from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_receiver import receiving

from zaxy_testkit import ExportSinkCase, ExportSinkSuite, PluginSuite
from zaxy_webhook.sink import Webhook


class TestPlugin(PluginSuite):
    plugin = "webhook"
    contract = Path(__file__).parents[1] / "zaxy-contract.json"


class TestWebhook(ExportSinkSuite):
    @pytest.fixture
    def case(self) -> Iterator[ExportSinkCase]:
        with receiving() as receiver:
            yield ExportSinkCase(
                Webhook,
                destination=receiver.url,
                forbidden="http://169.254.169.254/latest/meta-data/",
                received=lambda: receiver.requests[-1].body if receiver.requests else None,
                settings={"ZAXY_WEBHOOK_ALLOW": ("127.0.0.1",)},
            )
