"""What `zaxy plugins check` tries of a provider: that it has the methods of its point, and answers one of them."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from zaxy.api import Event, HttpRequest, Query, ServerEntry, ZaxyError
from zaxy_testkit.checks import shape

SAMPLE = Event(
    "plugins-check", 1, "evt_1_00000000", "note.made", "zaxy", "2026-06-15T00:00:00.000000Z", {}, "0" * 64, None
)
TRIALS: dict[str, tuple[str, tuple[object, ...]]] = {
    "projection_backends": ("cursor", ("plugins-check",)),
    "event_stores": ("sessions", ()),
    "retrieval_lanes": ("search", (Query("Does this lane answer?", "plugins-check"),)),
    "extractors": ("extract", (SAMPLE,)),
    "capture_adapters": ("sources", (Path("/nonexistent"),)),
    "ide_config_writers": ("render", (ServerEntry("zaxy", "zaxy", ("serve",)),)),
    "export_sinks": ("check", ("",)),
    "signing_algorithms": ("verify", (b"", b"", b"")),
    "tool_packs": ("tools", ()),
    "http_auth": ("identify", (HttpRequest("GET", "/plugins-check"),)),
}
"""One harmless call for each point. A provider answers it, or refuses it with a `ZaxyError`. A command has none: it
prints, and ends as it likes. Neither have health checks, whose call the doctor makes, nor routes, which need memory,
nor families, whose rules know their own events alone."""


def misfits(point: str, provider: object, capabilities: Collection[str]) -> list[str]:
    """Why the core cannot call the provider as its point says; empty if it can."""
    of_capabilities = [wrong for capability in capabilities for wrong in shape.ability_misfits(capability, provider)]
    return [*shape.misfits(point, provider), *of_capabilities]


def call_once(point: str, provider: object) -> None:
    """Make the point's one harmless call."""
    method, arguments = TRIALS[point]
    with suppress(ZaxyError):
        getattr(provider, method)(*arguments)
