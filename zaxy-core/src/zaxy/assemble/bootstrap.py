"""What a model learns about its memory at session start: what it is, which tool to call when, what is captured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from zaxy import __version__
from zaxy.api.models import Event, Tool
from zaxy.assemble.guidance import CHECKOUT_TOOL, IGNORE, TRUST
from zaxy.errors import ZaxyError
from zaxy.extract.observations import OBSERVATIONS
from zaxy.printing import one_line

if TYPE_CHECKING:
    from zaxy.plugins.host import PluginHost

WHAT = "Memory of this workspace: events in a hash-chained log on the user's disk. Everything it returns is cited."
DEFAULT_TASK = "current task, project direction, and recent decisions"
TOOLS = {
    "memory_bootstrap": "once, at session start",
    "memory_checkout": "before substantial work: cited facts, and whether they are enough to answer",
    "memory_query": "to search what holds now, or held at a time",
    "memory_verbatim": "for exact words, identifiers and quotes from the log",
    "memory_append": "to record a decision, fact, task or issue when it comes up",
    "memory_feedback": "after a fact was used, or found irrelevant",
    "memory_synthesis_artifact": "after a composed answer of a checkout was used",
    "memory_synthesis_evidence": "after one ledger row was used or excluded",
    "memory_skill": "to propose, apply or judge a reusable procedure",
    "memory_invalidate": "when something recorded is no longer so",
    "memory_replay": "to read the log itself in order",
    "context_after_turn": "after a turn: records it and returns context for the next",
}
RHYTHM = (
    "memory_bootstrap at session start",
    "memory_checkout before substantial work",
    "memory_append when something is decided, learned or done",
    "coordination tools for work that several agents share, where they are served",
    "memory_feedback after using retrieved context",
    "memory_synthesis_artifact when a composed answer's candidate shaped yours",
    "memory_synthesis_evidence when a ledger row was used or excluded",
)
REFRESH_WHEN = ("before major work", "after compaction or resume", "before roadmap or architecture decisions")
MAX_USE_CHARS = 120
TRUST_POLICY = (TRUST, IGNORE, "Record feedback on facts that shaped your answer.")


def capture_status(recent: Sequence[Event]) -> dict[str, Any]:
    """When each kind of observation was last seen among the latest events."""
    last = {event.type: event.time for event in recent if event.type in OBSERVATIONS}
    seen = [kind for kind in OBSERVATIONS if kind in last]
    return {
        "status": "capturing" if seen else "nothing captured lately",
        "last_seen": {kind: last.get(kind) for kind in OBSERVATIONS},
    }


def tools_of_packages(host: PluginHost) -> dict[str, str]:
    """The tools of installed packages, each with the beginning of its description."""
    found: dict[str, str] = {}
    for pack in host.all("tool_packs"):
        with suppress(ZaxyError):  # the server names the packs that do not work
            tools = [tool for tool in pack.call("tools") if isinstance(tool, Tool)]
            found |= {tool.name: _use(tool) for tool in tools}
    return dict(sorted(found.items()))


def _use(tool: Tool) -> str:
    """Every session pays for these words: the first part of the first sentence is enough."""
    return one_line(tool.description.partition(". ")[0].partition(": ")[0].removesuffix("."), MAX_USE_CHARS)


def capabilities(
    session: str,
    task: str,
    *,
    eventloom: dict[str, Any],
    recent: Sequence[Event],
    warnings: Sequence[str],
    of_packages: Mapping[str, str],
) -> dict[str, Any]:
    """The reply of `memory_capabilities`. No package can speak for a tool of the core."""
    return {
        "name": "zaxy",
        "version": __version__,
        "what": WHAT,
        "session_id": session,
        "eventloom": eventloom,
        "tools": {**TOOLS, **{name: use for name, use in of_packages.items() if name not in TOOLS}},
        "call_rhythm": list(RHYTHM),
        "refresh_when": list(REFRESH_WHEN),
        "capture": capture_status(recent),
        "next": {"tool": CHECKOUT_TOOL, "arguments": {"query": task or DEFAULT_TASK, "session_id": session}},
        "warnings": list(warnings),
    }


def bootstrap(manifest: dict[str, Any], reminder: str) -> dict[str, Any]:
    """The start-up packet around the manifest of capabilities."""
    return {
        "session_id": manifest["session_id"],
        "startup_sequence": ["memory_bootstrap", CHECKOUT_TOOL, "memory_feedback"],
        "recommended_next": manifest["next"],
        "trust_policy": list(TRUST_POLICY),
        "capture_status": manifest["capture"]["status"],
        "capabilities": manifest,
        **({"reminder": reminder} if reminder else {}),
    }
