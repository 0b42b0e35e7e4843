"""What is known of a line, or of a file: the reply that is printed, as JSON or as a page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from zaxy.api import InvalidRequest, LogAccess, MemoryAccess, NotFound
from zaxy_why.causes import decision_of, prompt_of
from zaxy_why.edits import Edits, Record, edits_on_record, when
from zaxy_why.lines import Text
from zaxy_why.place import Place
from zaxy_why.repository import Commit, repository_of
from zaxy_why.tracing import Found, Tracer, names_of

MAX_FILE_BYTES = 16 << 20
NO_EDIT = (
    "Edits by hand are not recorded. 'zaxy hook-status' says whether those of agents are; 'zaxy capture once' takes in "
    "what clients have noted before."
)
HIGH, MEDIUM, LOW = "high", "medium", "low"


class EditsSince:
    """The edits on record from a moment on, read once as long as no earlier moment is asked for."""

    def __init__(self, log: LogAccess, sessions: Sequence[str]) -> None:
        self._log = log
        self._sessions = sessions
        self._since: str | None = None
        self.known = Edits((), ())

    def __call__(self, since: str) -> Edits:
        if self._since is None or since < self._since:
            self.known, self._since = edits_on_record(self._log, self._sessions, since), since
        return self.known


def answer_on_line(place: Place, log: LogAccess, *, memory: MemoryAccess, sessions: Sequence[str]) -> dict[str, Any]:
    if place.file.stat().st_size > MAX_FILE_BYTES:
        raise InvalidRequest(f"{place.name} has more than {MAX_FILE_BYTES >> 20} MiB", "Ask about a smaller file.")
    edits_since = EditsSince(log, sessions)
    tracer = Tracer(place.file, log.folder, repository_of(place.file), edits_since)
    said = _line_of(tracer.today, place)
    found = tracer.trace(place.line)
    origin = found.origin
    edit = origin.edit
    prompt, task = prompt_of(edit, log, log.sessions()) if edit else (None, None)
    decision = decision_of(edit, prompt, memory=memory, sessions=log.sessions()) if edit else None
    return {
        "path": place.name,
        "line": place.line,
        "text": said,
        "edit": edit.as_dict() if edit else None,
        "certainty": _certainty(found) if edit else None,
        "reasons": list(origin.reasons),
        "others": [other.as_dict() for other in origin.others],
        "prompt": _turn(prompt),
        "task": _turn(task),
        "decision": decision.as_dict() if decision else None,
        "commit": _commit(found.commit),
        "next": None if edit else NO_EDIT,
        "damaged": list(edits_since.known.damaged),
    }


def answer_on_file(place: Place, log: LogAccess, *, sessions: Sequence[str], limit: int) -> dict[str, Any]:
    known = edits_on_record(log, sessions)
    edits = known.of(names_of(place.file, log.folder))[::-1]
    if not edits:
        missing = "" if place.file.exists() else f"there is no file {place.name}, and "
        raise NotFound(f"{missing}no edit of {'it' if missing else place.name} is on record", NO_EDIT)
    rows = []
    for edit in edits[:limit]:
        prompt, task = prompt_of(edit, log, log.sessions())
        rows.append({**edit.as_dict(), "prompt": _turn(prompt), "task": _turn(task)})
    return {
        "path": place.name,
        "edits": len(edits),
        "sessions": sorted({str(edit.record["thread"]) for edit in edits}),
        "first": edits[-1].at,
        "last": edits[0].at,
        "newest": rows,
        "damaged": list(known.damaged),
    }


def _line_of(today: Text, place: Place) -> str:
    if any("\0" in line for line in today.lines[:100]):
        raise InvalidRequest(f"{place.name} is not text", "Only lines of text can be asked about.")
    if place.line > len(today.lines):
        count = len(today.lines)
        raise InvalidRequest(
            f"{place.name} has {count} {'line' if count == 1 else 'lines'}, and no line {place.line}",
            f"Ask about a line that is there, or about the file: zaxy why {place.name}",
        )
    return today.lines[place.line - 1]


def _certainty(found: Found) -> str:
    origin = found.origin
    if origin.others:
        return LOW
    return HIGH if origin.is_proven else MEDIUM


def _turn(record: Record | None) -> dict[str, Any] | None:
    if record is None:
        return None
    return {
        "citation": record["citation"],
        "session_id": record["thread"],
        "at": when(record),
        "text": str(record["payload"].get("content", "")),
    }


def _commit(commit: Commit | None) -> dict[str, Any] | None:
    if commit is None:
        return None
    at = datetime.fromtimestamp(commit.authored, UTC).isoformat().replace("+00:00", "Z")
    return {"id": commit.id, "author": commit.author, "at": at, "subject": commit.subject}
