"""Appends events of another log, or of another program. They become local events, and keep where they came from.

Every event is checked before the first one is written. A type that only Zaxy or a
package writes comes as plain data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from zaxy.api.models import Closing, Event, ForeignEvent, ImportReceipt, JsonObject
from zaxy.errors import CannotImport, InvalidRequest, ZaxyError
from zaxy.eventloom.admission import (
    IMPORTED,
    IMPORTED_FROM,
    IMPORTED_PREFIX,
    MAX_PAYLOAD,
    OWN_ACTOR,
    is_reserved,
)
from zaxy.eventloom.citation import SCHEME, Citation, parse_citation
from zaxy.eventloom.drafts import AdmittedDraft, own_draft
from zaxy.eventloom.event_log import EventLog
from zaxy.extract.closings import INVALIDATED, closings_as_json, closings_from_json, has_row
from zaxy.extract.housekeeping import IMPORT_ACTOR, IMPORTED_ERASED, TYPES as HOUSEKEEPING
from zaxy.extract.references import CITED_BY, REFERRING
from zaxy.extract.rules import ERASED
from zaxy.extract.times import utc_text
from zaxy.plugins.families import Families
from zaxy.security.session_ids import check_session_id

BATCH_EVENTS = 500
MAX_IMPORTED_BYTES = MAX_PAYLOAD + (1 << 16)
"""The largest payload of another log must fit, together with where it came from."""
MAX_ORIGIN_CHARS = 240

Progress = Callable[[int, int], None]
Origin = Citation | str
"""What names an event where it came from."""
Place = tuple[str, int]
"""The session and the number of an event where it came from."""


def import_events(
    log: EventLog,
    events: Iterable[ForeignEvent],
    *,
    session: str,
    families: Families,
    source: JsonObject,
    progress: Progress | None = None,
) -> ImportReceipt:
    """Append them to a session, and record that under what `source` says. What came before is not written again."""
    check_session_id(session)
    if iter(events) is events:
        raise InvalidRequest(
            "the events can be gone through only once",
            "Pass a list, or an object whose __iter__ begins again: all are checked before the first is written.",
        )
    found = _Checked(events, families)
    endings = _Endings(found.ended, _named_in(events, found.ended), families)
    writer = _Writer(log, session, families, endings=endings)
    for number, event in enumerate(events, 1):
        writer.take(event)
        if progress:
            progress(number, found.count)
    writer.flush()
    citation = ""
    if writer.new:
        record = own_draft(IMPORTED, OWN_ACTOR, {**source, "events": found.count})
        citation = log.append(session, [record])[0].citation
    return ImportReceipt(writer.new, found.count - writer.new, found.as_data, citation)


class _Checked:
    """All events, each looked at once: how many there are, and what some had closed that no longer say it."""

    def __init__(self, events: Iterable[ForeignEvent], families: Families) -> None:
        self.count = self.as_data = 0
        self.ended: dict[Place, list[Any]] = {}
        for event in events:
            try:
                draft = _draft(event, families)
            except ZaxyError as error:
                raise CannotImport(
                    f"{event.origin!s:.240} cannot be imported: {error.message}",
                    "Nothing was imported. Correct it where it came from, or leave it out.",
                ) from None
            self.count += 1
            self.as_data += draft.type.startswith(IMPORTED_PREFIX)
            for place, item in _ended_by(event):
                items = self.ended.setdefault(place, [])
                items += [item] if item not in items else []


class _Writer:
    def __init__(self, log: EventLog, session: str, families: Families, *, endings: _Endings) -> None:
        self._log = log
        self._session = session
        self._families = families
        self._endings = endings
        self._pending: list[AdmittedDraft] = []
        self.new = 0

    def take(self, event: ForeignEvent) -> None:
        if any(map(self._is_own, _origins(event))):
            return
        closings = self._endings.of(_origin(event))
        if closings or self._families.is_reserved(event.type) or _citing_fields(event):
            self.flush()  # the event that it ends may be among these, and must be in the log first
            if self._found(_origin(event)):
                return  # imported before the event that it ends, or before a package that owns its type came
        origin = _origin(event)
        endings = [ending for item in closings for ending in self._endings.here(item, origin, self._found)]
        self._pending.append(_draft(event, self._families, local=self._local, closings=endings))
        if len(self._pending) >= BATCH_EVENTS:
            self.flush()

    def flush(self) -> None:
        self.new += sum(done.new for done in self._log.append_each(self._session, self._pending))
        self._pending = []

    def _is_own(self, citation: Citation) -> bool:
        """Whether it cites an event of this session that has come back."""
        event = self._log.get(self._session, citation.seq) if citation.session == self._session else None
        return event is not None and citation.names(event.hash)

    def _found(self, origin: Origin) -> Event | None:
        """The local copy of an event, if there is one."""
        return self._log.by_key(self._session, _key(origin))

    def _local(self, citation: Citation) -> str:
        event = self._found(citation)
        return event.citation if event else str(citation)


class _Endings:
    """What events had closed that do not say it any more, since they or others were erased. It stays closed; but no
    import ends a row that did not come with it."""

    def __init__(self, ended: dict[Place, list[Any]], came: dict[Place, ForeignEvent], families: Families) -> None:
        """`came`: the events of the import that closings name."""
        self._ended = ended
        self._came = came
        self._families = families

    def of(self, origin: Origin) -> list[Any]:
        return self._ended.get((origin.session, origin.seq), []) if isinstance(origin, Citation) else []

    def here(self, item: Any, origin: Origin, found: Callable[[Origin], Event | None]) -> list[dict[str, object]]:
        """A closing in terms of this log. With a `row`, it ends only that row of the event that it names."""
        (closing,) = closings_from_json([item]) or (None,)
        if closing is None or closing.seq is None or not isinstance(origin, Citation):
            return []
        came = self._came.get((origin.session, closing.seq))
        event = found(_origin(came)) if came else None
        if came is None or event is None or not self._says_the_same(event, came):
            return []
        (ended,) = closings_as_json([Closing(closing.at, seq=event.seq)])
        return [{**ended, "row": item["row"], "only": True} if has_row(item) else ended]

    def _says_the_same(self, event: Event, came: ForeignEvent) -> bool:
        """Whether a local copy is that of this event, and not of another one that was given the same citation."""
        others = {IMPORTED_FROM, "closings", *_citing_fields(came)}
        payloads = event.payload or {}, _draft(came, self._families).payload
        mine, theirs = ({key: value for key, value in one.items() if key not in others} for one in payloads)
        return mine == theirs


def _ended_by(event: ForeignEvent) -> Iterator[tuple[Place, Any]]:
    """What was closed, beside the place of the event that had closed it: by the event itself, as it was handed over or
    as an import before has noted, or by another one that the record of an erasure names."""
    payload, origin = event.payload or {}, _origin(event)
    if not isinstance(origin, Citation):
        return
    earlier = payload.get(IMPORTED_FROM) if event.type == INVALIDATED else None
    noted = earlier if isinstance(earlier, dict) else payload if event.type in (ERASED, IMPORTED_ERASED) else {}
    seq = payload.get("seq") if event.type == ERASED else origin.seq
    for items in (event.closings, noted.get("closings")):
        for item in items if isinstance(items, list | tuple) else ():
            by = item.get("by", seq) if isinstance(item, dict) else None
            if type(by) is int:
                yield (origin.session, by), {name: item.get(name) for name in ("at", "row", "seq")}


def _named_in(events: Iterable[ForeignEvent], ended: dict[Place, list[Any]]) -> dict[Place, ForeignEvent]:
    """The events that closings name. All are gone through again if there are any."""
    wanted = {
        (session, closing.seq)
        for (session, _), items in ended.items()
        for closing in closings_from_json(items)
        if closing.seq is not None
    }
    places = ((_origin(event), event) for event in events) if wanted else ()
    return {
        (origin.session, origin.seq): event
        for origin, event in places
        if isinstance(origin, Citation) and (origin.session, origin.seq) in wanted
    }


def _origin(event: ForeignEvent) -> Origin:
    origin = event.origin
    if not isinstance(origin, str) or not origin.strip() or len(origin) > MAX_ORIGIN_CHARS:
        raise InvalidRequest(
            f"its origin is not a text of at most {MAX_ORIGIN_CHARS} characters", "Give what names it for good."
        )
    return parse_citation(origin) if origin.startswith(SCHEME) else origin


def _origins(event: ForeignEvent) -> Iterator[Citation]:
    """The citations that an event has had so far."""
    first = _origin(event)
    if isinstance(first, Citation):
        yield first
    earlier: Any = (event.payload or {}).get(IMPORTED_FROM)
    while isinstance(earlier, dict):
        with suppress(ZaxyError, TypeError, AttributeError, KeyError):
            yield parse_citation(earlier["citation"])
        earlier = earlier.get("earlier")


def _draft(
    event: ForeignEvent,
    families: Families,
    *,
    local: Callable[[Citation], str] = str,
    closings: Sequence[dict[str, object]] = (),
) -> AdmittedDraft:
    """An event from elsewhere as the log takes it. A type that only Zaxy or a package may write becomes a plain
    imported one.

    `closings`: what it had closed, if it was erased since, or what it refers to.
    """
    origin, type_, actor = _origin(event), event.type, event.actor
    kept: dict[str, Any] = {"citation" if isinstance(origin, Citation) else "source": event.origin, "time": event.time}
    payload: dict[str, Any] | None = dict(event.payload) if isinstance(event.payload, Mapping) else None
    if event.erased and event.payload is None:
        kept |= {"type": type_, "actor": actor, "erased": True}
        type_, actor, payload = IMPORTED_ERASED, IMPORT_ACTOR, {}
    if payload is None or not isinstance(type_, str) or not isinstance(actor, str):
        raise InvalidRequest(
            "it is not an event: a type, an actor or a payload is missing", "Give all three, or leave it out."
        )
    if type_ == IMPORTED_ERASED and actor == IMPORT_ACTOR:  # erased there, or before it came there
        payload.pop("closings", None)
        payload |= {"closings": list(closings)} if closings else {}
    elif is_reserved(type_, actor) or families.is_reserved(type_):
        kept |= {"type": type_, "actor": actor}
        actor = IMPORT_ACTOR if type_ in HOUSEKEEPING or actor == OWN_ACTOR else actor
        type_ = f"{IMPORTED_PREFIX}{type_}"
    elif type_ == INVALIDATED and closings:
        kept["closings"] = list(closings)
    if IMPORTED_FROM in payload:
        kept["earlier"] = payload[IMPORTED_FROM]
    imported = {**payload, IMPORTED_FROM: kept}
    if not utc_text(payload.get("occurred_at")):
        if "occurred_at" in payload:
            kept["occurred_at"] = payload["occurred_at"]
        imported["occurred_at"] = event.time
    if isinstance(origin, Citation):
        imported |= {field: _mapped(payload[field], origin.session, local) for field in _citing_fields(event)}
    return own_draft(
        type_,
        actor,
        imported,
        sensitivity=event.sensitivity,
        idempotency_key=_key(origin),
        max_bytes=MAX_IMPORTED_BYTES,
    )


def _citing_fields(event: ForeignEvent) -> list[str]:
    """The fields that end an event, or are about one, by citing it. That event has another citation here."""
    payload = event.payload
    if not isinstance(payload, Mapping):
        return []
    refers = event.type in REFERRING and "entity_name" not in payload
    fields = ("supersedes", *(CITED_BY if refers else ()))
    return [field for field in fields if _cites(payload.get(field))]


def _cites(value: object) -> bool:
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, str) and item.startswith(SCHEME) for item in items)


def _mapped(value: object, session: str, local: Callable[[Citation], str]) -> object:
    """What such a field names, with the local citations of events that came from the same session."""
    if isinstance(value, list):
        return [_mapped(item, session, local) for item in value]
    if not isinstance(value, str) or not value.startswith(SCHEME):
        return value
    try:
        cited = parse_citation(value)
    except ZaxyError:
        return value
    return local(cited) if cited.session == session else value


def _key(origin: Origin) -> str:
    return f"import:{origin.short if isinstance(origin, Citation) else origin}"
