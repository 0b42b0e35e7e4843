"""A rule that gives other rows has a new version: digests over sample events of every type notice where it has not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest

import rule_digest
from zaxy.contracts.event_types import known_types
from zaxy.extract import rules
from zaxy.extract.housekeeping import IMPORTED_ERASED
from zaxy.extract.rule import Mention, Rule
from zaxy.extract.rules import RULES

T = TypeVar("T")

UNKNOWN = "note.taken"
"""A type without a rule of its own."""


def test_the_rules_are_as_they_were_when_their_version_was_recorded() -> None:
    assert not (found := rule_digest.problem()), found


def test_every_event_type_has_a_sample() -> None:
    assert set(rule_digest.samples()) == {*known_types(), UNKNOWN}


def changes(rule: Rule) -> Iterator[tuple[str, Rule]]:
    """Every rule that differs from this one in one respect."""
    yield "its entity type", rule._replace(entity_type="something_else")
    yield "its status", rule._replace(status="odd")
    yield "one more mention", rule._replace(mentions=(*rule.mentions, Mention(("tags",), "tag", "tagged")))
    for mention in rule.mentions:
        yield f"the mention {mention.relation}", rule._replace(mentions=_without(rule.mentions, mention))
    for field in rule.keeps:
        yield f"the property {field}", rule._replace(keeps=_without(rule.keeps, field))
    if rule.relation:
        yield "its relation", rule._replace(relation="other_relation")
    if not rule.name:
        yield "its name", rule._replace(named_by=(), name=lambda event, payload: "odd")
    for function in ("name", "describe", "properties", "more"):
        if getattr(rule, function):
            yield function, rule._replace(**{function: None})


def _without(items: tuple[T, ...], left_out: T) -> tuple[T, ...]:
    return tuple(item for item in items if item != left_out)


@pytest.mark.parametrize("event_type", RULES)
def test_the_samples_of_a_type_show_every_change_of_its_rule(monkeypatch: pytest.MonkeyPatch, event_type: str) -> None:
    events = rule_digest.samples()[event_type]
    before = rule_digest.digest_of(events)
    for what, changed in changes(RULES[event_type]):
        with monkeypatch.context() as patched:
            patched.setitem(RULES, event_type, changed)
            assert rule_digest.digest_of(events).rows != before.rows, what


def test_a_changed_rule_without_a_new_version_fails_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "decision.made", RULES["decision.made"]._replace(status="odd"))
    assert rule_digest.problem() == (
        f"The rules give other rows for decision.made, and their version is still {rules.VERSION}.\n"
        "Raise VERSION in zaxy/extract/rules.py, so that followers are rebuilt; then record the new digests:\n"
        "hatch run test:python tests/rule_digest.py"
    )


@pytest.mark.parametrize("event_type", [UNKNOWN, rules.INVALIDATED, rules.ERASED, IMPORTED_ERASED])
def test_what_is_extracted_without_a_rule_counts_too(monkeypatch: pytest.MonkeyPatch, event_type: str) -> None:
    extract = rules.extract
    monkeypatch.setattr(rules, "extract", lambda event: rules.NOTHING if event.type == event_type else extract(event))
    assert f"other rows for {event_type}," in rule_digest.problem()


def test_recording_is_refused_until_the_version_is_raised(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    copy = tmp_path / "rule_digest.json"
    copy.write_bytes(rule_digest.RECORD.read_bytes())
    monkeypatch.setattr(rule_digest, "RECORD", copy)
    monkeypatch.setitem(RULES, "decision.made", RULES["decision.made"]._replace(status="odd"))
    assert "decision.made" in rule_digest.record()
    assert copy.read_bytes() == (rule_digest.GOLDEN / "rule_digest.json").read_bytes()
    monkeypatch.setattr(rules, "VERSION", "next")
    assert rule_digest.COMMAND in rule_digest.problem()
    assert not rule_digest.record()
    assert not rule_digest.problem()
    monkeypatch.setattr(rules, "VERSION", "after next")
    assert "Record the digests again" in rule_digest.problem()


def test_a_new_sample_is_recorded_without_a_new_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("RECORD", "SAMPLES"):
        copy = tmp_path / getattr(rule_digest, name).name
        copy.write_bytes(getattr(rule_digest, name).read_bytes())
        monkeypatch.setattr(rule_digest, name, copy)
    with rule_digest.SAMPLES.open("a", encoding="utf-8") as file:
        file.write('{"type": "note.taken", "actor": "ada", "payload": {"text": "one more"}}\n')
    assert "Record the digests again" in rule_digest.problem()
    assert not rule_digest.record()
    assert not rule_digest.problem()
