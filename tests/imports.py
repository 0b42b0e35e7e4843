"""What a session holds, on its way into another one: by a bundle, or event by event as any package hands it over."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest

from zaxy import ForeignEvent, Memory

WAYS = ["events", pytest.param("bundle", marks=pytest.mark.needs_package("export"))]


def taken_along(memory: Memory, session: str, *, way: str) -> Callable[[Memory, str], Any]:
    """What imports it into a memory, under the session that is named."""
    if way == "bundle":
        bundle = BytesIO()
        memory.export(bundle, session=session)
        return lambda other, into: other.import_bundle(bundle, into)
    events = [
        ForeignEvent(event.citation, event.time, event.type, event.actor, event.payload)
        for event in memory.replay(session)
    ]
    return lambda other, into: other.import_events(events, into, source={"program": "acme-copies"})
