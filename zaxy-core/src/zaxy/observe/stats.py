"""What a workspace's memory holds and cost, counted in its logs: by session, and by week."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import TYPE_CHECKING, Any

from zaxy.errors import ZaxyError
from zaxy.observe.receipt import injected_tokens, model_tokens

if TYPE_CHECKING:
    from zaxy.api.log_access import LogAccess, Record


class Stats:
    """Counts of one session, or of all."""

    def __init__(self) -> None:
        self.events = self.injected = self.model = 0
        self.days: set[str] = set()
        self.events_by_week: Counter[str] = Counter()
        self.tokens_by_week: Counter[str] = Counter()

    def count(self, record: Record) -> None:
        self.events += 1
        if "damage" in record:
            return  # neither when it was nor what it says is known
        day, payload = record["time"][:10], record.get("payload")
        tokens = injected_tokens(record["type"], record["actor"], payload)
        week = week_of(day)
        self.days.add(day)
        self.injected += tokens
        self.model += model_tokens(record["actor"], payload)
        self.events_by_week[week] += 1
        self.tokens_by_week[week] += tokens

    def add(self, other: Stats) -> None:
        self.events += other.events
        self.injected += other.injected
        self.model += other.model
        self.days |= other.days
        self.events_by_week += other.events_by_week
        self.tokens_by_week += other.tokens_by_week

    @property
    def span(self) -> dict[str, str]:
        return {"first": min(self.days, default=""), "last": max(self.days, default="")}


def stats_of(log: LogAccess) -> tuple[dict[str, Any], int, list[str]]:
    """What `zaxy stats --json` prints, on how many days something was recorded, and which logs are damaged.

    Of a damaged log the events before the damage are counted.
    """
    total, by_session, damaged = Stats(), list[dict[str, Any]](), list[str]()
    for session in log.sessions():
        own = Stats()
        try:
            for record in log.records(session):
                own.count(record)
        except ZaxyError:
            damaged.append(session)
        total.add(own)
        row = {"session_id": session, "events": own.events, **own.span, "injected_tokens": own.injected}
        by_session.append(row)
    weeks = [
        {"week": week, "events": count, "injected_tokens": total.tokens_by_week[week]}
        for week, count in sorted(total.events_by_week.items())
    ]
    counted = {"events": total.events, "sessions": len(by_session), **total.span}
    costs = {"injected_tokens": total.injected, "model_tokens": total.model}
    return {**counted, **costs, "by_session": by_session, "by_week": weeks}, len(total.days), damaged


def week_of(day: str) -> str:
    """The week of a day by ISO 8601, such as 2026-W47."""
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year:04}-W{week:02}"
