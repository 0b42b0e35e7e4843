"""The kinds of things that people ask memory to remember: the type of event for each, and the words that show it.

The hot commands load this, so it imports next to nothing.
"""

from __future__ import annotations

from zaxy.tuples import NamedTuple


class Kind(NamedTuple):
    event_type: str
    field: str
    """The field of the payload that holds the sentence."""
    begins: tuple[str, ...] = ()
    """Words at the beginning of a sentence that show the kind."""


FACT = "fact"
KINDS = {
    "decision": Kind(
        "decision.made",
        "decision",
        (
            "we decided",
            "we have decided",
            "i decided",
            "i have decided",
            "it was decided",
            "we agreed",
            "decided",
            "wir haben entschieden",
            "wir haben beschlossen",
            "wir haben uns entschieden",
            "beschlossen",
            "nous avons décidé",
            "on a décidé",
            "hemos decidido",
            "decidimos",
            "abbiamo deciso",
            "decidimos",
            "мы решили",
            "决定",
            "我们决定",
        ),
    ),
    "preference": Kind(
        "user.preference_changed",
        "preference",
        (
            "i prefer",
            "we prefer",
            "i like",
            "i want",
            "i don't like",
            "i do not like",
            "i hate",
            "please always",
            "please never",
            "always",
            "never",
            "prefer",
            "ich bevorzuge",
            "ich mag",
            "ich möchte",
            "bitte immer",
            "bitte nie",
            "je préfère",
            "j'aime",
            "prefiero",
            "me gusta",
            "preferisco",
            "prefiro",
            "я предпочитаю",
            "我喜欢",
        ),
    ),
    "task": Kind(
        "task.proposed",
        "task",
        (
            "todo",
            "to do",
            "to-do",
            "remind me to",
            "we need to",
            "i need to",
            "we must",
            "i must",
            "we should",
            "wir müssen",
            "ich muss",
            "aufgabe",
            "il faut",
            "nous devons",
            "tarea",
            "tâche",
            "tenemos que",
            "надо",
            "待办",
        ),
    ),
    "goal": Kind("goal.created", "goal", ("our goal", "the goal is", "my goal", "das ziel", "unser ziel", "ziel")),
    "issue": Kind("issue.diagnosed", "issue", ("bug", "problem", "fehler", "the cause is", "the cause was")),
    "verification": Kind("verification.recorded", "verification"),
    "handoff": Kind("handoff.created", "handoff"),
    FACT: Kind("fact.recorded", "fact"),
}


def kind_of(sentence: str) -> str:
    """The kind that a sentence plainly is, by how it begins; else a fact."""
    begin = sentence.casefold().lstrip()
    for name, kind in KINDS.items():
        if begin.startswith(f"{name}:") or any(_begins(begin, words) for words in kind.begins):
            return name
    return FACT


def _begins(sentence: str, words: str) -> bool:
    """Whether it begins with these words, whole ones; in writing without spaces any letter may follow."""
    after = sentence[len(words) : len(words) + 1]
    return sentence.startswith(words) and (not after.isalpha() or ord(words[-1]) > LAST_SPACED)


LAST_SPACED = 0x2E7F
"""Above it are the scripts that write words without spaces between them."""


def payload_of_kind(kind: str, sentence: str, key: str = "") -> dict[str, object]:
    """The payload of an event that says the sentence. A label such as `Decision:` is left out."""
    label, mark, rest = sentence.partition(":")
    said = rest.strip() if mark and label.strip().casefold() == kind and rest.strip() else sentence.strip()
    return {KINDS[kind].field: said, **({"key": key} if key else {})}
