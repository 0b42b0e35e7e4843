"""One call of a client's hook: what it says becomes an event, and what goes wrong a line in the hook error log.

A client waits for it, so the lock and standard input are waited for only briefly. Most imports stand inside the
functions: one that fails is then a line in that log too, and nothing that a client notices.
"""

from __future__ import annotations

import os
import sys

from zaxy.errors import InternalError, ZaxyError
from zaxy.observe import hook_events
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from zaxy.eventloom.loom import Eventloom
    from zaxy.eventloom.record import Entry, Line
    from zaxy.workspace import Workspace

LOCK_WAIT = 1.0
STDIN_WAIT = 1.0
MAX_STDIN = 1 << 20
MAX_EDITED = 4 << 20
"""Of a longer file it is not looked at which of its lines an edit changed, unless the client says so."""
ERROR_LOG = os.path.join("runtime", "hook-errors.log")
MAX_ERROR_LOG = 256 << 10


class HookCall(NamedTuple):
    trigger: str
    """As it was typed."""
    fields: Mapping[str, object]
    """What the call itself gives, by the names that `hook_events` has for it."""
    has_client_json: bool
    """The client's own JSON on standard input gives the rest."""
    strict: bool

    def workspace(self) -> Workspace:
        """`workspace` is also kept with the event, so a path to the log that is given too takes precedence."""
        from zaxy.workspace import find_workspace

        path, root = (self.fields.get(field) for field in ("eventloom_path", "workspace"))
        return find_workspace(None if path or not root else str(root), str(path) if path else None)

    def record(self) -> Line | None:
        """Append what the call is about, and a reminder if one is due; None if there was nothing to record.

        Nothing is recorded while that is paused, no observation that is left to capture, and
        nothing that the project keeps out.
        """
        from zaxy.eventloom.quick import quick_files
        from zaxy.observe.recording import CAPTURE, HOOKS, read_recording, refusal
        from zaxy.plugins.secret_rows import redact_rows_of_plugins

        trigger = hook_events.known_trigger(self.trigger)
        fields = self.fields
        if self.has_client_json:
            from zaxy.plugins.hook_json import places_of

            places = places_of(str(fields.get("source", "")))
            fields = {**hook_events.fields_of(stdin_json(), places), **fields}
            trigger = hook_events.meant_trigger(trigger, fields)
            if not self.strict and hook_events.says_nothing(trigger, fields):
                return None
        fields = hook_events.with_public_words(fields)
        is_own = not self.strict and hook_events.is_own_call(trigger, fields)
        if is_own or hook_events.is_private_turn(trigger, fields):
            return None
        workspace = self.workspace()
        recording = read_recording(workspace.eventloom)
        recorder = recording.recorder_now(str(fields.get("source", "")))
        if recording.paused_since and self.strict:
            raise refusal(recording.paused_since)
        if recording.paused_since or (recorder == CAPTURE and trigger in hook_events.OBSERVED):
            return None
        wanted = hook_events.entries_of(trigger, fields, recorder == HOOKS)
        if trigger in hook_events.OBSERVED and not (wanted := _not_ignored(workspace.root, wanted)):
            return None
        if trigger == "file-edit" and self.has_client_json:
            wanted = [one._replace(fields=_with_numbers(one.fields, workspace.root)) for one in wanted]
        redact_rows_of_plugins(workspace.stored_settings)
        entries = [_entry(one) for one in wanted]
        workspace.claim()  # the default session is named after what the project has from now on
        session = self._session(workspace, fields)
        loom = quick_files(workspace)
        try:
            return _append(loom, session, trigger, entries)[0]
        finally:
            loom.close()

    def _session(self, workspace: Workspace, fields: Mapping[str, object]) -> str:
        """The session of the call: a subagent has one of its own."""
        from zaxy.workspace import default_session

        session = str(self.fields.get("session_id") or default_session(workspace))
        agent, parent = (str(fields.get(field) or "") for field in ("agent", "client_session"))
        if not agent:
            return session
        from zaxy.observe.subagent_sessions import subagent_session

        return subagent_session(session, str(fields.get("source", "")), parent=parent, agent=agent)

    def failed(self, error: BaseException) -> ZaxyError:
        """Note in the error log why nothing was recorded, and say it."""
        from contextlib import suppress

        problem = error if isinstance(error, ZaxyError) else _defect(error)
        with suppress(BaseException):
            workspace = self.workspace()
            workspace.make_folder()
            note_error(workspace.eventloom, self.trigger, problem)
        return problem


def _not_ignored(root: str, entries: list[hook_events.HookEntry]) -> list[hook_events.HookEntry]:
    """Those that the project does not keep out."""
    from zaxy.observe.ignored import read_ignored

    ignored = read_ignored(root)
    return [one for one in entries if not ignored.leaves_out(hook_events.TRIGGERS[one.trigger].type, one.fields)]


def _with_numbers(fields: Mapping[str, object], root: str) -> dict[str, object]:
    """The fields of an edit with its numbers. The file is read for them, as the edit has just left it."""
    from contextlib import suppress

    from zaxy.security.small_files import read_named_file

    path = os.path.join(root, str(fields.get("workspace") or ""), str(fields.get("path") or ""))
    after = None
    with suppress(OSError, ValueError):
        after = read_named_file(path, MAX_EDITED).decode("utf-8").replace("\r\n", "\n")
    return hook_events.with_numbers(fields, after)


def _entry(entry: hook_events.HookEntry) -> Entry:
    from zaxy.eventloom.admission import checked_entry
    from zaxy.security.redaction import redact

    clean, found = redact(hook_events.payload_of(entry.trigger, entry.fields))
    return checked_entry(
        hook_events.TRIGGERS[entry.trigger].type,
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
    path, payload = os.path.join(loom.folder, f"{check_session_id(session)}.jsonl"), entries[0].payload
    with ExitStack() as held:
        with suppress(ZaxyError, OSError, ValueError):
            if reminders.due_reason(trigger, payload, reminders.since_last_use(path)):
                held.enter_context(reminders.only_one(loom.folder))
                due = reminders.due_reason(trigger, payload, reminders.since_last_use(path))
        more = [reminders.reminder(due)] if due else []
        return loom.append(session, [*entries, *more], max(0.0, LOCK_WAIT - (monotonic() - began)))


def stdin_json() -> object:
    """The JSON on standard input, or None. A client may forget to close it, so it is waited for only briefly."""
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


def _defect(error: BaseException) -> ZaxyError:
    """Where something unforeseen happened. Its own words are left out: they may repeat what was to be recorded."""
    where = error.__traceback__
    while where is not None and where.tb_next is not None:
        where = where.tb_next
    place = f" at {os.path.basename(where.tb_frame.f_code.co_filename)}:{where.tb_lineno}" if where else ""
    reason = f": {error.strerror}" if isinstance(error, OSError) else ""
    return InternalError(f"{type(error).__name__}{place}{reason}", "This is a defect: please report it.")


def note_error(folder: str, trigger: str, error: ZaxyError) -> None:
    """One line in the hook error log: time, trigger, code, message."""
    from zaxy.eventloom.log import utc_now
    from zaxy.observe.line_log import add_line
    from zaxy.security.paths import own_folder_within

    path = os.path.join(own_folder_within(folder, os.path.dirname(ERROR_LOG), create=True), os.path.basename(ERROR_LOG))
    shown = trigger if trigger in (*hook_events.TRIGGERS, hook_events.CONTEXT) else "-"
    message = _without_secrets(error.message)
    plain = "".join(character if character.isprintable() else " " for character in message)
    line = f"{utc_now()} {shown} {error.code} {hook_events.excerpt(plain)}\n".encode("utf-8", "replace")
    add_line(path, line, MAX_ERROR_LOG)


def _without_secrets(message: str) -> str:
    try:
        from zaxy.security.redaction import redact

        return str(redact({"message": message})[0]["message"])
    except Exception:  # redaction itself may be what failed
        return "(a message that could not be searched for secrets)"
