from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from mission_steps import PASSED, accept, promoted, report

from zaxy import Memory
from zaxy_coordinate import Missions, pages, review_walk
from zaxy_coordinate.pages import BOLD, DIM, GREEN, PLAIN, RED, YELLOW

NASTY = "one\x1b[2J\x1b]0;title\x07 two\r\nthree\u202efour\x9b5m\x00 end"
STYLE = (BOLD, DIM, GREEN, PLAIN, RED, YELLOW)
Shown = Callable[[int, bool], dict[str, str]]


@pytest.fixture
def shown(memory: Memory) -> Shown:
    """Every page, of a mission in which all that can be said is nasty and long."""
    missions, words = Missions(memory), f"{NASTY} {'word ' * 60}"
    missions.start("port", words)
    missions.create_worker("port", "w1", role=words)
    assigned = missions.assign("port", "w1", words)
    evidence = [{"kind": NASTY, "command": words, "exit_code": NASTY}, {NASTY: [NASTY]}, {"reference": [NASTY]}, PASSED]
    promoted(missions, words, evidence=evidence, claim_key=NASTY, claim_value=words)
    for side in ("a", "b"):
        report(missions, side + words, evidence=evidence, claim_key=f"x{NASTY}", claim_value=side + words)
    accept(missions, report(missions, "c" + words, evidence=evidence))
    report(missions, "d" + words)
    missions.handoff("port", words, next_steps=[words], risks=[words])
    checkout = missions.checkout("port", include_diagnostics=True, max_tokens=20_000)
    recorded = missions.record_synthesis_artifact("port", checkout)
    brief = missions.merge_brief("port", max_tokens=20_000)
    waiting: dict[str, Any] = {**brief["findings"][0], "place": "1 of 2", "conflict": brief["conflicts"][0]}
    applied = missions.apply_approval("port", [{"finding_id": "w1:finding:5", "status": "deferred"}])

    def make(width: int, colour: bool) -> dict[str, str]:
        return {
            "written": pages.written_page(assigned, width, colour),
            "status": pages.status_page(brief, width, colour),
            "brief": pages.brief_page(brief, width, colour),
            "checkout": pages.checkout_page(checkout, width, colour),
            "ledger": pages.ledger_page(missions.performance_ledger("port"), width, colour),
            "applied": pages.applied_page(applied, width, colour),
            "recorded": pages.recorded_page(recorded, width, colour),
            "trace": pages.trace_page(missions.proof_trace("port", artifact_id=recorded["artifact_id"]), width, colour),
            "missions": pages.missions_page({"missions": [{"mission_id": "port", "objective": words}]}, width, colour),
            "walk": review_walk._page(waiting, width, colour),
        }

    return make


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("width", [1, 20, 40, 80, 200])
def test_nothing_that_was_recorded_steers_the_terminal(shown: Shown, width: int, colour: bool) -> None:
    for name, page in shown(width, colour).items():
        for style in STYLE if colour else ():
            page = page.replace(style, "")
        odd = {character for character in page if character != "\n" and unicodedata.category(character)[0] == "C"}
        assert not odd, f"the page {name} has {odd!r}"


@pytest.mark.parametrize("width", [40, 60, 100])
def test_what_was_said_is_broken_into_lines_of_the_width(shown: Shown, width: int) -> None:
    """Citations and commands stay whole, so that they can be copied."""
    for name in ("brief", "status", "checkout", "missions", "walk"):
        for line in shown(width, False)[name].splitlines():
            assert len(line) <= width or "word word word" not in line or line.lstrip().startswith(("$", "port:", "x"))


def test_the_same_page_has_the_same_words_with_and_without_colour(shown: Shown) -> None:
    plain, coloured = shown(80, False), shown(80, True)
    for name, page in coloured.items():
        for style in STYLE:
            page = page.replace(style, "")
        assert page == plain[name]
    assert "\x1b" not in "".join(plain.values())
