"""`zaxy serve`, which clients start and wait for: it imports nothing of typer, and keeps stdout for the protocol."""

from __future__ import annotations

from zaxy.errors import InvalidRequest, ZaxyError
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

TRANSPORTS = ("stdio", "http", "sse")


class Option(NamedTuple):
    name: str
    value: str
    """What its value is called in the usage; empty for a switch."""
    help: str


OPTIONS = (
    Option("--transport", "NAME", "stdio (default), http, or sse, which is deprecated"),
    Option("--host", "NAME", "http: a loopback address; default: 127.0.0.1"),
    Option("--port", "N", "http: the port; 0 takes a free one; default: 8080"),
    Option("--profile", "NAME", "which tools are listed: core, coordinate, full, compact"),
    Option("--workspace", "FOLDER", "the project's folder"),
    Option("--eventloom-path", "FOLDER", "the folder that holds the log"),
    Option("--json", "", "print an error at the start as JSON"),
)
KINDS = {"": "bool", "N": "int"}
PARAMETERS = tuple(
    {"name": option.name, "type": KINDS.get(option.value, "str"), "required": False} for option in OPTIONS
)
HELP = f"""usage: zaxy serve [OPTIONS]

Serve memory to agents over MCP, until the client goes away or the server is told to stop. On stdio nothing but the
protocol goes to standard output; everything else goes to standard error.

options:
{chr(10).join(f"  {option.name + ' ' + option.value:24}  {option.help}" for option in OPTIONS)}
  -h, --help                show this help"""


def run(arguments: Sequence[str]) -> int:
    if any(word in ("-h", "--help") for word in arguments):
        print(HELP)
        return 0
    given = _read(arguments)
    transport = given.get("--transport", "stdio")
    if transport not in TRANSPORTS:
        raise _mistaken(f"there is no transport {transport!r:.40}", f"Choose one of {', '.join(TRANSPORTS)}.")
    from zaxy.workspace import find_workspace

    workspace = find_workspace(given.get("--workspace"), given.get("--eventloom-path"))
    profile = given.get("--profile", "")
    if transport == "stdio":
        from zaxy.serve.stdio import serve_stdio, serve_through_owner, take_standard_streams

        streams = take_standard_streams()
        from zaxy.owner.owner import needs_owner

        (serve_through_owner if needs_owner(workspace) else serve_stdio)(workspace, profile, *streams)
    else:
        from zaxy.serve.http import serve_http

        serve_http(workspace, profile, transport, given.get("--host", "127.0.0.1"), _port(given.get("--port", "8080")))
    return 0


def _read(arguments: Sequence[str]) -> dict[str, str]:
    known = {option.name: option for option in OPTIONS}
    given: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if name not in known or (equals and not known[name].value):
            raise _mistaken(f"'zaxy serve' does not take {word!r:.60}", "'zaxy serve --help' lists the options.")
        if known[name].value and not equals:
            value = next(words, "")
        if known[name].value and not value:
            raise _mistaken(f"{name} has no value", "'zaxy serve --help' lists the options.")
        given[name] = value
    return given


def _port(text: str) -> int:
    if text.isascii() and text.isdecimal() and int(text) < 65536:
        return int(text)
    raise _mistaken(f"{text!r:.20} is not a port", "Give a number from 0 to 65535; 0 takes a free one.")


def _mistaken(message: str, remediation: str) -> ZaxyError:
    return InvalidRequest(message, remediation)
