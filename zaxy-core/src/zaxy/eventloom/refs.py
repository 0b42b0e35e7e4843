"""Refs name places in the log, such as `HEAD` and `refs/heads/main`. Events set them, and the last one counts."""

from __future__ import annotations

import re

from zaxy.errors import InvalidRequest, shown
from zaxy.eventloom.canonical import MAX_INTEGER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

HEAD = "HEAD"
MAIN = "refs/heads/main"
OF_THE_END = (HEAD, MAIN)
"""Until they are set, they name the last event, and move with it."""
UPDATED = "memory.ref.updated"
_NAME = re.compile(r"refs(?:/[A-Za-z0-9][A-Za-z0-9_.-]{0,63}){1,8}")
_HASH = re.compile("[0-9a-f]{64}")


def is_ref_name(name: object) -> bool:
    if not isinstance(name, str) or name == HEAD:
        return name == HEAD
    return bool(_NAME.fullmatch(name)) and not any(part.endswith(".") for part in name.split("/"))


def whole_ref_name(name: str) -> str:
    """A short name is that of a head: `main` is refs/heads/main."""
    return name if name == HEAD or "/" in name or not name else f"refs/heads/{name}"


def check_ref_name(name: object) -> str:
    if isinstance(name, str) and is_ref_name(name):
        return name
    raise InvalidRequest(
        f"{shown(name)} is not the name of a ref",
        "Use HEAD, or refs/ and safe parts, such as refs/heads/main.",
    )


def ref_payload(name: str, session: str, seq: int, hash_: str) -> dict[str, object]:
    return {"name": name, "session_id": session, "target_seq": seq, "target_hash": hash_}


def is_ref_payload(payload: Mapping[str, object], session: str) -> bool:
    """Whether a payload names a ref, and an event of the session as its target."""
    seq, hash_ = payload.get("target_seq"), payload.get("target_hash")
    return (
        is_ref_name(payload.get("name"))
        and payload.get("session_id") == session
        and (type(seq) is int and 0 < seq <= MAX_INTEGER)
        and (type(hash_) is str and _HASH.fullmatch(hash_) is not None)
    )
