"""Which extension points there are, and the version of the plugin API: plain data, cheap to import."""

from __future__ import annotations

from zaxy.tuples import NamedTuple

API_CURRENT = (0, 2)
API_FLOOR = (0, 1)
"""The core accepts a plugin whose API range meets the window [API_FLOOR, API_CURRENT]."""

STABILITIES = ("stable", "beta", "experimental")


class Point(NamedTuple):
    name: str
    protocol: str
    """The Protocol in `zaxy.api.points` that a provider's class satisfies."""
    summary: str
    follows: bool = False
    """Whether its state is derived from the log, and so lives among the disposable followers."""
    capabilities: tuple[str, ...] = ()
    """The optional abilities that a provider may declare."""
    stability: str = "experimental"
    since: str = "0.1"

    @property
    def hook(self) -> str:
        return f"zaxy_{self.name}"


POINTS = {
    point.name: point
    for point in (
        Point(
            "projection_backends", "ProjectionBackend", "a graph store that follows the log", True, ("single-process",)
        ),
        Point("event_stores", "EventStore", "where the log itself lives"),
        Point("retrieval_lanes", "RetrievalLane", "ranked candidates for a question", True, ("follower",)),
        Point("extractors", "Extractor", "more entities and edges out of one event"),
        Point("capture_adapters", "CaptureAdapter", "a client's session files, read as observations"),
        Point("ide_config_writers", "IdeConfigWriter", "a client's MCP configuration, rendered and edited"),
        Point("export_sinks", "ExportSink", "delivery of an exported bundle"),
        Point("signing_algorithms", "SigningAlgorithm", "keys, signatures and their verification"),
        Point("tool_packs", "ToolPack", "more MCP tools over the same memory"),
    )
}


def version_text(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
