"""Keeps the status of a mission current on a terminal."""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress

from zaxy.api import current_call, print_page
from zaxy_coordinate.missions import Missions
from zaxy_coordinate.pages import status_page

SECONDS = 1.0
CLEAR = "\x1b[H\x1b[2J"


def watch_mission(missions: Missions, mission_id: str, *, as_json: bool, seconds: float = SECONDS) -> None:
    """Print the status again whenever a log of the mission has grown, until the user ends it."""
    shown = -1
    with suppress(KeyboardInterrupt):
        while True:
            state = missions.mission(mission_id)
            if state.version != shown:
                shown = state.version
                _show(missions, mission_id, as_json)
            time.sleep(seconds)


def _show(missions: Missions, mission_id: str, as_json: bool) -> None:
    reply = missions.merge_brief(mission_id)
    if as_json:
        current_call().say(json.dumps(reply, ensure_ascii=False))
        return
    if sys.stdout.isatty():
        sys.stdout.write(CLEAR)
    print_page(status_page, reply)
    sys.stdout.flush()
