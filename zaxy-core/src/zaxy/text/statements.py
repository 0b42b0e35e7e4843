"""What a text states, and what in it only asks for information.

A text is cut into sentences. One asks if it ends with a question mark of any script, or if it begins or ends with
words of asking. Of a sentence that tells first and then asks, the clauses before the one that asks are kept. What
stands in code, links and quotations is not looked at. An instruction to act is a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from zaxy.text.asking_words import ENDINGS, QUESTION_WORDS, REQUESTS
from zaxy.text.english_questions import STARTERS, asks_in_english, requests_in_english, tells_in_english

ARMENIAN = "\u055e"
MARKS = "?？؟\u037e\u055e⁇⁈⁉"
"""Of all scripts. An Armenian one stands within the word that is asked for; a Greek semicolon is one behind Greek."""
_MARKS = tuple(MARKS)
_MARK = re.compile(f"[{MARKS}]|[\u0370-\u03ff\u1f00-\u1fff];")
MIN_WORDS, MIN_UNSPACED = 3, 6
"""What is shorter, in words or in characters of a script without spaces, is an address or a filler, not a clause."""
FILLERS = frozenset(
    """hi hello hey ok okay so and but also please well now then um sorry thanks hola por favor y pero oye bitte
    und aber also hallo danke bonjour salut et mais alors ciao per favore e ma olá oi então hoi en maar dus hej och men
    så og moi hei mutta привет пожалуйста а и но ну cześć proszę ahoj prosím merhaba peki tolong halo""".split()
)
"""What people say before they come to the point."""
CONDITIONS = frozenset(
    """if when whenever while unless until once before after in on at for about regarding concerning from with without
    besides during by to of wenn falls bei nach vor si cuando quand lors se quando als om bij när om når если когда
    jeśli gdy kdyby když jika kalau ketika""".split()
)
"""What begins so is part of the question, and states nothing by itself."""
AGREEMENT = frozenset(("ok", "okay", "alright", "please", "vale", "d'accord", "einverstanden", "va bene"))
"""Behind a comma at the end they ask for no information: `use tabs, ok?` is an instruction."""

_HIDDEN = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\b[a-z][a-z0-9+.-]*://\S+|(?<=\S )\([^()\n]*\?\)"
    r'|"[^"\n]*"|“[^”\n]*”|«[^»\n]*»|„[^“”\n]*[“”]|「[^」\n]*」|\s\?\s[^?\n]{1,60}\s:\s',
    re.DOTALL,
)
# The same where there is no question mark and no link.
_HIDDEN_QUICKLY = re.compile(
    r"[`\"“«„「](?:(?<=`)(?:``.*?(?:```|\Z)|[^`\n]*`)"
    r'|(?<=")[^"\n]*"|(?<=“)[^”\n]*”|(?<=«)[^»\n]*»|(?<=„)[^“”\n]*[“”]|(?<=「)[^」\n]*」)',
    re.DOTALL,
)
# A mark ends a sentence where no code goes on. A line ends one too, unless the next goes on in the middle of it.
# These patterns begin with one set of characters, which is looked for quickly.
_END = re.compile(
    r"[.!…?？؟\u037e⁇⁈⁉。！｡।॥։;\n](?:"
    r"(?<=[.!…])[.!…]*[\"”»)\]]*(?=\s|\Z)"
    r"|(?<=[?？؟\u037e⁇⁈⁉])[?!？！]*[\"”»)\]]*(?=\s|\Z|[^\x00-\x7f])(?!\s*[=|&+*/<>])"
    r"|(?<=[。！｡।॥։])[。！｡।॥։]*|(?<=[\u0370-\u03ff\u1f00-\u1fff];)(?=\s|\Z)"
    r"|(?<=\n)(?![a-zß-öø-ÿа-я](?![\w.]*: )))"
)
_CLAUSE = re.compile(r"[,;:，；、\s](?:(?<=\S)\s*|(?:[-–—]+|and|but|so|und|aber|y|pero|et|mais|e|ma)\s)")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FINISHED = re.compile(r"(?:ました|です|ます|した|ので|から|けど|けれど|が)$")
"""How a Japanese clause ends that tells something; others are topics of what follows."""
_QUIET = re.compile(r"(?:静|確|豊|僅|わず|遥|細|明ら|柔ら|ほの|ほ|な)か$|什么$|那么$|这么$")
"""Words that end like a question and are none."""
_POLITE = re.compile(r"(?:ครับ|ค่ะ|คะ|นะ|お願いします|、)+$")
_CLAUSE_ENDS = str.maketrans(dict.fromkeys(".!?,;:", "\n") | dict.fromkeys('"([*>', " "))
_ENDS_IN_ASCII = "".join(map(chr, range(128))).translate(_CLAUSE_ENDS).encode().ljust(256)
"""The same for bytes, which takes an eighth of the time."""
_TITLE = re.compile(r"\s*#{1,6}\s")
_LEAD = re.compile(r"(?:[-*•>\"“'(«¿¡]|\d+[.)]|[a-z]\w{0,20}:(?=\s)|@\w+|\s)+", re.IGNORECASE)


class _Openings:
    """Phrases by their first words: most clauses begin with a word that begins none."""

    def __init__(self, *tables: dict[str, tuple[str, ...]]) -> None:
        self._by_first: dict[str, list[str]] = {}
        self._unspaced: list[str] = []
        for phrase in {phrase for table in tables for phrases in table.values() for phrase in phrases}:
            if _UNSPACED.match(phrase):
                self._unspaced.append(phrase)
            else:
                self._by_first.setdefault(phrase.split()[0], []).append(phrase)
        self._begins_unspaced = tuple(self._unspaced)

    def begin(self, clause: str, first: str) -> bool:
        """Whether one of them begins the clause, whose first word is given."""
        if not clause.isascii() and _UNSPACED.match(clause):
            return clause.startswith(self._begins_unspaced)
        return any(_begins(clause, phrase) for phrase in self._by_first.get(first, ()))


_without_english = {language: words for language, words in QUESTION_WORDS.items() if language != "english"}
_requests, _question_words = _Openings(REQUESTS), _Openings(_without_english)


def _firsts(table: dict[str, tuple[str, ...]]) -> frozenset[str]:
    """The words that the phrases of a table begin with."""
    return frozenset(phrase.split()[0] for phrases in table.values() for phrase in phrases)


_first_words = _firsts(QUESTION_WORDS)
_starters = frozenset(
    (*STARTERS, "-", *_first_words, *(first for first in _firsts(REQUESTS) if first not in ("i", "we")))
)
"""Words that a clause begins with which asks; with `I` and `we` begin few, and those are known by other words."""
_endings = tuple({phrase for phrases in ENDINGS.values() for phrase in phrases})
_spaced_endings = tuple(ending for ending in _endings if ending.startswith(" "))


class Clause(NamedTuple):
    start: int
    plain: str
    """Folded, without what people say before they come to the point."""
    first: str
    """Its first word."""


def stated(text: str) -> str:
    """The text without what asks for information."""
    return without(text, questions(text))


def asked(text: str) -> str:
    """What in the text asks for information."""
    return within(text, questions(text))


def within(text: str, spans: list[tuple[int, int]]) -> str:
    """Parts of a text, a line each."""
    return "\n".join(text[start:end].strip() for start, end in spans)


def without(text: str, spans: list[tuple[int, int]]) -> str:
    """What is left of a text without parts of it."""
    if not spans:
        return text
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    left = " ".join([text[end:start].strip() for end, start in zip(ends, starts, strict=True) if end < start]).strip()
    words = left.casefold().replace(",", " ").replace(".", " ").split()
    return left if any(word not in FILLERS and any(map(str.isalnum, word)) for word in words) else ""


def questions(text: str) -> list[tuple[int, int]]:
    """Where the text asks, by question marks and by words of asking."""
    return list(_spans(text)) if _has_mark(text) or _may_ask(text) else []


def _has_mark(text: str) -> bool:
    return "?" in text if text.isascii() else _MARK.search(text) is not None


def _may_ask(text: str) -> bool:
    """Whether a text without a question mark is worth a closer look: nearly all of what is recorded tells."""
    is_ascii = text.isascii()
    small = text.lower() if is_ascii else text.casefold()
    if "to know" in small or "wonder" in small or "curious" in small:
        return True
    if not is_ascii and (_UNSPACED.search(text) or any(ending in small for ending in _spaced_endings)):
        return True
    ended = small.encode().translate(_ENDS_IN_ASCII).decode() if is_ascii else small.translate(_CLAUSE_ENDS)
    starts = ended.replace(" and ", "\n").replace(" but ", "\n").split("\n")
    firsts = [words[words[0] in FILLERS and len(words) > 1] for start in starts if (words := start.split(None, 2))]
    return not _starters.isdisjoint(firsts)


def marked_questions(text: str) -> list[tuple[int, int]]:
    """Where the text asks by question marks alone: in a document a line without one is a title or part of a list."""
    if not _has_mark(text):
        return []
    hidden = hide(text)
    return [(start, end) for start, end in _sentences(hidden) if _is_marked(hidden[start:end])]


def hide(text: str) -> str:
    """The text with letters for all that is no part of its own sentences; places stay the same."""
    if not any(map(text.__contains__, _SIGNS_OF_HIDDEN)):
        return text
    pattern = _HIDDEN if "?" in text or "://" in text else _HIDDEN_QUICKLY
    return pattern.sub(_letters, text)


_SIGNS_OF_HIDDEN = ("`", '"', "(", "://", " ? ", "“", "«", "„", "「")
"""A text without any of these has nothing to hide."""


def _letters(found: re.Match[str]) -> str:
    """Letters, unless it is all that its line has: then it is somebody's sentence."""
    text, hidden = found.string, found.group()
    if hidden[0] not in "`(" and text[found.end() : found.end() + 1] in ("", "\n"):
        line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        if not line.strip(" -*>"):
            return hidden
    return "x" * len(hidden)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    hidden = hide(text)
    may_ask = "" if _has_mark(text) else text  # that is why it is looked at
    for first, last in _sentences(hidden):
        sentence = hidden[first:last]
        if _is_marked(sentence):
            start = _from_mark(sentence)
        elif sentence == may_ask or _may_ask(sentence):
            start = _from_words(sentence)
        else:
            continue
        if start is not None:
            yield first + start, last


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in (*[found.end() for found in _END.finditer(text)], len(text)):
        if text[start:end].strip():
            yield start, end
        start = end


def _is_marked(sentence: str) -> bool:
    end = sentence.rstrip(" \"”»)]!！\n\t'*_")
    return end.endswith(_MARKS) or ARMENIAN in sentence or (end[-1:] == ";" and "\u0370" <= end[-2:-1] <= "\u1fff")


def _from_words(sentence: str) -> int | None:
    """Where in a sentence without a mark the clause begins that asks; None where none does."""
    if _TITLE.match(sentence):
        return None
    clauses = list(_clauses(sentence))
    for clause in clauses:
        if _requests_information(clause):
            return _after_statements(clauses, clause)
    if _ends_asking(sentence):
        return _after_statements(clauses, clauses[-1]) if clauses else 0
    for clause in clauses:
        if asks_in_english(clause.plain) or (
            _question_words.begin(clause.plain, clause.first) and not _has_comma_behind(sentence, clause)
        ):
            return _after_statements(clauses, clause)
        if len(clause.plain.split()) > MIN_WORDS - 1 or _UNSPACED.match(clause.plain):
            return None
    return None


def _requests_information(clause: Clause) -> bool:
    return _requests.begin(clause.plain, clause.first) or requests_in_english(clause.plain)


def _from_mark(sentence: str) -> int | None:
    """Where the question begins of a sentence that ends with a mark: at the first clause that begins like one."""
    clauses = list(_clauses(sentence))
    if len(clauses) > 1 and clauses[-1].plain.rstrip(MARKS + " !") in AGREEMENT:
        return None
    for clause in clauses:
        begins = clause.first in _first_words or _INVERTED.match(clause.plain) or _requests_information(clause)
        if begins and not tells_in_english(clause.plain):
            return _after_statements(clauses, clause)
        if _UNSPACED.match(clause.plain) and clause is clauses[-1]:
            return _after_statements(clauses, clause)
    return 0


_INVERTED = re.compile(r"(?:can|could|will|would|should|is|are|was|were|do|does|did|has|have|had|am|may|might|shall)\b")


def _after_statements(clauses: list[Clause], asking: Clause) -> int:
    """The place of the clause that asks, if those before it tell anything; else the sentence asks as a whole."""
    before = clauses[: clauses.index(asking)]
    return asking.start if any(map(_tells, before)) else 0


def _tells(clause: Clause) -> bool:
    if _UNSPACED.search(clause.plain):
        if re.search(r"[\u3040-\u30ff]", clause.plain):
            return bool(_FINISHED.search(clause.plain))
        return len(clause.plain) >= MIN_UNSPACED
    return len(clause.plain.split()) >= MIN_WORDS and clause.first not in CONDITIONS


def _ends_asking(sentence: str) -> bool:
    if sentence.isascii():
        return False
    end = _POLITE.sub("", sentence.casefold().rstrip(' .。!！,、"”」)'))
    return end.endswith(_endings) and not _QUIET.search(end)


def _has_comma_behind(sentence: str, clause: Clause) -> bool:
    """Whether more clauses follow: `Was wir brauchen, ist mehr Platz` does not ask."""
    return _COMMA.search(sentence, clause.start) is not None


_COMMA = re.compile(r"[,;:，]\s*\S")


def _clauses(sentence: str) -> Iterator[Clause]:
    start = 0
    for end in (*(found.end() for found in _CLAUSE.finditer(sentence)), len(sentence)):
        plain = sentence[start:end].replace("’", "'").casefold().strip(" .,;:，、!¡¿\n\t")
        lead = _LEAD.match(plain)
        words = plain[lead.end() if lead else 0 :].split()
        while words and words[0].strip(",") in FILLERS:
            words = words[1:]
        if words:
            yield Clause(start, " ".join(words), words[0].rstrip(MARKS + ".,:;!"))
        start = end


def _begins(clause: str, phrase: str) -> bool:
    return clause.startswith(phrase) and not clause[len(phrase) : len(phrase) + 1].isalnum()
