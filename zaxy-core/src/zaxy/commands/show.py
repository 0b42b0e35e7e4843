"""`zaxy show`: the event behind a citation."""

from __future__ import annotations

import json
import sys

from zaxy.commands.events import event_view, open_log
from zaxy.commands.hot import Argument, hot_command
from zaxy.commands.options import JSON, PLACE
from zaxy.eventloom.citation import parse_citation
from zaxy.printing import say, show_page


@hot_command("show", Argument("The event, as eventloom://session/events/42#hash."), *PLACE, JSON)
def show(
    citation: str, *, workspace: str | None = None, eventloom_path: str | None = None, as_json: bool = False
) -> None:
    cited = parse_citation(citation)
    log, _ = open_log(workspace, eventloom_path)
    record = log.record(cited)
    if as_json:
        say(json.dumps(event_view(record), ensure_ascii=False))
        return
    from zaxy.terminal.event_page import event_page
    from zaxy.terminal.screen import terminal_of

    show_page(event_page(record, *terminal_of(sys.stdout)))
