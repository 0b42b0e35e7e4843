"""Agents and people write, move, overwrite, format, commit and amend: the edit behind each line is found again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from written import PERSON, Line, ask, written_history

Answers = list[tuple[Line, dict[str, Any]]]
ALL = 1000
SEED = 4
"""Of the first stories the one with the most lines of people."""


def answers_of(folder: Path, *, by_hooks: bool, git: bool = True) -> tuple[Answers, Answers, dict[str, str]]:
    """The answers on lines of agents, those on lines of people, and what was asked for before each edit."""
    story = written_history(folder / "shop", folder / "home", SEED, by_hooks=by_hooks, git=git)
    answers = [(line, reply) for _, _, line, reply in ask(story, ALL, seed=1)]
    agents = [one for one in answers if one[0].writer != PERSON]
    return agents, [one for one in answers if one[0].writer == PERSON], story.prompts


def is_right(line: Line, reply: dict[str, Any]) -> bool:
    return reply["edit"] is not None and reply["edit"]["at"] == line.writer


@pytest.mark.parametrize("by_hooks", [True, False], ids=["hooks", "session-files"])
def test_of_200_lines_that_agents_wrote_95_in_100_lead_to_their_edit_and_its_prompt_and_no_persons_line_surely_to_one(
    by_hooks: bool, tmp_path: Path
) -> None:
    agents, people, prompts = answers_of(tmp_path, by_hooks=by_hooks)
    assert len(agents) >= 200
    assert len({reply["edit"]["session_id"] for _, reply in agents if reply["edit"]}) >= (4 if by_hooks else 1)
    right = [(line, reply) for line, reply in agents if is_right(line, reply)]
    assert len(right) >= 0.95 * len(agents)
    assert all(reply["prompt"]["text"] == prompts[line.writer] for line, reply in right)

    sure = [one for one in agents if one[1]["certainty"] == "high"]
    assert len(sure) >= 0.7 * len(agents)
    assert sum(is_right(*one) for one in sure) >= 0.98 * len(sure)

    assert len(people) >= 10
    given_to_agents = [reply for _, reply in people if reply["edit"]]
    assert len(given_to_agents) <= 0.2 * len(people)
    assert all(reply["certainty"] != "high" and reply["reasons"] for reply in given_to_agents)


@pytest.mark.parametrize("by_hooks", [True, False], ids=["hooks", "session-files"])
def test_without_git_eight_lines_in_ten_are_found_and_what_is_sure_is_right(by_hooks: bool, tmp_path: Path) -> None:
    agents, people, _ = answers_of(tmp_path, by_hooks=by_hooks, git=False)
    assert sum(is_right(*one) for one in agents) >= 0.8 * len(agents)
    sure = [one for one in (*agents, *people) if one[1]["certainty"] == "high"]
    assert len(sure) >= 0.2 * len(agents)
    assert all(is_right(*one) for one in sure)
