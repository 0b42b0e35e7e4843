"""What a package may do with memory: what the core's own tools do, under the same names as in Python.

`zaxy.Memory` satisfies it. What a tool pack, a route or a command is given is the same memory, limited to what the one
who asks may do. A session that is empty is the one that is meant where none is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Unpack, runtime_checkable

from zaxy.api.models import Draft, EdgeRow, EntityRef, EntityRow, Event, JsonObject, Report

if TYPE_CHECKING:
    from zaxy.api.models import ForeignEvent, ImportReceipt
    from zaxy.api.points import ExportSink
    from zaxy.assemble.checkout import Checkout
    from zaxy.assemble.records import FeedbackDetails, SkillDetails
    from zaxy.assemble.replies import (
        Bootstrap,
        Capabilities,
        Context,
        Erasure,
        RecordedTurn,
        SubagentCleanup,
        SynthesisRecord,
    )
    from zaxy.follow.loop import FollowerFindings, FollowerState
    from zaxy.retrieve.results import Answer


@runtime_checkable
class MemoryAccess(Protocol):
    """Memory, as a package sees it. It may be used by several threads."""

    @property
    def session(self) -> str:
        """The session that is meant where none is named."""
        ...

    @property
    def is_foreign(self) -> bool:
        """Whether it came from elsewhere, and this user has not taken it in: what it says is not believed."""
        ...

    # Writing

    def append(
        self,
        event_type: str,
        payload: JsonObject,
        *,
        actor: str = "assistant",
        session: str = "",
        sensitivity: str = "",
        caused_by: str = "",
        idempotency_key: str = "",
    ) -> Event:
        """Append one event; it is durable when this returns. Secrets are taken out of it first."""
        ...

    def append_many(self, drafts: Iterable[Draft], session: str = "") -> Sequence[Event]:
        """Append all of them or none."""
        ...

    def after_turn(
        self,
        role: str,
        content: str,
        *,
        session: str = "",
        speaker: str = "",
        source: str = "",
        turn_index: int | None = None,
        query: str = "",
        limit: int = 10,
        max_recent_events: int = 10,
        max_tokens: int = 3000,
        actor: str = "",
        idempotency_key: str = "",
    ) -> RecordedTurn:
        """Record a turn of the conversation, then assemble context for the next one."""
        ...

    def feedback(
        self,
        entity_name: str,
        entity_type: str,
        *,
        feedback: str,
        actor: str = "assistant",
        session: str = "",
        **details: Unpack[FeedbackDetails],
    ) -> Event:
        """Record whether a memory was of use: `used`, `helpful` or `irrelevant`."""
        ...

    def skill(
        self,
        action: str,
        skill_id: str,
        *,
        actor: str = "assistant",
        session: str = "",
        **details: Unpack[SkillDetails],
    ) -> Event:
        """Record one step in the life of a reusable procedure."""
        ...

    def synthesis_artifact(
        self,
        checkout: JsonObject,
        candidate: JsonObject | None = None,
        *,
        outcome: str = "",
        reason: str = "",
        correction: str = "",
        actor: str = "assistant",
    ) -> SynthesisRecord:
        """Record the composed answer of a checkout, and what became of one of its candidates: `used`, `rejected`,
        `corrected` or `excluded`. The session is the checkout's."""
        ...

    def synthesis_evidence(
        self,
        checkout: JsonObject,
        row: JsonObject,
        *,
        outcome: str,
        candidate: JsonObject | None = None,
        reason: str = "",
        actor: str = "assistant",
    ) -> Event:
        """Record what became of one ledger row of a checkout: `used`, `helpful` or `excluded`."""
        ...

    def cleanup_subagent(
        self,
        parent_session: str,
        subagent_session: str,
        *,
        summary: str,
        outcome: str = "",
        actor: str = "assistant",
    ) -> SubagentCleanup:
        """End a subagent's session: recorded there and in the parent's."""
        ...

    def invalidate(
        self,
        entity_name: str,
        entity_type: str,
        *,
        invalid_at: str = "",
        reason: str = "",
        session: str = "",
        actor: str = "assistant",
    ) -> Event:
        """End what is held to be true of an entity, from a moment on; history keeps it."""
        ...

    def forget(self, citation: str, reason: str, *, actor: str = "user", with_copies: bool = False) -> Erasure:
        """Erase what a cited event says, for good. Only where the caller is an admin."""
        ...

    def import_events(
        self,
        events: Iterable[ForeignEvent],
        session: str = "",
        *,
        source: JsonObject,
        progress: Callable[[int, int], None] | None = None,
    ) -> ImportReceipt:
        """Append events that were recorded elsewhere; each keeps what named it there, and none comes twice.

        All are checked before the first is written (`CannotImport` where one is wrong), so `events` must begin again
        each time it is gone through. Those of types that only Zaxy writes come as plain data. `source` is kept in the
        record of the import. Only where the caller is an admin.
        """
        ...

    def set_ref(self, name: str, citation: str = "", *, session: str = "") -> Event:
        """Let a ref name an event: the cited one, or the last of a session."""
        ...

    # Asking

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
        ...

    def verbatim(
        self, query: str, session: str = "", *, limit: int = 10, max_tokens: int = 3000, cursor: str = ""
    ) -> Answer:
        """Passages of the log whose words fit, as they were written."""
        ...

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
        """What is true now on a question, cited, and whether it is enough to answer."""
        ...

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
        ...

    def capabilities(self, session: str = "", *, current_task: str = "", profile: str = "") -> Capabilities:
        """What a model should know of this memory. `profile`: whose tools are listed, if not the workspace's own."""
        ...

    def bootstrap(self, session: str = "", *, current_task: str = "", profile: str = "") -> Bootstrap:
        """The packet for a session's start, which begins with it."""
        ...

    # Reading without a question

    def sessions(self) -> Sequence[str]:
        """The sessions that have events and that the caller may read."""
        ...

    def head(self, session: str = "") -> int:
        """The seq of the last durable event; 0 where there is none."""
        ...

    def get(self, seq: int, session: str = "") -> Event:
        """The event with that number."""
        ...

    def resolve(self, citation: str) -> Event:
        """The event that a citation names. A wrong hash never resolves."""
        ...

    def replay(
        self, session: str = "", from_seq: int = 1, *, limit: int = 1000, include_housekeeping: bool = False
    ) -> Sequence[Event]:
        """Events in order, straight from the log."""
        ...

    def latest(self, session: str = "", limit: int = 10, *, types: Sequence[str] = ()) -> Sequence[Event]:
        """The last events that are not bookkeeping, newest first; of some types alone, `review.*` for a family."""
        ...

    def lines(self, session: str = "", *, first: int = 1, last: int | None = None) -> Iterator[tuple[Event, bytes]]:
        """The events of a range in order, bookkeeping and erased ones too, each with its proven line of the log."""
        ...

    def fitting(self, query: str, session: str = "", *, limit: int = 50) -> Sequence[int]:
        """The seqs of the events whose words fit best; `unavailable` while not all of the session can be searched."""
        ...

    def doubts(self, session: str = "") -> Sequence[str]:
        """Why what a session's log says is not to be relied on; empty where nothing is wrong with it."""
        ...

    def verify(self, session: str = "") -> Report:
        """Prove a session's log: every byte, digest, hash and link."""
        ...

    def refs(self, session: str = "") -> Mapping[str, str]:
        """All refs of a session, each with the citation that it names."""
        ...

    def resolve_ref(self, name: str, session: str = "") -> Event:
        """The event that a ref names."""
        ...

    def current(
        self,
        entity_types: Sequence[str],
        session: str = "",
        *,
        valid_at: str = "",
        known_at: int | None = None,
        limit: int = 100,
    ) -> Sequence[EntityRow]:
        """The things of these types that hold now, or held then, newest first, in the words of the log."""
        ...

    def entities(
        self,
        names: Sequence[str],
        session: str = "",
        *,
        valid_at: str = "",
        known_at: int | None = None,
        limit: int = 100,
    ) -> Sequence[EntityRow]:
        """The things that have one of these names, in the words of the log."""
        ...

    def neighbours(
        self,
        start: Sequence[EntityRef],
        session: str = "",
        *,
        relations: Sequence[str] = (),
        depth: int = 1,
        valid_at: str = "",
        known_at: int | None = None,
        limit: int = 100,
    ) -> Sequence[EdgeRow]:
        """What is related to things, nearest first."""
        ...

    # Followers: only where the caller is an admin

    def followers_status(self, session: str = "") -> Sequence[FollowerState]:
        """How far each follower is behind the log, and what keeps it."""
        ...

    def catch_up_followers(self, session: str = "") -> Sequence[FollowerState]:
        """Bring all followers up to the log, also those that reads do not wait for, however long it takes."""
        ...

    def rebuild_followers(self, session: str = "", names: Sequence[str] = ()) -> Sequence[FollowerState]:
        """Rebuild all of a session's followers, or those that are named, from the log as it is."""
        ...

    def verify_followers(self, session: str = "") -> Sequence[FollowerFindings]:
        """Go through all rows of a session: which do not hold their seals, and which are missing. Nothing is moved."""
        ...

    def follower_digests(self, session: str = "") -> Mapping[str, str]:
        """A hash over all that each follower holds of a session, once it is up to the log."""
        ...

    # Leaving

    def export_sink(self, name: str) -> ExportSink:
        """The sink of that name, of whichever package, with the settings of this workspace. Its calls cannot hang.
        Only where the caller is an admin."""
        ...
