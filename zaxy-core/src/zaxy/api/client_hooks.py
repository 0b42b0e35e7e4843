"""The hooks of a client: which of its events are observed, and `JsonHooks`, which keeps them in a JSON file.

What is added is a group of its own for each event, so taking it out again leaves everything else as it was.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any

from zaxy.api.edit import json as json_text
from zaxy.errors import Conflict, Unavailable

TIMEOUT = 10
"""Seconds that a client waits at most. A hook takes about 0.05 s, and gives up on a busy log after one second."""
CONTEXT = "hook-context"
"""The command that prints where the work stands. It stands in place of a trigger: it records none."""
MOMENTS = frozenset(("session-start", "user-prompt-submit", "precompact", "stop", CONTEXT))
"""Triggers that record a moment. The others are observations, which a capture watcher records as well."""
COMMANDS = ("hook-event", CONTEXT)
SHUTDOWN = ("--reason", "shutdown")
"""Options of a hook at the end of a session."""
AS_TEXT, AS_HOOK_OUTPUT, AS_ADDITIONAL = (("--format", form) for form in ("text", "hook-output", "additional-context"))
"""Options of a hook that prints where the work stands, by how the client reads it."""
SPOKEN = ("--role", "assistant")
"""Options of a hook that records what the assistant said."""


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One event of a client's, and the trigger that it is recorded with."""

    event: str
    trigger: str
    matcher: str = ""
    """Which tools it is about, as the client writes it; empty for all."""
    options: tuple[str, ...] = ()
    """Further options of `zaxy hook-event`, or of `zaxy hook-context`."""
    timeout: int = TIMEOUT
    occasional: bool = False
    """Whether most users never have it, as where it tells only of servers that they set up themselves."""


@dataclass(frozen=True, slots=True)
class HookCommand:
    """What every hook of a workspace runs, but for the trigger."""

    program: tuple[str, ...]
    """How Zaxy is started: an absolute path, perhaps with words behind it, or its name alone."""
    source: str
    """The client's name, which the events are recorded with."""
    eventloom: str
    """Empty: that of the project in which the hook runs."""
    session: str = ""
    """Empty: the workspace's own, whichever that is when the hook runs."""

    def words(self, event: HookEvent) -> list[str]:
        """The command of one event's hook, word by word."""
        named = ["--session-id", self.session] if self.session else []
        log = ["--eventloom-path", self.eventloom] if self.eventloom else []
        place = ["--source", self.source, *log, *named]
        command = [CONTEXT] if event.trigger == CONTEXT else ["hook-event", event.trigger]
        return [*self.program, *command, *place, *event.options, "--stdin-json"]


@dataclass(frozen=True, slots=True)
class HookHandler:
    """A handler of ours in a client's file."""

    event: str
    trigger: str
    words: tuple[str, ...]
    """The command that it runs."""
    path: tuple[str | int, ...] = ()
    """The way to it, or to its group if that holds nothing else."""
    place: tuple[int, int] = (0, 0)
    """The numbers of its group and of itself."""

    def option(self, name: str) -> str:
        """The value of an option of its command; empty if it is not given."""
        return dict(pairwise(self.words)).get(name, "")


@dataclass(frozen=True)
class JsonHooks:
    """Hooks that stand under `hooks` in a JSON file, by event."""

    files: tuple[str, ...]
    """Where the client looks in a project; Zaxy writes to the first."""
    events: tuple[HookEvent, ...]
    exec_form: bool = False
    """Whether it takes the words of a command one by one, so that no shell reads them."""
    grouped: bool = True
    """Whether handlers stand in groups with a matcher, or right under their event."""
    milliseconds: bool = False
    """Whether timeouts are milliseconds; else they are seconds."""
    named: bool = False
    """Whether each handler has a name."""
    last: bool = False
    """Whether ours come after the others of their event, whose numbers mean something to the client."""
    version: int = 0
    """The `version` that the file must have; 0 where it has none."""
    off_key: str = ""
    """The setting in the same files that turns every hook off."""
    trust: str = ""
    """What the user does to trust the hooks; empty for a client that runs all of them."""

    @property
    def triggers(self) -> Sequence[str]:
        return tuple(dict.fromkeys(event.trigger for event in self.events))

    @property
    def usual_triggers(self) -> Sequence[str]:
        """Those that everybody who works with the client can expect."""
        return tuple(dict.fromkeys(event.trigger for event in self.events if not event.occasional))

    def install(self, text: str, command: HookCommand, force: bool, moments: bool) -> str:
        reason = self.invalid_reason(text)
        if reason:
            raise Unavailable(reason, json_text.FIX)
        if self.find(text):
            if not force:
                raise Conflict(
                    "there are hooks of Zaxy already",
                    "Pass --force to replace those and nothing else, or --remove to take them out.",
                )
            text = self.remove(text)
        events = [event for event in self.events if not moments or event.trigger in MOMENTS]
        needs_version = bool(self.version) and not {"version", "hooks"} & _members(text).keys()
        behind = [event for event in events if self.last and _listed(text, event.event)]
        # Each of the others is put in front of what its event has, so that the last comes first.
        for event in reversed([event for event in events if event not in behind]):
            text = json_text.put(text, ["hooks", event.event, 0], self._entry(event, command))
        for event in behind:
            text = json_text.append(text, ["hooks", event.event], self._entry(event, command))
        return json_text.put(text, ["version"], self.version) if needs_version else text

    def find(self, text: str) -> Sequence[HookHandler]:
        configured = json_text.value_at(text, ["hooks"])
        if not isinstance(configured, dict):
            return []
        return [
            handler
            for event, entries in configured.items()
            if isinstance(entries, list)
            for handler in (_in_groups(event, entries) if self.grouped else _in_list(event, entries))
        ]

    def remove(self, text: str) -> str:
        # What is added comes in front, so a version that stands before hooks of ours was added after them.
        versioned = bool(self.version) and list(_members(text))[:2] == ["version", "hooks"]
        for path in reversed(dict.fromkeys(handler.path for handler in self.find(text))):
            text = json_text.take_out(text, path)
        return json_text.take_out(text, ["version"]) if versioned and "hooks" not in _members(text) else text

    def invalid_reason(self, text: str) -> str:
        root = json_text.parse(text)
        if root is None:
            return ""
        if not isinstance(root.value, dict):
            return "it is not a JSON object"
        configured = root.value.get("hooks", {})
        if not isinstance(configured, dict):
            return "its 'hooks' is not an object"
        for event in self.events:
            if not isinstance(configured.get(event.event, []), list):
                return f"its hooks.{event.event} is not a list"
        if self.version and root.value.get("version", self.version) != self.version:
            return f"its 'version' is not {self.version}"
        return ""

    def off_switch(self, text: str) -> str:
        return self.off_key if self.off_key and json_text.value_at(text, [self.off_key]) is True else ""

    def is_trusted(self, handler: HookHandler, path: Path, environ: Mapping[str, str]) -> bool:
        return not self.skip_reason(handler, path, environ)

    def skip_reason(self, handler: HookHandler, path: Path, environ: Mapping[str, str]) -> str:
        """Why the client does not run this handler of the file at `path`; empty if it does, as far as can be known."""
        return ""

    def _entry(self, event: HookEvent, command: HookCommand) -> dict[str, Any]:
        words = command.words(event)
        handler: dict[str, Any] = {"command": shell_line(words)}
        if self.exec_form:
            handler = {"command": words[0], "args": words[1:]}
        handler["timeout"] = event.timeout * (1000 if self.milliseconds else 1)
        matcher = {"matcher": event.matcher} if event.matcher else {}
        if not self.grouped:
            return {**matcher, **handler}
        name = {"name": f"zaxy-{event.trigger}"} if self.named else {}
        return {**matcher, "hooks": [{**name, "type": "command", **handler}]}


def all_tools_but(*names: str) -> str:
    """A pattern for every tool but these and memory's own, which memory records by itself."""
    return f"^(?!(?:{'|'.join(names)})$|mcp__zaxy__|mcp_zaxy_)"


def shell_line(words: Sequence[str]) -> str:
    """The words as the platform's shell reads them."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def zaxy_words(handler: object) -> tuple[str, ...]:
    """The words of a handler that runs one of our commands and nothing else; empty for any other."""
    if not isinstance(handler, dict) or handler.get("type", "command") != "command":
        return ()
    command, arguments = handler.get("command"), handler.get("args", [])
    if not isinstance(command, str) or not isinstance(arguments, list):
        return ()
    words = (command, *map(str, arguments)) if arguments else tuple(_split(command))
    return words if _runs_zaxy(words) else ()


def _in_groups(event: str, groups: list[Any]) -> Iterator[HookHandler]:
    for at, group in enumerate(groups):
        inner = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(inner, list):
            continue
        ours = [number for number, handler in enumerate(inner) if zaxy_words(handler)]
        for number in ours:
            words = zaxy_words(inner[number])
            whole = ("hooks", event, at)
            path = whole if len(ours) == len(inner) else (*whole, "hooks", number)
            yield HookHandler(event, _trigger(words), words, path, (at, number))


def _in_list(event: str, entries: list[Any]) -> Iterator[HookHandler]:
    for at, handler in enumerate(entries):
        if words := zaxy_words(handler):
            yield HookHandler(event, _trigger(words), words, ("hooks", event, at), (at, 0))


def _runs_zaxy(words: Sequence[str]) -> bool:
    at = _command_at(words)
    if not at or any(word in ("&&", "||", ";", "|", "&") for word in words):
        return False
    program = PurePath(words[0].replace("\\", "/")).name.lower()
    if at == 1:
        return program in ("zaxy", "zaxy.exe", "zaxy.cmd")
    return tuple(words[at - 2 : at]) == ("-m", "zaxy")


def _command_at(words: Sequence[str]) -> int:
    """Where one of our commands stands behind a program; 0 where none does."""
    return next((at for at, word in enumerate(words[:5]) if at and word in COMMANDS), 0)


def _split(command: str) -> list[str]:
    try:
        if "\\" not in command:
            return shlex.split(command)
        return [word.strip('"') for word in shlex.split(command, posix=False)]  # paths of Windows
    except ValueError:
        return []


def _trigger(words: Sequence[str]) -> str:
    at = _command_at(words)
    following = words[at + 1 :]
    return CONTEXT if words[at] == CONTEXT else following[0] if following else ""


def _members(text: str) -> dict[str, Any]:
    root = json_text.parse(text)
    return root.value if root is not None and isinstance(root.value, dict) else {}


def _listed(text: str, event: str) -> bool:
    """Whether an event has handlers already."""
    entries = json_text.value_at(text, ["hooks", event])
    return entries is not json_text.MISSING and bool(entries)
