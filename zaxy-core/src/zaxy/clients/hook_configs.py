"""The hook configuration of other programs: which of their events Zaxy observes, as they write it down.

What is added is a group of its own for each event, so taking it out again leaves everything else as it was.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Any, NamedTuple

from zaxy.clients import json_text
from zaxy.clients.hook_clients import (
    CODEX,
    CURSOR,
    GEMINI,
    GENERIC,
    MOMENTS,
    HookClient,
    HookCommand,
    Observed,
)
from zaxy.errors import Conflict, Unavailable


class Handler(NamedTuple):
    """A handler of ours in a client's configuration."""

    event: str
    trigger: str
    words: tuple[str, ...]
    path: tuple[str | int, ...]
    """The way to it, or to its group if that holds nothing else."""
    place: tuple[int, int]
    """The numbers of its group and of itself."""

    def option(self, name: str) -> str:
        """The value of an option of its command; empty if it is not given."""
        return dict(pairwise(self.words)).get(name, "")


def with_hooks(text: str, client: HookClient, command: HookCommand, force: bool = False, moments: bool = False) -> str:
    """The configuration with Zaxy's handlers. Those that are there are a conflict, or with `force` replaced.

    `moments`: without observations, because something else records them.
    """
    _refuse_unusable(text, client)
    if handlers(text, client):
        if not force:
            raise Conflict(
                "there are handlers of Zaxy's already",
                "Pass --force to replace those and nothing else, or --remove to take them out.",
            )
        text = without_hooks(text, client)
    observed = [each for each in client.observed if not moments or each.trigger in MOMENTS]
    needs_version = not client.grouped and not {"version", "hooks"} & _members(text)
    behind = {event for event in _events(text) if client is CODEX}
    # Each is put in front of what its event has, so that the last comes first.
    for each in reversed([each for each in observed if each.event not in behind]):
        text = json_text.put(text, ["hooks", each.event, 0], _entry(client, each, command))
    for each in (each for each in observed if each.event in behind):
        text = _put_behind(text, each.event, _entry(client, each, command))
    return json_text.put(text, ["version"], 1) if needs_version else text


def without_hooks(text: str, client: HookClient) -> str:
    """The configuration without Zaxy's handlers, and without the lists that were made for them alone."""
    versioned = not client.grouped and _version_is_ours(text)
    for path in reversed(dict.fromkeys(handler.path for handler in handlers(text, client))):
        text = json_text.take_out(text, path)
    return json_text.take_out(text, ["version"]) if versioned and "hooks" not in _members(text) else text


def handlers(text: str, client: HookClient) -> list[Handler]:
    """Zaxy's handlers in a configuration, in their order. Comments and other texts that name Zaxy are none."""
    configured = json_text.value_at(text, ["hooks"])
    if not isinstance(configured, dict):
        return []
    return [
        handler
        for event, entries in configured.items()
        if isinstance(entries, list)
        for handler in (_in_groups(event, entries) if client.grouped else _in_list(event, entries))
    ]


def shell_line(words: Sequence[str]) -> str:
    """The words as the platform's shell reads them."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def shell_script(command: HookCommand) -> str:
    """A script for any client that runs commands: it takes a trigger and the options of `zaxy hook-event`."""
    program = shlex.join(command.program)
    fixed = shlex.join(
        (
            *("--source", GENERIC, "--eventloom-path", command.eventloom),
            *(("--session-id", command.session) if command.session else ()),
        )
    )
    return f"""#!/bin/sh
# Records what an agent's client does in Zaxy's log. Let the client run it at its own events, for example:
#   sh zaxy-hooks.sh session-start
#   sh zaxy-hooks.sh user-prompt-submit --prompt "$PROMPT"
#   sh zaxy-hooks.sh command --command "$COMMAND" --exit-code "$STATUS" --stdout "$OUTPUT"
#   sh zaxy-hooks.sh file-edit --path "$FILE" --operation modified
#   sh zaxy-hooks.sh tool-call --tool-name "$TOOL" --tool-status ok --arguments-json "$ARGUMENTS"
#   sh zaxy-hooks.sh transcript-turn --role assistant --content "$TEXT" --turn-index "$TURN"
#   sh zaxy-hooks.sh precompact
#   sh zaxy-hooks.sh stop --turn-count "$TURN"
# A client that writes JSON on standard input needs only the trigger and --stdin-json.
# It prints nothing and exits with 0, also if Zaxy is gone.
[ -x {shlex.quote(command.program[0])} ] || exit 0
exec {program} hook-event {fixed} "$@"
"""


def _events(text: str) -> list[str]:
    """The events that have handlers, whosever they are."""
    configured = json_text.value_at(text, ["hooks"])
    return [event for event, entries in configured.items() if entries] if isinstance(configured, dict) else []


def _put_behind(text: str, event: str, entry: dict[str, Any]) -> str:
    """The text with an entry more at the end of an event's list.

    Codex keeps in mind by their numbers which hooks were trusted: what is put in front of others undoes that.
    """
    root = json_text.parse(text)
    listed = json_text.find(root, ["hooks", event])
    if root is None or listed is None or not listed.node.elements:
        raise Unavailable(f"{event} has no list of hooks", "Mend the file first; it was left as it is.")
    first, last = listed.node.elements[0], listed.node.elements[-1]
    piece = f", {json.dumps(entry, ensure_ascii=False)}"
    if "\n" in text[listed.node.start : first.start]:
        break_ = json_text.line_end_of(text) + json_text.indent_of(text, first.start)
        lines = json.dumps(entry, indent=json_text.unit_of(text, root), ensure_ascii=False)
        piece = f",{break_}" + lines.replace("\n", break_)
    return text[: last.node.end] + piece + text[last.node.end :]


def _entry(client: HookClient, observed: Observed, command: HookCommand) -> dict[str, Any]:
    words = command.words(client.name, observed)
    timeout = observed.timeout * (1000 if client.milliseconds else 1)
    if not client.grouped:
        return {"command": shell_line(words), "timeout": timeout}
    handler: dict[str, Any] = {"type": "command", "command": shell_line(words), "timeout": timeout}
    if client.exec_form:
        handler = {"type": "command", "command": words[0], "args": words[1:], "timeout": timeout}
    if client is GEMINI:
        handler = {"name": f"zaxy-{observed.trigger}", **handler}
    return {**({"matcher": observed.matcher} if observed.matcher else {}), "hooks": [handler]}


def _in_groups(event: str, groups: list[Any]) -> Iterator[Handler]:
    for at, group in enumerate(groups):
        inner = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(inner, list):
            continue
        ours = [number for number, handler in enumerate(inner) if zaxy_words(handler)]
        whole = len(ours) == len(inner)
        for number in ours:
            words = zaxy_words(inner[number])
            path = ("hooks", event, at) if whole else ("hooks", event, at, "hooks", number)
            yield Handler(event, _trigger(words), words, path, (at, number))


def _in_list(event: str, entries: list[Any]) -> Iterator[Handler]:
    for at, handler in enumerate(entries):
        if words := zaxy_words(handler):
            yield Handler(event, _trigger(words), words, ("hooks", event, at), (at, 0))


def zaxy_words(handler: object) -> tuple[str, ...]:
    """The words of a handler that runs `zaxy hook-event` and nothing else; empty for any other."""
    if not isinstance(handler, dict) or handler.get("type", "command") != "command":
        return ()
    command, arguments = handler.get("command"), handler.get("args", [])
    if not isinstance(command, str) or not isinstance(arguments, list):
        return ()
    words = (command, *map(str, arguments)) if arguments else tuple(_split(command))
    return words if _runs_zaxy(words) else ()


def _runs_zaxy(words: Sequence[str]) -> bool:
    if "hook-event" not in words[:4] or any(word in ("&&", "||", ";", "|", "&") for word in words):
        return False
    at = words.index("hook-event")
    program = PurePath(words[0].replace("\\", "/")).name.lower()
    if at == 1:
        return program in ("zaxy", "zaxy.exe", "zaxy.cmd")
    return tuple(words[at - 2 : at]) == ("-m", "zaxy")


def _split(command: str) -> list[str]:
    try:
        if "\\" not in command:
            return shlex.split(command)
        return [word.strip('"') for word in shlex.split(command, posix=False)]  # paths of Windows
    except ValueError:
        return []


def _trigger(words: Sequence[str]) -> str:
    following = words[words.index("hook-event") + 1 :]
    return following[0] if following else ""


def _members(text: str) -> set[str]:
    root = json_text.parse(text)
    return set(root.value) if root is not None and isinstance(root.value, dict) else set()


def _version_is_ours(text: str) -> bool:
    """What is added comes in front, so a version that stands before hooks of ours was added after them."""
    root = json_text.parse(text)
    return root is not None and [element.key for element in root.elements][:2] == ["version", "hooks"]


CODEX_KEYS = frozenset(("description", "hooks"))


def _refuse_unusable(text: str, client: HookClient) -> None:
    """What the client itself would refuse, or what Zaxy's handlers cannot be put into."""
    reason = invalid_reason(text, client)
    if reason:
        raise Unavailable(reason, "Mend the file first; it was left as it is.")


def invalid_reason(text: str, client: HookClient) -> str:
    """Why a client would not run the hooks of a configuration; empty if it would."""
    root = json_text.parse(text)
    if root is None:
        return ""
    if not isinstance(root.value, dict):
        return "it is not a JSON object"
    configured = root.value.get("hooks", {})
    if not isinstance(configured, dict):
        return "its 'hooks' is not an object"
    observed = {each.event for each in client.observed}
    wrong = next((event for event in configured if event in observed and not isinstance(configured[event], list)), "")
    if wrong:
        return f"its hooks.{wrong} is not a list"
    if client is CODEX:
        return _refused_by_codex(text, root.value)
    if client is CURSOR and root.value.get("version", 1) != 1:
        return "its 'version' is not 1"
    return ""


def _refused_by_codex(text: str, value: dict[str, Any]) -> str:
    unknown = sorted(value.keys() - CODEX_KEYS)
    if unknown:
        return f"Codex refuses a hooks.json that has {unknown[0]!r:.40} beside 'hooks'"
    try:
        json.loads(text)
    except ValueError as error:
        return f"Codex takes plain JSON only, without comments: {error}"
    return ""
