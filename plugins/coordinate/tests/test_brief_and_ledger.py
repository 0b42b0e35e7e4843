from __future__ import annotations

from typing import Any

import pytest
from mission_steps import PASSED, accept, promoted, report, row

from zaxy import Memory
from zaxy.api import InvalidRequest
from zaxy_coordinate import Missions

# The brief


def test_the_most_urgent_comes_first(missions: Missions, memory: Memory) -> None:
    made = {
        "rejected": report(missions, "It is wrong."),
        "parent": promoted(missions, "It is done."),
        "replaced": promoted(missions, "It was so.", claim_key="speed", claim_value="slow"),
        "ready": report(missions, "It is ready."),
        "put off": report(missions, "It can wait."),
        "new": report(missions, "It is new."),
        "one side": report(missions, "It holds.", claim_key="lock", claim_value="holds"),
        "other side": report(missions, "It breaks.", "w2", claim_key="lock", claim_value="breaks"),
        "replacing": promoted(missions, "It is so now.", claim_key="speed", claim_value="fast"),
    }
    missions.review_finding("port", made["rejected"], "rejected")
    missions.review_finding("port", made["put off"], "deferred")
    accept(missions, made["ready"])
    names = {finding: name for name, finding in made.items()}
    reply = missions.merge_brief("port", max_tokens=50_000)
    order = [names[one["finding_id"]] for one in reply["findings"]]
    urgent = ["one side", "other side", "new", "put off", "ready", "replaced"]
    assert order == [*urgent, "parent", "replacing", "rejected"]
    assert reply["next_steps"] == [
        "Decide 1 conflict: review the findings of each.",
        "Review 2 findings: coordination_review_finding.",
        "Promote 1 accepted finding: coordination_promote.",
    ]


def test_a_conflict_shows_what_each_side_says(missions: Missions) -> None:
    for worker, value in (("w1", "holds"), ("w2", "breaks"), ("w2", "Holds")):
        report(missions, f"It {value}.", worker, claim_key="lock", claim_value=value, evidence=[PASSED])
    (conflict,) = missions.merge_brief("port")["conflicts"]
    assert (conflict["claim_key"], len(conflict["finding_ids"])) == ("lock", 3)
    assert [one["value"] for one in conflict["sides"]] == ["holds", "breaks"]


def test_a_conflict_is_over_once_only_one_side_is_left(missions: Missions) -> None:
    one, other = (report(missions, f"It {v}.", claim_key="lock", claim_value=v) for v in ("holds", "breaks"))
    missions.review_finding("port", other, "rejected")
    assert missions.merge_brief("port")["conflicts"] == []
    assert row(missions, one)["authority"] == "pending_worker"


def test_without_a_key_findings_never_contradict(missions: Missions) -> None:
    report(missions, "It holds.")
    report(missions, "It does not hold.", "w2")
    same = report(missions, "it  HOLDS.", "w2")
    assert missions.merge_brief("port")["conflicts"] == []
    assert row(missions, same)["duplicate_of"] == "w1:finding:1"


def test_pages_together_have_every_finding_once_and_in_order(missions: Missions) -> None:
    made = [report(missions, f"Fact {number} of many. " * 5) for number in range(40)]
    found, cursor, pages = list[str](), "", 0
    while True:
        page = missions.merge_brief("port", max_tokens=2000, cursor=cursor)
        found += [one["finding_id"] for one in page["findings"]]
        pages += 1
        assert page["tokens_used"] <= 2000
        assert page["truncated"] is (page["next_cursor"] is not None)
        assert page["counts"]["findings"] == 40, "counts are of all there is"
        if page["next_cursor"] is None:
            break
        cursor = page["next_cursor"]
    assert found == made and pages > 3


@pytest.mark.parametrize("cursor", ["0", "-1", "x", "41", "1.5", "9" * 5000, "²"])
def test_a_cursor_of_another_brief_is_refused(missions: Missions, cursor: str) -> None:
    report(missions, "One fact")
    with pytest.raises(InvalidRequest, match="is no cursor of this brief"):
        missions.merge_brief("port", cursor=cursor)


def test_long_texts_do_not_break_the_budget(memory: Memory) -> None:
    missions = Missions(memory)
    missions.start("port", "Port it. " * 2000)
    for number in range(12):
        missions.create_worker("port", f"w{number}", role="Tester. " * 500)
        missions.assign("port", f"w{number}", "Look. " * 2000)
        report(missions, "Found. " * 2000, f"w{number}", claim_key="lock", claim_value=f"{number} " * 900)
    missions.handoff("port", "Half. " * 4000, next_steps=["Go. " * 900] * 90, risks=["Rain. " * 900] * 90)
    reply = missions.merge_brief("port", max_tokens=8000)
    assert reply["tokens_used"] <= 8000
    assert reply["findings"] and reply["truncated"]


def test_workers_are_shown_with_their_last_assignment_and_what_waits(missions: Missions) -> None:
    missions.create_worker("port", "w3", role="tester")
    for words in ("Look", "Look again"):
        missions.assign("port", "w3", words)
    report(missions, "It holds.", "w3")
    promoted(missions, "It works.", "w1")
    rows = missions.merge_brief("port")["workers"]
    assert rows[0] == {
        "worker_id": "w3",
        "session_id": "port.w3",
        "role": "tester",
        "assignment": "Look again",
        "findings": 1,
        "waiting_for_review": 1,
    }
    assert [(one["worker_id"], one["findings"], one["waiting_for_review"]) for one in rows[1:]] == [
        ("w1", 1, 0),
        ("w2", 0, 0),
    ]


# The ledger


def test_each_rate_is_that_of_numbers_counted_by_hand(missions: Missions, memory: Memory) -> None:
    def of_w1(words: str, **more: Any) -> str:
        return report(missions, words, evidence=more.pop("evidence", [{"reference": "https://example.org"}]), **more)

    promoted(missions, "Fact 1", evidence=[PASSED])  # accepted, promoted, tested
    accept(missions, of_w1("Fact 2", evidence=[{"command": "make check", "exit_code": 0}]))  # accepted, tested
    missions.review_finding("port", of_w1("Fact 3"), "rejected")
    of_w1("fact 3")  # a duplicate, also of what was rejected
    of_w1("Fact 5", evidence=[])  # without evidence
    of_w1("Fact 6", evidence=[{"command": "pytest", "exit_code": 1}])  # a test that failed
    of_w1("Fact 7", evidence=[{"command": "ls", "exit_code": 0}])  # no test
    of_w1("Fact 8", evidence=[{"reference": "src/a.py#L3"}])  # stale after the edit
    memory.append("file.edit.applied", {"path": "/repo/src/a.py"}, session="port.w2")
    ledger = missions.performance_ledger("port")
    w1, w2 = ledger["workers"]
    assert w1 == {
        "worker_id": "w1",
        "reported": 8,
        "accepted": 2,
        "promoted": 1,
        "rejected": 1,
        "duplicate": 1,
        "missing_evidence": 1,
        "test_backed": 2,
        "stale": 1,
        "accepted_rate": 0.25,
        "promoted_rate": 0.125,
        "rejected_rate": 0.125,
        "duplicate_rate": 0.125,
        "missing_evidence_rate": 0.125,
        "test_backed_rate": 0.25,
        "stale_rate": 0.125,
    }
    assert w2["reported"] == 0 and all(w2[name] is None for name in w2 if name.endswith("_rate"))
    assert ledger["total"] == {name: w1[name] for name in w1 if name != "worker_id"}
    assert ledger["rows"] == {"accepted_parent": 1, "pending_worker": 5, "rejected": 1, "stale": 1}


@pytest.mark.parametrize(
    ("item", "backed"),
    [
        ({"command": "pytest -q", "exit_code": 0}, True),
        ({"command": "hatch run test:run", "exit_code": 0}, True),
        ({"kind": "test", "command": "./run.sh", "exit_code": 0}, True),
        ({"command": "pytest", "exit_code": 1}, False),
        ({"command": "pytest", "exit_code": "0"}, False),
        ({"command": "pytest", "exit_code": False}, False),
        ({"command": "pytest"}, False),
        ({"kind": "test", "exit_code": 0}, False),
        ({"command": "echo latest", "exit_code": 0}, False),
        ({"command": ["pytest"], "exit_code": 0}, False),
    ],
)
def test_only_a_test_that_passed_backs_a_finding(missions: Missions, item: dict[str, Any], backed: bool) -> None:
    assert row(missions, report(missions, "It holds.", evidence=[item]))["test_backed"] is backed


def test_a_finding_is_stale_once_an_event_that_it_cites_is_replaced(missions: Missions, memory: Memory) -> None:
    first = memory.append("memory.fact.recorded", {"text": "The port is 80."}, session="port.w1")
    keyed = memory.append("decision.made", {"key": "db", "decision": "SQLite"}, session="port.w1")
    made = [
        report(missions, f"Fact {n}", evidence=[{"citation": one.citation}]) for n, one in enumerate((first, keyed))
    ]
    assert [row(missions, name).get("stale") for name in made] == [None, None]
    memory.append("memory.fact.recorded", {"text": "It is 81.", "supersedes": first.citation}, session="port.w2")
    memory.append("decision.made", {"key": "db", "decision": "Postgres"}, session="port.w1")
    assert [row(missions, name).get("stale") for name in made] == [True, True]


def test_an_erased_finding_is_gone_from_brief_and_ledger(missions: Missions, memory: Memory) -> None:
    reply = missions.report_finding("port", "w1", "Bob is ill.")
    report(missions, "The lock holds.")
    memory.forget(reply["citation"], "personal")
    brief = missions.merge_brief("port")
    assert [one["finding_id"] for one in brief["findings"]] == ["w1:finding:2"]
    assert missions.performance_ledger("port")["total"]["reported"] == 1
    assert report(missions, "Something new") == "w1:finding:3"
