"""One request over one socket. The bundle is sent as it is read, and no step waits longer than the deadline."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import http.client
import io
import os
import re
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple

from zaxy.api import Conflict, InvalidRequest, Parcel, Unavailable, ZaxyError
from zaxy_webhook.addresses import Endpoint
from zaxy_webhook.deadline import Deadline
from zaxy_webhook.destination import Destination

CHUNK_BYTES = 1 << 14  # small, so that a slow link still shows that it moves
MAX_REPLY_BYTES = 1 << 16
REPLY_SECONDS = 5.0  # the status has been read by then; the rest is only for showing
LATE_REPLY_SECONDS = 2.0
MAX_INTERIM_REPLIES = 10
HEADER = re.compile(r"[ -~]*")


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    text: str
    whole: bool
    """Whether all of the bundle had been sent when it came."""


def open_parcel(parcel: Parcel) -> BinaryIO:
    try:
        file = open(parcel.path, "rb")  # noqa: SIM115 - the caller closes it
    except OSError as error:
        raise Unavailable(f"the bundle cannot be read: {error.strerror}", "Build it again, and push that.") from None
    if os.fstat(file.fileno()).st_size != parcel.size:
        file.close()
        raise _changed()
    return file


def post(
    destination: Destination,
    endpoints: Sequence[Endpoint],
    *,
    tls: ssl.SSLContext | None,
    headers: Mapping[str, str],
    body: BinaryIO,
    parcel: Parcel,
    deadline: Deadline,
) -> Reply:
    """Post the bundle to one of the endpoints, and read the reply to it."""
    head = _head(destination, headers)
    with contextlib.ExitStack() as opened:
        link = opened.enter_context(_connected(endpoints, deadline))
        if tls is not None:
            link.settimeout(deadline.step())
            link = opened.enter_context(tls.wrap_socket(link, server_hostname=destination.host))
        try:
            for chunk in _chunks(head, body, parcel):
                _send(link, chunk, deadline)
        except OSError as error:
            # A receiver that refuses a bundle often answers early, and hangs up.
            try:
                return _reply(link, deadline.within(LATE_REPLY_SECONDS), whole=False)
            except Exception:
                raise error from None
        return _reply(link, deadline, whole=True)


def _head(destination: Destination, headers: Mapping[str, str]) -> bytes:
    for name, value in headers.items():
        if not HEADER.fullmatch(value):
            raise InvalidRequest(f"{name} has characters that no header may have", "Change its value.")
    lines = [f"POST {destination.target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("ascii")


def _connected(endpoints: Sequence[Endpoint], deadline: Deadline) -> socket.socket:
    """The first connection that succeeds. Each endpoint but the last leaves time for those after it."""
    trouble: OSError = ConnectionError("there is no address to connect to")
    for turn, endpoint in enumerate(endpoints):
        link = socket.socket(endpoint.family, socket.SOCK_STREAM)
        try:
            link.settimeout(deadline.step() / (len(endpoints) - turn))
            link.connect(endpoint.place)
            return link
        except OSError as error:
            link.close()
            trouble = error
        except BaseException:
            link.close()
            raise
    raise trouble


def _chunks(head: bytes, body: BinaryIO, parcel: Parcel) -> Iterator[bytes]:
    """The request in chunks. The last one is held back until the hash of the bundle was checked."""
    digest = hashlib.sha256()
    left = parcel.size
    waiting = head
    while left:
        chunk = body.read(min(CHUNK_BYTES, left))
        if not chunk:
            raise _changed()
        if left < parcel.size:
            yield waiting
            waiting = chunk
        else:
            waiting += chunk
        digest.update(chunk)
        left -= len(chunk)
    if body.read(1) or digest.hexdigest() != parcel.sha256.lower():
        raise _changed()
    yield waiting


def _send(link: socket.socket, data: bytes, deadline: Deadline) -> None:
    rest = memoryview(data)
    while rest:
        link.settimeout(deadline.step())
        rest = rest[link.send(rest) :]


class _Incoming(io.RawIOBase):
    """The receiving side of a socket. It checks the deadline before each read."""

    def __init__(self, link: socket.socket, deadline: Deadline) -> None:
        self._link = link
        self.deadline = deadline
        self.in_head = True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self._link.settimeout(self.deadline.step())
        size = self._link.recv_into(buffer)
        if not size and self.in_head:  # http.client would take the end for the end of the headers
            raise ConnectionResetError(errno.ECONNRESET, "it hung up before it had answered")
        return size


class _Source(io.BufferedReader):
    """Serves `http.client` as a socket and as its file, so that several replies can be read in turn."""

    def makefile(self, mode: str) -> BinaryIO:
        return self

    def close(self) -> None:
        """Each reply closes it at its end. The socket stays open until its owner closes it."""


def _reply(link: socket.socket, deadline: Deadline, whole: bool) -> Reply:
    incoming = _Incoming(link, deadline)
    source = _Source(incoming)
    for _ in range(MAX_INTERIM_REPLIES):
        reply = http.client.HTTPResponse(source, method="POST")  # type: ignore[arg-type]
        reply.begin()
        if reply.status == 101 or not 100 <= reply.status < 200:
            break
    headers = {name.lower(): value for name, value in reversed(reply.getheaders())}  # of two, the first counts
    incoming.in_head = False
    incoming.deadline = deadline.within(REPLY_SECONDS)
    text = bytearray()
    with contextlib.suppress(Exception):  # a part that is missing is only not shown
        while len(text) < MAX_REPLY_BYTES and (chunk := reply.read1(MAX_REPLY_BYTES - len(text))):
            text += chunk
    return Reply(reply.status, headers, text.decode("utf-8", "replace"), whole)


def _changed() -> ZaxyError:
    return Conflict(
        "the bundle's file was changed after it was finished, so it was not delivered",
        "Build the bundle again, and push that.",
    )
