"""Asking memory, and finding what was said word for word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zaxy.api import cited_for
from zaxy.api.tools import (
    COMPACT,
    COORDINATE,
    CORE,
    COUNT,
    FULL,
    LIMIT,
    QUERY,
    TEXT,
    Call,
    schema,
    text,
    tool,
)

QUERY_TOKENS = 1500
"""For ten rows: what a model reads of them before it asks for one of them whole."""


@tool(
    "memory_query",
    "Search what holds now or held at a time, with citations.",
    takes=schema(
        "query",
        query=QUERY,
        session_id=TEXT,
        temporal_filter=text("ISO time"),
        known_at=COUNT,
        limit=LIMIT,
        profile=TEXT,
        max_tokens=COUNT,
        cursor=TEXT,
    ),
    read_only=True,
    idempotent=True,
    profiles=(CORE, COORDINATE, FULL, COMPACT),
)
def query(call: Call) -> Mapping[str, Any]:
    answer = call.memory.query(**{"max_tokens": QUERY_TOKENS, **call.own}, session=call.session)
    return answer.as_dict() if call.from_command else answer.in_brief()


@tool(
    "memory_verbatim",
    "Find words, quotes and identifiers as they were said; score is BM25.",
    takes=schema("query", query=QUERY, session_id=TEXT, limit=LIMIT, max_tokens=COUNT, cursor=TEXT),
    read_only=True,
    idempotent=True,
    profiles=(CORE, FULL),
)
def verbatim(call: Call) -> Mapping[str, Any]:
    return cited_for(call, call.memory.verbatim(**call.own, session=call.session).as_dict())


TOOLS = (query, verbatim)
