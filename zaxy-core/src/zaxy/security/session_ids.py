"""Checks session ids before they become part of a path."""

from __future__ import annotations

from zaxy.errors import Conflict, InvalidRequest, ZaxyError, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_ID_CHARS = 128
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_ALLOWED = _LETTERS | frozenset("_.-")
# Windows gives these names to devices, whatever ending follows.
_DEVICES = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10)))
)


def check_session_id(session: object) -> str:
    """The id itself, if it is safe as a file name on every system."""
    if not isinstance(session, str) or not session:
        raise _refused(session, "it is empty or not a text")
    if len(session) > MAX_ID_CHARS:
        raise _refused(session, f"it is longer than {MAX_ID_CHARS} characters")
    if session[0] not in _LETTERS or not _ALLOWED.issuperset(session):
        raise _refused(
            session, "only letters, digits, '_', '.' and '-' are allowed, and the first is a letter or digit"
        )
    if session.endswith("."):
        raise _refused(session, "it ends with a dot")
    if session.split(".")[0].lower() in _DEVICES:
        raise _refused(session, "Windows reserves that name for a device")
    return session


def check_new_session(session: str, others: Iterable[str]) -> None:
    """A session that is not among the others yet may not be called like a secret.

    Nor may it differ from one of them only in case: some file systems treat the two as one.
    """
    from zaxy.security.redaction import refuse_secrets

    known = list(others)
    if session not in known:
        refuse_secrets({"the session id": session})
    for other in known:
        if other != session and other.casefold() == session.casefold():
            raise Conflict(f"the session {session} differs only in case from {other}", f"Use {other}, or another name.")


def _refused(session: object, reason: str) -> ZaxyError:
    from zaxy.security.redaction import redact_text

    given = redact_text(session)[0] if isinstance(session, str) else session
    return InvalidRequest(
        f"{shown(given)} is not a session id: {reason}",
        "Use a name such as my-project-default.",
    )
