"""The `zaxy serve` processes of this user, with who started them and where; only Linux tells this to everybody."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NamedTuple

PROCESSES = "/proc"
INIT = 1
"""Takes over processes whose parent has gone, so it is no client."""


class RunningServer(NamedTuple):
    pid: int
    parent: int
    folder: str


def running_servers() -> list[RunningServer] | None:
    """None where the system does not tell."""
    if not sys.platform.startswith("linux") or not os.path.isdir(f"{PROCESSES}/self"):
        return None
    found = (_server(int(name)) for name in os.listdir(PROCESSES) if name.isdecimal())
    return sorted(server for server in found if server is not None)


def doubled(servers: Sequence[RunningServer], root: str) -> dict[int, list[int]]:
    """Clients that run more than one server in a project: the client's pid, and those of its servers."""
    by_client: dict[int, list[int]] = {}
    for server in servers:
        if server.parent != INIT and (server.folder == root or server.folder.startswith(root + os.sep)):
            by_client.setdefault(server.parent, []).append(server.pid)
    return {client: pids for client, pids in by_client.items() if len(pids) > 1}


def _server(pid: int) -> RunningServer | None:
    folder = f"{PROCESSES}/{pid}"
    try:
        if os.stat(folder).st_uid != os.getuid():
            return None
        with open(f"{folder}/cmdline", "rb") as file:
            words = [os.fsdecode(word) for word in file.read().split(b"\0")]
        if not _serves(words):
            return None
        with open(f"{folder}/stat", encoding="utf-8", errors="replace") as file:
            parent = int(file.read().rpartition(")")[2].split()[1])
        return RunningServer(pid, parent, os.readlink(f"{folder}/cwd"))
    except (OSError, ValueError, IndexError):
        return None  # it has ended meanwhile


def _serves(words: Sequence[str]) -> bool:
    """Whether the words of a process are `zaxy serve`, however Python was started."""
    if "serve" not in words[1:5]:
        return False
    before = words[words.index("serve", 1) - 1].replace("\\", "/")
    return os.path.basename(before) == "zaxy" or before.endswith("/zaxy/__main__.py")
