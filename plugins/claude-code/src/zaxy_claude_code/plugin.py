"""What this package offers to Zaxy: the capture of Claude Code's sessions."""

from __future__ import annotations

from zaxy.api import Provider, hookimpl


@hookimpl
def zaxy_capture_adapters() -> list[Provider]:
    return [
        Provider(
            "claude-code",
            "zaxy_claude_code.adapter:ClaudeCodeSessions",
            "What Claude Code did in the workspace, from its own session files.",
        )
    ]
