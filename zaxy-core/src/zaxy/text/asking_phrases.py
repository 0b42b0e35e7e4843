"""Phrases of asking as they are looked for: by their first words, and only where the sentence is in their language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from zaxy.text.asking_words import LANGUAGES
from zaxy.text.languages import language_of
from zaxy.text.tokens import folded
from zaxy.text.word_frequencies import zipfs

Table = Mapping[str, tuple[str, ...]]
UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of scripts that put no spaces between words, and of Korean, whose words change their ends."""
MAX_CHARS = 300
"""Of a sentence, to know its language."""
LAST_LATIN = "\u024f"
_LISTED = frozenset(LANGUAGES.values())


class Openings:
    """Phrases by their first words: most clauses begin with a word that begins none."""

    def __init__(self, *tables: Table) -> None:
        self._by_first: dict[str, list[str]] = {}
        self._unspaced: tuple[str, ...] = ()
        self.languages = languages_of_phrases(*tables)
        for phrase in sorted(self.languages, key=len, reverse=True):
            if UNSPACED.match(phrase):
                self._unspaced += (phrase,)
            else:
                self._by_first.setdefault(phrase.split()[0], []).append(phrase)
        self.firsts = frozenset(phrase.split()[0] for phrase in self.languages)

    def beginning(self, clause: str, first: str, *, sentence: str = "") -> str:
        """The longest of them that begins the clause, whose first word is given; empty if none does.

        `sentence`: the whole one, if the clause is part of it, because few words do not show their language.
        """
        phrases = self._by_first.get(first)
        if phrases is None:
            return "" if clause.isascii() else self._unspaced_beginning(clause)
        for phrase in phrases:
            if _begins(clause, phrase):
                return phrase if is_of(self.languages[phrase], phrase, sentence or clause) else ""
        return ""

    def _unspaced_beginning(self, clause: str) -> str:
        if not clause.startswith(self._unspaced):
            return ""
        return next(phrase for phrase in self._unspaced if clause.startswith(phrase))


def languages_of_phrases(*tables: Table) -> dict[str, frozenset[str]]:
    """The languages that each phrase asks in."""
    found: dict[str, frozenset[str]] = {}
    for table in tables:
        for language, phrases in table.items():
            found |= {phrase: found.get(phrase, frozenset()) | {language} for phrase in phrases}
    return found


def is_of(languages: frozenset[str], phrase: str, sentence: str) -> bool:
    """Whether a phrase of these languages asks in a sentence: not in one of another language, like `kim` in English.

    A language that has no list of words is never known: there another one must have the word with another meaning.
    """
    if phrase[0] > LAST_LATIN:
        return True
    code = code_of(sentence[:MAX_CHARS])
    if not code or LANGUAGES[code] in languages:
        return True
    return languages.isdisjoint(_LISTED) and code not in zipfs(folded(phrase.split()[0]))


@lru_cache(64)
def code_of(sentence: str) -> str:
    """The code of a sentence's language, which the signs of one sentence ask for again and again."""
    return language_of(sentence)


def _begins(clause: str, phrase: str) -> bool:
    if phrase.endswith("*"):
        return clause.startswith(phrase[:-1])
    return clause.startswith(phrase) and not clause[len(phrase) : len(phrase) + 1].isalnum()
