"""The core's own providers. They come through the same hooks as those of plugins."""

from __future__ import annotations

from zaxy.api.hookspecs import hookimpl
from zaxy.api.provider import Provider


@hookimpl
def zaxy_event_stores() -> list[Provider]:
    return [Provider("jsonl", "zaxy.eventloom.store:JsonlStore", "A file per session, in the workspace's .eventloom.")]


@hookimpl
def zaxy_export_sinks() -> list[Provider]:
    return [Provider("file", "zaxy.export.file_sink:FileSink", "Writes the bundle to a file, whole or not at all.")]


@hookimpl
def zaxy_signing_algorithms() -> list[Provider]:
    return [
        Provider(
            "ed25519",
            "zaxy.export.ed25519:Ed25519",
            "Ed25519 signatures (RFC 8032).",
            install_hint="Install the signing extra: pip install 'zaxy-core[export]'",
        )
    ]


@hookimpl
def zaxy_ide_config_writers() -> list[Provider]:
    return [
        Provider("claude-desktop", "zaxy.clients.claude_desktop:ClaudeDesktop", "Claude Desktop; printed only."),
        Provider("cursor", "zaxy.clients.cursor:CursorClient", "Cursor: its files in .cursor of the project."),
        Provider("gemini", "zaxy.clients.gemini:Gemini", "Gemini CLI: .gemini/settings.json of the project."),
        Provider("vscode", "zaxy.clients.vscode:VsCode", "VS Code: .vscode/mcp.json of the project."),
    ]


@hookimpl
def zaxy_projection_backends() -> list[Provider]:
    return [Provider("sqlite", "zaxy.graph.sqlite_graph:SqliteGraph", "The graph in a SQLite file of the workspace.")]


@hookimpl
def zaxy_retrieval_lanes() -> list[Provider]:
    return [
        Provider(
            "verbatim",
            "zaxy.text.index:TextIndex",
            "Passages of the log, found word by word; needs no graph.",
            capabilities=("follower",),
        )
    ]
