"""Connections as they come to a listener. A process that has no descriptors left says so once, waits, and goes on."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Callable
from math import inf

from zaxy.printing import say

OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
BETWEEN_TRIES, AFTER_MAKING_ROOM = 0.25, 0.01
BETWEEN_WORDS = 60.0
"""Seconds. A lack that goes on is said again so often, and not for every connection that has to wait."""


async def accepted(listener: socket.socket, make_room: Callable[[], bool] = bool) -> AsyncIterator[socket.socket]:
    """Each connection that comes, until the listener is closed; who takes it closes it.

    `make_room` is called when there are no descriptors left, and says whether it closes any. asyncio's own loop of this
    kind reports such a lack with a traceback for every place in the backlog, every second.
    """
    listener.setblocking(False)
    loop = asyncio.get_running_loop()
    said = -inf
    while True:
        try:
            connection, _ = await loop.sock_accept(listener)
        except OSError as error:
            if listener.fileno() < 0:
                return
            if error.errno not in OUT_OF_DESCRIPTORS:
                continue  # a client has gone before its turn came
            if loop.time() - said > BETWEEN_WORDS:
                said = loop.time()
                _say(error)
            await asyncio.sleep(AFTER_MAKING_ROOM if make_room() else BETWEEN_TRIES)
        else:
            yield connection


def _say(error: OSError) -> None:
    say(
        f"zaxy: connections have to wait, as no more files can be opened ({error.strerror}): close some, or raise "
        "'ulimit -n'",
        err=True,
    )
