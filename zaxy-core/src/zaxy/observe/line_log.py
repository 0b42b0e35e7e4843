"""A log for people, line by line: one that is full is moved aside, and a new one begins."""

from __future__ import annotations

from zaxy.eventloom.disk import DISK


def add_line(path: str, line: bytes, max_bytes: int) -> None:
    fd = DISK.open(path, create=True)
    try:
        if DISK.size(fd) + len(line) > max_bytes:
            DISK.close(fd)
            DISK.replace(path, f"{path}.1")
            fd = DISK.open(path, create=True)
        DISK.write(fd, line)
    finally:
        DISK.close(fd)
