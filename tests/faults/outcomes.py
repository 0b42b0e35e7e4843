"""What comes of all that can be done with a log, tried one after the other, in a process of its own if need be."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from faults.sample_logs import SESSION, note
from zaxy.errors import ZaxyError
from zaxy.eventloom import bulk, erase, index, refs, verify
from zaxy.eventloom.admission import admit
from zaxy.eventloom.loom import Eventloom
from zaxy.security import redaction

NOBODY = 65534
SECONDS = 30
LOADED = (bulk, erase, index, refs, verify, redaction)
"""Loaded before a child gives up its rights or its descriptors: it could not load them any more."""

Uses = dict[str, Callable[[Eventloom], Any]]

READS: Uses = {
    "sessions": lambda loom: loom.sessions(),
    "end": lambda loom: loom.end(SESSION).seq,
    "read": lambda loom: [line.seq for line in loom.read(SESSION)],
    "read on": lambda loom: [line.seq for line in loom.read(SESSION, 3)],
    "get": lambda loom: (line := loom.get(SESSION, 2)) and line.seq,
    "verify": lambda loom: loom.verify(SESSION).ok,
}
LOOK_UPS: Uses = {
    "refs": lambda loom: sorted(loom.refs(SESSION)),
    "resolve": lambda loom: loom.resolve_ref(SESSION, "HEAD").seq,
}
WRITES: Uses = {
    "append": lambda loom: loom.append(SESSION, [note()])[0].seq,
    "append with a key": lambda loom: loom.append(SESSION, [note(idempotency_key="a key")])[0].seq,
    "append admitted": lambda loom: loom.append(SESSION, [admit("note.taken", "tester", {"text": "x"})])[0].seq,
    "append to a new session": lambda loom: loom.append("another", [note()])[0].seq,
    "set a ref": lambda loom: (line := loom.get(SESSION, 1)) and loom.set_ref("refs/heads/main", line).seq,
    "erase": lambda loom: loom.erase(SESSION, 1, "tester", "it was asked for").seq,
    "repair": lambda loom: loom.repair(SESSION)[0].ok,
}
ALL: Uses = {**READS, **LOOK_UPS, **WRITES}


def outcomes_of(loom: Eventloom, uses: Uses) -> dict[str, Any]:
    """For each use what it gave, or the error that it raised as far as it is one to be shown."""
    return {name: _outcome(loom, use) for name, use in uses.items()}


def _outcome(loom: Eventloom, use: Callable[[Eventloom], Any]) -> Any:
    try:
        return use(loom)
    except ZaxyError as error:
        return {"code": error.code, "message": error.message, "remediation": error.remediation}
    except Exception as error:
        return {"crash": f"{type(error).__name__}: {error}"}


def crashes(outcomes: dict[str, Any]) -> dict[str, str]:
    """The errors that are not ours, and those of ours that do not say what to do."""
    failed = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, dict)}
    return {name: str(said) for name, said in failed.items() if "crash" in said or not said["remediation"]}


def refusals(outcomes: dict[str, Any]) -> dict[str, str]:
    """The code of each use that was refused."""
    return {name: said["code"] for name, said in outcomes.items() if isinstance(said, dict) and "code" in said}


def in_child(work: Callable[[], dict[str, Any]], as_nobody: bool = False) -> dict[str, Any]:
    """Do it in a forked process, without the rights of root if asked for, and never wait long for it."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        try:
            if as_nobody and os.getuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            result = work()
        except BaseException as error:
            result = {"the child": {"crash": repr(error)}}
        os.write(writing, json.dumps(result).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    assert said, f"the child ended with status {status}: a hang or a crash of Python itself"
    result = json.loads(said)
    assert isinstance(result, dict)
    return result


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder with its mode and its bytes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        found[str(path.relative_to(folder))] = (status.st_mode, path.read_bytes() if path.is_file() else b"")
    return found
