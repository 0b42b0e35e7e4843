"""What a client's hook says, made into an event: its type, and a payload that is small on purpose.

Only what a trigger is known for is kept. Of a file's content, a tool's arguments and a prompt nothing readable is: a
path and line counts, the arguments' names, and whether the prompt asks where the work stands.
"""

from __future__ import annotations

import json
import re

from zaxy.errors import InvalidRequest
from zaxy.observe.command_report import read_report
from zaxy.security.private_text import is_all_private, without_private
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

ACTOR = "zaxy-hook"
EXCERPT = 240
MAX_TEXT_CHARS = 1000
MAX_KEY_CHARS = 64
MAX_KEYS = 64
MAX_EDITS = 64
CUT = " …[cut]… "
WINDOW = 8192
"""So much of either end of a text is looked at for secrets; more than an excerpt ever shows."""


NUMBERS_OF_EDIT = ("hunks", "file_lines", "file_bytes", "bytes_changed")


class Trigger(NamedTuple):
    type: str
    keeps: tuple[str, ...]
    """The fields of its payload besides those that every hook may have."""
    needs: tuple[str, ...] = ()


COMMON = ("workspace", "transcript_path", "hook_event_name", "turn_count")
MOMENT = ("summary", "reason")
TRIGGERS = {
    "session-start": Trigger("hook.session_started", MOMENT),
    "resume": Trigger("hook.resumed", MOMENT),
    "user-prompt-submit": Trigger("hook.user_prompt_submitted", (*MOMENT, "reminder_class")),
    "stop": Trigger("hook.stop", MOMENT),
    "precompact": Trigger("hook.precompact", MOMENT),
    "checkpoint": Trigger("hook.checkpoint", MOMENT),
    "heartbeat": Trigger("hook.heartbeat", MOMENT),
    "command": Trigger(
        "command.completed", ("command", "exit_code", "stdout", "stderr", "duration_ms"), needs=("command",)
    ),
    "file-edit": Trigger(
        "file.edit.applied",
        ("path", "operation", "summary", "lines_added", "lines_removed", *NUMBERS_OF_EDIT, "renamed_from"),
        needs=("path",),
    ),
    "tool-call": Trigger(
        "tool.call.completed",
        ("tool_name", "status", "argument_keys", "result_summary", "duration_ms"),
        needs=("tool_name",),
    ),
    "transcript-turn": Trigger("transcript.turn", ("role", "content", "turn_index"), needs=("role", "content")),
}
OBSERVED = ("command", "file-edit", "tool-call", "transcript-turn")
"""What capture records as well, in a client that it reads. The others tell a moment, which stands in no file."""
CONTEXT = "hook-context"
"""Stands for the other command of hooks, which records no trigger."""
EXCERPTS = ("stdout", "stderr", "result_summary")
WHOLE = ("content",)
"""Never cut: what was said is the source that recall goes back to."""


ALWAYS = ("trigger", "source")


def fields_of_type(event_type: str) -> tuple[str, ...]:
    """The fields that the payload of a hook's event may have, by the event's type; none if no hook writes it."""
    kept = (field for trigger in TRIGGERS.values() if trigger.type == event_type for field in trigger.keeps)
    fields = dict.fromkeys(kept)
    return (*ALWAYS, *COMMON, *fields, "note") if fields else ()


def is_trigger(typed: str) -> bool:
    return _trigger_name(typed) in TRIGGERS


def _trigger_name(typed: str) -> str:
    return typed.strip().lower().replace("_", "-")


def known_trigger(typed: str) -> str:
    """The trigger that is meant; `session_start` is `session-start`."""
    name = _trigger_name(typed)
    if name in TRIGGERS:
        return name
    if not name:
        raise InvalidRequest("no trigger was given", f"The triggers are {', '.join(TRIGGERS)}.")
    # A word in the wrong place may be anything, a prompt too: only what could be a mistyped trigger is repeated.
    shown = f"{name!r} is not a trigger" if re.fullmatch(r"[a-z-]{1,32}", name) else "that is not a trigger"
    raise InvalidRequest(shown, f"The triggers are {', '.join(TRIGGERS)}.")


def meant_trigger(trigger: str, fields: Mapping[str, object]) -> str:
    """Clients have one hook for the start of a session and say beside it that an older one goes on."""
    return "resume" if trigger == "session-start" and fields.get("reason") == "resume" else trigger


def says_nothing(trigger: str, fields: Mapping[str, object]) -> bool:
    """Whether a turn ended without a word, as one that was interrupted does."""
    return trigger == "transcript-turn" and not fields.get("content")


def is_own_call(trigger: str, fields: Mapping[str, object]) -> bool:
    """Whether a tool of Zaxy's own server was called, which that server records itself.

    The name of a tool alone does not say so: `memory_query` may be another server's.
    """
    if trigger != "tool-call":
        return False
    if fields.get("server"):
        return str(fields["server"]) == OWN_SERVER
    return re.match(OWN_TOOL, str(fields.get("tool_name", "")), re.IGNORECASE) is not None


OWN_SERVER = "zaxy"
OWN_TOOL = r"(?:mcp__)?zaxy(?:__|[./:])|mcp_zaxy_|mcp:zaxy:"
"""How clients write a tool of it: `mcp__zaxy__x`, `mcp_zaxy_x`, `MCP:zaxy:x`, `zaxy__x`, `zaxy.x`, `zaxy/x`."""


def with_public_words(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields without what is private in the words of people and models; empty where nothing else was said."""
    spoken = {field: str(fields[field]) for field in SPOKEN if fields.get(field)}
    public = {field: "" if is_all_private(text) else without_private(text) for field, text in spoken.items()}
    return {**fields, **public}


def is_private_turn(trigger: str, fields: Mapping[str, object]) -> bool:
    """Whether all that was said in a turn was private, by the fields `with_public_words`."""
    return trigger == "transcript-turn" and fields.get("content") == ""


class HookEntry(NamedTuple):
    """One event that a call of a hook comes to."""

    trigger: str
    fields: Mapping[str, object]


def entries_of(trigger: str, fields: Mapping[str, object], words: bool) -> list[HookEntry]:
    """What a call comes to: an event for each file that a patch changed, and with `words` the prompt as a turn."""
    entries = [HookEntry(trigger, each) for each in _observations(trigger, fields)]
    if words and trigger == "user-prompt-submit" and fields.get("prompt"):
        entries.append(
            HookEntry("transcript-turn", {**fields, "role": "user", "content": fields["prompt"], "prompt": None})
        )
    return entries


def _observations(trigger: str, fields: Mapping[str, object]) -> list[dict[str, object]]:
    edits = fields.get("edits")
    if trigger != "file-edit" or not isinstance(edits, list) or fields.get("path"):
        return [dict(fields)]
    return [{**fields, **edit} for edit in edits] or [dict(fields)]


def payload_of(trigger: str, fields: Mapping[str, object]) -> dict[str, object]:
    """The payload of a known trigger, from the fields. Secrets are still in it, and it is not yet `bounded`."""
    known = TRIGGERS[trigger]
    notes = [str(fields["note"])] if fields.get("note") else []
    derived: dict[str, object] = {}
    if fields.get("prompt"):
        derived["reminder_class"] = reminder_class(str(fields["prompt"]))
    if "argument_keys" in known.keeps and fields.get("arguments"):
        derived["argument_keys"], note = argument_keys(fields["arguments"])
        notes += [note] if note else []
    payload: dict[str, object] = {"trigger": trigger, "source": _readable("source", fields.get("source") or "unknown")}
    for field in (*COMMON, *known.keeps):
        value = derived.get(field, fields.get(field))
        if value is not None and value not in ("", []):
            payload[field] = _readable(field, value)
    missing = [field for field in known.needs if field not in payload]
    if missing:
        raise InvalidRequest(
            f"{trigger} needs --{missing[0].replace('_', '-')}",
            "Give it; an empty value counts as none.",
        )
    return {**payload, "note": "; ".join(notes)} if notes else payload


def bounded(payload: Mapping[str, object]) -> dict[str, object]:
    """The payload with every text cut to its bound. It comes after redaction: half a secret is not recognised."""
    return {field: _cut(field, value) for field, value in payload.items()}


def argument_keys(arguments: object) -> tuple[list[str], str]:
    """The names of a tool's arguments, never their values, and a note if they could not be read."""
    given = _decoded(arguments)
    if not isinstance(given, dict):
        return ([], "the arguments were not a JSON object")
    keys = sorted(_well_formed(excerpt(without_private(str(key)), 2 * WINDOW)) for key in given)
    return (keys[:MAX_KEYS], f"{len(keys)} arguments" if len(keys) > MAX_KEYS else "")


STATUS_QUESTION = (
    r"where (?:are|were|did) we\b|\bwhat(?:'?s| is| was| else is) (?:left|next|missing|remaining|pending|open)\b"
    r"|\bwhat remains\b|\bleft to do\b|\broad ?map\b|\bhow far (?:are|did) we\b|\bnext steps?\b|\bcatch me up\b"
    r"|\b(?:project|current|overall) status\b|\bstatus (?:of|update|report)\b|\bwhat(?:'?s| is) the (?:\w+ )?status\b"
    r"|\b(?:pick up|continue|resume|carry on|go on) (?:from )?where\b|\bwhat (?:did|have) we (?:do|done|decide)"
)
STATUS_WORD = r"\W*(?:please |ok(?:ay)?,? |now |and )*(?:status|continue|resume|carry on|go on|progress)\b"
SHORT_PROMPT = 40


def reminder_class(prompt: str) -> str:
    """`status_question` for a prompt that asks where the work stands or to go on with it, else `none`."""
    start = " ".join(prompt[:2000].lower().replace("’", "'").split())
    asks = re.search(STATUS_QUESTION, start) or (len(start) <= SHORT_PROMPT and re.match(STATUS_WORD, start))
    return "status_question" if asks else "none"


OPERATIONS = {"create": "created", "update": "modified"}
PATCH_TOOL = "apply_patch"
"""Agents hand a patch over as this tool's `command`: it is file content, and no command."""
NUMBERS = ("exit_code", "duration_ms")
SPOKEN = ("content", "prompt")
SEEN_ONLY = ("arguments", "response", "error", "change", "text_before", "replacements")
"""What is looked at, and never kept as it is."""


def fields_of(data: object, places: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """What the JSON on a hook's standard input says, looked up at the places where its client says it.

    Whatever is missing or of another kind is passed over. The client's own session id is not taken for ours.
    """
    if not isinstance(data, dict):
        return {"note": "the standard input was not a JSON object"}
    found = {
        field: [value for place in tried if (value := _at(data, place)) is not None] for field, tried in places.items()
    }
    arguments = _decoded(next(iter(found["arguments"]), None))
    fields: dict[str, object] = {
        **{field: _first_text(*values) for field, values in found.items() if field not in (*NUMBERS, *SEEN_ONLY)},
        **{
            field: next((whole for value in found[field] if (whole := _whole(value)) is not None), None)
            for field in NUMBERS
        },
        "arguments": arguments,
    }
    fields |= {field: next(iter(found[field]), None) for field in ("change", "text_before")}
    fields["replacements"] = next((pairs for value in found["replacements"] if (pairs := _replaced(value))), None)
    edited = "modified" if fields["change"] or fields["replacements"] else None
    fields["operation"] = OPERATIONS.get(str(fields["operation"]), edited)
    response = next(iter(found["response"]), None)
    if response is not None or "error" in data:
        fields["status"] = "error" if _failed(found["error"], response, data.get("hook_event_name")) else "ok"
        fields["result_summary"] = shape_of(response)
    if fields["exit_code"] is None:
        fields["exit_code"] = _exit_code(found["error"])
    if report := read_report(str(fields["stdout"] or "")):
        fields |= {"stdout": report.output, "exit_code": report.exit_code}
    if fields["tool_name"] == PATCH_TOOL:
        inputs = arguments if isinstance(arguments, dict) else {}
        fields["edits"] = patched_files(_first_text(inputs.get("command"), inputs.get("input")) or "")
        fields |= dict.fromkeys(("command", "stdout", "stderr", "exit_code"))
    return {field: value for field, value in fields.items() if value is not None}


def _at(data: object, place: str) -> object:
    """The value at a dotted path; a text on the way is read as JSON."""
    for step in place.split("."):
        data = _decoded(data)
        if isinstance(data, list) and step.isdecimal():
            data = data[int(step)] if int(step) < len(data) else None
        else:
            data = data.get(step) if isinstance(data, dict) else None
    return data


PATCHED = {"Add": "created", "Update": "modified", "Delete": "deleted"}
MOVED = "*** Move to: "


def patched_files(patch: str) -> list[dict[str, Any]]:
    """The files that a patch changes, with the numbers of their lines, and what it replaces, which is not kept."""
    edits: list[dict[str, Any]] = []
    counts = {"+": 0, "-": 0}
    for line in patch.split("\n"):
        header = re.match(r"\*\*\* (Add|Update|Delete) File: (.+)", line)
        if header:
            counts = {"+": 0, "-": 0}
            edits.append({"path": header[2].strip(), "operation": PATCHED[header[1]], "replacements": []})
        elif edits and line.startswith(MOVED):
            moved = {"path": line.removeprefix(MOVED).strip(), "renamed_from": edits[-1]["path"]}
            edits[-1] |= {**moved, "operation": "renamed"}
        elif line.startswith("*** End Patch"):
            break
        elif edits and line.startswith("@@"):
            edits[-1]["replacements"].append(("", ""))
        elif edits and line[:1] in ("+", "-", " ", ""):
            _take_line(edits[-1]["replacements"], line or " ")
            if line[:1] in counts:
                counts[line[0]] += 1
                edits[-1] |= {"lines_added": counts["+"], "lines_removed": counts["-"]}
    return edits[:MAX_EDITS]


def _take_line(replacements: list[tuple[str, str]], line: str) -> None:
    old, new = replacements.pop() if replacements else ("", "")
    said = line[1:] + "\n"
    replacements.append((old + said * (line[0] != "+"), new + said * (line[0] != "-")))


def _replaced(value: object) -> list[tuple[str, str]]:
    """Old texts and the new ones in their place; none where a text is replaced wherever it is."""
    pairs = []
    for one in value if isinstance(value, list) else [value]:
        said = one if isinstance(one, dict) else {}
        old, new = said.get("old_string"), said.get("new_string")
        if not isinstance(old, str) or not isinstance(new, str) or said.get("replace_all"):
            return []
        pairs.append((old, new))
    return pairs


def with_numbers(fields: Mapping[str, object], after: str | None) -> dict[str, object]:
    """The fields of an edit with its numbers, from what the client says of it and the file's text after it."""
    from zaxy.api.hunks import hunks_of, hunks_of_replacements, lines_in, numbers_of_edit, whole_file

    before = fields.get("text_before")
    known = before if isinstance(before, str) else None
    hunks = hunks_of(fields.get("change"))
    replaced: Any = fields.get("replacements")
    if not hunks and replaced and after is not None and (found := hunks_of_replacements(after, replaced)):
        hunks, known = found
    if not hunks and fields.get("operation") == "created" and after is not None:
        hunks, known = whole_file(lines_in(after)), ""
    return {**fields, **numbers_of_edit(hunks, known, after, change=fields.get("change"))}


def _exit_code(errors: Sequence[object]) -> int | None:
    """Some clients say that a command failed in words, such as `Exit code 1`."""
    found = re.search(r"(?:exit|status) code:? (\d{1,3})\b", (_first_text(*errors) or "")[:WINDOW], re.IGNORECASE)
    return int(found[1]) if found else None


def _failed(errors: Sequence[object], response: object, event: object) -> bool:
    details = response if isinstance(response, dict) else {}
    flags = (*errors, *(details.get(name) for name in ("error", "is_error", "isError")))
    return any(flags) or details.get("success") is False or str(event).endswith("Failure")


def shape_of(result: object) -> str | None:
    """What kind of thing a tool answered, without any of it: it may be a file's content."""
    if result is None:
        return None
    if isinstance(result, str):
        return f"text of {len(result)} characters"
    if isinstance(result, dict):
        return f"object with {', '.join(argument_keys(result)[0])}" if result else "empty object"
    if isinstance(result, list):
        return f"list of {len(result)}"
    return type(result).__name__


def excerpt(text: str, limit: int = EXCERPT) -> str:
    """The text, or its two ends with a mark between them: at most `limit` characters."""
    if len(text) <= limit:
        return text
    head = (limit - len(CUT)) // 2
    return text[:head] + CUT + text[head + len(CUT) - limit :]


def _cut(field: str, value: object) -> object:
    if field in NUMBERS_OF_EDIT:
        return value
    if isinstance(value, list):
        return [excerpt(str(item), MAX_KEY_CHARS) for item in value]
    if field in WHOLE or not isinstance(value, str):
        return value
    return excerpt(value, EXCERPT if field in EXCERPTS else MAX_TEXT_CHARS)


def _readable(field: str, value: object) -> object:
    """A value that the log takes, and of a very long text the ends only: what is between them is never shown."""
    if not isinstance(value, str):
        return value
    public = without_private(value)  # before anything is cut: half a private part cannot be found
    return _well_formed(public if field in WHOLE else excerpt(public, 2 * WINDOW))


def _well_formed(text: str) -> str:
    """Arguments that are not UTF-8 reach Python as halves of surrogate pairs, which the log refuses."""
    return text.encode("utf-8", "replace").decode()


def _decoded(value: object) -> object:
    if not isinstance(value, str | bytes):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _first_text(*values: object) -> str | None:
    return next((value for value in values if isinstance(value, str) and value), None)


def _whole(value: object) -> int | None:
    """A whole number; clients give durations with fractions."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 2**53:
        return None
    return int(value)
