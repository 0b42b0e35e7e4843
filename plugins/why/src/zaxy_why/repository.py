"""What git knows of a file: its text at commits, and which commit a line is from.

git is only asked for what commits hold: nothing that a repository configures is run, and nothing is fetched.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

SAFELY = (
    "--no-pager --literal-pathspecs --no-replace-objects -c core.fsmonitor=false -c core.hooksPath=/dev/null "
    "-c protocol.allow=never -c log.showSignature=false"
).split()
ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
OF_A_HOOK = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE")
"""What git sets for programs that it runs itself: it would be asked about another repository."""
SECONDS = 30


class Commit(NamedTuple):
    id: str
    author: str
    authored: int
    """Seconds, as the next one. An amended or rebased commit has another one."""
    committed: int
    subject: str


class Blame(NamedTuple):
    commit: Commit
    path: str
    line: int
    """The line's number in that commit."""
    previous: tuple[str, str] | None
    """The commit before, and the file's path in it; None if the file was made in this one."""


class Repository:
    def __init__(self, top: str) -> None:
        self.top = top

    def text(self, commit: str, path: str) -> bytes | None:
        return self._asked("cat-file", "blob", f"{commit}:{path}")

    def blame(self, commit: str, path: str, line: int) -> Blame | None:
        found = self._asked("blame", "--no-textconv", "--porcelain", f"-L{line},{line}", commit, "--", path)
        if not found:
            return None
        head, *rows = found.decode("utf-8", "replace").split("\n")
        said = dict(row.partition(" ")[::2] for row in rows)
        id_, number = head.split(" ")[:2]
        author, subject = said.get("author", ""), said.get("summary", "")
        previous = said["previous"].split(" ", 1) if "previous" in said else None
        return Blame(
            Commit(id_, author, int(said["author-time"]), int(said["committer-time"]), subject),
            _unquoted(said["filename"]),
            int(number),
            (previous[0], _unquoted(previous[1])) if previous else None,
        )

    def last_change(self, commit: str, path: str) -> Commit | None:
        """The last commit that changed a file, up to a commit."""
        form = "--format=%H%x00%an%x00%at%x00%ct%x00%s"
        found = self._asked("log", "-1", "--no-ext-diff", "--no-textconv", form, commit, "--", path)
        parts = found.decode("utf-8", "replace").rstrip("\n").split("\0") if found else []
        if len(parts) != 5:
            return None
        return Commit(parts[0], parts[1], int(parts[2]), int(parts[3]), parts[4])

    def changes_count(self, commit: str, names: Iterable[str], said: str) -> bool:
        """Whether a commit since that one put in such a line, or took one out."""
        options = ("log", "--no-ext-diff", "--no-textconv", "--format=%H", f"-S{said}", f"{commit}..HEAD", "--")
        return bool(self._asked(*options, *sorted(names)))

    def renamed_from(self, path: str) -> str:
        """What a file is called in the last commit, if a rename of it is staged."""
        options = "--cached --no-ext-diff --no-textconv -M -z --name-status --diff-filter=R".split()
        parts = (self._asked("diff", *options, "HEAD") or b"").decode("utf-8", "replace").split("\0")
        renames = {parts[at + 2]: parts[at + 1] for at in range(0, len(parts) - 2, 3)}
        return renames.get(path, "")

    def former_names(self, path: str) -> list[str]:
        """What a committed file was called before its renames."""
        options = "log --follow -M -z --no-ext-diff --no-textconv --format= --name-status --diff-filter=R".split()
        parts = (self._asked(*options, "HEAD", "--", path) or b"").decode("utf-8", "replace").split("\0")
        return parts[1::3]

    def _asked(self, *words: str) -> bytes | None:
        environ = {name: value for name, value in os.environ.items() if name not in OF_A_HOOK} | ENVIRONMENT
        try:
            done = subprocess.run(
                ["git", *SAFELY, *words],
                cwd=self.top,
                env=environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout if done.returncode == 0 else None


def repository_of(file: Path) -> Repository | None:
    """The repository that a file is in; None if there is none."""
    top = next((folder for folder in file.parents if (folder / ".git").exists()), None)
    return Repository(str(top)) if top else None


def _unquoted(path: str) -> str:
    """git writes a path with unusual characters in quotes, its bytes as octal numbers."""
    if not (len(path) > 1 and path[0] == path[-1] == '"'):
        return path
    return path[1:-1].encode("utf-8").decode("unicode_escape").encode("latin-1", "replace").decode("utf-8", "replace")


def unchanged_line(line: int, before: Sequence[str], after: Sequence[str]) -> int:
    """The number that a line of `after` has in `before`; 0 if it was changed."""
    same = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        same += 1
    if line <= same:
        return line
    end = 0
    while end < min(len(before), len(after)) - same and before[-1 - end] == after[-1 - end]:
        end += 1
    if line > len(after) - end:
        return line - len(after) + len(before)
    from difflib import SequenceMatcher

    middles = before[same : len(before) - end], after[same : len(after) - end]
    for old, new, size in SequenceMatcher(None, *middles, autojunk=False).get_matching_blocks():
        if new <= line - 1 - same < new + size:
            return same + old + line - same - new
    return 0
