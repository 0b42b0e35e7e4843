"""The log as commands are given it: `zaxy.api.LogAccess` over the log of a workspace, or over a file of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from zaxy.api.log_access import Record
from zaxy.api.models import Event, Report
from zaxy.commands.event_names import cited_event
from zaxy.errors import NotFound
from zaxy.eventloom.citation import Citation
from zaxy.eventloom.event_log import EventLog
from zaxy.eventloom.grammar import Malformed
from zaxy.eventloom.opening import files_log
from zaxy.eventloom.store import event_of_record
from zaxy.extract.housekeeping import is_housekeeping

if TYPE_CHECKING:
    from zaxy.plugins.families import Families
    from zaxy.settings import Stored
    from zaxy.workspace import Workspace

LOOKED_THROUGH = 10_000
"""How many events `newest` looks through for those that are wanted."""
READ_AT_ONCE = 200
NOT_SHOWN = ("salt", "payload_digest", "v")


def log_in_file(path: str, settings: Callable[[], Stored]) -> LogOfCommand:
    file = Path(path)
    if not file.is_file():
        raise NotFound(f"{path} is not a file", "Name a session, or a file that ends in .jsonl.")
    folder = str(file.absolute().parent)
    return LogOfCommand(files_log(folder), settings, lambda: file.name.removesuffix(".jsonl"), folder=folder)


class LogOfCommand:
    """`settings`: which packages count, whose words rows are in. `meant`: the session where none is named.
    `workspace`: whose log it is; None for a file."""

    def __init__(
        self,
        log: EventLog,
        settings: Callable[[], Stored],
        meant: Callable[[], str],
        *,
        folder: str,
        workspace: Workspace | None = None,
    ) -> None:
        self._log = log
        self.folder = folder
        self._workspace = workspace
        self._settings = settings
        self._meant = meant

    @cached_property
    def session(self) -> str:
        return self._meant()

    @cached_property
    def _families(self) -> Families:
        from zaxy.plugins.families import Families
        from zaxy.plugins.roster import load_roster
        from zaxy.settings import Settings

        return Families(lambda: load_roster(Settings(stored=self._settings())))

    def sessions(self) -> list[str]:
        return self._log.sessions()

    def head(self, session: str = "") -> int:
        return self._log.end(session or self.session)

    def last_event(self, session: str = "") -> Event:
        return self._log.last_event(session or self.session)

    def cite(self, event: str, session: str = "") -> str:
        return str(self._cited(event, session))

    def _cited(self, event: str, session: str = "") -> Citation:
        return cited_event(self._log, event, lambda: session or self.session)

    def record(self, event: str) -> Record:
        return _shown(self._log.record(self._cited(event)))

    def records(
        self, session: str = "", *, first: int = 1, last: int | None = None, follow: bool = False
    ) -> Iterator[Record]:
        name = session or self.session
        found = self._log.follow(name, first) if follow else self._log.records(name, first, last)
        return (_shown(record) for record, _ in found)

    def newest(
        self,
        session: str = "",
        *,
        limit: int,
        before: int | None = None,
        since: str = "",
        wanted: Callable[[Record], bool] = bool,
        include_housekeeping: bool = False,
    ) -> tuple[list[Record], int | None]:
        found: list[Record] = []
        name = session or self.session
        end = self._log.end(name)
        last = end if before is None else min(end, before - 1)
        lowest = max(last - LOOKED_THROUGH, 0)
        while last > lowest:
            first = max(last - READ_AT_ONCE + 1, lowest + 1)
            for record in reversed(list(self._log.records(name, first, last))):
                if record[0]["time"] < since:
                    return found, None
                if wanted(record[0]) and (include_housekeeping or not self._is_housekeeping(record[0])):
                    found.append(_shown(record[0]))
                if len(found) == limit:
                    return found, record[0]["seq"] if record[0]["seq"] > 1 else None
            last = first - 1
        return found, lowest + 1 if lowest else None

    def of_types(self, types: Sequence[str], session: str = "", *, since: str = "") -> Iterator[Record]:
        with self._log.view(session or self.session) as view:
            for record in view.of_types(types, since):
                yield _shown(record)

    def _is_housekeeping(self, record: Record) -> bool:
        return type(record) is not Malformed and is_housekeeping(event_of_record(record), self._families.housekeeping)

    def text(self, record: Record) -> str:
        from zaxy.terminal.event_row import text_of_row

        return text_of_row(record, self._families)

    def row(self, record: Record) -> str:
        from zaxy.terminal.event_row import row_page
        from zaxy.terminal.screen import UNBOUNDED

        return row_page({"event": record, "text": self.text(record)}, UNBOUNDED, False)

    def state(self, session: str = "") -> str:
        return self._log.state(session or self.session)

    def verify(
        self, session: str = "", *, since: str = "", progress: Callable[[int, int], None] | None = None
    ) -> Report:
        return self._log.verify(session or self.session, progress, self._cited(since, session) if since else None)

    def difference(self, session: str = "") -> str:
        if self._workspace is None or not self._workspace.is_own:
            return ""
        from zaxy.eventloom.seen_heads import SeenHeads

        with self._log.view(session or self.session) as view:
            return SeenHeads(self._workspace).doubt(view)

    def repair(self, session: str = "") -> tuple[Report, int]:
        return self._log.repair(session or self.session)

    def refs(self, session: str = "") -> dict[str, str]:
        return {name: str(target) for name, target in self._log.ref_targets(session or self.session).items()}

    def set_ref(self, name: str, event: str | None = None, *, session: str = "") -> Event:
        if event is None:
            return self._log.set_ref(name, self.last_event(session))
        return self._log.set_ref(name, self._log.resolve(self._cited(event, session)))

    def resolve_ref(self, name: str, session: str = "") -> Event:
        return self._log.resolve_ref(session or self.session, name)


def _shown(record: Record) -> Record:
    """An event for programs: its record without salt and digest, and its citation."""
    shown = {key: value for key, value in record.items() if key not in NOT_SHOWN}
    if type(record) is Malformed:
        shown["damage"] = record.reason
    return {**shown, "citation": str(Citation(record["thread"], record["seq"], record["hash"]))}
