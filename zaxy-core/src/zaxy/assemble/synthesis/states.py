"""Whether a record is in a state that a question names, in any language: by its type or by a field that says it."""

from __future__ import annotations

import re
from functools import lru_cache

from zaxy.api.models import Event
from zaxy.assemble.synthesis.words import CANCELLED
from zaxy.text.status_words import DONE, OPEN, state_of_value
from zaxy.text.tokens import folded, words

SAYS_STATE = frozenset("status state stage phase result outcome conclusion estado resultado statut ergebnis".split())
"""Fields that say how a record ended."""
ALIKE_LETTERS = 5
"""By these a word and the same in another language are known: `resolvimos` and `resolved`."""
_SUCCEEDED = re.compile(
    r"success\w*|succe[es]d\w*|passed|ok|green|erfolgreich\w*|gelungen\w*|exitos[oa]s?|correct[oa]s?|reussie?s?"
    r"|paid|held|sent|won|deliver\w*|livre\w*|zugestellt|ausgeliefert|entregad\w+"
)
_OPEN = re.compile(r"open(?:ed)?|pending|unresolved|unpaid|offen\w*|abiert[oa]s?|pendientes?|ouverte?s?|apert[oaie]")


def is_in_state(word: str, event: Event) -> bool:
    """`completed`, `gelöst` and `résolus` are all in the state of `job.completed`; other words must be the same."""
    return any(_says_same(word, one) for one in _said(event))


def is_in_other_state(word: str, event: Event) -> bool:
    """Whether a record says that it is in another state than the word: of `open bugs` one that was fixed."""
    states = set(filter(None, map(_state, _said(event))))
    return bool(_state(word)) and bool(states) and _state(word) not in states


def _said(event: Event) -> list[str]:
    of_type = event.type.rpartition(".")[2].replace("_", " ")
    fields = (event.payload or {}).items()
    return [of_type, *[value for name, value in fields if name in SAYS_STATE and isinstance(value, str)]]


@lru_cache(4096)
def _says_same(word: str, said: str) -> bool:
    if (state := _state(word)) and _state(said) == state:
        return True
    plain, own = folded(word), frozenset(words(word))
    return bool(own and own <= frozenset(words(said))) or plain[:ALIKE_LETTERS] == folded(said)[:ALIKE_LETTERS]


@lru_cache(4096)
def _state(text: str) -> str:
    plain = folded(text.strip())
    if CANCELLED.match(plain):
        return "cancelled"
    if _OPEN.fullmatch(plain):
        return OPEN
    return state_of_value(text) or (DONE if _SUCCEEDED.fullmatch(plain) else "")
