"""`zaxy hook-event`, which clients run at every turn: quick, silent, and never a reason for a client to stop.

Some clients block on exit code 2, others read what is printed as their instructions, and all of them wait. So it exits
with 0 and prints nothing whatever happens; what went wrong stands in the workspace's hook error log.
"""

from __future__ import annotations

from zaxy.commands.options import CommandLine, Option, help_rows, parameters, say_help
from zaxy.errors import InvalidRequest, ZaxyError
from zaxy.observe.hook_command import HookCall
from zaxy.observe.hook_events import TRIGGERS, is_trigger
from zaxy.printing import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

OPTIONS = (
    Option("--eventloom-path", "PATH", "the folder that holds the log"),
    Option("--workspace", "PATH", "the project's folder; kept, and used to find the log"),
    Option("--session-id", "ID", "the session; default: the workspace's own"),
    Option("--source", "NAME", "the client that is observed, by its name; default: unknown"),
    Option("--transcript-path", "PATH", "the client's own transcript"),
    Option("--turn-count", "N", "how many turns the client has had"),
    Option("--summary", "TEXT", "what was reached (moments and file-edit)"),
    Option("--reason", "TEXT", "why now: manual, interval, precompact, shutdown (moments)"),
    Option("--prompt", "TEXT", "user-prompt-submit: only whether it asks for the status is kept"),
    Option("--command", "TEXT", "command: the command line"),
    Option("--exit-code", "N", "command: its exit code"),
    Option("--stdout", "TEXT", "command: its output; 240 characters are kept"),
    Option("--stderr", "TEXT", "command: its errors; 240 characters are kept"),
    Option("--duration-ms", "N", "command and tool-call: how long it took, in milliseconds"),
    Option("--path", "PATH", "file-edit: the file"),
    Option("--operation", "NAME", "file-edit: created, modified, deleted, renamed"),
    Option("--lines-added", "N", "file-edit: how many lines were added"),
    Option("--lines-removed", "N", "file-edit: how many lines were removed"),
    Option("--tool-name", "NAME", "tool-call: the tool"),
    Option("--tool-status", "NAME", "tool-call: ok or error"),
    Option("--arguments-json", "JSON", "tool-call: its arguments; only their names are kept"),
    Option("--result-summary", "TEXT", "tool-call: its result; 240 characters are kept"),
    Option("--role", "NAME", "transcript-turn: who spoke: user, assistant, system, tool"),
    Option("--content", "TEXT", "transcript-turn: what was said"),
    Option("--turn-index", "N", "transcript-turn: its number in the transcript"),
    Option("--stdin-json", "", "take what no option gives from the client's JSON on standard input"),
    Option("--strict", "", "tell errors on stderr and exit with 1, for tests and people"),
    Option("--json", "", "with --strict, print the new event's place in the log as JSON"),
)
FIELDS = {"--tool-status": "status", "--arguments-json": "arguments"}
"""What the event calls them; the others have the option's own name."""
PARAMETERS = ({"name": "TRIGGER", "type": "str", "required": True}, *parameters(OPTIONS))
HELP = f"""Usage: zaxy hook-event TRIGGER [OPTIONS]

Record what a client's hook reports. It prints nothing and exits with 0 whatever happens, unless --strict is given;
what went wrong goes to .eventloom/runtime/hook-errors.log.

Triggers:

  {", ".join(list(TRIGGERS)[:7])},
  {", ".join(list(TRIGGERS)[7:])}

Options:
{help_rows(OPTIONS)}"""


def run(arguments: Sequence[str]) -> int:
    line = CommandLine(OPTIONS, arguments)
    if line.help:
        say_help(HELP)
        return 0
    strict, as_json = "--strict" in line.values, "--json" in line.values
    words = [word for word in line.others if not word.startswith("-")]
    # The value of an option that is not known stands among the words, and may come first.
    trigger = next((word for word in words if is_trigger(word)), "".join(words[:1]))
    mistakes = _mistakes(line, words)
    call = HookCall(trigger, _fields(line.values), "--stdin-json" in line.values, strict)
    try:
        if mistakes and strict:
            raise mistakes[0]
        recorded = call.record()
        for mistake in mistakes:
            call.failed(InvalidRequest(f"{mistake.message}; the rest was recorded", mistake.remediation))
    except BaseException as error:  # an interrupt too: a client must never see one of ours
        problem = call.failed(error)
        if strict:
            _print_problem(problem, as_json)
        return 1 if strict else 0
    if strict and as_json and recorded is not None:
        import json

        from zaxy.eventloom.quick import is_in_files
        from zaxy.eventloom.store import event_of
        from zaxy.retrieve.cited_replies import event_reply

        place = event_reply(event_of(recorded)) if is_in_files(call.workspace()) else {"spooled": True}
        say(json.dumps(place, indent=2))
    return 0


def _fields(values: dict[str, str]) -> dict[str, object]:
    """What the options give. An empty value is none: hooks are shell snippets, and a variable may not be set."""
    given = ((option, values.get(option.name)) for option in OPTIONS)
    return {
        FIELDS.get(option.name, option.name[2:].replace("-", "_")): _number(value) if option.value == "N" else value
        for option, value in given
        if value and not (option.value == "N" and _number(value) is None)
    }


def _number(value: str) -> int | None:
    try:
        return int(value)
    except ValueError:
        return None


def _mistakes(line: CommandLine, words: Sequence[str]) -> list[ZaxyError]:
    """What was typed and means nothing. A client's hook is no reason to lose what it reports beside it."""
    found: list[ZaxyError] = []
    for word in line.others:
        if word.startswith("-"):
            name = word.partition("=")[0]
            found.append(InvalidRequest(f"it does not take {name:.40}", "'zaxy hook-event --help' lists the options."))
    if len(words) > 1 and not found:  # else they are the values of what is not known
        found.append(InvalidRequest("it takes one trigger", "Put quotes around values that have spaces."))
    for option in OPTIONS:
        value = line.values.get(option.name)
        if option.value == "N" and value and _number(value) is None:
            found.append(InvalidRequest(f"{option.name} is not a whole number", "Give digits only."))
    return found


def _print_problem(problem: ZaxyError, as_json: bool) -> None:
    if as_json:
        import json

        say(json.dumps(problem.as_dict(), indent=2))
    else:
        say(f"zaxy: {problem.message}\n  {problem.remediation}", err=True)
