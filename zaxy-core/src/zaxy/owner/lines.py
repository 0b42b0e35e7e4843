"""Lines of bytes over descriptors that never block: a connection to the owner, and what a client sends."""

from __future__ import annotations

from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

READ_AT_ONCE = 64 << 10
MAX_LINE_CHARS = 4 << 20
"""Bytes of a client's line that are kept together; the server takes half as many."""


class Lost(Exception):
    """The other end has closed the connection, or is no more."""


class Connection:
    """Lines to and from the owner."""

    def __init__(self, connection: socket.socket, first: bytes) -> None:
        self._socket = connection
        self._to_send = bytearray(first)
        self._received = bytearray()
        self._finishing = False

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def unsent(self) -> int:
        return len(self._to_send)

    def send(self, data: bytes) -> None:
        """Keep it until it can be sent."""
        self._to_send += data

    def finish(self) -> None:
        """When all is sent, tell the other end that no more will come; it still answers."""
        self._finishing = True
        self._tell_end()

    def exchange(self) -> list[bytes]:
        """Send and receive what can be at once; the whole lines that came. Raises `Lost` when no more will come."""
        try:
            if self._to_send:
                del self._to_send[: self._socket.send(self._to_send)]
            self._tell_end()
        except BlockingIOError:
            pass
        except OSError:
            pass  # what was sent to us before is still read
        try:
            data = self._socket.recv(READ_AT_ONCE)
        except BlockingIOError:
            return []
        except OSError:
            raise Lost from None
        if not data:
            raise Lost
        self._received += data
        if b"\n" not in data:
            return []
        *lines, rest = self._received.split(b"\n")
        self._received = rest
        return [bytes(line) + b"\n" for line in lines]

    def _tell_end(self) -> None:
        if self._finishing and not self._to_send:
            import socket

            self._finishing = False
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._socket.close()


class ClientLines:
    """Splits what a client sends. A line that is too long to be kept is handed on in parts, all to one connection."""

    def __init__(self) -> None:
        self._kept = b""
        self._in_parts = False
        self._to: object = None
        """Who got the beginning of the line that is handed on in parts."""

    def split(self, data: bytes, to: object) -> Iterator[tuple[bytes, bool]]:
        """Lines, and parts of one (with False); `to` is where parts would go now."""
        if self._in_parts:
            line, newline, data = data.partition(b"\n")
            if to is self._to:
                yield line + newline, False
            self._in_parts = not newline
        *lines, self._kept = (self._kept + data).split(b"\n")
        for line in lines:
            yield line + b"\n", True
        if len(self._kept) > MAX_LINE_CHARS:
            yield self._kept, False
            self._kept, self._in_parts, self._to = b"", True, to
