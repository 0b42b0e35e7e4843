"""Refs name places in the log, such as `HEAD` and `refs/heads/main`. Events set them, and the last one counts."""

from __future__ import annotations

import re

from zaxy.errors import InvalidRequest, shown

HEAD = "HEAD"
UPDATED = "memory.ref.updated"
_NAME = re.compile(r"refs(?:/[A-Za-z0-9][A-Za-z0-9_.-]{0,63}){1,8}")


def check_ref_name(name: object) -> str:
    parts_end_well = isinstance(name, str) and not any(part.endswith(".") for part in name.split("/"))
    if isinstance(name, str) and (name == HEAD or (_NAME.fullmatch(name) and parts_end_well)):
        return name
    raise InvalidRequest(
        f"{shown(name)} is not the name of a ref",
        "Use HEAD, or refs/ and safe parts, such as refs/heads/main.",
    )


def ref_payload(name: str, session: str, seq: int, hash_: str) -> dict[str, object]:
    return {"name": name, "session_id": session, "target_seq": seq, "target_hash": hash_}
