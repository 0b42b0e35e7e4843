"""Imports the events of a bundle. They become local events with local citations, and keep where they came from.

The whole bundle is verified, and every event in it checked, before the first one is written. Only events are taken:
what was extracted from them is extracted again here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from zaxy.api.models import Closing, EntityRef, Event
from zaxy.errors import NotFound, ZaxyError
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
from zaxy.export.entries import DEFAULT_SENSITIVITY
from zaxy.export.reading import BundleItem, refused
from zaxy.export.selector import EVENT
from zaxy.export.verification import BUNDLE, ENVELOPE, SUBSET, BundleEntry, Parts, Verified, verify
from zaxy.extract.closings import closings_as_json, closings_from_json
from zaxy.extract.housekeeping import IMPORT_ACTOR, IMPORTED_ERASED, TYPES as HOUSEKEEPING
from zaxy.extract.references import CITED_BY, REFERRING
from zaxy.extract.rules import ERASED, extract
from zaxy.extract.times import utc_text

BATCH_EVENTS = 500
MAX_IMPORTED_BYTES = MAX_PAYLOAD + (1 << 16)
"""The largest payload of another log must fit, together with where it came from."""

Progress = Callable[[int, int], None]


class Imported(NamedTuple):
    session: str
    new: int
    known: int
    """Events that an earlier import had brought."""
    as_data: int
    """Events that count as plain data here: erased ones, and those of types that only Zaxy itself writes."""
    bundle: Verified
    citation: str
    """The event that records the import; empty if nothing was new."""


def import_bundle(
    log: EventLog,
    parts: Parts,
    *,
    session: str,
    expect_public_key: str | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Append the events of a bundle to a session. A second import of the same bundle writes nothing."""
    events = as_data = 0
    ended: dict[int, list[Any]] = {}

    def check(entry: BundleEntry) -> None:
        nonlocal events, as_data
        if entry.value["grain"] == EVENT:
            try:
                checked = _draft(entry.value)
            except ZaxyError as error:
                raise refused(f"{entry.value['citation']} cannot be imported: {error.message}") from None
            events += 1
            as_data += checked.type.startswith(IMPORTED_PREFIX)
            ended.update(_ended_by_erased(entry.value))

    bundle = verify(parts, expect_public_key, (BUNDLE, SUBSET, ENVELOPE), check)
    if not events:
        raise NotFound(
            "the bundle holds no events to import",
            "Export with the grain 'event': everything else is extracted from events.",
        )
    writer = _Writer(log, session, _Endings(ended, _citations(_events(parts, bundle.shape), ended)))
    for number, value in enumerate(_events(parts, bundle.shape), 1):
        writer.take(value)
        if progress:
            progress(number, events)
    writer.flush()
    citation = ""
    if writer.new:
        citation = log.append(session, [_record(bundle, events)])[0].citation
    return Imported(session, writer.new, events - writer.new, as_data, bundle, citation)


class _Writer:
    def __init__(self, log: EventLog, session: str, endings: _Endings) -> None:
        self._log = log
        self._session = session
        self._endings = endings
        self._pending: list[AdmittedDraft] = []
        self.new = 0

    def take(self, value: dict[str, Any]) -> None:
        if any(map(self._is_own, _origins(value))):
            return
        closings = self._endings.of(value["seq"])
        if closings or _citing_fields(value["content"]):
            self.flush()  # the event that it ends may be among these, and must be in the log first
            if self._found(parse_citation(value["citation"])):
                return  # it may have been imported before the event that it ends
        endings = [ending for item in closings for ending in self._endings.here(item, self._found)]
        self._pending.append(_draft(value, self._local, endings))
        if len(self._pending) >= BATCH_EVENTS:
            self.flush()

    def flush(self) -> None:
        self.new += sum(done.new for done in self._log.append_each(self._session, self._pending))
        self._pending = []

    def _is_own(self, citation: Citation) -> bool:
        """Whether it cites an event of this session that has come back."""
        event = self._log.get(self._session, citation.seq) if citation.session == self._session else None
        return event is not None and citation.names(event.hash)

    def _found(self, citation: Citation) -> Event | None:
        """The local copy of an event of the bundle, if there is one."""
        return self._log.by_key(self._session, _key(citation))

    def _local(self, citation: Citation) -> str:
        event = self._found(citation)
        return event.citation if event else str(citation)


class _Endings:
    """What erased events had closed, by their seqs. It stays closed though they are gone."""

    def __init__(self, ended: dict[int, list[Any]], cited: dict[int, Citation]) -> None:
        self._ended = ended
        self._cited = cited

    def of(self, seq: int) -> list[Any]:
        return self._ended.get(seq, [])

    def here(self, item: Any, found: Callable[[Citation], Event | None]) -> list[dict[str, object]]:
        """A closing in terms of this log. With a `row`, it ends only that row of the event that it names."""
        (closing,) = closings_from_json([item]) or (None,)
        if closing is None or closing.seq is None:
            return closings_as_json([closing] if closing else [])
        event = found(self._cited[closing.seq]) if closing.seq in self._cited else None
        if event is None:
            return []
        row = item.get("row")
        if row is None:
            return closings_as_json([Closing(closing.at, seq=event.seq)])
        entities = extract(event).entities
        if type(row) is not int or not 0 <= row < len(entities):
            return []
        return closings_as_json([Closing(closing.at, EntityRef(entities[row].entity_type, entities[row].name))])


def _ended_by_erased(value: dict[str, Any]) -> dict[int, list[Any]]:
    """What an erased event had closed, by its seq, as the record of the erasure says."""
    content, payload = value["content"], value["content"].get("payload")
    items = payload.get("closings") if isinstance(payload, dict) else None
    if not isinstance(items, list) or content["type"] not in (ERASED, IMPORTED_ERASED):
        return {}
    seq = payload.get("seq") if content["type"] == ERASED else value["seq"]
    return {seq: items} if type(seq) is int else {}


def _citations(events: Iterator[dict[str, Any]], ended: dict[int, list[Any]]) -> dict[int, Citation]:
    """The citations of events that closings name by seq. The bundle is read again if there are any."""
    closings = closings_from_json([item for items in ended.values() for item in items])
    wanted = {closing.seq for closing in closings}
    if wanted <= {None}:
        return {}
    return {value["seq"]: parse_citation(value["citation"]) for value in events if value["seq"] in wanted}


def _origins(value: dict[str, Any]) -> Iterator[Citation]:
    """The citations that an event has had so far."""
    yield parse_citation(value["citation"])
    origin = (value["content"].get("payload") or {}).get(IMPORTED_FROM)
    while isinstance(origin, dict):
        with suppress(ZaxyError, TypeError, AttributeError):
            yield parse_citation(origin["citation"])
        origin = origin.get("earlier")


def _events(parts: Parts, shape: str) -> Iterator[dict[str, Any]]:
    """The entries that are events, in order. Fields beside a signed entry are not signed, and ignored."""
    for part in parts():
        if isinstance(part, BundleItem):
            value = part.value if shape == ENVELOPE else part.value["content"]
            if value["grain"] == EVENT:
                yield value


def _draft(
    value: dict[str, Any], local: Callable[[Citation], str] = str, closings: Sequence[dict[str, object]] = ()
) -> AdmittedDraft:
    """An event of a bundle as the log takes it. A type that only Zaxy may write becomes a plain imported one.

    `closings`: what it had closed, if it was erased since.
    """
    content, citation = value["content"], parse_citation(value["citation"])
    type_, actor, payload = (content.get(name) for name in ("type", "actor", "payload"))
    origin: dict[str, Any] = {"citation": value["citation"], "time": value["valid_from"]}
    if content.get("erased") is True and payload is None:
        origin |= {"type": type_, "actor": actor, "erased": True}
        type_, actor, payload = IMPORTED_ERASED, IMPORT_ACTOR, {}
    if not isinstance(payload, dict) or not isinstance(type_, str) or not isinstance(actor, str):
        raise refused("it is not an event: a type, an actor or a payload is missing")
    if type_ == IMPORTED_ERASED and actor == IMPORT_ACTOR:  # from this bundle, or from one that was imported into it
        payload = {name: of for name, of in payload.items() if name != "closings"}
        payload |= {"closings": list(closings)} if closings else {}
    elif is_reserved(type_, actor):
        origin |= {"type": type_, "actor": actor}
        actor = IMPORT_ACTOR if type_ in HOUSEKEEPING or actor == OWN_ACTOR else actor
        type_ = f"{IMPORTED_PREFIX}{type_}"
    if IMPORTED_FROM in payload:
        origin["earlier"] = payload[IMPORTED_FROM]
    imported = {**payload, IMPORTED_FROM: origin}
    if not utc_text(payload.get("occurred_at")):
        if "occurred_at" in payload:
            origin["occurred_at"] = payload["occurred_at"]
        imported["occurred_at"] = value["valid_from"]
    for field in _citing_fields(content):
        imported[field] = _mapped(payload[field], citation.session, local)
    sensitivity = content.get("sensitivity", DEFAULT_SENSITIVITY)
    return own_draft(
        type_,
        actor,
        imported,
        sensitivity=sensitivity,
        idempotency_key=_key(citation),
        max_bytes=MAX_IMPORTED_BYTES,
    )


def _citing_fields(content: dict[str, Any]) -> list[str]:
    """The fields that end an event, or are about one, by citing it. That event has another citation here."""
    payload = content.get("payload")
    if not isinstance(payload, dict):
        return []
    refers = content.get("type") in REFERRING and "entity_name" not in payload
    fields = ("supersedes", *(CITED_BY if refers else ()))
    return [field for field in fields if _cites(payload.get(field))]


def _cites(value: object) -> bool:
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, str) and item.startswith(SCHEME) for item in items)


def _mapped(value: object, session: str, local: Callable[[Citation], str]) -> object:
    """What such a field names, with the local citations of events that came from the bundle's session."""
    if isinstance(value, list):
        return [_mapped(item, session, local) for item in value]
    if not isinstance(value, str) or not value.startswith(SCHEME):
        return value
    try:
        cited = parse_citation(value)
    except ZaxyError:
        return value
    return local(cited) if cited.session == session else value


def _key(citation: Citation) -> str:
    return f"import:{citation.short}"


def _record(bundle: Verified, events: int) -> AdmittedDraft:
    payload = {
        "session_id": bundle.session_id,
        "shape": bundle.shape,
        "events": events,
        "entries": bundle.entries,
        "algorithm": bundle.algorithm,
        "public_key": bundle.public_key,
        "pinned": bundle.pinned,
        "merkle_root": bundle.merkle_root,
        "created_at": bundle.created_at,
    }
    return own_draft(IMPORTED, OWN_ACTOR, {name: value for name, value in payload.items() if value != ""})
