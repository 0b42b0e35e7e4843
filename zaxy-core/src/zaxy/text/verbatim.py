"""Passages that have the words of a question themselves, each with its BM25 value.

Nothing is added for what stands beside a passage, for when it was said or by whom: such a passage need not have any of
the words. A passage has a word if its text does; its header does not count.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from zaxy.api.models import MAX_ANSWERS
from zaxy.text import bm25
from zaxy.text.asides import text_of
from zaxy.text.candidates import Candidates, candidates
from zaxy.text.literals import Literals, literals_of
from zaxy.text.passages import HEADING
from zaxy.text.ranking import times_of
from zaxy.text.rows import header
from zaxy.text.schema import Aside, Content, Text
from zaxy.text.store import Reach, TextStore
from zaxy.text.tokens import UNSPACED, Wanted, folded, stems_of
from zaxy.text.word_weights import MIN_COMMON, weighed_words


class ScoredPassage(NamedTuple):
    text: Text
    score: float
    """BM25, on its own scale: it can be compared over all passages that one question finds, and is no share."""


class Passages(NamedTuple):
    found: list[ScoredPassage]
    """Best first; of equals, the newest."""
    literals: Literals
    """What was asked for as it stands."""
    partly: bool = False
    """Whether none has all of that, and these have some."""


class _Spoken(NamedTuple):
    """The words of a question by which a passage counts as having one."""

    stems: frozenset[str]
    unspaced: tuple[str, ...]
    """Words of scripts without spaces, which the index knows by pairs of characters only."""


def passages(store: TextStore, question: str, wanted: Wanted, last_seq: int) -> Passages:
    """The passages of the first `last_seq` events that have what was asked for.

    Where the question has phrases or identifiers, those that have them all, or else some; otherwise those that have a
    word. A question that was asked before is found by a phrase only.
    """
    reach = store.reach(last_seq)
    chosen = candidates(store, wanted, reach) if reach.last else Candidates({}, [], {}, [])
    asides = store.asides(last_seq).quoted(wanted.phrases) if wanted.phrases else []
    for aside in asides:
        if aside.passage:
            chosen.passages.setdefault(aside.passage, range(len(chosen.terms)))
    looked_at = _LookedAt(store, chosen, reach, asked=wanted.words)
    literals = literals_of(question)
    if not literals.total:
        return Passages(_ordered(looked_at.with_word(_spoken(question))), literals)
    only_asked = [aside for aside in asides if not aside.passage]
    counted = [*looked_at.with_literals(literals), *looked_at.asked_with(only_asked, literals)]
    highest = max([count for _, count in counted], default=0)
    needed = literals.total if highest == literals.total else 1
    best = _ordered([one for one, count in counted if count >= needed])
    return Passages(best, literals, partly=0 < highest < literals.total)


class _LookedAt:
    """The candidates of a question with what they say."""

    def __init__(self, store: TextStore, chosen: Candidates, reach: Reach, *, asked: Collection[str]) -> None:
        self._terms = chosen.terms
        # What is only nearly a word that was asked for finds candidates, and counts for nothing here.
        self._weights = [term.weight if term.term in asked else 0.0 for term in chosen.terms]
        self._texts = store.texts(chosen.passages) if chosen.passages else []
        self._contents = store.contents(chosen.passages) if chosen.passages else {}
        self._times = times_of(self._texts, chosen)
        self._average = reach.words / reach.last if reach.words else 1.0

    def with_word(self, spoken: _Spoken) -> list[ScoredPassage]:
        return self._scored([text for text in self._texts if self._has_word(text, spoken)])

    def with_literals(self, literals: Literals) -> list[tuple[ScoredPassage, int]]:
        """Those that have some of them, and how many."""
        counts = {text.id: literals.count_in(_whole(self._contents[text.id])) for text in self._texts}
        found = self._scored([text for text in self._texts if counts[text.id]])
        return [(one, counts[one.text.id]) for one in found]

    def asked_with(self, asides: Sequence[Aside], literals: Literals) -> list[tuple[ScoredPassage, int]]:
        """The same of what only asks: it counts by the words that it asks with."""
        counts = [literals.count_in(aside.text) for aside in asides]
        words = [aside.words.split() for aside in asides]
        terms = [(number, term.term) for number, term in enumerate(self._terms)]
        times = [[(number, own.count(term)) for number, term in terms if term in own] for own in words]
        scores = self._scores([(of_text, len(own)) for of_text, own in zip(times, words, strict=True)])
        found = zip(asides, scores, counts, strict=True)
        return [(ScoredPassage(text_of(aside), score), count) for aside, score, count in found if count]

    def _scored(self, texts: Sequence[Text]) -> list[ScoredPassage]:
        scores = self._scores([(self._times[text.id], text.length) for text in texts])
        return [ScoredPassage(text, score) for text, score in zip(texts, scores, strict=True)]

    def _scores(self, texts: Iterable[tuple[list[tuple[int, int]], int]]) -> list[float]:
        relative = [(times, length / self._average) for times, length in texts]
        return bm25.scores(relative, self._weights)

    def _has_word(self, text: Text, spoken: _Spoken) -> bool:
        content = self._contents[text.id]
        before: list[str] = []
        for number, count in self._times[text.id]:
            term = self._terms[number].term
            if term in spoken.stems:
                before = before or [*header(text.time[:10], text.speaker), *stems_of(_heading(content))]
                if count > before.count(term):
                    return True
        plain = folded(content.text) if spoken.unspaced else ""
        return any(word in plain for word in spoken.unspaced)


def _spoken(question: str) -> _Spoken:
    """Words that say nothing in their language count only where there are no others."""
    words = [word for word in weighed_words(question) if word.stems]
    telling = [word for word in words if word.common > MIN_COMMON] or words
    unspaced = [folded(word.text) for word in telling if UNSPACED.search(word.text)]
    stems = [stem for word in telling if not UNSPACED.search(word.text) for stem in word.stems]
    return _Spoken(frozenset(stems), tuple(unspaced))


def _heading(content: Content) -> str:
    """The title, path and source of a passage, as its header has them."""
    metadata = json.loads(content.metadata)
    return " ".join([str(metadata[key]) for key in HEADING if key in metadata])


def _whole(content: Content) -> str:
    """A passage with where it stands: a document is found by its path."""
    return f"{content.text}\n{_heading(content)}"


def _ordered(found: Iterable[ScoredPassage]) -> list[ScoredPassage]:
    best = sorted(found, key=lambda one: (-one.score, -one.text.seq, one.text.part))
    return best[:MAX_ANSWERS]
