"""All that follows the log: what reads wait for, and what is slow and followed beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from zaxy.follow.loop import FOREVER, FollowerFindings, FollowerState, Loop, Progress


class AllLoops:
    """Several loops as one, for what concerns every follower."""

    def __init__(self, loops: Sequence[Loop]) -> None:
        self._loops = loops

    def __iter__(self) -> Iterator[Loop]:
        return iter(self._loops)

    @property
    def names(self) -> list[str]:
        return [name for loop in self._loops for name in loop.names]

    def catch_up(self, session: str, budget: float = FOREVER, progress: Progress | None = None) -> list[FollowerState]:
        return [state for loop in self._loops for state in loop.catch_up(session, budget, progress)]

    def work_on(self, session: str, seconds: float) -> list[FollowerState]:
        """Each for that long at most."""
        return [state for loop in self._loops for state in loop.work_on(session, seconds)]

    def status(self, session: str) -> list[FollowerState]:
        return [state for loop in self._loops for state in loop.status(session)]

    def rebuild(self, session: str, names: Sequence[str] = (), progress: Progress | None = None) -> list[FollowerState]:
        """Without names, all of them."""
        chosen = [(loop, [name for name in names if name in loop.names]) for loop in self._loops]
        return [
            state for loop, own in chosen if own or not names for state in loop.rebuild(session, own, progress=progress)
        ]

    def verify(self, session: str) -> list[FollowerFindings]:
        found = {findings.follower: findings for loop in self._loops for findings in loop.verify(session)}
        return list(found.values())

    def digests(self, session: str) -> dict[str, str]:
        return {name: digest for loop in self._loops for name, digest in loop.digests(session).items()}

    def expect_erasure(self, session: str) -> None:
        for loop in self._loops:
            loop.expect_erasure(session)

    def forget(self, session: str) -> list[FollowerState]:
        return [state for loop in self._loops for state in loop.forget(session)]

    def unscrubbed(self, session: str) -> list[str]:
        return [name for loop in self._loops for name in loop.unscrubbed(session)]
