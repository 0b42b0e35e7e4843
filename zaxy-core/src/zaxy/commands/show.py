"""`zaxy show`: the event behind a citation."""

from __future__ import annotations

import json

from zaxy.api import EVENT, JSON, PLACE, SESSION_ID, Argument, current_call, hot_command, say


@hot_command(Argument(EVENT), SESSION_ID, *PLACE, JSON)
def show(
    event: str,
    *,
    session_id: str | None = None,
    workspace: str | None = None,
    eventloom_path: str | None = None,
    as_json: bool = False,
) -> None:
    record = current_call().open_log(workspace, eventloom_path, session_id=session_id).record(event)
    if as_json:
        say(json.dumps(record, ensure_ascii=False))
        return
    from zaxy.api import event_page, print_page

    print_page(event_page, record)
