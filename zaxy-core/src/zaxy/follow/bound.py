"""Followers and backends of plugins, each call under guard and within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from zaxy.api.models import AsOf, Batch, Cursor, EdgeRow, EntityRef, EntityRow, GraphStats
from zaxy.errors import InternalError, Unavailable, ZaxyError
from zaxy.plugins.host import BoundProvider, PluginHost

SECONDS_TO_READ = 10.0
SECONDS_TO_FOLLOW = 120.0
"""For one batch, for forgetting a session, and for a digest over all of it."""


class WithheldProvider(BoundProvider):
    """A provider that another process holds, and nobody can ask: each call says so, and nothing is opened."""

    def __init__(self, bound: BoundProvider, host: PluginHost, *, why: ZaxyError) -> None:
        super().__init__(bound.point, bound.provider, row=bound.row, instance=bound.instance, host=host)
        self._why = why

    def call(self, method: str, *arguments: object, budget: float | None = None, **named: object) -> Any:
        raise Unavailable(self._why.message, self._why.remediation)


class BoundFollower:
    def __init__(
        self,
        provider: BoundProvider,
        *,
        seconds_to_read: float = SECONDS_TO_READ,
        seconds_to_follow: float = SECONDS_TO_FOLLOW,
    ) -> None:
        self._provider = provider
        self._seconds_to_read = seconds_to_read
        self._seconds_to_follow = seconds_to_follow

    def cursor(self, session: str) -> Cursor | None:
        found = self._provider.call("cursor", session, budget=self._seconds_to_read)
        if found is None or isinstance(found, Cursor):
            return found
        name = self._provider.name
        raise InternalError(f"{name} returned a cursor that is none", f"The author of {name} can fix it.")

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        self._provider.call("apply", batch, cursor, budget=self._seconds_to_follow)

    def digest(self, session: str) -> str:
        return str(self._provider.call("digest", session, budget=SECONDS_TO_FOLLOW))

    def verify(self, session: str) -> Sequence[str] | None:
        """What is wrong with the rows of a session; None where the plugin cannot say."""
        if not hasattr(self._provider.instance, "verify"):
            return None
        return [str(problem) for problem in self._provider.call("verify", session, budget=SECONDS_TO_FOLLOW)]

    def wipe(self, session: str) -> None:
        self._provider.call("wipe", session, budget=SECONDS_TO_FOLLOW)

    def close(self) -> None:
        self._provider.call("close", budget=SECONDS_TO_READ)


class BoundBackend(BoundFollower):
    def entities(self, session: str, names: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return cast(Sequence[EntityRow], self._read("entities", session, names, as_of, limit))

    def rows_of_events(self, session: str, seqs: Sequence[int], as_of: AsOf) -> Sequence[EntityRow]:
        return cast(Sequence[EntityRow], self._read("rows_of_events", session, seqs, as_of))

    def neighbours(
        self,
        session: str,
        start: Sequence[EntityRef],
        *,
        relations: Sequence[str],
        depth: int,
        as_of: AsOf,
        limit: int,
    ) -> Sequence[EdgeRow]:
        asked = {"relations": relations, "depth": depth, "as_of": as_of, "limit": limit}
        return cast(Sequence[EdgeRow], self._read("neighbours", session, start, **asked))

    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return cast(Sequence[EntityRow], self._read("current", session, entity_types, as_of, limit))

    def stats(self, session: str) -> GraphStats:
        return cast(GraphStats, self._read("stats", session))

    def _read(self, method: str, *arguments: object, **named: object) -> object:
        return self._provider.call(method, *arguments, budget=self._seconds_to_read, **named)
