"""What a lane of a plugin finds reaches those who ask: weighed, bounded, counted under its name, and judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

import outside_lane
from answerable import OTHER_THINGS, OTHER_TOPICS, RECORDED, history
from bench.recall.ours import write_log
from folders import made_folder
from remembered import fact
from zaxy.assemble.quality import ANSWER, ASK, REFRESH
from zaxy.memory import Memory
from zaxy.retrieve.outside_lanes import MAX_LANE_MS, PROPOSED_BY_OTHERS, normalised, stand_out

SESSION = "work"
GRANNY = "Granny sees Dr. Okafor for her ears."
QUESTION = "Which physician treats grandmother's hearing?"
EVERYTHING = "return [Candidate(n, 1.0) for n in range(query.as_of.known_at, 0, -1)][: query.limit]"
ANY_ONE = "return [Candidate(len(query.text) % query.as_of.known_at + 1, 1.0)]"
_numbers = count()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    monkeypatch.syspath_prepend(str(folder))
    return folder


def simple(site: Path, body: str, **lane: object) -> str:
    return outside_lane.install_simple(site, f"lane{next(_numbers)}", body, **lane)


def remembered(folder: Path) -> Memory:
    memory = Memory.open(made_folder(folder))
    texts = ("The label printer listens on port 8443.", GRANNY, "The harbour lamp burns whale oil.", "Ada likes tea.")
    for text in texts:
        fact(memory, text)
    return memory


def step_of(memory: Memory, lane: str, seq: int) -> tuple[float, float, float] | None:
    """What a lane adds to an event: its score, the share and the weight."""
    rows = [row for row in memory.query("harbour", SESSION).results if row.seq == seq]
    steps = [step for row in rows for step in row.steps if step.lane == lane]
    return (steps[0].raw, round(steps[0].normalised, 3), round(steps[0].weight, 3)) if steps else None


# A lane that works with meaning


def test_a_question_that_shares_no_word_with_its_record_finds_it_by_meaning(tmp_path: Path, site: Path) -> None:
    name = outside_lane.install(site)
    with remembered(tmp_path / "here") as memory:
        answer = memory.query(QUESTION, SESSION)
        assert [(row.content, row.source_lane) for row in answer.results] == [(GRANNY, name)]
        assert memory.resolve(answer.results[0].citation).payload == {"fact": GRANNY}
        reply = memory.checkout(QUESTION, SESSION).as_dict()
    (found,) = reply["current_facts"]
    assert (found["content"], found["source_lane"]) == (GRANNY, name)
    assert found["citation"] == answer.results[0].citation[: len(found["citation"])]
    assert reply["quality"]["answerability"] == REFRESH
    assert reply["diagnostics"]["source_lanes"] == {name: 1}
    assert reply["diagnostics"]["judgement"]["figures"]["meaning"] > 0.7
    assert reply["diagnostics"]["judgement"]["words_not_found"], "what no row says is still named"


def test_without_the_lane_the_same_question_is_left_to_the_user(tmp_path: Path) -> None:
    with remembered(tmp_path / "here") as memory:
        reply = memory.checkout(QUESTION, SESSION).as_dict()
    assert reply["quality"]["answerability"] == ASK
    assert "meaning" not in reply["diagnostics"]["judgement"]["figures"]


def test_a_question_of_which_the_lane_knows_nothing_is_left_to_the_user(tmp_path: Path, site: Path) -> None:
    outside_lane.install(site)
    with remembered(tmp_path / "here") as memory:
        reply = memory.checkout("Which colour has the vicar's umbrella?", SESSION).as_dict()
    assert reply["quality"]["answerability"] == ASK
    assert reply["current_facts"] == reply["evidence"] == []


def test_what_a_lane_found_and_what_has_ended_since_is_not_shown(tmp_path: Path, site: Path) -> None:
    outside_lane.install(site)
    with remembered(tmp_path / "here") as memory:
        fact(memory, "An engineer mends kettles.", supersedes=memory.query(QUESTION, SESSION).results[0].citation)
        assert GRANNY not in [row["content"] for row in memory.checkout(QUESTION, SESSION).current_facts]


def test_only_the_lanes_that_were_chosen_take_part(tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = outside_lane.install(site)
    found = {}
    for chosen in ("", name, "none", f"{name},unheard-of"):
        monkeypatch.setenv("ZAXY_LANES", chosen)
        with remembered(tmp_path / f"of{len(found)}") as memory:
            answer = memory.query(QUESTION, SESSION)
            found[chosen] = (
                [row.source_lane for row in answer.results],
                [n for n in answer.notices if "ZAXY_LANES" in n],
            )
    assert found[""] == found[name] == ([name], [])
    assert found["none"] == ([], [])
    assert found[f"{name},unheard-of"][0] == [name] and "unheard-of" in found[f"{name},unheard-of"][1][0]


def test_what_is_erased_is_in_no_file_of_a_lane_that_takes_no_part_any_more(
    tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside_lane.install(site)
    here = tmp_path / "here"

    def files() -> list[Path]:
        return [path for path in here.rglob("*") if path.is_file() and b"Okafor" in path.read_bytes()]

    with remembered(here) as memory:
        citation = memory.query(QUESTION, SESSION).results[0].citation
        assert [path for path in files() if "acme" in str(path)], "the lane keeps the text"
    monkeypatch.setenv("ZAXY_LANES", "none")
    with Memory.open(here) as memory:
        memory.forget(citation, "no longer needed", actor="user")
    assert files() == []


# Lanes that claim too much


@pytest.fixture(scope="module", params=(50, 1_000))
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder: Path = tmp_path_factory.mktemp(f"events-{request.param}")
    write_log(folder, "shop", list(history(request.param)))
    yield folder


def answered(shop: Path, questions: Iterable[str]) -> set[str]:
    """The questions that memory answers by itself."""
    with closing(Memory.open(shop)) as memory:
        return {one for one in questions if memory.checkout(one, "shop").quality.answerability == ANSWER}


@pytest.mark.parametrize("lane", [{"scale": "probability", "weight": 1.0}, {"scale": "cosine"}, {}], ids=str)
def test_a_lane_that_proposes_everything_changes_no_verdict(shop: Path, site: Path, lane: dict[str, object]) -> None:
    without = answered(shop, OTHER_THINGS[:8])
    simple(site, EVERYTHING, **lane)
    assert answered(shop, OTHER_THINGS[:8]) == without
    with closing(Memory.open(shop)) as memory:
        for question in OTHER_TOPICS[:8]:
            reply = memory.checkout(question, "shop").as_dict()
            assert (reply["quality"]["answerability"], reply["current_facts"]) == (ASK, [])
        for recorded in RECORDED[:8]:
            facts = memory.checkout(recorded.question, "shop").current_facts[:3]
            assert recorded.payload in [memory.resolve(fact["citation"]).payload for fact in facts]


def test_a_lane_that_is_sure_of_any_event_answers_nothing_by_itself(shop: Path, site: Path) -> None:
    without = answered(shop, (*OTHER_TOPICS, *OTHER_THINGS))
    simple(site, ANY_ONE, scale="probability", weight=1.0)
    assert answered(shop, (*OTHER_TOPICS, *OTHER_THINGS)) <= without


# Scales


@pytest.mark.parametrize(
    ("scale", "scores", "shares"),
    [
        ("", [8.0, 4.0], [1.0, 0.5]),
        ("", [-1.0, -3.0], [1.0, 0.333]),
        ("", [2.0, 0.0, -2.0], [1.0, 0.625, 0.25]),
        ("", [-5.0], [1.0]),
        ("", [0.0], [1.0]),
        ("cosine", [0.8, 0.2, -0.4], [0.8, 0.2, 0.0]),
        ("probability", [0.9, 0.0], [0.9, 0.0]),
        ("rank", [1000.0, 20.0, 19.0, 19.0], [1.0, 0.667, 0.333, 0.333]),
        ("rank", [-1.0, -2.0], [1.0, 0.5]),
    ],
)
def test_scores_become_shares_whatever_their_sign_and_scale(
    scale: str, scores: list[float], shares: list[float]
) -> None:
    found = normalised(dict(enumerate(scores)), scale)
    assert [round(found[seq], 3) for seq in range(len(scores))] == shares


@pytest.mark.parametrize("scale", ["", "cosine", "probability", "rank"])
def test_a_full_list_of_equal_scores_says_nothing(scale: str) -> None:
    assert set(normalised(dict.fromkeys(range(PROPOSED_BY_OTHERS), 0.7), scale).values()) == {0.0}


def test_what_stands_out_is_above_the_others() -> None:
    assert stand_out({1: 0.9}, 10) == {1: 0.9}
    assert stand_out({1: 0.9, 2: 0.9}, 2) == {}
    assert stand_out({1: 0.9}, 1) == {}, "there is nothing to stand out from"
    of_many = stand_out({seq: 0.72 if seq == 1 else 0.5 for seq in range(1, 51)}, 10)
    assert list(of_many) == [1] and of_many[1] == pytest.approx(0.72 * 0.44)


@pytest.mark.parametrize(
    ("scale", "score", "fits"),
    [
        ("cosine", 1.1, False),
        ("cosine", -1.1, False),
        ("cosine", -0.5, True),
        ("probability", -0.1, False),
        ("probability", 1.0, True),
        ("rank", -7, True),
        ("", -7.5, True),
    ],
)
def test_a_score_beyond_its_scale_is_left_out_with_a_notice(
    tmp_path: Path, site: Path, scale: str, score: float, fits: bool
) -> None:
    name = simple(site, f"return [Candidate(2, {score})]", scale=scale)
    with remembered(tmp_path / "here") as memory:
        notices = memory.query("harbour", SESSION).notices
    assert [name in notice for notice in notices] == ([] if fits else [True])


# Weights and budgets


def test_a_lane_counts_what_its_manifest_says(tmp_path: Path, site: Path) -> None:
    name = simple(site, "return [Candidate(2, 6.0), Candidate(4, 3.0)]", weight=0.8)
    with remembered(tmp_path / "here") as memory:
        assert step_of(memory, name, 4) == (3.0, 0.5, 0.8)


def test_a_row_that_stands_out_counts_up_to_twice(tmp_path: Path, site: Path) -> None:
    name = simple(site, "return [Candidate(2, 0.8)]", weight=0.3, scale="cosine")
    with remembered(tmp_path / "here") as memory:
        assert step_of(memory, name, 2) == (0.8, 0.8, 0.54)


def test_the_user_sets_how_much_a_lane_counts(tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, other = (simple(site, "return [Candidate(2, 6.0)]", weight=0.8) for _ in range(2))
    monkeypatch.setenv("ZAXY_LANE_WEIGHTS", f"{name}=0.1,{other}=0")
    with remembered(tmp_path / "here") as memory:
        assert step_of(memory, name, 2) == (6.0, 1.0, 0.1)
        assert step_of(memory, other, 2) is None
        assert memory.query("harbour", SESSION).notices == ()


def test_a_lane_that_the_user_trusts_less_says_less_of_what_a_row_means(
    tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZAXY_LANE_WEIGHTS", f"{outside_lane.install(site)}=0.05")
    with remembered(tmp_path / "here") as memory:
        assert memory.query(QUESTION, SESSION).results[0].content == GRANNY
        assert memory.checkout(QUESTION, SESSION).quality.answerability == ASK


@pytest.mark.parametrize("given", ["{}=2", "{}=-0.1", "{}=much", "{}", "{}=nan", "elsewhere=0.5"])
def test_a_weight_that_is_none_leaves_a_notice_and_the_lanes_own(
    tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    name = simple(site, "return [Candidate(2, 6.0)]", weight=0.8)
    monkeypatch.setenv("ZAXY_LANE_WEIGHTS", given.format(name))
    with remembered(tmp_path / "here") as memory:
        assert step_of(memory, name, 2) == (6.0, 1.0, 0.8)
        assert ["ZAXY_LANE_WEIGHTS" in notice for notice in memory.query("harbour", SESSION).notices] == [True]


def test_a_slow_lane_costs_its_budget_once_for_a_reply_and_leaves_a_notice(tmp_path: Path, site: Path) -> None:
    calls = tmp_path / "calls"
    body = f"open({str(calls)!r}, 'a').write('x')\ntime.sleep(0.4)\nreturn []"
    name = simple(site, body, budget_ms=100)
    with remembered(tmp_path / "here") as memory:
        reply = memory.checkout("What burns whale oil?", SESSION, purpose="release").as_dict()
        assert calls.read_text() == "x", "the words of the purpose are another question of the same reply"
    assert reply["warnings"] == []
    assert [name in notice and "0.1 s" in notice for notice in reply["notices"]] == [True]


def test_no_lane_gets_more_time_than_the_core_gives(tmp_path: Path, site: Path) -> None:
    name = simple(site, "threading.Event().wait()", budget_ms=MAX_LANE_MS * 100)
    with remembered(tmp_path / "here") as memory:
        notices = memory.query("harbour", SESSION).notices
    assert [name in notice and f"within {MAX_LANE_MS / 1000:g} s" in notice for notice in notices] == [True]


# Where words find little


def steps_of_first(memory: Memory, question: str, lane: str) -> tuple[float, float]:
    """The share and the weight of what a lane adds to its first candidate."""
    row = next(row for row in memory.query(question, SESSION, limit=20).results if row.content == "Ada likes tea.")
    step = next(step for step in row.steps if step.lane == lane)
    return round(step.normalised, 3), round(step.weight, 3)


def test_a_lanes_order_counts_more_the_less_words_find(tmp_path: Path, site: Path) -> None:
    lane = simple(site, "return [Candidate(4, 0.1), Candidate(1, 0.05)]", weight=0.5, scale="cosine")
    with remembered(tmp_path / "here") as memory:
        unknown = steps_of_first(memory, "Whose umbrella blocks a corridor?", lane)
        known = steps_of_first(memory, "Which port does the label printer listen on?", lane)
    assert known[0] == 0.1 and known[1] < 0.6, "words have found it: the lane adds what it says"
    assert unknown[0] == 1.0 and unknown[1] >= 1.5, "words find nothing: its first candidate counts as a whole"


def test_where_a_name_was_found_a_lanes_order_adds_nothing(tmp_path: Path, site: Path) -> None:
    lane = simple(site, "return [Candidate(4, 0.1)]", weight=0.5, scale="cosine")
    with remembered(tmp_path / "here") as memory:
        share, weight = steps_of_first(memory, 'Whose umbrella blocks the corridor of "port 8443"?', lane)
    assert share == 0.1 and weight < 0.6
