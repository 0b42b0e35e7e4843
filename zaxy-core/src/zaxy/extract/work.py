"""Work and its results: goals, tasks, decisions, issues, verifications, handoffs."""

from __future__ import annotations

from zaxy.extract.rule import Mention, Rule, living, rule

GOAL = Mention(("goal", "goal_id"), "goal", "has_task", inward=True)
TASK = ("goal", "owner", "assignee", "priority", "due", "reason", "outcome", "result", "blocked_by")


def _task(relation: str, status: str) -> Rule:
    return living(rule("task", relation, keeps=TASK, status=status, mentions=[GOAL], heading="tasks"))


def _open_task(relation: str, status: str) -> Rule:
    """A task that is not finished may say itself how it stands: `blocked`, `in progress`."""
    task = _task(relation, status)
    return task._replace(keeps=(*task.keeps, "status"), says_status=True)


RULES = {
    "goal.created": living(
        rule("goal", "created_goal", keeps=("status", "owner", "priority", "due", "reason"), heading="goals")
    ),
    "task.proposed": _open_task("proposed_task", "proposed"),
    "task.claimed": _open_task("claimed_task", "claimed"),
    "task.completed": _task("completed_task", "completed"),
    "decision.made": rule(
        "decision",
        "made_decision",
        keeps=("status", "rationale", "reason", "alternatives", "scope"),
        heading="decisions",
    )._replace(ids=("id", "decision_id")),
    "issue.diagnosed": living(
        rule(
            "issue",
            "diagnosed_issue",
            keeps=("status", "severity", "cause", "component", "path", "fix"),
            heading="blockers",
        )
    ),
    "verification.recorded": rule(
        "verification", "recorded_verification", keeps=("status", "result", "command", "exit_code", "evidence")
    ),
    "handoff.created": rule(
        "handoff", "created_handoff", keeps=("from", "to", "next_steps", "risks"), heading="artifacts"
    ),
}
