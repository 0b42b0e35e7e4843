"""Patterns for paths, as git's ignore files have them: `*`, `**`, `?`, a slash at either end, `!`, and a backslash.

Hooks load it, so it compiles nothing: each sign of a pattern is compared as it stands.
"""

from __future__ import annotations

import sys

from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Glob = Sequence[str]

STAR, ANY = "star", "any"
"""Signs that stand for others. All other signs are single characters, so neither is ever one of them."""
FOLDERS = (STAR, STAR)
"""`**` between slashes: any number of folders."""
SYSTEM_FOLDS_CASE = sys.platform in ("win32", "darwin")


class BadPattern(ValueError):
    """Why a pattern means nothing."""


class PathPattern(NamedTuple):
    parts: Sequence[Glob]
    """One for each folder on the way, and one for the last name."""
    negated: bool
    anchored: bool
    """Whether it is about a place in the project, and not about a name anywhere."""
    folders_only: bool

    @property
    def hint(self) -> str:
        """The longest text that stands in all that it matches."""
        return max((text for part in self.parts for text in _texts(part)), key=len, default="")

    def matches(self, parts: Sequence[str]) -> bool:
        if not self.anchored:
            return glob_matches(self.parts[0], parts[-1])
        return _wild(self.parts, parts, FOLDERS, glob_matches)


def path_pattern(line: str) -> PathPattern:
    negated, rest = line.startswith("!"), line.removeprefix("!")
    folders_only = rest.endswith("/")
    inner = rest.rstrip("/")
    anchored = "/" in inner
    parts = [glob(part) for part in inner.lstrip("/").split("/")]
    if not all(parts):
        raise BadPattern("it names no path" if not inner.strip("/") else "two slashes follow each other")
    if parts[-1] == FOLDERS:
        parts.append((STAR,))  # all that is in a folder, and not the folder itself
    return PathPattern(parts, negated, anchored, folders_only)


def are_left_out(parts: Sequence[str], patterns: Sequence[PathPattern], *, inside: bool, may_be_folder: bool) -> bool:
    """Whether a path is left out. The last pattern counts that matches it, but nothing in a folder that is left out
    comes back.

    `inside`: whether the parts are those below the project; elsewhere only names count.
    """
    names = [folded(part) for part in parts]
    for depth in range(1, len(names) + 1):
        is_folder = may_be_folder or depth < len(names)
        for pattern in reversed(patterns):
            fits = (inside or not pattern.anchored) and (is_folder or not pattern.folders_only)
            if fits and pattern.matches(names[:depth]):
                if not pattern.negated:
                    return True
                break
    return False


def glob(text: str) -> Glob:
    """The signs of a pattern without slashes."""
    if "[" in text.replace("\\[", ""):
        raise BadPattern(r"sets such as [a-z] are not known here; write \[ for a bracket")
    signs: list[str] = []
    escaped = False
    for sign in folded(text):
        if escaped or sign not in "\\*?":
            signs.append(sign)
        elif sign != "\\":
            signs.append(STAR if sign == "*" else ANY)
        escaped = sign == "\\" and not escaped
    if escaped:
        raise BadPattern("it ends in a single backslash")
    return tuple(signs)


def glob_matches(pattern: Glob, text: str) -> bool:
    return _wild(pattern, text, STAR, _same_sign)


def folded(text: str) -> str:
    """As the system compares names."""
    return text.lower() if SYSTEM_FOLDS_CASE else text


def _same_sign(sign: str, character: str) -> bool:
    return sign in (ANY, character)


def _wild(
    pattern: Sequence[str] | Sequence[Glob],
    items: Sequence[str],
    star: str | Glob,
    same: Callable[..., bool],
) -> bool:
    """Whether a pattern with stars matches all of the items. Only the last star is ever tried again."""
    at = taken = retried = 0
    last = -1
    while taken < len(items):
        if at < len(pattern) and pattern[at] == star:
            last, retried = at, taken
            at += 1
        elif at < len(pattern) and same(pattern[at], items[taken]):
            at, taken = at + 1, taken + 1
        elif last >= 0:
            retried += 1
            at, taken = last + 1, retried
        else:
            return False
    return all(left == star for left in pattern[at:])


def _texts(part: Glob) -> list[str]:
    return "".join(sign if len(sign) == 1 else "\0" for sign in part).split("\0")
