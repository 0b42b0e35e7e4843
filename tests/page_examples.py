"""The examples on a page: its commands, what is shown for each, and whether that is what was printed."""

from __future__ import annotations

import re

# What differs from one run to the next, as it looks after `re.escape`, and the pattern that stands for it.
VARYING = (
    (r"[0-9a-f]{64}", r"[0-9a-f]{64}"),  # an event's hash
    (r"[0-9a-f]{32}", r"[0-9a-f]{32}"),  # the workspace's id
    (r'(?<=")[0-9a-f]{16}(?=":)', r"[0-9a-f]{16}"),  # the name of a user's key
    (r"(?<=#)[0-9a-f]{12}(?=\b)", r"[0-9a-f]{12}"),  # the hash in a short citation
    (r"(evt_\d+_)[0-9a-f]{8}", r"\1[0-9a-f]{8}"),
    (r"\d{4}\\-\d\d\\-\d\d(T|\\ )\d\d:\d\d:\d\d", r"\\d{4}-\\d\\d-\\d\\d\1\\d\\d:\\d\\d:\\d\\d"),
    (r"\\\.\d{6}Z", r"\\.\\d{6}Z"),
    (r"\d{4}\\-\d\d\\-\d\d\\ \d\d:\d\d\\ UTC", r"\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC"),
    (r"\w+day\\ \d{4}\\-\d\d\\-\d\d,\\ (?:yester|to)day", r"\\w+day \\d{4}-\\d\\d-\\d\\d, \\w+day"),
    (r"(?<=\d\\ \\ )\d\d:\d\d(?=\\ \\ )", r"\\d\\d:\\d\\d"),  # the time in a row of it
    (r"/home/ann/\\\.local/bin/zaxy", r"/\\S+/zaxy"),  # where the command is installed
    (r"pip\\ install\\ (?=\\-e)", r"(?:\\S+ )*pip install (?:--python \\S+ )?"),  # what installed the command
    (r"\d+\\\.\d\\ seconds", r"\\d+\\.\\d seconds"),
    (r"(?<=\\ \\ )\d{4}\\-\d\d\\-\d\d(?=\\ \\ )", r"\\d{4}-\\d\\d-\\d\\d"),  # the day in a row of a table
    (r"(?<=,\\ )\d{4}\\-\d\d\\-\d\d(?=,\\ score)", r"\\d{4}-\\d\\d-\\d\\d"),  # the day in a row of a query
    (r"as\\ of\\ \d{4}\\-\d\d\\-\d\dT\d\d:\d\dZ", r"as of \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\dZ"),
    (r"(since|,)\\ \d{4}\\-\d\d\\-\d\d(?=[:;,]|$)", r"\1 \\d{4}-\\d\\d-\\d\\d"),  # the day in a row of a recap
    (r"\d{4}\\-\d\d\\-\d\d\\ to\\ \d{4}\\-\d\d\\-\d\d", r"\\d{4}-\\d\\d-\\d\\d to \\d{4}-\\d\\d-\\d\\d"),
    (r"into\\ prompts[\\ \d,]+tokens", r"into prompts[ \\d,]+tokens"),  # the digits of a hash are tokens too
    (r"[\d,]+\\ tokens,\\ last\\ \d{4}\\-\d\d\\-\d\d", r"[\\d,]+ tokens, last \\d{4}-\\d\\d-\\d\\d"),
    (r"session,\\ \d{4}\\-\d\d\\-\d\d(?=,)", r"session, \\d{4}-\\d\\d-\\d\\d"),
    (r"(?m)^\d{4}\\-\d\d\\-\d\d\\ \d\d:\d\d(?=\\ )", r"\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d"),
    (r'"(first|last)":\\ "\d{4}\\-\d\d\\-\d\d"', r'"\1": "\\d{4}-\\d\\d-\\d\\d"'),
    (r'"\d{4}\\-W\d\d"', r'"\\d{4}-W\\d\\d"'),
    (r"\\ in\\ \d+\\\.\d\ds", r" in [\\d.]+s( \\([\\d:]+\\))?"),  # how long tests took
)
PYTHON = re.compile(r"^```python\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def steps(block: str) -> list[tuple[str, str]]:
    """Each command of a block with the output that is shown for it."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].rstrip("\n"), ""))
        else:
            command, shown = found[-1]
            found[-1] = (command, shown + line)
    return found


def matches(shown: str, printed: str) -> bool:
    """Whether that is what was printed; a line of `...` stands for any lines."""
    pattern = "".join(
        r"(.*\n)*?" if line.strip() == "..." else re.escape(line) for line in shown.splitlines(keepends=True)
    )
    for varying, stands_for in VARYING:
        pattern = re.sub(varying, stands_for, pattern)
    return re.fullmatch(pattern, printed) is not None


def python_examples(page: str) -> list[tuple[str, str]]:
    """The program of a page, part by part, each with what it prints."""
    return PYTHON.findall(page)
