"""Where a subagent's work is recorded: in a session of its own, and never in that of the agent it works for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from zaxy.errors import InvalidRequest
from zaxy.security.redaction import redact_text
from zaxy.security.session_ids import MAX_ID_CHARS

if TYPE_CHECKING:
    from zaxy.api.models import Observation, Source

COMPLETED = "subagent.completed"
MAX_AGENT_CHARS = 40
"""Of the agent's id, to be read by people; an id of 36 characters is whole."""
DIGEST_CHARS = 12
NAME = re.compile(rf".+\..+-[0-9a-f]{{{DIGEST_CHARS}}}")
KEPT_OF_THE_END = ("source", "workspace")


def session_of(source: Source, session: str, adapter: str) -> str:
    """The session that a source is recorded in: the given one, or one of its own if it is a subagent's."""
    agent, parent = source.agent, source.parent
    if not isinstance(agent, str) or not isinstance(parent, str) or (parent and not agent):
        raise InvalidRequest("a source has a parent, and does not name its subagent", "Upgrade the adapter's package.")
    return subagent_session(session, adapter, parent=parent, agent=agent) if agent else session


def subagent_session(session: str, adapter: str, *, parent: str, agent: str) -> str:
    """`<session>.<agent>-<digest>`. The digest tells apart what the readable part may not: clients, parents, ids that
    were cut or differ in signs that no file name has."""
    whole = json.dumps([session, adapter, parent, agent])
    digest = sha256(whole.encode()).hexdigest()[:DIGEST_CHARS]
    readable = re.sub(r"[^A-Za-z0-9_]+", "-", agent)[:MAX_AGENT_CHARS].strip("-")
    names = [_name(session, shown, digest) for shown in (readable, "agent") if shown]
    return next((name for name in names if not redact_text(name)[1]), names[-1])


def subagents_among(sessions: Iterable[str]) -> list[str]:
    """Those that capture began for subagents, by their names."""
    return [session for session in sessions if NAME.fullmatch(session)]


def parent_session(session: str, sessions: Iterable[str]) -> str:
    """The session of the agent that a subagent works for, among those that are there; empty for any other session."""
    if not NAME.fullmatch(session):
        return ""
    name = session[: session.rindex(".")]
    was_cut = len(session) == MAX_ID_CHARS
    return next((one for one in sessions if one == name or (was_cut and one.startswith(name) and one != session)), "")


def end_for_parent(end: Observation, source: Source, *, session: str, parent: str) -> Observation:
    """The end of a subagent, as its parent's session hears of it: once, where the work is, and none of its words."""
    kept = {name: end.payload[name] for name in KEPT_OF_THE_END if name in end.payload}
    named = {"subagent": source.agent, "subagent_session_id": session, "parent_session_id": parent}
    summary = f"A subagent ended. What it did is in the session {session}."
    return replace(end, payload={**kept, **named, "summary": summary}, key=f"the end of {session}")


def _name(session: str, agent: str, digest: str) -> str:
    tail = f".{agent}-{digest}"
    return session[: MAX_ID_CHARS - len(tail)] + tail
