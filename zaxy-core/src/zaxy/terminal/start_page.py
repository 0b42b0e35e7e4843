"""What a session gets at its start, as a person reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zaxy.terminal.checkout_page import command_line
from zaxy.terminal.screen import BOLD, YELLOW, Terminal, plain, wrapped

Reply = Mapping[str, Any]


def bootstrap_page(reply: Reply, width: int, colour: bool) -> str:
    """`reply` is the start-up packet that every surface gives."""
    terminal = Terminal(width, colour)
    lines = [*_standing(reply["capabilities"], terminal), "", terminal.painted("What to trust", BOLD)]
    for rule in reply["trust_policy"]:
        lines += wrapped(rule, terminal.width, "  ", "    ")
    if "reminder" in reply:
        lines += ["", *wrapped(plain(reply["reminder"]), terminal.width)]
    return "\n".join([*lines, "", *_first_call(reply["recommended_next"], terminal)])


def capabilities_page(reply: Reply, width: int, colour: bool) -> str:
    """`reply` is the manifest that every surface gives."""
    terminal = Terminal(width, colour)
    lines = [*_standing(reply, terminal), "", terminal.painted("Tools that an agent has", BOLD)]
    across = max(map(len, reply["tools"])) + 4
    for name, when in reply["tools"].items():
        lines += wrapped(when, terminal.width, f"  {name}".ljust(across), " " * across)
    lines += ["", *_first_call(reply["next"], terminal)]
    return "\n".join(lines)


def _standing(manifest: Reply, terminal: Terminal) -> list[str]:
    """Which session it is, how its log stands, and what is captured."""
    log, capture = manifest["eventloom"], manifest["capture"]
    captured = capture["status"] + (f": '{capture['action']}'" if "action" in capture else "")
    standing = f"{manifest['session_id']}: log {log['status']}, {log['events']} events; {captured}."
    lines = [terminal.painted(line, BOLD) for line in wrapped(plain(standing), terminal.width)]
    lines += wrapped(manifest["what"], terminal.width, "  ")
    for said in manifest["warnings"]:
        lines += [terminal.painted(line, YELLOW) for line in wrapped(f"warning: {plain(said)}", terminal.width, "  ")]
    return lines


def _first_call(call: Reply, terminal: Terminal) -> list[str]:
    asked = call["arguments"]
    words = ("zaxy", "checkout", plain(asked["query"]), "--session-id", asked["session_id"])
    return [terminal.painted("Next", BOLD), f"    {command_line(*words)}"]
