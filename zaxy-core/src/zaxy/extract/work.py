"""Work and its results: goals, tasks, decisions, issues, verifications, handoffs."""

from __future__ import annotations

from zaxy.extract.rule import Mention, rule

GOAL = Mention(("goal", "goal_id"), "goal", "has_task", inward=True)
TASK = ("goal", "owner", "assignee", "priority", "due", "reason", "outcome", "result")

RULES = {
    "goal.created": rule("goal", "created_goal", keeps=("status", "owner", "priority", "due", "reason")),
    "task.proposed": rule("task", "proposed_task", keeps=TASK, status="proposed", mentions=[GOAL]),
    "task.claimed": rule("task", "claimed_task", keeps=TASK, status="claimed", mentions=[GOAL]),
    "task.completed": rule("task", "completed_task", keeps=TASK, status="completed", mentions=[GOAL]),
    "decision.made": rule(
        "decision", "made_decision", keeps=("status", "rationale", "reason", "alternatives", "scope")
    ),
    "issue.diagnosed": rule(
        "issue", "diagnosed_issue", keeps=("status", "severity", "cause", "component", "path", "fix")
    ),
    "verification.recorded": rule(
        "verification", "recorded_verification", keeps=("status", "result", "command", "exit_code", "evidence")
    ),
    "handoff.created": rule("handoff", "created_handoff", keeps=("from", "to", "next_steps", "risks")),
}
