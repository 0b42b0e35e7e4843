"""`zaxy plugins list`: the roster as a table for people or as JSON for programs."""

from __future__ import annotations

import json

from zaxy.api.catalog import API_CURRENT, API_FLOOR, version_text
from zaxy.plugins.roster import InstalledPlugin, Roster

COLUMNS = ("NAME", "VERSION", "PACKAGE", "POINTS", "API", "STATE", "HINT")


def as_json(roster: Roster) -> str:
    listing = {
        "api": {"floor": version_text(API_FLOOR), "current": version_text(API_CURRENT)},
        "plugins": [row.as_dict() for row in roster.rows],
        "notices": list(roster.notices),
    }
    return json.dumps(listing, indent=2, ensure_ascii=False)


def as_table(roster: Roster) -> str:
    cells = [COLUMNS, *(_cells(row) for row in roster.rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(COLUMNS) - 1)]
    lines = []
    for line in cells:
        padded = [text.ljust(width) for text, width in zip(line, widths, strict=False)]
        lines.append("  ".join([*padded, line[-1]]).rstrip())
    problems = [
        f"\n{row.name} ({row.package}): {row.state}{f' at {row.stage}' if row.stage else ''}: {row.error}\n  {row.hint}"
        for row in roster.rows
        if row.error
    ]
    return "\n".join([*lines, *problems, *(f"\nnotice: {notice}" for notice in roster.notices)])


def _cells(row: InstalledPlugin) -> tuple[str, ...]:
    manifest = row.manifest
    points = ", ".join(manifest.points) if manifest and manifest.points else "-"
    hint = "see below" if row.error else row.hint
    return (row.name, row.version, row.package, points, manifest.api if manifest else "-", row.state, hint)
