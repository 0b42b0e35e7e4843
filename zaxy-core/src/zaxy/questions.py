"""What is asked of memory, and the followers that answer.

What only some methods need is imported by them: a command starts, calls one, and ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from zaxy.api.models import AsOf
from zaxy.direct_reads import DirectReads, moment_of, several
from zaxy.errors import NotFound, ZaxyError
from zaxy.retrieve.retriever import Question
from zaxy.settings import Settings

if TYPE_CHECKING:
    from zaxy.api.models import Event, JsonObject
    from zaxy.assemble.checkout import Checkout
    from zaxy.assemble.purpose import Purpose
    from zaxy.assemble.replies import Bootstrap, Capabilities, Context
    from zaxy.follow.loop import FollowerFindings, FollowerState
    from zaxy.retrieve.results import Answer

LOOKBACK = 200
"""Events in which a session's start looks for what is captured, and for a reminder."""


class Questions(DirectReads):
    """The reads of `Memory` that first bring its followers up to the log."""

    def query(
        self,
        query: str,
        session: str = "",
        *,
        limit: int = 10,
        temporal_filter: str = "",
        known_at: int | None = None,
        profile: str = "balanced",
        max_tokens: int = 3000,
        cursor: str = "",
    ) -> Answer:
        """What answers a question, of what holds now or held at the moment of `temporal_filter`."""
        as_of = AsOf(moment_of(temporal_filter), known_at)
        question = Question(query, session or self.session, limit, as_of, profile, max_tokens, cursor).checked()
        return self.recall.query(question)

    def verbatim(
        self, query: str, session: str = "", *, limit: int = 10, max_tokens: int = 3000, cursor: str = ""
    ) -> Answer:
        """Passages of the log whose words fit, as they were written. No graph takes part."""
        question = Question(query, session or self.session, limit, max_tokens=max_tokens, cursor=cursor).checked()
        return self.recall.verbatim(question)

    def checkout(
        self,
        query: str,
        session: str = "",
        *,
        ref: str = "",
        replay_from_seq: int | None = None,
        limit: int | None = None,
        max_recent_events: int = 3,
        purpose: object = None,
        max_tokens: int = 3000,
    ) -> Checkout:
        """What is true now on a question, cited, and whether it is enough to answer; as of a ref, if one is given."""
        from zaxy.assemble.checkout import checkout
        from zaxy.assemble.purpose import purpose_of

        session = session or self.session
        chosen = purpose_of(purpose, self._presets)
        target = self._log.resolve_ref(session, ref).seq if ref else None
        done = self.recall.reply(
            session,
            lambda snapshot: checkout(
                snapshot,
                query,
                limit=limit,
                recent=max_recent_events,
                from_seq=replay_from_seq,
                purpose=chosen,
                max_tokens=max_tokens,
                ref=ref,
            ),
            target=target,
        )
        if done.known_to_seq:  # a session that holds nothing is not begun by a question: its name may be a mistake
            mark: JsonObject = {"answerability": done.quality.answerability, "tokens": done.tokens_used}
            self._marks.add("memory.checkout.completed", mark, session)
        return done

    def _presets(self) -> dict[str, Purpose]:
        """The presets for purposes that installed packages bring, as their manifests have them."""
        from zaxy.assemble.purpose import presets_of

        return presets_of(self.recall.host.roster)

    def context(
        self,
        query: str,
        session: str = "",
        *,
        replay_from_seq: int | None = None,
        limit: int = 10,
        max_recent_events: int = 10,
        max_tokens: int = 3000,
    ) -> Context:
        """Where the work stands, what happened last, and what memory has on a question, ready for a prompt."""
        from zaxy.assemble.context import context
        from zaxy.assemble.replies import Context

        reply = self.recall.reply(
            session or self.session,
            lambda snapshot: context(
                snapshot,
                query,
                limit=limit,
                recent=max_recent_events,
                from_seq=replay_from_seq,
                max_tokens=max_tokens,
            ),
        )
        return Context.of(reply)

    def capabilities(self, session: str = "", *, current_task: str = "", profile: str = "") -> Capabilities:
        """What a model should know of this memory, which tool to call when, and what is captured.

        `profile`: whose tools are listed; where none is named, that of the workspace's servers.
        """
        from zaxy.assemble import bootstrap as starting
        from zaxy.assemble.replies import Capabilities
        from zaxy.assemble.token_budget import tokens_of
        from zaxy.observe.capture_paths import capture_status

        session = session or self.session
        state, end = self._log.state(session), self._log.end(session)
        latest = self._latest(session)
        eventloom = {"status": state if end else "empty", "events": end}
        eventloom |= {"head": latest[-1].citation} if latest else {}
        profile = profile or Settings(stored=self.workspace.stored_settings()).tool_profile
        doubts: list[str] = []
        if self._log.sessions():
            with self._log.view(session) as log:
                doubts = [*self.recall.foreign(log), *self.recall.doubts(session, [])]
        with self.recall.host_to_look_at() as host:
            tools = starting.tools_listed(profile, starting.tools_of_packages(host))
        found = starting.capabilities(
            session,
            current_task,
            eventloom=eventloom,
            tools=tools,
            capture=capture_status(self.workspace, latest),
            warnings=doubts,
        )
        return Capabilities.of({**found, "tokens_used": tokens_of(found), "truncated": False})

    def bootstrap(self, session: str = "", *, current_task: str = "", profile: str = "") -> Bootstrap:
        """The packet for a session's start: capabilities, the first call, what to trust. It begins the session."""
        from zaxy.assemble import bootstrap as starting
        from zaxy.assemble.guidance import pending_reminder
        from zaxy.assemble.replies import Bootstrap
        from zaxy.assemble.token_budget import tokens_of

        session = session or self.session
        manifest = self.capabilities(session, current_task=current_task, profile=profile)
        with self._log.view(session) as log:
            found = starting.bootstrap(manifest.as_dict(), pending_reminder(log, LOOKBACK))
        counted = {"tokens_used": tokens_of(found), "truncated": False}
        self._marks.add("memory.bootstrap.shown", {"tokens": counted["tokens_used"]}, session)
        return Bootstrap.of({**found, "capabilities": manifest, **counted})

    def _latest(self, session: str) -> list[Event]:
        """The last events; where the log is damaged, those of them that stand before the damage."""
        end = self.head(session)
        found: list[Event] = []
        with suppress(ZaxyError):
            found.extend(self._log.events(session, max(end - LOOKBACK, 1), end))
        return found

    # Followers

    def follow(self, session: str = "") -> list[FollowerState]:
        """Bring the followers up to the log as it is now, and say how far each has come."""
        return self.recall.loop.catch_up(session or self.session, self.recall.patience, self.recall.progress)

    def catch_up_followers(self, session: str = "") -> list[FollowerState]:
        """Bring all followers up to the log, also those that reads do not wait for, however long it takes."""
        return self.recall.all_loops.catch_up(session or self.session, progress=self.recall.progress)

    def followers_status(self, session: str = "") -> list[FollowerState]:
        return self.recall.all_loops.status(session or self.session)

    def verify_followers(self, session: str = "") -> list[FollowerFindings]:
        """Go through all rows of a session: which do not hold their seals, and which are missing. Nothing is moved."""
        return self.recall.all_loops.verify(session or self.session)

    def rebuild_followers(self, session: str = "", names: Sequence[str] = ()) -> list[FollowerState]:
        known = self.recall.all_loops.names
        if unknown := [name for name in several("names", names) if name not in known]:
            raise NotFound(f"there is no follower {unknown[0]!r:.40}", f"There are {', '.join(known)}.")
        session = session or self.session
        with self._log.view(session) as log:  # as it is: also if another one was seen here before
            self.recall.seen.accept(log)
        return self.recall.all_loops.rebuild(session, names, self.recall.progress)

    def follower_digests(self, session: str = "") -> dict[str, str]:
        self.catch_up_followers(session)
        return self.recall.all_loops.digests(session or self.session)
