"""The demonstration as a person reads it: step by step, and then what to type next."""

from __future__ import annotations

from zaxy.terminal.demo import Shown, Step
from zaxy.terminal.screen import BOLD, DIM, GREEN, RED, Terminal, cells, plain, wrapped

OPENING = "What memory does, in a temporary folder. Nothing of yours is touched."
NEXT_RECORD = """zaxy append decision.made --payload '{"key": "database", "decision": "Use Postgres"}'"""
NEXT_ASK = 'zaxy checkout "Which database do we use?"'
NEXT_SERVE = '{"mcpServers": {"zaxy": {"command": "zaxy", "args": ["serve"]}}}'
NEXT = (
    ("In your project's folder, record something and ask for it:", NEXT_RECORD, NEXT_ASK),
    ("Give it to an agent: in a client that reads .mcp.json, as that file in the same folder:", NEXT_SERVE),
)


def step_lines(number: int, step: Step, terminal: Terminal) -> list[str]:
    lines = [terminal.painted(f"{number}. {step.heading}", BOLD), terminal.painted(f"   $ {step.command}", DIM)]
    for shown in step.shown:
        lines += _shown(shown, terminal)
    if not step.ok:
        lines.append(terminal.painted("   This is not what should be shown: the installation does not work.", RED))
    return lines


def _shown(shown: Shown, terminal: Terminal) -> list[str]:
    """A line with its source beside it, or below it where that does not fit."""
    about = "  ".join(filter(None, (plain(shown.about), shown.citation)))
    text = f"   {plain(shown.text)}"
    if not about or cells(f"{text}  {about}") <= terminal.width:
        return [text + terminal.painted(f"  {about}", DIM)] if about else [text]
    fits = cells(f"     {about}") <= terminal.width
    below = [f"     {about}"] if fits else wrapped(about, terminal.width, "     ")
    return [*wrapped(plain(shown.text), terminal.width, "   "), *(terminal.painted(line, DIM) for line in below)]


def closing_lines(done: int, failed: int, *, seconds: float, kept: str, terminal: Terminal) -> list[str]:
    """How it went, where it is if it was kept, and the next commands."""
    verdict = f"{failed} of {done} steps failed" if failed else f"All {done} steps showed what they should"
    lines = [terminal.painted(f"{verdict}, in {seconds:.1f} seconds.", BOLD, RED if failed else GREEN)]
    lines += [f"The folder is kept: {kept}"] if kept else []
    for heading, *typed in NEXT:
        lines += ["", heading, *(f"   {line}" for line in typed)]
    return lines
