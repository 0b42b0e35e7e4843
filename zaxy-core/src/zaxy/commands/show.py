"""`zaxy show`: the event behind a citation."""

from __future__ import annotations

import json

from zaxy.api import JSON, PLACE, Argument, current_call, hot_command, say


@hot_command(Argument("The event, as eventloom://session/events/42#hash."), *PLACE, JSON)
def show(
    citation: str, *, workspace: str | None = None, eventloom_path: str | None = None, as_json: bool = False
) -> None:
    record = current_call().open_log(workspace, eventloom_path).record(citation)
    if as_json:
        say(json.dumps(record, ensure_ascii=False))
        return
    from zaxy.api import event_page, print_page

    print_page(event_page, record)
