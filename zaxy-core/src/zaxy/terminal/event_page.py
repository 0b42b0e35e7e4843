"""One event of the log as a person reads it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from zaxy.eventloom.citation import Citation
from zaxy.extract.texts import readable_text
from zaxy.terminal.screen import BOLD, DIM, Terminal, plain, wrapped

ERASED = "(erased: what it said is gone for good; the chain still verifies)"


def event_page(record: Mapping[str, Any], width: int, colour: bool) -> str:
    """`record` is the event as the log holds it."""
    terminal = Terminal(width, colour)
    rows = dict(_rows(record))
    across = max(map(len, rows)) + 2
    lines = [terminal.painted(plain(f"{record['type']} by {record['actor']}"), BOLD)]
    for name, value in rows.items():
        lines += wrapped(plain(value), terminal.width, name.ljust(across), " " * across)
    return "\n".join([*lines, "", *_payload(record.get("payload"), terminal)])


def _rows(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    time = record["time"]
    yield "time", f"{time[:10]} {time[11:19]} UTC"
    yield "session", record["thread"]
    yield "event", f"{record['seq']} ({record['id']})"
    yield "hash", record["hash"]
    yield "sensitivity", record["sensitivity"]
    if "caused_by" in record:
        yield "caused by", record["caused_by"]
    if "redacted" in record:
        yield "redacted", ", ".join(f"{one['kind']} at {one['pointer'] or '/'}" for one in record["redacted"])
    yield "citation", Citation(record["thread"], record["seq"], record["hash"]).short


def _payload(payload: Mapping[str, Any] | None, terminal: Terminal) -> list[str]:
    """What it says as people read it; where values are nested, as it was recorded too."""
    if payload is None:
        return [ERASED]
    lines = list[str]()
    for line in readable_text(payload).splitlines():
        lines += wrapped(plain(line), terminal.width, "  ", "    ")
    if not any(isinstance(value, dict | list) for value in payload.values()):
        return lines or ["  (an empty payload)"]
    recorded = json.dumps(payload, indent=2, ensure_ascii=False).splitlines()
    return [*lines, "", *(terminal.painted(_printable(line), DIM) for line in recorded)]


def _printable(line: str) -> str:
    """A line of JSON, still JSON, in which nothing steers the terminal."""
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in line)
