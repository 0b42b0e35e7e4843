"""The application behind every connection: memory, catalog, limits and the record of calls, made once per process."""

from __future__ import annotations

import gc
import hmac
import json
import traceback
from collections.abc import Mapping
from contextvars import ContextVar
from hashlib import sha256
from threading import Lock, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from zaxy.api.models import JsonObject
from zaxy.api.tools import ADMIN_TOKEN, Call, Progress, ToolFunction, session_named
from zaxy.errors import Forbidden, InternalError, NotFound, ZaxyError
from zaxy.eventloom.request_keys import answering
from zaxy.observe.recording import why_not_recorded
from zaxy.owner.handshake import Caller
from zaxy.printing import say
from zaxy.rights import ADMIN, READER, WRITER, Permission, acting_with, check_access, permission_of, usable
from zaxy.security.session_ids import check_session_id
from zaxy.serve.catalog import Catalog, command_tools, own_tools
from zaxy.serve.lifecycle import Ended, Lifecycle, Noted, ToolCall
from zaxy.serve.limits import CallLimit
from zaxy.serve.results import summary_of
from zaxy.settings import Settings
from zaxy.workspace import Workspace, default_session

if TYPE_CHECKING:
    from zaxy.api.http_models import Identity
    from zaxy.memory import Memory
    from zaxy.serve.pack_offers import PackOffers

PATIENCE = 2.0
"""Seconds that a read waits for the followers."""
AFTER_THE_FIRST_REPLY = 0.05
"""Seconds before memory is opened, so that the first reply does not compete with the imports."""
MAX_KEYS = 64
PRODUCTION = "production"
TOOL_PACKS = "tool_packs"
BEGIN_A_SESSION = ("memory_bootstrap", "memory_capabilities")
"""What an agent calls first, in a session that may be about to begin."""
READ, GET = "resources/read", "prompts/get"
"""Methods of the protocol that are answered as tools are."""
_progress: ContextVar[Progress | None] = ContextVar("progress", default=None)


class Request(NamedTuple):
    """A call as it came, whatever it holds."""

    tool: str
    arguments: Mapping[str, Any]
    admin_token: str = ""
    """From a header; an argument `admin_token` counts too."""
    refusal: ZaxyError | None = None
    """Why the call cannot be taken at all: its frame was too large, or no JSON."""
    progress: Progress | None = None
    caller: Caller | None = None
    """Whose client asks, where it is not this process's own."""
    id: int | str | None = None
    identity: Identity | None = None
    """Who asks, where requests are authenticated: it may do no more than its role and its sessions allow."""
    is_method: bool = False
    """Whether it is a method of the protocol besides tools/call, such as resources/read."""
    default_session: str = ""
    """The session of the program that asks, where it is this process's own."""

    @property
    def session(self) -> str:
        """The session that is meant where the arguments name none; empty for the workspace's own."""
        return self.caller.session if self.caller else self.default_session

    @property
    def from_command(self) -> bool:
        """Whether a command of this user asks: what it may do without a server it may do through one."""
        return self.caller is not None and self.caller.is_command

    @property
    def repeatable_as(self) -> str:
        """The same for a request that a caller sends again, since the owner that it asked first may be dead.

        A client that uses an id twice means two requests, unless they are the same to the letter.
        """
        if self.caller is None or self.from_command:
            return ""
        asked = json.dumps([self.id, self.tool, self.arguments], sort_keys=True)
        return f"{self.caller.id}:{sha256(asked.encode()).hexdigest()[:32]}"


class Reply(NamedTuple):
    content: dict[str, Any]
    failed: bool = False


class Application:
    """Answers tool calls over one memory, for any number of connections and threads."""

    def __init__(
        self,
        workspace: Workspace,
        profile: str = "",
        *,
        withheld: ZaxyError | None = None,
        memory: Memory | None = None,
    ) -> None:
        """`withheld`: why the graph is not opened, where another process holds it and cannot be asked.

        `memory`: that of the program itself, which closes it too. Without one it is opened when first needed.
        """
        settings = Settings(stored=workspace.stored_settings())
        self.workspace = workspace
        self._withheld = withheld
        self.profile = profile or settings.tool_profile
        self.production = settings.env == PRODUCTION
        self._admin_token = settings.admin_token or ""
        self._limit = CallLimit(settings.max_calls_per_minute)
        self._lifecycle = Lifecycle(self._record) if settings.lifecycle_capture_enabled else None
        self._own = Catalog(own_tools())
        self._own.listed(self.profile)  # an unknown profile is refused at the start
        self._all: Catalog | None = None
        self._offers: PackOffers | None = None
        self._known_sessions: set[str] = set()
        """Some of those that are there: none goes away."""
        self._listing = Lock()
        self._opening = Lock()
        self._memory = memory
        self._begun = False

    # Calls

    def answer(self, request: Request) -> Reply:
        """What a tool answers, or why it does not. It never raises; it may take long, so call it in a thread."""
        token = _progress.set(request.progress)
        try:
            reply = Reply(self._content(request))
        except ZaxyError as error:
            reply = Reply(error.as_dict(), failed=True)
        except Exception:
            say(traceback.format_exc(), err=True, end="")
            reply = Reply(_defect(request.tool).as_dict(), failed=True)
        finally:
            _progress.reset(token)
        if not request.from_command:
            self._note(request, reply)
        return reply

    def _content(self, request: Request) -> dict[str, Any]:
        from zaxy.serve.schema import checked

        if not request.from_command:
            self._limit.take()
        served = self._find(request)
        permission = self.permission_of(request.identity)
        permission.check_role(role_for(served), served.tool.name)
        if request.refusal is not None:
            raise request.refusal
        arguments = checked(served.tool.name, served.tool.input_schema, request.arguments)
        if served.tool.admin and not request.from_command:
            self._admit(served, str(arguments.get(ADMIN_TOKEN, "")) or request.admin_token, request.identity)
        watching, session = request.progress or _unwatched, request.session or permission.session
        profile = (request.caller.profile if request.caller else "") or self.profile
        call = Call(self.memory, arguments, watching, session, request.from_command, profile)
        if request.from_command:
            permission = permission._replace(refusal=None)  # what a person types is recorded during a pause too
        with answering(request.repeatable_as), acting_with(permission):
            _check_sessions(arguments)
            if served.tool.read_only and served.tool.name not in BEGIN_A_SESSION:
                self._refuse_missing(arguments, session)
            return dict(served.answer(call))

    def _refuse_missing(self, arguments: Mapping[str, Any], default: str) -> None:
        """Nothing is read from a session that is not there, as no command does: its name is likely a mistake."""
        named = session_named(arguments)
        if not named or named in self._known_sessions or named == (default or default_session(self.workspace)):
            return
        known = self.memory.sessions()
        self._known_sessions.update(known)
        if named not in known:
            there = ", ".join(usable(known)[:8]) or "none"
            check_session_id(named)
            raise NotFound(
                f"there is no session {named} (there are: {there})",
                "Name one of them, or none; memory_bootstrap and every write begin a new one.",
            )

    def permission_of(self, identity: Identity | None) -> Permission:
        """What an identity may do here; everything where requests are not authenticated, unless recording is paused."""
        permission = permission_of(identity, default_session(self.workspace) if identity else "")
        refusal = why_not_recorded(self.workspace.eventloom)
        return permission._replace(refusal=refusal) if refusal else permission

    def count_call(self) -> None:
        """Count what is asked of memory in another way than by a tool, or refuse it if too much is."""
        self._limit.take()

    def _find(self, request: Request) -> ToolFunction:
        """One of our own is found without opening the plugins."""
        if request.is_method:
            return self.offers.method(request.tool)
        if request.from_command and request.tool in (for_commands := command_tools()):
            return for_commands.find(request.tool)
        if request.tool in self._own:
            return self._own.find(request.tool)
        return self.catalog.find(request.tool)

    def _admit(self, served: ToolFunction, token: str, identity: Identity | None) -> None:
        """A token that is set counts everywhere; in production nobody is let in without one, or without the role."""
        if not self._admin_token and (identity is not None or not self.production):
            return
        if self._admin_token and hmac.compare_digest(token.encode(), self._admin_token.encode()):
            return
        raise Forbidden(
            f"{served.tool.name} needs the admin token{'' if self._admin_token else ' in production'}",
            "Send the value of MCP_ADMIN_TOKEN as the argument admin_token or in the header x-zaxy-admin-token."
            if self._admin_token
            else "Set MCP_ADMIN_TOKEN or MCP_ADMIN_TOKEN_FILE for the server, and send that token.",
        )

    # Listing

    @property
    def catalog(self) -> Catalog:
        """All tools, those of plugins included, which are asked once."""
        from zaxy.serve.packs import pack_tools

        with self._listing:
            if self._all is None:
                self._all = self._own.with_tools(pack_tools(self.memory, self._own, _notice))
            return self._all

    @property
    def offered(self) -> frozenset[str]:
        """The capabilities of installed tool packs: resources, prompts, both or none. Nobody is imported for it."""
        from zaxy.plugins.roster import load_roster

        try:
            providers = load_roster(Settings(stored=self.workspace.stored_settings())).providers
        except ZaxyError:
            return frozenset()  # a call of a tool says why
        packs = [provided for _, provided in providers if provided.point == TOOL_PACKS]
        return frozenset(capability for pack in packs for capability in pack.capabilities)

    @property
    def offers(self) -> PackOffers:
        """The resources and prompts of plugins, which are asked once."""
        from zaxy.serve.pack_offers import PackOffers

        with self._listing:
            if self._offers is None:
                self._offers = PackOffers(self.memory.recall.host.all(TOOL_PACKS), _notice)
            return self._offers

    def listed(self, profile: str = "", identity: Identity | None = None) -> list[ToolFunction]:
        """What a profile lists, as far as the identity's role may call it."""
        permission = self.permission_of(identity)
        return [
            served for served in self.catalog.listed(profile or self.profile) if permission.has_role(role_for(served))
        ]

    def schema_with_headers(self, name: str) -> JsonObject | None:
        """The input schema of a tool whose arguments may have to come as HTTP headers too; none of ours has such."""
        if name in self._own or name not in self.catalog:
            return None
        return self.catalog.find(name).tool.input_schema

    def unlisted_arguments(self, tool: str) -> tuple[str, ...]:
        """Arguments that are taken but not listed: the admin token where none is needed; and of our own tools a second
        name (appends list it, as a thread is what is written to), and what only programs send."""
        token = () if self.production or self._admin_token else (ADMIN_TOKEN,)
        if tool not in self._own:
            return token if self.catalog.find(tool).tool.admin else ()
        second_name = () if tool == "memory_append" else ("thread",)
        return (*second_name, "metadata", *token)

    # The record of calls

    def _note(self, request: Request, reply: Reply) -> None:
        if self._lifecycle is None:
            return
        keys = sorted(str(key)[:64] for key in list(request.arguments)[:MAX_KEYS])
        status = "error" if reply.failed else "ok"
        try:
            session = session_named(request.arguments)
        except ZaxyError:
            session = ""
        permission = self.permission_of(request.identity)
        if not permission.allows(session):
            session = ""
        call = ToolCall(self._listed_name(request), status, keys, summary_of(reply.content), session)
        caller = request.identity.name if request.identity else ""
        default = request.session or permission.session
        self._lifecycle.note(call._replace(default_session=default, identity=caller))

    def _listed_name(self, request: Request) -> str:
        """The tool's name as it is listed, in whichever form it was called; of an unknown one, what was called."""
        try:
            return self._find(request).tool.name
        except ZaxyError:
            return request.tool[:128]

    def note_end(self, caller: Caller) -> None:
        """A caller's client has gone."""
        if self._lifecycle is not None:
            self._lifecycle.note(Ended(caller.session))

    def _record(self, call: Noted) -> None:
        """In the session that was named, if there is one: a call that names none by mistake must not make it."""
        if isinstance(call, Ended):
            self.memory.end_session("shutdown", call.session)
            return
        session = call.session if call.session in self.memory.sessions() else call.default_session
        self.memory.record_tool_call(
            call.tool,
            call.status,
            argument_keys=list(call.argument_keys),
            summary=call.summary,
            session=session,
            identity=call.identity,
        )

    # Memory and its end

    @property
    def memory(self) -> Memory:
        """Opened when first needed: importing it costs a fifth of a second."""
        with self._opening:
            if self._memory is None:
                from zaxy.memory import Memory

                self._memory = Memory(self.workspace, patience=PATIENCE, progress=_report, withheld=self._withheld)
            return self._memory

    def begin(self) -> None:
        """Open memory and follow the log in the background; called when the first reply is out."""
        with self._opening:
            begun, self._begun = self._begun, True
        if not begun:
            Thread(target=self._warm_up, name="zaxy-opening", daemon=True).start()

    def _warm_up(self) -> None:
        sleep(AFTER_THE_FIRST_REPLY)
        try:
            import jsonschema  # noqa: F401 - it takes a tenth of a second, which no call should wait for

            self.memory.follow_in_background()
            _ = self.catalog
            gc.freeze()  # modules and what they hold stay: each full collection went through them, for 0.1 s
        except Exception as error:  # a call of a tool says it too; here nobody listens
            _notice(f"memory could not be opened yet: {error}")

    def close(self, within: float, reason: str = "shutdown") -> None:
        """End: write what is waiting, say that the session ended, let go of memory. After `within` seconds, give up.

        Without a reason no end is recorded: the owner records each of its callers' own.
        """
        deadline = monotonic() + within
        closing = Thread(target=self._close, args=(deadline, reason), name="zaxy-closing", daemon=True)
        closing.start()
        closing.join(within)

    def record_the_rest(self, within: float) -> None:
        """Write the record of calls that is waiting, and nothing after it."""
        if self._lifecycle is not None:
            self._lifecycle.flush(within)

    def _close(self, deadline: float, reason: str) -> None:
        if not self._begun and self._memory is None:
            return  # nobody has said anything
        try:
            self.record_the_rest(max(deadline - monotonic(), 0) / 2)
            if self._lifecycle is not None and reason:
                self.memory.end_session(reason=reason)
            self.memory.close()
        except Exception as error:
            _notice(f"the end of the session was not recorded: {error}")


def role_for(served: ToolFunction) -> str:
    """The role that a tool needs of an identity."""
    if served.tool.admin:
        return ADMIN
    return READER if served.tool.read_only else WRITER


def _check_sessions(arguments: Mapping[str, Any]) -> None:
    """Refuse sessions of others before anything is done; a citation of theirs is refused where it is resolved."""
    for name, value in arguments.items():
        if value and (name in ("session_id", "thread") or name.endswith("_session_id")):
            check_access(str(value))


def _report(done: int, total: int) -> None:
    """Report how far following has come to the call that waits for it; nobody watches the background."""
    watching = _progress.get()
    if watching is not None:
        watching(done, total)


def _unwatched(done: int, total: int) -> None:
    """Nobody watches."""


def _notice(message: str) -> None:
    say(f"zaxy: {message}", err=True)


def _defect(tool: str) -> ZaxyError:
    return InternalError(
        f"{tool[:128]} failed unexpectedly",
        "This is a defect of Zaxy or of a plugin: the server's standard error tells more. Please report it.",
    )
