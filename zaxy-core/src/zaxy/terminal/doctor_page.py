"""What the doctor says: a line for each row, and below it the command that fixes what is wrong."""

from __future__ import annotations

from collections.abc import Sequence

from zaxy.api.health import ERROR, OK, WARNING, Finding
from zaxy.printing import ROOM_FOR_TWO_COLUMNS
from zaxy.terminal.screen import BOLD, DIM, GREEN, RED, YELLOW, Terminal, plain, wrapped

COLOURS = {OK: GREEN, WARNING: YELLOW, ERROR: RED}
WIDTH = 25


def row_lines(row: Finding, terminal: Terminal) -> list[str]:
    status = terminal.painted(row.status.ljust(len(WARNING)), COLOURS[row.status])
    name = row.name.ljust(WIDTH) if terminal.width >= ROOM_FOR_TWO_COLUMNS else row.name
    indent = " " * (len(WARNING) + 2)
    first, *more = wrapped(plain(row.message), terminal.width, f"{indent}{name}  ", indent)
    lines = [f"{status}{first[len(WARNING) :]}", *more]
    return [*lines, terminal.painted(f"{indent}{plain(row.action)}", DIM)] if row.action else lines


def closing_line(rows: Sequence[Finding], terminal: Terminal) -> str:
    errors, warnings = (sum(row.status == status for row in rows) for status in (ERROR, WARNING))
    if errors:
        return terminal.painted(f"{errors} of {len(rows)} are wrong, and {warnings} warn.", BOLD, RED)
    if warnings:
        return terminal.painted(f"Memory works; {warnings} of {len(rows)} warn.", BOLD, YELLOW)
    return terminal.painted("Memory works: nothing is wrong.", BOLD, GREEN)
