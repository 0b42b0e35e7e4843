"""`zaxy checkout` and `zaxy memory ...`, as a person or a script runs them, and the page of a checkout."""

from __future__ import annotations

import copy
import json
import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Zaxy
from folders import made_folder
from zaxy.assemble import judgement
from zaxy.memory import Memory
from zaxy.terminal.checkout_page import checkout_page, command_line
from zaxy.terminal.screen import cells, plain, wrapped

Append = Callable[..., str]
ESCAPE = "\x1b"
CITED_BY_LENGTH = "eventloom://"


@pytest.fixture
def append(zaxy: Zaxy, tmp_path: Path) -> Append:
    """Append an event where the commands will look, without a process of its own; its citation."""

    def write(event_type: str, session: str = "", **payload: object) -> str:
        with Memory.open(made_folder(tmp_path / "here")) as memory:
            return memory.append(event_type, payload, actor="ada", session=session).citation

    return write


def replied(zaxy: Zaxy, *arguments: str) -> dict[str, Any]:
    done = zaxy(*arguments, "--json")
    assert done.returncode == 0, done.stderr + done.stdout
    reply = json.loads(done.stdout)
    assert isinstance(reply, dict)
    return reply


def of_memory(tmp_path: Path, ask: Callable[[Memory], dict[str, Any]]) -> dict[str, Any]:
    """What Memory itself gives, as JSON carries it."""
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        reply = json.loads(json.dumps(ask(memory)))
    assert isinstance(reply, dict)
    return reply


def without_head(reply: dict[str, Any]) -> dict[str, Any]:
    """Without what each checkout changes by being recorded itself."""
    kept = copy.deepcopy(reply)
    kept["retention"].pop("known_to_seq")
    return {key: value for key, value in kept.items() if key != "tokens_used"}


def on_a_terminal(here: Path, *arguments: str, **env: str) -> str:
    """What the command prints on a real pseudo-terminal."""
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "80", **env}
    command = [sys.executable, "-m", "zaxy", *arguments]
    with subprocess.Popen(command, cwd=here, env=environ, stdout=follower, stderr=subprocess.DEVNULL) as process:
        os.close(follower)
        shown = b""
        try:
            while part := os.read(leader, 65536):
                shown += part
        except OSError:  # how Linux tells that the other end has closed
            pass
        os.close(leader)
    assert process.returncode == 0
    return shown.decode()


# The command


def test_the_json_is_what_memory_itself_gives(zaxy: Zaxy, append: Append, tmp_path: Path) -> None:
    append("fact.recorded", key="port", fact="the server port is 8080")
    append("fact.recorded", key="port", fact="the server port is 9090")
    reply = replied(zaxy, "checkout", "which server port?")
    assert reply["quality"]["answerability"] == "answer_from_memory"
    expected = of_memory(tmp_path, lambda memory: memory.checkout("which server port?").as_dict())
    assert without_head(reply) == without_head(expected)


def test_checkout_has_two_names(zaxy: Zaxy, append: Append) -> None:
    append("fact.recorded", key="port", fact="the server port is 8080")
    short, long = (zaxy(*words, "which server port?") for words in (("checkout",), ("memory", "checkout")))
    assert (short.returncode, long.returncode) == (0, 0)
    assert short.stdout == long.stdout


def test_every_option_reaches_memory(zaxy: Zaxy, append: Append, tmp_path: Path) -> None:
    citation = append("decision.made", "work", key="port", decision="the server port is 8080")
    assert zaxy("refs", "update", "refs/heads/before", citation).returncode == 0
    append("decision.made", "work", key="port", decision="the server port is 9090")
    options = ("--ref", "refs/heads/before", "--limit", "4", "--max-recent-events", "1", "--replay-from-seq", "1")
    purpose = {"preset": "coding", "task": "open the port"}
    asked = ("which server port?", "--session-id", "work", *options, "--purpose", json.dumps(purpose))
    reply = replied(zaxy, "checkout", *asked, "--max-tokens", "1500")
    expected = of_memory(
        tmp_path,
        lambda memory: memory.checkout(
            "which server port?",
            "work",
            ref="refs/heads/before",
            replay_from_seq=1,
            limit=4,
            max_recent_events=1,
            purpose=purpose,
            max_tokens=1500,
        ).as_dict(),
    )
    assert without_head(reply) == without_head(expected)
    assert reply["current_facts"][0]["content"] == "the server port is 8080"
    assert reply["tokens_used"] <= 1500
    assert (
        replied(zaxy, "checkout", "port", "--session-id", "work", "--purpose", "review")["purpose"]["preset"]
        == "review"
    )


def test_a_page_tells_verdict_fact_source_state_and_what_to_do_next(zaxy: Zaxy, append: Append) -> None:
    append("decision.made", key="sessions", decision="Keep login sessions in Redis")
    citation = append("decision.made", key="sessions", decision="Keep login sessions in Postgres")
    append("task.proposed", task="Measure the payments")
    lines = zaxy("checkout", "where do we keep login sessions?", COLUMNS="100").stdout.splitlines()
    assert re.fullmatch(r"Memory answers this: answer_from_memory, confidence 0\.[89]\d\.", lines[0])
    assert "  Retrieved current facts with Eventloom citations." in lines
    fact = lines.index("  Keep login sessions in Postgres")
    short = citation[: -(64 - 12)]
    assert lines[fact + 1].startswith("    decision by ada, 20") and lines[fact + 1].endswith(f" UTC  {short}")
    assert lines[fact + 2] == "    before: Keep login sessions in Redis"
    assert lines[fact + 3].startswith("      eventloom://")
    assert lines[fact + 4] == "  Left out: 1 superseded."
    assert "  tasks      Measure the payments. Status: proposed" in lines
    assert f'    zaxy show "{short}"' in lines


def test_the_commands_that_a_page_proposes_work(zaxy: Zaxy, append: Append) -> None:
    append("fact.recorded", fact='the "main" server\'s port is $PORT')
    shown = zaxy("checkout", "which port has the main server?").stdout
    typed = [shlex.split(line) for line in shown.splitlines() if line.startswith("    zaxy ")]
    assert [words[1] for words in typed] == ["show", "memory"]
    for words in typed:
        done = zaxy(*words[1:])
        assert done.returncode == 0, done.stderr
    unknown = zaxy("checkout", "who designs the logo?").stdout
    (recording,) = [shlex.split(line) for line in unknown.splitlines() if line.startswith("    zaxy ")]
    assert zaxy(*recording[1:]).returncode == 0


def test_what_nobody_recorded_is_to_be_asked(zaxy: Zaxy, append: Append) -> None:
    append("fact.recorded", fact="the server port is 8080")
    done = zaxy("checkout", "who designs the logo?")
    assert done.returncode == 0
    assert done.stdout.startswith("Memory does not know: ask_user, confidence 0.0")
    assert "Ask somebody who knows instead of guessing" in done.stdout
    assert "\nFacts\n" not in done.stdout


def test_facts_that_disagree_are_shown_as_a_conflict_once(zaxy: Zaxy, append: Append) -> None:
    append("fact.recorded", fact="the server port number is 8080")
    append("fact.recorded", fact="the server port number is 9090")
    shown = zaxy("checkout", "what is the server port number?").stdout
    assert shown.startswith("Read what is below before you answer: refresh_recommended")
    section = shown.partition("\nConflicts\n")[2].partition("\n\n")[0]
    assert "- the server port number is 8080" in section and "- the server port number is 9090" in section
    assert section.count(CITED_BY_LENGTH) == 2
    assert "\nWarnings\n" not in shown
    assert "To settle it, append what is so" in shown


def test_a_warning_is_on_the_page(zaxy: Zaxy, append: Append, tmp_path: Path) -> None:
    for number in range(4):
        append("note.taken", text=f"lamp {number}")
    zaxy("query", "lamp")
    (log,) = tmp_path.rglob("here-default.jsonl")
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:2]))
    shown = " ".join(zaxy("checkout", "lamp").stdout.split())
    assert "Warnings warning: " in shown and "zaxy followers rebuild" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("checkout", ""), 2, "Ask with a few words"),
        (("checkout", "lamp", "--purpose", "fun"), 2, "The presets are general, coding"),
        (("checkout", "lamp", "--purpose", '{"preset"'), 2, "the purpose is not JSON"),
        (("checkout", "lamp", "--purpose", '{"colour": "red"}'), 2, "a purpose has no field"),
        (("checkout", "lamp", "--ref", "refs/heads/none"), 1, "has no ref"),
        (("checkout", "lamp", "--session-id", "nobody"), 1, "there is no session nobody"),
        (("checkout", "lamp", "--limit", "0"), 2, "limit"),
        (("memory", "feedback", "lamp", "--type", "note", "--feedback", "great"), 2, "used, helpful, irrelevant"),
        (
            ("memory", "feedback", "lamp", "--type", "note", "--feedback", "used", "--citation", "x"),
            2,
            "not a citation",
        ),
        (("memory", "skill", "paint", "lamp"), 2, "propose, validate, revise"),
        (("memory", "skill", "propose", "lamp"), 2, "needs procedure or summary"),
        (("memry",), 2, "Did you mean 'zaxy memory'"),
    ],
)
def test_bad_input_is_refused_with_what_to_do(
    zaxy: Zaxy, append: Append, arguments: tuple[str, ...], code: int, said: str
) -> None:
    append("note.taken", text="lamp")
    done = zaxy(*arguments)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr


def test_in_an_empty_folder_it_says_how_to_record_something_and_writes_nothing(zaxy: Zaxy, tmp_path: Path) -> None:
    done = zaxy("checkout", "anything?")
    assert (done.returncode, "zaxy remember" in done.stderr) == (1, True)
    assert list((tmp_path / "here").iterdir()) == []


# Colour and width


def test_the_page_has_no_colour_in_a_pipe(zaxy: Zaxy, append: Append) -> None:
    append("fact.recorded", fact="the server port is 8080")
    shown = zaxy("checkout", "which server port?", TERM="xterm", FORCE_COLOR="1").stdout
    assert shown.startswith("Memory answers this") and ESCAPE not in shown


def test_the_page_has_colour_on_a_terminal_unless_that_is_not_wanted(append: Append, tmp_path: Path) -> None:
    append("fact.recorded", fact="the server port is 8080")
    asked = (tmp_path / "here", "checkout", "which server port?")
    assert f"{ESCAPE}[32mMemory answers this" in on_a_terminal(*asked)
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        shown = on_a_terminal(*asked, **env)
        assert shown.startswith("Memory answers this") and ESCAPE not in shown


@pytest.mark.parametrize(("columns", "widest"), [("60", 60), ("80", 80), ("300", 100)])
def test_text_keeps_within_the_terminal_and_within_100_columns(
    zaxy: Zaxy, append: Append, columns: str, widest: int
) -> None:
    append("fact.recorded", fact=f"the lamp {'shines brightly ' * 20}")
    append("fact.recorded", fact=f"the lamp {'数据库在另一台机器上运行' * 12}")
    append("fact.recorded", fact=f"the lamp {'x' * 250}")
    shown = zaxy("checkout", "the lamp", COLUMNS=columns).stdout
    facts = [line for line in shown.splitlines() if not line.startswith("    zaxy ")]
    assert sum(line.startswith("  ") for line in facts) > 7
    assert max(cells(line) for line in facts if CITED_BY_LENGTH not in line) <= widest
    assert max(cells(line) for line in facts) > widest - 20


def test_recorded_text_cannot_steer_the_terminal(zaxy: Zaxy, append: Append) -> None:
    append("fact.recorded", fact="the lamp \x1b]0;title\x07 is \x1b[31mred\r\nMemory answers this\u202e", key="lamp")
    shown = zaxy("checkout", "which lamp?").stdout
    assert "the lamp ]0;title is [31mred. Memory answers this" in shown
    assert all(letter.isprintable() or letter == "\n" for letter in shown)


def test_lines_break_at_words_and_a_citation_stays_whole() -> None:
    cited = "eventloom://" + "s" * 40 + "/events/1#0123456789ab"
    assert wrapped(f"one two three {cited}", 12, "- ", "  ") == ["- one two", "  three", f"  {cited}"]
    assert wrapped("数据库 x", 8, "  ") == ["  数据库", "  x"]
    assert wrapped("", 10, "  ") == []
    assert plain(" a\n\n b\tc ") == "a · b c"


def test_the_page_is_a_function_of_the_reply_alone(append: Append, tmp_path: Path) -> None:
    append("fact.recorded", fact="the server port is 8080")
    reply = of_memory(tmp_path, lambda memory: memory.checkout("which server port?").as_dict())
    before = copy.deepcopy(reply)
    assert checkout_page(reply, 80, False) == checkout_page(reply, 80, False)
    assert reply == before


@pytest.mark.parametrize("word", ["plain", "two words", 'a "b" c', "$HOME", "it's", "`id`", "a!b", "back\\slash", ""])
def test_a_word_in_a_proposed_command_reaches_the_program_as_it_is(word: str) -> None:
    typed = command_line("printf", "%s|", word)
    done = subprocess.run(["bash", "-c", typed], capture_output=True, text=True, check=True)
    assert done.stdout == f"{word}|"


# The start of a session, feedback and skills


def test_capabilities_are_what_memory_itself_gives(zaxy: Zaxy, append: Append, tmp_path: Path) -> None:
    append("note.taken", text="lamp")
    reply = replied(zaxy, "memory", "capabilities", "--current-task", "mend the lamp")
    assert reply == of_memory(tmp_path, lambda memory: memory.capabilities(current_task="mend the lamp").as_dict())
    page = zaxy("memory", "capabilities", "--current-task", "mend the lamp").stdout
    assert page.startswith("here-default: log ok, 1 events")
    assert 'zaxy checkout "mend the lamp" --session-id here-default' in page


def test_a_bootstrap_is_recorded_and_tells_what_to_trust_and_the_first_call(
    zaxy: Zaxy, append: Append, tmp_path: Path
) -> None:
    append("note.taken", text="lamp")
    expected = of_memory(tmp_path, lambda memory: memory.bootstrap("work", current_task="mend the lamp").as_dict())
    append("note.taken", "other", text="lamp")
    reply = replied(zaxy, "memory", "bootstrap", "--session-id", "other", "--current-task", "mend the lamp")
    assert reply.keys() == expected.keys()
    assert reply["recommended_next"]["arguments"] == {"query": "mend the lamp", "session_id": "other"}
    page = zaxy("memory", "bootstrap").stdout
    assert "What to trust\n  Trust current_facts that carry a citation" in page
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        assert memory.replay("other", include_housekeeping=True)[-1].type == "memory.bootstrap.shown"


def test_a_question_to_a_session_that_is_not_there_does_not_begin_it(
    zaxy: Zaxy, append: Append, tmp_path: Path
) -> None:
    append("note.taken", text="lamp")
    assert replied(zaxy, "memory", "capabilities", "--session-id", "fresh")["eventloom"]["events"] == 0
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        memory.checkout("lamp", "fresh")
        assert "fresh" not in memory.sessions()


def test_feedback_is_recorded_beside_the_memory_that_it_is_about(zaxy: Zaxy, append: Append, tmp_path: Path) -> None:
    citation = append("fact.recorded", "work", key="port", fact="the server port is 8080")
    said = ("--citation", citation, "--reason", "it was so", "--importance", "0.5", "--query", "port?")
    more = ("--outcome", "done", "--purpose", "coding", "--actor", "bob")
    reply = replied(zaxy, "memory", "feedback", "port", "--type", "fact", "--feedback", "helpful", *said, *more)
    assert set(reply) == {"seq", "id", "hash", "citation", "session_id"}
    assert reply["session_id"] == "work"
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        event = memory.resolve(reply["citation"])
    assert (event.type, event.actor) == ("memory.reinforced", "bob")
    assert event.payload == {
        "entity_name": "port",
        "entity_type": "fact",
        "feedback": "helpful",
        "citation": citation,
        "reason": "it was so",
        "importance": 0.5,
        "query": "port?",
        "outcome": "done",
        "purpose": {"preset": "coding", "evidence_policy": "current_facts_and_verification_cited"},
    }


def test_a_skill_is_proposed_applied_and_shown_where_it_applies(zaxy: Zaxy, append: Append, tmp_path: Path) -> None:
    rests_on = append("note.taken", text="lamp")
    steps = ("--step", "Unplug the lamp", "--step", "Change the bulb")
    details = ("--summary", "Change a bulb", "--applicability", "a dark lamp", "--citation", rests_on, "--version", "2")
    reply = replied(zaxy, "memory", "skill", "propose", "change-bulb", *steps, *details)
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        event = memory.resolve(reply["citation"])
    assert (event.type, event.actor) == ("skill.proposed", "user")
    assert event.payload == {
        "skill_id": "change-bulb",
        "procedure": ["Unplug the lamp", "Change the bulb"],
        "summary": "Change a bulb",
        "applicability": "a dark lamp",
        "citations": [rests_on],
        "version": "2",
    }
    outcome = replied(zaxy, "memory", "skill", "record_outcome", "change-bulb", "--success-score", "0")
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        assert memory.resolve(outcome["citation"]).payload == {"skill_id": "change-bulb", "success_score": 0}
    page = zaxy("checkout", "how do I change the bulb?").stdout
    assert "Skills that apply\n  change-bulb 2, proposed\n    1. Unplug the lamp\n    2. Change the bulb" in page


def test_why_prints_the_figures_that_decided_so_that_a_person_can_redo_both_sums(zaxy: Zaxy, append: Append) -> None:
    append("fact.recorded", fact="the server port is 8080")
    shown = zaxy("checkout", "which server port?", "--why").stdout.partition("\nfigure ")[2].splitlines()
    rows = [line.rsplit(maxsplit=2) for line in shown if line.split()[-1].replace("-", "").replace(".", "").isdigit()]
    judged = replied(zaxy, "checkout", "which server port?")["diagnostics"]["judgement"]
    shares = {name: (float(topic), float(answer)) for name, topic, answer in rows if name in ("as a share", "needed")}
    assert shares["as a share"] == (judged["topic"], judged["answer"])
    assert shares["needed"] == (judged["topic_needed"], judged["answer_needed"])
    figures = judged["figures"]
    answer = judgement.ANSWER_START + sum(of * figures.get(name, 0.0) for name, of in judgement.ANSWER.items())
    assert 1 / (1 + math.exp(-answer)) == pytest.approx(judged["answer"], abs=0.02)
