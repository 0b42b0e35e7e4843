"""What is written to memory: what was done and said, what became of it, and what is no longer so.

What only some methods need is imported by them: a command starts, calls one, and ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from zaxy.api.models import AsOf
from zaxy.direct_reads import moment_of
from zaxy.errors import InvalidRequest, NotFound
from zaxy.eventloom.admission import OWN_ACTOR
from zaxy.eventloom.drafts import admit_draft, own_draft
from zaxy.eventloom.request_keys import coming_key, next_key
from zaxy.questions import Questions
from zaxy.security.private_text import is_all_private, without_private
from zaxy.security.session_ids import check_session_id

if TYPE_CHECKING:
    from zaxy.api.models import Draft, Event, JsonObject, Report
    from zaxy.assemble.records import FeedbackDetails, SkillDetails
    from zaxy.assemble.replies import Erasure, RecordedTurn, SubagentCleanup, SynthesisRecord
    from zaxy.assemble.synthesis.recording import GivenCheckout, Recomputed

DEFAULT_ACTOR = "assistant"
MAX_TURN_QUERY_CHARS = 1000
"""Characters of a turn that are looked for in memory, where no query is given."""


class Writes(Questions):
    """What `Memory` records. Some of it is answered from memory too."""

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


def _integrity(report: Report, state: str) -> dict[str, Any]:
    """Whether a log is whole and can be written: `ok`, or else `damaged` or `poisoned`, and where."""
    found = {"status": state if report.ok else "damaged", "head": report.head, "erased": report.erased}
    return {**found, "damage": {"seq": report.damage.seq, "reason": report.damage.reason}} if report.damage else found
