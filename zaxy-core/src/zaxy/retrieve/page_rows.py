"""The rows of a page within its tokens: as they are, or the long ones by the sentences that bear on the question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from operator import mul
from typing import NamedTuple

import orjson

from zaxy.extract.texts import cut
from zaxy.retrieve.matches import Matches
from zaxy.retrieve.question import Asked, AskedWord
from zaxy.retrieve.results import Result
from zaxy.retrieve.statements import Statements, shown, statements_of
from zaxy.token_count import count_tokens, counts_of_tokens

REPLY_TOKENS = 60
"""What a reply holds besides its rows: counts, and the cursor of the next page."""
MIN_CONTENT_TOKENS, MAX_CONTENT_TOKENS = 16, 120
"""What the text of a long row gets at least, where the others leave less it comes on the next page; and at most, as
long as another one has too little."""


ATTEMPTS = 4


class PageRows(NamedTuple):
    rows: list[Result]
    tokens: int
    """With all that a reply holds besides."""
    has_room: bool = False
    """Whether they fit whole, with all their fields."""


def whole_rows(results: Iterable[Result], max_tokens: int) -> PageRows:
    """As many as fit, as they are; the first one always comes."""
    rows: list[Result] = []
    used = REPLY_TOKENS
    for row in results:
        cost = _tokens(row.as_dict())
        if rows and used + cost > max_tokens:
            break
        rows.append(row)
        used += cost
    return PageRows(rows, used)


def short_rows(results: Sequence[Result], max_tokens: int, asked: Callable[[], Asked]) -> PageRows:
    """As many as fit in brief, with long texts shortened where they must be; the first one always comes."""
    room = max_tokens - REPLY_TOKENS
    with_all = sum([_tokens(row.explained()) for row in results])
    if with_all <= room:
        return PageRows(list(results), REPLY_TOKENS + with_all, has_room=True)
    contents = counts_of_tokens([row.content for row in results])
    costs = [_tokens(row.in_brief()) for row in results]
    fixed = [cost - content for cost, content in zip(costs, contents, strict=True)]
    least = [own + min(content, MIN_CONTENT_TOKENS) for own, content in zip(fixed, contents, strict=True)]
    count = max(_fitting(least, room), 1)
    excerpts = _Excerpts(results[:count], contents, asked)
    for_texts = room - sum(fixed[:count])
    for _ in range(ATTEMPTS):
        rows = excerpts.within(_rooms(contents[:count], for_texts))
        costs = [_tokens(row.in_brief()) for row in rows]
        if sum(costs) <= room:
            break
        for_texts -= sum(costs) - room  # sentences do not come in the lengths that are left
    count = max(_fitting(costs, room), 1)
    return PageRows(rows[:count], REPLY_TOKENS + sum(costs[:count]))


def _fitting(costs: Iterable[int], room: int) -> int:
    """How many of the first fit together."""
    count = 0
    for cost in costs:
        room -= cost
        if room < 0:
            break
        count += 1
    return count


def _rooms(lengths: Sequence[int], room: int) -> list[int]:
    """What each text gets: a little at least; then the first ones more, which answer most often; then all what is
    left."""
    rooms = [min(length, MIN_CONTENT_TOKENS) for length in lengths]
    for highest in (MAX_CONTENT_TOKENS, max(lengths, default=0)):
        for number, length in enumerate(lengths):
            more = max(min(length, highest, rooms[number] + room - sum(rooms)) - rooms[number], 0)
            rooms[number] += more
    return rooms


class _Excerpts:
    """Rows of which the long ones are shown by their best sentences."""

    def __init__(self, results: Sequence[Result], contents: Sequence[int], asked: Callable[[], Asked]) -> None:
        """`contents`: the tokens of the texts."""
        self._results, self._contents, self._asked = results, contents, asked
        self._known: dict[int, tuple[Statements, list[float]]] = {}

    def within(self, rooms: Sequence[int]) -> list[Result]:
        rows = list(self._results)
        for number, room in enumerate(rooms):
            if self._contents[number] > room:
                rows[number] = replace(rows[number], content=self._excerpt(number, room))
        return rows

    def _excerpt(self, number: int, room: int) -> str:
        """Of a row that tells nothing its beginning."""
        text = self._results[number].content
        chars = room * len(text) // self._contents[number]
        stated, worth = self._weighed(number)
        return (shown(stated, worth, chars) if worth else "") or cut(text, chars)

    def _weighed(self, number: int) -> tuple[Statements, list[float]]:
        """What a row states, and what its sentences are worth."""
        if number not in self._known:
            (stated,) = statements_of(self._results[number : number + 1])
            words = self._words
            weights = [word.weight for word in words]
            matches = Matches(words, frozenset().union(*stated.stems)).of_each(stated.stems)
            self._known[number] = stated, [sum(map(mul, weights, found)) for found in matches]
        return self._known[number]

    @cached_property
    def _words(self) -> Sequence[AskedWord]:
        return self._asked().words


def _tokens(row: dict[str, object]) -> int:
    """Of a row with the comma behind it."""
    return count_tokens(f"{orjson.dumps(row).decode()},")
