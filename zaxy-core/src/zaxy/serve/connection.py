"""One connection: newline-delimited JSON over any pair of byte streams, as on stdio."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCRequest, JSONRPCResponse

from zaxy.errors import ZaxyError
from zaxy.owner.handshake import Caller
from zaxy.serve.frames import HEAD, MAX_FRAME, TAIL, Unreadable, read_frame, too_large
from zaxy.serve.limits import Unanswered

READ_AT_ONCE = 64 << 10
SECONDS_TO_FINISH = 0.8
"""How long a client that has closed its end is still answered what it had asked."""

Incoming = MemoryObjectSendStream[SessionMessage | Exception]


async def serve_streams(
    server: Server[Any], read: ByteReceiveStream, write: ByteSendStream, caller: Caller | None = None
) -> None:
    """Serve one client over a pair of byte streams until it closes its end or the streams break.

    The frames are those of stdio: one JSON-RPC message a line, in UTF-8, both eras of the protocol. `server` comes
    from `make_server` and is shared by all connections of a process. A frame that is too large or no JSON is answered
    with an error, and the connection goes on. A client that asks without reading the answers is not read on until it
    does. What was asked before the client closed its end is still answered, for
    at most `SECONDS_TO_FINISH`. The streams are closed at the end. `caller` is who the calls are made for, if not for
    this process's own client.
    """
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    client = _Client(read, write, to_server=to_server, answers=to_client.clone(), caller=caller)
    async with read, write, anyio.create_task_group() as tasks:
        tasks.start_soon(client.read_all)
        tasks.start_soon(client.write_all, from_server, tasks.cancel_scope)
        await server.run(from_client, to_client, server.create_initialization_options())
        client.leave()


class _Client:
    def __init__(
        self,
        read: ByteReceiveStream,
        write: ByteSendStream,
        *,
        to_server: Incoming,
        answers: MemoryObjectSendStream[SessionMessage],
        caller: Caller | None,
    ) -> None:
        self._read = read
        self._write = write
        self._to_server = to_server
        self._answers = answers
        """For what is answered here, because the server cannot read it."""
        self._caller = caller
        self._unanswered = Unanswered()
        self._meta: dict[str, Any] | None = None

    def leave(self) -> None:
        """No more is answered from here: the writer ends when the server's own end of the stream is closed too."""
        self._answers.close()

    async def read_all(self) -> None:
        async with self._to_server:
            async for frame in _frames(self._read):
                message = read_frame(frame) if isinstance(frame, bytes) else frame
                if isinstance(message, Unreadable):
                    await self._refuse(message)
                    continue
                if isinstance(message, JSONRPCRequest):
                    self._note(message)
                await self._to_server.send(SessionMessage(message, self._metadata(self._caller)))
                await self._unanswered.room()
            with anyio.move_on_after(SECONDS_TO_FINISH):
                await self._unanswered.none_left()

    def _metadata(self, context: Caller | ZaxyError | None) -> ServerMessageMetadata:
        return ServerMessageMetadata(request_context=context, on_request_unanswered=self._leave_unanswered)

    async def _leave_unanswered(self) -> None:
        """The client has cancelled a request, so that no answer to it is written."""
        self._unanswered.end()

    def _note(self, request: JSONRPCRequest) -> None:
        self._unanswered.begin()
        meta = (request.params or {}).get("_meta")
        if isinstance(meta, dict):
            self._meta = {key: value for key, value in meta.items() if key != "progressToken"}

    async def _refuse(self, frame: Unreadable) -> None:
        """A call gets its error as a result, through the server; for other frames there is only the protocol's own."""
        call = frame.as_call(self._meta)
        self._unanswered.begin()
        if call is not None:
            await self._to_server.send(SessionMessage(call, self._metadata(frame.error)))
            await self._unanswered.room()
            return
        code = PARSE_ERROR if frame.id is None else INVALID_REQUEST
        error = ErrorData(code=code, message=frame.error.message, data=frame.error.as_dict())
        await self._answers.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=frame.id, error=error)))

    async def write_all(
        self, from_server: MemoryObjectReceiveStream[SessionMessage], connection: anyio.CancelScope
    ) -> None:
        try:
            async with from_server:
                async for item in from_server:
                    message = item.message
                    text = message.model_dump_json(by_alias=True, exclude_unset=True)
                    await self._write.send(text.encode() + b"\n")
                    if isinstance(message, JSONRPCResponse | JSONRPCError):
                        self._unanswered.end()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            connection.cancel()  # the client reads no more, so there is nobody to serve


async def _frames(read: ByteReceiveStream) -> AsyncIterator[bytes | Unreadable]:
    """The lines of a stream. Of one that is too large only the two ends are kept, and a line without end is none."""
    kept = bytearray()
    tail = b""
    large = False
    while True:
        try:
            data = await read.receive(READ_AT_ONCE)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return
        while data:
            line, newline, data = data.partition(b"\n")
            if large:
                tail = (tail + line)[-TAIL:]
            else:
                kept += line
                if len(kept) > MAX_FRAME:
                    large, tail = True, bytes(kept[-TAIL:])
                    del kept[HEAD:]
            if newline:
                if large:
                    yield too_large(bytes(kept), tail)
                elif kept.strip():
                    yield bytes(kept)
                kept, tail, large = bytearray(), b"", False
