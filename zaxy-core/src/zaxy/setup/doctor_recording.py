"""What the doctor says of what is recorded: whether that is paused, and what the project keeps out."""

from __future__ import annotations

import os

from zaxy.api.health import OK, WARNING, Finding
from zaxy.observe.ignored import FILE, read_ignored
from zaxy.observe.recording import read_recording, to_the_second
from zaxy.setup.doctor import DoctorCheck, DoctorContext


def check_recording(context: DoctorContext) -> list[Finding]:
    since = read_recording(context.eventloom).paused_since
    if since:
        message = f"recording is paused since {to_the_second(since)}: hooks, capture and agents write nothing"
        return [Finding("recording", WARNING, message, context.command("resume"))]
    return [Finding("recording", OK, "it is not paused")]


def check_ignored(context: DoctorContext) -> list[Finding]:
    found = read_ignored(context.workspace.root)
    path = os.path.join(context.workspace.root, FILE)
    rows = [
        Finding("kept_out", WARNING, f"{FILE}, {problem}: it keeps nothing out", f"Correct it in {path}.")
        for problem in found.malformed
    ]
    counts = [(len(found.paths), "path"), (len(found.tools), "tool"), (len(found.commands), "command")]
    said = ", ".join(f"{count} line{'s' * (count != 1)} for {kind}s" for count, kind in counts if count)
    return rows or [Finding("kept_out", OK, f"{FILE} has {said}" if said else f"nothing: there is no {FILE}")]


CHECKS = (DoctorCheck("recording", check_recording), DoctorCheck("kept_out", check_ignored))
