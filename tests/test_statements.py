"""What asks for information is told apart from what tells, in every language that words are stemmed in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
import Stemmer
from hypothesis import given, settings, strategies as st

from zaxy.text.asking_words import ASKING
from zaxy.text.statements import asked, hide, marked_questions, stated, without

CASES = Path(__file__).parent / "corpus" / "asking"
WRITTEN, TYPED, LATER = CASES / "sentences.txt", CASES / "typed.txt", CASES / "later.txt"
"""As in mails and messages, and as people type to an agent: mostly without a mark."""
BOTH = pytest.mark.parametrize("path", [WRITTEN, TYPED], ids=["written", "typed"])


class Case(NamedTuple):
    language: str
    asks: bool
    text: str
    unseen: bool


def cases(path: Path = WRITTEN) -> list[Case]:
    found: list[Case] = []
    language = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            language = line.strip("[]")
        elif line[:2] in ("? ", ". "):
            asks = line[0] == "?"
            place = sum(case.language == language and case.asks is asks for case in found)
            found.append(Case(language, asks, line[2:], place % 2 == 1))
    return found


class Figures(NamedTuple):
    precision: float
    recall: float
    right: float


def figures(chosen: Sequence[Case]) -> Figures:
    """Of what is taken for a question, how much is one; of the questions, how many are taken for one."""
    judged = [(case.asks, not stated(case.text)) for case in chosen]
    both, taken, asking = (
        sum(asks and judgement for asks, judgement in judged),
        sum(judgement for _, judgement in judged),
        sum(asks for asks, _ in judged),
    )
    right = sum(asks == judgement for asks, judgement in judged)
    return Figures(both / max(taken, 1), both / max(asking, 1), right / len(judged))


@BOTH
def test_english_that_was_never_looked_at_is_judged_right_in_19_of_20_cases(path: Path) -> None:
    assert figures([case for case in cases(path) if case.unseen and case.language == "english"]).right >= 0.95


@BOTH
def test_all_languages_that_were_never_looked_at_are_judged_right_in_9_of_10_cases(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    halves = {unseen: [case for case in cases(path) if case.unseen is unseen] for unseen in (False, True)}
    with capsys.disabled():
        for unseen, half in halves.items():
            found = figures(half)
            print(
                f"\n{'unseen' if unseen else 'seen'}: {len(half)} cases, {found.precision:.1%} of what is taken for a "
            )
            print(f"question is one, {found.recall:.1%} of the questions are found")
    assert min(figures(halves[True])) >= 0.9


def test_no_language_that_is_typed_is_far_behind_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    by_language: dict[str, list[Case]] = {}
    for case in cases(TYPED):
        by_language.setdefault(case.language, []).append(case)
    unseen = {language: figures([case for case in each if case.unseen]) for language, each in by_language.items()}
    with capsys.disabled():
        print("\nprecision and recall of what was typed, by language: seen, unseen")
        for language, each in by_language.items():
            seen = figures([case for case in each if not case.unseen])
            rest = unseen[language]
            print(f"{language:12} {seen.precision:.2f} {seen.recall:.2f}  {rest.precision:.2f} {rest.recall:.2f}")
    assert min(min(found) for found in unseen.values()) >= 0.75


def test_what_was_written_after_the_rules_is_judged_right_in_19_of_20_cases() -> None:
    """All of it was looked at since: this holds what was reached."""
    assert min(figures(cases(LATER))) >= 0.95


@BOTH
def test_there_are_enough_cases_in_enough_languages(path: Path) -> None:
    found = cases(path)
    assert sum(case.asks for case in found) >= 150
    assert sum(not case.asks for case in found) >= 150
    assert len({case.language for case in found}) >= 12


def test_every_language_that_has_a_stemmer_has_words_of_asking_and_none_more_than_60() -> None:
    languages = {name.removesuffix("_porter").replace("porter", "english") for name in Stemmer.algorithms()}
    unstemmed = {"chinese", "hebrew", "japanese", "korean", "thai", "ukrainian", "vietnamese"}
    assert languages | unstemmed == set(ASKING)
    assert max(map(len, ASKING.values())) <= 60


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("We moved staging to port 9443, can you check it?", "We moved staging to port 9443,"),
        ("The ledger moved to Basel in May; who approved that?", "The ledger moved to Basel in May;"),
        ("We moved staging to 9443, tell me whether it works", "We moved staging to 9443,"),
        ("What I drink is rooibos, could somebody bring more?", "What I drink is rooibos,"),
        ("Which port? It is 9443.", "It is 9443."),
        ("We moved staging to Basel, why?", "We moved staging to Basel,"),
        ("Is it done? Yes.", "Yes."),
        ("Q: Which port does staging use?\nA: 9443", "A: 9443"),
        ("我们把测试环境移到9443端口了，能检查一下吗？", "我们把测试环境移到9443端口了，"),
        ("ステージングは9443に移しました、確認してもらえますか？", "ステージングは9443に移しました、"),
    ],
)
def test_a_text_that_tells_and_asks_keeps_what_it_tells(text: str, kept: str) -> None:
    assert stated(text) == kept
    assert asked(text)
    assert asked(text) not in kept


@pytest.mark.parametrize(
    "text",
    [
        "If the deploy fails, what port does staging use?",
        "Hi Bob,\nwhich port does staging use?\nThanks",
        "can you tell me which port\nthe staging server uses?",
        '"Which port does staging use?"',
        "Staging is on 9443, right?",
        "Որտե՞ղ են պահուստները։",
        "証明書の期限は、いつですか",
        "Zweitschlüssel für die Wohnung, wo?",
        "NAS disk swap: where are we?",
        "Just after the move, how many boxes were left?",
        "wo zweitschlüssel",
        "toplantı kaçta",
        "上次谁修的",
        "geldi mi",
        "ist die Tür zu",
        "weißt du noch wie er heißt",
        "napisz mi, kiedy przychodzi kominiarz",
    ],
)
def test_what_leads_to_a_question_is_part_of_it(text: str) -> None:
    assert stated(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Staging moved to 9443 (why?) in May.",
        "val name: String? = null",
        "x = ready ? first : second",
        "We use tabs, ok?",
        "The page is at https://example.org/?q=who and works.",
        "```\nwhat is it?\n```",
        "## What is new in 2.1\nFaster.",
        'He asked "which port?" and I said 9443.',
        "Remember: what is in prod is 2.1",
        "静か。",
        "Kim approved the budget",
        "come home by six",
        "Na stole leży klucz",
        "So chi ha rotto il vaso",
        "Ich weiß, wer die Vase zerbrochen hat",
        "no idea why",
        "keine ahnung wann",
        "was wir brauchen ist ein neuer Filter",
        "rendez-vous chez le dentiste mardi",
        "recuérdame comprar leche",
        "Marko tulee huomenna",
        "Wo: Basel",
        "Lantern: licence is MIT",
        "A carbon-fibre brush and a proper cleaning kit",
        "Quelle belle soirée !",
    ],
)
def test_what_only_looks_like_a_question_is_kept(text: str) -> None:
    assert stated(text) == text
    assert asked(text) == ""


def test_in_a_document_only_a_question_mark_makes_a_question() -> None:
    page = "What is new in the ledger\n\nTell me more is a button.\n\n## Is it fast?\n\nYes, it is."
    assert without(page, marked_questions(page)) == (
        "What is new in the ledger\n\nTell me more is a button. Yes, it is."
    )


def test_a_long_text_takes_no_longer_than_its_parts() -> None:
    """A text of quotation marks, brackets and question marks that match nothing is no trap."""
    traps = ('"(' * 40_000, "what is it " * 10_000, "? " * 40_000, "，" * 40_000, "ใคร" * 20_000, "谁" + "a" * 40_000)
    for text in (*traps, "kaç" + "dığ" * 20_000, "est-" * 20_000, "quando " * 10_000, "wo " * 20_000):
        assert stated(text) is not None


@given(st.text('`"“”«»„「」()ab \n-*>', max_size=30))
@settings(max_examples=400)
def test_the_same_is_hidden_whether_a_link_follows_or_not(text: str) -> None:
    assert hide(f"{text}\nsee x://y").startswith(f"{hide(text)}\n") or "```" in text
    assert hide(text) == text or set('`"“«„「') & set(text)
