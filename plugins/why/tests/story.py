"""A project in which agents and people edit real files, commit and rename, and the writer of every line is known.

Agents are recorded as they are in life: Claude Code, Cursor, Gemini CLI and Codex by what they hand to their hooks, or
Claude Code and Codex by the session files that they write, which capture reads at the end.
"""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from zaxy import Memory
from zaxy.observe.capture import Capture
from zaxy.observe.hook_command import HookCall
from zaxy.observe.recording import choose_recorder
from zaxy.workspace import find_workspace

PERSON = "a person"
SESSION = "11111111-2222-4333-8444-{:012d}"
THREAD = "0199aaaa-bbbb-7ccc-8ddd-{:012d}"
"""How clients name their conversations."""
BEGIN = 1_790_000_000
"""A moment of autumn 2026, in seconds."""
WORDS = (
    "amber basin cobalt delta ember fjord garnet harbour indigo juniper kelp lagoon meadow nectar opal prairie".split()
)
COMMON = ("", "    }", "    return total", "")
"""Lines that many places of a file have: git cannot tell them apart."""


class Line(NamedTuple):
    text: str
    writer: str
    """The moment of the edit that wrote it, which no other has; or that a person did."""


class Story:
    def __init__(self, folder: Path, home: Path, seed: int = 1, *, git: bool = True) -> None:
        self.folder, self.home, self.now = folder, home, BEGIN
        self.random = Random(seed)
        self.files: dict[str, list[Line]] = {}
        self.prompts: dict[str, str] = {}
        """What was asked for, by the moment of the edit."""
        self._claude: dict[int, list[dict[str, Any]]] = {}
        self._codex: dict[int, list[dict[str, Any]]] = {}
        self._conversation = 0
        self.subagent = ""
        """The one at work, as hooks name it."""
        self._prompt = ""
        folder.mkdir(parents=True)
        (folder / ".eventloom").mkdir()
        self._has_git = git
        if git:
            self.git("init", "--quiet", "-b", "main")
            (folder / ".git/info/exclude").write_text(".eventloom\n", encoding="utf-8")
        self._number = 0

    # Time and files

    def wait(self, seconds: int = 0) -> None:
        self.now += seconds or self.random.randint(20, 900)

    @property
    def at(self) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(self.now)) + ".000000Z"

    def text(self, name: str) -> str:
        return "".join(f"{line.text}\n" for line in self.files[name])

    def _write(self, name: str, lines: Sequence[Line]) -> None:
        self.files[name] = [*lines]
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text(name), encoding="utf-8")
        os.utime(path, (self.now, self.now))

    def fresh(self, count: int) -> list[str]:
        """Lines that nobody wrote before, with some between them that every file has."""
        return [self._line() for _ in range(count)]

    def _line(self) -> str:
        if self.random.random() < 0.15:
            return self.random.choice(COMMON)
        self._number += 1
        name, called = self.random.choices(WORDS, k=2)
        return f"    {name}_{self._number} = {called}({self.random.randint(1, 99)})"

    # People

    def git(self, *words: str) -> None:
        when = f"{self.now} +0000"
        names = {
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Ann"), ("EMAIL", "ann@example.org"), ("DATE", when))
        }
        command = ["git", "-c", "commit.gpgsign=false", *words]
        subprocess.run(command, cwd=self.folder, env={**os.environ, **names}, check=True, capture_output=True)

    def commit(self) -> None:
        if self._has_git:
            self.wait()
            self.git("add", "-A")
            self.git("commit", "--quiet", "--allow-empty", "-m", "Go on")

    def amend(self) -> None:
        """Put what was done since into the last commit, which keeps its author's time."""
        if self._has_git:
            self.wait()
            self.git("add", "-A")
            self.git("commit", "--quiet", "--amend", "--no-edit")

    def format_by_hand(self, name: str, start: int, count: int) -> None:
        """A person's program indents some lines."""
        self.by_hand(name, start, count, [f"    {line.text}" for line in self.files[name][start : start + count]])

    def by_hand(self, name: str, start: int, olds: int, news: Sequence[str]) -> None:
        """A person's edit, which nothing records."""
        self.wait()
        self._write(name, _replaced(self.files[name], start, olds, [Line(text, PERSON) for text in news]))

    def move(self, old: str, new: str) -> None:
        self.wait()
        self.git("add", "-A")
        self.git("mv", old, new)
        self.files[new] = self.files.pop(old)

    # Agents

    def begin_conversation(self) -> None:
        """Every second one is in a session of its own, which somebody gave a name."""
        self._conversation += 1

    def ask(self, prompt: str, client: str, *, by_hooks: bool) -> None:
        self.wait()
        self._prompt = prompt
        if by_hooks:
            self._hook("user-prompt-submit", client, {"prompt": prompt})
        elif client == "claude-code":
            self._note_claude("user", message={"role": "user", "content": prompt})
        else:
            self._note_codex("event_msg", {"type": "user_message", "message": prompt})

    def edit(self, name: str, start: int, olds: int, news: Sequence[str], client: str, *, by_hooks: bool) -> None:
        """An agent replaces `olds` lines from `start` on, 0-based; the file may be new."""
        self.wait()
        before = self.text(name) if name in self.files else None
        lines = _replaced(self.files.get(name, []), start, olds, [Line(text, self.at) for text in news])
        old = [line.text for line in self.files.get(name, [])][start : start + olds]
        self._write(name, lines)
        self.prompts[self.at] = self._prompt
        if by_hooks:
            self._tell_hook(client, name, before, old=old, start=start, new=list(news))
        elif client == "claude-code":
            self._tell_claude(name, before)
        else:
            self._tell_codex(name, before)

    def move_lines(self, name: str, start: int, count: int, down: int, client: str, *, by_hooks: bool) -> None:
        """An agent puts lines further down."""
        texts = [line.text for line in self.files[name][start : start + count + down]]
        self.edit(name, start, len(texts), [*texts[count:], *texts[:count]], client, by_hooks=by_hooks)

    def rename_by_codex(self, old: str, new: str) -> None:
        """A patch that moves a file and changes a line of it."""
        self.wait()
        before = self.text(old)
        self.files[new] = self.files.pop(old)
        (self.folder / old).unlink()
        self._write(new, _replaced(self.files[new], 1, 1, [Line(self._line() + " # moved", self.at)]))
        self.prompts[self.at] = self._prompt
        diff = _diff(before, self.text(new))
        changes = {
            str(self.folder / old): {"type": "update", "unified_diff": diff, "move_path": str(self.folder / new)}
        }
        self._note_codex(
            "event_msg", {"type": "patch_apply_end", "call_id": self.at, "success": True, "changes": changes}
        )

    # What clients hand to hooks

    def _tell_hook(
        self, client: str, name: str, before: str | None, *, old: list[str], start: int, new: list[str]
    ) -> None:
        path, after = str(self.folder / name), self.text(name)
        if client == "claude-code":
            kind = {"type": "create"} if before is None else {}
            response = {**kind, "filePath": path, "originalFile": before, "structuredPatch": _patch(before, after)}
            tool = "Write" if before is None else "Edit"
            self._hook(
                "file-edit", client, {"tool_name": tool, "tool_input": {"file_path": path}, "tool_response": response}
            )
        elif client == "gemini":
            shown = {
                "fileDiff": f"Index: {name}\n{'=' * 67}\n{_diff(before or '', after)}",
                "originalContent": before or "",
            }
            response = {"llmContent": "Successfully modified file", "returnDisplay": shown}
            self._hook(
                "file-edit",
                client,
                {"tool_name": "replace", "tool_input": {"file_path": path}, "tool_response": response},
            )
        elif client == "cursor":
            edits = [
                {"old_string": one, "new_string": other} for one, other in self._strings(name, before, old, start, new)
            ]
            self._hook("file-edit", client, {"file_path": path, "edits": edits, "workspace_roots": [str(self.folder)]})
        else:
            patch = f"*** Begin Patch\n{_codex_patch(name, before, after)}*** End Patch"
            self._hook("file-edit", client, {"tool_name": "apply_patch", "tool_input": {"command": patch}})

    def _strings(
        self, name: str, before: str | None, old: list[str], start: int, new: list[str]
    ) -> list[tuple[str, str]]:
        """What is replaced, with a line around it."""
        if before is None:
            return [("", self.text(name))]
        above = [line.text for line in self.files[name][max(start - 2, 0) : start]]
        below = [line.text for line in self.files[name][start + len(new) :][:2]]
        return [("".join(f"{text}\n" for text in [*above, *middle, *below]) for middle in (old, new))]  # type: ignore[list-item]

    def _hook(self, trigger: str, client: str, said: dict[str, Any]) -> None:
        number = self._conversation
        transcript = str(self.home / f"{number}.jsonl")
        common = {"session_id": SESSION.format(number), "transcript_path": transcript, "cwd": str(self.folder)}
        fields = {"source": client, "workspace": str(self.folder)}
        if self.subagent:
            common["agent_id"] = self.subagent
        if number % 2:
            fields["session_id"] = f"work-{number}"
        with self.clock(), _on_stdin(json.dumps({**common, "hook_event_name": "PostToolUse", **said})):
            assert HookCall(trigger, fields, True, False).record() is not None

    @contextmanager
    def clock(self) -> Iterator[None]:
        """The moment of the story is the computer's."""
        real = time.time_ns
        time.time_ns = lambda: self.now * 1_000_000_000
        try:
            yield
        finally:
            time.time_ns = real

    # What clients write into their session files

    def _tell_claude(self, name: str, before: str | None) -> None:
        path, after, call = str(self.folder / name), self.text(name), f"toolu_{self.now}"
        if before is None:
            tool, arguments = "Write", {"file_path": path, "content": after}
            result = {"type": "create", "filePath": path, "content": after, "structuredPatch": []}
        else:
            tool, arguments = "Edit", {"file_path": path, "old_string": before, "new_string": after}
            result = {"filePath": path, "originalFile": before, "structuredPatch": _patch(before, after)}
        blocks = [{"type": "tool_use", "id": call, "name": tool, "input": arguments}]
        self._note_claude("assistant", message={"role": "assistant", "content": blocks})
        done = [{"type": "tool_result", "tool_use_id": call, "content": "The file has been updated."}]
        self._note_claude("user", message={"role": "user", "content": done}, toolUseResult=result)

    def _note_claude(self, kind: str, **fields: Any) -> None:
        records = self._claude.setdefault(self._conversation, [])
        session = SESSION.format(self._conversation)
        about = {"isSidechain": False, "cwd": str(self.folder), "sessionId": session, "timestamp": self.at}
        records.append({**about, "type": kind, "uuid": f"u{self._conversation}-{len(records)}", **fields})

    def _tell_codex(self, name: str, before: str | None) -> None:
        after = self.text(name)
        change = {"type": "update", "unified_diff": _diff(before or "", after), "move_path": None}
        changes = {str(self.folder / name): {"type": "add", "content": after} if before is None else change}
        self._note_codex(
            "event_msg", {"type": "patch_apply_end", "call_id": self.at, "success": True, "changes": changes}
        )

    def _note_codex(self, kind: str, payload: dict[str, Any]) -> None:
        records, thread = self._codex.setdefault(self._conversation, []), THREAD.format(self._conversation)
        if not records:
            about = {"id": thread, "session_id": thread, "timestamp": self.at, "cwd": str(self.folder), "source": "cli"}
            records.append({"timestamp": self.at, "type": "session_meta", "payload": about})
        records.append({"timestamp": self.at, "type": kind, "payload": payload})

    def capture(self) -> None:
        """Let capture read what the clients wrote."""
        name = "".join(letter if letter.isalnum() else "-" for letter in str(self.folder))
        claude, codex = self.home / ".claude/projects" / name, self.home / ".codex/sessions/2026/10/01"
        for number, records in self._claude.items():
            _write_session(claude / f"{SESSION.format(number)}.jsonl", records)
        for number, records in self._codex.items():
            _write_session(codex / f"rollout-2026-10-01T10-00-00-{THREAD.format(number)}.jsonl", records)
        capture = Capture(find_workspace(str(self.folder)))
        taken = capture.run()
        capture.close()
        assert not taken.problems, taken.problems

    def recorded_by_hooks(self, *clients: str) -> None:
        with self.clock():
            for client in clients:
                choose_recorder(str(self.folder / ".eventloom"), client, "hooks")

    def decide(self, decision: str, key: str) -> str:
        self.wait()
        with Memory.open(self.folder) as memory:
            payload = {"decision": decision, "key": key, "occurred_at": self.at}
            return memory.append("decision.made", payload, actor="ann").citation


def _write_session(file: Path, records: Sequence[dict[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")


@contextmanager
def _on_stdin(text: str) -> Iterator[None]:
    """The real standard input of this process is a file with that text."""
    kept = os.dup(0)
    with TemporaryFile() as file:
        file.write(text.encode())
        file.seek(0)
        os.dup2(file.fileno(), 0)
        try:
            yield
        finally:
            os.dup2(kept, 0)
            os.close(kept)


def _replaced(lines: Sequence[Line], start: int, olds: int, news: Sequence[Line]) -> list[Line]:
    """The lines with others in the place of some. What stays the same keeps its writer, as in the client's diff."""
    after = [*lines[:start], *news, *lines[start + olds :]]
    steps = difflib.SequenceMatcher(None, [one.text for one in lines], [one.text for one in after], autojunk=False)
    for tag, a, b, c, _ in steps.get_opcodes():
        if tag == "equal":
            after[c : c + b - a] = lines[a:b]
    writer = news[0].writer if news else ""
    fresh = {number for tag, _, _, c, d in steps.get_opcodes() if tag != "equal" for number in range(c, d)}
    return [line._replace(writer=writer) if number in fresh else line for number, line in enumerate(after)]


def _diff(before: str, after: str) -> str:
    return "".join(list(difflib.unified_diff(before.splitlines(True), after.splitlines(True), "a", "b", n=3)))


def _patch(before: str | None, after: str) -> list[dict[str, Any]]:
    """As Claude Code shows it."""
    if before is None:
        return []
    olds, news = before.split("\n")[:-1], after.split("\n")[:-1]
    hunks = []
    for group in difflib.SequenceMatcher(None, olds, news, autojunk=False).get_grouped_opcodes(3):
        lines = []
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [f" {line}" for line in olds[a:b]]
            else:
                lines += [*(f"-{line}" for line in olds[a:b]), *(f"+{line}" for line in news[c:d])]
        (a, c), (b, d) = (group[0][1], group[0][3]), (group[-1][2], group[-1][4])
        hunks.append({"oldStart": a + 1, "oldLines": b - a, "newStart": c + 1, "newLines": d - c, "lines": lines})
    return hunks


def _codex_patch(name: str, before: str | None, after: str) -> str:
    if before is None:
        return f"*** Add File: {name}\n" + "".join(f"+{line}\n" for line in after.split("\n")[:-1])
    parts = []
    for hunk in _patch(before, after):
        parts.append("@@\n" + "".join(f"{line}\n" for line in hunk["lines"]))
    return f"*** Update File: {name}\n" + "".join(parts)
