"""The answers as a person reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zaxy.api import DIM, Terminal, plain, short_citation, wrapped

MAX_CHARS = 400
MAX_OF_FILE = 120
NAMES = 11
FITS = "going by the recorded lengths of the file, nothing else changed it in between"
ONE_OF_SEVERAL = "it is one of several edits"
NOT_ON_RECORD = "none on record wrote this line"


def line_page(reply: Mapping[str, Any], width: int, colour: bool) -> str:
    terminal = Terminal(width, colour)
    lines = [f"{plain(reply['path'])}:{reply['line']}"]
    lines += wrapped(_cut(plain(reply["text"])), terminal.width, "    ")
    for name, text, note, citation in _rows(reply):
        lines += _row(name, text, terminal)
        lines += [terminal.painted(line, DIM) for said in (note, citation) if said for line in _row("", said, terminal)]
    return "\n".join(lines)


def file_page(reply: Mapping[str, Any], width: int, colour: bool) -> str:
    terminal = Terminal(width, colour)
    count, sessions = reply["edits"], len(reply["sessions"])
    days = " to ".join(dict.fromkeys((_day(reply["first"]), _day(reply["last"]))))
    counts = f"{_count(count, 'edit')} in {_count(sessions, 'session')}, {days}, newest first, in UTC"
    lines = wrapped(f"{plain(reply['path'])}: {counts}", terminal.width)
    for row in reply["newest"]:
        lines += wrapped(f"{_time(row['at'])}  {_edit(row)}, in {plain(row['session_id'])}", terminal.width, "", "    ")
        if row["prompt"]:
            lines += wrapped(f"after {_quoted(row['prompt']['text'], MAX_OF_FILE)}", terminal.width, "    ")
        lines += [terminal.painted(f"    {short_citation(row['citation'])}", DIM)]
    left = count - len(reply["newest"])
    return "\n".join([*lines, *([f"and {_count(left, 'older edit')}: --limit {count}"] if left else [])])


def _rows(reply: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Name, text, a note on it, citation."""
    edit, commit = reply["edit"], reply["commit"]
    if edit is None:
        yield "edit", NOT_ON_RECORD, "; ".join(reply["reasons"]), ""
    else:
        whose = f"by {plain(str(edit.get('source') or edit['actor']))}, in {plain(edit['session_id'])}"
        yield "edit", f"{_edit(edit)}, {_time(edit['at'])} UTC", whose, short_citation(edit["citation"])
    if commit:
        yield (
            "commit",
            f"{commit['id'][:12]} by {plain(commit['author'])}, {_day(commit['at'])}",
            _cut(plain(commit["subject"])),
            "",
        )
    for other in reply["others"]:
        yield "or", f"{_edit(other)}, {_time(other['at'])} UTC", "", short_citation(other["citation"])
    for name in ("task", "prompt"):
        if turn := reply[name]:
            yield name, _quoted(turn["text"], MAX_CHARS), "", short_citation(turn["citation"])
    if decision := reply["decision"]:
        yield "decision", _quoted(decision["text"], MAX_CHARS), decision["why"], short_citation(decision["citation"])
    missing = [name for name in ("prompt", "decision") if edit and not reply[name]]
    if missing:
        yield "", f"no {' and no '.join(missing)} before it is on record", "", ""
    if edit:
        reasons = [ONE_OF_SEVERAL] * bool(reply["others"]) + reply["reasons"]
        yield "how sure", f"{reply['certainty']}: {'; '.join(reasons or [FITS])}", "", ""
    else:
        yield "next", reply["next"], "", ""


def _edit(edit: Mapping[str, Any]) -> str:
    counts = " ".join(
        f"{sign}{edit[key]}" for sign, key in (("+", "lines_added"), ("-", "lines_removed")) if key in edit
    )
    return f"{plain(str(edit.get('operation', 'edited')))} {plain(edit['path'])}" + (f" ({counts})" if counts else "")


def _row(name: str, text: str, terminal: Terminal) -> list[str]:
    return wrapped(text, terminal.width, name.ljust(NAMES), " " * NAMES)


def _quoted(text: str, limit: int = MAX_CHARS) -> str:
    return f'"{_cut(plain(text), limit)}"'


def _cut(text: str, limit: int = MAX_CHARS) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _time(at: str) -> str:
    return at[:16].replace("T", " ")


def _day(at: str) -> str:
    return at[:10]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
