"""All hooks of the plugin API. Each returns a list of `Provider`. What a provider must do is in `points`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from zaxy.api.provider import Provider

PROJECT = "zaxy"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def zaxy_projection_backends() -> list[Provider]:  # type: ignore[empty-body]
    """Graph stores that follow the log."""


@hookspec
def zaxy_event_stores() -> list[Provider]:  # type: ignore[empty-body]
    """Places where the log itself can live."""


@hookspec
def zaxy_retrieval_lanes() -> list[Provider]:  # type: ignore[empty-body]
    """Lanes that rank candidates for a question."""


@hookspec
def zaxy_extractors() -> list[Provider]:  # type: ignore[empty-body]
    """Pure functions that draw more entities and edges out of an event."""


@hookspec
def zaxy_capture_adapters() -> list[Provider]:  # type: ignore[empty-body]
    """Readers of the session files that clients keep."""


@hookspec
def zaxy_ide_config_writers() -> list[Provider]:  # type: ignore[empty-body]
    """Clients: their MCP configurations, their hooks, and what shows that they are there."""


@hookspec
def zaxy_export_sinks() -> list[Provider]:  # type: ignore[empty-body]
    """Ways to deliver an exported bundle."""


@hookspec
def zaxy_signing_algorithms() -> list[Provider]:  # type: ignore[empty-body]
    """Algorithms that sign and verify bundles."""


@hookspec
def zaxy_tool_packs() -> list[Provider]:  # type: ignore[empty-body]
    """Packs of further MCP tools."""


@hookspec
def zaxy_commands() -> list[Provider]:  # type: ignore[empty-body]
    """Commands of `zaxy`. Their words and targets stand in the manifest, so no hook need offer them."""


@hookspec
def zaxy_doctor_checks() -> list[Provider]:  # type: ignore[empty-body]
    """Checks whose rows `zaxy doctor` shows after its own."""


@hookspec
def zaxy_http_routes() -> list[Provider]:  # type: ignore[empty-body]
    """Paths of the HTTP server."""


@hookspec
def zaxy_http_auth() -> list[Provider]:  # type: ignore[empty-body]
    """Ways to know who an HTTP request is from."""


@hookspec
def zaxy_event_types() -> list[Provider]:  # type: ignore[empty-body]
    """Families of event types that packages own."""
