"""Nobody has what a worker found as a fact before it is promoted: reads of every kind, in every session."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from mission_secrets import (
    MISSION,
    READS,
    WORKERS,
    Call,
    Hidden,
    findings,
    made_up,
    may_see,
    reads,
    report,
    set_up,
    shown,
)
from outside_http import AUTH, install_tokens
from served import Listening, Server

pytestmark = [pytest.mark.needs_package("coordinate"), pytest.mark.needs_package("export")]
SEED = int(os.environ.get("ZAXY_MISSION_SEED", "20260615"))
COUNT = int(os.environ.get("ZAXY_MISSION_READS", "500"))
SESSIONS = (MISSION, *(f"{MISSION}.{worker}" for worker in WORKERS))


class Kept(NamedTuple):
    call: Call
    hidden: list[Hidden]


@pytest.fixture(scope="module")
def mission(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    with Server(tmp_path_factory.mktemp("valves"), options=("--profile", "full")) as server:

        def succeed(tool: str, **given: Any) -> dict[str, Any]:
            reply = server.call(tool, **given)
            assert "error" not in reply, (tool, reply)
            return reply

        hidden = set_up(succeed, findings(Random(SEED)))
        yield Kept(server.call, hidden)


@pytest.mark.xdist_group("isolation")
def test_no_read_shows_a_finding_to_one_who_may_not_have_it(mission: Kept) -> None:
    print(f"seed {SEED}")
    answered: Counter[str] = Counter()
    seen: set[Hidden] = set()
    for tool, session, given in islice(reads(Random(SEED), mission.hidden, SESSIONS), COUNT):
        reply = mission.call(tool, **given)
        found = shown(reply, mission.hidden)
        reader = MISSION if tool.startswith("coordination_") else session
        assert [one for one in found if not may_see(one, reader)] == [], (tool, given)
        answered[tool] += "error" not in reply
        seen.update(found)
    assert set(answered) == set(READS) and answered.total() > COUNT / 2, answered
    assert {one.status for one in seen if one.worker == "w1"} == {one.status for one in mission.hidden}, (
        "what one may see was seen"
    )


@pytest.mark.xdist_group("isolation")
def test_the_coordinators_own_reads_show_all_that_waits(mission: Kept) -> None:
    brief = mission.call("coordination_merge_brief", mission_id=MISSION, max_tokens=50_000)
    packet = mission.call("coordination_approval_packet", mission_id=MISSION)
    checkout = mission.call("coordination_checkout", mission_id=MISSION, include_diagnostics=True, max_tokens=50_000)
    assert shown(brief, mission.hidden) == mission.hidden
    waiting = [one for one in mission.hidden if one.status not in ("rejected", "promoted")]
    assert shown(packet, mission.hidden) == waiting
    labelled = {row["finding_id"]: row["authority"] for row in checkout["diagnostics"]["non_authoritative"]}
    assert len(labelled) == sum(one.status != "promoted" for one in mission.hidden)
    assert "accepted_parent" not in labelled.values()


@pytest.mark.xdist_group("isolation")
def test_the_log_of_the_parent_has_no_word_of_what_was_not_promoted(mission: Kept) -> None:
    given: dict[str, Any] = {"session_id": MISSION, "include_housekeeping": True, "max_tokens": 2_000}
    found: list[Hidden] = []
    while given.get("cursor", "first"):
        page = mission.call("memory_replay", **given)
        found += shown(page, mission.hidden)
        given["cursor"] = page["next_cursor"]
    assert {one.status for one in found} == {"promoted"}


# Over HTTP, where everybody has sessions of their own

PEOPLE = """
    "w1-token": Identity("w1", "writer", ("m", "m.w1")),
    "w2-token": Identity("w2", "writer", ("m", "m.w2")),
    "looker-token": Identity("lou", "reader", ("m",)),
    "alone-token": Identity("al", "writer", ("m.w1",)),
"""


class Served:
    def __init__(self, server: Listening) -> None:
        self._server = server

    def __call__(self, who: str, tool: str, **given: Any) -> dict[str, Any]:
        return self._server.modern(tool, given, {"authorization": f"Bearer {who}-token"})

    def code(self, who: str, tool: str, **given: Any) -> str:
        return str(self(who, tool, **given).get("error", {}).get("code", "ok"))


class Team(NamedTuple):
    call: Served
    hidden: list[Hidden]


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    site = tmp_path_factory.mktemp("site")
    install_tokens(site, AUTH.replace("PEOPLE = {", "PEOPLE = {" + PEOPLE))
    given = {"PYTHONPATH": str(site), "ZAXY_HTTP_AUTH": "tokens", "ZAXY_TOOL_PROFILE": "full"}
    with Listening(tmp_path_factory.mktemp("team"), **given) as server:
        call = Served(server)
        yield Team(call, set_up(partial(call, "admin"), findings(Random(SEED + 1))))


def warm(team: Team) -> None:
    """Let somebody who may read everything leave the whole state in the server."""
    reply = team.call("admin", "coordination_merge_brief", mission_id=MISSION, max_tokens=50_000)
    assert shown(reply, team.hidden) == team.hidden


@pytest.mark.xdist_group("isolation over http")
def test_a_worker_reports_in_its_own_session_and_in_no_other(team: Team) -> None:
    named = {"mission_id": MISSION, "summary": "The last valve is shut"}
    assert team.call.code("w1", "coordination_report_finding", worker_id="w1", **named) == "ok"
    for who, worker in (("w1", "w2"), ("w1", "w3"), ("w2", "w1"), ("looker", "w1"), ("alone", "w1")):
        assert team.call.code(who, "coordination_report_finding", worker_id=worker, **named) == "forbidden", who


@pytest.mark.xdist_group("isolation over http")
@pytest.mark.parametrize("who", ["w1", "w2", "looker"])
def test_everybody_who_may_read_the_mission_is_given_all_that_was_promoted(team: Team, who: str) -> None:
    warm(team)
    promoted = [one for one in team.hidden if one.status == "promoted"]
    for query in ("", f"What does the {promoted[2].asked} valve hold?"):
        asked = {"mission_id": MISSION, "query": query, "max_tokens": 20_000}
        wanted = team.call("admin", "coordination_checkout", **asked)["current_facts"]
        reply = team.call(who, "coordination_checkout", **asked)
        assert [fact["content"] for fact in reply["current_facts"]] == [fact["content"] for fact in wanted]
        assert promoted[2] in shown({"facts": wanted}, promoted)
        assert shown(reply, team.hidden) == shown({"facts": wanted}, promoted)
    assert shown(team.call(who, "coordination_checkout", mission_id=MISSION), team.hidden) == promoted


@pytest.mark.xdist_group("isolation over http")
@pytest.mark.parametrize("who", ["w1", "w2", "looker"])
@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("checkout", {"include_diagnostics": True, "max_tokens": 50_000}),
        ("merge_brief", {"max_tokens": 50_000}),
        ("approval_packet", {}),
        ("performance_ledger", {}),
    ],
    ids=["checkout", "brief", "packet", "ledger"],
)
def test_a_worker_is_never_shown_what_others_found_though_the_whole_state_is_there(
    team: Team, who: str, tool: str, given: dict[str, Any]
) -> None:
    warm(team)
    reply = team.call(who, f"coordination_{tool}", mission_id=MISSION, **given)
    assert "error" not in reply, reply
    leaked = [one for one in shown(reply, team.hidden) if one.status != "promoted" and one.worker != who]
    assert leaked == []


@pytest.mark.xdist_group("isolation over http")
def test_generated_reads_over_http_show_a_worker_only_its_own(team: Team) -> None:
    warm(team)
    codes: Counter[str] = Counter()
    for turn, (tool, session, given) in enumerate(islice(reads(Random(SEED), team.hidden, SESSIONS), COUNT // 4)):
        who = ("w1", "w2", "looker")[turn % 3]
        reply = team.call(who, tool, **given)
        codes[reply.get("error", {}).get("code", "ok")] += 1
        leaked = [one for one in shown(reply, team.hidden) if one.status != "promoted" and one.worker != who]
        assert leaked == [], (who, tool, session, given)
    assert codes["ok"] > COUNT // 16 and codes["forbidden"] > COUNT // 16, codes


@pytest.mark.xdist_group("isolation over http")
def test_what_a_worker_reported_is_counted_for_the_coordinator_after_the_workers_own_look(team: Team) -> None:
    """The state that a worker sees is nobody else's."""
    new = Hidden("w2", "pending", made_up(Random(7)), made_up(Random(8)))
    before = team.call("admin", "coordination_merge_brief", mission_id=MISSION)["counts"]
    report(partial(team.call, "w2"), new)
    assert shown(team.call("w1", "coordination_merge_brief", mission_id=MISSION, max_tokens=50_000), [new]) == []
    after = team.call("admin", "coordination_merge_brief", mission_id=MISSION, max_tokens=50_000)
    assert shown(after, [new]) == [new]
    assert after["counts"]["findings"] == before["findings"] + 1


def test_the_words_are_made_up_and_all_different() -> None:
    words = [word for one in findings(Random(SEED)) for word in (one.asked, one.said)]
    assert len(set(words)) == len(words)
    source = Path(__file__).read_text(encoding="utf-8") + Path(__file__).with_name("mission_secrets.py").read_text()
    assert not [word for word in words if word in source]
