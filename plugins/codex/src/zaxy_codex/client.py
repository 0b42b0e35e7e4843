"""Codex: `config.toml` of the user or of a trusted project, and `.codex/hooks.json` of the project."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from zaxy.api import (
    ClientCapture,
    ClientSigns,
    FileClient,
    HookEvent,
    HookHandler,
    JsonHooks,
    ServerEntry,
    edit,
)
from zaxy.api.client_hooks import AS_HOOK_OUTPUT, CONTEXT, SHUTDOWN, SPOKEN, shell_line
from zaxy.api.clients import TextEditor
from zaxy_codex.trust import CHANGED, NOT_YET, digest_of, hook_states, key_of

KNOWN_KEYS = {"description", "hooks"}


class CodexHooks(JsonHooks):
    """Codex refuses a file with anything else in it, and runs a hook only once its user has trusted it."""

    def invalid_reason(self, text: str) -> str:
        reason = super().invalid_reason(text)
        root = edit.json.parse(text)
        if reason or root is None:
            return reason
        unknown = sorted(root.value.keys() - KNOWN_KEYS)
        if unknown:
            return f"Codex refuses a hooks.json that has {unknown[0]!r:.40} beside 'hooks'"
        try:
            json.loads(text)
        except ValueError as error:
            return f"Codex takes plain JSON only, without comments: {error}"
        return ""

    def skip_reason(self, handler: HookHandler, path: Path, environ: Mapping[str, str]) -> str:
        states = hook_states(environ)
        files = dict.fromkeys((os.path.abspath(path), os.path.realpath(path)))
        noted = [state for file in files if isinstance(state := states.get(key_of(handler, file)), dict)]
        trusted = [state["trusted_hash"] for state in noted if state.get("trusted_hash")]
        if not trusted:
            return NOT_YET
        if any(state.get("enabled") is False for state in noted):
            return "turned off in /hooks"
        digest = digest_of(handler, path)
        return "" if not digest or digest in trusted else CHANGED


class Codex(FileClient):
    title = "Codex"
    signs = ClientSigns((".codex",), (".codex",), ("codex",))
    project_file = user_file = ".codex/config.toml"
    editor: ClassVar[TextEditor] = edit.toml
    servers = "mcp_servers"
    hooks = CodexHooks(
        files=(".codex/hooks.json",),
        events=(
            HookEvent("SessionStart", "session-start"),
            HookEvent("SessionStart", CONTEXT, options=AS_HOOK_OUTPUT),
            HookEvent("UserPromptSubmit", "user-prompt-submit"),
            HookEvent("PostToolUse", "command", "Bash"),
            HookEvent("PostToolUse", "file-edit", "apply_patch"),
            HookEvent("PostToolUse", "tool-call", "^mcp__", occasional=True),
            HookEvent("PreCompact", "precompact"),
            HookEvent("Stop", "transcript-turn", options=SPOKEN),
            # It waits no longer than that when it ends, and warns where more is asked for.
            HookEvent("SessionEnd", "stop", options=SHUTDOWN, timeout=3),
        ),
        # It keeps in mind by their numbers which hooks were trusted: what is put in front of others undoes that.
        last=True,
        trust="Start codex in this folder, open /hooks, and trust them.",
    )
    capture = ClientCapture("codex", ".codex/zaxy-capture.json")
    next_step = "Codex: start it here again; '/hooks' there shows the hooks and lets you trust them."

    @property
    def scopes(self) -> Sequence[str]:
        return ("user", "project")

    def target(self, scope: str, workspace: Path, home: Path, environ: Mapping[str, str]) -> Path:
        named = environ.get("CODEX_HOME") if scope == "user" else ""
        return Path(named, "config.toml") if named else super().target(scope, workspace, home, environ)

    def own_command(self, server: ServerEntry) -> str:
        if server.url:
            return f"codex mcp add {server.name} --url {server.url}\n"
        return f"codex mcp add {server.name} -- {shell_line([server.command, *server.args])}\n"

    def entry(self, server: ServerEntry) -> dict[str, Any]:
        entry = super().entry(server)
        if "headers" in entry:
            entry["http_headers"] = entry.pop("headers")
        return {**entry, "startup_timeout_sec": server.startup_timeout_s}
