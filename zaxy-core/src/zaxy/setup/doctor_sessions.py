"""What the doctor says of sessions that were left behind, as when a project was moved and has another name now."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from shlex import quote
from typing import NamedTuple

from zaxy.api.health import OK, WARNING, Finding
from zaxy.eventloom.event_log import EventLog
from zaxy.eventloom.opening import open_event_log
from zaxy.projects import slug
from zaxy.settings import Settings
from zaxy.setup.doctor import DoctorCheck, DoctorContext
from zaxy.workspace import default_session

DEFAULT = "-default"


class LeftBehind(NamedTuple):
    """A default session in which nothing was recorded any more when this project's began."""

    last: str
    session: str
    events: int

    def __str__(self) -> str:
        events = "1 event" if self.events == 1 else f"{self.events:,} events"
        return f"{self.session} ({events}, last {self.last[:10]})"


def check_sessions(context: DoctorContext) -> list[Finding]:
    name, workspace = "sessions", context.workspace
    session = default_session(workspace, context.environ)
    named = Settings(context.environ, workspace.stored_settings())
    if named.eventloom_thread or named.domain:
        return [Finding(name, OK, f"what is not named goes to {session}, as was set")]
    with closing(open_event_log(workspace)) as log:
        left = sorted(_left_behind(context, log, session), reverse=True)
    if not left:
        return [Finding(name, OK, f"what is not named goes to {session}")]
    message = f"this project's session is {session}, and these were left behind: {', '.join(map(str, left))}"
    return [Finding(name, WARNING, message, _to_bring_home(context, left[0].session))]


def _left_behind(context: DoctorContext, log: EventLog, session: str) -> Iterator[LeftBehind]:
    known = log.sessions()
    began = next(log.events(session)).time if session in known and log.end(session) else ""
    others = {domain for folder, domain in context.workspace.projects().items() if os.path.isdir(folder)}
    for other in known:
        if other == session or not other.endswith(DEFAULT) or other.removesuffix(DEFAULT) in others:
            continue
        events = log.end(other)
        last = log.last_event(other).time if events else ""
        if events and (not began or last < began):
            yield LeftBehind(last, other, events)


def _to_bring_home(context: DoctorContext, session: str) -> str:
    """The command that makes a session this project's default one."""
    workspace, domain = context.workspace, session.removesuffix(DEFAULT)
    log = f"EVENTLOOM_PATH={quote(workspace.eventloom)} " if workspace.chosen_by == "--eventloom-path" else ""
    there = f"cd {quote(workspace.root)} && " if os.path.abspath(os.getcwd()) != workspace.root else ""
    setting = f"ZAXY_DOMAIN {domain}" if slug(domain) == domain else f"EVENTLOOM_THREAD {session}"
    return f"{there}{log}zaxy config set {setting}"


CHECKS = (DoctorCheck("sessions", check_sessions),)
