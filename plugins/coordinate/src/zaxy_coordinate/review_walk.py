"""Goes through the findings that wait, one key each."""

from __future__ import annotations

import sys

from zaxy.api import ZaxyError, current_call, print_page
from zaxy_coordinate.brief import conflict_row, in_order_of_urgency
from zaxy_coordinate.fold import ACCEPTED, CONFLICTED, DEFERRED, REJECTED
from zaxy_coordinate.missions import Missions
from zaxy_coordinate.pages import Page, finding_lines
from zaxy_coordinate.rows import finding_row
from zaxy_coordinate.workplace import Reply

KEYS = {"a": ACCEPTED, "p": ACCEPTED, "r": REJECTED, "d": DEFERRED, "c": CONFLICTED}
HELP = "[a]ccept  accept and [p]romote  [r]eject  [d]efer  [c]onflicted  [s]kip  [q]uit"
NEEDS_REASON = (REJECTED, CONFLICTED)


def walk(missions: Missions, mission_id: str, *, actor: str) -> None:
    """Show each finding that waits with its evidence, and do what the key says. What was decided stays decided."""
    call = current_call()
    state = missions.mission(mission_id)
    waiting = [one for one in in_order_of_urgency(missions.standings(state)) if one.waits_for_review]
    done = 0
    for number, one in enumerate(waiting, 1):
        row = finding_row(missions, state, one)
        conflict = next((c for c in missions.standings(state).conflicts if c.conflict_id == one.conflict_id), None)
        shown = {**row, "place": f"{number} of {len(waiting)}"}
        if conflict is not None:
            shown["conflict"] = conflict_row(missions, state, conflict)
        print_page(_page, shown)
        key = _key()
        if key == "q":
            break
        if key in KEYS:
            done += _decide(missions, mission_id, one.finding_id, key=key, actor=actor)
    call.say(f"{done} decided, {len(waiting) - done} still wait." if waiting else "Nothing waits for review.")


def _decide(missions: Missions, mission_id: str, finding_id: str, *, key: str, actor: str) -> int:
    call, status = current_call(), KEYS[key]
    rationale = _line("Why? ") if status in NEEDS_REASON else ""
    try:
        missions.review_finding(mission_id, finding_id, status, rationale=rationale, actor=actor)
        if key == "p":
            missions.promote(mission_id, finding_id, actor=actor)
    except ZaxyError as error:  # somebody else was quicker, or it cannot be promoted: the others can still be decided
        call.say(f"{error.message}. {error.remediation}", err=True)
        return 0
    return 1


def _page(row: Reply, width: int, colour: bool) -> str:
    page = Page(width, colour)
    page.heading(f"{row['place']}: {row['finding_id']}")
    finding_lines(page, row)
    if row.get("claim_key"):
        page.note(f"{row['claim_key']}: {row.get('claim_value', '')}", "    ")
    for side in row.get("conflict", {}).get("sides", ()):
        if side["finding_id"] != row["finding_id"]:
            page.add(f"against {side['finding_id']}: {side['value']}", indent="    ")
    return str(page)


def _key() -> str:
    """One of the known keys. On a terminal one key is enough; from a pipe, the first letter of a line."""
    while True:
        current_call().say(HELP)
        key = _typed()
        if key in KEYS or key in ("s", "q"):
            return key


def _typed() -> str:
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line.strip()[:1].lower() if line else "q"
    import click

    try:
        return click.getchar().lower()
    except (KeyboardInterrupt, EOFError):
        return "q"


def _line(question: str) -> str:
    sys.stdout.write(question)
    sys.stdout.flush()
    return sys.stdin.readline().strip()
