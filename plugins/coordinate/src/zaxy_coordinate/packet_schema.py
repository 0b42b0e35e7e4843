"""The format of an approval packet, as a JSON Schema: for programs that fill one in, and for those that check one."""

from __future__ import annotations

from typing import Any

from zaxy_coordinate.fold import PENDING, STATUSES
from zaxy_coordinate.packets import FORMAT, MAX_FINDINGS, SIGNED_FIELDS, VERSION
from zaxy_coordinate.standing import AUTHORITIES

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NAME: Schema = {"type": "string", "minLength": 1}
COUNT: Schema = {"type": "integer", "minimum": 0}
CITATION: Schema = {"type": "string", "pattern": "^eventloom://[^/]+/events/[1-9][0-9]*#[0-9a-f]{64}$"}
DIGEST: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
HEX: Schema = {"type": "string", "pattern": "^([0-9a-f]{2})+$"}


def _object(required: Schema, **optional: Schema) -> Schema:
    """Objects that have nothing else: a packet with a word more is another packet."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


REVIEW = _object({"reviewer": NAME, "citation": CITATION}, rationale=TEXT)
FINDING = _object(
    {
        "finding_id": NAME,
        "worker_id": NAME,
        "summary": TEXT,
        "citation": CITATION,
        "status": {"enum": [PENDING, *STATUSES]},
        "authority": {"enum": list(AUTHORITIES)},
        "reported_at": NAME,
        "test_backed": {"type": "boolean"},
        "evidence": {"type": "array", "items": {"type": "object"}},
    },
    claim_key=TEXT,
    claim_value=TEXT,
    confidence={"type": "number", "minimum": 0, "maximum": 1},
    duplicate_of=NAME,
    stale={"const": True},
    conflict_id=NAME,
    review=REVIEW,
)
DECISION = _object(
    {"finding_id": NAME, "status": {"enum": [None, *STATUSES]}}, rationale=TEXT, promote={"type": "boolean"}
) | {
    "if": {"properties": {"promote": {"const": True}}, "required": ["promote"]},
    "then": {"properties": {"status": {"const": "accepted"}}},
}
"""Only what is accepted is promoted."""
SIGNATURE = _object(dict(zip(SIGNED_FIELDS, (NAME, HEX, HEX), strict=True)))
PACKET: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Approval packet of a mission",
    **_object(
        {
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "mission_id": NAME,
            "mission_ref": CITATION,
            "known_to_seq": COUNT,
            "findings": {"type": "array", "maxItems": MAX_FINDINGS, "items": FINDING},
            "left_out": COUNT,
            "packet_id": DIGEST,
            "decisions": {"type": "array", "maxItems": MAX_FINDINGS, "items": DECISION},
        },
        note=TEXT,
        signature=SIGNATURE,
    ),
}
