"""Whether observations arrive: what hooks and capture have recorded lately, and which kinds are missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from zaxy.api.models import Event
from zaxy.errors import NotFound, ZaxyError
from zaxy.eventloom.admission import OWN_ACTOR
from zaxy.eventloom.event_log import EventLog
from zaxy.extract.observations import OBSERVATIONS
from zaxy.observe.hook_events import ACTOR
from zaxy.observe.subagent_sessions import subagents_among

MAX_SESSIONS = 16
MAX_EVENTS = 20_000
OWN_CALL = "tool.call.completed"
UNREADABLE = "9999"
"""Sorts behind every time."""


class Seen(NamedTuple):
    """The newest event of a kind, and how many of it there are among those that were looked at."""

    type: str
    occurrences: int
    time: str
    """When it happened: an observation that was captured later tells so itself."""
    citation: str
    trigger: str = ""
    source: str = ""

    def as_dict(self) -> dict[str, Any]:
        seen = {"type": self.type, "time": self.time, "citation": self.citation}
        return {**seen, **{key: getattr(self, key) for key in ("trigger", "source") if getattr(self, key)}}


class Coverage(NamedTuple):
    observed: dict[str, Seen]
    """By type, those of the four that were seen."""
    latest_hook: Seen | None
    events: int
    """How many events were looked at."""
    unreadable: tuple[str, ...] = ()
    """Sessions whose log could not be read to its end."""
    subagents: int = 0
    """How many sessions of subagents there are."""
    own_calls: int = 0
    """How many calls of memory's own tools there are, by which its server shows that an agent is at work."""
    expected: tuple[str, ...] = OBSERVATIONS
    """What the clients in use give everybody who works with them."""

    @property
    def sources(self) -> set[str]:
        """The clients that the newest of each kind came from, and the last hook."""
        latest = [self.latest_hook] if self.latest_hook else []
        return {seen.source for seen in (*self.observed.values(), *latest)}

    @property
    def missing(self) -> list[str]:
        return [type_ for type_ in self.expected if type_ not in self.observed]

    def readiness(self) -> dict[str, Any]:
        """`ready` if every kind that is expected was seen, `partial` if some were, `missing` if none was."""
        status = "ready" if not self.missing else "partial" if self.observed else "missing"
        return {
            "status": status,
            "active_observation_types": [type_ for type_ in OBSERVATIONS if type_ in self.observed],
            "missing_observation_types": self.missing,
        }


class Watching(NamedTuple):
    """What is known of the workspace's capture watcher."""

    configured: bool
    running: bool
    resume: str = "zaxy capture start --workspace ."
    with_servers: bool = False
    """Whether the next server starts it."""

    @property
    def state(self) -> str:
        if self.configured and not self.running:
            return "stopped" if self.stopped else "starts with a server"
        return "running" if self.running else "not configured"

    @property
    def stopped(self) -> bool:
        """Whether somebody relies on a watcher that does not run, and that nobody will start."""
        return self.configured and not self.running and not self.with_servers

    def as_dict(self) -> dict[str, Any]:
        state = {"configured": self.configured, "running": self.running}
        if self.running or not self.configured:
            return state
        return {**state, "starts_with_servers": self.with_servers, "resume_command": self.resume}


def workspace_coverage(log: EventLog) -> Coverage:
    """What the sessions that were written last tell together. Those of subagents come last: there may be many."""
    sessions = sorted(log.sessions(), key=lambda session: _last_time(log, session), reverse=True)
    subagents = set(subagents_among(sessions))
    chosen = sorted(sessions, key=lambda session: session in subagents)[:MAX_SESSIONS]
    return coverage(log, chosen)._replace(subagents=len(subagents))


def coverage(log: EventLog, sessions: Sequence[str]) -> Coverage:
    """What the last events of some sessions tell. Whole logs are not read: what is far back is not live."""
    observed: dict[str, Seen] = {}
    latest: Seen | None = None
    looked = own_calls = 0
    unreadable: list[str] = []
    for session in sessions:
        for event in _last_events(log, session, MAX_EVENTS // len(sessions), unreadable):
            looked += 1
            seen = _seen(event)
            if event.type in OBSERVATIONS and event.actor != OWN_ACTOR:
                observed[seen.type] = _newer(observed.get(seen.type), seen)
            own_calls += event.actor == OWN_ACTOR and event.type == OWN_CALL
            if event.actor == ACTOR and (latest is None or seen.time >= latest.time):
                latest = seen
    return Coverage(observed, latest, looked, tuple(unreadable), own_calls=own_calls)


def age_seconds(time: str, now: datetime) -> float:
    """How long ago a time was; never negative, since clocks differ."""
    return max(0.0, (now - datetime.fromisoformat(time)).total_seconds())


def _last_events(log: EventLog, session: str, max_events: int, unreadable: list[str]) -> Iterator[Event]:
    try:
        last = log.end(session)
        yield from log.events(session, max(1, last - max_events + 1), last)
        damaged = log.state(session) == "damaged"
    except ZaxyError:  # what the others tell is still worth telling
        damaged = True
    if damaged:
        unreadable.append(session)


def _seen(event: Event) -> Seen:
    payload = event.payload or {}
    time = _time(payload.get("occurred_at")) or event.time
    names = [str(payload[field]) if isinstance(payload.get(field), str) else "" for field in ("trigger", "source")]
    return Seen(event.type, 1, time, event.citation, *names)


def _newer(before: Seen | None, seen: Seen) -> Seen:
    if before is None:
        return seen
    return (seen if seen.time >= before.time else before)._replace(occurrences=before.occurrences + 1)


def _time(value: object) -> str:
    """A time as the log writes it, so that times compare as texts; empty for anything else."""
    try:
        moment = datetime.fromisoformat(str(value))
        return f"{moment.astimezone(UTC).isoformat(timespec='microseconds')[:26]}Z" if moment.tzinfo else ""
    except (ValueError, OverflowError):
        return ""


def _last_time(log: EventLog, session: str) -> str:
    """When a session was written last; one that cannot be read comes first, so that it is spoken of."""
    try:
        return UNREADABLE if log.state(session) == "damaged" else log.last_event(session).time
    except NotFound:
        return UNREADABLE if log.state(session) == "damaged" else ""
    except ZaxyError:
        return UNREADABLE
