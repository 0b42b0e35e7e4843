"""A receiver on loopback that answers as a script says: a real socket, with every way to misbehave."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

Script = Callable[["Receiver", socket.socket], None]


@dataclass(frozen=True)
class Request:
    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    scripts: tuple[Script, ...]
    """One for each connection; the last is used again for those after it."""
    tls: ssl.SSLContext | None = None
    requests: list[Request] = field(default_factory=list)
    """Those that arrived whole."""
    connections: int = 0
    done: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._listening = socket.socket()
        self._listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 15)
        self._listening.bind(("127.0.0.1", 0))
        self._listening.listen(16)
        self.port = self._listening.getsockname()[1]
        self.url = f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/hook"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                link, _ = self._listening.accept()
            except OSError:
                return
            script = self.scripts[min(self.connections, len(self.scripts) - 1)]
            self.connections += 1
            threading.Thread(target=self._serve, args=(link, script), daemon=True).start()

    def _serve(self, link: socket.socket, script: Script) -> None:
        link.settimeout(60)
        with contextlib.suppress(OSError), contextlib.ExitStack() as opened:
            opened.enter_context(link)
            if self.tls is not None:
                link = opened.enter_context(self.tls.wrap_socket(link, server_side=True))
            script(self, link)

    def close(self) -> None:
        self.done.set()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


@contextlib.contextmanager
def receiving(*scripts: Script, tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    receiver = Receiver(scripts or (says(200),), tls)
    try:
        yield receiver
    finally:
        receiver.close()


def read_head(link: socket.socket) -> tuple[str, dict[str, str], bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = link.recv(1 << 16)
        if not chunk:
            raise ConnectionError("it ended before the headers did")
        data += chunk
    head, _, rest = data.partition(b"\r\n\r\n")
    line, *fields = head.decode("ascii").split("\r\n")
    return line, {name.lower(): value for name, value in (one.split(": ", 1) for one in fields)}, rest


def read_request(receiver: Receiver, link: socket.socket) -> Request:
    line, headers, body = read_head(link)
    pieces = [body]
    missing = int(headers["content-length"]) - len(body)
    while missing > 0:
        chunk = link.recv(1 << 16)
        if not chunk:
            raise ConnectionError("it ended before the body did")
        pieces.append(chunk)
        missing -= len(chunk)
    request = Request(line, headers, b"".join(pieces))
    receiver.requests.append(request)
    return request


def reply(status: int, body: bytes = b"", **headers: str) -> bytes:
    fields = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} Status\r\n{fields}Content-Length: {len(body)}\r\n\r\n".encode("latin-1") + body


def says(status: int, body: bytes = b"", **headers: str) -> Script:
    return writes(reply(status, body, **headers))


def writes(answer: bytes) -> Script:
    def script(receiver: Receiver, link: socket.socket) -> None:
        read_request(receiver, link)
        link.sendall(answer)

    return script


def says_after_the_head(status: int, body: bytes = b"") -> Script:
    """Answers and hangs up without reading the body."""

    def script(receiver: Receiver, link: socket.socket) -> None:
        read_head(link)
        link.sendall(reply(status, body))

    return script


def is_silent(receiver: Receiver, link: socket.socket) -> None:
    read_request(receiver, link)
    receiver.done.wait(60)


def never_reads(receiver: Receiver, link: socket.socket) -> None:
    receiver.done.wait(60)


def reads_slowly(receiver: Receiver, link: socket.socket) -> None:
    while link.recv(512) and not receiver.done.wait(0.02):
        pass


def drips(beginning: bytes) -> Script:
    def script(receiver: Receiver, link: socket.socket) -> None:
        read_request(receiver, link)
        link.sendall(beginning)
        while not receiver.done.wait(0.05):
            link.sendall(b"x")

    return script


def floods(status: int) -> Script:
    def script(receiver: Receiver, link: socket.socket) -> None:
        read_request(receiver, link)
        link.sendall(f"HTTP/1.1 {status} Status\r\n\r\n".encode())
        while not receiver.done.is_set():
            link.sendall(b"flood " * 10000)

    return script


def resets(receiver: Receiver, link: socket.socket) -> None:
    link.recv(1024)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
