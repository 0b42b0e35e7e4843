"""A check of the folder that holds the notes, and of what memory has of them. The doctor makes a missing folder."""

from __future__ import annotations

from collections.abc import Sequence

from zaxy.api import Checkup, Finding, ProviderContext

FOLDER = ".notes"


class Health:
    def __init__(self, context: ProviderContext) -> None:
        pass

    def check(self, checkup: Checkup) -> Sequence[Finding]:
        rows = [_folder(checkup)]
        if checkup.has_memory:
            with checkup.open_memory() as memory:
                facts = memory.latest(types=("fact.*",))
            rows.append(Finding("facts", "ok", f"the last of them is {facts[0].citation}" if facts else "none yet"))
        return rows

    def fix(self, checkup: Checkup) -> None:
        (checkup.workspace / FOLDER).mkdir(exist_ok=True)


def _folder(checkup: Checkup) -> Finding:
    folder = checkup.workspace / FOLDER
    if not folder.is_dir():
        return Finding("folder", "warning", f"there is no folder {FOLDER} for notes", "zaxy doctor --fix")
    return Finding("folder", "ok", f"{len(list(folder.glob('*.md')))} notes in {folder}")
