"""`zaxy stats`: what memory holds, what it put into prompts, and that it spent no tokens of a model."""

from __future__ import annotations

import json

from zaxy.api import JSON, PLACE, current_call, hot_command, say


@hot_command(*PLACE, JSON)
def stats(*, workspace: str | None = None, eventloom_path: str | None = None, as_json: bool = False) -> None:
    from zaxy.api import print_rows, stats_of, stats_page

    counted, days, damaged = stats_of(current_call().open_log(workspace, eventloom_path))
    if as_json:
        say(json.dumps(counted, indent=2))
    else:
        print_rows(stats_page, {**counted, "days": days})
    for session in damaged:
        say(f"warning: the log of {session} is damaged, and counted up to there: zaxy verify {session}", err=True)
