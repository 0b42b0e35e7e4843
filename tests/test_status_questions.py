"""Questions about where things stand find the rows of that state, in many languages, of one topic or of all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remembered import SESSION, decision, fact
from zaxy.api.models import Entity
from zaxy.assemble.standing import has_failed, is_open, states_of_type
from zaxy.memory import Memory
from zaxy.text.status_words import LANGUAGES, state_of_value, status_words

OF_VINEYARD: dict[str, tuple[str, dict[str, Any]]] = {
    "goal": ("goal.created", {"goal": "Bottle the 2025 Riesling by June"}),
    "old decision": ("decision.made", {"key": "yeast", "decision": "Ferment with bought yeast"}),
    "decision": ("decision.made", {"key": "yeast", "decision": "Ferment with wild yeast", "rationale": "more depth"}),
    "pending": ("decision.made", {"key": "cork", "decision": "Screw caps instead of cork", "status": "proposed"}),
    "done task": ("task.completed", {"task": "Prune the lower terrace"}),
    "task": ("task.proposed", {"task": "Order bottles", "owner": "Mina"}),
    "blocked task": (
        "task.claimed",
        {"task": "Label the bottles", "status": "blocked", "blocked_by": "no label print"},
    ),
    "solved issue": ("issue.diagnosed", {"issue": "The press leaks oil", "status": "resolved"}),
    "issue": ("issue.diagnosed", {"issue": "Tank 4 does not cool below 18 °C"}),
    "passed later": ("verification.recorded", {"name": "sulphur test", "result": "failed"}),
    "passed": ("verification.recorded", {"name": "sulphur test", "result": "passed"}),
    "failed": ("verification.recorded", {"name": "seal test", "result": "failed: two of ten corks let air in"}),
    "handoff": ("handoff.created", {"summary": "Back on Monday", "next_steps": ["rack tank 2", "call the printer"]}),
    "checkpoint": ("hook.checkpoint", {"summary": "Stopped halfway through the cellar inventory", "trigger": "stop"}),
    "plain stop": ("hook.stop", {"trigger": "stop"}),
    "fact": ("fact.recorded", {"fact": "The vineyard has eleven terraces"}),
}
ASKED = {
    "en": "what did we decide?|what is blocking us?|what is still open?|where were we?|what's next?|what failed?",
    "de": "Was haben wir entschieden?|Was blockiert uns?|Was ist noch offen?|Wo waren wir stehen geblieben?"
    "|Was kommt als Nächstes?|Was ist fehlgeschlagen?",
    "fr": "Qu'avons-nous décidé ?|Qu'est-ce qui nous bloque ?|Qu'est-ce qui reste en suspens ?|Où en étions-nous ?"
    "|Qu'est-ce qu'il y a à faire ensuite ?|Qu'est-ce qui a échoué ?",
    "es": "¿Qué decidimos?|¿Qué nos está bloqueando?|¿Qué queda pendiente?|¿Dónde nos quedamos?|¿Qué sigue ahora?"
    "|¿Qué falló?",
    "it": "Che cosa abbiamo deciso?|Che cosa ci blocca?|Che cosa è ancora in sospeso?|Dove eravamo rimasti?"
    "|Qual è il prossimo passo?|Che cosa è andato storto?",
    "pt": "O que decidimos?|O que nos está a bloquear?|O que ainda está pendente?|Onde ficámos?|O que vem a seguir?"
    "|O que falhou?",
    "nl": "Wat hebben we besloten?|Wat blokkeert ons?|Wat staat er nog open?|Waar waren we gebleven?"
    "|Wat is de volgende stap?|Wat is er mislukt?",
    "pl": "Co ustaliliśmy?|Co nas blokuje?|Co jest jeszcze otwarte?|Na czym stanęliśmy?|Co dalej?|Co się nie udało?",
    "ru": "Что мы решили?|Что нас блокирует?|Что ещё осталось открытым?|На чём мы остановились?"
    "|Что дальше?|Что не удалось?",
    "tr": "Ne karar verdik?|Bizi ne engelliyor?|Hâlâ açık olan ne var?|Nerede kalmıştık?|Sırada ne var?"
    "|Ne başarısız oldu?",
    "ja": "何を決めましたか？|何がブロックしていますか？|まだ未解決のものは何ですか？"
    "|どこまで進みましたか？|次は何ですか？|何が失敗しましたか？",
    "zh": "我们决定了什么？|什么阻碍了我们？|还有什么未解决？|我们上次做到哪里了？|下一步是什么？|什么失败了？",
    "ko": "우리가 뭘 결정했지?|뭐가 막고 있어?|아직 미해결인 것은 뭐야?|어디까지 했지?|다음은 뭐야?|뭐가 실패했어?",
    "sv": "Vad bestämde vi?|Vad hindrar oss?|Vad är fortfarande olöst?|Var var vi någonstans?"
    "|Vad är nästa steg?|Vad misslyckades?",
}
STATES = ("decided", "blocked", "open", "left_off", "next", "failed")
ANSWERS = {
    "decided": ["decision"],
    "blocked": ["failed", "issue", "blocked task"],
    "open": ["failed", "issue", "blocked task", "task", "pending"],
    "left_off": ["checkpoint", "handoff"],
    "next": ["handoff", "blocked task", "task", "goal"],
    "failed": ["failed", "issue"],
}
"""By state: the rows that answer, in their order; of `left_off` the first ones."""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        yield opened


@pytest.fixture(scope="module")
def vineyard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, dict[int, str]]]:
    with Memory.open(tmp_path_factory.mktemp("vineyard")) as opened:
        yield opened, record(opened, OF_VINEYARD)


def record(memory: Memory, events: dict[str, tuple[str, dict[str, Any]]]) -> dict[int, str]:
    """The names of events by their numbers."""
    return {
        memory.append(event_type, payload, actor="ada", session=SESSION).seq: name
        for name, (event_type, payload) in events.items()
    }


def facts(memory: Memory, question: str, names: dict[int, str]) -> list[str]:
    found = memory.checkout(question, SESSION).as_dict()["current_facts"]
    return [names[memory.resolve(one["citation"]).seq] for one in found]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("language", ASKED)
def test_a_question_about_a_state_finds_the_rows_of_that_state(
    vineyard: tuple[Memory, dict[int, str]], language: str, state: str
) -> None:
    question = ASKED[language].split("|")[STATES.index(state)]
    found = facts(vineyard[0], question, vineyard[1])
    assert found[: len(ANSWERS[state])] == ANSWERS[state]
    assert state == "left_off" or len(found) == len(ANSWERS[state])
    assert not {"old decision", "done task", "solved issue", "passed later", "plain stop"} & set(found)


def test_every_language_is_asked_in() -> None:
    assert set(LANGUAGES) == set(ASKED)


TOPICS = {
    "what is open on the bottles?": ["blocked task", "task"],
    "what did we decide about the yeast?": ["decision"],
    "what is blocking the labels?": ["blocked task"],
    "is the pruning of the lower terrace done?": ["done task"],
    "was the oil leak of the press fixed?": ["solved issue"],
    "Was ist noch offen bei Tank 4?": ["issue"],
    "what's next for tank 2?": ["handoff"],
    "which decisions are still open?": ["pending"],
    "what are our goals?": ["goal"],
    "which tasks are open?": ["blocked task", "task"],
    "what have we finished?": ["solved issue", "done task"],
}


@pytest.mark.parametrize("question", TOPICS)
def test_with_a_topic_the_rows_stand_first_whose_words_fit(
    vineyard: tuple[Memory, dict[int, str]], question: str
) -> None:
    assert facts(vineyard[0], question, vineyard[1])[: len(TOPICS[question])] == TOPICS[question]


@pytest.mark.parametrize(
    "question",
    [
        "how do we treat an open tank door?",
        "who decided on the terraces?",
        "when is the next delivery of crates?",
        "what did we decide about the forklift?",
        "what is open on the forklift?",
    ],
)
def test_what_no_row_of_the_state_fits_is_an_ordinary_question(
    vineyard: tuple[Memory, dict[int, str]], question: str
) -> None:
    assert vineyard[0].checkout(question, SESSION).quality.answerability != "answer_from_memory"


def test_a_status_answer_is_marked_cited_and_in_sentences(vineyard: tuple[Memory, dict[int, str]]) -> None:
    reply = vineyard[0].checkout("what did we decide?", SESSION).as_dict()
    (found,) = reply["current_facts"]
    assert found["content"] == "Ferment with wild yeast. Rationale: more depth"
    assert reply["quality"]["answerability"] == "answer_from_memory"
    assert f'- answers: "{found["content"]}" (decision by ada, ' in reply["prompt"]


def test_the_rows_are_bounded_and_the_newest_come_first(memory: Memory) -> None:
    for number in range(20):
        decision(memory, f"Plant row {number} with Silvaner")
    found = memory.checkout("what did we decide?", SESSION).as_dict()["current_facts"]
    assert [one["content"].split()[2] for one in found] == ["19", "18", "17", "16", "15", "14"]


def test_an_old_row_of_the_topic_is_found_among_many(memory: Memory) -> None:
    old = decision(memory, "The well pump runs at night only")
    for number in range(300):
        decision(memory, f"Plant row {number} with Silvaner")
    found = memory.checkout("what did we decide about the well pump?", SESSION).as_dict()["current_facts"]
    assert memory.resolve(found[0]["citation"]).seq == old.seq


INVENTED = {
    "blocker": ("blocker.raised", {"what": "the harvester", "why": "no driver until Friday"}),
    "opened": ("incident.opened", {"id": "INC-1", "title": "Hail over the upper terrace"}),
    "reopened": ("incident.opened", {"id": "INC-2", "title": "Wasps at the gate"}),
    "closed": ("incident.closed", {"id": "INC-1", "text": "nets are up"}),
    "summary": ("session.summarised", {"summary": "We had sorted half of the crates"}),
}


def test_types_that_users_invent_have_states_too(memory: Memory) -> None:
    names = record(memory, INVENTED)
    assert facts(memory, "what is blocking us?", names) == ["blocker"]
    assert facts(memory, "what is open?", names) == ["reopened", "blocker"]
    assert facts(memory, "where were we?", names)[:1] == ["summary"]


def test_a_status_that_somebody_wrote_in_another_language_counts(memory: Memory) -> None:
    for status in ("erledigt", "terminé", "完了", "offen"):
        payload = {"issue": f"The gate squeaks {status}", "status": status}
        memory.append("issue.diagnosed", payload, actor="ada", session=SESSION)
    found = memory.checkout("what is open?", SESSION).as_dict()["current_facts"]
    assert [one["content"] for one in found] == ["The gate squeaks offen. Status: offen"]


def test_where_no_row_fits_a_question_of_what_is_next_the_last_handoff_is_shown_beside(memory: Memory) -> None:
    fact(memory, "The drive arrives with the morning post")
    payload = {"summary": "Away until Thursday", "next_steps": ["slide the disk into bay 3"]}
    handoff = memory.append("handoff.created", payload, actor="theo", session=SESSION)
    reply = memory.checkout("what is to be done once the replacement drive arrives?", SESSION).as_dict()
    assert f"events/{handoff.seq}#" in str(reply["evidence"])
    assert f"events/{handoff.seq}#" not in str(reply["current_facts"])


# Words and states


@pytest.mark.parametrize(
    ("value", "state"),
    [("failed", "failed"), ("Fehlgeschlagen: 3 von 9", "failed"), ("0 failed", ""), ("passed", ""), ("hecho", "done")],
)
def test_a_value_begins_with_its_state(value: str, state: str) -> None:
    assert state_of_value(value) == state


@pytest.mark.parametrize(
    ("properties", "summary", "failed"),
    [
        ({"result": "failed"}, "", True),
        ({"result": "passed"}, "the drill that failed before", False),
        ({"exit_code": 1}, "", True),
        ({"exit_code": 0}, "", False),
        ({}, "restore drill: 3 failed", True),
        ({}, "557 passed, 0 failed", False),
    ],
)
def test_a_check_fails_by_its_result_its_exit_code_or_its_words(
    properties: dict[str, object], summary: str, failed: bool
) -> None:
    assert has_failed(Entity("drill", "verification", summary, properties)) is failed


@pytest.mark.parametrize("status", ["", "in progress", "open", "blocked", "offen"])
def test_what_has_no_status_of_an_end_is_open(status: str) -> None:
    assert is_open(Entity("a", "task", "a", {"status": status}))


def test_a_type_names_its_states() -> None:
    assert states_of_type("task.blocked") >= {"blocked"}
    assert states_of_type("incident.opened") >= {"open"}
    assert states_of_type("blocker.cleared") == frozenset()
    assert states_of_type("receipt.scanned") == frozenset()


def test_what_is_left_of_a_question_is_its_topic() -> None:
    assert status_words("What is still open on the crane?").rest.split() == ["what", "is", "on", "the", "crane?"]
    assert "balkonkraftwerk" in status_words("Was haben wir beim Balkonkraftwerk beschlossen?").rest
    assert status_words("Who owns the billing service?").states == frozenset()
