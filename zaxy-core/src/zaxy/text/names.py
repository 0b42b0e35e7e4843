"""Which words of a text are names, by how they are written and by what a capital letter means in the language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from zaxy.text.tokens import MONTHS
from zaxy.text.word_frequencies import zipf, zipfs
from zaxy.tuples import NamedTuple

FUNCTION_WORD = 5.8
"""A word that is as common as this is no name, whatever it begins with: `I`, `The`, the German `Sie`."""
OWNER = 5.0
"""A word at the beginning of a sentence that is rarer than this is a name if an `'s` follows it; `Let's` has none."""
LANGUAGES_OF_A_NAME = 5
"""A word that this many languages list is written alike in all of them, as names are and few others: Anna, Paris."""
MIN_TITLE_WORDS = 3
"""Capitals mean nothing in a title, where at least this many words have them: all but articles and such."""
MAX_WORDS = 16
"""Of one name, so that a long text of nothing else takes no longer than its length asks for."""

NOUNS_IN_CAPITALS = frozenset({"de"})
NO_CAPITALS = frozenset({"ar", "fa", "hi", "ja", "ko", "ta", "th", "zh"})
"""Their sentences begin with no capital either: one that stands there has been brought from elsewhere."""
_PARTICLES = frozenset(
    """af al av bin da das de degli dei del della den der di do dos du el ibn la le of ten ter the van von y zu
    zum""".split()
)
MAX_PARTICLES = 2
_DATES = frozenset((*MONTHS, *"monday tuesday wednesday thursday friday saturday sunday".split()))
"""English writes them with capitals. They name a time, which records may write in other ways."""
_COMMANDS = frozenset(
    """approve archive assign benchmark cite clarify configure debug deploy diagnose disable escalate fetch inspect
    locate lookup merge migrate notify outline ping query rebuild reboot recap redeploy refactor reindex reject rename
    reopen rerun resend reset restart retrieve retry revert rewrite rollback scan summarise summarize sync translate
    undo uninstall validate verify""".split()
)
"""What agents are asked to do, where English does not list it: `Restart Neptune` has one name of one word."""
_SMALL_IN_TITLES = _PARTICLES.union(
    "a an and as at by des e en et for from i im in into les o och og on or to und with".split()
)

# Looked for without patterns, which take longer to make than a question does to read.
_SENTENCE_SIGNS = frozenset('!?…。！？:\n¿¡"“”„«»‹›「『')
_QUOTES = frozenset("'‘’")
_STOPS = frozenset((".", ". "))
_BESIDE = frozenset((" ", "\u00a0", "-", "‐", "'", "’"))
_WITHIN = frozenset("-._/\\:@#+~")
_IN_PATHS = frozenset("._\\@#")


class WrittenWord(NamedTuple):
    """A word as it stands in a text."""

    text: str
    folded: str
    before: str
    """What stands between it and the word before."""
    is_spaced: bool
    """Whether its script puts spaces between words."""


def names(written: Sequence[WrittenWord], language: str) -> list[range]:
    """Where names stand among the words of a text. A name of several words is one."""
    reader = _Reader(written, language)
    found: list[range] = []
    at = 0
    while at < len(written):
        end = reader.end_of_name(at)
        if end > at:
            found.append(range(at, end))
        at = max(end, at + 1)
    return found


class _Reader:
    """Looks at each word with its neighbours."""

    def __init__(self, written: Sequence[WrittenWord], language: str) -> None:
        self._written = written
        self._language = language
        self._nouns = language in NOUNS_IN_CAPITALS
        words = [word.text for word in written if word.is_spaced and not word.text.isdigit()]
        self._has_signs = language in NO_CAPITALS or not all(map(str.isupper, words))
        capitals = [word for word in words if word[0].isupper()]
        small = [word for word in words if not word[0].isupper()]
        self._is_title = len(capitals) >= MIN_TITLE_WORDS and _SMALL_IN_TITLES.issuperset(small)

    def end_of_name(self, at: int) -> int:
        """Behind the last word of the name that begins here; the place itself if none does."""
        chain = self._end_of_chain(at)
        if chain > at and self._nouns:
            return chain
        if chain == at and not self._may_belong(at):
            return at
        is_sure = chain > at or self._is_name(at)
        end = first = max(chain, at + 1)
        while end - at < MAX_WORDS and (following := self._end_of_next(end, is_sure)) > end:
            end = following
        return end if is_sure or (end > first and not self._is_title) else at

    def _is_name(self, at: int) -> bool:
        """Whether a plain word that may belong to a name is one by itself."""
        return not self._nouns and not self._is_title and (not self._is_first(at) or self._is_owner(at))

    def _end_of_next(self, end: int, is_sure: bool) -> int:
        """Behind the word that carries a name on, with the particles before it; the same place if there is none.

        A word that is not surely a name is made one by a plain word behind it, not by `Neo4j`: `Restart Neo4j`.
        """
        at = end
        while at < len(self._written) and at - end < MAX_PARTICLES and not self._nouns and self._is_particle(at):
            at += 1
        if at >= len(self._written) or not self._is_beside(at):
            return end
        chain = self._end_of_chain(at)
        if chain > at:
            return chain if is_sure else end
        return at + 1 if self._is_capital(at) and self._carries_on(at) else end

    def _carries_on(self, at: int) -> bool:
        """In German the noun behind a name is not part of it, if it is a common one."""
        return self._is_foreign(at) if self._nouns else self._is_uncommon(at)

    def _is_particle(self, at: int) -> bool:
        word = self._written[at]
        return word.text in _PARTICLES and word.before == " "

    def _is_beside(self, at: int) -> bool:
        """Whether only what may stand within a name stands before a word."""
        before = self._written[at].before
        return self._is_abbreviation(at - 1) if before in _STOPS else before in _BESIDE

    def _end_of_chain(self, at: int) -> int:
        """Behind an identifier: words that marks hold together, where one of them is no plain word."""
        written, end = self._written, at + 1
        if not written[at].is_spaced:
            return at
        while end < min(len(written), at + MAX_WORDS) and self._is_chained(end):
            end += 1
        chain = range(at, end)
        marks = "".join(written[place].before for place in chain[1:])
        is_numbered = self._is_capital(at) and marks == "-" and written[end - 1].text.isdigit()
        if is_numbered or any(map(self._is_marked, chain)) or (marks and self._is_path(chain, marks)):
            return end
        return at

    def _is_chained(self, at: int) -> bool:
        """A hyphen holds only those together that are no plain words: `ZX-000171`, not `GitHub-Konto`."""
        word = self._written[at]
        if not word.is_spaced or not 0 < len(word.before) < 3 or not _WITHIN.issuperset(word.before):
            return False
        return word.before != "-" or (self._is_unplain(at) and (self._is_unplain(at - 1) or word.text.isdigit()))

    def _is_unplain(self, at: int) -> bool:
        return self._is_marked(at) or self._written[at].text.isdigit()

    def _is_path(self, chain: range, marks: str) -> bool:
        """A file, a host, a variable: none of its parts a single letter, as those of `e.g.` are."""
        texts = [self._written[at].text for at in chain]
        has_marks = not _IN_PATHS.isdisjoint(marks) or marks.count("/") > 1
        return has_marks and all(len(text) > 1 and not text.isdigit() for text in texts)

    def _is_marked(self, at: int) -> bool:
        """Whether it is written as no plain word is: `Neo4j`, `GitHub`, `HTTP`."""
        word = self._written[at]
        if not word.is_spaced or (word.text.islower() and word.text.isalpha()):
            return False
        if any(map(str.isdigit, word.text)):
            # `10ms` and `3rd` are quantities.
            return any(map(str.isalpha, word.text)) and not word.text.lstrip("0123456789").isalpha()
        if word.text.isupper():
            return self._has_signs and len(word.text) > 1
        return any(map(str.isupper, word.text[1:]))

    def _may_belong(self, at: int) -> bool:
        """Whether a word may be the first of a name."""
        if not self._is_capital(at):
            return False
        if self._nouns or (self._is_first(at) and not self._is_owner(at)):
            return self._is_foreign(at) and self._written[at].folded not in _COMMANDS
        return self._is_uncommon(at)

    def _is_capital(self, at: int) -> bool:
        """Whether its first letter is a capital, and not because all letters are or because it is one letter only."""
        text = self._written[at].text
        if not self._has_signs or not text[0].isupper():
            return False
        return len(text) > 1 or self._is_abbreviation(at)

    def _is_foreign(self, at: int) -> bool:
        """Whether a language does not list a word, or has it in common with many."""
        found = zipfs(self._written[at].folded)
        return self._language not in found or (
            len(found) >= LANGUAGES_OF_A_NAME and found[self._language] < FUNCTION_WORD
        )

    def _is_owner(self, at: int) -> bool:
        """Whether an English `'s` follows a word that is not common."""
        if self._language != "en" or at + 1 >= len(self._written):
            return False
        following = self._written[at + 1]
        is_possessive = following.text == "s" and following.before in _QUOTES
        return is_possessive and zipf(self._written[at].folded, "en") < OWNER

    def _is_first(self, at: int) -> bool:
        """Whether a capital is there because a sentence begins."""
        if self._language in NO_CAPITALS:
            return False
        before = self._written[at].before
        if at == 0 or not _SENTENCE_SIGNS.isdisjoint(before):
            return True
        if before in _STOPS and self._is_abbreviation(at - 1):
            return False
        return _ends_a_sentence(before)

    def _is_abbreviation(self, at: int) -> bool:
        """An initial or a title with its full stop: `J.`, `Dr.`."""
        if at + 1 >= len(self._written) or self._written[at + 1].before not in _STOPS:
            return False
        text = self._written[at].text
        return text[0].isupper() and (len(text) == 1 or (len(text) <= 3 and self._is_uncommon(at)))

    def _is_uncommon(self, at: int) -> bool:
        word = self._written[at].folded
        return zipf(word, self._language) < FUNCTION_WORD and word not in _DATES


def _ends_a_sentence(before: str) -> bool:
    """Whether a full stop with a space behind it stands there, or a quote with a space before it."""
    pairs = pairwise(before)
    return any((one == "." and other.isspace()) or (one.isspace() and other in _QUOTES) for one, other in pairs)


def spans(found: Sequence[range], count: int) -> Iterator[tuple[int, int, bool]]:
    """All places in order: those of names together, each other one alone, and whether it is a name."""
    at = 0
    for name in found:
        yield from ((place, place + 1, False) for place in range(at, name.start))
        yield name.start, name.stop, True
        at = name.stop
    yield from ((place, place + 1, False) for place in range(at, count))
