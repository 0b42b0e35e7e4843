"""The clients whose hooks Zaxy knows: which of their events are observed, and what each hook runs."""

from __future__ import annotations

from typing import NamedTuple

from zaxy.errors import InvalidRequest

TIMEOUT = 10
"""Seconds that a client waits at most. A hook takes about 0.05 s, and gives up on a busy log after one second."""


class Observed(NamedTuple):
    """One event of a client's, and the trigger that it is recorded with."""

    event: str
    trigger: str
    matcher: str = ""
    options: tuple[str, ...] = ()
    timeout: int = TIMEOUT


class HookClient(NamedTuple):
    name: str
    files: tuple[str, ...]
    """Where it looks in a project, the one that Zaxy writes to first."""
    observed: tuple[Observed, ...]
    exec_form: bool = False
    """Whether it takes the words of a command one by one, so that no shell reads them."""
    grouped: bool = True
    """Whether handlers stand in groups with a matcher, or right under their event."""
    milliseconds: bool = False


SHUTDOWN = ("--reason", "shutdown")
SPOKEN = ("--role", "assistant")
CLAUDE_EDITS = "Edit|MultiEdit|NotebookEdit|Write"
GEMINI_SHELL, GEMINI_EDITS = "run_shell_command", "replace|write_file"


def _all_but(*names: str) -> str:
    """A pattern for every tool but these and memory's own, which memory records by itself."""
    return f"^(?!(?:{'|'.join(names)})$|mcp__zaxy__|mcp_zaxy_)"


CLAUDE_CODE = HookClient(
    "claude-code",
    (".claude/settings.local.json", ".claude/settings.json"),
    (
        Observed("SessionStart", "session-start"),
        Observed("UserPromptSubmit", "user-prompt-submit"),
        Observed("PostToolUse", "command", "Bash"),
        Observed("PostToolUse", "file-edit", CLAUDE_EDITS),
        Observed("PostToolUse", "tool-call", _all_but("Bash", *CLAUDE_EDITS.split("|"))),
        Observed("PostToolUseFailure", "command", "Bash"),
        Observed("PostToolUseFailure", "tool-call", _all_but("Bash")),
        Observed("PreCompact", "precompact"),
        Observed("Stop", "transcript-turn", options=SPOKEN),
        Observed("Stop", "stop"),
        Observed("SessionEnd", "stop", options=SHUTDOWN),
    ),
    exec_form=True,
)
CODEX = HookClient(
    "codex",
    (".codex/hooks.json",),
    (
        Observed("SessionStart", "session-start"),
        Observed("UserPromptSubmit", "user-prompt-submit"),
        Observed("PostToolUse", "command", "Bash"),
        Observed("PostToolUse", "file-edit", "apply_patch"),
        # Its patterns know no exceptions, so memory's own tools are among these.
        Observed("PostToolUse", "tool-call", "^mcp__"),
        Observed("PreCompact", "precompact"),
        Observed("Stop", "transcript-turn", options=SPOKEN),
        Observed("Stop", "stop"),
        # It waits no longer than that when it ends, and warns where more is asked for.
        Observed("SessionEnd", "stop", options=SHUTDOWN, timeout=3),
    ),
)
CURSOR = HookClient(
    "cursor",
    (".cursor/hooks.json",),
    (
        Observed("sessionStart", "session-start"),
        Observed("beforeSubmitPrompt", "user-prompt-submit"),
        Observed("afterShellExecution", "command"),
        Observed("afterFileEdit", "file-edit"),
        Observed("afterMCPExecution", "tool-call"),
        Observed("preCompact", "precompact"),
        Observed("afterAgentResponse", "transcript-turn", options=SPOKEN),
        Observed("stop", "stop"),
        Observed("sessionEnd", "stop", options=SHUTDOWN),
    ),
    grouped=False,
)
GEMINI = HookClient(
    "gemini",
    (".gemini/settings.json",),
    (
        Observed("SessionStart", "session-start"),
        Observed("BeforeAgent", "user-prompt-submit"),
        Observed("AfterTool", "command", GEMINI_SHELL),
        Observed("AfterTool", "file-edit", GEMINI_EDITS),
        Observed("AfterTool", "tool-call", _all_but(GEMINI_SHELL, *GEMINI_EDITS.split("|"))),
        Observed("PreCompress", "precompact"),
        Observed("AfterAgent", "transcript-turn", options=SPOKEN),
        Observed("AfterAgent", "stop"),
        Observed("SessionEnd", "stop", options=SHUTDOWN),
    ),
    milliseconds=True,
)
HOOK_CLIENTS = {client.name: client for client in (CLAUDE_CODE, CODEX, CURSOR, GEMINI)}
GENERIC = "generic"
NAMES = (*HOOK_CLIENTS, GENERIC)
MOMENTS = frozenset(("session-start", "user-prompt-submit", "precompact", "stop"))
"""Triggers that tell of a moment. The others are observations, which a capture watcher records as well."""


class HookCommand(NamedTuple):
    """What every hook of a workspace runs, but for the trigger."""

    program: tuple[str, ...]
    """How Zaxy is started: an absolute path, perhaps with words behind it."""
    eventloom: str
    session: str = ""
    """Empty: the workspace's own, whichever that is when the hook runs."""

    def words(self, source: str, observed: Observed) -> list[str]:
        return [
            *(*self.program, "hook-event", observed.trigger, "--source", source, "--eventloom-path", self.eventloom),
            *(("--session-id", self.session) if self.session else ()),
            *(*observed.options, "--stdin-json"),
        ]


def hook_client(name: str) -> HookClient:
    if name in HOOK_CLIENTS:
        return HOOK_CLIENTS[name]
    raise InvalidRequest(f"{name!r:.40} has no hooks that Zaxy knows", f"Use one of {', '.join(NAMES)}.")
