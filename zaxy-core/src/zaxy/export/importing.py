"""Bundles that come back as events: local ones, with local citations, that keep where they came from.

The whole bundle is proven, and every event in it looked at, before the first one is written. Only events are taken:
what was extracted from them is extracted again here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from zaxy.api.models import Closing, EntityRef
from zaxy.errors import NotFound, ZaxyError
from zaxy.eventloom.admission import (
    IMPORTED,
    IMPORTED_FROM,
    IMPORTED_PREFIX,
    MAX_PAYLOAD,
    OWN_ACTOR,
    admit_own,
    is_reserved,
)
from zaxy.eventloom.citation import SCHEME, Citation, parse_citation
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.record import Entry, Line
from zaxy.eventloom.store import event_of
from zaxy.export.entries import USUAL
from zaxy.export.reading import Item, refused
from zaxy.export.selector import EVENT
from zaxy.export.verification import BUNDLE, ENVELOPE, SUBSET, Entry as Proven, Parts, Verified, verify
from zaxy.extract.closings import closings_as_json, closings_from_json
from zaxy.extract.housekeeping import IMPORT_ACTOR, IMPORTED_ERASED, TYPES as HOUSEKEEPING
from zaxy.extract.rules import ERASED, extract
from zaxy.extract.times import utc_text

APPENDED_TOGETHER = 500
MAX_IMPORTED = MAX_PAYLOAD + (1 << 16)
"""Bytes: the largest payload that there is elsewhere must have room for where it came from."""

Progress = Callable[[int, int], None]


class Imported(NamedTuple):
    session: str
    new: int
    known: int
    """Events that were there already, from an earlier import."""
    as_data: int
    """Of all of them, those of types that only Zaxy itself writes, and erased ones."""
    bundle: Verified
    citation: str
    """The event that records the import; empty where nothing was new."""


def import_bundle(
    loom: Eventloom,
    parts: Parts,
    session: str,
    expect_public_key: str | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Append the events of a bundle to a session. Done again, it writes nothing new."""
    events = as_data = 0
    ended: dict[int, list[Any]] = {}

    def look_at(entry: Proven) -> None:
        nonlocal events, as_data
        if entry.value["grain"] == EVENT:
            try:
                told = _entry(entry.value)
            except ZaxyError as error:
                raise refused(f"{entry.value['citation']} cannot be imported: {error.message}") from None
            events += 1
            as_data += told.fields["type"].startswith(IMPORTED_PREFIX)
            ended.update(_ended_by_erased(entry.value))

    bundle = verify(parts, expect_public_key, (BUNDLE, SUBSET, ENVELOPE), look_at)
    if not events:
        raise NotFound(
            "the bundle holds no events to import",
            "Export with the grain 'event': the rest follows from it.",
        )
    writer = _Writer(loom, session, _Endings(ended, _citations(_events(parts, bundle.shape), ended)))
    for number, value in enumerate(_events(parts, bundle.shape), 1):
        writer.take(value)
        if progress:
            progress(number, events)
    writer.flush()
    citation = ""
    if writer.new:
        recorded = loom.append(session, [_record(bundle, events)])[0]
        citation = str(Citation(session, recorded.seq, recorded.hash))
    return Imported(session, writer.new, events - writer.new, as_data, bundle, citation)


class _Writer:
    def __init__(self, loom: Eventloom, session: str, endings: _Endings) -> None:
        self._loom = loom
        self._session = session
        self._endings = endings
        self._pending: list[Entry] = []
        self.new = 0

    def take(self, value: dict[str, Any]) -> None:
        if any(map(self._is_own, _origins(value))):
            return
        closings = self._endings.of(value["seq"])
        if closings or _cites(value["content"].get("payload")):
            self.flush()  # what it ends may be among these, and must have its place first
            if self._found(parse_citation(value["citation"])):
                return  # it may have come before what it ends, and then says so in other words
        told = [ending for item in closings for ending in self._endings.here(item, self._found)]
        self._pending.append(_entry(value, self._local, told))
        if len(self._pending) >= APPENDED_TOGETHER:
            self.flush()

    def flush(self) -> None:
        for entry, line in zip(self._pending, self._loom.append(self._session, self._pending), strict=True):
            self.new += line.record.get("salt") == entry.salt.hex()  # random, so the event is this very entry
        self._pending = []

    def _is_own(self, citation: Citation) -> bool:
        """Whether it is an event of this very session that has come back."""
        line = self._loom.get(self._session, citation.seq) if citation.session == self._session else None
        return line is not None and citation.names(line.hash)

    def _found(self, citation: Citation) -> Line | None:
        """What an event of the bundle has become here, if it is here."""
        return self._loom.by_key(self._session, _key(citation))

    def _local(self, citation: Citation) -> str:
        line = self._found(citation)
        return str(Citation(self._session, line.seq, line.hash)) if line else str(citation)


class _Endings:
    """What erased events had closed, by their seqs: it must not come back because they are gone."""

    def __init__(self, ended: dict[int, list[Any]], cited: dict[int, Citation]) -> None:
        self._ended = ended
        self._cited = cited

    def of(self, seq: int) -> list[Any]:
        return self._ended.get(seq, [])

    def here(self, item: Any, found: Callable[[Citation], Line | None]) -> list[dict[str, object]]:
        """A closing as it reads here. One that has a `row` ends only that row of the event that it names."""
        (closing,) = closings_from_json([item]) or (None,)
        if closing is None or closing.seq is None:
            return closings_as_json([closing] if closing else [])
        line = found(self._cited[closing.seq]) if closing.seq in self._cited else None
        if line is None:
            return []
        row = item.get("row")
        if row is None:
            return closings_as_json([Closing(closing.at, seq=line.seq)])
        entities = extract(event_of(line)).entities
        if type(row) is not int or not 0 <= row < len(entities):
            return []
        return closings_as_json([Closing(closing.at, EntityRef(entities[row].entity_type, entities[row].name))])


def _ended_by_erased(value: dict[str, Any]) -> dict[int, list[Any]]:
    """What the record of an erasure says that the erased event had closed, by that event's seq."""
    content, payload = value["content"], value["content"].get("payload")
    items = payload.get("closings") if isinstance(payload, dict) else None
    if not isinstance(items, list) or content["type"] not in (ERASED, IMPORTED_ERASED):
        return {}
    seq = payload.get("seq") if content["type"] == ERASED else value["seq"]
    return {seq: items} if type(seq) is int else {}


def _citations(events: Iterator[dict[str, Any]], ended: dict[int, list[Any]]) -> dict[int, Citation]:
    """The citations of events that are named only by their seqs; the bundle is read once more if there are any."""
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
    """The entries that are events, in their order. Fields beside a signed entry are nobody's word."""
    for part in parts():
        if isinstance(part, Item):
            value = part.value if shape == ENVELOPE else part.value["content"]
            if value["grain"] == EVENT:
                yield value


def _entry(
    value: dict[str, Any], local: Callable[[Citation], str] = str, closings: Sequence[dict[str, object]] = ()
) -> Entry:
    """An event of a bundle as the log takes it. What only Zaxy may say becomes data that says nothing for it.

    `closings` are what it had closed, if it was erased since.
    """
    content, citation = value["content"], parse_citation(value["citation"])
    type_, actor, payload = (content.get(name) for name in ("type", "actor", "payload"))
    origin: dict[str, Any] = {"citation": value["citation"], "time": value["valid_from"]}
    if content.get("erased") is True and payload is None:
        origin |= {"type": type_, "actor": actor, "erased": True}
        type_, actor, payload = IMPORTED_ERASED, IMPORT_ACTOR, {}
    if not isinstance(payload, dict) or not isinstance(type_, str) or not isinstance(actor, str):
        raise refused("it is not an event, which has a type, an actor and a payload")
    if type_ == IMPORTED_ERASED and actor == IMPORT_ACTOR:  # of this bundle, or of one that was imported there
        payload = {name: of for name, of in payload.items() if name != "closings"}
        payload |= {"closings": list(closings)} if closings else {}
    elif is_reserved(type_, actor):
        origin |= {"type": type_, "actor": actor}
        actor = IMPORT_ACTOR if type_ in HOUSEKEEPING or actor == OWN_ACTOR else actor
        type_ = f"{IMPORTED_PREFIX}{type_}"
    if IMPORTED_FROM in payload:
        origin["earlier"] = payload[IMPORTED_FROM]
    told = {**payload, IMPORTED_FROM: origin}
    if not utc_text(payload.get("occurred_at")):
        if "occurred_at" in payload:
            origin["occurred_at"] = payload["occurred_at"]
        told["occurred_at"] = value["valid_from"]
    if _cites(payload):
        told["supersedes"] = _mapped(payload["supersedes"], citation.session, local)
    sensitivity = content.get("sensitivity", USUAL)
    return admit_own(type_, actor, told, sensitivity, idempotency_key=_key(citation), largest=MAX_IMPORTED)


def _cites(payload: object) -> bool:
    """Whether it ends something by citing it, which has another citation here."""
    told = payload.get("supersedes") if isinstance(payload, dict) else None
    return any(
        isinstance(item, str) and item.startswith(SCHEME) for item in (told if isinstance(told, list) else [told])
    )


def _mapped(told: object, session: str, local: Callable[[Citation], str]) -> object:
    if isinstance(told, list):
        return [_mapped(item, session, local) for item in told]
    if not isinstance(told, str) or not told.startswith(SCHEME):
        return told
    try:
        cited = parse_citation(told)
    except ZaxyError:
        return told
    return local(cited) if cited.session == session else told


def _key(citation: Citation) -> str:
    return f"import:{citation.short}"


def _record(bundle: Verified, events: int) -> Entry:
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
    told = {name: value for name, value in payload.items() if value != ""}
    return admit_own(IMPORTED, OWN_ACTOR, told)
