"""What is printed for people: text in which nothing steers a terminal, whatever was recorded.

The hot commands print, so this module imports nothing.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

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


def say(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Print a text, or JSON, to standard output or standard error."""
    _print(visible(text), err, end)


def show_page(page: str) -> None:
    """Print a page whose own colours count. It must have made one line of each text that it quotes."""
    _print(visible_but_for_style(page), False, "\n")


def _print(text: str, err: bool, end: str) -> None:
    stream = sys.stderr if err else sys.stdout
    if stream is not None:  # a process may have none
        print(text, end=end, file=stream, flush=True)


def progress_of(what: str) -> Callable[[int, int], None] | None:
    """A line that counts up on a terminal and says how long it will take; nothing elsewhere."""
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
            seconds = (time.monotonic() - began) / (done - first) * (total - done) if done > first else 0
            left = f", {seconds:.0f} s left" if seconds >= 1 else ""
            sys.stderr.write(f"\r{what}: {percent:3} %{left}\033[K" + ("\r\033[K" if done >= total else ""))
            sys.stderr.flush()

    return show
