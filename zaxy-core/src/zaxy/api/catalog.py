"""The extension points and the version of the plugin API, as plain data that is cheap to import."""

from __future__ import annotations

from zaxy.tuples import NamedTuple

API_CURRENT = (0, 4)
API_FLOOR = (0, 1)
"""The core accepts a plugin whose API range overlaps [API_FLOOR, API_CURRENT]."""

STORES_OF_LINES = (0, 3)
"""Since then an event store keeps lines. One of an older API keeps something that the core cannot prove."""

WIDE_ACCESS = (0, 4)
"""Since then `MemoryAccess` has what the core's own tools use. A pack of an older API gets what it knows."""

ROLES = ("reader", "writer", "admin")
"""Of an identity. Each may do what those before it may."""

STABILITIES = ("stable", "beta", "experimental")


class Point(NamedTuple):
    name: str
    protocol: str
    """The Protocol in `zaxy.api.points` that a provider's class satisfies."""
    summary: str
    follows: bool = False
    """Whether its state comes from the log, so that it may be deleted and rebuilt."""
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
        Point(
            "retrieval_lanes",
            "RetrievalLane",
            "ranked candidates for a question",
            True,
            ("follower", "background", "word-similarity", "rerank"),
        ),
        Point("extractors", "Extractor", "more entities and edges out of one event"),
        Point("capture_adapters", "CaptureAdapter", "a client's session files, read as observations"),
        Point(
            "ide_config_writers",
            "Client",
            "a client: its MCP configuration, its hooks, and what shows that it is there",
        ),
        Point("export_sinks", "ExportSink", "delivery of an exported bundle", capabilities=("rows",)),
        Point("signing_algorithms", "SigningAlgorithm", "keys, signatures and their verification"),
        Point(
            "tool_packs",
            "ToolPack",
            "more MCP tools over the same memory",
            capabilities=("resources", "prompts"),
        ),
        Point("commands", "Command", "more words behind `zaxy`, alone or in a group", since="0.4"),
        Point(
            "doctor_checks",
            "HealthCheck",
            "rows for `zaxy doctor`, each with what to do",
            capabilities=("fix",),
            since="0.4",
        ),
        Point("http_routes", "HttpRoutes", "paths of the HTTP server, behind its gate", since="0.4"),
        Point("http_auth", "HttpAuth", "who an HTTP request is from, and what they may do", since="0.4"),
        Point("event_types", "EventFamily", "a family of event types that a package owns", since="0.4"),
    )
}
OWN_LANES = ("exact", "keyword", "traversal", "verbatim", "outside", "closeness", "recency", "reinforced")
"""What the core itself calls parts of a score. No lane of a plugin can have such a name."""
ABILITIES = {
    "follower": "Follower",
    "word-similarity": "WordSimilarity",
    "rerank": "Reranker",
    "fix": "HealthFix",
    "resources": "ResourcePack",
    "prompts": "PromptPack",
}
"""The Protocol in `zaxy.api.points` that a provider with a capability satisfies besides that of its point."""
HOOK_FIELDS = {
    "hook_event_name": ("hook_event_name",),
    "client_session": ("session_id",),
    "agent": ("agent_id",),
    "transcript_path": ("transcript_path",),
    "workspace": ("cwd",),
    "reason": ("reason", "trigger", "source"),
    "prompt": ("prompt",),
    "content": ("last_assistant_message",),
    "tool_name": ("tool_name",),
    "server": ("server",),
    "arguments": ("tool_input",),
    "response": ("tool_response", "tool_output"),
    "error": ("error",),
    "command": ("tool_input.command",),
    "stdout": ("tool_response.stdout", "tool_response", "tool_output"),
    "stderr": ("tool_response.stderr", "error"),
    "exit_code": ("tool_response.exit_code", "tool_response.exitCode"),
    "path": ("tool_input.file_path", "tool_input.path", "tool_input.notebook_path", "tool_input.absolute_path"),
    "operation": ("tool_response.type",),
    "change": ("tool_response.structuredPatch", "tool_response.returnDisplay.fileDiff"),
    "text_before": ("tool_response.originalFile", "tool_response.returnDisplay.originalContent"),
    "replacements": ("tool_input.edits", "tool_input"),
    "duration_ms": ("duration_ms",),
}
"""What a hook's JSON may say, and the places where most clients say it. A client that has other places names them in
its manifest; they are tried first."""


def version_text(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
