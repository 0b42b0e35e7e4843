from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from mission_steps import accept, all_events, events, promoted, report, row, words_of_parent

from zaxy import Memory
from zaxy.api import Conflict, InvalidRequest, NotFound
from zaxy_coordinate import Missions

STATUSES = {
    "accepted": "pending_worker",
    "rejected": "rejected",
    "deferred": "pending_worker",
    "conflicted": "conflict",
}


@pytest.mark.parametrize("status", STATUSES)
def test_a_review_labels_a_finding_and_makes_nothing_parent_state(missions: Missions, status: str) -> None:
    finding = report(missions, "The lock holds.")
    reply = missions.review_finding("port", finding, status, rationale="Because.", actor="ada")
    assert (reply["finding_id"], reply["status"], reply["session_id"]) == (finding, status, "port")
    shown = row(missions, finding)
    assert (shown["status"], shown["authority"]) == (status, STATUSES[status])
    assert (shown["review"]["reviewer"], shown["review"]["rationale"]) == ("ada", "Because.")
    assert missions.checkout("port")["current_facts"] == []


def test_a_review_has_no_words_of_the_finding(missions: Missions, memory: Memory) -> None:
    accept(missions, report(missions, "Zebras graze.", claim_key="giraffe", claim_value="okapi"))
    assert not any(word in words_of_parent(memory) for word in ("Zebras", "giraffe", "okapi"))


@pytest.mark.parametrize("status", STATUSES)
def test_the_same_review_by_the_same_changes_nothing(missions: Missions, memory: Memory, status: str) -> None:
    finding = report(missions, "The lock holds.")
    first = missions.review_finding("port", finding, status, actor="ada")
    before = len(all_events(memory))
    again = missions.review_finding("port", finding, status, actor="ada", rationale="I said so.")
    assert (again["replayed"], again["citation"], len(all_events(memory))) == (True, first["citation"], before)


@pytest.mark.parametrize("status", ["accepted", "rejected"])
def test_who_agrees_with_a_decision_changes_nothing(missions: Missions, memory: Memory, status: str) -> None:
    finding = report(missions, "The lock holds.")
    first = missions.review_finding("port", finding, status, actor="ada")
    again = missions.review_finding("port", finding, status, actor="grace")
    assert (again["replayed"], again["citation"]) == (True, first["citation"])
    assert len(events(memory)) == 4


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("accepted", "rejected"),
        ("rejected", "accepted"),
        ("accepted", "conflicted"),
        ("rejected", "conflicted"),
    ],
)
def test_who_decides_otherwise_is_told_by_whom_it_was_decided(missions: Missions, first: str, then: str) -> None:
    finding = report(missions, "The lock holds.")
    missions.review_finding("port", finding, first, actor="ada")
    with pytest.raises(Conflict, match=rf"{finding} was {first} by ada at .* UTC, event 4 of port") as caught:
        missions.review_finding("port", finding, then, actor="grace")
    assert "deferred first" in caught.value.remediation
    assert row(missions, finding)["status"] == first


@pytest.mark.parametrize("first", ["accepted", "rejected", "conflicted"])
def test_deferring_reopens_what_was_decided_and_the_log_keeps_both(
    missions: Missions, memory: Memory, first: str
) -> None:
    finding = report(missions, "The lock holds.")
    missions.review_finding("port", finding, first, actor="ada")
    missions.review_finding("port", finding, "deferred", actor="grace")
    other = "rejected" if first == "accepted" else "accepted"
    missions.review_finding("port", finding, other, actor="grace")
    said = [event.payload["status"] for event in events(memory)[3:] if event.payload]
    assert said == [first, "deferred", other]
    assert row(missions, finding)["status"] == other


def test_what_is_deferred_by_two_is_recorded_of_both(missions: Missions, memory: Memory) -> None:
    finding = report(missions, "The lock holds.")
    for actor in ("ada", "grace", "grace"):
        missions.review_finding("port", finding, "deferred", actor=actor)
    assert [event.actor for event in events(memory)[3:]] == ["ada", "grace"]


@pytest.mark.parametrize("status", ["", "pending", "promoted", "Accepted"])
def test_a_review_says_only_what_reviews_can_say(missions: Missions, status: str) -> None:
    finding = report(missions, "The lock holds.")
    with pytest.raises(InvalidRequest, match="is not what a review can say"):
        missions.review_finding("port", finding, status)


@pytest.mark.parametrize("finding", ["", "w1:finding:2", "w9:finding:1", "w1:finding:01"])
def test_an_unknown_finding_is_refused(missions: Missions, finding: str) -> None:
    report(missions, "The lock holds.")
    for call in (lambda: accept(missions, finding), lambda: missions.promote("port", finding)):
        with pytest.raises(NotFound, match="port has no finding"):
            call()


# At once


def at_once(memory: Memory, finding: str, statuses: dict[str, str]) -> dict[str, str]:
    """What becomes of reviews by several, all of whom have read the mission before one of them writes."""
    barrier = Barrier(len(statuses))

    class Slow(Missions):
        def write(self, *given: object, **more: object) -> dict[str, object]:
            barrier.wait(60)
            return super().write(*given, **more)  # type: ignore[arg-type]

    def review(actor: str) -> str:
        try:
            return str(Slow(memory).review_finding("port", finding, statuses[actor], actor=actor)["status"])
        except Conflict as error:
            return error.message

    with ThreadPoolExecutor(len(statuses)) as pool:
        return dict(zip(statuses, pool.map(review, statuses), strict=True))


def test_of_two_who_decide_otherwise_at_once_one_is_told_of_the_other(missions: Missions, memory: Memory) -> None:
    finding = report(missions, "The lock holds.")
    said = at_once(memory, finding, {"ada": "accepted", "grace": "rejected"})
    winner = next(event for event in events(memory)[3:]).actor
    loser = "grace" if winner == "ada" else "ada"
    decided = "accepted" if winner == "ada" else "rejected"
    assert said[winner] == decided
    assert said[loser].startswith(f"{finding} was {decided} by {winner} at ")
    assert len(events(memory)) == 4


def test_who_agree_at_once_are_both_content_and_it_is_recorded_once(missions: Missions, memory: Memory) -> None:
    finding = report(missions, "The lock holds.")
    assert at_once(memory, finding, {"ada": "accepted", "grace": "accepted"}) == {
        "ada": "accepted",
        "grace": "accepted",
    }
    assert len(events(memory)) == 4


def test_a_decision_that_was_made_without_seeing_a_deferral_is_refused(missions: Missions, memory: Memory) -> None:
    finding = report(missions, "The lock holds.")
    said = at_once(memory, finding, {"ada": "deferred", "grace": "accepted"})
    assert len(events(memory)) == 4
    assert sum("was" in words for words in said.values()) == 1


# Promotions


def test_only_an_accepted_finding_is_promoted(missions: Missions) -> None:
    finding = report(missions, "The lock holds.")
    for status in ("pending", "deferred", "conflicted", "rejected"):
        if status != "pending":
            missions.review_finding("port", finding, status)
        with pytest.raises(Conflict, match=f"{finding} is {status}, and only an accepted finding is promoted"):
            missions.promote("port", finding)


def test_a_promotion_has_the_finding_and_cites_it_and_its_review(missions: Missions, memory: Memory) -> None:
    finding = promoted(missions, "The lock holds.", claim_key="lock", claim_value="holds", confidence=0.5)
    said = events(memory)[-1].payload or {}
    assert [said[name] for name in ("summary", "claim_key", "claim_value", "confidence")] == [
        "The lock holds.",
        "lock",
        "holds",
        0.5,
    ]
    cited = [memory.resolve(citation) for citation in said["citations"]]
    assert [event.type for event in cited] == ["coordination.finding.reported", "coordination.finding.reviewed"]
    assert row(missions, finding)["authority"] == "accepted_parent"


def test_a_second_promotion_changes_nothing(missions: Missions, memory: Memory) -> None:
    finding = promoted(missions, "The lock holds.")
    before = len(all_events(memory))
    again = missions.promote("port", finding, actor="grace")
    assert (again["replayed"], again["status"], len(all_events(memory))) == (True, "promoted", before)


def test_a_promotion_by_two_at_once_is_recorded_once(missions: Missions, memory: Memory) -> None:
    finding = report(missions, "The lock holds.")
    accept(missions, finding)
    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda actor: Missions(memory).promote("port", finding, actor=actor), "abcd"))
    assert {reply["status"] for reply in replies} == {"promoted"}
    assert [event.type for event in events(memory)].count("coordination.finding.promoted") == 1


def test_a_finding_whose_source_has_changed_is_not_promoted(missions: Missions, memory: Memory) -> None:
    finding = report(missions, "The lock holds.", evidence=[{"kind": "file", "reference": "src/lock.py:10"}])
    accept(missions, finding)
    memory.append("file.edit.applied", {"path": "src/lock.py"}, session="port.w2")
    assert row(missions, finding)["authority"] == "stale"
    with pytest.raises(Conflict, match="has changed since it was reported"):
        missions.promote("port", finding)


def test_a_promoted_claim_is_replaced_by_the_next_one(missions: Missions, memory: Memory) -> None:
    old = promoted(missions, "The lock is broken.", claim_key="lock", claim_value="broken")
    new = report(missions, "The lock holds.", "w2", claim_key="Lock ", claim_value="holds")
    assert row(missions, new)["authority"] == "conflict"
    accept(missions, new)
    missions.promote("port", new)
    assert [row(missions, name)["authority"] for name in (old, new)] == ["stale", "accepted_parent"]
    assert (events(memory)[-1].payload or {})["supersedes"] == [old]
    assert [fact["finding_id"] for fact in missions.checkout("port")["current_facts"]] == [new]
    assert [thing.entity.name for thing in Missions(memory).memory.current(["promotion"], "port")] == [new]


def test_what_was_promoted_is_not_reviewed_otherwise(missions: Missions) -> None:
    finding = promoted(missions, "The lock holds.")
    assert missions.review_finding("port", finding, "accepted", actor="grace")["replayed"]
    for status in ("rejected", "deferred", "conflicted"):
        with pytest.raises(Conflict, match=f"{finding} was promoted by ada"):
            missions.review_finding("port", finding, status, actor="grace")


def test_a_promotion_that_was_invalidated_is_parent_state_no_longer(missions: Missions, memory: Memory) -> None:
    finding = promoted(missions, "The lock is broken.", claim_key="lock", claim_value="broken")
    memory.invalidate(finding, "promotion", session="port", reason="It was mended.")
    assert row(missions, finding)["authority"] == "stale"
    assert missions.checkout("port")["current_facts"] == []
    new = report(missions, "The lock holds.", claim_key="lock", claim_value="holds")
    assert row(missions, new)["authority"] == "pending_worker", "what has ended contradicts nothing"


# What was erased


def test_a_finding_whose_review_was_erased_can_be_reviewed_again(missions: Missions, memory: Memory) -> None:
    finding = report(missions, "The lock holds.")
    reviewed = missions.review_finding("port", finding, "rejected", rationale="It is Bob's.", actor="ada")
    memory.forget(reviewed["citation"], "personal")
    assert row(missions, finding)["status"] == "pending"
    missions.review_finding("port", finding, "accepted", actor="ada")
    assert row(missions, finding)["status"] == "accepted"


def test_a_finding_whose_review_was_erased_can_be_decided_in_a_list(missions: Missions, memory: Memory) -> None:
    finding = report(missions, "The lock holds.")
    reviewed = missions.review_finding("port", finding, "rejected", rationale="It is Bob's.", actor="ada")
    memory.forget(reviewed["citation"], "personal")
    missions.apply_approval("port", [{"finding_id": finding, "status": "accepted", "promote": True}], actor="ada")
    assert row(missions, finding)["authority"] == "accepted_parent"


def test_a_finding_whose_promotion_was_erased_can_be_promoted_again(missions: Missions, memory: Memory) -> None:
    finding = report(missions, "The lock holds.")
    accept(missions, finding)
    memory.forget(missions.promote("port", finding, actor="ada")["citation"], "a mistake")
    assert row(missions, finding)["status"] == "accepted"
    assert not missions.promote("port", finding, actor="ada").get("replayed")
    assert row(missions, finding)["authority"] == "accepted_parent"
