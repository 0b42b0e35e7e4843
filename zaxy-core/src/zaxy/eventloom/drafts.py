"""Drafts that the core has checked, and what the log's files make of a draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zaxy.api.models import Draft
from zaxy.eventloom.admission import admit, admit_own, checked_entry
from zaxy.eventloom.record import Entry

if TYPE_CHECKING:
    from zaxy.plugins.families import Families


@dataclass(frozen=True, slots=True)
class AdmittedDraft(Draft):
    """A draft without secrets, within all bounds, and of a type that its author may write."""

    entry: Entry = field(kw_only=True, repr=False, compare=False)
    """The same as it is written, so that the payload is encoded only once."""


def admit_draft(
    type_: str, actor: str, payload: object, *, families: Families | None = None, **more: str
) -> AdmittedDraft:
    """An event from outside. `more`: sensitivity, caused_by, idempotency_key."""
    return draft_of(admit(type_, actor, payload, families=families, **more))


def own_draft(type_: str, actor: str, payload: object, **more: Any) -> AdmittedDraft:
    """An event that one of Zaxy's own functions writes."""
    return draft_of(admit_own(type_, actor, payload, **more))


def draft_of(entry: Entry) -> AdmittedDraft:
    fields = entry.fields
    redacted = fields.get("redacted")
    return AdmittedDraft(
        fields["type"],
        fields["actor"],
        entry.payload,
        fields["sensitivity"],
        fields.get("caused_by", ""),
        fields.get("idempotency_key", ""),
        tuple((item["pointer"], item["kind"]) for item in redacted) if redacted else (),
        entry.salt.hex(),
        entry=entry,
    )


def draft_of_record(record: Mapping[str, Any], payload: dict[str, Any], key: str) -> AdmittedDraft:
    """A draft of what another log holds, and so was checked before, under a key of its own."""
    entry = checked_entry(
        record["type"],
        record["actor"],
        payload,
        sensitivity=record["sensitivity"],
        caused_by=record.get("caused_by", ""),
        idempotency_key=key,
        redacted=record.get("redacted"),
    )
    return draft_of(entry)


def entry_of(draft: Draft) -> Entry:
    """A draft as it is written; one that did not come through the core is checked here."""
    if isinstance(draft, AdmittedDraft):
        return draft.entry
    entry = checked_entry(
        draft.type,
        draft.actor,
        dict(draft.payload),
        sensitivity=draft.sensitivity,
        caused_by=draft.caused_by,
        idempotency_key=draft.idempotency_key,
        redacted=[{"kind": kind, "pointer": pointer} for pointer, kind in draft.redacted],
    )
    return entry._replace(salt=bytes.fromhex(draft.salt)) if draft.salt else entry
