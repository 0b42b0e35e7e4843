"""Two pages over memory: one answers a question with cited rows, the other follows a session as it grows."""

from __future__ import annotations

from collections.abc import Iterator

from zaxy.api import (
    HttpRequest,
    HttpResponse,
    InvalidRequest,
    MemoryAccess,
    NotFound,
    ProviderContext,
    json_response,
    sse_chunk,
)

READ_AT_ONCE = 100


class Routes:
    def __init__(self, context: ProviderContext) -> None:
        pass

    def answer(self, request: HttpRequest, memory: MemoryAccess) -> HttpResponse:
        if request.method != "GET":
            raise InvalidRequest(f"{request.method} does nothing here", "Send a GET.")
        session = request.parameter("session")
        page = request.path.rpartition("/")[2]
        if page == "find":
            answer = memory.query(request.parameter("q"), session)
            rows = [{"content": row.content, "citation": row.citation} for row in answer.results]
            return json_response({"results": rows, "warnings": list(answer.warnings)})
        if page == "follow":
            return HttpResponse(content_type="text/event-stream", chunks=_following(memory, session))
        raise NotFound(f"there is no page {page!r:.40} here", "Ask for find?q=... or for follow.")


def _following(memory: MemoryAccess, session: str) -> Iterator[bytes]:
    """What is appended from now on. An empty chunk says that there is nothing yet: nobody waits in here."""
    seen = memory.head(session)
    while True:
        events = memory.replay(session, seen + 1, limit=READ_AT_ONCE)
        for event in events:
            seen = event.seq
            yield sse_chunk(event.citation, event=event.type, event_id=str(event.seq))
        if not events:
            yield b""
