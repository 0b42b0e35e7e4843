from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from zaxy.api import AsOf, Batch, Candidate, Cursor, ProviderContext, Query
from zaxy_testkit.checks.retrieval_lanes import RetrievalLaneCase
from zaxy_testkit.templates.retrieval_lanes import Lane, _words


class RIGHT(Lane):
    """Finds, compares words by their first letters, and reads."""

    def similar_words(self, words: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
        return [[max((_alike(word, other) for other in _words(text)), default=0.0) for word in words] for text in texts]

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        return [len(_words(question) & _words(text)) / (len(_words(question)) or 1) for text in texts]


def _alike(one: str, other: str) -> float:
    one, other = one.casefold(), other.casefold()
    common = next((at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), None)
    return (min(len(one), len(other)) if common is None else common) / max(len(one), len(other), 1)


def case(make: Callable[..., Any], scratch: Path) -> RetrievalLaneCase:
    scale = "probability" if make is WithScoresBelowZero else ""
    abilities = frozenset({"follower", "background", "word-similarity", "rerank"})
    return RetrievalLaneCase(make, capabilities=abilities, scale=scale)


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


class WithScoresBelowZero(Lane):
    """A scale of differences, such as logarithms of probabilities have it."""

    def search(self, query: Query) -> list[Candidate]:
        return [replace(candidate, score=candidate.score - 5) for candidate in super().search(query)]


class CountingWords(Lane):
    """Takes every word for as good as any other."""

    def search(self, query: Query) -> list[Candidate]:
        asked, texts = _words(query.text), self._load(query.session).texts
        shared = {int(seq): len(asked & _words(text)) for seq, text in texts.items()}
        best = sorted((seq for seq in shared if shared[seq]), key=lambda seq: (-shared[seq], -seq))
        return [Candidate(seq, shared[seq]) for seq in best[: query.limit]]


class Inventing(Lane):
    def search(self, query: Query) -> list[Candidate]:
        return [replace(candidate, seq=candidate.seq + 100) for candidate in super().search(query)]


class KnowingTheFuture(Lane):
    def search(self, query: Query) -> list[Candidate]:
        return super().search(replace(query, as_of=AsOf()))


class ComparingAllWithAll(Lane):
    def search(self, query: Query) -> list[Candidate]:
        texts = [set(text.split()) for text in self._load(query.session).texts.values()]
        sum(len(one & other) for one in texts for other in texts)
        return super().search(query)


class TakingEveryPayloadForText(Lane):
    def apply(self, batch: Batch, cursor: Cursor) -> None:
        for extracted in batch.events:
            len(extracted.event.payload)  # type: ignore[arg-type]
        super().apply(batch, cursor)


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


class OneRowForAll(RIGHT):
    def similar_words(self, words: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
        return super().similar_words(words, texts)[:1]


class AllAlike(RIGHT):
    def similar_words(self, words: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
        return [[0.5 for _ in words] for _ in texts]


class ReadingTextsAlone(Lane):
    def rerank(self, texts: Sequence[str]) -> list[float]:
        return [0.5 for _ in texts]


class ReadingLogits(RIGHT):
    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        return [8 * score - 4 for score in super().rerank(question, texts)]


WRONG = {
    "it_has_the_method_that_compares_words": Lane,
    "its_word_similarities_are_shares_for_each_text_and_word": OneRowForAll,
    "a_word_is_nearest_to_itself": AllAlike,
    "it_has_the_method_that_reads_texts": ReadingTextsAlone,
    "it_says_of_each_text_how_likely_it_answers": ReadingLogits,
    "it_has_the_methods_of_its_protocol": WithoutSearch,
    "it_has_the_methods_of_a_follower": OnlySearching,
    "it_finds_what_the_question_is_about": Silent,
    "it_gives_no_more_than_was_asked_for": Unlimited,
    "its_candidates_come_best_first": WorstFirst,
    "its_scores_are_on_its_scale": WithScoresBelowZero,
    "what_fits_best_comes_first": CountingWords,
    "its_candidates_are_events_of_the_session": Inventing,
    "it_proposes_nothing_that_was_not_known_then": KnowingTheFuture,
    "the_same_question_gets_the_same_answer": Bored,
    "it_keeps_to_the_session_that_was_asked": OneForAllSessions,
    "odd_questions_are_answered_or_refused": PatternOfTheQuestion,
    "a_question_costs_no_more_than_some_passes_over_the_events": ComparingAllWithAll,
    "it_writes_nothing_when_it_is_asked": Learning,
    "it_answers_as_before_when_it_is_reopened": AnsweringFromThisLifeOnly,
    "a_wiped_session_is_not_found": Cached,
    "its_cursor_is_none_before_the_first_batch": CursorFromTheStart,
    "it_remembers_the_cursor_after_reopening": HalfACursor,
    "applying_a_batch_again_changes_nothing": TakingEverything,
    "a_batch_that_fails_leaves_nothing_behind": EventByEvent,
    "an_erased_event_is_no_error": TakingEveryPayloadForText,
    "the_digest_does_not_depend_on_batch_sizes": CountingBatches,
    "the_digest_changes_with_the_content": DigestOfPlaces,
    "a_wiped_session_is_forgotten": KeepingABackup,
    "sessions_do_not_touch_each_other": WipingAll,
}
