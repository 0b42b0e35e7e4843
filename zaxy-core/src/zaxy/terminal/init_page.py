"""What `zaxy init` says: the plan before anything is written, what came of it, and the next step."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zaxy.observe.watcher import is_running
from zaxy.setup.genesis import DISCOVERED, GENESIS
from zaxy.setup.init import Done, LeftAlone, Plan, PlannedFile
from zaxy.setup.init_undo import Undone
from zaxy.setup.server_trial import Trial
from zaxy.terminal.screen import BOLD, DIM, GREEN, RED, YELLOW, Terminal, plain
from zaxy.workspace import Workspace

RECORDED_BY = {"hooks": "its hooks, what is said included", "capture": "capture, from its own session files"}
KINDS = {"mcp": "the MCP server zaxy", "hooks": "hooks", "capture": "capture", "ignore": "keeps memory out of git"}


def plan_lines(plan: Plan, terminal: Terminal) -> list[str]:
    root = plan.workspace.root
    lines = [f"Workspace {plain(root)}: session {plan.session}, graph {plan.identity.backend}."]
    lines += _section("Clients", [(found.name, found.by) for found in plan.clients], terminal)
    rows = [(_shown(file.path, root), _change_of(file)) for file in plan.files]
    rows += [
        (change.env, f"{change.after if change.after is not None else 'default'} (setting)") for change in plan.settings
    ]
    rows += [(client, f"recorded by {RECORDED_BY[recorder]}") for client, recorder in plan.recorders.items()]
    rows += [("the log", event) for event in _events(plan)]
    rows += [("owner record", "cleared away: its process is no more")] if plan.stale_owner else []
    lines += _section("To write", rows, terminal)
    lines += _section("As it should be", [(_shown(path, root), "") for path in plan.unchanged], terminal)
    return [*lines, *left_alone_lines(plan.left_alone, terminal)]


def left_alone_lines(left_alone: Sequence[LeftAlone], terminal: Terminal) -> list[str]:
    lines = ["", terminal.painted("Left alone", BOLD, YELLOW)] if left_alone else []
    for left in left_alone:
        lines += [f"  {plain(left.client or left.what)}: {plain(left.reason)}", f"    {plain(left.action)}"]
    return lines


def done_lines(plan: Plan, done: Done, terminal: Terminal) -> list[str]:
    fresh = [left for left in done.left_alone if left not in plan.left_alone]
    lines = left_alone_lines(fresh, terminal)
    if plan.changes:
        written = len(done.files) + len(plan.settings)
        said = [f"{written} written" if written else "", f"{len(done.events)} recorded" if done.events else ""]
        lines += ["", terminal.painted(f"Done: {', '.join(filter(None, said)) or 'cleared'}.", BOLD, GREEN)]
    else:
        lines += ["", "Everything is in place already. Nothing was changed."]
    if done.failure is not None:
        lines.append(terminal.painted(f"But the server does not work: {plain(done.failure.message)}", RED))
        return [*lines, f"  {plain(done.failure.remediation)}"]
    if done.trial is not None:
        lines += trial_lines(done.trial)
    steps = (*plan.next_steps, "If something seems wrong, run zaxy doctor.")
    return [*lines, "", terminal.painted("Next", BOLD), *(f"  {step}" for step in steps)]


def trial_lines(trial: Trial) -> list[str]:
    lines = [f"Started the way clients start it, the server answered after {trial.seconds:.1f} seconds."]
    citation = _citation(trial)
    return [*lines, f"  It cites {citation}"] if citation else lines


def _citation(trial: Trial) -> str | None:
    """The first that the reply has: of a fact, or else of a recent event. A new session has no facts yet."""
    rows = [*(trial.reply.get("current_facts") or ()), *(trial.reply.get("recent") or ())]
    return str(rows[0]["citation"]) if rows else None


def undo_lines(outcomes: Sequence[Undone], workspace: Workspace, terminal: Terminal, dry_run: bool) -> list[str]:
    root = workspace.root
    if not outcomes:
        return ["Nothing is on record that init wrote here."]
    lines = ["This would be taken out:"] if dry_run else []
    for one in outcomes:
        about = f": {plain(one.reason)}" if one.reason else ""
        colour = () if one.ok else (YELLOW,)
        lines.append(terminal.painted(f"  {plain(_shown(Path(one.what), root))}  {one.outcome}{about}", *colour))
        lines += [terminal.painted(f"    {plain(line)}", DIM) for line in one.difference.splitlines()]
    lines += ["The capture watcher still runs: zaxy capture stop"] if is_running(workspace) else []
    return [*lines, "The log stays: it is your memory. To delete it too, delete the folder .eventloom."]


def plan_as_dict(plan: Plan) -> dict[str, Any]:
    return {
        "workspace": plan.workspace.root,
        "session_id": plan.session,
        **plan.identity._asdict(),
        "clients": [found._asdict() for found in plan.clients],
        "changes": plan.changes,
        "files": [
            {
                "path": str(file.path),
                "change": "edit" if file.read.exists else "create",
                "parts": [part._asdict() for part in file.parts],
            }
            for file in plan.files
        ],
        "settings": [change._asdict() for change in plan.settings],
        "recorders": plan.recorders,
        "events": [GENESIS] * plan.missing.genesis + [DISCOVERED] * (plan.missing.instructions is not None),
        "unchanged": [str(path) for path in plan.unchanged],
        "left_alone": [left._asdict() for left in plan.left_alone],
        "next": list(plan.next_steps),
    }


def done_as_dict(done: Done) -> dict[str, Any]:
    trial = done.trial
    check = {"ok": trial is not None, "seconds": round(trial.seconds, 2) if trial else None}
    error = {"error": done.failure.as_dict()["error"]} if done.failure else {}
    return {
        "ok": done.ok,
        "written": list(done.files),
        "recorded": [event.citation for event in done.events],
        "left_alone": [left._asdict() for left in done.left_alone],
        "server": {**check, "citation": _citation(trial) if trial else None, **error},
    }


def undone_as_dict(outcomes: Sequence[Undone]) -> dict[str, Any]:
    return {"ok": all(one.ok for one in outcomes), "undone": [one._asdict() for one in outcomes]}


def _section(title: str, rows: Sequence[tuple[str, str]], terminal: Terminal) -> list[str]:
    if not rows:
        return []
    width = max(len(name) for name, _ in rows)
    return [
        "",
        terminal.painted(title, BOLD),
        *(f"  {plain(name).ljust(width)}  {plain(text)}".rstrip() for name, text in rows),
    ]


def _change_of(file: PlannedFile) -> str:
    what = ", ".join(dict.fromkeys(KINDS[part.kind] for part in file.parts))
    clients = ", ".join(dict.fromkeys(part.client for part in file.parts if part.client))
    return f"{what}{f' ({clients})' if clients else ''}: {'added, the rest stays' if file.read.exists else 'new file'}"


def _events(plan: Plan) -> list[str]:
    events = [f"{GENESIS}: where memory begins"] if plan.missing.genesis else []
    if plan.missing.instructions is not None:
        paths = ", ".join(file.path for file in plan.missing.instructions) or "none any more"
        events.append(f"{DISCOVERED}: {paths}")
    return events


def _shown(path: Path, root: str) -> str:
    """A path as one would type it: relative within the project, with ~ in the home folder."""
    text, home = str(path), os.path.expanduser("~")
    for folder, sign in ((root, ""), (home, "~" + os.sep)):
        if text.startswith(folder + os.sep):
            return sign + text[len(folder) + 1 :]
    return text
