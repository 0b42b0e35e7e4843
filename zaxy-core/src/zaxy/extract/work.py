"""Work and its results: goals, tasks, decisions, issues, verifications, handoffs."""

from __future__ import annotations

from zaxy.extract.rule import Mention, Rule, living, rule

GOAL = Mention(("goal", "goal_id"), "goal", "has_task", inward=True)
TASK = ("goal", "owner", "assignee", "priority", "due", "reason", "outcome", "result")


def _task(relation: str, status: str) -> Rule:
    return living(rule("task", relation, keeps=TASK, status=status, mentions=[GOAL]))


RULES = {
    "goal.created": living(rule("goal", "created_goal", keeps=("status", "owner", "priority", "due", "reason"))),
    "task.proposed": _task("proposed_task", "proposed"),
    "task.claimed": _task("claimed_task", "claimed"),
    "task.completed": _task("completed_task", "completed"),
    "decision.made": rule(
        "decision", "made_decision", keeps=("status", "rationale", "reason", "alternatives", "scope")
    )._replace(ids=("id", "decision_id")),
    "issue.diagnosed": living(
        rule("issue", "diagnosed_issue", keeps=("status", "severity", "cause", "component", "path", "fix"))
    ),
    "verification.recorded": rule(
        "verification", "recorded_verification", keeps=("status", "result", "command", "exit_code", "evidence")
    ),
    "handoff.created": rule("handoff", "created_handoff", keeps=("from", "to", "next_steps", "risks")),
}
