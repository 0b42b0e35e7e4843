"""Which edit wrote a line of today's file.

Where git knows the file, it says between which two states of it the line appeared. Only edits of that time can have
written it, and whatever happened at other times cannot mislead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from zaxy_why.edits import Edit, Edits, State
from zaxy_why.lines import Origin, Text, origin_of, text_of
from zaxy_why.repository import Commit, Repository, repository_of, unchanged_line
from zaxy_why.spans import SLACK, edits_between, time_of

MAX_STEPS = 20
ALIKE = "the same words stand in other lines of this file, and git cannot tell them apart"
SAVED_SINCE = "the file was saved again after this edit"
EMPTY = Text((), State(0, 0))


class Found(NamedTuple):
    origin: Origin
    commit: Commit | None = None
    """The one that the line is from; None for one that is not committed, or where there is no repository."""
    is_alike: bool = False
    """Whether git may have taken another line that says the same for this one."""


EditsSince = Callable[[str], Edits]


class Tracer:
    """`edits_since`: the edits that were recorded from a moment on."""

    def __init__(self, file: Path, root: str, repository: Repository | None, edits_since: EditsSince) -> None:
        self._file = file
        self._root = root
        self._repository = repository
        self._edits_since = edits_since
        self.names = [_relative(file, root)]
        """All that the file was called, in the project; the next ones in the repository."""
        self._git_names: set[str] = set()
        self.today = text_of(file.read_bytes())

    def trace(self, line: int) -> Found:
        """Where a line of today's file is from."""
        if self._repository is None:
            return Found(self._by_records_alone(line))
        found = self._by_git(self._repository, line)
        said = self.today.lines[line - 1]
        if not found.origin.is_proven or not (
            found.is_alike or self._is_elsewhere(self._repository, said, found.commit)
        ):
            return found
        # Of lines that are alike git may take one for the other. Edits tell them apart, if nothing came between.
        alone = self._by_records_alone(line)
        if alone.edit and alone.is_proven:
            return found._replace(origin=alone)
        return found._replace(origin=found.origin._replace(is_proven=False, reasons=(ALIKE,)))

    def _is_elsewhere(self, repository: Repository, said: str, commit: Commit | None) -> bool:
        """Whether the words stand more than once in the file, or did at a commit since they came."""
        if not said.strip() or self.today.lines.count(said) > 1:
            return True
        return commit is not None and repository.changes_count(commit.id, self._git_names, said)

    def _by_records_alone(self, line: int) -> Origin:
        return self._since_last_edit(self._edits_since("").of(self.names), line, None)

    def _by_git(self, repository: Repository, line: int) -> Found:
        name = _relative(self._file, repository.top)
        self._git_names.add(name)
        head = repository.text("HEAD", name)
        if head is None and (before := repository.renamed_from(name)):
            name = before
            self._git_names.add(name)
            self.names.append(self._in_project(name))
            head = repository.text("HEAD", name)
        if head is None:
            return Found(self._since_last_edit(self._edits_since("").of(self.names), line, EMPTY))
        committed = text_of(head)
        if at := unchanged_line(line, committed.lines, self.today.lines):
            return self._committed(repository, name, at) or Found(self._by_records_alone(line))
        last = repository.last_change("HEAD", name)
        edits = edits_between(self._edits_of(last), last, None, start=committed.state, end=self.today.state)
        origin = self._since_last_edit(edits, line, committed)
        if _came_from(origin, committed, self.today.lines[line - 1]):
            return self._committed(repository, name, origin.line) or Found(self._by_records_alone(line))
        return Found(origin, None, self.today.lines[line - 1] in committed.lines)

    def _since_last_edit(self, edits: Sequence[Edit], line: int, start: Text | None) -> Origin:
        """The origin of a line of the file as it is now."""
        origin = origin_of(line, edits, start=start, end=self.today)
        if origin.edit and origin.is_proven and os.stat(self._file).st_mtime > time_of(edits[-1]) + SLACK:
            return origin._replace(is_proven=False, reasons=(SAVED_SINCE,))
        return origin

    def _committed(self, repository: Repository, path: str, line: int) -> Found | None:
        """The origin of a line that is committed: git says between which two states it appeared. None if it does not,
        as where it is set to read a file that is not there."""
        commit, found = "HEAD", None
        for _ in range(MAX_STEPS):
            blame = repository.blame(commit, path, line)
            data = repository.text(blame.commit.id, blame.path) if blame else None
            if blame is None or data is None:
                break
            called = (blame.path, *(blame.previous or ())[1:])
            self._git_names |= {*called}
            self.names += [self._in_project(name) for name in called]
            before = repository.text(*blame.previous) if blame.previous else None
            start, end = text_of(before) if before is not None else EMPTY, text_of(data)
            since = repository.last_change(*blame.previous) if blame.previous else None
            known = self._edits_of(since)
            edits = edits_between(known, since, blame.commit, start=start.state, end=end.state)
            origin = origin_of(blame.line, edits, start=start, end=end)
            said = end.lines[blame.line - 1]
            is_alike = bool(found and found.is_alike) or said in start.lines or end.lines.count(said) > 1
            found = Found(origin._replace(is_proven=True) if not edits else origin, blame.commit, is_alike)
            if blame.previous is None or not _came_from(origin, start, said) or not edits:
                break
            (commit, path), line = blame.previous, origin.line
        return found

    def _edits_of(self, since: Commit | None) -> list[Edit]:
        """The file's edits that may be later than a commit."""
        return self._edits_since(_text(since.authored - SLACK if since else 0)).of(self.names)

    def _in_project(self, path: str) -> str:
        top = self._repository.top if self._repository else self._root
        return _relative(Path(top, path), self._root)


def names_of(file: Path, root: str) -> list[str]:
    """All that a file is and was called, in the project."""
    names = [_relative(file, root)]
    if repository := repository_of(file):
        name = _relative(file, repository.top)
        if before := repository.renamed_from(name):
            names.append(_relative(Path(repository.top, before), root))
        former = repository.former_names(before or name)
        names += [_relative(Path(repository.top, one), root) for one in former]
    return names


def _came_from(origin: Origin, start: Text, said: str) -> bool:
    """Whether the line stood in the earlier text, where git saw it as new: two lines can be alike."""
    return origin.edit is None and 0 < origin.line <= len(start.lines) and start.lines[origin.line - 1] == said


def _relative(file: Path, folder: str) -> str:
    return Path(os.path.relpath(file, folder)).as_posix()


def _text(seconds: float) -> str:
    moment = datetime.fromtimestamp(max(seconds, 0), UTC)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
