"""What is printed for people: text in which nothing steers a terminal, whatever was recorded.

The hot commands print, so this module imports next to nothing.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import BinaryIO, TextIO

STEERING = (
    *(code for code in range(0x20) if code not in (0x09, 0x0A)),
    *range(0x7F, 0xA0),
    0x061C,
    *range(0x200E, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
)
"""C0 without tab and line end, DEL, C1, and what changes the direction of text or ends a line."""
_VISIBLE = {code: f"\\u{code:04x}" for code in STEERING}
ESCAPE = "\033"
BOLD, DIM, RED, GREEN, YELLOW, PLAIN = (f"{ESCAPE}[{code}m" for code in ("1", "2", "31", "32", "33", "0"))
_STYLES = tuple(style.removeprefix(ESCAPE) for style in (BOLD, DIM, RED, GREEN, YELLOW, PLAIN))

ROOM_FOR_TWO_COLUMNS = 60
DEFAULT_COLUMNS, WIDEST, NARROWEST = 80, 100, 40


def visible(text: str) -> str:
    """The text with each character that could steer a terminal written as JSON writes it, so that JSON stays JSON."""
    return text.translate(_VISIBLE)


def visible_but_for_style(text: str) -> str:
    """The same for a page that has colours of its own: these stay."""
    first, *others = text.split(ESCAPE)
    kept = (ESCAPE if part.startswith(_STYLES) else _VISIBLE[ord(ESCAPE)] for part in others)
    return visible(first) + "".join(mark + visible(part) for mark, part in zip(kept, others, strict=True))


def one_line(text: str, max_chars: int) -> str:
    """One line without control characters, which could otherwise steer the terminal."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return plain if len(plain) <= max_chars else f"{plain[: max_chars - 1]}…"


class OutputLost(BaseException):
    """Standard output takes no more: its reader has gone, or its disk is full. No command can go on after that, so it
    passes through what catches every `Exception`."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(f"standard output cannot be written: {cause.strerror or cause}")
        # On Windows a pipe without a reader is an invalid argument.
        self.reader_has_gone = isinstance(cause, BrokenPipeError) or cause.errno == errno.EINVAL


def prepare_streams() -> None:
    """See to it that whatever is printed can be: a stream that is closed is nowhere, and what an encoding does not
    have is written as JSON writes it, so that JSON stays JSON."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - as long as the process
    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error("zaxy-json", _escaped)
        sys.stdout.reconfigure(errors="zaxy-json")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return as_json_has_it(error.object[error.start : error.end]), error.end


def as_json_has_it(text: str) -> str:
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def leave_stdout() -> None:
    """Let what is left to be printed go nowhere, so that Python does not try once more as it ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # it has no descriptor, as in tests
        sys.stdout = None


def say(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Print a text, or JSON, to standard output or standard error."""
    _print(visible(text), err, end)


def say_wrapped(text: str, *, err: bool = False) -> None:
    """Print lines, and of those that are too wide for a terminal the rest below, indented."""
    lines = text.split("\n")
    if is_looked_at(sys.stderr if err else sys.stdout):
        width = columns()
        lines = [part for line in lines for part in _within(line, width)]
    say("\n".join(lines), err=err)


def _within(line: str, width: int) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()))
    return [line] if cells(line) <= width else wrapped(line, width, indent, indent or "    ")


def is_looked_at(stream: TextIO | None) -> bool:
    """Whether lines are for a person: a program that reads them line by line gets each whole."""
    return "COLUMNS" in os.environ or (stream is not None and stream.isatty())


def show_page(page: str) -> None:
    """Print a page whose own colours count. It must have made one line of each text that it quotes."""
    _print(visible_but_for_style(page), False, "\n")


def _print(text: str, err: bool, end: str) -> None:
    stream = sys.stderr if err else sys.stdout
    if stream is None:  # a process may have none
        return
    try:
        print(text, end=end, file=stream, flush=True)
    except OSError as error:
        if not err:
            raise OutputLost(error) from error


def pass_on(file: BinaryIO) -> None:
    """Hand the bytes of a file to what reads standard output, as they are."""
    try:
        while part := file.read(1 << 20):
            sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()
    except OSError as error:
        raise OutputLost(error) from error


def columns(environ: Mapping[str, str] = os.environ) -> int:
    """The width for pages and help: that of the terminal, 80 where there is none, at most 100 and at least 40."""
    named = environ.get("COLUMNS", "")
    try:
        found = int(named) if named.isdecimal() else os.get_terminal_size().columns
    except (OSError, ValueError):
        found = 0
    return max(min(found or DEFAULT_COLUMNS, WIDEST), NARROWEST)


def cells(text: str) -> int:
    """How many columns a terminal gives a text."""
    if text.isascii():  # nearly all are, and lines are measured word by word
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def wrapped(text: str, width: int, indent: str = "", hanging: str | None = None) -> list[str]:
    """The text in lines of at most that many columns; `hanging` indents the lines after the first."""
    after = indent if hanging is None else hanging
    lines: list[str] = []
    line = ""
    for word in text.split():
        start = after if lines else indent
        if line and cells(f"{start}{line} {word}") > width:
            lines.append(start + line)
            start, line = after, ""
        parts = _parts(word, width - cells(after if lines or line else indent))
        for part in parts[:-1]:
            lines.append((after if lines else indent) + part)
        line = f"{line} {parts[-1]}" if line else parts[-1]
    return [*lines, (after if lines else indent) + line] if line else lines


def named_row(name: str, text: str, across: int, *, width: int) -> list[str]:
    """A name with a text beside it, from the column `across` on; below it where there is little room."""
    if width < ROOM_FOR_TWO_COLUMNS:
        return [f"  {name}", *wrapped(text, width, "      ")]
    return wrapped(text, width, f"  {name}".ljust(across), " " * across)


def _parts(word: str, room: int) -> Sequence[str]:
    """A word that is too long for a line, in parts. A citation and a path stay whole: they are there to be copied."""
    if "/" in word or cells(word) <= room:
        return (word,)
    parts: list[str] = []
    part = ""
    for letter in word:
        if part and cells(part + letter) > room:
            parts.append(part)
            part = ""
        part += letter
    return [*parts, part]


def progress_of(what: str, unit: str = "events") -> Callable[[int, int], None] | None:
    """A line that counts up on a terminal and says how fast it goes and how long it will take; nothing elsewhere."""
    if not sys.stderr.isatty():
        return None
    import time

    shown, first, began = -1, 0, 0.0

    def show(done: int, total: int) -> None:
        nonlocal shown, first, began
        percent = 100 * done // total if total else 100
        if shown < 0:
            first, began = done, time.monotonic()
        if percent != shown:
            shown = percent
            rate = (done - first) / max(time.monotonic() - began, 0.001)
            seconds = (total - done) / rate if rate else 0
            left = f", {_amount(rate, unit)}/s, {seconds:.0f} s left" if seconds >= 1 else ""
            sys.stderr.write(f"\r{what}: {percent:3} %{left}\033[K" + ("\r\033[K" if done >= total else ""))
            sys.stderr.flush()

    return show


def _amount(count: float, unit: str) -> str:
    return f"{count / 1e6:,.1f} MB" if unit == "bytes" else f"{count:,.0f} {unit}"
