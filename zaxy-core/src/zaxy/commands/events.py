"""What the commands about events share: their options, and how an event is shown."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from zaxy.eventloom.citation import Citation
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.record import Line
from zaxy.security.session_ids import check_session_id
from zaxy.workspace import Workspace, default_session, find_workspace

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SessionId = Annotated[str | None, typer.Option("--session-id", help="The session. Default: the workspace's own.")]
WorkspaceFolder = Annotated[str | None, typer.Option("--workspace", help="The project's folder.")]
EventloomPath = Annotated[str | None, typer.Option("--eventloom-path", help="The folder that holds the log.")]

TEXT_FIELDS = ("summary", "text", "content", "decision", "task", "goal", "title", "name", "command", "path", "reason")
LONGEST_TEXT = 100


def open_loom(workspace: str | None, eventloom_path: str | None) -> tuple[Eventloom, Workspace]:
    found = find_workspace(workspace, eventloom_path)
    return Eventloom(found.eventloom), found


def session_of(named: str | None, workspace: Workspace) -> str:
    return check_session_id(named if named is not None else default_session(workspace))


def reply_of(line: Line, replayed: bool = False) -> dict[str, Any]:
    """What an append answers, on every surface."""
    session = str(line.record["thread"])
    citation = str(Citation(session, line.seq, line.hash))
    reply = {"seq": line.seq, "id": line.record["id"], "hash": line.hash, "citation": citation, "session_id": session}
    return {**reply, "replayed": True} if replayed else reply


def event_view(record: dict[str, Any]) -> dict[str, Any]:
    """An event for programs: its record without salt and digest, and its citation."""
    shown = {key: value for key, value in record.items() if key not in ("salt", "payload_digest", "v")}
    return {**shown, "citation": str(Citation(record["thread"], record["seq"], record["hash"]))}


def event_row(record: dict[str, Any]) -> str:
    """An event for people: number, time, type, who, and what it says."""
    payload = record.get("payload")
    text = "(erased)" if payload is None else _text(payload)
    time = record["time"][:19].replace("T", " ")
    return f"{record['seq']:>6}  {time}  {record['type']}  {_plain(record['actor'])}  {text}"


def _text(payload: dict[str, Any]) -> str:
    said = next((payload[key] for key in TEXT_FIELDS if isinstance(payload.get(key), str)), None)
    text = _plain(said if said is not None else json.dumps(payload, ensure_ascii=False))
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def _plain(text: str) -> str:
    """One line without control characters, which could otherwise steer the terminal."""
    return "".join(character if character.isprintable() else " " for character in text)
