from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from zaxy.api import Batch, Candidate, Cursor, ProviderContext, Query
from zaxy.api.checks.retrieval_lanes import RetrievalLaneCase
from zaxy.plugins.templates.retrieval_lanes import Lane

RIGHT = Lane


def case(make: Callable[..., Any], scratch: Path) -> RetrievalLaneCase:
    return RetrievalLaneCase(make, capabilities=frozenset({"follower"}))


class WithoutSearch:
    def __init__(self, context: object) -> None:
        pass


class OnlySearching:
    def __init__(self, context: object) -> None:
        pass

    def search(self, query: Query) -> list[Candidate]:
        return []


class Silent(Lane):
    def search(self, query: Query) -> list[Candidate]:
        return []


class Unlimited(Lane):
    def search(self, query: Query) -> list[Candidate]:
        return super().search(replace(query, limit=100))


class WorstFirst(Lane):
    def search(self, query: Query) -> list[Candidate]:
        return super().search(query)[::-1]


class Bored(Lane):
    """Leaves out what it has told before."""

    def __init__(self, context: ProviderContext) -> None:
        super().__init__(context)
        self._told: set[int] = set()

    def search(self, query: Query) -> list[Candidate]:
        fresh = [candidate for candidate in super().search(query) if candidate.seq not in self._told]
        self._told |= {candidate.seq for candidate in fresh}
        return fresh


class OneForAllSessions(Lane):
    def search(self, query: Query) -> list[Candidate]:
        sessions = sorted(path.stem for path in self._folder.glob("*.json"))
        everything = [
            c for session in sessions for c in super(OneForAllSessions, self).search(replace(query, session=session))
        ]
        return sorted(everything, key=lambda candidate: (-candidate.score, -candidate.seq))[: query.limit]


class PatternOfTheQuestion(Lane):
    def search(self, query: Query) -> list[Candidate]:
        re.compile(query.text)
        return super().search(query)


class Learning(Lane):
    def search(self, query: Query) -> list[Candidate]:
        index = self._load(query.session)
        if index.cursor:
            index.texts["0"] = query.text
            self._store(query.session, index)
        return super().search(query)


class AnsweringFromThisLifeOnly(Lane):
    def __init__(self, context: ProviderContext) -> None:
        super().__init__(context)
        self._fed = False

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        super().apply(batch, cursor)
        self._fed = True

    def search(self, query: Query) -> list[Candidate]:
        return super().search(query) if self._fed else []


class Cached(Lane):
    def __init__(self, context: ProviderContext) -> None:
        super().__init__(context)
        self._answers: dict[Query, list[Candidate]] = {}

    def search(self, query: Query) -> list[Candidate]:
        if query not in self._answers:
            self._answers[query] = super().search(query)
        return self._answers[query]


class CursorFromTheStart(Lane):
    def cursor(self, session: str) -> Cursor | None:
        return super().cursor(session) or Cursor(0, "", 0)


class HalfACursor(Lane):
    def apply(self, batch: Batch, cursor: Cursor) -> None:
        super().apply(batch, replace(cursor, fed_by=""))


class TakingEverything(Lane):
    """Takes each batch as if it came next."""

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        super().apply(batch, cursor)
        self._store(batch.session, replace(self._load(batch.session), cursor=cursor))


class EventByEvent(Lane):
    def apply(self, batch: Batch, cursor: Cursor) -> None:
        for extracted in batch.events:
            payload = extracted.event.payload or {}
            if not isinstance(payload.get("content"), str):
                raise TypeError("content must be a text")
            super().apply(Batch(batch.session, (extracted,)), cursor)


class CountingBatches(Lane):
    def __init__(self, context: ProviderContext) -> None:
        super().__init__(context)
        self._batches = 0

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        super().apply(batch, cursor)
        self._batches += 1

    def digest(self, session: str) -> str:
        return f"{super().digest(session)}-{self._batches}"

    def wipe(self, session: str) -> None:
        super().wipe(session)
        self._batches = 0


class DigestOfPlaces(Lane):
    def digest(self, session: str) -> str:
        return hashlib.sha256(repr(list(self._load(session).texts)).encode()).hexdigest()


class KeepingABackup(Lane):
    def wipe(self, session: str) -> None:
        path = self._folder / f"{session}.json"
        if path.exists():
            os.replace(path, path.with_suffix(".backup"))


class WipingAll(Lane):
    def wipe(self, session: str) -> None:
        for path in self._folder.glob("*.json"):
            path.unlink()


WRONG = {
    "it_has_the_methods_of_its_protocol": WithoutSearch,
    "it_has_the_methods_of_a_follower": OnlySearching,
    "it_finds_what_the_question_is_about": Silent,
    "it_gives_no_more_than_was_asked_for": Unlimited,
    "its_candidates_come_best_first": WorstFirst,
    "the_same_question_gets_the_same_answer": Bored,
    "it_keeps_to_the_session_that_was_asked": OneForAllSessions,
    "odd_questions_are_answered_or_refused": PatternOfTheQuestion,
    "it_writes_nothing_when_it_is_asked": Learning,
    "it_answers_as_before_when_it_is_reopened": AnsweringFromThisLifeOnly,
    "a_wiped_session_is_not_found": Cached,
    "its_cursor_is_none_before_the_first_batch": CursorFromTheStart,
    "it_remembers_the_cursor_after_reopening": HalfACursor,
    "applying_a_batch_again_changes_nothing": TakingEverything,
    "a_batch_that_fails_leaves_nothing_behind": EventByEvent,
    "the_digest_does_not_depend_on_batch_sizes": CountingBatches,
    "the_digest_changes_with_the_content": DigestOfPlaces,
    "a_wiped_session_is_forgotten": KeepingABackup,
    "sessions_do_not_touch_each_other": WipingAll,
}
