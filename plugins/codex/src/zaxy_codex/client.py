"""Codex: `config.toml` of the user or of a trusted project, and `.codex/hooks.json` of the project."""

from __future__ import annotations

import json
import os
import re
import tomllib
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
    read_named_file,
)
from zaxy.api.client_hooks import AS_HOOK_OUTPUT, CONTEXT, SHUTDOWN, SPOKEN, shell_line
from zaxy.api.clients import TextEditor

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

    def is_trusted(self, handler: HookHandler, path: Path, environ: Mapping[str, str]) -> bool:
        """Whether Codex has noted that the user trusts it. Only Codex knows that the note is of the same command."""
        event = re.sub(r"(?<!^)(?=[A-Z])", "_", handler.event).lower()
        group, number = handler.place
        states = _states(environ)
        for file in {os.path.abspath(path), os.path.realpath(path)}:
            state = states.get(f"{file}:{event}:{group}:{number}")
            if isinstance(state, dict) and state.get("trusted_hash") and state.get("enabled") is not False:
                return True
        return False


MAX_CONFIG_BYTES = 16 << 20


def _states(environ: Mapping[str, str]) -> dict[str, Any]:
    home = environ.get("CODEX_HOME") or os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".codex")
    try:
        config = read_named_file(os.path.join(home, "config.toml"), MAX_CONFIG_BYTES).decode("utf-8")
        hooks = tomllib.loads(config).get("hooks", {})
    except (OSError, ValueError, RecursionError):
        return {}
    states = hooks.get("state") if isinstance(hooks, dict) else None
    return states if isinstance(states, dict) else {}


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
            # Its patterns know no exceptions, so memory's own tools are among these.
            HookEvent("PostToolUse", "tool-call", "^mcp__"),
            HookEvent("PreCompact", "precompact"),
            HookEvent("Stop", "transcript-turn", options=SPOKEN),
            HookEvent("Stop", "stop"),
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
