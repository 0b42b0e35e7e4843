"""Sentences that ask though neither a question mark nor a full stop ends them, as people type: `wo zweitschlüssel`.

Their signs: a question word at the beginning or at the end, in some languages anywhere; a verb before its subject; a
particle or an ending of the verb. A word of telling, like `know`, makes a statement of all but the first of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from zaxy.text.asking_phrases import UNSPACED, Openings, code_of, is_of, languages_of_phrases
from zaxy.text.asking_words import ANYWHERE, LANGUAGES, LAST, QUESTION_WORDS, TELLING, UNENDED
from zaxy.text.english_questions import LAST_WORDS, asks_tersely_in_english

MAX_CHARS = 300
"""Of a sentence that asks without a mark: longer ones are lists, code or talk without stops."""
MAX_TERSE, MAX_TERSE_OPENING = 8, 4
"""Words of a sentence that asks with its last word, or with a first word that mostly joins clauses."""
MAX_LEAD = 3
"""Words between a preposition at the beginning and the question word."""
PREPOSITIONS = frozenset(
    """in im i dans sur în din ve ze an am nach um bis seit von mit für ab auf zu aus c'est à de pour avec
    depuis chez en con para desde por hasta di da a per com em até van voor sinds tot op met på till
    från med til fra av za z do o od w u na v s pro с у о от до во в на к з із від la pe cu până για σε
    από με في إلى منذ מ עם על""".split()
)
"""They may stand before a question word, and so may `c'est`."""
_others = {language: words for language, words in QUESTION_WORDS.items() if language != "english"}
_openings = Openings(UNENDED, _others)
_last = languages_of_phrases(_others, UNENDED, LAST)
PARTICLES_LAST = frozenset(("indonesian", "turkish", "vietnamese"))
"""Languages whose last words begin no question."""
_joining = languages_of_phrases({language: words for language, words in LAST.items() if language not in PARTICLES_LAST})
_anywhere = languages_of_phrases(ANYWHERE)
_telling = languages_of_phrases(TELLING)

# What begins with a question word and tells: a subject behind it, a relative word, `as for`, `must be done`.
_TELLS = re.compile(
    r"(?:was|wo|wer|wie|wann|wohin|woher|warum) (?:ich|du|er|sie|es|wir|ihr|man)\b"
    r"|(?:wat|waar|wie|wanneer|hoe|waarom) (?:we|wij|je|jij|u|ik|hij|zij|ze|men|er|het)\b"
    r"|(?:vad|hur|när|vart|varför) (?:vi|du|ni|jag|han|hon|de|dom|man|det|den)\b"
    r"|(?:hvad|hva|hvor|hvordan|når|hvornår|hvorfor|hvem) (?:vi|du|jeg|han|hun|de|dere|man|det|den|der|som)\b"
    r"|(?:was|wat|vad|hvad|hva) (?!ist?\b|är\b|er\b)(?:\S+ ){1,4}(?:ist|is|är|er) \w"
    r"|quanto (?:a|ao|à|aos|às)\b|en cuanto\b|o que .* é\b|var (?:snäll|god)\b|ki (?:kell|van|lett|lehet)\b"
    r"|c'est quand même\b|nasıl olsa\b|ne .* ne\b|как обычно\b|من ال(?!مسؤول)|ما ز|(?:מה|מי|איפה|כמה|איך) ש"
)
# Without the preposition, and without an accent, the same words begin statements.
_PREPOSITION_AND_WHAT = re.compile(
    r"(?:(?:in|di|a|da|con) che|(?:en|em|de|a|con) que|(?:în|la|cu|pe|din) ce|(?:à|de|avec|pour) quoi) \w"
)
_WHAT = frozenset(("che", "que", "ce", "quoi"))
# In languages whose question words may stand anywhere: nobody, somebody, everybody.
_NOBODY = re.compile(
    r"(?:không|chẳng|chả)(?: có)? (?:ai|gì|đâu|nào|sao)\b|(?:ai|gì|đâu|nào) (?:đó|cũng)\b"
    r"|\b(?:apa|siapa|mana|kapan|bagaimana)(?: ?pun| saja|-)|tempat di mana\b"
    r"|\w+[dt][ıiuü]ğ\w+|\w+[ae]c[ae]ğ\w+|\w+[ıiuüae]rs[ae]\b|her (?:kim|ne|nasıl|hangi)\b"
    r"|\bne (?:yazık|de olsa)|hiç ?kim|(?:याद|पता) नहीं"
)
_UNSPACED_WORDS = re.compile(
    "谁|誰|什么|什麼|哪|几点|幾點|几号|幾號|几月|几岁|几楼|第几|星期几|周几|多少|怎么|怎麼|怎样|为什么|為什麼|为何|何时|何時"
    "|多久|多大|多远|是否|(.)不\\1|有没有|有沒有"
    "|どこ|だれ|(?<![あこそつ])いつ|何|なに|なぜ|どうして|どうやって|いくら|いくつ|(?<![なほ])どの|どれ|どちら"
    "|\\b(?:어디|누가|누구|누굴|언제|뭐|뭘|무엇|무슨|왜|어떻게|얼마|몇|어느|어떤)"
    "|ใคร|อะไร|ที่ไหน|เมื่อไหร่|เมื่อไร|ทำไม|ยังไง|เท่าไหร่|เท่าไร|กี่|คนไหน|อันไหน"
)
# Behind such a word, and before it, what makes it mean nobody, somebody or anybody, or only mentions the question.
_UNSPACED_TELLS = re.compile(
    "(?:谁|誰|什么|什麼|哪.?|怎么|怎麼).{0,4}[都也]|(谁|誰|什么|什麼|哪).{0,40}\\1|没什么|沒什麼|什么的|知道|明白|解释|解釋|说明|說明|清楚"
    "|忘了|忘记|不管|无论|無論|记得|記得"
    "|(?:誰|何|なに|だれ|いつ|どこ|いくつ|どれ|どちら|どの).{0,2}(?:も|でも|か(?!$|ら))|なんて"
    "|か(?:どうか)?[をはが]?(?:もう|まだ|よく)?(?:知って|知ら|知る|分か|わか|説明|話し|決め|覚え|忘れ)"
    "|(?:누구|언제|어디|뭐|무엇|어떤|어느)\\w{0,2}(?:나|든|든지)(?:\\s|$)|누군가|언젠가|어딘가|뭔가"
    "|얼마 전|어느 날|몇몇|면[ ,]|다$|는지!?$|지 (?:안다|알아|모르|설명|기억)"
    "|ไม่(?:มี|ได้)?(?:ใคร|อะไร)|(?<!อยาก)รู้(?:แล้ว)?ว่า|ทราบว่า|อธิบาย|จำได้|(?:ใคร|อะไร|อย่างไร|เมื่อไร|เมื่อไหร่|ที่ไหน).{0,12}ก็|ใคร.{0,40}ให้"
)
_VERBS_AND_SUBJECTS = r"""
german: ist sind war waren wird kann soll muss darf gilt gehört kommt liegt steht läuft funktioniert
    + der die das den ein eine einen ich du er sie es wir ihr man jemand unser\w* mein\w* dein\w* diese[rs]?
german: hat haben hast habt habe können kannst müssen sollen dürfen werden brauchen wollen
    + ich du er sie es wir ihr man jemand der
dutch: is zijn was waren wordt kan moet mag zit staat ligt werkt komt geldt draait
    + de het een er dit dat deze die ons onze mijn je ik we wij hij ze zij u iemand
dutch: heb hebben heeft kunnen moeten mogen gaan kun kunt + ik we wij je jij hij ze zij u jullie iemand
swedish: är har kan ska måste finns blir kommer fungerar ligger står
    + vi du ni jag han hon de det den någon man min mitt mina vår vårt din ditt
swedish: är fungerar kör + (?!öppe)\w{3,}(?:en|et|an|na)
danish: er var har kan skal må vil bliver kommer virker findes + vi du jeg han hun de det der nogen man min mit vores
danish: er virker kører + (?!åb)\w{3,}(?:en|et|ne)
norwegian: er var har kan skal må vil blir kommer fungerer virker finnes
    + vi du jeg han hun de dere det noen man min mitt vår vårt
norwegian: er fungerer virker kjører + (?!åp)\w{3,}(?:en|et|ne|a)
"""
"""Verbs that ask for yes or no at the beginning of a sentence, each row with the subjects that must follow."""
_BY_ENDING = {
    "finnish": re.compile(r"\w{2,}[aeiouyäönt]k[oö]\b(?<=\w{5})"),
    "french": re.compile(
        r".*\b(?!dit-|répond|rendez-)(?:\w+-(?:t-)?(?:il|elle|on|ils|elles|tu|je)\b"
        r"|(?:avez|êtes|pouvez|savez|voulez|connaissez)-vous\b|(?:avons|sommes|pouvons|devons)-nous\b|est-ce\b)"
    ),
    "hungarian": re.compile(r".*\w-e\b"),
    "indonesian": re.compile(r"(?!langkah|berkah|nikah|tingkah)\w{3,}kah\b"),
    "russian": re.compile(r"\S+ ли\b"),
    "serbian": re.compile(r"\S+ (?:li|ли)\b"),
}
"""By language: what verbs have, or what stands behind them, that asks for yes or no."""
ENDINGS_OF_VERBS = ("ko", "kö", "kah")
_PARTICLES = frozenset(("ли", "li"))
_BEHIND_VERBS = re.compile(r"-(?:t-)?(?:il|elle|on|ils|elles|tu|je|vous|nous|ce|e)\b")
STOPS = frozenset(("", *".!…。！।॥։"))


def _verb_patterns() -> Iterator[tuple[str, frozenset[str], re.Pattern[str]]]:
    """Of each row its language, its verbs and its pattern."""
    for row in _VERBS_AND_SUBJECTS.replace("\n    ", " ").strip().splitlines():
        language, _, both = row.partition(": ")
        verbs, subjects = (part.casefold().split() for part in both.split(" + "))
        yield language, frozenset(verbs), re.compile(rf"(?:{'|'.join(verbs)}) (?:{'|'.join(subjects)})\b")


_VERBS = tuple(_verb_patterns())
JOINING = frozenset(phrase.split()[0] for phrase in _joining)
"""Words that mostly join clauses, and ask at the beginning of a short one."""
FIRST_WORDS = frozenset((*_openings.firsts, *JOINING, *(verb for row in _VERBS for verb in row[1])))
"""Words that such a sentence can begin with."""
_FIRST_OF_QUESTIONS = _openings.firsts | PREPOSITIONS
_BEHIND_PREPOSITIONS = _openings.firsts | _WHAT
_last_words = LAST_WORDS | _last.keys()
_INNER = frozenset(phrase.split()[-1] for phrase in _anywhere)


def unended_lines(text: str) -> list[str]:
    """The lines of a text that no full stop ends: only a line or the whole text ends a sentence without a mark."""
    if "\n" not in text:
        return [] if text[-1:] in STOPS else [text]
    return [line for line in text.split("\n") if line[-1:] not in STOPS]


def may_ask(line: str) -> bool:
    """Whether a line, in small letters, has a word by which a sentence asks that no mark ends."""
    words = line.split()
    if words and words[0][-1] == ":" and len(words) > 1:
        del words[0]
    if not words:
        return False
    return (
        words[-1] in _last_words
        or not _INNER.isdisjoint(words)
        or (words[0] in PREPOSITIONS and not _BEHIND_PREPOSITIONS.isdisjoint(words[1 : MAX_LEAD + 2]))
        or _may_ask_by_verb(words, line)
    )


def _may_ask_by_verb(words: list[str], line: str) -> bool:
    """Whether the first word of a line has an ending that asks, or another one has it or stands behind."""
    return (
        words[0].endswith(ENDINGS_OF_VERBS)
        or not _PARTICLES.isdisjoint(words[1:2])
        or ("-" in line and _BEHIND_VERBS.search(line) is not None)
    )


def begins_telling(clause: str) -> bool:
    """Whether a clause begins with a question word and tells: `was wir brauchen`, `quanto ao seguro`."""
    if _TELLS.match(clause):
        return True
    if UNSPACED.match(clause):
        return _UNSPACED_TELLS.search(clause) is not None
    words = clause[:MAX_CHARS].split()
    return words[0] in _INNER and (has_telling(words) or _NOBODY.search(clause[:MAX_CHARS]) is not None)


def asks_unended(first: str, last: str, *, sentence: str) -> bool:
    """Whether a sentence asks that no mark ends, by its first clause and its last, which may be one; both folded."""
    if len(first) > MAX_CHARS or len(last) > MAX_CHARS:
        return False
    if not last.isascii() and _UNSPACED_WORDS.search(last):
        return _UNSPACED_TELLS.search(last) is None
    words = last.split()
    if first == last and (begins_asking(first) or _joins_verb(words, last) or _asks_by_verb(first)):
        return True
    if len(words) <= MAX_TERSE and (asks_tersely_in_english(last) or _is_terse(words, sentence)):
        return True
    # First what is quickly known: nearly no sentence has such a word.
    return not _INNER.isdisjoint(words) and not _says_nobody(last) and _asks_anywhere(words, sentence)


def _says_nobody(clause: str) -> bool:
    return _NOBODY.search(clause) is not None or _TELLS.match(clause) is not None


def begins_asking(clause: str) -> bool:
    """Whether a clause begins with a question word, maybe behind a preposition, and would ask with no full stop."""
    word, _, rest = clause.partition(" ")
    if (word not in _FIRST_OF_QUESTIONS and clause.isascii()) or begins_telling(clause):
        return False
    return bool(
        _openings.beginning(clause, word)
        or _PREPOSITION_AND_WHAT.match(clause)
        or (word in PREPOSITIONS and rest and _asks_behind_preposition(rest))
    )


def _asks_behind_preposition(rest: str) -> bool:
    """Whether a question word follows, at once or behind a second preposition: `de qué color`, `a nombre de quién`."""
    words = rest.split(" ", MAX_LEAD + 1)
    places = [0, *[place for place in range(1, min(len(words), MAX_LEAD + 1)) if words[place - 1] in PREPOSITIONS]]
    return any(_openings.beginning(" ".join(words[place:]), words[place], sentence=rest) for place in places)


def _is_terse(words: list[str], sentence: str) -> bool:
    """`zahnarzt wann`, `когда стоматолог`."""
    if len(words) < 2 or has_telling(words):
        return False
    first, last = words[0], words[-1]
    if last in _last and is_of(_last[last], last, sentence):
        return True
    return len(words) <= MAX_TERSE_OPENING and first in _joining and is_of(_joining[first], first, sentence)


def _joins_verb(words: list[str], sentence: str) -> bool:
    """`wie war der Name`, `när kommer han`: where a verb stands right behind it, such a word asks."""
    languages = _joining.get(words[0], frozenset())
    verbs = [language for language, verbs, _ in _VERBS if language in languages and not verbs.isdisjoint(words[1:2])]
    return bool(verbs) and is_of(languages, words[0], sentence)


def has_telling(words: Iterable[str]) -> bool:
    """Whether one of the words makes a statement of a question beside it."""
    return not _telling.keys().isdisjoint(words)


def _asks_anywhere(words: list[str], sentence: str) -> bool:
    if has_telling(words):
        return False
    padded = f" {' '.join(words)} "
    return any(
        f" {phrase} " in padded and _fits(phrase, languages, sentence) for phrase, languages in _anywhere.items()
    )


def _fits(phrase: str, languages: frozenset[str], sentence: str) -> bool:
    """Vietnamese is known by its letters: no list has the frequencies of its words."""
    if "vietnamese" in languages:
        return not sentence.isascii()
    return is_of(languages, phrase, sentence)


def _asks_by_verb(clause: str) -> bool:
    word = clause.split(" ", 1)[0]
    rows = [(language, pattern) for language, verbs, pattern in _VERBS if word in verbs]
    if not rows and not _may_ask_by_verb(clause.split(" ", 2), clause):
        return False
    name = LANGUAGES.get(code_of(clause), "")
    by_ending = _BY_ENDING.get(name)
    return (by_ending is not None and by_ending.match(clause) is not None) or any(
        language == name and pattern.match(clause) for language, pattern in rows
    )
