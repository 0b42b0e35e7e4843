"""Approval packets: what waits for a decision, as a file that a person or another agent fills in; and applying one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from zaxy.api import Conflict, InvalidRequest, canonical_json, signing_algorithms
from zaxy_coordinate.brief import in_order_of_urgency
from zaxy_coordinate.fold import ACCEPTED, MissionState
from zaxy_coordinate.reviews import Decision, decide
from zaxy_coordinate.rows import finding_row
from zaxy_coordinate.workplace import Reply, Workplace

FORMAT = "zaxy-approval-packet"
VERSION = 1
MAX_FINDINGS = 200
UNDECIDED: dict[str, object] = {"status": None, "rationale": "", "promote": False}
SIGNED_FIELDS = ("algorithm", "public_key", "signature")
_NOTE = "Fill in each decision: status is accepted, rejected, deferred or conflicted, or null to leave it undecided."

Sign = Callable[[bytes], bytes]


def approval_packet(at: Workplace, mission_id: str) -> Reply:
    """The findings that wait for a decision, each with room for one. Nothing is written."""
    state = at.mission(mission_id)
    waiting = [
        one for one in in_order_of_urgency(at.standings(state)) if one.waits_for_review or one.status == ACCEPTED
    ]
    content: Reply = {
        "format": FORMAT,
        "version": VERSION,
        "mission_id": mission_id,
        "mission_ref": state.created.citation if state.created else "",
        "known_to_seq": state.cursors[mission_id][0],
        "findings": [finding_row(at, state, one) for one in waiting[:MAX_FINDINGS]],
        "left_out": max(len(waiting) - MAX_FINDINGS, 0),
    }
    packet_id = packet_id_of(content)
    decisions = [{"finding_id": row["finding_id"], **UNDECIDED} for row in content["findings"]]
    return {**content, "packet_id": packet_id, "note": _NOTE, "decisions": decisions}


def packet_id_of(packet: Mapping[str, Any]) -> str:
    """The SHA-256 of what a packet says, without what is filled in."""
    said = {
        name: value for name, value in packet.items() if name not in ("packet_id", "note", "decisions", "signature")
    }
    return sha256(canonical_json(said)).hexdigest()


def apply_approval(
    at: Workplace, mission_id: str, decisions: object, *, actor: str, expect_public_key: str = ""
) -> Reply:
    """Write the decisions of a list, or of a whole packet, as ordinary reviews and promotions: all of them or none."""
    if isinstance(decisions, Mapping):
        return _apply_packet(at, mission_id, decisions, actor=actor, expect_public_key=expect_public_key)
    if expect_public_key:
        raise InvalidRequest("a list of decisions has no signature", "Apply the whole packet.")
    taken, state = decisions_of(decisions), at.mission(mission_id)
    places = [len(state.reviews.get(one.finding_id, ())) for one in taken]  # the same again after it was reopened
    name = sha256(canonical_json([places, *(list(one) for one in taken)])).hexdigest()
    return decide(at, mission_id, taken, actor=actor, decision_id=f"decisions:{name[:32]}", details={})


def _apply_packet(
    at: Workplace, mission_id: str, packet: Mapping[str, Any], *, actor: str, expect_public_key: str
) -> Reply:
    state = at.mission(mission_id)
    signer = signer_of(packet, expect_public_key)
    _check_packet(at, state, packet)
    filled = [one for one in packet["decisions"] if _is_decided(one)]
    if not filled:
        raise InvalidRequest("no decision of the packet is filled in", "Give at least one finding a status.")
    taken = decisions_of(filled)
    said = {name: value for name, value in packet.items() if name != "signature"}
    decision_id = f"packet:{sha256(canonical_json(said)).hexdigest()[:32]}"
    details = {"packet_id": packet["packet_id"], **({"signed_by": signer} if signer else {})}
    return {
        **decide(at, mission_id, taken, actor=actor, decision_id=decision_id, details=details),
        **details,
    }


def _check_packet(at: Workplace, state: MissionState, packet: Mapping[str, Any]) -> None:
    """Refuse a packet that is not one of this mission, or that says other things than it did when it was made."""
    if packet.get("format") != FORMAT or packet.get("version") != VERSION:
        raise InvalidRequest("this is no approval packet", "Make one with coordination_approval_packet.")
    if packet.get("mission_id") != state.id or packet.get("mission_ref") != (state.created and state.created.citation):
        raise InvalidRequest(
            f"the packet is of the mission {packet.get('mission_id')!r:.80}, and not of {state.id}",
            "Apply it to its own mission.",
        )
    if packet.get("packet_id") != packet_id_of(packet):
        raise Conflict("the packet was changed beyond its decisions", "Make a new one, and fill in only decisions.")
    known = {str(row.get("finding_id")): row.get("citation") for row in _rows(packet, "findings")}
    for finding_id, citation in known.items():
        if at.finding(state, finding_id).ref.citation != citation:
            raise Conflict(f"{finding_id} is another finding than in the packet", "Make a new packet.")
    for decision in _rows(packet, "decisions"):
        if str(decision.get("finding_id")) not in known:
            raise InvalidRequest(
                f"the packet has no finding {decision.get('finding_id')!r:.80}",
                "Decide only on findings of the packet.",
            )


def _rows(packet: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    rows = packet.get(name)
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise InvalidRequest(f"the packet's {name} are no list of objects", "Keep the packet as it was made.")
    return rows


def decisions_of(given: object) -> list[Decision]:
    """Decisions as they were sent, each checked; one for each finding."""
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise InvalidRequest("there are no decisions", "Send a list of {finding_id, status}, or a whole packet.")
    taken = [_decision_of(one) for one in given]
    names = [one.finding_id for one in taken]
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise InvalidRequest(f"{twice} is decided twice", "Decide once for each finding.")
    return taken


def _decision_of(given: object) -> Decision:
    if not isinstance(given, Mapping):
        raise InvalidRequest("a decision is not an object", "Send {finding_id, status, rationale?, promote?}.")
    extra = set(given) - {"finding_id", "status", "rationale", "promote"}
    if extra:
        raise InvalidRequest(
            f"a decision has no field {sorted(extra)[0]!r:.40}", "Use finding_id, status, rationale, promote."
        )
    status, rationale, promote = given.get("status"), given.get("rationale") or "", given.get("promote") or False
    if not isinstance(status, str) or not isinstance(rationale, str) or not isinstance(promote, bool):
        raise InvalidRequest(
            f"the decision on {given.get('finding_id')!r:.80} is not well formed",
            "status and rationale are texts, promote is true or false.",
        )
    return Decision(str(given.get("finding_id") or ""), status, rationale, promote)


def _is_decided(one: Mapping[str, Any]) -> bool:
    """One that says promote and no status is refused rather than passed over."""
    return one.get("status") is not None or bool(one.get("promote"))


# Signatures


def signed(packet: Mapping[str, Any], algorithm: str, public_key: bytes, sign: Sign) -> Reply:
    """The packet, decisions included, with a signature over all of it."""
    said = {name: value for name, value in packet.items() if name != "signature"}
    signature = sign(canonical_json(said)).hex()
    return {**said, "signature": dict(zip(SIGNED_FIELDS, (algorithm, public_key.hex(), signature), strict=True))}


def signer_of(packet: Mapping[str, Any], expected: str) -> str:
    """The public key that signed a packet, in hex; empty for one without a signature. A bad one is refused."""
    given = packet.get("signature")
    if given is None:
        if expected:
            raise InvalidRequest("the packet is not signed", "Ask for one that its approver has signed.")
        return ""
    if not isinstance(given, Mapping) or not all(isinstance(given.get(name), str) for name in SIGNED_FIELDS):
        raise InvalidRequest("the packet's signature is not well formed", "Ask for the packet again.")
    algorithm, key, signature = (str(given[name]) for name in SIGNED_FIELDS)
    if expected and key.lower() != expected.lower():
        raise Conflict("the packet was signed by somebody else", f"It was signed with the key {key[:80]}.")
    said = {name: value for name, value in packet.items() if name != "signature"}
    try:
        raw_key, raw_signature = bytes.fromhex(key), bytes.fromhex(signature)
    except ValueError:
        raw_key = raw_signature = b""
    with signing_algorithms() as algorithms:
        good = algorithms.get(algorithm).verify(raw_key, canonical_json(said), raw_signature)
    if not good:
        raise Conflict("the packet's signature does not fit", "It was changed after it was signed. Ask for it again.")
    return key
