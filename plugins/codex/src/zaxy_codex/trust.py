"""Which hooks Codex trusts: it notes a digest of each in its configuration, and skips one whose digest is another."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zaxy.api import HookHandler, read_named_file

NOT_YET = "not yet trusted"
CHANGED = "changed since they were trusted"
MAX_CONFIG_BYTES = 16 << 20
DIGESTED = ("type", "command", "timeout", "async", "statusMessage")
WITHOUT_MATCHER = ("UserPromptSubmit", "Stop")


def hook_states(environ: Mapping[str, str]) -> dict[str, Any]:
    home = environ.get("CODEX_HOME") or os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".codex")
    try:
        config = read_named_file(os.path.join(home, "config.toml"), MAX_CONFIG_BYTES).decode("utf-8")
        hooks = tomllib.loads(config).get("hooks", {})
    except (OSError, ValueError, RecursionError):
        return {}
    states = hooks.get("state") if isinstance(hooks, dict) else None
    return states if isinstance(states, dict) else {}


def key_of(handler: HookHandler, file: str) -> str:
    """Under which Codex notes its state."""
    group, number = handler.place
    return f"{file}:{_event_name(handler)}:{group}:{number}"


def digest_of(handler: HookHandler, path: Path) -> str:
    """What Codex would note if it were trusted now; empty where that is not known.

    It is known of a command with a timeout, as Zaxy writes it: what Codex takes for a missing one differs by event.
    """
    group_at, number = handler.place
    try:
        group = json.loads(read_named_file(str(path), MAX_CONFIG_BYTES))["hooks"][handler.event][group_at]
        hook = group["hooks"][number]
        known = {name: hook[name] for name in DIGESTED if name in hook}
        if hook["type"] != "command" or hook["timeout"] < 1 or known.keys() != hook.keys():
            return ""
        matcher = group.get("matcher")
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ""
    digested = {"event_name": _event_name(handler), "hooks": [{"async": False, **known}]}
    if matcher is not None and handler.event not in WITHOUT_MATCHER:
        digested["matcher"] = matcher
    text = json.dumps(digested, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def _event_name(handler: HookHandler) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", handler.event).lower()
