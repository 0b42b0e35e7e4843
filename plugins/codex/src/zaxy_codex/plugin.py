"""What this package offers to Zaxy: the capture of Codex's sessions."""

from __future__ import annotations

from zaxy.api import Provider, hookimpl


@hookimpl
def zaxy_capture_adapters() -> list[Provider]:
    return [Provider("codex", "zaxy_codex.adapter:CodexSessions", "What was said, run and edited in Codex.")]
