"""How much the words of a text say: little if their language uses them all the time, and everything if they are names.

In a small log every word is rare. What is common in the language itself tells the words of a sentence apart there.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from zaxy.text import tokens
from zaxy.text.languages import language_of
from zaxy.text.names import WrittenWord, names, spans
from zaxy.text.word_frequencies import zipf
from zaxy.tuples import NamedTuple

SAYS_NOTHING, SAYS_EVERYTHING = 6.4, 3.0
"""How common a word is, on the Zipf scale, that says nothing, and one that says all that a word can say."""
MIN_COMMON = 0.05
"""Even the commonest word says a little."""

__all__ = ["Word", "common", "language_of", "weighed_words"]


class Word(NamedTuple):
    """A word of a text, or a name of several."""

    text: str
    """As it stands there; folded in scripts without spaces."""
    stems: tuple[str, ...]
    """As the index has it: pairs of characters in scripts without spaces, and none for a stop word."""
    common: float
    """How much it says in its language: 1 is all that a word can say."""
    is_name: bool


def common(word: str, language: str) -> float:
    """How much a word says in a language, by how common it is there: from .05 to 1, and 1 if it is not listed."""
    frequency = zipf(tokens.folded(word), language)
    return min(max((SAYS_NOTHING - frequency) / (SAYS_NOTHING - SAYS_EVERYTHING), MIN_COMMON), 1.0)


def weighed_words(text: str, language: str = "") -> list[Word]:
    """The words of a text, in order, in its own language if none is named."""
    text = unicodedata.normalize("NFC", text)
    language = language or language_of(text)
    written = list(_written_words(text))
    words: list[Word] = []
    for first, end, is_name in spans(names(written, language), len(written)):
        if is_name:
            words.append(_name(written[first:end]))
        elif written[first].is_spaced:
            words.append(_word(written[first].text, language))
        else:
            words.extend(_words_of_run(written[first].folded, language))
    return words


def _words_of_run(run: str, language: str) -> Iterator[Word]:
    """The words of characters without spaces."""
    from zaxy.text.word_borders import cut, language_of_run  # most texts have spaces

    language = language_of_run(run, language)
    return (_word(word, language) for word in cut(run, language))


def _written_words(text: str) -> Iterator[WrittenWord]:
    end = 0
    for start, stop, is_spaced in _places(text):
        word = text[start:stop]
        yield WrittenWord(word, tokens.folded(word), text[end:start], is_spaced)
        end = stop


def _places(text: str) -> Iterator[tuple[int, int, bool]]:
    """Where words and runs of characters without spaces begin and end, and whether each is a word."""
    for run in tokens.WORDS.finditer(text):
        start, stop = run.span()
        for unspaced in () if text.isascii() else tokens.UNSPACED.finditer(text, start, stop):
            if start < unspaced.start():
                yield start, unspaced.start(), True
            yield unspaced.start(), unspaced.end(), False
            start = unspaced.end()
        if start < stop:
            yield start, stop, True


def _word(text: str, language: str) -> Word:
    return Word(text, tuple(tokens.words(text)), common(text, language), False)


def _name(written: Sequence[WrittenWord]) -> Word:
    text = written[0].text + "".join([word.before + word.text for word in written[1:]])
    return Word(text, tuple(tokens.words(text)), 1.0, True)
