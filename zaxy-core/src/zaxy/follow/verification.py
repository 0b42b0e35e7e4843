"""Whether what followers hold is what they wrote, row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from zaxy.errors import ZaxyError

NOT_BY_ROWS = "it cannot be checked row by row; compare 'zaxy followers digest' before and after a rebuild"


class FollowerFindings(NamedTuple):
    """What is wrong with a follower's rows of a session."""

    follower: str
    session: str
    problems: tuple[str, ...] = ()
    """A sentence each; none where all is well."""
    note: str = ""
    """Why nothing can be said, where that is so."""


def findings(follower: str, session: str, verify: Callable[[str], Sequence[str] | None] | None) -> FollowerFindings:
    """What a follower's own check says of a session; one that has none, or answers with None, cannot be checked."""
    try:
        found = verify(session) if verify else None
    except ZaxyError as error:
        return FollowerFindings(follower, session, (error.message,))
    return FollowerFindings(follower, session, tuple(found or ()), NOT_BY_ROWS if found is None else "")
