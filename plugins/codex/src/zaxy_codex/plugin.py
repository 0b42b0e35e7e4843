"""What this package offers to Zaxy: Codex as a client, and the capture of its sessions."""

from __future__ import annotations

from zaxy.api import Provider, hookimpl


@hookimpl
def zaxy_ide_config_writers() -> list[Provider]:
    return [Provider("codex", "zaxy_codex.client:Codex", "Codex: its config.toml and its hooks.")]


@hookimpl
def zaxy_capture_adapters() -> list[Provider]:
    return [Provider("codex", "zaxy_codex.adapter:CodexSessions", "What was said, run and edited in Codex.")]
