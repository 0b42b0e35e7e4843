"""Edits the MCP configuration of the client Acme: `.acme/mcp.ini`, with one section `[server.NAME]` for each server.

The file belongs to its user, so nothing is parsed and written out again: lines are put in or taken out, and every
other byte stays, comments and odd spacing included.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from zaxy.api import Conflict, InvalidRequest, ProviderContext, ServerEntry

LINE = re.compile(r"\s*([#;].*|\[[^\]]+\]\s*|[^=\[]+=.*)?")
"""A comment, the head of a section, a setting, or nothing."""


class Writer:
    scopes = ("project", "user")

    def __init__(self, context: ProviderContext) -> None:
        """Keeps nothing: texts come in and go out."""

    def target(self, scope: str, workspace: Path, home: Path, environ: Mapping[str, str]) -> Path:
        folders = {"project": workspace, "user": home}
        if scope not in folders:
            raise InvalidRequest(f"acme has no scope {scope!r}", "Use project or user.")
        return folders[scope] / ".acme" / "mcp.ini"

    def render(self, server: ServerEntry) -> str:
        return "\n".join([*_section(server), ""])

    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        line_end = _line_end(text)
        lines = text.split(line_end)
        found = _find(lines, server.name)
        if found and not force:
            raise Conflict(f"mcp.ini already has [server.{server.name}]", "Use --force to replace it.")
        if found:
            lines[found] = _section(server)
        else:
            # A text that ends in a line end is split into its lines and an empty rest, which stays the last.
            end = len(lines) if lines[-1] else len(lines) - 1
            lines[end:end] = ["", *_section(server)] if end else _section(server)
        return line_end.join(lines)

    def remove(self, text: str, name: str) -> str:
        line_end = _line_end(text)
        lines = text.split(line_end)
        found = _find(lines, name)
        if not found:
            return text
        blank_before = found.start > 0 and not lines[found.start - 1].strip()
        del lines[found.start - blank_before : found.stop]
        return line_end.join(lines)


def _section(server: ServerEntry) -> list[str]:
    settings = {"url": server.url} if server.url else {"command": server.command, "args": shlex.join(server.args)}
    settings |= {f"env.{name}": value for name, value in server.env.items()}
    settings |= {f"header.{name}": value for name, value in server.headers.items()}
    settings["startup_timeout_s"] = str(server.startup_timeout_s)
    section = [f"[server.{server.name}]", *(f"{name} = {value}" for name, value in settings.items())]
    if any("\n" in line or "\r" in line for line in section):
        raise InvalidRequest("mcp.ini cannot hold a value of several lines", "Put it into one line.")
    return section


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _find(lines: list[str], name: str) -> slice | None:
    """The lines of a server's section up to its last setting: comments after that belong to what follows."""
    for number, line in enumerate(lines, start=1):
        if not LINE.fullmatch(line):
            raise InvalidRequest(f"mcp.ini is malformed in line {number}", "Mend the file, or move it.")
    heads = [number for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    start = next((head for head in heads if lines[head].strip() == f"[server.{name}]"), None)
    if start is None:
        return None
    stop = min((head for head in heads if head > start), default=len(lines))
    while lines[stop - 1].strip() == "" or lines[stop - 1].lstrip().startswith(("#", ";")):
        stop -= 1
    return slice(start, stop)
