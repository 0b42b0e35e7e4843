"""One call of `zaxy hook-context`: what a client's hook is to put into the first prompt of a session, on record.

What cannot be put on record is not shown. Most imports stand inside the functions, as in `hook_command`.
"""

from __future__ import annotations

import os

from zaxy.errors import InvalidRequest, ZaxyError
from zaxy.observe import hook_events
from zaxy.observe.hook_command import LOCK_WAIT, HookCall, stdin_json
from zaxy.security.session_ids import check_session_id
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from zaxy.eventloom.last_lines import LastLines
    from zaxy.eventloom.record import Entry
    from zaxy.workspace import Workspace

HOOK = "session-start"
TEXT, HOOK_OUTPUT, ADDITIONAL = "text", "hook-output", "additional-context"
FORMS = (TEXT, HOOK_OUTPUT, ADDITIONAL)
"""How clients read it: as it is; as `hookSpecificOutput` in JSON; as `additional_context` in JSON."""
MAX_ID_CHARS = 200
MAX_LOOK = 4 << 20
"""So much of the log's end is looked at, at most: some ten thousand events."""
ELSEWHERE = "Zaxy has a memory of this project, in another store than files: memory_checkout reads it."
FOREIGN = "Zaxy found a memory of this project that came from elsewhere: nothing of it is shown before 'zaxy trust'."
REPLACED = "Zaxy shows nothing: this is not the log that was last read here. 'zaxy trust' takes it in."


class Injection(NamedTuple):
    """What goes into the prompt, and the events that it rests on."""

    text: str
    citations: tuple[str, ...] = ()


class ContextCall(NamedTuple):
    fields: Mapping[str, object]
    """What the call itself gives."""
    has_client_json: bool
    form: str

    def text(self) -> str:
        """What is to be printed; empty where there is nothing to tell. It is on record by then."""
        from zaxy.observe.recording import read_recording
        from zaxy.plugins.hook_json import places_of
        from zaxy.workspace import default_session

        if self.form not in FORMS:
            raise InvalidRequest(f"{self.form!r:.40} is no form", f"Choose one of {', '.join(FORMS)}.")
        fields = dict(self.fields)
        if self.has_client_json:
            places = places_of(str(fields.get("source", "")))
            fields = {**hook_events.fields_of(stdin_json(), places), **fields}
        if fields.get("agent"):
            return ""  # a subagent gets what it needs from the agent that it works for
        workspace = self._as_hook.workspace()
        session = str(fields.get("session_id") or default_session(workspace))
        paused = read_recording(workspace.eventloom).paused_since
        shown = _shown(workspace, session, fields=fields, paused=paused)
        if shown.text and not paused:
            _record(workspace, session, fields=fields, shown=shown)
        return in_form(shown.text, self.form) if shown.text else ""

    def failed(self, error: BaseException) -> ZaxyError:
        return self._as_hook.failed(error)

    @property
    def _as_hook(self) -> HookCall:
        return HookCall(hook_events.CONTEXT, self.fields, self.has_client_json, False)


def in_form(text: str, form: str) -> str:
    """The text as the client reads it, on one line but for plain text."""
    if form == TEXT:
        return text
    import json

    if form == ADDITIONAL:
        return json.dumps({"additional_context": text}, ensure_ascii=False)
    return json.dumps(
        {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}, ensure_ascii=False
    )


def injected(shown: Injection, *, client: str, client_session: str) -> Entry:
    """The record of what was put into a session of a client."""
    from zaxy.eventloom.admission import OWN_ACTOR, admit_own
    from zaxy.observe.receipt import INJECTED
    from zaxy.token_count import count_tokens

    named = {"client_session": client_session} if client_session else {}
    payload = {"client": client, "hook": HOOK, **named, "tokens": count_tokens(shown.text)}
    return admit_own(INJECTED, OWN_ACTOR, {**payload, "citations": list(shown.citations)})


def _shown(workspace: Workspace, session: str, *, fields: Mapping[str, object], paused: str) -> Injection:
    from zaxy.eventloom.last_lines import LastLines
    from zaxy.eventloom.quick import is_in_files
    from zaxy.eventloom.seen_heads import SeenHeads
    from zaxy.observe.recap import recap

    first = f"Recording is paused since {paused[:16]}Z: nothing of this session is recorded." if paused else ""
    if not workspace.is_own:
        return Injection(FOREIGN)
    if not is_in_files(workspace):
        return Injection("\n".join(filter(None, [first, ELSEWHERE])))
    if not os.path.lexists(os.path.join(workspace.eventloom, f"{check_session_id(session)}.jsonl")):
        return Injection("")
    seen = SeenHeads(workspace).last(session)
    lines = LastLines(workspace.eventloom, session, max_bytes=MAX_LOOK, timeout=LOCK_WAIT)
    if seen is not None and not _holds(workspace, lines, *seen):
        return Injection(REPLACED)
    found = recap(lines, client_session=_client_session(fields), first_row=first)
    if fields.get("reason") == "resume" and not found.has_news:
        return Injection("")  # it stands in what the client goes on with
    return Injection(found.text, found.citations)


def _holds(workspace: Workspace, lines: LastLines, seq: int, digest: str) -> bool:
    """Whether the log holds an event that was seen in it before."""
    if seq > lines.end:
        return False
    event = lines.get(seq)
    if event is not None:
        return event.hash == digest
    from zaxy.eventloom.quick import quick_files

    line = quick_files(workspace).get(lines.session, seq)
    return line is not None and line.hash == digest


def _record(workspace: Workspace, session: str, *, fields: Mapping[str, object], shown: Injection) -> None:
    from zaxy.eventloom.quick import quick_files
    from zaxy.plugins.secret_rows import redact_rows_of_plugins

    redact_rows_of_plugins(workspace.stored_settings)
    client = str(fields.get("source") or "unknown")
    loom = quick_files(workspace)
    try:
        loom.append(session, [injected(shown, client=client, client_session=_client_session(fields))], LOCK_WAIT)
    finally:
        loom.close()


def _client_session(fields: Mapping[str, object]) -> str:
    return str(fields.get("client_session") or "")[:MAX_ID_CHARS]
