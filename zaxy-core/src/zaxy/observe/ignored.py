"""What a project keeps out of its memory, by the `.zaxyignore` in its root: paths, tools and commands.

Hooks and capture both ask it before they record an observation. A hook reads one small file for it.
"""

from __future__ import annotations

import os

from zaxy.errors import Unavailable
from zaxy.observe.path_patterns import (
    BadPattern,
    PathPattern,
    are_left_out,
    folded,
    glob,
    glob_matches,
    path_pattern,
)
from zaxy.security.small_files import read_named_file
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zaxy.observe.path_patterns import Glob

FILE = ".zaxyignore"
MAX_BYTES = 1 << 16
MAX_LINE_CHARS = 500
MAX_COMMAND_CHARS = 1 << 16
"""Of a longer command so much of its start is looked at for paths."""
TOOL, COMMAND = "tool:", "command:"
QUOTES = "'\""
BETWEEN_COMMANDS = ";|&\n"
BETWEEN_WORDS = " \t\r\n;|&<>()`"
WITHIN_WORDS = " \t\r\n\"'`;|&<>()=,:@{}$"
"""Signs that may stand beside a path in a word: `--file=.env`, `@data.json`, `host:path`."""


class Ignored(NamedTuple):
    root: str
    paths: Sequence[PathPattern] = ()
    tools: Sequence[Glob] = ()
    commands: Sequence[Glob] = ()
    malformed: Sequence[str] = ()
    """The lines that mean nothing, each with its number and the reason."""

    def leaves_out(self, type_: str, fields: Mapping[str, object]) -> bool:
        """Whether an observation is not to be recorded."""
        if type_ == "file.edit.applied":
            named = [str(fields[field]) for field in ("path", "renamed_from") if fields.get(field)]
            folder = str(fields.get("workspace") or "")
            return bool(self.paths) and any(self.path(path, folder) for path in named)
        if type_ == "tool.call.completed":
            return self.tool(str(fields.get("tool_name") or ""))
        if type_ == "command.completed":
            return self.command(str(fields.get("command") or ""), str(fields.get("workspace") or ""))
        return False

    def tool(self, name: str) -> bool:
        return any(glob_matches(pattern, folded(name)) for pattern in self.tools)

    def path(self, path: str, folder: str = "") -> bool:
        """Whether an edited path is left out, as it was named or as its links lead; `folder` is where it was named."""
        return any(
            self._is_out(place, in_command=False)
            for named in self._places(path, folder)
            for place in dict.fromkeys((named, os.path.realpath(named)))
        )

    def command(self, line: str, folder: str = "") -> bool:
        """Whether a command is left out itself, or names a path that is."""
        line = line[:MAX_COMMAND_CHARS]
        if any(glob_matches(pattern, part) for part in _commands_in(folded(line)) for pattern in self.commands):
            return True
        if not self._may_name_a_path(folded(line)):
            return False
        words = {part for word in _words(line) for part in (word, *_words(word), *_split(word, WITHIN_WORDS))}
        named = {place for word in words for place in self._places(word, folder)}
        return any(self._is_out(place, in_command=True) for place in named)

    def _may_name_a_path(self, line: str) -> bool:
        """Whether the letters of a pattern are in it; those of a word may have quotes between them."""
        plain = line.translate(dict.fromkeys(map(ord, QUOTES + "\\")))
        hints = [one.hint for one in self._with_letters if not one.negated]
        return any(hint in line or hint in plain for hint in hints)

    @property
    def _with_letters(self) -> list[PathPattern]:
        """Without patterns such as `*`, which would take every word of a command for a path that is left out."""
        return [one for one in self.paths if one.hint]

    def _places(self, path: str, folder: str) -> list[str]:
        """Where a path may be: a relative one may be meant from the root, or from where the client is."""
        if not path or "\0" in path:
            return []
        path = os.path.expanduser(path)
        return [os.path.normpath(os.path.join(base, path)) for base in dict.fromkeys((self.root, folder or self.root))]

    def _is_out(self, place: str, *, in_command: bool) -> bool:
        """Names above the project, which a path elsewhere shares with it, do not count."""
        patterns = self._with_letters if in_command else self.paths
        roots = [_parts(root) for root in dict.fromkeys((self.root, os.path.realpath(self.root)))]
        parts = _parts(place)
        shared = max(_shared(parts, root) for root in roots)
        inside = any(_shared(parts, root) == len(root) for root in roots)
        return are_left_out(parts[shared:], patterns, inside=inside, may_be_folder=in_command)


def read_ignored(root: str) -> Ignored:
    """What the file in a project's root says; nothing is left out where there is none."""
    path = os.path.join(root, FILE)
    try:
        data = read_named_file(path, MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return Ignored(root)
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be read: {error.strerror}, so nothing is recorded", "Fix it, or remove it."
        ) from None
    return ignored_by(root, data)


def ignored_by(root: str, data: bytes) -> Ignored:
    """What lines say. One that is malformed is named, and matches nothing."""
    paths: list[PathPattern] = []
    tools: list[Glob] = []
    commands: list[Glob] = []
    malformed: list[str] = []
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            line = _line(raw)
            if not line or line.startswith("#"):
                continue
            if line.startswith(TOOL):
                tools.append(_named(line, TOOL))
            elif line.startswith(COMMAND):
                commands.append(_named(line, COMMAND))
            else:
                _refuse_other_kinds(line)
                paths.append(path_pattern(line))
        except BadPattern as error:
            malformed.append(f"line {number}: {error}")
    return Ignored(root, paths, tools, commands, malformed)


def _line(raw: bytes) -> str:
    """A line without the spaces at its end, unless a backslash keeps them."""
    try:
        line = raw.decode("utf-8").rstrip("\r")
    except UnicodeDecodeError:
        raise BadPattern("it is not UTF-8") from None
    if len(line) > MAX_LINE_CHARS:
        raise BadPattern(f"it has more than {MAX_LINE_CHARS} characters")
    if "\0" in line:
        raise BadPattern("it has a zero byte")
    bare = line.rstrip(" \t")
    return bare + line[len(bare) : len(bare) + 1] if bare.endswith("\\") else bare


def _named(line: str, kind: str) -> Glob:
    pattern = glob(line.removeprefix(kind).strip())
    if not pattern:
        raise BadPattern(f"nothing stands behind {kind}")
    return pattern


def _refuse_other_kinds(line: str) -> None:
    word, colon, _ = line.removeprefix("!").partition(":")
    if colon and word.isascii() and word.isalpha():
        known = word + colon in (TOOL, COMMAND)
        reason = "only a path can be taken back with !" if known else "it is no kind of line"
        raise BadPattern(f"{word}: {reason}; write \\{word}: for a path that begins so")


def _commands_in(line: str) -> Iterator[str]:
    """A command line, and the commands that it is made of."""
    yield line.strip()
    yield from (part.strip() for part in _split(line, BETWEEN_COMMANDS))


def _words(line: str) -> list[str]:
    """The words of a command, as a shell takes them apart. A quote that is not closed reaches to the end."""
    words: list[list[str]] = [[]]
    quote = ""
    signs = iter(line)
    for sign in signs:
        if sign == "\\" and quote != "'" and os.sep != "\\":
            words[-1].append(next(signs, ""))
        elif sign == quote:
            quote = ""
        elif sign in QUOTES and not quote:
            quote = sign
        elif sign in BETWEEN_WORDS and not quote:
            words.append([])
        else:
            words[-1].append(sign)
    return ["".join(word) for word in words if word]


def _split(text: str, signs: str) -> list[str]:
    return text.translate(dict.fromkeys(map(ord, signs), "\n")).split("\n")


def _shared(parts: Sequence[str], others: Sequence[str]) -> int:
    """How many parts two paths have in common at their start."""
    pairs = zip(map(folded, parts), map(folded, others), strict=False)
    return next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(parts), len(others)))


def _parts(path: str) -> list[str]:
    plain = path.replace(os.sep, "/")
    return [part for part in plain.split("/") if part]
