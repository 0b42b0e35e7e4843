"""What the commands about events share: how log and memory are opened, and how an event is shown."""

from __future__ import annotations

import json

from zaxy.errors import InvalidRequest, NotFound
from zaxy.eventloom.citation import Citation
from zaxy.eventloom.grammar import Malformed
from zaxy.printing import progress_of
from zaxy.security.session_ids import check_session_id
from zaxy.workspace import default_session, find_workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from zaxy.api.models import Event
    from zaxy.eventloom.event_log import EventLog
    from zaxy.memory import Memory
    from zaxy.plugins.families import Families
    from zaxy.workspace import Workspace

MAX_ACTOR_CHARS = 100
MAX_TYPE_CHARS = 256
MAX_TEXT_CHARS = 160


def open_log(workspace: str | None, eventloom_path: str | None) -> tuple[EventLog, Workspace]:
    from zaxy.eventloom.opening import open_event_log

    found = find_workspace(workspace, eventloom_path)
    return open_event_log(found), found


def families_here(workspace: str | None, eventloom_path: str | None) -> Families:
    """The event types that packages own. Where only a file of a log was named, the settings of this folder count."""
    from zaxy.plugins.families import Families
    from zaxy.plugins.roster import load_roster
    from zaxy.settings import Settings
    from zaxy.workspace import stored_settings_here

    if workspace or eventloom_path:
        return Families.of(find_workspace(workspace, eventloom_path))
    return Families(lambda: load_roster(Settings(stored=stored_settings_here())))


def open_memory(workspace: str | None, eventloom_path: str | None) -> Memory:
    """The memory of the workspace that is meant. A read waits until the followers have caught up, and shows it."""
    from zaxy.owner.client import memory_of
    from zaxy.plugins.guard import keep_stdout

    keep_stdout()
    return memory_of(find_workspace(workspace, eventloom_path), progress_of("following"))


def existing_session(named: str | None, workspace: Workspace, known: Sequence[str]) -> str:
    """The session that is meant, which must be among those that have a log."""
    session = session_of(named, workspace)
    if session in known:
        return session
    if not known:
        raise NotFound(
            f"nothing is recorded in {workspace.root} yet",
            'Record something: zaxy append note.taken --payload \'{"text": "..."}\'',
        )
    there = ", ".join(known[:8])
    raise NotFound(f"there is no session {session} (there are: {there})", "'zaxy sessions' lists them.")


def session_of(named: str | None, workspace: Workspace) -> str:
    return check_session_id(named if named is not None else default_session(workspace))


def purpose_of(text: str) -> Any:
    """A preset by its name, or an object; empty where none is given."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(
            f"the purpose is not JSON: {error}", 'Pass a preset, or an object: \'{"task": "..."}\'.'
        ) from None


def event_reply(event: Event, replayed: bool = False) -> dict[str, Any]:
    """What an append answers, on every surface."""
    reply = {"seq": event.seq, "id": event.id, "hash": event.hash, "citation": event.citation}
    reply["session_id"] = event.session
    return {**reply, "replayed": True} if replayed else reply


def event_view(record: dict[str, Any]) -> dict[str, Any]:
    """An event for programs: its record without salt and digest, and its citation."""
    shown = {key: value for key, value in record.items() if key not in ("salt", "payload_digest", "v")}
    if type(record) is Malformed:
        shown["damage"] = record.reason
    return {**shown, "citation": str(Citation(record["thread"], record["seq"], record["hash"]))}


def event_row(record: dict[str, Any], families: Families | None = None) -> str:
    """An event for people: number, time, type, who, and what it says, in the words of a package that owns its type."""
    if type(record) is Malformed:
        text = f"(damaged: {record.reason})"
    else:
        text = "(erased)" if record.get("payload") is None else one_line(_text(record, families), MAX_TEXT_CHARS)
    time = record["time"][:19].replace("T", " ")
    type_, actor = one_line(record["type"], MAX_TYPE_CHARS), one_line(record["actor"], MAX_ACTOR_CHARS)
    return f"{record['seq']:>6}  {one_line(time, len(time))}  {type_}  {actor}  {text}"


def _text(record: dict[str, Any], families: Families | None) -> str:
    """What an event says, in the sentences that a checkout shows of it."""
    from zaxy.eventloom.store import event_of_record
    from zaxy.extract.rules import extract
    from zaxy.extract.sentences import sentence_of
    from zaxy.retrieve.statements import in_sentences
    from zaxy.text.passages import passages

    event = event_of_record(record)
    owner = families.owner(event.type) if families else None
    template = owner.types[event.type].sentence if owner and event.type in owner.types else ""
    sentence = sentence_of(template, record["payload"]) if template else ""
    said = passages(event, extract(event), sentence)
    return in_sentences(said[:1], MAX_TEXT_CHARS)[0] if said else str(record["payload"].get("reason", ""))


def one_line(text: str, max_chars: int) -> str:
    """One line without control characters, which could otherwise steer the terminal."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return plain if len(plain) <= max_chars else f"{plain[: max_chars - 1]}…"
