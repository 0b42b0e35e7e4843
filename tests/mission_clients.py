"""Members of a mission that are processes of their own: each is a client of its own server, over real pipes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from served import environment

MISSION = "port"
PASSED = {"kind": "test", "command": "pytest -q tests/test_pool.py", "exit_code": 0}
FAILED = {"kind": "test", "command": "pytest -q tests/test_ring.py", "exit_code": 1}
REPORTS: dict[str, list[dict[str, Any]]] = {
    "w1": [
        {"summary": "The pool has 8 slots", "claim_key": "pool size", "claim_value": "8", "evidence": [PASSED]},
        {"summary": "It leaks in the pool", "claim_key": "leak", "claim_value": "the pool", "confidence": 0.7},
        {"summary": "Nobody closes the last slot", "evidence": [{"reference": "src/slots.py:40"}]},
    ],
    "w2": [
        {"summary": "The pool has 16 slots", "claim_key": "Pool Size", "claim_value": "16", "evidence": [FAILED]},
        {"summary": "The ring is never full"},
    ],
    "w3": [
        {"summary": "The leak is there", "claim_key": "leak", "claim_value": "The Pool", "evidence": [PASSED]},
        {"summary": "The ring has its own lock", "evidence": [FAILED]},
    ],
}
"""Of two workers one contradicts the other, and the third repeats what one has found."""


class Caller:
    def __init__(self, portal: Any, client: Client) -> None:
        self._portal, self._client = portal, client

    def __call__(self, name: str, **given: Any) -> dict[str, Any]:
        """What a tool of missions answers; an error is none of the answers that are expected."""
        found = self._portal.call(self._client.call_tool, f"coordination_{name}", {"mission_id": MISSION, **given})
        assert not found.is_error, (name, found.structured_content)
        content: dict[str, Any] = found.structured_content
        return content


@contextmanager
def member(folder: str) -> Iterator[Caller]:
    """A client of a server of its own, which lists the tools of missions."""
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "zaxy", "serve", "--profile", "coordinate"], cwd=folder, env=environment()
    )
    with start_blocking_portal() as portal:
        client = Client(stdio_client(parameters))
        with portal.wrap_async_context_manager(client):
            yield Caller(portal, client)


def report_all(folder: str, worker_id: str) -> None:
    """In a child: report what this worker has found, and print the ids."""
    with member(folder) as call:
        told = [_report(call, worker_id, finding) for finding in REPORTS[worker_id]]
    print(json.dumps(told))


def _report(call: Caller, worker_id: str, finding: Mapping[str, Any]) -> str:
    return str(call("report_finding", worker_id=worker_id, **finding)["finding_id"])
