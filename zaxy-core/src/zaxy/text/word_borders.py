"""Where words begin and end in scripts that put no spaces between them: texts are cut into the likeliest words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from zaxy.text.word_frequencies import words_at, zipf
from zaxy.tuples import NamedTuple

MAX_CHARS = 400
"""A longer run is cut there first, so that it takes no longer than its length asks for."""
MAX_UNLISTED_CHARS = 12
WHOLE = 9.0
"""The Zipf frequency of a word that is all there is."""
OWN_WORD = 5.8
"""A character alone that is rarer than this is a part of a word that is not listed, together with its neighbours."""
TELLING = 5.5
"""A word that is rarer than this says what a sentence is about."""

# Vowels and tones that belong to the letter before them, and vowels that belong to the one behind them.
_THAI_JOINS = re.compile(r"[\u0e30-\u0e3a\u0e45-\u0e4e]|(?<=[\u0e40-\u0e44]).", re.DOTALL)
# By language: which kinds of words are one word together. A part behind a word that says something belongs to it, as
# the last character of 数据库 and 会議室 does. Korean particles stand at the end: those between parts are parts too.
_TOGETHER = {
    "ja": re.compile("cp(?!p)|p+"),
    "ko": re.compile("p(?:s*p)+"),
    "th": re.compile("(?!)"),
    "zh": re.compile("cp(?!p)|p+"),
}
_KATAKANA = re.compile(r"([\u30a0-\u30ff]{2,})")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\u1100-\u11ff\uac00-\ud7af]")
_THAI = re.compile(r"[\u0e00-\u0e7f]")


class _Unlisted(NamedTuple):
    """What a word that is not listed costs, in powers of ten."""

    start: float
    character: float


_BY_CHARACTERS = _Unlisted(0.0, 7.5)
# Few Thai words are listed, so that others are as likely. A lower price would leave particles within them.
_THAI_WORDS = _Unlisted(3.0, 1.1)


def cut(run: str, language: str) -> list[str]:
    """The words of a run of folded characters without spaces, in order; `language` is what `language_of_run` gives."""
    return [word for part in _parts(run, language) for word in _merged(_likeliest(part, language), language)]


def language_of_run(run: str, language: str) -> str:
    """The language of a run of characters in a text, which may be in another one."""
    for script, its_language in ((_KANA, "ja"), (_HANGUL, "ko"), (_THAI, "th")):
        if script.search(run):
            return its_language
    return "ja" if language == "ja" else "zh"


def _parts(run: str, language: str) -> Iterator[str]:
    """Words from elsewhere stand in letters of their own in Japanese."""
    for part in _KATAKANA.split(run) if language == "ja" else [run]:
        yield from (part[at : at + MAX_CHARS] for at in range(0, len(part), MAX_CHARS))


def _likeliest(run: str, language: str) -> list[str]:
    """The cut that costs the least, where a word costs the more the rarer it is."""
    if language == "ja" and _KATAKANA.fullmatch(run):
        return [run]
    joined = {match.start() for match in _THAI_JOINS.finditer(run)} if language == "th" else set()
    unlisted = _THAI_WORDS if language == "th" else _BY_CHARACTERS
    costs = [0.0] + [float("inf")] * len(run)
    begins = [0] * (len(run) + 1)
    for start in range(len(run)):
        if start in joined:
            continue
        for end, cost in _words_from(run, start, language=language, unlisted=unlisted):
            if end not in joined and costs[start] + cost < costs[end]:
                costs[end], begins[end] = costs[start] + cost, start
    return _words_back_from(run, begins)


def _words_from(run: str, start: int, *, language: str, unlisted: _Unlisted) -> Iterator[tuple[int, float]]:
    """Where words may end that begin here, and what each costs."""
    yield from ((end, WHOLE - frequency) for end, frequency in words_at(run, start, language))
    limit = MAX_UNLISTED_CHARS if unlisted.start else 1
    for end in range(start + 1, min(start + limit, len(run)) + 1):
        yield end, unlisted.start + unlisted.character * (end - start)


def _words_back_from(run: str, begins: list[int]) -> list[str]:
    words, end = [], len(run)
    while end:
        words.append(run[begins[end] : end])
        end = begins[end]
    return words[::-1]


def _merged(words: list[str], language: str) -> Iterator[str]:
    """Words that are hardly words by themselves, made one with their neighbours."""
    kinds = "".join([_kind(word, language) for word in words])
    at = 0
    for found in _TOGETHER[language].finditer(kinds):
        yield from words[at : found.start()]
        yield "".join(words[found.start() : found.end()])
        at = found.end()
    yield from words[at:]


def _kind(word: str, language: str) -> str:
    """A character that is a word (`s`) or part of one (`p`), a word that says something (`c`), or any other (`w`)."""
    frequency = zipf(word, language)
    if len(word) == 1:
        return "p" if frequency < OWN_WORD else "s"
    return "c" if 0 < frequency < TELLING else "w"
