"""What a command may do with the log alone. Where a method is one of `MemoryAccess` too, it has the same name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from zaxy.api.models import Event, Report

Record = dict[str, Any]


class LogAccess(Protocol):
    """A log that is read as it stands, also where it is damaged: nothing that follows it is opened.

    A session that is empty is the one that is meant where none is named. A record is an event as `--json` shows it;
    one that breaks the grammar of events says in `damage` how.
    """

    @property
    def session(self) -> str:
        """The session that is meant where none is named."""
        ...

    @property
    def folder(self) -> str:
        """The project's folder."""
        ...

    def sessions(self) -> Sequence[str]:
        """The sessions that have events."""
        ...

    def head(self, session: str = "") -> int:
        """The seq of the last durable event; 0 where there is none."""
        ...

    def last_event(self, session: str = "") -> Event:
        """The last event; `not_found` where there is none."""
        ...

    def cite(self, event: str, session: str = "") -> str:
        """The citation of the event that is meant: by its citation, its number in the session, its id, or the first
        digits of its hash."""
        ...

    def record(self, event: str) -> Record:
        """The record of the event that is meant. A wrong hash never resolves."""
        ...

    def records(
        self, session: str = "", *, first: int = 1, last: int | None = None, follow: bool = False
    ) -> Iterator[Record]:
        """The records of a range in order, each proven; with `follow` also those that are yet to come, without end."""
        ...

    def newest(
        self,
        session: str = "",
        *,
        limit: int,
        before: int | None = None,
        since: str = "",
        wanted: Callable[[Record], bool] = bool,
        include_housekeeping: bool = False,
    ) -> tuple[Sequence[Record], int | None]:
        """The last records that are wanted, newest first, and the number before which there may be more.

        At most 10,000 are looked through; those older than `since` are not.
        """
        ...

    def of_types(self, types: Sequence[str], session: str = "", *, since: str = "") -> Iterator[Record]:
        """The records of these types from a time on, oldest first, each proven by itself; the others are not read."""
        ...

    def text(self, record: Record) -> str:
        """What a record says, on one line, in the words of the package that owns its type."""
        ...

    def row(self, record: Record) -> str:
        """A record as one line for people, in the words of the package that owns its type."""
        ...

    def state(self, session: str = "") -> str:
        """`ok`, or what is wrong with the log as far as it was read: `damaged` or `poisoned`."""
        ...

    def verify(
        self, session: str = "", *, since: str = "", progress: Callable[[int, int], None] | None = None
    ) -> Report:
        """Prove a session's log: every byte, digest, hash and link; and that it holds the event cited by `since`."""
        ...

    def difference(self, session: str = "") -> str:
        """Why it is not the log that was last read here, such as an older copy of it; empty where it is."""
        ...

    def repair(self, session: str = "") -> tuple[Report, int]:
        """Verify, and let an intact session be written again; with how many bytes of an interrupted write were cut."""
        ...

    def refs(self, session: str = "") -> Mapping[str, str]:
        """All refs of a session, each with the citation that it names."""
        ...

    def set_ref(self, name: str, event: str | None = None, *, session: str = "") -> Event:
        """Let a ref name an event: the one that is meant, or the last one. Returns the event that records it."""
        ...

    def resolve_ref(self, name: str, session: str = "") -> Event:
        """The event that a ref names."""
        ...
