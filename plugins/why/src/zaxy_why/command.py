"""`zaxy why PATH[:LINE]`."""

from __future__ import annotations

import json
import sys

from zaxy.api import JSON, PLACE, Argument, NotFound, Option, current_call, hot_command, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@hot_command(
    Argument("A file of the project, such as src/shop.py; for one line of it src/shop.py:12."),
    Option("--limit", "N", "Without a line: how many edits at most.", minimum=1, maximum=1000),
    Option("--session-id", "ID", "Only edits of this session. Default: of all."),
    *PLACE,
    JSON,
)
def why(
    path: str,
    *,
    limit: int = 20,
    session_id: str | None = None,
    workspace: str | None = None,
    eventloom_path: str | None = None,
    as_json: bool = False,
) -> None:
    from zaxy_why.answer import answer_on_file, answer_on_line
    from zaxy_why.place import place_of

    call = current_call()
    log = call.open_log(workspace, eventloom_path, session_id=session_id, recorded=bool(session_id))
    place = place_of(path, log.folder)
    sessions = [session_id] if session_id else list(log.sessions())
    if not sessions:
        raise NotFound(f"nothing is recorded in {log.folder} yet", "Set the project up: zaxy init")
    if not place.line:
        reply = answer_on_file(place, log, sessions=sessions, limit=limit)
        _show(reply, as_json, "file_page")
        return
    with call.open_memory(workspace, eventloom_path, session_id=session_id) as memory:
        reply = answer_on_line(place, log, memory=memory, sessions=sessions)
    _show(reply, as_json, "line_page")
    if reply["edit"] is None:
        sys.exit(1)


def _show(reply: dict[str, Any], as_json: bool, page: str) -> None:
    if as_json:
        say(json.dumps(reply, indent=2, ensure_ascii=False))
        return
    from zaxy.api import print_page
    from zaxy_why import pages

    print_page(getattr(pages, page), reply)
    for session in reply["damaged"]:
        say(f"warning: the log of {session} is damaged: 'zaxy verify {session}' tells where", err=True)
