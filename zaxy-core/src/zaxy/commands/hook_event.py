"""`zaxy hook-event`, which clients run at every turn: quick, silent, and never a reason for a client to stop.

Some clients block on exit code 2, others read what is printed as their instructions, and all of them wait. So it exits
with 0 and prints nothing whatever happens; what went wrong is told in the workspace's hook error log.
"""

from __future__ import annotations

import os
import sys

from zaxy.errors import InternalError, InvalidRequest, ZaxyError
from zaxy.observe import hook_events
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zaxy.eventloom.loom import Eventloom
    from zaxy.eventloom.record import Entry, Line
    from zaxy.workspace import Workspace

LOCK_WAIT = 1.0
STDIN_WAIT = 1.0
MAX_STDIN = 1 << 20
ERROR_LOG = os.path.join("runtime", "hook-errors.log")
MAX_ERROR_LOG = 256 << 10


class Option(NamedTuple):
    name: str
    value: str
    """What its value is called in the usage; empty for a switch."""
    field: str
    """What its value means to `hook_events`."""
    help: str


OPTIONS = (
    Option("--eventloom-path", "PATH", "eventloom_path", "the folder that holds the log"),
    Option("--workspace", "PATH", "workspace", "the project's folder; kept, and used to find the log"),
    Option("--session-id", "ID", "session_id", "the session; default: the workspace's own"),
    Option("--source", "NAME", "source", "the client that is observed, by its name; default: unknown"),
    Option("--transcript-path", "PATH", "transcript_path", "the client's own transcript"),
    Option("--turn-count", "N", "turn_count", "how many turns the client has had"),
    Option("--summary", "TEXT", "summary", "what was reached (moments and file-edit)"),
    Option("--reason", "TEXT", "reason", "why now: manual, interval, precompact, shutdown (moments)"),
    Option("--prompt", "TEXT", "prompt", "user-prompt-submit: only whether it asks for the status is kept"),
    Option("--command", "TEXT", "command", "command: the command line"),
    Option("--exit-code", "N", "exit_code", "command: its exit code"),
    Option("--stdout", "TEXT", "stdout", "command: its output; 240 characters are kept"),
    Option("--stderr", "TEXT", "stderr", "command: its errors; 240 characters are kept"),
    Option("--duration-ms", "N", "duration_ms", "command and tool-call: how long it took, in milliseconds"),
    Option("--path", "PATH", "path", "file-edit: the file"),
    Option("--operation", "NAME", "operation", "file-edit: created, modified, deleted, renamed"),
    Option("--lines-added", "N", "lines_added", "file-edit: how many lines were added"),
    Option("--lines-removed", "N", "lines_removed", "file-edit: how many lines were removed"),
    Option("--tool-name", "NAME", "tool_name", "tool-call: the tool"),
    Option("--tool-status", "NAME", "status", "tool-call: ok or error"),
    Option("--arguments-json", "JSON", "arguments", "tool-call: its arguments; only their names are kept"),
    Option("--result-summary", "TEXT", "result_summary", "tool-call: its result; 240 characters are kept"),
    Option("--role", "NAME", "role", "transcript-turn: who spoke: user, assistant, system, tool"),
    Option("--content", "TEXT", "content", "transcript-turn: what was said"),
    Option("--turn-index", "N", "turn_index", "transcript-turn: its number in the transcript"),
    Option("--stdin-json", "", "", "take what no option gives from the client's JSON on standard input"),
    Option("--strict", "", "", "tell errors on stderr and exit with 1, for tests and people"),
    Option("--json", "", "", "with --strict, print the new event's place in the log as JSON"),
)
KINDS = {"": "bool", "N": "int"}
PARAMETERS = (
    {"name": "TRIGGER", "type": "str", "required": True},
    *({"name": option.name, "type": KINDS.get(option.value, "str"), "required": False} for option in OPTIONS),
)
HELP = f"""usage: zaxy hook-event TRIGGER [OPTIONS]

Record what a client's hook tells. It prints nothing and exits with 0 whatever happens, unless --strict is given;
what went wrong goes to .eventloom/runtime/hook-errors.log.

triggers:
  {", ".join(list(hook_events.TRIGGERS)[:7])},
  {", ".join(list(hook_events.TRIGGERS)[7:])}

options:
{chr(10).join(f"  {option.name + ' ' + option.value:22}  {option.help}" for option in OPTIONS)}
  -h, --help              show this help"""


class Call:
    """The words of one call, read. A mistake is kept rather than raised, since `--strict` may still follow it."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.trigger = ""
        self.told: dict[str, object] = {}
        self.switches: set[str] = set()
        self.mistake: ZaxyError | None = None
        known = {option.name: option for option in OPTIONS}
        words = iter(arguments)
        for word in words:
            name, given, value = word.partition("=")
            if not word.startswith("-"):
                self._take_trigger(word)
            elif word in ("-h", "--help"):
                self.switches.add("--help")
            elif name not in known or (given and not known[name].value):
                self._mistaken(f"it does not take {name:.40}", "'zaxy hook-event --help' lists the options.")
            elif known[name].value:
                # The next word is the value whatever it looks like: what was said may begin with a hyphen.
                self._take(known[name], value if given else next(words, ""))
            else:
                self.switches.add(name)

    @property
    def strict(self) -> bool:
        return "--strict" in self.switches

    @property
    def prints_json(self) -> bool:
        return self.strict and "--json" in self.switches

    def workspace(self) -> Workspace:
        """`--workspace` is also kept with the event, so a path to the log that is given too takes precedence."""
        from zaxy.workspace import find_workspace

        path, root = (self.told.get(field) for field in ("eventloom_path", "workspace"))
        return find_workspace(None if path or not root else str(root), str(path) if path else None)

    def _take_trigger(self, word: str) -> None:
        if self.trigger:
            self._mistaken("it takes one trigger", "Put quotes around values that have spaces.")
        self.trigger = self.trigger or word

    def _take(self, option: Option, value: str) -> None:
        if not value:
            return  # hooks are shell snippets, and a variable that is not set is no mistake
        if option.value != "N":
            self.told[option.field] = value
            return
        try:
            self.told[option.field] = int(value)
        except ValueError:
            self._mistaken(f"{option.name} is not a whole number", "Give digits only.")

    def _mistaken(self, message: str, remediation: str) -> None:
        self.mistake = self.mistake or InvalidRequest(message, remediation)


def run(arguments: Sequence[str]) -> int:
    call = Call(arguments)
    if "--help" in call.switches:
        print(HELP)
        return 0
    try:
        line = record(call)
    except BaseException as error:  # an interrupt too: a client must never see one of ours
        return _give_up(call, error)
    if call.prints_json and line is not None:
        import json

        from zaxy.commands.events import reply_of

        print(json.dumps(reply_of(line), indent=2))
    return 0


def record(call: Call) -> Line | None:
    """Append what a call tells of, and a reminder if one is due; None if there was nothing to tell.

    Whatever is imported here may fail without a client noticing.
    """
    from zaxy.eventloom.loom import Eventloom
    from zaxy.workspace import default_session

    if call.mistake is not None:
        raise call.mistake
    trigger = hook_events.known_trigger(call.trigger)
    told = call.told
    if "--stdin-json" in call.switches:
        from zaxy.plugins.hook_json import places_of

        told = {**hook_events.fields_of(_stdin_json(), places_of(str(told.get("source", "")))), **told}
        trigger = hook_events.meant_trigger(trigger, told)
        if not call.strict and hook_events.says_nothing(trigger, told):
            return None
    entries = [_entry(trigger, each) for each in hook_events.observations_of(trigger, told)]
    workspace = call.workspace()
    session = str(call.told.get("session_id") or default_session(workspace))
    loom = Eventloom(workspace.eventloom)
    try:
        return _append(loom, session, trigger, entries)[0]
    finally:
        loom.close()


def _entry(trigger: str, told: dict[str, object]) -> Entry:
    from zaxy.eventloom.admission import checked_entry
    from zaxy.security.redaction import redact

    clean, found = redact(hook_events.payload_of(trigger, told))
    return checked_entry(
        hook_events.TRIGGERS[trigger].type,
        hook_events.ACTOR,
        hook_events.bounded(clean),
        redacted=[{"kind": kind, "pointer": pointer} for pointer, kind in found],
    )


def _append(loom: Eventloom, session: str, trigger: str, entries: list[Entry]) -> list[Line]:
    """Append the entries, with a reminder behind them if one is due. For want of a reminder nothing is lost."""
    from contextlib import ExitStack, suppress
    from time import monotonic

    from zaxy.observe import reminders
    from zaxy.security.session_ids import check_session_id

    began, due = monotonic(), ""
    path, payload = os.path.join(loom.folder, f"{check_session_id(session)}.jsonl"), entries[-1].payload
    with ExitStack() as held:
        with suppress(ZaxyError, OSError, ValueError):
            if reminders.due_reason(trigger, payload, reminders.since_last_use(path)):
                held.enter_context(reminders.only_one(loom.folder))
                due = reminders.due_reason(trigger, payload, reminders.since_last_use(path))
        more = [reminders.reminder(due)] if due else []
        return loom.append(session, [*entries, *more], max(0.0, LOCK_WAIT - (monotonic() - began)))


def _stdin_json() -> object:
    """The JSON on standard input, or None. A client may forget to close it, so it is waited for only so long."""
    import json
    from contextlib import suppress
    from threading import Thread

    if sys.stdin is None or os.isatty(0):
        return None
    taken = bytearray()

    def read() -> None:
        with suppress(OSError):
            while chunk := os.read(0, 1 << 16):
                if len(taken) <= MAX_STDIN:  # the rest is read too: a client may not survive a broken pipe
                    taken.extend(chunk)

    reader = Thread(target=read, daemon=True)
    reader.start()
    reader.join(STDIN_WAIT)
    try:
        return json.loads(bytes(taken)) if len(taken) <= MAX_STDIN else None
    except (ValueError, RecursionError):
        return None


def _give_up(call: Call, error: BaseException) -> int:
    from contextlib import suppress

    problem = error if isinstance(error, ZaxyError) else _defect(error)
    with suppress(BaseException):
        note_error(call.workspace().eventloom, call.trigger, problem)
    if not call.strict:
        return 0
    if call.prints_json:
        import json

        print(json.dumps(problem.as_dict(), indent=2))
    else:
        print(f"zaxy: {problem.message}\n  {problem.remediation}", file=sys.stderr)
    return 1


def _defect(error: BaseException) -> ZaxyError:
    """Where something unforeseen happened. Its own words are left out: they may repeat what was to be recorded."""
    where = error.__traceback__
    while where is not None and where.tb_next is not None:
        where = where.tb_next
    place = f" at {os.path.basename(where.tb_frame.f_code.co_filename)}:{where.tb_lineno}" if where else ""
    reason = f": {error.strerror}" if isinstance(error, OSError) else ""
    return InternalError(f"{type(error).__name__}{place}{reason}", "This is a defect: please report it.")


def note_error(folder: str, trigger: str, error: ZaxyError) -> None:
    """One line in the hook error log: time, trigger, code, message. A log that is full makes room for a new one."""
    from zaxy.eventloom.disk import DISK
    from zaxy.eventloom.log import utc_now
    from zaxy.security.paths import own_folder

    path = os.path.join(own_folder(folder, create=True), ERROR_LOG)
    own_folder(os.path.dirname(path), create=True)
    shown = trigger if trigger in hook_events.TRIGGERS else "-"
    message = _without_secrets(error.message)
    plain = "".join(character if character.isprintable() else " " for character in message)
    line = f"{utc_now()} {shown} {error.code} {hook_events.excerpt(plain)}\n".encode("utf-8", "replace")
    fd = DISK.open(path, create=True)
    try:
        if DISK.size(fd) + len(line) > MAX_ERROR_LOG:
            DISK.close(fd)
            DISK.replace(path, f"{path}.1")
            fd = DISK.open(path, create=True)
        DISK.write(fd, line)
    finally:
        DISK.close(fd)


def _without_secrets(message: str) -> str:
    try:
        from zaxy.security.redaction import redact

        return str(redact({"message": message})[0]["message"])
    except Exception:  # redaction itself may be what failed
        return "(a message that could not be searched for secrets)"
