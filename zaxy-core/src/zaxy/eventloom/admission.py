"""Checks every event before it enters the log: bounds, reserved names and sensitivity. Secrets are removed, and what is
private."""

from __future__ import annotations

import os

from zaxy.api.event_types import CORE_TYPES, KEPT_FAMILIES, PACKAGE, family_of
from zaxy.errors import Forbidden, InvalidRequest, TooLarge, ZaxyError, shown
from zaxy.eventloom.canonical import MAX_DEPTH, NotCanonical, encode
from zaxy.eventloom.grammar import MAX_NAME_CHARS, SENSITIVITIES as SENSITIVITIES, is_type
from zaxy.eventloom.record import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zaxy.plugins.families import Families

MAX_KEY_CHARS = 256
MAX_PAYLOAD = 1 << 20
OWN_ACTOR = "zaxy"
IMPORTED = "memory.imported"
IMPORTED_FROM = "imported_from"
"""The field of a payload that says where an imported event came from. Only an import writes it."""
RESERVED_TYPES = frozenset([one.name for one in CORE_TYPES if one.written_by == PACKAGE])
IMPORTED_PREFIX = "imported."
"""Stands before the type of an imported event that only Zaxy may write. The event is plain data here."""
RESERVED_FAMILIES = ("event.", "memory.ref.", IMPORTED_PREFIX)


def admit(
    type_: str,
    actor: str,
    payload: object,
    *,
    families: Families | None = None,
    sensitivity: str = "",
    caused_by: str = "",
    idempotency_key: str = "",
) -> Entry:
    """An event from outside. It may have neither Zaxy's own actor nor a type that only Zaxy writes.

    `families`: the types that packages own; None where no package counts.
    """
    from zaxy.security.redaction import redact_text

    if isinstance(type_, str) and is_reserved(type_):
        raise Forbidden(f"only Zaxy itself writes {redact_text(type_)[0]}", "Use an event type of your own.")
    if isinstance(type_, str):
        _refuse_owned(type_, families)
    if actor == OWN_ACTOR:
        raise Forbidden(f"the actor {OWN_ACTOR!r} is Zaxy itself", "Name who is speaking, such as assistant.")
    if isinstance(payload, dict) and IMPORTED_FROM in payload:
        raise Forbidden(f"only an import writes {IMPORTED_FROM!r}", "Call that field something else.")
    return admit_own(
        type_, actor, payload, sensitivity=sensitivity, caused_by=caused_by, idempotency_key=idempotency_key
    )


def _refuse_owned(type_: str, families: Families | None) -> None:
    """Refuse a type that a package keeps for itself, whether it counts here or not."""
    if families is not None:
        families.refuse(type_)
    elif family_of(type_) in KEPT_FAMILIES:
        from zaxy.plugins.families import NO_FAMILIES

        NO_FAMILIES.refuse(type_)


def is_reserved(type_: str, actor: str = "") -> bool:
    """Whether only Zaxy itself may write such an event."""
    return type_ in RESERVED_TYPES or type_.startswith(RESERVED_FAMILIES) or actor == OWN_ACTOR


def admit_own(
    type_: str,
    actor: str,
    payload: object,
    *,
    sensitivity: str = "",
    caused_by: str = "",
    idempotency_key: str = "",
    max_bytes: int = MAX_PAYLOAD,
) -> Entry:
    """An event that one of Zaxy's own functions writes."""
    from zaxy.security.redaction import redact

    if not isinstance(payload, dict):
        raise InvalidRequest(
            f"the payload is a {type(payload).__name__}", 'Send a JSON object, such as {"text": "..."}.'
        )
    canonical = _canonical(payload, max_bytes)
    clean, found = redact(payload)
    if clean is not payload:
        payload = dict(clean)
        canonical = _canonical(payload, max_bytes)
    redacted = [{"kind": kind, "pointer": pointer} for pointer, kind in found]
    return checked_entry(
        type_,
        actor,
        payload,
        sensitivity=sensitivity,
        caused_by=caused_by,
        idempotency_key=idempotency_key,
        redacted=redacted,
        canonical=canonical,
    )


def checked_entry(
    type_: str,
    actor: str,
    payload: dict[str, Any],
    *,
    sensitivity: str = "",
    caused_by: str = "",
    idempotency_key: str = "",
    redacted: list[dict[str, str]] | None = None,
    canonical: bytes = b"",
) -> Entry:
    """An entry with all its parts within bounds. A `sensitivity` in the payload becomes that of the event.

    Whatever is kept as it is, and so cannot be redacted, may not be a secret.
    `canonical`: the canonical payload, if the caller has it already.
    """
    from zaxy.security.redaction import refuse_secrets

    refuse_secrets(
        {"the event type": type_, "the actor": actor, "caused_by": caused_by, "the idempotency key": idempotency_key}
    )
    fields: dict[str, Any] = {
        "type": _type(type_),
        "actor": _text("the actor", actor, MAX_NAME_CHARS),
        "sensitivity": _sensitivity(sensitivity or payload.get("sensitivity", "internal")),
    }
    if caused_by:
        fields["caused_by"] = _text("caused_by", caused_by, MAX_NAME_CHARS)
    if idempotency_key:
        fields["idempotency_key"] = _text("the idempotency key", idempotency_key, MAX_KEY_CHARS)
    if redacted:
        from zaxy.eventloom.field_names import public_pointer

        fields["redacted"] = [{**item, "pointer": public_pointer(item["pointer"], payload)} for item in redacted]
        if sum(len(item["pointer"].encode()) + MAX_NAME_CHARS for item in redacted) > MAX_PAYLOAD:
            # Each pointer repeats its path: long keys above many secrets would make a line that is too long to read.
            raise TooLarge(
                f"{len(redacted):,} secrets were removed, and the list of their places is too long",
                "Split it into several events.",
            )
    return Entry(fields, payload, canonical or _canonical(payload), os.urandom(16))


def _canonical(payload: dict[str, Any], max_bytes: int = MAX_PAYLOAD) -> bytes:
    _refuse_boundless(payload, max_bytes)
    try:
        canonical = encode(payload)
    except NotCanonical as error:
        raise InvalidRequest(
            f"the payload cannot be stored: {error}", "Correct that value and send it again."
        ) from None
    if len(canonical) > max_bytes:
        raise _too_large()
    return canonical


def _refuse_boundless(payload: dict[str, Any], room: int) -> None:
    """Check level by level, so that a huge, deep or circular payload is refused before all of it was read."""
    level: list[Any] = [payload]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        for value in level:
            kind = type(value)
            if kind is str:
                room -= len(value)
            elif kind is dict:
                room -= sum(len(key) for key in value if type(key) is str)
                below += value.values()
            elif kind is list or kind is tuple:
                below += value
            if len(below) > room:
                raise _too_large()
        if not below:
            return
        room -= len(below)
        level = below
    raise InvalidRequest(f"the payload is nested more than {MAX_DEPTH} deep", "Nest it less, or send it as a text.")


def _too_large() -> ZaxyError:
    return TooLarge(
        f"the payload has more than {MAX_PAYLOAD:,} bytes",
        "Split it into several events, or keep the bulk in a file and record where it is.",
    )


def _type(type_: object) -> str:
    words = _text("the event type", type_, MAX_NAME_CHARS)
    if is_type(words):
        return words
    raise InvalidRequest(f"{words!r:.80} is not an event type", "Use dotted lower-case words, such as decision.made.")


def _sensitivity(tier: object) -> str:
    if isinstance(tier, str) and tier in SENSITIVITIES:
        return tier
    raise InvalidRequest(f"{shown(tier)} is not a sensitivity", f"It is one of {', '.join(SENSITIVITIES)}.")


def _text(what: str, value: object, max_chars: int) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidRequest(f"{what} is empty or not a text", "Give it a value.")
    if len(value) > max_chars:
        raise TooLarge(f"{what} has {len(value)} characters; at most {max_chars} are allowed", "Shorten it.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidRequest(f"{what} has half of a surrogate pair", "Send valid Unicode.") from None
    return value
