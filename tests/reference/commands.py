from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from zaxy.api import JSON, PLACE, Argument, CommandCall, current_call, hot_command, say
from zaxy_testkit.checks.commands import CommandCase
from zaxy_testkit.templates.commands import Commands

RIGHT = Commands


def case(make: Callable[..., Any], scratch: Path) -> CommandCase:
    return CommandCase(make, calls={"acme-notes": ("--limit", "5")})


class WithoutRun:
    def __init__(self, context: object) -> None:
        pass


class Fails(Commands):
    def run(self, call: CommandCall) -> int:
        return super().run(call) or 1


class Silent(Commands):
    def run(self, call: CommandCall) -> int:
        return 0 if "--help" in call.arguments else super().run(call)


class Lenient(Commands):
    def run(self, call: CommandCall) -> int:
        call.say("working")
        return 0


class Chatty(Commands):
    def run(self, call: CommandCall) -> int:
        if "--help" not in call.arguments:
            call.say("one moment")
        return super().run(call)


WRONG = {
    "it_has_the_methods_of_its_protocol": WithoutRun,
    "its_example_calls_succeed": Fails,
    "every_command_explains_itself": Silent,
    "an_unknown_option_is_wrong_usage": Lenient,
    "json_is_json": Chatty,
}


@hot_command(Argument("What to note."), *PLACE, JSON)
def hot(text: str, *, workspace: str | None = None, eventloom_path: str | None = None, as_json: bool = False) -> None:
    """Note a text."""
    call = current_call()
    place = {"workspace": workspace, "eventloom_path": eventloom_path}
    reply = call.append("note.taken", {"text": text}, session_id="kitchen", **place)
    record = call.open_log(**place).record(reply["citation"])
    say(json.dumps(record) if as_json else record["payload"]["text"])


def case_of_hot(scratch: Path) -> CommandCase:
    return CommandCase(hot, calls={"acme note": ("Lunch is at noon.",)})
