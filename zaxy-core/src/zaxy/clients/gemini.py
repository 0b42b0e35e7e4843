"""Gemini CLI: `.gemini/settings.json` of the project, for the server and for the hooks."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zaxy.api import (
    ClientCapture,
    ClientSigns,
    FileClient,
    HookEvent,
    HookHandler,
    JsonHooks,
    ServerEntry,
    ZaxyError,
    edit,
    read_named_file,
)
from zaxy.api.client_hooks import AS_HOOK_OUTPUT, CONTEXT, SHUTDOWN, SPOKEN, all_tools_but

FILE = ".gemini/settings.json"
SHELL, EDITS = "run_shell_command", ("replace", "write_file")

UNTRUSTED = "in a folder that is not trusted"
TRUSTED_FOLDERS, SETTINGS = "trustedFolders.json", "settings.json"
SYSTEM_SETTINGS = {
    "darwin": "/Library/Application Support/GeminiCli/settings.json",
    "win32": r"C:\ProgramData\gemini-cli\settings.json",
}
MAX_FILE_BYTES = 4 << 20


class GeminiHooks(JsonHooks):
    """Gemini CLI runs the hooks of a project, and starts its servers, only in a folder that its user trusts."""

    def skip_reason(self, handler: HookHandler, path: Path, environ: Mapping[str, str]) -> str:
        return "" if is_trusted_folder(path.parent.parent, environ) else UNTRUSTED


def is_trusted_folder(folder: Path, environ: Mapping[str, str]) -> bool:
    said = environ.get("GEMINI_CLI_TRUST_WORKSPACE")
    if environ.get("GEMINI_RESTRICTED_MODE") == "true" or said == "false":
        return False
    home = Path(environ.get("GEMINI_CLI_HOME") or environ.get("HOME") or os.path.expanduser("~"), ".gemini")
    if said == "true" or not _asks_for_trust(home, environ):
        return True
    rules = _value_in(environ.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH") or home / TRUSTED_FOLDERS, [])
    here, best, trusted = _plain(folder), -1, False
    for rule, level in rules.items() if isinstance(rules, dict) else ():
        about = _plain(os.path.dirname(rule) if level == "TRUST_PARENT" else rule)
        if len(rule) > best and (here == about or about in here.parents):
            best, trusted = len(rule), level in ("TRUST_FOLDER", "TRUST_PARENT")
    return trusted


def _asks_for_trust(home: Path, environ: Mapping[str, str]) -> bool:
    """Whether it asks at all. The system's settings have the last word, the project's own none."""
    system = environ.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH") or SYSTEM_SETTINGS.get(
        sys.platform, "/etc/gemini-cli/settings.json"
    )
    said = [_value_in(file, ["security", "folderTrust", "enabled"]) for file in (system, home / SETTINGS)]
    return next((value for value in said if isinstance(value, bool)), True)


def _value_in(file: str | Path, path: list[str]) -> Any:
    """A value in a file of Gemini's, which may have comments; None where there is none."""
    try:
        text = read_named_file(str(file), MAX_FILE_BYTES).decode("utf-8")
        if path:
            return edit.json.value_at(text, path)
        root = edit.json.parse(text)
        return root.value if root is not None else None
    except (OSError, ValueError, ZaxyError):
        return None


def _plain(path: str | Path) -> Path:
    return Path(os.path.normcase(os.path.realpath(path)))


class Gemini(FileClient):
    title = "Gemini CLI"
    signs = ClientSigns((".gemini", "GEMINI.md"), (".gemini",), ("gemini",))
    project_file = FILE
    hooks = GeminiHooks(
        files=(FILE,),
        events=(
            HookEvent("SessionStart", "session-start"),
            HookEvent("SessionStart", CONTEXT, options=AS_HOOK_OUTPUT),
            HookEvent("BeforeAgent", "user-prompt-submit"),
            HookEvent("AfterTool", "command", SHELL),
            HookEvent("AfterTool", "file-edit", "|".join(EDITS)),
            HookEvent("AfterTool", "tool-call", all_tools_but(SHELL, *EDITS)),
            # Before every turn it asks itself whether to compress, and says `auto` each time: only `manual` means it.
            HookEvent("PreCompress", "precompact", "manual"),
            HookEvent("AfterAgent", "transcript-turn", options=SPOKEN),
            HookEvent("SessionEnd", "stop", options=SHUTDOWN),
        ),
        milliseconds=True,
        named=True,
        trust="Start gemini in this folder, and trust the folder when it asks, or type /permissions trust.",
    )
    capture = ClientCapture("gemini")
    next_step = "Gemini CLI: start it here again and trust the folder when it asks; '/mcp' there shows the server zaxy."

    def entry(self, server: ServerEntry) -> dict[str, Any]:
        entry = super().entry(server)
        if server.url:
            # `url` would mean the older transport there.
            entry = {"httpUrl": entry.pop("url"), **entry}
        return {**entry, "timeout": server.startup_timeout_s * 1000}
