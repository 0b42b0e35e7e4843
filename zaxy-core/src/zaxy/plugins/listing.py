"""`zaxy plugins list`: the roster as a table for people or as JSON for programs."""

from __future__ import annotations

import json

from zaxy.api.catalog import API_CURRENT, API_FLOOR, version_text
from zaxy.plugins.roster import InstalledPlugin, Roster
from zaxy.printing import wrapped

COLUMNS = ("NAME", "VERSION", "PACKAGE", "POINTS", "API", "STATE", "HINT")


def as_json(roster: Roster) -> str:
    listing = {
        "api": {"floor": version_text(API_FLOOR), "current": version_text(API_CURRENT)},
        "plugins": [row.as_dict() for row in roster.rows],
        "notices": list(roster.notices),
    }
    return json.dumps(listing, indent=2, ensure_ascii=False)


def as_table(roster: Roster, width: int) -> str:
    """A table where it fits into the width, else a paragraph for each plugin."""
    table = _table(roster)
    found = table if max(map(len, table)) <= width else _paragraphs(roster, width)
    problems = [
        f"\n{row.name} ({row.package}): {row.state}{f' at {row.stage}' if row.stage else ''}: {row.error}\n  {row.hint}"
        for row in roster.rows
        if row.error
    ]
    return "\n".join([*found, *problems, *(f"\nnotice: {notice}" for notice in roster.notices)])


def _paragraphs(roster: Roster, width: int) -> list[str]:
    lines = list[str]()
    for row in roster.rows:
        name, version, package, points, api, state, hint = _cells(row)
        lines.append(f"{name} {version}  {state}")
        said = f"{package}, API {api}: {points}" + (f"; {hint}" if hint else "")
        lines += wrapped(said, width, "    ")
    return lines


def _table(roster: Roster) -> list[str]:
    cells = [COLUMNS, *(_cells(row) for row in roster.rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(COLUMNS) - 1)]
    lines = []
    for line in cells:
        padded = [text.ljust(width) for text, width in zip(line, widths, strict=False)]
        lines.append("  ".join([*padded, line[-1]]).rstrip())
    return lines


def _cells(row: InstalledPlugin) -> tuple[str, ...]:
    manifest = row.manifest
    points = ", ".join(manifest.points) if manifest and manifest.points else "-"
    hint = "see below" if row.error else row.hint
    return (row.name, row.version, row.package, points, manifest.api if manifest else "-", row.state, hint)
