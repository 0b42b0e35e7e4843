from __future__ import annotations

import pytest

from zaxy.api import Event
from zaxy_testkit import ExtractorCase, ExtractorSuite
from zaxy_testkit.templates.extractors import Extractor

SAMPLE = Event(
    session="agent-1",
    seq=7,
    id="evt_7_9f3c1a7e",
    type="transcript.turn",
    actor="assistant",
    time="2026-06-15T00:00:00.000000Z",
    payload={"role": "assistant", "content": "ABC-123 waits for XY-9.", "tags": ["ABC-124"]},
    hash="7" * 64,
    prev="6" * 64,
)


class TestExtractor(ExtractorSuite):
    @pytest.fixture
    def case(self) -> ExtractorCase:
        return ExtractorCase(Extractor, events=(SAMPLE,))
