"""`zaxy serve`, which clients start and wait for: it imports nothing of typer, and keeps stdout for the protocol."""

from __future__ import annotations

from zaxy.commands.options import CommandLine, Option, help_rows, parameters, say_help
from zaxy.errors import InvalidRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

TRANSPORTS = ("stdio", "http", "sse")
OPTIONS = (
    Option("--transport", "NAME", "stdio (default), http, or sse, which is deprecated"),
    Option("--host", "NAME", "http: a loopback address; default: 127.0.0.1"),
    Option("--port", "N", "http: the port; 0 takes a free one; default: 8080"),
    Option("--profile", "NAME", "which tools are listed: core, coordinate, full, compact"),
    Option("--workspace", "FOLDER", "the project's folder"),
    Option("--eventloom-path", "FOLDER", "the folder that holds the log"),
    Option("--json", "", "print an error at the start as JSON"),
)
PARAMETERS = parameters(OPTIONS)
HELP = f"""Usage: zaxy serve [OPTIONS]

Serve memory to agents over MCP, until the client goes away or the server is asked to stop. On stdio nothing but the
protocol goes to standard output; everything else goes to standard error.

Options:
{help_rows(OPTIONS)}"""


def run(arguments: Sequence[str]) -> int:
    line = CommandLine(OPTIONS, arguments)
    if line.help:
        say_help(HELP)
        return 0
    _refuse_mistakes(line)
    given = line.values
    transport = given.get("--transport", "stdio")
    if transport not in TRANSPORTS:
        raise InvalidRequest(f"there is no transport {transport!r:.40}", f"Choose one of {', '.join(TRANSPORTS)}.")
    from zaxy.observe.server_watcher import keep_watching
    from zaxy.workspace import find_workspace

    port = _port(given.get("--port", "8080"))
    workspace = find_workspace(given.get("--workspace"), given.get("--eventloom-path"))
    profile = given.get("--profile", "")
    keep_watching(workspace)
    if transport == "stdio":
        from zaxy.serve.stdio import serve_stdio, serve_through_owner, take_standard_streams

        streams = take_standard_streams()
        from zaxy.owner.owner import needs_owner

        (serve_through_owner if needs_owner(workspace) else serve_stdio)(workspace, profile, *streams)
    else:
        from zaxy.serve.http import serve_http

        host = given.get("--host", "127.0.0.1")
        serve_http(workspace, profile, transport=transport, host=host, port=port)
    return 0


def _refuse_mistakes(line: CommandLine) -> None:
    advice = "'zaxy serve --help' lists the options."
    if line.others:
        raise InvalidRequest(f"'zaxy serve' does not take {line.others[0]!r:.60}", advice)
    for option in OPTIONS:
        if option.value and line.values.get(option.name) == "":
            raise InvalidRequest(f"{option.name} has no value", advice)


def _port(text: str) -> int:
    if text.isascii() and text.isdecimal() and int(text) < 65536:
        return int(text)
    raise InvalidRequest(f"{text!r:.20} is not a port", "Give a number from 0 to 65535; 0 takes a free one.")
