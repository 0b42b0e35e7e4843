"""Memory as a package is given it: the methods of `MemoryAccess`, and no more than the one who asks may do."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from inspect import BoundArguments, Signature, signature
from typing import TYPE_CHECKING, Any, cast

from zaxy.api.access import MemoryAccess
from zaxy.errors import Forbidden, InvalidRequest
from zaxy.eventloom.citation import SCHEME, parse_citation
from zaxy.memory import Memory
from zaxy.plugins.families import context_of
from zaxy.rights import ADMIN, READER, WRITER, Permission, become, present_permission

if TYPE_CHECKING:
    from collections.abc import Callable

METHODS = frozenset(name for name in vars(MemoryAccess) if not name.startswith("_")) - {"session", "is_foreign"}
OF_CHECKOUTS = ("synthesis_artifact", "synthesis_evidence")
"""Their session is that of the checkout that they are given."""
OF_SESSIONS = ("append", "append_many", "after_turn", "feedback", "skill", "cleanup_subagent", "invalidate", "set_ref")
WRITES = (*OF_SESSIONS, *OF_CHECKOUTS)
OF_FOLLOWERS = ("catch_up_followers", "followers_status", "rebuild_followers", "verify_followers", "follower_digests")
ADMINISTERS = ("forget", "import_events", "export_sink", *OF_FOLLOWERS)
"""An import says what happened elsewhere, and a sink takes memory out of the workspace."""
ROLE_FOR = {**dict.fromkeys(METHODS, READER), **dict.fromkeys(WRITES, WRITER), **dict.fromkeys(ADMINISTERS, ADMIN)}
SESSION_ARGUMENTS = ("session", "parent_session", "subagent_session")


def access_to(memory: Memory, permission: Permission | None = None, *, package: str = "") -> MemoryAccess:
    """The memory that a package may use on behalf of the one who asks: with that permission, or the present one.

    It takes the event types that the package owns.
    """
    return cast(MemoryAccess, _Access(memory, permission or present_permission(), package))


def as_package(memory: MemoryAccess, package: str) -> MemoryAccess:
    """The same memory for the functions of a package that a program calls itself: it takes the event types that the
    package owns. What a tool, a command or a route was given is given back as it is."""
    return access_to(memory, package=package) if isinstance(memory, Memory) else memory


def reading_access_to(memory: Memory, session: str = "") -> MemoryAccess:
    """The same for what must only read; `session` is meant where none is named."""
    permission = present_permission()
    return access_to(memory, permission._replace(role=READER, session=session or permission.session))


class _Access:
    def __init__(self, memory: Memory, permission: Permission, package: str) -> None:
        self._memory = memory
        self._permission = permission
        self._context = context_of(package)
        self._context.run(become, permission)

    @property
    def session(self) -> str:
        return self._permission.session or self._memory.session

    @property
    def is_foreign(self) -> bool:
        return self._memory.is_foreign

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in METHODS:
            raise AttributeError(f"MemoryAccess has no {name!r}")
        return partial(self._call, name)

    def _call(self, name: str, *arguments: Any, **named: Any) -> Any:
        self._permission.check_role(ROLE_FOR[name], f"{name}()")
        given = _signature(name).bind(self._memory, *arguments, **named)
        self._settle_sessions(name, given)
        found = self._context.copy().run(getattr(type(self._memory), name), *given.args, **given.kwargs)
        return [session for session in found if self._permission.allows(session)] if name == "sessions" else found

    def _settle_sessions(self, name: str, given: BoundArguments) -> None:
        """Put the session that is meant where none is named, and refuse those that are out of bounds."""
        cited = _cited(given)
        if "session" in _signature(name).parameters and not (name == "feedback" and cited):
            given.arguments["session"] = given.arguments.get("session") or self.session
        if self._permission.sessions is None:
            return
        if name == "forget":
            raise Forbidden("erasing looks for copies in every session", "Ask somebody who has all sessions.")
        named = [str(given.arguments[argument]) for argument in SESSION_ARGUMENTS if given.arguments.get(argument)]
        checkout = given.arguments.get("checkout") if name in OF_CHECKOUTS else None
        named += [str(checkout.get("session_id"))] if isinstance(checkout, Mapping) else []
        for session in (*named, *cited):
            self._permission.check_session(session)


def _cited(given: BoundArguments) -> list[str]:
    """The sessions of the citations among the arguments. A text may begin like one and be none: a question may."""
    values = (*given.arguments.values(), *given.arguments.get("details", {}).values())
    sessions = []
    for text in (value for value in values if isinstance(value, str) and value.startswith(SCHEME)):
        with suppress(InvalidRequest):
            sessions.append(parse_citation(text).session)
    return sessions


@cache
def _signature(name: str) -> Signature:
    return signature(getattr(Memory, name))
