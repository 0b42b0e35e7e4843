"""Which language a text is in, by its script, the letters that only some languages have, and its common words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache, lru_cache

from zaxy.text.tokens import folded
from zaxy.text.word_frequencies import zipfs

MAX_CHARS = 1000
"""Of a longer text the beginning is looked at."""
LISTED = 4.6
"""On the Zipf scale, a word that is rarer is not counted: English lists such words, and most languages do not."""
UNLISTED = 3.6
"""What a word that a language does not list counts as: rarer than any that it does."""
MIN_EVIDENCE = 1.0
"""By how much the words must speak for a language: the logarithm of how much likelier they are there."""
FOREIGN_LETTER = 2.0
"""What a letter speaks against languages that do not use it."""

_LATIN = frozenset("ca cs da de en es fi fr hu id it lt nb nl pl pt ro sh sv tr".split())
_CHINESE, _JAPANESE, _KOREAN = frozenset({"zh"}), frozenset({"ja"}), frozenset({"ko"})
_UNSPACED = _CHINESE | _JAPANESE | _KOREAN
_SCRIPTS = (
    (0x370, 0x3FF, frozenset({"el"})),
    (0x400, 0x52F, frozenset({"ru", "sh"})),
    (0x600, 0x6FF, frozenset({"ar", "fa"})),
    (0x900, 0x97F, frozenset({"hi"})),
    (0xB80, 0xBFF, frozenset({"ta"})),
    (0xE00, 0xE7F, frozenset({"th"})),
    (0x1F00, 0x1FFF, frozenset({"el"})),
    (0x3040, 0x30FF, _JAPANESE),
    (0x3400, 0x4DBF, _CHINESE),
    (0x4E00, 0x9FFF, _CHINESE),
    (0xAC00, 0xD7AF, _KOREAN),
)
LETTERS_OF_A_CHARACTER = 3
"""A character of Chinese, Japanese or Korean says as much as some letters do."""
_LETTERS = {
    letter: frozenset(languages.split())
    for letters, languages in {
        "ß": "de",
        "ä": "de fi sv",
        "ö": "de fi hu sv tr",
        "ü": "ca de es hu tr",
        "å": "da nb sv",
        "øæ": "da nb",
        "ñ": "es",
        "ç": "ca fr pt tr",
        "ãõ": "pt",
        "á": "cs es hu pt",
        "íú": "ca cs es hu pt",
        "ó": "ca cs es hu pl pt",
        "é": "ca cs da es fr hu it nl pt sv",
        "à": "ca fr it pt",
        "è": "ca fr it",
        "ê": "fr nl pt",
        "ô": "fr nb pt",
        "â": "fr pt ro tr",
        "î": "fr ro tr",
        "û": "fr tr",
        "ùœ": "fr it",
        "ì": "it",
        "ò": "ca it",
        "ï": "ca fr nl",
        "ë": "fr nl",
        "ășțţ": "ro",
        "ş": "ro tr",
        "ığ": "tr",
        "řěůďťňý": "cs",
        "čšž": "cs lt sh",
        "ć": "pl sh",
        "đ": "sh",
        "ąę": "lt pl",
        "łńśźż": "pl",
        "įųūė": "lt",
        "őű": "hu",
        "ыэъёщйья": "ru",
        "јљњћђџ": "sh",
        "іїєґ": "",  # Ukrainian, which is not listed
        "پچژگکی": "fa",
        "ةيكأإ": "ar",
    }.items()
    for letter in letters
}
_WORDS = re.compile(r"[^\W\d_]+")


@lru_cache(64)
def language_of(text: str) -> str:
    """The code of the language that a question or a sentence is in; empty if its words do not tell."""
    text = unicodedata.normalize("NFC", text[:MAX_CHARS])
    return next(filter(None, (_likeliest(text, languages) for languages in _by_script(text))), "")


def _likeliest(text: str, languages: frozenset[str]) -> str:
    """The one of the languages that the words of a text speak for; empty if they speak for none."""
    if len(languages) < 2:
        return next(iter(languages), "")
    scores = _by_words(text, languages)
    best = max(scores, key=lambda language: (scores[language], language == "en", language))
    return best if scores[best] >= MIN_EVIDENCE else ""


def _by_script(text: str) -> list[frozenset[str]]:
    """The languages of the scripts that a text has, together those of one script; first of what most of it is in."""
    if text.isascii():
        return [_LATIN]
    counts: Counter[frozenset[str]] = Counter()
    for letter in filter(str.isalpha, text):
        languages = _languages(ord(letter))
        counts[languages] += 1 if languages.isdisjoint(_UNSPACED) else LETTERS_OF_A_CHARACTER
    if _JAPANESE in counts:  # its Chinese characters are counted with the others
        counts[_JAPANESE] += counts.pop(_CHINESE, 0)
    return sorted(counts, key=lambda languages: -counts[languages])


@cache
def _languages(letter: int) -> frozenset[str]:
    if letter < 0x250 or 0x1E00 <= letter < 0x1F00:
        return _LATIN
    return next((languages for first, last, languages in _SCRIPTS if first <= letter <= last), frozenset())


@lru_cache(4096)
def _evidence(word: str) -> tuple[tuple[str, float], ...]:
    """The languages that count a word among their common ones, and how much it speaks for each."""
    return tuple(
        [(language, frequency - UNLISTED) for language, frequency in zipfs(word).items() if frequency >= LISTED]
    )


def _by_words(text: str, languages: frozenset[str]) -> dict[str, float]:
    """How much likelier the words are in each language than in one that has none of them."""
    scores = dict.fromkeys(languages, 0.0)
    for word in dict.fromkeys(_WORDS.findall(folded(text))):
        for language, evidence in _evidence(word):
            if language in scores:
                scores[language] += evidence
    for letter in set(text.lower()) & _LETTERS.keys():
        for language in languages - _LETTERS[letter]:
            scores[language] -= FOREIGN_LETTER
    return scores
