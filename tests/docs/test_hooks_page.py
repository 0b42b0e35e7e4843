"""The page about hooks says what the code does: events, files, statuses and reasons."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from zaxy.api import JsonHooks
from zaxy.clients import hook_installs
from zaxy.clients.cursor import CursorClient
from zaxy.clients.gemini import Gemini
from zaxy.observe import reminders
from zaxy_claude_code.client import ClaudeCode
from zaxy_codex.client import Codex

PAGE = (Path(__file__).parents[2] / "docs" / "hooks.md").read_text(encoding="utf-8")
COLUMNS = {
    "claude-code": ClaudeCode.hooks,
    "codex": Codex.hooks,
    "cursor": CursorClient.hooks,
    "gemini": Gemini.hooks,
}


def rows(first_column: str) -> list[list[str]]:
    match = re.search(rf"^\| {first_column} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert match
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in match[1].splitlines()]


@pytest.mark.parametrize(("column", "hooks"), list(enumerate(COLUMNS.values(), start=1)), ids=COLUMNS)
def test_the_events_of_each_client_are_those_that_are_configured(column: int, hooks: JsonHooks) -> None:
    shown = {row[0].strip("`"): row[column].split(", ") for row in rows("trigger")}
    configured: dict[str, list[str]] = {}
    for observed in hooks.events:
        events = configured.setdefault(observed.trigger, [])
        if observed.event not in events:
            events.append(observed.event)
    assert shown == configured


def test_the_commands_that_install_name_the_files_that_are_written() -> None:
    for name, hooks in COLUMNS.items():
        assert f"`zaxy hooks {name} --output {hooks.files[0]}`" in PAGE


def test_every_reason_for_a_reminder_is_there_with_its_threshold() -> None:
    assert [row[0].strip("`") for row in rows("reason")] == list(reminders.MESSAGES)
    text = PAGE[PAGE.index("## Reminders") :]
    assert f"{reminders.LONG_SESSION_TURNS} turns or more" in text
    assert f"{reminders.STALE_EVENTS} events were recorded" in text
    assert f"took {reminders.LONG_RUN_MS // 60_000} minutes or more" in text
    assert f"at {reminders.FARTHEST_LOOK >> 20} MiB at most" in text


def test_every_status_of_an_installation_is_explained() -> None:
    statuses = {hook_installs.INSTALLED, hook_installs.NOT_TRUSTED, hook_installs.NOT_INSTALLED, hook_installs.PARTLY}
    statuses |= {hook_installs.DISABLED, hook_installs.BROKEN, hook_installs.INVALID}
    assert {row[0].strip("`") for row in rows("status")} == statuses
