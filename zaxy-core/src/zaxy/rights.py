"""What the one who asks may do: set while a request is answered, and checked at the door to the log.

Where nothing is set, as on stdio, in commands and in a server's own threads, everything may be done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

from zaxy.api.catalog import ROLES
from zaxy.errors import Forbidden

if TYPE_CHECKING:
    from zaxy.api.http_models import Identity
    from zaxy.errors import ZaxyError

READER, WRITER, ADMIN = ROLES
ANY = "*"
"""Behind the beginning of a session's name: all that begin so."""


class Permission(NamedTuple):
    """What the one who asks may do. Without sessions, nothing is out of bounds."""

    role: str = ADMIN
    sessions: tuple[str, ...] | None = None
    """None: all of them. One that ends in `*` means all that begin so."""
    session: str = ""
    """The one that is meant where none is named; empty for the workspace's own."""
    refusal: ZaxyError | None = None
    """Why nothing may be written just now; None where it may."""

    def has_role(self, needed: str) -> bool:
        return ROLES.index(self.role) >= ROLES.index(needed)

    def check_role(self, needed: str, what: str) -> None:
        if not self.has_role(needed):
            raise Forbidden(f"{what} needs the role {needed}, and yours is {self.role}", "Ask somebody who has it.")

    def allows(self, session: str) -> bool:
        return self.sessions is None or any(
            session.startswith(one[:-1]) if one.endswith(ANY) else session == one for one in self.sessions
        )

    def check_session(self, session: str) -> None:
        if not self.allows(session):
            raise Forbidden(f"you have no access to the session {session!r:.80}", "Name one of yours.")


EVERYTHING = Permission()
_present: ContextVar[Permission] = ContextVar("permission", default=EVERYTHING)


def permission_of(identity: Identity | None, default_session: str) -> Permission:
    """What an identity may do; everything where requests are not authenticated.

    Where it names no session the workspace's is meant, if it may use that, else the first one of its own.
    """
    if identity is None:
        return EVERYTHING
    allowed = Permission(identity.role, None if ANY in identity.sessions else tuple(identity.sessions))
    if allowed.allows(default_session):
        return allowed._replace(session=default_session)
    own = (name for name in identity.sessions if not name.endswith(ANY))
    return allowed._replace(session=next(own, default_session))


def present_permission() -> Permission:
    return _present.get()


def become(permission: Permission) -> None:
    """From here on, in this context, the log can be used only as far as that goes."""
    _present.set(permission)


@contextmanager
def acting_with(permission: Permission) -> Iterator[None]:
    """Meanwhile the log can be used only as far as that goes."""
    token = _present.set(permission)
    try:
        yield
    finally:
        _present.reset(token)


def check_access(session: str, needs: str = READER) -> None:
    """Refuse a session, or a role, that the one who asks does not have."""
    permission = _present.get()
    if permission is not EVERYTHING:
        permission.check_session(session)
        permission.check_role(needs, "this")
        if needs == WRITER and permission.refusal is not None:
            raise permission.refusal


def usable(sessions: Iterable[str]) -> list[str]:
    """Those of the sessions that the one who asks may use."""
    permission = _present.get()
    return [session for session in sessions if permission.allows(session)]
