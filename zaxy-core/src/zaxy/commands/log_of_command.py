"""The log as commands are given it: `zaxy.api.LogAccess` over the log of a workspace, or over a file of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from zaxy.api.log_access import Record
from zaxy.api.models import Event, Report
from zaxy.errors import NotFound
from zaxy.eventloom.citation import Citation, parse_citation
from zaxy.eventloom.event_log import EventLog, ref_target
from zaxy.eventloom.grammar import Malformed
from zaxy.eventloom.opening import files_log

if TYPE_CHECKING:
    from zaxy.plugins.families import Families
    from zaxy.settings import Stored

NOT_SHOWN = ("salt", "payload_digest", "v")


def log_in_file(path: str, settings: Callable[[], Stored]) -> LogOfCommand:
    file = Path(path)
    if not file.is_file():
        raise NotFound(f"{path} is not a file", "Name a session, or a file that ends in .jsonl.")
    return LogOfCommand(files_log(str(file.absolute().parent)), settings, lambda: file.name.removesuffix(".jsonl"))


class LogOfCommand:
    """`settings`: which packages count, whose words rows are in. `meant`: the session where none is named."""

    def __init__(self, log: EventLog, settings: Callable[[], Stored], meant: Callable[[], str]) -> None:
        self._log = log
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

    def record(self, citation: str) -> Record:
        return _shown(self._log.record(parse_citation(citation)))

    def records(
        self, session: str = "", *, first: int = 1, last: int | None = None, follow: bool = False
    ) -> Iterator[Record]:
        name = session or self.session
        found = self._log.follow(name, first) if follow else self._log.records(name, first, last)
        return (_shown(record) for record, _ in found)

    def row(self, record: Record) -> str:
        from zaxy.terminal.event_row import event_row

        return event_row(record, self._families)

    def state(self, session: str = "") -> str:
        return self._log.state(session or self.session)

    def verify(
        self, session: str = "", *, since: str = "", progress: Callable[[int, int], None] | None = None
    ) -> Report:
        return self._log.verify(session or self.session, progress, parse_citation(since) if since else None)

    def repair(self, session: str = "") -> tuple[Report, int]:
        return self._log.repair(session or self.session)

    def refs(self, session: str = "") -> dict[str, str]:
        return {name: str(ref_target(event)) for name, event in sorted(self._log.refs(session or self.session).items())}

    def set_ref(self, name: str, citation: str | None = None, *, session: str = "") -> Event:
        if citation is None:
            return self._log.set_ref(name, self.last_event(session))
        return self._log.set_ref(name, self._log.resolve(parse_citation(citation)))

    def resolve_ref(self, name: str, session: str = "") -> Event:
        return self._log.resolve_ref(session or self.session, name)


def _shown(record: Record) -> Record:
    """An event for programs: its record without salt and digest, and its citation."""
    shown = {key: value for key, value in record.items() if key not in NOT_SHOWN}
    if type(record) is Malformed:
        shown["damage"] = record.reason
    return {**shown, "citation": str(Citation(record["thread"], record["seq"], record["hash"]))}
