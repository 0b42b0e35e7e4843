"""What a model learns about its memory at session start: what it is, which tool to call when, what is captured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from zaxy import __version__
from zaxy.api.models import Tool
from zaxy.api.tools import COORDINATE, CORE, FULL, PROFILES
from zaxy.assemble.guidance import CHECKOUT_TOOL, IGNORE, TRUST
from zaxy.errors import ZaxyError
from zaxy.printing import one_line

if TYPE_CHECKING:
    from zaxy.plugins.host import PluginHost

WHAT = "Memory of this workspace: events in a hash-chained log on the user's disk. Everything it returns is cited."
DEFAULT_TASK = "current task, project direction, and recent decisions"


class ToolUse(NamedTuple):
    use: str
    profiles: tuple[str, ...]
    """Those that list it."""


ALL = PROFILES
WITHOUT_COMPACT = (CORE, COORDINATE, FULL)
TOOLS = {
    "memory_bootstrap": ToolUse("once, at session start", WITHOUT_COMPACT),
    "memory_checkout": ToolUse("before substantial work: cited facts, and whether they are enough to answer", ALL),
    "memory_query": ToolUse("to search what holds now, or held at a time", ALL),
    "memory_verbatim": ToolUse("for exact words, identifiers and quotes from the log", (CORE, FULL)),
    "memory_append": ToolUse("to record a decision, fact, task or issue when it comes up", ALL),
    "memory_ingest": ToolUse("to record many events at once", (FULL,)),
    "memory_feedback": ToolUse("after a fact was used, or found irrelevant", WITHOUT_COMPACT),
    "memory_synthesis_artifact": ToolUse("after a composed answer of a checkout was used", (FULL,)),
    "memory_synthesis_evidence": ToolUse("after one ledger row was used or excluded", (FULL,)),
    "memory_skill": ToolUse("to propose, apply or judge a reusable procedure", (CORE, FULL)),
    "memory_invalidate": ToolUse("when something recorded is no longer so", (CORE, FULL)),
    "memory_replay": ToolUse("to read the log itself in order", (CORE, FULL)),
    "memory_ref": ToolUse("to name an event, so that a checkout can be as of it", (FULL,)),
    "memory_capabilities": ToolUse("to see this again", (FULL,)),
    "context_assemble": ToolUse("for a bundle of recent events and recall", (FULL,)),
    "context_after_turn": ToolUse("after a turn: records it and returns context for the next", (CORE, FULL)),
    "subagent_cleanup": ToolUse("when a subagent has ended, to hand its work over", (COORDINATE, FULL)),
}
"""What each tool of the core is for, in the order in which a model should meet them."""
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


def tools_listed(profile: str, of_packages: Mapping[str, ToolUse]) -> dict[str, str]:
    """The tools that a profile lists, each with what it is for. No package can speak for a tool of the core."""
    known = {**of_packages, **TOOLS}
    names = dict.fromkeys((*TOOLS, *of_packages))
    return {name: known[name].use for name in names if profile in known[name].profiles}


def tools_of_packages(host: PluginHost) -> dict[str, ToolUse]:
    """The tools of installed packages, each with the beginning of its description."""
    found: dict[str, ToolUse] = {}
    for pack in host.all("tool_packs"):
        with suppress(ZaxyError):  # the server names the packs that do not work
            tools = [tool for tool in pack.call("tools") if isinstance(tool, Tool)]
            found |= {tool.name: ToolUse(_use(tool), tool.profiles) for tool in tools}
    return dict(sorted(found.items()))


def _use(tool: Tool) -> str:
    """Every session pays for these words: the first part of the first sentence is enough."""
    return one_line(tool.description.partition(". ")[0].partition(": ")[0].removesuffix("."), MAX_USE_CHARS)


def capabilities(
    session: str,
    task: str,
    *,
    eventloom: dict[str, Any],
    tools: Mapping[str, str],
    capture: Mapping[str, Any],
    warnings: Sequence[str],
) -> dict[str, Any]:
    """The reply of `memory_capabilities`."""
    return {
        "name": "zaxy",
        "version": __version__,
        "what": WHAT,
        "session_id": session,
        "eventloom": eventloom,
        "tools": dict(tools),
        "call_rhythm": list(RHYTHM),
        "refresh_when": list(REFRESH_WHEN),
        "capture": dict(capture),
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
