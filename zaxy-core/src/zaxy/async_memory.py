"""Memory for programs with an event loop: every method of `Memory` works in a thread, and the loop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial, wraps
from itertools import islice
from threading import Event as Signal
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, Self, TypeVar, overload

from zaxy.direct_reads import LOOK_AGAIN, start_of_tail
from zaxy.errors import Unavailable, ZaxyError
from zaxy.follow.loop import FOREVER
from zaxy.memory import Memory

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from zaxy.api.models import Event
    from zaxy.model_tools import ModelTools

P = ParamSpec("P")
T = TypeVar("T")
AT_ONCE = 8
"""Calls that work at the same time; more wait their turn."""
READ_TOGETHER = 50


class _Awaited(Generic[P, T]):
    """A method of `Memory`, to be awaited. `to_its_end`: once begun it is finished, also if its task is cancelled."""

    def __init__(self, method: Callable[Concatenate[Memory, P], T], *, to_its_end: bool = False) -> None:
        self.__wrapped__ = method
        self.__doc__ = method.__doc__
        self._to_its_end = to_its_end

    @overload
    def __get__(self, memory: None, owner: type) -> Self: ...

    @overload
    def __get__(self, memory: AsyncMemory, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...

    def __get__(self, memory: AsyncMemory | None, owner: type) -> Self | Callable[P, Coroutine[Any, Any, T]]:
        return self if memory is None else memory._awaited(self.__wrapped__, to_its_end=self._to_its_end)


class _Streamed(Generic[P, T]):
    """A method of `Memory` that goes through many, a few at a time."""

    def __init__(self, method: Callable[Concatenate[Memory, P], Iterator[T]]) -> None:
        self.__wrapped__ = method
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, memory: None, owner: type) -> Self: ...

    @overload
    def __get__(self, memory: AsyncMemory, owner: type) -> Callable[P, AsyncGenerator[T, None]]: ...

    def __get__(self, memory: AsyncMemory | None, owner: type) -> Self | Callable[P, AsyncGenerator[T, None]]:
        return self if memory is None else memory._streamed(self.__wrapped__)


class AsyncMemory:
    """`Memory` with the same methods, which never block the event loop.

    A call that has not begun is never begun once its task is cancelled. A read that has begun is given up, and what
    writes is finished first: when the task ends, nothing of it is still to come.
    """

    def __init__(self, memory: Memory) -> None:
        """`memory` is closed with it."""
        self._memory = memory
        self._session = memory.session
        self._closed = Signal()
        self._workers = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="zaxy-memory")

    @classmethod
    def open(cls, path: str | Path | None = None, *, patience: float = FOREVER) -> Opening:
        """As `Memory.open`, for `async with` or `await`."""
        return Opening(cls, partial(Memory.open, path, patience=patience))

    @property
    def session(self) -> str:
        """The session that is meant where none is named, as the last call found it."""
        return self._session

    async def is_foreign(self) -> bool:
        """Whether it came from elsewhere, and this user has not taken it in: what it says is not believed."""
        return await self._in_thread(lambda: self._memory.is_foreign)

    # Writing

    append = _Awaited(Memory.append, to_its_end=True)
    append_many = _Awaited(Memory.append_many, to_its_end=True)
    after_turn = _Awaited(Memory.after_turn, to_its_end=True)
    feedback = _Awaited(Memory.feedback, to_its_end=True)
    skill = _Awaited(Memory.skill, to_its_end=True)
    synthesis_artifact = _Awaited(Memory.synthesis_artifact, to_its_end=True)
    synthesis_evidence = _Awaited(Memory.synthesis_evidence, to_its_end=True)
    cleanup_subagent = _Awaited(Memory.cleanup_subagent, to_its_end=True)
    record_tool_call = _Awaited(Memory.record_tool_call, to_its_end=True)
    end_session = _Awaited(Memory.end_session, to_its_end=True)
    invalidate = _Awaited(Memory.invalidate, to_its_end=True)
    forget = _Awaited(Memory.forget, to_its_end=True)
    set_ref = _Awaited(Memory.set_ref, to_its_end=True)
    export = _Awaited(Memory.export, to_its_end=True)
    import_bundle = _Awaited(Memory.import_bundle, to_its_end=True)
    import_events = _Awaited(Memory.import_events, to_its_end=True)

    # Reading

    query = _Awaited(Memory.query)
    verbatim = _Awaited(Memory.verbatim)
    checkout = _Awaited(Memory.checkout)
    context = _Awaited(Memory.context)
    capabilities = _Awaited(Memory.capabilities)
    bootstrap = _Awaited(Memory.bootstrap)
    sessions = _Awaited(Memory.sessions)
    head = _Awaited(Memory.head)
    get = _Awaited(Memory.get)
    fitting = _Awaited(Memory.fitting)
    doubts = _Awaited(Memory.doubts)
    resolve = _Awaited(Memory.resolve)
    replay = _Awaited(Memory.replay)
    latest = _Awaited(Memory.latest)
    verify = _Awaited(Memory.verify)
    refs = _Awaited(Memory.refs)
    resolve_ref = _Awaited(Memory.resolve_ref)
    current = _Awaited(Memory.current)
    entities = _Awaited(Memory.entities)
    neighbours = _Awaited(Memory.neighbours)
    export_sink = _Awaited(Memory.export_sink)
    lines = _Streamed(Memory.lines)
    events = _Streamed(Memory.events)

    async def tail(
        self, session: str = "", limit: int = 10, *, include_housekeeping: bool = False
    ) -> AsyncGenerator[Event, None]:
        """The last events, oldest first, and then each that comes. It ends when the memory is closed."""
        start = partial(start_of_tail, self._memory, limit=limit, include_housekeeping=include_housekeeping)
        next_seq = await self._in_thread(lambda: start(session=session or self.session))
        while not self._closed.is_set():
            try:
                page = await self.replay(session, next_seq, include_housekeeping=include_housekeeping)
            except Unavailable:
                if self._closed.is_set():
                    return
                raise
            for event in page:
                yield event
            next_seq = page.next_seq
            if not page:
                await asyncio.sleep(LOOK_AGAIN)

    # Followers

    follow = _Awaited(Memory.follow)
    catch_up_followers = _Awaited(Memory.catch_up_followers)
    followers_status = _Awaited(Memory.followers_status)
    verify_followers = _Awaited(Memory.verify_followers)
    rebuild_followers = _Awaited(Memory.rebuild_followers)
    follow_in_background = _Awaited(Memory.follow_in_background)
    follower_digests = _Awaited(Memory.follower_digests)

    # For a model

    async def tools(
        self, api: Literal["openai", "anthropic"], *, profile: str = "", session: str = ""
    ) -> AsyncModelTools:
        """Memory's tools for a program that runs a model's tool loop itself: their schemas, and answers to its calls.

        A call does what it does over MCP. `session` is meant where the model names none.
        """
        tools = await self._in_thread(lambda: self._memory.tools(api, profile=profile, session=session))
        return AsyncModelTools(tools, self)

    # The end

    async def close(self) -> None:
        """Wait for what is at work, then let go of files and locks. What waits for its turn is refused."""
        self._closed.set()
        closing = asyncio.ensure_future(asyncio.to_thread(self._close))
        await _until_done(closing)
        closing.result()

    def _close(self) -> None:
        self._workers.shutdown()
        self._memory.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # Threads

    def _awaited(
        self, method: Callable[Concatenate[Memory, P], T], *, to_its_end: bool
    ) -> Callable[P, Coroutine[Any, Any, T]]:
        bound: Callable[P, T] = getattr(self._memory, method.__name__)

        @wraps(bound)
        async def call(*arguments: P.args, **named: P.kwargs) -> T:
            return await self._in_thread(partial(bound, *arguments, **named), to_its_end=to_its_end)

        return call

    def _streamed(self, method: Callable[Concatenate[Memory, P], Iterator[T]]) -> Callable[P, AsyncGenerator[T, None]]:
        bound: Callable[P, Iterator[T]] = getattr(self._memory, method.__name__)

        @wraps(bound)
        async def go_through(*arguments: P.args, **named: P.kwargs) -> AsyncGenerator[T, None]:
            iterator = await self._in_thread(partial(bound, *arguments, **named), to_its_end=True)
            error: ZaxyError | None = None
            while error is None:
                found, error = await self._in_thread(partial(_some_of, iterator), to_its_end=True)
                for one in found:
                    yield one
                if not found:
                    break
            if error is not None:
                raise error

        return go_through

    async def _in_thread(self, work: Callable[[], T], *, to_its_end: bool = False) -> T:
        if self._closed.is_set():
            raise _is_closed()
        started = self._workers.submit(copy_context().run, self._unless_closed, work)
        result = asyncio.wrap_future(started)
        if not to_its_end:
            return await result
        try:
            return await asyncio.shield(result)
        except asyncio.CancelledError:
            if not started.cancel():
                await _until_done(result)
            raise

    def _unless_closed(self, work: Callable[[], T]) -> T:
        """What has waited for its turn until the memory was closed is refused."""
        if self._closed.is_set():
            raise _is_closed()
        try:
            return work()
        finally:
            with suppress(ZaxyError):  # what is wrong with its file is said where more depends on it
                self._session = self._memory.session


class Opening:
    """A memory that is about to be opened: `async with` closes it again, and `await` leaves that to the program."""

    def __init__(self, kind: type[AsyncMemory], begin: Callable[[], Memory]) -> None:
        self._kind = kind
        self._begin = begin
        self._opened: AsyncMemory | None = None

    async def _open(self) -> AsyncMemory:
        self._opened = await asyncio.to_thread(lambda: self._kind(self._begin()))
        return self._opened

    def __await__(self) -> Generator[Any, None, AsyncMemory]:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncMemory:
        return await self._open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._opened is not None:
            await self._opened.close()


class AsyncModelTools:
    """As `ModelTools`: what comes back from the model goes to `answer`, which is awaited."""

    def __init__(self, tools: ModelTools, memory: AsyncMemory) -> None:
        self._tools = tools
        self._memory = memory

    @property
    def schemas(self) -> list[Any]:
        """What the API takes as `tools`."""
        return self._tools.schemas

    def __contains__(self, name: object) -> bool:
        """Whether a tool of that name is one of memory's."""
        return name in self._tools

    async def call(self, name: str, arguments: Mapping[str, Any] | str | None = None, *, call_id: str = "") -> Any:
        """The message that answers one call."""
        return await self._memory._in_thread(
            lambda: self._tools.call(name, arguments, call_id=call_id), to_its_end=True
        )

    async def answer(self, turn: object) -> list[Any]:
        """The messages that answer all calls of a model's turn; none where it made no call."""
        return await self._memory._in_thread(lambda: self._tools.answer(turn), to_its_end=True)


def _some_of(iterator: Iterator[T]) -> tuple[list[T], ZaxyError | None]:
    """The next few, and the error that came behind them."""
    found: list[T] = []
    try:
        for one in islice(iterator, READ_TOGETHER):
            found.append(one)
    except ZaxyError as error:
        return found, error
    return found, None


async def _until_done(work: asyncio.Future[T]) -> None:
    """Wait until it has ended, also if this task is cancelled meanwhile: that counts afterwards."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


def _is_closed() -> ZaxyError:
    return Unavailable("this memory is closed", "Open it again, with AsyncMemory.open().")
