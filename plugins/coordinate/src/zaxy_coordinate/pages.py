"""Missions as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from zaxy.api import one_line, short_citation

BOLD, DIM, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
GREEN, RED, YELLOW = "\x1b[32m", "\x1b[31m", "\x1b[33m"
MARKS = {
    "accepted_parent": ("accepted", GREEN),
    "pending_worker": ("pending", YELLOW),
    "conflict": ("conflict", RED),
    "stale": ("stale", DIM),
    "rejected": ("rejected", DIM),
}
MAX_SHOWN = 12
MAX_TEXT = 400

Reply = Mapping[str, Any]


class Page:
    """Lines of a page within a width."""

    def __init__(self, width: int, colour: bool) -> None:
        self.width = width
        self._colour = colour
        self.lines: list[str] = []

    def painted(self, text: str, code: str) -> str:
        return f"{code}{text}{PLAIN}" if self._colour and text else text

    def heading(self, text: str) -> None:
        if self.lines:
            self.lines.append("")
        self.lines.append(self.painted(one_line(text, MAX_TEXT), BOLD))

    def add(self, text: str, indent: str = "  ", mark: str = "", code: str = "") -> None:
        """A text in lines; `mark` stands in front of the first."""
        front = f"{indent}{mark} " if mark else indent
        broken = wrap(one_line(text, MAX_TEXT), max(self.width - len(front), 20), break_on_hyphens=False) or [""]
        first = f"{indent}{self.painted(mark, code)} " if mark else indent
        self.lines.append(first + broken[0])
        self.lines += [" " * len(front) + line for line in broken[1:]]

    def note(self, text: str, indent: str = "  ") -> None:
        self.lines.append(indent + self.painted(one_line(text, MAX_TEXT), DIM))

    def __str__(self) -> str:
        return "\n".join(self.lines)


def written_page(reply: Reply, width: int, colour: bool) -> str:
    """What was written, and where."""
    page = Page(width, colour)
    names = ("mission_id", "worker_id", "assignment_id", "finding_id", "handoff_id")
    name = next((str(reply[field]) for field in reversed(names) if reply.get(field)), "")
    status = f" {reply['status']}" if reply.get("status") else ""
    again = " (it was so already)" if reply.get("replayed") else ""
    page.lines.append(one_line(f"{name}{status}{again}", MAX_TEXT))
    if reply.get("worker_session_id"):
        page.note(f"its session is {reply['worker_session_id']}")
    if reply.get("conflict_ids"):
        page.lines.append(page.painted("  it contradicts another finding: see 'zaxy coordinate brief'", RED))
    page.note(str(reply["citation"]))
    return str(page)


def status_page(reply: Reply, width: int, colour: bool) -> str:
    """Who does what, what waits for review, and what conflicts."""
    page = _beginning(reply, width, colour)
    _workers(page, reply)
    _conflicts(page, reply)
    waiting = [one for one in reply["findings"] if one["status"] not in ("accepted", "rejected", "promoted")]
    ready = [one for one in reply["findings"] if one["status"] == "accepted"]
    _findings(page, "Waits for review", [one for one in waiting if one["authority"] != "conflict"])
    _findings(page, "Accepted, waits for its promotion", ready)
    page.heading("Next")
    for step in reply["next_steps"]:
        page.add(step)
    return str(page)


def brief_page(reply: Reply, width: int, colour: bool) -> str:
    """The same, with all findings and their evidence."""
    page = _beginning(reply, width, colour)
    _workers(page, reply)
    _conflicts(page, reply)
    page.heading("Findings")
    for row in reply["findings"]:
        finding_lines(page, row)
    if reply["next_cursor"]:
        page.note(f"more with --cursor {reply['next_cursor']}")
    page.heading("Next")
    for step in reply["next_steps"]:
        page.add(step)
    return str(page)


def checkout_page(reply: Reply, width: int, colour: bool) -> str:
    page = Page(width, colour)
    page.heading(f"{reply['mission_id']}: {one_line(str(reply['objective']), MAX_TEXT)}")
    page.note(f"{reply['quality']['answerability']}, confidence {reply['quality']['confidence']:.2f}")
    page.heading("Accepted")
    for fact in reply["current_facts"]:
        page.add(fact["content"], mark="+", code=GREEN)
        page.note(f"{fact['worker_id']}, promoted by {fact['promoted_by']}  {short_citation(fact['citation'])}", "    ")
    if not reply["current_facts"]:
        page.note("nothing yet")
    rows = reply["diagnostics"].get("non_authoritative", ())
    if rows:
        page.heading("Not accepted: claims of workers, not facts")
        for row in rows:
            finding_lines(page, row)
    for warning in (*reply["warnings"], *reply["notices"]):
        page.add(str(warning), mark="!", code=YELLOW)
    return str(page)


def ledger_page(reply: Reply, width: int, colour: bool) -> str:
    """One line for each worker; what is counted stands above it."""
    page = Page(width, colour)
    names = ("reported", "accepted", "rejected", "duplicate", "missing_evidence", "test_backed", "stale")
    heads = ("worker", "reported", "accepted", "rejected", "duplicate", "no evidence", "tested", "stale")
    rows = [[one_line(str(one["worker_id"]), 24), *(str(one[name]) for name in names)] for one in reply["workers"]]
    rows.append(["all", *(str(reply["total"][name]) for name in names)])
    widths = [max(len(row[at]) for row in (heads, *rows)) for at in range(len(heads))]
    page.heading("  ".join(text.ljust(size) for text, size in zip(heads, widths, strict=True)).rstrip())
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(text.rjust(size) for text, size in zip(row[1:], widths[1:], strict=True))]
        page.lines.append("  ".join(cells))
    return str(page)


def applied_page(reply: Reply, width: int, colour: bool) -> str:
    page = Page(width, colour)
    for name in ("reviewed", "promoted", "unchanged"):
        if reply[name]:
            page.add(f"{name}: {', '.join(reply[name])}", indent="")
    if reply.get("signed_by"):
        page.note(f"signed by {reply['signed_by']}", "")
    if reply.get("replayed"):
        page.note("it was all so already: nothing was written", "")
    return str(page)


def recorded_page(reply: Reply, width: int, colour: bool) -> str:
    page = Page(width, colour)
    page.add(f"answer {reply['artifact_id']}", indent="")
    page.note(str(reply["artifact"]["citation"]))
    page.add(f"proof {reply['proof_id']}", indent="")
    page.note(str(reply["proof"]["citation"]))
    return str(page)


def trace_page(reply: Reply, width: int, colour: bool) -> str:
    page = Page(width, colour)
    proof = reply["proof"]
    page.heading(f"Proof by {proof['actor']}, {proof['time'][:10]}")
    page.note(short_citation(proof["citation"]))
    if reply["answer_candidates"]:
        page.heading("Answers")
        for one in reply["answer_candidates"]:
            page.add(f"{one['rank']}. {one['answer']}")
    for name, refs in reply["refs"].items():
        if refs:
            page.heading(name.replace("_", " ").capitalize())
            for ref in refs:
                said = ref.get("summary") or ref.get("rationale") or ref.get("status") or ref["type"]
                page.add(f"{ref.get('finding_id', '')} {said}".strip())
                page.note(f"{ref['actor']}  {short_citation(ref['citation'])}", "    ")
    rows = reply["diagnostics"]["non_authoritative_rows"]
    if rows:
        page.heading("Did not count")
        for row in rows[:MAX_SHOWN]:
            page.add(f"{row['finding_id']}: {row['authority']}")
    return str(page)


def missions_page(reply: Reply, width: int, colour: bool) -> str:
    page = Page(width, colour)
    if not reply["missions"]:
        return "There is no mission here. Begin one: zaxy coordinate start MISSION OBJECTIVE"
    for one in reply["missions"]:
        page.add(f"{one['mission_id']}: {one['objective']}", indent="")
    return str(page)


def finding_lines(page: Page, row: Reply) -> None:
    """A finding with its authority in front, and its evidence below."""
    mark, code = MARKS[row["authority"]]
    tested = ", tested" if row["test_backed"] else ""
    page.add(row["summary"], mark=f"[{mark}]", code=code)
    page.note(f"{row['finding_id']}{tested}  {short_citation(row['citation'])}", "    ")
    if row.get("duplicate_of"):
        page.note(f"says the same as {row['duplicate_of']}", "    ")
    for item in row["evidence"]:
        page.note(evidence_line(item), "    ")


def evidence_line(item: Mapping[str, Any]) -> str:
    """An item of evidence in one line."""
    if item.get("command"):
        code = item.get("exit_code")
        return f"$ {item['command']}" + (f"  -> {code}" if code is not None else "")
    said = item.get("reference") or item.get("citation") or item.get("summary")
    return f"{item.get('kind', 'evidence')}: {said if said else ', '.join(map(str, item))}"


def _beginning(reply: Reply, width: int, colour: bool) -> Page:
    page = Page(width, colour)
    page.heading(f"{reply['mission_id']}: {one_line(str(reply['objective']), MAX_TEXT)}")
    found, counts = reply["counts"]["authority"], reply["counts"]
    page.note(
        f"{counts['findings']} findings: {found['accepted_parent']} accepted, {found['pending_worker']} pending, "
        f"{found['conflict']} in conflict, {found['stale']} stale, {found['rejected']} rejected"
    )
    return page


def _workers(page: Page, reply: Reply) -> None:
    page.heading("Workers")
    for one in reply["workers"]:
        role = f" ({one['role']})" if one.get("role") else ""
        page.add(f"{one['worker_id']}{role}: {one.get('assignment') or 'nothing assigned'}")
        page.note(f"{one['findings']} findings, {one['waiting_for_review']} wait for review", "    ")
    if not reply["workers"]:
        page.note("none yet: zaxy coordinate worker MISSION WORKER")


def _conflicts(page: Page, reply: Reply) -> None:
    if not reply["conflicts"]:
        return
    page.heading("Conflicts")
    for one in reply["conflicts"]:
        page.add(str(one["claim_key"]), mark="!", code=RED)
        for side in one["sides"]:
            tested = ", tested" if side["test_backed"] else ""
            page.add(f"{side['value']} ({side['finding_id']}{tested})", indent="    ")


def _findings(page: Page, title: str, rows: Sequence[Reply]) -> None:
    if not rows:
        return
    page.heading(title)
    for row in rows[:MAX_SHOWN]:
        finding_lines(page, row)
    if len(rows) > MAX_SHOWN:
        page.note(f"and {len(rows) - MAX_SHOWN} more: zaxy coordinate brief")
