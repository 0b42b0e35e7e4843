"""What recall finds besides the very words: other forms of them, what stands close together, and what is so now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from zaxy.memory import Memory

SESSION = "work"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as memory:
        yield memory


def say(memory: Memory, *texts: str) -> None:
    for text in texts:
        memory.append("note.taken", {"text": text}, actor="ann", session=SESSION)


def found(memory: Memory, question: str, **options: int) -> list[str]:
    return [result.content for result in memory.query(question, session=SESSION, **options).results]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Was ist mit den Schlüsseln passiert?", "Der Schlüssel liegt bei der Nachbarin."),
        ("Kto odnawia ścianę?", "Marek w sobotę maluje ściany na zielono."),
        ("toplantılarda kim konuşacak", "Toplantı salı günü, Ayşe konuşuyor."),
        ("¿Quién llevaba los documentos?", "La documentación la llevaba Lucía."),
        ("Vem lagade kylkompressorn?", "Kompressorn har fått nytt lager i lördags."),
        ("Wann kommt die Heizungswartung?", "Die Wartung ist am dritten März."),
        ("猫に薬を飲ませる", "薬は五日分もらいました。"),
    ],
)
def test_a_word_that_no_passage_has_is_found_in_another_form(memory: Memory, question: str, told: str) -> None:
    say(memory, "Lunch is at noon.", told, "The blue lamp is broken again.")
    assert told in found(memory, question)[0]


def test_a_word_with_another_digit_is_another_word(memory: Memory) -> None:
    say(memory, "Ticket shelf10043 is closed.", "Lunch is at noon.")
    assert found(memory, "shelf10044") == []


def test_a_beginning_that_very_many_have_is_not_looked_for(memory: Memory) -> None:
    rows = [("note.taken", {"text": f"lantern{chr(97 + n % 26)}{chr(97 + n // 26)} hangs"}) for n in range(300)]
    for event_type, payload in rows:
        memory.append(event_type, payload, actor="ann", session=SESSION)
    say(memory, "The quartz is in the cellar.")
    assert "quartz" in found(memory, "lanternzzz quartz")[0]
    assert len(found(memory, "lanternzzz quartz", limit=50)) < 50


def test_what_was_known_then_is_asked_by_the_words_of_then(memory: Memory) -> None:
    """A later form of a word changes nothing in the answer of before."""
    say(memory, "Die Wartung ist am dritten März.", "Lunch is at noon.")
    before = memory.query("Wartungen im Keller", session=SESSION).results
    say(memory, "Wartungen kosten neunzig Euro.", "Wartungsfrei ist nichts.")
    after = memory.query("Wartungen im Keller", session=SESSION, known_at=2).results
    assert [(row.citation, row.score) for row in after] == [(row.citation, row.score) for row in before]


def test_words_that_stand_together_come_before_words_far_apart(memory: Memory) -> None:
    filling = "A guest of the hotel lost his umbrella, an aunt found a coin, and rain fell on twelve yellow tents. "
    apart = f"The harbour harbour was shut. {filling * 3} They painted, painted. {filling * 3} The crane crane, sold."
    together = "Our people from the dock next door, who had two days and no ladder, painted the harbour crane red."
    say(memory, apart, together)
    assert found(memory, "who painted the harbour crane?")[0] == together


def test_a_step_of_the_score_says_how_close_together_the_words_stand(memory: Memory) -> None:
    say(memory, "The harbour crane was painted red.", "Lunch is at noon.")
    result = memory.query("harbour crane", session=SESSION).results[0]
    steps = {step.lane: step for step in result.steps}
    assert steps["closeness"].raw == 1.0
    assert result.score == pytest.approx(sum(step.weighted for step in result.steps))


def test_a_task_that_is_found_by_its_title_comes_with_what_became_of_it(memory: Memory) -> None:
    proposed = {"id": "OPS-88", "title": "Swap the batteries in Borås"}
    memory.append("task.proposed", proposed, actor="ann", session=SESSION)
    say(memory, "Lunch is at noon.")
    done = memory.append("task.completed", {"id": "OPS-88", "outcome": "new string in"}, actor="bob", session=SESSION)
    results = memory.query("are the batteries in Borås swapped?", session=SESSION).results
    assert results[0].citation == done.citation
    assert "new string in" in results[0].content
    assert len([result for result in results if result.seq == done.seq]) == 1


def test_a_decision_that_was_replaced_by_key_is_found_as_what_holds_now(memory: Memory) -> None:
    first = {"key": "store", "decision": "Orders are kept in Postgres."}
    memory.append("decision.made", first, actor="ann", session=SESSION)
    now = memory.append("decision.made", {"key": "store", "decision": "DuckDB it is."}, actor="ann", session=SESSION)
    answer = memory.query("where are orders kept?", session=SESSION)
    assert [result.citation for result in answer.results] == [now.citation]
    assert len(answer.superseded) == 1


def test_a_row_that_lacks_the_name_asked_for_is_a_weaker_answer(memory: Memory) -> None:
    fact = {"subject": "Kestrel", "relation": "upstream timeout", "value": "30 seconds in production"}
    memory.append("fact.recorded", fact, actor="ann", session=SESSION)
    say(memory, "Magpie was restarted on Tuesday.", "Lunch is at noon.", "The blue lamp is broken.")
    own, other = (
        memory.checkout(f"What is the upstream timeout of {name} in production?", SESSION).as_dict()
        for name in ("Kestrel", "Magpie")
    )
    figures = [reply["diagnostics"]["judgement"]["figures"]["other_name"] for reply in (own, other)]
    assert figures == [0.0, 1.0]
    assert other["quality"]["confidence"] < own["quality"]["confidence"]
