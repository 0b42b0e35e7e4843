"""`zaxy log`: what was recorded, newest first."""

from __future__ import annotations

import json

from zaxy.api import (
    JSON,
    PLACE,
    SESSION_ID,
    Option,
    current_call,
    hot_command,
    moment,
    say,
    say_wrapped,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@hot_command(
    Option("--limit", "N", "How many events at most.", minimum=1, maximum=1000),
    Option("--type", "TYPE", "Only events of this type; decision.* is a whole family."),
    Option("--actor", "NAME", "Only what this one said."),
    Option("--since", "TIME", "Only from then on: yesterday, monday, '3 days ago', a date."),
    Option("--before", "N", "Only events before this number.", minimum=1),
    Option("--all", "", "Also what Zaxy notes for itself."),
    SESSION_ID,
    *PLACE,
    JSON,
)
def log(
    *,
    limit: int = 20,
    event_type: str = "",
    actor: str = "",
    since: str = "",
    before: int | None = None,
    everything: bool = False,
    session_id: str | None = None,
    workspace: str | None = None,
    eventloom_path: str | None = None,
    as_json: bool = False,
) -> None:
    start = moment(since, begin=True)
    found = current_call().open_log(workspace, eventloom_path, session_id=session_id, recorded=True)

    def wanted(record: dict[str, Any]) -> bool:
        family = event_type.removesuffix("*") if event_type.endswith(".*") else ""
        of_type = record["type"].startswith(family) if family else event_type in ("", record["type"])
        return bool(of_type and actor in ("", record["actor"]))

    records, more = found.newest(
        limit=limit, before=before, since=start, wanted=wanted, include_housekeeping=everything
    )
    reply: dict[str, Any] = {"session_id": found.session, "events": records, "before": more, "since": start}
    if as_json:
        say(json.dumps(reply, indent=2, ensure_ascii=False))
        return
    from zaxy.api import history_page, print_rows

    texts = {record["seq"]: found.text(record) for record in records}
    if records:
        print_rows(history_page, {**reply, "texts": texts})
    since_when = f" since {start[:16].replace('T', ' ')} UTC" if start else ""
    if not records:
        say_wrapped(f"nothing found{since_when}", err=True)
    elif start:
        say(f"events{since_when}", err=True)
    if more:
        say(f"older ones: --before {more}", err=True)
