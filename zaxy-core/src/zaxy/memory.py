"""Memory: the one object over log, followers and retrieval. Every surface is a thin skin on it.

What only some methods need is imported by them: a command starts, calls one, and ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path
from threading import Event as Signal, Lock
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Unpack, cast

from zaxy.api.models import AsOf
from zaxy.assemble.use_marks import UseMarks
from zaxy.direct_reads import ClosedRecall, DirectReads, moment_of
from zaxy.errors import InvalidRequest, NotFound, ZaxyError
from zaxy.eventloom.admission import OWN_ACTOR
from zaxy.eventloom.drafts import admit_draft, own_draft
from zaxy.eventloom.request_keys import coming_key, next_key
from zaxy.follow.loop import FOREVER
from zaxy.plugins.secret_rows import redact_rows_of_plugins
from zaxy.retrieve.recall import Recall
from zaxy.retrieve.retriever import Question
from zaxy.security.private_text import is_all_private, without_private
from zaxy.security.session_ids import check_session_id
from zaxy.settings import Settings
from zaxy.workspace import find_workspace, workspace_at

if TYPE_CHECKING:
    from types import TracebackType

    from zaxy.api.models import Draft, Event, ForeignEvent, ImportReceipt, JsonObject, Report
    from zaxy.api.points import ExportSink
    from zaxy.assemble.checkout import Checkout
    from zaxy.assemble.purpose import Purpose
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
    from zaxy.assemble.synthesis.recording import GivenCheckout, Recomputed
    from zaxy.follow.background import Background
    from zaxy.follow.loop import FollowerFindings, FollowerState, Progress
    from zaxy.model_tools import ModelTools, ServedTools
    from zaxy.plugins.bundles import Imported, Selector, Signer, Written
    from zaxy.retrieve.results import Answer
    from zaxy.workspace import Workspace

DEFAULT_ACTOR = "assistant"
MAX_TURN_QUERY_CHARS = 1000
"""Characters of a turn that are looked for in memory, where no query is given."""
LOOKBACK = 200
"""Events in which a session's start looks for what is captured, and for a reminder."""

SERVED_BY = "zaxy.serve.in_process"
"""A skin on memory, so it is not imported here: found when tools are asked for."""


class Memory(DirectReads):
    """What an agent did and learned, in a workspace. It may be used by several threads and several processes."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        patience: float = FOREVER,
        progress: Progress | None = None,
        withheld: ZaxyError | None = None,
    ) -> None:
        """`patience`: seconds that a read waits for the followers before it answers with what they have, and warns.

        `withheld`: why the graph is not opened, where another process holds it and cannot be asked. Reads warn.
        """
        self.workspace = workspace
        redact_rows_of_plugins(workspace.stored_settings)
        self.recall = Recall(workspace, patience, progress=progress, withheld=withheld)
        self._closed, self._looking = Signal(), Lock()
        self._marks = UseMarks(self._write_own)
        self._background: list[Background] = []

    @classmethod
    def open(cls, path: str | Path | None = None, *, patience: float = FOREVER) -> Memory:
        """The memory of a project's folder; without a path, that of the workspace the current folder belongs to."""
        workspace = find_workspace() if path is None else workspace_at(str(path))
        if not Path(workspace.root).is_dir():
            raise NotFound(f"{workspace.root} is not a folder", "Name the folder of a project, or make it first.")
        return cls(workspace, patience=patience)

    # Writing

    def append(
        self,
        event_type: str,
        payload: JsonObject,
        *,
        actor: str = DEFAULT_ACTOR,
        session: str = "",
        sensitivity: str = "",
        caused_by: str = "",
        idempotency_key: str = "",
    ) -> Event:
        """Append one event; it is durable when this returns. Secrets are taken out of it first."""
        key = idempotency_key or next_key()
        draft = admit_draft(
            event_type,
            actor,
            dict(payload),
            families=self.recall.families,
            sensitivity=sensitivity,
            caused_by=caused_by,
            idempotency_key=key,
        )
        return self._log.append(session or self.session, [draft])[0]

    def append_many(self, drafts: Iterable[Draft], session: str = "") -> list[Event]:
        """Append all of them or none."""
        admitted = [
            admit_draft(
                draft.type,
                draft.actor,
                dict(draft.payload),
                families=self.recall.families,
                sensitivity=draft.sensitivity,
                caused_by=draft.caused_by,
                idempotency_key=draft.idempotency_key or next_key(),
            )
            for draft in drafts
        ]
        return self._log.append(session or self.session, admitted)

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
        from zaxy.assemble.context import check_request, nothing_fits
        from zaxy.assemble.replies import Context, RecordedTurn, turn_receipt
        from zaxy.assemble.token_budget import tokens_of

        if not isinstance(content, str) or not content.strip():
            raise InvalidRequest("the turn's content is empty", "Send what was said.")
        if is_all_private(content):
            raise InvalidRequest("all of the turn is private, so nothing was recorded", "Go on with the next one.")
        content = without_private(content)
        turn = {"role": role, "content": content, "speaker": speaker, "source": source, "turn_index": turn_index}
        payload = {key: value for key, value in turn.items() if value not in ("", None)}
        asked = query or " ".join(content.split())[:MAX_TURN_QUERY_CHARS]
        check_request(asked, limit, recent=max_recent_events, from_seq=None, max_tokens=max_tokens)
        event = self.append(
            "transcript.turn", payload, actor=actor or role, session=session, idempotency_key=idempotency_key
        )
        cost = tokens_of({"event": turn_receipt(event)})
        left = max(max_tokens - cost, 1)
        try:
            found = self.context(
                asked, event.session, limit=limit, max_recent_events=max_recent_events, max_tokens=left
            )
        except InvalidRequest as error:  # all else was checked before the turn was recorded
            found = Context.of(nothing_fits(event.session, asked, error))
        return RecordedTurn(event, found, found.tokens_used + cost)

    def feedback(
        self,
        entity_name: str,
        entity_type: str,
        *,
        feedback: str,
        actor: str = DEFAULT_ACTOR,
        session: str = "",
        **details: Unpack[FeedbackDetails],
    ) -> Event:
        """Record whether a memory was of use: `used` and `helpful` reinforce it, `irrelevant` is kept for audit.

        What is said of a memory stands beside it, in the session of its citation, unless another one is named.
        `entity_name` may be a citation too. Where the event that says it is known, its citation is written, and its
        words are not.
        """
        from zaxy.assemble.about import About
        from zaxy.assemble.records import feedback_draft

        draft = feedback_draft(
            entity_name, entity_type, feedback=feedback, actor=actor, details=details, presets=self._presets
        )
        given = str(draft.payload.get("citation") or "")
        cited = self.resolve(given) if given else None
        session = session or (cited.session if cited else self.session)
        about = About(self.recall, session).named(entity_name, entity_type, cited)
        return self.append_many([about.in_draft(draft)], session)[0]

    def skill(
        self,
        action: str,
        skill_id: str,
        *,
        actor: str = DEFAULT_ACTOR,
        session: str = "",
        **details: Unpack[SkillDetails],
    ) -> Event:
        """Record one step in the life of a reusable procedure: propose, validate, revise, apply and so on."""
        from zaxy.assemble.records import skill_draft

        return self.append_many([skill_draft(action, skill_id, actor, details)], session)[0]

    def synthesis_artifact(
        self,
        checkout: JsonObject,
        candidate: JsonObject | None = None,
        *,
        outcome: str = "",
        reason: str = "",
        correction: str = "",
        actor: str = DEFAULT_ACTOR,
    ) -> SynthesisRecord:
        """Record the composed answer of a checkout, in the checkout's session: its candidates with their whole ledger.

        `candidate` is one of them, and `outcome` what became of it: `used`, `rejected`, `corrected` or `excluded`. A
        checkout that says anything else than memory did then is refused. The same content is recorded once.
        """
        from zaxy.assemble.replies import SynthesisRecord
        from zaxy.assemble.synthesis.recording import artifact_draft, given_checkout, outcome_draft
        from zaxy.retrieve.cited_replies import event_reply

        given = given_checkout(checkout)
        found = self._recomputed(given)
        said = outcome_draft(found, candidate, outcome, reason=reason, correction=correction, actor=actor)
        events = [
            (draft.type, *self._append_once(draft, given.session))
            for draft in (artifact_draft(found, actor), said)
            if draft
        ]
        replies = [{"event_type": type_, **event_reply(event, replayed)} for type_, event, replayed in events]
        chosen = said.payload["candidate"] if said else None
        return SynthesisRecord(
            artifact_id=found.artifact["artifact_id"],
            artifact=replies[0],
            candidate=dict(chosen) if isinstance(chosen, dict) else None,
            outcome=replies[1] if said else None,
        )

    def synthesis_evidence(
        self,
        checkout: JsonObject,
        row: JsonObject,
        *,
        outcome: str,
        candidate: JsonObject | None = None,
        reason: str = "",
        actor: str = DEFAULT_ACTOR,
    ) -> Event:
        """Record what became of one ledger row of a checkout: `used` and `helpful` reinforce it, `excluded` keeps it
        out of later answers on the same topic."""
        from zaxy.assemble.synthesis.recording import evidence_draft, given_checkout

        given = given_checkout(checkout)
        found = self._recomputed(given)
        draft = evidence_draft(found, row, outcome, candidate=candidate, reason=reason, actor=actor)
        return self._append_once(draft, given.session)[0]

    def _recomputed(self, given: GivenCheckout) -> Recomputed:
        from zaxy.assemble.purpose import purpose_of
        from zaxy.assemble.synthesis.recording import recomputed

        check_session_id(given.session)
        purpose = purpose_of(given.purpose, self._presets)
        return self.recall.reply(
            given.session, lambda snapshot: recomputed(snapshot, given, purpose), target=given.known_to_seq
        )

    def _append_once(self, draft: Draft, session: str) -> tuple[Event, bool]:
        """The event with the draft's key, and whether it was there before."""
        before = self._log.by_key(session, draft.idempotency_key)
        return (before, True) if before is not None else (self.append_many([draft], session)[0], False)

    def cleanup_subagent(
        self,
        parent_session: str,
        subagent_session: str,
        *,
        summary: str,
        outcome: str = "",
        actor: str = DEFAULT_ACTOR,
    ) -> SubagentCleanup:
        """End a subagent's session: recorded there and in the parent's, with a bundle to hand over."""
        from zaxy.assemble.replies import SubagentCleanup

        if parent_session == subagent_session:
            raise InvalidRequest("the subagent's session is the parent's", "Give the subagent a session of its own.")
        check_session_id(parent_session)
        report = self._log.verify(subagent_session)
        payload = {"parent_session_id": parent_session, "subagent_session_id": subagent_session, "summary": summary}
        payload |= {"outcome": outcome} if outcome else {}
        integrity, cleaned = _integrity(report, self._log.state(subagent_session)), None
        if integrity["status"] == "ok":
            cleaned = self.append("subagent.cleaned", payload, actor=actor, session=subagent_session).citation
        else:  # nothing can be written there, and the parent must hear of it all the same
            payload["integrity"] = integrity["status"]
        completed = self.append("subagent.completed", payload, actor=actor, session=parent_session)
        return SubagentCleanup(
            parent_session=parent_session,
            subagent_session=subagent_session,
            summary=summary,
            outcome=outcome or None,
            events=report.events,
            integrity=integrity,
            cleaned=cleaned,
            completed=completed.citation,
        )

    def record_tool_call(
        self,
        tool: str,
        status: str,
        *,
        argument_keys: Sequence[str],
        summary: str,
        session: str = "",
        identity: str = "",
    ) -> None:
        """What a server keeps of each call: no value of any argument. `identity`: who called, where that is known."""
        payload = {"tool_name": tool, "status": status, "argument_keys": list(argument_keys), "result_summary": summary}
        caller = {"identity": identity} if identity else {}
        self._mark("tool.call.completed", {**payload, **caller}, session or self.session)

    def end_session(self, reason: str = "", session: str = "") -> None:
        """Record that the user of a session has gone."""
        self._mark("session.ended", {"reason": reason} if reason else {}, session or self.session)

    def _mark(self, event_type: str, payload: JsonObject, session: str) -> None:
        """Write down something of Zaxy's own."""
        self._marks.flush()
        self._write_own(event_type, payload, session)

    def _write_own(self, event_type: str, payload: JsonObject, session: str) -> None:
        """A mark, unless recording is paused."""
        from zaxy.observe.recording import read_recording

        if read_recording(self.workspace.eventloom).paused_since:
            return
        self.recall.store.append(session, [own_draft(event_type, OWN_ACTOR, dict(payload))])

    def invalidate(
        self,
        entity_name: str,
        entity_type: str,
        *,
        invalid_at: str = "",
        reason: str = "",
        session: str = "",
        actor: str = DEFAULT_ACTOR,
    ) -> Event:
        """End what is held to be true of an entity, from a moment on; history keeps it. `not_found` if none is open.

        `entity_name` may be a citation too.
        """
        from zaxy.assemble.about import About

        session = session or self.session
        done = self._log.by_key(session, key) if (key := coming_key()) else None
        if done is not None:  # then nothing is open any more, and that is as it should be
            return done
        at = moment_of(invalid_at)
        self.follow(session)
        memories = About(self.recall, session)
        thing = memories.thing(entity_name, entity_type)
        rows = self.recall.versions(session, thing, AsOf())
        if not rows:
            raise NotFound(
                f"{session} has no open {entity_type} {entity_name!r:.80}",
                "Name the entity as a query shows it; its type counts too.",
            )
        if at and at < rows[0].valid_from:
            raise InvalidRequest(f"it holds only since {rows[0].valid_from}", "Give a later moment, or none.")
        payload = {"invalid_at": at, "reason": reason}
        given = {key: value for key, value in payload.items() if value}
        about = memories.in_rows(thing, rows)
        return self.append(
            "memory.invalidated",
            {**about.fields, **given},
            actor=actor,
            session=session,
            sensitivity=about.sensitivity,
        )

    def forget(self, citation: str, reason: str, *, actor: str = "user", with_copies: bool = False) -> Erasure:
        """Erase what a cited event says, from the log and from everything that has followed it.

        `copies` of the reply are other events of the workspace that hold its words; `with_copies` erases them too.
        There is a warning for each follower that could not be made to forget.
        """
        from zaxy.assemble.erasing import Eraser

        return Eraser(self.recall, self._log, actor=actor, reason=reason).forget(citation, with_copies=with_copies)

    # Reading

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

    # For a model

    def tools(self, api: Literal["openai", "anthropic"], *, profile: str = "", session: str = "") -> ModelTools:
        """Memory's tools for a program that runs a model's tool loop itself: their schemas, and answers to its calls.

        A call does what it does over MCP. `session` is meant where the model names none.
        """
        from zaxy.model_tools import ModelTools

        session = check_session_id(session) if session else ""
        return ModelTools(api, self._served, profile=profile, session=session)

    @cached_property
    def _served(self) -> ServedTools:
        served: ServedTools = import_module(SERVED_BY).InProcess(self)
        return served

    # Leaving and coming back

    def export(
        self,
        file: BinaryIO,
        selector: Selector | None = None,
        *,
        session: str = "",
        signer: Signer | None = None,
        disclosed: Selector | None = None,
        progress: Progress | None = None,
    ) -> Written:
        """Write a session's memory as a bundle that others can check: all of it, or what a selector takes."""
        from zaxy.plugins.bundles import package_of_bundles

        written: Written = package_of_bundles(self.recall.host).export_memory(
            self, file, selector, session=session, signer=signer, disclosed=disclosed, progress=progress
        )
        return written

    def import_bundle(
        self,
        file: BinaryIO,
        session: str = "",
        *,
        expect_public_key: str | None = None,
        progress: Progress | None = None,
    ) -> Imported:
        """Append the events of a bundle, which is proven first; each keeps the citation that it had."""
        from zaxy.plugins.bundles import package_of_bundles

        imported: Imported = package_of_bundles(self.recall.host).import_into(
            self, file, session, expect_public_key=expect_public_key, progress=progress
        )
        return imported

    def import_events(
        self,
        events: Iterable[ForeignEvent],
        session: str = "",
        *,
        source: JsonObject,
        progress: Progress | None = None,
    ) -> ImportReceipt:
        """Append events that were recorded elsewhere; each keeps what named it there, and none comes twice.

        All are checked before the first is written, so `events` must begin again each time it is gone through.
        Those of types that only Zaxy or a package writes come as plain data. `source` is kept in the import's record.
        """
        from zaxy.importing import import_events

        return import_events(
            self._log,
            events,
            session=session or self.session,
            families=self.recall.families,
            source=source,
            progress=progress,
        )

    def export_sink(self, name: str) -> ExportSink:
        """The sink of that name, with the settings of this workspace. Its calls cannot hang."""
        from zaxy.plugins.calls import export_sink

        return export_sink(self.recall.host, name)

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
        if unknown := [name for name in names if name not in known]:
            raise NotFound(f"there is no follower {unknown[0]!r:.40}", f"There are {', '.join(known)}.")
        session = session or self.session
        with self._log.view(session) as log:  # as it is: also if another one was seen here before
            self.recall.seen.accept(log)
        return self.recall.all_loops.rebuild(session, names, self.recall.progress)

    def follow_in_background(self) -> None:
        """From now on bring all sessions' followers up to the log as it grows, until `close`; for a server."""
        from zaxy.follow.background import Background

        if not self._background:
            self._background = [Background(loop, self._log.sessions) for loop in self.recall.all_loops]
            for following in self._background:
                following.start()

    def follower_digests(self, session: str = "") -> dict[str, str]:
        self.catch_up_followers(session)
        return self.recall.all_loops.digests(session or self.session)

    def close(self) -> None:
        if self._closed.is_set():
            return
        for following in self._background:
            following.stop()
        self._background = []
        if served := self.__dict__.pop("_served", None):
            served.close()
        self._marks.flush()
        with self._looking:
            self._closed.set()
            ended, self.recall = self.recall, cast(Recall, ClosedRecall())
        ended.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _integrity(report: Report, state: str) -> dict[str, Any]:
    """Whether a log is whole and can be written: `ok`, or else `damaged` or `poisoned`, and where."""
    found = {"status": state if report.ok else "damaged", "head": report.head, "erased": report.erased}
    return {**found, "damage": {"seq": report.damage.seq, "reason": report.damage.reason}} if report.damage else found
