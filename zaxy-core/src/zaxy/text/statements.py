"""What a text states, and what in it only asks for information.

A text is cut into sentences. One asks if it ends with a question mark of any script, or if it begins or ends with
words of asking. Of a sentence that tells first and then asks, the clauses before the one that asks are kept. What
stands in code, links and quotations is not looked at. An instruction to act is a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from zaxy.text.asking_phrases import UNSPACED, Openings
from zaxy.text.asking_words import ENDINGS, QUESTION_WORDS, REQUESTS, REQUESTS_WITH_QUESTION
from zaxy.text.english_questions import (
    REQUESTING,
    STARTERS,
    asks_in_english,
    requests_in_english,
    tells_in_english,
)
from zaxy.text.unended_questions import (
    FIRST_WORDS,
    JOINING,
    asks_unended,
    begins_asking,
    begins_telling,
    has_telling,
    may_ask,
    unended_lines,
)

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
NEARLY = frozenset(("just", "right", "shortly", "even", "kurz", "gleich", "juste", "justo", "poco", "vlak", "strax"))
"""They may stand before one of those: `just after the move`."""
MAX_TOPIC = 5
REASONS = frozenset(
    """why warum wieso weshalb pourquoi perché porque waarom varför hvorfor miksi miért dlaczego czemu proč neden niye
    почему зачем чому γιατί""".split()
)
"""A question word alone asks about the topic before it, and is asked for the reason of a statement."""
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


_requests, _prompts = Openings(REQUESTS), Openings(REQUESTS_WITH_QUESTION)
_question_words = Openings({language: words for language, words in QUESTION_WORDS.items() if language != "english"})
_first_words = frozenset((*_question_words.firsts, *QUESTION_WORDS["english"]))
_starters = frozenset((*STARTERS, "-", *FIRST_WORDS, *_prompts.firsts, *_requests.firsts)) - {"i", "we"}
"""Words that a clause begins with which asks; with `I` and `we` begin few, and those are known by other words."""
_later_starters = _starters & {*_requests.firsts, *_prompts.firsts, *REQUESTING, *JOINING, "-"}
"""Those of them with which a clause asks even if another one stands before it."""
_endings = tuple({phrase for phrases in ENDINGS.values() for phrase in phrases})
_ending_words = frozenset(ending.strip() for ending in _endings if ending.startswith(" "))


class Clause(NamedTuple):
    start: int
    plain: str
    """Folded, without what people say before they come to the point."""
    first: str
    """Its first word."""
    is_heading: bool
    """Whether a colon follows it."""
    sentence: str
    """Of which it is a part, without a label before it."""


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
    if not is_ascii and (UNSPACED.search(text) or not _ending_words.isdisjoint(small.split())):
        return True
    if any(map(may_ask, unended_lines(small))):
        return True
    ended = small.encode().translate(_ENDS_IN_ASCII).decode() if is_ascii else small.translate(_CLAUSE_ENDS)
    starts = ended.replace(" and ", "\n").replace(" but ", "\n").split("\n")
    firsts = [words[words[0] in FILLERS and len(words) > 1] for start in starts if (words := start.split(None, 2))]
    return not _starters.isdisjoint(firsts) and (not is_ascii or any(map(_begins_asking, ended.split("\n"))))


def _begins_asking(part: str) -> bool:
    """Whether a clause of a part of a sentence, in small letters, begins with a word by which it may ask there: behind
    a clause of several words only a request does. What it begins with must be plain to see."""
    is_behind = False
    for clause in part.replace(" and ", "\n").replace(" but ", "\n").split("\n"):
        if words := clause.split():
            first = words[words[0] in FILLERS and len(words) > 1]
            if first in (_later_starters if is_behind else _starters) or first in FILLERS or not first.isalpha():
                return True
            is_behind = is_behind or _has_several_words(words)
    return False


def _has_several_words(words: list[str]) -> bool:
    """Whether three words stand together that surely belong to one clause, and are not left out at its beginning."""
    together = 0
    for word in words:
        together = together + 1 if word.isalpha() and word not in FILLERS else 0
        if together == MIN_WORDS:
            return True
    return False


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
    for place, clause in enumerate(clauses):
        if _requests_information(clause) or (clause.first in _prompts.firsts and _prompts_question(clauses[place:])):
            return _after_statements(clauses, clause)
    if _ends_asking(sentence):
        return _after_statements(clauses, clauses[-1]) if clauses else 0
    return None if _ends_with(_EXCLAIMS, sentence) else _from_question_words(sentence, clauses)


def _ends_with(mark: re.Pattern[str], sentence: str) -> bool:
    """Most sentences have none of the marks anywhere, which is quickly seen."""
    may_end = "!" in sentence or "." in sentence or not sentence.isascii()
    return may_end and mark.search(sentence) is not None


_EXCLAIMS = re.compile(r"[!！]\W*\Z")
_FULL_STOP = re.compile(r"(?<![.…])[.。！!।॥։]\W*\Z")


def _from_question_words(sentence: str, clauses: list[Clause]) -> int | None:
    addressed = True
    for clause in clauses:
        if asks_in_english(clause.plain) or (addressed and _begins_with_question_word(sentence, clause)):
            return _after_statements(clauses, clause)
        if len(clause.plain.split()) > MIN_WORDS - 1 or UNSPACED.match(clause.plain):
            break
        addressed = addressed and clause.plain == clause.first and not has_telling((clause.first,))
    if not clauses or _ends_with(_FULL_STOP, sentence):
        return None
    first, last = clauses[0], clauses[-1]
    return _after_statements(clauses, last) if asks_unended(first.plain, last.plain, sentence=last.sentence) else None


def _begins_with_question_word(sentence: str, clause: Clause) -> bool:
    return (
        bool(_question_words.beginning(clause.plain, clause.first, sentence=clause.sentence))
        and not begins_telling(clause.plain)
        and not _has_comma_behind(sentence, clause)
    )


def _requests_information(clause: Clause) -> bool:
    _, plain, first, _, sentence = clause
    if (first in _requests.firsts or not plain.isascii()) and _requests.beginning(plain, first, sentence=sentence):
        return True
    return first in REQUESTING and requests_in_english(plain)


def _prompts_question(clauses: list[Clause]) -> bool:
    """Whether the first of the clauses requests the answer to a question that stands behind it, maybe as the next."""
    prompt = _prompts.beginning(clauses[0].plain, clauses[0].first, sentence=clauses[0].sentence)
    rest = clauses[0].plain[len(prompt) :].strip()
    if not rest and len(clauses) > 1:
        rest = clauses[1].plain
    return bool(prompt and rest) and begins_asking(rest)


def _from_mark(sentence: str) -> int | None:
    """Where the question begins of a sentence that ends with a mark: at the first clause that begins like one."""
    clauses = list(_clauses(sentence))
    if len(clauses) > 1 and clauses[-1].plain.rstrip(MARKS + " !") in AGREEMENT:
        return None
    for clause in clauses:
        begins = clause.first in _first_words or _INVERTED.match(clause.plain) or _requests_information(clause)
        if begins and not tells_in_english(clause.plain):
            return _after_statements(clauses, clause)
        if UNSPACED.match(clause.plain) and clause is clauses[-1]:
            return _after_statements(clauses, clause)
    return 0


_INVERTED = re.compile(r"(?:can|could|will|would|should|is|are|was|were|do|does|did|has|have|had|am|may|might|shall)\b")


def _after_statements(clauses: list[Clause], asking: Clause) -> int:
    """The place of the clause that asks, if those before it tell anything; else the sentence asks as a whole."""
    before = clauses[: clauses.index(asking)]
    return asking.start if any(map(_tells, before)) and not _is_topic(before, asking) else 0


def _is_topic(before: list[Clause], asking: Clause) -> bool:
    """Whether a few words only name what is asked about: `Spare key for the flat, where?`, `NAS disk: where are we?`"""
    if len(before) > 1 or before[0].plain.count(" ") >= MAX_TOPIC:
        return False
    word = asking.plain.rstrip(MARKS + " ")
    return before[0].is_heading or (word in _first_words and word not in REASONS)


def _tells(clause: Clause) -> bool:
    if UNSPACED.search(clause.plain):
        if re.search(r"[\u3040-\u30ff]", clause.plain):
            return bool(_FINISHED.search(clause.plain))
        return len(clause.plain) >= MIN_UNSPACED
    words = clause.plain.split()
    return len(words) >= MIN_WORDS and words[clause.first in NEARLY] not in CONDITIONS


def _ends_asking(sentence: str) -> bool:
    if sentence.isascii():
        return False
    end = _POLITE.sub("", sentence.casefold().rstrip(' .。!！,、"”」)'))
    return end.endswith(_endings) and not _QUIET.search(end)


def _has_comma_behind(sentence: str, clause: Clause) -> bool:
    """Whether more clauses follow: `Was wir brauchen, ist mehr Platz` does not ask."""
    return _COMMA.search(sentence, clause.start) is not None


_COMMA = re.compile(r"[,;:，]\s*\S")


_NO_FILLER = re.compile(r"so (?:chi|che|cosa|come|dove|quando|quale|quanto|perché)\b|por (?!favor)|per (?!favore)")
"""In Italian the first one says that somebody knows; the others are fillers only in a phrase."""


def _clauses(sentence: str) -> Iterator[Clause]:
    lead = _LEAD.match(sentence)
    start = lead.end() if lead else 0
    whole = sentence[start:]
    for end in (*[found.end() for found in _CLAUSE.finditer(sentence, start)], len(sentence)):
        plain = sentence[start:end].replace("’", "'").casefold().strip(" .,;:，、!¡¿\n\t")
        words = plain[_lead_of(plain) :].split()
        while words and words[0].strip(",") in FILLERS and not _NO_FILLER.match(" ".join(words[:2])):
            words = words[1:]
        if words:
            is_heading = ":" in sentence and sentence[start:end].rstrip().endswith(":")
            yield Clause(start, " ".join(words), words[0].rstrip(_BEHIND_WORDS), is_heading, whole)
        start = end


_BEHIND_WORDS = MARKS + ".,:;!"


def _lead_of(plain: str) -> int:
    """How many characters stand before what a clause says. Only a label begins with a letter."""
    if plain[:1].isalpha() and ":" not in plain:
        return 0
    lead = _LEAD.match(plain)
    return lead.end() if lead else 0
