"""What each purpose makes of one history and one question: the first rows, what does not count, and the verdict.

The table stands in docs/checkout.md, and a test holds it there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from zaxy.memory import Memory

SESSION, ALONE = "importer", "alone"
"""The whole history, and its first event alone."""
QUESTION = "Can the importer read Parquet files?"
HISTORY: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("a document", "document.indexed", {"path": "importer.md", "text": "The importer can read Parquet files."}),
    ("a decision", "decision.made", {"decision": "The importer can read Parquet files from May on"}),
    ("a draft", "decision.made", {"decision": "The importer can only read Parquet files", "status": "draft"}),
    ("a low-trust fact", "fact.recorded", {"fact": "Our importer can read all Parquet files", "confidence": 0.3}),
    ("a turn", "transcript.turn", {"role": "user", "content": "The importer is ready, it can read Parquet files!"}),
    ("an issue", "issue.diagnosed", {"issue": "The importer can not read empty Parquet files"}),
    ("an edit", "file.edit.applied", {"path": "importer.py", "summary": "The importer can read Parquet files"}),
    (
        "a passed check",
        "command.completed",
        {"command": "make importer", "exit_code": 0, "stdout": "read Parquet files"},
    ),
    ("a handoff", "handoff.created", {"handoff": "The importer can read Parquet files, CSV is next"}),
)
"""What each event is called in the table, its type, and what it says. Each is by somebody else."""
PURPOSES: tuple[str | dict[str, str], ...] = (
    *("general", "coding", "review", "release", "security", "research", "coordinate"),
    {"role": "code reviewer"},
    {"risk": "high"},
    {"time_horizon": "long"},
    {"ontology_lens": "decisions and handoffs"},
)
FIRST = 3


def rows() -> Iterator[tuple[str, ...]]:
    """For each purpose: its name, the first rows that are shown, what is left out and why, the verdict, and the verdict
    where the first event is all there is."""
    with TemporaryDirectory() as folder, Memory.open(folder) as memory:
        for session, history in ((SESSION, HISTORY), (ALONE, HISTORY[:1])):
            for number, (_, event_type, payload) in enumerate(history):
                memory.append(event_type, payload, actor=f"person-{number}", session=session)
        for purpose in PURPOSES:
            reply = memory.checkout(QUESTION, SESSION, purpose=purpose, max_tokens=6000).as_dict()
            policy = reply["diagnostics"].get("purpose_retrieval_policy", {"rows": []})
            left_out = [f"{_name(one)} ({one['why']})" for one in policy["rows"] if one["action"] == "left_out"]
            first = [_name(one) for one in _shown(reply)[:FIRST]]
            name = purpose if isinstance(purpose, str) else json.dumps(purpose)
            alone = memory.checkout(QUESTION, ALONE, purpose=purpose).quality.answerability
            yield name, ", ".join(first), ", ".join(left_out), reply["quality"]["answerability"], alone


def _shown(reply: dict[str, Any]) -> list[dict[str, Any]]:
    """Facts and evidence, in the order of the prompt."""
    lines = reply["prompt"]
    return sorted([*reply["current_facts"], *reply["evidence"]], key=lambda one: lines.index(one["citation"]))


def _name(cited: dict[str, Any]) -> str:
    seq = int(cited["citation"].rpartition("/events/")[2].partition("#")[0])
    return HISTORY[seq - 1][0]


def table() -> str:
    lines = ["| given | first rows | left out | verdict | with the document alone |", "|---|---|---|---|---|"]
    for name, first, left_out, verdict, alone in rows():
        lines.append(f"| `{name}` | {first} | {left_out} | `{verdict}` | `{alone}` |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(f"{Path(__file__).name}: {QUESTION}\n{table()}")
