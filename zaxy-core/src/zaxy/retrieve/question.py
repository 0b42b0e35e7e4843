"""What a question asks for: its words with how much each says, and the kind of answer that would fit.

A word weighs by how rare it is in this memory and by how rare it is in its language: in a small log the first alone
says little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from math import sqrt
from typing import NamedTuple

from zaxy.text import tokens
from zaxy.text.asking_words import QUESTION_WORDS
from zaxy.text.ranking import Weights
from zaxy.text.word_weights import language_of, weighed_words

ASKING_SHARE = 0.2
"""How much a word of the asking itself counts."""
LEAST_RARITY = 0.4
"""In a small log most words are in many passages, and that says nothing about them."""
TIME, NUMBER, PERSON, PLACE, REASON = "time", "number", "person", "place", "reason"
KINDS = {
    REASON: """
        why warum wieso weshalb pourquoi perche porque waarom varfor hvorfor miksi miert dlaczego czemu proc neden nicin
        niye почему зачем чому γιατι kenapa mengapa なぜ どうして 为什么 为何 為什麼 왜 ทำไม لماذا क्यों
    """,
    TIME: """
        when wann quand cuando quando wanneer nar hvornar milloin mikor kiedy kdy cand zaman когда коли ποτε kapan
        いつ 何日 何時 什么时候 何时 几点 什麼時候 언제 เมื่อไหร่ เมื่อไร متى कब
    """,
    NUMBER: """
        many much often cost costs combien cuanto cuanta cuantos cuantas quanto quanta quanti quante quantos quantas
        viel viele hoeveel manga mycket mange meget montako paljonko hany mennyi ile kolik cati kac сколько скільки
        ποσο ποσα berapa いくら いくつ 何人 何個 多少 几 多久 몇 얼마 เท่าไหร่ เท่าไร กี่ كم कितने कितना
    """,
    PERSON: """
        who whom whose wer wen wem wessen qui quien quienes chi quem wie vem hvem kuka ki kto kdo cine kim кто кого кому
        хто ποιος siapa 誰 だれ 谁 누가 누구 ใคร من कौन किसने
    """,
    PLACE: """
        where wo wohin woher ou donde adonde dove onde waar var hvor missa hol gdzie kde unde nerede nereye где куда де
        που dimana mana どこ 哪里 哪儿 哪裡 어디 ที่ไหน أين कहाँ
    """,
}
"""The words that ask for each kind, folded, in many languages. The first kind that the question has counts."""
LANGUAGES = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "fa": "persian", "fi": "finnish", "fr": "french", "hi": "hindi", "hu": "hungarian",
    "id": "indonesian", "it": "italian", "ja": "japanese", "ko": "korean", "lt": "lithuanian", "nb": "norwegian",
    "nl": "dutch", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sh": "serbian",
    "sv": "swedish", "ta": "tamil", "th": "thai", "tr": "turkish", "zh": "chinese",
}  # fmt: skip
"""The names of languages, by their codes."""
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD = re.compile(r"[^\W_]+")
_PARTS = dict.fromkeys(range(0xE000, 0xE080), " ")
"""The marks within an identifier as the index has it."""


class AskedWord(NamedTuple):
    text: str
    stems: tuple[str, ...]
    """As the index has them."""
    weight: float
    is_name: bool
    is_known: bool
    """Whether memory has it at all."""


class Asked(NamedTuple):
    words: tuple[AskedWord, ...]
    """Each once, in the order of the question; behind them the identifiers, which a row must have as they are."""
    kind: str
    """What is asked for: one of `KINDS`, or nothing of the kind."""

    @property
    def total(self) -> float:
        return sum([word.weight for word in self.words])


Weigh = Callable[[Sequence[str]], Weights]
"""How much each of the words says in a memory."""


def what_is_asked(text: str, weigh: Weigh) -> Asked:
    language = language_of(text)
    asking = _asking(language)
    found = {word.stems: word for word in weighed_words(text, language) if word.stems}
    weights = weigh([stem for stems in found for stem in stems])
    folded = tokens.folded_each([word.text for word in found.values()])
    words = []
    for (stems, word), plain in zip(found.items(), folded, strict=True):
        rarity = max([weights.known.get(stem, weights.unseen) for stem in stems]) / (weights.unseen or 1.0)
        rarity = max(rarity, LEAST_RARITY)
        weight = sqrt(rarity * (1.0 if word.is_name else word.common))
        weight *= ASKING_SHARE if plain in asking else 1.0
        is_known = all(stem in weights.known for stem in stems)
        words.append(AskedWord(word.text, stems, weight, word.is_name, is_known))
    wanted = tokens.wanted(text)
    parts = {stem for name in wanted.identifiers for stem in tokens.words(name.translate(_PARTS))}
    named = [AskedWord(tokens.readable(name), (name,), 1.0, True, True) for name in wanted.identifiers]
    words = [word for word in words if not parts.issuperset(word.stems)]
    return Asked((*words, *named), _kind(text))


@cache
def _asking(language: str) -> frozenset[str]:
    """The words by which a language asks, each by itself."""
    phrases = QUESTION_WORDS.get(LANGUAGES.get(language, ""), ())
    return frozenset(tokens.folded(word) for phrase in phrases for word in phrase.split())


def _kind(text: str) -> str:
    plain = tokens.folded(text)
    own = set(_WORD.findall(plain))
    for kind, (words, unspaced) in _KIND_WORDS.items():
        if not own.isdisjoint(words) or [word for word in unspaced if word in plain]:
            return kind
    return ""


def _kind_words(words: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The words that ask for a kind, and those of them that are looked for anywhere in a text."""
    each = tokens.folded_each(words.split())
    return frozenset(each), tuple(word for word in each if _UNSPACED.search(word))


_KIND_WORDS = {kind: _kind_words(words) for kind, words in KINDS.items()}
