"""The built-in rules: rows of each family, what ends what, housekeeping, bounds, and the page that lists it all."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from zaxy.api.models import Closing, Edge, Entity, EntityRef, Event, Extraction
from zaxy.eventloom.admission import OWN_ACTOR, admit
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.store import event_of
from zaxy.extract import housekeeping
from zaxy.extract.closings import MAX_SUPERSEDED, closings_as_json, closings_from_json
from zaxy.extract.housekeeping import is_housekeeping
from zaxy.extract.rule import entity_types, relation_types
from zaxy.extract.rules import ENTITY_TYPES, RELATION_TYPES, RULES, VERSION, extract
from zaxy.extract.texts import entity_name, readable_text
from zaxy.extract.times import utc_text
from zaxy.observe import hook_events
from zaxy_testkit.checks.extractors import TIME

PAGE = (Path(__file__).parents[1] / "docs" / "events.md").read_text(encoding="utf-8")
NOW = "2026-06-15T00:00:00.000000Z"
EARLIER = "2026-06-01T08:30:00.000000Z"


def told(type_: str, payload: Mapping[str, object] | None, actor: str = "ada", seq: int = 9) -> Event:
    return Event("work", seq, f"evt_{seq}_00000000", type_, actor, NOW, payload, "9" * 64, "8" * 64)


def rows(type_: str, actor: str = "ada", /, **payload: Any) -> Extraction:
    return extract(told(type_, payload, actor))


def own(type_: str, actor: str = "ada", /, **payload: Any) -> Entity:
    return rows(type_, actor, **payload).entities[0]


def ref(entity_type: str, name: str) -> EntityRef:
    return EntityRef(entity_type, name)


def arrows(extraction: Extraction) -> list[str]:
    return [
        f"{edge.source.entity_type} {edge.source.name} -{edge.relation_type}-> "
        f"{edge.target.entity_type} {edge.target.name}"
        for edge in extraction.edges
    ]


ADA = Entity("ada", "actor", "actor ada")
WORK = Entity("work", "session", "session work")

CANDIDATE = {"rank": 1, "type": "sum", "answer": "42 h", "support_source_ids": ["f1", "day-2"]}
ROW = {"fact_id": "f1", "source_group": "day-1", "citation": "c", "label": "hours worked", "value": 8, "unit": "h"}
SAMPLES: dict[str, dict[str, Any]] = {
    "goal.created": {"goal": "Ship v1", "due": "June"},
    "task.proposed": {"task": "Write the rules", "goal": "Ship v1"},
    "task.claimed": {"task": "Write the rules", "goal": "Ship v1"},
    "task.completed": {"task": "Write the rules", "goal": "Ship v1", "result": "done"},
    "decision.made": {"decision": "Use SQLite", "rationale": "it is everywhere"},
    "issue.diagnosed": {"issue": "Sync fails on a full disk", "severity": "high"},
    "verification.recorded": {"verification": "The suite is green", "command": "pytest", "exit_code": 0},
    "handoff.created": {"handoff": "The rules are yours", "next_steps": ["measure", "write the page"]},
    "fact.recorded": {"fact": "The port is 5432", "subject": "database"},
    "user.preference_changed": {"preference": "editor", "value": "vim", "user": "bob"},
    "document.indexed": {"path": "docs/a.md", "content": "# A", "start_line": 1, "end_line": 40, "source": "repo"},
    "transcript.turn": {"role": "user", "content": "Where is Porto?", "source": "chat-1", "turn_index": 3},
    "command.completed": {"command": "pytest", "exit_code": 0, "stdout": "557 passed"},
    "file.edit.applied": {"path": "src/a.py", "operation": "modified", "lines_added": 3, "lines_removed": 1},
    "tool.call.completed": {"tool_name": "search", "status": "ok", "argument_keys": ["q"], "result_summary": "3 hits"},
    "hook.checkpoint": {"trigger": "checkpoint", "source": "codex", "summary": "Finished.", "reason": "manual"},
    "hook.session_started": {"trigger": "session-start", "source": "codex"},
    "hook.resumed": {"trigger": "resume", "source": "codex"},
    "hook.user_prompt_submitted": {"trigger": "user-prompt-submit", "source": "codex"},
    "hook.stop": {"trigger": "stop", "source": "codex", "turn_count": 7},
    "hook.precompact": {"trigger": "precompact", "source": "codex"},
    "session.ended": {"reason": "shutdown"},
    "subagent.cleaned": {"parent_session_id": "main", "subagent_session_id": "sub-1", "summary": "Looked around."},
    "subagent.completed": {"subagent_session_id": "sub-1", "summary": "Looked around."},
    "skill.proposed": {"skill_id": "deploy", "version": 2, "procedure": ["build", "push"]},
    "skill.validated": {"skill_id": "deploy", "version": 2, "evidence": ["worked twice"]},
    "skill.revised": {"skill_id": "deploy", "version": 3, "procedure": ["test", "push"], "supersedes_version": 2},
    "skill.deprecated": {"skill_id": "deploy", "version": 2, "reason": "too slow"},
    "skill.contradicted": {"skill_id": "deploy", "version": 2, "reason": "failed on Windows"},
    "skill.applied": {"skill_id": "deploy", "version": 2, "task": "Release v1"},
    "skill.outcome_recorded": {"skill_id": "deploy", "version": 2, "success_score": 0.9, "feedback": "worked"},
    "memory.reinforced": {"entity_name": "Use SQLite", "entity_type": "decision", "feedback": "helpful"},
    "memory.feedback": {"entity_name": "Use SQLite", "entity_type": "decision", "feedback": "irrelevant"},
    "memory.synthesis.artifact.created": {
        "artifact_id": "a1",
        "query": "How many hours?",
        "answer_candidates": [CANDIDATE],
        "ledger_rows": [ROW],
    },
    "memory.synthesis.used": {"artifact_id": "a1", "candidate": CANDIDATE},
    "memory.synthesis.rejected": {"artifact_id": "a1", "candidate": CANDIDATE, "reason": "one day is missing"},
    "memory.synthesis.corrected": {"artifact_id": "a1", "candidate": CANDIDATE, "correction": "43 h"},
    "memory.evidence.reinforced": {"row": ROW, "outcome": "used"},
    "memory.evidence.excluded": {"row": ROW, "outcome": "excluded", "reason": "a holiday"},
    "session.genesis": {"workspace": "shop", "workspace_id": "ws-1"},
    "workspace.instructions.discovered": {
        "workspace": "shop",
        "files": [{"path": "AGENTS.md", "size": 120, "sha256": "ab", "text": "never kept"}],
    },
}


def test_work_gives_the_thing_its_actor_and_the_goal_that_has_it() -> None:
    assert extract(told("task.completed", SAMPLES["task.completed"])) == Extraction(
        entities=(
            Entity(
                "Write the rules",
                "task",
                "Write the rules",
                {"goal": "Ship v1", "result": "done", "status": "completed"},
                merges=True,
                default_summary=True,
                titles=("Write the rules",),
            ),
            ADA,
        ),
        edges=(
            Edge(ref("actor", "ada"), ref("task", "Write the rules"), "completed_task"),
            Edge(ref("goal", "Ship v1"), ref("task", "Write the rules"), "has_task"),
        ),
    )


def test_a_decision_that_names_an_older_one_supersedes_it_from_when_it_happened() -> None:
    given = rows("decision.made", decision="Use SQLite", supersedes="Use Kuzu", occurred_at="2026-06-01T10:30:00+02:00")
    made = ref("decision", "Use SQLite")
    assert given == Extraction(
        entities=(Entity("Use SQLite", "decision", "Use SQLite", {}, EARLIER), ADA),
        edges=(
            Edge(ref("actor", "ada"), made, "made_decision", valid_from=EARLIER),
            Edge(made, ref("decision", "Use Kuzu"), "supersedes", valid_from=EARLIER),
        ),
        closings=(Closing(EARLIER, entity=ref("decision", "Use Kuzu")),),
    )


def test_a_fact_is_about_its_subject_and_is_named_by_its_key_or_its_text_alone() -> None:
    given = rows("fact.recorded", fact="The port is 5432", subject="database", tags=["net"])
    fact = ref("fact", "The port is 5432")
    assert given.entities == (
        Entity(fact.name, "fact", fact.name, {"subject": "database", "tags": ["net"]}),
        Entity("database", "subject", "subject database"),
    )
    assert given.edges == (Edge(fact, ref("subject", "database"), "about"),)
    assert own("fact.recorded", key="db.port", subject="database", value=5432).name == "db.port"
    in_parts = own("fact.recorded", subject="Ana", predicate="lives in", object="Porto")
    assert (in_parts.name, in_parts.summary) == ("Ana lives in Porto", "Ana lives in Porto")
    valued = own("fact.recorded", subject="Ana", attribute="city", value="Porto")
    assert (valued.name, valued.summary) == ("Ana city: Porto", "Ana city: Porto")


def test_a_preference_belongs_to_its_user() -> None:
    given = rows("user.preference_changed", preference="editor", value="vim", user="bob")
    preference = Entity("bob: editor", "preference", "editor: vim", given.entities[0].properties)
    assert given.entities == (preference, Entity("bob", "user", "user bob"))
    assert given.edges == (Edge(ref("user", "bob"), ref("preference", "bob: editor"), "prefers"),)


def test_the_parts_of_a_document_are_not_versions_of_each_other() -> None:
    first, second = (
        rows("document.indexed", path="a.md", title="A", content="x", start_line=start, end_line=start + 9)
        for start in (1, 11)
    )
    assert [first.entities[0].name, second.entities[0].name] == ["a.md:1-10", "a.md:11-20"]
    assert arrows(first) == ["document a.md:1-10 -from_source-> source a.md"]


def test_a_turn_is_said_by_its_speaker_and_two_equal_turns_are_two() -> None:
    given = extract(told("transcript.turn", SAMPLES["transcript.turn"]))
    turn = ref("transcript_turn", "transcript.turn:9")
    properties = {"role": "user", "source": "chat-1", "turn_index": 3}
    assert given.entities == (Entity(turn.name, turn.entity_type, "Where is Porto?", properties), ADA)
    assert given.edges == (Edge(ref("actor", "ada"), turn, "said"),)
    later = extract(told("transcript.turn", SAMPLES["transcript.turn"], seq=10))
    assert later.entities[0].name != given.entities[0].name
    hooked = rows("transcript.turn", "zaxy-hook", role="assistant", content="Yes.")
    assert hooked.edges[0].source == ref("actor", "assistant")
    assert rows("transcript.turn", speaker="Ana", role="user", content="x").edges[0].source == ref("actor", "Ana")


def test_commands_edits_and_tool_calls_are_observed_by_the_session_without_file_content() -> None:
    command = extract(told("command.completed", SAMPLES["command.completed"], "zaxy-hook"))
    run = Entity("command.completed:9", "command_run", "pytest: exit 0; 557 passed", command.entities[0].properties)
    assert command.entities == (run, WORK)
    assert command.edges == (Edge(ref("session", "work"), ref("command_run", run.name), "observed_command"),)
    secretive = {"content": "RAW", "diff": "RAW", "text": "RAW", "arguments": {"q": "RAW"}, "old": ["RAW"]}
    edit = rows("file.edit.applied", path="src/a.py", operation="modified", lines_added=3, **secretive)
    call = rows("tool.call.completed", tool_name="search", status="ok", argument_keys=["q"], **secretive)
    nameless = rows("command.completed", **secretive)
    assert edit.entities[0].summary == "modified src/a.py (+3)"
    assert (call.entities[0].summary, call.entities[0].properties["argument_keys"]) == ("search: ok", ["q"])
    assert "RAW" not in repr((edit, call, nameless))
    assert arrows(edit) == ["session work -observed_file_edit-> file_edit file.edit.applied:9"]
    again = extract(told("command.completed", SAMPLES["command.completed"], "zaxy-hook", seq=10))
    assert again.entities[0].name != run.name, "a second run does not replace the first"
    noisy = own("command.completed", command="cat", stdout="x" * 10_000)
    assert len(str(noisy.properties["stdout"])) == 240
    assert len(noisy.summary) < 260


def test_a_hook_checkpoint_is_a_milestone_of_its_session_that_is_found_by_its_summary() -> None:
    payload = {**SAMPLES["hook.checkpoint"], "turn_count": 7}
    given = extract(told("hook.checkpoint", payload, "zaxy-hook"))
    properties = {"trigger": "checkpoint", "reason": "manual", "turn_count": 7, "source": "codex"}
    assert given.entities == (Entity("Finished.", "hook_checkpoint", "Finished.", properties), WORK)
    assert arrows(given) == ["session work -has_checkpoint-> hook_checkpoint Finished."]
    stop = own("hook.stop", "zaxy-hook", trigger="stop", reason="manual", turn_count=7)
    assert (stop.name, stop.summary) == ("stop", "stop: manual, turn 7")


def test_a_subagent_is_completed_for_its_parent_session() -> None:
    given = extract(told("subagent.cleaned", SAMPLES["subagent.cleaned"]))
    assert given.entities[0].summary == "Looked around."
    assert arrows(given) == ["session main -completed_subagent-> subagent_run sub-1"]


def test_each_version_of_a_skill_is_a_thing_of_its_own() -> None:
    revised = extract(told("skill.revised", SAMPLES["skill.revised"]))
    assert (revised.entities[0].name, revised.entities[0].properties["status"]) == ("deploy@3", "revised")
    assert revised.entities[0].properties["procedure"] == ["test", "push"]
    assert arrows(revised) == [
        "skill deploy@3 -version_of-> skill deploy",
        "skill deploy@3 -supersedes-> skill deploy@2",
    ]
    assert revised.closings == (Closing(NOW, entity=ref("skill", "deploy@2")),)
    proposed = rows("skill.proposed", skill_id="deploy", version=4, supersedes_version=3, procedure="build\n\n push")
    assert proposed.closings == ()
    assert proposed.entities[0].properties["procedure"] == ["build", "push"]
    assert own("skill.proposed", skill_id="deploy").name == "deploy@1"


def test_the_uses_and_outcomes_of_a_skill_are_kept_one_by_one() -> None:
    assert arrows(extract(told("skill.applied", SAMPLES["skill.applied"]))) == [
        "skill deploy@2 -applied_to_task-> skill_application skill.applied:9",
        "skill_application skill.applied:9 -applied_to_task-> task Release v1",
    ]
    outcome = extract(told("skill.outcome_recorded", SAMPLES["skill.outcome_recorded"]))
    assert (outcome.entities[0].summary, outcome.entities[0].properties["success_score"]) == ("worked", 0.9)
    assert arrows(outcome) == ["skill deploy@2 -recorded_outcome-> skill_outcome skill.outcome_recorded:9"]


def test_reinforced_memory_keeps_purpose_policy_action_authority_and_mission_and_tells_nothing_anew() -> None:
    profile = {"role": "coordinator", "evidence_policy": "accepted_parent_state_required", "notes": {"long": "no"}}
    given = rows(
        "memory.reinforced",
        **SAMPLES["memory.reinforced"],
        purpose=profile,
        expected_action="hand over",
        authority="accepted_parent",
        mission_id="m1",
    )
    assert given.entities[0] == Entity(
        "memory.reinforced:9",
        "memory_feedback",
        "helpful: decision Use SQLite",
        {
            "entity_name": "Use SQLite",
            "entity_type": "decision",
            "feedback": "helpful",
            "authority": "accepted_parent",
            "mission_id": "m1",
            "expected_action": "hand over",
            "purpose_role": "coordinator",
            "purpose_evidence_policy": "accepted_parent_state_required",
        },
    )
    assert given.entities[1:] == (ADA,)
    assert arrows(given) == [
        "memory_feedback memory.reinforced:9 -feedback_about_memory-> decision Use SQLite",
        "actor ada -reinforced_memory-> decision Use SQLite",
    ]
    audit = extract(told("memory.feedback", SAMPLES["memory.feedback"]))
    assert [edge.relation_type for edge in audit.edges] == ["feedback_about_memory"]
    assert audit.closings == ()


def test_a_synthesis_artifact_gives_candidates_ledger_rows_and_source_groups() -> None:
    given = extract(told("memory.synthesis.artifact.created", SAMPLES["memory.synthesis.artifact.created"]))
    assert [(entity.entity_type, entity.name, entity.summary) for entity in given.entities] == [
        ("synthesis_artifact", "a1", "How many hours?"),
        ("synthesis_answer_candidate", "a1:candidate:1", "42 h (sum)"),
        ("source_group", "day-1", "source group day-1"),
        ("source_group", "day-2", "source group day-2"),
        ("synthesis_ledger_row", "a1:row:f1", "hours worked: 8 h"),
    ]
    assert arrows(given) == [
        "synthesis_artifact a1 -artifact_has_answer_candidate-> synthesis_answer_candidate a1:candidate:1",
        "synthesis_answer_candidate a1:candidate:1 -candidate_supported_by_source_group-> source_group day-1",
        "synthesis_answer_candidate a1:candidate:1 -candidate_supported_by_source_group-> source_group day-2",
        "synthesis_artifact a1 -artifact_has_ledger_row-> synthesis_ledger_row a1:row:f1",
        "synthesis_ledger_row a1:row:f1 -cites_source_group-> source_group day-1",
    ]


def test_an_outcome_is_the_candidates_next_version_and_evidence_keeps_its_row() -> None:
    used = extract(told("memory.synthesis.used", SAMPLES["memory.synthesis.used"]))
    assert (used.entities[0].name, used.entities[0].properties["status"]) == ("a1:candidate:1", "used")
    assert used.entities[0].properties["answer"] == "42 h"
    excluded = extract(told("memory.evidence.excluded", SAMPLES["memory.evidence.excluded"]))
    assert excluded.entities[0].summary == "hours worked: 8 h (a holiday)"
    assert excluded.entities[0].properties["citation"] == "c"
    assert arrows(excluded) == ["synthesis_evidence f1 -cites_source_group-> source_group day-1"]


def test_a_workspace_is_initialised_by_its_session_and_instructions_keep_no_text() -> None:
    genesis = extract(told("session.genesis", SAMPLES["session.genesis"]))
    assert genesis.entities == (Entity("shop", "workspace", "shop", {"workspace_id": "ws-1"}), WORK)
    assert arrows(genesis) == ["session work -initialized_workspace-> workspace shop"]
    found = extract(told("workspace.instructions.discovered", SAMPLES["workspace.instructions.discovered"]))
    assert found.entities[0].summary == "AGENTS.md"
    assert found.entities[0].properties == {
        "workspace": "shop",
        "paths": ["AGENTS.md"],
        "sizes": [120],
        "hashes": ["ab"],
    }
    assert arrows(found) == ["workspace shop -uses_workspace_instructions-> workspace_instructions shop"]


def test_a_name_is_the_first_of_key_name_title_id_subject_noun_and_text() -> None:
    fields = ["key", "name", "title", "id", "decision_id", "subject", "decision", "summary", "text", "content"]
    payload: dict[str, object] = {field: f"by {field}" for field in fields}
    for field in fields:
        assert own("decision.made", **payload).name == f"by {field}"
        payload[field] = "  "
    assert own("decision.made", **payload).name == "decision.made:9"
    assert own("task.claimed", id=42).name == "42"
    assert own("decision.made", decision="\u3000\ufb01nal \n").name == "final"
    long = own("decision.made", decision="x" * 5000)
    assert (len(long.name), len(long.summary)) == (160, 2000)
    assert own("x." + "y" * 250).name.endswith("y:9")


def test_a_summary_is_the_first_of_summary_noun_text_content_and_description() -> None:
    fields = ["summary", "decision", "text", "content", "description"]
    payload: dict[str, object] = {field: f"by {field}" for field in fields}
    for field in fields:
        assert own("decision.made", **payload).summary == f"by {field}"
        del payload[field]
    assert own("decision.made", scope="disk").summary == "scope: disk"


def test_what_only_names_a_living_thing_stands_in_for_a_summary() -> None:
    for payload, summary in (
        ({"id": "T-1", "title": "Fix login"}, "Fix login"),
        ({"task": "Fix login", "outcome": "done"}, "Fix login"),
        ({"id": "T-1", "outcome": "done"}, "id: T-1\noutcome: done"),
    ):
        task = own("task.completed", **payload)
        assert (task.summary, task.default_summary) == (summary, True)
    task = own("task.completed", id="T-1", title="Fix login", text="It was the cookie")
    assert (task.summary, task.default_summary) == ("It was the cookie", False)


def test_a_living_thing_is_named_by_key_then_id_then_title_and_has_all_its_names() -> None:
    task = own("task.proposed", id="7", title="Fix login", key="login", task_id="T-7", name="login")
    assert (task.name, task.ids, task.titles) == ("login", ("login", "7", "T-7"), ("login", "Fix login"))
    skill = own("skill.proposed", skill_id="deploy", name="Deploy it", version="2")
    assert (skill.name, skill.ids, skill.titles) == ("deploy@2", ("deploy@2",), ("Deploy it@2",))
    assert own("task.proposed", text="look around").titles == ("look around",)
    decision = own("decision.made", id="7", title="Redis")
    assert (decision.name, decision.ids, decision.titles, decision.merges) == ("Redis", ("7",), (), False)


def test_a_field_that_is_null_is_taken_away_by_an_update_only() -> None:
    assert own("task.claimed", id="7", owner=None, due="").properties == {"owner": None, "status": "claimed"}
    assert "reason" not in own("decision.made", key="db", reason=None).properties


def test_an_unknown_type_is_one_event_with_its_readable_text() -> None:
    assert rows("garden.watered", litres=3, text="The roses too", tags=["roses"]) == Extraction(
        (
            Entity(
                *("garden.watered:9", "event", "The roses too\nlitres: 3\ntags: roses"),
                {"tags": ["roses"], "event_type": "garden.watered"},
            ),
        )
    )
    assert own("garden.watered").summary == "garden.watered:9"


def test_an_erased_event_yields_nothing() -> None:
    assert extract(told("decision.made", None)) == Extraction()


def test_supersedes_takes_citations_of_earlier_events_names_and_lists_of_them() -> None:
    def cite(session: str, seq: int) -> str:
        return f"eventloom://{session}/events/{seq}#{'a' * 12}"

    given = [
        cite("work", 3),
        "Use Kuzu",
        cite("work", 3),
        cite("work", 9),
        cite("other", 2),
        "eventloom://x",
        7,
        [],
        "",
    ]
    assert rows("decision.made", decision="Use SQLite", supersedes=given).closings == (
        Closing(NOW, seq=3),
        Closing(NOW, entity=ref("decision", "Use Kuzu")),
        Closing(NOW, entity=ref("decision", "7")),
    )
    assert rows("garden.watered", supersedes=cite("work", 3)).closings == (Closing(NOW, seq=3),)
    itself = rows("decision.made", decision="Use SQLite", supersedes="use sqlite")
    assert [edge.relation_type for edge in itself.edges] == ["made_decision"]
    many = rows("decision.made", decision="x", supersedes=[f"{n:0160}" for n in range(2000)])
    assert len(many.closings) == MAX_SUPERSEDED
    admit("made.up", "ada", {"closings": closings_as_json(many.closings)})


def test_an_invalidation_closes_an_entity_and_opens_nothing() -> None:
    named = {"entity_name": " Use Kuzu ", "entity_type": "decision"}
    closing = Closing(NOW, entity=ref("decision", "Use Kuzu"))
    assert rows("memory.invalidated", **named) == Extraction(closings=(closing,))
    assert rows("memory.invalidated", **named, invalid_at="2026-06-01T08:30:00Z").closings == (
        replace(closing, at=EARLIER),
    )
    assert rows("memory.invalidated", **named, invalid_at="yesterday").closings == (closing,)
    assert own("memory.invalidated", reason="no name").entity_type == "event"


def test_what_an_erased_event_had_closed_stays_closed(tmp_path: Path) -> None:
    loom = Eventloom(str(tmp_path))
    for decision in ({"decision": "Use Kuzu"}, {"decision": "Use SQLite", "supersedes": ["Use Kuzu", "Use Neo4j"]}):
        loom.append("work", [admit("decision.made", "ada", decision)])
    closings = extract(event_of(next(iter(loom.read("work", 2, 2))))).closings
    assert len(closings) == 2
    for actor in ("ada", OWN_ACTOR):
        loom.append("work", [admit("decision.made", "ada", {"decision": "another"})])
        seq = loom.end("work").seq
        recorded = event_of(loom.erase("work", seq, actor, "asked for", closings=closings_as_json(closings)))
        assert extract(recorded) == Extraction(closings=closings)
    loom.close()


def test_closings_survive_json_and_malformed_ones_are_passed_over() -> None:
    closings = (Closing(NOW, entity=ref("decision", "Use Kuzu")), Closing(EARLIER, seq=3))
    assert closings_from_json(json.loads(json.dumps(closings_as_json(closings)))) == closings
    bad = [{}, None, {"at": NOW}, {"at": "x", "seq": 1}, {"at": NOW, "seq": True}, {"at": NOW, "entity": ["a"]}]
    assert (
        closings_from_json([*bad, {"at": NOW, "seq": 1, "entity": ["a", "b"]}, {"at": NOW, "entity": ["a", " "]}]) == ()
    )
    assert closings_from_json("junk") == ()


@pytest.mark.parametrize("type_", sorted(housekeeping.TYPES))
def test_housekeeping_is_what_type_and_actor_both_call_so_and_has_no_rows(type_: str) -> None:
    assert is_housekeeping(told(type_, {"tool_name": "memory_query"}, OWN_ACTOR))
    assert extract(told(type_, {"tool_name": "memory_query"}, OWN_ACTOR)) == Extraction()
    assert not is_housekeeping(told(type_, {}, "ada"))
    assert is_housekeeping(told(type_, {}, "zaxy-hook")) is (type_ == "hook.heartbeat")


def test_the_reserved_actors_are_those_that_write() -> None:
    assert housekeeping.HOOK_ACTOR == hook_events.ACTOR
    assert not is_housekeeping(told("decision.made", {}, OWN_ACTOR))


def test_telling_an_actor_again_changes_nothing_however_it_is_written() -> None:
    first, again = rows("decision.made", "Ada", decision="a"), rows("task.claimed", "ada", task="b")
    assert first.entities[1].summary == again.entities[1].summary == "actor ada"
    assert first.entities[1].properties == again.entities[1].properties == {}


@pytest.mark.parametrize(
    ("given_time", "normalised"),
    [
        ("2026-06-01T10:30:00+02:00", EARLIER),
        ("2026-06-01 08:30", EARLIER),
        (" 2026-06-01T08:30:00.0000009Z", EARLIER),
        ("2026-06-01", "2026-06-01T00:00:00.000000Z"),
        ("0900-01-01", "0900-01-01T00:00:00.000000Z"),
        *((junk, "") for junk in ("yesterday", "", "20260601", "2026-W23-1", "2026-06-01T24:00", "2026-13-01")),
        *((junk, "") for junk in ("0001-01-01T00:00+14:00", "2026-06-01T00:00:60Z", 1780302600, None)),
    ],
)
def test_occurred_at_is_normalised_and_ignored_if_it_is_no_time(given_time: object, normalised: str) -> None:
    assert utc_text(given_time) == normalised
    given = rows("decision.made", decision="x", occurred_at=given_time)
    assert (given.entities[0].observed_at, given.edges[0].valid_from) == (normalised, normalised)
    assert given.entities[1].observed_at == ""


def test_readable_text_has_prose_first_then_fields_by_name_and_nested_values_by_path() -> None:
    payload = {
        "z": 1.0,
        "content": " long ",
        "summary": "short",
        "a": True,
        "none": None,
        "blank": " ",
        "title": 5,
        "deep": {"list": [1, "two", {"three": 3.5}], "b": "x"},
        "text": "short",
    }
    lines = ["short", "long", "a: true", "title: 5", "z: 1", "deep.b: x", "deep.list: 1, two", "deep.list.three: 3.5"]
    assert readable_text(payload) == "\n".join(lines)
    assert readable_text({}) == ""


def test_readable_text_of_a_large_payload_is_bounded_but_what_was_said_is_whole() -> None:
    said = "word " * 100_000
    assert readable_text({"content": said}) == said.strip()
    key = "k" * 500_000
    assert len(readable_text({key: {key[:9]: [{"n": n} for n in range(50_000)]}})) < 200_000


@pytest.mark.parametrize("type_", sorted(RULES))
def test_a_full_sample_of_every_type_gives_all_that_its_rule_declares_and_nothing_else(type_: str) -> None:
    given = extract(told(type_, SAMPLES[type_]))
    assert {entity.entity_type for entity in given.entities} == set(entity_types(RULES[type_]))
    assert given.entities[0].entity_type == RULES[type_].entity_type
    assert {edge.relation_type for edge in given.edges} - {"supersedes"} == set(relation_types(RULES[type_]))


def test_every_type_of_row_that_a_sample_gives_is_reserved_for_the_built_in_rules() -> None:
    given = [rows("made.up", supersedes="made.up:3"), *(extract(told(type_, SAMPLES[type_])) for type_ in RULES)]
    mentioned = {end.entity_type for each in given for edge in each.edges for end in (edge.source, edge.target)}
    assert {entity.entity_type for each in given for entity in each.entities} | mentioned == ENTITY_TYPES
    assert {edge.relation_type for each in given for edge in each.edges} == RELATION_TYPES


# The page


def documented(first_column: str) -> list[list[str]]:
    """The cells of the page's table that begins with this column, without code marks."""
    table = re.search(rf"^\| {first_column} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert table, f"docs/events.md has no table that begins with {first_column!r}"
    return [[cell.strip() for cell in row.strip("|").replace("`", "").split("|")] for row in table[1].splitlines()]


def test_the_page_lists_every_type_with_what_it_gives() -> None:
    expected = [[t, ", ".join(entity_types(r)), ", ".join(relation_types(r)), r.status] for t, r in RULES.items()]
    assert documented("event type") == expected


def test_the_page_lists_the_fields_that_make_name_summary_and_properties() -> None:
    groups: dict[tuple[str, ...], list[str]] = {}
    for type_, rule in RULES.items():
        fields = tuple(", ".join(part) for part in (rule.named_by, rule.texts, rule.keeps))
        groups.setdefault(fields, []).append(type_)
    assert documented("event types") == [[", ".join(types), *fields] for fields, types in groups.items()]


def test_the_page_lists_where_each_relation_leads() -> None:
    found = {
        (edge.relation_type, edge.source.entity_type, edge.target.entity_type)
        for type_, sample in SAMPLES.items()
        for edge in extract(told(type_, sample)).edges
        if edge.relation_type not in ("supersedes", "feedback_about_memory", "reinforced_memory")
    }
    assert [tuple(row) for row in documented("relation")] == sorted(found)


def test_the_page_names_housekeeping_the_version_and_the_bounds() -> None:
    assert all(f"`{type_}`" in PAGE for type_ in housekeeping.TYPES)
    assert f"rules is `{VERSION}`" in PAGE
    assert f"first {MAX_SUPERSEDED} of them" in PAGE


# Whatever the log takes

FIELDS = sorted(
    {field for rule in RULES.values() for field in (*rule.named_by, *rule.texts, *rule.keeps)}
    | {"occurred_at", "supersedes", "tags", "key", "candidate", "row", "files", "answer_candidates", "ledger_rows"}
    | {"closings", "invalid_at", "entity_name", "entity_type", "supersedes_version", "purpose", "finding_ids"}
)
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["eventloom://work/events/3#0123456789ab", "2026-06-01", "\u3000", "\ufdfa" * 200, "x" * 5000, "\x00", "accepted"]
)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(FIELDS) | TEXT, inner, max_size=5),
    max_leaves=12,
)
PAYLOADS = st.dictionaries(st.sampled_from(FIELDS) | TEXT, JSON, max_size=8)
TYPES = st.sampled_from([*RULES, *housekeeping.TYPES, "memory.invalidated", "made.up"])
ACTORS = st.sampled_from(["ada", "zaxy", "zaxy-hook", "x" * 256, " Ünï ", "\u2800"])


def expect_small_and_whole(given: Extraction) -> None:
    for entity in given.entities:
        assert 0 < len(entity.name) <= 160
        assert entity.name == entity_name(entity.name)
        assert 0 < len(entity.summary) <= 2000
        assert entity.entity_type
        assert entity.observed_at == "" or TIME.fullmatch(entity.observed_at)
        assert json.loads(json.dumps(entity.properties)) == entity.properties
        assert len(json.dumps(entity.properties)) < 100_000
        for value in entity.properties.values():
            for item in value if isinstance(value, list) else [value]:
                taken_away = item is None and entity.merges
                assert taken_away or isinstance(item, str | int | float)
                assert len(str(item)) <= 500
    for edge in given.edges:
        assert all(0 < len(part) <= 160 for part in (*edge.source, *edge.target, edge.relation_type))
        assert edge.valid_from == "" or TIME.fullmatch(edge.valid_from)
    for closing in given.closings:
        assert TIME.fullmatch(closing.at)
        assert (closing.entity is None) is (closing.seq is not None)


def turned_around(value: object) -> object:
    """The same JSON value with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {key: turned_around(value[key]) for key in reversed(value)}
    return [turned_around(item) for item in value] if isinstance(value, list) else value


@settings(max_examples=500, deadline=None, derandomize=True)
@given(TYPES, ACTORS, PAYLOADS)
@example("made.up", "ada", {"deep": json.loads("[" * 62 + "]" * 62)})
def test_any_payload_gives_well_formed_rows_the_same_every_time(
    type_: str, actor: str, payload: dict[str, object]
) -> None:
    event = told(type_, deepcopy(payload), actor)
    given = extract(event)
    expect_small_and_whole(given)
    assert event.payload == payload, "the payload was changed"
    assert repr(extract(told(type_, turned_around(payload), actor))) == repr(given)  # type: ignore[arg-type]
    if type_ in RULES and given.entities:
        rule = RULES[type_]
        assert given.entities[0].entity_type == rule.entity_type
        assert {entity.entity_type for entity in given.entities} <= set(entity_types(rule))
        assert {edge.relation_type for edge in given.edges} <= {*relation_types(rule), "supersedes"}


def test_a_payload_of_a_mebibyte_gives_rows_that_stay_small() -> None:
    big: dict[str, object] = dict.fromkeys(FIELDS, "word " * 1500)
    big |= {"files": [{"path": "p" * 900}] * 900, "answer_candidates": [{"rank": n} for n in range(9000)]}
    big |= {"ledger_rows": [{"fact_id": n, "source_group": "g" * 999} for n in range(900)]}
    for type_ in [*RULES, "made.up"]:
        given = extract(told(type_, big))
        expect_small_and_whole(given)
        assert len(given.entities) < 250
