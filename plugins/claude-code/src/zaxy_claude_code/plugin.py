"""What this package offers to Zaxy: Claude Code as a client, and the capture of its sessions."""

from __future__ import annotations

from zaxy.api import Provider, hookimpl


@hookimpl
def zaxy_ide_config_writers() -> list[Provider]:
    return [Provider("claude-code", "zaxy_claude_code.client:ClaudeCode", "Claude Code: its .mcp.json and its hooks.")]


@hookimpl
def zaxy_capture_adapters() -> list[Provider]:
    return [
        Provider(
            "claude-code",
            "zaxy_claude_code.adapter:ClaudeCodeSessions",
            "What Claude Code did in the workspace, from its own session files.",
        )
    ]
