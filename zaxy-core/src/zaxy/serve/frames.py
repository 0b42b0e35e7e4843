"""JSON-RPC frames as bytes, and what is still known of one that cannot be read: enough to answer it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from mcp_types import JSONRPCMessage, JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from zaxy.errors import InvalidRequest, TooLarge, ZaxyError

MAX_FRAME = 2 << 20
HEAD, TAIL = 64 << 10, 4 << 10
"""How much of a frame that is too large is kept: its first bytes and its last ones."""
CALL = "tools/call"
MAX_REQUEST_DEPTH = 100
"""What is nested deeper is refused for that: a payload may have 64 levels, and the parser of messages takes 200."""
NESTED = InvalidRequest("the request is nested too deep", "Nest it less, or send the inner part as a text.")

_TEXT = rb'"(?:[^"\\]|\\.)*"'
_MEMBER = re.compile(rb'\s*"(jsonrpc|id|method)"\s*:\s*(' + _TEXT + rb"|-?\d+)\s*,")
_LAST_MEMBERS = re.compile(rb'((?:,\s*"(?:jsonrpc|id|method)"\s*:\s*(?:' + _TEXT + rb"|-?\d+)\s*)+)\}\s*$")
_PARAMS = re.compile(rb'\s*"params"\s*:\s*\{')
_TOOL = re.compile(rb'\s*(?:"_meta"\s*:\s*\{[^{}]*\}\s*,\s*)?"name"\s*:\s*(' + _TEXT + rb")")


class Unreadable(NamedTuple):
    """A frame that is no message, and what is known of it."""

    error: ZaxyError
    id: int | str | None = None
    method: str = ""
    tool: str = ""
    meta: Mapping[str, Any] | None = None

    def as_call(self, meta: Mapping[str, Any] | None = None) -> JSONRPCRequest | None:
        """The call that it was, without its arguments; None if it was none or cannot be answered.

        `meta` is the envelope of the connection's other requests, for one whose own is lost.
        """
        if self.id is None or self.method != CALL:
            return None
        envelope = self.meta if self.meta is not None else meta
        params: dict[str, Any] = {"name": self.tool, "arguments": {}}
        if envelope is not None:
            params["_meta"] = dict(envelope)
        return JSONRPCRequest(jsonrpc="2.0", id=self.id, method=CALL, params=params)


def read_frame(data: bytes) -> JSONRPCMessage | Unreadable:
    """The message in a frame of at most `MAX_FRAME` bytes."""
    try:
        return jsonrpc_message_adapter.validate_json(data, by_name=False)
    except (ValidationError, ValueError):
        return _explained(data)


def too_large(head: bytes, tail: bytes) -> Unreadable:
    """A frame of which only the beginning and the end were kept."""
    error = TooLarge(
        f"the request has more than {MAX_FRAME:,} bytes",
        "Send less at once: split it into several calls, or keep the bulk in a file and record where it is.",
    )
    return _salvaged(error, head, tail)


def _explained(data: bytes) -> Unreadable:
    """Why a frame cannot be read, and whose it is."""
    try:
        parsed = json.loads(data)
    except RecursionError:
        return _salvaged(NESTED, data[:HEAD], data[-TAIL:])
    except ValueError as problem:
        error = InvalidRequest(
            f"the request is not JSON in UTF-8: {_first_words(problem)}", "Send valid JSON in UTF-8."
        )
        return _salvaged(error, data[:HEAD], data[-TAIL:])
    if not isinstance(parsed, dict):
        return Unreadable(InvalidRequest("the request is not a JSON object", "Send one JSON-RPC message a line."))
    if _depth(parsed) > MAX_REQUEST_DEPTH:
        error = NESTED
    else:
        error = InvalidRequest(
            "the request is no JSON-RPC message, or a text in it has half of a surrogate pair",
            "Send JSON-RPC 2.0 with valid Unicode.",
        )
    params = parsed.get("params")
    params = params if isinstance(params, dict) else {}
    return Unreadable(
        error, _as_id(parsed.get("id")), _as_text(parsed.get("method")), _as_text(params.get("name")), _meta(params)
    )


def _depth(value: object) -> int:
    """How deep it is nested, as far as that matters."""
    level, depth = [value], 0
    while level and depth <= MAX_REQUEST_DEPTH:
        below = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        level, depth = [item for items in below for item in items], depth + 1
    return depth


def _salvaged(error: ZaxyError, head: bytes, tail: bytes) -> Unreadable:
    """What stands before the large or broken part and behind it, at the outermost level of the frame."""
    known: dict[str, Any] = {}
    tool = ""
    rest = head.lstrip()
    if rest.startswith(b"{"):
        rest = rest[1:]
        while member := _MEMBER.match(rest):
            known[member[1].decode()] = _value(member[2])
            rest = rest[member.end() :]
        if params := _PARAMS.match(rest):
            named = _TOOL.match(rest, params.end())
            tool = _as_text(_value(named[1])) if named else ""
    if last := _LAST_MEMBERS.search(tail):
        for member in _MEMBER.finditer(last[1][1:] + b","):
            known.setdefault(member[1].decode(), _value(member[2]))
    return Unreadable(error, _as_id(known.get("id")), _as_text(known.get("method")), tool)


def _value(text: bytes) -> object:
    try:
        value: object = json.loads(text)
    except ValueError:
        return None
    return value


def _as_id(value: object) -> int | str | None:
    if isinstance(value, str):
        return value if _is_unicode(value) else None
    return value if type(value) is int else None


def _as_text(value: object) -> str:
    return value if isinstance(value, str) and _is_unicode(value) else ""


def _meta(params: Mapping[str, Any]) -> Mapping[str, Any] | None:
    meta = params.get("_meta")
    return meta if isinstance(meta, dict) and _is_unicode(json.dumps(meta, ensure_ascii=False)) else None


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _first_words(problem: ValueError) -> str:
    return getattr(problem, "msg", "") or getattr(problem, "reason", "") or "it cannot be parsed"
