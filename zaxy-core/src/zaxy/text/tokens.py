"""Text as the index knows it: stemmed words without stop words, characters in pairs where words are not spaced apart,
and identifiers whole.

A token is made of characters that the index takes for letters, whatever they are, so that no text can be mistaken for
the syntax of a search.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import Stemmer  # type: ignore[import-not-found]

FORMAT = f"1 (snowball {Stemmer.version()})"
"""Another one makes other tokens of the same text: an index is then built again."""
BEGINNING = "*"
"""Ends what is asked for as the beginning of words; no token has it."""
MAX_CHARS = 64
REMEMBERED = 100_000

STOP_WORDS = frozenset(
    """a about above after again against all also am an and any are aren as at be because been before being below
    between both but by can cannot could couldn did didn do does doesn doing don down during each few for from
    further get got had hadn has hasn have haven having he her here hers herself him himself his how i if in into
    is isn it its itself just ll me more most mustn my myself no nor not of off on once only or other our ours
    ourselves out over own re s same shan she should shouldn so some such t than that the their theirs them
    themselves then there these they this those through to too under until up ve very was wasn we were weren what
    when where which while who whom whose why will with won would wouldn you your yours yourself yourselves""".split()
)

_APART = "".join(chr(code).lower() if chr(code).isalnum() else " " for code in range(128)).encode().ljust(256)
"""What each byte of ASCII becomes before a text is split: in one pass, where a pattern looks at every word."""
# Letters, digits, and the marks of scripts that write vowels with them.
WORDS = re.compile(r"(?:[^\W_]|[\u0900-\u0dff\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff])+")
# Scripts that put no spaces between words, and Korean, whose words change their ends: pairs of characters find them.
UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    r"\uf900-\ufaff\U00020000-\U0003134f]+"
)
_PICTURES = re.compile(r"[\u2190-\u2bff\u3030\U0001f000-\U0001faff]")
_ACCENTS = dict.fromkeys(
    (*range(0x300, 0x370), *range(0x591, 0x5C8), *range(0x610, 0x61B), *range(0x64B, 0x660), 0x670)
)
# Each kind begins where a word does: tried within words too, a long one would take the square of its length.
IDENTIFIER = re.compile(
    r"(?<![\w$])[\w$]++(?:[-./\\:@#+~]++[\w$]++)++|(?<!\w)\w*\d\w*|(?<!\w)\w+_\w+"
    r"|(?<![^\W\d_])[^\W\d_]*[a-z][A-Z]\w*"
)
# A text without this can have no identifier. It begins with one set of characters, which is looked for quickly.
_SIGN_OF_IDENTIFIERS = re.compile(r"[\d_A-Z./\\:@#+~-](?:(?<=[\d_])|(?<=[a-z][A-Z])|(?<=[-./\\:@#+~])(?=[\w$]))")
# The same, without asking of each letter whether it is a digit of some script.
_SIGN_IN_ASCII = re.compile(_SIGN_OF_IDENTIFIERS.pattern, re.ASCII)
_NO_SIGNS = bytes(code for code in range(128) if not re.match(r"[\d_A-Z./\\:@#+~-]", chr(code)))
"""What is left of a text without these has such a sign, if the text has one."""
_AROUND_WORDS = "".join(chr(code) for code in range(33, 127) if not chr(code).isalnum() and chr(code) not in "_$")
_PATH = re.compile(r"[/\\]")
# ASCII punctuation would end a token in the index; these stand for it, and occur in no text of this world.
_HIDDEN = {ord(mark): 0xE000 + ord(mark) for mark in "-./\\:@#+~$_"}
_SHOWN = {hidden: mark for mark, hidden in _HIDDEN.items()}
MONTHS = "january february march april may june july august september october november december".split()
# With a capital letter: `may` and `march` are words of other meanings too.
_MONTH = re.compile(rf"\b({'|'.join(month.title() for month in MONTHS)})\b(?:,? ((?:19|20)\d\d)\b)?")
QUOTED = re.compile(r'"([^"]{2,200})"|“([^”]{2,200})”|«([^»]{2,200})»|`([^`]{2,200})`|「([^」]{1,200})」')

_CLAUSE_END = re.compile(r"[.,;:!?…，；、。！？؟]+")

_BY_SCRIPT = ((0x370, 0x3FF, "greek"), (0x400, 0x52F, "russian"), (0x600, 0x6FF, "arabic"), (0x900, 0x97F, "hindi"))


class _Stems(dict[str, str]):
    """The stems of words, each found when it is first asked for; those of stop words are empty."""

    def __missing__(self, word: str) -> str:
        if len(self) > REMEMBERED:
            self.clear()
        if word in STOP_WORDS:
            stem = ""
        elif len(word) > 2 and word.isalpha() and word.isascii():  # nearly all, so without a further call
            stem = _in_english(word)[:MAX_CHARS]
        else:
            stem = _stemmed(word)
        stem = self[word] = word if stem == word else stem  # one object less to hold and to look at
        return stem


_stems = _Stems()
_in_english: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord  # words are remembered in `_stems`


class Wanted(NamedTuple):
    """What a question asks the index for."""

    words: tuple[str, ...]
    """Stems, each once, in order."""
    identifiers: tuple[str, ...]
    """As they stand in the index."""
    phrases: tuple[str, ...]
    """Folded, to be found as they are."""
    months: tuple[str, ...] = ()
    """The months that it names, as the beginnings or middles of times: `2026-03`, or `-03` of any year."""


def folded(text: str) -> str:
    """The text in the form in which texts are compared: compatible characters, accents and case made one."""
    if text.isascii():
        return text.lower()
    bare = unicodedata.normalize("NFKD", text).translate(_ACCENTS)
    return unicodedata.normalize("NFC", bare).casefold()


def folded_each(texts: Iterable[str]) -> list[str]:
    return list(map(folded, texts))


def words(text: str) -> list[str]:
    """The stems of a text, in order; stop words leave none."""
    return _ascii_words(text) if text.isascii() else words_of_folded(folded(text))


def stems_of_each(texts: Iterable[str]) -> list[frozenset[str]]:
    """Of each text its stems, and its identifiers as the index has them."""
    return [frozenset((*words(text), *identifiers(text))) for text in texts]


@lru_cache(8192)
def stems_of(name: str) -> tuple[str, ...]:
    """The stems of a name that comes up again and again: of a speaker, a file, a channel."""
    return tuple(words(name))


def words_of_folded(text: str) -> list[str]:
    return _ascii_words(text) if text.isascii() else list(_words_of_any_script(text))


def _ascii_words(text: str) -> list[str]:
    return list(filter(None, map(_stems.__getitem__, text.encode().translate(_APART).decode().split())))


def _words_of_any_script(text: str) -> Iterator[str]:
    for run in WORDS.findall(text):
        if run.isascii():
            yield from _ascii_words(run)
            continue
        position = 0
        for unspaced in UNSPACED.finditer(run):
            yield from _spaced(run[position : unspaced.start()])
            yield from _pairs(unspaced.group())
            position = unspaced.end()
        yield from _spaced(run[position:])
    yield from _PICTURES.findall(text)


def _spaced(word: str) -> Iterator[str]:
    if word and (stem := _stems[word]):
        yield stem


def _pairs(run: str) -> Iterator[str]:
    """Every two neighbouring characters; one alone is its own token."""
    return (run[at : at + 2] for at in range(max(len(run) - 1, 1)))


def _stemmed(word: str) -> str:
    if len(word) < 3 or word.isdigit():
        return word[:MAX_CHARS]
    stem_of = _in_english if word.isascii() else _stemmer(_language(ord(word[0])))
    return stem_of(word)[:MAX_CHARS]


def _language(first: int) -> str:
    """By the script of a word's first letter."""
    return next((language for begin, end, language in _BY_SCRIPT if begin <= first <= end), "english")


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    of_word: Callable[[str], str] = Stemmer.Stemmer(language, 0).stemWord
    return of_word


def identifiers(text: str) -> list[str]:
    """The names of things in a text as tokens, each once: `ZX-000171`, `src/zaxy/core.py`, `E1234`, `max_tokens`.

    A path is found by its last part too.
    """
    found: dict[str, None] = {}
    # Nearly all are plain words, and looking at each of those with a pattern would take most of the time.
    if text.isascii():
        if not text.encode().translate(None, _NO_SIGNS) or not _SIGN_IN_ASCII.search(text):
            return []
    elif not _SIGN_OF_IDENTIFIERS.search(text):
        return []
    for part in [part for part in text.split() if not (part.isalpha() and part.islower()) and not _is_plain(part)]:
        for name in IDENTIFIER.findall(part):
            if len(name) <= 2 * MAX_CHARS:
                found[_hidden(name)] = None
                if "/" in name or "\\" in name:
                    found[_hidden(_PATH.split(name)[-1])] = None
    found.pop("", None)
    return list(found)


def _is_plain(part: str) -> bool:
    """Whether what stands between two spaces is a word as a sentence has it, with marks around it, or marks alone."""
    word = part.strip(_AROUND_WORDS)
    return not word or (word.isalpha() and (word.islower() or word.istitle() or word.isupper()))


def readable(identifier: str) -> str:
    """An identifier as people write it, of the form in which the index has it."""
    return identifier.translate(_SHOWN)


def _hidden(name: str) -> str:
    return folded(name).translate(_HIDDEN)


def wanted(question: str) -> Wanted:
    """What to look for; nothing where a question is all stop words and punctuation."""
    asked = tuple(dict.fromkeys(words(question)))
    return Wanted(asked, tuple(identifiers(question)), quoted_phrases(question), tuple(_months(question)))


def quoted_phrases(question: str) -> tuple[str, ...]:
    """What stands between quotation marks, folded."""
    return tuple(folded(next(filter(None, groups))) for groups in QUOTED.findall(question))


def _months(question: str) -> Iterator[str]:
    for month, year in _MONTH.findall(question):
        yield f"{year}-{MONTHS.index(month.lower()) + 1:02d}"


def match_any(tokens: Iterable[str], column: str) -> str:
    """An FTS5 expression for documents that have any of the tokens, or words with their beginnings; tokens have no
    character that means anything."""
    quoted = [f'"{token[:-1]}"*' if token.endswith(BEGINNING) else f'"{token}"' for token in tokens]
    return " OR ".join([f"{column}:{token}" for token in quoted])


def match_phrase(phrase: str) -> str:
    """An FTS5 expression for documents that may have a phrase; empty where it has stop words only."""
    stems = words(phrase)
    if _PICTURES.search(phrase):  # they stand behind the words
        return " AND ".join(f'words:"{stem}"' for stem in dict.fromkeys(stems))
    return f'words:"{" ".join(stems)}"' if stems else ""


def match_any_part(phrase: str) -> str:
    """An FTS5 expression for documents that may have a phrase, or what stands in it between marks of punctuation."""
    parts = [words(part) for part in _CLAUSE_END.split(phrase)]
    return " OR ".join(f'"{" ".join(stems)}"' for stems in parts if stems)
